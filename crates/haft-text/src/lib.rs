//! Text as bytes that survive: encodings, numbered windows, edits, differences, cuts.
//!
//! Everything here is pure: it works on `&[u8]`, `&str` and readers handed in. Nothing panics on
//! hostile input, nothing grows with the size of a stream, and nothing that is left out goes
//! unsaid.
//!
//! ```
//! use std::num::NonZeroU32;
//! use haft_text::{Kind, Stopped, Window, WindowRequest};
//!
//! let file = b"alpha\r\nbeta\r\ngamma";
//! assert!(matches!(Kind::sniff(file, true), Kind::Text(_)));
//!
//! let request = WindowRequest {
//!     offset: 1,
//!     column: 0,
//!     limit: NonZeroU32::new(2).unwrap(),
//!     max_bytes: 256 * 1024,
//!     max_line_bytes: 2000,
//!     count_to: 64 * 1024 * 1024,
//! };
//! let window = Window::read(&file[..], &request, &|| false)?;
//! assert_eq!(window.render(), "1\talpha\n2\tbeta");
//! assert_eq!(window.stopped, Stopped::Lines);
//! assert_eq!(window.next_offset, Some(3));
//! # Ok::<(), haft_text::WindowError>(())
//! ```
//!
//! * [`sniff`] guesses an [`Encoding`], a [`Decoder`] reads it.
//! * [`Kind`] tells text, images and binary data apart by content; [`image_info`] checks an image.
//! * [`Window`] reads numbered lines from a stream of any length.
//! * [`visible`](fn@visible) makes control and hidden characters harmless;
//!   [`collapse_carriage_returns`] tidies captured output.
//! * [`Document`] holds a whole text with the way back to its bytes, and [finds](Document::find) a
//!   place in it by [`MatchGrade`].
//! * [`edit`](fn@edit), [`insert`] and [`overwrite`] change a file and leave alone what is not meant.
//! * [`unified`] shows what changed; [`merge`](fn@merge) joins two changes.
//! * [`head`], [`tail`], [`head_tail`](fn@head_tail), [`around`] and [`HeadTail`] cut.
//!
//! Not here: opening and writing files, paths, and converting documents.

mod breaks;
mod compare;
mod cut;
mod diff;
mod digits;
mod document;
mod edit;
mod encoding;
mod find;
mod grade;
mod kind;
mod merge;
mod nearest;
mod stop;
mod visible;
mod window;

pub use cut::{Cut, Excerpt, HeadTail, Kept, around, head, head_tail, tail};
pub use diff::{Diff, DiffLimits, unified};
pub use document::{Document, SpliceError};
pub use edit::{
    Applied, Around, Edit, EditError, EditRules, Edited, InsertError, Refusal, Touched, edit,
    edit_until, insert, overwrite,
};
pub use encoding::{Charset, Decoded, Decoder, Encoding, Legacy, Unmappable, sniff};
pub use find::{Found, Span};
pub use grade::MatchGrade;
pub use kind::{ImageFault, ImageInfo, ImageKind, Kind, image_info};
pub use merge::{Conflict, Merge, merge};
pub use nearest::{Difference, Nearest};
pub use visible::{
    collapse_carriage_returns, visible, visible_exactly, visible_json, visible_line,
};
pub use window::{
    FinalNewline, LineCut, LineEnding, LineHash, Row, Stopped, Total, Window, WindowError,
    WindowRequest,
};
