//! Telling a client how far a call is.

use std::time::Duration;

use haft_protocol::Progress;
use haft_text::visible_line;
use haft_tool::Reporter;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How long nothing is said before a client hears that the call is still under way, lest it gives up on it.
const SILENCE: Duration = Duration::from_secs(5);

/// How long the last report may take to be sent.
const LAST_WORDS: Duration = Duration::from_millis(20);

/// The reports of one call on their way to its client.
pub(crate) struct Telling {
    reports: watch::Sender<Option<Progress>>,
    task: JoinHandle<()>,
}

impl Telling {
    /// Starts to tell.
    pub(crate) fn start(peer: Peer<RoleServer>, token: ProgressToken) -> (Self, Reporter) {
        let (reports, heard) = watch::channel(None);
        let hear = reports.clone();
        let reporter = Reporter::new(move |_, progress| {
            hear.send_replace(Some(progress));
        });
        let task = tokio::spawn(tell(peer, token, heard));
        (Self { reports, task }, reporter)
    }

    /// Says the last of it, before the result is sent: nothing may follow that.
    pub(crate) async fn end(self) {
        let Self { reports, mut task } = self;
        drop(reports);
        // A body that goes on after its call was given up may still hold the other end.
        if tokio::time::timeout(LAST_WORDS, &mut task).await.is_err() {
            task.abort();
        }
    }
}

/// What is counted. A client wants numbers that only grow, so that the first report decides.
enum Counted {
    Nothing,
    /// Work, and how often nothing new was said of it since.
    Work {
        last: Progress,
        silences: u32,
    },
    Seconds,
}

impl Counted {
    /// Takes a report in, or that there was none, and returns the number and the words for it.
    fn take(
        &mut self,
        report: Option<Progress>,
        seconds: f64,
    ) -> Option<(f64, Option<f64>, String)> {
        match (&mut *self, report) {
            (Self::Nothing, Some(progress)) => {
                let said = in_numbers(&progress);
                *self = Self::Work { last: progress, silences: 0 };
                Some(said)
            }
            (Self::Work { last, silences }, Some(progress)) if progress.done > last.done => {
                *silences = 0;
                last.clone_from(&progress);
                Some(in_numbers(&progress))
            }
            (Self::Work { .. }, Some(_)) => None,
            (Self::Work { last, silences }, None) => {
                *silences = silences.saturating_add(1);
                // Ever closer to the next number, which is still larger than all of these.
                let (done, total, words) = in_numbers(last);
                Some((done + 1.0 - 1.0 / (1.0 + f64::from(*silences)), total, words))
            }
            (Self::Nothing | Self::Seconds, report) => {
                *self = Self::Seconds;
                let words = match &report {
                    Some(report) => in_words(report),
                    None => format!("under way for {seconds:.0} s"),
                };
                Some((seconds, None, words))
            }
        }
    }
}

async fn tell(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    mut heard: watch::Receiver<Option<Progress>>,
) {
    let start = Instant::now();
    let mut counted = Counted::Nothing;
    let mut before = None;
    loop {
        let report = match tokio::time::timeout(SILENCE, heard.changed()).await {
            Ok(Ok(())) => heard.borrow_and_update().clone(),
            Ok(Err(_)) => return,
            Err(_) => None,
        };
        let Some((done, total, words)) = counted.take(report, start.elapsed().as_secs_f64()) else {
            continue;
        };
        if before.is_some_and(|before| done <= before) {
            continue;
        }
        before = Some(done);
        let mut said = ProgressNotificationParam::new(token.clone(), done).with_message(words);
        said.total = total;
        if peer.notify_progress(said).await.is_err() {
            return;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "the protocol counts in floating point")]
fn in_numbers(progress: &Progress) -> (f64, Option<f64>, String) {
    (progress.done as f64, progress.total.map(|total| total as f64), in_words(progress))
}

fn in_words(progress: &Progress) -> String {
    let of = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
    format!("{}{of} {}", progress.done, visible_line(&progress.unit))
}
