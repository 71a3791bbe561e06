//! Walks over the containers of image formats, from signature to end mark.

use super::{ImageFault, ImageKind};

type Size = (u32, u32);

/// A place in the bytes of an image. Every step forward is checked.
struct Walk<'a> {
    kind: ImageKind,
    rest: &'a [u8],
}

impl<'a> Walk<'a> {
    fn new(kind: ImageKind, bytes: &'a [u8]) -> Self {
        Self { kind, rest: bytes }
    }

    fn take(&mut self, count: usize, missing: &'static str) -> Result<&'a [u8], ImageFault> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(self.truncated(missing))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, missing: &'static str) -> Result<[u8; N], ImageFault> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(self.truncated(missing))?;
        self.rest = rest;
        Ok(*taken)
    }

    fn byte(&mut self, missing: &'static str) -> Result<u8, ImageFault> {
        self.array::<1>(missing).map(|[byte]| byte)
    }

    fn truncated(&self, missing: &'static str) -> ImageFault {
        ImageFault::Truncated { kind: self.kind, missing }
    }

    fn broken(&self, what: &'static str) -> ImageFault {
        ImageFault::Broken { kind: self.kind, what }
    }
}

/// Chunks of length, type, data and check sum: IHDR first, IDAT somewhere, IEND last.
pub(super) fn png(bytes: &[u8]) -> Result<Size, ImageFault> {
    let mut walk = Walk::new(ImageKind::Png, bytes);
    walk.take(8, "its signature")?;
    let header = "its header chunk (IHDR)";
    if walk.array(header)? != 13_u32.to_be_bytes() || walk.array(header)? != *b"IHDR" {
        return Err(walk.broken("the first chunk is not a header (IHDR)"));
    }
    let width = u32::from_be_bytes(walk.array(header)?);
    let height = u32::from_be_bytes(walk.array(header)?);
    let [depth, colour, _, _, interlace] = walk.array(header)?;
    let known = match colour {
        0 => matches!(depth, 1 | 2 | 4 | 8 | 16),
        3 => matches!(depth, 1 | 2 | 4 | 8),
        2 | 4 | 6 => matches!(depth, 8 | 16),
        _ => false,
    };
    if !known || interlace > 1 || width > i32::MAX as u32 || height > i32::MAX as u32 {
        return Err(walk.broken("its header (IHDR) holds impossible values"));
    }
    walk.take(4, header)?;
    let mut pixels = false;
    loop {
        let length = u32::from_be_bytes(walk.array("its end chunk (IEND)")?);
        let name: [u8; 4] = walk.array("its end chunk (IEND)")?;
        if !name.iter().all(u8::is_ascii_alphabetic) {
            return Err(walk.broken("a chunk has an impossible name"));
        }
        let payload = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(4);
        walk.take(payload, "the end of a chunk")?;
        pixels |= name == *b"IDAT";
        if name == *b"IEND" {
            return if pixels {
                Ok((width, height))
            } else {
                Err(walk.broken("it has no pixel data (IDAT)"))
            };
        }
    }
}

/// Segments of marker and length; after the first scan, compressed data up to the end mark.
pub(super) fn jpeg(bytes: &[u8]) -> Result<Size, ImageFault> {
    const END: &str = "its end mark (EOI)";
    let mut walk = Walk::new(ImageKind::Jpeg, bytes);
    walk.take(2, "its signature")?;
    let mut size = None;
    let mut scanned = false;
    loop {
        if scanned {
            // Compressed data: skip to the next byte that can start a marker.
            let data = memchr::memchr(0xff, walk.rest).unwrap_or(walk.rest.len());
            walk.take(data, END)?;
        }
        if walk.byte(END)? != 0xff {
            return Err(walk.broken("a segment does not start with a marker"));
        }
        let mut marker = walk.byte(END)?;
        while marker == 0xff {
            marker = walk.byte(END)?;
        }
        match marker {
            // A stuffed 0xff or a restart mark inside compressed data.
            0x00 | 0xd0..=0xd7 if scanned => continue,
            0xd9 => {
                return match size {
                    Some(size) if scanned => Ok(size),
                    Some(_) => Err(walk.broken("it has no pixel data (SOS)")),
                    None => Err(walk.broken("it has no frame header (SOF)")),
                };
            }
            0x00..=0xbf | 0xd0..=0xd8 => return Err(walk.broken("it holds an impossible marker")),
            _ => {}
        }
        let length = usize::from(u16::from_be_bytes(walk.array("the end of a segment")?));
        let Some(length) = length.checked_sub(2) else {
            return Err(walk.broken("a segment is shorter than its own length field"));
        };
        let segment = walk.take(length, "the end of a segment")?;
        match marker {
            // Start of frame; the three gaps are DHT, JPG and DAC.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let Some(&[_, h1, h0, w1, w0, components]) = segment.first_chunk() else {
                    return Err(walk.broken("its frame header (SOF) is too short"));
                };
                if components == 0 {
                    return Err(walk.broken("its frame header (SOF) lists no components"));
                }
                let side = |high, low| u32::from(u16::from_be_bytes([high, low]));
                size = size.or(Some((side(w1, w0), side(h1, h0))));
            }
            0xda if size.is_none() => {
                return Err(walk.broken("pixel data (SOS) comes before the frame header (SOF)"));
            }
            0xda => scanned = true,
            _ => {}
        }
    }
}

/// A logical screen, then blocks up to the trailer, one of them an image.
pub(super) fn gif(bytes: &[u8]) -> Result<Size, ImageFault> {
    let mut walk = Walk::new(ImageKind::Gif, bytes);
    walk.take(6, "its signature")?;
    let [w0, w1, h0, h1, flags, _, _] = walk.array("its logical screen")?;
    colour_table(&mut walk, flags)?;
    let mut pixels = false;
    loop {
        match walk.byte("its trailer")? {
            0x21 => {
                walk.byte("the end of an extension")?;
                sub_blocks(&mut walk)?;
            }
            0x2c => {
                let [_, _, _, _, _, _, _, _, flags] = walk.array("the end of a frame")?;
                colour_table(&mut walk, flags)?;
                walk.byte("the end of a frame")?;
                sub_blocks(&mut walk)?;
                pixels = true;
            }
            0x3b if pixels => {
                let side = |low, high| u32::from(u16::from_le_bytes([low, high]));
                return Ok((side(w0, w1), side(h0, h1)));
            }
            0x3b => return Err(walk.broken("it has no frame")),
            _ => return Err(walk.broken("it holds an unknown block")),
        }
    }
}

fn colour_table(walk: &mut Walk<'_>, flags: u8) -> Result<(), ImageFault> {
    if flags & 0x80 != 0 {
        walk.take(3 << ((flags & 7) + 1), "the end of a colour table")?;
    }
    Ok(())
}

fn sub_blocks(walk: &mut Walk<'_>) -> Result<(), ImageFault> {
    loop {
        match walk.byte("the end of a block")? {
            0 => return Ok(()),
            length => walk.take(usize::from(length), "the end of a block")?,
        };
    }
}

/// A RIFF container that holds lossy, lossless or extended pixels.
pub(super) fn webp(bytes: &[u8]) -> Result<Size, ImageFault> {
    let mut walk = Walk::new(ImageKind::Webp, bytes);
    walk.take(4, "its signature")?;
    let declared = u32::from_le_bytes(walk.array("its signature")?);
    let declared = usize::try_from(declared).unwrap_or(usize::MAX);
    let body = walk.take(declared, "the end that its header (RIFF) announces")?;
    let mut walk = Walk::new(ImageKind::Webp, body);
    walk.take(4, "its signature")?;
    let mut canvas = None;
    loop {
        let name: [u8; 4] = walk.array("its pixel data (VP8)")?;
        let length = u32::from_le_bytes(walk.array("its pixel data (VP8)")?);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let chunk = walk.take(length, "the end of a chunk")?;
        // Chunks have an even length; some writers forget the last pad byte.
        walk.rest = walk.rest.get(length % 2..).unwrap_or_default();
        let size = match &name {
            b"VP8X" => {
                canvas = Some(extended(chunk).ok_or(walk.broken("its canvas (VP8X) is broken"))?);
                continue;
            }
            b"ANMF" => canvas.ok_or(walk.broken("an animation frame comes before its canvas"))?,
            b"VP8 " => lossy(chunk).ok_or(walk.broken("its lossy frame (VP8) is broken"))?,
            b"VP8L" => lossless(chunk).ok_or(walk.broken("its lossless frame (VP8L) is broken"))?,
            _ => continue,
        };
        return Ok(canvas.unwrap_or(size));
    }
}

fn extended(chunk: &[u8]) -> Option<Size> {
    let &[w0, w1, w2, h0, h1, h2] = chunk.get(4..)?.first_chunk()?;
    let side = |bytes| u32::from_le_bytes(bytes) + 1;
    Some((side([w0, w1, w2, 0]), side([h0, h1, h2, 0])))
}

fn lossy(chunk: &[u8]) -> Option<Size> {
    let &[_, _, _, 0x9d, 0x01, 0x2a, w0, w1, h0, h1] = chunk.first_chunk()? else { return None };
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    Some((side(w0, w1), side(h0, h1)))
}

fn lossless(chunk: &[u8]) -> Option<Size> {
    let &[0x2f, b0, b1, b2, b3] = chunk.first_chunk()? else { return None };
    let bits = u32::from_le_bytes([b0, b1, b2, b3]);
    Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
}
