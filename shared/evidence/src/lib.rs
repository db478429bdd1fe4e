//! The evidence of an agreement as files: the certificate of a completed one, and the signed bundle with all there is.
//!
//! The same record makes the same bytes: no file has a clock or anything random in it. What changes a bundle is a new act
//! on its agreement, a participant's contact, the organization or the service that got another name or address, a new key, or a
//! release of the service that writes its files otherwise. `events/verify/README.md` describes the files for outsiders.

mod answers;
mod bundling;
mod certifying;
mod extracts;
mod files;
mod guide;
mod keys;
mod lines;
mod obligations;
mod paths;
mod payments;
mod satisfactions;
#[cfg(test)]
mod tests;

pub use ::bundle::SigningKey;
use shared::crypto::keyring::SealError;

pub use bundling::{bundle, bundle_of_acts};
pub use certifying::{Audience, certificate};
pub use extracts::{ExtractReference, StatementExtract};
pub use files::Files;
pub use keys::{key_document, public_key, signing_key};

/// Why no file could be written. The causes are for the log: none of them follows from what people did.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The certificate can't be written.
    #[error("certificate: {0}")]
    Certificate(#[from] pdf::certificate::Unwritable),
    /// The bundle can't be written.
    #[error("bundle: {0}")]
    Bundle(#[from] bundle::WriteError),
    /// A participant consented to a text that this release does not have.
    #[error("no text of a consent has the SHA-256 {0}")]
    NoConsentText(String),
    /// A file of the record was not handed over.
    #[error("the file {0} is not there")]
    NoFile(String),
    /// A record can't be spelled as JSON.
    #[error("json: {0}")]
    Json(#[from] serde_json::Error),
    /// The keyring has no current key.
    #[error("keyring: {0}")]
    Keyring(#[from] SealError),
    /// A key can't be used.
    #[error("keys: {0}")]
    Keys(#[from] bundle::KeyError),
}
