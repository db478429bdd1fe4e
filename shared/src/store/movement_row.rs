//! The list row of a movement: the searchable text, and everything else packed.
//!
//! The workspace is not in it: its agreement's row has it, and a filter by workspace reads that row too.

use super::list::HeldRow;
use super::packed::{PACKED, Packer, ShortId, Unpacker, packed_number};
use super::record::Row;
use crate::domain::day::Day;
use crate::domain::ids::{AgreementId, MemberId, MovementId, ParticipantId};
use crate::domain::ledger::{Between, LedgerPayment};
use crate::domain::money::{Currency, Money};
use crate::domain::movement::Movement;
use crate::domain::movement::instructions::InstructionsStatus;
use crate::domain::movement::safe_text::SafeLine;
use crate::domain::movement::state::MovementState;
use crate::wire::text::Folded;

const LAYOUT: u8 = 1;

/// Their positions are the codes in rows, so a new state goes to the end.
const STATES: [MovementState; 10] = [
    MovementState::Draft,
    MovementState::Authorized,
    MovementState::InstructionsReady,
    MovementState::SenderReported,
    MovementState::ReceiptPending,
    MovementState::Processing,
    MovementState::Reconciled,
    MovementState::Exception,
    MovementState::Returned,
    MovementState::Cancelled,
];

mod has {
    pub(super) const MONEY: u64 = 1;
    pub(super) const DUE: u64 = 1 << 1;
    pub(super) const SENDER: u64 = 1 << 2;
    pub(super) const RECEIVER: u64 = 1 << 3;
    pub(super) const CLAIM: u64 = 1 << 4;
    pub(super) const PROVEN: u64 = 1 << 5;
    pub(super) const UNVERIFIED: u64 = 1 << 6;
    pub(super) const CHANGED: u64 = 1 << 7;
    pub(super) const SINCE: u64 = 1 << 8;
    pub(super) const INSTRUCTIONS: u64 = 1 << 9;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MovementRow {
    pub id: MovementId,
    pub agreement_id: AgreementId,
    pub state: MovementState,
    pub sender: Option<ShortId>,
    pub receiver: Option<ShortId>,
    pub money: Option<Money>,
    pub due_on: Option<Day>,
    /// Whether the sender says that it was sent.
    pub is_claimed: bool,
    pub proven_minor: i64,
    pub has_instructions: bool,
    /// Who entered instructions that no other member has verified while it is open; whether they were changed.
    pub unverified: Option<(MemberId, bool)>,
    /// Since when a member should look at the movement, in milliseconds since 1970.
    pub since_ms: Option<i64>,
}

impl MovementRow {
    pub(super) fn of(movement: &Movement) -> Self {
        let (terms, state) = (movement.terms(), movement.state());
        let instructions = movement.instructions().filter(|_| !state.is_done());
        let unverified = instructions.and_then(unverified_by);
        let waits = matches!(state, MovementState::Processing | MovementState::Exception);
        let short = |id: Option<ParticipantId>| id.map(|id| ShortId::of(id.uuid()));
        Self {
            id: movement.id(),
            agreement_id: movement.agreement_id(),
            state,
            sender: short(terms.sender),
            receiver: short(terms.receiver),
            money: terms.money,
            due_on: terms.due_on,
            is_claimed: movement.claim().is_some(),
            proven_minor: movement.receipt().map_or(0, |receipt| receipt.received_minor),
            has_instructions: movement.instructions().is_some(),
            unverified,
            since_ms: (waits || unverified.is_some()).then(|| movement.updated_at().unix_ms()),
        }
    }

    /// The text begins with the purpose, or an empty line without one: the ledger searches that line alone.
    pub(super) fn write(movement: &Movement) -> Row {
        let terms = movement.terms();
        let purpose = terms.purpose.as_ref().map_or("", SafeLine::as_str);
        let reference = terms.reference.as_ref().map(SafeLine::as_str);
        let text = Folded::join(std::iter::once(purpose).chain(reference));
        Row::searched_by(text).with_packed(Self::of(movement).packed())
    }

    fn packed(&self) -> Packer {
        let flag = |is_there: bool, bit: u64| if is_there { bit } else { 0 };
        let flags = flag(self.money.is_some(), has::MONEY)
            | flag(self.due_on.is_some(), has::DUE)
            | flag(self.sender.is_some(), has::SENDER)
            | flag(self.receiver.is_some(), has::RECEIVER)
            | flag(self.is_claimed, has::CLAIM)
            | flag(self.proven_minor > 0, has::PROVEN)
            | flag(self.has_instructions, has::INSTRUCTIONS)
            | flag(self.unverified.is_some(), has::UNVERIFIED)
            | flag(self.unverified.is_some_and(|(_, is_changed)| is_changed), has::CHANGED)
            | flag(self.since_ms.is_some(), has::SINCE);
        let state = STATES.iter().position(|state| *state == self.state).and_then(|code| u8::try_from(code).ok());
        let money = |packer: Packer, money: Money| {
            packer.bytes(money.currency().code().as_bytes()).number(packed_number(money.amount_minor()))
        };
        let proven = Some(self.proven_minor).filter(|proven| *proven > 0);
        Packer::of_layout(LAYOUT)
            .byte(state.unwrap_or(u8::MAX))
            .number(flags)
            .id(self.agreement_id.uuid())
            .with(self.money, money)
            .with(self.due_on, |packer, day| packer.number(u64::from(day.number())))
            .with(self.sender, Packer::short_id)
            .with(self.receiver, Packer::short_id)
            .with(proven, |packer, proven| packer.number(packed_number(proven)))
            .with(self.unverified, |packer, (by, _)| packer.id(by.uuid()))
            .with(self.since_ms, |packer, since| packer.number(packed_number(since)))
    }

    pub(super) fn read(row: HeldRow<'_>) -> Option<Self> {
        Self::unpacked(row.id(), Unpacker::of_layout(row.bytes(PACKED)?, LAYOUT)?)
    }

    fn unpacked(id: MovementId, mut packed: Unpacker<'_>) -> Option<Self> {
        let state = *STATES.get(usize::from(packed.byte()?))?;
        let flags = packed.number()?;
        let has = |bit: u64| flags & bit != 0;
        let agreement_id = packed.id()?.into();
        let money = packed.when(has(has::MONEY), unpacked_money)?;
        let due_on = packed.when(has(has::DUE), |packed| Day::of_number(u32::try_from(packed.number()?).ok()?))?;
        let sender = packed.when(has(has::SENDER), Unpacker::short_id)?;
        let receiver = packed.when(has(has::RECEIVER), Unpacker::short_id)?;
        let proven_minor = packed.when(has(has::PROVEN), signed)?.unwrap_or_default();
        let by = packed.when(has(has::UNVERIFIED), |packed| packed.id().map(MemberId::from))?;
        let unverified = by.map(|by| (by, has(has::CHANGED)));
        let since_ms = packed.when(has(has::SINCE), signed)?;
        Some(Self {
            id,
            agreement_id,
            state,
            sender,
            receiver,
            money,
            due_on,
            is_claimed: has(has::CLAIM),
            proven_minor,
            has_instructions: has(has::INSTRUCTIONS),
            unverified,
            since_ms,
        })
    }

    /// Its payment, as if nobody had agreed to it: its agreement knows that. None without an amount.
    pub(super) fn payment(&self) -> Option<LedgerPayment> {
        Some(LedgerPayment {
            money: self.money?,
            state: self.state,
            is_agreed: false,
            is_claimed: self.is_claimed,
            proven_minor: self.proven_minor,
            between: self.sender.zip(self.receiver).map(|(by, to)| Between { by: by.number(), to: to.number() }),
        })
    }
}

fn unpacked_money(packed: &mut Unpacker<'_>) -> Option<Money> {
    let code: [u8; 3] = packed.bytes()?;
    let currency = std::str::from_utf8(&code).ok().and_then(Currency::parse)?;
    Money::new(i64::try_from(packed.number()?).ok()?, currency).ok()
}

fn signed(packed: &mut Unpacker<'_>) -> Option<i64> {
    i64::try_from(packed.number()?).ok()
}

/// Whether every member should look: the instructions were changed, or can't be verified anymore.
fn unverified_by(instructions: &InstructionsStatus) -> Option<(MemberId, bool)> {
    let by = instructions.entered_by.member().filter(|_| instructions.verification.is_none())?;
    Some((by, !instructions.changes.is_empty() || instructions.has_verification_ended()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::super::packed::packed_row;
    use super::*;

    #[test]
    fn each_state_has_a_code_of_its_own() {
        for state in MovementState::ALL {
            assert_eq!(STATES.iter().filter(|known| **known == state).count(), 1, "{state}");
        }
        assert_eq!(STATES.len(), MovementState::ALL.len());
    }

    fn rows() -> impl Strategy<Value = MovementRow> {
        let money = (1..=i64::MAX, prop::sample::select(vec!["USD", "JPY", "KWD"]))
            .prop_map(|(minor, code)| Money::new(minor, Currency::parse(code).unwrap()).unwrap());
        let day = (-20_000..20_000).prop_map(|days| Day::parse("2026-03-14").unwrap().plus_days(days));
        let short = || prop::option::of(any::<u128>().prop_map(|id| ShortId::of(Uuid::from_u128(id))));
        let member = (any::<u128>(), any::<bool>()).prop_map(|(id, changed)| (Uuid::from_u128(id).into(), changed));
        (
            (any::<[u128; 2]>(), prop::sample::select(MovementState::ALL.to_vec()), short(), short()),
            (prop::option::of(money), prop::option::of(day), any::<bool>(), 0..=i64::MAX),
            (any::<bool>(), prop::option::of(member), prop::option::of(0..=i64::MAX)),
        )
            .prop_map(
                |(
                    (ids, state, sender, receiver),
                    (money, due_on, is_claimed, proven),
                    (entered, unverified, since),
                )| {
                    let [id, agreement] = ids.map(Uuid::from_u128);
                    MovementRow {
                        id: id.into(),
                        agreement_id: agreement.into(),
                        state,
                        sender,
                        receiver,
                        money,
                        due_on,
                        is_claimed,
                        proven_minor: proven,
                        has_instructions: entered,
                        unverified,
                        since_ms: since,
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn a_row_is_read_as_it_was_written(row in rows()) {
            prop_assert_eq!(MovementRow::read(packed_row(row.packed()).with_id(row.id.uuid())), Some(row));
        }
    }

    #[test]
    fn a_payment_as_most_are_takes_few_bytes() {
        let money = Money::new(125_000_000, Currency::parse("USD").unwrap()).unwrap();
        let id = |n: u128| ShortId::of(Uuid::from_u128(n));
        let row = MovementRow {
            id: Uuid::from_u128(1).into(),
            agreement_id: Uuid::from_u128(2).into(),
            state: MovementState::InstructionsReady,
            sender: Some(id(3)),
            receiver: Some(id(4)),
            money: Some(money),
            due_on: Day::parse("2026-03-14"),
            is_claimed: false,
            proven_minor: 0,
            has_instructions: true,
            unverified: None,
            since_ms: None,
        };
        assert_eq!(row.packed().into_bytes().len(), 47);
    }
}
