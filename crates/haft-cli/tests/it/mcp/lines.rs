//! What is no message, and messages of unusual shapes.

use serde_json::{Value, json};

use super::wire::{Wire, hello, reading, request};
use crate::rig::Rig;

#[test]
fn what_is_no_message_is_answered_and_the_connection_stays() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    for (line, code, id) in [
        (&b"garbage"[..], -32700, None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi", -32700, Some(json!(1))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}{}", -32700, Some(json!(2))),
        (b"{\"id\":3,\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}", -32700, Some(json!(3))),
        (b"Content-Length: 20", -32700, None),
        (b"\x00\x01\x02", -32700, None),
        (b"{\"jsonrpc\":\"1.0\",\"id\":\"x\",\"method\":\"ping\"}", -32600, Some(json!("x"))),
        (b"{\"id\":4,\"method\":\"ping\"}", -32600, Some(json!(4))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":6}", -32600, Some(json!(5))),
        (b"{\"jsonrpc\":\"2.0\",\"id\":6}", -32600, Some(json!(6))),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}]", -32600, None),
    ] {
        wire.line(line);
        let answer = wire.hear();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer.get("id"), id.as_ref(), "{answer}");
    }
    // These expect no answer: they are nothing, or answers to nothing.
    for line in
        ["", "   ", "\r", r#"{"jsonrpc":"2.0","result":{}}"#, r#"{"jsonrpc":"2.0","error":{}}"#]
    {
        wire.line(line);
    }
    for id in [json!(0), json!("no"), Value::Null] {
        wire.line(json!({ "jsonrpc": "2.0", "id": id, "result": { "x": 1 } }).to_string());
        let error = json!({ "code": 1, "message": "no" });
        wire.line(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
    }
    let unasked = wire.unasked();
    assert!(unasked.is_empty(), "{unasked:?}");
    wire.write(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\r\n");
    assert_eq!(wire.hear()["id"], 8);
}

#[test]
fn a_line_may_come_in_pieces_and_several_at_once() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    let ping = request(1, "ping", &json!({}));
    for piece in ping.as_bytes() {
        wire.write([*piece]);
    }
    wire.write(format!(
        "\n{}\n{}\n",
        request(2, "ping", &json!({})),
        request(3, "ping", &json!({}))
    ));
    for id in 1..=3 {
        wire.answer(&json!(id));
    }
}

#[test]
fn half_a_line_at_the_end_is_answered_and_a_whole_one_without_its_end_is_a_message() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    wire.write(br#"{"jsonrpc":"2.0","id":7,"meth"#);
    let ended = wire.left();
    assert_eq!((ended.code, &ended.rest[0]["id"]), (Some(0), &json!(7)));
    assert_eq!(ended.rest[0]["error"]["code"], -32700);

    let mut wire = Wire::greeted(&rig, &[]);
    wire.write(request(8, "tools/list", &json!({})));
    let ended = wire.left();
    assert_eq!((ended.code, &ended.rest[0]["id"]), (Some(0), &json!(8)));
    assert!(ended.rest[0]["result"]["tools"].is_array());
}

#[test]
fn a_line_that_is_too_long_is_passed_over_and_answered_by_its_id() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    let much = "x".repeat(17 * 1024 * 1024);
    let lines = [
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"id":9,"x":"{much}"}}}}"#
        ),
        format!(
            r#"{{"method":"tools/call","params":{{"x":"{much}"}},"jsonrpc":"2.0","id":"two"}}"#
        ),
        much.clone(),
        format!(r#"{{"jsonrpc":"2.0","id":"{much}","method":"ping"}}"#),
    ];
    let mut memory = [0; 3];
    for memory in &mut memory {
        for (line, id) in lines.iter().zip([json!(1), json!("two"), Value::Null, Value::Null]) {
            wire.line(line);
            let answer = wire.hear();
            assert_eq!(answer["error"]["code"], -32600, "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("16777216 bytes"));
            assert_eq!(answer.get("id").cloned().unwrap_or_default(), id);
        }
        assert_eq!(wire.ask("ping", &json!({}))["result"], json!({}));
        *memory = wire.memory();
    }
    assert!(memory[2] < memory[1] + 16 * 1024, "KiB: {memory:?}");

    wire.write(much);
    let ended = wire.left();
    assert_eq!((ended.code, ended.rest.len()), (Some(0), 1));
}

#[test]
fn a_message_of_almost_the_largest_size_is_one() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    let content = "x".repeat(16 * 1024 * 1024 - 400);
    let arguments = json!({ "action": "write", "path": "a.txt", "content": content });
    let result = wire.call("editor", &arguments);
    assert!(result["content"][0]["text"].is_string(), "{result}");
    assert_eq!(wire.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn nesting_is_bounded_and_answered_by_its_id() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    for (depth, is_message) in [(100, true), (200, false), (1_000_000, false)] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let params =
            format!(r#"{{"name":"reader","arguments":{{"action":"read","path":{deep}}}}}"#);
        wire.line(format!(
            r#"{{"jsonrpc":"2.0","id":{depth},"method":"tools/call","params":{params}}}"#
        ));
        let answer = wire.answer(&json!(depth));
        assert_eq!(answer["result"]["isError"] == true, is_message, "{answer}");
    }
    wire.line("[".repeat(100_000));
    assert_eq!(wire.hear()["error"]["code"], -32700);
    assert_eq!(wire.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_message_of_too_many_values_is_not_unfolded() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &[]);
    let before = wire.memory();
    for (id, value) in ["1,", "[],", "{},", "\"\","].into_iter().enumerate() {
        let values = value.repeat(16_000_000 / value.len());
        wire.line(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"reader","arguments":[{values}0]}}}}"#
        ));
        let answer = wire.answer(&json!(id));
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("500000 values"), "{answer}");
    }
    assert!(wire.memory() < before + 96 * 1024, "{before} KiB, then {}", wire.memory());
    // A text is one value, whatever it holds.
    let content = ",".repeat(2_000_000);
    let arguments = json!({ "action": "write", "path": "a.csv", "content": content });
    assert_ne!(wire.call("editor", &arguments)["isError"], true);
}

#[test]
fn arguments_given_as_text_are_asked_about_like_others() {
    let rig = Rig::new();
    let mut wire = Wire::start(&rig, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        "io.modelcontextprotocol/clientInfo": { "name": "text", "version": "1" },
    });
    let mut params = json!({
        "name": "bash",
        "arguments": r#"{"command":"echo asked > asked.txt"}"#,
        "_meta": meta,
    });
    let asked = wire.ask("tools/call", &params)["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert!(!rig.ws("asked.txt").exists());
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] =
        json!({ "approval": { "action": "accept", "content": { "allow": true } } });
    let done = wire.ask("tools/call", &params)["result"].clone();
    assert_eq!(done["resultType"], "complete", "{done}");
    assert_eq!(std::fs::read_to_string(rig.ws("asked.txt")).unwrap(), "asked\n");

    // A client of before does without the word.
    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    for arguments in [json!({ "command": "echo x" }), json!(r#"{"command":"echo x"}"#)] {
        let done = wire.call("bash", &arguments);
        assert!(done.get("resultType").is_none(), "{done}");
        assert_eq!(done["structuredContent"]["stdout"]["text"], "x\n");
    }
}

#[test]
fn two_requests_under_one_id_are_not_mistaken_for_one_another() {
    let rig = Rig::new();
    let mut wire = Wire::greeted(&rig, &["--preset", "full"]);
    wire.begin_sleep(1, "300.70706");
    wire.send(1, "ping", &json!({}));
    let answer = wire.answer(&json!(1));
    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer["error"]["message"].as_str().unwrap().contains("under way"), "{answer}");
    // A text is another id than a number.
    wire.send("1", "ping", &json!({}));
    assert_eq!(wire.answer(&json!("1"))["result"], json!({}));
    for id in [json!(99), json!("1"), json!(-1), Value::Null, json!({}), json!(1.5)] {
        wire.take_back(id);
    }
    wire.notify("notifications/cancelled");
    assert!(wire.unasked().is_empty());
    assert!(super::wire::runs("300.70706"), "what nobody meant was stopped");
    wire.take_back(1);
    super::wire::eventually(|| !super::wire::runs("300.70706"));
    wire.send(1, "ping", &json!({}));
    assert_eq!(wire.answer(&json!(1))["result"], json!({}));
}

#[test]
fn nothing_but_messages_is_written_however_much_is_logged() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let mut wire = Wire::greeted(&rig, &["-vv", "--preset", "full"]);
    wire.line("garbage");
    wire.send(1, "tools/call", &reading("a.txt"));
    wire.answer(&json!(1));
    wire.call("bash", &json!({ "command": "echo out; echo err >&2" }));
    wire.call("reader", &json!({ "action": "read", "path": "missing" }));
    wire.ask("no/such", &json!({}));
    assert!(wire.complaints().lines().count() > 20, "{}", wire.complaints());
    // Everything else was read as a message already.
    let ended = wire.left();
    assert_eq!((ended.code, ended.rest.len()), (Some(0), 0));
}

#[test]
fn the_record_names_the_client() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    for name in ["claude-code", "cursor-vscode", "Visual Studio Code", "a\u{1b}[31mb\nc"] {
        let mut wire = Wire::start(&rig, &[]);
        wire.greet(name);
        wire.send(1, "tools/call", &reading("a.txt"));
        wire.answer(&json!(1));
        let shown = rig.json(&["show", "last"])["data"]["summary"].clone();
        let by = shown["principal"].as_str().unwrap_or_default();
        let plain = name.starts_with('a').then_some("a\\x1b[31mb\\nc 1");
        let expected = plain.map_or_else(|| format!("{name} 1"), ToOwned::to_owned);
        assert_eq!(by, expected, "{shown}");
    }
    let log = rig.haft(&["log"]);
    for name in ["claude-code", "cursor-vscode", "Visual Studio Code"] {
        assert!(log.stdout.contains(name), "{}", log.stdout);
    }

    // Whoever gives no name, or one that is no name, is served too.
    let mut params = hello("");
    params["clientInfo"]["version"] = json!("");
    let mut wire = Wire::start(&rig, &[]);
    assert!(wire.ask("initialize", &params)["result"].is_object());
    let mut long = hello(&"n".repeat(1024 * 1024));
    long["clientInfo"]["title"] = json!("T");
    assert!(wire.ask("initialize", &long)["result"].is_object());
    wire.send(1, "tools/call", &reading("a.txt"));
    wire.answer(&json!(1));
    let shown = rig.json(&["show", "last"])["data"]["summary"].clone();
    assert!(shown["principal"].as_str().unwrap().len() < 200, "{shown}");
}
