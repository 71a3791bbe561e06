//! What asks the process to end.

use std::io;
use std::task::Poll;

use haft::models::StopSignal;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;
use crate::files::IgnoredSignals;

/// Who asks the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedToEnd {
    /// Ctrl-C.
    Interrupt,
    /// The terminal is gone.
    Hangup,
    /// The system, or another program.
    Terminate,
}

impl AskedToEnd {
    /// Returns the code that the command ends with.
    pub(crate) fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Cancelled,
            Self::Hangup => Exit::HungUp,
            Self::Terminate => Exit::Terminated,
        }
    }

    /// Returns the signal, for the record.
    pub(crate) fn signal(self) -> StopSignal {
        match self {
            Self::Interrupt => StopSignal::Interrupt,
            Self::Hangup => StopSignal::Hangup,
            Self::Terminate => StopSignal::Terminate,
        }
    }

    /// Says what it was, for people.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Interrupt => "Ctrl-C",
            Self::Hangup => "SIGHUP",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// Listens for what asks the process to end, as often as it does.
#[derive(Debug)]
pub(crate) struct Signals(Vec<(AskedToEnd, Signal)>);

impl Signals {
    /// Begins to listen. From here on no signal ends the process by itself.
    pub(crate) fn listen() -> io::Result<Self> {
        let ignored = IgnoredSignals::read();
        let kinds = [
            (AskedToEnd::Interrupt, SignalKind::interrupt()),
            (AskedToEnd::Hangup, SignalKind::hangup()),
            (AskedToEnd::Terminate, SignalKind::terminate()),
        ];
        // Who started the command with `nohup` wants it to go on.
        let heard = kinds.into_iter().filter(|(_, kind)| !ignored.contains(kind.as_raw_value()));
        let listening = heard.map(|(asked, kind)| Ok((asked, signal(kind)?)));
        Ok(Self(listening.collect::<io::Result<_>>()?))
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> AskedToEnd {
        std::future::poll_fn(|context| {
            let due = self
                .0
                .iter_mut()
                .find_map(|(asked, signal)| signal.poll_recv(context).is_ready().then_some(*asked));
            due.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}
