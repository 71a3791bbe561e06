//! Patterns over resolved paths.

use std::fmt;
use std::str::FromStr;

use haft_protocol::LogicalPath;
use haft_protocol::limits::RULE_PATTERN_PARTS;
use serde::{Deserialize, Serialize};

use crate::PolicyError;
use crate::error::PatternProblem;
use crate::glob::{Part, Token, alternatives, weight};

/// A pattern over resolved logical paths, written as a glob.
///
/// - `*`, `?`, `[…]` and `{a,b}` are as in a shell, and stay within one part of the path; names that begin with a dot
///   are nothing special. `\` takes a character literally. Case counts.
/// - `**` stands alone between slashes and means any number of parts, also none: `src/**/mod.rs` matches `src/mod.rs`,
///   and `secrets/**` matches `secrets` itself and everything beneath. `secrets/` means the same as `secrets/**`.
/// - A pattern is relative to the first root. One that begins with `**` matches in the further roots too (`./**` does
///   not). One that begins with `/` is a full path, in whichever root that lies; in the first one it matches what a
///   policy that knows the root's [full name](crate::PolicyBuilder::first_root) is asked about.
/// - `.` is the first root, `./` and doubled slashes are dropped, `..` and `~` are refused.
///
/// ```
/// use haft_policy::PathPattern;
/// use haft_protocol::LogicalPath;
///
/// let pattern: PathPattern = "src/**/*.rs".parse()?;
/// assert!(pattern.matches(&LogicalPath::new("src/lib.rs")));
/// assert!(!pattern.matches(&LogicalPath::new("src/../build.rs")));
/// # Ok::<(), haft_policy::PolicyError>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPattern {
    text: String,
    routes: Vec<Route>,
    tokens: usize,
}

/// One alternative of a pattern.
#[derive(Debug, Clone)]
struct Route {
    anchor: Anchor,
    steps: Vec<Step>,
    /// How far the full name of the first root leads, where the pattern is a full path and the root is known.
    first_root: Reach,
}

/// Where a path to a root leads in a pattern.
#[derive(Debug, Clone, Copy, Default)]
struct Reach {
    /// The places in the pattern, as in [`Walk`].
    at: u128,
    /// Whether the pattern matches a directory around the root.
    is_around: bool,
}

/// The roots an alternative speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    First,
    Full,
    Every,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// `**`
    Deep,
    One(Part),
}

/// A path in parts, known to be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trail<'a> {
    absolute: bool,
    parts: Vec<&'a str>,
}

impl<'a> Trail<'a> {
    /// Takes a path apart; `None` when a part leads upwards, for then nobody knows where it leads.
    pub(crate) fn of(path: &'a LogicalPath) -> Option<Self> {
        let text = path.as_str();
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        (!text.is_empty() && !parts.contains(&".."))
            .then(|| Self { absolute: text.starts_with('/'), parts })
    }

    pub(crate) fn is_within(&self, ancestor: &Self) -> bool {
        self.absolute == ancestor.absolute && self.parts.starts_with(&ancestor.parts)
    }

    /// Tells whether the path is a directory or lies beneath it. Nothing lies in one that is not resolved.
    pub(crate) fn is_within_directory(&self, directory: &LogicalPath) -> bool {
        Trail::of(directory).is_some_and(|directory| self.is_within(&directory))
    }
}

impl PathPattern {
    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns how many tokens the pattern holds with its braces multiplied out, which is what it takes up.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Tells whether a path matches. A path that is not resolved matches nothing.
    pub fn matches(&self, path: &LogicalPath) -> bool {
        Trail::of(path).is_some_and(|trail| self.matches_trail(&trail))
    }

    /// Tells whether a path, or a directory it lies in, matches. A path that is not resolved is not covered.
    pub fn covers(&self, path: &LogicalPath) -> bool {
        Trail::of(path).is_some_and(|trail| self.covers_trail(&trail))
    }

    /// Tells whether the pattern begins with `/`, in any of its alternatives.
    pub fn is_absolute(&self) -> bool {
        self.routes.iter().any(|route| route.anchor == Anchor::Full)
    }

    /// Tells whether some alternative is a full path and could match nothing in any of these roots, which are given by
    /// their full names.
    pub fn is_astray(&self, roots: &[LogicalPath]) -> bool {
        let roots: Vec<Trail<'_>> = roots.iter().filter_map(Trail::of).collect();
        self.routes.iter().filter(|route| route.anchor == Anchor::Full).any(|route| {
            !roots.iter().filter(|root| root.absolute).any(|root| {
                let reach = route.reach(root);
                reach.at != 0 || reach.is_around
            })
        })
    }

    /// Returns the pattern for a workspace whose first root has this full name.
    pub(crate) fn in_first_root(&self, root: &LogicalPath) -> Self {
        let mut pattern = self.clone();
        let trail = Trail::of(root).filter(|trail| trail.absolute);
        for route in pattern.routes.iter_mut().filter(|route| route.anchor == Anchor::Full) {
            route.first_root = trail.as_ref().map(|it| route.reach(it)).unwrap_or_default();
        }
        pattern
    }

    /// Returns the pattern that matches this path alone.
    ///
    /// # Errors
    ///
    /// Fails for a path that is not resolved, and for one that is longer than a pattern may be.
    pub fn exactly(path: &LogicalPath) -> Result<Self, PolicyError> {
        Self::from_str(&literal(path.as_str()))
    }

    /// Returns the pattern that matches this directory and everything beneath.
    ///
    /// # Errors
    ///
    /// Fails as [`PathPattern::exactly`] does.
    pub fn tree(path: &LogicalPath) -> Result<Self, PolicyError> {
        match path.as_str() {
            "." => Self::from_str("./**"),
            text => Self::from_str(&format!("{}/**", literal(text.trim_end_matches('/')))),
        }
    }

    pub(crate) fn matches_trail(&self, trail: &Trail<'_>) -> bool {
        self.routes.iter().any(|route| {
            let mut walk = route.enter(trail.absolute);
            trail.parts.iter().for_each(|part| walk.step(part));
            walk.has_arrived()
        })
    }

    pub(crate) fn covers_trail(&self, trail: &Trail<'_>) -> bool {
        self.routes.iter().any(|route| {
            let mut walk = route.enter(trail.absolute);
            walk.has_arrived()
                || (route.first_root.is_around && !trail.absolute)
                || trail.parts.iter().any(|part| {
                    walk.step(part);
                    walk.has_arrived()
                })
        })
    }

    /// Tells whether the pattern covers the path or could match anything beneath it.
    pub(crate) fn touches_tree(&self, trail: &Trail<'_>) -> bool {
        self.covers_trail(trail)
            || self.routes.iter().any(|route| {
                let mut walk = route.enter(trail.absolute);
                trail.parts.iter().for_each(|part| walk.step(part));
                walk.is_alive()
            })
    }

    /// Tells whether the pattern matches the path and everything that could lie beneath it.
    pub(crate) fn matches_tree(&self, trail: &Trail<'_>) -> bool {
        self.routes.iter().any(|route| {
            let mut walk = route.enter(trail.absolute);
            trail.parts.iter().for_each(|part| walk.step(part));
            walk.is_at_open_end()
        })
    }
}

impl Route {
    fn new(tokens: &[Token]) -> Result<Self, PatternProblem> {
        let anchor = match tokens {
            [Token::Slash, ..] => Anchor::Full,
            [Token::Star, Token::Star] | [Token::Star, Token::Star, Token::Slash, ..] => {
                Anchor::Every
            }
            _ => Anchor::First,
        };
        let mut steps = Vec::new();
        for part in tokens.split(|token| *token == Token::Slash) {
            let step = match part {
                [] => continue,
                [Token::Star, Token::Star] => Step::Deep,
                _ => Step::One(Part::new(part)?),
            };
            match &step {
                Step::One(Part::Literal(literal)) if literal == ".." => {
                    return Err(PatternProblem::ParentDirectory);
                }
                Step::One(Part::Literal(literal)) if literal == "." => {}
                Step::Deep if steps.last() == Some(&Step::Deep) => {}
                _ => steps.push(step),
            }
        }
        let names_directory = tokens.len() > 1 && tokens.last() == Some(&Token::Slash);
        if names_directory && steps.last() != Some(&Step::Deep) {
            steps.push(Step::Deep);
        }
        if steps.len() > RULE_PATTERN_PARTS {
            return Err(PatternProblem::TooManyParts { limit: RULE_PATTERN_PARTS });
        }
        Ok(Self { anchor, steps, first_root: Reach::default() })
    }

    /// Walks the full name of a root.
    fn reach(&self, root: &Trail<'_>) -> Reach {
        let mut walk = self.enter(true);
        let mut is_around = false;
        for part in &root.parts {
            is_around |= walk.has_arrived();
            walk.step(part);
        }
        Reach { at: walk.at, is_around }
    }

    /// Starts at the root, or nowhere when the path belongs to other roots than the pattern.
    fn enter(&self, absolute: bool) -> Walk<'_> {
        let at = match self.anchor {
            Anchor::First => u128::from(!absolute),
            Anchor::Full if absolute => 1,
            Anchor::Full => self.first_root.at,
            Anchor::Every => 1,
        };
        let mut walk = Walk { steps: &self.steps, at };
        walk.skip_deep();
        walk
    }
}

/// All places in a pattern at once: bit `n` says that the parts walked so far match its first `n` steps. There are fewer
/// steps than bits, because a pattern has at most [`RULE_PATTERN_PARTS`].
struct Walk<'p> {
    steps: &'p [Step],
    at: u128,
}

impl Walk<'_> {
    fn step(&mut self, part: &str) {
        let mut next = 0;
        for (index, step) in self.steps.iter().enumerate() {
            if self.at & (1 << index) == 0 {
                continue;
            }
            match step {
                Step::Deep => next |= 1 << index,
                Step::One(expected) if expected.matches(part) => next |= 1 << (index + 1),
                Step::One(_) => {}
            }
        }
        self.at = next;
        self.skip_deep();
    }

    /// `**` may match nothing.
    fn skip_deep(&mut self) {
        for (index, step) in self.steps.iter().enumerate() {
            if *step == Step::Deep && self.at & (1 << index) != 0 {
                self.at |= 1 << (index + 1);
            }
        }
    }

    fn has_arrived(&self) -> bool {
        self.at & (1 << self.steps.len()) != 0
    }

    /// Tells whether more parts could still match.
    fn is_alive(&self) -> bool {
        self.at & ((1 << self.steps.len()) - 1) != 0
    }

    /// Tells whether whatever parts follow will match.
    fn is_at_open_end(&self) -> bool {
        self.steps.last() == Some(&Step::Deep) && self.has_arrived()
    }
}

fn literal(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '~') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

impl FromStr for PathPattern {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let read = || {
            if text.starts_with('~') {
                return Err(PatternProblem::Home);
            }
            let all = alternatives(text)?;
            let routes = all.iter().map(|tokens| Route::new(tokens)).collect::<Result<_, _>>()?;
            Ok(Self { text: text.to_owned(), routes, tokens: weight(&all) })
        };
        match read() {
            Ok(pattern) => Ok(pattern),
            Err(problem) => Err(PolicyError::pattern(text, problem)),
        }
    }
}

impl TryFrom<String> for PathPattern {
    type Error = PolicyError;

    fn try_from(text: String) -> Result<Self, PolicyError> {
        text.parse()
    }
}

impl From<PathPattern> for String {
    fn from(pattern: PathPattern) -> String {
        pattern.text
    }
}

/// Patterns are the same when they are written the same.
impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

impl fmt::Debug for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PathPattern({})", self.text)
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
