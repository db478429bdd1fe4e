//! The ledger: one row per thing owed or owing (specification, "Ledger row"), derived on every read; and the totals.
//!
//! - Decision: drafts and their payments are rows too, because the specification leaves out only what is finished.
//!   Totals exclude them. A payment is owed from its agreement's publication, even while its own state is `draft`.
//! - Decision: an agreement's direction is `null`: it binds all sides. A payment's or obligation's follows, on read,
//!   from who owes it and from the organization's own contacts; what one of them owes another is owed by us.
//! - Decision: totals add agreed payments per currency and direction. *Owed* isn't proven to have arrived; *claimed* is
//!   the part that senders say they sent; *proven* is shown by accepted evidence. Money that came back counts nowhere.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::agreement::{Agreement, AgreementKind, Lifecycle};
use super::ids::{ContactId, ParticipantId};
use super::money::Money;
use super::movement::Movement;
use super::movement::state::MovementState;
use super::obligation::ObligationState;
use super::time::Timestamp;
use crate::wire::enums::text_enum;

text_enum! {
    /// The product of a ledger row: that of its agreement.
    pub enum LedgerProduct {
        /// A SAFE, and what is owed under it.
        Safe = "safe",
        /// Any other agreement, and what is owed under it.
        Agreement = "agreement",
    }
}

impl From<AgreementKind> for LedgerProduct {
    fn from(kind: AgreementKind) -> Self {
        match kind {
            AgreementKind::Safe => Self::Safe,
            AgreementKind::General => Self::Agreement,
        }
    }
}

text_enum! {
    /// What a ledger row is about.
    pub enum LedgerRowType {
        /// An agreement.
        Agreement = "agreement",
        /// A payment. Only these rows have amounts.
        Movement = "movement",
        /// An obligation.
        Obligation = "obligation",
    }
}

text_enum! {
    /// Who owes it. "Us" are the organization's own contacts, a setting.
    pub enum LedgerDirection {
        /// Others owe it to one of our own contacts.
        OwedToUs = "owed_to_us",
        /// One of our own contacts owes it.
        OwedByUs = "owed_by_us",
        /// None of our own contacts owes it or is owed it.
        BetweenOthers = "between_others",
    }
}

text_enum! {
    /// Where the thing of a ledger row is: the lifecycle of an agreement, or the state of a movement or of an
    /// obligation.
    pub enum LedgerState {
        /// An agreement that is being drafted, or a payment of one: not owed yet.
        Draft = "draft",
        /// An agreement in force.
        Active = "active",
        /// An agreement whose steps are all done.
        Completed = "completed",
        /// A movement that a member authorized.
        Authorized = "authorized",
        /// A movement whose sender has the instructions.
        InstructionsReady = "instructions_ready",
        /// A movement whose sender says it was sent: a claim, and no proof of anything.
        SenderReported = "sender_reported",
        /// A movement that waits for proof that it arrived.
        ReceiptPending = "receipt_pending",
        /// A movement with proof from the receiving side that is being looked at.
        Processing = "processing",
        /// A movement with accepted proof from the receiving side.
        Reconciled = "reconciled",
        /// A movement that needs attention.
        Exception = "exception",
        /// A movement whose money came back.
        Returned = "returned",
        /// An obligation that waits for a trigger.
        Dormant = "dormant",
        /// An obligation with something left to be done.
        Open = "open",
        /// An obligation that is done as its promisor says: a claim.
        Satisfied = "satisfied",
        /// An obligation that is done as the other side, or a member, has confirmed.
        Confirmed = "confirmed",
        /// Cancelled: it is owed no more.
        Cancelled = "cancelled",
        /// An agreement that expired.
        Expired = "expired",
    }
}

impl From<Lifecycle> for LedgerState {
    fn from(lifecycle: Lifecycle) -> Self {
        match lifecycle {
            Lifecycle::Draft => Self::Draft,
            Lifecycle::Active => Self::Active,
            Lifecycle::Completed => Self::Completed,
            Lifecycle::Cancelled => Self::Cancelled,
            Lifecycle::Expired => Self::Expired,
        }
    }
}

impl From<MovementState> for LedgerState {
    fn from(state: MovementState) -> Self {
        match state {
            MovementState::Draft => Self::Draft,
            MovementState::Authorized => Self::Authorized,
            MovementState::InstructionsReady => Self::InstructionsReady,
            MovementState::SenderReported => Self::SenderReported,
            MovementState::ReceiptPending => Self::ReceiptPending,
            MovementState::Processing => Self::Processing,
            MovementState::Reconciled => Self::Reconciled,
            MovementState::Exception => Self::Exception,
            MovementState::Returned => Self::Returned,
            MovementState::Cancelled => Self::Cancelled,
        }
    }
}

impl From<ObligationState> for LedgerState {
    fn from(state: ObligationState) -> Self {
        match state {
            ObligationState::Dormant => Self::Dormant,
            ObligationState::Open => Self::Open,
            ObligationState::Satisfied => Self::Satisfied,
            ObligationState::Confirmed => Self::Confirmed,
            ObligationState::Cancelled => Self::Cancelled,
        }
    }
}

impl LedgerState {
    /// Whether it is finished (contract, section 2, "Ledger row"). A claim never finishes anything.
    #[must_use]
    pub fn is_done(self) -> bool {
        match self {
            Self::Completed | Self::Cancelled | Self::Expired | Self::Reconciled | Self::Returned | Self::Confirmed => {
                true
            }
            Self::Draft
            | Self::Active
            | Self::Authorized
            | Self::InstructionsReady
            | Self::SenderReported
            | Self::ReceiptPending
            | Self::Processing
            | Self::Exception
            | Self::Dormant
            | Self::Open
            | Self::Satisfied => false,
        }
    }

    /// Whether an unproven payment or unfinished obligation of a concluded agreement (`is_agreed`) is past due.
    #[must_use]
    pub fn is_overdue(self, is_agreed: bool, due_at: Option<Timestamp>, now: Timestamp) -> bool {
        let can_be = !self.is_done() && !matches!(self, Self::Active | Self::Dormant | Self::Satisfied);
        can_be && is_agreed && due_at.is_some_and(|due| due < now)
    }
}

/// The contacts of a ledger row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerParties {
    /// The participants of an agreement, which binds them all.
    Mutual(Vec<ContactId>),
    /// Who owes it, and to whom.
    OneWay {
        /// Who owes it.
        by: Vec<ContactId>,
        /// To whom it is owed.
        to: Vec<ContactId>,
    },
}

impl LedgerParties {
    /// All contacts, each once.
    pub fn all(&self) -> impl Iterator<Item = ContactId> {
        let (first, second): (&[ContactId], &[ContactId]) = match self {
            Self::Mutual(all) => (all, &[]),
            Self::OneWay { by, to } => (by, to),
        };
        first.iter().chain(second.iter().filter(|contact| !first.contains(contact))).copied()
    }

    /// All but the organization's own contacts.
    pub fn counterparties(&self, own: &BTreeSet<ContactId>) -> impl Iterator<Item = ContactId> {
        self.all().filter(|contact| !own.contains(contact))
    }

    /// Who owes it, given the organization's own contacts. None if it binds all.
    #[must_use]
    pub fn direction(&self, own: &BTreeSet<ContactId>) -> Option<LedgerDirection> {
        let Self::OneWay { by, to } = self else { return None };
        let is_ours = |side: &[ContactId]| side.iter().any(|contact| own.contains(contact));
        Some(match (is_ours(by), is_ours(to)) {
            (true, _) => LedgerDirection::OwedByUs,
            (false, true) => LedgerDirection::OwedToUs,
            (false, false) => LedgerDirection::BetweenOthers,
        })
    }
}

/// Whether an agreement's contents are agreed and still hold.
#[must_use]
pub fn is_agreed(lifecycle: Lifecycle) -> bool {
    matches!(lifecycle, Lifecycle::Active | Lifecycle::Completed)
}

/// The data of a payment that the totals need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerPayment {
    /// The amount to be paid.
    pub money: Money,
    /// Where it is.
    pub state: MovementState,
    /// Whether its agreement is in force or completed. Any other end cancels payments that nobody claims to have sent.
    pub is_agreed: bool,
    /// Whether its sender says it was sent.
    pub is_claimed: bool,
    /// What accepted receiver-side evidence shows, in minor units.
    pub proven_minor: i64,
    /// Who pays whom, as far as both are chosen.
    pub between: Option<Between>,
}

/// The payer and the payee among the participants of an agreement, by the halves of their ids that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between {
    /// Who pays.
    pub by: u64,
    /// Who is paid.
    pub to: u64,
}

impl Between {
    fn of(by: Option<ParticipantId>, to: Option<ParticipantId>) -> Option<Self> {
        let half = |id: ParticipantId| id.uuid().as_u64_pair().1;
        Some(Self { by: half(by?), to: half(to?) })
    }
}

impl LedgerPayment {
    /// The payment of an agreement's movement. None for a draft without an amount.
    #[must_use]
    pub fn of(movement: &Movement, agreement: &Agreement) -> Option<Self> {
        Some(Self {
            money: movement.terms().money?,
            state: movement.state(),
            is_agreed: is_agreed(agreement.lifecycle()),
            is_claimed: movement.claim().is_some(),
            proven_minor: movement.receipt().map_or(0, |receipt| receipt.received_minor),
            between: Between::of(movement.terms().sender, movement.terms().receiver),
        })
    }

    /// Its contribution to each figure of the totals.
    #[must_use]
    pub fn figures(self) -> LedgerFigures {
        let (amount, proven) = (i128::from(self.money.amount_minor()), i128::from(self.proven_minor));
        let missing = (amount - proven).max(0);
        let owed = match self.state {
            MovementState::Returned => return LedgerFigures::default(),
            MovementState::Cancelled | MovementState::Reconciled => 0,
            MovementState::Draft | MovementState::Authorized | MovementState::InstructionsReady if !self.is_agreed => 0,
            MovementState::Draft
            | MovementState::Authorized
            | MovementState::InstructionsReady
            | MovementState::SenderReported
            | MovementState::ReceiptPending
            | MovementState::Processing
            | MovementState::Exception => missing,
        };
        LedgerFigures { owed, claimed: if self.is_claimed { owed } else { 0 }, proven }
    }
}

/// The sums of payments in one currency, in minor units. `i128` holds more payments than an organization can have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerFigures {
    /// Not proven to have arrived.
    pub owed: i128,
    /// The part of `owed` that senders say they sent, unproven.
    pub claimed: i128,
    /// Shown by accepted receiver-side evidence.
    pub proven: i128,
}

impl LedgerFigures {
    fn add(&mut self, other: Self) {
        self.owed += other.owed;
        self.claimed += other.claimed;
        self.proven += other.proven;
    }
}

/// What all payments of an agreement come to in one currency.
///
/// Decision: money that a participant only passes on counts once. Each figure is what payers pay beyond what they are paid
/// themselves, and at least the most that one pays another: escrow that is paid $480,000 and pays it on makes a deal of $480,000, of
/// which is owed what has not reached its last payee. What is paid back, such as a loan, does not make it smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgreementMoney {
    /// The currency's code.
    pub currency: &'static str,
    /// What is to be paid in all, in minor units. Cancelled and returned payments add nothing.
    pub amount: i128,
    /// What of it is owed, claimed and proven.
    pub figures: LedgerFigures,
    /// Whether a participant who is paid by one pays another.
    pub is_passed_on: bool,
}

/// What an agreement is worth, by currency: the investment of a SAFE, or else what its payments come to. Empty if no
/// amount is known.
#[must_use]
pub fn amounts_of<'a>(
    lifecycle: Lifecycle,
    investment: Option<(&'a str, i64)>,
    payments: &[LedgerPayment],
) -> Vec<(&'a str, i128)> {
    let sums = || AgreementMoney::of(lifecycle, payments.iter().copied());
    investment.map_or_else(
        || sums().into_iter().map(|sum| (sum.currency, sum.amount)).collect(),
        |(currency, minor)| vec![(currency, minor.into())],
    )
}

/// The place of amounts in an order: by the code of the first currency, then the largest first. None come last.
#[must_use]
pub fn place_of(amounts: &[(&str, i128)]) -> (bool, String, Reverse<i128>) {
    let (currency, minor) = amounts.first().copied().unwrap_or_default();
    (amounts.is_empty(), currency.to_owned(), Reverse(minor))
}

/// What payments come to if money that is passed on counts once.
#[derive(Debug, Default)]
struct Once {
    /// What each pays another in all, by both.
    between: BTreeMap<(u64, u64), i128>,
    /// Of payments whose parties are not known.
    others: i128,
    /// What each participant pays beyond what they are paid.
    paid: BTreeMap<u64, i128>,
}

impl Once {
    fn add(&mut self, between: Option<Between>, minor: i128) {
        let Some(Between { by, to }) = between else {
            self.others += minor;
            return;
        };
        *self.between.entry((by, to)).or_default() += minor;
        *self.paid.entry(by).or_default() += minor;
        *self.paid.entry(to).or_default() -= minor;
    }

    fn is_passed_on(&self) -> bool {
        let is_to_pay = |by: u64, paid_by: u64| self.between.keys().any(|(payer, to)| *payer == by && *to != paid_by);
        self.between.keys().any(|(by, to)| is_to_pay(*to, *by))
    }

    fn sum(&self) -> i128 {
        let paid: i128 = self.paid.values().filter(|minor| **minor > 0).sum();
        self.others + paid.max(self.between.values().copied().max().unwrap_or_default())
    }
}

impl AgreementMoney {
    /// The sums of an agreement's payments, by currency.
    #[must_use]
    pub fn of(lifecycle: Lifecycle, payments: impl IntoIterator<Item = LedgerPayment>) -> Vec<Self> {
        let mut sums: BTreeMap<&'static str, [Once; 4]> = BTreeMap::new();
        for payment in payments {
            // The record of an ended agreement's payment may lag behind.
            let state = if lifecycle.has_ended_early() { payment.state.told_at_end() } else { payment.state };
            if matches!(state, MovementState::Cancelled | MovementState::Returned) {
                continue;
            }
            let LedgerFigures { owed, claimed, proven } =
                LedgerPayment { state, is_agreed: is_agreed(lifecycle), ..payment }.figures();
            let figures = [i128::from(payment.money.amount_minor()), owed, claimed, proven];
            for (sum, minor) in sums.entry(payment.money.currency().code()).or_default().iter_mut().zip(figures) {
                sum.add(payment.between, minor);
            }
        }
        let of_currency = |(currency, sums): (&'static str, [Once; 4])| {
            let is_passed_on = sums[0].is_passed_on();
            let [amount, owed, claimed, proven] = sums.map(|sum| sum.sum());
            Self { currency, amount, figures: LedgerFigures { owed, claimed: claimed.min(owed), proven }, is_passed_on }
        };
        sums.into_iter().map(of_currency).collect()
    }
}

/// The sums of payments by currency and direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerTotals(BTreeMap<(&'static str, LedgerDirection), LedgerFigures>);

impl LedgerTotals {
    /// Adds a payment. Drafts, which nobody owes yet, and money that came back add nothing.
    pub fn add(&mut self, direction: LedgerDirection, payment: LedgerPayment) {
        let figures = payment.figures();
        if (figures.owed, figures.proven) == (0, 0) {
            return;
        }
        self.0.entry((payment.money.currency().code(), direction)).or_default().add(figures);
    }

    /// The sums, ordered by currency and direction.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, LedgerDirection, LedgerFigures)> {
        self.0.iter().map(|(&(currency, direction), &figures)| (currency, direction, figures))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::money::Currency;

    #[test]
    fn a_state_has_one_text_wherever_it_is_written() {
        for state in Lifecycle::ALL {
            assert_eq!(LedgerState::from(state).as_str(), state.as_str());
        }
        for state in MovementState::ALL {
            assert_eq!(LedgerState::from(state).as_str(), state.as_str());
        }
        for state in ObligationState::ALL {
            assert_eq!(LedgerState::from(state).as_str(), state.as_str());
        }
    }

    #[test]
    fn what_is_done_is_what_the_contract_says() {
        let done: Vec<&str> =
            LedgerState::ALL.into_iter().filter(|state| state.is_done()).map(LedgerState::as_str).collect();
        assert_eq!(done, ["completed", "reconciled", "returned", "confirmed", "cancelled", "expired"]);
    }

    #[test]
    fn only_what_is_owed_is_overdue() {
        let now = Timestamp::now();
        let past = Some(now.plus_seconds(-1));
        for state in LedgerState::ALL {
            let is_owed = [
                "draft",
                "authorized",
                "instructions_ready",
                "sender_reported",
                "receipt_pending",
                "processing",
                "exception",
                "open",
            ]
            .contains(&state.as_str());
            assert_eq!(state.is_overdue(true, past, now), is_owed, "{state}");
            assert!(!state.is_overdue(false, past, now), "{state} of a draft");
            assert!(!state.is_overdue(true, Some(now), now) && !state.is_overdue(true, None, now), "{state}");
        }
    }

    #[test]
    fn we_are_our_own_contacts() {
        let [ours, also_ours, theirs, others] = [(); 4].map(|()| ContactId::new());
        let own = BTreeSet::from([ours, also_ours]);
        for (by, to, direction, counterparties) in [
            (vec![theirs], vec![ours], LedgerDirection::OwedToUs, vec![theirs]),
            (vec![ours], vec![theirs], LedgerDirection::OwedByUs, vec![theirs]),
            (vec![theirs, ours], vec![others], LedgerDirection::OwedByUs, vec![theirs, others]),
            (vec![ours], vec![also_ours], LedgerDirection::OwedByUs, vec![]),
            (vec![theirs], vec![others, theirs], LedgerDirection::BetweenOthers, vec![theirs, others]),
            (vec![], vec![], LedgerDirection::BetweenOthers, vec![]),
        ] {
            let parties = LedgerParties::OneWay { by, to };
            assert_eq!(parties.direction(&own), Some(direction));
            assert_eq!(parties.counterparties(&own).collect::<Vec<_>>(), counterparties);
        }
        let mutual = LedgerParties::Mutual(vec![theirs, ours]);
        assert_eq!(mutual.direction(&own), None);
        assert_eq!(mutual.counterparties(&own).collect::<Vec<_>>(), [theirs]);
    }

    fn payment() -> impl Strategy<Value = (LedgerDirection, LedgerPayment)> {
        let state = prop::sample::select(MovementState::ALL.to_vec());
        let currency = prop::sample::select(vec!["USD", "EUR", "JPY"]);
        let direction = prop::sample::select(LedgerDirection::ALL.to_vec());
        let amount = prop_oneof![1..1000_i64, Just(i64::MAX)];
        let facts = (any::<bool>(), any::<bool>());
        (direction, state, currency, amount, 0..=2_u8, facts).prop_map(
            |(direction, state, currency, amount, proven, (is_claimed, is_agreed))| {
                let money = Money::new(amount, Currency::parse(currency).unwrap()).unwrap();
                let proven_minor =
                    if state.is_reconciled() { amount } else { [0, amount / 2, amount][usize::from(proven)] };
                (direction, LedgerPayment { money, state, is_agreed, is_claimed, proven_minor, between: None })
            },
        )
    }

    proptest! {
        #[test]
        fn totals_are_those_of_a_model(payments in prop::collection::vec(payment(), 0..40)) {
            let mut totals = LedgerTotals::default();
            for (direction, payment) in &payments {
                totals.add(*direction, *payment);
            }
            for currency in ["USD", "EUR", "JPY", "KWD"] {
                for direction in LedgerDirection::ALL {
                    let of = || payments.iter().filter(|(found, payment)| {
                        *found == direction && payment.money.currency().code() == currency
                    }).map(|(_, payment)| payment);
                    let amount = |payment: &LedgerPayment| i128::from(payment.money.amount_minor());
                    let is_there = |payment: &&LedgerPayment| payment.state != MovementState::Returned;
                    let is_open = |payment: &&LedgerPayment| {
                        let holds = payment.is_agreed || !payment.state.ends_with_agreement();
                        holds && !LedgerState::from(payment.state).is_done()
                    };
                    let proven: i128 = of().filter(is_there).map(|payment| i128::from(payment.proven_minor)).sum();
                    let owed = |payment: &LedgerPayment| amount(payment) - i128::from(payment.proven_minor);
                    let all_owed: i128 = of().filter(is_there).filter(is_open).map(owed).sum();
                    let is_claimed = |payment: &&LedgerPayment| payment.is_claimed;
                    let claimed: i128 = of().filter(is_there).filter(is_open).filter(is_claimed).map(owed).sum();
                    let found = totals.iter().find(|(code, way, _)| (*code, *way) == (currency, direction));
                    let found = found.map(|(_, _, figures)| figures).unwrap_or_default();
                    prop_assert_eq!(found, LedgerFigures { owed: all_owed, claimed, proven });
                    prop_assert!(found.claimed <= found.owed);
                }
            }
        }
    }

    #[test]
    fn more_than_was_owed_leaves_nothing_owed() {
        let money = Money::new(100, Currency::parse("USD").unwrap()).unwrap();
        let state = MovementState::Exception;
        let over = LedgerPayment { money, state, is_agreed: true, is_claimed: true, proven_minor: 130, between: None };
        assert_eq!(over.figures(), LedgerFigures { owed: 0, claimed: 0, proven: 130 });
    }

    #[test]
    fn an_agreements_money_is_told_by_currency_without_what_was_cancelled() {
        let payment = |amount, currency: &str, state, proven_minor| LedgerPayment {
            money: Money::new(amount, Currency::parse(currency).unwrap()).unwrap(),
            state,
            is_agreed: false,
            is_claimed: state == MovementState::SenderReported,
            proven_minor,
            between: None,
        };
        let payments = [
            payment(100, "USD", MovementState::Authorized, 0),
            payment(50, "USD", MovementState::SenderReported, 20),
            payment(30, "USD", MovementState::Reconciled, 30),
            payment(7, "USD", MovementState::Cancelled, 0),
            payment(9, "EUR", MovementState::Draft, 0),
        ];
        let told = |lifecycle| {
            let sums = AgreementMoney::of(lifecycle, payments);
            let row = |AgreementMoney { currency, amount, figures, .. }: AgreementMoney| {
                (currency, amount, figures.owed, figures.claimed, figures.proven)
            };
            assert!(sums.iter().all(|sum| !sum.is_passed_on));
            sums.into_iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(told(Lifecycle::Active), [("EUR", 9, 9, 0, 0), ("USD", 180, 130, 30, 50)]);
        assert_eq!(
            told(Lifecycle::Cancelled),
            [("USD", 80, 30, 30, 50)],
            "what nobody claims to have sent is cancelled"
        );
    }

    #[test]
    fn money_that_is_passed_on_counts_once() {
        const BUYER: u64 = 1;
        const ESCROW: u64 = 2;
        const SELLER: u64 = 3;
        const BROKER: u64 = 4;
        let payment = |amount, by, to, state: MovementState| LedgerPayment {
            money: Money::new(amount, Currency::parse("USD").unwrap()).unwrap(),
            state,
            is_agreed: true,
            is_claimed: state == MovementState::SenderReported,
            proven_minor: if state.is_reconciled() { amount } else { 0 },
            between: Some(Between { by, to }),
        };
        let told = |payments: &[LedgerPayment]| match AgreementMoney::of(Lifecycle::Active, payments.to_vec())[..] {
            [AgreementMoney { amount, figures: LedgerFigures { owed, claimed, proven }, .. }] => {
                [amount, owed, claimed, proven]
            }
            ref other => panic!("{other:?}"),
        };
        let (draft, done) = (MovementState::Draft, MovementState::Reconciled);
        let escrow = |paid_in, paid_on| {
            told(&[
                payment(480, BUYER, ESCROW, paid_in),
                payment(450, ESCROW, SELLER, paid_on),
                payment(30, ESCROW, BROKER, paid_on),
            ])
        };
        assert_eq!(escrow(draft, draft), [480, 480, 0, 0]);
        assert_eq!(escrow(MovementState::SenderReported, draft), [480, 480, 480, 0]);
        assert_eq!(escrow(done, draft), [480, 480, 0, 480], "it has not reached the seller");
        assert_eq!(escrow(done, done), [480, 0, 0, 480]);
        // A buyer adds to what a lender pays them.
        assert_eq!(told(&[payment(400, BROKER, BUYER, draft), payment(500, BUYER, SELLER, draft)])[0], 500);
        // What is paid back does not make a loan smaller, and several payers add up.
        assert_eq!(told(&[payment(400, BROKER, BUYER, draft), payment(410, BUYER, BROKER, draft)])[0], 410);
        let tranches = [(200, BROKER, BUYER), (200, BROKER, BUYER), (205, BUYER, BROKER), (205, BUYER, BROKER)];
        assert_eq!(told(&tranches.map(|(minor, by, to)| payment(minor, by, to, draft)))[0], 410);
        let side_by_side = [payment(400, BROKER, SELLER, draft), payment(100, BUYER, SELLER, draft)];
        assert_eq!(told(&side_by_side)[0], 500);
        let is_passed_on = |payments| AgreementMoney::of(Lifecycle::Active, payments)[0].is_passed_on;
        assert!(is_passed_on([payment(480, BUYER, ESCROW, done), payment(480, ESCROW, SELLER, draft)]));
        assert!(!is_passed_on(side_by_side));
        assert!(!is_passed_on([payment(400, BROKER, BUYER, done), payment(410, BUYER, BROKER, draft)]), "a loan");
    }
}
