//! Rules for every page: at most five waits for the store, and a small size (goal P8).

use std::collections::BTreeSet;

use local::gateway::app_pages;
use shared::domain::agreement::Label;
use shared::domain::agreement::StageAction;
use shared::domain::agreement::gate::{Countdown, FieldType, GateRule, InformationField};
use shared::domain::ids::FieldId;
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::Browser;
use tests::attending::Live;
use tests::drafts::Drafted;
use tests::obligations::{self, on, with_promises};
use tests::pages::{BYTES_MAX, Furnished, Visit, WAITS_MAX, crawl, furnish, visit, visit_once};
use tests::payments::Paying;
use tests::{Org, rows};

use super::file_reviews::{asking_for_a_resolution, review, upload};

/// Most bytes of a page of the audit log, however many acts there are.
pub const AUDIT_BYTES_MAX: usize = 50 * 1024;

fn views() -> BTreeSet<String> {
    let named = app_pages().into_iter().flat_map(|(_, pages)| pages.operations().to_vec());
    named.filter(|name| name.starts_with("view_")).map(str::to_owned).collect()
}

async fn visits_of_a_participant() -> Vec<Visit> {
    let live = Live::new(|draft| draft.stages.truncate(2)).await;
    let (org, id) = (&live.org, live.ids()[0]);
    let mut visits = Vec::new();
    let access = format!("{}/participants/{id}/access", live.path());
    visits.push(visit(org, &live.member, &access, &live.path()).await.1);
    let link = live.link(id).await;
    visits.push(visit(org, &Browser::new(org.base_url()), &link, &access).await.1);
    let ada = live.attend(id).await;
    let condition = ada.at(&format!("/conditions/{}", live.agreement.stages[0].gates[0].id));
    visits.push(visit(org, &ada.browser, &condition, &ada.at("")).await.1);
    let receipt = ada.approve(&live.agreement, 0, 0).await.location().to_owned();
    let document = live.agreement.documents[0].id;
    let paper = format!("{}/participants/{id}/paper/{document}", live.path());
    visits.push(visit(org, &live.member, &paper, &access).await.1);
    let picture = format!("/app/pictures/{id}/{document}/1");
    for path in [ada.at(""), receipt, ada.at(&format!("/documents/{document}")), picture] {
        visits.push(visit(org, &ada.browser, &path, &link).await.1);
    }
    visits
}

async fn visits_of_answers() -> Vec<Visit> {
    let question = |label: &str, field_type| InformationField {
        id: FieldId::new(),
        label: Label::parse(label).expect("a label"),
        field_type,
        required: false,
        options: Vec::new(),
    };
    let fields = vec![question("Who?", FieldType::Text), question("Which account?", FieldType::BankDetails)];
    let who = format!("answer.{}", fields[0].id);
    let live = Live::new(|draft| {
        let participant_ids = draft.participants.iter().take(1).map(|participant| participant.id).collect();
        draft.stages.truncate(1);
        draft.stages[0].gates[0].rule = GateRule::InformationRequest { participant_ids, fields };
    })
    .await;
    let (org, ada) = (&live.org, live.attend(live.ids()[0]).await);
    let condition = format!("/conditions/{}", live.agreement.stages[0].gates[0].id);
    let sent = ada.submit(&condition, &format!("{condition}/answers/send"), &[(&who, "Ada")]).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let answers = format!("{}{condition}/answers/{}", live.path(), ada.participant);
    let (page, visited) = visit(org, &live.member, &answers, &live.path()).await;
    let (token, submission) = (page.hidden("form_token"), page.hidden("submission"));
    let fields = [("form_token", token.as_str()), ("submission", &submission), ("reason", "Why?")];
    assert_eq!(live.member.post(&format!("{answers}/return"), &fields).await.status, 303);
    vec![visited, visit(org, &ada.browser, &ada.at(&condition), &ada.at("")).await.1]
}

async fn visits_of_files() -> Vec<Visit> {
    let live = asking_for_a_resolution(1).await;
    let ada = live.attend(live.ids()[0]).await;
    assert_eq!(upload(&live, &ada, "Resolution.pdf").await.status, 303);
    vec![visit(&live.org, &live.member, &review(&live, ada.participant), &live.path()).await.1]
}

async fn visits_of_a_payment() -> Vec<Visit> {
    let paying = Paying::new().await;
    let (org, path) = (&paying.live.org, paying.path());
    let [ada, northwind] = paying.live.ids();
    let (ada, northwind) = (paying.live.attend(ada).await, paying.live.attend(northwind).await);
    let mut visits = vec![visit(org, &ada.browser, &ada.at(&path), &ada.at("")).await.1];
    paying.open().await;
    visits.push(visit(org, &ada.browser, &ada.at(&path), &ada.at("")).await.1);
    assert_eq!(visits[1].operation, "read_instructions");
    let typed = [("amount", "1"), ("currency", "USD"), ("value_date", "16/3/2026"), ("bank_reference", "")];
    assert_eq!(northwind.submit(&path, &format!("{path}/arrived"), &typed).await.status, 303);
    for page in ["", &path] {
        visits.push(visit(org, &northwind.browser, &northwind.at(page), "their link").await.1);
    }
    visits
}

async fn visits_of_statements(org: &Org, member: &Browser) -> Vec<Visit> {
    let list = "/app/money/statements";
    let upload = async |name: &str, file: &str| {
        let page = member.get(list).await;
        let (token, copy) = (page.hidden("form_token"), page.hidden("copy"));
        let fields = [("form_token", token.as_str()), ("copy", &copy)];
        let done = member.upload(list, &fields, ("statement", name, file.as_bytes())).await;
        assert_eq!(done.status, 303, "{}", done.body);
        done.location().trim_end_matches("#notice").to_owned()
    };
    let columns = upload("a.csv", "Date,Sum\n2026-03-18,1.00\n").await;
    let lines = ":61:2603180318C250000,00NTRFINV-117\n:86:Closing\n".repeat(20);
    let file =
        format!(":20:X\n:25:37040044/0532013000\n:28C:1\n:60F:C260301USD0,\n{lines}:62F:C260331USD5000000,\n-\n");
    let at = upload("a.sta", &file).await;
    let mut visits = vec![visit(org, member, list, "/app/money").await.1];
    visits.push(visit(org, member, &columns, list).await.1);
    let (page, visited) = visit(org, member, &at, list).await;
    visits.push(visited);
    let (_, rest) = page.body.split_once("name=\"pair.1.").expect("a payment");
    let pair = format!("pair.1.{}", rest.split('"').next().expect("its id"));
    let (token, id) = (page.hidden("form_token"), uuid::Uuid::now_v7().to_string());
    let filed = member.post(&at, &[("form_token", token.as_str()), (&pair, &id)]).await;
    assert_eq!(filed.status, 303, "{}", filed.body);
    visits.push(visit(org, member, &at, list).await.1);
    visits
}

async fn visits_of_funding(org: &Org, member: &Browser) -> Vec<Visit> {
    let estate = org.estate("Oak").await;
    let item = org.ready_item(&estate, "A painting").await;
    let workspace = estate.workspace["id"].as_str().expect("an id");
    let import = format!("/app/funding/{workspace}/import");
    let token = member.get(&import).await.hidden("form_token");
    let rows: Vec<String> = (1..=60).map(|n| format!("Asset {n},vehicle,The Oak Trust\n")).collect();
    let csv = format!("label,asset_kind,trust\n{}", rows.concat());
    let read = member.post(&import, &[("form_token", &token), ("csv", &csv)]).await;
    assert_eq!(read.status, 303, "{}", read.body);
    let papers = format!("/app/papers/{workspace}?items={}", item["id"].as_str().expect("an id"));
    let mut visits = vec![visit(org, member, read.location(), &import).await.1];
    let page = format!("/app/funding/items/{}", item["id"].as_str().expect("an id"));
    for path in [papers, page] {
        visits.push(visit(org, member, &path, &import).await.1);
    }
    visits
}

async fn visits_of_an_import(org: &Org, member: &Browser) -> Vec<Visit> {
    let import = "/app/imports/contacts";
    let token = member.get(import).await.hidden("form_token");
    let rows: Vec<String> = (1..=1000).map(|n| format!("Contact {n},c{n}@example.org,ref-{n}\n")).collect();
    let csv = format!("name,email,external_reference\n{}", rows.concat());
    let read = member.post_in_parts(import, &[("form_token", &token), ("csv", &csv)]).await;
    assert_eq!(read.status, 303, "{}", read.body);
    vec![visit(org, member, read.location(), import).await.1]
}

async fn visits_of_an_obligation() -> Vec<Visit> {
    let live = Live::new(|draft| {
        let past = Countdown::At(Timestamp::now().plus_seconds(-60));
        draft.stages.truncate(2);
        draft.stages[0].gates[0].rule = GateRule::Countdown { until: Some(past) };
        draft.stages[0].actions = [StageAction::ProjectObligations].into();
        *draft = with_promises(draft, vec![on(&[-1])]);
    })
    .await;
    let (org, ben) = (&live.org, live.attend(live.ids()[1]).await);
    let agreement = Drafted::of(org, &live.agreement.id().to_string()).await.agreement;
    let path = ben.at(&format!("/obligations/{}", obligations::ids(&agreement)[0]));
    vec![visit(org, &ben.browser, &ben.at(""), "outside").await.1, visit(org, &ben.browser, &path, &ben.at("")).await.1]
}

#[tokio::test]
async fn every_page_is_small_and_waits_for_the_store_five_times_at_most() {
    let org = Org::new().await;
    let Furnished { subscriber, document } = furnish(&org).await;
    let admin = &subscriber.admin;
    let mut visits = crawl(&org, admin).await;
    for file in ["view", "download"] {
        visits.push(visit(&org, admin, &format!("{document}/{file}"), &document).await.1);
    }
    let active = org.get("/api/v1/agreements?lifecycle=active").send().await.ok(200)["data"][0]["id"].clone();
    let active = format!("/api/v1/agreements/{}", active.as_str().expect("an active agreement"));
    let participant = org.get(&active).send().await.ok(200)["participants"][0]["id"].clone();
    let page = active.replace("/api/v1/", "/app/");
    let verification = format!("{page}/participants/{}/verification", participant.as_str().expect("an id"));
    visits.push(visit(&org, admin, &verification, &page).await.1);
    visits.push(visit(&org, admin, "/app/search?q=e", "the form on every page").await.1);
    visits.push(visit(&org, admin, "/app/audit?operation=e", "the form of the log").await.1);
    let stranger = Browser::new(&org.stack().base_url);
    visits.push(visit(&org, &stranger, "/app/sign-in", "outside").await.1);
    visits.push(visit(&org, &stranger, "/verify", "outside").await.1);

    visits.extend(visits_of_statements(&org, admin).await);
    visits.extend(visits_of_funding(&org, admin).await);
    visits.extend(visits_of_an_import(&org, admin).await);
    visits.extend(visits_of_a_participant().await);
    visits.extend(visits_of_answers().await);
    visits.extend(visits_of_files().await);
    visits.extend(visits_of_a_payment().await);
    visits.extend(visits_of_an_obligation().await);

    let visited: BTreeSet<String> = visits.iter().map(|visit| visit.operation.clone()).collect();
    let missing: Vec<_> = views().difference(&visited).cloned().collect();
    // One-time links lead to these, sign-in with a second factor, and the end of a session; their own tests open them.
    let by_other_ways = ["view_invitation", "view_password_link", "view_sign_in_code", "view_unsent_form"];
    assert_eq!(missing, by_other_ways, "pages without a way to them");
    let is_too_much = |visit: &&Visit| visit.waits > WAITS_MAX || visit.bytes > BYTES_MAX;
    let faults: Vec<_> = visits.iter().filter(is_too_much).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let largest = visits.iter().filter(|visit| visit.operation == "view_audit").map(|visit| visit.bytes).max();
    assert!(largest.is_some_and(|bytes| bytes <= AUDIT_BYTES_MAX), "{largest:?}");

    // A member who returns after a while waits no longer, although the session is marked as used.
    let of_members =
        visits.iter().filter(|visit| !visit.path.starts_with("/app/p") || visit.path.starts_with("/app/proposals"));
    let most = of_members.max_by_key(|visit| visit.waits).expect("pages");
    let secret = admin.cookie("session").expect("a session");
    let mut waits = u64::MAX;
    for _ in 0..5 {
        let (table, now) = (org.stack().table(), Timestamp::now());
        let seen_at = now.plus_seconds(-2 * limits::SESSION_REFRESH_S);
        rows::age_session(table, &secret, seen_at, seen_at).await;
        let (_, visit) = visit_once(&org, admin, &most.path, "itself").await;
        assert!(visit.write_units > most.write_units, "the session is refreshed: {visit:?}");
        waits = waits.min(visit.waits);
    }
    assert!(waits <= WAITS_MAX, "{}: {waits}", most.path);
}
