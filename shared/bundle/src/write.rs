use std::collections::BTreeMap;

use crate::container::{self, Entry};
use crate::keys::SigningKey;
use crate::manifest::{Manifest, ManifestFile};
use crate::{BUNDLE_BYTES_MAX, FILES_MAX, FORMAT_VERSION, MANIFEST_PATH, SIGNATURE_PATH, path};

const TEXT_BYTES_MAX: usize = 255;

/// What a bundle is about. Each text has 1 to 255 bytes, without control or invisible characters.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The service that makes the bundle, by origin, such as `https://countersign.example`.
    pub service: &'a str,
    /// The id of the agreement's organization.
    pub organization_id: &'a str,
    /// The id of the agreement.
    pub agreement_id: &'a str,
    /// The bundle's time: RFC 3339, in UTC. An argument, so that the same call gives the same bundle.
    pub created_at: &'a str,
}

/// A file for a bundle.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Its path, such as `documents/deed.pdf`, subject to [`is_safe_path`](crate::is_safe_path).
    pub path: &'a str,
    /// Its content, possibly empty.
    pub content: &'a [u8],
}

/// Why a bundle couldn't be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A text about the bundle is empty, too long, or has invisible characters.
    #[error("{0} is not a text of 1 to 255 bytes without control characters")]
    Text(&'static str),
    /// A path leaves the bundle, or can't be extracted on every system.
    #[error("the path {0:?} is not safe")]
    Path(String),
    /// Ignoring case, a path is that of another file, of its folder, or of the manifest.
    #[error("the path {0:?} meets another")]
    Collision(String),
    /// The bundle has more than [`FILES_MAX`] files.
    #[error("a bundle has at most {FILES_MAX} files")]
    TooMany,
    /// The bundle is larger than [`BUNDLE_BYTES_MAX`].
    #[error("a bundle has at most {BUNDLE_BYTES_MAX} bytes")]
    TooLarge,
    /// The manifest can't be encoded as JSON, which no input causes.
    #[error("the manifest can't be written")]
    Manifest,
}

/// Writes and signs a bundle of these files, in any order: the same input gives the same bytes. Copies the files once.
pub fn write(about: &About<'_>, files: &[File<'_>], key: &SigningKey) -> Result<Vec<u8>, WriteError> {
    check(about)?;
    let files = sorted(files)?;
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        service: about.service.to_owned(),
        organization_id: about.organization_id.to_owned(),
        agreement_id: about.agreement_id.to_owned(),
        created_at: about.created_at.to_owned(),
        signing_key: key.public(),
        files: files.iter().map(|(path, content)| ManifestFile::of(path, content)).collect(),
    };
    let manifest = manifest.to_bytes().ok_or(WriteError::Manifest)?;
    let signature = key.sign(&manifest);
    let own = [Entry::new(MANIFEST_PATH, &manifest), Entry::new(SIGNATURE_PATH, signature.as_bytes())];
    let others = files.iter().map(|(path, content)| Entry::new(path, content));
    let entries: Vec<Entry<'_>> = own.into_iter().chain(others).collect();
    if container::size(&entries) > BUNDLE_BYTES_MAX {
        return Err(WriteError::TooLarge);
    }
    Ok(container::write(&entries))
}

fn check(about: &About<'_>) -> Result<(), WriteError> {
    let About { service, organization_id, agreement_id, created_at } = about;
    let texts = [
        ("service", service),
        ("organization_id", organization_id),
        ("agreement_id", agreement_id),
        ("created_at", created_at),
    ];
    let is_hidden = |letter: char| letter.is_control() || (!letter.is_ascii() && path::is_forbidden(letter));
    let is_text = |text: &str| (1..=TEXT_BYTES_MAX).contains(&text.len()) && !text.contains(is_hidden);
    texts.iter().find(|(_, text)| !is_text(text)).map_or(Ok(()), |(name, _)| Err(WriteError::Text(name)))
}

fn sorted<'a>(files: &[File<'a>]) -> Result<BTreeMap<&'a str, &'a [u8]>, WriteError> {
    if files.len() > FILES_MAX {
        return Err(WriteError::TooMany);
    }
    let bytes = files.iter().fold(0, |bytes: usize, file| bytes.saturating_add(file.content.len()));
    if bytes > BUNDLE_BYTES_MAX {
        return Err(WriteError::TooLarge);
    }
    if let Some(file) = files.iter().find(|file| !path::is_safe_path(file.path)) {
        return Err(WriteError::Path(file.path.to_owned()));
    }
    if let Some(path) = path::collision(files.iter().map(|file| file.path)) {
        return Err(WriteError::Collision(path.to_owned()));
    }
    Ok(files.iter().map(|file| (file.path, file.content)).collect())
}
