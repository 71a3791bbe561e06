//! The one object of each command in JSON mode.

use serde_json::{Value, json};

use crate::rig::{Rig, settled};

fn workspace() -> Rig {
    let rig = Rig::new();
    rig.file("a.txt", "text\n").file(".env", "x\n");
    rig
}

fn golden(rig: &Rig, args: &[&str]) -> String {
    serde_json::to_string_pretty(&settled(rig, rig.json(args))).unwrap()
}

#[test]
fn of_a_call_that_went_well() {
    let rig = workspace();
    let args = ["call", "reader", r#"{"action":"read","path":"a.txt"}"#];
    insta::assert_snapshot!(golden(&rig, &args), @r#"
    {
      "haft": 1,
      "command": "call",
      "ok": true,
      "exit": 0,
      "data": {
        "call": "ID",
        "text": "1\ttext",
        "outcome": {
          "status": "ok",
          "content": [
            {
              "type": "text",
              "text": "1\ttext"
            }
          ],
          "structured": {
            "kind": "text",
            "path": "a.txt",
            "lines": [
              {
                "number": 1,
                "text": "text"
              }
            ],
            "total_lines": 1,
            "is_total_exact": true,
            "encoding": "utf-8",
            "has_bom": false,
            "line_ending": "lf",
            "ends_with_newline": true,
            "malformed": 0
          },
          "usage": {
            "run_ms": "…",
            "attempts": 1
          }
        }
      }
    }
    "#);
}

#[test]
fn of_a_call_that_failed() {
    let rig = workspace();
    let args = ["call", "reader", r#"{"action":"read","path":"b.txt"}"#];
    insta::assert_snapshot!(golden(&rig, &args), @r#"
    {
      "haft": 1,
      "command": "call",
      "ok": false,
      "exit": 1,
      "data": {
        "call": "ID",
        "text": "failed (not_found): `b.txt` does not exist\nhint: near it: `a.txt`",
        "outcome": {
          "status": "failed",
          "kind": "not_found",
          "model_text": "`b.txt` does not exist",
          "hints": [
            "near it: `a.txt`"
          ],
          "usage": {}
        }
      }
    }
    "#);
}

#[test]
fn of_a_call_that_was_denied() {
    let rig = workspace();
    let args = ["call", "reader", r#"{"action":"read","path":".env"}"#];
    insta::assert_snapshot!(golden(&rig, &args), @r#"
    {
      "haft": 1,
      "command": "call",
      "ok": false,
      "exit": 3,
      "data": {
        "call": "ID",
        "text": "denied by protection: `.env` is protected: environment files hold credentials\nhint: do without its content, or ask the user to provide what is needed",
        "outcome": {
          "status": "denied",
          "control": "protection",
          "reason": "`.env` is protected: environment files hold credentials",
          "hints": [
            "do without its content, or ask the user to provide what is needed"
          ],
          "usage": {}
        }
      }
    }
    "#);
}

#[test]
fn of_tools() {
    let rig = workspace();
    let mut object = settled(&rig, rig.json(&["tools"]));
    let tools = object["data"]["tools"].as_array_mut().unwrap();
    let rows: Vec<String> = tools
        .iter_mut()
        .map(|tool| {
            tool["description"] = json!("…");
            tool.to_string()
        })
        .collect();
    object["data"]["tools"] = json!(["…"]);
    insta::assert_snapshot!(object, @r#"{"haft":1,"command":"tools","ok":true,"exit":0,"data":{"generation":1,"tools":["…"]}}"#);
    // One tool a line.
    insta::assert_snapshot!(rows.join("\n"), @r#"
    {"name":"builtin/reader","wire":"reader","alias_of":null,"source":"builtin","description":"…","capabilities":{"effects":["read_files"],"read_only":true,"idempotent":true,"cost":"free","approval":"by_policy"},"fingerprint":"DIGEST"}
    {"name":"builtin/search","wire":"search","alias_of":null,"source":"builtin","description":"…","capabilities":{"effects":["read_files"],"read_only":true,"idempotent":true,"cost":"free","approval":"by_policy"},"fingerprint":"DIGEST"}
    {"name":"builtin/editor","wire":"editor","alias_of":null,"source":"builtin","description":"…","capabilities":{"effects":["read_files","write_files"],"checkpoint":"file","cost":"free","approval":"by_policy"},"fingerprint":"DIGEST"}
    {"name":"builtin/code_nav","wire":"code_nav","alias_of":null,"source":"builtin","description":"…","capabilities":{"effects":["read_files"],"read_only":true,"idempotent":true,"cost":"free","approval":"by_policy"},"fingerprint":"DIGEST"}
    {"name":"builtin/ast_search","wire":"ast_search","alias_of":null,"source":"builtin","description":"…","capabilities":{"effects":["read_files"],"read_only":true,"idempotent":true,"cost":"free","approval":"by_policy"},"fingerprint":"DIGEST"}
    {"name":"builtin/undo","wire":"undo","alias_of":null,"source":"builtin","description":"…","capabilities":{"effects":["read_files","write_files"],"cost":"free","approval":"by_policy"},"fingerprint":"DIGEST"}
    {"name":"builtin/code_check","wire":"code_check","alias_of":null,"source":"builtin","description":"…","capabilities":{"effects":["read_files","write_files","execute"],"side_effects":["whatever build scripts and macros of the project do"],"cost":"free","approval":"by_policy"},"fingerprint":"DIGEST"}
    {"name":"builtin/bash","wire":"bash","alias_of":null,"source":"builtin","description":"…","capabilities":{"effects":["read_files","write_files","execute"],"side_effects":["whatever the programs do"],"cost":"free","approval":"by_policy"},"fingerprint":"DIGEST"}
    "#);
}

#[test]
fn of_one_tool() {
    let rig = workspace();
    let mut object = settled(&rig, rig.json(&["tools", "show", "reader"]));
    let tool = &mut object["data"];
    assert_eq!(tool["input"]["properties"]["path"]["type"], "string");
    assert!(tool["output"].is_object());
    for key in ["description", "input", "output"] {
        tool[key] = json!("…");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap(), @r#"
    {
      "haft": 1,
      "command": "tools",
      "ok": true,
      "exit": 0,
      "data": {
        "name": "builtin/reader",
        "wire": "reader",
        "alias_of": null,
        "source": "builtin",
        "description": "…",
        "capabilities": {
          "effects": [
            "read_files"
          ],
          "read_only": true,
          "idempotent": true,
          "cost": "free",
          "approval": "by_policy"
        },
        "fingerprint": "DIGEST",
        "input": "…",
        "output": "…",
        "slots": [
          {
            "name": "path",
            "source": {
              "argument": "/path"
            },
            "access": "read",
            "existence": "required"
          }
        ],
        "run_ms": "…"
      }
    }
    "#);
}

#[test]
fn of_policy_show() {
    let rig = workspace();
    rig.config("[[rules]]\ndecision = \"deny\"\ntool = \"nosuch\"\n");
    insta::assert_snapshot!(golden(&rig, &["policy", "show"]), @r#"
    {
      "haft": 1,
      "command": "policy",
      "ok": true,
      "exit": 0,
      "data": {
        "presets": [
          "edit"
        ],
        "rules": [
          {
            "rule": "deny tool = \"nosuch\"",
            "origin": {
              "layer": "user",
              "trusted": true,
              "file": "…/config/config.toml",
              "line": 1,
              "text": "[[rules]]"
            },
            "followed": true
          }
        ],
        "dropped": [],
        "idle": [
          "deny tool = \"nosuch\""
        ],
        "astray": [],
        "digest": "DIGEST"
      }
    }
    "#);
}

#[test]
fn of_policy_explain() {
    let rig = workspace();
    rig.config("[[rules]]\ndecision = \"deny\"\ntool = \"reader\"\npath = \"a.txt\"\n");
    let args = ["policy", "explain", "reader", r#"{"action":"read","path":"a.txt"}"#];
    insta::assert_snapshot!(golden(&rig, &args), @r#"
    {
      "haft": 1,
      "command": "policy",
      "ok": false,
      "exit": 3,
      "data": {
        "arguments": {
          "action": "read",
          "path": "a.txt",
          "offset": 1,
          "column": 0,
          "limit": 2000
        },
        "bindings": [
          {
            "slot": "path",
            "given": "a.txt",
            "path": "a.txt",
            "access": "read"
          }
        ],
        "notices": [],
        "explanation": {
          "decision": "deny",
          "because": {
            "sentence": "the rule `deny tool = \"reader\", path = \"a.txt\"` (…/config/config.toml:1) denies `builtin/reader` on `a.txt`",
            "hints": [
              "a person can change that rule (…/config/config.toml:1)"
            ]
          },
          "tool": "builtin/reader",
          "effects": [
            "read_files"
          ],
          "resources": [
            {
              "slot": "path",
              "path": "a.txt",
              "access": "read"
            }
          ],
          "levels": [
            {
              "decision": "deny",
              "rules": [
                {
                  "rule": "deny tool = \"reader\", path = \"a.txt\"",
                  "origin": {
                    "layer": "user",
                    "trusted": true,
                    "file": "…/config/config.toml",
                    "line": 1,
                    "text": "[[rules]]"
                  },
                  "standing": "decides",
                  "why": "`a.txt`"
                }
              ],
              "preset": "edit",
              "preset_origin": {
                "layer": "default",
                "trusted": true
              },
              "preset_decision": "allow",
              "preset_effects": [
                "read_files"
              ],
              "preset_decides": false,
              "yes": false,
              "insists": false
            }
          ]
        }
      }
    }
    "#);
}

#[test]
fn of_trust() {
    let rig = workspace();
    rig.project("preset = \"edit\"\n");
    insta::assert_snapshot!(golden(&rig, &["trust"]), @r#"
    {
      "haft": 1,
      "command": "trust",
      "ok": false,
      "exit": 3,
      "error": {
        "kind": "approval",
        "text": "not trusted: nobody said yes",
        "hints": [
          "read `.haft/config.toml`, then pass `--yes`"
        ]
      }
    }
    "#);
    insta::assert_snapshot!(golden(&rig, &["--yes", "trust"]), @r#"
    {
      "haft": 1,
      "command": "trust",
      "ok": true,
      "exit": 0,
      "data": {
        "project": "…/ws",
        "file": ".haft/config.toml",
        "digest": "DIGEST"
      }
    }
    "#);
    insta::assert_snapshot!(golden(&rig, &["trust", "--revoke"]), @r#"
    {
      "haft": 1,
      "command": "trust",
      "ok": true,
      "exit": 0,
      "data": {
        "project": "…/ws",
        "revoked": true
      }
    }
    "#);
}

#[test]
fn of_log_and_show() {
    let rig = workspace();
    rig.read(&json!({ "path": "a.txt" }));
    insta::assert_snapshot!(golden(&rig, &["log"]), @r#"
    {
      "haft": 1,
      "command": "log",
      "ok": true,
      "exit": 0,
      "data": [
        {
          "id": "ID",
          "tool": "builtin/reader",
          "entrance": "cli",
          "principal": "ada",
          "run": "ID",
          "parent": null,
          "at": "…",
          "status": "ok",
          "kind": null,
          "ended_at": "…",
          "run_ms": "…",
          "attempts": 1,
          "arguments": {
            "action": "read",
            "path": "a.txt",
            "offset": 1,
            "column": 0,
            "limit": 2000
          },
          "roots": [
            "…/ws"
          ],
          "head": "1\ttext"
        }
      ]
    }
    "#);
    insta::assert_snapshot!(golden(&rig, &["show", "last"]), @r#"
    {
      "haft": 1,
      "command": "show",
      "ok": true,
      "exit": 0,
      "data": {
        "summary": {
          "id": "ID",
          "tool": "builtin/reader",
          "entrance": "cli",
          "principal": "ada",
          "run": "ID",
          "parent": null,
          "at": "…",
          "status": "ok",
          "kind": null,
          "ended_at": "…",
          "run_ms": "…",
          "attempts": 1,
          "arguments": {
            "action": "read",
            "path": "a.txt",
            "offset": 1,
            "column": 0,
            "limit": 2000
          },
          "roots": [
            "…/ws"
          ],
          "head": "1\ttext"
        },
        "intent": {
          "version": 1,
          "call": "ID",
          "tool": "builtin/reader",
          "caller": {
            "entrance": "cli",
            "principal": "ada",
            "run": "ID"
          },
          "at": "…",
          "fingerprint": "DIGEST",
          "arguments_digest": "DIGEST",
          "arguments": {
            "action": "read",
            "path": "a.txt",
            "offset": 1,
            "column": 0,
            "limit": 2000
          },
          "bindings": [
            {
              "slot": "path",
              "given": "a.txt",
              "path": "a.txt",
              "access": "read"
            }
          ],
          "effects": {
            "effects": [
              "read_files"
            ],
            "read_only": true,
            "idempotent": true,
            "cost": "free",
            "approval": "by_policy"
          },
          "decision": {
            "decision": "allow",
            "because": "the preset `edit` (default) allows `read_files`"
          }
        },
        "tickets": [],
        "attempts": [
          {
            "call": "ID",
            "attempt": 1,
            "at": "…",
            "must_last": false
          }
        ],
        "outcome": {
          "call": "ID",
          "at": "…",
          "outcome": {
            "status": "ok",
            "content": [
              {
                "type": "text",
                "text": "1\ttext"
              }
            ],
            "structured": {
              "kind": "text",
              "path": "a.txt",
              "lines": [
                {
                  "number": 1,
                  "text": "text"
                }
              ],
              "total_lines": 1,
              "is_total_exact": true,
              "encoding": "utf-8",
              "has_bom": false,
              "line_ending": "lf",
              "ends_with_newline": true,
              "malformed": 0
            },
            "usage": {
              "run_ms": "…",
              "attempts": 1
            }
          }
        },
        "artifacts": [],
        "children": []
      }
    }
    "#);
}

#[test]
fn of_state() {
    let rig = workspace();
    rig.read(&json!({ "path": "a.txt" }));
    insta::assert_snapshot!(golden(&rig, &["state", "du"]), @r#"
    {
      "haft": 1,
      "command": "state",
      "ok": true,
      "exit": 0,
      "data": {
        "dir": "…/state",
        "database_bytes": "…",
        "log_bytes": "…",
        "objects": 0,
        "object_bytes": 0,
        "calls": 1,
        "changes": 0,
        "runs": 0,
        "run_bytes": 0,
        "oldest": "…"
      }
    }
    "#);
    insta::assert_snapshot!(golden(&rig, &["state", "gc", "--dry-run"]), @r#"
    {
      "haft": 1,
      "command": "state",
      "ok": true,
      "exit": 0,
      "data": {
        "runs": 0,
        "calls": 0,
        "artifacts": 0,
        "changes": 0,
        "objects": 0,
        "object_bytes": 0,
        "orphans": 0
      }
    }
    "#);
}

#[test]
fn of_doctor() {
    let rig = workspace();
    let object = rig.json(&["doctor"]);
    let lines = object["data"]["lines"].as_array().unwrap();
    for line in lines {
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["topic", "level", "text"]);
        assert!(["ok", "warn", "bad"].contains(&line["level"].as_str().unwrap()));
    }
}

#[test]
fn of_pages_and_scripts() {
    let rig = workspace();
    let script = rig.json(&["completions", "bash"]);
    assert_eq!(script["data"]["shell"], "bash");
    assert!(script["data"]["script"].as_str().unwrap().starts_with("_haft()"));
    let page = rig.json(&["man", "log"]);
    assert!(page["data"]["page"].as_str().unwrap().contains(".TH haft-log 1"));
}

#[test]
fn of_mistakes() {
    let rig = workspace();
    insta::assert_snapshot!(golden(&rig, &["nonsense"]), @r#"
    {
      "haft": 1,
      "command": "haft",
      "ok": false,
      "exit": 2,
      "error": {
        "kind": "usage",
        "text": "unrecognized subcommand 'nonsense'",
        "hints": [
          "`haft --help` says what can be typed"
        ]
      }
    }
    "#);
    insta::assert_snapshot!(golden(&rig, &["--preset", "nonsense", "tools"]), @r#"
    {
      "haft": 1,
      "command": "haft",
      "ok": false,
      "exit": 2,
      "error": {
        "kind": "usage",
        "text": "invalid value 'nonsense' for '--preset <PRESET>'\n  [possible values: read-only, edit, full]",
        "hints": [
          "`haft --help` says what can be typed"
        ]
      }
    }
    "#);
    insta::assert_snapshot!(golden(&rig, &["show", "zzzz"]), @r#"
    {
      "haft": 1,
      "command": "show",
      "ok": false,
      "exit": 1,
      "error": {
        "kind": "not_found",
        "text": "no call and no run on record has an id that is, begins or ends with `zzzz`",
        "hints": [
          "`haft log` lists the calls on record, `haft runs` the runs"
        ]
      }
    }
    "#);
    rig.config("presett = \"edit\"\n");
    insta::assert_snapshot!(golden(&rig, &["tools"]), @r#"
    {
      "haft": 1,
      "command": "tools",
      "ok": false,
      "exit": 2,
      "error": {
        "kind": "usage",
        "text": "…/config/config.toml:1:1: unknown key `presett`: did you mean `preset`?\n  |\n1 | presett = \"edit\"\n  | ^^^^^^^",
        "hints": []
      }
    }
    "#);
}

#[test]
fn is_all_that_standard_output_holds() {
    let rig = workspace();
    rig.project("[[rules]]\ndecision = \"allow\"\ntool = \"*\"\n");
    let read = r#"{"action":"read","path":"a.txt"}"#;
    for args in [
        &["tools"][..],
        &["call", "reader", read],
        &["policy", "show"],
        &["policy", "explain", "reader", read],
        &["log"],
        &["show", "last"],
        &["state", "du"],
        &["doctor"],
        &["nonsense"],
    ] {
        for options in [&["--json"][..], &["--json", "-vvv"], &["--json", "--color", "always"]] {
            let ran = rig.haft(&[options, args].concat());
            let _: Value = crate::rig::one_object(&ran);
        }
    }
}
