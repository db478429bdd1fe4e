//! The page on which a member hands a participant their link, and sees what the participant did.

use std::fmt;

use askama::Template;
use pages::done::{notice_of_act, redirect_with_notice, shown_once, with_notice};
use pages::fields::Fields;
use pages::labels::{DisplayTime, actor_label, contact_kind_label};
use pages::layout::{Layout, Link, Notice};
use pages::receipts::{receipt_facts, receipt_title_of};
use pages::response::PageResponse;
use pages::urls::{LINKS, access_url, agreement_url, answers_url, contact_url, encode_query_value, verification_url};
use shared::crypto::random_bytes;
use shared::domain::agreement::{Agreement, Lifecycle};
use shared::domain::contact::{ChangedIdentity, Contact, ContactKind, DisplayName, Email, FormerIdentity};
use shared::domain::ids::{AgreementId, GateId, OrgId, PaperSignatureId, ParticipantId, ReceiptId};
use shared::domain::member::NotReopened;
use shared::domain::organization::Organization;
use shared::domain::participant::receipt::{Receipt, ReceiptAct, Signature};
use shared::domain::participant::session::Part;
use shared::domain::participant::{LinkCode, ParticipantLink};
use shared::error::Error;
use shared::service::identity::link_codes::{self, CodeMade};
use shared::service::participants::{self, LinkShown, ParticipantRecord};
use shared::web::{Flash, Redirect, Request};
use uuid::Uuid;

use crate::answers::telling_completion;
use crate::paper_rows::{PaperRow, links_to_record};

async fn link_of(
    request: &Request,
    agreement_id: AgreementId,
    participant_id: ParticipantId,
    generation: u64,
) -> Option<String> {
    let keys = request.app().webhooks().ok()?.keys.keyring().await.ok()?;
    let organization_id: OrgId = request.signed_in().ok()?.organization().id;
    let part = Part { organization_id, agreement_id, participant_id };
    let link = ParticipantLink::new(&keys, part, generation).ok()?;
    Some(format!("{}{LINKS}{}", request.app().base_url, link.reveal()))
}

fn mail_to(contact: &Contact, organization: &Organization, agreement: &Agreement, link: &str) -> Option<String> {
    let email = contact.email.as_ref()?;
    let (organization, name) = (organization.name.as_str(), agreement.name.as_str());
    let text = format!(
        "Hello {},\r\n\r\n{organization} asks you to take part in “{name}”. This link is yours alone and opens your pages:\r\n\r\n{link}\r\n\r\nPlease don’t forward it.\r\n",
        contact.display_name.as_str()
    );
    let subject = encode(&format!("{name}: your part"));
    Some(format!("mailto:{}?subject={subject}&body={}", encode(email.as_str()), encode(&text)))
}

fn encode(text: &str) -> String {
    encode_query_value(text).replace('/', "%2F")
}

#[derive(Template)]
#[template(path = "access.html")]
struct AccessPage {
    layout: Layout,
    notice: Option<Notice>,
    agreement: Link,
    path: String,
    name: String,
    contact: String,
    link: LinkCard,
    changed: Option<ChangedContact>,
    generation: u64,
    is_active: bool,
    seen_at: Option<DisplayTime>,
    has_consent: bool,
    tasks: Vec<String>,
    verification: String,
    receipts: Vec<ReceiptRow>,
    code: Option<CodeCard>,
    papers: Vec<PaperRow>,
    to_record: Vec<Link>,
    refused: Option<PaperSignatureId>,
    fields: Fields,
}

#[derive(Clone)]
struct Details {
    name: String,
    email: Option<String>,
}

impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.name, self.email.as_deref().unwrap_or("No email address"))
    }
}

pub(crate) struct ChangedContact {
    /// The name and address before. None if too old to be kept.
    before: Option<Details>,
    now: Details,
    changes: Vec<(String, DisplayTime)>,
    version: u64,
    /// Whether the address changed: nothing is handed out before a member confirms it.
    pub is_readdressed: bool,
}

impl ChangedContact {
    pub fn new(changed: &ChangedIdentity<'_>) -> Self {
        let contact = changed.contact;
        let tells_kind = changed.changes.iter().any(|was| was.kind != contact.kind);
        let told = |(name, kind, email): (&DisplayName, ContactKind, Option<&Email>)| {
            let kind = if tells_kind { format!(" ({})", contact_kind_label(kind)) } else { String::new() };
            Details { name: format!("{}{kind}", name.as_str()), email: email.map(|email| email.as_str().to_owned()) }
        };
        let before = |was: &FormerIdentity| told((&was.display_name, was.kind, was.email.as_ref()));
        let now = told((&contact.display_name, contact.kind, contact.email.as_ref()));
        let after = changed.changes.iter().skip(1).map(before).chain([now.clone()]);
        let change = |(was, after): (&FormerIdentity, Details)| {
            (format!("{} changed it to {after}", actor_label(&was.changed_by)), was.until.into())
        };
        Self {
            before: changed.before.map(before),
            changes: changed.changes.iter().zip(after).map(change).collect(),
            version: contact.identity_version,
            is_readdressed: changed.is_readdressed(),
            now,
        }
    }
}

/// The card with a participant's link.
///
/// Decision: showing the link is recorded, since its holder can act as the participant. It shows for two minutes.
enum LinkCard {
    Hidden,
    Readdressed,
    Shown { link: String, mail: Option<String> },
    Unreadable,
}

impl LinkCard {
    async fn of(request: &Request, participant: ParticipantId, record: &ParticipantRecord) -> Result<Self, Error> {
        let ParticipantRecord { agreement, contact, access, .. } = record;
        if record.changed().is_some_and(|changed| changed.is_readdressed()) {
            return Ok(Self::Readdressed);
        }
        match Flash::ParticipantLink(participant).read(request).await {
            Ok(Some(generation)) if generation == access.generation.to_string() => {}
            Ok(_) => return Ok(Self::Hidden),
            Err(_) => return Ok(Self::Unreadable),
        }
        let organization = request.signed_in()?.organization();
        let link = link_of(request, agreement.id(), participant, access.generation).await;
        Ok(link.map_or(Self::Unreadable, |link| {
            let mail = mail_to(contact, organization, agreement, &link);
            Self::Shown { link, mail }
        }))
    }
}

struct CodeCard {
    value: Option<String>,
    current: Option<(DisplayTime, u32)>,
}

impl CodeCard {
    async fn of(
        request: &Request,
        participant: ParticipantId,
        record: &ParticipantRecord,
    ) -> Result<Option<Self>, Error> {
        if !request.signed_in()?.organization().asks_for_codes {
            return Ok(None);
        }
        let current = record.code.as_ref().map(|code| (DisplayTime::from(code.expires_at), code.tries_left()));
        // Used or replaced codes are not shown again. The page also works when keys can't be read.
        let shown = Flash::LinkCode(participant).read(request).await.ok().flatten();
        let own = shown.as_deref().and_then(|shown| shown.split_once('\n'));
        let is_current = |id: &str| record.code.as_ref().is_some_and(|code| code.id.to_string() == id);
        let value = own.filter(|(id, _)| is_current(id)).map(|(_, value)| value.to_owned());
        Ok(Some(Self { value, current }))
    }
}

struct ReceiptRow {
    title: String,
    at: DisplayTime,
    facts: Vec<(&'static str, String)>,
    typed: Option<String>,
    drawn: Option<String>,
    file: Option<String>,
    answers: Option<String>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, None, Fields::default(), notice).await?.with_cookie(cookie))
}

/// The page. A refused rejection of a paper signature keeps the typed text.
pub(crate) async fn page(
    request: &Request,
    refused: Option<PaperSignatureId>,
    fields: Fields,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let (id, participant): (AgreementId, ParticipantId) = (request.path_id("id")?, request.path_id("participant")?);
    let signed_in = request.signed_in()?;
    let record = participants::record(signed_in.scope(), id, participant).await?;
    let ParticipantRecord { agreement, contact, access, receipts, papers, .. } = &record;
    if !agreement.was_published() {
        return Ok(PageResponse::see_other(agreement_url(id)));
    }
    let page = AccessPage {
        layout: Layout::new(request),
        notice: notice.map(|notice| telling_completion(notice, agreement)),
        agreement: Link { url: agreement_url(id), text: agreement.name.as_str().to_owned() },
        path: access_url(id, participant),
        name: contact.display_name.as_str().to_owned(),
        contact: contact_url(contact.id),
        link: LinkCard::of(request, participant, &record).await?,
        changed: record.changed().as_ref().map(ChangedContact::new),
        generation: access.generation,
        is_active: agreement.lifecycle() == Lifecycle::Active,
        seen_at: access.seen_at.map(DisplayTime::from),
        has_consent: access.consent.is_some(),
        tasks: pages::tasks::task_texts(agreement, participant),
        verification: verification_url(id, participant),
        receipts: receipts.iter().rev().map(|receipt| row(&record, receipt, &access_url(id, participant))).collect(),
        papers: papers
            .iter()
            .rev()
            .map(|paper| PaperRow::new(&record, paper, signed_in.member(), &signed_in.organization().time_zone))
            .collect(),
        to_record: links_to_record(agreement, participant),
        code: CodeCard::of(request, participant, &record).await?,
        refused,
        fields,
    };
    let shown: [Uuid; 3] = [id.uuid(), participant.uuid(), contact.id.uuid()];
    Ok(PageResponse::render(&page)?.showing(shown))
}

fn row(record: &ParticipantRecord, receipt: &Receipt, url: &str) -> ReceiptRow {
    let (typed, drawn) = match &receipt.act {
        ReceiptAct::Signed { signature: Signature::Typed { name }, .. } => (Some(name.as_str().to_owned()), None),
        ReceiptAct::Signed { signature: Signature::Drawn { drawing }, .. } => (None, Some(drawing.path().to_owned())),
        _ => (None, None),
    };
    ReceiptRow {
        title: receipt_title_of(&record.agreement, &record.payments, receipt, None),
        at: receipt.at.into(),
        facts: receipt_facts(receipt),
        typed,
        drawn,
        file: matches!(receipt.act, ReceiptAct::Uploaded { .. }).then(|| format!("{url}/files/{}", receipt.id)),
        answers: match receipt.act {
            ReceiptAct::Answered { gate_id, .. } => {
                Some(answers_url(record.agreement.id(), gate_id, receipt.participant_id))
            }
            _ => None,
        },
    }
}

pub(crate) async fn show_link(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (agreement, participant): (AgreementId, ParticipantId) =
        (request.path_id("id")?, request.path_id("participant")?);
    let shown: u64 = submitted.form().get("generation").parse().unwrap_or(u64::MAX);
    let location = format!("{}#link-title", access_url(agreement, participant));
    let cookie = Flash::ParticipantLink(participant).set(&submitted, &shown.to_string()).await?;
    let redirect = Redirect { location: location.clone(), cookie };
    submitted.redirect_if_committed(&redirect);
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let refused = match submitted.run(|| participants::show_link(scope, by, agreement, participant, shown)).await? {
        LinkShown::Shown => None,
        LinkShown::Reissued => Some("It was reissued after you opened the page. Show the new one."),
        LinkShown::Readdressed => Some(READDRESSED),
    };
    if let Some(line) = refused {
        return Ok(with_notice(&submitted, location, &Notice::bad("The link wasn’t shown", line)).await.into());
    }
    let line = "It stays on this page for two minutes. The agreement’s history says that you have seen it.";
    Ok(shown_once(&submitted, redirect, "Link shown", line).await)
}

const READDRESSED: &str = "The participant’s address has changed since the publication. Confirm the change first.";

pub(crate) async fn confirm_contact(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (agreement, participant): (AgreementId, ParticipantId) =
        (request.path_id("id")?, request.path_id("participant")?);
    let shown: u64 = submitted.form().get("version").parse().unwrap_or(u64::MAX);
    let location = access_url(agreement, participant);
    let line = "It is used for this agreement from now on.";
    let redirect = redirect_with_notice(&submitted, location.clone(), "New details confirmed", line).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    if submitted.run(|| participants::confirm_contact(scope, by, agreement, participant, shown)).await? {
        return Ok(redirect.into());
    }
    let line = "They have changed again since you opened the page. Compare them once more.";
    Ok(with_notice(&submitted, location, &Notice::bad("Nothing was confirmed", line)).await.into())
}

pub(crate) async fn reissue(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (agreement, participant): (AgreementId, ParticipantId) =
        (request.path_id("id")?, request.path_id("participant")?);
    let shown: u64 = submitted.form().get("generation").parse().unwrap_or(u64::MAX);
    let line = "The previous link no longer works. Next: show the new one, and send it.";
    let redirect = redirect_with_notice(&submitted, access_url(agreement, participant), "Link reissued", line).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    submitted.run(|| participants::reissue_link(scope, by, agreement, participant, shown)).await?;
    Ok(redirect.into())
}

pub(crate) async fn create_code(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (agreement, participant): (AgreementId, ParticipantId) =
        (request.path_id("id")?, request.path_id("participant")?);
    let url = format!("{}#code-title", access_url(agreement, participant));
    let code = LinkCode::of(random_bytes().map_err(Error::from)?);
    let id: Uuid = submitted.new_id();
    let cookie = Flash::LinkCode(participant).set(&submitted, &format!("{id}\n{}", code.reveal())).await?;
    let redirect = Redirect { location: url.clone(), cookie };
    submitted.redirect_if_committed(&redirect);
    let keys = request.app().webhooks()?.keys.keyring().await?;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let refused =
        match submitted.run(|| link_codes::create(scope, by, agreement, participant, id, &code, &keys)).await? {
            CodeMade::Made => None,
            CodeMade::NotAskedFor => Some("Your organization doesn’t ask participants for codes."),
            CodeMade::Readdressed => Some(READDRESSED),
        };
    if let Some(line) = refused {
        return Ok(with_notice(&submitted, url, &Notice::bad("No code was made", line)).await.into());
    }
    let line = "It is valid for 15 minutes and works once.";
    Ok(shown_once(&submitted, redirect, "Code created", line).await)
}

pub(crate) async fn download(request: &mut Request) -> Result<PageResponse, Error> {
    let (id, participant): (AgreementId, ParticipantId) = (request.path_id("id")?, request.path_id("participant")?);
    let wanted: ReceiptId = request.path_id("receipt")?;
    let scope = request.signed_in()?.scope();
    let record = participants::record(scope, id, participant).await?;
    let receipt = record.receipts.iter().find(|receipt| receipt.id == wanted).ok_or_else(Error::not_found)?;
    let ReceiptAct::Uploaded { file_name, content, file_type, .. } = &receipt.act else {
        return Err(Error::not_found());
    };
    let file = request.app().files()?.get(scope.org(), content).await?;
    // Never displayed in the browser: the file is foreign, and only its format was checked.
    let page = PageResponse::file(file, file_type.media_type(), "attachment", file_name.as_str());
    Ok(page.showing([id.uuid(), participant.uuid()]))
}

pub(crate) async fn reopen(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let (id, gate): (AgreementId, GateId) = (request.path_id("id")?, request.path_id("condition")?);
    let declined_at = submitted.form().get("declined_at");
    let shown = declined_at.parse().map_err(|_| Error::not_found())?;
    let url = format!("{}#notice", agreement_url(id));
    let line = "It waits again for those who have not done their part. Next: tell them.";
    let redirect = redirect_with_notice(&submitted, url.clone(), "The condition is open again", line).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    let refused = match submitted.run(|| participants::reopen(scope, by, id, gate, shown)).await? {
        Ok(()) | Err(NotReopened::NotDeclined) => return Ok(redirect.into()),
        Err(NotReopened::Unknown) => return Err(Error::not_found()),
        Err(NotReopened::DeclinedAgain) => "A participant has declined again. Read the new reason first.",
        Err(NotReopened::NotActive(_)) => "The agreement is no longer active, so none of its conditions opens again.",
    };
    let notice = Notice::bad("Nothing was changed", refused);
    Ok(with_notice(&submitted, url, &notice).await.into())
}
