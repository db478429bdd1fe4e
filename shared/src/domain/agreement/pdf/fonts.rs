//! Whether all programs show the text of a PDF alike: its fonts are in it, or are among the 14 that every program has.
//!
//! Fonts that only stand in a list are of no matter, and so is text that is not drawn, such as what a scanner has read.

use std::collections::{HashMap, HashSet};

use hayro_syntax::Pdf;
use hayro_syntax::content::UntypedIter;
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_syntax::page::Page;

use super::NotADocument;
use super::appearance::{appearance, first_name, is_shown, items};
use super::known_fonts::{is_embedded, is_standard};

/// The mode in which text is not drawn.
const INVISIBLE: i64 = 3;

/// Refuses text in a font that each program replaces with another.
pub(super) fn check(pdf: &Pdf) -> Result<(), NotADocument> {
    let mut search = Search::default();
    for page in pdf.pages().iter() {
        search.rest.push(Drawing { content: contents(page), resources: Resources::of_page(page) });
        let notes = items(page.raw(), b"Annots", page.xref()).filter_map(|note| note?.into_dict());
        for note in notes.filter(is_shown) {
            if let Some(drawing) = appearance(&note) {
                search.add(&drawing, &Resources::default());
            }
        }
        while let Some(drawing) = search.rest.pop() {
            search.look_through(&drawing)?;
        }
    }
    Ok(())
}

/// What a page draws, in one piece.
pub(super) fn contents(page: &Page<'_>) -> Vec<u8> {
    let parts: Vec<Stream<'_>> = match page.raw().get::<Object<'_>>(b"Contents") {
        Some(Object::Stream(only)) => vec![only],
        Some(Object::Array(_)) => {
            items(page.raw(), b"Contents", page.xref()).filter_map(|part| part?.into_stream()).collect()
        }
        _ => Vec::new(),
    };
    let mut whole = Vec::new();
    for part in parts {
        whole.extend_from_slice(&part.decoded_data().unwrap_or_default());
        whole.push(b' ');
    }
    whole
}

/// What the names in a drawing stand for.
#[derive(Clone, Default)]
struct Resources<'a> {
    fonts: Dict<'a>,
    drawings: Dict<'a>,
    patterns: Dict<'a>,
    states: Dict<'a>,
}

impl<'a> Resources<'a> {
    fn of_page(page: &Page<'a>) -> Self {
        let named = page.resources();
        Self {
            fonts: named.fonts.clone(),
            drawings: named.x_objects.clone(),
            patterns: named.patterns.clone(),
            states: named.ext_g_states.clone(),
        }
    }

    fn of(named: &Dict<'a>) -> Self {
        let part = |key: &[u8]| named.get::<Dict<'_>>(key).unwrap_or_default();
        Self {
            fonts: part(b"Font"),
            drawings: part(b"XObject"),
            patterns: part(b"Pattern"),
            states: part(b"ExtGState"),
        }
    }
}

struct Drawing<'a> {
    content: Vec<u8>,
    resources: Resources<'a>,
}

/// The text that is drawn next.
#[derive(Clone, Default)]
struct State {
    /// Whether its font is there. None without a font, or with one that is known no better.
    has_font: Option<bool>,
    mode: i64,
}

#[derive(Default)]
struct Search<'a> {
    rest: Vec<Drawing<'a>>,
    seen: HashSet<ObjectIdentifier>,
}

impl<'a> Search<'a> {
    /// Adds a drawing, once. Without resources of its own it has those around it.
    fn add(&mut self, drawing: &Stream<'a>, around: &Resources<'a>) {
        if !self.seen.insert(drawing.obj_id()) {
            return;
        }
        let own = drawing.dict().get::<Dict<'_>>(b"Resources");
        let resources = own.map_or_else(|| around.clone(), |own| Resources::of(&own));
        self.rest.push(Drawing { content: drawing.decoded_data().unwrap_or_default().into_owned(), resources });
    }

    /// Adds the drawings of a font whose letters are drawings.
    fn add_letters(&mut self, font: &Dict<'a>) {
        let Some(letters) = font.get::<Dict<'_>>(b"CharProcs") else { return };
        let resources = font.get::<Dict<'_>>(b"Resources").map(|own| Resources::of(&own)).unwrap_or_default();
        for letter in letters.keys().filter_map(|letter| letters.get::<Stream<'_>>(&*letter)).collect::<Vec<_>>() {
            self.add(&letter, &resources);
        }
    }

    fn look_through(&mut self, Drawing { content, resources }: &Drawing<'a>) -> Result<(), NotADocument> {
        let (mut state, mut saved) = (State::default(), Vec::new());
        let mut fonts: HashMap<Vec<u8>, Option<bool>> = HashMap::new();
        let mut instructions = UntypedIter::new(content);
        while let Some(instruction) = instructions.next() {
            match &**instruction.operator {
                b"q" => saved.push(state.clone()),
                b"Q" => state = saved.pop().unwrap_or_default(),
                b"Tr" => {
                    state.mode = match instruction.operands().next() {
                        Some(Object::Number(mode)) => mode.as_i64(),
                        _ => 0,
                    };
                }
                b"Tf" => {
                    let Some(font) = first_name(&instruction) else { continue };
                    let known = fonts.get(&**font).copied();
                    state.has_font = known.unwrap_or_else(|| {
                        let font = resources.fonts.get::<Dict<'_>>(&**font);
                        font.map(|font| self.is_there(&font))
                    });
                    fonts.insert(font.to_vec(), state.has_font);
                }
                b"gs" => {
                    let chosen = first_name(&instruction).and_then(|name| resources.states.get::<Dict<'_>>(&**name));
                    let font = chosen.and_then(|chosen| chosen.get::<Array<'_>>(b"Font"));
                    if let Some(font) = font.and_then(|font| font.iter::<Dict<'_>>().next()) {
                        state.has_font = Some(self.is_there(&font));
                    }
                }
                b"Tj" | b"TJ" | b"'" | b"\"" if state.has_font == Some(false) && state.mode != INVISIBLE => {
                    return Err(NotADocument::FontsMissing);
                }
                b"Do" => {
                    let drawing =
                        first_name(&instruction).and_then(|name| resources.drawings.get::<Stream<'_>>(&**name));
                    let is_form = |drawing: &Stream<'_>| is_named(drawing.dict(), b"Subtype", b"Form");
                    if let Some(form) = drawing.filter(is_form) {
                        self.add(&form, resources);
                    }
                }
                b"scn" | b"SCN" => {
                    let names = instruction.operands().filter_map(|operand| match operand {
                        Object::Name(name) => Some(name),
                        _ => None,
                    });
                    if let Some(pattern) = names.last().and_then(|name| resources.patterns.get::<Stream<'_>>(&**name)) {
                        self.add(&pattern, resources);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether every program has the letters of a font.
    fn is_there(&mut self, font: &Dict<'a>) -> bool {
        if is_named(font, b"Subtype", b"Type3") {
            self.add_letters(font);
            return true;
        }
        if is_named(font, b"Subtype", b"Type0") {
            let descendants = font.get::<Array<'_>>(b"DescendantFonts").unwrap_or_default();
            return descendants.iter::<Dict<'_>>().next().is_some_and(|font| is_embedded(&font));
        }
        is_embedded(font) || is_standard(font)
    }
}

fn is_named(dict: &Dict<'_>, key: &[u8], name: &[u8]) -> bool {
    dict.get::<Name<'_>>(key).is_some_and(|found| &*found == name)
}
