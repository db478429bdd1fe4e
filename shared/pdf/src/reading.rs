//! Extracts a PDF's text as searching and copying programs do, to test written PDFs.
//!
//! Characters come in drawing order, and the bidirectional algorithm reverses right-to-left lines, as in browsers and
//! Poppler. An `ActualText` is taken unchanged.

use hayro::hayro_interpret::font::GlyphRun;
use hayro::hayro_interpret::hayro_cmap::BfString;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, interpret_page,
};
use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::{Dict, String as Text};
use hayro::kurbo::{Affine, BezPath, Rect};
use unicode_bidi::{BidiInfo, Level};

/// The text of all pages; None if it is no PDF. U+FFFD stands for what has no Unicode value or encoding.
#[must_use]
pub fn text(file: &[u8]) -> Option<String> {
    let pdf = Pdf::new(file.to_vec()).ok()?;
    let mut reader = Reader::default();
    for page in pdf.pages().iter() {
        let (cache, area) = (InterpreterCache::new(), Rect::new(0.0, 0.0, 612.0, 792.0));
        let mut context = Context::new(Affine::IDENTITY, area, &cache, page.xref(), InterpreterSettings::default());
        interpret_page(page, &mut context, &mut reader);
    }
    Some(reader.text)
}

#[derive(Default)]
struct Reader {
    text: String,
    line: String,
    /// Whether each open part has an `ActualText`.
    parts: Vec<bool>,
}

impl Device<'_> for Reader {
    fn begin_marked_content(&mut self, _: &[u8], properties: Option<&Dict<'_>>) {
        let actual = properties.and_then(|properties| properties.get::<Text<'_>>(b"ActualText"));
        if let (Some(actual), false) = (&actual, self.parts.contains(&true)) {
            self.line += &decoded(actual.as_bytes());
        }
        self.parts.push(actual.is_some());
    }

    fn end_marked_content(&mut self) {
        self.parts.pop();
        // Each line is its own part.
        if self.parts.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.text += &in_order_of_reading(line);
        }
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, _: DrawProps<'_>, _: &DrawMode) {
        if self.parts.contains(&true) {
            return;
        }
        for glyph in run.glyphs() {
            match glyph.as_unicode() {
                Some(BfString::Char(c)) => self.line.push(c),
                Some(BfString::String(text)) => self.line += &text,
                None => self.line.push(char::REPLACEMENT_CHARACTER),
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// The text of a line in reading order, from its text from left to right.
fn in_order_of_reading(line: String) -> String {
    // The majority of letters decides the line's direction.
    let count = |wanted: fn(Level) -> bool| {
        let info = BidiInfo::new(&line, Some(Level::ltr()));
        info.levels.iter().filter(|level| wanted(**level)).count()
    };
    let base = if count(|level| level.is_rtl()) > count(|level| level.is_ltr()) { Level::rtl() } else { Level::ltr() };
    let info = BidiInfo::new(&line, Some(base));
    if !info.levels.iter().any(Level::is_rtl) {
        return line;
    }
    let letters: Vec<(usize, char)> = line.char_indices().collect();
    let levels: Vec<Level> = letters.iter().map(|(at, _)| info.levels.get(*at).copied().unwrap_or(base)).collect();
    BidiInfo::reorder_visual(&levels).into_iter().map(|at| letters[at].1).collect()
}

/// A PDF string: UTF-16 with a byte order mark, or close enough to ASCII.
fn decoded(bytes: &[u8]) -> String {
    match bytes.strip_prefix(b"\xfe\xff") {
        Some(units) => {
            let units: Vec<u16> = units.as_chunks().0.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
            String::from_utf16_lossy(&units)
        }
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}
