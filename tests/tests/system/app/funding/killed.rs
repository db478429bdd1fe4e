//! An import whose process dies midway.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tests::app::Browser;
use tests::funding::{ITEMS, TRUSTS, funding_path};
use tests::process::{Process, Serve};
use tests::{Stack, eventually, rows};

use super::assert_says;
use crate::STACK;

const ROWS: usize = 1000;
const PROBLEMS_SHOWN: usize = 50;

async fn signed_in(process: &Process) -> Browser {
    let member = &process.ready["organizations"][0]["members"][0];
    let text = |name: &str| member[name].as_str().expect("a text");
    let browser = Browser::new(process.base_url());
    assert_eq!(browser.sign_in(text("email"), text("password"), "/app").await.status, 303);
    browser
}

async fn total(process: &Process, workspace: &Value) -> usize {
    let schedule = process.client().get(funding_path(workspace)).send().await.ok(200);
    let total = schedule["summary"]["total"].as_u64().and_then(|total| usize::try_from(total).ok()).expect("a number");
    assert_eq!(schedule["items"].as_array().map(Vec::len), Some(total), "the sum is that of the items");
    assert_eq!(schedule["summary"]["unsorted"], json!(total));
    total
}

async fn press(browser: &Browser, preview: &str) -> u16 {
    let token = browser.get(preview).await.hidden("form_token");
    browser.post(preview, &[("form_token", &token)]).await.status
}

/// Each transaction adds several rows or none. After a kill the page shows how many, and the same button adds the rest.
#[tokio::test]
async fn an_import_whose_process_is_killed_goes_on_and_adds_each_row_once() {
    let dir = TempDir::new().expect("a directory");
    let data_dir = dir.path().join("data");
    let serve = Serve::over(STACK, &data_dir);
    let first = serve.start().await;
    let client = first.client();
    let workspace = client.post("/api/v1/workspaces", &json!({"name": "Harbor"})).send().await.ok(201);
    let trust = json!({"workspace_id": workspace["id"], "formal_name": "The Harbor Trust", "external_reference": "t"});
    client.post(TRUSTS, &trust).send().await.ok(201);
    let browser = Arc::new(signed_in(&first).await);
    let funding = format!("/app/funding/{}", workspace["id"].as_str().expect("an id"));
    let import = format!("{funding}/import");
    let lines: Vec<String> = (1..=ROWS).map(|n| format!("Asset {n:04},vehicle,The Harbor Trust,ref-{n}\n")).collect();
    let file = format!("label,asset_kind,trust,external_reference\n{}", lines.concat());
    let token = browser.get(&import).await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("csv", "")];
    let read = browser.upload(&import, &fields, ("file", "assets.csv", file.as_bytes())).await;
    assert_eq!(read.status, 303, "{}", read.body);
    let preview = read.location().to_owned();

    let dying = tokio::spawn({
        let (browser, preview) = (Arc::clone(&browser), preview.clone());
        async move { press(&browser, &preview).await }
    });
    eventually("some rows are there", async || (total(&first, &workspace).await > 0).then_some(())).await;
    first.kill().await;
    assert!(dying.await.is_err(), "nobody was told that anything is done");

    let second = serve.start().await;
    let browser = signed_in(&second).await;
    let there = total(&second, &workspace).await;
    assert!(0 < there && there < ROWS, "{there}");
    assert_says(&browser.get(&preview).await, &[&format!("{there} of {ROWS} added"), "Add the remaining items"]);
    let page = browser.get(&funding).await;
    assert_says(&page, &[&format!("0 of {there} items done")]);
    assert!(!page.says("items added"), "{}", page.body);
    let client = second.client();
    let found = client.get(ITEMS).query("external_reference", "ref-1").send().await.ok(200);
    let listed = client.get(ITEMS).query("search", "Asset 0001").send().await.ok(200);
    assert_eq!(found["data"], listed["data"]);
    // Changes since then matter only to the remaining rows.
    let name = async |name: &str| {
        let mut renamed = trust.clone();
        renamed["formal_name"] = json!(name);
        client.post(TRUSTS, &renamed).send().await.ok(200)
    };
    name("The Pier Trust").await;
    let told = browser.get(&preview).await;
    let more = format!("{} more problems.", ROWS - there - PROBLEMS_SHOWN);
    let known =
        if there == 1 { "1 row is added already.".to_owned() } else { format!("{there} rows are added already.") };
    assert_says(&told, &["No trust of this workspace is named “The Harbor Trust”.", &more, &known]);
    let token = browser.get(&funding).await.hidden("form_token");
    let refused = browser.post(&preview, &[("form_token", &token)]).await;
    assert_eq!((refused.status, total(&second, &workspace).await), (422, there));
    assert_says(&refused, &["Nothing more was added"]);
    name("The Harbor Trust").await;
    let mut presses = 0;
    while total(&second, &workspace).await < ROWS {
        assert_eq!(press(&browser, &preview).await, 303);
        presses += 1;
        assert!(presses < 20, "{presses} presses");
    }
    let token = browser.get(&funding).await.hidden("form_token");
    assert_eq!(browser.post(&preview, &[("form_token", &token)]).await.status, 303);
    assert_says(&browser.get(&preview).await, &[&format!("{ROWS} of {ROWS} added"), "Open Funding"]);
    let schedule = client.get(funding_path(&workspace)).send().await.ok(200);
    let texts = |name: &str| -> BTreeSet<String> {
        let items = schedule["items"].as_array().expect("items");
        items.iter().filter_map(|item| item[name].as_str()).map(str::to_owned).collect()
    };
    assert_eq!([texts("label").len(), texts("external_reference").len(), texts("id").len()], [ROWS; 3]);
    second.kill().await;

    let stack = Stack::on_data_of(&data_dir);
    let org = stack.ready.organizations[0].id.parse().expect("an organization's id");
    let events = rows::events(stack.table(), org).await;
    let mut added: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "funding_item.added")
        .filter_map(|event| event["data"]["funding_item_id"].as_str())
        .collect();
    let audit = rows::audit(stack.table(), org).await;
    let imports = audit.iter().filter(|row| row["operation"] == "import_funding_items" && row["code"] == "ok");
    let ids = texts("id");
    assert!(ids.iter().all(|id| !preview.contains(id.as_str())), "the preview is named beside them: {preview}");
    let mut on_record: Vec<String> = imports.flat_map(rows::objects).filter(|id| ids.contains(id)).collect();
    added.sort_unstable();
    on_record.sort_unstable();
    assert_eq!(added, ids.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(on_record, ids.into_iter().collect::<Vec<_>>());
}
