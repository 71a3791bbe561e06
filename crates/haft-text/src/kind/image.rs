//! The four image formats that models take, and whether a file really is one.

mod structure;

use std::fmt;

/// An image format that models accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageKind {
    /// Portable Network Graphics.
    Png,
    /// JPEG, baseline or progressive.
    Jpeg,
    /// GIF 87a or 89a.
    Gif,
    /// WebP, lossy, lossless or extended.
    Webp,
}

impl ImageKind {
    /// The media type, such as `image/png`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// Recognises the signature at the start of `bytes`.
    pub(super) fn of_signature(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if bytes.starts_with(b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
            Some(Self::Gif)
        } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Some(Self::Webp)
        } else {
            None
        }
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::Webp => "WebP",
        })
    }
}

/// The format and size of a sound image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageInfo {
    /// The format, from the signature.
    pub kind: ImageKind,
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
}

/// Why bytes are not an image that could be sent to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageFault {
    /// The bytes start with none of the four signatures.
    #[error("the content is no PNG, JPEG, GIF or WebP image, whatever the file is called")]
    NotAnImage,
    /// The file ends before the image does.
    #[error("the {kind} image is cut off: the file ends before {missing}")]
    Truncated {
        /// The format by signature.
        kind: ImageKind,
        /// What should have come.
        missing: &'static str,
    },
    /// A side has no pixels.
    #[error("the {kind} image has no pixels: it is {width} x {height}")]
    NoPixels {
        /// The format by signature.
        kind: ImageKind,
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The structure contradicts the format.
    #[error("the {kind} image is broken: {what}")]
    Broken {
        /// The format by signature.
        kind: ImageKind,
        /// What is wrong.
        what: &'static str,
    },
}

/// Checks the structure of a whole image file and reads its size.
///
/// The walk goes from the signature to the end mark without decoding pixels: it catches files that
/// are cut, empty, or something else in disguise, not damage inside the compressed data. Bytes
/// after the end mark are allowed.
///
/// # Errors
///
/// Returns the first [`ImageFault`]; its text is fit for a model.
///
/// ```
/// use haft_text::{ImageFault, image_info};
///
/// let fault = image_info(b"<svg xmlns='http://www.w3.org/2000/svg'/>").unwrap_err();
/// assert_eq!(fault, ImageFault::NotAnImage);
/// ```
pub fn image_info(bytes: &[u8]) -> Result<ImageInfo, ImageFault> {
    let kind = ImageKind::of_signature(bytes).ok_or(ImageFault::NotAnImage)?;
    let (width, height) = match kind {
        ImageKind::Png => structure::png(bytes)?,
        ImageKind::Jpeg => structure::jpeg(bytes)?,
        ImageKind::Gif => structure::gif(bytes)?,
        ImageKind::Webp => structure::webp(bytes)?,
    };
    if width == 0 || height == 0 {
        return Err(ImageFault::NoPixels { kind, width, height });
    }
    Ok(ImageInfo { kind, width, height })
}
