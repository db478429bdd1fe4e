//! A document on a participant's pages: read, download, sign or decline.
//!
//! Decision: the page shows pictures, because phones can't embed PDFs; what is signed are the bytes of the file.

use std::collections::BTreeSet;

use askama::Template;
use http::StatusCode;
use pages::agreement_summary::size;
use pages::done::notice_of_act;
use pages::fields::{Fields, read_signatory};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::tasks::TaskRow;
use pages::uploads::{document_of_participant, scan};
use pages::urls::{part_url, receipt_url};
use shared::domain::agreement::tasks::Task;
use shared::domain::agreement::{Agreement, Document, Lifecycle, SignatureBlock};
use shared::domain::contact::DisplayName;
use shared::domain::ids::{DocumentId, PaperSignatureId, ParticipantId, ReceiptId, SignatureBlockId};
use shared::domain::note::Note;
use shared::domain::participant::receipt::{Drawing, ReceiptAct, Signatory, Signature};
use shared::domain::participant::{ActingParticipant, Declining, Signing};
use shared::error::Error;
use shared::service::participants::{self, ParticipantAct, ParticipantView};
use shared::text::reader::Shown as _;
use shared::text::statements;
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::Offset;

use crate::document_pages::ShownPages;
use crate::promises::{PromiseRow, promise_rows};
use crate::{TaskPlace, act, consent, load, name_of, needs_consent, reworded};

form! {
    /// A signature.
    pub(crate) SIGNATURE: SignatureForm {
        signer_name: Field::line("signer_name", "Your name", 200).autocomplete("name"),
        signer_title: Field::line("signer_title", "Your title", 200)
            .autocomplete("organization-title")
            .hint("Such as Managing Member, President or Trustee."),
        signature: Field::line("signature", "Signature", 200).called("Your signature"),
    }
}

form! {
    /// Why a participant declines.
    pub(crate) DECLINE: DeclineForm {
        reason: Field::lines("reason", "Reason", 2000, 3).hint("The organization reads it."),
    }
}

const PICTURES: &str = "/app/pictures";

#[derive(Template)]
#[template(path = "part_document.html")]
struct DocumentPage {
    layout: Layout,
    notice: Option<Notice>,
    path: String,
    url: String,
    pictures: String,
    agreement: String,
    organization: String,
    name: String,
    place: Option<TaskPlace>,
    size: String,
    sha256: String,
    pages: ShownPages,
    blocks: Vec<BlockRow>,
    can_decline: bool,
    signer: String,
    /// Whether the participant is a person. For others, a person signs with their own name and title.
    is_person: bool,
    promises: Vec<PromiseRow>,
    statement: String,
    /// The ids of the blocks that are signed now, as the form says them.
    to_sign: String,
    fields: Fields,
    receipt: Option<String>,
    /// Whether their signature on paper waits for a second member.
    is_on_paper: bool,
    papers: Vec<(String, String)>,
    next: Option<Link>,
}

impl DocumentPage {
    fn can_sign(&self) -> bool {
        !self.to_sign.is_empty()
    }
}

struct BlockRow {
    who: String,
    label: String,
    is_own: bool,
    state: &'static str,
}

fn document_url(participant: ParticipantId, document: DocumentId) -> String {
    format!("{}/documents/{document}", part_url(participant))
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Fields::default(), notice).await?.with_cookie(cookie))
}

#[derive(Debug, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    from: Option<Offset>,
}

async fn page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let id: DocumentId = request.path_id("document")?;
    let (session, view) = load(request).await?;
    if needs_consent(session, &view) {
        return consent::page(request, session, &view, notice);
    }
    let (by, agreement) = (session.participant(), &view.agreement);
    let document = agreement.document(id).ok_or_else(Error::not_found)?;
    let content = document.content.as_ref().ok_or_else(Error::not_found)?;
    let file = request.app().files()?.get(session.scope().org(), content).await?;
    let query: Query = request.read_query()?;
    let from = query.from.map(|from| usize::try_from(from.get()).unwrap_or(usize::MAX));
    let url = document_url(by.id(), id);
    let pages = ShownPages::of(request, file, from, &url).await?;
    let to_sign = agreement.blocks_to_sign(document, by.id());
    let page = DocumentPage {
        layout: Layout::of_participant(request),
        notice,
        path: part_url(by.id()),
        url,
        pictures: format!("{}/{}/{id}", PICTURES, by.id()),
        agreement: agreement.name.as_str().to_owned(),
        organization: session.organization().name.as_str().to_owned(),
        name: document.name.as_str().to_owned(),
        place: place(&view, by.id(), id).filter(|place| !to_sign.is_empty() && place.of > 1),
        size: size(content.size_bytes),
        sha256: content.sha256.clone(),
        pages,
        blocks: blocks(&view, document, by.id()),
        can_decline: agreement.can_decline(document, by.id()),
        signer: by.name().as_str().to_owned(),
        is_person: by.is_person(agreement),
        statement: statement(agreement, by, document.name.as_str()),
        promises: promise_rows(&view, by.id()),
        to_sign: joined(&to_sign),
        fields,
        receipt: own_receipt(&view, id).map(|receipt| receipt_url(by.id(), receipt)),
        is_on_paper: agreement.is_on_paper(document, by.id()),
        papers: own_papers(&view, id, by.id()),
        next: crate::task_rows(&view, by.id()).into_iter().find(TaskRow::is_to_do).map(|task| task.link),
    };
    Ok(PageResponse::render(&page)?.showing([agreement.id().uuid(), by.id().uuid(), id.uuid()]))
}

fn joined(blocks: &BTreeSet<SignatureBlockId>) -> String {
    blocks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn place(view: &ParticipantView, by: ParticipantId, id: DocumentId) -> Option<TaskPlace> {
    let to_sign = view.agreement.tasks_of(by);
    let is_own =
        |document: &&Document| to_sign.contains(&Task::Sign(document.id)) || view.agreement.has_signed(document, by);
    let own: Vec<DocumentId> = view.agreement.documents.iter().filter(is_own).map(|document| document.id).collect();
    let number = own.iter().position(|document| *document == id)? + 1;
    Some(TaskPlace { number, of: own.len() })
}

fn blocks(view: &ParticipantView, document: &Document, by: ParticipantId) -> Vec<BlockRow> {
    let agreement = &view.agreement;
    let to_sign = agreement.blocks_to_sign(document, by);
    let is_on_paper = agreement.is_on_paper(document, by);
    let on_paper = view.papers.iter().filter(|paper| paper.counts_since().is_some());
    let on_paper: BTreeSet<SignatureBlockId> = on_paper.flat_map(|paper| paper.block_ids.iter().copied()).collect();
    let row = |block: &SignatureBlock| BlockRow {
        who: name_of(view, block.participant_id).to_owned(),
        label: block.label.as_str().to_owned(),
        is_own: block.participant_id == by,
        state: if on_paper.contains(&block.id) {
            "Signed on paper"
        } else if agreement.is_signed(block.id) {
            "Signed"
        } else if is_on_paper && to_sign.contains(&block.id) {
            "Signed on paper, to be confirmed"
        } else if to_sign.contains(&block.id) {
            "You sign here now"
        } else if agreement.is_declined_for(document, block.id) {
            "On hold, because a participant declined"
        } else if block.participant_id == by && agreement.lifecycle() == Lifecycle::Active {
            "You sign here in a later step"
        } else {
            "Not signed yet"
        },
    };
    document.blocks.iter().map(row).collect()
}

fn own_receipt(view: &ParticipantView, id: DocumentId) -> Option<ReceiptId> {
    let mut receipts = view.receipts.iter().rev();
    receipts.find_map(|receipt| match &receipt.act {
        ReceiptAct::Signed { document_id, .. } if *document_id == id => Some(receipt.id),
        _ => None,
    })
}

fn own_papers(view: &ParticipantView, id: DocumentId, by: ParticipantId) -> Vec<(String, String)> {
    let own = view.papers.iter().filter(|paper| paper.document_id == id && paper.counts_since().is_some());
    let scan = |paper: PaperSignatureId| format!("{}/papers/{paper}/scan", part_url(by));
    own.map(|paper| (paper.signed_on.shown(), scan(paper.id))).collect()
}

/// Downloads the scan of the participant's own paper signature once it counts, so that they can check it.
pub(crate) async fn download_scan(request: &mut Request) -> Result<PageResponse, Error> {
    let id: PaperSignatureId = request.path_id("paper")?;
    let (session, view) = load(request).await?;
    let counted = view.papers.iter().find(|paper| paper.id == id && paper.counts_since().is_some());
    let paper = counted.ok_or_else(Error::not_found)?;
    let file = scan(request, session.scope().org(), &paper.scan).await?;
    Ok(file.showing([session.participant().id().uuid(), id.uuid()]))
}

pub(crate) async fn sign(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = match (request.participant_form(), request.form_of_ended_session()) {
        (Err(Error::ForgedForm), Some(form)) => return page_with(request, form).await,
        (submitted, _) => submitted?,
    };
    let (id, form) = (request.path_id("document")?, submitted.form());
    let by = submitted.submitter();
    let agreement = participants::agreement(submitted.scope(), by).await?;
    let entity = (!by.is_person(&agreement)).then_some(by.name());
    let (signature, signatory) = match read_signing(form, entity) {
        Ok(signed) => signed,
        Err(errors) => {
            return Ok(page(request, Fields::submitted(form, errors), None).await?.unprocessable());
        }
    };
    let name = agreement.document(id).ok_or_else(Error::not_found)?.name.as_str();
    let statement = statement(&agreement, by, name);
    if form.get("statement") != statement {
        let fields = Fields::submitted(form, FieldErrors::default());
        return Ok(page(request, fields, Some(reworded())).await?.conflicting());
    }
    let signing = Signing {
        document_id: id,
        shown_sha256: form.get("sha256").to_owned(),
        shown_blocks: form.get("blocks").split(' ').filter_map(|block| block.parse().ok()).collect(),
        signature,
        signatory,
        statement,
    };
    let title = format!("You signed “{name}”");
    match act(request, &submitted, ParticipantAct::Sign(signing), title).await? {
        Ok(receipt) => Ok(receipt),
        Err((fields, notice)) => Ok(page(request, fields, Some(notice)).await?.conflicting()),
    }
}

/// The document's page with a signature given after the session ended. It is kept, but signs nothing until given again.
async fn page_with(request: &Request, form: &Form) -> Result<PageResponse, Error> {
    let line = "Your session had ended. Check the document and your signature, then sign.";
    let notice = Notice::warn("Your signature is kept, and nothing is signed yet", line);
    let page = page(request, Fields::submitted(form, FieldErrors::default()), Some(notice)).await?;
    Ok(page.refused(StatusCode::FORBIDDEN, "forbidden"))
}

fn statement(agreement: &Agreement, by: &ActingParticipant, document: &str) -> String {
    let (id, name) = (by.id(), by.name().as_str());
    if by.is_person(agreement) {
        statements::signing(agreement, id, name, document)
    } else {
        statements::signing_for(agreement, id, name, document)
    }
}

fn read_signing(form: &Form, entity: Option<&DisplayName>) -> Result<(Signature, Option<Signatory>), FieldErrors> {
    match (read_signatory(form, entity), read_signature(form)) {
        (Ok(signatory), Ok(signature)) => {
            check_own_name(&signature, signatory.as_ref())?;
            Ok((signature, signatory))
        }
        (signatory, signature) => {
            let mut errors = signatory.err().unwrap_or_default();
            errors.extend(signature.err().unwrap_or_default());
            Err(errors)
        }
    }
}

fn check_own_name(signature: &Signature, signatory: Option<&Signatory>) -> Result<(), FieldErrors> {
    match (signature, signatory) {
        (Signature::Typed { name: typed }, Some(Signatory { name, .. })) if !typed.is_like(name) => {
            let message = format!("must be your own name, “{}”", name.as_str());
            Err(FieldErrors::one(SIGNATURE.signature, FieldCode::InvalidValue, message))
        }
        _ => Ok(()),
    }
}

fn read_signature(form: &Form) -> Result<Signature, FieldErrors> {
    let drawn = form.get("drawing").trim();
    if !drawn.is_empty() && !form.get(SIGNATURE.signature).trim().is_empty() {
        let message = "is typed and drawn. Clear your name, or clear the drawing";
        return Err(FieldErrors::one(SIGNATURE.signature, FieldCode::InvalidValue, message));
    }
    if !drawn.is_empty() {
        let drawing = Drawing::parse(drawn);
        return drawing
            .map(|drawing| Signature::Drawn { drawing })
            .map_err(|error| FieldErrors::one(SIGNATURE.signature, FieldCode::InvalidValue, error.to_string()));
    }
    let name = DisplayName::parse(form.get(SIGNATURE.signature));
    name.map(|name| Signature::Typed { name })
        .map_err(|(code, message)| FieldErrors::one(SIGNATURE.signature, code, message))
}

pub(crate) async fn decline(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let (id, form) = (request.path_id("document")?, submitted.form());
    let reason = match read_reason(form) {
        Ok(reason) => reason,
        Err(errors) => {
            return Ok(page(request, Fields::submitted(form, errors), None).await?.unprocessable());
        }
    };
    let agreement = participants::agreement(submitted.scope(), submitted.submitter()).await?;
    let document = agreement.document(id).ok_or_else(Error::not_found)?;
    let doing = ParticipantAct::Decline(Declining::Document(id), reason);
    let title = format!("You declined to sign “{}”", document.name.as_str());
    match act(request, &submitted, doing, title).await? {
        Ok(receipt) => Ok(receipt),
        Err((fields, notice)) => Ok(page(request, fields, Some(notice)).await?.conflicting()),
    }
}

pub(super) fn read_reason(form: &Form) -> Result<Note, FieldErrors> {
    Note::parse(form.get(DECLINE.reason)).map_err(|(code, message)| FieldErrors::one(DECLINE.reason, code, message))
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let (document, file) = document_of_participant(request).await?;
    let name = format!("{}.pdf", document.name.as_str());
    Ok(PageResponse::file(file, "application/pdf", "attachment", &name).showing([document.id.uuid()]))
}
