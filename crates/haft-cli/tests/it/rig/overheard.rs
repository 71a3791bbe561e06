//! A server that somebody listens in to.

use std::io::{self, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use super::scripted::Asked;

/// Stands before a server on a loopback port: hands each request on, and keeps what a model was asked.
pub(crate) struct Overheard {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Overheard {
    /// Stands before the server at an address.
    pub(crate) fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let kept = Arc::clone(&kept);
                thread::spawn(move || hand_on(server, connection, &kept));
            }
        });
        Self { address, asked }
    }

    /// Returns where it is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what the model was asked, in order.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

fn hand_on(server: SocketAddr, mut client: TcpStream, kept: &Mutex<Vec<Value>>) -> Option<()> {
    let asked = Asked::read(&mut BufReader::new(client.try_clone().ok()?))?;
    if asked.target.ends_with("/chat/completions") {
        kept.lock().unwrap().push(serde_json::from_slice(&asked.body).ok()?);
    }
    let mut server = TcpStream::connect(server).ok()?;
    // One request a connection: its end is the end of the answer.
    let head = asked.head.trim_end();
    let lines = head.lines().filter(|it| !it.to_ascii_lowercase().starts_with("connection:"));
    let head = lines.collect::<Vec<_>>().join("\r\n");
    server.write_all(format!("{head}\r\nconnection: close\r\n\r\n").as_bytes()).ok()?;
    server.write_all(&asked.body).ok()?;
    io::copy(&mut server, &mut client).ok()?;
    Some(())
}
