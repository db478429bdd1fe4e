//! The list row of an obligation: its name, which the ledger searches, and everything else packed.

use super::list::HeldRow;
use super::packed::{PACKED, Packer, ShortId, Unpacker, packed_number};
use super::record::Row;
use crate::domain::ids::{AgreementId, MemberId, ObligationId, ParticipantId, WorkspaceId};
use crate::domain::obligation::{Obligation, ObligationState, Word};
use crate::domain::time::Timestamp;
use crate::wire::text::Folded;

const LAYOUT: u8 = 1;

/// Their positions are the codes in rows, so a new state goes to the end.
const STATES: [ObligationState; 5] = [
    ObligationState::Dormant,
    ObligationState::Open,
    ObligationState::Satisfied,
    ObligationState::Confirmed,
    ObligationState::Cancelled,
];

const HAS_DUE: u64 = 1;
const HAS_CLAIMS: u64 = 1 << 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObligationRow {
    pub id: ObligationId,
    pub workspace_id: WorkspaceId,
    /// Its agreement.
    pub agreement_id: AgreementId,
    /// Independent of the time.
    pub state: ObligationState,
    /// The due time, passed or not, of the first occurrence that nobody has said is done, in milliseconds since 1970.
    pub next_due_ms: Option<i64>,
    pub promisors: Vec<ShortId>,
    pub promisees: Vec<ShortId>,
    pub claims: u64,
    /// The members who recorded such claims, or in whose browsers they were made, once for each claim.
    pub claimed_by: Vec<MemberId>,
}

impl ObligationRow {
    pub(super) fn of(obligation: &Obligation) -> Self {
        let short = |id: &ParticipantId| ShortId::of(id.uuid());
        Self {
            id: obligation.id(),
            workspace_id: obligation.workspace_id(),
            agreement_id: obligation.agreement_id(),
            state: obligation.state(),
            next_due_ms: obligation.next_due_at().map(Timestamp::unix_ms),
            promisors: obligation.parties().promisors().iter().map(short).collect(),
            promisees: obligation.parties().promisees().iter().map(short).collect(),
            claims: u64::try_from(obligation.waiting_claims().count()).unwrap_or(u64::MAX),
            claimed_by: obligation.waiting_claims().filter_map(Word::member).collect(),
        }
    }

    /// The list of obligations has no search, but the ledger does.
    pub(super) fn write(obligation: &Obligation) -> Row {
        Row::searched_by(Folded::new(obligation.name().as_str())).with_packed(Self::of(obligation).packed())
    }

    fn packed(&self) -> Packer {
        let flag = |is_there: bool, bit: u64| if is_there { bit } else { 0 };
        let flags = flag(self.next_due_ms.is_some(), HAS_DUE) | flag(self.claims > 0, HAS_CLAIMS);
        let state = STATES.iter().position(|state| *state == self.state).and_then(|code| u8::try_from(code).ok());
        let short = |packer: Packer, id: &ShortId| packer.short_id(*id);
        let packer = Packer::of_layout(LAYOUT)
            .byte(state.unwrap_or(u8::MAX))
            .number(flags)
            .id(self.workspace_id.uuid())
            .id(self.agreement_id.uuid())
            .with(self.next_due_ms, |packer, due| packer.number(packed_number(due)))
            .each(&self.promisors, short)
            .each(&self.promisees, short);
        if self.claims == 0 {
            return packer;
        }
        packer.number(self.claims).each(&self.claimed_by, |packer, by| packer.id(by.uuid()))
    }

    pub(super) fn read(row: HeldRow<'_>) -> Option<Self> {
        Self::unpacked(row.id(), Unpacker::of_layout(row.bytes(PACKED)?, LAYOUT)?)
    }

    fn unpacked(id: ObligationId, mut packed: Unpacker<'_>) -> Option<Self> {
        let state = *STATES.get(usize::from(packed.byte()?))?;
        let flags = packed.number()?;
        let (workspace_id, agreement_id) = (packed.id()?.into(), packed.id()?.into());
        let next_due_ms = packed.when(flags & HAS_DUE != 0, |packed| i64::try_from(packed.number()?).ok())?;
        let (promisors, promisees) = (packed.each(Unpacker::short_id)?, packed.each(Unpacker::short_id)?);
        let has_claims = flags & HAS_CLAIMS != 0;
        let claims = packed.when(has_claims, Unpacker::number)?.unwrap_or_default();
        let claimed_by = packed.when(has_claims, |packed| packed.each(|packed| packed.id().map(MemberId::from)))?;
        Some(Self {
            id,
            workspace_id,
            agreement_id,
            state,
            next_due_ms,
            promisors,
            promisees,
            claims,
            claimed_by: claimed_by.unwrap_or_default(),
        })
    }

    /// The row as shown once the agreement has ended early, whether or not the obligation's record says so yet.
    pub(super) fn told_at_end(self) -> Self {
        if matches!(self.state, ObligationState::Confirmed | ObligationState::Cancelled) {
            return self;
        }
        Self { state: ObligationState::Cancelled, next_due_ms: None, claims: 0, claimed_by: Vec::new(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::super::packed::packed_row;
    use super::*;

    #[test]
    fn each_state_has_a_code_of_its_own() {
        for state in ObligationState::ALL {
            assert_eq!(STATES.iter().filter(|known| **known == state).count(), 1, "{state}");
        }
        assert_eq!(STATES.len(), ObligationState::ALL.len());
    }

    fn rows() -> impl Strategy<Value = ObligationRow> {
        let short = || prop::collection::vec(any::<u128>().prop_map(|id| ShortId::of(Uuid::from_u128(id))), 0..5);
        (
            (any::<[u128; 3]>(), prop::sample::select(ObligationState::ALL.to_vec())),
            (prop::option::of(0..=i64::MAX), short(), short()),
            (0..1000_u64, prop::collection::vec(any::<u128>(), 0..5)),
        )
            .prop_map(|((ids, state), (next_due_ms, promisors, promisees), (claims, by))| {
                let [id, workspace, agreement] = ids.map(Uuid::from_u128);
                let by = by.into_iter().filter(|_| claims > 0);
                ObligationRow {
                    id: id.into(),
                    workspace_id: workspace.into(),
                    agreement_id: agreement.into(),
                    state,
                    next_due_ms,
                    promisors,
                    promisees,
                    claims,
                    claimed_by: by.map(|id| Uuid::from_u128(id).into()).collect(),
                }
            })
    }

    proptest! {
        #[test]
        fn a_row_is_read_as_it_was_written(row in rows()) {
            prop_assert_eq!(ObligationRow::read(packed_row(row.packed()).with_id(row.id.uuid())), Some(row));
        }
    }
}
