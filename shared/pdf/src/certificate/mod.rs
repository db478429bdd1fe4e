//! The certificate of a completed agreement, as a PDF: who signed which documents, how and when, and everything that
//! happened.
//!
//! The output is deterministic: no clock, nothing random. It is PDF/A-2a and PDF/UA-1, so that it can be archived and
//! read aloud. The caller formats times and writes sentences.
//!
//! Names come from strangers. A character that no font has, or that is invisible or changes the direction of text, is
//! shown as its code point, in gray: `[U+202E]`.

mod content;
pub mod letter;
mod output;
mod sheet;
#[cfg(test)]
#[cfg(all(feature = "fonts", feature = "pages"))]
mod tests;
mod text;

use std::borrow::Cow;

/// Why a certificate could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    /// A font can't be read, or those for text lack the characters that code points are shown with.
    #[error("its fonts can’t be used")]
    Fonts,
    /// The library that writes PDFs refused.
    #[error("the PDF can’t be written: {0}")]
    Pdf(String),
}

/// Fonts, as TrueType or OpenType. Each character uses the first one that has it.
#[derive(Debug, Clone, Default)]
pub struct Fonts {
    /// Text, and the fallback for the others.
    pub text: Vec<Cow<'static, [u8]>>,
    /// Headings and names.
    pub strong: Vec<Cow<'static, [u8]>>,
    /// Hashes and identifiers.
    pub mono: Vec<Cow<'static, [u8]>>,
}

/// A certificate. Texts can be of any length, in any script.
#[derive(Debug, Clone, Default)]
pub struct Certificate {
    /// What identifies this certificate, on each page.
    pub id: String,
    /// The name of the agreement.
    pub agreement: String,
    /// The organization whose agreement it is.
    pub organization: String,
    /// What identifies the agreement.
    pub reference: String,
    /// When it was completed.
    pub completed_at: String,
    /// The same, for the properties of the file.
    pub date: Date,
    /// What the certificate is and who made it, in a sentence or two.
    pub statement: String,
    /// What was signed.
    pub documents: Vec<Document>,
    /// What participants promise each other.
    pub promises: Vec<Promise>,
    /// Approvals, uploads, answers.
    pub acts: Vec<Act>,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
}

/// A moment in UTC: the date of the file, which an archived PDF must have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Date {
    /// The year.
    pub year: u16,
    /// The month, from 1.
    pub month: u8,
    /// The day, from 1.
    pub day: u8,
    /// The hour, to 23.
    pub hour: u8,
    /// The minute.
    pub minute: u8,
    /// The second.
    pub second: u8,
}

/// A document of the agreement.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Its name.
    pub name: String,
    /// The SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// How many pages it has, if that is known.
    pub pages: Option<usize>,
    /// Who signed it.
    pub signers: Vec<Signer>,
}

/// A signature on a document. What is empty is left out.
#[derive(Debug, Clone, Default)]
pub struct Signer {
    /// The signer's name.
    pub name: String,
    /// The address that the invitation went to.
    pub email: String,
    /// When it was signed.
    pub signed_at: String,
    /// How it was signed: "Drawn signature".
    pub method: String,
    /// The sentence that the signer agreed to when signing.
    pub intent: String,
    /// The consent to electronic signatures.
    pub consent: Option<Consent>,
    /// The SHA-256 of what the signer was shown, in hexadecimal.
    pub shown_sha256: String,
    /// The IP address.
    pub address: String,
    /// The browser.
    pub browser: String,
    /// The signature itself, if there is one.
    pub signature: Option<Signature>,
}

/// A consent to signing electronically.
#[derive(Debug, Clone, Default)]
pub struct Consent {
    /// The version of its text.
    pub version: String,
    /// The SHA-256 of its text, in hexadecimal.
    pub sha256: String,
    /// When it was given.
    pub given_at: String,
}

/// A signature as it was made.
#[derive(Debug, Clone, PartialEq)]
pub enum Signature {
    /// A name that was typed.
    Typed(String),
    /// Strokes of a pen, each a list of points in a box of 1000 × 400 that begins at the upper left.
    Drawn(Vec<Vec<(f32, f32)>>),
}

/// What participants promise each other in the agreement.
#[derive(Debug, Clone, Default)]
pub struct Promise {
    /// What is promised.
    pub name: String,
    /// Who owes it to whom.
    pub parties: String,
    /// When it is due.
    pub due: String,
}

/// Something that was done for the agreement.
#[derive(Debug, Clone, Default)]
pub struct Act {
    /// When it was done.
    pub at: String,
    /// Who did it.
    pub actor: String,
    /// What was done.
    pub what: String,
}

/// An entry of the agreement's record.
#[derive(Debug, Clone, Default)]
pub struct Event {
    /// When it happened.
    pub at: String,
    /// What happened.
    pub name: String,
    /// What identifies the entry.
    pub id: String,
}

/// Writes a certificate.
pub fn write(certificate: &Certificate, fonts: &Fonts) -> Result<Vec<u8>, Unwritable> {
    let faces = text::Faces::load(fonts)?;
    let mut sheet = sheet::Sheet::new(&faces);
    content::put(certificate, &mut sheet);
    let about = output::About {
        title: &format!("Certificate of completion: {}", certificate.agreement),
        date: certificate.date,
        id: &certificate.id,
        name: &certificate.agreement,
        reference: &format!("Certificate {}", certificate.id),
    };
    output::pdf(&about, sheet.finish(), &faces)
}
