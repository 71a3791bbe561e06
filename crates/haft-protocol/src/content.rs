//! The parts a result is made of.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ArtifactId;

/// The image formats every vision model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageType {
    /// Portable Network Graphics.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// GIF.
    #[serde(rename = "image/gif")]
    Gif,
    /// WebP.
    #[serde(rename = "image/webp")]
    Webp,
}

impl ImageType {
    /// Returns the media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

/// One part of a result, in the order a reader should meet them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    /// Text.
    Text {
        /// The text, in the form its reader should see.
        text: String,
    },
    /// An image whose bytes were checked against its type.
    Image {
        /// The format, from the bytes.
        media_type: ImageType,
        /// The bytes, base64 in the serde form.
        #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
        data: Arc<[u8]>,
    },
    /// Stored bytes that can be fetched by their handle.
    Artifact {
        /// The handle.
        id: ArtifactId,
        /// What the bytes are, in a few words.
        title: String,
        /// The media type.
        media_type: String,
        /// How many bytes there are.
        bytes: u64,
    },
}

impl ContentPart {
    /// Makes a part of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Image { .. } | Self::Artifact { .. } => None,
        }
    }
}

fn to_base64<S: Serializer>(data: &Arc<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(data))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map(Arc::from).map_err(serde::de::Error::custom)
}
