//! The documents of an agreement: uploading, viewing and downloading files, and signature blocks.
//!
//! A file is stored under its SHA-256 before the draft names it; the clock removes one that no draft names.

use askama::Template;
use axum::body::Bytes;
use pages::agreement_summary::{participant_name, size};
use pages::done::notice_of_act;
use pages::fields::{Choice, Fields};
use pages::form;
use pages::layout::{Layout, Link, Notice, shows_notice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::uploads::too_large;
use pages::urls::{agreement_url, document_url};
use shared::domain::agreement::edit::Part;
use shared::domain::agreement::{Agreement, Document, DocumentContent, Label};
use shared::domain::ids::{AgreementId, DocumentId, ParticipantId, SignatureBlockId};
use shared::error::Error;
use shared::limits;
use shared::platform::files;
use shared::service::drafts;
use shared::web::form::UploadedFile;
use shared::web::{Form, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::draft::{Edit, Problem, editable, label, seen, submit};

form! {
    /// A document that is added.
    pub(crate) NEW_DOCUMENT: NewDocumentForm {
        file: Field::pdf("file", "File").hint("A PDF of up to 4 MB that is not encrypted."),
        name: Field::line("document_name", "Document name", 200).hint("Leave it empty to use the name of the file."),
    }
}

form! {
    /// A document’s settings, and a signature block that is added.
    pub(crate) DOCUMENT: DocumentForm {
        name: Field::line("name", "Document name", 200),
        file: Field::pdf("file", "File").hint("A PDF of up to 4 MB that is not encrypted."),
        for_reading: Field::tick("for_reading", "Nobody signs this document"),
        signer: Field::choice("participant_id", "Signer"),
        label: Field::line("label", "Label", 200)
            .hint("The text beside the signature, such as “For the company”. Optional."),
    }
}

async fn store(
    submitted: &SubmittedForm<'_>,
    file: &UploadedFile,
) -> Result<Result<DocumentContent, FieldErrors>, Error> {
    let refused = |code, message: &str| Ok(Err(FieldErrors::one(DOCUMENT.file, code, message.trim_end_matches('.'))));
    if file.content.len() > limits::FILE_BYTES_MAX {
        return refused(FieldCode::TooLong, &too_large(file));
    }
    let (pdfs, deadline) = (&submitted.app().pdfs, submitted.reading_deadline());
    if let Err(reason) = pdfs.check(file.content.clone(), deadline).await? {
        return refused(FieldCode::InvalidValue, &reason.to_string());
    }
    Ok(Ok(files::keep_one(submitted.scope(), submitted.app().files()?, file.content.clone()).await?))
}

fn name_of(typed: &str, file: Option<&UploadedFile>) -> Result<Label, FieldErrors> {
    let from_file = || {
        let name = file?.name.as_str();
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim();
        let cut: String = stem.chars().take(limits::NAME_CHARS_MAX).collect();
        Label::parse(&cut).ok()
    };
    match (typed.trim(), from_file()) {
        ("", Some(name)) => Ok(name),
        (typed, _) => label(typed, NEW_DOCUMENT.name.name),
    }
}

pub(crate) async fn add(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, form) = (request.path_id("id")?, submitted.form());
    let again = async |problem: Problem| {
        let page = crate::agreement::page(request, id, problem.fields(form), Some(problem.notice.clone())).await?;
        Ok(problem.answer(page))
    };
    let document: DocumentId = submitted.new_id();
    let Some(file) = form.file(DOCUMENT.file) else {
        let errors = FieldErrors::one(DOCUMENT.file, FieldCode::Required, "must be chosen");
        return again(Problem::invalid(errors)).await;
    };
    let name = match name_of(form.get(NEW_DOCUMENT.name), Some(file)) {
        Ok(name) => name,
        Err(errors) => return again(Problem::invalid(errors)).await,
    };
    let content = match store(&submitted, file).await? {
        Ok(content) => content,
        Err(errors) => return again(Problem::invalid(errors)).await,
    };
    let file_name = file.name.clone();
    let says = move |_: &Agreement, _: &Agreement| {
        Notice::good(format!("“{file_name}” was uploaded"), "Next: say who signs it.")
    };
    let edit = Edit::new(document_url(id, document), says, move |draft, now| {
        draft.put_document(document, name.clone(), Some(content.clone()), now)
    });
    submit(request, &submitted, id, edit, again).await
}

#[derive(Template)]
#[template(path = "draft_document.html")]
struct DocumentPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    name: String,
    size: Option<String>,
    sha256: Option<String>,
    fields: Fields,
    seen: String,
    blocks: Vec<BlockRow>,
    block_fields: Fields,
    participants: Vec<Choice>,
}

impl DocumentPage {
    fn shows_notice(&self, section: &str) -> bool {
        shows_notice(self.notice.as_ref(), &["blocks"], section)
    }
}

struct BlockRow {
    id: SignatureBlockId,
    who: String,
    label: String,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Typed::Nothing, notice).await?.with_cookie(cookie))
}

enum Typed {
    Nothing,
    Document(Fields),
    Block(Fields),
}

async fn page(request: &Request, typed: Typed, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, document): (AgreementId, DocumentId) = (request.path_id("id")?, request.path_id("document")?);
    let (agreement, contacts) = drafts::load(request.signed_in()?.scope(), id).await?;
    let Some(found) = agreement.document(document).filter(|_| editable(&agreement)) else {
        return Ok(PageResponse::see_other(agreement_url(id)));
    };
    let who = |participant: ParticipantId| participant_name(&agreement, &contacts, participant);
    let own = || fields_of(found);
    let (fields, block_fields) = match typed {
        Typed::Nothing => (own(), Fields::default()),
        Typed::Document(fields) => (fields, Fields::default()),
        Typed::Block(fields) => (own(), fields),
    };
    let page = DocumentPage {
        layout: Layout::new(request),
        notice,
        agreement: crate::draft::agreement_link(&agreement),
        path: document_url(id, document),
        name: found.name.as_str().to_owned(),
        size: found.content.as_ref().map(|content| size(content.size_bytes)),
        sha256: found.content.as_ref().map(|content| content.sha256.clone()),
        fields,
        seen: seen(&agreement, Part::Document(document)),
        blocks: found
            .blocks
            .iter()
            .map(|block| BlockRow {
                id: block.id,
                who: who(block.participant_id),
                label: block.label.as_str().to_owned(),
            })
            .collect(),
        block_fields,
        participants: agreement
            .participants
            .iter()
            .map(|participant| Choice::new(participant.id.to_string(), who(participant.id)))
            .collect(),
    };
    Ok(PageResponse::render(&page)?.showing([id.uuid(), document.uuid()]))
}

pub(super) fn fields_of(document: &Document) -> Fields {
    let for_reading = document.is_for_reading.then_some((DOCUMENT.for_reading.name, "on"));
    Fields::of([(DOCUMENT.name.name, document.name.as_str())].into_iter().chain(for_reading))
}

fn document_name(agreement: &Agreement, id: DocumentId) -> &str {
    agreement.document(id).map_or("", |document| document.name.as_str())
}

/// The label of a place to sign to which nobody gave one.
pub(crate) const UNLABELED: &str = "Signature";

fn read_block(form: &Form) -> Result<(Label, ParticipantId), FieldErrors> {
    let text = form.get(DOCUMENT.label).trim();
    let label = label(if text.is_empty() { UNLABELED } else { text }, DOCUMENT.label.name);
    let participant = form
        .get(DOCUMENT.signer)
        .parse()
        .map_err(|_| FieldErrors::one(DOCUMENT.signer, FieldCode::Required, "must be one of the draft’s participants"));
    match (label, participant) {
        (Ok(label), Ok(participant)) => Ok((label, participant)),
        (label, participant) => {
            let mut errors = participant.err().unwrap_or_default();
            errors.extend(label.err().unwrap_or_default());
            Err(errors)
        }
    }
}

pub(crate) const SAVE_OPERATIONS: Operation = Operation::ByField {
    field: "act",
    names: &[
        ("remove", "remove_document"),
        ("add_block", "add_signature_block"),
        ("remove_block", "remove_signature_block"),
    ],
    otherwise: "change_document",
};

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, document): (AgreementId, DocumentId) = (request.path_id("id")?, request.path_id("document")?);
    let form = submitted.form();
    let url = document_url(id, document);
    let block: SignatureBlockId = if form.get("act") == "remove_block" { form.id("id")? } else { submitted.new_id() };
    let again = async |problem: Problem| {
        let fields = problem.fields(form);
        let typed = match form.get("act") {
            "add_block" => Typed::Block(fields),
            "" => Typed::Document(fields),
            _ => Typed::Nothing,
        };
        Ok(problem.answer(page(request, typed, Some(problem.notice.clone())).await?))
    };
    let edit = match form.get("act") {
        "remove" => {
            let says = move |before: &Agreement, _: &Agreement| {
                Notice::good(format!("The document “{}” was removed", document_name(before, document)), "")
            };
            Edit::new(agreement_url(id), says, move |draft, now| draft.remove_document(document, now))
                .of(Part::Document(document))
                .removing()
                .within("documents")
        }
        "add_block" => {
            let (label, participant) = match read_block(form) {
                Ok(read) => read,
                Err(errors) => return again(Problem::invalid(errors)).await,
            };
            let says = |_: &Agreement, _: &Agreement| Notice::good("The signature block was added", "");
            Edit::new(url, says, move |draft, now| {
                draft.put_signature_block(document, block, participant, label.clone(), now)
            })
            .within("blocks")
        }
        "remove_block" => {
            let says = |_: &Agreement, _: &Agreement| Notice::good("The signature block was removed", "");
            Edit::new(url, says, move |draft, now| draft.remove_signature_block(block, now))
                .of(Part::SignatureBlock(block))
                .removing()
                .within("blocks")
        }
        _ => {
            let name = match label(form.get(DOCUMENT.name), DOCUMENT.name.name) {
                Ok(name) => name,
                Err(errors) => return again(Problem::invalid(errors)).await,
            };
            let content = match store_if_any(&submitted).await? {
                Ok(content) => content,
                Err(errors) => return again(Problem::invalid(errors)).await,
            };
            let is_for_reading = form.get(DOCUMENT.for_reading) == "on";
            let file_name = form.file(DOCUMENT.file).map(|file| file.name.clone());
            let says = move |before: &Agreement, _: &Agreement| {
                save_says(before, document, file_name.as_deref(), is_for_reading)
            };
            Edit::new(url, says, move |draft, now| {
                let named = draft.rename_document(document, name.clone(), now)?;
                let named = named.set_for_reading(document, is_for_reading, now)?;
                match &content {
                    Some(content) => named.set_file(document, content.clone(), now),
                    None => Ok(named),
                }
            })
            .of(Part::Document(document))
        }
    };
    submit(request, &submitted, id, edit, again).await
}

async fn store_if_any(submitted: &SubmittedForm<'_>) -> Result<Result<Option<DocumentContent>, FieldErrors>, Error> {
    match submitted.form().file(DOCUMENT.file) {
        None => Ok(Ok(None)),
        Some(file) => Ok(store(submitted, file).await?.map(Some)),
    }
}

fn save_says(before: &Agreement, id: DocumentId, file: Option<&str>, is_for_reading: bool) -> Notice {
    let Some(document) = before.document(id) else { return Notice::good("Document saved", "") };
    let next = if document.blocks.is_empty() && !is_for_reading { "Next: say who signs it." } else { "" };
    match (file, &document.content) {
        (Some(name), Some(_)) => Notice::good(format!("The file was replaced with “{name}”"), ""),
        (Some(name), None) => Notice::good(format!("“{name}” was uploaded"), next),
        (None, Some(_)) => Notice::good("Document saved", ""),
        (None, None) => Notice::warn("Document saved", "Its file is still missing."),
    }
}

pub(crate) async fn view(request: &mut Request) -> Result<PageResponse, Error> {
    file(request, "inline").await
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    file(request, "attachment").await
}

async fn file(request: &Request, disposition: &'static str) -> Result<PageResponse, Error> {
    let (id, document): (AgreementId, DocumentId) = (request.path_id("id")?, request.path_id("document")?);
    let scope = request.signed_in()?.scope();
    let agreement = drafts::agreement(scope, id).await?;
    let found = agreement.document(document).ok_or_else(Error::not_found)?;
    let content = found.content.as_ref().ok_or_else(Error::not_found)?;
    let bytes: Bytes = request.app().files()?.get(scope.org(), content).await?;
    let name = format!("{}.pdf", found.name.as_str());
    Ok(PageResponse::file(bytes, "application/pdf", disposition, &name).showing([id.uuid(), document.uuid()]))
}
