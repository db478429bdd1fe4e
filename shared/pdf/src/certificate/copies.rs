//! Gives a font's glyph several texts: letters share shapes, and a letter stands for its vowel signs too.
//!
//! Decision: a PDF's font has one text for each glyph. Others would need an `ActualText`, which Chromium leaves out when
//! it searches and copies. So each further text is in a copy of the font, which contains only the glyphs that it needs.

use std::collections::HashMap;

use krilla::text::{Font, GlyphId, KrillaGlyph};

use super::text::{Drawn, Faces, Run};

/// Beyond these, which no usual text needs, a glyph has an `ActualText`.
const COPIES_MAX: usize = 32;

#[derive(Default)]
pub(super) struct Copies {
    texts: HashMap<(usize, GlyphId), Vec<String>>,
    fonts: HashMap<(usize, usize), Font>,
}

/// Neighbors in a run that the same copy of its font draws.
pub(super) struct Part {
    pub(super) font: Font,
    pub(super) glyphs: Vec<KrillaGlyph>,
}

impl Copies {
    pub(super) fn parts(&mut self, faces: &Faces<'_>, run: &Run, drawn: &Drawn) -> Vec<Part> {
        if !run.to_left {
            return vec![Part { font: faces.font(run), glyphs: drawn.letters.clone() }];
        }
        let number = |glyph: &KrillaGlyph| self.number(run, glyph.glyph_id, &drawn.text[glyph.text_range.clone()]);
        let numbers: Vec<usize> = drawn.letters.iter().map(number).collect();
        let mut glyphs = drawn.letters.iter().cloned();
        let parts = numbers.chunk_by(|one, next| one == next);
        parts
            .map(|part| Part {
                font: self.font(faces, run, part.first().copied().unwrap_or_default()),
                glyphs: glyphs.by_ref().take(part.len()).collect(),
            })
            .collect()
    }

    fn number(&mut self, run: &Run, glyph: GlyphId, text: &str) -> usize {
        let texts = self.texts.entry((run.face, glyph)).or_default();
        let known = texts.iter().position(|known| known == text);
        known.unwrap_or_else(|| {
            if texts.len() >= COPIES_MAX {
                return 0;
            }
            texts.push(text.to_owned());
            texts.len() - 1
        })
    }

    fn font(&mut self, faces: &Faces<'_>, run: &Run, number: usize) -> Font {
        let copy = || faces.copy(run, number).unwrap_or_else(|| faces.font(run));
        if number == 0 { faces.font(run) } else { self.fonts.entry((run.face, number)).or_insert_with(copy).clone() }
    }
}
