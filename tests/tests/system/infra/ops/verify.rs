//! `ops verify` finds nothing in an intact table, and each kind of damage done on purpose.

use std::path::{Path, PathBuf};

use files::Files;
use ops::verify::{Verification, Verified, verify};
use shared::store::inspect::{Finding, Problem, Repair};
use tempfile::TempDir;
use tests::Stack;
use tests::app::Browser;
use tests::process::{Process, Serve};
use tests::receiver::{Reaction, Receiver};
use tests::stack::Table;
use tests::subscriber::Subscriber;

use super::damage::{DAMAGES, Damage};
use super::items::{Items, edit, keys_of_edit};
use crate::STACK;

async fn findings(table: &Table, repairs: bool) -> (Vec<(Finding, Option<Repair>)>, Verified) {
    let mut found = Vec::new();
    let how = Verification { repairs, ..Verification::default() };
    let on = |finding: &Finding, repair: Option<Repair>, _: &dyn Fn(&str)| found.push((finding.clone(), repair));
    let (items, verified) = verify(&table.store(), how, on).await.expect("the table answers");
    assert!(items > 0);
    (found, verified)
}

async fn says_nothing(table: &Table, after: &str) {
    let (found, verified) = findings(table, false).await;
    let lines: Vec<String> = found.iter().map(|(finding, _)| finding.to_string()).collect();
    assert!(lines.is_empty() && verified == Verified::default(), "{after}:\n{}", lines.join("\n"));
}

/// The demo's data, with an endpoint that gets everything, one that gets nothing, and a token's proposal. Nothing runs.
pub async fn demo(dir: &TempDir) -> (Stack, Table) {
    let process = Serve::over(STACK, dir.path()).seed("demo").start().await;
    subscribe(&process).await;
    process.kill().await;
    let stack = Stack::idle_on_data_of(dir.path());
    let table = stack.table().clone();
    (stack, table)
}

async fn subscribe(process: &Process) {
    let member = &process.ready["organizations"][0]["members"][0];
    let text = |name: &str| member[name].as_str().expect("a text").to_owned();
    let sign_in = async || {
        let browser = Browser::new(process.base_url());
        let page = browser.sign_in(&text("email"), &text("password"), "/app").await;
        assert_eq!(page.status, 303, "{}", page.body);
        browser
    };
    let workspaces = process.client().get("/api/v1/workspaces").send().await.ok(200);
    let item = serde_json::json!({
        "workspace_id": workspaces["data"][0]["id"],
        "label": "A painting",
        "external_reference": "asset-1",
    });
    process.client().post("/api/v1/funding-items", &item).send().await.ok(201);
    let good = Subscriber::add(sign_in().await, Receiver::new().await, &[]).await;
    let bad = Receiver::new().await;
    bad.answer(Reaction::status(500));
    let bad = Subscriber::add(sign_in().await, bad, &[]).await;
    let draft = process.client().get("/api/v1/agreements?lifecycle=draft").send().await.ok(200);
    let drafts = draft["data"].as_array().expect("drafts").clone();
    let ready = drafts.iter().find(|draft| draft["proposal_ready"] == true).expect("a draft that is ready");
    let id = ready["id"].as_str().expect("an id");
    sign_in().await.keep_template(&format!("/app/agreements/{id}"), "Round").await;
    let proposal = serde_json::json!({"action": "publish_agreement", "agreement_id": id});
    process.client().post("/api/v1/proposals", &proposal).send().await.ok(201);
    good.receiver.wait_for(1).await;
    bad.receiver.wait_for(1).await;
    tests::wait::eventually("the attempts are recorded", async || {
        let (refused, taken) = (bad.admin.get(&bad.path()).await, good.admin.get(&good.path()).await);
        let are_told = refused.says("amber\">Retrying<") && taken.says("green\">Delivered<");
        are_told.then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_demo_is_whole_and_each_damage_is_found_and_put_right_where_anything_says_what_was_there() {
    let dir = TempDir::new().expect("a folder");
    let (_stack, table) = demo(&dir).await;
    says_nothing(&table, "the demo").await;
    let whole = Items::of(&table).await;
    for damage in DAMAGES {
        let Damage { name, problem, is_repairable, edits } = damage;
        let edits = edits(&whole);
        assert!(!edits.is_empty(), "{name}");
        edit(&table, edits.clone()).await;
        let (found, verified) = findings(&table, false).await;
        let lines: Vec<String> = found.iter().map(|(finding, _)| finding.to_string()).collect();
        let is_it = |finding: &Finding| finding.problem == *problem && finding.is_repairable() == *is_repairable;
        assert!(found.iter().any(|(finding, _)| is_it(finding)), "{name}: {problem:?} in\n{}", lines.join("\n"));
        assert_eq!((verified.found, verified.repaired), (found.len() as u64, 0), "{name}");
        if *is_repairable {
            let (found, _) = findings(&table, true).await;
            let done = found.iter().filter(|(finding, _)| is_it(finding));
            assert!(done.clone().all(|(_, repair)| *repair == Some(Repair::Done)), "{name}: {found:?}");
            assert!(done.count() > 0, "{name}");
            // Items under a record found only now may have passed for orphans: a repair needs another look.
            findings(&table, true).await;
            says_nothing(&table, name).await;
        }
        whole.restore(&table, edits.iter().map(keys_of_edit)).await;
        // What a repair wrote besides, such as an entry of the due index.
        let now = Items::of(&table).await;
        whole.restore(&table, whole.changes(&now)).await;
    }
    says_nothing(&table, "the end").await;
    damaged_files_are_found(&table, &dir).await;
}

async fn damaged_files_are_found(table: &Table, dir: &TempDir) {
    let folder = dir.path().join("files");
    let files = Files::in_folder(&folder).expect("the files of the demo");
    let look = async || {
        let mut found = Vec::new();
        let how = Verification { files: Some(&files), ..Verification::default() };
        let on = |finding: &Finding, _: Option<Repair>, _: &dyn Fn(&str)| found.push(finding.clone());
        let (_, verified) = verify(&table.store(), how, on).await.expect("the table answers");
        assert_eq!((verified.found, verified.repairable), (found.len() as u64, 0));
        found
    };
    assert_eq!(look().await.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    let mut stored = files_below(&folder);
    stored.sort_unstable();
    let [gone, changed] = [stored[0].clone(), stored[1].clone()];
    std::fs::remove_file(&gone).expect("gone");
    std::fs::write(&changed, b"something else").expect("changed");
    let found = look().await;
    for (problem, path) in [(Problem::NoFile, gone), (Problem::DamagedFile, changed)] {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let is_it = |finding: &&Finding| finding.problem == problem && finding.says.contains(&name);
        assert_eq!(found.iter().filter(is_it).count(), 1, "{problem:?} {name}: {found:?}");
    }
    assert_eq!(found.len(), 2, "{found:?}");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
