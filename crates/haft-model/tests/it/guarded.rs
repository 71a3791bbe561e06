//! Retrying.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_model::{
    Account, AccountLimits, Chance, ChatModel, Finished, Guarded, ModelError, ModelErrorKind,
    Request, RetryLimits,
};

use crate::scripted::{Act, Scripted, error, finished, rate_limited, text};

fn guarded(model: &Arc<Scripted>) -> Guarded {
    let account = Arc::new(Account::new("test", AccountLimits::default()));
    Guarded::new(model.clone(), account).with_chance(Chance::seeded(7))
}

async fn ask(guarded: &Guarded) -> Result<Finished, ModelError> {
    guarded.ask(Arc::new(Request::default())).await?.finish().await
}

#[tokio::test(start_paused = true)]
async fn o_088_a_provider_that_says_when_is_asked_again_then() {
    let limited = rate_limited(Some(Duration::from_secs(3)));
    let model = Scripted::new([Act::Refuse(limited)]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let words = told.clone();
    let guarded = guarded(&model).watched_by(move |it| words.lock().unwrap().push(it.to_string()));
    ask(&guarded).await.unwrap();
    let asked = model.asked();
    assert!(matches!(*asked, [0, 3_000..=3_300]), "{asked:?}");
    assert_eq!(*told.lock().unwrap(), ["waiting 4 s: rate limited (attempt 2 of 5)"]);
}

#[tokio::test(start_paused = true)]
async fn o_088_a_wait_that_is_too_long_fails_at_once_and_says_so() {
    let model = Scripted::new([Act::Refuse(rate_limited(Some(Duration::from_hours(1))))]);
    let error = ask(&guarded(&model)).await.unwrap_err();
    assert_eq!(
        error.text,
        "rate_limited; the provider asks to wait 1 h, and a request waits 2 min at most"
    );
    assert_eq!(error.retry_after, Some(Duration::from_hours(1)));
    assert_eq!(model.asked(), [0]);
}

#[tokio::test(start_paused = true)]
async fn o_088_a_busy_broken_or_silent_server_is_asked_again_after_growing_pauses() {
    use ModelErrorKind::{Overloaded, Server, Stalled, Transport};
    let acts = [Overloaded, Server, Transport, Stalled].map(|kind| Act::Refuse(error(kind)));
    let model = Scripted::new(acts);
    ask(&guarded(&model)).await.unwrap();
    let asked = model.asked();
    let pauses: Vec<u128> = asked.windows(2).map(|it| it[1] - it[0]).collect();
    let grow = [500..=1_001, 1_000..=2_001, 2_000..=4_001, 4_000..=8_001];
    assert_eq!(pauses.len(), grow.len());
    assert!(pauses.iter().zip(grow).all(|(pause, range)| range.contains(pause)), "{pauses:?}");
}

#[tokio::test(start_paused = true)]
async fn o_088_an_error_inside_the_stream_counts_by_what_came_before_it() {
    let overloaded = || Err(error(ModelErrorKind::Overloaded));
    let model = Scripted::new([
        Act::Reply(vec![overloaded()]),
        Act::Reply(vec![]),
        Act::Reply(vec![Ok(text("half a")), overloaded()]),
    ]);
    let mut reply = guarded(&model).ask(Arc::new(Request::default())).await.unwrap();
    assert_eq!(model.asked().len(), 3, "an error and an end before anything came are repeated");
    assert_eq!(reply.next().await, Some(Ok(text("half a"))));
    let failed = reply.next().await.unwrap().unwrap_err();
    assert!(failed.began);
    assert_eq!(reply.next().await, None);
    assert_eq!(model.asked().len(), 3, "what was shown is not asked for again");
}

#[tokio::test(start_paused = true)]
async fn o_088_what_cannot_pass_is_not_asked_again() {
    use ModelErrorKind::{BadRequest, Credentials, Overflow, Quota, Reasoning, Refused};
    for kind in [BadRequest, Credentials, Overflow, Quota, Reasoning, Refused] {
        let model = Scripted::new([Act::Refuse(error(kind))]);
        assert_eq!(ask(&guarded(&model)).await.unwrap_err(), error(kind));
        assert_eq!(model.asked(), [0]);
    }
}

#[tokio::test(start_paused = true)]
async fn o_088_attempts_end_and_their_number_is_told() {
    let model = Scripted::new((0..9).map(|_| Act::Refuse(error(ModelErrorKind::Server))));
    let error = ask(&guarded(&model)).await.unwrap_err();
    assert_eq!(error.text, "server (5 attempts)");
    assert_eq!(model.asked().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn o_088_waits_are_bounded_in_all() {
    let limited = || Act::Refuse(rate_limited(Some(Duration::from_secs(100))));
    let model = Scripted::new((0..9).map(|_| limited()));
    let error = ask(&guarded(&model)).await.unwrap_err();
    assert_eq!(error.text, "rate_limited (3 attempts); a request waits 5 min at most in all");
}

#[tokio::test(start_paused = true)]
async fn o_088_repetitions_of_all_requests_are_bounded_and_replies_give_them_back() {
    let failure = || Act::Refuse(error(ModelErrorKind::Server));
    let whole = || Act::Reply(vec![Ok(finished(None))]);
    let model =
        Scripted::new([failure(), failure(), whole(), failure(), whole(), failure(), failure()]);
    let limits = RetryLimits { retries: 2, ..RetryLimits::default() };
    let guarded = guarded(&model).with_limits(limits);
    ask(&guarded).await.unwrap();
    ask(&guarded).await.unwrap();
    let failed = ask(&guarded).await.unwrap_err();
    assert_eq!(failed.text, "server (2 attempts); too many requests had to be made again");
}

#[tokio::test(start_paused = true)]
async fn one_attempt_may_be_all_there_is() {
    let model = Scripted::new([Act::Refuse(error(ModelErrorKind::Server))]);
    let limits = RetryLimits { attempts: NonZeroU32::MIN, ..RetryLimits::default() };
    let failed = ask(&guarded(&model).with_limits(limits)).await.unwrap_err();
    assert_eq!(failed.text, "server");
}

#[tokio::test(start_paused = true)]
async fn requests_that_failed_together_do_not_come_back_together() {
    let pauses = [1, 2, 3].map(|seed| async move {
        let model = Scripted::new([Act::Refuse(error(ModelErrorKind::Server))]);
        ask(&guarded(&model).with_chance(Chance::seeded(seed))).await.unwrap();
        model.asked()[1]
    });
    let [one, two, three] = pauses;
    let (one, two, three) = (one.await, two.await, three.await);
    assert!(one != two && two != three && one != three, "{one} {two} {three}");
}
