//! Rows of long lists in the file store: an instance begins from what another one stored, and says the same.

use serde_json::{Value, json};
use shared::domain::contact::{Contact, ContactKind, DisplayName, Email};
use shared::domain::ids::ContactId;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::store::contacts;
use shared::store::keys::Rows;
use tests::app::Browser;
use tests::mcp::Mcp;
use tests::stack::Table;
use tests::wait::eventually;
use tests::{Client, Fault, Faults, Needs, Org, Rule, rows};

use super::migration::{items, put_all};
use super::restored::empty_table_beside;

const CONTACTS: &str = "/api/v1/contacts";
/// Rows from which on they are stored here.
const ROWS_MIN: usize = 20;

fn contact(n: usize) -> Contact {
    let now = Timestamp::now();
    Contact {
        id: ContactId::new(),
        display_name: DisplayName::parse(&format!("Ada Okafor {n}")).expect("a name"),
        kind: ContactKind::Person,
        email: Some(Email::parse(&format!("ada.{n}@okafor.example")).expect("an address")),
        external_reference: None,
        created_at: now,
        updated_at: now,
        identity_version: 0,
        former: Vec::new(),
        merged_into: None,
        merged: Vec::new(),
        archived_at: None,
    }
}

/// Of contacts that were made long ago.
async fn with_contacts(count: usize) -> Org {
    let org = Org::with(Needs::OWN.without_background()).await;
    let system = org.system();
    let changes = (0..count).map(|n| contacts::create(system.call(), &contact(n)).expect("items"));
    org.load(changes).await;
    org.a_day_passes_for_lists_of(Rows::Contacts).await;
    org
}

/// The ends of the list, and what a search finds.
async fn told(client: &Client) -> [Value; 3] {
    let page = async |name, value: &str| {
        let answer = client.get(CONTACTS).query("limit", 200).query(name, value).send().await.ok(200);
        json!([answer["data"], answer["pagination"]["total"]])
    };
    [page("offset", "0").await, page("offset", "1400").await, page("search", "okafor 77").await]
}

/// Lists as an instance that passes over the rows and stores them.
async fn store(org: &Org, rows_min: usize) -> Value {
    let instance = org.stack().instance_on(org.stack().table(), rows_min);
    let before = org.stored_rows(Rows::Contacts).await;
    assert_eq!(told(&org.at(&instance)).await, told(org).await, "who stores says the same");
    eventually("stored rows", async || org.stored_rows(Rows::Contacts).await.filter(|now| before.as_ref() != Some(now)))
        .await
}

/// Lists as an instance that begins anew, and counts the units of its first list.
async fn first_list(org: &Org, on: &Table) -> ([Value; 3], f64, u64) {
    let faults = Faults::before(&on.endpoint);
    let through = Table { endpoint: faults.url().to_owned(), name: on.name.clone() };
    let instance = org.stack().instance_on(&through, ROWS_MIN);
    let client = org.at(&instance);
    client.get("/api/v1/me").send().await.ok(200);
    drop(faults.take_traffic());
    client.get(CONTACTS).send().await.ok(200);
    let traffic = faults.take_traffic();
    (told(&client).await, traffic.read_units, traffic.round_trips())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_begins_from_rows_that_another_one_stored() {
    let org = with_contacts(1_500).await;
    let expected = told(&org).await;
    let (same, units_of_pass, _) = first_list(&org, org.stack().table()).await;
    assert_eq!(same, expected, "passed over in ranges");
    // 1,500 rows of some 180 bytes.
    assert!(units_of_pass > 50.0, "{units_of_pass}");
    eventually("stored rows", async || org.stored_rows(Rows::Contacts).await).await;

    // Token, first rows, pointer, log, audit row. The file is read beside the log.
    let (same, units, trips) = first_list(&org, org.stack().table()).await;
    assert_eq!(same, expected, "from the file");
    assert!(units <= 5.0 && trips <= 5, "{units} units, {trips} round trips");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_since_rows_were_stored_is_listed() {
    let org = with_contacts(60).await;
    let pointer = store(&org, ROWS_MIN).await;
    let first: Value = org.get(CONTACTS).query("limit", 1).send().await.ok(200);
    let first = format!("{CONTACTS}/{}", first["data"][0]["id"].as_str().expect("an id"));
    org.patch(&first, &json!({"display_name": "Zoe Okafor 77"})).send().await.ok(200);
    let (same, ..) = first_list(&org, org.stack().table()).await;
    assert_eq!(same, told(&org).await, "a contact was renamed");
    assert_eq!(org.stored_rows(Rows::Contacts).await.expect("a pointer")["f"], pointer["f"], "little was written");

    // Rows are stored anew once a reading has gone back as far as writes may come late, a minute later.
    let as_of: i64 = pointer["a"].as_str().and_then(|at| at.parse().ok()).expect("a moment");
    let minute = i64::try_from(limits::LATE_WRITES_INTERVAL.as_millis()).expect("a number");
    rows::set_number(org.stack().table(), &pointer, "a", as_of - minute).await;
    for n in 0..40 {
        org.contact(&format!("Ben Lindberg {n}")).await;
    }
    let (same, ..) = first_list(&org, org.stack().table()).await;
    assert_eq!(same, told(&org).await, "many were added");
    eventually("rows that are stored anew", async || {
        org.stored_rows(Rows::Contacts).await.filter(|now| now["f"] != pointer["f"])
    })
    .await;
    let (same, ..) = first_list(&org, org.stack().table()).await;
    assert_eq!(same, told(&org).await, "stored by who began from a file");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_used_is_passed_over() {
    type Text = fn(&str) -> String;
    let org = with_contacts(60).await;
    let mut pointer = store(&org, ROWS_MIN).await;
    let cases: [(&str, &str, Text); 5] = [
        ("lost", "f", |path| format!("{}/{}", path.rsplit_once('/').expect("a path").0, "0".repeat(64))),
        ("of another layout", "f", |path| path.replace("/1/", "/0/")),
        ("of nothing", "f", |_| String::new()),
        ("of another size", "n", |_| "7".to_owned()),
        ("of no time", "a", |_| "then".to_owned()),
    ];
    for (what, name, text) in cases {
        let table = org.stack().table();
        let changed = text(pointer["f"].as_str().expect("a path"));
        rows::set_text(table, &pointer, name, &changed).await;
        let (same, ..) = first_list(&org, table).await;
        assert_eq!(same, told(&org).await, "{what}");
        // Who passed over the rows mends the pointer, whose moment can't be compared if it is none.
        if name == "a" {
            break;
        }
        pointer = eventually("rows that are stored anew", async || {
            org.stored_rows(Rows::Contacts).await.filter(|now| now[name] != json!(changed))
        })
        .await;
    }
}

/// The file is there then, and nothing or an answer that nobody heard names it.
#[tokio::test(flavor = "multi_thread")]
async fn storing_that_is_cut_off_at_its_pointer_changes_no_list() {
    let org = with_contacts(60).await;
    let (expected, table) = (told(&org).await, org.stack().table());
    for (fault, is_named) in [(Fault::ServerError, false), (Fault::LostResponse, true)] {
        let faults = Faults::before(&table.endpoint);
        let cut = faults.inject(Rule::on("UpdateItem").containing("#passed_at"), fault);
        let through = Table { endpoint: faults.url().to_owned(), name: table.name.clone() };
        let instance = org.stack().instance_on(&through, ROWS_MIN);
        assert_eq!(told(&org.at(&instance)).await, expected, "who stores says the same: {fault:?}");
        if is_named {
            cut.passed(1).await;
        } else {
            cut.wait_for_hits(1).await;
        }
        assert_eq!(org.stored_rows(Rows::Contacts).await.is_some(), is_named, "{fault:?}");
        let next = org.stack().instance_on(table, usize::MAX);
        assert_eq!(told(&org.at(&next)).await, expected, "{fault:?}");
    }
    let (same, ..) = first_list(&org, table).await;
    assert_eq!(same, expected, "from the file");
}

/// Its pointer may be younger than its rows.
#[tokio::test(flavor = "multi_thread")]
async fn a_restored_table_never_begins_from_rows_of_the_first() {
    let org = with_contacts(60).await;
    let copied = items(org.stack().table()).await;
    org.contact("Of an abandoned future").await;
    let pointer = store(&org, ROWS_MIN).await;

    let copy = empty_table_beside(org.stack()).await;
    put_all(&copy, copied).await;
    let (restored, ..) = first_list(&org, &copy).await;
    let expected = told(&org).await;
    assert_ne!(restored, expected, "the contact is not in the copy");
    // As if the pointer had been restored and the contact had not.
    let of_first = items(org.stack().table()).await;
    let is_pointer =
        |item: &&shared::store::Item| item["pk"].as_s().is_ok_and(|pk| pk == pointer["pk"].as_str().expect("a key"));
    put_all(&copy, of_first.iter().filter(is_pointer).cloned().collect()).await;
    let (again, ..) = first_list(&org, &copy).await;
    assert_eq!(again, restored);
}

/// What reads lists that may be long, in a function of its own.
#[tokio::test(flavor = "multi_thread")]
async fn each_function_stores_rows_and_begins_from_them() {
    let alone = Org::with(Needs::OWN.without_background()).await;
    let instance = || alone.stack().instance_on(alone.stack().table(), 1);
    for function in ["read-api", "mcp", "member-app"] {
        let (first, second) = (instance(), instance());
        let org = Org::on(first).await;
        let member = org.member("Ada Okafor").await;
        // The contacts are not listed while they are added.
        for name in ["Ben Lindberg", "Cleo Moreau"] {
            org.contact(name).await;
        }
        let listed = async |base_url: &str| match function {
            "read-api" => Client::at(&org, base_url).get(CONTACTS).send().await.ok(200).to_string(),
            "mcp" => Mcp::of(&Client::at(&org, base_url)).call("list_contacts", &json!({})).await.answer().to_string(),
            _ => {
                let browser = Browser::new(base_url);
                browser.sign_in(&member.email, &member.password, "/app").await;
                browser.get("/app/contacts").await.body
            }
        };
        let one = listed(org.base_url()).await;
        assert!(one.contains("Cleo Moreau"), "{function}: {one}");
        eventually("stored rows", async || org.stored_rows(Rows::Contacts).await).await;
        let other = listed(&second.base_url).await;
        assert!(other.contains("Ben Lindberg") && other.contains("Cleo Moreau"), "{function}: {other}");
    }
    assert!(limits::ROWS_FILE_KEPT > limits::LISTED_ROWS_AGE_MAX, "a file that may be used is there");
}
