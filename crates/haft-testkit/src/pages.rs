//! Pages of behaviour that run as tests.
//!
//! A page is Markdown. Prose says the rule; fences show it, in this form and no other:
//!
//! - ```` ```file PATH ```` writes a file; one in `bin` is a program, which commands find before those of the machine. With the word `escaped` after the path, the lines are joined without line ends
//!   and `\n`, `\r`, `\t`, `\\` and `\xNN` stand for bytes.
//! - ```` ```rules ```` sets the rules and the preset of the calls that follow, as a configuration file would.
//! - ```` ```call TOOL ```` makes a call with the JSON in the fence, where `LATEST` stands for the id of the latest call that
//!   changed a file.
//! - ```` ```outcome ```` is what the last call has to come to: its status in the first line, then what a model reads. A
//!   call that no outcome follows has to succeed.
//! - ```` ```bytes PATH ```` is what a file has to hold now, written as with `escaped`.
//!
//! Every heading of the second level begins with an empty workspace. With `HAFT_PAGES=update` in the environment, the
//! outcomes on the page are written anew instead of compared.

mod fence;
mod run;

pub use fence::{Fence, FenceKind, PageError, fences};
pub use run::run_page;
