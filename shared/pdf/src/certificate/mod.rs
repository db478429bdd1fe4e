//! Writes a completed agreement's certificate as a PDF: who signed what, how and when, and everything that happened.
//!
//! The output is deterministic: no clock, nothing random. It is PDF/A-2a and PDF/UA-1, for archiving and reading aloud.
//! The caller formats times and writes sentences.
//!
//! Names come from strangers. A character that no font has, that is invisible or that changes the text direction
//! appears as its code point, in gray: `[U+202E]`.

mod content;
mod copies;
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
    /// A font can't be read, or the text fonts lack the characters for showing code points.
    #[error("its fonts can’t be used")]
    Fonts,
    /// The PDF library refused.
    #[error("the PDF can’t be written: {0}")]
    Pdf(String),
}

/// TrueType or OpenType fonts. Each character uses the first font that has it.
#[derive(Debug, Clone, Default)]
pub struct Fonts {
    /// Text, and the fallback for the other two.
    pub text: Vec<Cow<'static, [u8]>>,
    /// Headings and names.
    pub strong: Vec<Cow<'static, [u8]>>,
    /// Hashes and identifiers.
    pub mono: Vec<Cow<'static, [u8]>>,
}

/// A certificate. Texts can be of any length, in any script.
#[derive(Debug, Clone, Default)]
pub struct Certificate {
    /// Identifies this certificate, on each page.
    pub id: String,
    /// The name of the agreement.
    pub agreement: String,
    /// The organization that owns the agreement.
    pub organization: String,
    /// Identifies the agreement.
    pub reference: String,
    /// When it was completed.
    pub completed_at: String,
    /// The same, for the file's properties.
    pub date: Date,
    /// What the certificate is and who made it, in a sentence or two.
    pub statement: String,
    /// The signed documents.
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
    /// The number of pages, if known.
    pub pages: Option<usize>,
    /// Its signers.
    pub signers: Vec<Signer>,
}

/// A signature on a document. Empty values are left out.
#[derive(Debug, Clone, Default)]
pub struct Signer {
    /// The signer's name.
    pub name: String,
    /// The invited email address.
    pub email: String,
    /// When it was signed.
    pub signed_at: String,
    /// The method, such as "Drawn signature".
    pub method: String,
    /// The sentence the signer agreed to when signing.
    pub intent: String,
    /// The consent to electronic signatures.
    pub consent: Option<Consent>,
    /// The SHA-256 of what the signer saw, in hexadecimal.
    pub shown_sha256: String,
    /// The IP address.
    pub address: String,
    /// The browser.
    pub browser: String,
    /// The signature itself, if any.
    pub signature: Option<Signature>,
}

/// Consent to sign electronically.
#[derive(Debug, Clone, Default)]
pub struct Consent {
    /// The version of its text.
    pub version: String,
    /// The SHA-256 of its text, in hexadecimal.
    pub sha256: String,
    /// When it was given.
    pub given_at: String,
}

/// A signature as the signer made it.
#[derive(Debug, Clone, PartialEq)]
pub enum Signature {
    /// A typed name.
    Typed(String),
    /// Pen strokes, each a list of points in a box of 1000 × 400 with the origin at the upper left.
    Drawn(Vec<Vec<(f32, f32)>>),
}

/// A promise between participants of the agreement.
#[derive(Debug, Clone, Default)]
pub struct Promise {
    /// The promise.
    pub name: String,
    /// Who owes it to whom.
    pub parties: String,
    /// When it is due.
    pub due: String,
}

/// An action on the agreement.
#[derive(Debug, Clone, Default)]
pub struct Act {
    /// When it happened.
    pub at: String,
    /// Who did it.
    pub actor: String,
    /// What they did.
    pub what: String,
}

/// An entry of the agreement's record.
#[derive(Debug, Clone, Default)]
pub struct Event {
    /// When it happened.
    pub at: String,
    /// What happened.
    pub name: String,
    /// Identifies the entry.
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
