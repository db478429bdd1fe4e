//! `ops verify`: it finds nothing where nothing is wrong, and each kind of damage that is done on purpose.

use std::collections::BTreeSet;

use ops::verify::{Verification, Verified, verify};
use shared::store::inspect::{Finding, Repair};
use tempfile::TempDir;
use tests::Stack;
use tests::app::Browser;
use tests::process::{Process, Serve};
use tests::receiver::{Reaction, Receiver};
use tests::stack::Table;
use tests::subscriber::Subscriber;

use super::damage::{DAMAGES, Damage};
use super::items::{Edit, Items, Keys, edit, keys_of_edit};
use crate::STACK;

/// What a walk over all of a table says.
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

/// The demo's data, with endpoints of which one gets everything and the other nothing, and a token's proposal. Nothing goes on
/// there: neither relay nor sender nor clock runs.
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
    let good = Subscriber::add(sign_in().await, Receiver::new().await, &[]).await;
    let bad = Receiver::new().await;
    bad.answer(Reaction::status(500));
    let bad = Subscriber::add(sign_in().await, bad, &[]).await;
    let draft = process.client().get("/api/v1/agreements?lifecycle=draft").send().await.ok(200);
    let drafts = draft["data"].as_array().expect("drafts").clone();
    let ready = drafts.iter().find(|draft| draft["proposal_ready"] == true).expect("a draft that is ready");
    let proposal = serde_json::json!({"action": "publish_agreement", "agreement_id": ready["id"]});
    process.client().post("/api/v1/proposals", &proposal).send().await.ok(201);
    good.receiver.wait_for(1).await;
    bad.receiver.wait_for(1).await;
    tests::wait::eventually("the attempts are recorded", async || {
        let page = bad.admin.get(&bad.path()).await;
        page.says("waiting").then_some(())
    })
    .await;
}

/// A damage with what it did.
type Done<'a> = (&'a Damage, Vec<Edit>);

/// Whether a finding is that of a damage: it is on what was damaged, or names it.
fn is_of(finding: &Finding, (damage, edits): &Done<'_>) -> bool {
    let is_on = |edit: &Edit| {
        let (partition, sort) = keys_of_edit(edit);
        let key = format!("{partition} {sort}");
        finding.key.to_string() == key || finding.says.contains(&key)
    };
    let is_such = finding.problem == damage.problem && finding.is_repairable() == damage.is_repairable;
    is_such && edits.iter().any(is_on)
}

/// The damages in as few groups as possible, of which no two touch the same item.
fn groups<'a>(whole: &Items, damages: impl Iterator<Item = &'a Damage>) -> Vec<Vec<Done<'a>>> {
    let mut groups: Vec<(BTreeSet<Keys>, Vec<Done<'a>>)> = Vec::new();
    for damage in damages {
        let edits = (damage.edits)(whole);
        assert!(!edits.is_empty(), "{}", damage.name);
        let keys: BTreeSet<Keys> = edits.iter().map(keys_of_edit).collect();
        match groups.iter_mut().find(|(touched, _)| touched.is_disjoint(&keys)) {
            Some((touched, group)) => {
                touched.extend(keys);
                group.push((damage, edits));
            }
            None => groups.push((keys, vec![(damage, edits)])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

#[tokio::test]
async fn the_demo_is_whole_and_each_damage_is_found_and_put_right_where_anything_says_what_was_there() {
    let dir = TempDir::new().expect("a folder");
    let (_stack, table) = demo(&dir).await;
    says_nothing(&table, "the demo").await;
    let whole = Items::of(&table).await;
    let mut all = groups(&whole, DAMAGES.iter().filter(|damage| damage.is_repairable));
    all.extend(groups(&whole, DAMAGES.iter().filter(|damage| !damage.is_repairable)));
    for group in all {
        edit(&table, group.iter().flat_map(|(_, edits)| edits.clone())).await;
        let (found, verified) = findings(&table, false).await;
        let lines: Vec<String> = found.iter().map(|(finding, _)| finding.to_string()).collect();
        for done in &group {
            let is_found = found.iter().any(|(finding, _)| is_of(finding, done));
            assert!(is_found, "{} as {:?} in\n{}", done.0.name, done.0.problem, lines.join("\n"));
        }
        assert_eq!((verified.found, verified.repaired), (found.len() as u64, 0));
        if group.iter().all(|(damage, _)| damage.is_repairable) {
            let (found, _) = findings(&table, true).await;
            for done in &group {
                let mut repairs = found.iter().filter(|(finding, _)| is_of(finding, done)).map(|(_, repair)| *repair);
                assert!(repairs.any(|repair| repair == Some(Repair::Done)), "{}: {found:?}", done.0.name);
            }
            // What one repair shows, the next puts right.
            findings(&table, true).await;
            says_nothing(&table, "all is put right").await;
        }
        let now = Items::of(&table).await;
        whole.restore(&table, whole.changes(&now)).await;
    }
    says_nothing(&table, "the end").await;
}
