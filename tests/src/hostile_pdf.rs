//! PDFs made to crash or exhaust their reader.

use miniz_oxide::deflate::CompressionLevel;
use miniz_oxide::deflate::core::CompressorOxide;
use miniz_oxide::deflate::stream::deflate;
use miniz_oxide::{DataFormat, MZFlush};

/// The first number of the object streams; each has its length in the next.
const FIRST_STREAM: usize = 100_000;

/// A chain of object streams, each with its length in the next: reading the first recurses `depth` deep.
///
/// `frame` places them in the file ([`plain`]) or within another stream ([`hidden`]).
#[must_use]
pub fn deep(depth: usize, frame: fn(&[u8]) -> (usize, Vec<u8>)) -> Vec<u8> {
    let (mut chain, mut offsets) = (Vec::new(), Vec::new());
    for n in 0..depth {
        offsets.push(chain.len());
        let length = if n + 1 < depth { format!("{} 0 R", n + 2) } else { "7".to_owned() };
        let number = FIRST_STREAM + n;
        chain.extend(
            format!("{number} 0 obj<</Type/ObjStm/N 1/First 4/Length {length}>>stream\n{} 0 7\n", n + 1).bytes(),
        );
        chain.extend(b"endstream endobj\n");
    }
    with_table(&chain, &offsets, frame)
}

/// An object stream with the catalog that unpacks to this many bytes and claims to be a picture.
#[must_use]
pub fn large(bytes: usize, frame: fn(&[u8]) -> (usize, Vec<u8>)) -> Vec<u8> {
    let head = block(b"1 0 <</Type/Catalog/Pages 1 0 R>>");
    let blanks = block(&vec![b' '; 1 << 20]);
    // The zlib header, and a last empty block.
    let packed = [&b"\x78\x9c"[..], &head, &blanks.repeat(bytes >> 20), b"\x01\0\0\xff\xff"].concat();
    let length = packed.len();
    let keys = format!("/Subtype/Image/N 1/First 4/Filter/FlateDecode/Length {length}");
    let head = format!("{FIRST_STREAM} 0 obj<<{keys}>>stream\n");
    with_table(&[head.as_bytes(), &packed, b"\nendstream endobj\n"].concat(), &[0], frame)
}

fn block(content: &[u8]) -> Vec<u8> {
    let level = CompressionLevel::DefaultLevel;
    let (mut compressor, mut block) =
        (CompressorOxide::with_format_and_level(DataFormat::Raw, level), vec![0; 1 << 16]);
    let written = deflate(&mut compressor, content, &mut block, MZFlush::Sync).bytes_written;
    block.truncate(written);
    block
}

/// Leaves the objects visible in the file.
#[must_use]
pub fn plain(objects: &[u8]) -> (usize, Vec<u8>) {
    (0, objects.to_vec())
}

/// Hides the objects within another stream, so that a scan for objects misses them.
#[must_use]
pub fn hidden(objects: &[u8]) -> (usize, Vec<u8>) {
    let head = format!("9 0 obj<</Length {}>>stream\n", objects.len());
    (head.len(), [head.as_bytes(), objects, b"\nendstream endobj\n"].concat())
}

fn with_table(streams: &[u8], offsets: &[usize], frame: fn(&[u8]) -> (usize, Vec<u8>)) -> Vec<u8> {
    let (before, framed) = frame(streams);
    let mut file = b"%PDF-1.5\n".to_vec();
    let start = file.len() + before;
    file.extend(framed);
    let number = |n: usize| u32::try_from(n).expect("a small number").to_be_bytes();
    let mut rows = Vec::new();
    for n in 0..offsets.len() {
        rows.push(2);
        rows.extend(number(FIRST_STREAM + n));
        rows.extend([0, 0]);
    }
    for offset in offsets {
        rows.push(1);
        rows.extend(number(start + offset));
        rows.extend([0, 0]);
    }
    let (at, count, table) = (file.len(), offsets.len(), FIRST_STREAM + offsets.len());
    let keys = format!("/Type/XRef/Size {}/W[1 4 2]/Index[1 {count} {FIRST_STREAM} {count}]/Root 1 0 R", table + 1);
    file.extend(format!("{table} 0 obj<<{keys}/Length {}>>stream\n", rows.len()).bytes());
    file.extend(rows);
    file.extend(format!("\nendstream endobj\nstartxref\n{at}\n%%EOF\n").bytes());
    file
}
