//! Uploads and downloads.

use axum::body::Bytes;
use shared::domain::agreement::{Document, DocumentContent, Label};
use shared::domain::file_type::FileType;
use shared::domain::ids::OrgId;
use shared::domain::paper_signature::Scan;
use shared::error::Error;
use shared::limits;
use shared::platform::files;
use shared::service::participants;
use shared::web::form::UploadedFile;
use shared::web::{Request, SubmittedForm, Submitter};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::response::PageResponse;

/// What is kept of a file: name, content and type.
pub type Kept = Result<(Label, DocumentContent, FileType), FieldErrors>;

/// Checks and stores a member's upload.
pub async fn keep_file(submitted: &SubmittedForm<'_>, file: Option<&UploadedFile>, field: &str) -> Result<Kept, Error> {
    store_file(submitted, check_file(file, field)).await
}

/// A file that may be stored.
#[derive(Debug, Clone)]
pub struct Checked<'a> {
    /// The name to keep.
    pub name: Label,
    /// Detected from its content.
    pub file_type: FileType,
    /// The file.
    pub file: &'a UploadedFile,
}

/// Stores a file before the agreement names it. If the act is refused, the clock removes the file, which nothing names.
pub async fn store_file<S: Submitter>(
    submitted: &SubmittedForm<'_, S>,
    checked: Result<Checked<'_>, FieldErrors>,
) -> Result<Kept, Error> {
    Ok(match checked {
        Ok(Checked { name, file_type, file }) => {
            let content = files::keep_one(submitted.scope(), submitted.app().files()?, file.content.clone()).await?;
            Ok((name, content, file_type))
        }
        Err(errors) => Err(errors),
    })
}

/// Says that a file is over the limit, as the end of a sentence. Its size is rounded up, so never told to be the limit.
#[must_use]
pub fn too_large(file: &UploadedFile) -> String {
    const TENTH: usize = 1024 * 1024 / 10;
    let tenths = file.content.len().div_ceil(TENTH);
    format!("is {}.{} MB. The limit is 4 MB", tenths / 10, tenths % 10)
}

/// Checks an upload without opening it: a PDF can be made to take all memory when opened.
pub fn check_file<'a>(file: Option<&'a UploadedFile>, field: &str) -> Result<Checked<'a>, FieldErrors> {
    let refused = |code, message: &str| Err(FieldErrors::one(field, code, message));
    let Some(file) = file else { return refused(FieldCode::Required, "must be chosen") };
    if file.content.is_empty() {
        return refused(FieldCode::InvalidValue, "is empty. Choose another file");
    }
    if file.content.len() > limits::FILE_BYTES_MAX {
        return refused(FieldCode::TooLong, &too_large(file));
    }
    let Some(file_type) = FileType::of(&file.content) else {
        return refused(FieldCode::InvalidValue, "must be a PDF, JPEG or PNG file");
    };
    Ok(Checked { name: file_name(&file.name, file_type, field)?, file_type, file })
}

/// The name to keep: without characters that names can't have, and with its type's extension.
fn file_name(name: &str, file_type: FileType, field: &str) -> Result<Label, FieldErrors> {
    const ENDING_CHARS: usize = 4;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim();
    let cut: String = stem.chars().take(limits::NAME_CHARS_MAX - ENDING_CHARS).collect();
    let named = |stem: &str| Label::parse(&format!("{stem}.{}", file_type.extension()));
    let stem = if Label::parse(&cut).is_ok() { &cut } else { "File" };
    named(stem).map_err(|(code, message)| FieldErrors::one(field, code, message))
}

/// The scan as a download.
pub async fn scan(
    request: &Request,
    org: OrgId,
    Scan { file_name, content, file_type, .. }: &Scan,
) -> Result<PageResponse, Error> {
    let file = request.app().files()?.get(org, content).await?;
    Ok(PageResponse::file(file, file_type.media_type(), "attachment", file_name.as_str()))
}

/// The document named in a participant's URL, with its file.
pub async fn document_of_participant(request: &Request) -> Result<(Document, Bytes), Error> {
    let session = request.participant_session()?;
    let (scope, by) = (session.scope(), session.participant());
    let agreement = participants::agreement(scope, by).await?;
    let document = agreement.document(request.path_id("document")?).cloned().ok_or_else(Error::not_found)?;
    let content = document.content.clone().ok_or_else(Error::not_found)?;
    let file = request.app().files()?.get(scope.org(), &content).await?;
    Ok((document, file))
}
