//! Changes to files on record, and what they took away.

use haft_protocol::{
    CallId, Change, ChangeKind, ContentRef, Digest, EffectRecord, EffectState, Evidence, FileState,
    LogicalPath,
};
use haft_store::Store;
use haft_tool::ports::Effects as _;

use crate::support::{call, days_ago, in_memory, now, open, open_keeping, over_both, retention};

fn kept(store: &Store, text: &str) -> ContentRef {
    store.keep(&mut text.as_bytes()).unwrap()
}

/// A change of `a.txt` from one text to another.
fn modified(store: &Store, id: CallId, number: u32, before: &str, after: &str) -> EffectRecord {
    let state = |text| FileState::File { content: Some(kept(store, text)), mode: 0o644 };
    EffectRecord {
        call: id,
        number,
        root: "/root".to_owned(),
        change: Change {
            path: LogicalPath::new("a.txt"),
            kind: ChangeKind::Modified,
            evidence: Evidence::Recorded,
            before: Some(state(before)),
            after: Some(state(after)),
            not_restorable: None,
        },
        leftovers: vec![".haft-x.part".to_owned()],
        born: None,
        stands_for: None,
        at: now(),
        state: EffectState::Announced,
    }
}

fn done(store: &Store, mut effect: EffectRecord) -> EffectRecord {
    store.announce(std::slice::from_ref(&effect)).unwrap();
    effect.state = EffectState::Done;
    store.settle(&effect).unwrap();
    effect
}

fn changed(store: &Store, root: &str) -> Vec<CallId> {
    let changed = store.changed_calls(&[root.to_owned()], 10).unwrap();
    changed.calls.iter().map(|it| it.call).collect()
}

fn text(store: &Store, text: &str) -> Option<String> {
    let bytes = store.fetch(Digest::of_bytes(text)).unwrap()?;
    Some(String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn a_change_comes_back_as_it_was_settled_with_what_it_took_away() {
    over_both(async |store| {
        let effect = done(&store, modified(&store, call(1), 0, "one", "two"));
        let second = done(&store, modified(&store, call(1), 1, "two", "three"));
        assert_eq!(store.of_call(call(1)).unwrap(), [effect, second]);
        assert_eq!(store.of_call(call(2)).unwrap(), []);
        for held in ["one", "two", "three"] {
            assert_eq!(text(&store, held).as_deref(), Some(held));
        }
        assert_eq!(changed(&store, "/root"), [call(1)]);
        assert_eq!(changed(&store, "/"), []);
        assert_eq!(store.touched("/root").unwrap().len(), 1);
        assert!(store.touched("/other").unwrap().is_empty());
        assert_eq!(store.usage().unwrap().changes, 2);
    })
    .await;
}

#[test]
fn nothing_is_kept_of_what_did_not_happen_or_was_never_announced() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut effect = modified(&store, call(1), 0, "one", "two");
    store.announce(std::slice::from_ref(&effect)).unwrap();
    assert!(text(&store, "one").is_some());
    effect.state = EffectState::NotDone;
    store.settle(&effect).unwrap();
    assert_eq!(text(&store, "one"), None);
    assert_eq!(changed(&store, "/root"), []);
    kept(&store, "never");
    assert_eq!(text(&store, "never"), None);
    drop(store);
    let names: Vec<_> = std::fs::read_dir(dir.path().join("objects")).unwrap().collect();
    let files = names.iter().filter(|name| name.as_ref().unwrap().path().is_file()).count();
    assert_eq!(files, 0);
}

#[test]
fn a_change_of_a_process_that_is_gone_was_cut_short() {
    let dir = tempfile::tempdir().unwrap();
    let other = open(dir.path());
    let effect = modified(&other, call(1), 0, "one", "two");
    other.announce(std::slice::from_ref(&effect)).unwrap();
    done(&other, modified(&other, call(2), 0, "one", "two"));
    let store = open(dir.path());
    assert_eq!(store.cut_short().unwrap(), []);
    drop(other);
    assert_eq!(store.cut_short().unwrap(), std::slice::from_ref(&effect));
    let settled = EffectRecord { state: EffectState::Done, ..effect };
    store.settle(&settled).unwrap();
    assert_eq!(store.cut_short().unwrap(), []);
    assert_eq!(text(&store, "one").as_deref(), Some("one"));
}

#[test]
fn content_that_is_too_much_is_digested_and_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), retention(1, 10, 1_000, 4));
    let content = kept(&store, "12345");
    assert_eq!((content.bytes, content.stored), (5, false));
    assert_eq!(content.digest, Digest::of_bytes("12345"));
    assert!(kept(&store, "1234").stored);
}

#[test]
fn what_made_room_says_that_it_is_no_longer_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), retention(100, 100, 20, 15));
    done(&store, modified(&store, call(1), 0, "first before", "same"));
    done(&store, modified(&store, call(2), 0, "second before", "same"));
    let first = store.of_call(call(1)).unwrap().remove(0).change;
    assert!(first.not_restorable.unwrap().starts_with("it is no longer kept"));
    assert!(!first.before.unwrap().content().unwrap().stored);
    let second = store.of_call(call(2)).unwrap().remove(0).change;
    assert_eq!(second.not_restorable, None);
    assert_eq!(text(&store, "first before"), None);
    assert_eq!(text(&store, "second before").as_deref(), Some("second before"));
    assert_eq!(text(&store, "same").as_deref(), Some("same"));
}

#[test]
fn a_change_whose_content_finds_no_room_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), retention(100, 100, 20, 15));
    let effect = modified(&store, call(1), 0, "more than half", "and as much");
    let refused = store.announce(std::slice::from_ref(&effect)).unwrap_err();
    assert!(refused.text.contains("too much to keep"), "{refused}");
    assert_eq!(store.of_call(call(1)).unwrap(), []);
}

#[test]
fn a_clean_up_keeps_what_a_change_leads_to_and_removes_what_is_old() {
    let store = in_memory();
    done(&store, modified(&store, call(1), 0, "one", "two"));
    let old = EffectRecord { at: days_ago(60), ..modified(&store, call(2), 0, "old", "two") };
    done(&store, old);
    assert_eq!(store.gc_preview(now()).unwrap().changes, 1);
    let report = store.gc(now()).unwrap();
    assert_eq!((report.changes, report.objects), (1, 1));
    assert_eq!(text(&store, "one").as_deref(), Some("one"));
    assert_eq!(text(&store, "two").as_deref(), Some("two"));
    assert_eq!(text(&store, "old"), None);
    assert_eq!(store.of_call(call(2)).unwrap(), []);
}

#[tokio::test]
async fn content_that_several_calls_keep_at_once_waits_for_each_of_them() {
    over_both(async |store| {
        let mut one = modified(&store, call(1), 0, "same", "new");
        let two = modified(&store, call(2), 0, "same", "new");
        let three = modified(&store, call(3), 0, "same", "new");
        store.announce(std::slice::from_ref(&one)).unwrap();
        // What the first took away goes with it; the others still have theirs.
        one.state = EffectState::NotDone;
        store.settle(&one).unwrap();
        assert_eq!(text(&store, "same"), None);
        for effect in [two, three] {
            done(&store, effect);
            assert_eq!(text(&store, "same").as_deref(), Some("same"));
        }
    })
    .await;
}
