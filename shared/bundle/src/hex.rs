pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Decodes a text. None if its length is wrong, or it has anything but digits and lower-case letters.
pub(crate) fn decode<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
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
