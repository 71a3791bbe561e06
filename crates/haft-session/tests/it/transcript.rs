use haft_session::Transcript;

#[test]
fn a_transcript_begins_empty() {
    assert!(Transcript::new().is_empty());
}
