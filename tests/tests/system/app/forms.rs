//! The app's forms: sessions, decisions on proposals, and what is forbidden.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::domain::agreement::{Participant, ParticipantRole};
use shared::domain::ids::{ContactId, ParticipantId};
use tests::app::{Browser, Page, Person};
use tests::{Org, rows};

use crate::unknown_id;

fn review(proposal: &Value) -> String {
    format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"))
}

async fn lifecycle(org: &Org, id: impl std::fmt::Display) -> String {
    let agreement = org.get(format_args!("/api/v1/agreements/{id}")).send().await.ok(200);
    agreement["lifecycle"].as_str().expect("a lifecycle").to_owned()
}

async fn state(org: &Org, proposal: &Value) -> Value {
    org.get(format_args!("/api/v1/proposals/{}", proposal["id"].as_str().expect("an id"))).send().await.ok(200)
}

async fn events(org: &Org) -> Vec<String> {
    org.events().await.iter().map(|event| event["type"].as_str().expect("a type").to_owned()).collect()
}

async fn audit_of(org: &Org, page: &Page) -> Value {
    let id = page.headers["x-request-id"].to_str().expect("an id");
    let rows = org.audit().await;
    rows.into_iter().find(|row| row["sk"] == id).unwrap_or_else(|| panic!("no audit row of {id}"))
}

async fn signed_in() -> (Org, Person, Browser) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    (org, person, browser)
}

#[tokio::test]
async fn whoever_is_signed_out_comes_back_to_the_page_after_signing_in() {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let proposal = org.propose("publish_agreement", &org.ready_draft("Lease", |_| {}).await).await;
    let browser = Browser::new(org.base_url());
    let path = review(&proposal);
    let sent_away = browser.get(&path).await;
    assert_eq!((sent_away.status, sent_away.location()), (303, format!("/app/sign-in?next={path}").as_str()));
    let form = browser.get(sent_away.location()).await;
    assert!(form.says("<label for=\"email\">Email</label>") && form.says("<label for=\"password\">Password</label>"));
    let back = browser.sign_in(&person.email, &person.password, &path).await;
    assert_eq!((back.status, back.location()), (303, path.as_str()));
    assert!(browser.get(&path).await.says("Publish “Lease”?"));
    assert_eq!(audit_of(&org, &back).await["operation"], "sign_in");
}

#[tokio::test]
async fn nobody_is_sent_elsewhere_after_signing_in() {
    let (org, person, _) = signed_in().await;
    for next in ["https://evil.example/app", "//evil.example", "/app/../api", "/application", "/app//x"] {
        let browser = Browser::new(org.base_url());
        let page = browser.sign_in(&person.email, &person.password, &next.replace('/', "%2F")).await;
        assert_eq!((page.status, page.location()), (303, "/app"), "{next}");
    }
}

#[tokio::test]
async fn a_wrong_password_and_no_account_look_alike() {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let mut pages = BTreeSet::new();
    for email in [person.email.as_str(), "nobody@members.example", "no address", ""] {
        let page = Browser::new(org.base_url()).sign_in(email, "wrong", "/app").await;
        assert_eq!(page.status, 422, "{email}");
        let id = page.headers["x-request-id"].to_str().unwrap();
        let token = page.hidden("form_token");
        let mut body = page.body.replace(&token, "").replace(id, "");
        body = body.replace(&format!("value=\"{email}\""), "value=\"\"").replace(" autofocus", "");
        pages.insert(body);
    }
    assert_eq!(pages.len(), 1, "{pages:#?}");
}

#[tokio::test]
async fn a_session_ends_when_it_is_signed_out_here_or_everywhere_or_its_secret_is_made_up() {
    let (org, person, first) = signed_in().await;
    let (second, third) = (Browser::of(&org, &person).await, Browser::of(&org, &person).await);
    let secret = first.cookie("session").unwrap();
    let token = first.get("/app").await.hidden("form_token");
    let out = first.post("/app/sign-out", &[("form_token", &token)]).await;
    assert_eq!((out.status, out.location()), (303, "/app/sign-in?ended=session"));
    assert!(first.get(out.location()).await.says("You’re signed out"));
    assert_eq!(first.cookie("session"), None);
    first.set_cookie("session", &secret);
    assert_eq!(first.get("/app").await.status, 303);
    assert_eq!(second.get("/app").await.status, 200);

    let token = second.get("/app/account").await.hidden("form_token");
    let out = second.post("/app/sign-out-everywhere", &[("form_token", &token)]).await;
    assert_eq!((out.status, out.location()), (303, "/app/sign-in?ended=everywhere"));
    assert_eq!(third.get("/app").await.status, 303);
    assert_eq!(Browser::of(&org, &person).await.get("/app").await.status, 200);
    for secret in ["", "x", &"0".repeat(64)] {
        third.set_cookie("session", secret);
        assert_eq!(third.get("/app").await.status, 303);
    }
}

#[tokio::test]
async fn the_cookie_is_for_browsers_only_and_its_secret_is_kept_nowhere() {
    let (org, person, browser) = signed_in().await;
    let page = Browser::new(org.base_url()).sign_in(&person.email, &person.password, "/app").await;
    let cookies: Vec<&str> = page.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    let session = cookies.iter().find(|line| line.starts_with("session=")).expect("a session's cookie");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=43200"] {
        assert!(session.contains(attribute), "{session}");
    }
    let secret = browser.cookie("session").unwrap();
    let kept = rows::all(org.stack().table()).await;
    assert!(!kept.iter().any(|row| row.to_string().contains(&secret)));
    let log = std::fs::read_to_string(org.stack().log_file()).unwrap();
    assert!(!log.contains(&secret) && !log.contains(&person.email) && !log.contains(&person.password));
}

#[tokio::test]
async fn confirming_publishes_and_activates_in_one_act() {
    let (org, person, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    assert!(browser.get("/app").await.says(&review(&proposal)));
    let page = browser.get(&review(&proposal)).await;
    for text in [
        "<label for=\"note\">Decision note</label>",
        ">Confirm</button>",
        ">Decline</button>",
        "As agreed on Tuesday.",
        "Integration (over the API)",
        "Approval by Ada Okafor",
        "The workspace “Harbor Street” is activated.",
        "No changes since proposed.",
    ] {
        assert!(page.says(text), "{text}");
    }
    let done = browser.decide(&review(&proposal), "confirm", "Fine.\r\nGo ahead.").await;
    assert_eq!((done.status, done.location()), (303, review(&proposal).as_str()), "{}", done.body);
    assert_eq!(lifecycle(&org, draft.id()).await, "active");
    let decided = state(&org, &proposal).await;
    assert_eq!((&decided["state"], &decided["decision_note"]), (&"confirmed".into(), &"Fine.\nGo ahead.".into()));
    assert_eq!(decided["decided_by"]["id"], person.id.to_string());
    assert_eq!(decided["decided_by"]["type"], "member");
    let types = events(&org).await;
    assert_eq!(types, ["proposal.created", "workspace.activated", "proposal.confirmed", "agreement.published"]);
    let row = audit_of(&org, &done).await;
    assert_eq!((&row["operation"], &row["code"]), (&"confirm_proposal".into(), &"ok".into()));
    assert_eq!(row["member_id"], person.id.to_string());
    assert!(browser.get(&review(&proposal)).await.says("Confirmed by Maren Holt"));
    assert!(browser.get(&format!("/app/agreements/{}", draft.id())).await.says("Waiting for: Ada Okafor to approve"));
}

#[tokio::test]
async fn declining_and_cancelling_do_only_that() {
    let (org, _, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    assert_eq!(browser.decide(&review(&proposal), "decline", "").await.status, 303);
    assert_eq!(state(&org, &proposal).await["state"], "declined");
    assert_eq!(lifecycle(&org, draft.id()).await, "draft");
    let cancellation = org.propose("cancel_agreement", &draft).await;
    let path = format!("/app/agreements/{}", draft.id());
    let page = browser.get(&path).await;
    let publish = format!("href=\"{path}/publish\">Review and publish</a>");
    for shown in [publish.as_str(), ">Review the proposal</a>", "Declined the publication"] {
        assert!(page.says(shown), "it can still be published: {shown}: {}", page.body);
    }
    assert!(browser.get(&review(&cancellation)).await.says("The agreement is permanently cancelled."));
    assert_eq!(browser.decide(&review(&cancellation), "confirm", "").await.status, 303);
    assert_eq!(lifecycle(&org, draft.id()).await, "cancelled");
    assert_eq!(events(&org).await, ["proposal.created", "proposal.declined", "proposal.created", "proposal.confirmed"]);
}

#[tokio::test]
async fn what_was_decided_stays_and_a_form_sent_again_says_so() {
    let (org, _, browser) = signed_in().await;
    let proposal = org.propose("publish_agreement", &org.ready_draft("Lease", |_| {}).await).await;
    let page = browser.get(&review(&proposal)).await;
    let (token, version) = (page.hidden("form_token"), page.hidden("version"));
    let form = |decision| [("form_token", token.as_str()), ("version", &version), ("note", ""), ("decision", decision)];
    assert_eq!(browser.post(&review(&proposal), &form("confirm")).await.status, 303);
    let before = org.state().await;
    for decision in ["confirm", "decline"] {
        let again = browser.post(&review(&proposal), &form(decision)).await;
        assert_eq!(again.status, 409);
        assert!(again.says("It was already confirmed") && again.says("Confirmed by Maren Holt"), "{}", again.body);
    }
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn of_members_who_decide_at_once_one_does() {
    let org = Org::new().await;
    let proposal = org.propose("publish_agreement", &org.ready_draft("Lease", |_| {}).await).await;
    let path = review(&proposal);
    let mut browsers = Vec::new();
    for name in ["Maren", "Devin", "Sofia", "Hana"] {
        browsers.push(Browser::of(&org, &org.member(name).await).await);
    }
    let decisions = browsers.iter().zip(["confirm", "decline", "confirm", "decline"]);
    let mut answers = Vec::new();
    for page in
        futures_util::future::join_all(decisions.map(|(browser, decision)| browser.decide(&path, decision, ""))).await
    {
        answers.push(page.status);
    }
    answers.sort_unstable();
    assert_eq!(answers, [303, 409, 409, 409]);
    let ended =
        events(&org).await.into_iter().filter(|kind| kind == "proposal.confirmed" || kind == "proposal.declined");
    assert_eq!(ended.count(), 1);
}

#[tokio::test]
async fn a_draft_that_changed_under_the_page_is_not_decided() {
    let (org, _, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let page = browser.get(&review(&proposal)).await;
    let (token, version) = (page.hidden("form_token"), page.hidden("version"));
    let mut after = draft.clone();
    after.stages.pop();
    org.edit(&after).await;
    let form = [("form_token", token.as_str()), ("version", &version), ("note", "Typed <b>"), ("decision", "confirm")];
    let refused = browser.post(&review(&proposal), &form).await;
    assert_eq!(refused.status, 409);
    for text in ["The agreement has changed", "The step Closing was removed.", "Typed &#60;b&#62;</textarea>"] {
        assert!(refused.says(text), "{text}: {}", refused.body);
    }
    assert_eq!(audit_of(&org, &refused).await["code"], "conflict");
    assert_eq!(state(&org, &proposal).await["state"], "pending");
    assert_eq!(browser.decide(&review(&proposal), "confirm", "").await.status, 303);
    assert_eq!(lifecycle(&org, draft.id()).await, "active");
}

#[tokio::test]
async fn blockers_that_appeared_are_listed_and_the_proposal_keeps_waiting() {
    let (org, _, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let mut after = draft.clone();
    after.documents[0].content = None;
    org.edit(&after).await;
    let refused = browser.decide(&review(&proposal), "confirm", "").await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("A document has no file. Upload it."), "{}", refused.body);
    assert_eq!(state(&org, &proposal).await["state"], "pending");
    assert_eq!(lifecycle(&org, draft.id()).await, "draft");
    assert_eq!(browser.decide(&review(&proposal), "decline", "").await.status, 303);
}

#[tokio::test]
async fn a_workspace_is_activated_once_whoever_joins_it_meanwhile() {
    let (org, _, browser) = signed_in().await;
    let workspace = org.workspace("Harbor").await;
    let path = format!("/app/workspaces/{}", workspace["id"].as_str().unwrap());
    let page = browser.get(&path).await;
    assert!(page.says("Activate workspace</button>"));
    let token = page.hidden("form_token");
    let mut people = Vec::new();
    for name in ["A", "B", "C"] {
        people.push(org.contact(name).await);
    }
    let join = people.iter().map(|person| {
        let body = serde_json::json!({"contact_id": person["id"]});
        org.post(format!("/api/v1/workspaces/{}/contacts", workspace["id"].as_str().unwrap()), &body).send()
    });
    let activate = (0..3).map(|_| async { browser.post(&path, &[("form_token", token.as_str())]).await.status });
    let (joined, activated) =
        futures_util::future::join(futures_util::future::join_all(join), futures_util::future::join_all(activate))
            .await;
    assert!(joined.iter().all(|answer| answer.status == 201));
    assert_eq!(activated, [303, 303, 303]);
    let after = org.get(format!("/api/v1/workspaces/{}", workspace["id"].as_str().unwrap())).send().await.ok(200);
    assert_eq!((after["activated"].as_bool(), after["people"].as_array().unwrap().len()), (Some(true), 3));
    assert_eq!(events(&org).await, ["workspace.activated"]);
    assert!(!browser.get(&path).await.says("Activate workspace</button>"));
}

#[tokio::test]
async fn a_form_without_this_sessions_token_is_refused() {
    let (org, person, browser) = signed_in().await;
    let other = Browser::of(&org, &person).await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let page = browser.get(&review(&proposal)).await;
    let (mine, version) = (page.hidden("form_token"), page.hidden("version"));
    let foreign = other.get("/app").await.hidden("form_token");
    let signed_out = Browser::new(org.base_url()).get("/app/sign-in").await.hidden("form_token");
    let before = org.state().await;
    for token in ["", "x", &foreign, &signed_out] {
        for path in [review(&proposal), "/app/sign-out".to_owned(), format!("/app/workspaces/{}", draft.workspace_id)] {
            let form = [("form_token", token), ("version", &version), ("note", ""), ("decision", "confirm")];
            let refused = browser.post(&path, &form).await;
            assert_eq!(refused.status, 403, "{path}");
            assert_eq!(audit_of(&org, &refused).await["code"], "forbidden");
        }
    }
    let form = [("form_token", mine.as_str()), ("version", &version), ("note", ""), ("decision", "confirm")];
    let foreign_sites = [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ];
    for header in foreign_sites {
        assert_eq!(browser.post_with(&review(&proposal), &form, &[header]).await.status, 403, "{header:?}");
    }
    assert_eq!(org.state().await, before);
    let here = [("origin", org.base_url()), ("sec-fetch-site", "same-origin")];
    assert_eq!(browser.post_with(&review(&proposal), &form, &here).await.status, 303);
}

#[tokio::test]
async fn what_another_organization_has_is_not_there() {
    let (org, _, browser) = signed_in().await;
    let other = Org::new().await;
    let draft = other.ready_draft("Secret lease", |_| {}).await;
    let proposal = other.propose("publish_agreement", &draft).await;
    let token = browser.get("/app").await.hidden("form_token");
    let before = other.state().await;
    let mut pages = BTreeSet::new();
    for id in [proposal["id"].as_str().unwrap(), &unknown_id(), "x", "%00", "..%2F.."] {
        let page = browser.get(&format!("/app/proposals/{id}")).await;
        assert_eq!(page.status, 404, "{id}");
        pages.insert(page.without_copies().replace(page.headers["x-request-id"].to_str().unwrap(), ""));
        let form = [("form_token", token.as_str()), ("version", "1"), ("note", ""), ("decision", "confirm")];
        assert_eq!(browser.post(&format!("/app/proposals/{id}"), &form).await.status, 404, "{id}");
    }
    assert_eq!(pages.len(), 1);
    for path in [format!("/app/agreements/{}", draft.id()), format!("/app/workspaces/{}", draft.workspace_id)] {
        assert_eq!(browser.get(&path).await.status, 404, "{path}");
        assert!(!browser.post(&path, &[("form_token", &token)]).await.says("Secret"), "{path}");
    }
    let organization = other.id.to_string();
    let switch = [("form_token", token.as_str()), ("organization", organization.as_str())];
    assert_eq!(browser.post("/app/account/organization", &switch).await.status, 404);
    assert_eq!(other.state().await, before);
    assert!(!browser.get("/app").await.says("Secret lease"));
    drop(org);
}

#[tokio::test]
async fn what_people_wrote_is_text_and_nothing_else() {
    let (org, _, browser) = signed_in().await;
    let script = "<script>alert(1)</script>\"'&";
    let draft = org.ready_draft(script, |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let workspace = org.workspace(script).await;
    let list = "/app/workspaces?search=%3Cscript%3E%22";
    let pages = [
        "/app".to_owned(),
        review(&proposal),
        format!("/app/agreements/{}", draft.id()),
        list.to_owned(),
        format!("/app/workspaces/{}", workspace["id"].as_str().unwrap()),
    ];
    for path in pages {
        let page = browser.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.has_only_own_script() && page.says("&#60;script&#62;"), "{path}: {}", page.body);
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("; script-src 'self';") && policy.contains("; style-src 'self';"), "{policy}");
        assert_eq!(page.headers["cache-control"], "no-store");
        assert!(!page.body.contains("style=") && !page.body.contains("<style"));
    }
}

#[tokio::test]
async fn whoever_opens_the_bare_origin_is_in_the_app() {
    let org = Org::new().await;
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
    for path in ["/", "/app/"] {
        let answer = http.get(format!("{}{path}", org.base_url())).send().await.expect("an answer");
        assert_eq!((answer.status().as_u16(), &answer.headers()["location"]), (303, &"/app".parse().expect("a value")));
    }
}

#[tokio::test]
async fn every_call_of_a_member_has_one_audit_row() {
    let (org, _, browser) = signed_in().await;
    let before = org.audit().await.len();
    let paths = [
        "/app",
        "/app/account",
        "/app/workspaces",
        "/app/organization",
        "/app/nothing",
        "/app/agreements/x",
        "/app/sign-in",
    ];
    for path in paths {
        let page = browser.get(path).await;
        let row = audit_of(&org, &page).await;
        assert_eq!(row["status"], page.status.to_string(), "{path}");
    }
    assert_eq!(org.audit().await.len(), before + paths.len());
}

#[tokio::test]
async fn a_note_that_is_too_long_is_kept_and_nothing_is_decided() {
    let (org, _, browser) = signed_in().await;
    let proposal = org.propose("publish_agreement", &org.ready_draft("Lease", |_| {}).await).await;
    let note = format!("{}end", "ü".repeat(2000));
    let refused = browser.decide(&review(&proposal), "confirm", &note).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says(&note) && refused.says("must have at most 2000 characters"));
    assert_eq!(browser.decide(&review(&proposal), "perhaps", "").await.status, 422);
    assert_eq!(state(&org, &proposal).await["state"], "pending");
}

#[tokio::test]
async fn the_session_of_a_removed_member_is_dead() {
    let (org, person, browser) = signed_in().await;
    let token = browser.get("/app").await.hidden("form_token");
    ops::remove_member(&org.stack().table().store(), org.id, person.id).await.unwrap();
    assert_eq!(browser.get("/app").await.status, 303);
    browser.set_cookie("session", "");
    assert_eq!(browser.post("/app/sign-out-everywhere", &[("form_token", &token)]).await.location(), "/app/sign-in");
    let page = browser.sign_in(&person.email, &person.password, "/app").await;
    assert_eq!(page.status, 422, "{}", page.body);
}

#[tokio::test]
async fn whoever_belongs_to_two_organizations_switches_between_them() {
    let (org, person, browser) = signed_in().await;
    let other = Org::new().await;
    let store = org.stack().table().store();
    ops::add_membership(&store, other.id, "Maren at the other", &person.email, ops::Role::Member).await.unwrap();
    let proposal = other.propose("publish_agreement", &other.ready_draft("Their lease", |_| {}).await).await;
    assert_eq!(browser.get(&review(&proposal)).await.status, 404);
    let page = browser.get("/app/account").await;
    assert!(page.says(&other.name));
    let (token, before) = (page.hidden("form_token"), browser.cookie("session"));
    let organization = other.id.to_string();
    let switched =
        browser.post("/app/account/organization", &[("form_token", &token), ("organization", &organization)]).await;
    assert_eq!((switched.status, switched.location()), (303, "/app?arrived=switched"));
    assert!(browser.get(switched.location()).await.says("You switched to "));
    assert_ne!(browser.cookie("session"), before);
    assert_eq!(audit_of(&other, &switched).await["operation"], "switch_organization");
    assert!(browser.get(&review(&proposal)).await.says("Their lease"));
    let old = Browser::new(org.base_url());
    old.set_cookie("session", &before.unwrap());
    assert_eq!(old.get("/app").await.status, 303);
}

/// Contacts can change over the API after a proposal; the deciding member must see it.
#[tokio::test]
async fn people_who_changed_since_the_proposal_are_told_of() {
    let (org, _, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let proposal = org.propose("publish_agreement", &draft).await;
    let path = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    assert!(browser.get(&path).await.says("No changes since proposed."));
    let contact = format!("/api/v1/contacts/{}", draft.participants[0].contact_id);
    let other = json!({"display_name": "Mallory Payee", "email": "mallory@elsewhere.example"});
    org.patch(contact, &other).send().await.ok(200);
    let page = browser.get(&path).await;
    for text in [
        "Mallory Payee was called “Ada Okafor”.",
        "The email address of Mallory Payee is mallory@elsewhere.example; it was ada@okafor.example.",
    ] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(!page.says("No changes since proposed."));
}

#[tokio::test]
async fn who_was_removed_since_the_proposal_is_named() {
    let (org, _, browser) = signed_in().await;
    let otto = org.contact("Otto Gone").await;
    let otto: ContactId = otto["id"].as_str().expect("an id").parse().expect("an id");
    let observer = || Participant {
        id: ParticipantId::new(),
        contact_id: otto,
        roles: [ParticipantRole::Observer].into(),
        contact_version: None,
    };
    let mut proposals = Vec::new();
    for name in ["Lease", "Option"] {
        let draft = org.ready_draft(name, |draft| draft.participants.push(observer())).await;
        proposals.push(org.propose("publish_agreement", &draft).await);
        let mut after = draft.clone();
        after.participants.pop();
        org.edit(&after).await;
    }
    let [lease, option] = &proposals[..] else { panic!("two") };
    assert_eq!(lease["summary_sentence"], "Publish “Lease”: 3 participants, 3 steps.");
    let page = browser.get(&review(lease)).await;
    for text in ["Otto Gone was removed.", "Publish “Lease”: 3 participants, 3 steps."] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    org.patch(format!("/api/v1/contacts/{otto}"), &json!({"display_name": "Otto Away"})).send().await.ok(200);
    let (token, version) = (page.hidden("form_token"), page.hidden("version"));
    let form = [("form_token", token.as_str()), ("version", &version), ("note", ""), ("decision", "confirm")];
    assert_eq!(browser.post(&review(lease), &form).await.status, 303);
    let page = browser.get(&review(lease)).await;
    assert!(page.says("What follows is the agreement as it is now.") && !page.says("Otto"), "{}", page.body);

    assert_eq!(browser.decide(&review(option), "decline", "").await.status, 303);
    let page = browser.get(&review(option)).await;
    assert!(page.says("What follows is the agreement as it was proposed.") && page.says("Otto Away"), "{}", page.body);
}

#[tokio::test]
async fn nobody_is_waited_for_once_an_active_agreement_is_cancelled() {
    let (org, _, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    for action in ["publish_agreement", "cancel_agreement"] {
        let proposal = org.propose(action, &draft).await;
        let path = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
        assert_eq!(browser.decide(&path, "confirm", "").await.status, 303);
        let agreement = org.get(format!("/api/v1/agreements/{}", draft.id())).send().await.ok(200);
        let first = &agreement["stages"][0]["gates"][0];
        let waiting = first["waiting_on_participant_ids"].as_array().expect("a list").len();
        if action == "publish_agreement" {
            assert_eq!((waiting, &first["state"]), (1, &json!("open")));
        } else {
            assert_eq!((waiting, &first["waiting_on"]), (0, &json!("Nobody: the agreement has ended")));
            assert_eq!(agreement["lifecycle"], "cancelled");
        }
    }
    let page = browser.get(&format!("/app/agreements/{}", draft.id())).await;
    assert!(page.says("Not done") && !page.says("Waiting for"), "{}", page.body);
}

/// Goal: everything works without the script, which is a file of the app that browsers keep.
#[tokio::test]
async fn the_script_and_the_stylesheet_are_public_files_that_are_kept() {
    let (org, _, browser) = signed_in().await;
    let stranger = Browser::new(org.base_url());
    for page in [browser.get("/app").await, stranger.get("/app/sign-in").await] {
        assert!(page.has_only_own_script(), "{}", page.body);
        for (name, content_type) in [("/app/app.js", "text/javascript"), ("/app/style.css", "text/css")] {
            let start = page.body.find(&format!("{name}?v=")).expect("the page refers to it");
            let url = page.body[start..].split('"').next().expect("an address");
            let file = stranger.get(url).await;
            assert_eq!(file.status, 200, "{url}");
            assert_eq!(file.headers["cache-control"], "public, max-age=31536000, immutable", "{url}");
            assert!(file.headers["content-type"].to_str().expect("a text").starts_with(content_type), "{url}");
            assert_eq!(file.headers["x-content-type-options"], "nosniff");
            for other in [name.to_owned(), format!("{name}?v=0")] {
                assert_eq!(stranger.get(&other).await.headers["cache-control"], "no-cache", "{other}");
            }
        }
    }
}

#[tokio::test]
async fn light_or_dark_is_chosen_for_a_browser_and_forgotten_again() {
    let (org, _, browser) = signed_in().await;
    let page = browser.get("/app/account").await;
    assert!(page.says("<html lang=\"en\">") && page.says("Appearance"), "{}", page.body);
    let token = page.hidden("form_token");
    for (theme, shown) in [
        ("dark", "<html lang=\"en\" data-theme=\"dark\">"),
        ("light", "<html lang=\"en\" data-theme=\"light\">"),
        ("\"><script>", "<html lang=\"en\">"),
        ("dark", "<html lang=\"en\" data-theme=\"dark\">"),
        ("", "<html lang=\"en\">"),
    ] {
        let chosen = browser.post("/app/theme", &[("form_token", &token), ("theme", theme)]).await;
        assert_eq!((chosen.status, chosen.location()), (303, "/app/account"), "{theme}");
        assert!(browser.get("/app").await.says(shown), "{theme}");
    }
    assert_eq!(browser.post("/app/theme", &[("form_token", "x"), ("theme", "dark")]).await.status, 403);
    browser.set_cookie("theme", "\"><script>");
    assert!(browser.get("/app").await.says("<html lang=\"en\">"));
    drop(org);
}
