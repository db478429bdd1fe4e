//! Gzip files for the API document and public pages, served as stored to clients that accept gzip.

use http::{HeaderMap, header};

use crate::limits;

/// The header of a gzip file without a name and a time (RFC 1952, section 2.3).
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff];
/// The checksum and the length after the compressed bytes.
const GZIP_TRAILER_BYTES: usize = 8;
/// The highest level, since files are compressed once.
const COMPRESSION: u8 = 10;

/// Compresses a text into a gzip file, for `make generate`.
#[must_use]
pub fn compressed(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let deflated = miniz_oxide::deflate::compress_to_vec(bytes, COMPRESSION);
    [&GZIP_HEADER, deflated.as_slice(), &crc32fast::hash(bytes).to_le_bytes(), &length.to_le_bytes()].concat()
}

/// Decompresses such a file. None if it is damaged.
pub(super) fn decompressed(file: &[u8]) -> Option<Vec<u8>> {
    let deflated = file.strip_prefix(&GZIP_HEADER)?.split_last_chunk::<GZIP_TRAILER_BYTES>()?.0;
    miniz_oxide::inflate::decompress_to_vec_with_limit(deflated, limits::RESPONSE_BYTES_MAX).ok()
}

/// Whether `Accept-Encoding` asks for gzip (RFC 9110, section 12.5.3).
pub(super) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let is_gzip = |coding: &str| {
        let mut parts = coding.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        is_named && weight.is_none_or(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0))
    };
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(is_gzip)
}
