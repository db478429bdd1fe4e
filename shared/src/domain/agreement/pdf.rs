//! What may be a document of an agreement: a PDF that everyone can open.

use hayro_syntax::{LoadPdfError, Pdf};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};

use crate::limits::DOCUMENT_UNPACKED_BYTES_MAX;

/// Why a file can't be a document. Its text completes "The file …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotADocument {
    /// It has no bytes.
    #[error("is empty. Choose a PDF.")]
    Empty,
    /// It is of another type.
    #[error("is not a PDF. Save it as a PDF, then upload that.")]
    NotAPdf,
    /// It is encrypted, with or without a password.
    #[error("is encrypted. Save it without a password or restrictions, then upload that.")]
    Encrypted,
    /// It is cut off or otherwise broken.
    #[error("is a broken PDF that can’t be opened. Save it again, then upload that.")]
    Broken,
    /// It unpacks to more than [`DOCUMENT_UNPACKED_BYTES_MAX`].
    #[error("unpacks to more than most readers can hold. Print it to a new PDF, then upload that.")]
    TooMuchInside,
    /// It has no pages.
    #[error("has no pages.")]
    NoPages,
}

/// Checks that a file is a PDF that everyone can open: whole, not encrypted, with a page. Returns the number of pages.
///
/// An encrypted PDF without a password opens too, but its restrictions keep signers from printing or saving it.
///
/// # Errors
/// [`NotADocument`].
pub fn check(file: &[u8]) -> Result<usize, NotADocument> {
    // Readers look for both marks within 1,024 bytes of the file's ends.
    const ENDS: usize = 1024;
    if file.is_empty() {
        return Err(NotADocument::Empty);
    }
    let head = &file[..file.len().min(ENDS)];
    let tail = &file[file.len().saturating_sub(ENDS)..];
    if !contains(head, b"%PDF-") {
        return Err(NotADocument::NotAPdf);
    }
    if !contains(tail, b"%%EOF") {
        return Err(NotADocument::Broken);
    }
    if names_encryption(file) {
        return Err(NotADocument::Encrypted);
    }
    if !unpacks_within(file, DOCUMENT_UNPACKED_BYTES_MAX) {
        return Err(NotADocument::TooMuchInside);
    }
    let pdf = Pdf::new(file.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(_) => NotADocument::Encrypted,
        LoadPdfError::Invalid => NotADocument::Broken,
    })?;
    match pdf.pages().len() {
        0 => Err(NotADocument::NoPages),
        pages => Ok(pages),
    }
}

/// The width and height of each page as it is shown, in points. A file that can’t be opened has no pages.
#[must_use]
pub fn page_sizes(file: &[u8]) -> Vec<(f32, f32)> {
    let Ok(pdf) = Pdf::new(file.to_vec()) else { return Vec::new() };
    // A page whose size is beyond all numbers counts as one of letter paper.
    let in_bounds = |(width, height): (f32, f32)| {
        if width.is_finite() && height.is_finite() { (width, height) } else { (612.0, 792.0) }
    };
    pdf.pages().iter().map(|page| in_bounds(page.render_dimensions())).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Whether a trailer refers to an encryption dictionary. Trailers are never compressed.
fn names_encryption(file: &[u8]) -> bool {
    const KEY: &[u8] = b"/Encrypt";
    let keys = file.windows(KEY.len()).enumerate().filter(|(_, window)| *window == KEY);
    keys.map(|(at, _)| &file[at + KEY.len()..]).any(|rest| {
        let value = rest.trim_ascii_start();
        value.starts_with(b"<<") || (value.len() < rest.len() && value.first().is_some_and(u8::is_ascii_digit))
    })
}

/// Whether the compressed streams of a file, its pictures aside, unpack to at most so many bytes in all. The reader unpacks
/// them without a limit; it leaves pictures alone.
fn unpacks_within(file: &[u8], bytes_max: usize) -> bool {
    const START: &[u8] = b"stream";
    // The dictionary stands before its stream. A longer one is rare, and its stream is measured as well.
    const DICTIONARY_BYTES: usize = 1024;
    let mut left = bytes_max;
    let mut at = 0;
    while let Some(found) = file[at..].windows(START.len()).position(|window| window == START) {
        let start = at + found;
        at = start + START.len();
        let before = &file[start.saturating_sub(DICTIONARY_BYTES)..start];
        let own = before.windows(3).rposition(|window| window == b"obj").map_or(before, |obj| &before[obj..]);
        if before.ends_with(b"end") || contains(own, b"/Image") {
            continue;
        }
        match decompress_to_vec_zlib_with_limit(file[at..].trim_ascii_start(), left) {
            Ok(unpacked) => left -= unpacked.len(),
            Err(error) if error.status == TINFLStatus::HasMoreOutput => return false,
            // Of another kind, or broken: readers stop where this stopped.
            Err(error) => left -= error.output.len().min(left),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

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
    fn what_unpacks_without_end_is_not_read() {
        let with_stream = |unpacked: usize, kind: &str| {
            let packed = miniz_oxide::deflate::compress_to_vec_zlib(&vec![b' '; unpacked], 6);
            let mut file = pdf("");
            let at = file.len() - b"%%EOF\n".len();
            let head = format!("9 0 obj\n<< {kind} /Filter /FlateDecode /Length {} >>\nstream\n", packed.len());
            file.splice(at..at, [head.as_bytes(), &packed, b"\nendstream\nendobj\n"].concat());
            file
        };
        assert_eq!(check(&with_stream(1_000_000, "/Type /ObjStm")), Ok(1));
        let bomb = DOCUMENT_UNPACKED_BYTES_MAX + 1;
        assert_eq!(check(&with_stream(bomb, "/Type /ObjStm")), Err(NotADocument::TooMuchInside));
        assert_eq!(check(&with_stream(bomb, "")), Err(NotADocument::TooMuchInside));
        assert_eq!(check(&with_stream(bomb, "/Type /XObject /Subtype /Image")), Ok(1), "pictures are left packed");
        let several = (0..9).flat_map(|_| with_stream(DOCUMENT_UNPACKED_BYTES_MAX / 8, "/Type /ObjStm"));
        assert_eq!(check(&several.collect::<Vec<u8>>()), Err(NotADocument::TooMuchInside), "together");
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
