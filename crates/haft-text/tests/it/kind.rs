use haft_text::{Encoding, ImageFault, ImageKind, Kind, image_info};
use proptest::prelude::*;

fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
    [&(data.len() as u32).to_be_bytes(), &name, data, &[0; 4]].concat()
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes(), &height.to_be_bytes(), [8, 6, 0, 0, 0].as_slice()].concat();
    let chunks = [chunk(*b"IHDR", &header), chunk(*b"IDAT", b"pixels"), chunk(*b"IEND", b"")];
    [b"\x89PNG\r\n\x1a\n".as_slice(), &chunks.concat()].concat()
}

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let ([h1, h0], [w1, w0]) = (height.to_be_bytes(), width.to_be_bytes());
    [
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".as_slice(),
        // A thumbnail with its own frame and end mark, hidden in a segment.
        b"\xff\xe1\0\x10\xff\xd8\xff\xc0\0\x05\x08\0\x01\0\x01\xff\xd9\0",
        &[0xff, 0xc2, 0, 11, 8, h1, h0, w1, w0, 1, 1, 0x11, 0],
        b"\xff\xda\0\x08\x01\x01\0\0\x3f\0data\xff\0more\xff\xd0data\xff\xc4\0\x03x",
        b"\xff\xda\0\x08\x01\x01\0\0\x3f\0second scan\xff\xd9",
    ]
    .concat()
}

fn gif(width: u16, height: u16) -> Vec<u8> {
    let ([w0, w1], [h0, h1]) = (width.to_le_bytes(), height.to_le_bytes());
    [
        b"GIF89a".as_slice(),
        &[w0, w1, h0, h1, 0x80, 0, 0],
        &[0; 6],
        b"\x21\xf9\x04\0\0\0\0\0",
        b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b",
    ]
    .concat()
}

fn riff(chunks: &[u8]) -> Vec<u8> {
    let size = (chunks.len() as u32 + 4).to_le_bytes();
    [b"RIFF".as_slice(), &size, b"WEBP", chunks].concat()
}

fn webp_lossy(width: u16, height: u16) -> Vec<u8> {
    let ([w0, w1], [h0, h1]) = (width.to_le_bytes(), height.to_le_bytes());
    let frame = [0, 0, 0, 0x9d, 0x01, 0x2a, w0, w1, h0, h1];
    riff(&[b"VP8 \x0a\0\0\0".as_slice(), &frame].concat())
}

fn webp_lossless(width: u32, height: u32) -> Vec<u8> {
    let bits = ((width - 1) | (height - 1) << 14).to_le_bytes();
    riff(&[b"VP8L\x05\0\0\0\x2f".as_slice(), &bits, b"\0"].concat())
}

fn webp_extended() -> Vec<u8> {
    let canvas = b"VP8X\x0a\0\0\0\x10\0\0\0\x1f\x03\0\x57\x02\0";
    riff(
        &[
            canvas.as_slice(),
            b"ALPH\x01\0\0\0x\0",
            b"VP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x20\x03\x58\x02",
        ]
        .concat(),
    )
}

#[test]
fn sound_images_tell_their_size() {
    let cases = [
        (png(640, 480), ImageKind::Png, 640, 480),
        (jpeg(300, 200), ImageKind::Jpeg, 300, 200),
        (gif(16, 9), ImageKind::Gif, 16, 9),
        (webp_lossy(550, 368), ImageKind::Webp, 550, 368),
        (webp_lossless(400, 301), ImageKind::Webp, 400, 301),
        (webp_extended(), ImageKind::Webp, 800, 600),
    ];
    for (bytes, kind, width, height) in cases {
        assert_eq!(Kind::sniff(&bytes, true), Kind::Image(kind));
        let info = image_info(&bytes).unwrap();
        assert_eq!((info.kind, info.width, info.height), (kind, width, height));
        let trailed = [bytes.as_slice(), b"trailing"].concat();
        assert_eq!(image_info(&trailed), Ok(info));
    }
}

#[test]
fn every_truncation_of_an_image_is_a_fault() {
    let images = [
        png(640, 480),
        jpeg(300, 200),
        gif(16, 9),
        webp_lossy(550, 368),
        webp_lossless(400, 301),
        webp_extended(),
    ];
    for bytes in images {
        for end in 0..bytes.len() {
            assert!(image_info(&bytes[..end]).is_err(), "{end} of {}", bytes.len());
        }
    }
}

#[test]
fn faults_say_what_is_wrong() {
    let mut no_pixels = png(1, 1);
    no_pixels.drain(33..33 + 18);
    let cases = [
        b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
        vec![],
        b"\x89PNG\r\n\x1a\n".to_vec(),
        png(640, 480)[..40].to_vec(),
        png(0, 480),
        no_pixels,
        [b"\x89PNG\r\n\x1a\n".as_slice(), b"\0\0\0\x0dJUNKJUNKJUNKJUNK"].concat(),
        jpeg(300, 200)[..jpeg(300, 200).len() - 2].to_vec(),
        b"\xff\xd8\xff\xd9".to_vec(),
        jpeg(300, 0),
        gif(0, 0),
        gif(16, 9)[..gif(16, 9).len() - 1].to_vec(),
        b"GIF89a\x01\0\x01\0\0\0\0\x3b".to_vec(),
        webp_lossy(550, 368)[..20].to_vec(),
        riff(b"VP8 \x04\0\0\0junk"),
    ];
    let faults = cases.map(|bytes| image_info(&bytes).unwrap_err().to_string());
    insta::assert_snapshot!(faults.join("\n"), @r"
    the content is no PNG, JPEG, GIF or WebP image, whatever the file is called
    the content is no PNG, JPEG, GIF or WebP image, whatever the file is called
    the PNG image is cut off: the file ends before its header chunk (IHDR)
    the PNG image is cut off: the file ends before its end chunk (IEND)
    the PNG image has no pixels: it is 0 x 480
    the PNG image is broken: it has no pixel data (IDAT)
    the PNG image is broken: the first chunk is not a header (IHDR)
    the JPEG image is cut off: the file ends before its end mark (EOI)
    the JPEG image is broken: it has no frame header (SOF)
    the JPEG image has no pixels: it is 300 x 0
    the GIF image has no pixels: it is 0 x 0
    the GIF image is cut off: the file ends before its trailer
    the GIF image is broken: it has no frame
    the WebP image is cut off: the file ends before the end that its header (RIFF) announces
    the WebP image is broken: its lossy frame (VP8) is broken
    ");
}

#[test]
fn the_name_of_a_file_does_not_matter() {
    // fake.png, photo.png, empty.png, cut.png
    assert_eq!(Kind::sniff(b"<svg width='1'/>", true), Kind::Text(Encoding::UTF_8));
    assert_eq!(Kind::sniff(&jpeg(3, 2), true), Kind::Image(ImageKind::Jpeg));
    assert_eq!(image_info(&jpeg(3, 2)).unwrap().kind.media_type(), "image/jpeg");
    assert_eq!(Kind::sniff(b"", true), Kind::Empty);
    let cut = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
    assert_eq!(Kind::sniff(cut, true), Kind::Image(ImageKind::Png));
    assert!(matches!(image_info(cut), Err(ImageFault::Truncated { .. })));
}

#[test]
fn text_that_begins_like_a_format_is_text() {
    for text in ["BM25 ranking", "MZ is a signature", "GIF89a\nGIF87a", "ID3 tags", "RIFF", "PK"] {
        assert_eq!(Kind::sniff(text.as_bytes(), true), Kind::Text(Encoding::UTF_8), "{text}");
    }
    assert_eq!(Kind::sniff(b"%PDF-1.4\n%%EOF\n", true), Kind::Binary("PDF document"));
}

#[test]
fn text_in_any_encoding_is_text() {
    let utf16: Vec<u8> = "hello\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, name) in [
        (utf16.as_slice(), "utf-16le"),
        (b"caf\xe9 au lait", "windows-1252"),
        (b"\x1b[31mred\x1b[0m \x08\x07", "utf-8"),
        (b"page\x0cbreak \x01\x02", "utf-8"),
        (b"\xff\xfeh\0", "utf-16le"),
    ] {
        let Kind::Text(encoding) = Kind::sniff(bytes, true) else { panic!("{bytes:?}") };
        assert_eq!(encoding.name(), name);
    }
}

#[test]
fn a_nul_early_on_makes_data_binary() {
    let mut bytes = vec![b'a'; 10_000];
    bytes[8191] = 0;
    assert_eq!(Kind::sniff(&bytes, true), Kind::Binary("binary data"));
    bytes.swap(8191, 8192);
    assert_eq!(Kind::sniff(&bytes, true), Kind::Text(Encoding::UTF_8));
    assert_eq!(Kind::sniff(b"\xef\xbb\xbfa\0b", true), Kind::Binary("binary data"));
}

#[test]
fn noise_without_nul_is_binary() {
    let noise: Vec<u8> =
        (0..2000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
    assert_eq!(Kind::sniff(&noise, true), Kind::Binary("binary data"));
}

#[test]
fn known_formats_have_a_name() {
    let entry = |name: &str, content: &str| {
        let mut entry = b"PK\x03\x04".to_vec();
        entry.resize(26, 0);
        entry.extend((name.len() as u16).to_le_bytes());
        entry.extend([0, 0]);
        entry.extend(name.as_bytes());
        entry.extend(content.as_bytes());
        entry
    };
    let at = |offset: usize, lead: &[u8], mark: &[u8]| {
        let mut bytes = lead.to_vec();
        bytes.resize(offset, 0);
        bytes.extend(mark);
        bytes
    };
    let types = entry("[Content_Types].xml", "");
    let cases: Vec<Vec<u8>> = vec![
        b"\x7fELF\x02\x01\x01\0".to_vec(),
        b"\x1f\x8b\x08\0\0\0".to_vec(),
        b"\x28\xb5\x2f\xfd\0\0".to_vec(),
        b"\xfd7zXZ\0\0".to_vec(),
        b"BZh91AY&SY\0".to_vec(),
        b"SQLite format 3\0".to_vec(),
        b"\0asm\x01\0\0\0".to_vec(),
        b"\xca\xfe\xba\xbe\0\0\0\x34".to_vec(),
        b"\xca\xfe\xba\xbe\0\0\0\x02".to_vec(),
        b"\xcf\xfa\xed\xfe\x07\0".to_vec(),
        at(0x40, &at(0x3c, b"MZ\0", b"\x40\0\0\0"), b"PE\0\0"),
        at(0x40, b"MZ\0", b""),
        at(257, b"name.txt\0", b"ustar\x0000"),
        [types.as_slice(), &entry("word/document.xml", "")].concat(),
        [types.as_slice(), &entry("xl/workbook.xml", "")].concat(),
        [types.as_slice(), &entry("ppt/presentation.xml", "")].concat(),
        entry("META-INF/MANIFEST.MF", ""),
        entry("mimetype", "application/epub+zip"),
        entry("mimetype", "application/vnd.oasis.opendocument.text"),
        types.clone(),
        entry("notes.txt", ""),
        b"ID3\x04\0\0".to_vec(),
        b"\xff\xfb\x90\x64\0\0".to_vec(),
        b"\0\0\0\x20ftypisom\0".to_vec(),
        b"\0\0\0\x18ftypheic\0".to_vec(),
        b"\0\0\0\x18ftypavif\0".to_vec(),
        b"OggS\0\x02".to_vec(),
        b"fLaC\0\0\0\x22".to_vec(),
        b"RIFF\x24\0\0\0WAVEfmt ".to_vec(),
        b"\0\x01\0\0\0\x0f\0\x80".to_vec(),
        b"wOF2\0\x01\0\0".to_vec(),
        b"\0\0\x01\0\x01\0\x10\x10".to_vec(),
        b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec(),
        b"II*\0\x08\0\0\0".to_vec(),
        b"\xcb\x0d\x0d\x0a\0\0\0\0".to_vec(),
        b"\xff\xfe\0\0h\0\0\0".to_vec(),
        b"\0\x01\x02\x03".to_vec(),
    ];
    let names: Vec<&str> = cases
        .iter()
        .map(|bytes| match Kind::sniff(bytes, true) {
            Kind::Binary(description) => description,
            other => panic!("{other:?}"),
        })
        .collect();
    insta::assert_snapshot!(names.join("\n"), @r"
    ELF executable
    gzip data
    zstd data
    xz data
    bzip2 data
    SQLite database
    WebAssembly module
    Java class
    Mach-O universal executable
    Mach-O executable
    Windows executable (PE)
    DOS or Windows executable
    tar archive
    Word document (docx, zip-based)
    Excel workbook (xlsx, zip-based)
    PowerPoint presentation (pptx, zip-based)
    Java archive (jar, zip-based)
    EPUB book (zip-based)
    OpenDocument file (zip-based)
    Office Open XML document (zip-based)
    zip archive
    MP3 audio
    MP3 audio
    MP4 media
    HEIC image
    AVIF image
    Ogg media
    FLAC audio
    WAV audio
    TrueType font
    WOFF2 font
    ICO image
    BMP image
    TIFF image
    Python bytecode
    UTF-32 text
    binary data
    ");
}

proptest! {
    #[test]
    fn any_bytes_have_a_kind(bytes in prop::collection::vec(any::<u8>(), 0..200), whole in any::<bool>()) {
        let kind = Kind::sniff(&bytes, whole);
        prop_assert_eq!(kind == Kind::Empty, bytes.is_empty());
        let _ = image_info(&bytes);
    }

    #[test]
    fn a_damaged_image_never_panics(
        which in 0..6_usize, at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let images = [png(6, 4), jpeg(3, 2), gif(1, 9), webp_lossy(5, 8), webp_lossless(4, 3), webp_extended()];
        let mut bytes = images[which].clone();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(info) = image_info(&bytes) {
            prop_assert!(info.width > 0 && info.height > 0);
        }
    }
}
