//! Entries and the open movements that they may belong to.

use jiff::civil::{Date, date};
use statements::{
    Entry, Match, Open, OpenMovements, Place, Position, Reason, Reference, ReferenceKind, Side, Strength, limits,
};

use super::currency;

fn open(id: u32) -> Open<u32> {
    Open {
        id,
        amount_minor: 75_000_000,
        currency: currency("EUR"),
        references: vec![format!("CLOSING-{id}")],
        due_on: Some(date(2026, 1, 30)),
        counterparty_names: vec!["Northwind Ventures LLC".to_owned()],
    }
}

fn entry() -> Entry {
    Entry {
        position: Position::Line(1),
        side: Side::Credit,
        is_reversal: false,
        is_booked: true,
        amount_minor: 75_000_000,
        currency: currency("EUR"),
        booked_on: None,
        value_on: None,
        references: Vec::new(),
        counterparty: None,
        text: None,
    }
}

fn with_reference(value: &str) -> Entry {
    Entry { references: vec![Reference { kind: ReferenceKind::EndToEndId, value: value.to_owned() }], ..entry() }
}

fn matches(open: Vec<Open<u32>>, entry: &Entry) -> Vec<Match<u32>> {
    OpenMovements::new(open).matches(entry)
}

fn ids(matches: &[Match<u32>]) -> Vec<u32> {
    matches.iter().map(|found| found.id).collect()
}

#[test]
fn a_match_says_why() {
    let entry = Entry {
        counterparty: Some("NORTHWIND VENTURES".to_owned()),
        value_on: Some(date(2026, 2, 2)),
        booked_on: Some(date(2026, 3, 1)),
        ..with_reference("closing 7")
    };
    let found = matches(vec![open(7)], &entry);
    let expected = Match {
        id: 7,
        strength: Strength::Strong,
        reasons: vec![
            Reason::SameAmount,
            Reason::ReferenceFound {
                reference: "CLOSING-7".to_owned(),
                place: Place::Reference(ReferenceKind::EndToEndId),
            },
            Reason::DueDateNear { days_after: 3 },
            Reason::NameSimilar { name: "Northwind Ventures LLC".to_owned() },
        ],
    };
    assert_eq!(found, [expected]);
}

#[test]
fn the_strongest_comes_first_and_then_the_nearest_and_the_first_id() {
    let mut late = open(1);
    late.due_on = Some(date(2026, 2, 4));
    let mut unknown = open(2);
    (unknown.due_on, unknown.counterparty_names) = (None, Vec::new());
    let movements = vec![late, unknown, open(5), open(4), open(3)];
    let entry = Entry { text: Some("closing-3".to_owned()), value_on: Some(date(2026, 1, 30)), ..entry() };
    let found = matches(movements.clone(), &entry);
    assert_eq!(ids(&found), [3, 4, 5, 1, 2]);
    assert_eq!(found[0].reasons[1], Reason::ReferenceFound { reference: "CLOSING-3".to_owned(), place: Place::Text });
    let strengths: Vec<Strength> = found.iter().map(|found| found.strength).collect();
    assert_eq!(strengths, [Strength::Strong, Strength::Likely, Strength::Likely, Strength::Likely, Strength::Possible]);
    assert_eq!(matches(movements.into_iter().rev().collect(), &entry), found);
}

#[test]
fn debits_reversals_and_pending_entries_match_nothing() {
    let entry = with_reference("CLOSING-7");
    assert_eq!(matches(vec![open(7)], &entry).len(), 1);
    for other in [
        Entry { side: Side::Debit, ..entry.clone() },
        Entry { is_booked: false, ..entry.clone() },
        Entry { is_reversal: true, ..entry },
    ] {
        assert!(matches(vec![open(7)], &other).is_empty());
    }
}

#[test]
fn other_amounts_and_currencies_are_partial_and_need_a_reference() {
    let entry = with_reference("CLOSING-7");
    for (changed, reason) in [
        (Entry { amount_minor: 74_999_999, ..entry.clone() }, Reason::AmountShort { by_minor: 1 }),
        (Entry { amount_minor: 75_000_001, ..entry.clone() }, Reason::AmountOver { by_minor: 1 }),
        (Entry { currency: currency("USD"), ..entry }, Reason::OtherCurrency { found: currency("USD") }),
    ] {
        let found = matches(vec![open(7), open(8)], &changed);
        assert_eq!((ids(&found), found[0].strength, found[0].is_full()), (vec![7], Strength::Partial, false));
        assert_eq!(found[0].reasons[0], reason);
        assert!(matches(vec![open(7)], &Entry { references: Vec::new(), ..changed }).is_empty());
    }
}

#[test]
fn dates_are_near_within_a_week() {
    let is_near = |on: Date| {
        let entry = Entry { booked_on: Some(on), ..entry() };
        matches(vec![open(7)], &entry)[0].strength == Strength::Likely
    };
    assert!(is_near(date(2026, 1, 23)) && is_near(date(2026, 2, 6)));
    assert!(!is_near(date(2026, 1, 22)) && !is_near(date(2026, 2, 7)));
}

#[test]
fn of_many_movements_of_one_amount_the_nearest_are_looked_at() {
    let day = |at: u32| date(2026, 1, 1).saturating_add(jiff::Span::new().days(i64::from(at)));
    let movements =
        |count: u32| -> Vec<Open<u32>> { (0..count).map(|at| Open { due_on: Some(day(at)), ..open(at) }).collect() };
    let entry = Entry { value_on: Some(day(300)), ..with_reference("CLOSING-900") };
    let found = matches(movements(1000), &entry);
    assert_eq!(found.len(), limits::CANDIDATES_MAX + 1);
    assert_eq!(ids(&found)[..4], [900, 300, 299, 301]);
    for on in [day(0), day(999)] {
        let found = matches(movements(1000), &Entry { value_on: Some(on), ..entry.clone() });
        assert!(
            found.len() >= limits::CANDIDATES_MAX
                && found.iter().any(|found| found.id == if on == day(0) { 0 } else { 999 })
        );
    }
    let same: Vec<Open<u32>> =
        (0..1000).map(|id| Open { references: vec!["DEAL-ONE".to_owned()], amount_minor: 1, ..open(id) }).collect();
    assert_eq!(matches(same, &with_reference("DEAL-ONE")).len(), limits::CANDIDATES_MAX);
}
