//! The page of an item: the next step, claim and proof apart, facts, hold, and every act.

use askama::Template;
use pages::agreement_summary::size;
use pages::chosen;
use pages::done::notice_of_act;
use pages::fields::Fields;
use pages::form;
use pages::labels::{Badge, DisplayTime, actor_label, item_badge, names};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::{agreement_url, answers_url, funding_url, item_url, papers_url, trust_url};
use shared::domain::agreement::{Agreement, Lifecycle};
use shared::domain::contact::Contact;
use shared::domain::funding::proof::{Claim, Proof, ProofSource, ProofState, WithdrawnClaim};
use shared::domain::funding::{CloseReason, FundingItem, Phase, Status, Verb, WaitingOn};
use shared::domain::ids::{FundingItemId, ProofId};
use shared::domain::member::Member;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::service::funding_confirmations::Confirmation;
use shared::service::funding_review::{self, ItemReview};
use shared::text::reader::Shown as _;
use shared::text::{self, funding_words as words};
use shared::web::Request;
use uuid::Uuid;

use crate::facts::SortForm;
use crate::{Choice, Typed, facts_for_people, hold_badge};

/// The names of the page's forms, which end their paths and prefix their fields' ids.
pub(super) const SORT: &str = "sort";
pub(super) const PARK: &str = "park";
pub(super) const CLOSE: &str = "close";
pub(super) const CLAIM: &str = "claim";
pub(super) const WITHDRAW: &str = "withdraw";
pub(super) const PROOF: &str = "proof";
pub(super) const CONFIRMATION: &str = "confirmation";

form! {
    /// What the owner says.
    pub(crate) CLAIM_FORM: ClaimForm {
        note: Field::lines("claim_note", "What the owner said", 2000, 3).hint("Optional. Members read it."),
    }
}

form! {
    /// Why a claim is withdrawn.
    pub(crate) WITHDRAWAL: WithdrawalForm {
        reason: Field::lines("withdraw_reason", "Reason", 2000, 3).hint("Members read it."),
    }
}

form! {
    /// Why proof does not count.
    pub(crate) REJECTION: RejectionForm {
        reason: Field::lines("reason", "Reason", 2000, 3),
    }
}

form! {
    /// An uploaded confirmation that is filed as proof.
    pub(crate) CONFIRMATION_FORM: ConfirmationForm {
        dated: Field::day("dated", "Dated").hint("The day of the document. Filled in: the day of the upload."),
    }
}

form! {
    /// Proof from the receiving side.
    pub(crate) PROOF_FORM: ProofOfTransferForm {
        source: Field::choice("source", "Source"),
        dated: Field::day("dated", "Dated").hint("The day of the document or of the confirmation."),
        file: Field::document("file", "File").hint("A PDF, JPEG or PNG of up to 4 MB."),
        note: Field::lines("proof_note", "Note", 2000, 3).hint("Without a file: what was confirmed, by whom, and how."),
    }
}

form! {
    /// What an item waits on.
    pub(crate) PARKING: ParkingForm {
        waiting_on: Field::choice("waiting_on", "Waiting on"),
        note: Field::lines("note", "Note", 2000, 3).hint("Optional. Members read it."),
    }
}

form! {
    /// Why an item is closed as unfunded.
    pub(crate) CLOSING: ClosingForm {
        reason: Field::choice("close_reason", "Reason"),
        note: Field::lines("close_note", "Note", 2000, 3).hint("Optional. Members read it."),
    }
}

#[derive(Template)]
#[template(path = "funding_item.html")]
struct ItemPage {
    layout: Layout,
    notice: Option<Notice>,
    has_errors: bool,
    title: String,
    path: String,
    shown: String,
    badge: Badge,
    on_hold: Option<String>,
    workspace: Link,
    trust: Option<Link>,
    agreement: Option<Link>,
    about: Vec<(&'static str, String)>,
    next: Next,
    tracks: Option<Tracks>,
    claim_form: Option<Fields>,
    withdraw: Option<Fields>,
    confirmations: Vec<Uploaded>,
    proof_form: Option<ProofForm>,
    sort: Option<SortForm>,
    facts: Vec<(&'static str, String)>,
    hold: Option<HoldCard>,
    park: Option<Fields>,
    waiting_on: Vec<Choice>,
    close: Option<Fields>,
    reasons: Vec<Choice>,
    closed: Option<Closed>,
    can_reopen: bool,
    not_reopened: Option<&'static str>,
    added: (String, DisplayTime),
    open_form: String,
}

impl ItemPage {
    fn is_open(&self, form: &str) -> bool {
        self.open_form == form
    }
}

struct Next {
    text: String,
    act: NextAct,
    is_done: bool,
}

/// What the next step shows: the act itself, or the page where it is done.
enum NextAct {
    Nothing,
    Open(Link),
    SaveFacts,
    ClearHold,
    FileConfirmation(ProofId),
    FileProof,
    AcceptProof(ProofId),
    Close,
}

impl Next {
    fn clears_hold(&self) -> bool {
        matches!(self.act, NextAct::ClearHold)
    }

    fn files_confirmation(&self, id: &ProofId) -> bool {
        matches!(self.act, NextAct::FileConfirmation(of) if of == *id)
    }

    fn files_proof(&self) -> bool {
        matches!(self.act, NextAct::FileProof)
    }

    fn accepts(&self, id: &ProofId) -> bool {
        matches!(self.act, NextAct::AcceptProof(of) if of == *id)
    }

    fn closes(&self) -> bool {
        matches!(self.act, NextAct::Close)
    }
}

struct Tracks {
    claim: Option<ClaimEntry>,
    withdrawn: Vec<Withdrawn>,
    proofs: Vec<ProofEntry>,
}

struct ClaimEntry {
    note: Option<String>,
    by: String,
    at: DisplayTime,
}

struct Withdrawn {
    claim: ClaimEntry,
    by: String,
    at: DisplayTime,
    reason: String,
}

struct Uploaded {
    id: ProofId,
    who: String,
    question: String,
    file: Link,
    sent_at: DisplayTime,
    accepted: Option<(String, DisplayTime)>,
    answers: String,
    action: String,
    fields: Fields,
}

struct ProofEntry {
    id: ProofId,
    title: &'static str,
    badge: Badge,
    class: &'static str,
    dated: String,
    note: Option<String>,
    file: Option<Link>,
    by: String,
    at: DisplayTime,
    outcome: Option<(String, DisplayTime)>,
    reason: Option<String>,
    decide: Option<Decide>,
}

struct Decide {
    is_own: bool,
    reject: Fields,
    is_refused: bool,
}

struct ProofForm {
    sources: Vec<Choice>,
    fields: Fields,
}

struct HoldCard {
    waiting_on: &'static str,
    note: Option<String>,
    by: String,
    at: DisplayTime,
}

struct Closed {
    what: &'static str,
    note: Option<String>,
    by: String,
    at: DisplayTime,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let (notice, cookie) = notice_of_act(request).await;
    Ok(page(request, Typed::default(), notice).await?.with_cookie(cookie))
}

pub(super) async fn page(request: &Request, typed: Typed, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let (id, signed_in): (FundingItemId, _) = (request.path_id("id")?, request.signed_in()?);
    let scope = signed_in.scope();
    let (review, known) = tokio::try_join!(funding_review::item(scope, id), chosen::known_names(scope))?;
    let zone = &signed_in.organization().time_zone;
    let confirmations = uploaded(&review, &typed, zone);
    let page = ItemPage {
        layout: Layout::new(request),
        notice,
        confirmations,
        ..view(&review, signed_in.member(), typed, known, request)
    };
    let shown: Vec<Uuid> =
        [id.uuid()].into_iter().chain(review.agreement.iter().map(|found| found.id().uuid())).collect();
    Ok(PageResponse::render(&page)?.showing(shown))
}

fn view(review: &ItemReview, by: &Member, typed: Typed, known: Vec<String>, request: &Request) -> ItemPage {
    let ItemReview { item, workspace, trusts, agreement, shown, .. } = review;
    let trust = trusts.iter().find(|trust| Some(trust.id) == item.trust_id());
    let is_open = matches!(item.status(), Status::Open);
    let is_under_way = matches!(item.phase(), Phase::InProgress | Phase::Claimed);
    let runs = is_under_way && agreement.as_ref().is_some_and(can_be_proven);
    // All have signed, but the receiving side refuses: the item is closed without a transfer.
    let is_left_over = is_under_way && agreement.as_ref().is_some_and(|agreement| !is_live(agreement));
    let typed_sort = typed.is(SORT).then(|| typed.fields.clone());
    ItemPage {
        layout: Layout::new(request),
        notice: None,
        has_errors: typed.has_errors(),
        title: item.label().as_str().to_owned(),
        path: item_url(item.id()),
        shown: shown.to_string(),
        badge: item_badge(item),
        on_hold: hold_badge(item),
        workspace: Link { url: funding_url(workspace.id()), text: workspace.name.as_str().to_owned() },
        trust: trust.map(|trust| Link { url: trust_url(trust.id), text: trust.formal_name.as_str().to_owned() }),
        agreement: agreement.as_ref().map(agreement_link),
        about: about(review),
        next: next(review),
        tracks: shows_tracks(item).then(|| tracks(item, by, &typed)),
        claim_form: (runs && item.claim().is_none()).then(|| typed.fields_or_none(CLAIM)),
        withdraw: (runs && item.claim().is_some()).then(|| typed.fields_or_none(WITHDRAW)),
        confirmations: Vec::new(),
        proof_form: runs.then(|| proof_form(&typed)),
        sort: is_open.then(|| SortForm::new(review, known, typed_sort)),
        facts: facts_for_people(item),
        hold: item.hold().map(|hold| HoldCard {
            waiting_on: words::waiting_on(hold.waiting_on),
            note: hold.note.as_ref().map(|note| note.as_str().to_owned()),
            by: actor_label(&hold.by),
            at: hold.since.into(),
        }),
        park: (!item.is_closed()).then(|| park_fields(item, &typed)),
        waiting_on: WaitingOn::ALL.iter().map(|who| Choice::new(who, words::waiting_on(*who))).collect(),
        close: (is_open || is_left_over).then(|| typed.fields_of(CLOSE, close_beginning(item))),
        reasons: CloseReason::ALL.iter().map(|reason| Choice::new(reason, words::close_reason(*reason))).collect(),
        closed: closed(item),
        can_reopen: item.is_closed() && !agreement.as_ref().is_some_and(is_live),
        not_reopened: (item.is_closed() && agreement.as_ref().is_some_and(is_live)).then_some(
            "It can be reopened once its agreement is completed or cancelled: until then, the agreement could still move it.",
        ),
        added: (actor_label(item.created_by()), item.created_at().into()),
        open_form: typed.name,
    }
}

fn can_be_proven(agreement: &Agreement) -> bool {
    agreement.was_published() && !agreement.has_ended_early()
}

fn is_live(agreement: &Agreement) -> bool {
    matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active)
}

fn agreement_link(agreement: &Agreement) -> Link {
    Link { url: agreement_url(agreement.id()), text: agreement.name.as_str().to_owned() }
}

fn about(ItemReview { item, people, .. }: &ItemReview) -> Vec<(&'static str, String)> {
    let verb = item.verb().map_or_else(|| "Not decided".to_owned(), |verb| words::verb(verb).to_owned());
    let owners = names(item.owner_contact_ids(), people);
    let reference = item.external_reference().map(|reference| ("Your reference", reference.as_str().to_owned()));
    let owners = if owners.is_empty() { "Not known".to_owned() } else { owners };
    let own = [("Kind", words::asset_kind(item.asset_kind()).to_owned()), ("Action", verb), ("Owners", owners)];
    own.into_iter().chain(reference).collect()
}

fn next(review: &ItemReview) -> Next {
    let ItemReview { item, workspace, agreement, .. } = review;
    if let Some(next) = next_with_confirmation(review) {
        return next;
    }
    let act = match item.phase() {
        Phase::Unsorted | Phase::Gathering => NextAct::SaveFacts,
        Phase::Ready if item.verb() == Some(Verb::LeaveOut) => NextAct::Close,
        Phase::Ready if item.hold().is_some() => NextAct::ClearHold,
        Phase::Ready => NextAct::Open(Link {
            url: papers_url(workspace.id(), &[item.id()]),
            text: "Preview its agreement".to_owned(),
        }),
        Phase::Papered => agreement.as_ref().map_or(NextAct::Nothing, |found| {
            NextAct::Open(Link { text: "Open the draft".to_owned(), ..agreement_link(found) })
        }),
        Phase::InProgress | Phase::Claimed => match item.proofs().iter().find(|proof| proof.is_undecided()) {
            Some(proof) => NextAct::AcceptProof(proof.id()),
            None if agreement.as_ref().is_some_and(can_be_proven) => NextAct::FileProof,
            None => NextAct::Nothing,
        },
        Phase::Done => NextAct::Nothing,
    };
    Next { text: text::next_step_of_item(item), act, is_done: item.is_closed() }
}

fn next_with_confirmation(review: &ItemReview) -> Option<Next> {
    let ItemReview { item, people, agreement, confirmations, .. } = review;
    let agreement = agreement.as_ref().filter(|_| !item.proofs().iter().any(Proof::is_undecided))?;
    if let Some(accepted) = confirmations.iter().find(|found| found.accepted.is_some()) {
        let text = "The confirmation was uploaded and accepted. File it as proof.".to_owned();
        return Some(Next { text, act: NextAct::FileConfirmation(accepted.proof_id), is_done: false });
    }
    let sent = confirmations.last()?;
    let who = uploader(agreement, people, sent);
    let url = answers_url(agreement.id(), sent.gate_id, sent.participant_id);
    let text = format!("{who} uploaded the confirmation. Read it, then accept or return it.");
    let act = NextAct::Open(Link { url, text: "Read the answers".to_owned() });
    Some(Next { text, act, is_done: false })
}

fn uploader(agreement: &Agreement, people: &[Contact], sent: &Confirmation) -> String {
    let contact = agreement.participant(sent.participant_id).map(|participant| participant.contact_id);
    let contact = people.iter().find(|person| Some(person.id) == contact);
    contact.map_or("A participant".to_owned(), |contact| contact.display_name.as_str().to_owned())
}

/// Participants' uploads that confirm the transfer. Each form starts with the upload's day.
fn uploaded(review: &ItemReview, typed: &Typed, zone: &TimeZone) -> Vec<Uploaded> {
    let ItemReview { item, people, agreement, confirmations, .. } = review;
    let Some(agreement) = agreement else { return Vec::new() };
    let entry = |sent: &Confirmation| {
        let name = format!("{CONFIRMATION}-{}", sent.proof_id);
        let answers = answers_url(agreement.id(), sent.gate_id, sent.participant_id);
        let file = format!("{answers}/files/{}/{}", sent.proof_id, item.id());
        Uploaded {
            id: sent.proof_id,
            who: uploader(agreement, people, sent),
            question: sent.question.as_str().to_owned(),
            file: Link {
                url: file,
                text: format!("{}, {}", sent.file.name.as_str(), size(sent.file.content.size_bytes)),
            },
            sent_at: sent.sent_at.into(),
            accepted: sent.accepted.as_ref().map(|(at, by)| (actor_label(by), (*at).into())),
            answers,
            action: format!("{}/confirmation/{}", item_url(item.id()), sent.proof_id),
            fields: typed.fields_of(&name, [("dated", zone.day_of(sent.sent_at).shown())]),
        }
    };
    confirmations.iter().map(entry).collect()
}

fn shows_tracks(item: &FundingItem) -> bool {
    matches!(item.phase(), Phase::InProgress | Phase::Claimed)
        || item.claim().is_some()
        || !item.withdrawn_claims().is_empty()
        || !item.proofs().is_empty()
}

fn tracks(item: &FundingItem, by: &Member, typed: &Typed) -> Tracks {
    Tracks {
        claim: item.claim().map(claim),
        withdrawn: item.withdrawn_claims().iter().map(withdrawn).collect(),
        proofs: item.proofs().iter().map(|proof| proof_entry(item, proof, by, typed)).collect(),
    }
}

fn claim(claim: &Claim) -> ClaimEntry {
    ClaimEntry {
        note: claim.note.as_ref().map(|note| note.as_str().to_owned()),
        by: actor_label(&claim.by),
        at: claim.claimed_at.into(),
    }
}

fn withdrawn(withdrawn: &WithdrawnClaim) -> Withdrawn {
    Withdrawn {
        claim: claim(&withdrawn.claim),
        by: actor_label(&withdrawn.by),
        at: withdrawn.at.into(),
        reason: withdrawn.reason.as_str().to_owned(),
    }
}

fn proof_entry(item: &FundingItem, proof: &Proof, by: &Member, typed: &Typed) -> ProofEntry {
    let (badge, class, outcome, reason) = match proof.state() {
        ProofState::Undecided if item.is_closed() => {
            (Badge { text: "Not reviewed", class: "quiet" }, "gone", None, None)
        }
        ProofState::Undecided => (Badge { text: "To review", class: "blue" }, "open", None, None),
        ProofState::Accepted { at, by } => {
            let outcome = Some((format!("Accepted by {}", actor_label(by)), (*at).into()));
            (Badge { text: "Accepted", class: "green" }, "accepted", outcome, None)
        }
        ProofState::Rejected { at, by, reason } => {
            let outcome = Some((format!("Rejected by {}", actor_label(by)), (*at).into()));
            (Badge { text: "Rejected", class: "red" }, "gone", outcome, Some(reason.as_str().to_owned()))
        }
        ProofState::SetAside { at } => {
            let outcome = Some(("The item was reopened".to_owned(), (*at).into()));
            (Badge { text: "No longer counts", class: "quiet" }, "gone", outcome, None)
        }
    };
    let file = proof.document().map(|file| Link {
        url: format!("{}/proof/{}/file", item_url(item.id()), proof.id()),
        text: format!("{}, {}", file.name.as_str(), size(file.content.size_bytes)),
    });
    let reject = format!("reject-{}", proof.id());
    let decide = (proof.is_undecided() && !item.is_closed()).then(|| Decide {
        is_own: proof.filed_by().is_member(by.id()),
        reject: typed.fields_or_none(&reject),
        is_refused: typed.is(&reject),
    });
    ProofEntry {
        id: proof.id(),
        title: words::source(proof.source()),
        badge,
        class,
        dated: proof.dated().shown(),
        note: proof.note().map(|note| note.as_str().to_owned()),
        file,
        by: actor_label(proof.filed_by()),
        at: proof.filed_at().into(),
        outcome,
        reason,
        decide,
    }
}

fn proof_form(typed: &Typed) -> ProofForm {
    let source = |source: &ProofSource| Choice {
        about: words::source_about(*source),
        ..Choice::new(source, words::source(*source))
    };
    let fields = typed.fields_or_none(PROOF);
    ProofForm { sources: ProofSource::ALL.iter().map(source).collect(), fields }
}

fn park_fields(item: &FundingItem, typed: &Typed) -> Fields {
    let hold = item.hold();
    let waiting_on = hold.map(|hold| hold.waiting_on.to_string()).unwrap_or_default();
    let note = hold.and_then(|hold| hold.note.as_ref()).map(|note| note.as_str().to_owned()).unwrap_or_default();
    typed.fields_of(PARK, [("waiting_on", waiting_on), ("note", note)])
}

/// The initial values of the closing form: items that stay out of the trust are left out.
fn close_beginning(item: &FundingItem) -> Vec<(&'static str, &'static str)> {
    let is_left_out = item.verb() == Some(Verb::LeaveOut);
    if is_left_out { vec![("close_reason", CloseReason::LeftOut.as_str())] } else { Vec::new() }
}

fn closed(item: &FundingItem) -> Option<Closed> {
    match item.status() {
        Status::Funded { funded_at, by, .. } => {
            Some(Closed { what: "Proof accepted", note: None, by: actor_label(by), at: (*funded_at).into() })
        }
        Status::Unfunded { note, closed_at, by, .. } => Some(Closed {
            what: "Closed as unfunded",
            note: note.as_ref().map(|note| note.as_str().to_owned()),
            by: actor_label(by),
            at: (*closed_at).into(),
        }),
        _ => None,
    }
}
