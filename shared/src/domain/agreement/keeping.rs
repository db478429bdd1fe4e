//! Keeping any agreement as a template: its outline, with roles in place of people.
//!
//! - Decision: a template keeps what the next deal does the same way: steps, conditions with what they ask for, documents
//!   with their places to sign, payments with purpose and method, obligations, the terms of a SAFE, and all wording. It
//!   keeps nothing of people, no date, amount, reference or instructions, and nothing that anybody did.
//! - Decision: no document's file is kept: a file names the people of its deal, and nothing tells one that doesn't.
//! - Decision: amounts are left open, since a blocker asks for a missing one, and nothing asks for a wrong one. The cap and
//!   discount of a SAFE are its terms, and stay: nobody would be asked for them.
//! - Decision: an obligation with days of its own is left out. It can't be without them, and they belong to one deal.
//! - Decision: where a text has the name of a participant, the template has the label of their role.

use std::collections::{BTreeMap, BTreeSet};

use super::gate::{Countdown, Gate, GateRule, InformationField, RequestedFile};
use super::outline::{
    Condition, Outline, OutlinedDocument, OutlinedPayment, OutlinedPromise, Party, Place, PlaceOf, Question, Step,
};
use super::promise::{Promise, PromiseTerms, Trigger, Triggers};
use super::{Agreement, Document, Label, Participant, SafeTerms, SignatureBlock, Stage};
use crate::domain::contact::Contact;
use crate::domain::ids::{MovementId, ParticipantId, SignatureBlockId, TriggerId};
use crate::domain::movement::Movement;
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::state::MovementState;
use crate::domain::note::Note;
use crate::limits;

/// Why an agreement can't be kept as a template: a draft from it would not fit in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooLarge {
    /// It has this many participants.
    Participants(usize),
    /// It has this many payments.
    Payments(usize),
}

impl Agreement {
    /// Whether it can be kept as a template.
    pub fn fits_template(&self) -> Result<(), TooLarge> {
        let (participants, payments) = (self.participants.len(), self.payments_to_keep().len());
        if participants > limits::TEMPLATE_PARTIES_MAX {
            return Err(TooLarge::Participants(participants));
        }
        if payments > limits::TEMPLATE_PAYMENTS_MAX { Err(TooLarge::Payments(payments)) } else { Ok(()) }
    }

    /// Its payments without those that were cancelled alone and that no condition names.
    #[must_use]
    pub fn payments_to_keep(&self) -> Vec<MovementId> {
        let gates = self.stages.iter().flat_map(|stage| &stage.gates);
        let named: BTreeSet<MovementId> = gates.filter_map(|gate| gate.rule.movement()).collect();
        let is_kept = |(id, state): &(&MovementId, &MovementState)| {
            **state != MovementState::Cancelled || self.has_ended_early() || named.contains(*id)
        };
        self.movements().iter().filter(is_kept).map(|(id, _)| *id).collect()
    }

    /// How many of its promises a template does not keep, because they have days.
    #[must_use]
    pub fn promises_not_kept(&self) -> usize {
        self.promises.iter().filter(|promise| !is_kept(&promise.terms)).count()
    }
}

fn is_kept(terms: &PromiseTerms) -> bool {
    !matches!(terms, PromiseTerms::Scheduled { .. })
}

impl Outline {
    /// What a template keeps of an agreement, with these payments, contacts, and labels for the roles.
    #[must_use]
    pub fn of(
        agreement: &Agreement,
        payments: &[Movement],
        contacts: &[Contact],
        labels: &BTreeMap<ParticipantId, Label>,
    ) -> Self {
        let kept = Kept::new(agreement, payments, contacts, labels);
        Self {
            kind: agreement.kind,
            parties: agreement.participants.iter().filter_map(|participant| kept.party(participant)).collect(),
            documents: agreement.documents.iter().enumerate().map(|(n, document)| kept.document(n, document)).collect(),
            payments: payments.iter().enumerate().map(|(n, payment)| kept.payment(n, payment)).collect(),
            promises: agreement.promises.iter().filter_map(|promise| kept.promise(promise)).collect(),
            terms: agreement.terms.clone().map(|terms| SafeTerms { investment_amount_minor: None, ..terms }),
            steps: agreement.stages.iter().map(|stage| kept.step(stage)).collect(),
        }
    }
}

/// The keys of an agreement's parts, and the words in place of names.
struct Kept<'a> {
    labels: &'a BTreeMap<ParticipantId, Label>,
    participants: BTreeMap<ParticipantId, String>,
    documents: Vec<&'a Document>,
    payments: BTreeMap<MovementId, String>,
    words: Words<'a>,
}

/// The key of a part, by its index: a number from 1.
fn key(index: usize) -> String {
    (index + 1).to_string()
}

impl<'a> Kept<'a> {
    fn new(
        agreement: &'a Agreement,
        payments: &[Movement],
        contacts: &'a [Contact],
        labels: &'a BTreeMap<ParticipantId, Label>,
    ) -> Self {
        let named = agreement.participants.iter().filter(|participant| labels.contains_key(&participant.id));
        Self {
            labels,
            participants: named.enumerate().map(|(n, participant)| (participant.id, key(n))).collect(),
            documents: agreement.documents.iter().collect(),
            payments: payments.iter().enumerate().map(|(n, payment)| (payment.id(), key(n))).collect(),
            words: Words::new(agreement, contacts, labels),
        }
    }

    fn party(&self, participant: &Participant) -> Option<Party> {
        let (key, label) = (self.participants.get(&participant.id)?, self.labels.get(&participant.id)?);
        Some(Party { key: key.clone(), label: label.clone(), roles: participant.roles.clone() })
    }

    fn parties(&self, of: &BTreeSet<ParticipantId>) -> Vec<String> {
        of.iter().filter_map(|id| self.participants.get(id)).cloned().collect()
    }

    fn document(&self, index: usize, document: &Document) -> OutlinedDocument {
        let place = |block: &SignatureBlock| {
            let party = self.participants.get(&block.participant_id)?.clone();
            Some(Place { party, label: Some(self.words.label(&block.label)) })
        };
        OutlinedDocument {
            key: key(index),
            name: self.words.label(&document.name),
            places: document.blocks.iter().filter_map(place).collect(),
            for_reading: document.is_for_reading && document.blocks.is_empty(),
        }
    }

    fn payment(&self, index: usize, payment: &Movement) -> OutlinedPayment {
        let terms = payment.terms();
        let party = |id: Option<ParticipantId>| self.participants.get(&id?).cloned();
        OutlinedPayment {
            key: key(index),
            purpose: terms.purpose.as_ref().map(|purpose| self.words.line(purpose)),
            method: terms.method,
            payer: party(terms.sender),
            payee: party(terms.receiver),
        }
    }

    fn promise(&self, promise: &Promise) -> Option<OutlinedPromise> {
        let terms = match &promise.terms {
            PromiseTerms::Scheduled { .. } => return None,
            PromiseTerms::Triggered { triggers } => {
                let trigger = |trigger: &Trigger| Trigger {
                    id: TriggerId::new(),
                    description: self.words.label(&trigger.description),
                    due_after_days: trigger.due_after_days,
                };
                PromiseTerms::Triggered { triggers: Triggers::new(triggers.iter().map(trigger).collect()).ok()? }
            }
            PromiseTerms::Standing { .. } => promise.terms.clone(),
        };
        Some(OutlinedPromise {
            name: self.words.label(&promise.name),
            terms,
            promisors: self.parties(promise.parties.promisors()),
            promisees: self.parties(promise.parties.promisees()),
        })
    }

    fn step(&self, stage: &Stage) -> Step {
        Step {
            name: self.words.label(&stage.name),
            actions: stage.actions.clone(),
            conditions: stage.gates.iter().map(|gate| self.condition(gate)).collect(),
        }
    }

    fn condition(&self, gate: &Gate) -> Condition {
        let payment = |id: &Option<MovementId>| self.payments.get(&(*id)?).cloned();
        match &gate.rule {
            GateRule::SignatureBlocks { block_ids } => Condition::SignatureBlocks { places: self.places(block_ids) },
            GateRule::DocumentSigned { document_id } => Condition::DocumentSigned {
                document: self.documents.iter().position(|document| Some(document.id) == *document_id).map(key),
            },
            GateRule::ParticipantApproval { participant_ids } => {
                Condition::ParticipantApproval { parties: self.parties(participant_ids) }
            }
            GateRule::FileUpload { participant_ids, file } => {
                let RequestedFile { title, help, review } = file;
                let title = title.as_ref().map(|title| self.words.label(title));
                let file =
                    RequestedFile { title, help: help.as_ref().map(|help| self.words.note(help)), review: *review };
                Condition::FileUpload { parties: self.parties(participant_ids), file }
            }
            GateRule::Countdown { until } => Condition::Countdown {
                after_hours: if let Some(Countdown::AfterHours(hours)) = until { Some(*hours) } else { None },
            },
            GateRule::MovementAuthorized { movement_id } => {
                Condition::MovementAuthorized { payment: payment(movement_id) }
            }
            GateRule::MovementReconciled { movement_id } => {
                Condition::MovementReconciled { payment: payment(movement_id) }
            }
            GateRule::InformationRequest { participant_ids, fields } => Condition::InformationRequest {
                parties: self.parties(participant_ids),
                questions: fields.iter().map(|field| self.question(field)).collect(),
            },
            GateRule::IdentityVerified { participant_ids } => {
                Condition::IdentityVerified { parties: self.parties(participant_ids) }
            }
        }
    }

    fn places(&self, blocks: &BTreeSet<SignatureBlockId>) -> Vec<PlaceOf> {
        let places = self.documents.iter().enumerate().flat_map(|(n, document)| {
            let in_outline =
                document.blocks.iter().filter(|block| self.participants.contains_key(&block.participant_id));
            in_outline.enumerate().map(move |(place, block)| (block.id, PlaceOf { document: key(n), place }))
        });
        places.filter(|(id, _)| blocks.contains(id)).map(|(_, place)| place).collect()
    }

    fn question(&self, field: &InformationField) -> Question {
        Question {
            label: self.words.label(&field.label),
            field_type: field.field_type,
            required: field.required,
            options: field.options.iter().map(|option| self.words.text(option, limits::NAME_CHARS_MAX)).collect(),
        }
    }
}

/// The names of participants, longest first, each with the label that stands in its place.
struct Words<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Words<'a> {
    fn new(agreement: &Agreement, contacts: &'a [Contact], labels: &'a BTreeMap<ParticipantId, Label>) -> Self {
        let word = |participant: &Participant| {
            let contact = contacts.iter().find(|contact| contact.id == participant.contact_id)?;
            Some((contact.display_name.as_str(), labels.get(&participant.id)?.as_str()))
        };
        let mut words: Vec<(&str, &str)> = agreement.participants.iter().filter_map(word).collect();
        words.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self(words)
    }

    /// The text without names, of at most as many characters.
    fn text(&self, text: &str, max: usize) -> String {
        let (mut left, mut written) = (text, String::new());
        while let Some(next) = left.chars().next() {
            let begins_word = !written.ends_with(char::is_alphanumeric) || !next.is_alphanumeric();
            let is_here = |(name, _): &&(&str, &str)| {
                left.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            };
            let found = self.0.iter().find(is_here).filter(|_| begins_word);
            let (taken, instead) =
                found.map_or((&left[..next.len_utf8()], None), |(name, label)| (*name, Some(*label)));
            written.push_str(instead.unwrap_or(taken));
            left = &left[taken.len()..];
        }
        written.chars().take(max).collect()
    }

    fn label(&self, label: &Label) -> Label {
        Label::parse(&self.text(label.as_str(), limits::NAME_CHARS_MAX)).unwrap_or_else(|_| label.clone())
    }

    fn line(&self, line: &SafeLine) -> SafeLine {
        SafeLine::parse(&self.text(line.as_str(), limits::NAME_CHARS_MAX)).unwrap_or_else(|_| line.clone())
    }

    fn note(&self, note: &Note) -> Note {
        Note::parse(&self.text(note.as_str(), limits::NOTE_CHARS_MAX)).unwrap_or_else(|_| note.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::blockers::{DraftContext, DraftPayment, blockers};
    use super::super::fixtures::{Deal, after, contact, label, noon, promise, published, until};
    use super::super::{AgreementName, NewAgreement};
    use super::*;
    use crate::domain::actor::Actor;
    use crate::domain::day::Day;
    use crate::domain::ids::{AgreementId, WorkspaceId};
    use crate::domain::money::{Currency, Money};
    use crate::domain::movement::terms::{Method, PaymentTerms};
    use crate::domain::recurrence::{Days, Schedule};
    use crate::wire::input::OrDefault;

    fn payment(of: &Agreement) -> Movement {
        let [id] = of.payments_to_keep()[..] else { panic!("one payment") };
        let terms = PaymentTerms {
            purpose: Some(SafeLine::parse("Investment of Ada").unwrap()),
            reference: Some(SafeLine::parse("INV-7").unwrap()),
            money: Some(Money::new(25_000_000, Currency::parse("USD").unwrap()).unwrap()),
            method: Method::Ach,
            sender: Some(of.participants[0].id),
            receiver: Some(of.participants[1].id),
            due_on: Some(Day::parse("2026-03-20").unwrap()),
            ..PaymentTerms::default()
        };
        Movement::draft(id, of.id(), of.workspace_id, terms, Actor::system(), noon())
    }

    fn labels(of: &Agreement) -> BTreeMap<ParticipantId, Label> {
        let labels = ["Buyer", "Seller", "Witness"].map(label);
        of.participants.iter().map(|participant| participant.id).zip(labels).collect()
    }

    fn kept(deal: &Deal, agreement: &Agreement) -> Outline {
        Outline::of(agreement, &[payment(agreement)], &deal.contacts, &labels(agreement))
    }

    fn deal() -> Deal {
        let mut deal = Deal::complete();
        deal.draft = deal.draft.put_promise(promise(&deal.draft, "Insurance of Ben"), noon()).unwrap();
        let days = Schedule::Days(Days::new([Day::parse("2026-04-01").unwrap()].into()).unwrap());
        let dated = Promise { terms: PromiseTerms::Scheduled { schedule: days }, ..promise(&deal.draft, "Report") };
        deal.draft = deal.draft.put_promise(dated, noon()).unwrap();
        let (draft, stage) = deal.draft.add_stage(label("After Ada’s word"), [].into(), noon()).unwrap();
        deal.draft = draft.add_gate(stage, until(after(1)), noon()).unwrap().0;
        deal
    }

    #[test]
    fn a_template_has_nothing_of_its_deal_but_what_comes_again() {
        let deal = deal();
        for agreement in [&deal.draft, &published(&deal.draft), &deal.draft.cancelled(noon())] {
            let outline = kept(&deal, agreement);
            let stored = serde_json::to_string(&outline).unwrap();
            for gone in ["Ada", "Ben", "Eve", "INV-7", "25000000", "2026", "@", "sha256", "Report"] {
                assert!(!stored.contains(gone), "{gone}: {stored}");
            }
            let ids = agreement.participants.iter().map(|one| one.id.to_string());
            let ids = ids.chain(agreement.stages.iter().map(|one| one.id.to_string()));
            assert!(ids.into_iter().all(|id| !stored.contains(&id)), "{stored}");
            assert_eq!(agreement.promises_not_kept(), 1);
            let texts: Vec<&str> = outline.promises().map(Label::as_str).collect();
            assert_eq!(texts, ["Insurance of Seller"]);
            assert_eq!(outline.payments().flatten().map(SafeLine::as_str).collect::<Vec<_>>(), ["Investment of Buyer"]);
            assert_eq!(outline.steps().last().map(|(name, _)| name.as_str()), Some("After Buyer’s word"));
            let read: Outline = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, outline);
        }
    }

    #[test]
    fn a_draft_begins_like_the_agreement_that_was_kept() {
        let deal = deal();
        let outline = kept(&deal, &published(&deal.draft));
        let contacts = [contact("Gil"), contact("Hana"), contact("Ida")];
        let parties = ["1", "2", "3"].map(str::to_owned).into_iter().zip(contacts.iter().map(|one| one.id)).collect();
        let name = AgreementName::parse("Second round").unwrap();
        let new = NewAgreement { workspace_id: WorkspaceId::new(), name, kind: OrDefault(outline.kind) };
        let id = AgreementId::new();
        let (draft, payments) = outline.draft(id, new, &parties, &BTreeSet::new(), &Actor::system(), noon()).unwrap();
        let rules = |agreement: &Agreement| {
            let gates = agreement.stages.iter().flat_map(|stage| &stage.gates);
            gates.map(|gate| (gate.rule.gate_type(), gate.rule.named(agreement).len())).collect::<Vec<_>>()
        };
        assert_eq!(rules(&draft), rules(&deal.draft), "each waits for as many");
        assert_eq!(draft.documents[0].blocks[0].label.as_str(), "Investor", "a label that names nobody stays");
        assert!(draft.documents[0].content.is_none() && draft.expires_at.is_none());
        let [payment] = &payments[..] else { panic!("one payment") };
        assert_eq!((payment.terms().money, payment.terms().method), (None, Method::Ach));
        let terms = draft.terms.clone().unwrap();
        assert_eq!((terms.investment_amount_minor, terms.valuation_cap_minor), (None, Some(800_000_000)));
        let payments: Vec<DraftPayment> = payments.iter().map(DraftPayment::from).collect();
        let context = DraftContext {
            workspace_activated: true,
            contacts: &contacts,
            payments: &payments,
            changed_items: &[],
            now: noon(),
        };
        assert_eq!(blockers(&draft, &context).len(), 4, "file, terms, payment, end of the countdown");
        let again = Outline::of(&draft, &[], &contacts, &labels(&draft));
        assert_eq!(
            (&again.parties, &again.documents, &again.terms),
            (&outline.parties, &outline.documents, &outline.terms)
        );
    }

    #[test]
    fn only_whole_names_are_replaced() {
        let words = Words(vec![("Ada Okafor", "Buyer"), ("Ada", "Agent")]);
        for (text, expected) in [
            ("Ada Okafor’s deed, for Ada", "Buyer’s deed, for Agent"),
            ("Adamant, NevAda, Ada-Ben", "Adamant, NevAda, Agent-Ben"),
            ("Nothing", "Nothing"),
        ] {
            assert_eq!(words.text(text, 99), expected);
        }
        assert_eq!(words.text("Ada", 3), "Age");
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        let mut draft = Deal::complete().draft;
        assert_eq!(draft.fits_template(), Ok(()));
        while draft.participants.len() <= limits::TEMPLATE_PARTIES_MAX {
            draft.participants.push(draft.participants[0].clone());
        }
        assert_eq!(draft.fits_template(), Err(TooLarge::Participants(limits::TEMPLATE_PARTIES_MAX + 1)));
    }
}
