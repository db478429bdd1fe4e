//! A table with all items of another, as DynamoDB restores them.

use ops::verify::{Verification, Verified, verify};
use serde_json::Value;
use tests::app::Browser;
use tests::run_resources::resource_name;
use tests::spec::{self, Operation};
use tests::stack::Table;
use tests::{Client, Stack};

use super::migration::{items, put_all};

pub(super) async fn answers(stack: &Stack, token: &str) -> Vec<(String, Value)> {
    let client = Client::new(&stack.base_url).with_token(token);
    let reads: Vec<Operation> = spec::all().into_iter().filter(|operation| !operation.is_write()).collect();
    let mut answers = Vec::new();
    for list in reads.iter().filter(|operation| !operation.has_path_id()) {
        let answer = list.call(&client, "").send().await;
        if answer.status != 200 {
            continue;
        }
        let records = answer.json()["data"].clone();
        answers.push((list.path.clone(), told(stack, &answer.json())));
        let of_one = format!("{}/{{", list.path);
        for record in records.as_array().into_iter().flatten() {
            let id = record["id"].as_str().expect("an id");
            for read in reads.iter().filter(|read| read.path.starts_with(&of_one)) {
                let answer = read.call(&client, id).send().await;
                if answer.status == 200 {
                    answers.push((format!("{} {id}", read.path), told(stack, &answer.json())));
                }
            }
        }
    }
    answers
}

fn told(stack: &Stack, answer: &Value) -> Value {
    serde_json::from_str(&answer.to_string().replace(&stack.base_url, "https://service")).expect("JSON")
}

pub(super) async fn empty_table_beside(stack: &Stack) -> Table {
    let table = Table { endpoint: stack.table().endpoint.clone(), name: resource_name("table") };
    table.store().create_table().await.expect("a table");
    table
}

/// A restored table with full history responds like the original; `ops` finds nothing to migrate or repair.
#[tokio::test(flavor = "multi_thread")]
async fn a_restored_table_answers_as_the_first() {
    let first = Stack::with_demo();
    let copied = items(first.table()).await;
    assert!(copied.len() > 500, "the demo has agreements, payments, funding and their history: {} items", copied.len());

    let copy = empty_table_beside(&first).await;
    put_all(&copy, copied).await;
    assert_is_sound(&copy).await;

    let second = first.on_copy(&copy);
    for (organization, answers_min) in first.ready.organizations.iter().zip([60, 8]) {
        let (before, after) = tokio::join!(
            answers(&first, &organization.read_only_token),
            answers(&second, &organization.read_only_token)
        );
        assert!(before.len() >= answers_min, "{} answers", before.len());
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before, after);
        }
    }
    let admin = &first.ready.organizations[0].members[0];
    let browser = Browser::new(&second.base_url);
    assert_eq!(browser.sign_in(&admin.email, &admin.password, "/app").await.status, 303);
    assert_eq!(browser.get("/app").await.status, 200);
}

async fn assert_is_sound(table: &Table) {
    let store = table.store();
    let counted = ops::migration::rewrite(&store, true, None).await.expect("a count");
    assert_eq!(counted.older(), 0, "{counted:?}");
    let mut found = Vec::new();
    let checked = verify(&store, Verification::default(), |finding, _, _| found.push(finding.to_string())).await;
    let (items, verified) = checked.expect("a check of the whole table");
    assert!(items > 0 && verified == Verified::default(), "{found:#?}");
}
