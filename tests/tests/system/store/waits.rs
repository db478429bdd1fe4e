//! How often lists wait for the table: round trips that are under way together are one wait.

use std::collections::BTreeMap;

use tests::{Fixture, log};

/// Waits of lists whose rows are in memory, with what they wait for: at most three besides the token and the audit row.
/// A row of a contact says all that its list shows; those of other lists don't.
const WAITS: [(&str, u64, &str); 9] = [
    ("list_agreements", 5, "token, rows, agreements, their contacts and claims, audit row"),
    ("list_contacts", 3, "token, rows, audit row"),
    ("list_funding_items", 4, "token, rows, items, audit row"),
    ("list_ledger", 5, "token, rows of all three lists, their records, the contacts of those, audit row"),
    ("list_movements", 5, "token, rows, movements, their agreements, audit row"),
    ("list_obligations", 5, "token, rows, obligations and their agreements, the contacts of those, audit row"),
    ("list_proposals", 4, "token, rows, proposals, audit row"),
    ("list_trusts", 5, "token, rows, trusts, rows of their items, audit row"),
    ("list_workspaces", 4, "token, rows, workspaces, audit row"),
];

#[tokio::test]
async fn lists_in_memory_wait_for_the_table_as_often_as_they_must() {
    let fixture = Fixture::new().await;
    let mut found = BTreeMap::new();
    for list in fixture.lists() {
        let mut waits = u64::MAX;
        // The first one passes over the rows, and an hour's first call of a token records its use.
        for _ in 0..3 {
            let answer = fixture.call(list).send().await;
            let page = answer.ok(200);
            assert!(page["pagination"]["total"].as_u64() > Some(0), "{}: {answer}", list.id);
            let line = log::line(fixture.org.stack().log_file(), &answer.request_id()).await;
            waits = waits.min(line["waits"].as_u64().unwrap_or_else(|| panic!("no waits: {line}")));
        }
        found.insert(list.id.as_str(), waits);
    }
    let expected = WAITS.iter().map(|(list, waits, what_for)| {
        assert_eq!(what_for.split(", ").count() as u64, *waits, "the waits of {list} are told");
        (*list, *waits)
    });
    assert_eq!(found, expected.collect::<BTreeMap<_, _>>());
}
