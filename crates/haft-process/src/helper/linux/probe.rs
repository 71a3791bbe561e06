//! The self-test's part inside the sandbox: tries what must not work, and what must.
//!
//! The directory that it is given holds `inside`, which it may write, and `outside`, which it may not touch.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Resource};

/// One thing to try.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    /// What it is, in a few words.
    pub(crate) name: &'static str,
    /// Whether it is about the network and its like, not about files.
    pub(crate) is_network: bool,
    run: fn(&Path) -> io::Result<()>,
}

const fn file(name: &'static str, run: fn(&Path) -> io::Result<()>) -> Attempt {
    Attempt { name, is_network: false, run }
}

const fn network(name: &'static str, run: fn(&Path) -> io::Result<()>) -> Attempt {
    Attempt { name, is_network: true, run }
}

/// Everything that is tried.
pub(crate) const ATTEMPTS: &[Attempt] = &[
    file("read a file outside", |dir| fs::read(dir.join("outside/secret")).map(drop)),
    file("list a directory outside", |dir| fs::read_dir(dir.join("outside")).map(drop)),
    file("make a file outside", |dir| fs::write(dir.join("outside/new"), "x")),
    file("overwrite a file outside", |dir| {
        OpenOptions::new().write(true).open(dir.join("outside/secret")).map(drop)
    }),
    file("cut a file outside", |dir| {
        let path = dir.join("outside/secret");
        Ok(rustix::fs::open(path, rustix::fs::OFlags::TRUNC, rustix::fs::Mode::empty())
            .map(drop)?)
    }),
    file("remove a file outside", |dir| fs::remove_file(dir.join("outside/old"))),
    file("rename a file to outside", |dir| {
        fs::rename(dir.join("inside/note"), dir.join("outside/note"))
    }),
    file("link a file from outside", |dir| {
        fs::hard_link(dir.join("outside/secret"), dir.join("inside/linked"))
    }),
    file("signal, limit or slow down a process outside", |_| change(rustix::process::getppid())),
    network("connect by TCP", |_| match TcpStream::connect(("127.0.0.1", 9)) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        other => other.map(drop),
    }),
    network("send by UDP", |_| {
        UdpSocket::bind(("127.0.0.1", 0))?.send_to(b"x", ("127.0.0.1", 9)).map(drop)
    }),
    network("reach a socket outside", |dir| {
        let pair = |kind| socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None);
        // Sockets of such a pair name their receivers.
        UnixStream::connect(dir.join("outside/socket")).map(drop).or_else(|_| {
            Ok(pair(SocketType::DGRAM).or_else(|_| pair(SocketType::RAW)).map(drop)?)
        })
    }),
];

/// Changes nothing about a process, in every way that could change something, and fails only if each does.
fn change(process: Option<Pid>) -> io::Result<()> {
    let process = process.ok_or(io::ErrorKind::NotFound)?;
    let limit = rustix::process::getrlimit(Resource::Core);
    let limited = rustix::process::prlimit(Some(process), Resource::Core, limit).map(drop);
    let slowed = rustix::process::getpriority_process(Some(process))
        .and_then(|priority| rustix::process::setpriority_process(Some(process), priority));
    Ok(rustix::process::test_kill_process(process).or(limited).or(slowed)?)
}

/// Tries everything and prints a line for each attempt: `done` or `refused`, and its name.
pub(crate) fn probe(dir: &Path) -> i32 {
    let mut out = io::stdout().lock();
    let allowed = fs::write(dir.join("inside/note"), "x")
        .and_then(|()| fs::read(dir.join("inside/note")))
        .and_then(|_| fs::read_dir("/etc"));
    let mut lines = match allowed {
        Ok(_) => "works\n".to_owned(),
        Err(error) => format!("fails {error}\n"),
    };
    for attempt in ATTEMPTS {
        let word = if (attempt.run)(dir).is_ok() { "done" } else { "refused" };
        lines.push_str(&format!("{word} {}\n", attempt.name));
    }
    match out.write_all(lines.as_bytes()) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}
