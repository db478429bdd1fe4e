//! Gzip for clients that accept it: of the API document, public pages and their files. Decision: never of what has a
//! secret. An observer who can choose part of a page learns from its compressed length what else is in it (BREACH).

use std::io::{self, Read};

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use http::{HeaderMap, HeaderValue, header};

use crate::limits;

/// Compresses a text. A text in memory causes no error.
pub fn compressed(text: impl AsRef<[u8]>) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    GzEncoder::new(text.as_ref(), Compression::best()).read_to_end(&mut file)?;
    Ok(file)
}

pub(super) fn decompressed(file: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let bytes_max = u64::try_from(limits::RESPONSE_BYTES_MAX).ok()?;
    // One more byte than allowed reveals a text that is too long.
    GzDecoder::new(file).take(bytes_max + 1).read_to_end(&mut text).ok()?;
    (text.len() <= limits::RESPONSE_BYTES_MAX).then_some(text)
}

/// Says in a response's headers that its coding depends on the request, and whether it is gzip.
pub fn describe(headers: &mut HeaderMap, is_compressed: bool) {
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
}

/// Whether `Accept-Encoding` asks for gzip (RFC 9110, section 12.5.3).
#[must_use]
pub fn is_accepted(headers: &HeaderMap) -> bool {
    let is_gzip = |coding: &str| {
        let mut parts = coding.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        is_named && weight.is_none_or(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0))
    };
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(is_gzip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_again_and_a_damaged_file_is_none() {
        let file = compressed("a text ".repeat(99)).unwrap();
        assert_eq!(decompressed(&file), Some("a text ".repeat(99).into_bytes()));
        let trailer = file.len() - 8;
        for damaged_at in [0, 12, trailer, trailer + 4] {
            let mut damaged = file.clone();
            damaged[damaged_at] ^= 1;
            assert_eq!(decompressed(&damaged), None, "byte {damaged_at}");
        }
        assert_eq!(decompressed(&file[..trailer]), None);
    }

    #[test]
    fn a_text_is_as_long_as_a_response_may_be() {
        let longest = "a".repeat(limits::RESPONSE_BYTES_MAX);
        assert!(decompressed(&compressed(&longest).unwrap()).is_some_and(|text| text == longest.as_bytes()));
        assert_eq!(decompressed(&compressed(&(longest + "a")).unwrap()), None);
    }
}
