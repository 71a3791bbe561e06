//! Integration tests of haft-net, over sockets of this machine.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails by panicking and plays the server"
)]

use std::time::Duration;

use futures_util::StreamExt as _;
use haft_net::{Address, AddressError, Dialer, NetError, Outgoing, Proxies, Rules, Secret};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const SOON: Duration = Duration::from_secs(10);

/// Starts a server that hears one request on each connection and answers with these bytes.
async fn server(answer: &'static [u8]) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, hearing) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let heard = heard.clone();
            tokio::spawn(async move {
                let mut request = [0; 16 * 1024];
                let read = stream.read(&mut request).await.unwrap_or(0);
                let _ = heard.send(String::from_utf8_lossy(&request[..read]).into_owned());
                let _ = stream.write_all(answer).await;
                if answer.is_empty() {
                    let _ = stream.read(&mut request).await;
                }
            });
        }
    });
    (port, hearing)
}

fn dialer() -> Dialer {
    Dialer::new(Rules::default()).unwrap()
}

fn at(port: u16) -> Address {
    Address::parse(&format!("http://127.0.0.1:{port}/v1")).unwrap()
}

#[tokio::test]
async fn an_answer_comes_back_with_its_status_headers_and_body() {
    let (port, mut heard) =
        server(b"HTTP/1.1 429 X\r\nretry-after: 3\r\ncontent-length: 4\r\n\r\nslow").await;
    let question = Outgoing::post(at(port).join("chat"), "{}", SOON)
        .header("content-type", "application/json");
    let answer = dialer().send(question).await.unwrap();
    assert_eq!(
        (answer.status(), answer.header("Retry-After"), answer.header("x")),
        (429, Some("3"), None)
    );
    assert_eq!(answer.whole(4, SOON).await.unwrap(), b"slow");
    let heard = heard.recv().await.unwrap();
    assert!(
        heard.starts_with("POST /v1/chat HTTP/1.1\r\n") && heard.ends_with("\r\n\r\n{}"),
        "{heard}"
    );
    assert!(heard.contains(concat!("user-agent: haft/", env!("CARGO_PKG_VERSION"))), "{heard}");
    assert!(!heard.contains("accept-encoding") && !heard.contains("referer"), "{heard}");
}

#[tokio::test]
async fn o_050_secrets_of_providers_are_sent_and_never_shown() {
    let (port, mut heard) = server(b"HTTP/1.1 200 X\r\ncontent-length: 0\r\n\r\n").await;
    let secret = Secret::new(" sk-secret \n");
    let question = Outgoing::get(at(port), SOON).secret("authorization", "Bearer ", &secret);
    assert!(!format!("{question:?} {secret:?}").contains("sk-secret"));
    dialer().send(question).await.unwrap();
    assert!(heard.recv().await.unwrap().contains("authorization: Bearer sk-secret\r\n"));
    assert_eq!(secret.taken_out_of("no sk-secret here"), "no [secret] here");

    let broken = Secret::new("sk-secret\r\nx-other: 1");
    let question = Outgoing::get(at(port), SOON).secret("x-api-key", "", &broken);
    let error = dialer().send(question).await.unwrap_err();
    insta::assert_snapshot!(error, @"the header `x-api-key` cannot be sent: its value holds a line break or another character that no header may have");
}

#[tokio::test]
async fn plain_http_is_for_this_machine_and_for_hosts_that_are_named() {
    let far = Address::parse("http://gpu-box.example:8000/v1").unwrap();
    let error = dialer().send(Outgoing::get(far.clone(), SOON)).await.unwrap_err();
    insta::assert_snapshot!(error, @"http://gpu-box.example:8000/v1 is not encrypted and not on this machine, so that anybody on the way could read what is sent: use https, or add `gpu-box.example` to `network.plain_http`");
    let (port, mut heard) = server(b"HTTP/1.1 200 X\r\ncontent-length: 0\r\n\r\n").await;
    let rules = Rules {
        plain_http: vec!["GPU-Box.example".to_owned()],
        proxies: Proxies {
            http: Some(format!("http://user:pass@127.0.0.1:{port}")),
            ..Proxies::default()
        },
        ..Rules::default()
    };
    assert!(!format!("{rules:?}").contains("pass"));
    let dialer = Dialer::new(rules).unwrap();
    assert_eq!(dialer.send(Outgoing::get(far, SOON)).await.unwrap().status(), 200);
    let heard = heard.recv().await.unwrap();
    assert!(heard.starts_with("GET http://gpu-box.example:8000/v1 HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("proxy-authorization: Basic dXNlcjpwYXNz"), "{heard}");
}

#[tokio::test]
async fn this_machine_is_reached_without_a_proxy_and_under_each_of_its_names() {
    let (port, _heard) = server(b"HTTP/1.1 200 X\r\ncontent-length: 0\r\n\r\n").await;
    let proxies = Proxies { http: Some("http://127.0.0.1:1".to_owned()), ..Proxies::default() };
    let dialer = Dialer::new(Rules { proxies, ..Rules::default() }).unwrap();
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "0x7f.1", "2130706433"] {
        let address = Address::parse(&format!("http://{host}:{port}")).unwrap();
        assert!(address.is_loopback(), "{host}");
        assert_eq!(
            dialer.send(Outgoing::get(address, SOON)).await.unwrap().status(),
            200,
            "{host}"
        );
    }
    for host in
        ["0.0.0.0", "localhost.example", "127.0.0.1.example", "[::ffff:10.0.0.1]", "10.0.0.1"]
    {
        assert!(!Address::parse(&format!("http://{host}")).unwrap().is_loopback(), "{host}");
    }
    for host in ["[::1]", "[::ffff:127.0.0.1]", "127.9.9.9"] {
        assert!(Address::parse(&format!("http://{host}")).unwrap().is_loopback(), "{host}");
    }
}

#[tokio::test]
async fn a_redirect_is_an_error_that_names_its_target() {
    let (port, _heard) =
        server(b"HTTP/1.1 302 X\r\nlocation: https://user:pass@other.example/login?token=1\r\ncontent-length: 0\r\n\r\n").await;
    let error = dialer().send(Outgoing::get(at(port), SOON)).await.unwrap_err();
    let text = error.to_string().replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(text, @"http://127.0.0.1:PORT/v1 answers 302 and points to https://other.example/login: redirects are not followed, for credentials would go along; use that address if it is the right one");
}

#[tokio::test]
async fn a_body_is_bounded_in_bytes_and_in_time() {
    let (port, _heard) = server(b"HTTP/1.1 200 X\r\ncontent-length: 5\r\n\r\nhello").await;
    let answer = dialer().send(Outgoing::get(at(port), SOON)).await.unwrap();
    let error = answer.whole(4, SOON).await.unwrap_err();
    assert!(matches!(error, NetError::TooLarge { limit: 4, .. }), "{error}");
    let (port, _heard) = server(b"").await;
    let error =
        dialer().send(Outgoing::get(at(port), Duration::from_millis(50))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("http://127.0.0.1:{port}/v1 took longer than 50 ms to answer")
    );
}

#[tokio::test]
async fn a_stream_gives_what_came_before_it_broke() {
    let (port, _heard) = server(b"HTTP/1.1 200 X\r\ncontent-length: 50\r\n\r\nhello").await;
    let answer = dialer().send(Outgoing::get(at(port), SOON)).await.unwrap();
    let items: Vec<_> = answer.stream().collect().await;
    assert_eq!(items[0].as_deref(), Ok(&b"hello"[..]));
    assert!(matches!(items[1], Err(NetError::Broken { .. })), "{items:?}");
    assert_eq!(items.len(), 2);
}

#[tokio::test]
async fn what_is_no_http_and_no_tls_is_told_apart() {
    let (port, _heard) = server(b"SSH-2.0-OpenSSH_9.6\r\n").await;
    let error = dialer().send(Outgoing::get(at(port), SOON)).await.unwrap_err();
    assert!(matches!(error, NetError::Broken { .. }), "{error:?}");
    let encrypted = Address::parse(&format!("https://127.0.0.1:{port}")).unwrap();
    let error = dialer().send(Outgoing::get(encrypted, SOON)).await.unwrap_err();
    let text = error.to_string().replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(text, @"https://127.0.0.1:PORT cannot be trusted: what came is no TLS; does it want http?");
    let nobody = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let free = nobody.local_addr().unwrap().port();
    drop(nobody);
    let error = dialer().send(Outgoing::get(at(free), SOON)).await.unwrap_err();
    assert!(matches!(error, NetError::Unreachable { .. }), "{error:?}");
}

#[tokio::test]
async fn heads_are_bounded() {
    let head = format!("HTTP/1.1 200 X\r\n{}\r\n", "x: y\r\n".repeat(500));
    let (port, _heard) = server(head.leak().as_bytes()).await;
    assert!(dialer().send(Outgoing::get(at(port), SOON)).await.is_err());
    let head = format!("HTTP/1.1 200 X\r\nx: {}\r\n\r\n", "y".repeat(4_000_000));
    let (port, _heard) = server(head.leak().as_bytes()).await;
    assert!(dialer().send(Outgoing::get(at(port), SOON)).await.is_err());
}

#[test]
fn addresses_that_cannot_be_used_say_why() {
    let errors = [
        "",
        "api.openai.com/v1",
        "ftp://x",
        "file:///etc/passwd",
        "https://u:p@host/v1?k=1",
        "http://",
        "https://a b",
    ]
    .map(|text| Address::parse(text).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @"
`` is no address (relative URL without a base): expected `https://host` or `http://127.0.0.1:8080`
`api.openai.com/v1` is no address (relative URL without a base): expected `https://host` or `http://127.0.0.1:8080`
`ftp:` is not spoken here: expected `https://` or `http://`
`file:` is not spoken here: expected `https://` or `http://`
the address of host holds credentials, which end in logs: give them apart from it
`http://` is no address (empty host): expected `https://host` or `http://127.0.0.1:8080`
`https://a b` is no address (invalid international domain name): expected `https://host` or `http://127.0.0.1:8080`
");
    let secret = "https://me:hunter2@host:port/?key=hunter2";
    assert!(matches!(Address::parse(secret), Err(AddressError::Unreadable { .. })));
    assert!(!Address::parse(secret).unwrap_err().to_string().contains("hunter2"));
}

#[test]
fn addresses_are_joined_and_shown_without_their_query() {
    let address = Address::parse(" https://Host.example/v1/?api-version=2#x ").unwrap();
    let joined = address.join("/chat/completions");
    assert_eq!(joined.to_string(), "https://host.example/v1/chat/completions");
    assert_eq!(format!("{joined:?}"), "Address(https://host.example/v1/chat/completions)");
    assert_eq!((address.origin().as_str(), address.port()), ("https://host.example", 443));
    assert_eq!(
        Address::parse("http://127.0.0.1:8080").unwrap().join("v1").to_string(),
        "http://127.0.0.1:8080/v1"
    );
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_an_address(text in "(https?://)?[a-z0-9@:/?#%\\[\\].€\u{0}-\u{20}]{0,24}", path in "\\PC{0,12}") {
        if let Ok(address) = Address::parse(&text) {
            let joined = address.join(&path);
            proptest::prop_assert_eq!(joined.origin(), address.origin());
        }
    }
}
