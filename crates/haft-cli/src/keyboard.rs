//! What somebody types, line by line.

use std::io;
use std::sync::{LazyLock, mpsc};

use haft::process::terminal;
use tokio::sync::{Mutex, mpsc as lines};

/// The one standard input of the process.
static KEYBOARD: LazyLock<Mutex<Keyboard>> = LazyLock::new(|| Mutex::new(Keyboard::listen()));

struct Keyboard {
    wanted: mpsc::Sender<()>,
    lines: lines::UnboundedReceiver<io::Result<Option<String>>>,
    /// Whether a line was asked for that nobody took.
    is_due: bool,
}

/// Reads the next line that somebody types, without its end; nothing at the end of the input.
///
/// Nothing is read before it is asked for.
///
/// # Cancel safety
///
/// What is typed after the future was dropped goes to whoever asks next.
pub(crate) async fn line() -> io::Result<Option<String>> {
    KEYBOARD.lock().await.line().await
}

/// Asks, and reads the line that is typed in answer, as [`line`] does.
///
/// What was typed before it was asked is dropped: nobody answers what they have not seen, and what a model says may look
/// like a question.
///
/// # Errors
///
/// Fails where it cannot be dropped, and as asking does.
pub(crate) async fn answer(ask: impl FnOnce() -> io::Result<()>) -> io::Result<Option<String>> {
    let mut keyboard = KEYBOARD.lock().await;
    keyboard.forget()?;
    ask()?;
    keyboard.line().await
}

/// Drops what was typed at the terminal and not read yet.
///
/// # Errors
///
/// Fails where standard input is no terminal.
pub(crate) fn drop_typed() -> io::Result<()> {
    terminal::drop_typed(io::stdin())
}

impl Keyboard {
    async fn line(&mut self) -> io::Result<Option<String>> {
        let gone = || io::Error::other("standard input is no longer read");
        if !self.is_due {
            self.wanted.send(()).map_err(|_| gone())?;
            self.is_due = true;
        }
        let line = self.lines.recv().await.ok_or_else(gone)?;
        self.is_due = false;
        line
    }

    /// Drops what was typed so far, and what was read of it for somebody who is gone.
    fn forget(&mut self) -> io::Result<()> {
        drop_typed()?;
        while self.lines.try_recv().is_ok() {
            self.is_due = false;
        }
        Ok(())
    }

    fn listen() -> Self {
        let (wanted, asked) = mpsc::channel();
        let (sender, lines) = lines::unbounded_channel();
        // A thread of its own, for nothing ends a read: it ends with the process.
        std::thread::spawn(move || while asked.recv().is_ok() && sender.send(read()).is_ok() {});
        Self { wanted, lines, is_due: false }
    }
}

fn read() -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line)?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok((read > 0).then(|| line.strip_suffix('\r').unwrap_or(line).to_owned()))
}
