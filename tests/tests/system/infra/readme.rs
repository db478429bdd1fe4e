//! README and sibling pages: walkthroughs are pasted unchanged into a shell; code, links and paths must exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tests::app::Browser;
use tests::attending::hidden;
use tests::process::{Process, Serve};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::STACK;

const TOKENS: &str = "/app/developers/tokens";
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const README: &str = "README.md";
/// The README is a front door: longer content goes to other pages.
const README_BYTES_MAX: usize = 9 * 1024;
/// Pages whose shell blocks the tests paste. No other page has any: what readers type by hand is `console`.
const PASTED: [&str; 5] =
    [README, "docs/first-session.md", "docs/draft-to-completion.md", "docs/trust-funding.md", "docs/agents.md"];

fn pages() -> Vec<String> {
    let mut pages: Vec<String> = fs::read_dir(Path::new(ROOT).join("docs"))
        .expect("the folder docs")
        .map(|entry| format!("docs/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .collect();
    pages.extend([README, "infra/OPERATIONS.md", "events/verify/README.md"].map(str::to_owned));
    pages.sort();
    pages
}

fn read(page: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

fn blocks(page: &str, language: &str) -> Vec<String> {
    let (text, fence) = (read(page), format!("```{language}\n"));
    let blocks = text.split(&fence).skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn prose(page: &str) -> String {
    read(page).split("```").step_by(2).collect()
}

async fn paste(folder: &Path, blocks: &[&str]) -> String {
    paste_with(folder, blocks, "").await
}

async fn paste_with(folder: &Path, blocks: &[&str], typed: &str) -> String {
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(blocks.join("\n")).current_dir(folder);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = shell.spawn().expect("a shell");
    let mut input = shell.stdin.take().expect("its input");
    input.write_all(format!("{typed}\n").as_bytes()).await.expect("a line");
    drop(input);
    let output = shell.wait_with_output().await.expect("a shell");
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{wrong}");
    said.into_owned()
}

fn json_lines(said: &str) -> Vec<Value> {
    said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[tokio::test]
async fn the_walkthroughs_lead_where_they_say() {
    let curl = Command::new("curl").arg("--version").output().await;
    assert!(curl.is_ok_and(|curl| curl.status.success()), "the walkthroughs need curl (Debian: apt-get install curl)");
    let folder = tempfile::tempdir().expect("a folder");
    let process = Serve::over(STACK, folder.path().join(".local")).seed("demo").start().await;
    first_deal(folder.path(), &process).await;
    first_session(folder.path()).await;
    draft_to_completion(folder.path()).await;
    trust_funding(folder.path(), &process).await;
    agents(folder.path(), &process).await;
    process.kill().await;
}

async fn first_deal(folder: &Path, process: &Process) {
    let blocks = blocks(README, "sh");
    let [ask, propose, active] = &blocks[..] else { panic!("three blocks: {blocks:?}") };
    let ready = fs::read(folder.join(".local/ready.json")).expect("the ready file");
    let ready: Value = serde_json::from_slice(&ready).expect("JSON");
    let member = &ready["organizations"][0]["members"][0];
    let of_member = |name: &str| member[name].as_str().expect("a text");
    let admin = Browser::new(process.base_url());
    let signed_in = admin.sign_in(of_member("email"), of_member("password"), TOKENS).await;
    assert_eq!((signed_in.status, signed_in.location()), (303, TOKENS));
    let form_token = admin.get(TOKENS).await.hidden("form_token");
    let fields = [("form_token", form_token.as_str()), ("name", "First deal"), ("scope", "read_write")];
    let created = admin.post(TOKENS, &fields).await;
    let shown = admin.get(created.location()).await;
    let value = shown.body.split("readonly value=\"").nth(1).and_then(|rest| rest.split('"').next());
    let value = value.unwrap_or_else(|| panic!("the token's value: {}", shown.body));

    let said = paste_with(folder, &[ask, propose], value).await;
    let answers = json_lines(&said);
    let [proposal] = &answers[..] else { panic!("one answer: {said}") };
    let confirm_url = proposal["confirm_url"].as_str().unwrap_or_else(|| panic!("{proposal}"));

    // The same browser: whoever created the token is signed in.
    let path = confirm_url.strip_prefix(process.base_url()).expect("a link of this stack");
    assert_eq!(admin.get(path).await.status, 200);
    assert_eq!(admin.decide(path, "confirm", "").await.status, 303);

    let address = propose.lines().next().expect("the address");
    let agreement = format!("AGREEMENT={}", proposal["agreement_id"].as_str().expect("an id"));
    let said = paste_with(folder, &[ask, address, &agreement, active], value).await;
    assert_eq!(said.trim(), "\"lifecycle\":\"active\"");
}

async fn first_session(folder: &Path) {
    let blocks = blocks("docs/first-session.md", "sh");
    let [session] = &blocks[..] else { panic!("one block: {blocks:?}") };
    let said = paste(folder, &[session]).await;
    assert_eq!(said.matches("HTTP/1.1 201 Created").count(), 2, "{said}");
    assert_eq!(said.matches("idempotent-replayed: true").count(), 1, "{said}");
    assert_eq!(said.matches("location: /api/v1/contacts/").count(), 2, "{said}");
    assert_eq!(said.matches("ignored-fields: display_name\r\n").count(), 1, "{said}");
    assert!(said.contains("Ada Weiß") && said.contains("\"unknown_field\"") && said.contains("WS-0000"), "{said}");
}

async fn draft_to_completion(folder: &Path) {
    let blocks = blocks("docs/draft-to-completion.md", "sh");
    let [draft, look, complete] = &blocks[..] else { panic!("three blocks: {blocks:?}") };
    let said = paste(folder, &[draft, look]).await;
    let answers = json_lines(&said);
    let [participant, refused] = &answers[..] else { panic!("two answers: {said}") };
    assert_eq!(participant["roles"], serde_json::json!(["signer"]));
    assert_eq!(refused["error"]["errors"][0]["code"], "no_stages", "{refused}");
    // The first deal waits for its people. The browser test plays them, as the page says.
    assert!(said.ends_with("\"lifecycle\":\"active\"\n"), "{said}");

    // The page starts a faster stack. Here, in real time, the agreement stays active; the browser test completes it.
    fs::create_dir(folder.join(".local-fast")).expect("a folder");
    fs::copy(folder.join(".local/ready.json"), folder.join(".local-fast/ready.json")).expect("the ready file");
    assert_eq!(paste(folder, &[complete]).await.trim(), "\"lifecycle\":\"active\"");
}

async fn trust_funding(folder: &Path, process: &Process) {
    let blocks = blocks("docs/trust-funding.md", "sh");
    let [list, sort, paper, proven] = &blocks[..] else { panic!("four blocks: {blocks:?}") };
    let tell = "echo \"$WORKSPACE $ACCOUNT $AGREEMENT\"";
    let mut pasted = Vec::new();
    for _ in 0..2 {
        let said = paste(folder, &[list, sort, paper, tell]).await;
        let (lines, ids) = said.trim_end().rsplit_once('\n').expect("the ids");
        assert_funding_was_papered(lines);
        let ids: Vec<String> = ids.split(' ').map(str::to_owned).collect();
        let [workspace, account, agreement]: [String; 3] = ids.try_into().unwrap_or_else(|_| panic!("ids: {said}"));
        assert!([&workspace, &account, &agreement].iter().all(|id| !id.is_empty()), "{said}");
        pasted.push((workspace, account, agreement));
    }
    assert!(pasted[0].0 != pasted[1].0 && pasted[0].1 != pasted[1].1 && pasted[0].2 != pasted[1].2, "{pasted:?}");
    let (workspace, account, agreement) = &pasted[1];
    prove(folder, process, account, agreement).await;
    let address: String = list.lines().take(2).flat_map(|line| [line, "\n"]).collect();
    let said = paste(folder, &[&address, &format!("WORKSPACE={workspace}"), proven]).await;
    assert!(said.trim().ends_with("\"funded\":1,\"unfunded\":0,\"done\":1}"), "{said}");
}

fn assert_funding_was_papered(said: &str) {
    let lines: Vec<&str> = said.lines().collect();
    let [gathering, refused, ready, parked, document, summary] = &lines[..] else { panic!("six lines: {said}") };
    assert!(gathering.contains("\"gathering\"") && gathering.contains("\"current_title\""), "{said}");
    assert_eq!((*refused, *parked), ("\"code\":\"sensitive_value\"", "\"waiting_on\":\"settlor\""));
    assert_eq!(*ready, "\"phase\":\"ready\",\"missing_facts\":[]");
    assert!(document.ends_with(": Checking at First National\""), "{said}");
    assert!(
        summary.contains("\"papered\":1") && summary.contains("\"parked\":1") && summary.ends_with("\"done\":0}"),
        "{said}"
    );
}

async fn agents(folder: &Path, process: &Process) {
    let (session, printed) = (blocks("docs/agents.md", "sh"), blocks("docs/agents.md", "text"));
    let ([session], [printed]) = (&session[..], &printed[..]) else {
        panic!("a block of each: {session:?} {printed:?}")
    };
    let said = paste(folder, &[session]).await;
    let (told, link) = said.trim().rsplit_once('\n').expect("several lines");
    let (expected, shown) = printed.trim().rsplit_once('\n').expect("several lines");
    assert_eq!(told, expected);
    let member_of = |link: &str| link.split(':').next().map(str::to_owned);
    assert_eq!(member_of(link), member_of(shown));
    let link = link.split_once(':').expect("a member").1.trim_matches('"');
    let ready = fs::read(folder.join(".local/ready.json")).expect("the ready file");
    let ready: Value = serde_json::from_slice(&ready).expect("JSON");
    let member = &ready["organizations"][0]["members"][0];
    let of_member = |name: &str| member[name].as_str().expect("a text");
    let browser = Browser::new(process.base_url());
    assert_eq!(browser.sign_in(of_member("email"), of_member("password"), "/app").await.status, 303);
    let path = link.strip_prefix(process.base_url()).expect("a link of this stack");
    assert_eq!(browser.decide(path, "confirm", "").await.status, 303, "a member confirms what the agent proposed");
}

async fn prove(folder: &Path, process: &Process, account: &str, agreement: &str) {
    let ready = fs::read(folder.join(".local/ready.json")).expect("the ready file");
    let ready: Value = serde_json::from_slice(&ready).expect("JSON");
    let member = &ready["organizations"][0]["members"][0];
    let of_member = |name: &str| member[name].as_str().expect("a text");
    let browser = Browser::new(process.base_url());
    assert_eq!(browser.sign_in(of_member("email"), of_member("password"), "/app").await.status, 303);
    let item = format!("/app/funding/items/{account}");
    let send = async |page: &str, action: &str, typed: &[(&str, &str)]| {
        let own = hidden(&browser.get(page).await, action);
        let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let done = browser.post(action, &own.chain(typed.iter().copied()).collect::<Vec<_>>()).await;
        assert_eq!(done.status, 303, "{action}: {}", done.body);
    };
    let publish = format!("/app/agreements/{agreement}/publish");
    send(&publish, &publish, &[]).await;
    send(&item, &format!("{item}/claim"), &[("claim_note", "The bank changed the title.")]).await;
    let typed =
        [("source", "institution_confirmation"), ("dated", "16/3/2026"), ("proof_note", "By letter of the branch.")];
    send(&item, &format!("{item}/proof"), &typed).await;
    let page = browser.get(&item).await;
    let accept = page.body.split(&format!("action=\"{item}/proof/")).find_map(|rest| rest.split_once("/accept\""));
    let (proof, _) = accept.unwrap_or_else(|| panic!("no proof to accept: {}", page.body));
    send(&item, &format!("{item}/proof/{proof}/accept"), &[]).await;
    assert!(browser.get(&item).await.says("Funded: the receiving side confirmed it."));
}

#[test]
fn every_shell_block_is_pasted() {
    for page in pages().iter().filter(|page| !PASTED.contains(&page.as_str())) {
        assert!(blocks(page, "sh").is_empty(), "{page} has a block that no test pastes");
    }
}

#[test]
fn the_readme_is_a_front_door() {
    let bytes = read(README).len();
    assert!(bytes <= README_BYTES_MAX, "{bytes} bytes; at most {README_BYTES_MAX}");
}

fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

fn anchors(page: &str) -> BTreeSet<String> {
    let text = prose(page);
    let headings = text
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let anchor = |heading: &str| -> String {
        let kept = heading.to_lowercase();
        kept.chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(anchor).collect()
}

/// Resolves `.` and `..`, so that two paths to one file are equal.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            std::path::Component::ParentDir => drop(whole.pop()),
            std::path::Component::CurDir => {}
            other => whole.push(other),
        }
        whole
    })
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut linked = BTreeSet::from([README.to_owned()]);
    for page in pages() {
        for link in links(&page).iter().filter(|link| !link.starts_with("https://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let from = Path::new(&page).parent().expect("a folder");
            let target = if file.is_empty() { PathBuf::from(&page) } else { normal(&from.join(file)) };
            let target = target.to_str().expect("a path").to_owned();
            assert!(Path::new(ROOT).join(&target).exists(), "{page} links {link}");
            assert!(anchor.is_empty() || anchors(&target).contains(anchor), "{page} links {link}");
            linked.insert(target);
        }
    }
    for page in pages() {
        assert!(linked.contains(&page), "no page links {page}");
    }
}

/// Paths are in backquotes, from the root, alone or at the start of a command; `<placeholders>` stand for any name.
#[test]
fn paths_that_the_pages_name_exist() {
    let folders = ["docs/", "events/", "functions/", "infra/", "scripts/", "shared/", "tests/"];
    for page in pages() {
        let text = prose(&page);
        let code = text.split('`').skip(1).step_by(2);
        for named in code.filter(|code| folders.iter().any(|folder| code.starts_with(folder))) {
            let path = named.split([' ', '<']).next().unwrap_or_default();
            let path = Path::new(ROOT).join(path);
            assert!(path.exists() || path.with_extension("rs").exists(), "{page} names {named}");
        }
    }
}

#[test]
fn the_page_on_webhooks_shows_the_code_to_copy() {
    const PAGE: &str = "docs/webhooks.md";
    for (language, file) in [("python", "verify.py"), ("ts", "verify.ts"), ("rust", "verify.rs")] {
        let code = read(&format!("events/verify/{file}"));
        let shown = blocks(PAGE, language);
        assert!(!shown.is_empty(), "{PAGE} shows no {language}");
        for block in shown {
            assert!(code.contains(&block), "{language}:\n{block}");
        }
    }
    for block in blocks(PAGE, "json") {
        let event: Value = serde_json::from_str(&block).expect("an event");
        assert_eq!(crate::members(&event), ["created_at", "data", "id", "type"]);
    }
    let vectors: Vec<Value> = serde_json::from_str(&read("events/verify/vectors.json")).expect("vectors");
    for page in [PAGE, "events/verify/README.md"] {
        assert!(prose(page).contains(&vectors.len().to_string()), "{page} has another number of vectors");
    }
}
