//! Base32 (RFC 4648) without padding, for codes that people type: without `0` and `1`, which look like letters.

use data_encoding::{BASE32_NOPAD, BASE32_NOPAD_NOCASE};

/// Encodes a multiple of five bytes, which fill their last digit.
pub(super) fn encode<const N: usize>(bytes: &[u8; N]) -> String {
    const { assert!(N.is_multiple_of(5), "the last digit would be part of a byte") }
    BASE32_NOPAD.encode(bytes)
}

/// Reads `N` bytes in any case, ignoring blanks and hyphens.
pub(super) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !b" -\t".contains(byte)).collect();
    BASE32_NOPAD_NOCASE.decode(&digits).ok()?.try_into().ok()
}

pub(super) fn grouped(text: &str, separator: char) -> String {
    let mut grouped = String::with_capacity(text.len() * 5 / 4);
    for (position, character) in text.chars().enumerate() {
        if position > 0 && position % 4 == 0 {
            grouped.push(separator);
        }
        grouped.push(character);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648() {
        assert_eq!(encode(b"fooba"), "MZXW6YTB");
        assert_eq!(encode(b"12345678901234567890"), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(decode(" mzxw-6Y tb"), Some(*b"fooba"));
        for text in ["", "MZXW6YT", "MZXW6YTBA", "MZXW6YTBMZXW6YTB", "MZXW6YT1", "MZXW6YTé", "MZXW6YT="] {
            assert_eq!(decode::<5>(text), None, "{text}");
        }
        assert_eq!(grouped("MZXW6YTBA", '-'), "MZXW-6YTB-A");
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_again(bytes: [u8; 20]) {
            prop_assert_eq!(decode(&grouped(&encode(&bytes), ' ').to_lowercase()), Some(bytes));
        }
    }
}
