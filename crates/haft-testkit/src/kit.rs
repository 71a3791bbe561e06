//! What every implementation of a contract has to pass.

mod side_door;
mod source;
mod tool;

pub use side_door::{Door, no_side_door};
pub use source::source_conforms;
pub use tool::tool_conforms;
