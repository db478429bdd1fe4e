//! The browser and system of a session, such as `Firefox on Windows`.
//!
//! Decision: words from fixed lists; the header isn't kept, since it may contain any text and identify a person.

/// Browsers and their marks in the header. Order matters: most headers also have marks of browsers further down.
const BROWSERS: &[(&str, &str)] = &[
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// Systems and their marks in the header. Order matters.
const SYSTEMS: &[(&str, &str)] = &[
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
];

/// The browser and system in a `User-Agent` header. `None` if it names neither.
#[must_use]
pub fn device_of(user_agent: &str) -> Option<String> {
    let find = |among: &[(&str, &'static str)]| {
        among.iter().find(|(mark, _)| user_agent.contains(mark)).map(|&(_, words)| words)
    };
    match (find(BROWSERS), find(SYSTEMS)) {
        (Some(browser), Some(system)) => Some(format!("{browser} on {system}")),
        (Some(browser), None) => Some(browser.to_owned()),
        (None, Some(system)) => Some(format!("Browser on {system}")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_becomes_words_from_fixed_lists() {
        const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";
        let on = |system: &str, rest: &str| format!("Mozilla/5.0 ({system}) {rest}");
        for (header, words) in [
            (on("Windows NT 10.0; Win64; x64; rv:140.0", "Gecko/20100101 Firefox/140.0"), Some("Firefox on Windows")),
            (
                on("Macintosh; Intel Mac OS X 10_15_7", &format!("{WEBKIT} Chrome/140.0.0.0 Safari/537.36")),
                Some("Chrome on macOS"),
            ),
            (
                on("Windows NT 10.0", &format!("{WEBKIT} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0")),
                Some("Edge on Windows"),
            ),
            (
                on("Macintosh; Intel Mac OS X 10_15_7", "AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15"),
                Some("Safari on macOS"),
            ),
            (
                on("iPhone; CPU iPhone OS 18_0 like Mac OS X", "AppleWebKit/605.1.15 CriOS/140.0 Mobile Safari/604.1"),
                Some("Chrome on iPhone"),
            ),
            (
                on("Linux; Android 15; K", &format!("{WEBKIT} Chrome/140.0 Mobile Safari/537.36")),
                Some("Chrome on Android"),
            ),
            (
                on("X11; Linux x86_64", &format!("{WEBKIT} Chrome/140.0 Safari/537.36 OPR/120.0")),
                Some("Opera on Linux"),
            ),
            (on("X11; CrOS x86_64", "a browser of one's own"), Some("Browser on ChromeOS")),
            ("Firefox/140.0".to_owned(), Some("Firefox")),
            ("curl/8.5.0".to_owned(), None),
            ("<script>alert(1)</script>".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(device_of(&header).as_deref(), words, "{header}");
        }
    }
}
