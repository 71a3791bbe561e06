//! Bytes behind handles.

use std::path::Path;
use std::sync::Arc;

use haft_protocol::{ArtifactId, CallId, Outcome};
use haft_store::{IdQuery, Retention, Store, StoreError};
use haft_tool::ports::{Artifacts as _, NewArtifact, PortError};
use serde_json::json;

use crate::support::{
    SECRET, begin, call, end, in_memory, intent, open, open_keeping, over_both, redaction,
    retention, start, whole,
};

async fn keep(store: &Store, id: CallId, bytes: &[u8]) -> Result<ArtifactId, PortError> {
    keep_as(store, id, "application/octet-stream", bytes).await
}

async fn keep_as(
    store: &Store,
    id: CallId,
    media_type: &str,
    bytes: &[u8],
) -> Result<ArtifactId, PortError> {
    store
        .keep(NewArtifact {
            call: id,
            title: format!("output with {SECRET}"),
            media_type: media_type.to_owned(),
            bytes: Arc::from(bytes),
        })
        .await
}

fn objects(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = |dir: &Path| std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries(&dir.join("objects")).flat_map(|folder| entries(&folder).collect::<Vec<_>>()).collect()
}

#[tokio::test]
async fn bytes_come_back_as_they_were() {
    over_both(async |store| {
        begin(&store, call(1)).await;
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let id = keep(&store, call(1), &bytes).await.unwrap();
        let artifact = store.artifact(id).unwrap();
        assert_eq!(*artifact.bytes, *bytes);
        assert_eq!((artifact.info.call, artifact.info.bytes), (call(1), 100_000));
        assert_eq!(artifact.info.title, "output with [redacted]");
        let detail = store.show(&IdQuery::Last).unwrap();
        assert_eq!(detail.artifacts, [artifact.info]);
        assert!(matches!(
            store.artifact(ArtifactId::from_parts(1, 1)),
            Err(StoreError::NoSuchArtifact { .. })
        ));
    })
    .await;
}

#[tokio::test]
async fn equal_bytes_are_stored_once() {
    over_both(async |store| {
        let one = keep(&store, call(1), b"same").await.unwrap();
        let two = keep(&store, call(2), b"same").await.unwrap();
        assert_ne!(one, two);
        let usage = store.usage().unwrap();
        assert_eq!((usage.objects, usage.object_bytes), (1, 4));
        assert_eq!(store.artifact(one).unwrap().bytes, store.artifact(two).unwrap().bytes);
    })
    .await;
}

#[tokio::test]
async fn text_is_redacted_and_other_bytes_are_kept_as_they_are() {
    over_both(async |store| {
        let kept = async |media_type: &str, bytes: &str| {
            let id = keep_as(&store, call(1), media_type, bytes.as_bytes()).await.unwrap();
            String::from_utf8(store.artifact(id).unwrap().bytes.to_vec()).unwrap()
        };
        let text = format!("a {SECRET} b");
        assert_eq!(kept("text/plain; charset=utf-8", &text).await, "a [redacted] b");
        assert_eq!(kept("application/octet-stream", &text).await, text);
        let value = json!({ "password": 1234, "n": 1.50 }).to_string();
        assert_eq!(kept("application/json", &value).await, r#"{"password":"[redacted]","n":1.5}"#);
        assert_eq!(kept("application/json", "{ \"n\" : 1 }").await, "{ \"n\" : 1 }");
        assert_eq!(
            kept("application/json", &format!("{{ broken {SECRET}")).await,
            "{ broken [redacted]"
        );
    })
    .await;
}

#[tokio::test]
async fn more_bytes_than_one_artifact_may_have_are_refused() {
    let store = Store::in_memory(retention(1, 1, 1_000, 10), redaction()).unwrap();
    let error = keep(&store, call(1), &[0; 11]).await.unwrap_err();
    insta::assert_snapshot!(error, @"11 bytes are too many to keep: one artifact may have 10");
    keep(&store, call(1), &[0; 10]).await.unwrap();
}

#[tokio::test]
async fn the_oldest_artifacts_make_room_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_keeping(dir.path(), retention(1, 100, 25, 20));
    let mut ids = Vec::new();
    for number in 1..=4 {
        whole(&store, &intent(call(number)), Outcome::ok("x")).await;
        ids.push(keep(&store, call(number), &[number as u8; 10]).await.unwrap());
    }
    let evicted = store.artifact(ids[0]).unwrap_err().to_string();
    assert!(
        evicted.ends_with("was removed to keep all artifacts within 25 bytes; make the call again"),
        "{evicted}"
    );
    assert!(matches!(store.artifact(ids[1]), Err(StoreError::ArtifactEvicted { .. })));
    assert_eq!(*store.artifact(ids[2]).unwrap().bytes, [3; 10]);
    assert_eq!(*store.artifact(ids[3]).unwrap().bytes, [4; 10]);
    assert_eq!(objects(dir.path()).len(), 2);
    assert_eq!(store.usage().unwrap().object_bytes, 20);
}

#[tokio::test]
async fn artifacts_of_running_calls_do_not_make_room() {
    let store = Store::in_memory(retention(1, 100, 25, 20), redaction()).unwrap();
    begin(&store, call(1)).await;
    start(&store, call(1)).await;
    let first = keep(&store, call(1), &[1; 10]).await.unwrap();
    let second = keep(&store, call(1), &[2; 10]).await.unwrap();
    let error = keep(&store, call(2), &[3; 10]).await.unwrap_err();
    insta::assert_snapshot!(error, @"10 bytes are too many to keep: all artifacts together may have 25, and those of running calls stay");
    assert!(store.artifact(first).is_ok() && store.artifact(second).is_ok());
    end(&store, call(1), Outcome::ok("x")).await.unwrap();
    keep(&store, call(2), &[3; 10]).await.unwrap();
    assert!(store.artifact(first).is_err() && store.artifact(second).is_ok());
}

#[tokio::test]
async fn content_that_a_later_artifact_shares_stays_when_the_earlier_one_goes() {
    let store = Store::in_memory(retention(1, 100, 15, 15), redaction()).unwrap();
    let first = keep(&store, call(1), &[1; 10]).await.unwrap();
    keep(&store, call(2), &[2; 5]).await.unwrap();
    let shared = keep(&store, call(3), &[1; 10]).await.unwrap();
    keep(&store, call(4), &[4; 5]).await.unwrap();
    assert!(store.artifact(first).is_err());
    assert_eq!(*store.artifact(shared).unwrap().bytes, [1; 10]);
}

#[tokio::test]
async fn bytes_that_were_changed_on_the_disk_are_not_returned() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let id = keep(&store, call(1), b"original").await.unwrap();
    let file = objects(dir.path()).pop().unwrap();
    std::fs::write(&file, b"0riginal").unwrap();
    assert!(matches!(store.artifact(id), Err(StoreError::ArtifactDamaged { .. })));
    std::fs::remove_file(&file).unwrap();
    assert!(matches!(store.artifact(id), Err(StoreError::ArtifactDamaged { .. })));
    let again = keep(&store, call(2), b"original").await.unwrap();
    assert_eq!(*store.artifact(again).unwrap().bytes, *b"original");
}

#[tokio::test]
async fn many_artifacts_at_one_time_are_all_kept() {
    over_both(async |store| {
        let kept = (0..50_u8).map(|number| {
            let store = store.clone();
            async move { keep(&store, call(1), &[number % 10; 1_000]).await.unwrap() }
        });
        for (number, id) in futures_util::future::join_all(kept).await.into_iter().enumerate() {
            assert_eq!(*store.artifact(id).unwrap().bytes, [number as u8 % 10; 1_000]);
        }
        assert_eq!(store.usage().unwrap().objects, 10);
    })
    .await;
}

#[tokio::test]
async fn artifacts_outlive_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let id = keep(&open(dir.path()), call(1), b"bytes").await.unwrap();
    assert_eq!(*open(dir.path()).artifact(id).unwrap().bytes, *b"bytes");
}

#[test]
fn artifacts_can_be_kept_without_a_runtime() {
    let store = in_memory();
    let keeping = store.keep(NewArtifact {
        call: call(1),
        title: "x".to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: Arc::from(&b"bytes"[..]),
    });
    let id = futures_util::FutureExt::now_or_never(keeping).unwrap().unwrap();
    assert_eq!(*store.artifact(id).unwrap().bytes, *b"bytes");
    assert_eq!(
        Retention::default().artifact_bytes_each.get(),
        haft_protocol::limits::ARTIFACT_BYTES
    );
}
