//! How full a model's window is.

use std::sync::Arc;

use haft_model::{
    Anchor, Anchored, Estimator, Fragment, Fragments, ModelError, ModelErrorKind, ModelFacts,
    Request, RequestMessage, ResponseFormat, TokenCounter, ToolSpec,
};
use haft_protocol::{ContentPart, ModelId, Notice, NoticeKind, TokenUsage, limits};

/// How full a model's window is: the one place that says so.
///
/// It holds on to what the provider reported last and estimates what came since, so that it is on the safe side. A request
/// that goes on from the one measured before costs only what is new in it.
///
/// A window that nobody knows is no obstacle: the server refuses what is too long, the gauge learns from that
/// ([`refused`](Self::refused)), and what is older is summarised then. Whoever has to know it beforehand asks
/// [`known_window`](Self::known_window), which names the setting.
#[derive(Debug, Clone)]
pub struct Gauge {
    model: ModelId,
    estimator: Estimator,
    window: Option<u64>,
    reply: u64,
    anchor: Anchor,
    reported: Option<u64>,
    /// The last report and the estimate for it without images, whether it was believed or not.
    before: Option<(u64, u64)>,
    measured: Option<Measured>,
    level: Option<Level>,
    has_told: bool,
    has_weighed_tools: bool,
}

/// How full the window is with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// Tokens of the request, by the last report and what came since.
    pub tokens: u64,
    /// Tokens of the request by the estimate alone.
    pub estimated: u64,
    /// Tokens of its images among these: what they take differs so much that nothing follows from it.
    pub images: u64,
    /// Tokens of the window, where they are known.
    pub window: Option<u64>,
    /// Tokens that have to be left for the reply.
    pub reply: u64,
}

/// How much of a window the definitions of tools take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolsWeight {
    /// How many tools.
    pub tools: u64,
    /// Tokens of their definitions, as they are estimated.
    pub tokens: u64,
    /// Tokens of the window.
    pub window_tokens: u64,
}

/// A window that nobody knows, where it matters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "nobody says how many tokens the window of `{model}` has: set `window_tokens` in `[models.\"{model}\"]`"
)]
pub struct WindowUnknown {
    /// The model.
    pub model: ModelId,
}

impl Level {
    /// Tells whether more than this many percent of the window are taken; not so where nobody knows the window.
    pub fn is_over(&self, percent: u64) -> bool {
        self.window.is_some_and(|window| {
            u128::from(self.tokens) * 100 > u128::from(window) * u128::from(percent)
        })
    }

    /// Tells whether the request and a reply fit into the window, as far as anybody knows.
    pub fn fits(&self) -> bool {
        self.window.is_none_or(|window| self.tokens.saturating_add(self.reply) <= window)
    }

    /// Returns the estimate of all but images.
    fn without_images(&self) -> u64 {
        self.estimated.saturating_sub(self.images)
    }

    /// Brings tokens of the window to the scale of estimates, rounded down.
    pub(crate) fn in_estimates(&self, tokens: u64) -> u64 {
        let scaled = u128::from(tokens) * u128::from(self.estimated);
        let scaled = scaled.checked_div(u128::from(self.tokens)).unwrap_or(u128::from(tokens));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

/// What was measured before, to go on from.
#[derive(Debug, Clone)]
struct Measured {
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    format: Option<ResponseFormat>,
    fixed: u64,
    /// A message, its place, and the estimate of all messages up to it.
    last: Option<(Arc<Fragment>, usize, Sum)>,
}

/// The estimate of messages, and of the images among them.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    tokens: u64,
    images: u64,
}

impl Gauge {
    /// Makes a gauge for a model.
    pub fn new(facts: &ModelFacts) -> Self {
        Self {
            model: facts.id.clone(),
            estimator: Estimator::of(facts.dialect),
            window: facts.window_tokens,
            reply: facts.output_tokens.unwrap_or(u64::MAX).min(limits::REPLY_ROOM_TOKENS),
            anchor: Anchor::default(),
            reported: None,
            before: None,
            measured: None,
            level: None,
            has_told: false,
            has_weighed_tools: false,
        }
    }

    /// Measures a request that is about to be made.
    pub fn of(&mut self, request: &Request) -> Level {
        let mut measured = match self.measured.take().filter(|it| it.is_of(request)) {
            Some(measured) => measured,
            None => Measured::new(request, &self.estimator),
        };
        let Sum { tokens, images } = measured.sum(request, &self.estimator);
        let estimated = tokens.saturating_add(measured.fixed);
        self.measured = Some(measured);
        let tokens = self.anchor.tokens(estimated);
        let level = Level { tokens, estimated, images, window: self.window, reply: self.reply };
        self.level = Some(level);
        level
    }

    /// Weighs the tools' definitions, the first time that it is asked to.
    ///
    /// Returns what a person should know: that they take more than a third of the window.
    pub fn weigh_tools(&mut self, tools: &[ToolSpec]) -> Option<ToolsWeight> {
        if self.has_weighed_tools || tools.is_empty() {
            return None;
        }
        self.has_weighed_tools = true;
        let window = self.window?;
        let each = tools.iter().map(|it| self.estimator.tool(it));
        let tokens = each.fold(self.estimator.before_tools(), u64::saturating_add);
        (tokens > window / limits::TOOLS_SHARE).then_some(ToolsWeight {
            tools: tools.len() as u64,
            tokens,
            window_tokens: window,
        })
    }

    /// Takes in what the request that was measured last took, unless it cannot be true.
    ///
    /// Returns what a person should know: that the server seems to have left out a part of the prompt. It is said once.
    pub fn report(&mut self, usage: &TokenUsage) -> Option<Notice> {
        let level = self.level?;
        let counted = usage.prompt().filter(|_| !usage.doubtful);
        let sure = level.without_images();
        let is_pinned = counted.is_some_and(|counted| self.is_pinned(sure, counted));
        self.before = counted.map(|counted| (sure, counted)).or(self.before);
        let anchored = match counted {
            Some(counted) if is_pinned => Anchored::FarBelow { counted, estimated: sure },
            _ => self.anchor.report(level.estimated, usage, self.window),
        };
        // What is below the estimate because of images alone is no sign of anything.
        let is_left_out = |counted| {
            let mut alone = Anchor::default();
            let prompt = TokenUsage { input: Some(counted), ..TokenUsage::default() };
            is_pinned || matches!(alone.report(sure, &prompt, None), Anchored::FarBelow { .. })
        };
        match anchored {
            Anchored::Taken => {
                self.reported = usage.total().or(counted);
                None
            }
            Anchored::FarBelow { counted, .. } if !self.has_told && is_left_out(counted) => {
                self.has_told = true;
                Some(self.left_out(counted, level.estimated))
            }
            Anchored::FarBelow { .. } | Anchored::Unreported | Anchored::Absurd { .. } => None,
        }
    }

    /// Tells whether a prompt grew and its count did not: what is over a border is cut off.
    fn is_pinned(&self, estimated: u64, counted: u64) -> bool {
        self.before.is_some_and(|(estimated_before, counted_before)| {
            let grown = estimated.saturating_sub(estimated_before);
            grown >= limits::PINNED_TOKENS
                && counted.saturating_sub(counted_before) < grown / limits::PINNED_SHARE
        })
    }

    fn left_out(&self, counted: u64, estimated: u64) -> Notice {
        let text = format!(
            "the server counted {counted} tokens of a prompt of about {estimated}, so it may leave out the beginning without \
             saying so. Give the model a larger context on the server (`OLLAMA_CONTEXT_LENGTH` for Ollama, `--ctx-size` for \
             llama.cpp), or set `window_tokens = {counted}` in `[models.\"{}\"]`, so that older messages are summarised in time",
            self.model
        );
        Notice::new(NoticeKind::Degraded, text)
    }

    /// Takes in that the request that was measured last was too long.
    ///
    /// What the server says of its window is believed where it is less than what was known; where it says nothing, the
    /// window is smaller than what was refused.
    pub fn refused(&mut self, error: &ModelError) {
        if error.kind != ModelErrorKind::Overflow {
            return;
        }
        let refused = self.level.map(|level| level.tokens).filter(|tokens| *tokens > 0);
        let said = error.window_tokens.filter(|tokens| *tokens > 0);
        let known = [self.window, said.or(refused)];
        self.window = known.into_iter().flatten().min();
    }

    /// Returns the tokens of the window, where they are known.
    pub fn window(&self) -> Option<u64> {
        self.window
    }

    /// Returns the tokens of the window.
    ///
    /// # Errors
    ///
    /// Fails where nobody knows them, and names the setting.
    pub fn known_window(&self) -> Result<u64, WindowUnknown> {
        self.window.ok_or_else(|| WindowUnknown { model: self.model.clone() })
    }

    /// Returns the tokens of the last request that a provider counted, with its reply.
    pub fn reported(&self) -> Option<u64> {
        self.reported
    }

    /// Returns what estimates are made with.
    pub fn estimator(&self) -> &Estimator {
        &self.estimator
    }
}

impl Measured {
    fn new(request: &Request, estimator: &Estimator) -> Self {
        let messages = Fragments::new();
        let fixed = estimator.request(&Request { messages, ..request.clone() });
        Self {
            system: Arc::clone(&request.system),
            tools: Arc::clone(&request.tools),
            format: request.format.clone(),
            fixed,
            last: None,
        }
    }

    /// Tells whether all that stands before the messages is the same.
    fn is_of(&self, request: &Request) -> bool {
        let is_same_list = Arc::ptr_eq(&self.tools, &request.tools);
        self.system == request.system
            && (is_same_list || self.tools == request.tools)
            && self.format == request.format
    }

    fn sum(&mut self, request: &Request, estimator: &Estimator) -> Sum {
        // A message stands at one place of one conversation, so what is before it is what was before it.
        let known = self.last.take().filter(|(fragment, place, _)| {
            request.messages.get(*place).is_some_and(|it| Arc::ptr_eq(it, fragment))
        });
        let (from, mut sum) = match &known {
            Some((_, place, sum)) => (place.saturating_add(1), *sum),
            None => (0, Sum::default()),
        };
        self.last = known;
        // The last message may be another one the next time, with what was said behind it.
        let stays = request.messages.len().saturating_sub(1);
        for (place, fragment) in (from..).zip(request.messages.iter_from(from)) {
            sum.tokens = sum.tokens.saturating_add(fragment.estimated_tokens(estimator));
            sum.images = sum.images.saturating_add(images(fragment.message(), estimator));
            if place < stays {
                self.last = Some((Arc::clone(fragment), place, sum));
            }
        }
        sum
    }
}

/// Estimates the images of a message.
fn images(message: &RequestMessage, estimator: &Estimator) -> u64 {
    let of = |parts: &[ContentPart]| {
        let images = parts.iter().filter(|it| matches!(it, ContentPart::Image { .. }));
        images.map(|it| estimator.part(it)).fold(0, u64::saturating_add)
    };
    match message {
        RequestMessage::User(parts) => of(parts),
        RequestMessage::Reply(_) => 0,
        RequestMessage::Results(results) => {
            results.iter().map(|it| of(&it.images)).fold(0, u64::saturating_add)
        }
    }
}
