//! The helper's end of the socket to its launcher.

use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};

use crate::wire::{HANDLES, Order, Report, frame_length};

/// The socket to the launcher. Its end means that the launcher is gone.
#[derive(Debug)]
pub(super) struct Link(UnixStream);

impl Link {
    /// Takes the socket that standard input is, and leaves an empty input in its place.
    pub(super) fn take() -> io::Result<Self> {
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        rustix::net::getsockname(&socket)?;
        let null = open_null()?;
        rustix::stdio::dup2_stdin(&null)?;
        Ok(Self(UnixStream::from(socket)))
    }

    /// Waits for the order and the handles that go with it.
    pub(super) fn order(&mut self) -> io::Result<(Order, Vec<OwnedFd>)> {
        let mut handles = Vec::new();
        let mut length = [0_u8; 4];
        let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = rustix::net::recvmsg(
            &self.0,
            &mut [IoSliceMut::new(&mut length)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                handles.extend(fds);
            }
        }
        self.0.read_exact(length.get_mut(received.bytes..).unwrap_or_default())?;
        let mut content = vec![0; frame_length(length)?];
        self.0.read_exact(&mut content)?;
        Ok((Order::read(&content)?, handles))
    }

    /// Says something, and tells whether the launcher is there to hear it.
    pub(super) fn say(&mut self, report: &Report) -> bool {
        self.0.write_all(&report.frame()).is_ok()
    }

    /// Tells, without waiting, whether there is something to hear, be it that the launcher is gone.
    pub(super) fn has_word(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        let peeked = rustix::net::recv(&self.0, &mut [0_u8; 1], flags);
        !matches!(peeked, Err(Errno::AGAIN | Errno::INTR))
    }

    /// Makes a second handle on the same socket.
    pub(super) fn duplicate(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Opens what stands for no input and no output.
pub(super) fn open_null() -> io::Result<OwnedFd> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    Ok(null)
}
