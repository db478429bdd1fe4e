//! Pages of large records: list rows stay short.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Faults, Org, drafts};

use crate::unknown_id;

const WORKSPACES: &str = "/api/v1/workspaces";
const PEOPLE: usize = 500;

#[tokio::test]
async fn a_page_of_crowded_workspaces_is_short_and_reads_no_people() {
    const WORKSPACES_MADE: usize = 200;
    /// A row's bytes beside its name of 200 characters.
    const ROW_BYTES_MAX: usize = 1_500;
    let org = Org::new().await;
    let people: Vec<String> = (0..PEOPLE).map(|_| unknown_id()).collect();
    let name = "\u{1F58B}".repeat(200);
    for _ in 0..WORKSPACES_MADE / 20 {
        join_all((0..20).map(|_| drafts::crowded(&org, &name, people.iter().map(String::as_str)))).await;
    }
    let faults = Faults::before(&org.stack().table().endpoint);
    let stack = org.stack().through(&faults);
    let answer = org.at(&stack).get(WORKSPACES).query("limit", WORKSPACES_MADE).send().await;
    let page = answer.ok(200);
    let rows = page["data"].as_array().expect("rows");
    assert_eq!(rows.len(), WORKSPACES_MADE);
    for row in rows {
        assert_eq!((&row["people"], &row["people_count"]), (&Value::Null, &json!(PEOPLE)), "{row}");
    }
    assert!(answer.bytes.len() < WORKSPACES_MADE * ROW_BYTES_MAX, "{} bytes", answer.bytes.len());
    // The workspaces, a hundred keys at a time; no people.
    assert_eq!(faults.take_traffic().calls_of("BatchGetItem"), 2);

    // Listing reads rows without people: if nothing matches, only those.
    let none = org.at(&stack).get(WORKSPACES).query("search", "zzz").send().await.ok(200);
    assert_eq!(none["pagination"]["total"], 0);
    let read_units = faults.take_traffic().read_units;
    let name_bytes = name.len();
    let rows_units = (WORKSPACES_MADE * (name_bytes + 160)).div_ceil(4096);
    assert!(read_units <= 1.0 + f64::from(u32::try_from(rows_units).expect("few")), "{read_units} of {rows_units}");
}
