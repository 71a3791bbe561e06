//! Reading arguments as models write them.

use haft_protocol::RawArguments;
use haft_schema::{Contract, DecodeError, Decoded, Ending, Extra, Reading, RepairKind};
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::nested;

fn contract() -> Contract {
    Contract::foreign(json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "on": {"type": "boolean"},
            "mode": {"enum": ["Fast", "full", "FULL_SCAN"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "where": {
                "type": "object",
                "properties": {"from": {"type": "integer"}, "to": {"type": ["integer", "null"]}},
                "required": ["from"],
                "additionalProperties": false,
            },
            "either": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        },
        "additionalProperties": false,
    }))
    .unwrap()
}

fn read(raw: impl Into<RawArguments>, reading: Reading) -> Result<Decoded, DecodeError> {
    contract().decode(raw.into(), reading)
}

fn open() -> Contract {
    Contract::foreign(json!({})).unwrap()
}

/// Decodes a text without regard to a schema: the arguments and the repairs, one to a line.
fn text_with(text: &str, ending: Ending) -> String {
    let reading = Reading { ending, ..Reading::default() };
    match open().decode(text.into(), reading) {
        Ok(Decoded { arguments, repairs }) => {
            let mut lines = vec![Value::Object(arguments).to_string()];
            lines.extend(repairs.iter().map(ToString::to_string));
            lines.join("\n")
        }
        Err(error) => format!("error: {}", error.model_text()),
    }
}

fn text(text: &str) -> String {
    text_with(text, Ending::Unknown)
}

/// Decodes a value with the schema as guide: the arguments and the repairs, one to a line.
fn value_with(value: Value, extra: Extra) -> String {
    let Decoded { arguments, repairs } =
        read(value, Reading { extra, ..Reading::default() }).unwrap();
    let mut lines = vec![Value::Object(arguments).to_string()];
    lines.extend(repairs.iter().map(ToString::to_string));
    lines.join("\n")
}

fn value(value: Value) -> String {
    value_with(value, Extra::Reject)
}

#[test]
fn json_is_read_as_it_stands() {
    for sound in [
        r#"{"a": "tab\tand \\d and \u00e9 and \/", "b": [1, 2.5, true, null]}"#,
        "{\"a\":\"/* no comment */ 'quotes', ```fence```, {}, trailing,]\"}",
        " \n{}\n",
    ] {
        let decoded = open().decode(sound.into(), Reading::default()).unwrap();
        assert_eq!(decoded.repairs, [], "{sound}");
        assert_eq!(Value::Object(decoded.arguments), serde_json::from_str::<Value>(sound).unwrap());
    }
}

#[test]
fn o_077_nothing_is_an_empty_object() {
    for nothing in ["", "  \n", "null", "\u{feff}"] {
        assert_eq!(text(nothing), "{}");
    }
    assert_eq!(value(Value::Null), "{}");
}

#[test]
fn fences_and_words_around_an_object_go() {
    assert_snapshot!(text("```json\n{\"a\": 1}\n```"), @r#"
    {"a":1}
    arguments: took the object out of the text around it
    "#);
    assert_snapshot!(text("Here's what I'll call: {\"a\": 1} Done."), @r#"
    {"a":1}
    arguments: took the object out of the text around it
    "#);
    assert_snapshot!(text("<args>{\"a\": \"\\d\"}</args>"), @r#"
    {"a":"\\d"}
    arguments: took the object out of the text around it
    /a: took 1 lone backslash as written
    "#);
    assert_snapshot!(text("{\"a\": 1}}"), @r#"
    {"a":1}
    arguments: took the object out of the text around it
    "#);
}

#[test]
fn words_around_an_object_never_hide_arguments() {
    assert_snapshot!(text(r#"{"a": 1} {"a": 2}"#), @r#"error: the arguments are not JSON: there is more after the object (line 1, column 9, near `{"a": 1} {"a": 2}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text(r#"{"a": "b"}, "c": 1}"#), @r#"error: the arguments are not JSON: there is more after the object (line 1, column 11, near `{"a": "b"}, "c": 1}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text("{'a': 'b'}, 'c': 'd'}"), @r#"error: the arguments are not JSON: there is more after the object (line 1, column 11, near `{'a': 'b'}, 'c': 'd'}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text(r#"[{"a": 1},]"#), @r#"error: the arguments are not JSON: trailing comma (line 1, column 11, near `[{"a": 1},]`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text(r#""a": 1, {"b": 2}"#), @r#"error: the arguments are not JSON: trailing characters (line 1, column 4, near `"a": 1, {"b": 2}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
}

#[test]
fn raw_control_characters_in_texts_are_taken_as_written() {
    assert_snapshot!(text("{\"a\": \"one\ntwo\tthree\"}"), @r#"
    {"a":"one\ntwo\tthree"}
    /a: took 2 raw control characters as written
    "#);
}

#[test]
fn lone_backslashes_are_taken_as_written() {
    assert_snapshot!(text(r#"{"a": "grep -n \d+"}"#), @r#"
    {"a":"grep -n \\d+"}
    /a: took 1 lone backslash as written
    "#);
    assert_snapshot!(text(r#"{"a": "\d\\w\s", "b": "C:\Users"}"#), @r#"
    {"a":"\\d\\w\\s","b":"C:\\Users"}
    /a: took 2 lone backslashes as written
    /b: took 1 lone backslash as written
    "#);
    assert_snapshot!(text(r#"{"a": "\u12 and \u0041 \q"}"#), @r#"
    {"a":"\\u12 and A \\q"}
    /a: took 2 lone backslashes as written
    "#);
    assert_snapshot!(text("{\"a\": \"gcc \\\n  -o x\"}"), @r#"
    {"a":"gcc \\\n  -o x"}
    /a: took 1 raw control character as written
    /a: took 1 lone backslash as written
    "#);
    assert_snapshot!(text(r#"{"a": "re.match('\d', x)\nprint()"}"#), @r#"
    {"a":"re.match('\\d', x)\nprint()"}
    /a: took 1 lone backslash as written
    "#);
}

#[test]
fn texts_with_two_readings_are_sent_back() {
    assert_snapshot!(text(r#"{"a": "\bword\d"}"#), @r#"error: the arguments are not JSON: a text has lone backslashes beside `\b` or `\f`; write every backslash as `\\` (line 1, column 17, near `{"a": "\bword\d"}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text("{\"a\": \"printf(\\\"x\\n\\\");\nreturn;\"}"), @r#"error: the arguments are not JSON: a text mixes raw line breaks or tabs with `\n` or `\t`; write all of them as escapes (line 2, column 9, near `f(\"x\n\"); return;"}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text(r#"{"a": "it\'s"}"#), @r#"error: the arguments are not JSON: `\'` is no escape of JSON; write `'`, or `\\'` for both (line 1, column 11, near `{"a": "it\'s"}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text(r#"{"a": "say "hi" now"}"#), @r#"error: the arguments are not JSON: expected `,` or `}` here; a quote inside a text is written `\"` (line 1, column 13, near `{"a": "say "hi" now"}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text("{'a': 'it's'}"), @r#"error: the arguments are not JSON: a single quote in the middle of a text; use double quotes (line 1, column 11, near `{'a': 'it's'}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text(r"{'a': '\x41'}"), @r#"error: the arguments are not JSON: this is an escape of Python, not of JSON (line 1, column 9, near `{'a': '\x41'}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
}

#[test]
fn o_012_escapes_that_json_knows_are_decoded_exactly_once() {
    let decoded =
        open().decode(r#"{"old": "a\\n", "new": "\tx();\n"}"#.into(), Reading::default()).unwrap();
    assert_eq!(decoded.arguments["old"], "a\\n");
    assert_eq!(decoded.arguments["new"], "\tx();\n");
    assert_eq!(decoded.repairs, []);
}

#[test]
fn python_spelling_is_read_where_it_has_one_reading() {
    assert_snapshot!(text("{'a': 'b \"c\"', 'd': True, 'e': [None, False,], 'f': 'it\\'s'}"), @r#"
    {"a":"b \"c\"","d":true,"e":[null,false],"f":"it's"}
    arguments: took single quotes as double quotes
    /d: read a Python literal
    /e/0: read a Python literal
    /e/1: read a Python literal
    /e: dropped a trailing comma
    "#);
    assert_snapshot!(text("{\"a\": yes}"), @r#"error: the arguments are not JSON: `yes` is no value; texts stand in double quotes (line 1, column 10, near `{"a": yes}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text("{a: 1}"), @r#"error: the arguments are not JSON: expected a key in double quotes (line 1, column 2, near `{a: 1}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text("{\"a\": NaN}"), @r#"error: the arguments are not JSON: `NaN` is no value; texts stand in double quotes (line 1, column 10, near `{"a": NaN}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
}

#[test]
fn open_brackets_are_closed_only_on_the_senders_word() {
    let closed = |it| text_with(it, Ending::Finished);
    assert_snapshot!(closed(r#"{"a": [{"b": "c"}"#), @r#"
    {"a":[{"b":"c"}]}
    arguments: closed 2 open brackets
    "#);
    assert_snapshot!(closed(r#"{"a": true"#), @r#"
    {"a":true}
    arguments: closed 1 open bracket
    "#);
    for cut in [
        r#"{"a": "b"#,
        r#"{"a": 12"#,
        r#"{"a":"#,
        r#"{"a""#,
        r#"{"a": "b","#,
        r#"{"a": ["#,
        "{",
        r#"{"a": tr"#,
    ] {
        let error =
            open().decode(cut.into(), Reading { ending: Ending::Finished, ..Reading::default() });
        assert_eq!(error, Err(DecodeError::Cut { reported: false }), "{cut}");
    }
    assert_snapshot!(text(r#"{"a": "b""#), @"error: the arguments end in the middle; nothing was run; send the call again, in smaller parts");
}

#[test]
fn o_082_a_text_that_was_cut_off_is_never_run() {
    let cut = |it| text_with(it, Ending::Cut);
    assert_snapshot!(cut(r#"{"a": "b""#), @"error: the arguments end in the middle: the message was cut off at its length limit; nothing was run; send the call again, in smaller parts");
    assert_snapshot!(cut(r#"{"a": "b",}"#), @"error: the arguments end in the middle: the message was cut off at its length limit; nothing was run; send the call again, in smaller parts");
    assert_snapshot!(cut(r#"{"a": "b"}"#), @r#"{"a":"b"}"#);
}

#[test]
fn keys_given_twice_are_kept_only_when_they_agree() {
    assert_snapshot!(text(r#"{"a": {"b": 1, "b": 1}}"#), @r#"
    {"a":{"b":1}}
    /a/b: kept a repeated key once
    "#);
    assert_snapshot!(text(r#"{"a": [{"b": 1, "b": 2}]}"#), @"error: the key `/a/0/b` is given twice with different values; give each key once");
    assert_snapshot!(text("{'a': 1, 'a': 2}"), @"error: the key `/a` is given twice with different values; give each key once");
}

#[test]
fn an_object_sent_as_a_text_is_read_once() {
    assert_snapshot!(text(r#""{\"a\": 1}""#), @r#"
    {"a":1}
    arguments: read a text as an object
    "#);
    assert_snapshot!(text(r#""\"{}\"""#), @r#"error: the arguments are "{}", expected an object; send one JSON object"#);
    assert_snapshot!(value(json!(r#"{"count": 1}"#)), @r#"
    {"count":1}
    arguments: read a text as an object
    "#);
}

#[test]
fn what_is_no_object_is_sent_back() {
    assert_snapshot!(text("[1, 2]"), @"error: the arguments are an array of 2 items, expected an object; send one JSON object");
    assert_snapshot!(text("42"), @"error: the arguments are 42, expected an object; send one JSON object");
    assert_snapshot!(text("hello"), @r#"error: the arguments are not JSON: there is no object in it (line 1, column 1, near `hello`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text("{\"a\": 1e999}"), @r#"error: the arguments are not JSON: number out of range (line 1, column 10, near `{"a":1e999}`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
    assert_snapshot!(text("{\n  \"a\": 1,\n  \"b\" 2\n}"), @r#"error: the arguments are not JSON: expected `:` after the key (line 3, column 7, near `{   "a": 1,   "b" 2 }`); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
}

#[test]
fn size_and_depth_are_bounded() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(
        open().decode(deep.into(), Reading::default()),
        Err(DecodeError::TooDeep { .. })
    ));
    let deep = format!("{{'a':{}", "[".repeat(100_000));
    assert!(matches!(
        open().decode(deep.into(), Reading::default()),
        Err(DecodeError::TooDeep { .. })
    ));
    let deep = nested("a", 100_000, json!(1));
    assert!(matches!(
        open().decode(deep.into(), Reading::default()),
        Err(DecodeError::TooDeep { .. })
    ));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(9 << 20));
    assert!(matches!(
        open().decode(large.into(), Reading::default()),
        Err(DecodeError::TooLarge { .. })
    ));
}

#[test]
fn o_078_text_with_too_much_wrong_is_sent_back() {
    let wild = format!(
        "{{{}}}",
        (0..100).map(|it| format!("\"k{it}\": True")).collect::<Vec<_>>().join(",")
    );
    assert_snapshot!(text(&wild), @r#"error: the arguments are not JSON: too much is wrong with it (line 1, column 759, near `2": True,"k63": True,"k64": True,"k65": `); send one JSON object; inside texts write `\"`, `\\` and `\n`"#);
}

#[test]
fn o_076_texts_become_the_types_asked_for_when_that_is_exact() {
    assert_snapshot!(value(json!({
        "tags": "[\"a\", \"b\"]",
        "where": "{\"from\": \"3\", \"to\": null}",
        "count": "42",
        "ratio": "-0.5e3",
        "on": "true",
        "either": "[1, \"2\"]",
    })), @r#"
    {"tags":["a","b"],"where":{"from":3,"to":null},"count":42,"ratio":-500.0,"on":true,"either":[1,2]}
    /tags: read a text as an array
    /where: read a text as an object
    /where/from: read a text as a number
    /count: read a text as a number
    /ratio: read a text as a number
    /on: read a text as a truth value
    /either: read a text as an array
    /either/1: read a text as a number
    "#);
    assert_snapshot!(value(json!({
        "tags": "['a', 'b']",
        "where": "{'from': 3}",
        "count": "4.5",
        "ratio": "0.12345678901234567890",
        "on": "True",
        "either": "null",
    })), @r#"{"tags":"['a', 'b']","where":"{'from': 3}","count":"4.5","ratio":"0.12345678901234567890","on":"True","either":"null"}"#);
    assert_snapshot!(value(json!({"count": " 42"})), @r#"{"count":" 42"}"#);
    assert_snapshot!(value(json!({"count": "042", "ratio": "1_000"})), @r#"{"count":"042","ratio":"1_000"}"#);
    assert_snapshot!(value(json!({"count": "12345678901234567890123"})), @r#"{"count":"12345678901234567890123"}"#);
    assert_snapshot!(value(json!({"text": "[1]", "count": "5.0"})), @r#"
    {"text":"[1]","count":5}
    /count: read a text as a number
    "#);
}

#[test]
fn a_lone_value_becomes_a_list_where_only_a_list_is_taken() {
    assert_snapshot!(value(json!({"tags": "*.rs", "either": 5})), @r#"
    {"tags":["*.rs"],"either":[5]}
    /tags: took a lone value as a list of one
    /either: took a lone value as a list of one
    "#);
    // What another reading could be meant by stays for the check to name.
    for unclear in [
        json!({"tags": ""}),
        json!({"tags": " "}),
        json!({"tags": "[*.rs"}),
        json!({"tags": 5}),
        json!({"tags": {"a": 1}}),
        json!({"either": "x"}),
        json!({"either": null}),
        json!({"tags": []}),
    ] {
        assert_eq!(value(unclear.clone()), unclear.to_string());
    }
    let objects = Contract::foreign(json!({"properties": {
        "edits": {"type": "array", "items": {"type": "object", "properties": {"line": {"type": "integer"}}}},
        "both": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "any": {"type": "array"},
    }}))
    .unwrap();
    let given = json!({"edits": {"line": "3"}, "both": "x", "any": "x"});
    let decoded = objects.decode(given.into(), Reading::default()).unwrap();
    let repaired = json!({"edits": [{"line": 3}], "both": "x", "any": "x"});
    assert_eq!(Value::Object(decoded.arguments), repaired, "what is valid is never changed");
    let repairs: Vec<_> = decoded.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        repairs,
        ["/edits: took a lone value as a list of one", "/edits/0/line: read a text as a number"]
    );
}

#[test]
fn nulls_go_where_the_key_may_be_left_out() {
    assert_snapshot!(value(json!({"text": null, "either": null, "where": {"from": null, "to": null}})), @r#"
    {"either":null,"where":{"from":null,"to":null}}
    /text: removed a null
    "#);
}

#[test]
fn choices_get_their_case_when_only_one_fits() {
    assert_snapshot!(value(json!({"mode": "FAST"})), @r#"
    {"mode":"Fast"}
    /mode: spelled as "Fast"
    "#);
    assert_snapshot!(value(json!({"mode": "full-scan"})), @r#"{"mode":"full-scan"}"#);
    let contract = Contract::foreign(
        json!({"properties": {"m": {"enum": ["a", "A"]}, "n": {"enum": ["x", "X"]}}}),
    )
    .unwrap();
    let decoded = contract.decode(json!({"m": "A", "n": "x"}).into(), Reading::default()).unwrap();
    assert_eq!(decoded.repairs, []);
}

#[test]
fn unknown_keys_go_only_for_tools_that_read() {
    let given = json!({"text": "a", "extra": 1, "where": {"from": 1, "more": [1]}});
    assert_snapshot!(value_with(given.clone(), Extra::Drop), @r#"
    {"text":"a","where":{"from":1}}
    /extra: dropped an unknown key
    /where/more: dropped an unknown key
    "#);
    assert_snapshot!(value_with(given, Extra::Reject), @r#"{"text":"a","extra":1,"where":{"from":1,"more":[1]}}"#);
}

#[derive(JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[expect(dead_code, reason = "only the schema is of interest")]
enum Tagged {
    Grep { pattern: String, limit: Option<u32> },
    Find { glob: String },
}

#[test]
fn tagged_arguments_are_repaired_by_their_action() {
    let contract = Contract::of::<Tagged>().unwrap();
    let given = json!({"action": "GREP", "pattern": "x", "limit": "5", "glob": null});
    let reading = Reading { extra: Extra::Drop, ..Reading::default() };
    let decoded = contract.decode(given.into(), reading).unwrap();
    let repairs: Vec<String> = decoded.repairs.iter().map(ToString::to_string).collect();
    assert_eq!(
        Value::Object(decoded.arguments),
        json!({"action": "grep", "pattern": "x", "limit": 5})
    );
    assert_snapshot!(repairs.join("\n"), @r#"
    /action: spelled as "grep"
    /glob: dropped a key that belongs to "find"
    /limit: read a text as a number
    "#);
}

#[test]
fn repairs_survive_storage() {
    let decoded = read(json!({"mode": "FAST", "text": null}), Reading::default()).unwrap();
    let stored = serde_json::to_value(&decoded.repairs).unwrap();
    assert_eq!(stored[0], json!({"pointer": "/text", "repair": "null_removed"}));
    let back: Vec<haft_schema::Repair> = serde_json::from_value(stored).unwrap();
    assert_eq!(back, decoded.repairs);
    assert_eq!(back[1].kind, RepairKind::Spelling { to: "Fast".to_owned() });
}

#[test]
fn an_unknown_key_that_is_a_slip_of_a_known_one_is_not_dropped() {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "include": { "type": "array" } },
        "additionalProperties": false,
    });
    let contract = Contract::foreign(schema).unwrap();
    let reading = Reading { extra: Extra::Drop, ..Reading::default() };
    let decode = |value: Value| contract.decode(RawArguments::Json(value), reading).unwrap();
    for slip in ["paths", "includes", "pth", "directory", "file_path", "folder", "glob"] {
        let decoded = decode(json!({ slip: "src" }));
        let refused = contract.normalise(decoded.arguments).unwrap_err().to_string();
        assert!(refused.contains("did you mean"), "{slip}: {refused}");
    }
    assert!(
        decode(json!({ "verbosity": 3 })).arguments.is_empty(),
        "what means nothing is dropped"
    );
    assert!(decode(json!({ "path": "a", "paths": "b" })).repairs.len() == 1, "its place is taken");
}

#[test]
fn o_083_a_half_of_a_surrogate_pair_becomes_a_sign_that_stands_for_it() {
    assert_eq!(text(r#"{"a": "\ud83d\ude00"}"#), r#"{"a":"😀"}"#);
    assert_snapshot!(text(r#"{"a": "x\ud83d y", "b": ["\udc00\ud83d", "\ud83d\ud83d\ude00"]}"#), @r#"
    {"a":"x� y","b":["��","�😀"]}
    /a: put U+FFFD for a half of a surrogate pair
    /b/0: put U+FFFD for 2 halves of surrogate pairs
    /b/1: put U+FFFD for a half of a surrogate pair
    "#);
    assert_snapshot!(text(r#"{"\ud83d": "\ud83dA", "a": "\u00e4\n"}"#), @r#"
    {"�":"�A","a":"ä\n"}
    arguments: put U+FFFD for a half of a surrogate pair
    /�: put U+FFFD for a half of a surrogate pair
    "#);
    // What is cut has no reading, and an escape that is none is no half.
    assert_snapshot!(text(r#"{"a": "\ud83d\u"#), @"error: the arguments end in the middle; nothing was run; send the call again, in smaller parts");
    assert_snapshot!(text(r#"{"a": "\ud83d\ude0"}"#), @r#"
    {"a":"�\\ude0"}
    /a: put U+FFFD for a half of a surrogate pair
    /a: took 1 lone backslash as written
    "#);
}
