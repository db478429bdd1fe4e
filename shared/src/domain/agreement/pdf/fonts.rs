//! Checks that all programs show a PDF's text alike: fonts are embedded or among the 14 standard ones. The search
//! covers all drawings, including those that [`layers`] hide; unused fonts and undrawn text don't matter.

use std::collections::{HashMap, HashSet};

use hayro_syntax::Pdf;
use hayro_syntax::content::{Instruction, UntypedIter};
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_syntax::page::Page;

use super::NotADocument;
use super::appearance::{appearance, font_name, has_text, is_shown, items, last_name, last_whole};
use super::encoding::has_usual_letters;
use super::known_fonts::{FontFileId, files, is_standard};
use super::layers;

const INVISIBLE: u32 = 3;

pub(super) fn check(pdf: &Pdf) -> Result<(), NotADocument> {
    let mut search = Search::default();
    for page in pdf.pages().iter() {
        let resources = Resources::of_page(page);
        let notes = items(page.raw(), b"Annots", page.xref()).filter_map(|note| note?.into_dict());
        for note in notes.filter(is_shown) {
            if let Some(drawing) = appearance(&note) {
                layers::check_use(drawing.dict().get(b"OC"))?;
                search.add(&drawing, &resources, State::default());
            }
        }
        search.rest.push(Drawing { content: contents(page), resources, state: State::default() });
        while let Some(drawing) = search.rest.pop() {
            search.look_through(&drawing)?;
        }
    }
    Ok(())
}

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

#[derive(Clone)]
struct Resources<'a> {
    fonts: Dict<'a>,
    drawings: Dict<'a>,
    patterns: Dict<'a>,
    states: Dict<'a>,
    properties: Dict<'a>,
}

impl<'a> Resources<'a> {
    fn of_page(page: &Page<'a>) -> Self {
        let named = page.resources();
        Self {
            fonts: named.fonts.clone(),
            drawings: named.x_objects.clone(),
            patterns: named.patterns.clone(),
            states: named.ext_g_states.clone(),
            properties: named.properties.clone(),
        }
    }

    fn of(named: &Dict<'a>) -> Self {
        let part = |key: &[u8]| named.get::<Dict<'_>>(key).unwrap_or_default();
        Self {
            fonts: part(b"Font"),
            drawings: part(b"XObject"),
            patterns: part(b"Pattern"),
            states: part(b"ExtGState"),
            properties: part(b"Properties"),
        }
    }

    fn written(&self) -> [&'a [u8]; 5] {
        [&self.fonts, &self.drawings, &self.patterns, &self.states, &self.properties].map(Dict::data)
    }
}

struct Drawing<'a> {
    content: Vec<u8>,
    resources: Resources<'a>,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct State {
    font: Found,
    is_invisible: bool,
}

/// Whether every program has a font. Without one, some draw text in their own font, others none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Found {
    #[default]
    Missing,
    Unreadable,
    There,
}

#[derive(PartialEq, Eq, Hash)]
struct Seen<'a> {
    drawing: ObjectIdentifier,
    state: State,
    /// The surrounding resources, if it has none of its own.
    around: Option<[&'a [u8]; 5]>,
}

#[derive(Default)]
struct Search<'a> {
    rest: Vec<Drawing<'a>>,
    seen: HashSet<Seen<'a>>,
    files: HashMap<FontFileId, bool>,
}

impl<'a> Search<'a> {
    /// Adds a drawing in its starting state, once. Without its own resources it uses the surrounding ones.
    fn add(&mut self, drawing: &Stream<'a>, around: &Resources<'a>, state: State) {
        let own = drawing.dict().get::<Dict<'_>>(b"Resources");
        let named = own.is_none().then(|| around.written());
        if !self.seen.insert(Seen { drawing: drawing.obj_id(), state, around: named }) {
            return;
        }
        let resources = own.map_or_else(|| around.clone(), |own| Resources::of(&own));
        let content = drawing.decoded_data().unwrap_or_default().into_owned();
        self.rest.push(Drawing { content, resources, state });
    }

    fn add_letters(&mut self, font: &Dict<'a>, around: &Resources<'a>) {
        let Some(letters) = font.get::<Dict<'_>>(b"CharProcs") else { return };
        let own = font.get::<Dict<'_>>(b"Resources");
        let resources = own.map_or_else(|| around.clone(), |own| Resources::of(&own));
        for letter in letters.keys().filter_map(|letter| letters.get::<Stream<'_>>(&*letter)).collect::<Vec<_>>() {
            self.add(&letter, &resources, State::default());
        }
    }

    fn look_through(&mut self, Drawing { content, resources, state }: &Drawing<'a>) -> Result<(), NotADocument> {
        let (mut state, mut saved) = (*state, Vec::new());
        let mut fonts: HashMap<Vec<u8>, Found> = HashMap::new();
        let mut instructions = UntypedIter::new(content);
        while let Some(instruction) = instructions.next() {
            match &**instruction.operator {
                b"q" => saved.push(state),
                // Programs differ when no state is saved.
                b"Q" => state = saved.pop().unwrap_or_default(),
                b"Tr" => state.is_invisible = last_whole(&instruction) == Some(INVISIBLE),
                b"Tf" => {
                    let Some(font) = font_name(&instruction) else { continue };
                    let known = fonts.get(&**font).copied();
                    state.font = known.unwrap_or_else(|| {
                        let font = resources.fonts.get::<Dict<'_>>(&**font);
                        font.map(|font| self.find(&font, resources)).unwrap_or_default()
                    });
                    fonts.insert(font.to_vec(), state.font);
                }
                b"gs" => {
                    let chosen = last_name(&instruction).and_then(|name| resources.states.get::<Dict<'_>>(&**name));
                    if let Some(chosen) = chosen {
                        self.choose(&chosen, resources, &mut state);
                    }
                }
                b"Tj" | b"TJ" | b"'" | b"\"" if !state.is_invisible && has_text(&instruction) => match state.font {
                    Found::There => {}
                    Found::Missing => return Err(NotADocument::FontsMissing),
                    Found::Unreadable => return Err(NotADocument::FontsUnreadable),
                },
                b"BDC" => {
                    let named = last_name(&instruction).and_then(|name| resources.properties.get(&**name));
                    layers::check_use(named)?;
                }
                b"Do" | b"scn" | b"SCN" => self.add_named(&instruction, resources, state)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Applies a graphics state: its font, and its mask, which may be drawn with text.
    fn choose(&mut self, chosen: &Dict<'a>, resources: &Resources<'a>, state: &mut State) {
        let font = chosen.get::<Array<'_>>(b"Font");
        if let Some(font) = font.and_then(|font| font.iter::<Dict<'_>>().next()) {
            state.font = self.find(&font, resources);
        }
        let mask = chosen.get::<Dict<'_>>(b"SMask");
        if let Some(mask) = mask.and_then(|mask| mask.get::<Stream<'_>>(b"G")) {
            self.add(&mask, resources, State::default());
        }
    }

    /// Adds the drawing or pattern that an instruction names. A drawing starts in the current state.
    fn add_named(
        &mut self,
        instruction: &Instruction<'_, '_>,
        resources: &Resources<'a>,
        state: State,
    ) -> Result<(), NotADocument> {
        let Some(name) = last_name(instruction) else { return Ok(()) };
        if &**instruction.operator != b"Do" {
            if let Some(pattern) = resources.patterns.get::<Stream<'_>>(&**name) {
                self.add(&pattern, resources, State::default());
            }
            return Ok(());
        }
        let Some(drawing) = resources.drawings.get::<Stream<'_>>(&**name) else { return Ok(()) };
        layers::check_use(drawing.dict().get(b"OC"))?;
        if is_named(drawing.dict(), b"Subtype", b"Form") {
            self.add(&drawing, resources, state);
        }
        Ok(())
    }

    fn find(&mut self, font: &Dict<'a>, around: &Resources<'a>) -> Found {
        if is_named(font, b"Subtype", b"Type3") {
            self.add_letters(font, around);
            return Found::There;
        }
        if is_named(font, b"Subtype", b"Type0") {
            let descendants = font.get::<Array<'_>>(b"DescendantFonts").unwrap_or_default();
            let own = descendants.iter::<Dict<'_>>().next();
            return own.and_then(|own| self.embedded(&own)).unwrap_or_default();
        }
        let known = || if is_standard(font) && has_usual_letters(font) { Found::There } else { Found::Missing };
        self.embedded(font).unwrap_or_else(known)
    }

    fn embedded(&mut self, font: &Dict<'a>) -> Option<Found> {
        let each = files(font).map(|file| *self.files.entry(file.id()).or_insert_with(|| file.is_sound()));
        let is_sound = each.reduce(|sound, other| sound && other)?;
        Some(if is_sound { Found::There } else { Found::Unreadable })
    }
}

fn is_named(dict: &Dict<'_>, key: &[u8], name: &[u8]) -> bool {
    dict.get::<Name<'_>>(key).is_some_and(|found| &*found == name)
}
