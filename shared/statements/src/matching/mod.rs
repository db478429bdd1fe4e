//! Finds the open movements that an entry may belong to, and why. It accepts nothing.
//!
//! - Decision: a full match has the same amount and currency. Others match partially, and only with a reference: a
//!   payment may be short, or one of several. For a single entry, all movements in its currency may be offered.
//! - Decision: debits, pending entries and reversals match nothing: no money arrived, or not yet.

mod names;
mod references;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use jiff::civil::Date;

use crate::currency::Currency;
use crate::dates::days_between;
use crate::limits;
use crate::model::{Entry, ReferenceKind, Side};

use names::Name;
use references::References;

/// A movement that waits for its money. `Id` is the caller's; its order breaks ties.
#[derive(Debug, Clone)]
pub struct Open<Id> {
    /// The movement.
    pub id: Id,
    /// The expected amount in minor units.
    pub amount_minor: i64,
    /// The currency.
    pub currency: Currency,
    /// All references that may identify the payment: the movement's own and those the sender claims.
    pub references: Vec<String>,
    /// The due date.
    pub due_on: Option<Date>,
    /// Names of the payers.
    pub counterparty_names: Vec<String>,
}

/// How strong a match is, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// Only the currency is the same.
    Currency,
    /// A reference matches, but amount or currency differ.
    Partial,
    /// Only amount and currency match.
    Possible,
    /// The name or date matches too.
    Likely,
    /// A reference matches too.
    Strong,
}

/// Why an entry may belong to a movement, or what speaks against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Amount and currency are the same.
    SameAmount,
    /// The amount is less than expected.
    AmountShort {
        /// The missing amount in minor units.
        by_minor: i64,
    },
    /// The amount is more than expected.
    AmountOver {
        /// The excess in minor units.
        by_minor: i64,
    },
    /// The currency isn't the expected one.
    OtherCurrency {
        /// The entry's currency.
        found: Currency,
    },
    /// The entry has a reference of the movement.
    ReferenceFound {
        /// The movement's reference.
        reference: String,
        /// Where it was found.
        place: Place,
    },
    /// The entry's day is at most [`limits::DUE_DAYS_NEAR`] from the due date.
    DueDateNear {
        /// Days after the due date; negative before it.
        days_after: i32,
    },
    /// The counterparty has a name of the movement, or nearly the same one.
    NameSimilar {
        /// The movement's name.
        name: String,
    },
}

/// Where a reference was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// In a reference.
    Reference(ReferenceKind),
    /// In the text.
    Text,
}

/// A movement that an entry may belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match<Id> {
    /// The movement.
    pub id: Id,
    /// How strong the match is.
    pub strength: Strength,
    /// Why it matches, in the order of [`Reason`].
    pub reasons: Vec<Reason>,
}

impl<Id> Match<Id> {
    /// Same amount and currency.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.strength > Strength::Partial
    }
}

/// Open movements, indexed for comparing many entries.
#[derive(Debug)]
pub struct OpenMovements<Id> {
    movements: Vec<Movement<Id>>,
    /// Keyed by currency and amount, sorted by due date, none last.
    by_amount: HashMap<(Currency, i64), Vec<usize>>,
    references: References,
}

#[derive(Debug)]
struct Movement<Id> {
    open: Open<Id>,
    names: Vec<Name>,
}

impl<Id: Clone + Ord> OpenMovements<Id> {
    /// Indexes movements. Their order doesn't matter.
    #[must_use]
    pub fn new(open: Vec<Open<Id>>) -> Self {
        let mut movements: Vec<Movement<Id>> = Vec::with_capacity(open.len());
        for open in open {
            let names = open.counterparty_names.iter().map(|name| Name::new(name)).collect();
            movements.push(Movement { open, names });
        }
        movements.sort_by(|a, b| due(a).cmp(&due(b)).then_with(|| a.open.id.cmp(&b.open.id)));
        let mut by_amount: HashMap<(Currency, i64), Vec<usize>> = HashMap::new();
        let mut references = References::default();
        for (at, Movement { open, .. }) in movements.iter().enumerate() {
            by_amount.entry((open.currency, open.amount_minor)).or_default().push(at);
            for (number, reference) in open.references.iter().enumerate() {
                references.add(reference, at, number);
            }
        }
        Self { movements, by_amount, references }
    }

    /// Movements that may belong to the entry: strongest first, then nearest due, then by id. Compares at most
    /// [`limits::CANDIDATES_MAX`] per amount and per reference. Empty for a debit, a reversal, or an unbooked entry.
    #[must_use]
    pub fn matches(&self, entry: &Entry) -> Vec<Match<Id>> {
        if entry.side != Side::Credit || entry.is_reversal || !entry.is_booked {
            return Vec::new();
        }
        let found = self.references.find(entry);
        let on = entry.value_on.or(entry.booked_on);
        let candidates: BTreeSet<usize> = found.keys().copied().chain(self.of_amount(entry, on)).collect();
        let name = entry.counterparty.as_deref().map(Name::new);
        let mut matches: Vec<(i32, Match<Id>)> = Vec::new();
        for at in candidates {
            let Some(movement) = self.movements.get(at) else { continue };
            let reference = found.get(&at).and_then(|(number, place)| {
                let reference = movement.open.references.get(*number)?.clone();
                Some(Reason::ReferenceFound { reference, place: *place })
            });
            let days = on.zip(movement.open.due_on).map(|(on, due)| days_between(due, on));
            let distance = days.map_or(i32::MAX, i32::abs);
            matches.push((distance, movement.matched(entry, reference, days, name.as_ref())));
        }
        let key = |found: &(i32, Match<Id>)| (Reverse(found.1.strength), Reverse(found.1.reasons.len()), found.0);
        matches.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.1.id.cmp(&b.1.id)));
        matches.into_iter().map(|(_, found)| found).collect()
    }

    /// The currency's other movements, nearest due first: the entry may be partial. Empty if no money arrived.
    #[must_use]
    pub fn others_of_currency(&self, entry: &Entry) -> Vec<Match<Id>> {
        if entry.side != Side::Credit || entry.is_reversal || !entry.is_booked {
            return Vec::new();
        }
        let matched: BTreeSet<Id> = self.matches(entry).into_iter().map(|found| found.id).collect();
        let on = entry.value_on.or(entry.booked_on);
        let name = entry.counterparty.as_deref().map(Name::new);
        let is_other =
            |other: &&Movement<Id>| other.open.currency == entry.currency && !matched.contains(&other.open.id);
        let mut others: Vec<(i32, Match<Id>)> = self
            .movements
            .iter()
            .filter(is_other)
            .map(|other| {
                let days = on.zip(other.open.due_on).map(|(on, due)| days_between(due, on));
                let found = other.matched(entry, None, days, name.as_ref());
                (days.map_or(i32::MAX, i32::abs), Match { strength: Strength::Currency, ..found })
            })
            .collect();
        let key = |found: &(i32, Match<Id>)| (Reverse(found.1.reasons.len()), found.0);
        others.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.1.id.cmp(&b.1.id)));
        others.into_iter().map(|(_, found)| found).collect()
    }

    /// The movements of the entry's amount that are due nearest to a day.
    fn of_amount(&self, entry: &Entry, on: Option<Date>) -> impl Iterator<Item = usize> {
        let all = self.by_amount.get(&(entry.currency, entry.amount_minor)).map_or(&[][..], Vec::as_slice);
        let is_before = |at: &usize| {
            on.is_some_and(|on| self.movements.get(*at).is_some_and(|movement| due(movement) < (false, Some(on))))
        };
        let middle = all.partition_point(is_before);
        let start =
            middle.saturating_sub(limits::CANDIDATES_MAX / 2).min(all.len().saturating_sub(limits::CANDIDATES_MAX));
        all.iter().skip(start).take(limits::CANDIDATES_MAX).copied()
    }
}

fn due<Id>(movement: &Movement<Id>) -> (bool, Option<Date>) {
    (movement.open.due_on.is_none(), movement.open.due_on)
}

impl<Id: Clone> Movement<Id> {
    fn matched(&self, entry: &Entry, reference: Option<Reason>, days: Option<i32>, name: Option<&Name>) -> Match<Id> {
        let open = &self.open;
        let amount = if entry.currency != open.currency {
            Reason::OtherCurrency { found: entry.currency }
        } else if entry.amount_minor < open.amount_minor {
            Reason::AmountShort { by_minor: open.amount_minor.saturating_sub(entry.amount_minor) }
        } else if entry.amount_minor > open.amount_minor {
            Reason::AmountOver { by_minor: entry.amount_minor.saturating_sub(open.amount_minor) }
        } else {
            Reason::SameAmount
        };
        let near = days.filter(|days| days.abs() <= limits::DUE_DAYS_NEAR);
        let similar = name.and_then(|name| self.names.iter().position(|other| other.is_similar(name)));
        let similar = similar.and_then(|at| open.counterparty_names.get(at)).cloned();
        let strength = match (&amount, &reference) {
            (Reason::SameAmount, Some(_)) => Strength::Strong,
            (Reason::SameAmount, None) if near.is_some() || similar.is_some() => Strength::Likely,
            (Reason::SameAmount, None) => Strength::Possible,
            _ => Strength::Partial,
        };
        let mut reasons = vec![amount];
        reasons.extend(reference);
        reasons.extend(near.map(|days_after| Reason::DueDateNear { days_after }));
        reasons.extend(similar.map(|name| Reason::NameSimilar { name }));
        Match { id: open.id.clone(), strength, reasons }
    }
}
