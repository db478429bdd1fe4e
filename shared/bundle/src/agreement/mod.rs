//! An agreement as files: the certificate of a completed one, and the signed bundle with everything.
//!
//! The same record gives the same bytes, without a clock or randomness. A bundle changes with new acts on its
//! agreement, changed contacts of participants, a new name or URL of the organization or service, a new key, or a
//! release that writes files differently. `events/verify/README.md` documents the files for outsiders.

mod answers;
mod bundling;
mod certifying;
mod extracts;
mod files;
mod guide;
mod lines;
mod obligations;
mod paths;
mod payments;
mod satisfactions;
#[cfg(test)]
mod tests;

pub use bundling::{bundle, bundle_of_acts};
pub use certifying::{Audience, certificate};
pub use extracts::{ExtractReference, StatementExtract};
pub use files::Files;

/// Why a bundle or certificate couldn't be written. The causes are for the log: none result from people's acts.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The certificate can't be written.
    #[error("certificate: {0}")]
    Certificate(#[from] pdf::certificate::Unwritable),
    /// The bundle can't be written.
    #[error("bundle: {0}")]
    Bundle(#[from] crate::WriteError),
    /// A participant consented to a text that this release lacks.
    #[error("no text of a consent has the SHA-256 {0}")]
    NoConsentText(String),
    /// A file of the record is missing.
    #[error("the file {0} is not there")]
    NoFile(String),
    /// A record can't be encoded as JSON.
    #[error("json: {0}")]
    Json(#[from] serde_json::Error),
}
