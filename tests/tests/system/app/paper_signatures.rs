//! Signatures on paper: one member records the scan, another confirms or rejects; it counts like one on screen.

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::Agreement;
use shared::domain::ids::ParticipantId;
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page, Person, unescaped};
use tests::attending::{Live, hidden};
use tests::pdf::pdf;
use tests::{Fault, Rule, Shaky};

use super::evidence::{lines, unzipped};
use crate::unknown_id;

const POST: [(&str, &str); 3] = [("day", "20/11/2026"), ("how", "By post"), ("note", "Two <b>pages</b>.")];

async fn two_signers() -> Live {
    Live::new(|draft| {
        draft.stages.drain(..1);
        draft.stages.truncate(1);
    })
    .await
}

async fn with_second() -> (Live, Person, Browser) {
    let live = two_signers().await;
    let jonas = live.org.member("Jonas Beck").await;
    let browser = Browser::of(&live.org, &jonas).await;
    (live, jonas, browser)
}

fn access(live: &Live, participant: impl std::fmt::Display) -> String {
    format!("{}/participants/{participant}/access", live.path())
}

fn form_of(live: &Live, participant: impl std::fmt::Display) -> String {
    format!("{}/participants/{participant}/paper/{}", live.path(), live.agreement.documents[0].id)
}

async fn send(browser: &Browser, path: &str, page: &Page, typed: &[(&str, &str)], scan: (&str, &[u8])) -> Page {
    let fields = hidden(page, path);
    let is_typed = |name: &str| typed.iter().any(|(typed, _)| *typed == name);
    let own = fields.iter().filter(|(name, _)| !is_typed(name)).map(|(name, value)| (name.as_str(), value.as_str()));
    let all: Vec<_> = own.chain(typed.iter().copied()).collect();
    browser.upload(path, &all, ("file", scan.0, scan.1)).await
}

async fn record(live: &Live, browser: &Browser, participant: ParticipantId) -> Page {
    let path = form_of(live, participant);
    let page = browser.get(&path).await;
    assert_eq!(page.status, 200, "{}", page.location());
    let scan = pdf("Signed", "");
    send(browser, &path, &page, &POST, ("Scan.pdf", &scan)).await
}

async fn newest(live: &Live, browser: &Browser, participant: ParticipantId) -> String {
    let access = access(live, participant);
    let page = browser.get(&access).await;
    let (_, rest) = page.body.split_once(&format!("{access}/papers/")).unwrap_or_else(|| panic!("none: {}", page.body));
    format!("{access}/papers/{}", rest.split('/').next().expect("an id"))
}

async fn decide(browser: &Browser, paper: &str, act: &str, reason: &str) -> Page {
    let token = browser.get("/app").await.hidden("form_token");
    browser.post(&format!("{paper}/{act}"), &[("form_token", &token), ("reason", reason)]).await
}

/// Sends one copy of a decision three times, two of them at once. All get the same answer.
async fn decide_again(browser: &Browser, paper: &str, act: &str) -> Page {
    let page = browser.get("/app").await;
    let (token, copy, at) = (page.hidden("form_token"), browser.copy("session").name, format!("{paper}/{act}"));
    let fields = [("form_token", token.as_str()), ("copy", copy.as_str()), ("reason", "")];
    let (one, two) = tokio::join!(browser.post(&at, &fields), browser.post(&at, &fields));
    let third = browser.post(&at, &fields).await;
    for again in [&two, &third] {
        assert_eq!((again.status, again.location()), (one.status, one.location()), "{}", again.body);
    }
    third
}

async fn outcome(browser: &Browser, done: &Page) -> Page {
    assert_eq!(done.status, 303, "{}", done.body);
    let page = browser.get(done.location()).await;
    assert_eq!(page.status, 200, "{}", done.location());
    page
}

async fn signatures(live: &Live) -> Vec<Value> {
    let events = live.org.events().await;
    events
        .into_iter()
        .filter(|event| event["type"] == "signature.completed")
        .map(|event| event["data"].clone())
        .collect()
}

async fn gate(live: &Live) -> Value {
    live.read().await["stages"][0]["gates"][0].clone()
}

async fn cancel(live: &Live) {
    let proposal = live.org.propose("cancel_agreement", &live.agreement).await;
    let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    assert_eq!(live.member.decide(&review, "confirm", "").await.status, 303);
}

#[tokio::test]
async fn a_second_member_confirms_it_and_the_agreement_goes_on() {
    let (live, _, jonas) = with_second().await;
    let [ada, northwind] = live.ids();
    let page = live.member.get(&access(&live, ada)).await;
    assert!(page.says("Signatures on paper") && page.says(">Record a paper signature</a>"), "{}", page.body);
    let form = live.member.get(&form_of(&live, ada)).await;
    for text in
        ["Ada Okafor", "Scan</label>", "Date signed</label>", "How it came</label>", "another member confirms it"]
    {
        assert!(form.says(text), "{text}: {}", form.body);
    }
    let before = live.read().await;
    let done = outcome(&live.member, &record(&live, &live.member, ada).await).await;
    for text in ["Paper signature recorded", "another member compares it", "You recorded it, so another member"] {
        assert!(done.says(text), "{text}: {}", done.body);
    }
    assert!(!done.says(">Confirm paper signature</button>"), "{}", done.body);
    let deal = live.member.get(&live.path()).await;
    let waiting = deal.body.split_once("<dt>Waiting for</dt>").expect("whom it waits for").1;
    let waits = "A member to confirm the paper signature of Ada Okafor, and Northwind Robotics, Inc. to sign";
    assert!(waiting.starts_with(&format!("<dd><span>{waits}")), "{waiting}");
    let after = live.read().await;
    let asked = &after["stages"][0]["gates"][0];
    assert_eq!(
        (&asked["state"], &after["documents"]),
        (&before["stages"][0]["gates"][0]["state"], &before["documents"]),
        "nothing counts yet"
    );
    assert_eq!(
        (&asked["waiting_on"], &asked["waiting_on_participant_ids"]),
        (&json!(waits), &json!([northwind])),
        "a task list asks nobody twice"
    );
    assert_eq!(signatures(&live).await, Vec::<Value>::new());
    assert!(!done.says(">Record a paper signature</a>"));

    let paper = newest(&live, &live.member, ada).await;
    let own = outcome(&live.member, &decide(&live.member, &paper, "confirm", "").await).await;
    assert!(own.says("Nothing was changed") && own.says("another member has to confirm it"), "{}", own.body);
    assert!(!live.member.get("/app").await.says("Paper signature ·"));
    let home = jonas.get("/app").await;
    for text in ["Paper signature ·", "Signature of Ada Okafor on “Purchase agreement”", "To confirm"] {
        assert!(home.says(text), "{text}: {}", home.body);
    }
    let (_, waiting) = home.body.split_once("<h2 id=\"waiting\">").expect("others to wait for");
    assert!(waiting.contains("Northwind Robotics, Inc. to sign") && !waiting.contains("Ada Okafor and "), "{waiting}");
    let page = jonas.get(&live.path()).await;
    assert!(page.says("Paper signature of Ada Okafor needs confirmation</a>"), "{}", page.body);
    let page = jonas.get(&access(&live, ada)).await;
    for text in [
        "By post",
        "Scan.pdf",
        "Confirming signs “Purchase agreement” for Ada Okafor",
        "Two <b>pages</b>.",
        "Recorded by Maren Holt",
    ] {
        assert!(unescaped(&page.body).contains(text) && !page.says("<b>pages"), "{text}: {}", page.body);
    }
    assert!(!page.says("This completes the agreement."), "another signs yet: {}", page.body);
    let scan = jonas.get(&format!("{paper}/scan")).await;
    assert!(scan.status == 200 && scan.body.starts_with("%PDF-"));
    assert!(scan.headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename=\"Scan.pdf\""));
    let done = outcome(&jonas, &decide_again(&jonas, &paper, "confirm").await).await;
    assert!(done.says("Paper signature confirmed") && done.says("Confirmed by Jonas Beck"), "{}", done.body);
    assert_eq!(gate(&live).await["waiting_on_participant_ids"], json!([northwind]));
    let document = live.agreement.documents[0].id;
    let data = json!({"agreement_id": live.agreement.id(), "document_id": document, "participant_id": ada});
    assert_eq!(signatures(&live).await, [data]);
    assert!(!jonas.get("/app").await.says("Paper signature ·"));

    outcome(&jonas, &record(&live, &jonas, northwind).await).await;
    let home = live.member.get("/app").await;
    assert!(home.says("Paper signature ·") && !home.says("<h2 id=\"waiting\">"), "once: {}", home.body);
    let home = jonas.get("/app").await;
    let waits = "A member to confirm the paper signature of Northwind Robotics, Inc.";
    assert!(!home.says("Paper signature ·") && home.says(waits), "another member confirms it: {}", home.body);
    let paper = newest(&live, &jonas, northwind).await;
    let before = live.member.get(&access(&live, northwind)).await;
    assert!(before.says("This completes the agreement."), "{}", before.body);
    let done = outcome(&live.member, &decide(&live.member, &paper, "confirm", "").await).await;
    assert!(done.says("Paper signature confirmed") && done.says("The agreement is completed."), "{}", done.body);
    let read = live.read().await;
    assert_eq!((&read["lifecycle"], &read["documents"][0]["state"]), (&json!("completed"), &json!("signed")));
    let completed = live.org.events().await.iter().filter(|event| event["type"] == "agreement.completed").count();
    assert_eq!((signatures(&live).await.len(), completed), (2, 1));
    let page = live.member.get(&live.path()).await;
    for text in [
        "Signed on paper",
        "Ada Okafor signed on paper on 20 Nov 2026. Recorded by Maren Holt, confirmed by Jonas Beck.",
        "Recorded a signature of Ada Okafor on paper",
        "Confirmed the paper signature of Ada Okafor",
    ] {
        assert!(unescaped(&page.body).contains(text), "{text}: {}", page.body);
    }
    assert_eq!(live.member.get(&form_of(&live, ada)).await.location(), access(&live, ada), "nothing is left to record");
    let audit = live.org.audit().await;
    let rows: Vec<_> =
        audit.iter().filter(|row| row["operation"].as_str().unwrap_or("").ends_with("paper_signature")).collect();
    let text = serde_json::to_string(&rows).expect("JSON");
    assert!(
        text.contains(&ada.uuid().simple().to_string()) && !text.contains("post") && !text.contains("Scan"),
        "{text}"
    );
    for operation in ["record_paper_signature", "confirm_paper_signature", "download_paper_signature"] {
        assert!(text.contains(operation), "{operation}: {text}");
    }
}

#[tokio::test]
async fn the_bundle_has_the_scan_and_the_certificate_is_written() {
    let (live, _, jonas) = with_second().await;
    let [ada, northwind] = live.ids();
    for participant in [ada, northwind] {
        assert_eq!(record(&live, &live.member, participant).await.status, 303);
        let paper = newest(&live, &live.member, participant).await;
        assert_eq!(decide(&jonas, &paper, "confirm", "").await.status, 303);
    }
    assert_eq!(live.read().await["lifecycle"], "completed", "nobody has signed on screen");
    let bundle = live.member.get(&format!("/app/evidence/agreements/{}/bundle", live.agreement.id())).await;
    assert_eq!(bundle.status, 200, "{}", bundle.body);
    let files = unzipped(&bundle.bytes);
    let papers = lines(&files, "paper_signatures.jsonl");
    assert_eq!(papers.len(), 2);
    for paper in &papers {
        assert_eq!((&paper["state"], &paper["how_it_came"]), (&json!("confirmed"), &json!("By post")));
        assert_eq!(paper["recorded_by"]["display_name"], "Maren Holt");
        assert_eq!(paper["decided_by"]["display_name"], "Jonas Beck");
        assert!(!paper.to_string().contains("pages"), "the note is for members only");
        let scan = &files[paper["path"].as_str().expect("a path")];
        assert_eq!(*scan, pdf("Signed", ""));
    }
    assert!(files["certificate.pdf"].starts_with(b"%PDF-"));
    assert_eq!(lines(&files, "receipts.jsonl"), Vec::<Value>::new());
}

#[tokio::test]
async fn the_participant_sees_that_it_counts_and_what_it_rests_on() {
    let (live, _, jonas) = with_second().await;
    let [ada, _] = live.ids();
    outcome(&live.member, &record(&live, &live.member, ada).await).await;
    let paper = newest(&live, &jonas, ada).await;
    let attendee = live.attend(ada).await;
    let document = format!("/documents/{}", live.agreement.documents[0].id);
    let scan = format!("/papers/{}/scan", paper.rsplit('/').next().expect("an id"));
    let page = attendee.get(&document).await;
    assert!(page.says(">Sign</button>") && !page.says("on paper on"), "it does not count yet: {}", page.body);
    for text in ["recorded that you signed this document on paper", "You · Signed on paper, to be confirmed"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let overview = attendee.get("").await;
    for text in ["“Purchase agreement”, signed on paper", "It counts once", "On paper, to be confirmed"] {
        assert!(overview.says(text), "{text}: {}", overview.body);
    }
    assert!(!overview.says("Review and sign"), "they have signed: {}", overview.body);
    assert_eq!(attendee.get(&scan).await.status, 404);
    outcome(&jonas, &decide(&jonas, &paper, "confirm", "").await).await;
    let overview = attendee.get("").await;
    for text in ["Signed on paper", "You signed “Purchase agreement” on paper on 20 Nov 2026"] {
        assert!(overview.says(text), "{text}: {}", overview.body);
    }
    let page = attendee.get(&document).await;
    for text in ["You signed this document on paper", "your signature of 20 Nov 2026", "Download the scan"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(
        !page.says(">Sign</button>") && !unescaped(&page.body).contains("Two <b>pages"),
        "the note is for members: {}",
        page.body
    );
    let file = attendee.get(&scan).await;
    assert!(file.status == 200 && file.body.starts_with("%PDF-"));
    assert!(file.headers["content-disposition"].to_str().unwrap().starts_with("attachment;"));
    let other = live.attend(live.ids()[1]).await;
    assert_eq!(other.get(&scan).await.status, 404, "nobody else gets it");
    let seen = other.get(&document).await;
    assert!(seen.says("Signed") && !seen.says("Download the scan"), "{}", seen.body);
}

#[tokio::test]
async fn the_only_member_is_taken_at_their_word() {
    let live = two_signers().await;
    let [ada, northwind] = live.ids();
    let form = live.member.get(&form_of(&live, ada)).await;
    assert!(form.says("so no one else can confirm it: the signature counts at once"), "{}", form.body);
    let done = outcome(&live.member, &record(&live, &live.member, ada).await).await;
    for text in ["Ada Okafor has signed on paper", "Counted without a second member, as there was none"] {
        assert!(done.says(text), "{text}: {}", done.body);
    }
    assert_eq!(signatures(&live).await.len(), 1);
    // A second member joins while the form is open: confirmation is now required.
    let path = form_of(&live, northwind);
    let form = live.member.get(&path).await;
    let jonas = live.org.member("Jonas Beck").await;
    let scan = pdf("Signed", "");
    let done = outcome(&live.member, &send(&live.member, &path, &form, &POST, ("Scan.pdf", &scan)).await).await;
    assert!(done.says("another member compares it"), "{}", done.body);
    assert!(!live.member.get("/app").await.says("Paper signature ·"), "they wait for another member");
    assert_eq!(signatures(&live).await.len(), 1);
    // That member is removed first: a week later, the remaining member continues alone, and the record says so.
    ops::remove_member(live.org.store(), live.org.id, jonas.id).await.expect("removed");
    let page = live.member.get(&access(&live, northwind)).await;
    assert!(page.says("You recorded it, so another member has to confirm it"), "{}", page.body);
    live.org.a_week_passes_for_members().await;
    let page = live.member.get(&access(&live, northwind)).await;
    assert!(page.says("You are the only member, so no one else can confirm it"), "{}", page.body);
    let home = live.member.get("/app").await;
    assert!(home.says("Paper signature ·") && home.says("Signature of Northwind"), "{}", home.body);
    let paper = newest(&live, &live.member, northwind).await;
    let done = outcome(&live.member, &decide_again(&live.member, &paper, "confirm").await).await;
    assert!(done.says("Counted without a second member") && !done.says("Confirmed by"), "{}", done.body);
    assert_eq!(live.read().await["lifecycle"], "completed");
}

#[tokio::test]
async fn a_form_that_promised_a_second_member_never_counts_at_once() {
    let (live, jonas, _) = with_second().await;
    let [ada, _] = live.ids();
    let path = form_of(&live, ada);
    let form = live.member.get(&path).await;
    ops::remove_member(live.org.store(), live.org.id, jonas.id).await.expect("removed");
    let scan = pdf("Signed", "");
    outcome(&live.member, &send(&live.member, &path, &form, &POST, ("Scan.pdf", &scan)).await).await;
    assert_eq!(signatures(&live).await.len(), 0);
    let eve = Browser::of(&live.org, &live.org.member("Eve Lind").await).await;
    let paper = newest(&live, &eve, ada).await;
    outcome(&live.member, &decide(&live.member, &paper, "reject", "Again.").await).await;
    let form = live.member.get(&path).await;
    let typed: Vec<_> = POST.into_iter().chain([("counts", "at_once")]).collect();
    outcome(&live.member, &send(&live.member, &path, &form, &typed, ("Scan.pdf", &scan)).await).await;
    assert_eq!(signatures(&live).await.len(), 0);
}

#[tokio::test]
async fn a_recorder_who_is_removed_leaves_it_to_the_others() {
    let (live, jonas, browser) = with_second().await;
    let [ada, northwind] = live.ids();
    for participant in [ada, northwind] {
        outcome(&browser, &record(&live, &browser, participant).await).await;
    }
    let [one, other] = [newest(&live, &live.member, ada).await, newest(&live, &live.member, northwind).await];
    let token = browser.get("/app").await.hidden("form_token");
    ops::remove_member(live.org.store(), live.org.id, jonas.id).await.expect("removed");
    let late = browser.post(&format!("{one}/confirm"), &[("form_token", &token)]).await;
    assert!(late.status == 303 && late.location().starts_with("/app/sign-in"), "{}", late.location());
    outcome(&live.member, &decide(&live.member, &one, "confirm", "").await).await;
    let done = outcome(&live.member, &decide(&live.member, &other, "reject", "Not legible.").await).await;
    assert!(done.says("Paper signature rejected") && done.says("Not legible."), "{}", done.body);
    assert_eq!((signatures(&live).await.len(), live.read().await["lifecycle"].clone()), (1, json!("active")));
    let page = live.member.get(&live.path()).await;
    assert!(page.says("Recorded by Jonas Beck, confirmed by Maren Holt"), "{}", page.body);
}

#[tokio::test]
async fn a_rejection_needs_a_reason_and_another_one_can_follow() {
    let (live, _, jonas) = with_second().await;
    let [ada, _] = live.ids();
    outcome(&live.member, &record(&live, &live.member, ada).await).await;
    let paper = newest(&live, &jonas, ada).await;
    let (blank, long) = (decide(&jonas, &paper, "reject", " ").await, "x".repeat(2001));
    assert!(blank.status == 422 && blank.says("Reason must not be blank"), "{}", blank.body);
    assert!(blank.title().starts_with("Error: ") && blank.body.matches("autofocus").count() == 1, "{}", blank.title());
    let long = decide(&jonas, &paper, "reject", &long).await;
    assert!(long.status == 422 && long.says("xxxx"), "{}", long.body);
    let done = outcome(&jonas, &decide(&jonas, &paper, "reject", "Page 2 is <i>missing</i>.").await).await;
    assert!(unescaped(&done.body).contains("“Page 2 is <i>missing</i>.”") && !done.says("<i>missing"), "{}", done.body);
    let late = outcome(&live.member, &decide(&live.member, &paper, "confirm", "").await).await;
    assert!(late.says("It was confirmed or rejected before"), "{}", late.body);
    assert_eq!(signatures(&live).await.len(), 0);
    outcome(&live.member, &record(&live, &live.member, ada).await).await;
    let next = newest(&live, &jonas, ada).await;
    assert_ne!(next, paper);
    outcome(&jonas, &decide(&jonas, &next, "confirm", "").await).await;
    assert_eq!(signatures(&live).await.len(), 1);
}

#[tokio::test]
async fn what_happened_meanwhile_keeps_it_from_counting() {
    let (live, _, jonas) = with_second().await;
    let [ada, northwind] = live.ids();
    for participant in [ada, northwind] {
        outcome(&live.member, &record(&live, &live.member, participant).await).await;
    }
    let [one, other] = [newest(&live, &jonas, ada).await, newest(&live, &jonas, northwind).await];
    let attendee = live.attend(ada).await;
    assert_eq!(attendee.sign(&live.agreement, "Ada").await.status, 303);
    let late = outcome(&jonas, &decide(&jonas, &one, "confirm", "").await).await;
    assert!(late.says("Nothing was changed") && late.says("signed on screen meanwhile"), "{}", late.body);
    let overview = attendee.get("").await;
    assert!(overview.says("Signed by you") && !overview.says("on paper"), "{}", overview.body);
    assert!(!live.member.get(&live.path()).await.says("Paper signature of Ada Okafor"));
    outcome(&jonas, &decide(&jonas, &one, "reject", "Signed on screen.").await).await;
    let attendee = live.attend(northwind).await;
    let document = format!("/documents/{}", live.agreement.documents[0].id);
    let declined = attendee.submit(&document, &format!("{document}/decline"), &[("reason", "No.")]).await;
    assert_eq!(declined.status, 303, "{}", declined.body);
    let late = outcome(&jonas, &decide(&jonas, &other, "confirm", "").await).await;
    assert!(late.says("Reopen the condition, then confirm it"), "{}", late.body);
    assert_eq!(signatures(&live).await.len(), 1);
    cancel(&live).await;
    for act in ["confirm", "reject"] {
        let late = outcome(&jonas, &decide(&jonas, &other, act, "Too late.").await).await;
        assert!(
            late.says("Nothing was changed") && late.says("The agreement ended before it was confirmed"),
            "{}",
            late.body
        );
    }
    assert!(!jonas.get("/app").await.says("Paper signature ·"));
    assert_eq!(signatures(&live).await.len(), 1);
}

#[tokio::test]
async fn what_is_wrong_is_told_beside_its_field_and_kept() {
    let (live, _, _) = with_second().await;
    let [ada, _] = live.ids();
    let path = form_of(&live, ada);
    let form = live.member.get(&path).await;
    let (before, next_year) = (live.org.state().await, Timestamp::now().plus_seconds(370 * 86_400).day());
    let scan = pdf("Signed", "");
    let big = [b"%PDF-1.7\n".to_vec(), vec![b'x'; 4 * 1024 * 1024]].concat();
    for (typed, file, says) in [
        ([("day", "soon"), ("how", "By post"), ("note", "")], &scan[..], "Date signed must be a date"),
        ([("day", &*next_year), ("how", "By post"), ("note", "")], &scan, "Date signed can’t be in the future"),
        ([("day", "20/11/1926"), ("how", "By post"), ("note", "")], &scan, "Date signed can’t be before 2000"),
        ([("day", "20/11/2026"), ("how", " "), ("note", "kept")], &scan, "How it came must"),
        ([("day", "20/11/2026"), ("how", "a\u{202e}b"), ("note", "")], &scan, "How it came must"),
        ([("day", "20/11/2026"), ("how", "By post"), ("note", "a\u{7}b")], &scan, "Note must"),
        ([("day", "20/11/2026"), ("how", "By post"), ("note", "kept")], b"", "Scan is empty"),
        ([("day", "20/11/2026"), ("how", "By post"), ("note", "")], b"<html><script>", "Scan must be a PDF"),
        ([("day", "20/11/2026"), ("how", "By post"), ("note", "")], &big, "Scan is 4.1 MB. The limit is 4 MB"),
    ] {
        let page = send(&live.member, &path, &form, &typed, ("Scan.pdf", file)).await;
        assert!(page.status == 422 && page.says(says), "{says}: {} {}", page.status, page.body);
        assert!(page.title().starts_with("Error: ") && page.body.matches("autofocus").count() == 1, "{}", page.body);
        assert!(page.says(typed[2].1), "{}", page.body);
    }
    for (shown, says) in [
        (("blocks", ""), "The places to sign have changed"),
        (("sha256", "ab"), "The document has changed since this page was shown"),
    ] {
        let typed: Vec<_> = POST.into_iter().chain([shown]).collect();
        let page = send(&live.member, &path, &form, &typed, ("Scan.pdf", &scan)).await;
        assert!(page.status == 409 && page.says("Nothing was recorded") && page.says(says), "{says}: {}", page.body);
    }
    assert_eq!(live.org.state().await, before);
    let token = form.hidden("form_token");
    for at in [
        form_of(&live, unknown_id()),
        format!("{}/participants/{ada}/paper/{}", live.path(), unknown_id()),
        form_of(&two_signers().await, ada),
    ] {
        let fields = [("form_token", token.as_str()), POST[0], POST[1]];
        let posted = live.member.upload(&at, &fields, ("file", "a.pdf", &scan)).await;
        assert_eq!((live.member.get(&at).await.status, posted.status), (404, 404), "{at}");
    }
    let forged = live.member.upload(&path, &POST, ("file", "a.pdf", &scan)).await;
    assert_eq!(forged.status, 403, "{}", forged.body);
    assert_eq!(live.org.state().await, before);
    cancel(&live).await;
    let late = send(&live.member, &path, &form, &POST, ("Scan.pdf", &scan)).await;
    assert!(late.status == 409 && late.says("The agreement is no longer active"), "{}", late.body);
}

#[tokio::test]
async fn the_document_itself_is_no_scan_of_it() {
    let live = two_signers().await;
    let [ada, _] = live.ids();
    let path = form_of(&live, ada);
    let page = live.member.get(&path).await;
    let itself =
        live.member.get(&format!("{}/documents/{}/download", live.path(), live.agreement.documents[0].id)).await;
    let refused = send(&live.member, &path, &page, &POST, ("Scan.pdf", &itself.bytes)).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(
        refused.says("is the document itself, which nobody has signed") && refused.says("By post"),
        "{}",
        refused.body
    );
    assert!(signatures(&live).await.is_empty());
    let recorded = send(&live.member, &path, &page, &POST, ("Scan.pdf", &pdf("Signed", ""))).await;
    assert_eq!(recorded.status, 303, "{}", recorded.body);
}

/// A merely re-saved document has the same pages: it needs a tick, which the confirming member sees.
#[tokio::test]
async fn a_scan_with_the_pages_of_the_document_takes_a_tick() {
    let (live, _, jonas) = with_second().await;
    let [ada, _] = live.ids();
    let path = form_of(&live, ada);
    let page = live.member.get(&path).await;
    assert!(!page.says("although its pages are those"), "{}", page.body);
    let document = format!("{}/documents/{}/download", live.path(), live.agreement.documents[0].id);
    let mut saved_again = live.member.get(&document).await.bytes;
    saved_again.extend(b"\n% saved again\n%%EOF\n");
    let refused = send(&live.member, &path, &page, &POST, ("Scan.pdf", &saved_again)).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let says = "It is signed, although its pages are those of the document must be ticked if so.";
    assert!(refused.says(says) && refused.says("By post"), "{}", refused.body);
    assert!(signatures(&live).await.is_empty());
    let ticked: Vec<_> = POST.into_iter().chain([("is_signed", "on")]).collect();
    let recorded = send(&live.member, &path, &page, &ticked, ("Scan.pdf", &saved_again)).await;
    assert_eq!(recorded.status, 303, "{}", recorded.body);
    let shown = jonas.get(&access(&live, ada)).await;
    assert!(shown.says("Its pages are those of the unsigned document"), "{}", shown.body);
}

#[tokio::test]
async fn forms_that_are_sent_twice_or_at_once_act_once() {
    let (live, _, jonas) = with_second().await;
    let eve = Browser::of(&live.org, &live.org.member("Eve Lind").await).await;
    let [ada, northwind] = live.ids();
    let path = form_of(&live, ada);
    let form = live.member.get(&path).await;
    let scan = pdf("Signed", "");
    let sent = join_all((0..4).map(|_| send(&live.member, &path, &form, &POST, ("Scan.pdf", &scan)))).await;
    assert!(
        sent.iter().all(|page| page.status == 303),
        "{:?}",
        sent.iter().map(|page| page.status).collect::<Vec<_>>()
    );
    let page = jonas.get(&access(&live, ada)).await;
    assert_eq!(page.body.matches("Signed “Purchase agreement” on 20 Nov 2026").count(), 1, "{}", page.body);
    let paper = newest(&live, &jonas, ada).await;
    let (one, other, reject) = tokio::join!(
        decide(&jonas, &paper, "confirm", ""),
        decide(&eve, &paper, "confirm", ""),
        decide(&live.member, &paper, "reject", "Wrong scan."),
    );
    assert_eq!((one.status, other.status, reject.status), (303, 303, 303));
    let page = jonas.get(&access(&live, ada)).await;
    let is_rejected = page.says("Rejected by Maren Holt");
    let confirmed =
        ["Confirmed by Jonas Beck", "Confirmed by Eve Lind"].into_iter().filter(|text| page.says(text)).count();
    assert_eq!(confirmed + usize::from(is_rejected), 1, "{}", page.body);
    assert_eq!(signatures(&live).await.len(), confirmed);

    // One is confirmed while its participant signs on screen: either way, one signature.
    outcome(&live.member, &record(&live, &live.member, northwind).await).await;
    let paper = newest(&live, &jonas, northwind).await;
    let attendee = live.attend(northwind).await;
    let (signed, confirmed) =
        tokio::join!(attendee.sign(&live.agreement, "Nora"), decide(&jonas, &paper, "confirm", ""));
    // Whoever opens the page after the paper counts finds no form there.
    assert!([303, 409, 404].contains(&signed.status) && confirmed.status == 303, "{} {}", signed.status, signed.body);
    let of = json!(northwind);
    let count = signatures(&live).await.iter().filter(|data| data["participant_id"] == of).count();
    assert_eq!(count, 1);
    let page = jonas.get(&access(&live, northwind)).await;
    assert_eq!(page.says("Confirmed by Jonas Beck"), signed.status != 303, "{}", page.body);
}

#[tokio::test]
async fn a_confirmation_whose_answer_was_lost_counts_once() {
    let (live, _, jonas) = with_second().await;
    let [ada, _] = live.ids();
    outcome(&live.member, &record(&live, &live.member, ada).await).await;
    let paper = newest(&live, &jonas, ada).await;
    let shaky = Shaky::beside(&live.org);
    let far = shaky.browser();
    far.set_cookie("session", &jonas.cookie("session").expect("a session"));
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("PAPERSIGNATURE#").times(1), Fault::LateCommit);
    let done = outcome(&far, &decide(&far, &paper, "confirm", "").await).await;
    assert!(done.says("Paper signature confirmed") && done.says("Confirmed by Jonas Beck"), "{}", done.body);
    assert_eq!(signatures(&live).await.len(), 1);
}

#[tokio::test]
async fn strangers_find_nothing() {
    let (live, _, jonas) = with_second().await;
    let [ada, northwind] = live.ids();
    outcome(&live.member, &record(&live, &live.member, ada).await).await;
    let paper = newest(&live, &jonas, ada).await;
    let foreign = two_signers().await;
    let agreement: &Agreement = &foreign.agreement;
    let wrong = [
        paper.replace(&ada.to_string(), &northwind.to_string()),
        paper.replace(&live.agreement.id().to_string(), &agreement.id().to_string()),
        format!("{}/papers/{}", access(&live, ada), unknown_id()),
    ];
    let before = live.org.state().await;
    for at in &wrong {
        assert_eq!(jonas.get(&format!("{at}/scan")).await.status, 404, "{at}");
        for act in ["confirm", "reject"] {
            assert_eq!(decide(&jonas, at, act, "No.").await.status, 404, "{at}");
        }
    }
    assert_eq!(foreign.member.get(&format!("{paper}/scan")).await.status, 404);
    assert_eq!(decide(&foreign.member, &paper, "confirm", "").await.status, 404);
    assert_eq!(live.org.state().await, before);
    let read = live.read().await.to_string().replace("A member to confirm the paper signature of", "");
    assert!(!read.contains("paper"), "the API says so in display text only: {read}");
}
