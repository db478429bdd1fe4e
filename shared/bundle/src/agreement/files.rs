//! The files named by a record, as read for its bundle.

use std::collections::BTreeMap;

use bytes::Bytes;
use shared::domain::agreement::DocumentContent;

use super::ExportError;

/// File contents by SHA-256.
pub type Files = BTreeMap<String, Bytes>;

pub(crate) fn file(files: &Files, content: &DocumentContent) -> Result<Bytes, ExportError> {
    files.get(&content.sha256).cloned().ok_or_else(|| ExportError::NoFile(content.sha256.clone()))
}
