//! Noto fonts for certificates, reduced to the characters of names and sentences. `fonts/make` makes the files.
//!
//! Decision: the fonts cover all scripts that Unicode recommends for names (UAX #31, table 5), and those in limited use
//! that are official somewhere: Syllabics, Cherokee, Tifinagh, N’Ko, Ol Chiki, Meetei Mayek, Adlam. Of Chinese
//! characters they have Noto's share of Unicode’s main block (all but 16) and China’s standard for names and places; of
//! Korean, all syllables. Each further thousand Chinese characters would add 0.2 MB zipped, further scripts have few
//! writers, and Mongolian runs in columns. A character without a font appears as its code point.
//!
//! A function carries only the fonts it names. Zipped: 1.3 MB without Chinese, Japanese and Korean (Latin, Greek and
//! Cyrillic: 0.3), 4.8 for the four fonts of Chinese characters, 0.8 for Korean.

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
/// Traditional Chinese: Big5, without what [`SIMPLIFIED`] has.
pub const TRADITIONAL: &[u8] = include_bytes!("../fonts/traditional.ttf");
/// Japanese: kana and JIS X 0208, without what the two above have.
pub const JAPANESE: &[u8] = include_bytes!("../fonts/japanese.ttf");
/// Chinese characters that the three above don't have, in simplified shapes.
pub const RARE: &[u8] = include_bytes!("../fonts/rare.ttf");
/// Korean: all syllables.
pub const KOREAN: &[u8] = include_bytes!("../fonts/korean.ttf");
/// One font for each other script.
pub const SCRIPTS: [&[u8]; 24] = [
    include_bytes!("../fonts/bengali.ttf"),
    include_bytes!("../fonts/gurmukhi.ttf"),
    include_bytes!("../fonts/gujarati.ttf"),
    include_bytes!("../fonts/odia.ttf"),
    include_bytes!("../fonts/tamil.ttf"),
    include_bytes!("../fonts/telugu.ttf"),
    include_bytes!("../fonts/kannada.ttf"),
    include_bytes!("../fonts/malayalam.ttf"),
    include_bytes!("../fonts/sinhala.ttf"),
    include_bytes!("../fonts/lao.ttf"),
    include_bytes!("../fonts/tibetan.ttf"),
    include_bytes!("../fonts/myanmar.ttf"),
    include_bytes!("../fonts/georgian.ttf"),
    include_bytes!("../fonts/ethiopic.ttf"),
    include_bytes!("../fonts/khmer.ttf"),
    include_bytes!("../fonts/armenian.ttf"),
    include_bytes!("../fonts/thaana.ttf"),
    include_bytes!("../fonts/tifinagh.ttf"),
    include_bytes!("../fonts/syllabics.ttf"),
    include_bytes!("../fonts/cherokee.ttf"),
    include_bytes!("../fonts/nko.ttf"),
    include_bytes!("../fonts/ol_chiki.ttf"),
    include_bytes!("../fonts/meetei_mayek.ttf"),
    include_bytes!("../fonts/adlam.ttf"),
];

/// Every script but Chinese, Japanese and Korean.
#[must_use]
pub fn alphabets() -> Fonts {
    let text = [TEXT, HEBREW, ARABIC, DEVANAGARI, THAI].into_iter().chain(SCRIPTS);
    Fonts { text: text.map(Cow::Borrowed).collect(), strong: vec![STRONG.into()], mono: vec![MONO.into()] }
}

/// All fonts.
#[must_use]
pub fn all() -> Fonts {
    let mut fonts = alphabets();
    fonts.text.extend([SIMPLIFIED, TRADITIONAL, JAPANESE, RARE, KOREAN].map(Cow::Borrowed));
    fonts
}
