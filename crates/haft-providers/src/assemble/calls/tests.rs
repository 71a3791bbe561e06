use haft_model::Finished;
use haft_protocol::{RawArguments, StopReason};
use serde_json::json;

use super::*;

/// Returns each call as `id tool arguments`, with `!` before those that may not run.
fn assembled(pieces: &[Value]) -> Vec<String> {
    let (mut calls, mut assembly, mut shown) =
        (Calls::default(), Assembly::default(), VecDeque::new());
    for piece in pieces {
        calls.take(CallPiece::of_json(piece), &mut assembly, &mut shown).unwrap();
    }
    Calls::settle(&mut assembly);
    let finished: Finished = assembly.finish(StopReason::Calls);
    let calls = finished.parts.into_iter().filter_map(|part| match part {
        haft_protocol::ReplyPart::Call(call) => Some(call),
        _ => None,
    });
    calls
        .map(|call| {
            let arguments = match call.arguments {
                RawArguments::Text(text) => text,
                RawArguments::Json(json) => json.to_string(),
            };
            let mark = if call.is_whole { "" } else { "!" };
            format!(
                "{mark}{} {} {arguments}",
                call.provider_id.as_deref().unwrap_or("-"),
                call.tool
            )
        })
        .collect()
}

fn head(index: Option<u64>, id: Option<&str>, tool: Option<&str>, arguments: &str) -> Value {
    json!({"index": index, "id": id, "function": {"name": tool, "arguments": arguments}})
}

fn tail(index: Option<u64>, arguments: &str) -> Value {
    head(index, None, None, arguments)
}

const TWO: [&str; 2] = [r#"c1 read {"p":1}"#, r#"c2 read {"p":2}"#];

#[test]
fn o_085_pieces_without_an_index_follow_the_last_id() {
    for index in [None, Some(0)] {
        let pieces = [
            head(index, Some("c1"), Some("read"), r#"{"p""#),
            tail(index, ":1}"),
            head(index, Some("c2"), Some("read"), r#"{"p":2}"#),
        ];
        assert_eq!(assembled(&pieces), TWO, "{index:?}");
    }
}

#[test]
fn o_085_tails_that_are_counted_wrongly_find_their_heads() {
    let shifted = [
        head(Some(0), Some("c1"), Some("read"), ""),
        tail(Some(1), r#"{"p":1}"#),
        head(Some(1), Some("c2"), Some("read"), ""),
        tail(Some(1), r#"{"p":2}"#),
    ];
    assert_eq!(assembled(&shifted), TWO);
    let both_at_one = [
        head(Some(0), Some("c1"), Some("read"), ""),
        head(Some(1), Some("c2"), Some("read"), ""),
        tail(Some(1), r#"{"p":1}"#),
        tail(Some(1), r#"{"p":"#),
        tail(Some(1), "2}"),
    ];
    assert_eq!(assembled(&both_at_one), TWO);
    let second_at_zero = [
        head(Some(0), Some("c1"), Some("read"), r#"{"p":1}"#),
        head(Some(0), Some("c2"), Some("read"), ""),
        tail(Some(1), r#"{"p":2}"#),
    ];
    assert_eq!(assembled(&second_at_zero), TWO);
}

#[test]
fn o_085_arguments_that_could_be_of_two_tools_run_neither() {
    let pieces = [
        head(Some(0), Some("c1"), Some("read"), ""),
        head(Some(1), Some("c2"), Some("remove"), ""),
        tail(Some(1), r#"{"p":1}"#),
        tail(Some(1), r#"{"p":2}"#),
    ];
    assert_eq!(assembled(&pieces), ["!c1 read {}", r#"!c2 remove {"p":1}{"p":2}"#]);
}

#[test]
fn o_085_indexes_begin_anywhere_and_calls_interleave() {
    for first in [0, 1, 7, u64::MAX - 1] {
        let pieces = [
            head(Some(first), Some("c1"), Some("read"), ""),
            head(Some(first + 1), Some("c2"), Some("read"), ""),
            tail(Some(first), r#"{"p""#),
            tail(Some(first + 1), r#"{"p""#),
            tail(Some(first), ":1}"),
            tail(Some(first + 1), ":2}"),
        ];
        assert_eq!(assembled(&pieces), TWO, "{first}");
    }
}

#[test]
fn o_085_an_id_in_every_piece_is_one_call() {
    let pieces = [
        head(None, Some("c1"), Some("read"), ""),
        head(None, Some("c1"), Some("read"), r#"{"p""#),
        head(Some(4), Some("c1"), None, ":1"),
        head(Some(5), Some("c1"), None, "}"),
    ];
    assert_eq!(assembled(&pieces), [r#"c1 read {"p":1}"#]);
}

#[test]
fn o_085_names_and_ids_come_late_or_not_at_all() {
    let late = [
        head(Some(0), None, None, r#"{"p""#),
        head(Some(0), None, Some("read"), ":1}"),
        head(Some(0), Some("c1"), None, ""),
    ];
    assert_eq!(assembled(&late), [r#"c1 read {"p":1}"#]);
    let late_id =
        [head(Some(0), None, Some("read"), ""), head(Some(0), Some("c1"), None, r#"{"p":1}"#)];
    assert_eq!(assembled(&late_id), [r#"c1 read {"p":1}"#]);
    let without = [
        head(None, None, Some("read"), r#"{"p":1}"#),
        head(None, None, Some("read"), r#"{"p":2}"#),
        head(None, Some(""), Some("list"), ""),
    ];
    assert_eq!(assembled(&without), [r#"- read {"p":1}"#, r#"- read {"p":2}"#, "- list {}"]);
}

#[test]
fn o_085_a_name_in_every_piece_is_one_call() {
    let pieces = [
        head(Some(0), None, Some("read"), ""),
        head(Some(0), None, Some("read"), r#"{"p""#),
        head(Some(0), None, Some("read"), ":1}"),
    ];
    assert_eq!(assembled(&pieces), [r#"- read {"p":1}"#]);
}

#[test]
fn calls_with_equal_ids_stay_apart() {
    let pieces = [
        head(Some(0), Some("a"), Some("read"), r#"{"p":1}"#),
        head(Some(1), Some("a"), Some("read"), r#"{"p":2}"#),
        head(Some(2), Some(""), Some("read"), r#"{"p":3}"#),
        head(Some(3), Some(""), Some("read"), r#"{"p":4}"#),
    ];
    let expected =
        [r#"a read {"p":1}"#, r#"a read {"p":2}"#, r#"- read {"p":3}"#, r#"- read {"p":4}"#];
    assert_eq!(assembled(&pieces), expected);
}

#[test]
fn o_086_arguments_come_as_objects_or_as_nothing() {
    let with = |arguments: Value| json!({"index": 0, "id": "c1", "function": {"name": "read", "arguments": arguments}});
    for nothing in [json!(null), json!(""), json!(" "), json!({})] {
        assert_eq!(assembled(&[with(nothing)]), ["c1 read {}"]);
    }
    assert_eq!(
        assembled(&[json!({"index": 0, "id": "c1", "function": {"name": "read"}})]),
        ["c1 read {}"]
    );
    assert_eq!(assembled(&[with(json!({"p": 1}))]), [r#"c1 read {"p":1}"#]);
    assert_eq!(assembled(&[with(json!({})), tail(Some(0), r#"{"p":1}"#)]), [r#"c1 read {"p":1}"#]);
    assert_eq!(assembled(&[with(json!([1]))]), ["c1 read [1]"]);
}

#[test]
fn arguments_that_were_cut_never_run() {
    let cut = [head(Some(0), Some("c1"), Some("write"), r#"{"path":"a","content":"line1\nli"#)];
    assert_eq!(assembled(&cut), [r#"!c1 write {"path":"a","content":"line1\nli"#]);
    let wrong = [head(Some(0), Some("c1"), Some("write"), r#"{"path":'a'}"#)];
    assert_eq!(assembled(&wrong), [r#"c1 write {"path":'a'}"#]);
}

#[test]
fn o_083_half_a_pair_within_arguments_is_replaced() {
    let pieces =
        [head(Some(0), Some("c1"), Some("read"), r#"{"q":"\ud9"#), tail(Some(0), r#"9c x"}"#)];
    assert_eq!(assembled(&pieces), ["c1 read {\"q\":\"\u{fffd} x\"}"]);
}

proptest::proptest! {
    #[test]
    fn no_order_of_pieces_breaks_it(pieces in proptest::collection::vec(
        (proptest::option::of(0u64..4), proptest::option::of(0u8..3), proptest::option::of(0u8..2), "[{}\":a0\\\\]{0,5}"), 0..12,
    )) {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|(index, id, tool, text)| {
                let (id, tool) = (id.map(|it| format!("c{it}")), tool.map(|it| format!("t{it}")));
                head(*index, id.as_deref(), tool.as_deref(), text)
            })
            .collect();
        let calls = assembled(&pieces);
        proptest::prop_assert!(calls.len() <= pieces.len());
    }
}
