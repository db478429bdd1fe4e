//! Evidence bundles: what the service knows about an agreement, as a file that an outsider can verify without asking the
//! service and without trusting whoever hands it over.
//!
//! A bundle is a zip file. It begins with `manifest.json`, which names each other file with its SHA-256, and
//! `manifest.sig`, the Ed25519 signature of the manifest. The public keys come from the service's key document, never
//! from the bundle. `events/verify/README.md` has the format for outsiders, and a second verifier, in Python, that shares
//! no code with this crate.
//!
//! Decision: a bundle has one spelling. Files are stored, not compressed, under fixed dates and in a fixed order, so the
//! rest of the zip follows from the files' names and contents. [`verify()`] makes it anew and compares: each byte is signed,
//! hashed or compared, and no change goes unseen. Compression would give this up, since one content has many compressed
//! forms and each release of a compressor may choose another; it would also let a small file unpack to a huge one. PDFs,
//! most of a bundle, hardly shrink.
//!
//! Decision: the zip is written and read here, by some hundred lines, and not by the crate `zip`. That crate reads what
//! others write, with all its variants, and a verifier has to refuse just those.

mod container;
mod hex;
mod keys;
mod manifest;
mod path;
mod payments;
mod report;
mod verify;
mod write;

pub use keys::{CompromisedKey, KeyDocument, KeyError, PublicKey, SigningKey};
pub use manifest::{Manifest, ManifestFile};
pub use path::is_safe_path;
pub use report::{Problem, ProblemKind, Report};
pub use verify::verify;
pub use write::{About, File, WriteError, write};

/// Most bytes of a bundle, 300 MiB. A verifier reads no further.
pub const BUNDLE_BYTES_MAX: usize = 300 * 1024 * 1024;

/// Most files of a bundle, manifest and signature not counted.
pub const FILES_MAX: usize = 10_000;

/// The manifest's path, at which the bundle begins.
pub const MANIFEST_PATH: &str = "manifest.json";

/// The signature's path. The signature follows the manifest.
pub const SIGNATURE_PATH: &str = "manifest.sig";

/// The version of the format that this crate writes and verifies.
pub const FORMAT_VERSION: u32 = 1;

/// What is signed before the manifest's bytes, so that no signature for another purpose fits a manifest.
pub const SIGNATURE_PREFIX: &[u8] = b"countersign-evidence-bundle-v1\n";
