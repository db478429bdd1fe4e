//! Calls that take effect long after they were stamped, as a request that hung in the network does, and are repeated.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use shared::store::keys::Rows;
use tests::app::Browser;
use tests::{Client, Org, rows};

const CONTACTS: &str = "/api/v1/contacts";
/// More than the log that a list reads again, and less than the ten minutes that it reads now and then.
const LATE_MS: i64 = 300_000;

/// Makes the last write of a contact one that was stamped five minutes before it took effect.
async fn was_stamped_long_before(org: &Org) {
    let (table, client) = (org.stack().table(), org.stack().table().client());
    let log = AttributeValue::S(format!("ORG#{}#{}#LOG", org.id, Rows::Contacts));
    let logged = client.query().table_name(&table.name).consistent_read(true).key_condition_expression("pk = :log");
    let logged = logged.expression_attribute_values(":log", log.clone()).send().await.expect("the table answers");
    let mut entry = logged.items().last().expect("an entry").clone();
    let at = entry["sk"].as_s().expect("a key").clone();
    let stamp: i64 = at[..15].parse().expect("a stamp");
    entry.insert("sk".to_owned(), AttributeValue::S(format!("{:015}{}", stamp - LATE_MS, &at[15..])));
    client.put_item().table_name(&table.name).set_item(Some(entry)).send().await.expect("it is there");
    let delete = client.delete_item().table_name(&table.name).key("pk", log.clone()).key("sk", AttributeValue::S(at));
    delete.send().await.expect("it goes");

    let stamped = stamp.to_string();
    let all = rows::all(table).await;
    let is_of_org = |row: &&serde_json::Value| row.to_string().contains(&org.id.to_string());
    let mut written = all.iter().filter(|row| row["stamp"] == stamped.as_str()).filter(is_of_org).peekable();
    assert!(written.peek().is_some(), "what it wrote has its stamp");
    for row in written {
        rows::set_number(table, row, "stamp", stamp - LATE_MS).await;
    }
}

async fn total(of: &Client) -> serde_json::Value {
    of.get(CONTACTS).send().await.ok(200)["pagination"]["total"].clone()
}

#[tokio::test]
async fn a_repeat_of_a_call_that_took_effect_late_makes_lists_have_it() {
    let org = Org::new().await;
    let reader = org.stack().instance_on(org.stack().table(), usize::MAX);
    let listed = async || total(&org.at(&reader)).await;
    assert_eq!(listed().await, 0);
    let ada = org.post(CONTACTS, &json!({"display_name": "Ada", "kind": "person"})).key("late");
    assert_eq!(ada.clone().send().await.status, 201);
    was_stamped_long_before(&org).await;
    assert_eq!(listed().await, 0, "nobody was told that it took effect");
    assert!(ada.clone().send().await.is_replay());
    assert_eq!(listed().await, 1, "now it was acknowledged");
    assert_eq!(org.total(CONTACTS).await, 1);
}

#[tokio::test]
async fn a_form_that_took_effect_late_and_is_sent_again_makes_lists_have_it() {
    let org = Org::new().await;
    let maren = Browser::of(&org, &org.admin("Maren").await).await;
    let reader = org.stack().instance_on(org.stack().table(), usize::MAX);
    let listed = async || total(&org.at(&reader)).await;
    assert_eq!(listed().await, 0);
    let form = maren.get("/app/contacts").await;
    let (token, copy) = (form.hidden("form_token"), form.copy().name);
    let fields = [("form_token", token.as_str()), ("copy", &copy), ("display_name", "Ada"), ("kind", "person")];
    assert_eq!(maren.post("/app/contacts", &fields).await.status, 303);
    was_stamped_long_before(&org).await;
    assert_eq!(listed().await, 0, "nobody was told that it took effect");
    assert_eq!(maren.post("/app/contacts", &fields).await.status, 303);
    assert_eq!(listed().await, 1, "now it was acknowledged");
}

#[tokio::test]
async fn a_create_that_finds_a_contact_which_was_made_late_makes_lists_have_it() {
    let org = Org::new().await;
    let reader = org.stack().instance_on(org.stack().table(), usize::MAX);
    let listed = async || total(&org.at(&reader)).await;
    assert_eq!(listed().await, 0);
    let ada = org.post(CONTACTS, &json!({"display_name": "Ada", "kind": "person", "external_reference": "crm-1"}));
    assert_eq!(ada.clone().send().await.status, 201);
    was_stamped_long_before(&org).await;
    assert_eq!(listed().await, 0, "nobody was told that it took effect");
    assert_eq!(ada.send().await.status, 200, "it finds the contact");
    assert_eq!(listed().await, 1, "now it was acknowledged");
}
