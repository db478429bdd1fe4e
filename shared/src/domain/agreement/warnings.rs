//! Probable mistakes in a draft. Warnings, unlike blockers, can be intended: the publishing member ticks each kind.
//!
//! - Decision: the API neither lists warnings nor refuses proposals for them; the deciding member sees them.
//! - Decision: waiting for a signature block counts as waiting for its document. Documents without blocks are listed
//!   unless a member said that nobody signs them, because a forgotten block looks the same.
//! - Decision: more overdue promises than [`limits::OVERDUE_AT_PUBLICATION_MAX`] are probably a wrong year.

use std::collections::BTreeSet;

use super::blockers::DraftPayment;
use super::gate::GateRule;
use super::promise::PromiseTerms;
use super::{Agreement, AgreementKind, Document, ParticipantRole, SafeTerms};
use crate::domain::day::Day;
use crate::domain::ids::{DocumentId, MovementId, PromiseId, SignatureBlockId};
use crate::domain::money::{Currency, Money};
use crate::limits;
use crate::wire::enums::text_enum;

text_enum! {
    /// A kind of warnings that a member dismisses with one tick.
    pub enum WarningKind {
        /// Nothing waits for a payment, document or signature block.
        Unawaited = "unawaited",
        /// A payment may be made before the steps that precede its own are done.
        Unheld = "unheld",
        /// The terms of the SAFE don't fit its payments or each other.
        SafeTerms = "safe_terms",
        /// Promises are overdue at publication.
        Overdue = "overdue",
    }
}

/// A probable mistake and the part of the draft it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// No condition waits for a payment.
    PaymentUnawaited {
        /// The payment's movement.
        movement_id: MovementId,
    },
    /// The first condition that waits for a payment is of a later step, but no step before it holds the payment back: from
    /// publication on, members can authorize it and release its instructions.
    PaymentUnheld {
        /// The payment's movement.
        movement_id: MovementId,
    },
    /// No condition waits for a document or its signatures, and nobody has marked it as only for reading.
    DocumentUnawaited {
        /// The document.
        document_id: DocumentId,
    },
    /// No condition waits for a signature, although one waits for another signature in the document.
    BlockUnawaited {
        /// The document.
        document_id: DocumentId,
        /// Its signature block.
        block_id: SignatureBlockId,
    },
    /// The investor's payments differ from the terms of the SAFE.
    SafePaymentDiffers {
        /// The amount in the terms.
        terms: Money,
        /// The sum of the payments. None if they are in several currencies.
        paid: Option<Money>,
        /// The first payment.
        movement_id: MovementId,
    },
    /// No payment comes from the investor of the SAFE.
    SafeUnpaid {
        /// The amount in the terms.
        terms: Money,
    },
    /// The valuation cap of the SAFE doesn't exceed the investment.
    SafeCapTooLow {
        /// The cap.
        cap: Money,
        /// The investment.
        investment: Money,
    },
    /// A promise has due days in the past.
    PromiseOverdue {
        /// The promise.
        promise_id: PromiseId,
        /// The number of days.
        days: u32,
    },
}

impl Warning {
    /// The kind of tick that dismisses it.
    #[must_use]
    pub fn kind(&self) -> WarningKind {
        match self {
            Self::PaymentUnawaited { .. } | Self::DocumentUnawaited { .. } | Self::BlockUnawaited { .. } => {
                WarningKind::Unawaited
            }
            Self::PaymentUnheld { .. } => WarningKind::Unheld,
            Self::SafePaymentDiffers { .. } | Self::SafeUnpaid { .. } | Self::SafeCapTooLow { .. } => {
                WarningKind::SafeTerms
            }
            Self::PromiseOverdue { .. } => WarningKind::Overdue,
        }
    }
}

/// The kinds to tick for a publication.
#[must_use]
pub fn to_tick(warnings: &[Warning]) -> BTreeSet<WarningKind> {
    let overdue: u32 = warnings.iter().map(Warning::overdue).fold(0, u32::saturating_add);
    let kinds = warnings.iter().map(Warning::kind);
    kinds.filter(|kind| *kind != WarningKind::Overdue || overdue > limits::OVERDUE_AT_PUBLICATION_MAX).collect()
}

impl Warning {
    fn overdue(&self) -> u32 {
        if let Self::PromiseOverdue { days, .. } = self { *days } else { 0 }
    }
}

/// The warnings about publishing a draft, in a stable order. `today` is in the organization's zone.
#[must_use]
pub fn warnings(draft: &Agreement, payments: &[DraftPayment], today: Day) -> Vec<Warning> {
    let mut found = unawaited(draft, payments);
    found.extend(unheld(draft, payments));
    if let Some(terms) = draft.terms.as_ref().filter(|_| draft.kind == AgreementKind::Safe) {
        found.extend(of_safe(draft, terms, payments));
    }
    found.extend(overdue(draft, today));
    found
}

fn unawaited(draft: &Agreement, payments: &[DraftPayment]) -> Vec<Warning> {
    let (mut movements, mut documents, mut blocks) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for gate in draft.stages.iter().flat_map(|stage| &stage.gates) {
        match &gate.rule {
            GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id } => {
                movements.extend(*movement_id);
            }
            GateRule::DocumentSigned { document_id } => documents.extend(*document_id),
            GateRule::SignatureBlocks { block_ids } => blocks.extend(block_ids.iter().copied()),
            GateRule::Countdown { .. }
            | GateRule::InformationRequest { .. }
            | GateRule::ParticipantApproval { .. }
            | GateRule::FileUpload { .. }
            | GateRule::IdentityVerified { .. } => {}
        }
    }
    let of_payments = payments.iter().map(|payment| payment.id).filter(|id| !movements.contains(id));
    let mut found: Vec<Warning> = of_payments.map(|movement_id| Warning::PaymentUnawaited { movement_id }).collect();
    let is_meant = |document: &&Document| document.is_for_reading && document.blocks.is_empty();
    let documents = draft.documents.iter().filter(|document| !documents.contains(&document.id));
    for document in documents.filter(|document| !is_meant(document)) {
        let document_id = document.id;
        let missing: Vec<SignatureBlockId> =
            document.blocks.iter().map(|block| block.id).filter(|id| !blocks.contains(id)).collect();
        if missing.len() == document.blocks.len() {
            found.push(Warning::DocumentUnawaited { document_id });
        } else {
            found.extend(missing.into_iter().map(|block_id| Warning::BlockUnawaited { document_id, block_id }));
        }
    }
    found
}

fn unheld(draft: &Agreement, payments: &[DraftPayment]) -> impl Iterator<Item = Warning> {
    let is_of_a_later_step = |id| {
        let first = draft.stages.first().map(|stage| stage.id);
        draft.stage_of_movement(id).is_some_and(|stage| Some(stage.id) != first)
    };
    let ids = payments.iter().map(|payment| payment.id);
    let unheld = ids.filter(move |id| is_of_a_later_step(*id) && draft.lets_authorize(*id) && draft.lets_release(*id));
    unheld.map(|movement_id| Warning::PaymentUnheld { movement_id })
}

fn of_safe(draft: &Agreement, terms: &SafeTerms, payments: &[DraftPayment]) -> Vec<Warning> {
    let mut found = Vec::new();
    let currency = terms.currency.as_deref().and_then(Currency::parse);
    let money = |minor: Option<i64>| Money::new(minor?, currency?).ok();
    let Some(investment) = money(terms.investment_amount_minor) else { return found };
    // The investor's payments, or all while payers are unknown. Missing amounts are blockers.
    let has_role = |payment: &&DraftPayment| {
        let sender = payment.sender.and_then(|id| draft.participant(id));
        sender.is_none_or(|sender| sender.roles.contains(&ParticipantRole::Investor))
    };
    let of_investor: Vec<&DraftPayment> = payments.iter().filter(has_role).collect();
    if of_investor.is_empty() {
        found.push(Warning::SafeUnpaid { terms: investment });
    }
    let amounts: Option<Vec<Money>> = of_investor.iter().map(|payment| payment.money).collect();
    if let (Some(amounts), Some(first)) = (amounts, of_investor.first()) {
        let paid = sum(&amounts);
        if paid != Some(investment) {
            found.push(Warning::SafePaymentDiffers { terms: investment, paid, movement_id: first.id });
        }
    }
    if let Some(cap) = money(terms.valuation_cap_minor).filter(|cap| cap.amount_minor() <= investment.amount_minor()) {
        found.push(Warning::SafeCapTooLow { cap, investment });
    }
    found
}

fn sum(amounts: &[Money]) -> Option<Money> {
    let (first, others) = amounts.split_first()?;
    others.iter().try_fold(*first, |sum, money| {
        let minor = sum.amount_minor().checked_add(money.amount_minor())?;
        (money.currency() == sum.currency()).then(|| Money::new(minor, sum.currency()).ok()).flatten()
    })
}

fn overdue(draft: &Agreement, today: Day) -> Vec<Warning> {
    let days = |terms: &PromiseTerms| {
        let PromiseTerms::Scheduled { schedule } = terms else { return 0 };
        let passed = (1_u32..).take_while(|number| schedule.day(*number).is_some_and(|day| day < today));
        passed.last().unwrap_or_default()
    };
    let found = draft.promises.iter().map(|promise| (promise.id, days(&promise.terms)));
    found.filter(|(_, days)| *days > 0).map(|(promise_id, days)| Warning::PromiseOverdue { promise_id, days }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{Deal, label, noon, promise};
    use super::super::promise::Promise;
    use super::super::{DocumentState, SignatureBlock, StageAction};
    use super::*;
    use crate::domain::recurrence::{Days, Recurrence, RecurrenceEnd, RecurrenceUnit, Schedule};

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn usd(minor: i64) -> Money {
        Money::new(minor, Currency::parse("USD").unwrap()).unwrap()
    }

    /// A draft whose first step holds its payment back.
    fn complete() -> Deal {
        let mut deal = Deal::complete();
        deal.draft.stages[0].actions = [StageAction::OpenMovement].into();
        deal
    }

    fn found(deal: &Deal) -> Vec<Warning> {
        warnings(&deal.draft, &deal.payments, day("2026-03-14"))
    }

    #[test]
    fn what_every_condition_waits_for_is_not_listed() {
        assert_eq!(found(&complete()), []);
    }

    #[test]
    fn a_payment_a_document_and_a_block_that_nothing_waits_for_are_listed() {
        let mut deal = complete();
        for gate in deal.draft.stages.iter_mut().flat_map(|stage| &mut stage.gates) {
            if let GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id } =
                &mut gate.rule
            {
                *movement_id = None;
            }
        }
        let payment = deal.payments[0].id;
        assert_eq!(found(&deal), [Warning::PaymentUnawaited { movement_id: payment }]);
        let read = Document {
            id: DocumentId::new(),
            name: label("Exhibit"),
            content: None,
            state: DocumentState::Draft,
            blocks: Vec::new(),
            is_for_reading: false,
        };
        let mut deal = complete();
        deal.draft.documents.push(read.clone());
        assert_eq!(found(&deal), [Warning::DocumentUnawaited { document_id: read.id }]);
        let mut meant = deal.draft.set_for_reading(read.id, true, noon()).unwrap();
        assert_eq!(warnings(&meant, &deal.payments, day("2026-03-14")), [], "nobody signs it, and that is meant");
        let participant_id = deal.draft.participants[0].id;
        meant = meant.add_signature_block(read.id, participant_id, label("Buyer"), noon()).unwrap().0;
        let signs = warnings(&meant, &deal.payments, day("2026-03-14"));
        assert_eq!(signs, [Warning::DocumentUnawaited { document_id: read.id }], "someone signs it after all");
        let blocks =
            [(); 2].map(|()| SignatureBlock { id: SignatureBlockId::new(), participant_id, label: label("Buyer") });
        let signed = Document { blocks: blocks.to_vec(), ..read };
        let mut deal = complete();
        deal.draft.documents.push(signed.clone());
        assert_eq!(found(&deal), [Warning::DocumentUnawaited { document_id: signed.id }], "once, for all its blocks");
        let first = GateRule::SignatureBlocks { block_ids: [blocks[0].id].into() };
        let stage = deal.draft.stages[0].id;
        deal.draft = deal.draft.add_gate(stage, first, noon()).unwrap().0;
        let one = Warning::BlockUnawaited { document_id: signed.id, block_id: blocks[1].id };
        assert_eq!(found(&deal), [one]);
        assert_eq!(to_tick(&found(&deal)), [WarningKind::Unawaited].into());
    }

    #[test]
    fn a_payment_of_a_later_step_that_no_step_holds_back_is_listed() {
        let mut deal = complete();
        let movement_id = deal.payments[0].id;
        for stage in &mut deal.draft.stages {
            stage.actions.clear();
            stage.gates.retain(|gate| gate.rule.movement().is_none());
        }
        let rule = GateRule::MovementReconciled { movement_id: Some(movement_id) };
        let last = deal.draft.stages.len() - 1;
        let (first, last) = (deal.draft.stages[0].id, deal.draft.stages[last].id);
        let paid_first = Deal { draft: deal.draft.add_gate(first, rule.clone(), noon()).unwrap().0, ..deal.clone() };
        assert_eq!(found(&paid_first), [], "nothing precedes the first step");
        deal.draft = deal.draft.add_gate(last, rule, noon()).unwrap().0;
        assert_eq!(found(&deal), [Warning::PaymentUnheld { movement_id }]);
        assert_eq!(to_tick(&found(&deal)), [WarningKind::Unheld].into());
        for action in [StageAction::OpenMovement, StageAction::ReleaseInstructions] {
            let mut held = deal.clone();
            held.draft.stages[0].actions = [action].into();
            assert_eq!(found(&held), [], "{action:?} holds it back");
        }
    }

    #[test]
    fn a_safe_whose_terms_fit_neither_its_payment_nor_each_other_is_listed() {
        let mut deal = complete();
        deal.draft.kind = AgreementKind::Safe;
        let terms = SafeTerms {
            investment_amount_minor: Some(30_000_000),
            currency: Some("USD".to_owned()),
            valuation_cap_minor: Some(10_000),
            ..SafeTerms::default()
        };
        deal.draft.terms = Some(terms.clone());
        deal.payments[0].money = Some(usd(25_000_000));
        let (investment, movement_id) = (usd(30_000_000), deal.payments[0].id);
        let differs = |paid| Warning::SafePaymentDiffers { terms: investment, paid, movement_id };
        let low = Warning::SafeCapTooLow { cap: usd(10_000), investment };
        assert_eq!(found(&deal), [differs(Some(usd(25_000_000))), low.clone()]);
        assert_eq!(to_tick(&[low]), [WarningKind::SafeTerms].into());
        deal.draft.terms = Some(SafeTerms { valuation_cap_minor: Some(800_000_000), ..terms });
        deal.payments[0].money = Some(usd(30_000_000));
        assert_eq!(found(&deal), []);
        deal.payments[0].money = Money::new(30_000_000, Currency::parse("EUR").unwrap()).ok();
        assert_eq!(found(&deal), [differs(deal.payments[0].money)]);
        deal.payments[0].money = None;
        assert_eq!(found(&deal), [], "it is a blocker that the amount is missing");
        deal.payments[0].money = Some(usd(25_000_000));
        let sender = deal.payments[0].sender.unwrap();
        let payer = deal.draft.participants.iter_mut().find(|participant| participant.id == sender).unwrap();
        payer.roles = [ParticipantRole::Funder].into();
        let unpaid = [Warning::SafeUnpaid { terms: investment }];
        assert_eq!(found(&deal), unpaid, "someone else pays");
        deal.payments.clear();
        assert_eq!(found(&deal), unpaid, "nobody pays");
    }

    #[test]
    fn promises_that_are_overdue_from_the_start_are_counted() {
        let mut deal = complete();
        let mut add = |schedule: Schedule| {
            let made = promise(&deal.draft, "Quarterly report");
            let promise = Promise { terms: PromiseTerms::Scheduled { schedule }, ..made };
            deal.draft = deal.draft.put_promise(promise.clone(), noon()).unwrap();
            promise.id
        };
        let days = ["2026-01-31", "2026-03-13", "2026-03-14"].map(day);
        let few = add(Schedule::Days(Days::new(days.into()).unwrap()));
        let weekly = Recurrence::new(1, RecurrenceUnit::Week, day("1990-01-01"), RecurrenceEnd::Never).unwrap();
        let many = add(Schedule::Recurrence(weekly));
        let listed = found(&deal);
        let expected = [(few, 2), (many, 1889)].map(|(promise_id, days)| Warning::PromiseOverdue { promise_id, days });
        assert_eq!(listed, expected);
        assert_eq!(to_tick(&listed[..1]), BTreeSet::new(), "a few are listed, and take no tick");
        assert_eq!(to_tick(&listed), [WarningKind::Overdue].into());
    }
}
