//! A server on this machine that plays what is on a cassette.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is played on a connection.
#[derive(Debug, Clone)]
pub(crate) enum Play {
    /// Bytes, as one chunk.
    Send(Vec<u8>),
    /// The same bytes again and again, until the client goes.
    Repeat(Vec<u8>, Duration),
    /// Nothing more, until the client goes.
    Hang,
    /// The end of the body. Where it is left out, the connection breaks.
    End,
}

/// An answer: its head, and how its body is played.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) plays: Vec<Play>,
}

impl Answer {
    /// Returns a stream of events as one piece.
    pub(crate) fn stream(body: &str) -> Self {
        Self::of("200 OK", "text/event-stream", body)
    }

    pub(crate) fn of(status: &str, kind: &str, body: &str) -> Self {
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n");
        Self { head, plays: vec![Play::Send(body.as_bytes().to_vec()), Play::End] }
    }

    /// Returns what is on a cassette of ours: a line about where it is from, a line of `---`, and an answer of HTTP.
    pub(crate) fn cassette(name: &str) -> Self {
        let text = read(name);
        let (from, answer) = text.split_once("\n---\n").unwrap();
        assert!(from.starts_with("recorded: ") || from.starts_with("authored: "), "{name}");
        assert!(name.contains(&from[..8]), "{name}");
        let (head, body) = answer.split_once("\n\n").unwrap();
        let head = head.replace('\n', "\r\n") + "\r\n";
        Self { head, plays: vec![Play::Send(body.as_bytes().to_vec()), Play::End] }
    }

    /// Cuts the body into chunks.
    pub(crate) fn cut(mut self, cuts: &[usize]) -> Self {
        let Some(Play::Send(body)) = self.plays.first().cloned() else { return self };
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (body.len() + 1)).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| body[cut[0]..cut[1]].to_vec());
        self.plays = pieces.filter(|piece| !piece.is_empty()).map(Play::Send).collect();
        self.plays.push(Play::End);
        self
    }

    /// Plays something else behind what is played already.
    pub(crate) fn then(mut self, play: Play) -> Self {
        self.plays.retain(|it| !matches!(it, Play::End));
        self.plays.push(play);
        self
    }
}

pub(crate) fn read(name: &str) -> String {
    let path = format!("{}/tests/cassettes/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A server that gives the same answer to everybody, or one for each path.
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(answer: Answer) -> Self {
        Self::by_path(move |_| Some(answer.clone())).await
    }

    pub(crate) async fn by_path(
        answer: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, heard) = (Arc::new(answer), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, heard) = (Arc::clone(&answer), Arc::clone(&heard));
                tokio::spawn(async move { serve(stream, answer.as_ref(), &heard).await });
            }
        });
        Self { port, asked }
    }

    /// Returns all requests, head and body.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(impl Fn(&str) -> Option<Answer> + Sync),
    heard: &Mutex<Vec<String>>,
) -> Option<()> {
    let request = request(&mut stream).await?;
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    heard.lock().unwrap().push(request);
    let missing = || Answer::of("404 Not Found", "text/plain", "");
    let Answer { head, plays } = answer(&path).unwrap_or_else(missing);
    let head = format!("{head}transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.ok()?;
    for play in plays {
        match play {
            Play::Send(piece) => send(&mut stream, &piece).await?,
            Play::Repeat(piece, every) => loop {
                send(&mut stream, &piece).await?;
                tokio::time::sleep(every).await;
            },
            Play::Hang => {
                let mut rest = [0; 1];
                let _ = stream.read(&mut rest).await;
            }
            Play::End => stream.write_all(b"0\r\n\r\n").await.ok()?,
        }
    }
    Some(())
}

async fn send(stream: &mut TcpStream, piece: &[u8]) -> Option<()> {
    // A chunk of nothing would be the end.
    if piece.is_empty() {
        return Some(());
    }
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk).await.ok()?;
    stream.flush().await.ok()
}

async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.ok()?;
        bytes.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase();
            let length =
                length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            let length: usize = length.map_or(0, |it| it.trim().parse().unwrap());
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
        if read == 0 {
            return None;
        }
    }
}
