//! Taking a call back.

use crate::rig::{LongWork, Rig, one_object};

#[test]
fn ctrl_c_takes_the_call_back_and_the_record_says_so() {
    let rig = Rig::new();
    let ran = LongWork::begin(&rig).interrupt();
    assert_eq!(ran.exit, 130, "{}", ran.all());
    assert_eq!(one_object(&ran)["data"]["outcome"]["status"], "cancelled");
    let calls = rig.json(&["log"])["data"].clone();
    assert_eq!(calls.as_array().unwrap().len(), 1);
    assert_eq!(calls[0]["status"], "cancelled");
    let shown = rig.haft(&["show", "last"]);
    assert!(shown.stderr.contains("cancelled: the call was taken back"), "{}", shown.all());
}

#[test]
fn a_call_whose_process_was_killed_is_on_record_as_unknown() {
    let rig = Rig::new();
    LongWork::begin(&rig).kill();
    let calls = rig.json(&["log"])["data"].clone();
    assert_eq!(calls[0]["status"], "unknown");
    // And stands in nobody's way.
    rig.file("a.txt", "text\n");
    assert_eq!(rig.read(&serde_json::json!({ "path": "a.txt" })).text, "1\ttext");
}
