//! Verifies evidence bundles offline, with the service's key document.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bundle::{BUNDLE_BYTES_MAX, KeyDocument, KeyError, Report};

/// Most bytes of a key document. A key takes some hundred.
const KEYS_BYTES_MAX: usize = 1024 * 1024;

/// Why a bundle could not be verified. Problems of the bundle itself are in the [`Report`].
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A file can't be read.
    #[error("{} can't be read: {reason}", path.display())]
    NotRead {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// The file isn't a key document.
    #[error("{}: {reason}", path.display())]
    Keys {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: KeyError,
    },
}

/// Verifies a bundle with a key document. A damaged bundle is no error but a report with problems.
pub fn verify(bundle: &Path, keys: &Path) -> Result<Report, BundleError> {
    let document = KeyDocument::parse(&read(keys, KEYS_BYTES_MAX)?);
    let document = document.map_err(|reason| BundleError::Keys { path: keys.to_owned(), reason })?;
    Ok(bundle::verify(&read(bundle, BUNDLE_BYTES_MAX)?, &document))
}

/// Reads one byte more than the limit, so that the parser recognizes a larger file.
fn read(path: &Path, bytes_max: usize) -> Result<Vec<u8>, BundleError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(bytes_max as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|reason| BundleError::NotRead { path: path.to_owned(), reason })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use bundle::{About, SigningKey};
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_bundle_is_verified_with_the_keys_of_a_file() {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        let key = SigningKey::new("2026-11", &[11; 32]).unwrap();
        let about = About {
            service: "https://countersign.example",
            organization_id: "o",
            agreement_id: "a",
            created_at: "2026-11-23T06:33:17Z",
        };
        let file = bundle::File { path: "deed.pdf", content: b"%PDF-1.7" };
        let mut bytes = bundle::write(&about, &[file], &key).unwrap();
        std::fs::write(path("bundle.zip"), &bytes).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(path("changed.zip"), &bytes).unwrap();
        let keys = format!("{{\"keys\":[{}]}}", public_key());
        std::fs::write(path("keys.json"), keys).unwrap();

        assert!(verify(&path("bundle.zip"), &path("keys.json")).unwrap().is_verified());
        let report = verify(&path("changed.zip"), &path("keys.json")).unwrap();
        assert!(!report.is_verified() && report.to_string().ends_with("\nNOT VERIFIED: 1 problem"), "{report}");
        let error = verify(&path("bundle.zip"), &path("bundle.zip")).unwrap_err().to_string();
        assert!(error.contains("bundle.zip: this is no key document"), "{error}");
        let error = verify(&path("none.zip"), &path("keys.json")).unwrap_err().to_string();
        assert!(error.contains("none.zip can't be read"), "{error}");
    }

    fn public_key() -> &'static str {
        r#"{"id":"2026-11","public_key":"66be7e332c7a453332bd9d0a7f7db055f5c5ef1a06ada66d98b39fb6810c473a"}"#
    }
}
