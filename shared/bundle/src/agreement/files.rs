//! The files named by a record, as read for its bundle.

use std::collections::BTreeMap;

use bytes::Bytes;
use shared::domain::agreement::DocumentContent;

use super::EvidenceError;

/// File contents by SHA-256.
pub type Files = BTreeMap<String, Bytes>;

pub(crate) fn file(files: &Files, content: &DocumentContent) -> Result<Bytes, EvidenceError> {
    files.get(&content.sha256).cloned().ok_or_else(|| EvidenceError::NoFile(content.sha256.clone()))
}
