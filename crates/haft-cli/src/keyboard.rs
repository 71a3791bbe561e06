//! What somebody types, line by line.

use std::io;
use std::sync::{LazyLock, mpsc};

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
    let mut keyboard = KEYBOARD.lock().await;
    let gone = || io::Error::other("standard input is no longer read");
    if !keyboard.is_due {
        keyboard.wanted.send(()).map_err(|_| gone())?;
        keyboard.is_due = true;
    }
    let line = keyboard.lines.recv().await.ok_or_else(gone)?;
    keyboard.is_due = false;
    line
}

impl Keyboard {
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
