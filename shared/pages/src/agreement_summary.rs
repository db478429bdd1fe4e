//! The parts of an agreement, for its page and the review of a proposal.

use std::collections::BTreeSet;

use shared::api::views::agreements::{AgreementView, DocumentView, GateView, ParticipantView, StageView};
use shared::domain::agreement::gate::{Countdown, FieldType, Gate, GateRule, GateState, GateStatus, InformationField};
use shared::domain::agreement::promise::Promise;
use shared::domain::agreement::verification::Verification;
use shared::domain::agreement::{Agreement, Document, DocumentState, Lifecycle, SignatureBlock, Stage, StageState};
use shared::domain::contact::{ChangedIdentity, Contact, Email};
use shared::domain::ids::{AgreementId, GateId, ParticipantId};
use shared::domain::member::obstacle;
use shared::domain::paper_signature::{PaperSignature, PaperState};
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::service::agreements::{AgreementReview, ShownMovements};
use shared::text;
use shared::text::reader::Shown as _;

use crate::agreement_payments::{PaymentRow, Payments, is_overdue, purpose_of};
use crate::labels::{Badge, DisplayTime, actor_label, obligation_badge, obligation_status};
use crate::layout::Link;
use crate::urls::{
    access_url, agreement_url, answers_url, document_url, files_url, movement_url, obligation_url, verification_url,
};

/// An agreement's parts.
pub struct AgreementSummary {
    /// Its participants.
    pub participants: Vec<ParticipantRow>,
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// Its documents.
    pub documents: Vec<DocumentRow>,
    /// Each term's name and text.
    pub terms: Vec<(&'static str, String)>,
    /// Whether it is a draft.
    pub is_draft: bool,
    /// The promises, or the obligations they became.
    pub promises: Vec<PromiseRow>,
    /// What the current step of an active agreement waits for first, such as `Ada Okafor to approve`.
    pub next: Option<String>,
    /// Its payments, once published.
    pub payments: Option<Payments>,
}

/// A promise, or the obligation it became.
pub struct PromiseRow {
    /// Its name.
    pub name: String,
    /// Who owes it to whom, and when.
    pub text: String,
    /// The obligation's page and state.
    pub obligation: Option<(String, String, Badge)>,
}

/// A participant.
pub struct ParticipantRow {
    /// Their name.
    pub name: String,
    /// Their address, if they have one.
    pub email: Option<String>,
    /// Their roles in words.
    pub roles: Vec<&'static str>,
    /// Their recorded verifications, one per line.
    pub verifications: Vec<String>,
    /// How they reach their pages, once published.
    pub access: Option<AccessRow>,
}

/// How a participant reaches their pages.
pub struct AccessRow {
    /// The page about this access.
    pub url: String,
    /// The act that shows the link; none while a changed address isn't confirmed, and once the agreement has ended.
    pub link: Option<LinkToShow>,
    /// If changed since publication and not confirmed by a member: the old address, who changed it last, and when.
    pub readdressed: Option<(String, String, DisplayTime)>,
    /// When they last opened a page.
    pub seen_at: Option<DisplayTime>,
}

/// The form that shows a participant's link.
#[derive(Debug, Clone)]
pub struct LinkToShow {
    /// Where it leads.
    pub action: String,
    /// The generation of the link.
    pub generation: u64,
    /// Whose link it is.
    pub name: String,
}

/// A stage.
pub struct Step {
    /// Its place, from 1.
    pub position: usize,
    /// Its name.
    pub name: String,
    /// The CSS class for its place in the timeline.
    pub class: &'static str,
    /// Its state.
    pub badge: Badge,
    /// What happens once its conditions are met.
    pub actions: Vec<&'static str>,
    /// Its conditions.
    pub gates: Vec<GateRow>,
}

/// A condition.
pub struct GateRow {
    /// What it waits for.
    pub requirement: String,
    /// What helps to find the file that it asks for.
    pub help: Option<String>,
    /// The date that it waits for.
    pub until: Option<DisplayTime>,
    /// The CSS class for its state.
    pub class: &'static str,
    /// Its state in words.
    pub state: String,
    /// When it was cleared, since when it waits, or when its waiting period ends.
    pub at: Option<DisplayTime>,
    /// What else an open condition waits for, and since when, such as a member who has to read answers.
    pub besides: Option<(String, DisplayTime)>,
    /// The questions of an information request.
    pub questions: Vec<Question>,
    /// What a member can do about it.
    pub acts: Vec<Link>,
    /// What a participant declined, and how a member reopens it.
    pub declined: Option<Declined>,
}

/// A declined condition.
pub struct Declined {
    /// Why a participant declined.
    pub reason: String,
    /// The time, as the form sends it.
    pub at: String,
    /// Where a member reopens it.
    pub reopen: String,
}

/// A question of an information request.
pub struct Question {
    /// The question.
    pub text: String,
    /// The kind of answer.
    pub answer: String,
}

/// A document.
pub struct DocumentRow {
    /// Where its file is, if it has one.
    pub url: Option<String>,
    /// Its name.
    pub name: String,
    /// The size of its file.
    pub size: Option<String>,
    /// The SHA-256 of its file.
    pub sha256: Option<String>,
    /// Its state.
    pub badge: Badge,
    /// Its signatures on paper in words, with a link if one needs confirmation.
    pub papers: Vec<(String, Option<String>)>,
}

impl AgreementSummary {
    /// The summary of an agreement, with its view, its participants' contacts, and the payments that its conditions name.
    pub fn new(agreement: &Agreement, view: &AgreementView, named: text::Named<'_>) -> Self {
        let source = Source::new(agreement, named);
        let participants = view.participants.iter().flatten();
        let stages = view.stages.iter().flatten().zip(&agreement.stages);
        let documents = view.documents.iter().flatten().zip(&agreement.documents);
        let mut gates = stages.clone().flat_map(|(view, stage)| view.gates.iter().zip(&stage.gates));
        Self {
            next: gates.find_map(|(view, gate)| source.next(view, gate)),
            participants: participants.map(|participant| source.participant(participant)).collect(),
            steps: stages.map(|(view, stage)| source.step(view, stage)).collect(),
            documents: documents.map(|(view, document)| source.document(view, document)).collect(),
            terms: agreement.terms.as_ref().map(text::terms).unwrap_or_default(),
            promises: agreement.promises.iter().map(|promise| source.promise(promise)).collect(),
            is_draft: source.is_draft,
            payments: None,
        }
    }
}

impl AgreementSummary {
    /// Adds state and page of the obligations that the promises became.
    #[must_use]
    pub fn with_obligations(mut self, review: &AgreementReview, now: Timestamp) -> Self {
        let agreement = &review.in_full.agreement;
        for (row, promise) in self.promises.iter_mut().zip(&agreement.promises) {
            let found = review.obligations.iter().find(|obligation| obligation.promise_id() == promise.id);
            row.obligation = found.map(|obligation| {
                let state = obligation_status(obligation, now);
                (obligation_url(obligation.id()), state, obligation_badge(obligation, now))
            });
        }
        self
    }

    /// Adds recorded verifications, and links to record those that an active agreement waits for and to what participants sent.
    #[must_use]
    pub fn with_verifications(mut self, agreement: &Agreement, recorded: &[Verification]) -> Self {
        for (row, participant) in self.participants.iter_mut().zip(&agreement.participants) {
            let own = recorded.iter().filter(|verification| verification.participant_id == participant.id);
            row.verifications = own.map(verification_line).collect();
        }
        let waits = agreement.lifecycle() == Lifecycle::Active;
        for (step, stage) in self.steps.iter_mut().zip(&agreement.stages) {
            for (row, gate) in step.gates.iter_mut().zip(&stage.gates) {
                if waits
                    && gate.state.status() == GateStatus::Open
                    && matches!(gate.rule, GateRule::IdentityVerified { .. })
                {
                    let link = |id| {
                        let at = agreement.participants.iter().position(|participant| participant.id == id)?;
                        let text = format!("Record verification of {}", self.participants.get(at)?.name);
                        Some(Link { url: verification_url(agreement.id(), id), text })
                    };
                    row.acts = agreement.unmet_by(gate).into_iter().filter_map(link).collect();
                }
                if gate.state.status() != GateStatus::Locked
                    && let Some(sent) = Sent::of(&gate.rule)
                {
                    let link = |(text, id): (&str, ParticipantId)| {
                        let at = agreement.participants.iter().position(|participant| participant.id == id)?;
                        let text = format!("{text} of {}", self.participants.get(at)?.name);
                        Some(Link { url: (sent.url)(agreement.id(), gate.id, id), text })
                    };
                    let to_review = if waits { agreement.to_review(gate) } else { BTreeSet::new() };
                    let named = gate.rule.named(agreement).into_iter();
                    let sent_before = named.filter(|id| agreement.has_sent(gate.id, *id) && !to_review.contains(id));
                    let sent_before: Vec<_> = sent_before.map(|id| (sent.settled, id)).collect();
                    let to_review = to_review.into_iter().map(|id| (sent.to_review, id));
                    row.acts = to_review.chain(sent_before).filter_map(link).collect();
                }
            }
        }
        self
    }
}

/// What participants send for a condition, as the links to it are called.
struct Sent {
    to_review: &'static str,
    settled: &'static str,
    url: fn(AgreementId, GateId, ParticipantId) -> String,
}

impl Sent {
    fn of(rule: &GateRule) -> Option<Self> {
        match rule {
            GateRule::InformationRequest { .. } => {
                Some(Self { to_review: "Read answers", settled: "Answers", url: answers_url })
            }
            GateRule::FileUpload { .. } => Some(Self { to_review: "Review file", settled: "File", url: files_url }),
            _ => None,
        }
    }
}

impl AgreementSummary {
    /// Adds the recorded signatures on paper.
    #[must_use]
    pub fn with_papers(mut self, agreement: &Agreement, recorded: &[PaperSignature]) -> Self {
        for (row, document) in self.documents.iter_mut().zip(&agreement.documents) {
            let own: Vec<_> = recorded.iter().filter(|paper| paper.document_id == document.id).collect();
            let is_on_paper = |block: &SignatureBlock| {
                own.iter().any(|paper| paper.counts_since().is_some() && paper.block_ids.contains(&block.id))
            };
            if document.state == DocumentState::Signed && document.blocks.iter().all(is_on_paper) {
                row.badge = Badge { text: "Signed on paper", class: "green" };
            }
            row.papers = own.iter().filter_map(|paper| paper_line(agreement, paper)).collect();
        }
        self
    }
}

impl AgreementSummary {
    /// Adds how participants reach their pages, and what they declined.
    #[must_use]
    pub fn with_accesses(mut self, review: &AgreementReview) -> Self {
        let agreement = &review.in_full.agreement;
        let is_active = agreement.lifecycle() == Lifecycle::Active;
        for (row, participant) in self.participants.iter_mut().zip(&agreement.participants) {
            let id = participant.id;
            let access = review.accesses.get(&id).copied().unwrap_or_default();
            let contact = review.in_full.contacts.iter().find(|contact| contact.id == participant.contact_id);
            let changed = contact.and_then(|contact| access.changed(participant, contact));
            let readdressed =
                changed.filter(|changed| is_active && changed.is_readdressed()).as_ref().and_then(readdressed);
            let url = access_url(agreement.id(), id);
            row.access = Some(AccessRow {
                link: (is_active && readdressed.is_none()).then(|| LinkToShow {
                    action: format!("{url}/link"),
                    generation: access.generation,
                    name: row.name.clone(),
                }),
                url,
                readdressed,
                seen_at: access.seen_at.map(DisplayTime::from),
            });
        }
        for (step, stage) in self.steps.iter_mut().zip(&agreement.stages) {
            for (row, gate) in step.gates.iter_mut().zip(&stage.gates) {
                let reason = review.decline_reasons.get(&gate.id).map(|reason| reason.as_str().to_owned());
                let reopen = format!("{}/conditions/{}/reopen", agreement_url(agreement.id()), gate.id);
                row.declined = match gate.state {
                    GateState::Declined { declined_at, .. } if is_active => {
                        Some(Declined { reason: reason.unwrap_or_default(), at: declined_at.to_string(), reopen })
                    }
                    _ => None,
                };
            }
        }
        self
    }
}

fn readdressed(changed: &ChangedIdentity<'_>) -> Option<(String, String, DisplayTime)> {
    let before = changed.before.and_then(|before| before.email.as_ref()).map_or("another address", Email::as_str);
    let last = changed.changes.last()?;
    Some((before.to_owned(), actor_label(&last.changed_by), last.until.into()))
}

fn verification_line(verification: &Verification) -> String {
    let reference =
        verification.reference.as_ref().map(|text| format!(", reference {}", text.as_str())).unwrap_or_default();
    let (day, method) = (verification.day.shown(), verification.method.as_str());
    format!("Verified on {day}: {method}{reference}. Recorded by {}", actor_label(&verification.recorded_by))
}

struct Source<'a> {
    agreement: &'a Agreement,
    named: text::Named<'a>,
    is_draft: bool,
    has_ended: bool,
}

impl<'a> Source<'a> {
    fn new(agreement: &'a Agreement, named: text::Named<'a>) -> Self {
        let is_draft = agreement.lifecycle() == Lifecycle::Draft;
        let has_ended = !matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
        Self { agreement, named, is_draft, has_ended }
    }

    fn participant(&self, participant: &ParticipantView) -> ParticipantRow {
        let contact = self.named.contacts.iter().find(|contact| contact.id == participant.contact_id);
        ParticipantRow {
            name: participant.display_name.as_str().to_owned(),
            email: contact.and_then(|contact| contact.email.as_ref()).map(|email| email.as_str().to_owned()),
            roles: participant.roles.iter().map(|role| text::role(*role)).collect(),
            verifications: Vec::new(),
            access: None,
        }
    }

    fn promise(&self, promise: &Promise) -> PromiseRow {
        let parties = text::promise_parties(&promise.parties, self.agreement, self.named.contacts);
        PromiseRow {
            name: promise.name.as_str().to_owned(),
            text: format!("{parties}, {}", text::promise_terms(&promise.terms)),
            obligation: None,
        }
    }

    fn step(&self, view: &StageView, stage: &Stage) -> Step {
        let (class, badge) = match stage.state {
            StageState::Upcoming | StageState::Current if self.has_ended => {
                ("upcoming", Badge { text: "Not done", class: "quiet" })
            }
            StageState::Upcoming => ("upcoming", Badge { text: "Upcoming", class: "quiet" }),
            StageState::Current => ("current", Badge { text: "Current", class: "blue" }),
            StageState::Done => ("done", Badge { text: "Done", class: "green" }),
        };
        let action = if stage.state == StageState::Done { text::stage_action_done } else { text::stage_action };
        Step {
            position: view.position,
            name: stage.name.as_str().to_owned(),
            class,
            badge,
            actions: stage.actions.iter().map(|of| action(*of)).collect(),
            gates: view.gates.iter().zip(&stage.gates).map(|(view, gate)| self.gate(view, gate)).collect(),
        }
    }

    fn gate(&self, view: &GateView, gate: &Gate) -> GateRow {
        let is_open = view.state == GateStatus::Open && !self.has_ended;
        let waits = if is_open { text::waits(gate, self.agreement, self.named) } else { Vec::new() };
        let mut waits = waits.into_iter();
        let (who, since) = waits.next().unwrap_or_default();
        let besides = waits.next().and_then(|(who, since)| Some((format!("{who}, since"), since?.into())));
        let (class, state, at) = match (view.state, gate.due_at()) {
            (GateStatus::Locked | GateStatus::Open, _) if self.has_ended => ("locked", "Not done".to_owned(), None),
            (GateStatus::Locked, _) => ("locked", "Not open yet".to_owned(), None),
            (GateStatus::Open, Some(due)) => ("open", "Ends".to_owned(), Some(due)),
            (GateStatus::Open, None) => ("open", format!("Waiting for: {who}, since"), since),
            (GateStatus::Cleared, _) => ("cleared", "Done".to_owned(), view.cleared_at),
            (GateStatus::Declined, _) if self.has_ended => ("declined", "Declined".to_owned(), None),
            (GateStatus::Declined, _) => ("declined", format!("{}, since", view.waiting_on), gate.declined_at()),
        };
        let (requirement, until) = match &gate.rule {
            GateRule::Countdown { until: Some(Countdown::At(moment)) } => {
                ("Waiting until".to_owned(), Some(DisplayTime::from(*moment)))
            }
            rule => (text::requirement(rule, self.agreement, self.named), None),
        };
        GateRow {
            requirement,
            help: gate.rule.requested_file().and_then(|file| file.help.as_ref()).map(|help| help.as_str().to_owned()),
            until,
            class,
            state,
            at: at.map(DisplayTime::from),
            besides,
            questions: match &gate.rule {
                GateRule::InformationRequest { fields, .. } => fields.iter().map(question).collect(),
                _ => Vec::new(),
            },
            acts: Vec::new(),
            declined: None,
        }
    }

    fn next(&self, view: &GateView, gate: &Gate) -> Option<String> {
        let is_open = self.agreement.lifecycle() == Lifecycle::Active && view.state == GateStatus::Open;
        is_open.then(|| match &gate.rule {
            GateRule::Countdown { until: Some(Countdown::AfterHours(_)) } => {
                let period = text::requirement(&gate.rule, self.agreement, self.named);
                format!("{period}, until {}", view.waiting_on)
            }
            GateRule::Countdown { .. } => text::requirement(&gate.rule, self.agreement, self.named),
            _ => text::awaited(gate, self.agreement, self.named),
        })
    }

    fn document(&self, view: &DocumentView, document: &Document) -> DocumentRow {
        let badge = match view.state {
            _ if view.sha256.is_none() => Badge { text: "File missing", class: "quiet" },
            DocumentState::Draft if self.is_draft => Badge { text: "Draft", class: "quiet" },
            DocumentState::Draft if document.blocks.is_empty() => Badge { text: "For reading", class: "quiet" },
            DocumentState::Draft | DocumentState::Out if self.has_ended => Badge { text: "Not signed", class: "quiet" },
            DocumentState::Draft => Badge { text: "Not sent for signature", class: "quiet" },
            DocumentState::Out => Badge { text: "Out for signing", class: "blue" },
            DocumentState::Signed => Badge { text: "Signed", class: "green" },
        };
        let id = self.agreement.id();
        DocumentRow {
            url: view.sha256.as_ref().map(|_| document_url(id, document.id)),
            name: view.name.as_str().to_owned(),
            size: view.size_bytes.map(size),
            sha256: view.sha256.clone(),
            badge,
            papers: Vec::new(),
        }
    }
}

fn question(field: &InformationField) -> Question {
    let options = field.options.join(", ");
    let answer = match field.field_type {
        FieldType::Text => "A text".to_owned(),
        FieldType::LongText => "A longer text".to_owned(),
        FieldType::Number => "A number".to_owned(),
        FieldType::Date => "A date".to_owned(),
        FieldType::Boolean => "Yes or no".to_owned(),
        FieldType::Choice => format!("One of: {options}"),
        FieldType::MultiChoice => format!("Any of: {options}"),
        FieldType::File => "A file".to_owned(),
        FieldType::Address => "A postal address".to_owned(),
        FieldType::BankDetails => "Bank details".to_owned(),
    };
    let answer = if field.required { answer } else { format!("{answer} (optional)") };
    Question { text: field.label.as_str().to_owned(), answer }
}

/// Formats a size in bytes for people, such as `1.2 MB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = KIB * KIB;
    match bytes {
        0..KIB => format!("{bytes} bytes"),
        KIB..MIB => format!("{} KB", bytes.div_ceil(KIB)),
        MIB.. => format!("{}.{} MB", bytes / MIB, bytes % MIB * 10 / MIB),
    }
}

/// A participant's name.
#[must_use]
pub fn participant_name(agreement: &Agreement, contacts: &[Contact], id: ParticipantId) -> String {
    let contact = agreement.participant(id).map(|participant| participant.contact_id);
    let contact = contacts.iter().find(|known| Some(known.id) == contact);
    contact.map_or_else(|| "Unknown".to_owned(), |contact| contact.display_name.as_str().to_owned())
}

/// A paper signature below its document, linked if it needs confirmation. None if it doesn't count and can't.
#[must_use]
pub fn paper_line(agreement: &Agreement, paper: &PaperSignature) -> Option<(String, Option<String>)> {
    let (name, day, recorder) = (paper.signed_by(), paper.signed_on.shown(), actor_label(&paper.recorded_by));
    match &paper.state {
        PaperState::Pending => {
            let url = format!("{}#papers", access_url(agreement.id(), paper.participant_id));
            let text = format!("Paper signature of {name} needs confirmation");
            obstacle(agreement, paper).is_none().then_some((text, Some(url)))
        }
        PaperState::CountedAlone { .. } => {
            Some((format!("{name} signed on paper on {day}. Recorded by {recorder}"), None))
        }
        PaperState::Confirmed { by, .. } => {
            let confirmer = actor_label(by);
            let text = format!("{name} signed on paper on {day}. Recorded by {recorder}, confirmed by {confirmer}");
            Some((text, None))
        }
        PaperState::Rejected { .. } => None,
    }
}

/// What a published agreement waits for, as the line of a notice.
#[must_use]
pub fn next_line(summary: &AgreementSummary) -> String {
    let Some(next) = &summary.next else { return String::new() };
    // A name such as “Inc.” already ends with a period.
    let stop = if next.ends_with('.') { "" } else { "." };
    format!("Next: {next}{stop}")
}

impl AgreementSummary {
    /// Adds a published agreement's payments and their links from conditions, as of now in the organization's zone.
    #[must_use]
    pub fn with_movements(mut self, review: &AgreementReview, zone: &TimeZone, now: Timestamp) -> Self {
        let (agreement, contacts) = (&review.in_full.agreement, &review.in_full.contacts);
        let ShownMovements { on_page, offset, total, .. } = &review.movements;
        for (step, stage) in self.steps.iter_mut().zip(&agreement.stages) {
            for (row, gate) in step.gates.iter_mut().zip(&stage.gates) {
                // Those still locked are in the list of payments.
                let is_there = agreement.was_published() && gate.state.status() != GateStatus::Locked;
                if let Some(id) = gate.rule.movement().filter(|_| is_there) {
                    let purpose = review.movements.get(id).map(|payment| format!("Payment: {}", purpose_of(payment)));
                    let text = purpose.unwrap_or_else(|| "Payment".to_owned());
                    row.acts.push(Link { url: movement_url(id), text });
                }
            }
        }
        let rows: Vec<PaymentRow> = on_page
            .iter()
            .filter_map(|id| review.movements.get(*id))
            .map(|payment| PaymentRow::new(payment, agreement, contacts, is_overdue(payment, agreement, zone, now)))
            .collect();
        self.payments = (*total > 0).then(|| Payments::new(rows, *offset, *total, &agreement_url(agreement.id())));
        self
    }
}
