//! The manifest: what a bundle is about, and each file's hash.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::keys::PublicKey;
use crate::{BUNDLE_BYTES_MAX, FILES_MAX, FORMAT_VERSION, hex, path};

/// The beginning of every manifest of this format. Others are of another format.
pub(crate) const OPENING: &[u8] = b"{\n  \"format_version\": 1,\n";

/// The manifest of a bundle, with members in the order of the JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the format, [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The service that made the bundle, by its own name.
    pub service: String,
    /// The agreement's organization.
    pub organization_id: String,
    /// The agreement.
    pub agreement_id: String,
    /// The bundle's time, according to the service: that of its newest act.
    pub created_at: String,
    /// The key that signed it.
    pub signing_key: PublicKey,
    /// The files, ordered by the bytes of their paths.
    pub files: Vec<ManifestFile>,
}

/// A file in the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    /// The path in the bundle.
    pub path: String,
    /// SHA-256 of the content: 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// The size of the content, in bytes.
    pub size_bytes: u64,
}

impl ManifestFile {
    pub(crate) fn of(path: &str, content: &[u8]) -> Self {
        Self { path: path.to_owned(), sha256: hex::encode(&Sha256::digest(content)), size_bytes: content.len() as u64 }
    }
}

impl Manifest {
    /// The only form of the manifest: JSON indented by two spaces, with a final line break.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self).ok()?;
        json.push(b'\n');
        Some(json)
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let manifest: Self = serde_json::from_slice(bytes).ok()?;
        let is_valid = manifest.format_version == FORMAT_VERSION
            && manifest.files.len() <= FILES_MAX
            && manifest.files.iter().all(is_valid)
            && manifest.files.is_sorted_by(|one, next| one.path < next.path)
            && path::collision(manifest.files.iter().map(|file| file.path.as_str())).is_none()
            && manifest.to_bytes()? == bytes;
        is_valid.then_some(manifest)
    }
}

fn is_valid(file: &ManifestFile) -> bool {
    path::is_safe_path(&file.path)
        && hex::decode::<32>(file.sha256.as_bytes()).is_some()
        && file.size_bytes <= BUNDLE_BYTES_MAX as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SigningKey;

    fn manifest(paths: &[&str]) -> Manifest {
        Manifest {
            format_version: FORMAT_VERSION,
            service: "https://countersign.example".to_owned(),
            organization_id: "o \"1\" \u{7f} ü \u{1}".to_owned(),
            agreement_id: "a".to_owned(),
            created_at: "2026-11-23T06:33:17Z".to_owned(),
            signing_key: SigningKey::new("k", &[7; 32]).unwrap().public(),
            files: paths.iter().map(|path| ManifestFile::of(path, b"abc")).collect(),
        }
    }

    #[test]
    fn a_manifest_is_read_as_written() {
        let manifest = manifest(&["a", "b/c"]);
        let bytes = manifest.to_bytes().unwrap();
        assert!(bytes.starts_with(OPENING), "{}", String::from_utf8_lossy(&bytes));
        assert!(bytes.ends_with(b"\n    }\n  ]\n}\n"), "{}", String::from_utf8_lossy(&bytes));
        assert_eq!(Manifest::parse(&bytes), Some(manifest.clone()));
        assert_eq!(manifest.files[0].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn other_spellings_are_refused() {
        let text = String::from_utf8(manifest(&["a", "b/c"]).to_bytes().unwrap()).unwrap();
        for (from, to) in [
            ("}\n", "}"),
            ("  ", " "),
            ("\"a\"", "\"\\u0061\""),
            (": 3", ": 3.0"),
            (": 3", ": 4000000000"),
            (": 3", ": -3"),
            ("  \"service\"", "  \"more\": 1,\n  \"service\""),
            ("  \"service\"", "  \"service\": \"x\",\n  \"service\""),
            ("sion\": 1", "sion\": 2"),
            ("ba7816", "BA7816"),
            ("ba7816", ""),
            ("\"b/c\"", "\"a\""),
            ("\"b/c\"", "\"A\""),
            ("\"b/c\"", "\"../c\""),
            ("\"b/c\"", "\"manifest.sig\""),
            ("\"k\"", "\"k k\""),
        ] {
            let other = text.replace(from, to);
            assert_ne!(other, text);
            assert_eq!(Manifest::parse(other.as_bytes()), None, "{from} → {to}");
        }
        let unsorted = manifest(&["b", "a"]).to_bytes().unwrap();
        assert_eq!(Manifest::parse(&unsorted), None);
    }
}
