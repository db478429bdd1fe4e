use std::collections::{BTreeSet, HashMap};

use super::names::{counted, names};
use super::review::{Named, named_payment, requirement};
use crate::domain::agreement::gate::{Countdown, Gate, GateRule, GateState, RequestedFile};
use crate::domain::agreement::{Agreement, Lifecycle, StageState};
use crate::domain::contact::Contact;
use crate::domain::ids::{ContactId, GateId, MovementId, ParticipantId};
use crate::domain::movement::Movement;
use crate::domain::movement::state::MovementState;
use crate::domain::time::Timestamp;
use crate::text::reader::Shown as _;

/// An agreement's `status`.
#[must_use]
pub fn agreement_status(agreement: &Agreement, is_ready: bool) -> String {
    match agreement.lifecycle() {
        Lifecycle::Draft if is_ready => "Draft, ready to be proposed".to_owned(),
        Lifecycle::Draft => "Draft".to_owned(),
        Lifecycle::Active => {
            match agreement.stages.iter().enumerate().find(|(_, stage)| stage.state == StageState::Current) {
                Some((index, stage)) => {
                    format!("Active: step {} of {}, {}", index + 1, agreement.stages.len(), stage.name.as_str())
                }
                None => "Active".to_owned(),
            }
        }
        Lifecycle::Completed => "Completed".to_owned(),
        Lifecycle::Cancelled => "Cancelled".to_owned(),
        Lifecycle::Expired => "Expired".to_owned(),
    }
}

/// Whom an agreement with a pending proposal waits for.
pub const PROPOSAL_WAIT: &str = "A member to decide about the proposal";

/// Whom a draft without blockers, or with its publication proposed, waits for.
#[must_use]
pub fn draft_wait(is_proposed: bool) -> &'static str {
    if is_proposed { PROPOSAL_WAIT } else { "A member to publish it" }
}

/// A gate's `waiting_on`, with the name of its payment if that is read.
#[must_use]
pub fn waiting_on(gate: &Gate, agreement: &Agreement, of: Named<'_>) -> String {
    people_awaited(gate, agreement, of, true)
}

fn for_participants(gate: &Gate, agreement: &Agreement, waited_for: &[ParticipantId], of: Named<'_>) -> String {
    let Named { contacts, payments } = of;
    let payment =
        |otherwise: &str| named_payment(gate.rule.movement(), payments).unwrap_or_else(|| otherwise.to_owned());
    let who = names(agreement, waited_for, contacts);
    let has_ended = !matches!(agreement.lifecycle(), Lifecycle::Draft | Lifecycle::Active);
    match (&gate.state, &gate.rule) {
        (GateState::Locked | GateState::Open { .. }, _) if has_ended => "Nobody: the agreement has ended".to_owned(),
        (GateState::Locked, _) if agreement.lifecycle() == Lifecycle::Draft => "Publication".to_owned(),
        (GateState::Cleared { .. }, _) => "Done".to_owned(),
        (GateState::Declined { participant_id, .. }, _) => {
            format!("Declined by {}", names(agreement, &[*participant_id], contacts))
        }
        (GateState::Locked, _) => "The steps before".to_owned(),
        (GateState::Open { .. }, GateRule::SignatureBlocks { .. } | GateRule::DocumentSigned { .. }) => {
            format!("{who} to sign")
        }
        (GateState::Open { .. }, GateRule::ParticipantApproval { .. }) => format!("{who} to approve"),
        (GateState::Open { .. }, GateRule::FileUpload { file, .. }) => {
            let to_review: Vec<ParticipantId> = agreement.to_review(gate).into_iter().collect();
            let sent_by = || names(agreement, &to_review, contacts);
            let what = file_title(file);
            match (waited_for, to_review.is_empty()) {
                (_, true) => format!("{who} to upload {what}"),
                ([], false) => format!("A member to review the file of {}", sent_by()),
                (_, false) => format!("{who} to upload {what}, and a member to review the file of {}", sent_by()),
            }
        }
        (GateState::Open { .. }, GateRule::Countdown { .. }) => match gate.due_at() {
            Some(due) => due.shown(),
            None => "A date to be set".to_owned(),
        },
        (GateState::Open { .. }, GateRule::MovementAuthorized { .. }) => {
            format!("{} to be authorized", payment("The payment"))
        }
        (GateState::Open { .. }, GateRule::MovementReconciled { .. }) => {
            format!("Proof from the receiving side that {} arrived", payment("the payment"))
        }
        (GateState::Open { .. }, GateRule::InformationRequest { .. }) => {
            let to_read: Vec<ParticipantId> = agreement.to_review(gate).into_iter().collect();
            let answered = || names(agreement, &to_read, contacts);
            match (waited_for, to_read.is_empty()) {
                (_, true) => format!("{who} to answer, and a member to accept"),
                ([], false) => format!("A member to read the answers of {}", answered()),
                (_, false) => format!("{who} to answer, and a member to read the answers of {}", answered()),
            }
        }
        (GateState::Open { .. }, GateRule::IdentityVerified { .. }) => {
            format!("A member to verify the identity of {who}")
        }
    }
}

fn file_title(file: &RequestedFile) -> String {
    file.title.as_ref().map_or("a file".to_owned(), |title| format!("“{}”", title.as_str()))
}

/// Whom an active agreement's open gate waits for, and since when: participants, and a member for what they sent.
#[must_use]
pub fn waits(gate: &Gate, agreement: &Agreement, of: Named<'_>) -> Vec<(String, Option<Timestamp>)> {
    let contacts = of.contacts;
    let waited_for: Vec<ParticipantId> = agreement.awaited_by(gate).into_iter().collect();
    if let Some(paper) = paper_awaited(gate, agreement, contacts) {
        let paper = (
            format!("{} {paper}", if waited_for.is_empty() { "A member" } else { "a member" }),
            agreement.on_paper_since(gate),
        );
        let signs =
            (!waited_for.is_empty()).then(|| (for_participants(gate, agreement, &waited_for, of), gate.opened_at()));
        return signs.into_iter().chain([paper]).collect();
    }
    let to_read: Vec<ParticipantId> = agreement.to_review(gate).into_iter().collect();
    let sent_at = agreement.to_review_since(gate).or_else(|| gate.opened_at());
    match (waited_for.is_empty(), to_read.is_empty()) {
        (false, false) => {
            let (do_it, review) = match &gate.rule {
                GateRule::FileUpload { file, .. } => (format!("upload {}", file_title(file)), "review the file"),
                _ => ("answer".to_owned(), "read the answers"),
            };
            let sends = format!("{} to {do_it}", names(agreement, &waited_for, contacts));
            let reads = format!("a member to {review} of {}", names(agreement, &to_read, contacts));
            vec![(sends, gate.opened_at()), (reads, sent_at)]
        }
        _ => vec![(awaited(gate, agreement, of), sent_at)],
    }
}

/// Whom or what an open gate waits for: of a payment that is read, who has to see to it.
#[must_use]
pub fn awaited(gate: &Gate, agreement: &Agreement, of: Named<'_>) -> String {
    let payment = of.payments.iter().find(|payment| Some(payment.id()) == gate.rule.movement());
    let of_payment = payment.and_then(|payment| {
        let named = named_payment(gate.rule.movement(), of.payments);
        seen_to(gate, agreement, Some(payment.state()), named.as_deref().unwrap_or("the payment"))
    });
    of_payment.unwrap_or_else(|| waiting_on(gate, agreement, of))
}

/// The participants that an open gate waits for, after the member who confirms what others signed on paper.
fn people_awaited(gate: &Gate, agreement: &Agreement, of: Named<'_>, with_members: bool) -> String {
    let waited_for: Vec<ParticipantId> = agreement.awaited_by(gate).into_iter().collect();
    let people = || for_participants(gate, agreement, &waited_for, of);
    match paper_awaited(gate, agreement, of.contacts).map(|paper| format!("A member {paper}")) {
        Some(paper) if waited_for.is_empty() => paper,
        Some(paper) if with_members => format!("{paper}, and {}", people()),
        _ => people(),
    }
}

/// What a member does about what participants signed on paper, if anything.
fn paper_awaited(gate: &Gate, agreement: &Agreement, contacts: &[Contact]) -> Option<String> {
    let is_open = matches!(gate.state, GateState::Open { .. });
    let on_paper: Vec<ParticipantId> = agreement.on_paper(gate).into_iter().filter(|_| is_open).collect();
    let signatures = if on_paper.len() == 1 { "signature" } else { "signatures" };
    let whose = || names(agreement, &on_paper, contacts);
    (!on_paper.is_empty()).then(|| format!("to confirm the paper {signatures} of {}", whose()))
}

fn seen_to(gate: &Gate, agreement: &Agreement, state: Option<MovementState>, named: &str) -> Option<String> {
    let act = PaymentAct::of(gate, agreement, state).map(|act| act.awaited(named));
    act.or_else(|| payment_of_others(gate, state?, named))
}

/// What the current step of an active agreement waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentWait {
    /// The condition that comes first.
    pub gate: GateId,
    /// Whom or what it waits for, such as `Ada Okafor to approve`.
    pub on: String,
    /// Since when: if it waits for a member, since a participant declined or sent something, or signed on paper.
    pub since: Timestamp,
    /// When it ends, if only time is needed.
    pub until: Option<Timestamp>,
    /// Whether a participant has declined.
    pub is_declined: bool,
    /// What waits for a member's review, if anything: `Answers to read`.
    pub to_review: Option<&'static str>,
    /// What a member does about the payment that it waits for, if it does.
    pub payment: Option<PaymentAct>,
}

/// What a member does about a payment that a condition waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentAct {
    /// Authorizes it.
    Authorize,
    /// Enters its instructions, verifies them, and releases them to the payer.
    Prepare,
    /// Accepts or rejects proof.
    Review,
    /// Decides about an exception.
    Decide,
}

impl PaymentAct {
    /// None if others come first, or nobody knows where the payment is.
    fn of(gate: &Gate, agreement: &Agreement, state: Option<MovementState>) -> Option<Self> {
        match gate.rule {
            GateRule::MovementAuthorized { movement_id: Some(id) }
            | GateRule::MovementReconciled { movement_id: Some(id) }
                if agreement.lets_authorize(id) && state.is_none_or(|state| state == MovementState::Draft) =>
            {
                Some(Self::Authorize)
            }
            GateRule::MovementReconciled { movement_id: Some(_) } => match state? {
                MovementState::Authorized => Some(Self::Prepare),
                state => Self::at_once(state),
            },
            _ => None,
        }
    }

    /// What is done about a payment whatever the agreement waits for.
    fn at_once(state: MovementState) -> Option<Self> {
        match state {
            MovementState::Processing => Some(Self::Review),
            MovementState::Exception => Some(Self::Decide),
            _ => None,
        }
    }

    fn awaited(self, payment: &str) -> String {
        let act = match self {
            Self::Authorize => "authorize",
            Self::Prepare => "prepare the instructions for",
            Self::Review => "review proof of",
            Self::Decide => "decide about",
        };
        format!("A member to {act} {payment}")
    }
}

/// A payment that a member has to see to at once, whatever the agreement waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PressingPayment {
    /// The payment.
    pub id: MovementId,
    /// What a member does about it.
    pub act: PaymentAct,
    /// The same in words, such as `A member to decide about “Deposit”`.
    pub on: String,
}

impl PressingPayment {
    /// The one that comes first. A decision precedes a review, and what the agreement waits for comes before its like.
    #[must_use]
    pub fn first_of(agreement: &Agreement, payments: &[Movement], wait: Option<&CurrentWait>) -> Option<Self> {
        let awaited = wait.and_then(|wait| wait.payment);
        let precedes = |act: PaymentAct| match awaited {
            Some(PaymentAct::Decide) => false,
            Some(PaymentAct::Review) => act == PaymentAct::Decide,
            _ => true,
        };
        let pressing = |(id, state): (&MovementId, &MovementState)| {
            let act = PaymentAct::at_once(*state).filter(|act| precedes(*act))?;
            Some((*id, act))
        };
        let all = agreement.movements().iter().filter_map(pressing);
        let (id, act) = all.min_by_key(|(_, act)| *act != PaymentAct::Decide)?;
        let named = named_payment(Some(id), payments);
        Some(Self { id, act, on: act.awaited(named.as_deref().unwrap_or("a payment")) })
    }

    /// How many payments a member has to see to at once besides the first one and that which the agreement waits for.
    #[must_use]
    pub fn more(agreement: &Agreement, first: Option<&Self>, wait: Option<&CurrentWait>) -> usize {
        let mut gates = agreement.waiting_gates();
        let awaited = wait.and_then(|wait| gates.find(|gate| gate.id == wait.gate)?.rule.movement());
        let said = [first.map(|first| first.id), awaited];
        let pressing = agreement.movements().iter().filter(|(_, state)| PaymentAct::at_once(**state).is_some());
        pressing.filter(|(id, _)| !said.contains(&Some(**id))).count()
    }
}

/// Where the payments are that conditions may wait for, what they are called, and whose contacts are the organization's
/// own.
#[derive(Debug, Clone, Copy)]
pub struct WaitContext<'a> {
    /// The contacts of the participants.
    pub contacts: &'a [Contact],
    /// The organization's own.
    pub own: &'a BTreeSet<ContactId>,
    /// The states of payments, as far as they are known.
    pub payments: &'a HashMap<MovementId, MovementState>,
    /// The payments that waiting conditions name, as far as they are read.
    pub named: &'a [Movement],
}

impl WaitContext<'_> {
    fn state_of(&self, gate: &Gate) -> Option<MovementState> {
        self.payments.get(&gate.rule.movement()?).copied()
    }

    fn is_own(&self, gate: &Gate, agreement: &Agreement) -> bool {
        let waited_for = agreement.awaited_by(gate);
        let mut named = waited_for.iter().filter_map(|id| agreement.participant(*id));
        named.any(|participant| self.own.contains(&participant.contact_id))
            || (waited_for.is_empty() && !agreement.on_paper(gate).is_empty())
            || !agreement.to_verify(gate).is_empty()
            || PaymentAct::of(gate, agreement, self.state_of(gate)).is_some()
    }
}

/// What an active agreement's step waits for: declined conditions, reviews, what members and own contacts do, other
/// people, payments, then time.
#[must_use]
pub fn current_wait(agreement: &Agreement, context: WaitContext<'_>) -> Option<CurrentWait> {
    wait_of(agreement.waiting_gates().collect(), agreement, context, true)
}

/// The same without what members and own contacts do, where others have something to do as well.
#[must_use]
pub fn wait_for_others(agreement: &Agreement, context: WaitContext<'_>) -> Option<CurrentWait> {
    let waiting = agreement.waiting_gates().filter(|gate| !context.is_own(gate, agreement));
    wait_of(waiting.collect(), agreement, context, false).or_else(|| current_wait(agreement, context))
}

fn wait_of(
    mut waiting: Vec<&Gate>,
    agreement: &Agreement,
    context: WaitContext<'_>,
    with_members: bool,
) -> Option<CurrentWait> {
    let of = Named { contacts: context.contacts, payments: context.named };
    let is_declined = |gate: &Gate| matches!(gate.state, GateState::Declined { .. });
    let is_time = |gate: &Gate| matches!(gate.rule, GateRule::Countdown { .. });
    let is_to_review = |gate: &Gate| !agreement.to_review(gate).is_empty();
    let is_on_paper = |gate: &Gate| with_members && !agreement.on_paper(gate).is_empty();
    waiting.sort_by_key(|gate| {
        let is_own = context.is_own(gate, agreement);
        let is_anyones = !agreement.awaited_by(gate).is_empty();
        (!is_declined(gate), !(is_to_review(gate) || is_on_paper(gate)), !is_own, is_time(gate), !is_anyones)
    });
    let (first, others) = waiting.split_first()?;
    let payment = PaymentAct::of(first, agreement, context.state_of(first));
    let on_paper_since = || agreement.on_paper_since(first).filter(|_| with_members);
    let since = first.declined_at().or_else(|| agreement.to_review_since(first)).or_else(on_paper_since);
    let since = since.or_else(|| first.opened_at())?;
    let on = match &first.rule {
        GateRule::Countdown { until: Some(Countdown::AfterHours(_)) } => requirement(&first.rule, agreement, of),
        GateRule::Countdown { .. } => "A date to come".to_owned(),
        _ => {
            let named = named_payment(first.rule.movement(), context.named);
            let named = named.as_deref().unwrap_or("the payment");
            let of_payment = seen_to(first, agreement, context.state_of(first), named);
            of_payment.unwrap_or_else(|| people_awaited(first, agreement, of, with_members))
        }
    };
    Some(CurrentWait {
        gate: first.id,
        on: if others.is_empty() { on } else { format!("{on}, and {}", counted(others.len(), "more condition")) },
        since,
        until: if is_time(first) { waiting.iter().filter_map(|gate| gate.due_at()).max() } else { None },
        is_declined: is_declined(first),
        to_review: is_to_review(first).then_some(match &first.rule {
            GateRule::FileUpload { .. } => "File to review",
            _ => "Answers to read",
        }),
        payment,
    })
}

/// What a condition waits for whose payment others have to see to.
fn payment_of_others(gate: &Gate, state: MovementState, named: &str) -> Option<String> {
    let GateRule::MovementReconciled { .. } = gate.rule else { return None };
    match state {
        MovementState::InstructionsReady => Some(format!("The payer to send {named}")),
        MovementState::SenderReported | MovementState::ReceiptPending => Some(format!("Proof that {named} arrived")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::{
        Deal, after, answered, cancelled, noon, payment, published, waiting, with_payment,
    };

    #[test]
    fn the_current_step_waits_for_people_before_time() {
        let deal = Deal::complete();
        let mut live = published(&deal.draft.set_expiry(None, noon()).unwrap());
        let (own, payments) = (BTreeSet::new(), HashMap::new());
        let context = WaitContext { contacts: &deal.contacts, own: &own, payments: &payments, named: &[] };
        let wait = |agreement: &Agreement| current_wait(agreement, context);
        assert_eq!(wait(&deal.draft), None, "a draft waits for nobody");
        let found = wait(&live).unwrap();
        assert!(found.on.ends_with("to sign, and 2 more conditions"), "{found:?}");
        assert_eq!((found.since, found.until, found.is_declined), (noon(), None, false));

        let gates = &mut live.stages[0].gates;
        gates.truncate(2);
        gates[0].rule = waiting(24);
        gates[0].state = GateState::Open { opened_at: noon(), due_at: Some(after(24)) };
        let participant_id = live.participants[0].id;
        gates[1].state = GateState::Declined { opened_at: noon(), participant_id, declined_at: after(1) };
        let found = wait(&live).unwrap();
        assert!(found.is_declined && found.on.starts_with("Declined by "), "{found:?}");
        // Answers wait since they were sent; other participants since the request opened.
        let both: BTreeSet<ParticipantId> = live.participants.iter().map(|participant| participant.id).collect();
        let (one, gate) = (live.participants[0].id, live.stages[0].gates[1].id);
        live.stages[0].gates[1] = Gate {
            id: gate,
            rule: GateRule::InformationRequest { participant_ids: both, fields: Vec::new() },
            state: GateState::Open { opened_at: noon(), due_at: None },
        };
        let mut live = answered(live, gate, one, after(3));
        let found = wait(&live).unwrap();
        assert!(found.to_review == Some("Answers to read") && found.since == after(3), "{found:?}");
        let told = waits(&live.stages[0].gates[1], &live, Named { contacts: &deal.contacts, payments: &[] });
        assert_eq!(
            told.iter().map(|(_, since)| *since).collect::<Vec<_>>(),
            [Some(noon()), Some(after(3))],
            "{told:?}"
        );
        assert!(told[0].0.ends_with(" to answer") && told[1].0.starts_with("a member to read the answers of "));
        live.stages[0].gates.truncate(1);
        let found = wait(&live).unwrap();
        assert_eq!((found.on.as_str(), found.until), ("24-hour waiting period", Some(after(24))));
        assert_eq!(wait(&cancelled(&live, after(2))), None);
    }

    #[test]
    fn a_payment_waits_for_members_before_people_and_for_others_after_them() {
        let deal = Deal::complete();
        let mut live = published(&deal.draft.set_expiry(None, noon()).unwrap());
        let id = MovementId::new();
        let gates = &mut live.stages[0].gates;
        gates.truncate(2);
        gates[0].rule = GateRule::MovementReconciled { movement_id: Some(id) };
        let (own, to_sign) = (BTreeSet::new(), live.stages[0].gates[1].clone());
        let said = |live: &Agreement, state, waits: fn(&Agreement, WaitContext<'_>) -> Option<CurrentWait>| {
            let payments = HashMap::from([(id, state)]);
            let context = WaitContext { contacts: &deal.contacts, own: &own, payments: &payments, named: &[] };
            let wait = waits(live, context).unwrap();
            (wait.on, wait.payment)
        };
        let review =
            ("A member to review proof of the payment, and 1 more condition".to_owned(), Some(PaymentAct::Review));
        assert_eq!(said(&live, MovementState::Processing, current_wait), review);
        let (on, act) = said(&live, MovementState::Exception, current_wait);
        assert!(on.starts_with("A member to decide about the payment") && act == Some(PaymentAct::Decide), "{on}");
        for (state, waits) in [
            (MovementState::Processing, wait_for_others as fn(&_, WaitContext<'_>) -> _),
            (MovementState::InstructionsReady, current_wait),
        ] {
            let (on, act) = said(&live, state, waits);
            assert!(!on.contains("payment") && act.is_none(), "{on}");
        }
        live.stages[0].gates.retain(|gate| gate.id != to_sign.id);
        assert_eq!(said(&live, MovementState::InstructionsReady, current_wait).0, "The payer to send the payment");
        let prepare = ("A member to prepare the instructions for the payment".to_owned(), Some(PaymentAct::Prepare));
        assert_eq!(said(&live, MovementState::Authorized, current_wait), prepare);
        assert_eq!(said(&live, MovementState::ReceiptPending, current_wait).0, "Proof that the payment arrived");
        let (on, act) = said(&live, MovementState::Processing, wait_for_others);
        assert_eq!((on.as_str(), act), ("A member to review proof of the payment", Some(PaymentAct::Review)));
    }

    #[test]
    fn a_sentence_names_the_payment_that_is_waited_for() {
        let deal = Deal::complete();
        let mut live = published(&deal.draft.set_expiry(None, noon()).unwrap());
        let named = [payment(&live, "Deposit")];
        let id = named[0].id();
        let (own, other) = (BTreeSet::new(), MovementId::new());
        live.stages[0].gates.truncate(1);
        let mut said = |rule: GateRule, state| {
            live.stages[0].gates[0].rule = rule;
            let payments = HashMap::from([(id, state), (other, state)]);
            let context = WaitContext { contacts: &deal.contacts, own: &own, payments: &payments, named: &named };
            let gate = &live.stages[0].gates[0];
            let of_gate = waiting_on(gate, &live, Named { contacts: &deal.contacts, payments: &named });
            (current_wait(&live, context).unwrap().on, of_gate)
        };
        let proof = |movement_id| GateRule::MovementReconciled { movement_id: Some(movement_id) };
        for (state, expected) in [
            (MovementState::Authorized, "A member to prepare the instructions for “Deposit”"),
            (MovementState::InstructionsReady, "The payer to send “Deposit”"),
            (MovementState::ReceiptPending, "Proof that “Deposit” arrived"),
            (MovementState::Processing, "A member to review proof of “Deposit”"),
            (MovementState::Exception, "A member to decide about “Deposit”"),
        ] {
            let of_gate = "Proof from the receiving side that “Deposit” arrived".to_owned();
            assert_eq!(said(proof(id), state), (expected.to_owned(), of_gate));
        }
        assert_eq!(said(proof(other), MovementState::Exception).0, "A member to decide about the payment");
        let authorized = GateRule::MovementAuthorized { movement_id: Some(id) };
        assert_eq!(said(authorized, MovementState::Authorized).1, "“Deposit” to be authorized");
    }
    #[test]
    fn a_decision_about_a_payment_precedes_a_review_and_what_is_waited_for_its_like() {
        let deal = Deal::complete();
        let live = published(&deal.draft.set_expiry(None, noon()).unwrap());
        let named = [payment(&live, "Deposit"), payment(&live, "Rent")];
        let reviewed = with_payment(live, named[0].id(), MovementState::Processing);
        let both = with_payment(reviewed.clone(), named[1].id(), MovementState::Exception);
        let first = |agreement: &Agreement, payment: Option<PaymentAct>| {
            let (gate, on, since) = (agreement.stages[0].gates[0].id, String::new(), noon());
            let wait = CurrentWait { gate, on, since, until: None, is_declined: false, to_review: None, payment };
            PressingPayment::first_of(agreement, &named, Some(&wait)).map(|found| found.on)
        };
        let (review, decide) = ("A member to review proof of “Deposit”", "A member to decide about “Rent”");
        for (agreement, awaited, expected) in [
            (&reviewed, None, Some(review)),
            (&reviewed, Some(PaymentAct::Prepare), Some(review)),
            (&reviewed, Some(PaymentAct::Review), None),
            (&both, None, Some(decide)),
            (&both, Some(PaymentAct::Review), Some(decide)),
            (&both, Some(PaymentAct::Decide), None),
        ] {
            assert_eq!(first(agreement, awaited).as_deref(), expected, "{awaited:?}");
        }
    }
}
