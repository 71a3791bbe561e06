//! Faults found on the way, shown together.

use std::fmt::Display;

use quote::ToTokens;

/// Faults found on the way, shown together.
#[derive(Debug, Default)]
pub(crate) struct Problems(Option<syn::Error>);

impl Problems {
    /// Adds a fault of the tokens it is shown at.
    pub(crate) fn add(&mut self, at: impl ToTokens, text: impl Display) {
        self.push(syn::Error::new_spanned(at, text));
    }

    /// Adds a fault.
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }

    /// Returns the value of a step, or keeps its fault.
    pub(crate) fn take<T>(&mut self, step: syn::Result<T>) -> Option<T> {
        step.map_err(|error| self.push(error)).ok()
    }

    /// Returns the value if there were no faults.
    pub(crate) fn finish<T>(self, value: T) -> syn::Result<T> {
        match self.0 {
            None => Ok(value),
            Some(error) => Err(error),
        }
    }
}

/// Says that a word is not known, and which one may have been meant.
pub(crate) fn unknown(what: &str, given: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|word| (strsim::jaro_winkler(given, word), word))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|one, two| one.0.total_cmp(&two.0));
    match nearest {
        Some((_, word)) => format!("unknown {what} `{given}`; did you mean `{word}`?"),
        None => format!("unknown {what} `{given}`; expected one of `{}`", known.join("`, `")),
    }
}
