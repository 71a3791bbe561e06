//! What is known of models before they are asked, as data.

use haft_model::Price;

/// What is known of a model. What nobody knows is `None`, and unknown is not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Known {
    /// Tokens that prompt and reply may have together.
    pub window_tokens: Option<u64>,
    /// Tokens that a reply may have.
    pub output_tokens: Option<u64>,
    /// Whether it sees images.
    pub sees_images: Option<bool>,
    /// What it costs.
    pub price: Option<Price>,
}
