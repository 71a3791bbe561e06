//! Showing how far a long call is.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use haft::Reporter;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a call runs before anything is shown, and again after a person was asked.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line on standard error that says how far a call is, once it takes longer than a second.
///
/// It hides itself where standard error is no terminal, and keeps away while somebody is asked.
#[derive(Debug, Default)]
pub(crate) struct ProgressLine {
    shown: Mutex<Shown>,
}

/// What there is of the line.
#[derive(Debug, Default)]
struct Shown {
    bar: Option<ProgressBar>,
    message: String,
    /// Counts what the line was told, so that a wait that was overtaken shows nothing.
    turn: u64,
}

impl ProgressLine {
    /// Shows the line once the call has taken long enough.
    pub(crate) fn start(self: &Arc<Self>) {
        let turn = self.turn_over();
        let late = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(line) = late.upgrade() {
                line.show(turn);
            }
        });
    }

    /// Says what is waited for, and shows the line once that has taken long enough.
    pub(crate) fn start_saying(self: &Arc<Self>, message: &str) {
        self.say(message);
        self.start();
    }

    /// Takes the line away until [`start`](Self::start).
    pub(crate) fn stop(&self) {
        self.turn_over();
    }

    /// Returns what the call reports to.
    pub(crate) fn reporter(self: &Arc<Self>) -> Reporter {
        let line: Weak<Self> = Arc::downgrade(self);
        Reporter::new(move |_, progress| {
            if let Some(line) = line.upgrade() {
                let of = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
                let unit = haft::text::visible_line(&progress.unit).into_owned();
                line.say(&format!("{}{of} {unit}", progress.done));
            }
        })
    }

    fn show(&self, turn: u64) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.turn != turn {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.set_message(shown.message.clone());
        bar.enable_steady_tick(Duration::from_millis(120));
        shown.bar = Some(bar);
    }

    /// Says how far it is.
    pub(crate) fn say(&self, message: &str) {
        let message = haft::text::visible_line(message).into_owned();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = &shown.bar {
            bar.set_message(message.clone());
        }
        shown.message = message;
    }

    /// Takes away what is shown, and overtakes what waits to be.
    fn turn_over(&self) -> u64 {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = shown.bar.take() {
            bar.finish_and_clear();
        }
        shown.turn += 1;
        shown.turn
    }
}
