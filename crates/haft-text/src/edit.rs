//! Edits of a whole file: all of them, or none.

mod around;
mod corrected;
mod endings;
mod insert;
mod numbered;
mod refusal;
mod touched;

use std::borrow::Cow;
use std::num::NonZeroUsize;

use crate::document::{Document, Splice, SpliceError};
use crate::find::Found;
use crate::grade::MatchGrade;
use crate::stop::{CalledOff, Stop};
use crate::window::LineEnding;
use endings::Endings;

pub use around::Around;
pub use insert::{InsertError, insert, overwrite};
pub use refusal::{EditError, Refusal};
pub use touched::Touched;

/// One edit: new text in the place of old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What to look for.
    pub old: String,
    /// What to put in its place, literally.
    pub new: String,
    /// Whether to replace every place where it stands.
    pub replace_all: bool,
}

/// What edits may do.
#[derive(Clone, Copy, Debug)]
pub struct EditRules {
    /// The highest grade by which a place may be found.
    pub highest: MatchGrade,
    /// The most places one edit may replace.
    pub most_places: NonZeroUsize,
    /// The most bytes the file may have after each edit.
    pub most_bytes: usize,
}

/// A file after edits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edited {
    /// The file.
    pub bytes: Vec<u8>,
    /// What each edit did, in order.
    pub applied: Vec<Applied>,
}

/// What one edit did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// How the places were found.
    pub grade: MatchGrade,
    /// How many places were replaced.
    pub places: usize,
    /// The lines that changed, in the file as the edits before left it.
    pub touched: Vec<Touched>,
    /// How lines of the new text end, where that is not as it was given.
    pub ending: Option<LineEnding>,
    /// Whether the new text was indented as its place is, and not as it was given.
    pub is_indented_anew: bool,
}

/// Edits a file: each edit works on what those before it left, and all happen or none.
///
/// Only the bytes of the places that were found change. New text is written
///
/// * in the encoding of the file;
/// * with the line ends of the place where that was found by more than the exact grade, and with
///   those of its line where `old` has no line end and `new` has LF; otherwise with its own;
/// * by the grades from [`Indentation`](MatchGrade::Indentation) on, indented by as much more or
///   less as the place is than `old`.
///
/// ```
/// use std::num::NonZeroUsize;
/// use haft_text::{Edit, EditRules, MatchGrade, edit};
///
/// let rules = EditRules {
///     highest: MatchGrade::LookAlike,
///     most_places: NonZeroUsize::new(100).unwrap(),
///     most_bytes: 1024 * 1024,
/// };
/// let file = b"alpha\r\nbeta\r\ngamma";
/// let one = Edit { old: "alpha\nbeta".into(), new: "ALPHA\nBETA".into(), replace_all: false };
/// let edited = edit(file, &[one], &rules)?;
/// assert_eq!(edited.bytes, b"ALPHA\r\nBETA\r\ngamma");
/// assert_eq!(edited.applied[0].grade, MatchGrade::LineEnding);
/// # Ok::<(), haft_text::EditError>(())
/// ```
///
/// # Errors
///
/// [`EditError`], which names the first edit that cannot be done and why.
pub fn edit(bytes: &[u8], edits: &[Edit], rules: &EditRules) -> Result<Edited, EditError> {
    edit_until(bytes, edits, rules, &|| false)
}

/// Edits a file like [`edit`](fn@edit), asking now and then whether to stop.
///
/// # Errors
///
/// [`EditError`], with [`Refusal::CalledOff`] where `stop` said so.
pub fn edit_until(
    bytes: &[u8],
    edits: &[Edit],
    rules: &EditRules,
    stop: &dyn Fn() -> bool,
) -> Result<Edited, EditError> {
    let mut current = Cow::Borrowed(bytes);
    let first = Document::new(bytes);
    let mut applied = Vec::with_capacity(edits.len());
    for (number, one) in edits.iter().enumerate() {
        let document = first.again(&current);
        let refused = |refusal| EditError { edit: number, refusal };
        let (next, done) = apply(&document, one, rules, stop).map_err(refused)?;
        current = Cow::Owned(next);
        applied.push(done);
    }
    if *current == *bytes {
        let edit = edits.len().saturating_sub(1);
        return Err(EditError { edit, refusal: Refusal::Unchanged });
    }
    Ok(Edited { bytes: current.into_owned(), applied })
}

fn apply(
    document: &Document<'_>,
    edit: &Edit,
    rules: &EditRules,
    stop: Stop<'_>,
) -> Result<(Vec<u8>, Applied), Refusal> {
    if edit.old.is_empty() {
        return Err(Refusal::EmptyOld);
    }
    if edit.old == edit.new {
        return Err(Refusal::Identical);
    }
    let most =
        if edit.replace_all { rules.most_places } else { NonZeroUsize::MIN.saturating_add(1) };
    let Some(found) = document.find_until(&edit.old, rules.highest, most, stop)? else {
        return Err(Refusal::not_found(document, edit, rules, stop)?);
    };
    if found.has_more && edit.replace_all {
        return Err(Refusal::TooManyPlaces { most: most.get() });
    }
    if found.is_overlapping || (found.spans.len() > 1 && !edit.replace_all) {
        return Err(Refusal::ambiguous(document, edit, &found));
    }
    let mut endings = Endings::new(document, &edit.old, found.grade);
    let mut is_indented_anew = false;
    let mut splices = Vec::with_capacity(found.spans.len());
    for span in &found.spans {
        let new = span.shift.apply(&edit.new, span.shifts_first).map_err(|line| {
            Refusal::Unindentable { line, nearest: Box::new(document.nearest_of(span, &edit.old)) }
        })?;
        is_indented_anew |= new != edit.new;
        let text = endings.written(new, span);
        splices.push(Splice { range: span.text.clone(), text: Cow::Owned(text) });
    }
    let bytes = document.splice(&splices, rules.most_bytes)?;
    let Found { grade, spans, .. } = found;
    let touched = touched::touched(document, &splices);
    let ending = endings.unlike_given();
    Ok((bytes, Applied { grade, places: spans.len(), touched, ending, is_indented_anew }))
}

impl From<CalledOff> for Refusal {
    fn from(_: CalledOff) -> Self {
        Self::CalledOff
    }
}

impl From<SpliceError> for Refusal {
    fn from(error: SpliceError) -> Self {
        Self::Unwritable(error)
    }
}
