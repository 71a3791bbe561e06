//! Showing an image.

use std::io::Read;
use std::sync::Arc;

use haft_protocol::{ContentPart, ErrorKind, Failure, ImageType, limits};
use haft_text::{ImageInfo, ImageKind, image_info};
use haft_tool::{Output, Shown};
use haft_workspace::OpenFile;
use schemars::JsonSchema;
use serde::Serialize;

use super::{ReaderOutput, unreadable};
use crate::words::{counted, grouped};

/// An image; its bytes are in the content.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ImageOutput {
    /// The path.
    pub path: String,
    /// The media type, from the bytes.
    pub media_type: String,
    /// Pixels from side to side.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Shows an image of which the first bytes are read. What no model could take is refused here: in a conversation it
/// would spoil every later request.
pub(super) fn show(
    path: &str,
    mut bytes: Vec<u8>,
    file: OpenFile,
) -> Result<Shown<ReaderOutput>, Failure> {
    let most = limits::IMAGE_BYTES;
    let rest = (most + 1).saturating_sub(bytes.len() as u64);
    file.take(rest).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    let len = bytes.len() as u64;
    if len > most {
        let text = format!(
            "`{path}` is an image of more than {} bytes, the most that can be shown",
            grouped(most)
        );
        return Err(Failure::new(ErrorKind::LimitExceeded, text).hint("make a smaller copy of it"));
    }
    let ImageInfo { kind, width, height, .. } = image_info(&bytes).map_err(|fault| {
        Failure::new(ErrorKind::Unsupported, format!("`{path}` cannot be shown: {fault}"))
    })?;
    if width.max(height) > limits::IMAGE_SIDE_PIXELS {
        let text = format!(
            "`{path}` is an image of {width}×{height} pixels; at most {} along a side can be shown",
            grouped(limits::IMAGE_SIDE_PIXELS.into())
        );
        return Err(Failure::new(ErrorKind::LimitExceeded, text).hint("make a smaller copy of it"));
    }
    let media_type = match kind {
        ImageKind::Png => ImageType::Png,
        ImageKind::Jpeg => ImageType::Jpeg,
        ImageKind::Gif => ImageType::Gif,
        ImageKind::Webp => ImageType::Webp,
    };
    let named = media_type.media_type();
    let mut output = Output::text(format!(
        "{named}, {width}×{height} pixels, {}",
        counted(len, "byte", "bytes")
    ));
    output.content.push(ContentPart::Image { media_type, data: Arc::from(bytes) });
    let value = ReaderOutput::Image(ImageOutput {
        path: path.to_owned(),
        media_type: named.to_owned(),
        width,
        height,
        bytes: len,
    });
    Ok(Shown { value, output })
}
