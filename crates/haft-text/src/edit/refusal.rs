use super::around::around;
use super::corrected::corrected;
use super::numbered::without_numbers;
use super::{Around, Edit, EditRules};
use crate::document::{Document, SpliceError};
use crate::find::Found;
use crate::grade::MatchGrade;
use crate::nearest::{Nearby, Nearest};
use crate::stop::{CalledOff, Stop};

/// Which of several edits cannot be done, and why. Nothing has been changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{refusal}")]
#[non_exhaustive]
pub struct EditError {
    /// The edit, from 0.
    pub edit: usize,
    /// Why.
    #[source]
    pub refusal: Refusal,
}

/// Why an edit cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is nothing to look for.
    #[error("the old text is empty")]
    EmptyOld,
    /// Old and new text are the same.
    #[error("the old and the new text are the same")]
    Identical,
    /// After all edits the file is what it was.
    #[error("after the edits the file is what it was before")]
    Unchanged,
    /// The old text stands nowhere.
    #[error("the old text stands nowhere in the file")]
    NotFound {
        /// The place that is most like it, where one is.
        nearest: Option<Box<Nearest>>,
        /// The edit for that place, where it is sure what it would be: its old text stands there and nowhere else.
        corrected: Option<Box<Edit>>,
        /// The edit without line numbers that were copied from a read, where that would be found.
        without_numbers: Option<Box<Edit>>,
        /// How many lines were looked at for the nearest place, where that was not all of them.
        looked_at: Option<u64>,
    },
    /// The old text stands in several places.
    #[error("the old text stands in {places} places", places = if *has_more { format!("more than {}", lines.len()) } else { lines.len().to_string() })]
    Ambiguous {
        /// How the places were found.
        grade: MatchGrade,
        /// The line each starts in.
        lines: Vec<u64>,
        /// Whether there are more.
        has_more: bool,
        /// Whether two of them share characters, so that not all can be replaced.
        is_overlapping: bool,
        /// What would make one of the first places the only one.
        only: Vec<Around>,
    },
    /// The old text stands in more places than one edit may replace.
    #[error("the old text stands in more than {most} places")]
    TooManyPlaces {
        /// The most places.
        most: usize,
    },
    /// The place is indented less than the old text, and the new text cannot be.
    #[error("line {line} of the new text is indented by less than the place lacks")]
    Unindentable {
        /// The line of the new text, from 1.
        line: u64,
        /// The place.
        nearest: Box<Nearest>,
    },
    /// The work was called off before it was done.
    #[error("the edit was called off")]
    CalledOff,
    /// The new text cannot be written into this file.
    #[error(transparent)]
    Unwritable(SpliceError),
}

/// How many places of an ambiguous text are named.
const NAMED: usize = 20;

/// For how many of them it is said what would make them the only one.
const TOLD_APART: usize = 3;

impl Refusal {
    pub(super) fn not_found(
        document: &Document<'_>,
        edit: &Edit,
        rules: &EditRules,
        stop: Stop<'_>,
    ) -> Result<Self, CalledOff> {
        let without_numbers = without_numbers(document, edit, rules, stop)?;
        let Nearby { nearest, looked_at } = document.nearby(&edit.old, stop)?;
        let corrected =
            nearest.as_ref().and_then(|nearest| corrected(document, edit, nearest, rules.highest));
        Ok(Self::NotFound {
            nearest: nearest.map(Box::new),
            corrected: corrected.map(Box::new),
            without_numbers: without_numbers.map(Box::new),
            looked_at,
        })
    }

    pub(super) fn ambiguous(document: &Document<'_>, edit: &Edit, found: &Found) -> Self {
        let most = std::num::NonZeroUsize::new(NAMED).unwrap_or(std::num::NonZeroUsize::MIN);
        let again = document.find(&edit.old, found.grade, most);
        let found = again.as_ref().unwrap_or(found);
        let told_apart = found.spans.iter().take(TOLD_APART);
        Self::Ambiguous {
            grade: found.grade,
            lines: found.spans.iter().map(|span| span.first_line).collect(),
            has_more: found.has_more,
            is_overlapping: found.is_overlapping,
            only: told_apart.filter_map(|span| around(document, span)).collect(),
        }
    }
}
