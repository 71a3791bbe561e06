//! Putting new text between bytes that stay as they are.

use std::borrow::Cow;
use std::ops::Range;

use super::Document;
use super::map::Map;
use crate::encoding::Unmappable;

/// New text in the place of a range of the old.
#[derive(Debug)]
pub(crate) struct Splice<'t> {
    /// Which part of the text goes, ending where characters end.
    pub(crate) range: Range<usize>,
    /// What comes.
    pub(crate) text: Cow<'t, str>,
}

/// Why new text cannot be put into a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpliceError {
    /// The encoding of the file lacks a character of the new text.
    #[error(transparent)]
    Unmappable(#[from] Unmappable),
    /// The file would become too long.
    #[error("the file would become longer than {most} bytes")]
    TooLong {
        /// The most bytes it may have.
        most: usize,
    },
    /// Beside damaged bytes, the new text would read as something else.
    #[error("beside bytes that are not {encoding}, the new text would not read as it is written", encoding = encoding)]
    Unclean {
        /// The encoding of the file.
        encoding: &'static str,
    },
}

impl Document<'_> {
    /// Puts new text in the place of ranges that stand in order and do not overlap.
    ///
    /// All bytes outside the ranges stay. What results is read again, so that nothing is written
    /// that would not read as it was meant.
    pub(crate) fn splice(
        &self,
        splices: &[Splice<'_>],
        most: usize,
    ) -> Result<Vec<u8>, SpliceError> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut at = 0;
        let end = Splice { range: self.text.len()..self.text.len(), text: Cow::Borrowed("") };
        for splice in splices.iter().chain([&end]) {
            let range = self.bytes_of(splice.range.clone());
            bytes.extend_from_slice(self.bytes.get(at..range.start).unwrap_or_default());
            bytes.extend_from_slice(&self.encoding.encode(&splice.text)?);
            at = range.end;
            if bytes.len() > most {
                return Err(SpliceError::TooLong { most });
            }
        }
        if self.is_spliced_safely() || self.encoding.decode(&bytes).text == self.spliced(splices) {
            Ok(bytes)
        } else {
            Err(SpliceError::Unclean { encoding: self.encoding.name() })
        }
    }

    /// The text after the splices.
    fn spliced(&self, splices: &[Splice<'_>]) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for splice in splices {
            text.push_str(self.text.get(at..splice.range.start).unwrap_or_default());
            text.push_str(&splice.text);
            at = splice.range.end;
        }
        text.push_str(self.text.get(at..).unwrap_or_default());
        text
    }

    /// Whether pieces of good text side by side are good text: so it is in undamaged UTF-8.
    fn is_spliced_safely(&self) -> bool {
        matches!(self.map, Map::Shifted(_))
    }
}
