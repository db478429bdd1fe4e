//! Text: allowed characters, as a check and an API pattern; and folding for search, without case and composition.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;

use crate::wire::fields::FieldCode;

/// White space, as `str::trim` removes it.
pub(crate) const BLANK: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{85}', '\u{85}'),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

pub(crate) const CONTROL: &[(char, char)] = &[('\0', '\u{1f}'), ('\u{7f}', '\u{9f}')];

/// Line and paragraph separators, and direction controls: a line with one looks like another line.
pub(crate) const MISLEADING: &[(char, char)] = &[('\u{2028}', '\u{202e}'), ('\u{2066}', '\u{2069}')];

/// Overrides of direction reverse what follows: `I do` U+202E `ton` U+202C `agree` reads as its opposite.
///
/// Decision: long texts can't have them either, but may have all other direction marks. Texts in mixed scripts need
/// marks, embeddings and isolates, which keep a word's letters in order. Nobody types an override to be understood.
pub(crate) const OVERRIDES: &[(char, char)] = &[('\u{202d}', '\u{202e}')];

/// Invisible characters: Unicode's `Default_Ignorable_Code_Point`, annotation marks, and the empty Braille pattern.
pub(crate) const INVISIBLE: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    // The byte order mark with its unassigned neighbors: generated Go clients can't have the mark itself in a pattern.
    ('\u{fefe}', '\u{ff00}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

pub(crate) fn is_in(ranges: &[(char, char)], character: char) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

/// Whether a character is invisible, blank, or makes text look like other text.
pub(crate) fn is_unseen(character: char) -> bool {
    [BLANK, CONTROL, MISLEADING, INVISIBLE].iter().any(|ranges| is_in(ranges, character))
}

/// The inside of a regex character class, without ranges beyond Unicode's first plane.
///
/// - Decision: characters up to U+00FF are written as `\x85`, all others as themselves. Only that reads alike in
///   JavaScript, RE2 (as in Go), Rust and Python: RE2 lacks `\u2028`, and JavaScript `\x{2028}`.
/// - Decision: no class can name characters beyond the first plane in all dialects. JavaScript without the flag `u`,
///   which many checkers use, takes them for halves of surrogate pairs and refuses the range. All such ranges are
///   [`INVISIBLE`]. So a pattern also matches a name whose only "visible" characters are these, such as tags alone, and
///   an address with one of them. Both are still refused, as the description of names says.
pub(crate) fn class(ranges: &[(char, char)]) -> String {
    let written = |character: char| match u32::from(character) {
        code @ ..=0xff => format!("\\x{code:02X}"),
        _ => character.to_string(),
    };
    let range = |(first, last): &(char, char)| {
        if first == last { written(*first) } else { format!("{}-{}", written(*first), written(*last)) }
    };
    ranges.iter().filter(|(_, last)| *last <= '\u{ffff}').map(range).collect()
}

/// Trims and checks a line: length, no control or misleading characters, something visible (contract, "Text").
pub fn check_line(text: &str, chars_max: usize) -> Result<String, (FieldCode, String)> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err((FieldCode::TooShort, "must not be blank".to_owned()));
    }
    if trimmed.chars().count() > chars_max {
        return Err((FieldCode::TooLong, format!("must have at most {chars_max} characters")));
    }
    let refused = |message: &str| Err((FieldCode::InvalidValue, message.to_owned()));
    if trimmed.chars().any(char::is_control) {
        return refused("must have no control characters");
    }
    if trimmed.chars().any(|character| is_in(MISLEADING, character)) {
        return refused("must have no line separators and no characters that change the direction of text");
    }
    if trimmed.chars().all(|character| character.is_whitespace() || is_in(INVISIBLE, character)) {
        return refused("must have a character that can be seen");
    }
    Ok(trimmed.to_owned())
}

pub(crate) fn line_description(about: &str, chars_max: usize) -> String {
    format!(
        "{} One line of up to {chars_max} characters, at least one of them visible. Control characters, line and paragraph separators and characters that change the direction of text are refused. Leading and trailing blanks are removed.",
        about.trim()
    )
}

/// The pattern of texts that [`check_line`] accepts. It bounds the trimmed length, while `maxLength` would count outer
/// blanks, and takes all characters beyond the first plane for visible ([`class`]).
///
/// Decision: no pattern looks ahead, since RE2 can't. So the text before the first visible character has its own bound,
/// and a text that begins with many invisible characters may match although it is too long.
pub(crate) fn line_pattern(chars_max: usize) -> String {
    let blank = class(BLANK);
    let inner = class(&[CONTROL, MISLEADING].concat());
    let unseen = class(&without(&[BLANK, INVISIBLE].concat(), &[CONTROL, MISLEADING].concat()));
    let visible = class(&[BLANK, CONTROL, MISLEADING, INVISIBLE].concat());
    let rest = chars_max.saturating_sub(1);
    format!("^[{blank}]*[{unseen}]{{0,{rest}}}[^{visible}][^{inner}]{{0,{rest}}}[{blank}]*$")
}

fn without(ranges: &[(char, char)], others: &[(char, char)]) -> Vec<(char, char)> {
    let mut left: Vec<(char, char)> = Vec::new();
    for character in ranges.iter().flat_map(|(first, last)| *first..=*last).filter(|one| !is_in(others, *one)) {
        match left.last_mut() {
            Some((_, last)) if u32::from(*last) + 1 == u32::from(character) => *last = character,
            _ => left.push((character, character)),
        }
    }
    left
}

/// Repeats a part of a pattern, in steps that RE2 accepts: at most a thousand.
fn repeated(part: &str, times_max: usize) -> String {
    const STEP: usize = 1000;
    let whole = format!("{part}{{0,{STEP}}}").repeat(times_max / STEP);
    match times_max % STEP {
        0 => whole,
        rest => format!("{whole}{part}{{0,{rest}}}"),
    }
}

/// The pattern of a search: no control characters, except as surrounding blanks, which are ignored.
pub(crate) fn search_pattern() -> String {
    let (blank, control) = (class(BLANK), class(CONTROL));
    format!("^[{blank}]*[^{control}]*[{blank}]*$")
}

/// Trims and checks a text of several lines, with tabs but no other control characters or overrides. CRLF becomes LF.
pub fn check_lines(text: &str, chars_max: usize) -> Result<String, (FieldCode, String)> {
    let text = text.replace("\r\n", "\n");
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err((FieldCode::TooShort, "must not be blank".to_owned()));
    }
    if trimmed.chars().count() > chars_max {
        return Err((FieldCode::TooLong, format!("must have at most {chars_max} characters")));
    }
    if trimmed.chars().any(|char| char.is_control() && !matches!(char, '\n' | '\t')) {
        return Err((FieldCode::InvalidValue, "must have no control characters but tabs and line breaks".to_owned()));
    }
    if trimmed.chars().any(|character| is_in(OVERRIDES, character)) {
        let message = "must have no characters that override the direction of text (U+202D and U+202E)";
        return Err((FieldCode::InvalidValue, message.to_owned()));
    }
    Ok(trimmed.to_owned())
}

/// The pattern of texts that [`check_lines`] accepts, bounded like [`line_pattern`] or not. CRLF counts as one.
pub(crate) fn lines_pattern(chars_max: Option<usize>) -> String {
    let blank = class(BLANK);
    // Tab and LF stay; CR only as part of CRLF.
    let refused = class(&[&[('\0', '\u{8}'), ('\u{b}', '\u{1f}'), ('\u{7f}', '\u{9f}')], OVERRIDES].concat());
    let visible = class(&[BLANK, CONTROL, OVERRIDES].concat());
    let inner = format!("(\\r\\n|[^{refused}])");
    let rest = chars_max.map_or_else(|| format!("{inner}*"), |max| repeated(&inner, max.saturating_sub(1)));
    format!("^[{blank}]*[^{visible}]{rest}[{blank}]*$")
}

/// Text folded for comparison: NFC, full default case folding, NFC (contract, section 1, "Search").
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Folded(String);

impl Folded {
    /// Keeps surrounding blanks: a needle is trimmed when read.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.nfc().default_case_fold().nfc().collect())
    }

    /// Folds several texts into one to search as a whole. No needle spans two: a needle has no control characters.
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

    #[test]
    fn a_line_is_trimmed_bounded_and_visible() {
        assert_eq!(check_line("  a b ", 3).unwrap(), "a b");
        assert_eq!(check_line(" \u{a0} ", 3).unwrap_err().0, FieldCode::TooShort);
        assert_eq!(check_line("日本語日", 3).unwrap_err().0, FieldCode::TooLong);
        for text in ["a\nb", "a\u{85}b", "a\u{2028}b", "a\u{2029}b", "\u{202e}a", "a\u{202c}", "\u{2066}a\u{2069}"] {
            assert_eq!(check_line(text, 9).unwrap_err().0, FieldCode::InvalidValue, "{text:?}");
        }
        for text in ["\u{200b}", "\u{feff} \u{200b}", "\u{2800}", "\u{3164}", "\u{e0041}\u{e007f}", "\u{ad}\u{2060}"] {
            assert_eq!(check_line(text, 9).unwrap_err().0, FieldCode::InvalidValue, "{text:?}");
        }
        // Words need joiners, and emoji selectors: allowed beside something visible.
        for text in ["می\u{200c}خواهم", "❤\u{fe0f}", "\u{feff}Ada", "A\u{200f}"] {
            assert_eq!(check_line(text, 9).as_deref(), Ok(text), "{text:?}");
        }
    }

    #[test]
    fn lines_keep_their_breaks() {
        assert_eq!(check_lines(" a\r\nb\tc\n", 9).unwrap(), "a\nb\tc");
        for (text, code) in [
            (" \n ", FieldCode::TooShort),
            ("a\rb", FieldCode::InvalidValue),
            ("a\0b", FieldCode::InvalidValue),
            ("\u{202e}a", FieldCode::InvalidValue),
            ("a\u{202d}b", FieldCode::InvalidValue),
            ("日本語日", FieldCode::TooLong),
        ] {
            assert_eq!(check_lines(text, 3).unwrap_err().0, code, "{text:?}");
        }
        // Texts in two scripts need the other direction marks.
        for text in ["\u{202b}שלום\u{202c} Ada", "\u{2067}שלום\u{2069}", "שלום\u{200f}!"] {
            assert_eq!(check_lines(text, 20).as_deref(), Ok(text), "{text:?}");
        }
    }

    #[test]
    fn the_blank_characters_are_those_that_are_trimmed() {
        for character in '\0'..=char::MAX {
            assert_eq!(character.is_whitespace(), is_in(BLANK, character), "{character:?}");
            assert_eq!(character.is_control(), is_in(CONTROL, character), "{character:?}");
        }
    }

    #[test]
    fn what_is_left_of_ranges_is_what_the_others_lack() {
        let left = without(&[('a', 'f'), ('x', 'z')], &[('c', 'd'), ('x', 'x'), ('q', 'q')]);
        assert_eq!(left, [('a', 'b'), ('e', 'f'), ('y', 'z')]);
        assert_eq!((repeated("a", 999), repeated("a", 1000)), ("a{0,999}".to_owned(), "a{0,1000}".to_owned()));
        assert_eq!(repeated("(b|c)", 1999), "(b|c){0,1000}(b|c){0,999}");
    }

    #[test]
    fn a_class_names_its_ranges() {
        assert_eq!(class(&[('\0', '\u{1f}'), ('\u{ad}', '\u{ad}')]), r"\x00-\x1F\xAD");
        assert_eq!(class(&[('\u{fe}', '\u{100}'), ('\u{2028}', '\u{202e}')]), "\\xFE-\u{100}\u{2028}-\u{202e}");
        assert_eq!(class(INVISIBLE), class(&INVISIBLE[..INVISIBLE.len() - 3]), "none beyond the first plane");
        assert!([CONTROL, BLANK, MISLEADING, OVERRIDES].concat().iter().all(|(_, last)| *last <= '\u{ffff}'));
    }
}
