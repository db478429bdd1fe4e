//! A digest of what a PDF's pages draw. It tells whether two files show the same despite different properties or
//! compression.
//!
//! Decision: drawings are compared as written, not as pictures. Scanning, printing to a new PDF or signing in a program
//! changes the pages; saving again doesn't.

use std::collections::HashSet;

use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, ObjectIdentifier, Stream};
use sha2::{Digest as _, Sha256};

use super::appearance::{appearance, is_shown, items};
use super::fonts::contents;
use crate::crypto::hex;

/// The digest of the pages' drawings, in lowercase hex. None for a file that can't be opened.
#[must_use]
pub fn pages_digest(file: Vec<u8>) -> Option<String> {
    let pdf = Pdf::new(file).ok()?;
    let mut seen = Seen::default();
    for page in pdf.pages().iter() {
        let (width, height) = page.render_dimensions();
        seen.add(&[width.to_be_bytes(), height.to_be_bytes()].concat());
        seen.add(&contents(page));
        seen.add_drawings(&page.resources().x_objects);
        let notes = items(page.raw(), b"Annots", page.xref()).filter_map(|note| note?.into_dict());
        for drawing in notes.filter(is_shown).filter_map(|note| appearance(&note)) {
            seen.add(b"note");
            seen.add_drawing(&drawing);
        }
    }
    Some(hex(&seen.digest.finalize()))
}

#[derive(Default)]
struct Seen {
    digest: Sha256,
    drawings: HashSet<ObjectIdentifier>,
}

impl Seen {
    fn add(&mut self, part: &[u8]) {
        self.digest.update(part.len().to_be_bytes());
        self.digest.update(part);
    }

    fn add_drawings(&mut self, drawings: &Dict<'_>) {
        let mut names: Vec<_> = drawings.keys().collect();
        names.sort_unstable_by(|one, other| one.as_ref().cmp(other.as_ref()));
        for drawing in names.into_iter().filter_map(|name| drawings.get::<Stream<'_>>(&*name)) {
            self.add_drawing(&drawing);
        }
    }

    fn add_drawing(&mut self, drawing: &Stream<'_>) {
        if !self.drawings.insert(drawing.obj_id()) {
            return;
        }
        // A picture in its own format, such as JPEG, is compared in that format.
        self.add(&drawing.decoded_data().unwrap_or_else(|_| drawing.raw_data()));
        let inside = drawing.dict().get::<Dict<'_>>(b"Resources").unwrap_or_default();
        self.add_drawings(&inside.get::<Dict<'_>>(b"XObject").unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content: &str, keys: &str, further: &[&str]) -> Option<String> {
        page_of(stream("", content), keys, further)
    }

    fn page_of(content: String, keys: &str, further: &[&str]) -> Option<String> {
        let fixed = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R {keys} >>"),
            content,
        ];
        let objects = fixed.iter().map(String::as_str).chain(further.iter().copied());
        let bodies = objects.zip(1..).map(|(object, n)| format!("{n} 0 obj\n{object}\nendobj\n"));
        let bodies: String = bodies.collect();
        pages_digest(format!("%PDF-1.4\n{bodies}trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n").into_bytes())
    }

    fn stream(keys: &str, content: &str) -> String {
        format!("<< {keys} /Length {} >>\nstream\n{content}\nendstream", content.len())
    }

    #[test]
    fn what_is_only_saved_again_has_the_same_pages() {
        let saved = page("0 0 9 9 re f", "", &[]);
        assert!(saved.is_some());
        assert_eq!(saved, page("0 0 9 9 re f", "/Rotate 0", &["<< /Title (Another) >>"]));
        let packed = stream("/Filter /ASCIIHexDecode", "30 20 30 20 39 20 39 20 72 65 20 66>");
        assert_eq!(saved, page_of(packed, "", &[]), "packed otherwise");
        assert_eq!(pages_digest(b"no PDF".to_vec()), None);
    }

    #[test]
    fn ink_a_picture_or_another_size_makes_other_pages() {
        let form = |content: &str| stream("/Subtype /Form /BBox [0 0 9 9]", content);
        let drawing = "/Resources << /XObject << /X 5 0 R >> >>";
        let note = "/Annots [<< /Subtype /Ink /Rect [0 0 9 9] /AP << /N 5 0 R >> >>]";
        let (one, other) = (form("0 0 9 9 re f"), form("0 0 8 8 re f"));
        let inside = stream("/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /Y 6 0 R >> >>", "/Y Do");
        let pages = [
            page("/X Do", "", &[]),
            page("/X Do", "/Rotate 90", &[]),
            page("/X Do", drawing, &[&one]),
            page("/X Do", drawing, &[&other]),
            page("/X Do", drawing, &[&inside, &one]),
            page("/X Do", drawing, &[&inside, &other]),
            page("/X Do", note, &[&one]),
            page("/X Do", note, &[&other]),
            page("/Y Do", "", &[]),
        ];
        for (at, one) in pages.iter().enumerate() {
            for other in &pages[at + 1..] {
                assert!(one.is_some() && one != other, "{at}");
            }
        }
        let itself = stream("/Subtype /Form /Resources << /XObject << /X 5 0 R >> >>", "/X Do");
        assert!(page("/X Do", drawing, &[&itself]).is_some(), "a drawing of itself ends");
    }
}
