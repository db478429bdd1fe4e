//! The README's walkthroughs, as they stand there: pasted into a shell beside a stack with its demo.

use std::path::Path;

use serde_json::Value;
use tests::app::Browser;
use tests::process::Serve;
use tokio::process::Command;

use crate::STACK;

const README: &str = include_str!("../../../../README.md");

/// The shell blocks of a section.
fn blocks(section: &str) -> Vec<&'static str> {
    let (_, rest) = README.split_once(&format!("\n## {section}\n")).expect("the section");
    let text = rest.split("\n## ").next().unwrap_or_default();
    text.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap_or_default()).collect()
}

/// What blocks print when they are pasted into one shell.
async fn paste(folder: &Path, blocks: &[&str]) -> String {
    let pasted = Command::new("bash").arg("-c").arg(blocks.join("\n")).current_dir(folder).output();
    let output = pasted.await.expect("a shell");
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{wrong}");
    said.into_owned()
}

#[tokio::test]
async fn the_walkthroughs_lead_where_they_say() {
    let curl = Command::new("curl").arg("--version").output().await;
    assert!(curl.is_ok_and(|curl| curl.status.success()), "the walkthroughs need curl (Debian: apt-get install curl)");
    let folder = tempfile::tempdir().expect("a folder");
    let process = Serve::over(STACK, folder.path().join(".local")).seed("demo").start().await;

    let session = blocks("A first session");
    let said = paste(folder.path(), &session).await;
    assert_eq!(said.matches("HTTP/1.1 201 Created").count(), 2, "{said}");
    assert_eq!(said.matches("idempotent-replayed: true").count(), 1, "{said}");
    assert!(said.contains("Ada Weiß") && said.contains("\"unknown_field\"") && said.contains("WS-0000"), "{said}");

    let draft = blocks("From a draft to an active agreement");
    let [propose, active] = &draft[..] else { panic!("two blocks: {draft:?}") };
    // In the same terminal, as it says.
    let said =
        paste(folder.path(), &[session[0].lines().take(2).collect::<Vec<_>>().join("\n").as_str(), propose]).await;
    let answers: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let [participant, refused, proposal] = &answers[..] else { panic!("three answers: {said}") };
    assert_eq!(participant["roles"], serde_json::json!(["signer"]));
    assert_eq!(refused["error"]["errors"][0]["code"], "no_stages", "{refused}");
    let confirm_url = proposal["confirm_url"].as_str().unwrap_or_else(|| panic!("{proposal}"));

    let ready = std::fs::read(folder.path().join(".local/ready.json")).expect("the ready file");
    let ready: Value = serde_json::from_slice(&ready).expect("JSON");
    let member = &ready["organizations"][0]["members"][0];
    let of_member = |name: &str| member[name].as_str().expect("a text");
    let browser = Browser::new(process.base_url());
    let path = confirm_url.strip_prefix(process.base_url()).expect("a link of this stack");
    let opened = browser.get(path).await;
    assert_eq!(opened.status, 303, "signed out, it leads to the form");
    let signed_in = browser.sign_in(of_member("email"), of_member("password"), path).await;
    assert_eq!((signed_in.status, signed_in.location()), (303, path), "and back");
    assert_eq!(browser.decide(path, "confirm", "").await.status, 303);

    let again = format!(
        "{}\nREADY={}",
        session[0].lines().take(2).collect::<Vec<_>>().join("\n"),
        proposal["agreement_id"].as_str().expect("an id")
    );
    assert_eq!(paste(folder.path(), &[again.as_str(), active]).await.trim(), "\"lifecycle\":\"active\"");
    process.kill().await;
}
