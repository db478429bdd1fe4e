//! Paths inside a bundle. On every system they stay in the folder of extraction and contain no hidden characters.

use std::collections::HashSet;

use crate::{MANIFEST_PATH, SIGNATURE_PATH};

const PATH_BYTES_MAX: usize = 255;

/// Whether a bundle's file may have this path: at most 255 bytes, relative, with `/` between names. No name is empty,
/// begins or ends with a space, or ends with a dot, as `..` does. No character is a control character, refused by
/// Windows (`"*:<>?\|`), invisible, or changes the writing direction.
#[must_use]
pub fn is_safe_path(path: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && !name.starts_with(' ') && !name.ends_with([' ', '.']);
    path.len() <= PATH_BYTES_MAX && !path.contains(is_forbidden) && path.split('/').all(is_name)
}

/// By code points instead of properties: those change with Unicode releases, but all verifiers must agree.
pub(crate) fn is_forbidden(letter: char) -> bool {
    matches!(letter,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '"' | '*' | ':' | '<' | '>' | '?' | '\\' | '|'
        | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The first path that, on a case-insensitive system, names the same file as another, or a folder of one.
pub(crate) fn collision<'a>(paths: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let mut files = HashSet::from([MANIFEST_PATH.to_owned(), SIGNATURE_PATH.to_owned()]);
    let twice = paths.clone().find(|path| !files.insert(path.to_ascii_lowercase()));
    twice.or_else(|| paths.into_iter().find(|path| is_below_a_file(&path.to_ascii_lowercase(), &files)))
}

fn is_below_a_file(path: &str, files: &HashSet<String>) -> bool {
    path.match_indices('/').any(|(at, _)| path.get(..at).is_some_and(|folder| files.contains(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_their_folder() {
        let longest = "x".repeat(255);
        for path in
            ["a", "documents/deed.pdf", "documents/Übergabe 1.2.pdf", ".well-known/a..b", "日本/契約.pdf", &longest]
        {
            assert!(is_safe_path(path), "{path}");
        }
        let too_long = "x".repeat(256);
        for path in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a/..",
            ".",
            "./a",
            "a//b",
            "a/",
            "C:/a",
            "C:a",
            "a\\b",
            "..\\a",
            "a.",
            "a /b",
            " a",
            "a/ b",
            "a\0",
            "a\nb",
            "a\u{7f}",
            "a\u{85}",
            "a\u{202e}fdp.exe",
            "\u{feff}a",
            "a\u{200b}",
            "a:stream",
            "what?",
            "*",
            "|",
            "\"",
            "<",
            ">",
            &too_long,
        ] {
            assert!(!is_safe_path(path), "{path:?}");
        }
    }

    #[test]
    fn no_two_paths_meet_when_extracted() {
        assert_eq!(collision(["a", "a-b", "b/c", "b/d"].into_iter()), None);
        assert_eq!(collision(["a", "b", "a"].into_iter()), Some("a"));
        assert_eq!(collision(["Deed.pdf", "deed.PDF"].into_iter()), Some("deed.PDF"));
        assert_eq!(collision(["a", "a-b", "A/b"].into_iter()), Some("A/b"));
        assert_eq!(collision(["a/b/c", "a/b"].into_iter()), Some("a/b/c"));
        for path in ["manifest.json", "Manifest.sig", "manifest.json/a"] {
            assert_eq!(collision([path].into_iter()), Some(path));
        }
    }
}
