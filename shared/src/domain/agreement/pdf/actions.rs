//! Detects PDFs that may change what they show once open: by a script, or by an action on notes, layers or fields.
//!
//! Decision: such a file is refused even if nothing seems to start the action, because programs differ in what they
//! run.

use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, MaybeRef, Name, Object};

use super::NotADocument;

const CHANGING: [&[u8]; 6] = [b"JavaScript", b"Hide", b"SetOCGState", b"Rendition", b"ImportData", b"ResetForm"];

pub(super) fn check(pdf: &Pdf) -> Result<(), NotADocument> {
    let mut open: Vec<_> = pdf.objects().into_iter().collect();
    while let Some(object) = open.pop() {
        let dict = match object {
            Object::Array(list) => {
                open.extend(list.raw_iter().filter_map(here));
                continue;
            }
            Object::Dict(dict) => dict,
            Object::Stream(stream) => stream.dict().clone(),
            _ => continue,
        };
        if is_changing(&dict) {
            return Err(NotADocument::Acts);
        }
        open.extend(dict.entries().filter_map(|(_, value)| here(value)));
    }
    Ok(())
}

/// A direct value. Indirect objects are checked on their own.
fn here(value: MaybeRef<Object<'_>>) -> Option<Object<'_>> {
    match value {
        MaybeRef::NotRef(object) => Some(object),
        MaybeRef::Ref(_) => None,
    }
}

fn is_changing(dict: &Dict<'_>) -> bool {
    let name = |key: &[u8]| dict.get::<Name<'_>>(key);
    // A heading may have such a name, but no script.
    let is_heading = name(b"Type").is_some_and(|kind| &*kind == b"StructElem") && !dict.contains_key(b"JS");
    !is_heading && name(b"S").is_some_and(|action| CHANGING.contains(&&*action))
}
