//! The app's pages in rare states: expired, failed, lost on the way, sent twice, very long, or full of markup.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::gate::{FieldType, Gate, GateRule, GateState, InformationField};
use shared::domain::agreement::{Agreement, Label, Stage, StageState};
use shared::domain::ids::{FieldId, GateId, StageId};
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::app::{Browser, Person};
use tests::{Fault, Org, Rule, drafts};

use crate::store::faults::Broken;

const WRITE: &str = "TransactWriteItems";

async fn signed_in() -> (Org, Person, Browser) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    (org, person, browser)
}

fn review(proposal: &Value) -> String {
    format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"))
}

async fn state(org: &Org, proposal: &Value) -> Value {
    org.get(format_args!("/api/v1{}", review(proposal).trim_start_matches("/app"))).send().await.ok(200)["state"]
        .clone()
}

fn label(text: &str) -> Label {
    Label::parse(text).expect("a label")
}

fn questions(draft: &Agreement) -> Stage {
    let field = |label_text: &str, field_type, options: &[&str]| InformationField {
        id: FieldId::new(),
        label: label(label_text),
        field_type,
        required: options.is_empty(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
    };
    let fields = vec![
        field("Are you an accredited investor?", FieldType::Boolean, &[]),
        field("Which bank do you use?", FieldType::Choice, &["Harbor <b>Bank</b>", "Another"]),
    ];
    let participant_ids = draft.participants.iter().map(|participant| participant.id).collect();
    let rule = GateRule::InformationRequest { participant_ids, fields };
    let gates = vec![Gate { id: GateId::new(), rule, state: GateState::Locked }];
    Stage { id: StageId::new(), name: label("Questions"), state: StageState::Upcoming, actions: BTreeSet::new(), gates }
}

#[tokio::test]
async fn an_expired_proposal_says_so_and_is_decided_no_more() {
    let (org, _, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let page = browser.get(&review(&proposal)).await;
    let (token, version) = (page.hidden("form_token"), page.hidden("version"));
    let expires_at: Timestamp = proposal["expires_at"].as_str().unwrap().parse().unwrap();
    assert!(page.says(&expires_at.to_string()), "{}", page.body);
    drafts::expire_proposal(&org, &proposal).await;
    for decision in ["confirm", "decline"] {
        let form = [("form_token", token.as_str()), ("version", &version), ("note", "Late"), ("decision", decision)];
        let late = browser.post(&review(&proposal), &form).await;
        assert_eq!(late.status, 409);
        assert!(late.says("The time to decide is over") && late.says("No one decided by"), "{}", late.body);
    }
    let page = browser.get(&review(&proposal)).await;
    assert!(page.says("Expired") && !page.says(">Confirm</button>"), "{}", page.body);
    assert!(page.says("What follows is the agreement as it was proposed."));
    assert_eq!(state(&org, &proposal).await, "expired");
    let home = browser.get("/app").await;
    assert!(home.says("Ready to publish") && !home.says("Needs your decision"), "{}", home.body);
}

#[tokio::test]
async fn a_failure_of_ours_is_a_page_with_a_number_for_support() {
    let broken = Broken::new().await;
    let person = broken.org.member("Maren Holt").await;
    let session = Browser::of(&broken.org, &person).await;
    let browser = Browser::new(broken.client.base_url());
    browser.set_cookie("session", &session.cookie("session").unwrap());
    let failing = broken.faults.inject(Rule::on("Query"), Fault::ServerError);
    let page = browser.get("/app").await;
    assert_eq!(page.status, 500);
    let id = page.headers["x-request-id"].to_str().unwrap();
    assert!(page.says("Something went wrong on our side") && page.says(&format!("<code>{id}</code>")), "{}", page.body);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    for word in ["dynamo", "aws", "injected", "internalservererror"] {
        assert!(!page.body.to_lowercase().contains(word), "{word}: {}", page.body);
    }
    failing.end();
    assert_eq!(browser.get("/app").await.status, 200);

    // If the session can't be read, the page is the same without the member's name.
    let failing = ["GetItem", "BatchGetItem"].map(|target| broken.faults.inject(Rule::on(target), Fault::ServerError));
    let page = browser.get("/app").await;
    assert_eq!(page.status, 500, "{}", page.body);
    assert!(page.says("Something went wrong on our side") && !page.says("Maren"), "{}", page.body);
    drop(failing);
}

#[tokio::test]
async fn an_act_whose_answer_was_lost_is_shown_as_done() {
    for (fault, times) in [(Fault::LateCommit, 1), (Fault::LostResponse, 1), (Fault::LostResponse, usize::MAX)] {
        let broken = Broken::new().await;
        let person = broken.org.member("Maren Holt").await;
        let session = Browser::of(&broken.org, &person).await;
        let browser = Browser::new(broken.client.base_url());
        browser.set_cookie("session", &session.cookie("session").unwrap());
        let draft = broken.org.ready_draft("Lease", |_| {}).await;
        let proposal = broken.org.propose("publish_agreement", &draft).await;
        let lost = broken.faults.inject(broken.on(WRITE).times(times), fault);
        let done = browser.decide(&review(&proposal), "confirm", "").await;
        assert_eq!((done.status, done.location()), (303, review(&proposal).as_str()), "{fault:?}: {}", done.body);
        assert!(lost.count() > 0);
        lost.end();
        assert_eq!(state(&broken.org, &proposal).await, "confirmed");
        let id = done.headers["x-request-id"].to_str().unwrap();
        let audit = broken.audit_of(id).await;
        assert_eq!((audit.len(), &audit[0]["status"]), (1, &json!("303")), "{fault:?}");

        let workspace = format!("/app/workspaces/{}", broken.org.workspace("Pier").await["id"].as_str().unwrap());
        let token = browser.get(&workspace).await.hidden("form_token");
        let lost = broken.faults.inject(broken.on(WRITE).times(times), fault);
        let done = browser.post(&workspace, &[("form_token", &token)]).await;
        assert_eq!((done.status, done.location()), (303, workspace.as_str()), "{fault:?}: {}", done.body);
        lost.end();
        assert!(browser.get(&workspace).await.says("Agreements of this workspace can be published."));
    }
}

#[tokio::test]
async fn a_form_is_not_more_than_a_form_can_be() {
    let (org, _, browser) = signed_in().await;
    let proposal = org.propose("publish_agreement", &org.ready_draft("Lease", |_| {}).await).await;
    let page = browser.get(&review(&proposal)).await;
    let (token, version) = (page.hidden("form_token"), page.hidden("version"));
    let before = org.state().await;
    let fields = [("form_token", token.as_str()), ("version", &version), ("note", ""), ("decision", "confirm")];
    let one_too_many = shared::limits::FORM_FIELDS_MAX - fields.len() + 1;
    let names: Vec<String> = (0..one_too_many).map(|n| format!("x{n}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let long = "x".repeat(64 * 1024);
    let too_much: [Vec<(&str, &str)>; 3] = [many, vec![("x", &long)], vec![("decision", "decline")]];
    for more in &too_much {
        let form: Vec<(&str, &str)> = fields.iter().chain(more).copied().collect();
        let refused = browser.post(&review(&proposal), &form).await;
        assert_eq!(refused.status, 422);
        assert!(refused.says("That form could not be read"), "{}", refused.body);
    }
    let json = browser.post_with(&review(&proposal), &fields, &[("content-type", "application/json")]).await;
    assert_eq!(json.status, 422, "{}", json.body);
    assert_eq!(org.state().await, before);
    let form: Vec<(&str, &str)> = fields.iter().chain(&too_much[0][1..]).copied().collect();
    assert_eq!(browser.post(&review(&proposal), &form).await.status, 303);
}

#[tokio::test]
async fn a_form_that_is_sent_twice_does_nothing_twice() {
    let (org, _, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let page = browser.get(&review(&proposal)).await;
    let (token, version) = (page.hidden("form_token"), page.hidden("version"));
    let form = [("form_token", token.as_str()), ("version", &version), ("note", ""), ("decision", "confirm")];
    let path = review(&proposal);
    let sent = join_all((0..4).map(|_| browser.post(&path, &form))).await;
    let mut statuses: Vec<u16> = sent.iter().map(|page| page.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409, 409, 409]);
    let after = org.state().await;
    let again = browser.post(&review(&proposal), &form).await;
    assert_eq!(again.status, 409);
    assert!(again.says("It was already confirmed") && again.says("Confirmed by Maren Holt"), "{}", again.body);
    assert_eq!(org.state().await, after);
    assert_eq!(browser.post("/app/sign-out", &[("form_token", &token)]).await.status, 303);
    assert_eq!(browser.post("/app/sign-out", &[("form_token", &token)]).await.location(), "/app/sign-in");
    let other = Browser::new(org.base_url());
    assert_eq!(other.post(&review(&proposal), &form).await.status, 303);
    assert_eq!(org.state().await, after);
}

#[tokio::test]
async fn a_decided_proposal_says_which_agreement_it_shows() {
    let (org, _, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let declined = org.propose("publish_agreement", &draft).await;
    assert!(!browser.get(&review(&declined)).await.says("What follows is the agreement"));
    assert_eq!(browser.decide(&review(&declined), "decline", "").await.status, 303);
    let mut after = draft.clone();
    after.stages[2].name = label("Handover");
    org.edit(&after).await;
    let page = browser.get(&review(&declined)).await;
    assert!(page.says("What follows is the agreement as it was proposed."), "{}", page.body);
    assert!(page.says("Closing") && !page.says("Handover"));

    let confirmed = org.propose("publish_agreement", &after).await;
    assert_eq!(browser.decide(&review(&confirmed), "confirm", "").await.status, 303);
    let page = browser.get(&review(&confirmed)).await;
    assert!(page.says("What follows is the agreement as it is now."), "{}", page.body);
    assert!(page.says("Handover") && page.says("Current"), "{}", page.body);
}

#[tokio::test]
async fn a_review_names_everybody_and_every_question_and_until_when() {
    let (org, _, browser) = signed_in().await;
    let mut more = Vec::new();
    for name in ["Grace Adeyemi", "Tomás Álvarez"] {
        let contact = json!({"display_name": name, "kind": "person", "email": "more@members.example"});
        more.push(org.post("/api/v1/contacts", &contact).send().await.ok(201));
    }
    let draft = org
        .ready_draft("Lease", |draft| {
            for person in &more {
                let contact_id = person["id"].as_str().unwrap().parse().unwrap();
                let roles = draft.participants[0].roles.clone();
                let id = shared::domain::ids::ParticipantId::new();
                draft.participants.push(shared::domain::agreement::Participant {
                    id,
                    contact_id,
                    roles,
                    contact_version: None,
                });
            }
            let stage = questions(draft);
            draft.stages.insert(0, stage);
        })
        .await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let page = browser.get(&review(&proposal)).await;
    let until: Timestamp = proposal["expires_at"].as_str().unwrap().parse().unwrap();
    for text in [
        "Ada Okafor, Northwind Robotics, Inc., Grace Adeyemi and Tomás Álvarez to 2 questions",
        "Are you an accredited investor? <span class=\"quiet small\">Yes or no</span>",
        "Which bank do you use? <span class=\"quiet small\">One of: Harbor &#60;b&#62;Bank&#60;/b&#62;, Another (optional)</span>",
        &format!("datetime=\"{until}\">{}", until.for_people()),
    ] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(!page.says("others"), "{}", page.body);
}

#[tokio::test]
async fn markup_in_any_text_is_text() {
    const SCRIPT: &str = "<script>alert(1)</script>\"'&{{7*7}}";
    let org = Org::new().await;
    let person = org.member(SCRIPT).await;
    let browser = Browser::of(&org, &person).await;
    let contact = org.post("/api/v1/contacts", &json!({"display_name": SCRIPT, "kind": "person"})).send().await.ok(201);
    let workspace = org.workspace(SCRIPT).await;
    let people = format!("/api/v1/workspaces/{}/contacts", workspace["id"].as_str().unwrap());
    org.post(people, &json!({"contact_id": contact["id"]})).send().await.ok(201);
    let draft = org
        .ready_draft(SCRIPT, |draft| {
            let mut stage = questions(draft);
            stage.name = label(SCRIPT);
            if let GateRule::InformationRequest { fields, .. } = &mut stage.gates[0].rule {
                fields[0].label = label(SCRIPT);
                fields[1].options = vec![SCRIPT.to_owned()];
            }
            draft.stages.insert(0, stage);
            draft.documents[0].name = label(SCRIPT);
            draft.documents[0].blocks[0].label = label(SCRIPT);
        })
        .await;
    let contacts = org.all("/api/v1/contacts").await;
    for party in contacts.iter().filter(|party| party["email"].is_string()) {
        let path = format!("/api/v1/contacts/{}", party["id"].as_str().unwrap());
        org.patch(path, &json!({"display_name": SCRIPT})).send().await.ok(200);
    }
    let body = json!({"action": "publish_agreement", "agreement_id": draft.id(), "note": SCRIPT});
    let proposal = org.post("/api/v1/proposals", &body).send().await.ok(201);
    let mut after = draft.clone();
    after.name = shared::domain::agreement::AgreementName::parse(&format!("{SCRIPT}2")).unwrap();
    after.stages[1].name = label(&format!("{SCRIPT}3"));
    after.documents[0].name = label(&format!("{SCRIPT}4"));
    org.edit(&after).await;
    let own = format!("/app/workspaces/{}", workspace["id"].as_str().unwrap());
    let of_draft = format!("/app/workspaces/{}", draft.workspace_id);
    let agreement = format!("/app/agreements/{}", draft.id());
    let pages =
        ["/app", "/app/proposals", &review(&proposal), &agreement, &own, &of_draft, "/app/account", "/app/workspaces"];
    let search = "/app/workspaces?search=%3Cscript%3Ealert(1)%22%27&offset=0".to_owned();
    for round in ["pending", "decided"] {
        for path in pages.into_iter().chain([search.as_str()]) {
            let page = browser.get(path).await;
            assert_eq!(page.status, 200, "{round} {path}");
            assert!(page.has_only_own_script() && page.says("&#60;script&#62;"), "{round} {path}: {}", page.body);
            assert!(!page.body.contains("\"'&{{"), "{round} {path}: {}", page.body);
        }
        if round == "pending" {
            assert_eq!(browser.decide(&review(&proposal), "confirm", SCRIPT).await.status, 303);
        }
    }
    let page = Browser::new(org.base_url()).sign_in(SCRIPT, "wrong", "/app").await;
    assert!(page.status == 422 && page.says("value=\"&#60;script&#62;") && page.has_only_own_script(), "{}", page.body);
}

#[tokio::test]
async fn long_lists_have_pages() {
    let (org, _, browser) = signed_in().await;
    let workspace = org.workspace("Harbor").await;
    let id = workspace["id"].as_str().unwrap().to_owned();
    join_all((0..52).map(|n| {
        let org = &org;
        let (workspace, id) = (&workspace, &id);
        async move {
            org.workspace(&format!("Matter {n}")).await;
            org.empty_draft(workspace, &format!("Draft {n}")).await;
            let contact = org.contact(&format!("Person {n}")).await;
            let people = format!("/api/v1/workspaces/{id}/contacts");
            org.post(people, &json!({"contact_id": contact["id"]})).send().await.ok(201);
        }
    }))
    .await;
    let path = format!("/app/workspaces/{id}");
    let count = |body: &str, what: &str| body.matches(what).count();

    let first = browser.get("/app/workspaces").await.body;
    assert!(first.contains("1 to 50 of 53") && first.contains("rel=\"next\"") && !first.contains("rel=\"prev\""));
    let second = browser.get("/app/workspaces?search=&offset=50").await.body;
    assert!(second.contains("51 to 53 of 53") && second.contains("rel=\"prev\"") && !second.contains("rel=\"next\""));
    assert_eq!(count(&first, "<td class=\"main\">") + count(&second, "<td class=\"main\">"), 53);

    let page = browser.get(&path).await.body;
    assert_eq!((count(&page, "href=\"/app/agreements/0"), count(&page, ">Person ")), (50, 50), "{page}");
    let page = browser.get(&format!("{path}?agreements=50&people=0")).await.body;
    assert_eq!((count(&page, "href=\"/app/agreements/0"), count(&page, ">Person ")), (2, 50), "{page}");
    assert!(page.contains(&format!("{path}?agreements=50&#38;people=50#people")), "{page}");
    let page = browser.get(&format!("{path}?agreements=50&people=50")).await.body;
    assert_eq!((count(&page, "href=\"/app/agreements/0"), count(&page, ">Person ")), (2, 2), "{page}");
    for past in ["?agreements=60", "?people=9223372036854775807"] {
        let away = browser.get(&format!("{path}{past}")).await;
        assert_eq!((away.status, away.location()), (303, path.as_str()), "{past}");
    }
    assert_eq!(browser.get(&format!("{path}?agreements=x&people=-1")).await.status, 422);
    let away = browser.get("/app/workspaces?offset=60").await;
    assert_eq!((away.status, away.location()), (303, "/app/workspaces?search=&sort=newest&offset=0"));
}

#[tokio::test]
async fn every_proposal_can_be_found() {
    let (org, _, browser) = signed_in().await;
    let none = browser.get("/app/proposals").await;
    assert!(none.says("No proposals yet"), "{}", none.body);
    let workspace = org.workspace("Harbor").await;
    let mut proposals = Vec::new();
    for n in 0..53 {
        let draft = org.empty_draft(&workspace, &format!("Draft {n:02}")).await;
        let body = json!({"action": "cancel_agreement", "agreement_id": draft["id"]});
        proposals.push(org.post("/api/v1/proposals", &body).send().await.ok(201));
    }
    let draft = drafts::written(&org, "Old lease").await;
    let long_ago = Timestamp::now().plus_seconds(-60);
    drafts::propose_until(&org, &draft.agreement, ProposalAction::CancelAgreement, long_ago).await;
    let home = browser.get("/app").await;
    assert!(home.says(" things need you.") && home.says("43 more proposals"), "{}", home.body);
    assert_eq!(browser.decide(&review(&proposals[52]), "decline", "").await.status, 303);
    assert_eq!(browser.decide(&review(&proposals[51]), "confirm", "").await.status, 303);

    let first = browser.get("/app/proposals").await.body;
    assert!(first.contains("1 to 50 of 54"), "{first}");
    let at = |body: &str, text: &str| body.find(text).unwrap_or_else(|| panic!("{text}: {body}"));
    assert!(at(&first, "Old lease") < at(&first, "Draft 52") && at(&first, "Draft 52") < at(&first, "Draft 51"));
    let last = browser.get("/app/proposals?offset=50").await.body;
    assert!(last.contains("51 to 54 of 54") && at(&last, "Draft 03") < at(&last, "Draft 00"), "{last}");
    let oldest = browser.get("/app/proposals?sort=oldest").await.body;
    assert!(at(&oldest, "Draft 00") < at(&oldest, "Draft 01") && !oldest.contains("Old lease"), "{oldest}");
    assert!(
        oldest.contains("href=\"/app/proposals?sort=oldest&#38;offset=50\""),
        "the next page is in this order: {oldest}"
    );
    let by_name = browser.get("/app/proposals?sort=name&offset=50").await.body;
    assert!(at(&by_name, "Draft 52") < at(&by_name, "Old lease"), "{by_name}");
    for (state, name, total) in [
        ("pending", "Draft 50", 51),
        ("confirmed", "Draft 51", 1),
        ("declined", "Draft 52", 1),
        ("expired", "Old lease", 1),
    ] {
        let page = browser.get(&format!("/app/proposals?state={state}")).await.body;
        assert!(page.contains(name), "{state}: {page}");
        assert_eq!(page.matches("<td class=\"main\">").count(), total.min(50), "{state}");
    }
    let away = browser.get("/app/proposals?state=confirmed&offset=50").await;
    assert_eq!((away.status, away.location()), (303, "/app/proposals?state=confirmed"));
}
