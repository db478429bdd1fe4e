//! Fonts for certificates: Noto, cut to what names and sentences are written in. `fonts/make` makes the files.
//!
//! A function carries those it names: 0.3 MB, zipped, without Chinese, Japanese and Korean, and 2.5 MB with them.

use std::borrow::Cow;

use crate::certificate::Fonts;

/// Latin, Greek and Cyrillic, in text.
pub const TEXT: &[u8] = include_bytes!("../fonts/text.ttf");
/// Latin, Greek and Cyrillic, in headings and names.
pub const STRONG: &[u8] = include_bytes!("../fonts/strong.ttf");
/// ASCII, in hashes and identifiers.
pub const MONO: &[u8] = include_bytes!("../fonts/mono.ttf");
/// Hebrew.
pub const HEBREW: &[u8] = include_bytes!("../fonts/hebrew.ttf");
/// Arabic, Persian, Urdu.
pub const ARABIC: &[u8] = include_bytes!("../fonts/arabic.ttf");
/// Hindi, Marathi, Nepali, Sanskrit.
pub const DEVANAGARI: &[u8] = include_bytes!("../fonts/devanagari.ttf");
/// Thai.
pub const THAI: &[u8] = include_bytes!("../fonts/thai.ttf");
/// Simplified Chinese: GB 2312.
pub const SIMPLIFIED: &[u8] = include_bytes!("../fonts/simplified.ttf");
/// Traditional Chinese: the first level of Big5, without what [`SIMPLIFIED`] has.
pub const TRADITIONAL: &[u8] = include_bytes!("../fonts/traditional.ttf");
/// Japanese: kana and the first level of JIS X 0208, without what the two above have.
pub const JAPANESE: &[u8] = include_bytes!("../fonts/japanese.ttf");
/// Korean: the syllables of KS X 1001.
pub const KOREAN: &[u8] = include_bytes!("../fonts/korean.ttf");

/// The fonts of all scripts but Chinese, Japanese and Korean.
#[must_use]
pub fn alphabets() -> Fonts {
    let text = [TEXT, HEBREW, ARABIC, DEVANAGARI, THAI];
    Fonts { text: text.map(Cow::Borrowed).to_vec(), strong: vec![STRONG.into()], mono: vec![MONO.into()] }
}

/// All fonts.
#[must_use]
pub fn all() -> Fonts {
    let mut fonts = alphabets();
    fonts.text.extend([SIMPLIFIED, TRADITIONAL, JAPANESE, KOREAN].map(Cow::Borrowed));
    fonts
}
