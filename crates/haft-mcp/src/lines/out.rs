//! The way out of a connection, one message at a time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify};

/// Answers under way to a client that does not read them; then nothing more is read from it either.
pub(super) const UNREAD: usize = 1_024;

/// Bytes of such answers.
const UNREAD_BYTES: usize = 32 * 1024 * 1024;

/// How long a client may take none of what is written to it. Then it counts as gone: its end could not be seen, for what it
/// sent before stands in the way and is not read either.
const STALLED: Duration = Duration::from_mins(1);

/// The way out of a connection.
pub(crate) struct Out {
    writer: Mutex<Pin<Box<dyn AsyncWrite + Send>>>,
    unread: AtomicUsize,
    unread_bytes: AtomicUsize,
    /// Told whenever less is unread.
    less: Notify,
    broken: AtomicBool,
    /// Told once nothing can be written any more. Whoever waits for that is not woken by each answer.
    breaks: Notify,
}

/// A line on its way. It counts until it is written or given up.
pub(super) struct Outgoing {
    out: Arc<Out>,
    line: String,
}

impl Out {
    pub(super) fn new(writer: impl AsyncWrite + Send + 'static) -> Self {
        Self {
            writer: Mutex::new(Box::pin(writer)),
            unread: AtomicUsize::new(0),
            unread_bytes: AtomicUsize::new(0),
            less: Notify::new(),
            broken: AtomicBool::new(false),
            breaks: Notify::new(),
        }
    }

    /// Takes a line in, which counts from now on.
    pub(super) fn take(self: &Arc<Self>, mut line: String) -> Outgoing {
        line.push('\n');
        self.unread.fetch_add(1, Ordering::Relaxed);
        self.unread_bytes.fetch_add(line.len(), Ordering::Relaxed);
        Outgoing { out: Arc::clone(self), line }
    }

    /// Tells whether a client leaves so much unread that nothing more should be made for it.
    fn is_full(&self) -> bool {
        self.unread.load(Ordering::Relaxed) >= UNREAD
            || self.unread_bytes.load(Ordering::Relaxed) >= UNREAD_BYTES
    }

    /// Waits while a client leaves too much unread.
    pub(crate) async fn eased(&self) {
        self.until(&self.less, |it| !it.is_full()).await;
    }

    /// Waits until everything is written, or nothing can be any more.
    pub(crate) async fn emptied(&self) {
        self.until(&self.less, |it| it.unread.load(Ordering::Relaxed) == 0 || it.is_broken()).await;
    }

    /// Waits until nothing can be written any more.
    pub(super) async fn broken(&self) {
        self.until(&self.breaks, Self::is_broken).await;
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    async fn until(&self, told: &Notify, is_so: impl Fn(&Self) -> bool) {
        loop {
            // Made before the look, so that what changes in between wakes it.
            let told = told.notified();
            if is_so(self) {
                return;
            }
            told.await;
        }
    }

    pub(super) async fn close(&self) -> io::Result<()> {
        self.writer.lock().await.shutdown().await
    }
}

impl Outgoing {
    /// Writes the line whole, behind those that came before.
    pub(super) async fn send(self) -> io::Result<()> {
        let written = async {
            let mut writer = self.out.writer.lock().await;
            let mut rest = self.line.as_bytes();
            while !rest.is_empty() && !self.out.is_broken() {
                let taken = tokio::time::timeout(STALLED, writer.write(rest)).await??;
                if taken == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                rest = rest.get(taken..).unwrap_or_default();
            }
            tokio::time::timeout(STALLED, writer.flush()).await?
        };
        let written = written.await;
        if written.is_err() {
            self.out.broken.store(true, Ordering::Relaxed);
            self.out.breaks.notify_waiters();
        }
        written
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.out.unread.fetch_sub(1, Ordering::Relaxed);
        self.out.unread_bytes.fetch_sub(self.line.len(), Ordering::Relaxed);
        self.out.less.notify_waiters();
    }
}
