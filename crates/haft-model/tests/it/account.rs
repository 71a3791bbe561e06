//! Turns, pace and rest.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_model::{
    Account, AccountLimits, Allowance, Chance, ChatModel, Guarded, ModelError, ModelErrorKind,
    RateFacts, ReplyStream, Request, RetryLimits,
};
use tokio::time::{advance, timeout};

use crate::scripted::{Act, Scripted, error, finished, rate_limited};

fn limits() -> AccountLimits {
    AccountLimits::default()
}

fn guarded(model: &Arc<Scripted>, limits: AccountLimits) -> Guarded {
    let account = Arc::new(Account::new("test", limits));
    Guarded::new(model.clone(), account).with_chance(Chance::seeded(7))
}

/// A guard that asks once only, so that each failure is seen.
fn once(model: &Arc<Scripted>) -> Guarded {
    let limits = RetryLimits { attempts: std::num::NonZeroU32::MIN, ..RetryLimits::default() };
    guarded(model, AccountLimits::default()).with_limits(limits)
}

async fn begin(guarded: &Guarded) -> Result<ReplyStream, ModelError> {
    guarded.ask(Arc::new(Request::default())).await
}

async fn ask(guarded: &Guarded) -> Result<(), ModelError> {
    begin(guarded).await?.finish().await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn as_many_requests_as_the_account_has_turns_are_under_way() {
    let model = Scripted::new([Act::Hang, Act::Hang]);
    let at_once = NonZeroUsize::new(2).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let words = told.clone();
    let guarded = guarded(&model, AccountLimits { at_once, ..limits() })
        .watched_by(move |it| words.lock().unwrap().push(it.to_string()));
    let (first, _second) = (begin(&guarded).await.unwrap(), begin(&guarded).await.unwrap());
    let third = timeout(Duration::from_mins(1), ask(&guarded)).await;
    assert!(third.is_err(), "no turn is free");
    assert_eq!(*told.lock().unwrap(), ["waiting: other requests of the account come first"]);
    drop(first);
    ask(&guarded).await.unwrap();
    assert_eq!(model.asked().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_never_comes_is_an_error() {
    let model = Scripted::new([Act::Hang]);
    let guarded = guarded(&model, AccountLimits { at_once: NonZeroUsize::MIN, ..limits() });
    let _held = begin(&guarded).await.unwrap();
    let error = ask(&guarded).await.unwrap_err();
    assert_eq!(
        error.text,
        "test has as many requests under way as it may (1), and for 10 min none ended"
    );
}

#[tokio::test(start_paused = true)]
async fn requests_keep_the_pace_of_their_account() {
    let model = Scripted::new([]);
    let requests_per_minute = NonZeroU64::new(6);
    let guarded = guarded(&model, AccountLimits { requests_per_minute, ..limits() });
    for _ in 0..9 {
        ask(&guarded).await.unwrap();
    }
    assert_eq!(model.asked(), [0, 0, 0, 0, 0, 0, 10_000, 20_000, 30_000]);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_paced_by_what_requests_really_took() {
    let took = |tokens| Act::Reply(vec![Ok(finished(Some(tokens)))]);
    let model = Scripted::new([took(600), took(600), took(1)]);
    let tokens_per_minute = NonZeroU64::new(1_000);
    let guarded = guarded(&model, AccountLimits { tokens_per_minute, ..limits() });
    for _ in 0..3 {
        ask(&guarded).await.unwrap();
    }
    let asked = model.asked();
    // The second goes on an estimate; the third waits until the 200 tokens too many have come in again.
    assert!(matches!(*asked, [0, 0, 12_000..=13_000]), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_provider_says_is_left_is_believed() {
    let left = |left| Some(Allowance { left, limit: None, renewed_in: Duration::from_secs(20) });
    let rate = RateFacts { requests: left(1), tokens: None };
    let model = Scripted::new([Act::Rated(rate)]);
    let guarded = guarded(&model, limits());
    for _ in 0..4 {
        ask(&guarded).await.unwrap();
    }
    assert_eq!(model.asked(), [0, 0, 20_000, 20_000]);
}

#[tokio::test(start_paused = true)]
async fn what_comes_in_again_evenly_is_waited_for_no_longer_than_it_takes() {
    let renewed_in = Duration::from_secs(20);
    let requests = Some(Allowance { left: 0, limit: Some(10), renewed_in });
    let model = Scripted::new([Act::Rated(RateFacts { requests, tokens: None })]);
    let paced = guarded(&model, limits());
    for _ in 0..4 {
        ask(&paced).await.unwrap();
    }
    // Ten requests come in again in twenty seconds.
    assert_eq!(model.asked(), [0, 2_000, 4_000, 6_000]);
    // A request that has more tokens than there ever are goes when all are there.
    let tokens = Some(Allowance { left: 0, limit: Some(1), renewed_in });
    let model = Scripted::new([Act::Rated(RateFacts { requests: None, tokens })]);
    let paced = guarded(&model, limits());
    for _ in 0..2 {
        ask(&paced).await.unwrap();
    }
    assert_eq!(model.asked(), [0, 20_000]);
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_pace_is_bounded_too() {
    let rate = RateFacts {
        requests: Some(Allowance { left: 0, limit: None, renewed_in: Duration::from_mins(15) }),
        tokens: None,
    };
    let model = Scripted::new([Act::Rated(rate)]);
    let guarded = guarded(&model, limits());
    ask(&guarded).await.unwrap();
    let error = ask(&guarded).await.unwrap_err();
    assert_eq!(
        error.text,
        "the pace of test leaves room for this request in 15 min, longer than a request waits"
    );
    assert_eq!(error.kind, ModelErrorKind::RateLimited);
}

#[tokio::test(start_paused = true)]
async fn o_088_others_of_the_account_wait_as_long_as_the_provider_asked_one_to() {
    let model = Scripted::new([Act::Refuse(rate_limited(Some(Duration::from_secs(5))))]);
    let guarded = once(&model);
    ask(&guarded).await.unwrap_err();
    ask(&guarded).await.unwrap();
    assert_eq!(model.asked(), [0, 5_000]);
}

#[tokio::test(start_paused = true)]
async fn an_account_that_only_fails_is_left_alone_and_then_tried_by_one_request() {
    let failures = (0..9).map(|_| Act::Refuse(error(ModelErrorKind::Transport)));
    let model = Scripted::new(failures.chain([Act::Hang]));
    let guarded = once(&model);
    for _ in 0..8 {
        assert_eq!(ask(&guarded).await, Err(error(ModelErrorKind::Transport)));
    }
    advance(Duration::from_secs(10)).await;
    let refused = ask(&guarded).await.unwrap_err();
    assert_eq!(
        refused.text,
        "test failed 8 times in a row and is left alone: it is tried again in 20 s; the last failure: transport"
    );
    assert_eq!(refused.retry_after, Some(Duration::from_secs(20)));
    assert_eq!(model.asked().len(), 8);

    advance(Duration::from_secs(20)).await;
    assert_eq!(ask(&guarded).await, Err(error(ModelErrorKind::Transport)));
    assert!(ask(&guarded).await.unwrap_err().text.contains("failed 9 times in a row"));

    advance(Duration::from_secs(30)).await;
    let trying = begin(&guarded).await.unwrap();
    let refused = ask(&guarded).await.unwrap_err();
    assert!(refused.text.contains("one request tries it now"), "{}", refused.text);
    drop(trying);
    ask(&guarded).await.unwrap();
    ask(&guarded).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_no_works() {
    let refusals = (0..20).map(|_| Act::Refuse(error(ModelErrorKind::BadRequest)));
    let model = Scripted::new(refusals);
    let guarded = once(&model);
    for _ in 0..20 {
        assert_eq!(ask(&guarded).await, Err(error(ModelErrorKind::BadRequest)));
    }
}
