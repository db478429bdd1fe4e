use hayro_syntax::object::{Dict, Name, ObjectIdentifier, Stream};
use read_fonts::TableProvider as _;
use read_fonts::model::Font;
use read_fonts::types::Tag;

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

/// The keys of a font's file (ISO 32000-1, 9.9).
const TYPE_1: &[u8] = b"FontFile";
const TRUE_TYPE: &[u8] = b"FontFile2";
const COMPACT: &[u8] = b"FontFile3";

pub(super) fn is_standard(font: &Dict<'_>) -> bool {
    font.get::<Name<'_>>(b"BaseFont").is_some_and(|name| STANDARD.contains(&&*name))
}

pub(super) fn is_embedded(font: &Dict<'_>) -> bool {
    files(font).next().is_some()
}

/// Identifies a font file: its object, the key that names it, and whether its kind suits the font.
pub(super) type FontFileId = (ObjectIdentifier, &'static [u8], bool);

pub(super) struct FontFile<'a> {
    key: &'static [u8],
    suits: bool,
    file: Stream<'a>,
}

pub(super) fn files<'a>(font: &Dict<'a>) -> impl Iterator<Item = FontFile<'a>> {
    let described = font.get::<Dict<'_>>(b"FontDescriptor").unwrap_or_default();
    let kind = font.get::<Name<'_>>(b"Subtype");
    [TYPE_1, TRUE_TYPE, COMPACT].into_iter().filter_map(move |key| {
        // Our renderer accepts no other file kinds for these.
        let suits = match kind.as_deref() {
            Some(b"TrueType") => key == TRUE_TYPE,
            Some(b"Type1" | b"MMType1") => key != TRUE_TYPE,
            _ => true,
        };
        Some(FontFile { key, suits, file: described.get(key)? })
    })
}

impl FontFile<'_> {
    pub(super) fn id(&self) -> FontFileId {
        (self.file.obj_id(), self.key, self.suits)
    }

    /// Whether programs can read it. They draw broken fonts arbitrarily.
    pub(super) fn is_sound(&self) -> bool {
        self.suits
            && self.file.decoded_data().is_ok_and(|file| is_of_kind(self.key, &file) && is_readable(file.into_owned()))
    }
}

/// Whether our renderer draws letters with it, rather than with a font of its own. It uses the same library.
fn is_readable(file: Vec<u8>) -> bool {
    let Some(font) = Font::new(file, 0) else { return false };
    let has_letters = font.num_glyphs() > 0 && font.outline_glyphs().source().is_some();
    // Where a font lacks the number of its letters, our renderer takes that of this table.
    let is_compact = || font.tables().data_for_tag(Tag::new(b"CFF ")).is_some();
    has_letters || is_compact()
}

fn is_of_kind(key: &[u8], file: &[u8]) -> bool {
    match key {
        TYPE_1 => is_type_1(file),
        TRUE_TYPE => is_sfnt(file),
        _ => is_compact(file) || is_sfnt(file),
    }
}

/// A Type 1 font: a program in PostScript, as text or in segments.
fn is_type_1(file: &[u8]) -> bool {
    file.starts_with(b"\x80\x01") || file.trim_ascii_start().starts_with(b"%!")
}

/// A TrueType or OpenType font or collection: a list of tables, one of which has the letters.
fn is_sfnt(file: &[u8]) -> bool {
    const HEAD_BYTES: usize = 12;
    match file.first_chunk() {
        Some(b"ttcf") => true,
        Some([0, 1, 0, 0] | b"true" | b"OTTO") => {
            let count = file.get(4..6).and_then(<[u8]>::first_chunk).map_or(0, |count| u16::from_be_bytes(*count));
            let tables = file.get(HEAD_BYTES..).unwrap_or_default().as_chunks::<16>().0;
            tables.iter().take(count.into()).any(|table| has_letters(table, file.len()))
        }
        _ => false,
    }
}

/// Whether a table entry (name, checksum, offset, length) is about letters inside the file.
fn has_letters([a, b, c, d, _, _, _, _, offset @ .., _, _, _, _]: &[u8; 16], file_bytes: usize) -> bool {
    let is_inside = usize::try_from(u32::from_be_bytes(*offset)).is_ok_and(|offset| offset <= file_bytes);
    is_inside && matches!(&[*a, *b, *c, *d], b"glyf" | b"CFF " | b"CFF2")
}

/// A compact font (CFF): version 1, with a nonempty list of font names after its head.
fn is_compact(file: &[u8]) -> bool {
    let [1, _, head_bytes, _, ..] = file else { return false };
    file.get(usize::from(*head_bytes)..).and_then(<[u8]>::first_chunk).is_some_and(|count| *count != [0, 0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_font_file_begins_as_those_of_its_kind() {
        let sfnt = |kind: &[u8], table: &[u8], offset: u8| {
            [kind, &[0, 1, 0, 0, 0, 0, 0, 0], table, &[0, 0, 0, 0, 0, 0, 0, offset, 0, 0, 0, 9]].concat()
        };
        let true_type = sfnt(&[0, 1, 0, 0], b"glyf", 28);
        let compact = b"\x01\x00\x04\x01\x00\x01\x01\x01\x02A";
        for (key, file) in [
            (TYPE_1, &b"%!PS-AdobeFont-1.0: A"[..]),
            (TYPE_1, b"\x80\x01\x00\x00"),
            (TRUE_TYPE, &true_type),
            (TRUE_TYPE, &sfnt(b"true", b"glyf", 28)),
            (TRUE_TYPE, b"ttcf\x00\x01\x00\x00"),
            (COMPACT, compact),
            (COMPACT, &sfnt(b"OTTO", b"CFF ", 28)),
        ] {
            assert!(is_of_kind(key, file), "{file:?}");
        }
        for key in [TYPE_1, TRUE_TYPE, COMPACT] {
            for file in [&b""[..], b"garbage", b"\x00\x01\x00\x00", b"\x01\x00\x04\x01", b"\x01\x00\x04\x01\x00\x00"] {
                assert!(!is_of_kind(key, file), "{file:?}");
            }
        }
        for (key, file) in [
            (TYPE_1, &true_type[..]),
            (TRUE_TYPE, compact),
            (TRUE_TYPE, &sfnt(b"true", b"head", 28)),
            (TRUE_TYPE, &sfnt(b"true", b"glyf", 99)),
        ] {
            assert!(!is_of_kind(key, file), "{file:?}");
        }
    }
}
