use super::{ByMember, Member};
use crate::domain::agreement::context::AgreementContext;
use crate::domain::agreement::verification::{NewVerification, Verification};
use crate::domain::agreement::{Agreement, Lifecycle};
use crate::domain::event::EventKind;
use crate::domain::ids::{ParticipantId, VerificationId};
use crate::limits;

/// A recorded verification, and the agreement that it may have advanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The record.
    pub verification: Verification,
    /// The agreement.
    pub agreement: ByMember<Agreement>,
    /// The events to emit.
    pub events: Vec<EventKind>,
}

/// Why no verification was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotVerified {
    /// The agreement is not active.
    NotActive(Lifecycle),
    /// The agreement has no such participant.
    Unknown,
    /// The participant has [`limits::VERIFICATIONS_PER_PARTICIPANT_MAX`] verifications.
    Full,
}

/// Records that an identity was verified (contract, section 3, "Gate rules"). `earlier` are those of the agreement.
pub fn record_verification(
    by: &Member,
    context: AgreementContext<'_>,
    earlier: &[Verification],
    id: VerificationId,
    participant_id: ParticipantId,
    new: NewVerification,
) -> Result<Verified, NotVerified> {
    let current = context.active().map_err(NotVerified::NotActive)?;
    if current.participant(participant_id).is_none() {
        return Err(NotVerified::Unknown);
    }
    let of_participant = earlier.iter().filter(|verification| verification.participant_id == participant_id);
    if of_participant.count() >= limits::VERIFICATIONS_PER_PARTICIPANT_MAX {
        return Err(NotVerified::Full);
    }
    let NewVerification { method, reference, day } = new;
    let (recorded_by, recorded_at) = (by.actor(), context.moment.at());
    let verification = Verification { id, participant_id, method, reference, day, recorded_by, recorded_at };
    let after = context.recorded(|facts| {
        facts.verified.insert(participant_id);
    });
    let events = after.completion().into_iter().collect();
    Ok(Verified { verification, agreement: ByMember::new(after, by, context.moment), events })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::Label;
    use crate::domain::agreement::fixtures::{Deal, after, noon, published, time_scale};
    use crate::domain::agreement::gate::{GateRule, GateStatus};
    use crate::domain::contact::{DisplayName, Email};
    use crate::domain::day::Day;
    use crate::domain::ids::{MemberId, OrgId};
    use crate::domain::moment::Moment;
    use crate::domain::organization::{MemberRecord, Role};

    fn member() -> Member {
        let (name, email) = (DisplayName::parse("Maren Holt").unwrap(), Email::parse("maren@example.org").unwrap());
        let record = MemberRecord { id: MemberId::new(), name, email, role: Role::Member, created_at: noon() };
        Member::of_session(OrgId::new(), &record)
    }

    fn live() -> (Agreement, [ParticipantId; 2]) {
        let deal = Deal::complete();
        let both = [deal.draft.participants[0].id, deal.draft.participants[1].id];
        let mut draft = deal.draft;
        (draft.stages, draft.expires_at) = (Vec::new(), Some(after(48)));
        let label = Label::parse("Identity").unwrap();
        let (more, stage) = draft.add_stage(label, [].into(), noon()).unwrap();
        draft = more.add_gate(stage, GateRule::IdentityVerified { participant_ids: both.into() }, noon()).unwrap().0;
        (published(&draft), both)
    }

    fn record(agreement: &Agreement, participant: ParticipantId, hours: i64) -> Result<Verified, NotVerified> {
        let new = NewVerification {
            method: Label::parse("Passport, seen on a video call").unwrap(),
            reference: None,
            day: Day::parse("2026-03-14").unwrap(),
        };
        let by = member();
        record_verification(&by, context(agreement, hours), &[], VerificationId::new(), participant, new)
    }

    fn context(agreement: &Agreement, hours: i64) -> AgreementContext<'_> {
        AgreementContext {
            agreement,
            facts: agreement.facts(),
            time_scale: time_scale(),
            moment: Moment::test(after(hours)),
        }
    }

    #[test]
    fn the_last_verification_clears_the_gate_and_completes_the_agreement() {
        let (agreement, [ada, ben]) = live();
        let gate = |agreement: &Agreement| agreement.stages[0].gates[0].clone();
        assert_eq!(agreement.unmet_by(&gate(&agreement)), [ada, ben].into());
        let first = record(&agreement, ada, 1).unwrap();
        assert_eq!(first.agreement.unmet_by(&gate(&agreement)), [ben].into());
        assert_eq!((gate(&first.agreement).state.status(), first.events.len()), (GateStatus::Open, 0));
        // Repeating it only changes the time of the last fact.
        let again = record(&first.agreement, ada, 2).unwrap();
        assert_eq!(again.agreement.stages, first.agreement.stages);
        let second = record(&first.agreement, ben, 3).unwrap();
        assert_eq!((second.agreement.lifecycle(), second.events.len()), (Lifecycle::Completed, 1));
        assert_eq!(gate(&second.agreement).state.status(), GateStatus::Cleared);
        let stored: Agreement = serde_json::from_str(&serde_json::to_string(&*second.agreement).unwrap()).unwrap();
        assert_eq!(stored, *second.agreement);
    }

    #[test]
    fn nothing_is_recorded_for_strangers_or_in_an_agreement_that_has_ended() {
        let (agreement, [ada, _]) = live();
        assert_eq!(record(&agreement, ParticipantId::new(), 1), Err(NotVerified::Unknown));
        let expired = Err(NotVerified::NotActive(Lifecycle::Expired));
        assert_eq!(record(&agreement, ada, 48), expired, "the clock has not recorded it yet");
        assert_eq!(record(&agreement.cancelled(after(1)), ada, 2), Err(NotVerified::NotActive(Lifecycle::Cancelled)));
        let draft = Deal::complete().draft;
        assert_eq!(record(&draft, draft.participants[0].id, 1), Err(NotVerified::NotActive(Lifecycle::Draft)));
    }

    #[test]
    fn a_participant_has_so_many_verifications_at_most() {
        let (agreement, [ada, ben]) = live();
        let one = record(&agreement, ada, 1).unwrap().verification;
        let full = vec![one.clone(); limits::VERIFICATIONS_PER_PARTICIPANT_MAX];
        let by = member();
        let more = |participant| {
            let new = NewVerification { method: one.method.clone(), reference: None, day: one.day };
            let id = VerificationId::new();
            record_verification(&by, context(&agreement, 1), &full, id, participant, new).map(|_| ())
        };
        assert_eq!((more(ada), more(ben)), (Err(NotVerified::Full), Ok(())));
    }
}
