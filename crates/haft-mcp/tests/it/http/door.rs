//! Who gets in.

use std::net::SocketAddr;

use haft_mcp::ListenError;
use haft_protocol::limits;
use haft_testkit::echo;
use serde_json::json;

use super::site::Site;
use crate::rig::House;

fn listing(site: &Site) -> super::site::Ask {
    site.stateless("tools/list", json!({}))
}

#[tokio::test]
async fn o_053_only_addresses_of_this_machine_are_listened_on() {
    let house = House::of([echo()]);
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[2001:db8::1]:0", "[::ffff:192.0.2.1]:0"]
    {
        let address: SocketAddr = address.parse().unwrap();
        let error = house.server.bind(address).await.unwrap_err();
        assert!(matches!(error, ListenError::NotLoopback { .. }), "{address}: {error}");
    }
    let error = house.server.bind("0.0.0.0:80".parse().unwrap()).await.unwrap_err();
    insta::assert_snapshot!(error, @"0.0.0.0:80 is no loopback address: what is served there is for this machine alone, as 127.0.0.1:0 is");
    let taken = house.server.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let error = house.server.bind(taken.address()).await.unwrap_err();
    assert!(matches!(error, ListenError::Address { .. }), "{error}");
    assert!(taken.url().starts_with("http://127.0.0.1:") && taken.url().ends_with("/mcp"));
}

#[tokio::test]
async fn o_053_a_request_without_the_token_is_turned_away() {
    let site = Site::of(&House::of([echo()])).await;
    let right = listing(&site);
    assert_eq!(right.status().await, 200);
    assert_eq!(
        right.clone().with("authorization", &format!("bearer {}", site.token)).status().await,
        200
    );

    let answer = right.clone().without("authorization").send().await;
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"haft\""));
    insta::assert_snapshot!(answer.body, @"this server wants its token, as `Authorization: Bearer TOKEN`; it was shown when the server started");

    let longer = format!("Bearer {}x", site.token);
    let basic = format!("Basic {}", site.token);
    for wrong in ["Bearer wrong", "Bearer ", "Bearer", "", &longer, &basic, &site.token] {
        let answer = right.clone().with("authorization", wrong).send().await;
        assert_eq!(answer.status, 401, "{wrong}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert_eq!(challenge, "Bearer realm=\"haft\", error=\"invalid_token\"", "{wrong}");
        assert!(!answer.body.contains(&site.token));
    }
    let twice = right.clone().adding("authorization", "Bearer other");
    assert_eq!(twice.status().await, 401);
}

#[tokio::test]
async fn o_047_a_page_of_another_site_is_kept_out() {
    let site = Site::of(&House::of([echo()])).await;
    let (right, port) = (listing(&site), site.address.port());
    for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
        let own = right.clone().with("host", &format!("{host}:{port}"));
        assert_eq!(own.status().await, 200, "{host}");
        let origin = format!("http://{}:{port}", host.to_lowercase());
        assert_eq!(own.with("origin", &origin).status().await, 200, "{origin}");
    }
    let evil = format!("evil.example:{port}");
    let rebound = format!("127.0.0.1.evil.example:{port}");
    for host in [evil.as_str(), &rebound, "localhost", "localhost:1", "127.0.0.2"] {
        assert_eq!(right.clone().with("host", host).status().await, 403, "{host}");
    }
    assert_eq!(right.clone().without("host").status().await, 400);
    let near = format!("http://localhost.evil.example:{port}");
    let secure = format!("https://localhost:{port}");
    for origin in ["http://evil.example", "null", "http://localhost", "file://", &near, &secure] {
        assert_eq!(right.clone().with("origin", origin).status().await, 403, "{origin}");
    }
}

#[tokio::test]
async fn o_047_names_that_only_look_like_the_servers_own_are_not() {
    let site = Site::of(&House::of([echo()])).await;
    let (right, port) = (listing(&site), site.address.port());
    let own = format!("localhost:{port}");
    for host in [
        "user@localhost:PORT",
        "localhost:0PORT",
        "localhost.:PORT",
        "localhost:PORT/",
        "127.1:PORT",
        "",
    ] {
        let host = host.replace("PORT", &port.to_string());
        let status = right.clone().with("host", &host).status().await;
        assert!(matches!(status, 400 | 403), "{host}: {status}");
    }
    for origin in [
        "http://user@OWN",
        "http://OWN/",
        "http://OWN/x",
        "http://OWN#",
        "HTTP://OWN",
        "http://OWN http://OWN",
        "OWN",
        "",
    ] {
        let origin = origin.replace("OWN", &own);
        assert_eq!(right.clone().with("origin", &origin).status().await, 403, "{origin}");
    }
    let padded = format!("http://localhost:0{port}");
    assert_eq!(right.clone().with("origin", &padded).status().await, 403);
    let answer = right.clone().with("host", "evil.example").send().await;
    let words = answer.body.replace(&port.to_string(), "[port]");
    insta::assert_snapshot!(words, @"this is `localhost:[port]`, and the request is for another server");
    let answer = right.with("origin", "http://evil.example").send().await;
    insta::assert_snapshot!(answer.body, @"pages of other sites send nothing here: the `Origin` is not this server's");
}

#[tokio::test]
async fn what_may_be_said_once_is_not_said_twice() {
    let site = Site::of(&House::of([echo()])).await;
    let right = listing(&site);
    let own = site.address.to_string();
    let origin = format!("http://{own}");
    let from_here = right.clone().with("origin", &origin);
    assert_eq!(from_here.status().await, 200);
    for twice in [
        right.clone().adding("host", &own),
        right.clone().adding("host", "evil.example"),
        from_here.adding("origin", &origin),
        right.clone().adding("mcp-session-id", "a").adding("mcp-session-id", "b"),
        right.clone().adding("mcp-method", "tools/call"),
    ] {
        assert_eq!(twice.status().await, 400);
    }
    let answer = right.adding("host", &own).send().await;
    insta::assert_snapshot!(answer.body, @"there is more than one `host`");
}

#[tokio::test]
async fn a_target_that_names_a_server_names_this_one() {
    let site = Site::of(&House::of([echo()])).await;
    let right = listing(&site);
    let own = site.address;
    assert_eq!(right.clone().path(&format!("http://{own}/mcp")).status().await, 200);
    let (userinfo, secure) = (format!("http://user@{own}/mcp"), format!("https://{own}/mcp"));
    for target in ["http://evil.example/mcp", &userinfo, &secure] {
        assert_eq!(right.clone().path(target).status().await, 403, "{target}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_not_waited_for() {
    let site = Site::of(&House::of([echo()])).await;
    let length = (limits::MCP_LINE_BYTES + 1).to_string();
    let answer = listing(&site).with("content-length", &length).body("").send().await;
    assert_eq!(answer.status, 413);
    insta::assert_snapshot!(answer.body, @"a message may have 16777216 bytes, and this one has more");
}

#[tokio::test]
async fn what_is_no_message_is_answered_in_the_words_of_the_protocol() {
    let site = Site::of(&House::of([echo()])).await;
    let cases = [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"id":3,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600),
    ];
    for (body, code) in cases {
        let answer = listing(&site).body(body).send().await;
        assert_eq!(
            (answer.status, &answer.message()["error"]["code"]),
            (400, &json!(code)),
            "{body}"
        );
    }
    assert_eq!(listing(&site).with("content-type", "text/plain").status().await, 415);
    assert_eq!(listing(&site).with("accept", "text/html").status().await, 406);
}

#[tokio::test]
async fn a_message_that_unfolds_into_too_many_values_is_not_unfolded() {
    let site = Site::of(&House::of([echo()])).await;
    let deep = format!("{}0{}", "[".repeat(50), "]".repeat(50));
    let many = vec![deep; 20_000].join(",");
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[{many}]}}"#);
    let answer = listing(&site).body(&body).send().await;
    assert_eq!((answer.status, &answer.message()["id"]), (400, &json!(7)));
    let error = &answer.message()["error"];
    assert_eq!(error["code"], -32600);
    insta::assert_snapshot!(error["message"].as_str().unwrap(), @"a message may hold 500000 values, and this one holds more");
}

#[tokio::test]
async fn there_is_one_path() {
    let site = Site::of(&House::of([echo()])).await;
    for path in ["/", "/mcp/", "/.well-known/oauth-protected-resource", "/mcp/../mcp"] {
        assert_eq!(listing(&site).path(path).status().await, 404, "{path}");
    }
    assert_eq!(listing(&site).method("PUT").status().await, 405);
}
