//! Checks that all programs show a PDF's fields and notes alike, each of which has an appearance: a drawing of itself.
//! Programs make up missing ones, and form-filling programs show a field's value instead.
//!
//! Decision: a file with a difference is refused, because programs disagree on how to draw it. Printing it to a new PDF
//! settles what is signed.

use std::rc::Rc;

use hayro_syntax::Pdf;
use hayro_syntax::content::{Instruction, UntypedIter};
use hayro_syntax::object::{Array, Dict, MaybeRef, Name, Number, Object, Rect, Stream, String as Text};
use hayro_syntax::xref::XRef;

use super::NotADocument;
use super::encoding::{self, Encoding, UNKNOWN};
use super::rich_text;

const ANCESTORS_MAX: usize = 32;

/// Flags of notes (ISO 32000-1, 12.5.3).
const HIDDEN: u32 = 1 << 1;
const PRINT: u32 = 1 << 2;
const NO_VIEW: u32 = 1 << 5;
const TOGGLE_NO_VIEW: u32 = 1 << 8;

pub(super) fn check(pdf: &Pdf) -> Result<(), NotADocument> {
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
    let form = catalog.get::<Dict<'_>>(b"AcroForm").unwrap_or_default();
    let is_xfa = form.get::<Object<'_>>(b"XFA").is_some_and(|xfa| !matches!(xfa, Object::Null(_)));
    if is_xfa || is_true(&catalog, b"NeedsRendering") {
        return Err(NotADocument::XfaForm);
    }
    let is_redrawn = is_true(&form, b"NeedAppearances");
    for page in pdf.pages().iter() {
        // Our renderer stops at an entry that is not a note; other programs continue.
        let mut is_drawn_here = true;
        for note in items(page.raw(), b"Annots", page.xref()) {
            let Some(note) = note.and_then(Object::into_dict) else {
                is_drawn_here = false;
                continue;
            };
            let is_field = name(&note, b"Subtype").is_some_and(|subtype| &*subtype == b"Widget");
            let is_alike = match () {
                () if flags(&note).is_none() => false,
                () if !is_shown_somewhere(&note) => true,
                () if is_playing(&note) => false,
                () if is_field => is_drawn_here && !is_redrawn && is_field_alike(&note),
                () if appearance(&note).is_some() => is_drawn_here,
                () => is_link(&note),
            };
            if !is_alike {
                return Err(if is_field { NotADocument::FormDiffers } else { NotADocument::NotesDiffer });
            }
            if !is_printed_as_shown(&note) {
                return Err(NotADocument::PrintDiffers);
            }
            // Our renderer shows notes of any layer.
            if is_shown(&note) && appearance(&note).is_some() && is_set(&note, b"OC") {
                return Err(NotADocument::LayersDiffer);
            }
        }
    }
    Ok(())
}

pub(super) fn items<'a>(dict: &Dict<'a>, key: &[u8], xref: &'a XRef) -> impl Iterator<Item = Option<Object<'a>>> {
    dict.get::<Array<'_>>(key).unwrap_or_default().raw_iter().map(|item| match item {
        MaybeRef::Ref(elsewhere) => xref.get(elsewhere.into()),
        MaybeRef::NotRef(here) => Some(here),
    })
}

fn is_true(dict: &Dict<'_>, key: &[u8]) -> bool {
    dict.get::<bool>(key).unwrap_or_default()
}

fn is_set(dict: &Dict<'_>, key: &[u8]) -> bool {
    dict.get::<Object<'_>>(key).is_some_and(|value| !matches!(value, Object::Null(_)))
}

fn name<'a>(dict: &Dict<'a>, key: &[u8]) -> Option<Name<'a>> {
    dict.get(key)
}

/// A non-negative number written as an integer, such as 2. Programs disagree on how to read others.
pub(super) fn whole(number: Number) -> Option<u32> {
    number.to_string().parse().ok()
}

fn flags(note: &Dict<'_>) -> Option<u32> {
    match note.get::<Object<'_>>(b"F") {
        None | Some(Object::Null(_)) => Some(0),
        Some(Object::Number(flags)) => whole(flags),
        Some(_) => None,
    }
}

fn has_flag(note: &Dict<'_>, flag: u32) -> bool {
    flags(note).unwrap_or_default() & flag != 0
}

fn has_area(note: &Dict<'_>) -> bool {
    note.get::<Rect>(b"Rect").is_some_and(|area| area.width() > 0.0 && area.height() > 0.0)
}

/// Whether it is on the screen.
pub(super) fn is_shown(note: &Dict<'_>) -> bool {
    has_area(note) && !has_flag(note, HIDDEN | NO_VIEW)
}

/// Whether it is on the screen, on paper, or where the pointer is.
fn is_shown_somewhere(note: &Dict<'_>) -> bool {
    let is_shown = !has_flag(note, NO_VIEW) || has_flag(note, PRINT | TOGGLE_NO_VIEW);
    has_area(note) && !has_flag(note, HIDDEN) && is_shown
}

/// Whether paper shows the note just as all screens do, or as empty.
fn is_printed_as_shown(note: &Dict<'_>) -> bool {
    let is_alike = has_flag(note, PRINT) != has_flag(note, NO_VIEW) && !has_flag(note, TOGGLE_NO_VIEW);
    is_alike || !is_shown_somewhere(note) || appearance(note).is_none_or(|drawing| is_empty(&drawing))
}

fn is_empty(drawing: &Stream<'_>) -> bool {
    let content = drawing.decoded_data().unwrap_or_default();
    let mut instructions = UntypedIter::new(&content);
    while let Some(instruction) = instructions.next() {
        match &**instruction.operator {
            b"Tj" | b"TJ" | b"'" | b"\"" if !has_text(&instruction) => {}
            b"Tj" | b"TJ" | b"'" | b"\"" | b"S" | b"s" | b"f" | b"F" | b"f*" | b"B" | b"B*" | b"b" | b"b*" | b"sh"
            | b"BI" | b"Do" => return false,
            _ => {}
        }
    }
    true
}

/// Whether it plays: a film or a model, which only some programs show.
fn is_playing(note: &Dict<'_>) -> bool {
    let kind = name(note, b"Subtype");
    matches!(kind.as_deref(), Some(b"3D" | b"Movie" | b"RichMedia" | b"Screen"))
}

/// Whether a note only links somewhere or opens another note. Only a border too thin to cover content is allowed.
fn is_link(note: &Dict<'_>) -> bool {
    match name(note, b"Subtype").as_deref() {
        Some(b"Link") => {
            let style = note.get::<Dict<'_>>(b"BS").and_then(|style| style.get::<f32>(b"W"));
            let border =
                note.get::<Array<'_>>(b"Border").and_then(|border| border.iter::<Object<'_>>().nth(2)?.into_f32());
            style.into_iter().chain(border).all(|width| width <= 1.0)
        }
        Some(b"Popup") => true,
        _ => false,
    }
}

pub(super) fn appearance<'a>(note: &Dict<'a>) -> Option<Stream<'a>> {
    match note.get::<Dict<'_>>(b"AP")?.get::<Object<'_>>(b"N")? {
        Object::Stream(drawing) => Some(drawing),
        Object::Dict(states) => states.get(name(note, b"AS")?),
        _ => None,
    }
}

fn inherited<'a>(field: &Dict<'a>, key: &[u8]) -> Option<Object<'a>> {
    let mut field = field.clone();
    for _ in 0..ANCESTORS_MAX {
        match field.get::<Object<'_>>(key) {
            None | Some(Object::Null(_)) => field = field.get(b"Parent")?,
            found => return found,
        }
    }
    None
}

fn field_flags(field: &Dict<'_>) -> u32 {
    match inherited(field, b"Ff") {
        Some(Object::Number(flags)) => u32::try_from(flags.as_i64()).unwrap_or_default(),
        _ => 0,
    }
}

fn is_field_alike(field: &Dict<'_>) -> bool {
    const PASSWORD: u32 = 1 << 13;
    const PUSH_BUTTON: u32 = 1 << 16;
    let drawing = appearance(field);
    let kind = inherited(field, b"FT").and_then(Object::into_name);
    let is_drawn = || drawing.is_some() || !has_look(field);
    match kind.as_deref() {
        // An unsigned signature field draws only its look.
        Some(b"Sig") => is_drawn(),
        Some(b"Btn") if field_flags(field) & PUSH_BUTTON != 0 => is_drawn(),
        Some(b"Btn") => is_button_alike(field) && (is_chosen(field) || is_drawn_or_off(field)),
        Some(b"Tx") if field_flags(field) & PASSWORD != 0 => drawing.is_some(),
        Some(b"Tx" | b"Ch") => {
            let wanted = values(field);
            if !is_rich_text_alike(field, &wanted) {
                return false;
            }
            if wanted.is_empty() && drawing.is_none() {
                return is_drawn() && !has_options(field);
            }
            drawing.and_then(|drawing| shown(&drawing)).is_some_and(|shown| is_value_shown(field, &wanted, &shown))
        }
        _ => drawing.is_some(),
    }
}

fn has_look(field: &Dict<'_>) -> bool {
    let look = field.get::<Dict<'_>>(b"MK").unwrap_or_default();
    [&b"BC"[..], b"BG", b"CA"].into_iter().any(|key| is_set(&look, key))
}

/// Whether a field has options, which some programs show even if none is chosen.
fn has_options(field: &Dict<'_>) -> bool {
    let options = inherited(field, b"Opt").and_then(Object::into_array).unwrap_or_default();
    options.raw_iter().next().is_some() || inherited(field, b"I").is_some()
}

/// Whether a box or button shows the state of its value. One without a drawing of a state is empty in it.
fn is_button_alike(field: &Dict<'_>) -> bool {
    let state = name(field, b"AS");
    let state = state.as_deref().unwrap_or(b"Off");
    let value = inherited(field, b"V").and_then(Object::into_name);
    let value = value.as_deref().unwrap_or(b"Off");
    let states = states(field);
    let is_own = |value: &[u8]| states.iter().flat_map(Dict::keys).any(|state| &*state == value);
    let due = if value != b"Off" && is_own(value) { value } else { b"Off" };
    state == due
}

fn states<'a>(field: &Dict<'a>) -> Option<Dict<'a>> {
    field.get::<Dict<'_>>(b"AP")?.get::<Dict<'_>>(b"N")
}

fn is_chosen(field: &Dict<'_>) -> bool {
    name(field, b"AS").is_some_and(|state| &*state != b"Off") && appearance(field).is_some()
}

fn is_drawn_or_off(field: &Dict<'_>) -> bool {
    states(field).is_some()
        || (!has_look(field)
            && inherited(field, b"V").is_none_or(|value| value.into_name().is_some_and(|value| &*value == b"Off")))
}

fn values(field: &Dict<'_>) -> Vec<Vec<char>> {
    let held = match inherited(field, b"V") {
        Some(Object::String(text)) => vec![letters_of(text.as_bytes())],
        Some(Object::Stream(text)) => vec![letters_of(&text.decoded_data().unwrap_or_default())],
        Some(Object::Array(several)) => texts(&several).map(|text| letters_of(text.as_bytes())).collect(),
        _ => Vec::new(),
    };
    let options = inherited(field, b"Opt").and_then(Object::into_array).unwrap_or_default();
    let read_as = |value: Vec<char>| {
        let mut pairs = options
            .iter::<Object<'_>>()
            .filter_map(Object::into_array)
            .map(|pair| texts(&pair).map(|text| letters_of(text.as_bytes())).collect::<Vec<_>>());
        pairs
            .find_map(|pair| match <[_; 2]>::try_from(pair) {
                Ok([stands_for, text]) if stands_for == value => Some(text),
                _ => None,
            })
            .unwrap_or(value)
    };
    held.into_iter().map(read_as).filter(|value| !value.is_empty()).collect()
}

/// Whether a field's rich text, which some programs draw instead of its value, has the value's letters.
fn is_rich_text_alike(field: &Dict<'_>, wanted: &[Vec<char>]) -> bool {
    let marked = match inherited(field, b"RV") {
        None => return true,
        Some(Object::String(marked)) => encoding::of_string(marked.as_bytes()),
        Some(Object::Stream(marked)) => encoding::of_string(&marked.decoded_data().unwrap_or_default()),
        Some(_) => return false,
    };
    let rich = letters(rich_text::text(&marked).chars());
    !rich.contains(&UNKNOWN) && rich == wanted.concat()
}

/// Whether the shown letters are the values. Unknown letters equal nothing; a list also shows options not chosen.
fn is_value_shown(field: &Dict<'_>, wanted: &[Vec<char>], shown: &[char]) -> bool {
    const COMBO: u32 = 1 << 17;
    if wanted.iter().flatten().chain(shown).any(|letter| *letter == UNKNOWN) {
        return false;
    }
    let is_list = inherited(field, b"FT").and_then(Object::into_name).is_some_and(|kind| &*kind == b"Ch")
        && field_flags(field) & COMBO == 0;
    if is_list {
        return wanted.iter().all(|value| shown.windows(value.len()).any(|part| part == value.as_slice()));
    }
    wanted.concat() == shown
}

/// The letters of a text to compare, without spaces and line breaks, which each program sets differently.
fn letters(text: impl IntoIterator<Item = char>) -> Vec<char> {
    text.into_iter().filter(|letter| !letter.is_whitespace() && !letter.is_control()).collect()
}

fn letters_of(text: &[u8]) -> Vec<char> {
    letters(encoding::of_string(text).chars())
}

/// The letters that a field's drawing shows, [`UNKNOWN`] for undecodable ones. None if it has inner drawings or unseen
/// text. Only its own fonts count: few programs look for them in the form.
fn shown(drawing: &Stream<'_>) -> Option<Vec<char>> {
    let own = part(drawing.dict(), b"Resources");
    let (states, fonts) = (part(&own, b"ExtGState"), part(&own, b"Font"));
    let content = drawing.decoded_data().ok()?;
    let (mut shown, mut font, mut saved) = (String::new(), None::<Rc<Encoding>>, Vec::new());
    let mut instructions = UntypedIter::new(&content);
    while let Some(instruction) = instructions.next() {
        match &**instruction.operator {
            b"Do" => return None,
            b"Tr" if !is_filled(&instruction) => return None,
            b"q" => saved.push(font.clone()),
            b"Q" => font = saved.pop().flatten(),
            b"Tf" => {
                let found = fonts.get::<Dict<'_>>(&**font_name(&instruction)?);
                font = found.and_then(|font| Encoding::of(&font)).map(Rc::new);
            }
            b"gs" => {
                let state = last_name(&instruction).and_then(|name| states.get::<Dict<'_>>(&**name));
                if state.is_some_and(|state| state.get::<Array<'_>>(b"Font").is_some()) {
                    font = None;
                }
            }
            b"Tj" | b"'" | b"\"" | b"TJ" => {
                let mut show = |text: &Text<'_>| match &font {
                    Some(font) => shown.extend(font.read(text.as_bytes())),
                    None => shown.extend(text.as_bytes().iter().map(|_| UNKNOWN)),
                };
                for operand in instruction.operands() {
                    match operand {
                        Object::String(text) => show(text),
                        Object::Array(parts) => texts(parts).for_each(|text| show(&text)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some(letters(shown.chars()))
}

fn part<'a>(of: &Dict<'a>, key: &[u8]) -> Dict<'a> {
    of.get(key).unwrap_or_default()
}

fn is_filled(mode: &Instruction<'_, '_>) -> bool {
    last_whole(mode).is_some_and(|mode| mode <= 2)
}

/// The name operand of an instruction. Programs take the last operands and ignore others before them.
pub(super) fn last_name<'b, 'a>(instruction: &Instruction<'b, 'a>) -> Option<&'b Name<'a>> {
    match instruction.operands().last()? {
        Object::Name(name) => Some(name),
        _ => None,
    }
}

pub(super) fn last_whole(instruction: &Instruction<'_, '_>) -> Option<u32> {
    match instruction.operands().last()? {
        Object::Number(number) => whole(*number),
        _ => None,
    }
}

pub(super) fn font_name<'b, 'a>(instruction: &Instruction<'b, 'a>) -> Option<&'b Name<'a>> {
    match instruction.operands().collect::<Vec<_>>()[..] {
        [.., Object::Name(name), Object::Number(_)] => Some(name),
        _ => None,
    }
}

fn texts<'a>(list: &Array<'a>) -> impl Iterator<Item = Text<'a>> {
    list.iter::<Object<'_>>().filter_map(Object::into_string)
}

pub(super) fn has_text(instruction: &Instruction<'_, '_>) -> bool {
    let is_text = |part: &Object<'_>| matches!(part, Object::String(text) if !text.as_bytes().is_empty());
    instruction.operands().any(|operand| match operand {
        Object::Array(parts) => parts.iter::<Object<'_>>().any(|part| is_text(&part)),
        other => is_text(other),
    })
}
