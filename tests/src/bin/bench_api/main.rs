//! Measures API calls and lists of growing length: `make bench`; `FULL=1 make bench` adds 100,000 contacts, and
//! `CONTACTS=1000000` measures this many only. Of lists whose rows no process keeps in memory, first ones are all that is
//! measured: each of them passes over all rows.
//!
//! Times are reported, never judged, since machines are noisy. A wrong status, total or page ends the bench.
#![allow(clippy::expect_used, clippy::panic, reason = "a wrong answer ends the bench there and then")]

mod measure;
mod postgresql;
mod report;
mod seed;

use std::iter;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use mimalloc::MiMalloc;
use serde_json::{Value, json};
use shared::domain::ids::WorkspaceId;
use shared::limits;
use shared::store::keys::Rows;
use tests::client::Answer;
use tests::figures::resident_mib;
use tests::wait::eventually;
use tests::{Needs, Org, Stack, spec};

use measure::{ServiceLog, measure, measure_first};
use report::{EightRow, FROM_A_FILE, ListRow, OVER_ALL_ROWS, OperationRow, Report, Seeding};
use seed::Contacts;

/// That of the local stack, which is measured here.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";

const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench/api.json");

const SHORT_LIST: usize = 100;
/// Instances whose first list is measured.
const FIRST_LISTS: usize = 7;

const CONNECTIONS: usize = 8;
const TOGETHER: u16 = 2000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let told = std::env::var("CONTACTS").ok().map(|count| vec![count.parse().expect("CONTACTS is a number")]);
    let sizes: &[usize] = if tests::is_full() { &[100, 10_000, 100_000] } else { &[100, 10_000] };
    let sizes = told.unwrap_or_else(|| sizes.to_vec());

    let stack = Stack::with(Needs::MEASURED);
    let mut report = Report::default();
    eprintln!("Measuring the operations");
    let mut operations = operations(&stack).await;
    let mut lists = Vec::new();
    for size in sizes {
        eprintln!("Seeding {size} contacts");
        let org = Org::on(Arc::clone(&stack)).await;
        let contacts = Contacts::seed(&org, size).await;
        report.seedings.push(Seeding { contacts: size, seconds: contacts.seconds });
        if are_kept(&org, size).await {
            eprintln!("Measuring a ledger of {size} rows");
            operations.extend(ledger_of(&stack, size).await);
            // A list reads what was written shortly before once more: most lists are of records that rest.
            tokio::time::sleep(limits::LOG_WINDOW + Duration::from_secs(1)).await;
            eprintln!("Measuring lists of {size} contacts");
            let ours = lists_of(&org, &contacts).await;
            let calls_per_s = first_pages_of_eight(&org, size).await;
            let postgresql = postgresql::measure(size);
            report.of_eight.push(EightRow {
                contacts: size,
                calls_per_s,
                postgresql: postgresql.as_ref().map(|figures| figures.calls_per_s_of_eight),
            });
            lists.extend(ours.into_iter().map(|row| row.beside(postgresql.as_ref())));
        } else {
            eprintln!("The rows of {size} contacts are not kept: only first lists are measured");
        }
        if size > limits::FIRST_ROWS_MAX {
            eprintln!("Measuring first lists of {size} contacts");
            report.lists.extend(first_lists_of(&org, &contacts).await);
        }
    }
    report.resident_mib = resident_mib();

    let log = ServiceLog::read(stack.log_file(), lists.iter().map(|list| &list.calls).next_back()).await;
    report.operations.extend(operations.into_iter().map(|row| row.with_figures(&log)));
    report.lists.extend(lists.into_iter().map(|row| row.with_figures(&log)));
    report.not_measured = spec::operations(&spec::description(&stack.base_url).await)
        .into_iter()
        .map(|operation| operation.id)
        .filter(|id| !report.operations.iter().any(|row| row.operation == id))
        .collect();

    print!("{report}");
    match report.write(Path::new(REPORT)) {
        Ok(()) => {
            println!("\nThe same as JSON: target/bench/api.json");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{REPORT}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// All operations, on records of realistic size. List readers have their own organization, with lists of fixed length.
#[allow(clippy::too_many_lines, reason = "one operation after the other, each measured by lines of its own")]
async fn operations(stack: &Arc<Stack>) -> Vec<OperationRow<measure::Calls>> {
    let reader = Org::on(Arc::clone(stack)).await;
    let people = Contacts::seed(&reader, SHORT_LIST).await;
    seed::workspaces(&reader, &people).await;
    let writer = Org::on(Arc::clone(stack)).await;
    let new_contact = |n: usize| json!({"display_name": format!("Ada Okafor {n}"), "kind": "person", "email": format!("ada.{n}@okafor.example")});
    let mut rows = Vec::new();
    let mut add = |operation, case: &str, calls| rows.push(OperationRow::new(operation, case, calls));

    let calls = iter::repeat(reader.get("/api/v1/me"));
    add(
        "get_identity",
        "",
        measure("get_identity", calls, |_, answer| has(&answer.ok(200), "scope", "read_write")).await,
    );

    let calls = iter::repeat(reader.get(CONTACTS));
    let calls = measure("list_contacts", calls, |_, answer| is_page(answer, SHORT_LIST, 50)).await;
    add("list_contacts", "50 of 100", calls);

    let mut contacts = Vec::new();
    let calls = (0..).map(|n| writer.post(CONTACTS, &new_contact(n)));
    let calls = measure("create_contact", calls, |_, answer| contacts.push(answer.id(201))).await;
    add("create_contact", "", calls);

    let keyed = |n: usize| writer.post(CONTACTS, &new_contact(n)).key(format!("key {n}"));
    let mut first = Vec::new();
    let mut created_with_keys = 0;
    let calls = measure("create_contact", (0..).map(keyed), |n, answer| {
        assert!(answer.status == 201 && !answer.is_replay(), "not created: {answer}");
        created_with_keys += 1;
        if n == 0 {
            first.clone_from(&answer.bytes);
        }
    })
    .await;
    add("create_contact", "with a key", calls);

    let calls = measure("create_contact", iter::repeat(keyed(0)), |_, answer| {
        assert!(answer.status == 201 && answer.is_replay() && answer.bytes == first, "no replay: {answer}");
    })
    .await;
    add("create_contact", "replayed", calls);
    assert_eq!(
        writer.total(CONTACTS).await,
        size(contacts.len() + created_with_keys),
        "the contacts that were created"
    );

    let path = |n: usize| format!("{CONTACTS}/{}", contacts[n % contacts.len()]);
    let calls = (0..).map(|n| writer.get(path(n)));
    let calls =
        measure("get_contact", calls, |n, answer| has(&answer.ok(200), "id", &contacts[n % contacts.len()])).await;
    add("get_contact", "", calls);

    let email = |n: usize| format!("ada.okafor.{n}@harbor.example");
    let calls = (0..).map(|n| writer.patch(path(n), &json!({"email": email(n)})));
    let calls = measure("update_contact", calls, |n, answer| has(&answer.ok(200), "email", &email(n))).await;
    add("update_contact", "", calls);

    let calls = iter::repeat(reader.get(WORKSPACES));
    let calls = measure("list_workspaces", calls, |_, answer| is_page(answer, SHORT_LIST, 50)).await;
    add("list_workspaces", "50 of 100, a person each", calls);

    let mut workspaces: Vec<WorkspaceId> = Vec::new();
    let calls = (0..).map(|n| writer.post(WORKSPACES, &json!({"name": format!("Harbor Street {n}")})));
    let calls = measure("create_workspace", calls, |_, answer| {
        workspaces.push(answer.id(201).parse().expect("a workspace's id"));
    })
    .await;
    add("create_workspace", "", calls);
    assert_eq!(writer.total(WORKSPACES).await, size(workspaces.len()), "the workspaces that were created");

    let calls = workspaces.iter().zip(contacts.iter().cycle()).map(|(workspace, contact)| {
        writer.post(format!("{WORKSPACES}/{workspace}/contacts"), &json!({"contact_id": contact}))
    });
    let mut joined = 0;
    let calls = measure("add_workspace_contact", calls, |_, answer| {
        has_one_person(&answer.ok(201));
        joined += 1;
    })
    .await;
    add("add_workspace_contact", "the first", calls);

    let calls = workspaces[..joined].iter().cycle().map(|workspace| writer.get(format!("{WORKSPACES}/{workspace}")));
    let calls = measure("get_workspace", calls, |_, answer| has_one_person(&answer.ok(200))).await;
    add("get_workspace", "one person", calls);
    rows
}

async fn lists_of(org: &Org, contacts: &Contacts) -> Vec<ListRow<measure::Calls>> {
    let mut rows = Vec::new();
    for case in seed::list_cases(contacts.ids.len()) {
        let expected = contacts.page(&case);
        let mut call = org.get(CONTACTS).query("limit", seed::PAGE);
        if case.offset > 0 {
            call = call.query("offset", case.offset);
        }
        if let Some(needle) = case.needle {
            call = call.query("search", needle);
        }
        let calls = measure("list_contacts", iter::repeat(call), |_, answer| {
            let page = answer.ok(200);
            let ids: Vec<&str> =
                page["data"].as_array().into_iter().flatten().filter_map(|contact| contact["id"].as_str()).collect();
            assert_eq!(page["pagination"]["total"], expected.total, "the total of {}", case.name);
            assert_eq!(ids, expected.ids, "the page of {}", case.name);
        })
        .await;
        rows.push(ListRow::new(contacts.ids.len(), &case, expected.total, calls));
    }
    rows
}

/// Calls per second on eight connections.
async fn first_pages_of_eight(org: &Org, contacts: usize) -> f64 {
    let began = Instant::now();
    let calls = (0..TOGETHER).map(|_| org.get(CONTACTS).query("limit", seed::PAGE).send());
    let answers: Vec<Answer> = stream::iter(calls).buffer_unordered(CONNECTIONS).collect().await;
    let took = began.elapsed();
    for answer in &answers {
        is_page(answer, contacts, seed::PAGE);
    }
    f64::from(TOGETHER) / took.as_secs_f64()
}

/// Whether a process keeps the rows of a list. It stores long ones, unless they take more memory than it may use.
async fn are_kept(org: &Org, contacts: usize) -> bool {
    if contacts < limits::STORED_ROWS_MIN {
        return true;
    }
    is_page(&org.get(CONTACTS).query("limit", seed::PAGE).send().await, contacts, seed::PAGE);
    are_stored(org).await
}

/// Waits for as long as it may take after an answer to store the rows of its list.
async fn are_stored(org: &Org) -> bool {
    let stored = eventually("stored rows", async || org.stored_rows(Rows::Contacts).await);
    tokio::time::timeout(limits::ROWS_FILE_WRITE_TIMEOUT + Duration::from_secs(2), stored).await.is_ok()
}

/// First lists of instances that were just started: over all rows, and from a file with them.
async fn first_lists_of(org: &Org, contacts: &Contacts) -> Vec<ListRow<measure::Figures>> {
    let length = contacts.ids.len();
    let mut rows = Vec::new();
    // Of long lists there is a file already, unless their rows take too much memory.
    if org.stored_rows(Rows::Contacts).await.is_none() {
        rows.push(first_list_of(org, length, OVER_ALL_ROWS, usize::MAX).await);
        let from = limits::STORED_ROWS_MIN.min(length);
        let stores = org.stack().instance_on(org.stack().table(), from);
        org.at(&stores).get(CONTACTS).query("limit", seed::PAGE).send().await.ok(200);
        if !are_stored(org).await {
            return rows;
        }
    }
    // Entries that are older than a file are not read.
    org.a_day_passes_for_lists_of(Rows::Contacts).await;
    rows.push(first_list_of(org, length, FROM_A_FILE, usize::MAX).await);
    rows
}

async fn first_list_of(org: &Org, length: usize, name: &'static str, rows_min: usize) -> ListRow<measure::Figures> {
    let table = org.stack().table();
    // Each keeps its rows until all have answered.
    let count = if length > limits::STORED_ROWS_MIN * 10 { 2 } else { FIRST_LISTS };
    let instances: Vec<Arc<Stack>> = (0..count).map(|_| org.stack().instance_on(table, rows_min)).collect();
    let list = |instance: &Stack| org.at(instance).get(CONTACTS).query("limit", seed::PAGE);
    let calls = instances.iter().map(|instance| (org.at(instance).get("/api/v1/me"), list(instance)));
    let calls = measure_first("list_contacts", calls, |answer| is_page(answer, length, seed::PAGE)).await;
    let log = ServiceLog::of_instances(instances.iter().map(|instance| instance.log_file()), &calls).await;
    let case = seed::ListCase { name, offset: 0, needle: None };
    ListRow::new(length, &case, length, calls).with_figures(&log)
}

/// Pages of a ledger that is nearly all payments: from both ends, by filter and by needle.
async fn ledger_of(stack: &Arc<Stack>, size: usize) -> Vec<OperationRow<measure::Calls>> {
    let org = Org::on(Arc::clone(stack)).await;
    let draft = org.ready_draft("Harbor purchase", |_| ()).await;
    let payment = org.payment(draft.id(), tests::payments::terms(&draft, "Rent", "R-1")).await;
    // The agreement and its own payment are two of the rows.
    tests::ledger::copy_payment(&org, payment, size - 2).await;
    let (offset, workspace) = ((size - seed::PAGE).to_string(), draft.workspace_id.to_string());
    let open: [(&str, &str); 2] = [("include_done", "false"), ("workspace_id", &workspace)];
    let (last, found, missing) = ([("offset", offset.as_str())], [("search", "okafor")], [("search", "zx")]);
    let cases = [
        ("first page", &[][..], size),
        ("last page", &last, size),
        ("open, of a workspace", &open, size),
        ("needle in counterparties", &found, size),
        ("needle, no hits", &missing, 0),
    ];
    let mut rows = Vec::new();
    for (name, query, total) in cases {
        let call = query.iter().fold(org.get("/api/v1/ledger"), |call, (name, value)| call.query(name, value));
        let shown = total.min(seed::PAGE);
        let calls = measure("list_ledger", iter::repeat(call), |_, answer| is_page(answer, total, shown)).await;
        rows.push(OperationRow::new("list_ledger", &format!("{size}, {name}"), calls));
    }
    rows
}

fn has(record: &Value, member: &str, value: &str) {
    assert_eq!(record[member], value, "{member} of {record}");
}

fn has_one_person(workspace: &Value) {
    assert_eq!(workspace["people"].as_array().map(Vec::len), Some(1), "the people of {workspace}");
}

fn is_page(answer: &Answer, total: usize, rows: usize) {
    let page = answer.ok(200);
    assert_eq!(page["pagination"]["total"], total, "the total: {answer}");
    assert_eq!(page["data"].as_array().map(Vec::len), Some(rows), "the page: {answer}");
}

fn size(count: usize) -> u64 {
    u64::try_from(count).expect("a count of records")
}
