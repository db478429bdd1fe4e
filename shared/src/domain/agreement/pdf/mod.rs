//! Which files may be documents of an agreement: PDFs that everyone can open.
//!
//! [`pass`] only looks at bytes and may run anywhere. [`check`], [`page_sizes`] and [`pages_digest`] run in a separate
//! process, since a small file can make a reader recurse, compute or allocate without end.

mod actions;
#[cfg(test)]
mod alike_tests;
mod appearance;
mod drawings;
mod encoding;
mod filter;
mod fonts;
mod known_fonts;
mod layers;
mod rich_text;
mod tokens;
mod unpacking;

use hayro_syntax::{LoadPdfError, Pdf};
use serde::{Deserialize, Serialize};

pub use drawings::pages_digest;
pub use filter::pass;

/// Why a file can't be a document. Displays as the end of "The file …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotADocument {
    /// Empty.
    #[error("is empty. Choose a PDF.")]
    Empty,
    /// Of another type.
    #[error("is not a PDF. Save it as a PDF, then upload that.")]
    NotAPdf,
    /// It is encrypted, with or without a password.
    #[error("is encrypted. Save it without a password or restrictions, then upload that.")]
    Encrypted,
    /// Truncated or otherwise broken.
    #[error("is a broken PDF that can’t be opened. Save it again, then upload that.")]
    Broken,
    /// More objects, streams or unpacked bytes than [`limits`](crate::limits) allow.
    #[error("unpacks to more than most readers can hold. Print it to a new PDF, then upload that.")]
    TooMuchInside,
    /// Its objects are packed in a way that hardly any program uses.
    #[error("is built in a way that few PDF readers can open. Print it to a new PDF, then upload that.")]
    Unusual,
    /// A form of a kind that most programs don't show.
    #[error("is an XFA form, which most programs can’t show. Print it to a new PDF, then upload that.")]
    XfaForm,
    /// Programs show its fields differently.
    #[error("has form fields that programs show differently. Print it to a new PDF, then upload that.")]
    FormDiffers,
    /// Programs draw its notes differently.
    #[error("has notes or stamps that programs draw differently. Print it to a new PDF, then upload that.")]
    NotesDiffer,
    /// What is printed differs from what is on the screen.
    #[error("has notes or fields that are only shown or only printed. Print it to a new PDF, then upload that.")]
    PrintDiffers,
    /// Programs show its layers differently.
    #[error("has layers that programs show differently. Print it to a new PDF, then upload that.")]
    LayersDiffer,
    /// It can change what it shows once open.
    #[error("has scripts or actions that change what it shows. Print it to a new PDF, then upload that.")]
    Acts,
    /// Its text is in fonts that programs replace.
    #[error(
        "uses fonts that are not embedded in it, so its text can look different or be missing. Print it to a new PDF, then upload that."
    )]
    FontsMissing,
    /// Its text is in fonts that can't be read.
    #[error(
        "has fonts that can’t be read, so its text can look different or be missing. Print it to a new PDF, then upload that."
    )]
    FontsUnreadable,
    /// Opening it took too much time or memory.
    #[error("takes too long or too much memory to open. Print it to a new PDF, then upload that.")]
    TooDemanding,
    /// It waited too long for other files to be opened.
    #[error("couldn’t be opened, because others are being opened. Try again in a moment.")]
    NotItsTurn,
    /// Its call must answer before it is read.
    #[error("took too long to read. Try again in a moment.")]
    OutOfTime,
    /// It has no pages.
    #[error("has no pages.")]
    NoPages,
}

/// The number of pages of a [passed](pass) PDF that everyone can open: whole, unencrypted, shown alike by all programs.
/// Even without a password, encryption keeps signers from printing or saving.
pub fn check(file: Vec<u8>) -> Result<usize, NotADocument> {
    let pdf = Pdf::new(file).map_err(|error| match error {
        LoadPdfError::Decryption(_) => NotADocument::Encrypted,
        LoadPdfError::Invalid => NotADocument::Broken,
    })?;
    if pdf.pages().is_empty() {
        return Err(NotADocument::NoPages);
    }
    appearance::check(&pdf)?;
    layers::check(&pdf)?;
    actions::check(&pdf)?;
    fonts::check(&pdf)?;
    Ok(pdf.pages().len())
}

/// Each page's displayed width and height, in points. Empty if the file can’t be opened.
#[must_use]
pub fn page_sizes(file: Vec<u8>) -> Vec<(f32, f32)> {
    let Ok(pdf) = Pdf::new(file) else { return Vec::new() };
    // Non-finite sizes count as letter paper.
    let in_bounds = |(width, height): (f32, f32)| {
        if width.is_finite() && height.is_finite() { (width, height) } else { (612.0, 792.0) }
    };
    pdf.pages().iter().map(|page| in_bounds(page.render_dimensions())).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn check(file: &[u8]) -> Result<usize, NotADocument> {
        pass(file)?;
        super::check(file.to_vec())
    }

    fn pdf(trailer: &str) -> Vec<u8> {
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
        ];
        let mut file = "%PDF-1.4\n".to_owned();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for (n, object) in objects.iter().enumerate() {
            let _ = writeln!(table, "{:010} 00000 n ", file.len());
            let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", n + 1);
        }
        let at = file.len();
        let _ = write!(file, "{table}trailer\n<< /Size 4 /Root 1 0 R {trailer}>>\nstartxref\n{at}\n%%EOF\n");
        file.into_bytes()
    }

    #[test]
    fn a_whole_pdf_is_one() {
        assert_eq!(check(&pdf("")), Ok(1));
        let mut after_a_byte_order_mark = b"\xef\xbb\xbf\n".to_vec();
        after_a_byte_order_mark.extend(pdf(""));
        assert_eq!(check(&after_a_byte_order_mark), Ok(1), "readers repair shifted offsets");
    }

    #[test]
    fn what_not_everyone_can_open_is_refused_with_the_reason() {
        let whole = pdf("");
        assert_eq!(check(b""), Err(NotADocument::Empty));
        assert_eq!(check(b"<!doctype html><p>%%EOF"), Err(NotADocument::NotAPdf));
        assert_eq!(check(b"PK\x03\x04 a Word document"), Err(NotADocument::NotAPdf));
        assert_eq!(check(&whole[..whole.len() / 2]), Err(NotADocument::Broken), "cut off");
        assert_eq!(check(b"%PDF-1.7\nnothing\n%%EOF\n"), Err(NotADocument::Broken));
        for key in ["/Encrypt 9 0 R ", "/Encrypt<</Filter/Standard>>"] {
            assert_eq!(check(&pdf(key)), Err(NotADocument::Encrypted), "{key}");
        }
        assert_eq!(check(&pdf("/EncryptMetadata false ")), Ok(1));
        let text = String::from_utf8(whole).unwrap();
        let without_pages = text.replace("[3 0 R] /Count 1", "[     ] /Count 0");
        assert!(matches!(check(without_pages.as_bytes()), Err(NotADocument::NoPages | NotADocument::Broken)));
    }
}
