//! Files that a condition asks for by title, and that a member reviews where the condition says so.

use serde_json::{Value, json};
use shared::domain::agreement::Label;
use shared::domain::agreement::gate::{GateRule, RequestedFile};
use shared::domain::ids::ParticipantId;
use shared::domain::note::Note;
use tests::app::{Browser, Page, unescaped};
use tests::attending::{Attendee, Live};
use tests::pdf::pdf;

use super::evidence::{lines, unzipped};
use crate::unknown_id;

const HELP: &str = "The resolution that lets you sign, with all pages.";

/// An agreement with one condition: a resolution from the first participant, or from both.
pub(super) async fn asking_for_a_resolution(participants: usize) -> Live {
    Live::new(|draft| {
        let participant_ids = draft.participants.iter().take(participants).map(|participant| participant.id).collect();
        let title = Label::parse("LLC resolution").expect("a title");
        let file = RequestedFile { title: Some(title), help: Note::parse(HELP).ok(), review: true };
        draft.documents.clear();
        draft.stages.truncate(1);
        draft.stages[0].actions.clear();
        draft.stages[0].gates.truncate(1);
        draft.stages[0].gates[0].rule = GateRule::FileUpload { participant_ids, file };
    })
    .await
}

fn condition(live: &Live) -> String {
    format!("/conditions/{}", live.agreement.stages[0].gates[0].id)
}

pub(super) async fn upload(live: &Live, ada: &Attendee, name: &str) -> Page {
    let at = condition(live);
    ada.upload(&at, &format!("{at}/upload"), (name, &pdf(name, ""))).await
}

pub(super) fn review(live: &Live, participant: ParticipantId) -> String {
    format!("{}{}/files/{participant}", live.path(), condition(live))
}

async fn judge(member: &Browser, at: &str, shown: &Page, act: &str, reason: &str) -> Page {
    let (token, receipt) = (shown.hidden("form_token"), shown.hidden("receipt"));
    let fields = [("form_token", token.as_str()), ("receipt", &receipt), ("reason", reason)];
    member.post(&format!("{at}/{act}"), &fields).await
}

async fn gate(live: &Live) -> Value {
    live.read().await["stages"][0]["gates"][0].clone()
}

#[tokio::test]
async fn a_participant_reads_what_is_asked_for() {
    let live = asking_for_a_resolution(1).await;
    let ada = live.attend(live.ids()[0]).await;
    assert!(ada.get("").await.says("Upload: LLC resolution"));
    let page = ada.get(&condition(&live)).await;
    for says in ["<h1>LLC resolution</h1>", HELP, "reviews the file before the agreement goes on"] {
        assert!(page.says(says), "{says}: {}", page.body);
    }
    let gate = gate(&live).await;
    let asked = json!({"title": gate["title"], "help": gate["help"], "review": gate["review"]});
    assert_eq!(asked, json!({"title": "LLC resolution", "help": HELP, "review": true}));
    assert_eq!(gate["waiting_on"], "Ada Okafor to upload “LLC resolution”");
}

#[tokio::test]
async fn a_returned_file_is_uploaded_again_and_its_acceptance_completes_the_agreement() {
    let live = asking_for_a_resolution(1).await;
    let ada = live.attend(live.ids()[0]).await;
    let at = review(&live, ada.participant);
    assert!(live.member.get(&at).await.says("has not uploaded a file yet"));
    assert_eq!(upload(&live, &ada, "Draft.pdf").await.status, 303);
    let waiting = gate(&live).await;
    assert_eq!((&waiting["state"], &waiting["waiting_on_participant_ids"]), (&json!("open"), &json!([])));
    assert_eq!(waiting["waiting_on"], "A member to review the file of Ada Okafor");
    assert!(live.member.get(&live.path()).await.says("Review file of Ada Okafor"));
    assert!(live.member.get("/app").await.says("File to review"));
    assert!(ada.get(&condition(&live)).await.says("reviews your file"));

    let shown = live.member.get(&at).await;
    assert!(shown.says("Draft.pdf") && shown.says("This completes the agreement."), "{}", shown.body);
    let blank = judge(&live.member, &at, &shown, "return", " ").await;
    assert!(blank.status == 422 && blank.says("Reason must not be blank"), "{}", blank.body);
    let returned = judge(&live.member, &at, &shown, "return", "Page 2 is missing.").await;
    assert_eq!(returned.status, 303, "{}", returned.body);
    assert!(live.member.get(returned.location()).await.says("File returned"));
    assert_eq!(gate(&live).await["waiting_on"], "Ada Okafor to upload “LLC resolution”");
    assert!(live.member.get(&live.path()).await.says(">File of Ada Okafor</a>"), "what was returned stays in reach");
    let asked_again = ada.get(&condition(&live)).await;
    assert!(asked_again.says("returned your file") && asked_again.says("Page 2 is missing."), "{}", asked_again.body);
    let overview = ada.get("").await;
    assert!(overview.says("Returned: Page 2 is missing. · Step: "), "{}", overview.body);

    assert_eq!(upload(&live, &ada, "Resolution.pdf").await.status, 303);
    let shown = live.member.get(&at).await;
    let accepted = judge(&live.member, &at, &shown, "accept", "").await;
    assert_eq!(accepted.status, 303, "{}", accepted.body);
    let done = live.member.get(accepted.location()).await;
    assert!(done.says("File accepted") && done.says("The agreement is completed."), "{}", done.body);
    assert_eq!(live.read().await["lifecycle"], "completed");
    assert_eq!(judge(&live.member, &at, &shown, "accept", "").await.status, 303, "the same decision again");
    let late = judge(&live.member, &at, &shown, "return", "Too late.").await;
    assert!(late.status == 409 && late.says("has accepted these files already"), "{}", late.body);

    let (home, history) = (live.member.get("/app").await, live.member.get(&live.path()).await);
    for (act, in_history) in [("returned", "Returned"), ("accepted", "Accepted")] {
        assert!(home.says(&format!("Maren Holt {act} the file of Ada Okafor")), "{}", home.body);
        assert!(history.says(&format!("<li>{in_history} the file of Ada Okafor")), "{}", history.body);
    }

    let bundle = live.member.get(&format!("/app/evidence/agreements/{}/bundle", live.agreement.id())).await;
    let decisions = lines(&unzipped(&bundle.bytes), "file_reviews.jsonl");
    let decisions: Vec<_> = decisions.iter().map(|line| (&line["decision"], &line["reason"])).collect();
    assert_eq!(
        decisions,
        [(&json!("returned"), &json!("Page 2 is missing.")), (&json!("accepted"), &Value::Null)],
        "the evidence has both"
    );
}

#[tokio::test]
async fn home_and_history_name_a_condition_that_was_declined_and_reopened() {
    let live = asking_for_a_resolution(1).await;
    let ada = live.attend(live.ids()[0]).await;
    let at = condition(&live);
    let declined = ada.submit(&at, &format!("{at}/decline"), &[("reason", "I have none.")]).await;
    assert_eq!(declined.status, 303, "{}", declined.body);
    let shown = live.member.get(&live.path()).await;
    let (token, declined_at) = (shown.hidden("form_token"), shown.hidden("declined_at"));
    let fields = [("form_token", token.as_str()), ("declined_at", &declined_at)];
    assert_eq!(live.member.post(&format!("{}{at}/reopen", live.path()), &fields).await.status, 303);
    let named = format!("the condition “File upload” in the step “{}”", live.agreement.stages[0].name.as_str());
    let (home, history) = (live.member.get("/app").await, live.member.get(&live.path()).await);
    for (act, in_history) in [("Ada Okafor declined", "Declined"), ("Maren Holt reopened", "Reopened")] {
        assert!(home.says(&format!("{act} {named}")), "{}", home.body);
        assert!(history.says(&format!("<li>{in_history} {named}")), "{}", history.body);
    }
}

#[tokio::test]
async fn only_the_file_that_the_member_saw_is_accepted() {
    let live = asking_for_a_resolution(2).await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let at = review(&live, ada.participant);
    assert_eq!(upload(&live, &ada, "First.pdf").await.status, 303);
    let shown = live.member.get(&at).await;
    assert_eq!(upload(&live, &ada, "Second.pdf").await.status, 303);
    let stale = judge(&live.member, &at, &shown, "accept", "").await;
    assert!(stale.status == 409 && stale.says("another file since you opened the page"), "{}", stale.body);
    let kept = judge(&live.member, &at, &shown, "return", "Page 2 is missing.").await;
    assert!(kept.status == 409 && kept.says("Page 2 is missing.</textarea>"), "what was typed stays: {}", kept.body);
    let shown = live.member.get(&at).await;
    assert!(shown.says("you have looked at all 2 files") && shown.says("Accept 2 files"), "{}", shown.body);
    let accept = judge(&live.member, &at, &shown, "accept", "");
    let (accepted, third) = tokio::join!(accept, upload(&live, &ada, "Third.pdf"));
    let both = (accepted.status, third.status);
    assert!([(303, 409), (409, 303)].contains(&both), "one of the two comes first: {both:?}");
    if both == (409, 303) {
        let shown = live.member.get(&at).await;
        assert_eq!(judge(&live.member, &at, &shown, "accept", "").await.status, 303);
    }
    let more = upload(&live, &ada, "Fourth.pdf").await;
    assert!(more.status == 409 && more.says("You have done this already"), "{}", more.body);
    let waits = gate(&live).await;
    assert_eq!(
        (&waits["state"], &waits["waiting_on_participant_ids"]),
        (&json!("open"), &json!([northwind.participant]))
    );
    assert!(unescaped(&live.member.get(&live.path()).await.body).contains("File of Ada Okafor"));
}

#[tokio::test]
async fn a_file_without_review_stands_where_it_was_asked_for() {
    let live = Live::new(|draft| {
        let both = draft.participants.iter().map(|participant| participant.id).collect();
        draft.documents.clear();
        draft.stages.truncate(1);
        draft.stages[0].actions.clear();
        draft.stages[0].gates.truncate(1);
        draft.stages[0].gates[0].rule = GateRule::FileUpload { participant_ids: both, file: RequestedFile::default() };
    })
    .await;
    let ada = live.attend(live.ids()[0]).await;
    assert_eq!(upload(&live, &ada, "Passport.pdf").await.status, 303);
    assert!(live.member.get(&live.path()).await.says("File of Ada Okafor"));
    let at = review(&live, ada.participant);
    let page = live.member.get(&at).await;
    assert!(page.says("Passport.pdf") && page.says("without a review"), "{}", page.body);
    let fields = [("form_token", page.hidden("form_token")), ("receipt", unknown_id())];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(live.member.post(&format!("{at}/accept"), &fields).await.status, 404);
    for unknown in [ParticipantId::new(), live.ids()[1]] {
        let expected = if unknown == live.ids()[1] { 200 } else { 404 };
        assert_eq!(live.member.get(&review(&live, unknown)).await.status, expected);
    }
}
