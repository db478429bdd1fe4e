//! Evidence bundles: what the service knows about an agreement, verifiable without asking it or trusting the sender.
//!
//! A bundle is a zip file. It begins with `manifest.json`, which names each other file with its SHA-256, and
//! `manifest.sig`, its Ed25519 signature. The public keys come from the service's key document, never from the bundle.
//! `events/verify/README.md` documents the format, with a second verifier that shares no code.
//!
//! - Decision: a bundle has only one form. Files are stored uncompressed, with fixed dates and order, so the rest of
//!   the zip follows from names and contents. [`verify()`] rebuilds it and compares: each byte is signed, hashed or
//!   compared, so every change is found. Compression would give this up, since content has many compressed forms and
//!   compressors change; it would also let a small file unpack to a huge one. PDFs, most of a bundle, hardly shrink.
//! - Decision: whoever unpacks a bundle and packs it again changes no content. An ordinary zip that holds the files of a
//!   signed manifest, each once, and no others is therefore whole, but never verified: its report says that the
//!   container was repacked. Nothing is unpacked beyond the sizes in the manifest.
//! - Decision: one crate with features. Without any it is the verifier, with no service and no fonts; `keyring` brings
//!   the service's keys, `agreements` the certificates and bundles that it writes. Two modules behind a feature are less
//!   than a second crate.
//! - Decision: the zip is read and written by hand: the crate `zip` reads all variants, which a verifier must refuse.

#[cfg(feature = "agreements")]
pub mod agreement;
mod container;
mod hex;
#[cfg(feature = "keyring")]
pub mod keyring;
mod keys;
mod manifest;
mod path;
mod payments;
mod repacked;
mod report;
mod verify;
mod write;

pub use keys::{CompromisedKey, KeyDocument, KeyError, PublicKey, SigningKey};
pub use manifest::{Manifest, ManifestFile};
pub use path::is_safe_path;
pub use report::{Problem, ProblemKind, Report};
pub use verify::verify;
pub use write::{About, File, WriteError, write};

/// The maximum size of a bundle, 300 MiB. Verifiers read no further.
pub const BUNDLE_BYTES_MAX: usize = 300 * 1024 * 1024;

/// The maximum number of files, without manifest and signature.
pub const FILES_MAX: usize = 10_000;

/// The manifest's path, the first in the bundle.
pub const MANIFEST_PATH: &str = "manifest.json";

/// The signature's path, right after the manifest.
pub const SIGNATURE_PATH: &str = "manifest.sig";

/// The format version that this crate writes and verifies.
pub const FORMAT_VERSION: u32 = 1;

/// Signed before the manifest's bytes, so that no signature for another purpose fits a manifest.
pub const SIGNATURE_PREFIX: &[u8] = b"countersign-evidence-bundle-v1\n";
