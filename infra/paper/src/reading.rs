//! The text of a PDF, as programs read it that search or copy: for tests of what was written.

use hayro::hayro_interpret::font::GlyphRun;
use hayro::hayro_interpret::hayro_cmap::BfString;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, interpret_page,
};
use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::{Dict, String as Text};
use hayro::kurbo::{Affine, BezPath, Rect};

/// The text of all pages. None if the file is no PDF. A character without a Unicode value is U+FFFD, and so is a text that says
/// what it stands for in no encoding of PDF.
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
    /// Whether each part that is open says its text itself.
    parts: Vec<bool>,
}

impl Device<'_> for Reader {
    fn begin_marked_content(&mut self, _: &[u8], properties: Option<&Dict<'_>>) {
        let actual = properties.and_then(|properties| properties.get::<Text<'_>>(b"ActualText"));
        if let (Some(actual), false) = (&actual, self.parts.contains(&true)) {
            self.text += &decoded(actual.as_bytes());
        }
        self.parts.push(actual.is_some());
    }

    fn end_marked_content(&mut self) {
        self.parts.pop();
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, _: DrawProps<'_>, _: &DrawMode) {
        if self.parts.contains(&true) {
            return;
        }
        for glyph in run.glyphs() {
            match glyph.as_unicode() {
                Some(BfString::Char(c)) => self.text.push(c),
                Some(BfString::String(text)) => self.text += &text,
                None => self.text.push(char::REPLACEMENT_CHARACTER),
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

/// A string of a PDF: UTF-16 with a mark, or close enough to ASCII.
fn decoded(bytes: &[u8]) -> String {
    match bytes.strip_prefix(b"\xfe\xff") {
        Some(units) => {
            let units: Vec<u16> = units.as_chunks().0.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
            String::from_utf16_lossy(&units)
        }
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}
