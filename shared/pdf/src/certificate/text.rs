//! Text in any script: font fallback, line breaking, direction and shaping.
//!
//! Decision: no `parley`. With `krilla` it is 100 crates instead of 60, and would replace some 200 of these lines, direction
//! and line breaking; the choice of a font or a code point for each character, the order in which programs read a line, and
//! lines that keep letters instead of glyphs stay ours.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use krilla::Data;
use krilla::text::{Font, GlyphId, KrillaGlyph};
use rustybuzz::{BufferClusterLevel, Direction, GlyphBuffer, Script, ShapePlan, UnicodeBuffer, script};
use unicode_bidi::BidiInfo;
use unicode_normalization::char::is_combining_mark;

use super::{Fonts, Unwritable};

/// For showing code points.
const NEEDED: &str = " …[]+0123456789ABCDEFU";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Text,
    Strong,
    Mono,
}

pub(super) struct Faces<'a> {
    loaded: Vec<(Font, rustybuzz::Face<'a>)>,
    files: Vec<&'a [u8]>,
    /// Shaping plans by font, direction and script: making one takes longer than shaping a line.
    plans: RefCell<HashMap<(usize, Direction, Script), Rc<ShapePlan>>>,
    text: Range<usize>,
    strong: Range<usize>,
    mono: Range<usize>,
}

impl<'a> Faces<'a> {
    pub(super) fn load(fonts: &'a Fonts) -> Result<Self, Unwritable> {
        let mut loaded = Vec::new();
        let files: Vec<&Cow<'static, [u8]>> = fonts.text.iter().chain(&fonts.strong).chain(&fonts.mono).collect();
        for file in &files {
            let data = match file {
                Cow::Borrowed(bytes) => Data::from(*bytes),
                Cow::Owned(bytes) => Data::from(bytes.clone()),
            };
            let font = Font::new(data, 0).ok_or(Unwritable::Fonts)?;
            loaded.push((font, rustybuzz::Face::from_slice(file, 0).ok_or(Unwritable::Fonts)?));
        }
        let (text, strong) = (fonts.text.len(), fonts.text.len() + fonts.strong.len());
        let (plans, mono) = (RefCell::default(), strong..loaded.len());
        let files = files.into_iter().map(AsRef::as_ref).collect();
        let faces = Self { text: 0..text, strong: text..strong, mono, loaded, files, plans };
        let complete = NEEDED.chars().all(|c| faces.having(c, Style::Text).is_some());
        if complete { Ok(faces) } else { Err(Unwritable::Fonts) }
    }

    fn having(&self, c: char, style: Style) -> Option<usize> {
        let first = match style {
            Style::Text => 0..0,
            Style::Strong => self.strong.clone(),
            Style::Mono => self.mono.clone(),
        };
        first.chain(self.text.clone()).find(|face| self.has(*face, c))
    }

    fn has(&self, face: usize, c: char) -> bool {
        self.loaded[face].1.glyph_index(c).is_some_and(|glyph| glyph.0 != 0)
    }

    pub(super) fn font(&self, run: &Run) -> Font {
        self.loaded[run.face].0.clone()
    }

    /// The font once more, for a PDF to contain it twice.
    pub(super) fn copy(&self, run: &Run, number: usize) -> Option<Font> {
        let mut file = self.files[run.face].to_vec();
        // Files of different lengths are different fonts.
        file.resize(file.len() + number, 0);
        Font::new(file.into(), 0)
    }

    pub(super) fn glyphs(&self, run: &Run) -> Vec<KrillaGlyph> {
        self.shape(run.face, &run.text, Some(run.to_left))
    }

    /// The glyphs as drawn, each with its text from left to right. From right to left, a letter stands for its vowel
    /// signs too, which are drawn as shapes like its dots: programs that reverse a line would split the word at them.
    pub(super) fn drawn(&self, run: &Run) -> Drawn {
        let glyphs = self.glyphs(run);
        if !run.to_left {
            return Drawn { text: run.text.clone(), letters: glyphs, dots: Vec::new() };
        }
        let (mut drawn, mut pen) = (Drawn::default(), 0.0);
        // Those of the next letter.
        let mut signs: Vec<KrillaGlyph> = Vec::new();
        for glyph in glyphs {
            if glyph.x_advance == 0.0 {
                signs.push(glyph);
                continue;
            }
            let advance = glyph.x_advance;
            match with_signs(&glyph.text_range, &signs) {
                Some(range) => {
                    for sign in signs.drain(..) {
                        drawn.dots.push(KrillaGlyph { x_offset: sign.x_offset + pen, text_range: 0..0, ..sign });
                    }
                    drawn.push(KrillaGlyph { text_range: range, ..glyph }, &run.text);
                }
                None => signs.drain(..).chain([glyph]).for_each(|glyph| drawn.push(glyph, &run.text)),
            }
            pen += advance;
        }
        for glyph in signs {
            drawn.push(glyph, &run.text);
        }
        drawn
    }

    #[cfg(test)]
    pub(super) fn unshaped(&self, run: &Run) -> Vec<u32> {
        let glyph = |c| self.loaded[run.face].1.glyph_index(c).map_or(0, |glyph| glyph.0.into());
        run.text.chars().map(glyph).collect()
    }

    #[cfg(test)]
    pub(super) fn is_shown(&self, c: char) -> bool {
        self.having(c, Style::Text).is_some()
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Part {
    range: Range<usize>,
    face: usize,
    /// Stands for a character, as its code point.
    code: bool,
}

struct Shown {
    text: String,
    parts: Vec<Part>,
}

/// Text of one font on a line. Shaping waits until drawing, since glyphs take far more memory than letters.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) face: usize,
    pub(super) to_left: bool,
    /// Stands for a character, as its code point.
    pub(super) code: bool,
    pub(super) x: f32,
    pub(super) text: String,
}

#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) text: String,
    pub(super) letters: Vec<KrillaGlyph>,
    /// Drawn as shapes, placed from the start of the run.
    pub(super) dots: Vec<KrillaGlyph>,
}

impl Drawn {
    /// Adds a glyph of a run from right to left.
    fn push(&mut self, mut glyph: KrillaGlyph, of: &str) {
        let start = self.text.len();
        self.text.extend(of[glyph.text_range.clone()].chars().rev());
        glyph.text_range = start..self.text.len();
        self.letters.push(glyph);
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub(super) runs: Vec<Run>,
    pub(super) width: f32,
    /// The text in reading order, if different.
    pub(super) read: Option<String>,
}

impl Faces<'_> {
    pub(super) fn lines(&self, text: &str, style: Style, size: f32, width: f32) -> Vec<Line> {
        let shown = self.shown(text, style);
        if shown.text.is_empty() {
            return vec![Line::default()];
        }
        let info = BidiInfo::new(&shown.text, None);
        let advances = self.advances(&shown, size);
        breaks(&shown.text, &advances, width).into_iter().map(|range| self.line(&shown, &info, range, size)).collect()
    }

    /// Fits a text on one line, with an ellipsis if shortened.
    pub(super) fn single_line(&self, text: &str, style: Style, size: f32, width: f32) -> Line {
        let mut lines = self.lines(text, style, size, width);
        if lines.len() == 1 {
            return lines.remove(0);
        }
        let shown = self.shown(text, style);
        let room = width - self.lines("…", style, size, width)[0].width;
        let kept = breaks(&shown.text, &self.advances(&shown, size), room).first().map_or(0, |range| range.end);
        let cut = format!("{}…", shown.text[..kept].trim_end());
        self.lines(&cut, style, size, f32::MAX).remove(0)
    }

    /// Chooses each character's font, or its code point if it has no font or shape.
    fn shown(&self, text: &str, style: Style) -> Shown {
        let mut shown = Shown { text: String::with_capacity(text.len()), parts: Vec::new() };
        let mut chars = text.chars().peekable();
        let mut before = None;
        while let Some(c) = chars.next() {
            let joins =
                is_joiner(c) && [before, chars.peek().copied()].into_iter().all(|near| near.is_some_and(is_joined));
            let last = shown.parts.last().filter(|part| !part.code).map(|part| part.face);
            let attached = last.filter(|face| (joins || is_combining_mark(c)) && self.has(*face, c));
            let face = attached.or_else(|| self.having(c, style)).filter(|_| joins || !is_hidden(c));
            before = Some(c);
            match face {
                Some(face) => shown.push(c.encode_utf8(&mut [0; 4]), face, false),
                None => self.push_code(&mut shown, c),
            }
        }
        shown
    }

    fn push_code(&self, shown: &mut Shown, c: char) {
        for c in format!("[U+{:04X}]", u32::from(c)).chars() {
            // `load` checked that the fonts have these.
            let face = self.having(c, Style::Text).unwrap_or_default();
            shown.push(c.encode_utf8(&mut [0; 4]), face, true);
        }
    }

    fn advances(&self, shown: &Shown, size: f32) -> Vec<Option<f32>> {
        let mut advances = vec![None; shown.text.len()];
        for part in &shown.parts {
            let text = &shown.text[part.range.clone()];
            for glyph in self.shape(part.face, text, None) {
                let at = &mut advances[part.range.start + glyph.text_range.start];
                *at = Some(at.unwrap_or_default() + glyph.x_advance * size);
            }
        }
        advances
    }

    fn line(&self, shown: &Shown, info: &BidiInfo<'_>, range: Range<usize>, size: f32) -> Line {
        let mut line = Line::default();
        let Some(paragraph) = info.paragraphs.first() else { return line };
        let (levels, visual) = info.visual_runs(paragraph, range.clone());
        for run in visual {
            let to_left = levels[run.start].is_rtl();
            let within = |part: &Part| Part {
                range: part.range.start.max(run.start)..part.range.end.min(run.end),
                ..part.clone()
            };
            let mut parts: Vec<Part> = shown.parts.iter().map(within).filter(|part| !part.range.is_empty()).collect();
            if to_left {
                parts.reverse();
            }
            for part in parts {
                let text = &shown.text[part.range];
                let Part { face, code, .. } = part;
                let run = Run { face, to_left, code, x: line.width, text: text.to_owned() };
                line.width += self.glyphs(&run).iter().map(|glyph| glyph.x_advance * size).sum::<f32>();
                line.runs.push(run);
            }
            if to_left {
                line.read = Some(shown.text[range.clone()].to_owned());
            }
        }
        line
    }

    fn shape(&self, face: usize, text: &str, to_left: Option<bool>) -> Vec<KrillaGlyph> {
        let mut buffer = UnicodeBuffer::new();
        buffer.push_str(text);
        buffer.guess_segment_properties();
        match to_left {
            Some(true) => {
                buffer.set_direction(Direction::RightToLeft);
                // Marks keep their own clusters: programs that reverse the line put them behind their letters.
                buffer.set_cluster_level(BufferClusterLevel::Characters);
            }
            Some(false) => buffer.set_direction(Direction::LeftToRight),
            None => {}
        }
        let (font, shaped) = (&self.loaded[face].0, self.shaped(face, buffer));
        let mut starts: Vec<usize> = shaped.glyph_infos().iter().map(|info| cluster(info.cluster)).collect();
        starts.sort_unstable();
        starts.dedup();
        let em = |units: i32| {
            #[allow(clippy::cast_precision_loss, reason = "units of a font are far below 2²⁴")]
            let units = units as f32;
            units / font.units_per_em()
        };
        let glyphs = shaped.glyph_infos().iter().zip(shaped.glyph_positions());
        glyphs
            .map(|(info, position)| {
                let start = cluster(info.cluster);
                let next = starts.partition_point(|other| *other <= start);
                let end = starts.get(next).copied().unwrap_or(text.len());
                // Programs that reverse the line would split the word at a joiner, which has no glyph.
                let is_left_out = |c| to_left == Some(true) && is_joiner(c);
                let behind = text[start..end].trim_start_matches(is_left_out);
                let (start, end) = (end - behind.len(), start + text[start..end].trim_end_matches(is_left_out).len());
                let (x, y) = (em(position.x_offset), em(position.y_offset));
                let glyph = GlyphId::new(info.glyph_id);
                KrillaGlyph::new(glyph, em(position.x_advance), x, y, em(position.y_advance), start..end, None)
            })
            .collect()
    }
}

impl Faces<'_> {
    fn shaped(&self, face: usize, buffer: UnicodeBuffer) -> GlyphBuffer {
        let key = (face, buffer.direction(), buffer.script());
        let face = &self.loaded[face].1;
        let plan = Rc::clone(self.plans.borrow_mut().entry(key).or_insert_with(|| {
            let known = (key.2 != script::UNKNOWN).then_some(key.2);
            Rc::new(ShapePlan::new(face, key.1, known, buffer.language().as_ref(), &[]))
        }));
        rustybuzz::shape_with_plan(face, &plan, buffer)
    }
}

/// The text of a letter and of its signs, if they follow it.
fn with_signs(letter: &Range<usize>, signs: &[KrillaGlyph]) -> Option<Range<usize>> {
    let mut ends: Vec<Range<usize>> = signs.iter().map(|sign| sign.text_range.clone()).collect();
    ends.sort_unstable_by_key(|range| (range.start, range.end));
    ends.iter().try_fold(letter.clone(), |whole, sign| match sign.start {
        start if start == whole.start || start == whole.end => Some(whole.start..whole.end.max(sign.end)),
        _ if sign.end <= whole.end => Some(whole),
        _ => None,
    })
}

impl Shown {
    fn push(&mut self, text: &str, face: usize, code: bool) {
        let range = self.text.len()..self.text.len() + text.len();
        self.text.push_str(text);
        match self.parts.last_mut() {
            Some(part) if part.face == face && part.code == code => part.range.end = range.end,
            _ => self.parts.push(Part { range, face, code }),
        }
    }
}

fn cluster(cluster: u32) -> usize {
    usize::try_from(cluster).unwrap_or_default()
}

/// Breaks each line at the best place that fits, or else where the line is full.
fn breaks(text: &str, advances: &[Option<f32>], width: f32) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut start, mut used) = (0, 0.0);
    // The last possible break: its place, its quality and the width up to it.
    let mut place: Option<(usize, u8, f32)> = None;
    let mut before = None;
    for (at, c) in text.char_indices() {
        // Never break within a cluster.
        let Some(advance) = advances[at] else {
            before = Some(c);
            continue;
        };
        let worth = before.map_or(0, |before| worth(before, c));
        if at > start && worth > 0 && place.is_none_or(|(_, best, _)| worth >= best) {
            place = Some((at, worth, used));
        }
        if used + advance > width && at > start && !c.is_whitespace() {
            let (end, _, up_to) = place.take().unwrap_or((at, 0, used));
            lines.push(start..end);
            (start, used) = (end, used - up_to);
        }
        used += advance;
        before = Some(c);
    }
    lines.push(start..text.len());
    lines
}

/// How good a line break between two characters is: 0 if none is allowed.
fn worth(before: char, after: char) -> u8 {
    match before {
        ' ' => 3,
        _ if after.is_whitespace() => 0,
        '-' | '–' | '—' => 3,
        _ if (is_ideograph(before) || is_ideograph(after)) && !is_closing(after) && !is_opening(before) => 3,
        '/' | '_' | '@' | '.' | ',' | ':' | ';' | '&' | '=' | '?' => 1,
        _ => 0,
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_opening(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '“' | '‘' | '「' | '『' | '（' | '【' | '《' | '〈')
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '”'
            | '’'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
            | '、'
            | '。'
            | '，'
            | '．'
            | '・'
            | '：'
            | '；'
            | '！'
            | '？'
            | 'ー'
            | ','
            | '.'
            | ':'
            | ';'
            | '!'
            | '?'
    )
}

/// Joiners shape their neighbors, as Persian and Indian languages need.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

/// A letter or mark of a script that joins.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{0600}'..='\u{0DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}')
}

/// Text for the file's properties and lists, which viewers show their own way: bounded, not empty, nothing invisible.
pub(super) fn plain(text: &str) -> String {
    const CHARS_MAX: usize = 500;
    let shown = |c: char| if is_hidden(c) && !is_joiner(c) { char::REPLACEMENT_CHARACTER } else { c };
    let plain: String = text.chars().map(shown).take(CHARS_MAX).collect();
    if plain.trim().is_empty() { "–".to_owned() } else { plain }
}

/// Whether the character is invisible, and so could hide in a name or reverse it.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}')
        || matches!(c, '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}')
        || matches!(c, '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}')
        || matches!(c, '\u{FFF0}'..='\u{FFFB}' | '\u{E000}'..='\u{F8FF}' | '\u{1BCA0}'..='\u{1BCA3}')
        || u32::from(c) >= 0xE_0000
        // Noncharacters.
        || u32::from(c) & 0xFFFE == 0xFFFE
        || matches!(c, '\u{FDD0}'..='\u{FDEF}')
}
