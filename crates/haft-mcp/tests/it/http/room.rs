//! What all connections together may take up.

use haft_protocol::{CallId, limits};
use haft_testkit::echo;
use haft_tool::ports::{Artifacts as _, NewArtifact};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::site::Site;
use crate::rig::{House, endless};

/// More than the system keeps of what is on its way.
const LARGE: usize = 16 * 1024 * 1024;

#[tokio::test]
async fn those_who_say_nothing_make_room_for_those_who_do() {
    let site = Site::of(&House::of([echo()])).await;
    let listing = site.stateless("tools/list", json!({}));
    let mut known = TcpStream::connect(site.address).await.unwrap();
    let greeting = format!(
        "GET / HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
        site.address, site.token
    );
    known.write_all(greeting.as_bytes()).await.unwrap();
    known.read_u8().await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..limits::MCP_CONNECTIONS {
        silent.push(TcpStream::connect(site.address).await.unwrap());
    }
    assert_eq!(listing.status().await, 200);
    let mut rest = Vec::new();
    let _ = silent.remove(0).read_to_end(&mut rest).await;
    assert!(rest.is_empty(), "who came first was shown out without a word");
    known.write_all(greeting.as_bytes()).await.unwrap();
    let mut answers = String::new();
    while answers.matches("HTTP/1.1 404").count() < 1 {
        answers.push(char::from(known.read_u8().await.unwrap()));
    }
}

#[tokio::test]
async fn large_requests_under_way_are_bounded_over_all_connections() {
    let (tool, mut hears) = endless();
    let site = Site::of(&House::of([tool, echo()])).await;
    let call = site.stateless("tools/call", json!({ "name": "endless", "arguments": {} }));
    let call = call.with_padding(limits::MCP_LINE_BYTES - 4096);
    let mut under_way = Vec::new();
    for _ in 0..4 {
        under_way.push(call.open().await);
        assert_eq!(hears.recv().await, Some("begun"));
    }
    let small = site.stateless("tools/list", json!({}));
    let large = small.clone().with_padding(64 * 1024);
    let refusal = large.send().await;
    assert_eq!((refusal.status, refusal.header("retry-after")), (503, Some("5")));
    insta::assert_snapshot!(refusal.body, @"large requests are under way, and no more are taken: wait for some of them to end");
    assert_eq!(small.status().await, 200);
    under_way.clear();
    assert_eq!(hears.recv().await, Some("stopped"));
    while large.status().await != 200 {}
}

#[tokio::test]
async fn answers_that_nobody_reads_are_not_piled_up() {
    let house = House::of([echo()]);
    let site = Site::of(&house).await;
    let spent = "large answers wait to be read, and nothing more is asked";
    let crowded = "resources that were asked for wait to be read, and no more are given";
    for (bytes, listed, words) in [(LARGE, 503, spent), (LARGE - 1024 * 1024, 200, crowded)] {
        let artifact = NewArtifact {
            call: CallId::from_parts(0, 1),
            title: "output of a test".to_owned(),
            media_type: "text/plain".to_owned(),
            bytes: vec![b'a'; bytes].into(),
        };
        let uri = format!("haft://artifact/{}", house.artifacts.keep(artifact).await.unwrap());
        let read = site.stateless("resources/read", json!({ "uri": uri })).with("mcp-name", &uri);
        let mut unread = Vec::new();
        for _ in 0..4 {
            let mut stream = read.open().await;
            stream.read_u8().await.unwrap();
            unread.push(stream);
        }
        assert_eq!(site.stateless("tools/list", json!({})).status().await, listed);
        let refusal = read.send().await;
        assert_eq!((refusal.status, refusal.header("retry-after")), (503, Some("5")));
        assert_eq!(refusal.body, words);
        unread.clear();
        while read.status().await != 200 {}
    }
}
