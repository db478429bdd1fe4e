//! Claim and proof side by side, from the sending and the receiving side. Mere claims are never green.

use pages::agreement_summary::size;
use pages::labels::{Badge, DisplayTime, actor_label};
use pages::layout::Link;
use pages::urls::{evidence_url, statement_url};
use shared::domain::actor::{Actor, ActorType};
use shared::domain::agreement::Lifecycle;
use shared::domain::day::Day;
use shared::domain::ids::EvidenceId;
use shared::domain::money::{Money, in_app};
use shared::domain::movement::Movement;
use shared::domain::movement::claim::{Claim, TransferReference};
use shared::domain::movement::evidence::{Evidence, EvidenceState};
use shared::domain::movement::evidence_account::{AccountStanding, EvidenceAccount};
use shared::domain::movement::source::{EvidenceSource, Origin, Side};
use shared::domain::movement::state::MovementState;
use shared::domain::participant::session::InPerson;
use shared::domain::time::Timestamp;
use shared::service::movement_review::MovementReview;
use shared::text::movements::{account_standing, assurance, evidence_source, reference_type};
use shared::text::reader::Shown as _;

use crate::movement::Shown;
use crate::movement::form::{ActForm, Inputs};

pub(super) struct Tracks {
    pub claims: Vec<Entry>,
    pub proofs: Vec<Entry>,
    pub received: Option<String>,
}

pub(super) struct Entry {
    /// Its id on the page. Empty for a claim.
    pub anchor: String,
    pub title: String,
    pub badge: Badge,
    pub class: &'static str,
    pub facts: Vec<(&'static str, String)>,
    pub differences: Vec<String>,
    pub can_prove: &'static str,
    pub by: String,
    pub at: DisplayTime,
    pub file: Option<Link>,
    pub read_from: Option<Link>,
    pub outcome: Option<(String, DisplayTime)>,
    pub reason: Option<String>,
    pub accept: Option<Link>,
    pub acts: Vec<(&'static str, ActForm)>,
}

impl Tracks {
    pub fn new(shown: &Shown<'_>) -> Self {
        let MovementReview { movement, evidence, .. } = shown.review;
        let of = |side| evidence.iter().filter(move |evidence| evidence.source().side() == side);
        let earlier = movement.earlier_claims().iter().map(|claim| (claim, true));
        let claims = earlier.chain(movement.claim().map(|claim| (claim, false)));
        let mut claims: Vec<_> =
            claims.map(|(claim, is_earlier)| (claim.reported_at, shown.claim(claim, is_earlier))).collect();
        claims.extend(of(Side::Sender).map(|evidence| (evidence.filed_at(), shown.evidence(evidence))));
        claims.sort_by_key(|(at, _)| *at);
        let received = movement.receipt().map(|receipt| receipt.received_minor).zip(movement.terms().money);
        Self {
            claims: claims.into_iter().map(|(_, entry)| entry).collect(),
            proofs: of(Side::Receiver).map(|evidence| shown.evidence(evidence)).collect(),
            received: received.map(|(minor, due)| {
                format!("{} of {} accepted", in_app(minor, due.currency().code()), due.for_people())
            }),
        }
    }
}

impl Shown<'_> {
    fn claim(&self, claim: &Claim, is_earlier: bool) -> Entry {
        let sender = self.name_of(Some(claim.participant_id));
        // The sender is asked for no amount. What the payment expects stands beside, and is no part of what they say.
        let expected = self.review.movement.terms().money.map(|money| ("The payment expects", money.for_people()));
        let mut facts = vec![("Amount", "Not stated".to_owned())];
        facts.extend(expected);
        facts.push(("Sent on", claim.sent_on.shown()));
        facts.extend(claim.references.iter().map(reference));
        let badge = if is_earlier { "Earlier attempt" } else { "Says so" };
        Entry {
            anchor: String::new(),
            title: format!("{sender} says it was sent"),
            badge: Badge { text: badge, class: if is_earlier { "quiet" } else { "amber" } },
            class: "open",
            facts,
            differences: Vec::new(),
            can_prove: "It proves nothing about the arrival.",
            by: match claim.by.actor_type {
                ActorType::Participant => format!("Reported by {sender}{}", in_browser_of(claim.in_person.as_ref())),
                _ => format!("Recorded by {}", actor_label(&claim.by)),
            },
            at: claim.reported_at.into(),
            file: None,
            read_from: None,
            outcome: None,
            reason: None,
            accept: None,
            acts: Vec::new(),
        }
    }

    /// Evidence on its track.
    pub fn evidence(&self, evidence: &Evidence) -> Entry {
        let (movement, source) = (&self.review.movement, evidence.source());
        let path = evidence_url(movement.id(), evidence.id());
        let (badge, class, outcome, reason) = state(evidence);
        let mut facts =
            vec![("Amount", evidence.facts().money.for_people()), ("Value date", evidence.facts().value_day.shown())];
        facts.extend(evidence.facts().reference.as_ref().map(|text| ("Bank reference", text.as_str().to_owned())));
        facts.extend(account_facts(evidence));
        facts.push(("Origin", origin(source.origin()).to_owned()));
        facts.extend(evidence.is_late().then(|| ("Late", "Filed after the agreement ended".to_owned())));
        let is_open = evidence.is_undecided();
        Entry {
            anchor: anchor(evidence.id()),
            title: title(source).to_owned(),
            badge,
            class,
            facts,
            differences: differences(self.review, evidence),
            can_prove: assurance(source.assurance()),
            by: filed_by(evidence),
            at: evidence.filed_at().into(),
            file: evidence.facts().file.as_ref().map(|file| Link {
                url: format!("{path}/file"),
                text: format!("{}, {}", file.name.as_str(), size(file.content.size_bytes)),
            }),
            read_from: read_from(evidence),
            outcome,
            reason,
            accept: (is_open && movement.takes_acceptance() && source.side() == Side::Receiver)
                .then(|| Link { url: format!("{path}/accept"), text: evidence.facts().money.for_people() }),
            acts: self.acts_on(evidence, is_open),
        }
    }

    fn acts_on(&self, evidence: &Evidence, is_open: bool) -> Vec<(&'static str, ActForm)> {
        let path = evidence_url(self.review.movement.id(), evidence.id());
        let about = format!("{}, {}", title(evidence.source()), evidence.facts().money.for_people());
        let act = |act: &str, label, text: &str| {
            let form = self.form(&format!("{act}-{}", evidence.id()), format!("{path}/{act}"), label);
            ActForm {
                about: about.clone(),
                text: text.to_owned(),
                is_harmful: true,
                inputs: Inputs::Reason(""),
                ..form
            }
        };
        let has_ended = has_ended(self.review.movement.state());
        let mut acts = Vec::new();
        if is_open {
            let text = "It will not count. Its document and reference can be filed again, also for another payment.";
            acts.push(("Reject evidence…", act("reject", "Reject evidence", text)));
        }
        if evidence.is_undecided() || evidence.is_accepted() {
            let text = if has_ended {
                "It was filed for the wrong payment. This payment stays as it is, and its document and reference can be filed for another one."
            } else if evidence.is_accepted() {
                if self.review.agreement.lifecycle() == Lifecycle::Completed {
                    "It no longer counts. A payment that it confirmed becomes an exception. The agreement stays completed."
                } else {
                    "It no longer counts. A payment that it confirmed becomes an exception, and a condition that waited for the payment may open again."
                }
            } else {
                "It was filed by mistake, and no one decides about it anymore."
            };
            acts.push(("Withdraw evidence…", act("withdraw", "Withdraw evidence", text)));
        }
        acts
    }
}

/// Whether a payment ended without its arrival. Its evidence can only be released, not accepted.
fn has_ended(state: MovementState) -> bool {
    matches!(state, MovementState::Returned | MovementState::Cancelled)
}

fn anchor(id: EvidenceId) -> String {
    format!("evidence-{id}")
}

fn filed_by(evidence: &Evidence) -> String {
    format!("Filed by {}{}", actor_label(evidence.filed_by()), in_browser_of(evidence.in_person()))
}

fn in_browser_of(host: Option<&InPerson>) -> String {
    host.map(|host| format!(", {host}")).unwrap_or_default()
}

fn title(source: EvidenceSource) -> &'static str {
    let words = evidence_source(source);
    words.split_once(',').map_or(words, |(short, _)| short)
}

/// How facts of evidence were captured: typed and read facts are always distinguished.
fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Typed => "Typed by a person",
        Origin::Read => "Read from the bank’s file",
    }
}

/// The account of evidence as compared, and why it counts if it differs.
fn account_facts(evidence: &Evidence) -> Vec<(&'static str, String)> {
    let Some(EvidenceAccount { ending, standing, reason }) = evidence.account() else { return Vec::new() };
    let named = ending.as_ref().map_or_else(|| "Not named".to_owned(), |ending| format!("…{ending}"));
    let mut facts = vec![("Account", format!("{named}: {}", account_standing(*standing)))];
    facts.extend(reason.as_ref().map(|reason| ("Why it counts", reason.as_str().to_owned())));
    facts
}

fn read_from(evidence: &Evidence) -> Option<Link> {
    let (entry, file) = (evidence.entry()?, evidence.facts().file.as_ref()?);
    let text = format!("Statement {}, entry {}", file.name.as_str(), entry.number);
    Some(Link { url: statement_url(entry.statement_id), text })
}

fn reference(reference: &TransferReference) -> (&'static str, String) {
    (reference_type(reference.reference_type()), reference.value().to_owned())
}

type State = (Badge, &'static str, Option<(String, DisplayTime)>, Option<String>);

fn state(evidence: &Evidence) -> State {
    let of_sender = evidence.source().side() == Side::Sender;
    let said = |what: &str, by: &Actor| format!("{what} by {}", actor_label(by));
    match evidence.state() {
        EvidenceState::Filed if of_sender => (Badge { text: "Never proof", class: "amber" }, "open", None, None),
        EvidenceState::Filed => (Badge { text: "To review", class: "blue" }, "open", None, None),
        EvidenceState::Accepted { at, by, is_another } => {
            let as_what = if *is_another { "Accepted as another arrival" } else { "Accepted" };
            let outcome = Some((said(as_what, by), (*at).into()));
            (Badge { text: "Accepted", class: "green" }, "accepted", outcome, None)
        }
        EvidenceState::Rejected { at, by, reason } => (
            Badge { text: "Rejected", class: "red" },
            "gone",
            Some((said("Rejected", by), (*at).into())),
            Some(reason.as_str().to_owned()),
        ),
        EvidenceState::Withdrawn { at, by, reason } => (
            Badge { text: "Withdrawn", class: "quiet" },
            "gone",
            Some((said("Withdrawn", by), (*at).into())),
            Some(reason.as_str().to_owned()),
        ),
    }
}

fn differences(review: &MovementReview, evidence: &Evidence) -> Vec<String> {
    let movement = &review.movement;
    let is_to_judge = evidence.is_undecided() && evidence.source().side() == Side::Receiver;
    let arrived = match accepted_at(evidence) {
        // Accepted evidence was judged by what was missing then.
        Some(at) => {
            let before = review.evidence.iter().filter(|other| accepted_at(other).is_some_and(|other| other < at));
            before.map(|other| other.facts().money.amount_minor()).sum::<i64>()
        }
        None => movement.receipt().filter(|_| is_to_judge).map_or(0, |receipt| receipt.received_minor),
    };
    // Parts of a confirmed payment are each less than it.
    let due = movement.terms().money.filter(|_| is_to_judge || !movement.state().is_reconciled());
    let mut found: Vec<String> =
        due.and_then(|due| difference(due, arrived, evidence.facts().money)).into_iter().collect();
    found.extend(account_difference(evidence));
    found.extend(differences_from_claim(movement, evidence));
    found
}

fn accepted_at(evidence: &Evidence) -> Option<Timestamp> {
    match evidence.state() {
        EvidenceState::Accepted { at, .. } => Some(*at),
        _ => None,
    }
}

/// The note on evidence whose account is not known to be the payee's.
pub(super) fn account_difference(evidence: &Evidence) -> Option<String> {
    let line = match evidence.account()?.standing {
        AccountStanding::Instructed | AccountStanding::Own => return None,
        AccountStanding::Another => "Not on the account that the payment’s instructions named when it was filed",
        AccountStanding::Unclear => {
            "It can’t be told whether it is on the account that the payment’s instructions name"
        }
        AccountStanding::Unknown => {
            "The payment had no released instructions, and two members have not said that the account is the organization’s"
        }
    };
    Some(line.to_owned())
}

pub(super) fn differences_from_claim(movement: &Movement, evidence: &Evidence) -> Vec<String> {
    let (facts, mut found) = (evidence.facts(), Vec::new());
    if evidence.source().side() == Side::Receiver
        && let Some(claim) = movement.claim()
    {
        found.extend(before_claim(claim, facts.value_day));
        if let Some(own) = &facts.reference
            && !claim.references.is_empty()
            && !claim.references.iter().any(|claimed| {
                own.is_same_as(claimed.value())
                    || evidence.entry().is_some_and(|entry| entry.has_reference(claimed.value()))
            })
        {
            let claimed: Vec<&str> = claim.references.iter().map(TransferReference::value).collect();
            found.push(format!("Not the reference that the sender gave: {}", claimed.join(", ")));
        }
    }
    found
}

/// That a day is before the one on which the sender says that the money was sent.
pub(crate) fn before_claim(claim: &Claim, day: Day) -> Option<String> {
    (day < claim.sent_on).then(|| format!("Before {}, when the sender says it was sent", claim.sent_on.shown()))
}

/// What an amount has less or more than what is due, besides what arrived before.
fn difference(due: Money, arrived: i64, said: Money) -> Option<String> {
    let code = due.currency().code();
    if said.currency() != due.currency() {
        return Some(format!("Not in {code}, the currency of the payment"));
    }
    let missing = due.amount_minor().saturating_sub(arrived);
    let what = if arrived > 0 { "what is still missing" } else { "the amount" };
    let (less, more) = (missing.saturating_sub(said.amount_minor()), said.amount_minor().saturating_sub(missing));
    match (less, more) {
        (1.., _) => Some(format!("{} less than {what}", in_app(less, code))),
        (_, 1..) => Some(format!("{} more than {what}", in_app(more, code))),
        _ => None,
    }
}
