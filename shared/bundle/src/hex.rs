//! Hashes, keys and signatures in hexadecimal digits, which have one spelling.

use data_encoding::HEXLOWER;

pub(crate) fn encode(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Decodes a text. None if its length is wrong, or it has anything but digits and lower-case letters.
pub(crate) fn decode<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != N * 2 {
        return None;
    }
    HEXLOWER.decode_mut(text, &mut bytes).ok().map(|_| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_one_spelling() {
        assert_eq!(encode(&[0, 0x1f, 0xa9]), "001fa9");
        assert_eq!(decode(b"001fa9"), Some([0, 0x1f, 0xa9]));
        for text in ["001FA9", "001fa", "001fa90", "001fa9\n", "+01fa9", "0x1fa9", ""] {
            assert_eq!(decode::<3>(text.as_bytes()), None, "{text}");
        }
    }
}
