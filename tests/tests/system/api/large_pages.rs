//! Pages as large as a response may be.

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use serde_json::Value;
use tests::Org;

use crate::unknown_id;

const WORKSPACES: &str = "/api/v1/workspaces";
const PEOPLE: usize = 500;

/// The largest body of a response, in bytes as Lambda gets it: see `shared::limits`.
const BODY_MAX: usize = 6_200_000;

/// What a function may answer Lambda with, in bytes.
const PAYLOAD_MAX: usize = 6_291_556;

/// The length of a body as text in JSON.
fn as_lambda_gets_it(body: &[u8]) -> usize {
    Value::from(String::from_utf8_lossy(body)).to_string().len()
}

/// Copies of a contact, written past the service: as many calls would tell no more. They are in no list.
async fn copies(org: &Org, contact: &Value) -> Vec<String> {
    let table = org.stack().table();
    let client = table.client();
    let key = |id: &str| AttributeValue::S(format!("ORG#{}#CONTACT#{id}", org.id));
    let original = client
        .get_item()
        .table_name(&table.name)
        .key("pk", key(contact["id"].as_str().expect("an id")))
        .key("sk", AttributeValue::S(".".to_owned()));
    let item = original.send().await.expect("the table answers").item.expect("the contact's record");
    let ids: Vec<String> = (0..PEOPLE).map(|_| unknown_id()).collect();
    for ids in ids.chunks(25) {
        let writes = ids.iter().map(|id| {
            let mut copy = item.clone();
            copy.insert("pk".to_owned(), key(id));
            copy.insert("id".to_owned(), AttributeValue::S(id.clone()));
            let put = PutRequest::builder().set_item(Some(copy)).build().expect("a request");
            WriteRequest::builder().put_request(put).build()
        });
        let written = client.batch_write_item().request_items(&table.name, writes.collect()).send().await;
        let left = written.expect("the table answers").unprocessed_items.unwrap_or_default();
        assert!(left.is_empty(), "the table has left something out");
    }
    ids
}

/// A workspace with people who are written into its record.
async fn crowded(org: &Org, people: &[String]) {
    let workspace = org.workspace("Crowded").await;
    let table = org.stack().table();
    let key = format!("ORG#{}#WORKSPACE#{}", org.id, workspace["id"].as_str().expect("an id"));
    let update = table.client().update_item().table_name(&table.name).key("pk", AttributeValue::S(key));
    let update = update.key("sk", AttributeValue::S(".".to_owned())).condition_expression("attribute_exists(pk)");
    let update = update.update_expression("SET people = :people");
    let people = AttributeValue::Ss(people.to_vec());
    update.expression_attribute_values(":people", people).send().await.expect("the record");
}

#[tokio::test]
async fn a_page_that_would_be_too_large_is_refused_and_a_smaller_one_is_not() {
    let org = Org::new().await;
    let people = copies(&org, &org.contact(&"\u{1F58B}".repeat(200)).await).await;
    crowded(&org, &people).await;
    let page = |limit: usize| org.get(WORKSPACES).query("limit", limit).send();
    let one = page(1).await;
    assert_eq!(one.ok(200)["data"][0]["people"].as_array().map(Vec::len), Some(PEOPLE));
    // Workspaces are alike, so the length of a page is known but for some digits of its pagination.
    let row = as_lambda_gets_it(one.ok(200)["data"][0].to_string().as_bytes());
    let fits = (BODY_MAX - 100) / row;
    assert!((2..200).contains(&fits), "{fits} workspaces of {row} bytes fit");
    for _ in 1..=fits {
        crowded(&org, &people).await;
    }

    let before = org.state().await;
    let largest = page(fits).await;
    assert_eq!(largest.ok(200)["data"].as_array().map(Vec::len), Some(fits));
    let length = as_lambda_gets_it(&largest.bytes);
    assert!((BODY_MAX - row..=BODY_MAX).contains(&length), "{length}");
    for limit in [fits + 1, 200] {
        page(limit).await.refused_for(422, &[("limit", "out_of_range")]);
    }
    org.get(WORKSPACES).send().await.refused_for(422, &[("limit", "out_of_range")]);
    let rest = org.get(WORKSPACES).query("offset", fits).send().await.ok(200);
    assert_eq!(
        (rest["data"].as_array().map(Vec::len), &rest["pagination"]["has_more"]),
        (Some(1), &Value::from(false))
    );
    assert_eq!(org.state().await, before);
    let last = org.audit().await.pop().expect("a row");
    assert_eq!(last["code"], "ok");
}

/// A function's answer is text in JSON, where a quotation mark of the body takes more room than in the body. What Lambda
/// refuses would be a gateway's error page on a call that is on record as answered.
#[tokio::test]
async fn a_page_is_refused_by_its_size_on_the_way_to_the_gateway() {
    let org = Org::new().await;
    let people = copies(&org, &org.contact(&"\"".repeat(200)).await).await;
    for _ in 0..20 {
        crowded(&org, &people).await;
    }
    let mut refusals = Vec::new();
    for limit in [1, 5, 10, 15, 20] {
        let answer = org.get(WORKSPACES).query("limit", limit).send().await;
        if answer.status == 422 {
            answer.refused_for(422, &[("limit", "out_of_range")]);
            refusals.push(limit);
            continue;
        }
        answer.ok(200);
        let payload = as_lambda_gets_it(&answer.bytes);
        assert!(payload < PAYLOAD_MAX, "limit {limit}: {} bytes are {payload} to Lambda", answer.bytes.len());
    }
    assert_eq!(refusals, [15, 20]);
}
