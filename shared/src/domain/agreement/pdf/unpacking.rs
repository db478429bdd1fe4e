//! Counts how much a PDF stream unpacks to, without keeping the output.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{TINFL_FLAG_IGNORE_ADLER32, TINFL_FLAG_PARSE_ZLIB_HEADER};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// How a stream is packed. Picture filters are excluded: readers of text and objects don't unpack them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Hex,
    Base85,
    Flate,
    Lzw,
    RunLength,
}

impl Packing {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"ASCIIHexDecode" | b"AHx" => Some(Self::Hex),
            b"ASCII85Decode" | b"A85" => Some(Self::Base85),
            b"FlateDecode" | b"Fl" => Some(Self::Flate),
            b"LZWDecode" | b"LZW" => Some(Self::Lzw),
            b"RunLengthDecode" | b"RL" => Some(Self::RunLength),
            _ => None,
        }
    }

    fn grows(self) -> bool {
        matches!(self, Self::Flate | Self::Lzw | Self::RunLength)
    }
}

/// The unpacked size, if at most `max`. None for packings that no program uses: three, or two of which the first grows.
pub(super) fn size(packed: &[u8], packings: &[Packing], max: usize) -> Option<usize> {
    let (last, first) = match packings {
        [] => return within(packed.len(), max),
        [only] => (*only, None),
        [first, last] if !first.grows() => (*last, Some(*first)),
        _ => return None,
    };
    match first {
        Some(first) => {
            let text = if first == Packing::Hex { from_hex(packed) } else { from_base85(packed) };
            size_of_one(&text, last, max)
        }
        None => size_of_one(packed, last, max),
    }
}

fn size_of_one(packed: &[u8], packing: Packing, max: usize) -> Option<usize> {
    match packing {
        Packing::Hex => within(packed.len() / 2, max),
        Packing::Base85 => within(from_base85(packed).len(), max),
        Packing::Flate => inflated(packed, max),
        Packing::Lzw => lzw(packed, max),
        Packing::RunLength => run_length(packed, max),
    }
}

fn within(size: usize, max: usize) -> Option<usize> {
    (size <= max).then_some(size)
}

/// With the zlib header, or without, as readers accept both.
fn inflated(packed: &[u8], max: usize) -> Option<usize> {
    let whole = inflated_with(packed, TINFL_FLAG_PARSE_ZLIB_HEADER | TINFL_FLAG_IGNORE_ADLER32, max)?;
    if whole > 0 { Some(whole) } else { inflated_with(packed, 0, max) }
}

fn inflated_with(mut packed: &[u8], flags: u32, max: usize) -> Option<usize> {
    const WINDOW: usize = 32 * 1024;
    let (mut window, mut state) = (vec![0; WINDOW], Box::<DecompressorOxide>::default());
    let (mut size, mut at) = (0, 0);
    loop {
        let (status, read, written) = decompress(&mut state, packed, &mut window, at, flags);
        packed = packed.get(read..).unwrap_or_default();
        size += written;
        at = (at + written) % WINDOW;
        if size > max {
            return None;
        }
        // Broken or truncated: readers stop here too.
        if status != TINFLStatus::HasMoreOutput {
            return Some(size);
        }
    }
}

fn run_length(packed: &[u8], max: usize) -> Option<usize> {
    let (mut size, mut at) = (0_usize, 0);
    while let Some(length) = packed.get(at).map(|byte| usize::from(*byte)) {
        let (unpacked, read) = match length {
            0..128 => (length + 1, length + 2),
            128 => break,
            _ => (257 - length, 2),
        };
        size += unpacked;
        at += read;
        if size > max {
            return None;
        }
    }
    Some(size)
}

/// Codes grow from 9 to 12 bits as the table fills; each entry is one byte longer than the one before.
fn lzw(packed: &[u8], max: usize) -> Option<usize> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    const FIRST: usize = 258;
    const LAST: usize = 4096;
    let mut lengths = vec![1_usize; FIRST];
    let (mut size, mut previous) = (0_usize, None::<usize>);
    let (mut bits, mut count) = (0_u32, 0_u32);
    let mut bytes = packed.iter();
    loop {
        let width = match lengths.len() {
            0..511 => 9,
            511..1023 => 10,
            1023..2047 => 11,
            _ => 12,
        };
        while count < width {
            let Some(byte) = bytes.next() else { return Some(size) };
            bits = (bits << 8 | u32::from(*byte)) & 0xff_ffff;
            count += 8;
        }
        count -= width;
        let code = usize::try_from(bits >> count & ((1 << width) - 1)).ok()?;
        if code == END {
            return Some(size);
        }
        if code == CLEAR {
            lengths.truncate(FIRST);
            previous = None;
            continue;
        }
        let length = match (lengths.get(code), previous) {
            (Some(length), _) => *length,
            (None, Some(previous)) if code == lengths.len() => previous + 1,
            (None, _) => return Some(size),
        };
        if let Some(previous) = previous
            && lengths.len() < LAST
        {
            lengths.push(previous + 1);
        }
        previous = Some(length);
        size += length;
        if size > max {
            return None;
        }
    }
}

fn from_hex(text: &[u8]) -> Vec<u8> {
    let digits = text.iter().take_while(|byte| **byte != b'>');
    let digits: Vec<u32> = digits.filter_map(|byte| char::from(*byte).to_digit(16)).collect();
    let byte = |pair: &[u32]| pair[0] * 16 + pair.get(1).copied().unwrap_or_default();
    digits.chunks(2).filter_map(|pair| u8::try_from(byte(pair)).ok()).collect()
}

fn from_base85(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut group = Vec::with_capacity(5);
    for byte in text.iter().take_while(|byte| **byte != b'~') {
        match byte {
            b'z' if group.is_empty() => bytes.extend([0; 4]),
            b'!'..=b'u' => group.push(byte - b'!'),
            _ => {}
        }
        if group.len() == 5 {
            bytes.extend(base85_group(&group));
            group.clear();
        }
    }
    // A truncated group yields one byte fewer than its characters.
    if let Some(kept) = group.len().checked_sub(1) {
        group.resize(5, 84);
        bytes.extend(&base85_group(&group)[..kept]);
    }
    bytes
}

fn base85_group(group: &[u8]) -> [u8; 4] {
    group.iter().fold(0_u32, |number, digit| number.wrapping_mul(85).wrapping_add(u32::from(*digit))).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_packing_unpacks_to_is_counted() {
        let flate = miniz_oxide::deflate::compress_to_vec_zlib(&vec![7; 100_000], 6);
        assert_eq!(size(&flate, &[Packing::Flate], 100_000), Some(100_000));
        assert_eq!(size(&flate, &[Packing::Flate], 99_999), None);
        let raw = miniz_oxide::deflate::compress_to_vec(&vec![7; 100_000], 6);
        assert_eq!(size(&raw, &[Packing::Flate], 99_999), None, "without a head");
        let hex = crate::crypto::hex(&flate);
        assert_eq!(size(format!("{hex}>").as_bytes(), &[Packing::Hex, Packing::Flate], 100_000), Some(100_000));
        assert_eq!(size(hex.as_bytes(), &[Packing::Hex, Packing::Flate], 99_999), None);
        assert_eq!(size(b"\x02abc\xff\x00\x81\x00\x80\x7f", &[Packing::RunLength], 1000), Some(3 + 2 + 128));
        assert_eq!(size(&[0x81, 0].repeat(1000), &[Packing::RunLength], 127_999), None);
        assert_eq!(size(b"abc", &[], 2), None);
        assert_eq!(size(b"", &[Packing::Flate, Packing::Flate], 1000), None, "no program packs twice");
    }

    #[test]
    fn base_85_is_read() {
        assert_eq!(from_base85(b"87cURD]i,\"Ebo80~>"), b"Hello World!");
        assert_eq!(from_base85(b"z87 cT~"), [&[0; 4][..], b"Hel"].concat());
        assert_eq!(size(b"z", &[Packing::Base85], 4), Some(4));
    }

    #[test]
    fn lzw_is_counted() {
        // The PDF specification's example: 45 45 45 45 45 65 45 45 45 66.
        let example = [0x80, 0x0B, 0x60, 0x50, 0x22, 0x0C, 0x0C, 0x85, 0x01];
        assert_eq!(size(&example, &[Packing::Lzw], 10), Some(10));
        assert_eq!(size(&example, &[Packing::Lzw], 9), None);
        let mut bits: Vec<bool> = Vec::new();
        let mut write = |code: usize, width: u32| bits.extend((0..width).rev().map(|bit| code >> bit & 1 == 1));
        write(0, 9);
        for code in 258..510 {
            write(code, 9);
        }
        bits.resize(bits.len().next_multiple_of(8), false);
        let bomb: Vec<u8> =
            bits.chunks(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect();
        assert_eq!(size(&bomb, &[Packing::Lzw], 1_000_000), Some((1..=253).sum()));
        assert_eq!(size(&bomb, &[Packing::Lzw], 10_000), None);
    }
}
