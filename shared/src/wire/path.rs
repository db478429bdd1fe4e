//! Normalizes request paths.

use http::Uri;
use http::uri::PathAndQuery;
use percent_encoding::percent_decode_str;

/// Decodes percent-encoded letters, digits and `-._~` of a path: the same path (RFC 3986, 6.2.2.2), but other bytes.
pub fn normalize(uri: &mut Uri) {
    if !uri.path().contains('%') {
        return;
    }
    let mut text = decoded(uri.path());
    if let Some(query) = uri.query() {
        text.push('?');
        text.push_str(query);
    }
    if let Ok(path) = text.parse() {
        set_path_and_query(uri, path);
    }
}

/// Replaces a URI's path and query.
pub fn set_path_and_query(uri: &mut Uri, path: PathAndQuery) {
    let mut parts = std::mem::take(uri).into_parts();
    parts.path_and_query = Some(path);
    // Only the path changed, so the URI stays valid.
    *uri = Uri::from_parts(parts).unwrap_or_default();
}

fn decoded(path: &str) -> String {
    let mut decoded = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let octet = rest.get(..3).unwrap_or(&rest[..1]);
        let byte = percent_decode_str(octet).next().filter(|byte| *byte != b'%' && is_unreserved(*byte));
        match byte {
            Some(byte) => decoded.push(char::from(byte)),
            None => decoded.push_str(octet),
        }
        rest = &rest[octet.len()..];
    }
    decoded + rest
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_no_encoding_is_decoded() {
        for (sent, expected) in [
            ("/api/v1/cont%61cts", "/api/v1/contacts"),
            ("/%61%70%69/v1/%6De?search=%61", "/api/v1/me?search=%61"),
            ("/a%2Fb/%2f/%2e%2E/%7E", "/a%2Fb/%2f/../~"),
            ("/%2561", "/%2561"),
            ("/%c3%a9/%20/%00/%zz/%6", "/%c3%a9/%20/%00/%zz/%6"),
            ("http://host.example:80/%61?b", "http://host.example:80/a?b"),
            ("/plain?%61", "/plain?%61"),
            ("*", "*"),
        ] {
            let mut uri: Uri = sent.parse().unwrap();
            normalize(&mut uri);
            assert_eq!(uri.to_string(), expected.parse::<Uri>().unwrap().to_string(), "{sent}");
        }
    }
}
