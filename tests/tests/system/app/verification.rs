//! Verified identities: members record them, and waiting gates clear.

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::Agreement;
use shared::domain::agreement::gate::GateRule;
use shared::domain::ids::ParticipantId;
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::{Browser, Page, unescaped};
use tests::{Fault, Org, Rule, Shaky};

use crate::unknown_id;

async fn live() -> (Org, Browser, Agreement) {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren Holt").await).await;
    let draft = org
        .ready_draft("Lease", |draft| {
            let both = draft.participants.iter().map(|participant| participant.id).collect();
            draft.stages.drain(..2);
            draft.stages[0].gates.truncate(1);
            draft.stages[0].gates[0].rule = GateRule::IdentityVerified { participant_ids: both };
        })
        .await;
    let proposal = org.propose("publish_agreement", &draft).await;
    assert_eq!(browser.decide(&review(&proposal), "confirm", "").await.status, 303);
    (org, browser, draft)
}

fn review(proposal: &Value) -> String {
    format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"))
}

fn page_of(agreement: &Agreement) -> String {
    format!("/app/agreements/{}", agreement.id())
}

fn path(agreement: &Agreement, participant: impl std::fmt::Display) -> String {
    format!("{}/participants/{participant}/verification", page_of(agreement))
}

fn ids(agreement: &Agreement) -> [ParticipantId; 2] {
    [agreement.participants[0].id, agreement.participants[1].id]
}

async fn record(browser: &Browser, path: &str, typed: &[(&str, &str)]) -> Page {
    let page = browser.get(path).await;
    assert_eq!(page.status, 200, "{}", page.location());
    let (token, copy) = (page.hidden("form_token"), page.copy());
    let own = [("form_token", token.as_str()), ("copy", copy.name.as_str())];
    browser.post(path, &own.into_iter().chain(typed.iter().copied()).collect::<Vec<_>>()).await
}

const PASSPORT: [(&str, &str); 3] =
    [("method", "Passport, seen on a video call"), ("reference", "KYC-4711"), ("day", "20/11/2026")];

async fn gate(org: &Org, agreement: &Agreement) -> (Value, Value) {
    let read = org.get(format!("/api/v1/agreements/{}", agreement.id())).send().await.ok(200);
    (read["lifecycle"].clone(), read["stages"][0]["gates"][0].clone())
}

#[tokio::test]
async fn verified_identities_clear_the_gate_and_complete_the_agreement() {
    let (org, browser, agreement) = live().await;
    let [ada, northwind] = ids(&agreement);
    let page = browser.get(&page_of(&agreement)).await;
    for name in ["Ada Okafor", "Northwind Robotics, Inc."] {
        assert!(page.says(&format!(">Record verification of {name}</a>")), "{}", page.body);
    }
    let (lifecycle, before) = gate(&org, &agreement).await;
    assert_eq!((&lifecycle, &before["waiting_on_participant_ids"]), (&json!("active"), &json!([ada, northwind])));

    let form = browser.get(&path(&agreement, ada)).await;
    for text in ["Verification of Ada Okafor", "<label for=\"method\">Method</label>", ">Record verification</button>"]
    {
        assert!(form.says(text), "{text}: {}", form.body);
    }
    let done = record(&browser, &path(&agreement, ada), &PASSPORT).await;
    assert_eq!(
        (done.status, done.location()),
        (303, format!("{}#notice", page_of(&agreement)).as_str()),
        "{}",
        done.body
    );
    let page = browser.get(&page_of(&agreement)).await;
    for text in [
        "Ada Okafor is verified",
        "Next: A member to verify the identity of Northwind Robotics, Inc.",
        "Verified on 20 Nov 2026: Passport, seen on a video call, reference KYC-4711. Recorded by Maren Holt.",
        "Recorded that Ada Okafor was verified",
        ">Record verification of Northwind Robotics, Inc.</a>",
    ] {
        assert!(unescaped(&page.body).contains(text), "{text}: {}", page.body);
    }
    assert!(!page.says(">Record verification of Ada Okafor</a>"));
    let (_, after) = gate(&org, &agreement).await;
    assert_eq!((&after["state"], &after["waiting_on_participant_ids"]), (&json!("open"), &json!([northwind])));
    let waits = "A member to verify the identity of Northwind Robotics, Inc.";
    assert_eq!(after["waiting_on"], waits);
    let home = browser.get("/app").await;
    let (_, needed) = home.body.split_once("<h2 id=\"needs\"").expect("what needs a member");
    assert!(needed.contains(waits) && home.says("One thing needs you."), "only a member can do it: {}", home.body);
    assert!(!home.says("<h2 id=\"waiting\""), "{}", home.body);

    let last = browser.get(&path(&agreement, northwind)).await;
    assert!(last.says("This completes the agreement.") && !form.says("This completes"), "{}", last.body);
    assert_eq!(record(&browser, &path(&agreement, northwind), &PASSPORT).await.status, 303);
    let page = browser.get(&page_of(&agreement)).await;
    for text in ["Northwind Robotics, Inc. is verified", "The agreement is completed."] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let (lifecycle, after) = gate(&org, &agreement).await;
    assert_eq!((&lifecycle, &after["state"]), (&json!("completed"), &json!("cleared")));
    let completed = |event: &&Value| event["type"] == "agreement.completed";
    assert_eq!(org.events().await.iter().filter(completed).count(), 1);
    assert_eq!(browser.get(&path(&agreement, ada)).await.location(), page_of(&agreement));
    let audit = org.audit().await;
    let rows = audit.iter().filter(|row| row["operation"] == "record_verification");
    let text = serde_json::to_string(&rows.collect::<Vec<_>>()).expect("JSON");
    assert!(
        text.contains(&ada.uuid().simple().to_string()) && !text.contains("KYC-4711") && !text.contains("Okafor"),
        "{text}"
    );
}

#[tokio::test]
async fn a_form_that_is_sent_twice_records_once_and_two_at_once_both_count() {
    let (_org, browser, agreement) = live().await;
    let ada = ids(&agreement)[0];
    let page = browser.get(&path(&agreement, ada)).await;
    let (token, copy) = (page.hidden("form_token"), page.copy());
    let own = [("form_token", token.as_str()), ("copy", copy.name.as_str())];
    let fields: Vec<_> = own.into_iter().chain(PASSPORT).collect();
    let at = path(&agreement, ada);
    for answer in join_all((0..3).map(|_| browser.post(&at, &fields))).await {
        assert_eq!(answer.status, 303, "{}", answer.body);
    }
    let recorded = |page: &Page| page.body.matches("Verified on 20 Nov 2026").count();
    assert_eq!(recorded(&browser.get(&page_of(&agreement)).await), 1);

    let (org, browser, agreement) = live().await;
    let [at, again] = ids(&agreement).map(|participant| path(&agreement, participant));
    let (one, other) = tokio::join!(record(&browser, &at, &PASSPORT), record(&browser, &again, &PASSPORT));
    assert_eq!((one.status, other.status), (303, 303), "{} {}", one.body, other.body);
    assert_eq!(gate(&org, &agreement).await.0, "completed");
}

#[tokio::test]
async fn what_is_wrong_is_told_beside_its_field_and_kept() {
    let (org, browser, agreement) = live().await;
    let at = path(&agreement, ids(&agreement)[0]);
    let (before, next_year) = (org.state().await, (Timestamp::now().plus_seconds(370 * 86_400)).day());
    for (typed, says) in [
        ([("method", ""), ("reference", ""), ("day", "20/11/2026")], "Method must"),
        ([("method", "<b>Passport</b>"), ("reference", "a\u{202e}b"), ("day", "20/11/2026")], "Reference must"),
        ([("method", "Passport"), ("reference", ""), ("day", "soon")], "Date must be a date"),
        ([("method", "Passport"), ("reference", ""), ("day", "2026-02-30")], "Date must be a day that exists"),
        ([("method", "Passport"), ("reference", ""), ("day", &next_year)], "Date can’t be in the future"),
        ([("method", &"x".repeat(201)), ("reference", ""), ("day", "20/11/2026")], "Method must"),
    ] {
        let page = record(&browser, &at, &typed).await;
        assert!(page.status == 422 && page.says(says) && !page.says("<b>"), "{says}: {}", page.body);
        assert!(page.title().starts_with("Error: ") && page.body.matches("autofocus").count() == 1, "{}", page.body);
        assert!(unescaped(&page.body).contains(&format!("value=\"{}\"", typed[0].1)));
    }
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn strangers_and_ended_agreements_record_nothing() {
    let (org, browser, agreement) = live().await;
    let ada = ids(&agreement)[0];
    let (other, others, foreign) = live().await;
    let token = browser.get("/app").await.hidden("form_token");
    let fields: Vec<_> = [("form_token", token.as_str())].into_iter().chain(PASSPORT).collect();
    let states = async || (org.state().await, other.state().await);
    let before = states().await;
    for at in [
        path(&agreement, unknown_id()),
        path(&agreement, "x"),
        path(&foreign, ids(&foreign)[0]),
        path(&agreement, ids(&foreign)[0]),
    ] {
        assert_eq!((browser.get(&at).await.status, browser.post(&at, &fields).await.status), (404, 404), "{at}");
    }
    assert_eq!(others.post(&path(&foreign, ids(&foreign)[0]), &fields).await.status, 403, "another session's form");
    assert_eq!(states().await, before);
    let draft = org.ready_draft("Lease", |_| {}).await;
    let of_draft = path(&draft, ids(&draft)[0]);
    assert_eq!(browser.get(&of_draft).await.location(), page_of(&draft));
    let refused = browser.post(&of_draft, &fields).await;
    assert!(refused.status == 422 && refused.says("This agreement is not active"), "{}", refused.body);

    let form = browser.get(&path(&agreement, ada)).await;
    let proposal = org.propose("cancel_agreement", &agreement).await;
    assert_eq!(browser.decide(&review(&proposal), "confirm", "").await.status, 303);
    let copy = form.copy();
    let late: Vec<_> = fields.iter().copied().chain([("copy", copy.name.as_str())]).collect();
    let refused = browser.post(&path(&agreement, ada), &late).await;
    assert!(refused.status == 422 && refused.says("Nothing was recorded"), "{}", refused.body);
}

#[tokio::test]
async fn a_participant_has_ten_verifications_at_most() {
    let (_org, browser, agreement) = live().await;
    let at = path(&agreement, ids(&agreement)[0]);
    for _ in 0..limits::VERIFICATIONS_PER_PARTICIPANT_MAX {
        assert_eq!(record(&browser, &at, &PASSPORT).await.status, 303);
    }
    let refused = record(&browser, &at, &PASSPORT).await;
    assert!(refused.status == 422 && refused.says("10 verifications of a participant"), "{}", refused.body);
}

#[tokio::test]
async fn a_verification_whose_answer_was_lost_is_recorded_once() {
    let (org, browser, agreement) = live().await;
    let shaky = Shaky::beside(&org);
    let session = browser.cookie("session").expect("a session");
    let far = shaky.browser();
    far.set_cookie("session", &session);
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("VERIFICATION#").times(1), Fault::LateCommit);
    let done = record(&far, &path(&agreement, ids(&agreement)[0]), &PASSPORT).await;
    assert_eq!(done.status, 303, "{}", done.body);
    assert_eq!(browser.get(&page_of(&agreement)).await.body.matches("Verified on 20 Nov 2026").count(), 1);
}
