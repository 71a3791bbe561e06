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
    Work { done: u64 },
    Seconds,
}

async fn tell(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    mut heard: watch::Receiver<Option<Progress>>,
) {
    let start = Instant::now();
    let mut counted = Counted::Nothing;
    loop {
        let report = match tokio::time::timeout(SILENCE, heard.changed()).await {
            Ok(Ok(())) => heard.borrow_and_update().clone(),
            Ok(Err(_)) => return,
            Err(_) => None,
        };
        let message = report.as_ref().map(in_words);
        let said = match (&mut counted, report) {
            (Counted::Nothing, Some(progress)) => {
                counted = Counted::Work { done: progress.done };
                Some(work(token.clone(), &progress))
            }
            (Counted::Work { done }, Some(progress)) if progress.done > *done => {
                *done = progress.done;
                Some(work(token.clone(), &progress))
            }
            (Counted::Work { .. }, _) => None,
            (Counted::Nothing | Counted::Seconds, _) => {
                counted = Counted::Seconds;
                let seconds = start.elapsed().as_secs_f64();
                Some(ProgressNotificationParam::new(token.clone(), seconds))
            }
        };
        if let Some(mut said) = said {
            said.message = message.or_else(|| Some("under way".to_owned()));
            if peer.notify_progress(said).await.is_err() {
                return;
            }
        }
    }
}

fn work(token: ProgressToken, progress: &Progress) -> ProgressNotificationParam {
    #[expect(clippy::cast_precision_loss, reason = "the protocol counts in floating point")]
    let (done, total) = (progress.done as f64, progress.total.map(|total| total as f64));
    let mut said = ProgressNotificationParam::new(token, done);
    said.total = total;
    said
}

fn in_words(progress: &Progress) -> String {
    let of = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
    format!("{}{of} {}", progress.done, visible_line(&progress.unit))
}
