//! What calls kept, as resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft_protocol::CallId;
use haft_testkit::doors::Mood;
use haft_testkit::{Era, echo};
use haft_tool::ports::{Artifacts as _, NewArtifact};
use insta::{allow_duplicates, assert_json_snapshot, assert_snapshot};
use serde_json::json;

use crate::rig::House;

async fn kept(house: &House, media_type: &str, bytes: &[u8]) -> String {
    let artifact = NewArtifact {
        call: CallId::from_parts(0, 1),
        title: "output of a test".to_owned(),
        media_type: media_type.to_owned(),
        bytes: bytes.into(),
    };
    format!("haft://artifact/{}", house.artifacts.keep(artifact).await.unwrap())
}

#[tokio::test]
async fn their_addresses_are_said_and_none_is_listed() {
    let house = House::of([echo()]);
    kept(&house, "text/plain", b"kept").await;
    let mut client = house.client(Era::Handshake).await;
    assert_eq!(client.request("resources/list", json!({})).await["resources"], json!([]));
    let templates = client.request("resources/templates/list", json!({})).await;
    assert_json_snapshot!(templates["resourceTemplates"], @r#"
    [
      {
        "uriTemplate": "haft://artifact/{id}",
        "name": "artifact",
        "description": "What a call produced that was too much for its result."
      }
    ]
    "#);
}

#[tokio::test]
async fn text_is_read_as_text_and_bytes_as_bytes() {
    let house = House::of([echo()]);
    let texts = [("text/plain; charset=utf-8", "grüße"), ("application/json", "{}")];
    for era in Era::BOTH {
        let mut client = house.client(era).await;
        for (media_type, content) in texts {
            let uri = kept(&house, media_type, content.as_bytes()).await;
            let read = client.request("resources/read", json!({ "uri": uri })).await;
            let wanted = json!([{ "uri": uri, "mimeType": media_type, "text": content }]);
            assert_eq!(read["contents"], wanted);
        }
        for (media_type, content) in [("text/plain", &b"\xff\xfe"[..]), ("image/png", b"ascii")] {
            let uri = kept(&house, media_type, content).await;
            let read = client.request("resources/read", json!({ "uri": uri })).await;
            let wanted =
                json!([{ "uri": uri, "mimeType": media_type, "blob": STANDARD.encode(content) }]);
            assert_eq!(read["contents"], wanted);
        }
    }
}

#[tokio::test]
async fn what_there_is_not_is_an_error_of_its_era() {
    let house = House::of([echo()]);
    let uri = format!("haft://artifact/{}", haft_protocol::ArtifactId::from_parts(1, 99));
    for (era, code) in [(Era::Handshake, -32002), (Era::Stateless, -32602)] {
        let mut client = house.client(era).await;
        let error = client.refused("resources/read", json!({ "uri": uri })).await;
        assert_eq!(error["code"], code);
        let text = error["message"].as_str().unwrap();
        allow_duplicates! {
            assert_snapshot!(text.replace(&uri[16..], "[id]"), @"there is no artifact `[id]` of this workspace");
        }
    }
}

#[tokio::test]
async fn addresses_of_other_kinds_are_refused() {
    let house = House::of([echo()]);
    let id = kept(&house, "text/plain", b"kept").await;
    let mut client = house.client(Era::Stateless).await;
    for uri in [
        "",
        "file:///etc/passwd",
        "haft://artifact/",
        "haft://artifact/../../state",
        "HAFT://artifact/x",
        &format!("{id}/"),
        &format!("{id}?x"),
        &format!(" {id}"),
        &format!("{id}\u{1b}[2J{}", "x".repeat(10_000)),
    ] {
        let error = client.refused("resources/read", json!({ "uri": uri })).await;
        assert_eq!(error["code"], -32602, "{uri}");
        let text = error["message"].as_str().unwrap();
        assert!(text.len() < 1_000 && !text.contains('\u{1b}'), "{text}");
    }
    let error = client.refused("resources/read", json!({ "uri": "file:///etc/passwd" })).await;
    assert_snapshot!(error["message"].as_str().unwrap(), @"`file:///etc/passwd` is no resource of this server: they are `haft://artifact/` and an id that a result gave");
}

#[tokio::test]
async fn what_is_gone_is_said_to_be() {
    let house = House::of([echo()]);
    let uri = kept(&house, "text/plain", b"kept").await;
    house.artifacts.temper.set(Mood::Fails);
    let mut client = house.client(Era::Stateless).await;
    let error = client.refused("resources/read", json!({ "uri": uri })).await;
    assert_eq!(error["code"], -32602);
    assert_eq!(error["message"], "the store of artifacts fails because a test said so");
}
