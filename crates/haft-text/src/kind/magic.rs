//! Signatures of formats that are not text.

use memchr::memmem;

/// Names the format of data that is already known not to be clean text.
pub(super) fn describe(bytes: &[u8]) -> Option<&'static str> {
    if let Some((_, description)) = SIGNATURES.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(description);
    }
    let rules = [zip, riff, iso_media, cafebabe, dos, tar, pyc, bitmap, icon, true_type, mp3];
    rules.into_iter().find_map(|rule| rule(bytes))
}

/// Formats that their first bytes alone give away.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x7fELF", "ELF executable"),
    (b"%PDF-", "PDF document"),
    (b"\x1f\x8b\x08", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"BZh", "bzip2 data"),
    (b"\x04\x22\x4d\x18", "lz4 data"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"!<arch>\n", "ar archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
    (b"\xfe\xed\xfa\xce", "Mach-O executable"),
    (b"\xfe\xed\xfa\xcf", "Mach-O executable"),
    (b"\xce\xfa\xed\xfe", "Mach-O executable"),
    (b"\xcf\xfa\xed\xfe", "Mach-O executable"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"dex\n", "Dalvik executable"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "legacy Office document (OLE)"),
    (b"OggS", "Ogg media"),
    (b"fLaC", "FLAC audio"),
    (b"ID3", "MP3 audio"),
    (b"\x1a\x45\xdf\xa3", "Matroska or WebM media"),
    (b"OTTO", "OpenType font"),
    (b"ttcf", "TrueType font collection"),
    (b"wOFF", "WOFF font"),
    (b"wOF2", "WOFF2 font"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"8BPS", "Photoshop image"),
    (b"\x93NUMPY", "NumPy array"),
    (b"PAR1", "Parquet data"),
    (b"\x89HDF\r\n\x1a\n", "HDF5 data"),
    (b"PACK\0\0\0", "Git pack"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
];

fn zip(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"PK\x05\x06") || bytes.starts_with(b"PK\x07\x08") {
        return Some("zip archive");
    }
    if !bytes.starts_with(b"PK\x03\x04") {
        return None;
    }
    let mut open_xml = false;
    for start in memmem::find_iter(bytes, b"PK\x03\x04") {
        let Some(entry) = bytes.get(start..) else { break };
        let Some(name_len) = u16_le(entry, 26) else { break };
        let Some(rest) = entry.get(30..) else { break };
        let name = rest.get(..usize::from(name_len)).unwrap_or(rest);
        let content = rest.get(usize::from(name_len)..).unwrap_or_default();
        if name.starts_with(b"word/") {
            return Some("Word document (docx, zip-based)");
        } else if name.starts_with(b"xl/") {
            return Some("Excel workbook (xlsx, zip-based)");
        } else if name.starts_with(b"ppt/") {
            return Some("PowerPoint presentation (pptx, zip-based)");
        } else if name.starts_with(b"META-INF/") {
            return Some("Java archive (jar, zip-based)");
        } else if name == b"mimetype" && content.starts_with(b"application/epub+zip") {
            return Some("EPUB book (zip-based)");
        } else if name == b"mimetype" && content.starts_with(b"application/vnd.oasis") {
            return Some("OpenDocument file (zip-based)");
        }
        open_xml |= name == b"[Content_Types].xml";
    }
    Some(if open_xml { "Office Open XML document (zip-based)" } else { "zip archive" })
}

fn riff(bytes: &[u8]) -> Option<&'static str> {
    if !bytes.starts_with(b"RIFF") {
        return None;
    }
    Some(match bytes.get(8..12) {
        Some(b"WAVE") => "WAV audio",
        Some(b"AVI ") => "AVI video",
        _ => "RIFF data",
    })
}

fn iso_media(bytes: &[u8]) -> Option<&'static str> {
    if bytes.get(4..8) != Some(b"ftyp") {
        return None;
    }
    Some(match bytes.get(8..12) {
        Some(b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"mif1" | b"msf1") => "HEIC image",
        Some(b"avif" | b"avis") => "AVIF image",
        Some(b"qt  ") => "QuickTime video",
        Some(b"M4A " | b"M4B ") => "MPEG-4 audio",
        _ => "MP4 media",
    })
}

/// Java and Apple chose the same four bytes; what follows is a class file version (45 and up) or
/// the number of architectures (a handful).
fn cafebabe(bytes: &[u8]) -> Option<&'static str> {
    if !bytes.starts_with(b"\xca\xfe\xba\xbe") {
        return None;
    }
    let next = bytes.get(4..8)?.try_into().map(u32::from_be_bytes).ok()?;
    Some(if next < 45 { "Mach-O universal executable" } else { "Java class" })
}

fn dos(bytes: &[u8]) -> Option<&'static str> {
    if !bytes.starts_with(b"MZ") {
        return None;
    }
    let header = bytes.get(0x3c..0x40)?.try_into().map(u32::from_le_bytes).ok()?;
    let header = bytes.get(usize::try_from(header).ok()?..);
    let portable = header.is_some_and(|header| header.starts_with(b"PE\0\0"));
    Some(if portable { "Windows executable (PE)" } else { "DOS or Windows executable" })
}

fn tar(bytes: &[u8]) -> Option<&'static str> {
    (bytes.get(257..262) == Some(b"ustar")).then_some("tar archive")
}

/// A version number of CPython 3 or 2.7, then `\r\n` to reveal transfers in text mode.
fn pyc(bytes: &[u8]) -> Option<&'static str> {
    let version = u16_le(bytes, 0)?;
    let known = (3000..4000).contains(&version) || version == 62_211;
    (known && bytes.get(2..4) == Some(b"\r\n")).then_some("Python bytecode")
}

fn bitmap(bytes: &[u8]) -> Option<&'static str> {
    let reserved = bytes.get(6..10) == Some(&[0; 4]);
    let header = matches!(u16_le(bytes, 14)?, 12 | 40 | 52 | 56 | 64 | 108 | 124);
    (bytes.starts_with(b"BM") && reserved && header).then_some("BMP image")
}

fn icon(bytes: &[u8]) -> Option<&'static str> {
    let count = u16_le(bytes, 4)?;
    if !(1..=256).contains(&count) {
        return None;
    }
    match bytes.get(..4) {
        Some(b"\0\0\x01\0") => Some("ICO image"),
        Some(b"\0\0\x02\0") => Some("CUR image"),
        _ => None,
    }
}

fn true_type(bytes: &[u8]) -> Option<&'static str> {
    let tables = bytes.get(4..6)?.try_into().map(u16::from_be_bytes).ok()?;
    let font = bytes.starts_with(b"\0\x01\0\0") && (1..=64).contains(&tables);
    font.then_some("TrueType font")
}

/// A frame header of MPEG audio layer III with a valid bit rate and sample rate.
fn mp3(bytes: &[u8]) -> Option<&'static str> {
    let &[sync, version_layer, rates, ..] = bytes else { return None };
    let layer3 = matches!(version_layer, 0xfa | 0xfb | 0xf2 | 0xf3 | 0xe2 | 0xe3);
    let rates = !matches!(rates >> 4, 0 | 15) && (rates >> 2) & 3 != 3;
    let noisy = memchr::memchr(0, bytes).is_some();
    (sync == 0xff && layer3 && rates && noisy).then_some("MP3 audio")
}

fn u16_le(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}
