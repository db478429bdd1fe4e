//! Paper signatures: the page that records one, and what members then see and decide.
//!
//! Decision: the scan is for members and its signer, and only a download: the file is foreign, only its format checked.

use askama::Template;
use pages::done::{redirect_with, redirect_with_notice, with_notice};
use pages::fields::{Fields, read_day, read_signatory};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::paper_refusals::refusal;
use pages::response::PageResponse;
use pages::second_members::why_alone;
use pages::uploads::{keep_file, scan};
use pages::urls::{access_url, agreement_url, document_url};
use shared::domain::agreement::pdf::NotADocument;
use shared::domain::agreement::{Agreement, Document, DocumentContent, Label};
use shared::domain::contact::{Contact, DisplayName};
use shared::domain::day::Day;
use shared::domain::ids::{AgreementId, DocumentId, PaperSignatureId, ParticipantId};
use shared::domain::member::{Counting, NotRecorded, PaperDecision};
use shared::domain::note::Note;
use shared::domain::paper_signature::{NewPaperSignature, Scan};
use shared::domain::participant::receipt::Signatory;
use shared::error::Error;
use shared::limits;
use shared::service::paper_signatures;
use shared::service::participants::{self, ParticipantRecord};
use shared::web::{Form, Request};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::access;
use crate::paper_rows::{labels, paper_url, why_not};

form! {
    /// A signature on paper.
    pub(crate) PAPER: PaperForm {
        signer_name: Field::line("signer_name", "Signer’s name", 200).hint("Whose hand signed."),
        signer_title: Field::line("signer_title", "Signer’s title", 200)
            .hint("As it stands below the signature, such as Managing Member or Trustee."),
        file: Field::document("file", "Scan")
            .hint("A PDF, JPEG or PNG of up to 4 MB. Members and the participant can download it."),
        is_signed: Field::tick("is_signed", "It is signed, although its pages are those of the document"),
        day: Field::day("day", "Date signed").hint("The date on the paper."),
        how: Field::line("how", "How it came", 200)
            .hint("Such as by mail, or signed in person at our office. The certificate says so too."),
        note: Field::lines("note", "Note", 2000, 3).hint("Optional. Only members read it."),
    }
}

form! {
    /// Why a scan does not count.
    pub(crate) REJECTION: RejectionForm {
        reason: Field::lines("reason", "Reason", 2000, 3),
    }
}

#[derive(Template)]
#[template(path = "paper_signature.html")]
struct FormPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    participant: Link,
    path: String,
    document: String,
    file: String,
    places: Vec<String>,
    sha256: String,
    blocks: String,
    /// Whether the participant is a person. Otherwise a person signed with their own name and title.
    is_person: bool,
    at_once: Option<&'static str>,
    fields: Fields,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    page(request, Fields::default(), None).await
}

async fn find(request: &Request) -> Result<(ParticipantRecord, ParticipantId, DocumentId), Error> {
    let (id, participant): (AgreementId, ParticipantId) = (request.path_id("id")?, request.path_id("participant")?);
    let document: DocumentId = request.path_id("document")?;
    let record = participants::record(request.signed_in()?.scope(), id, participant).await?;
    record.agreement.document(document).ok_or_else(Error::not_found)?;
    Ok((record, participant, document))
}

async fn page(request: &Request, fields: Fields, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (record, participant, id) = find(request).await?;
    let ParticipantRecord { agreement, contact, seconds, .. } = &record;
    let member = request.signed_in()?.member().id();
    let document = agreement.document(id).ok_or_else(Error::not_found)?;
    let blocks = agreement.blocks_to_sign(document, participant);
    if blocks.is_empty() && notice.is_none() {
        return Ok(PageResponse::see_other(access_url(agreement.id(), participant)));
    }
    let page = FormPage {
        layout: Layout::new(request),
        notice,
        agreement: Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() },
        participant: Link {
            url: access_url(agreement.id(), participant),
            text: contact.display_name.as_str().to_owned(),
        },
        path: paper_url(agreement.id(), participant, id),
        document: document.name.as_str().to_owned(),
        file: document_url(agreement.id(), id),
        places: labels(document, &blocks),
        sha256: document.content.as_ref().map(|content| content.sha256.clone()).unwrap_or_default(),
        blocks: blocks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        is_person: record.is_person(),
        at_once: seconds.is_alone(member).then(|| why_alone(seconds)),
        fields,
    };
    let shown = [agreement.id().uuid(), participant.uuid(), id.uuid(), contact.id.uuid()];
    Ok(PageResponse::render(&page)?.showing(shown))
}

pub(crate) async fn record(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let form = submitted.form();
    let again = async |errors: FieldErrors, notice: Option<Notice>| {
        page(request, Fields::submitted(form, errors), notice).await
    };
    let zone = &request.signed_in()?.organization().time_zone;
    let (record, participant, document) = find(request).await?;
    let entity = (!record.is_person()).then_some(&record.contact.display_name);
    let typed = match read(form, zone.day_of(request.now()), entity) {
        Ok(typed) => typed,
        Err(errors) => return Ok(again(errors, None).await?.unprocessable()),
    };
    let id = submitted.new_id::<PaperSignatureId>();
    // No file is stored for a form that records nothing.
    if record.agreement.blocks_to_sign(&wanted(&record.agreement, document)?, participant).is_empty() {
        return Ok(again(FieldErrors::default(), Some(refusal(not_asked(&record, document)))).await?.conflicting());
    }
    let (file_name, content, file_type) = match keep_file(&submitted, form.file(PAPER.file), PAPER.file.name).await? {
        Ok(kept) => kept,
        Err(errors) => return Ok(again(errors, None).await?.unprocessable()),
    };
    let has_pages_of_document = match has_pages_of(request, &wanted(&record.agreement, document)?, &content).await? {
        Ok(has_pages) => has_pages,
        // What can't be compared in time counts as the same, which the member may answer.
        Err(NotADocument::OutOfTime | NotADocument::NotItsTurn) if form.get(IS_SIGNED) == "on" => true,
        Err(reason) => {
            let message = reason.to_string();
            let mut errors = FieldErrors::one(PAPER.file, FieldCode::InvalidValue, message.trim_end_matches('.'));
            if matches!(reason, NotADocument::OutOfTime | NotADocument::NotItsTurn) {
                errors.extend(FieldErrors::one(IS_SIGNED, FieldCode::Required, NOT_COMPARED));
            }
            return Ok(again(errors, None).await?.unprocessable());
        }
    };
    if has_pages_of_document && form.get(IS_SIGNED) != "on" {
        let errors = FieldErrors::one(IS_SIGNED, FieldCode::Required, SAME_PAGES);
        return Ok(again(errors, None).await?.unprocessable());
    }
    let scan = Scan { file_name, content, file_type, has_pages_of_document };
    let new = typed.of(id, &record.contact, participant, document, form, scan);
    let shown = if form.get("counts") == "at_once" { Counting::Alone } else { Counting::Confirmed };
    let (agreement, name) = (record.agreement.id(), new.name.as_str().to_owned());
    let url = format!("{}#papers", access_url(agreement, participant));
    redirect_with_notice(&submitted, url.clone(), "Paper signature recorded", "").await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let run = || paper_signatures::record(scope, by, agreement, new.clone(), shown);
    let refused = match Box::pin(submitted.run(run)).await? {
        Ok(counting) => return Ok(with_notice(&submitted, url, &recorded(counting, &name)).await.into()),
        Err(NotRecorded::Unknown) => return Err(Error::not_found()),
        Err(NotRecorded::Unsigned) => {
            let errors = FieldErrors::one(PAPER.file, FieldCode::InvalidValue, UNSIGNED);
            return Ok(again(errors, None).await?.unprocessable());
        }
        Err(refused) => refused,
    };
    Ok(again(FieldErrors::default(), Some(refusal(refused))).await?.conflicting())
}

const UNSIGNED: &str = "is the document itself, which nobody has signed. Upload a scan of the signed paper";

const IS_SIGNED: &str = "is_signed";
const NOT_COMPARED: &str =
    "must be ticked if it is signed: its pages were not compared in time. Choose the scan again, or another file";

const SAME_PAGES: &str = "must be ticked if so. Choose the scan again, or another file";

/// Whether an upload is a different file with the same pages as a document.
async fn has_pages_of(
    request: &Request,
    document: &Document,
    upload: &DocumentContent,
) -> Result<Result<bool, NotADocument>, Error> {
    let Some(content) = document.content.as_ref().filter(|content| content.sha256 != upload.sha256) else {
        return Ok(Ok(false));
    };
    let (app, org) = (request.app(), request.signed_in()?.scope().org());
    let files = app.files()?;
    let (document, upload) = tokio::try_join!(files.get(org, content), files.get(org, upload))?;
    // The upload first: if it can't be read, skip the document.
    app.pdfs.have_same_pages([upload, document], request.reading_deadline()).await
}

fn wanted(agreement: &Agreement, document: DocumentId) -> Result<Document, Error> {
    agreement.document(document).cloned().ok_or_else(Error::not_found)
}

fn not_asked(ParticipantRecord { agreement, contact, .. }: &ParticipantRecord, document: DocumentId) -> NotRecorded {
    let participant = agreement.participants.iter().find(|participant| participant.contact_id == contact.id);
    match (agreement.lifecycle(), participant.zip(agreement.document(document))) {
        (shared::domain::agreement::Lifecycle::Active, Some((participant, document))) => {
            if agreement.has_signed(document, participant.id) {
                NotRecorded::Done
            } else if agreement.is_on_hold_for(document, participant.id) {
                NotRecorded::Declined
            } else {
                NotRecorded::NotAsked
            }
        }
        (ended, _) => NotRecorded::NotActive(ended),
    }
}

fn recorded(counting: Counting, name: &str) -> Notice {
    match counting {
        Counting::Alone => Notice::good(format!("{name} has signed on paper"), "It counts from now on."),
        Counting::Confirmed | Counting::OneSelf => {
            Notice::good("Paper signature recorded", "Next: another member compares it with the scan, and confirms it.")
        }
    }
}

struct Typed {
    signatory: Option<Signatory>,
    signed_on: Day,
    how_it_came: Label,
    note: Option<Note>,
}

impl Typed {
    fn of(
        self,
        id: PaperSignatureId,
        contact: &Contact,
        participant_id: ParticipantId,
        document_id: DocumentId,
        form: &Form,
        scan: Scan,
    ) -> NewPaperSignature {
        let Self { signatory, signed_on, how_it_came, note } = self;
        NewPaperSignature {
            id,
            participant_id,
            name: contact.display_name.clone(),
            signatory,
            document_id,
            shown_sha256: form.get("sha256").to_owned(),
            shown_blocks: form.get("blocks").split(' ').filter_map(|block| block.parse().ok()).collect(),
            scan,
            signed_on,
            how_it_came,
            note,
        }
    }
}

/// Parses the form except the file. `today` is in the organization's time zone.
fn read(form: &Form, today: Day, entity: Option<&DisplayName>) -> Result<Typed, FieldErrors> {
    let signatory = read_signatory(form, entity);
    let wrong = |field: &str, (code, message): (FieldCode, String)| FieldErrors::one(field, code, message);
    let how_it_came = Label::parse(form.get(PAPER.how)).map_err(|reason| wrong(PAPER.how.name, reason));
    let note = match form.get(PAPER.note) {
        blank if blank.trim().is_empty() => Ok(None),
        text => Note::parse(text).map(Some).map_err(|reason| wrong(PAPER.note.name, reason)),
    };
    let signed_on = read_day(form, PAPER.day).and_then(|day| {
        let refused = |message: &str| Err(FieldErrors::one(PAPER.day, FieldCode::OutOfRange, message));
        match day {
            day if day > today => refused("can’t be in the future"),
            day if Day::parse(limits::PAPER_SIGNATURE_DAY_MIN).is_some_and(|first| day < first) => {
                refused("can’t be before 2000")
            }
            day => Ok(day),
        }
    });
    match (signatory, signed_on, how_it_came, note) {
        (Ok(signatory), Ok(signed_on), Ok(how_it_came), Ok(note)) => {
            Ok(Typed { signatory, signed_on, how_it_came, note })
        }
        (signatory, signed_on, how_it_came, note) => {
            let mut errors = signatory.err().unwrap_or_default();
            errors.extend(signed_on.err().unwrap_or_default());
            errors.extend(how_it_came.err().unwrap_or_default());
            errors.extend(note.err().unwrap_or_default());
            Err(errors)
        }
    }
}

fn path_ids(request: &Request) -> Result<(AgreementId, ParticipantId, PaperSignatureId), Error> {
    Ok((request.path_id("id")?, request.path_id("participant")?, request.path_id("paper")?))
}

pub(crate) async fn confirm(request: &mut Request) -> Result<PageResponse, Error> {
    let notice = Notice::good("Paper signature confirmed", "");
    decide(request, PaperDecision::Confirm, notice).await
}

pub(crate) async fn reject(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (_, _, paper) = path_ids(request)?;
    let reason = match Note::parse(submitted.form().get(REJECTION.reason)) {
        Ok(reason) => reason,
        Err((code, message)) => {
            let errors = FieldErrors::one(REJECTION.reason, code, message);
            let fields = Fields::submitted(submitted.form(), errors);
            return Ok(access::page(request, Some(paper), fields, None).await?.unprocessable());
        }
    };
    let notice = Notice::good("Paper signature rejected", "The document still waits for the signature.");
    decide(request, PaperDecision::Reject(reason), notice).await
}

async fn decide(request: &Request, decision: PaperDecision, done: Notice) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (agreement, participant, paper) = path_ids(request)?;
    let url = format!("{}#papers", access_url(agreement, participant));
    let redirect = redirect_with(&submitted, url.clone(), &done).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let run = || paper_signatures::decide(scope, by, agreement, participant, paper, decision.clone());
    match Box::pin(submitted.run(run)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => {
            let notice = Notice::bad("Nothing was changed", why_not(refused));
            Ok(with_notice(&submitted, url, &notice).await.into())
        }
    }
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let (id, participant, paper) = path_ids(request)?;
    let scope = request.signed_in()?.scope();
    let record = participants::record(scope, id, participant).await?;
    let found = record.papers.iter().find(|found| found.id == paper).ok_or_else(Error::not_found)?;
    Ok(scan(request, scope.org(), &found.scan).await?.showing([id.uuid(), participant.uuid(), paper.uuid()]))
}
