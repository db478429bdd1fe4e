//! Text for searching: spellings that differ only in case or composition are the same.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;

/// Text folded for comparison: NFC, full default case folding, NFC (contract, section 1, "Search").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded(String);

impl Folded {
    /// Folds a text. Blanks around it remain: a needle is trimmed where it is read.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.nfc().default_case_fold().nfc().collect())
    }

    /// Folds several texts into one that is searched as a whole. No needle spans two of them, since a needle holds no
    /// control character.
    #[must_use]
    pub fn join<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let folded: Vec<String> = texts.into_iter().map(|text| Self::new(text).0).collect();
        Self(folded.join("\n"))
    }

    /// The folded text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_that_differ_in_case_or_composition_fold_to_one() {
        for (left, right) in [
            ("STRASSE", "straße"),
            ("\u{fb01}sh", "FISH"),
            ("\u{130}stanbul", "i\u{307}stanbul"),
            ("E\u{301}cole", "école"),
            ("日本", "日本"),
            ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ] {
            assert_eq!(Folded::new(left), Folded::new(right), "{left} and {right}");
        }
        assert_ne!(Folded::new("ecole"), Folded::new("école"));
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for text in ["ß", "İ", "ﬁ", "é", "e\u{301}", "ᾼ", "Ǆ"] {
            let once = Folded::new(text);
            assert_eq!(Folded::new(once.as_str()), once, "{text}");
        }
    }
}
