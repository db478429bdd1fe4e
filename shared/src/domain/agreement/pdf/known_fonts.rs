//! Fonts whose letters every program draws alike.

use hayro_syntax::object::{Dict, Name, Stream};

/// The fonts that every program has (ISO 32000-1, 9.6.2.2).
const STANDARD: [&[u8]; 14] = [
    b"Courier",
    b"Courier-Bold",
    b"Courier-BoldOblique",
    b"Courier-Oblique",
    b"Helvetica",
    b"Helvetica-Bold",
    b"Helvetica-BoldOblique",
    b"Helvetica-Oblique",
    b"Symbol",
    b"Times-Bold",
    b"Times-BoldItalic",
    b"Times-Italic",
    b"Times-Roman",
    b"ZapfDingbats",
];

/// Whether a font has the name of one that every program has.
pub(super) fn is_standard(font: &Dict<'_>) -> bool {
    font.get::<Name<'_>>(b"BaseFont").is_some_and(|name| STANDARD.contains(&&*name))
}

/// Whether a font brings its letters along.
pub(super) fn is_embedded(font: &Dict<'_>) -> bool {
    let described = font.get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
    [&b"FontFile"[..], b"FontFile2", b"FontFile3"].into_iter().any(|key| described.get::<Stream<'_>>(key).is_some())
}
