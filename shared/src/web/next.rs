//! The page to return to after signing in.

use crate::limits;

/// The path and query, if safe to redirect to after signing in: a page of the app on this host, not signing in or out.
#[must_use]
pub fn safe_next(address: &str) -> Option<&str> {
    let rest = address.strip_prefix("/app")?;
    let (path, _) = rest.split_once('?').unwrap_or((rest, ""));
    let is_in_app = path.is_empty() || path.starts_with('/');
    // Browsers read a backslash as a slash, and `.` and `..`, also percent-encoded, as steps in the path.
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#';
    let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    let fits = is_in_app
        && !path.starts_with("/sign-")
        && address.len() <= limits::NEXT_PATH_CHARS_MAX
        && address.bytes().all(is_plain)
        && !path.contains("//")
        && !path.split('/').any(is_dots);
    fits.then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_app_are_safe() {
        for path in [
            "/app",
            "/app?x",
            "/app/proposals/01980a57-3c11-7a94-b0c8-5e6f7d8091a2",
            "/app/workspaces?offset=50&a=b",
            "/app/workspaces?search=50%25+of+A.%20%26%20B%3F&x=//y/../z",
            "/app/v1.2/a..b",
            &format!("/app?search={}", "%F0%9F%A6%80".repeat(200)),
        ] {
            assert_eq!(safe_next(path), Some(path));
        }
        for path in [
            "",
            "/",
            "app",
            "/application",
            "//evil.example",
            "/app//evil.example",
            "https://evil.example/app",
            "/app/../x",
            "/app/%2e%2e/x",
            "/app/.%2E/x",
            "/app/..",
            "/app/..?x",
            "/app/./sign-in",
            "/app/x y",
            "/app/ü",
            "/app/x?y=\\z",
            "/app%2F..",
            "/app/sign-in?next=/app",
            "/app\\evil",
            "/app/\r\nx",
            "/app/sign-in",
            "/app/sign-out",
            "/app#x",
            "/\\evil.example/app",
            "javascript:alert(1)",
            &format!("/app/{}", "x".repeat(3000)),
        ] {
            assert_eq!(safe_next(path), None, "{path}");
        }
    }
}
