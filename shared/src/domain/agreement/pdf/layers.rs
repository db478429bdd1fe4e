//! Checks that all programs show a PDF's layers alike.
//!
//! Decision: a file that hides a layer is refused. Some programs ignore layers, others let people toggle them, and a
//! layer can be for screens only.

use hayro_syntax::Pdf;
use hayro_syntax::object::{Array, Dict, Name, Object};

use super::NotADocument;
use super::appearance::items;

pub(super) fn check(pdf: &Pdf) -> Result<(), NotADocument> {
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
    let layers = catalog.get::<Dict<'_>>(b"OCProperties").unwrap_or_default();
    let chosen = layers.get::<Dict<'_>>(b"D").unwrap_or_default();
    let is_on = chosen.get::<Name<'_>>(b"BaseState").is_none_or(|state| &*state == b"ON");
    let hides = chosen.get::<Array<'_>>(b"OFF").is_some_and(|off| off.raw_iter().next().is_some());
    let is_for_all = items(&layers, b"OCGs", pdf.xref()).flatten().filter_map(Object::into_dict).all(|layer| {
        let usage = layer.get::<Dict<'_>>(b"Usage").unwrap_or_default();
        let state = |purpose: &[u8], key: &[u8]| usage.get::<Dict<'_>>(purpose)?.get::<Name<'_>>(key);
        let states = [state(b"View", b"ViewState"), state(b"Print", b"PrintState"), state(b"Export", b"ExportState")];
        states.into_iter().flatten().all(|state| &*state != b"OFF")
    });
    // By zoom, language or reader.
    let is_by_reader = items(&chosen, b"AS", pdf.xref()).flatten().filter_map(Object::into_dict).any(|rule| {
        let purposes = rule.get::<Array<'_>>(b"Category").unwrap_or_default();
        let mut purposes = purposes.iter::<Object<'_>>().filter_map(Object::into_name);
        purposes.any(|purpose| !matches!(&*purpose, b"View" | b"Print" | b"Export"))
    });
    if is_on && !hides && is_for_all && !is_by_reader { Ok(()) } else { Err(NotADocument::LayersDiffer) }
}

/// Refuses content that is hidden although its layers are shown.
pub(super) fn check_use(layer: Option<Dict<'_>>) -> Result<(), NotADocument> {
    let layer = layer.unwrap_or_default();
    let is_computed = layer.get::<Array<'_>>(b"VE").is_some();
    match layer.get::<Name<'_>>(b"P").as_deref() {
        None | Some(b"AnyOn" | b"AllOn") if !is_computed => Ok(()),
        _ => Err(NotADocument::LayersDiffer),
    }
}
