//! Payments of a draft. Each is a movement, a separate record that the draft names; both are written together.

use super::{check_limit, unknown};
use crate::domain::actor::Actor;
use crate::domain::agreement::Agreement;
use crate::domain::agreement::gate::GateRule;
use crate::domain::ids::MovementId;
use crate::domain::movement::Movement;
use crate::domain::movement::state::MovementState;
use crate::domain::movement::terms::PaymentTerms;
use crate::domain::time::Timestamp;
use crate::limits;
use crate::wire::fields::{FieldCode, FieldErrors};

impl Agreement {
    /// Adds a payment with the id from its form; returns no movement if the draft already has it.
    pub fn add_payment(
        &self,
        id: MovementId,
        terms: PaymentTerms,
        created_by: Actor,
        now: Timestamp,
    ) -> Result<(Self, Option<Movement>), FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        if self.facts.movements.contains_key(&id) {
            return Ok((self.clone(), None));
        }
        check_limit("payments", draft.facts.movements.len(), limits::AGREEMENT_MOVEMENTS_MAX)?;
        self.check_payment(&terms)?;
        draft.facts.movements.insert(id, MovementState::Draft);
        let movement = Movement::draft(id, self.id(), self.workspace_id, terms, created_by, now);
        Ok((draft, Some(movement)))
    }

    /// Replaces a payment's terms. They are final after publication.
    pub fn change_payment(
        &self,
        movement: &Movement,
        terms: PaymentTerms,
        now: Timestamp,
    ) -> Result<(Self, Movement), FieldErrors> {
        let draft = self.to_be_edited(now)?;
        self.check_has_payment(movement.id())?;
        self.check_payment(&terms)?;
        Ok((draft, movement.with_terms(terms, now)))
    }

    /// Removes a payment.
    pub fn remove_payment(&self, id: MovementId, now: Timestamp) -> Result<Self, FieldErrors> {
        let mut draft = self.to_be_edited(now)?;
        self.check_has_payment(id)?;
        self.check_unnamed("movement_id", |rule| {
            matches!(rule,
                GateRule::MovementAuthorized { movement_id } | GateRule::MovementReconciled { movement_id }
                    if *movement_id == Some(id))
        })?;
        draft.facts.movements.remove(&id);
        Ok(draft)
    }

    fn check_has_payment(&self, id: MovementId) -> Result<(), FieldErrors> {
        if self.facts.movements.contains_key(&id) { Ok(()) } else { Err(unknown("movement_id", "payment")) }
    }

    /// Refuses payments to oneself: a sender's claim must not double as the receiver's word.
    fn check_payment(&self, terms: &PaymentTerms) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        for (field, id) in [("sender_participant_id", terms.sender), ("receiver_participant_id", terms.receiver)] {
            if id.is_some_and(|id| self.participant(id).is_none()) {
                errors.extend(unknown(field, "participant"));
            }
        }
        if terms.sender.is_some() && terms.sender == terms.receiver {
            let message = "must be someone else than the payer";
            errors.extend(FieldErrors::one("receiver_participant_id", FieldCode::InvalidValue, message));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::blockers::DraftPayment;
    use super::super::super::fixtures::{Deal, label, noon, published};
    use super::super::tests::refused;
    use super::*;
    use crate::domain::ids::ParticipantId;
    use crate::domain::money::{Currency, Money};
    use crate::domain::movement::safe_text::SafeLine;

    fn terms(agreement: &Agreement) -> PaymentTerms {
        PaymentTerms {
            purpose: Some(SafeLine::parse("Investment").unwrap()),
            money: Some(Money::new(25_000_000, Currency::parse("USD").unwrap()).unwrap()),
            sender: Some(agreement.participants[0].id),
            receiver: Some(agreement.participants[1].id),
            ..PaymentTerms::default()
        }
    }

    #[test]
    fn a_payment_of_a_draft_is_named_by_it_and_may_be_incomplete() {
        let draft = Deal::complete().draft;
        let (id, by) = (MovementId::new(), Actor::system());
        let (with, movement) = draft.add_payment(id, PaymentTerms::default(), by.clone(), noon()).unwrap();
        let movement = movement.unwrap();
        assert_eq!((with.movement_state(id), movement.state()), (Some(MovementState::Draft), MovementState::Draft));
        let found = DraftPayment::from(&movement);
        assert_eq!((found.id, found.is_complete, found.sender, found.receiver), (id, false, None, None));
        let again = with.add_payment(id, PaymentTerms::default(), by, noon()).unwrap();
        assert_eq!(again, (with.clone(), None), "a form that is sent twice adds one");
        let (_, complete) = with.change_payment(&movement, terms(&draft), noon()).unwrap();
        let found = DraftPayment::from(&complete);
        assert!(found.is_complete && found.sender.is_some() && found.receiver.is_some());
        let stored: Agreement = serde_json::from_str(&serde_json::to_string(&with).unwrap()).unwrap();
        assert_eq!(stored, with);
        let stored: Movement = serde_json::from_str(&serde_json::to_string(&complete).unwrap()).unwrap();
        assert_eq!(stored, complete);

        let without = with.remove_payment(id, noon()).unwrap();
        assert_eq!(without.movements(), draft.movements());
        refused(without.remove_payment(id, noon()), "movement_id", FieldCode::NotFound);
        let (staged, stage) = with.add_stage(label("Money"), [].into(), noon()).unwrap();
        let rule = GateRule::MovementReconciled { movement_id: Some(id) };
        let (named, _) = staged.add_gate(stage, rule, noon()).unwrap();
        refused(named.remove_payment(id, noon()), "movement_id", FieldCode::WrongState);
    }

    #[test]
    fn the_terms_of_a_payment_name_two_participants_and_never_change_after_publication() {
        let draft = Deal::complete().draft;
        let right = terms(&draft);
        let add = |terms| draft.add_payment(MovementId::new(), terms, Actor::system(), noon());
        let (with, movement) = add(right.clone()).unwrap();
        let stranger = Some(ParticipantId::new());
        refused(add(PaymentTerms { sender: stranger, ..right.clone() }), "sender_participant_id", FieldCode::NotFound);
        refused(
            add(PaymentTerms { receiver: right.sender, ..right.clone() }),
            "receiver_participant_id",
            FieldCode::InvalidValue,
        );
        let live = published(&with);
        let movement = movement.unwrap();
        refused(live.change_payment(&movement, right.clone(), noon()), "agreement_id", FieldCode::WrongState);
        refused(
            live.add_payment(MovementId::new(), right, Actor::system(), noon()),
            "agreement_id",
            FieldCode::WrongState,
        );
        refused(live.remove_payment(movement.id(), noon()), "agreement_id", FieldCode::WrongState);
    }

    #[test]
    fn an_agreement_has_so_many_payments_at_most_and_its_item_holds_them() {
        let mut draft = Deal::complete().draft;
        for _ in 0..limits::AGREEMENT_MOVEMENTS_MAX {
            draft.facts.movements.insert(MovementId::new(), MovementState::InstructionsReady);
        }
        assert!(draft.as_draft().is_ok(), "it is within the size limit");
        let more = draft.add_payment(MovementId::new(), PaymentTerms::default(), Actor::system(), noon());
        refused(more, "payments", FieldCode::LimitReached);
    }
}
