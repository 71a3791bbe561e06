//! Showing how far a long call is.

use std::sync::Arc;
use std::time::Duration;

use haft::Reporter;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a call runs before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line on standard error that says how far a call is, once it takes longer than a second.
///
/// It hides itself where standard error is no terminal.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    bar: Arc<ProgressBar>,
}

impl ProgressLine {
    /// Makes a line that is not shown yet, or never where `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        let bar = Arc::new(bar);
        if !quiet {
            let late = Arc::downgrade(&bar);
            tokio::spawn(async move {
                tokio::time::sleep(PATIENCE).await;
                if let Some(bar) = late.upgrade() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(120));
                }
            });
        }
        Self { bar }
    }

    /// Returns what the call reports to.
    pub(crate) fn reporter(&self) -> Reporter {
        let bar = Arc::downgrade(&self.bar);
        Reporter::new(move |_, progress| {
            if let Some(bar) = bar.upgrade() {
                let of = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
                let unit = haft::text::visible_line(&progress.unit).into_owned();
                bar.set_message(format!("{}{of} {unit}", progress.done));
            }
        })
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
