//! Which statement entries may belong to which payments, and why, in words.

use std::collections::BTreeSet;

use pages::statement_file::{Numbered, entry_of, is_arrival, numbered};
use shared::domain::bank_account::AccountDigest;
use shared::domain::ids::{MovementId, StatementId};
use shared::domain::money::{digits_of, in_app};
use shared::domain::movement::Movement;
use shared::domain::movement::evidence::StatementEntry;
use shared::domain::movement::evidence_account::AccountStanding;
use shared::limits;
use shared::service::statements::Awaited;
use shared::wire::page::{Page, PageRequest};
use statements::{
    Currency, Entry, Match, Open, OpenMovements, Place, Reason, ReferenceKind, Side, Statement as Read, Strength,
};

use crate::statement::accounts::Accounts;

pub(super) struct Found {
    /// The entries that fit payments, strongest first, or the requested one.
    pub fits: Page<Fit>,
    pub others: Page<Other>,
    pub counts: Counts,
    pub warnings: Vec<Warning>,
    pub more_warnings: usize,
    pub unknown_accounts: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub fits: PageRequest,
    pub others: PageRequest,
    /// Only this entry, with all payments it can be filed for.
    pub only: Option<u32>,
}

pub(super) struct Other {
    pub number: u32,
    pub read: Entry,
    pub is_on_another_account: bool,
}

pub(super) struct Offer {
    pub found: Match<MovementId>,
    pub account: AccountStanding,
}

pub(super) struct Fit {
    pub read: Entry,
    pub entry: StatementEntry,
    pub offers: Vec<Offer>,
    pub more: usize,
}

/// The number of entries per kind. Each entry has one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub filed: u64,
    pub fit: u64,
    pub fit_nothing: u64,
    /// Outgoing.
    pub debits: u64,
    pub reversals: u64,
    pub pending: u64,
}

pub(super) struct Warning {
    pub number: u32,
    pub read: Entry,
    pub reference: String,
    pub movement: MovementId,
}

/// A payment's open part, for comparing entries. None if nothing is open.
pub(super) fn open(Awaited { movement, payer }: &Awaited) -> Option<Open<MovementId>> {
    let terms = movement.terms();
    let money = terms.money?;
    let claimed = movement.claim().into_iter().flat_map(|claim| &claim.references);
    let references = terms.reference.iter().map(|reference| reference.as_str().to_owned());
    Some(Open {
        id: movement.id(),
        amount_minor: still_to_arrive(movement).filter(|minor| *minor > 0)?,
        currency: Currency::parse(money.currency().code())?,
        references: references.chain(claimed.map(|reference| reference.value().to_owned())).collect(),
        due_on: terms.due_on.and_then(|day| day.to_string().parse().ok()),
        counterparty_names: payer.iter().map(|name| name.as_str().to_owned()).collect(),
    })
}

/// Less accepted and undecided statement entries. Other undecided evidence may be about the entry's own arrival.
fn still_to_arrive(movement: &Movement) -> Option<i64> {
    let due = movement.terms().money?;
    let counted = movement.receipts().values().filter(|receipt| {
        let counts = receipt.is_accepted || receipt.source.is_entry();
        counts && receipt.money.currency() == due.currency()
    });
    counted.map(|receipt| receipt.money.amount_minor()).try_fold(due.amount_minor(), i64::checked_sub)
}

struct Comparison<'a> {
    open: OpenMovements<MovementId>,
    accounts: &'a Accounts,
    digests: Vec<Option<AccountDigest>>,
}

impl Comparison<'_> {
    fn matches(&self, one: Numbered<'_>) -> Vec<Offer> {
        self.offers(one, self.open.matches(one.entry))
    }

    /// First the payments that the entry fits, then those with its currency, last those instructed to another account.
    fn all(&self, one: Numbered<'_>) -> Vec<Offer> {
        let mut offers = self.matches(one);
        offers.extend(self.offers(one, self.open.others_of_currency(one.entry)));
        offers.sort_by_key(Offer::is_of_another_account);
        offers
    }

    fn offers(&self, one: Numbered<'_>, matches: Vec<Match<MovementId>>) -> Vec<Offer> {
        let digest = self.digests.get(one.statement).and_then(Option::as_ref);
        let offer = |found: Match<MovementId>| Offer { account: self.accounts.standing(digest, found.id), found };
        matches.into_iter().map(offer).collect()
    }
}

impl Offer {
    /// Whether the entry's account differs from the instructed one, so that it alone is no match.
    pub fn is_of_another_account(&self) -> bool {
        self.account == AccountStanding::Another
    }
}

/// A page of the entries that fit; or one entry, with more payments: those of its currency, for short, combined or
/// unreferenced payments, and those instructed to another account.
pub(super) fn find(
    read: &[Read],
    open: Vec<Open<MovementId>>,
    accounts: &Accounts,
    statement: StatementId,
    filed: &BTreeSet<u32>,
    wanted: Wanted,
) -> Found {
    let (all, digests) = (numbered(read), accounts.digests(read));
    let unknown_accounts = accounts.unknown(read, &digests);
    let compared = Comparison { open: OpenMovements::new(open), accounts, digests };
    let mut counts = Counts::default();
    let (mut fits, mut others, mut warned) = (Vec::new(), Vec::new(), Vec::new());
    let mut alone = None;
    for one in &all {
        if !is_arrival(one.entry) {
            match one.entry {
                entry if entry.is_reversal => counts.reversals += 1,
                entry if entry.side == Side::Debit => counts.debits += 1,
                _ => counts.pending += 1,
            }
            warned.extend(warning(&compared.open, *one));
        } else if filed.contains(&one.number) {
            counts.filed += 1;
        } else {
            if wanted.only == Some(one.number) {
                alone = Some(*one);
            }
            let matches = compared.matches(*one);
            match matches.iter().find(|offer| !offer.is_of_another_account()) {
                Some(best) => fits.push((std::cmp::Reverse(best.found.strength), one.number, *one)),
                None => others.push((*one, !matches.is_empty())),
            }
        }
    }
    counts.fit = fits.len() as u64;
    counts.fit_nothing = others.len() as u64;
    fits.sort_by_key(|(strength, number, _)| (*strength, *number));
    let (shown, most): (Vec<Numbered<'_>>, usize) = match wanted.only {
        Some(_) => (alone.into_iter().collect(), limits::STATEMENT_CANDIDATES_OF_ONE_SHOWN),
        None => (fits.into_iter().map(|(_, _, one)| one).collect(), limits::STATEMENT_CANDIDATES_SHOWN),
    };
    let fits = Page::slice(shown, wanted.fits).map(|one| {
        let mut offers = if wanted.only.is_some() { compared.all(one) } else { compared.matches(one) };
        if wanted.only.is_none() {
            offers.retain(|offer| !offer.is_of_another_account());
        }
        let more = offers.len().saturating_sub(most);
        offers.truncate(most);
        Fit { read: one.entry.clone(), entry: entry_of(statement, &all, one), offers, more }
    });
    let more_warnings = warned.len().saturating_sub(limits::STATEMENT_WARNINGS_SHOWN);
    warned.truncate(limits::STATEMENT_WARNINGS_SHOWN);
    let others = Page::slice(others, wanted.others).map(|(one, is_on_another_account)| Other {
        number: one.number,
        read: one.entry.clone(),
        is_on_another_account,
    });
    Found { fits, others, counts, warnings: warned, more_warnings, unknown_accounts }
}

fn warning(open: &OpenMovements<MovementId>, one: Numbered<'_>) -> Option<Warning> {
    let as_arrival = Entry { side: Side::Credit, is_reversal: false, is_booked: true, ..one.entry.clone() };
    let found = open.matches(&as_arrival).into_iter().find_map(|found| {
        let reference = found.reasons.iter().find_map(|reason| match reason {
            Reason::ReferenceFound { reference, .. } => Some(reference.clone()),
            _ => None,
        });
        Some((found.id, reference?))
    });
    let (movement, reference) = found?;
    Some(Warning { number: one.number, read: one.entry.clone(), reference, movement })
}

pub(super) fn strength(offer: &Offer) -> (&'static str, &'static str) {
    match offer.found.strength {
        _ if offer.is_of_another_account() => ("Another account", "amber"),
        Strength::Strong => ("Strong match", "blue"),
        Strength::Likely => ("Likely match", "blue"),
        Strength::Possible => ("Possible match", "quiet"),
        Strength::Partial => ("Reference fits, amount differs", "amber"),
        Strength::Currency => ("Possible, amount differs", "quiet"),
    }
}

pub(super) fn reasons(Offer { found, account }: &Offer, code: &str) -> (Vec<String>, Vec<String>) {
    let (mut why, mut differs) = (Vec::new(), Vec::new());
    match account {
        AccountStanding::Instructed => why.push("On the account that the instructions name".to_owned()),
        AccountStanding::Own => why.push("On an own account".to_owned()),
        AccountStanding::Another => differs.push("Not on the account that the instructions name".to_owned()),
        AccountStanding::Unclear => {
            differs.push(
                "The file doesn’t say clearly whether it is on the account that the instructions name".to_owned(),
            );
        }
        AccountStanding::Unknown => differs.push("There are no instructions to compare its account with".to_owned()),
    }
    let (mut has_reference, mut is_near) = (false, false);
    for reason in &found.reasons {
        match reason {
            Reason::SameAmount => why.push("Same amount and currency".to_owned()),
            Reason::AmountShort { by_minor } => differs.push(format!("{} less than is due", in_app(*by_minor, code))),
            Reason::AmountOver { by_minor } => differs.push(format!("{} more than is due", in_app(*by_minor, code))),
            Reason::OtherCurrency { found } => differs.push(format!("In {found}, not in {code}")),
            Reason::ReferenceFound { reference, place } => {
                has_reference = true;
                why.push(format!("Reference “{reference}” is in {}", place_of(*place)));
            }
            Reason::DueDateNear { days_after } => {
                is_near = true;
                why.push(days(*days_after));
            }
            Reason::NameSimilar { name } => why.push(format!("The payer’s name fits “{name}”")),
        }
    }
    if !has_reference {
        differs.push("No reference of the payment is in the entry".to_owned());
    }
    if !is_near {
        differs.push("Not within a week of the due date".to_owned());
    }
    (why, differs)
}

fn days(after: i32) -> String {
    let count = after.unsigned_abs();
    let days = if count == 1 { "1 day".to_owned() } else { format!("{count} days") };
    match after {
        0 => "On the due date".to_owned(),
        1.. => format!("{days} after the due date"),
        _ => format!("{days} before the due date"),
    }
}

fn place_of(place: Place) -> &'static str {
    match place {
        Place::Text => "the text",
        Place::Reference(kind) => match kind {
            ReferenceKind::EndToEndId | ReferenceKind::CustomerReference => "the payer’s reference",
            ReferenceKind::Uetr => "the UETR",
            ReferenceKind::CheckNumber => "the check number",
            ReferenceKind::CreditorReference => "the payee’s reference",
            ReferenceKind::AccountServicerReference
            | ReferenceKind::BankReference
            | ReferenceKind::TransactionId
            | ReferenceKind::ClearingSystemReference
            | ReferenceKind::EntryReference => "the bank’s reference",
            _ => "a reference",
        },
    }
}

pub(super) fn amount(entry: &Entry) -> String {
    let code = entry.currency.code();
    if digits_of(code) == entry.currency.decimals() {
        in_app(entry.amount_minor, code)
    } else {
        entry.currency.written(entry.amount_minor.into())
    }
}

#[cfg(test)]
mod tests {
    use shared::crypto::keyring::Keyring;
    use shared::domain::bank_account::{AccountKeys, BankAccount};
    use shared::domain::ids::OrgId;

    use super::*;
    use pages::statement_fixtures::{Lines, statement};

    const REVERSAL: &str = "<RvslInd>true</RvslInd>";

    fn payment(amount_minor: i64) -> Open<MovementId> {
        Open {
            id: MovementId::new(),
            amount_minor,
            currency: Currency::parse("USD").expect("a currency"),
            references: vec!["INV-117".to_owned()],
            due_on: "2026-03-20".parse().ok(),
            counterparty_names: Vec::new(),
        }
    }

    fn found(lines: &[Lines<'_>], open: Vec<Open<MovementId>>, filed: &[u32], only: Option<u32>) -> Found {
        let filed = filed.iter().copied().collect();
        let page = PageRequest::new(limits::STATEMENT_ENTRIES_SHOWN, 0);
        let wanted = Wanted { fits: page, others: page, only };
        find(&statement(lines), open, &accounts(&[]), StatementId::new(), &filed, wanted)
    }

    fn accounts(instructed: &[(MovementId, &str)]) -> Accounts {
        let keys = AccountKeys::new(&Keyring::new("one").expect("a keyring"), OrgId::new());
        let digest = |number: &str| keys.digest(&BankAccount::new(number, None).expect("an account"));
        let instructed = instructed.iter().map(|(id, number)| (*id, vec![digest(number)])).collect();
        Accounts::new(keys, instructed, Vec::new())
    }

    #[test]
    fn an_entry_of_another_account_fits_no_payment_and_can_be_chosen_alone() {
        let (own, other) = (payment(10_000), payment(10_000));
        let lines = [("100.00", "CRDT", "", "INV-117")];
        let found = |instructed: &[(MovementId, &str)], only| {
            let page = PageRequest::new(limits::STATEMENT_ENTRIES_SHOWN, 0);
            let wanted = Wanted { fits: page, others: page, only };
            let open = vec![own.clone(), other.clone()];
            find(&statement(&lines), open, &accounts(instructed), StatementId::new(), &BTreeSet::new(), wanted)
        };
        let own_and_other = [(own.id, "0532013000"), (other.id, "GB33BUKB20201555555555")];
        let [fit] = &found(&own_and_other, None).fits.data[..] else { panic!("one entry") };
        let offered: Vec<_> = fit.offers.iter().map(|offer| (offer.found.id, offer.account)).collect();
        assert_eq!(offered, [(own.id, AccountStanding::Instructed)]);
        let elsewhere = own_and_other.map(|(id, _)| (id, "GB33BUKB20201555555555"));
        let all = found(&elsewhere, None);
        assert_eq!((all.counts.fit, all.counts.fit_nothing), (0, 1));
        assert!(all.others.data[0].is_on_another_account);
        let [fit] = &found(&own_and_other, Some(1)).fits.data[..] else { panic!("one entry") };
        let badges: Vec<_> = fit.offers.iter().map(strength).collect();
        assert_eq!(badges, [("Strong match", "blue"), ("Another account", "amber")], "the other comes last");
        let (_, differs) = reasons(&fit.offers[1], "USD");
        assert_eq!(differs, ["Not on the account that the instructions name"]);
    }

    #[test]
    fn what_went_out_or_came_back_is_offered_as_no_arrival_but_told() {
        let lines = [
            ("100.00", "DBIT", "", "INV-117"),
            ("100.00", "DBIT", REVERSAL, "INV-117"),
            ("100.00", "CRDT", REVERSAL, "INV-117"),
            ("7.00", "CRDT", "", "INV-117"),
            ("100.00", "CRDT", "", "INV-117"),
        ];
        let found = found(&lines, vec![payment(10_000)], &[], None);
        assert_eq!(found.counts, Counts { fit: 2, debits: 1, reversals: 2, ..Counts::default() });
        let numbers: Vec<u32> = found.fits.data.iter().map(|fit| fit.entry.number).collect();
        assert_eq!(numbers, [5, 4], "the strongest first");
        let warned: Vec<u32> = found.warnings.iter().map(|warning| warning.number).collect();
        assert_eq!(warned, [1, 2, 3]);
    }

    #[test]
    fn what_is_filed_is_not_offered_again_and_of_many_payments_some_are() {
        let lines = [("100.00", "CRDT", "", "INV-117"); 2];
        let open: Vec<_> = std::iter::repeat_with(|| payment(10_000)).take(5).collect();
        let all = found(&lines, open.clone(), &[1], Some(2));
        assert_eq!((all.fits.data[0].offers.len(), all.fits.data[0].more), (5, 0), "one alone has all of them");
        let found = found(&lines, open, &[1], None);
        assert_eq!(found.counts, Counts { filed: 1, fit: 1, ..Counts::default() });
        let [fit] = &found.fits.data[..] else { panic!("one entry") };
        assert_eq!((fit.entry.number, fit.offers.len(), fit.more), (2, 3, 2));
    }

    #[test]
    fn what_fits_nothing_is_listed_and_alone_offers_what_is_open_in_its_currency() {
        let lines = [
            ("93.00", "CRDT", "", "thanks"),
            ("100.00", "CRDT", "", "INV-117"),
            ("93.00", "DBIT", "", "thanks"),
            ("12.00", "CRDT", "", "Interest"),
        ];
        let euros = Open { currency: Currency::parse("EUR").expect("a currency"), ..payment(10_000) };
        let [first, second] = [payment(10_000), Open { due_on: "2026-06-01".parse().ok(), ..payment(20_000) }];
        let (near, far) = (first.id, second.id);
        let open = vec![second, euros, first];
        let all = found(&lines, open.clone(), &[4], None);
        assert_eq!(all.counts, Counts { fit: 1, fit_nothing: 1, debits: 1, filed: 1, ..Counts::default() });
        let others: Vec<u32> = all.others.data.iter().map(|other| other.number).collect();
        assert_eq!((others, all.fits.data[0].entry.number), (vec![1], 2));
        let alone = found(&lines, open.clone(), &[4], Some(1));
        assert_eq!(alone.counts, all.counts);
        let [fit] = &alone.fits.data[..] else { panic!("one entry") };
        let offered: Vec<_> = fit.offers.iter().map(|offer| (offer.found.id, offer.found.strength)).collect();
        assert_eq!(offered, [(near, Strength::Currency), (far, Strength::Currency)], "those due nearest first");
        assert_eq!(reasons(&fit.offers[0], "USD").1[1], "$7.00 USD less than is due");
        // A fitting entry is also offered for other payments; non-arrivals and filed entries for none.
        let fitting = found(&lines, open.clone(), &[4], Some(2));
        let ids: Vec<MovementId> = fitting.fits.data[0].offers.iter().map(|offer| offer.found.id).collect();
        assert_eq!(ids[0], near);
        assert!(ids.contains(&far));
        for none in [3, 4, 5] {
            assert!(found(&lines, open.clone(), &[4], Some(none)).fits.data.is_empty(), "{none}");
        }
    }

    #[test]
    fn reasons_say_why_and_what_differs() {
        let found = found(&[("7.00", "CRDT", "", "INV-117")], vec![payment(10_000)], &[], None);
        let (why, differs) = reasons(&found.fits.data[0].offers[0], "USD");
        assert_eq!(why, ["Reference “INV-117” is in the text", "2 days before the due date"]);
        assert_eq!(differs, ["There are no instructions to compare its account with", "$93.00 USD less than is due"]);
        assert_eq!((days(0), days(-1)), ("On the due date".to_owned(), "1 day before the due date".to_owned()));
    }
}
