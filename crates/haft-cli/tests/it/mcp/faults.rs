//! Kinds of fault that clients of such servers have met.

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::wire::{PATIENCE, Wire, eventually, hello, reading, request, runs};
use crate::rig::Rig;

/// What a server has to end, on a machine with nothing else to do.
const TWO_SECONDS: Duration = Duration::from_secs(2);

#[test]
fn o_070_a_server_ends_with_its_input_and_so_does_what_it_started() {
    let rig = Rig::new();
    let mut silent = rig.command(&["mcp"]);
    let begun = Instant::now();
    let output = silent.stdin(File::open("/dev/null").unwrap()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(begun.elapsed() < TWO_SECONDS, "{:?}", begun.elapsed());

    for greeted in [false, true] {
        let mut wire = Wire::start(&rig, &[]);
        if greeted {
            wire.greet("lines");
        } else {
            wire.ask("ping", &json!({}));
        }
        let ended = wire.left();
        assert_eq!((ended.code, ended.rest.len()), (Some(0), 0));
        assert!(ended.after < TWO_SECONDS, "{:?}", ended.after);
    }

    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    wire.begin_sleep(1, "300.70701");
    // Commands run one after the other, so that these wait.
    for id in 2..10 {
        let arguments = json!({ "command": format!("sleep 300.7070{id}") });
        wire.send(id, "tools/call", &json!({ "name": "bash", "arguments": arguments }));
    }
    let ended = wire.left();
    assert_eq!(ended.code, Some(0));
    assert!(ended.after < TWO_SECONDS, "{:?}", ended.after);
    assert!(!runs("300.7070"), "a child outlived its server");
}

#[test]
fn o_070_a_server_whose_output_is_closed_ends_when_it_notices() {
    let rig = Rig::new();
    for is_busy in [false, true] {
        let mut wire = Wire::start_unread(&rig, &["--preset", "full"]);
        wire.line(request(1, "initialize", &hello("lines")));
        if is_busy {
            wire.begin_sleep(2, "300.70704");
        }
        wire.close_output();
        // The first answers may have gone out before; what comes after them cannot.
        let mut input = wire.take_input();
        let begun = Instant::now();
        let ping = format!("{}\n", request(3, "ping", &json!({})));
        while std::io::Write::write_all(&mut input, ping.as_bytes()).is_ok() {
            assert!(begun.elapsed() < PATIENCE, "it went on");
            std::thread::yield_now();
        }
        let ended = wire.ended();
        assert_eq!(ended.code, Some(0));
        assert!(ended.after < TWO_SECONDS, "{:?}", ended.after);
        assert!(!runs("300.70704"), "a child outlived its server");
    }
}

#[test]
fn o_070_a_server_that_waits_does_nothing() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    let work = |wire: &Wire| -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", wire.pid())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = work(&wire);
    wire.call("bash", &json!({ "command": "sleep 2.07" }));
    let ticks = work(&wire) - before;
    assert!(ticks < 100, "it was busy for {ticks} hundredths of a second");
}

#[test]
fn o_071_a_slow_call_keeps_nothing_waiting() {
    let rig = Rig::new();
    rig.file("a.txt", "first\nsecond\n");
    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    wire.begin_sleep("slow", "5.071");
    let begun = Instant::now();
    wire.send(2, "ping", &json!({}));
    wire.send("3", "tools/list", &json!({}));
    wire.send(4, "tools/call", &reading("a.txt"));
    assert_eq!(wire.answer(&json!(2))["result"], json!({}));
    assert!(wire.answer(&json!("3"))["result"]["tools"].is_array());
    let read = wire.answer(&json!(4));
    assert!(read["result"]["content"][0]["text"].as_str().unwrap().contains("second"));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert!(runs("5.071"), "the slow call was over before the others were answered");

    wire.take_back("slow");
    eventually(|| !runs("5.071"));
    let unasked = wire.unasked();
    assert!(unasked.is_empty(), "{unasked:?}");
    eventually(|| rig.json(&["log", "--status", "cancelled"])["data"][0].is_object());
}

#[test]
fn o_071_answers_never_run_into_each_other() {
    let rig = Rig::new();
    rig.file("a.txt", "line\n".repeat(200));
    let mut wire = Wire::greeted(&rig, &[]);
    for id in 0..40 {
        wire.send(id, "tools/call", &reading("a.txt"));
        wire.send(format!("list {id}"), "tools/list", &json!({}));
    }
    // Whatever is said has to be a message, or this fails.
    for id in 0..40 {
        assert!(wire.answer(&json!(id))["result"]["content"].is_array());
        assert!(wire.answer(&json!(format!("list {id}")))["result"]["tools"].is_array());
    }
}

#[test]
fn o_072_whatever_comes_first_is_answered_and_the_connection_stays() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let call = reading("a.txt");
    let modern = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let mut future = hello("lines");
    future["protocolVersion"] = json!("2099-01-01");
    let firsts: &[(&str, &Value, &str)] = &[
        ("server/discover", &json!({}), "/error/code"),
        ("server/discover", &modern, "/result/supportedVersions"),
        ("ping", &json!({}), "/result"),
        ("logging/setLevel", &json!({ "level": "debug" }), "/error/code"),
        ("tools/list", &json!({}), "/error/code"),
        ("tools/call", &call, "/error/code"),
        ("initialize", &json!({}), "/error/code"),
        ("initialize", &json!({ "protocolVersion": 5 }), "/error/code"),
        ("no/such", &json!([1]), "/error/code"),
        ("initialize", &future, "/result/protocolVersion"),
        ("initialize", &hello("lines"), "/result/protocolVersion"),
        ("initialize", &hello("again"), "/result/protocolVersion"),
    ];
    let whole = |wire: &mut Wire| {
        wire.greet("lines");
        let result = wire.ask("tools/call", &call);
        assert!(result["result"]["content"][0]["text"].as_str().unwrap().contains("text"));
    };
    for (method, params, part) in firsts {
        let mut wire = Wire::start(&rig, &[]);
        // Nothing that needs no answer ends a connection either.
        wire.notify("notifications/initialized");
        wire.take_back(9);
        wire.line(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        let answer = wire.ask(method, params);
        assert!(answer.pointer(part).is_some(), "{method}: {answer}");
        if let Some(text) = answer["error"]["message"].as_str() {
            assert!(text.split(' ').count() > 3, "{method}: {text}");
        }
        wire.notify("notifications/initialized");
        wire.take_back(9);
        wire.line(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        whole(&mut wire);
        assert_eq!(wire.left().code, Some(0));
    }

    let mut wire = Wire::start(&rig, &[]);
    for (method, params, part) in firsts {
        let answer = wire.ask(method, params);
        let is_answered = answer.pointer(part).or(answer.get("error")).is_some();
        assert!(is_answered, "{method}: {answer}");
    }
    whole(&mut wire);
}

#[test]
fn o_072_a_version_is_agreed_upon_and_no_request_changes_it() {
    let rig = Rig::new();
    let mut wire = Wire::start(&rig, &[]);
    for (asked, agreed) in [
        ("2099-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("nonsense", "2025-11-25"),
    ] {
        let mut params = hello("lines");
        params["protocolVersion"] = json!(asked);
        assert_eq!(wire.ask("initialize", &params)["result"]["protocolVersion"], agreed);
        // What only the later era knows is not sent to a client of the earlier one.
        let list = wire.ask("tools/list", &json!({}));
        assert!(list["result"]["tools"].is_array(), "{asked}: {list}");
        assert!(list["result"].get("resultType").is_none(), "{asked}");
        assert_eq!(wire.ask("ping", &json!({}))["result"], json!({}), "{asked}");
    }
}

#[test]
fn o_072_a_handshake_on_a_connection_without_one_is_answered_as_clients_expect() {
    let rig = Rig::new();
    let mut wire = Wire::start(&rig, &[]);
    let modern = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    assert!(wire.ask("tools/list", &modern)["result"]["tools"].is_array());
    let answer = wire.ask("initialize", &hello("lines"));
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    let data = json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" });
    assert_eq!(answer["error"]["data"], data);
    let answer = wire.ask("tools/list", &json!({}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(wire.ask("tools/list", &modern)["result"]["tools"].is_array());
}

#[test]
fn o_072_every_form_of_id_comes_back_as_it_was() {
    let rig = Rig::new();
    for greeted in [false, true] {
        let mut wire = Wire::start(&rig, &[]);
        if greeted {
            wire.greet("lines");
        }
        for id in [json!("a"), json!("1"), json!(""), json!(1), json!(0), json!(-7), json!("ü\n")]
        {
            wire.send(id.clone(), "ping", &json!({}));
            assert_eq!(wire.hear(), json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        }
        wire.send(i64::MAX, "ping", &json!({}));
        assert_eq!(wire.hear()["id"], i64::MAX);
        for id in [Value::Null, json!(1.5), json!(u64::MAX), json!(true), json!([1]), json!({})] {
            wire.send(id.clone(), "ping", &json!({}));
            let answer = wire.hear();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)));
        }
        for line in ["{}", "[]", "5", "null", r#""text""#, r#"{"jsonrpc":"2.0"}"#] {
            wire.line(line);
            let answer = wire.hear();
            assert_eq!(answer["error"]["code"], -32600, "{line}: {answer}");
            assert!(answer.get("id").is_none(), "{line}: {answer}");
        }
        let batch = format!("[{},{}]", request(1, "ping", &json!({})), request(2, "x", &json!({})));
        wire.line(batch);
        let answer = wire.hear();
        assert_eq!(answer["error"]["code"], -32600);
        assert!(answer["error"]["message"].as_str().unwrap().contains("on its own line"));
        assert_eq!(wire.ask("ping", &json!({}))["result"], json!({}));
    }
}

#[test]
fn o_073_a_ping_is_answered_whatever_it_says() {
    let rig = Rig::new();
    for greeted in [false, true] {
        let mut wire = Wire::start(&rig, &[]);
        if greeted {
            wire.greet("lines");
        }
        wire.line(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(wire.hear(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        for params in [json!({}), Value::Null, json!([]), json!([1]), json!({ "x": 1 }), json!(5)] {
            wire.send(2, "ping", &params);
            let answer = json!({ "jsonrpc": "2.0", "id": 2, "result": {} });
            assert_eq!(wire.hear(), answer, "{params}");
        }
    }
}

#[test]
fn o_073_whatever_is_unknown_is_answered_in_words() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let mut wire = Wire::greeted(&rig, &[]);
    for (method, params) in [
        ("no/such", json!({})),
        ("", json!({})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "x" })),
        ("prompts/get", json!({})),
        ("logging/setLevel", json!({ "level": "info" })),
        ("resources/subscribe", json!({ "uri": "x:y" })),
        ("resources/unsubscribe", json!({ "uri": "x:y" })),
        ("tasks/list", json!({})),
        ("tasks/get", json!({ "taskId": "1" })),
        ("skills/list", json!({})),
        ("notifications/initialized", json!({})),
    ] {
        let answer = wire.ask(method, &params);
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(!text.is_empty(), "{method}");
    }
    for (method, params) in [
        ("tools/call", json!({ "name": "no_such_tool", "arguments": {} })),
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": 5 })),
        ("tools/call", json!([])),
        ("tools/list", json!({ "cursor": "no such" })),
        ("resources/read", json!({})),
    ] {
        let answer = wire.ask(method, &params);
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.split(' ').count() > 3, "{method}: {text}");
    }
    let answer = wire.ask("resources/list", &json!({}));
    assert_eq!(answer["result"]["resources"], json!([]));

    // What a model got wrong it is told as a result, so that it can do better.
    for arguments in [
        json!({}),
        json!({ "action": "read" }),
        json!({ "action": "read", "path": 5 }),
        json!({ "action": "read", "path": "missing.txt" }),
        json!("{\"action\": \"read\"}"),
        json!([1]),
        json!(5),
    ] {
        let result = wire.call("reader", &arguments);
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        assert!(result.get("resultType").is_none(), "{arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.split(' ').count() > 3, "{arguments}: {text}");
    }
    let read = json!(r#"{"action":"read","path":"a.txt"}"#);
    let result = wire.call("reader", &read);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("text"));
    assert!(result.get("resultType").is_none(), "{result}");

    for method in ["notifications/no_such", "notifications/progress", "no/such", "tools/list", ""] {
        wire.notify(method);
    }
    let unasked = wire.unasked();
    assert!(unasked.is_empty(), "{unasked:?}");
}
