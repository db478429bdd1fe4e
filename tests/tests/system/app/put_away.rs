//! Merging two contacts, and archiving contacts, workspaces and drafts: what lists and pickers hide, and the API shows.

use serde_json::{Value, json};
use tests::Org;
use tests::app::{Browser, Page};
use tests::attending::Live;
use tests::clockwork::Clockwork;
use tests::drafts::Drafted;

use super::contacts::audit_of;
use crate::unknown_id;

const CONTACTS: &str = "/app/contacts";
const WORKSPACES: &str = "/app/workspaces";
const AGREEMENTS: &str = "/app/agreements";

async fn signed_in() -> (Org, Browser) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    (org, browser)
}

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

/// Submits one of a page's forms to another path.
async fn press(browser: &Browser, page: &str, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get(page).await.hidden("form_token");
    let fields: Vec<_> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
    browser.post(path, &fields).await
}

async fn act(browser: &Browser, page: &str, act: &str) -> Page {
    press(browser, page, &format!("{page}/{act}"), &[]).await
}

fn link(path: &str, name: &str) -> String {
    format!("href=\"{path}\">{name}</a>")
}

#[tokio::test]
async fn a_merged_contact_is_hidden_from_lists_and_stays_readable_until_it_is_separate_again() {
    let (org, browser) = signed_in().await;
    let (ada, twin) = (org.contact("Ada Okafor").await, org.contact("Ada Okafor (old)").await);
    let (kept, merged) = (format!("{CONTACTS}/{}", id(&ada)), format!("{CONTACTS}/{}", id(&twin)));
    let offer = browser.get(&merged).await;
    assert!(offer.says("Merge into another contact…") && offer.says("Existing agreements, signatures and payments"));
    let choice = format!("{merged}/merge");
    let page = browser.get(&format!("{choice}?search=Okafor")).await;
    assert!(page.says("This contact</span>") && page.says("aria-label=\"Merge into Ada Okafor\""), "{}", page.body);

    let done = press(&browser, &choice, &choice, &[("contact_id", id(&ada))]).await;
    assert_eq!((done.status, done.location()), (303, &*kept));
    let row = audit_of(&org, &done).await;
    assert_eq!(row["operation"], "merge_contact");
    for contact in [&ada, &twin] {
        assert!(row["objects"].to_string().contains(&id(contact).replace('-', "")), "{row}");
    }
    let shown = browser.get(&kept).await;
    assert!(shown.says("Ada Okafor (old) was merged into this contact") && shown.says("Merged into this contact"));
    assert!(shown.says(&link(&merged, "Ada Okafor (old)")), "{}", shown.body);
    let shown = browser.get(&merged).await;
    assert!(shown.says(&format!("Merged into <a {}", link(&kept, "Ada Okafor"))), "{}", shown.body);
    assert!(!browser.get(CONTACTS).await.says("(old)") && browser.get(CONTACTS).await.says("Ada Okafor"));
    assert!(browser.get(&format!("{CONTACTS}?show=merged")).await.says("Ada Okafor (old)"));
    let workspace = org.workspace("Harbor").await;
    assert!(
        !browser.get(&format!("{WORKSPACES}/{}/people", id(&workspace))).await.says("(old)"),
        "no picker offers it"
    );
    let people = format!("/api/v1/workspaces/{}/contacts", id(&workspace));
    org.post(&people, &json!({"contact_id": twin["id"]})).send().await.ok(201);
    let draft = org.empty_draft(&workspace, "Lease").await;
    let begin = format!("{AGREEMENTS}/new?workspace={}&template=two-party-signature", id(&workspace));
    for picker in [begin, format!("{AGREEMENTS}/{}/participants", id(&draft))] {
        let page = browser.get(&picker).await;
        assert!(!page.says("(old)"), "{picker}, although it is one of the people: {}", page.body);
    }
    // Its typed name stands for the contact that it was merged into.
    let typed = [
        ("template", "two-party-signature"),
        ("name", "Charter"),
        ("display_name.first", "ADA okafor (old)"),
        ("kind.first", "person"),
    ];
    let pressed = press(
        &browser,
        &format!("{AGREEMENTS}/new?template=two-party-signature"),
        &format!("{AGREEMENTS}/new"),
        &typed,
    )
    .await;
    assert_eq!(pressed.status, 303, "{}", pressed.body);
    let draft = org.get(pressed.location().replace("/app/", "/api/v1/")).send().await.ok(200);
    assert_eq!(draft["participants"][0]["contact_id"], ada["id"]);

    let stored = org.get(format!("/api/v1/contacts/{}", id(&twin))).send().await.ok(200);
    assert_eq!((&stored["merged_into"], &stored["display_name"]), (&ada["id"], &json!("Ada Okafor (old)")));
    let listed = org.get("/api/v1/contacts").send().await.ok(200);
    let into: Vec<_> = listed["data"].as_array().expect("rows").iter().map(|row| row["merged_into"].clone()).collect();
    assert_eq!(into, [Value::Null, ada["id"].clone()], "the API lists both");

    let separated = act(&browser, &merged, "separate").await;
    assert_eq!((separated.status, &audit_of(&org, &separated).await["operation"]), (303, &json!("separate_contact")));
    let stored = org.get(format!("/api/v1/contacts/{}", id(&twin))).send().await.ok(200);
    assert_eq!(stored["merged_into"], Value::Null);
    assert!(browser.get(CONTACTS).await.says("Ada Okafor (old)"));
    assert!(!browser.get(&kept).await.says("Merged into this contact"));
}

#[tokio::test]
async fn an_own_contact_is_not_merged_away() {
    let (org, browser) = signed_in().await;
    let (own, twin) = (org.contact("Harbor LLC").await, org.contact("Harbor, LLC").await);
    org.acts_as(&[id(&own)]).await;
    let merge = async |from: &Value, into: &Value| {
        let choice = format!("{CONTACTS}/{}/merge", id(from));
        press(&browser, &choice, &choice, &[("contact_id", id(into))]).await
    };
    let refused = merge(&own, &twin).await;
    assert!(refused.status == 409 && refused.says("own contacts. Merge the other one into it."), "{}", refused.body);
    assert_eq!(merge(&twin, &own).await.status, 303);
}

#[tokio::test]
async fn a_merge_rewrites_no_agreement() {
    let (org, browser) = signed_in().await;
    let (ada, twin) = (org.person("Ada").await, org.contact("Ada again").await);
    let workspace = org.workspace("Harbor").await;
    let agreement = json!({"workspace_id": workspace["id"], "name": "Lease"});
    let agreement = org.post("/api/v1/agreements", &agreement).send().await.ok(201);
    let path = format!("/api/v1/agreements/{}", id(&agreement));
    let part = json!({"contact_id": twin["id"], "roles": ["signer"]});
    org.post(format!("{path}/participants"), &part).send().await.ok(201);
    let before = org.get(&path).send().await.ok(200);
    let choice = format!("{CONTACTS}/{}/merge", id(&twin));
    assert_eq!(press(&browser, &choice, &choice, &[("contact_id", id(&ada))]).await.status, 303);
    assert_eq!(org.get(&path).send().await.ok(200), before);
}

#[tokio::test]
async fn a_merge_rewrites_no_signature() {
    let live = Live::new(|draft| {
        draft.stages.drain(..1);
    })
    .await;
    for (participant, name) in live.ids().into_iter().zip(["Ada Okafor", "Nora Wind"]) {
        let signed = live.attend(participant).await.sign(&live.agreement, name).await;
        assert_eq!(signed.status, 303, "{}", signed.body);
    }
    let records = async || {
        let (org, agreement) = (&live.org, live.agreement.id().to_string());
        let of = [agreement.clone(), live.ids()[0].to_string(), live.ids()[1].to_string()];
        let mut stored = org.state().await;
        stored.retain(|row| row["pk"].as_str().is_some_and(|pk| of.iter().any(|id| pk.contains(id))));
        (live.read().await, stored, org.events().await, Drafted::of(org, &agreement).await.agreement)
    };
    let before = records().await;
    let (read, stored, events, _) = &before;
    assert_eq!((&read["lifecycle"], &read["documents"][0]["state"]), (&json!("active"), &json!("signed")));
    assert_eq!(events.iter().filter(|event| event["type"] == "signature.completed").count(), 2);
    assert!(!stored.is_empty(), "the agreement, and what its participants did");

    let (signer, twin) = (live.agreement.participants[0].contact_id, live.org.person("Ada").await);
    let choice = format!("{CONTACTS}/{signer}/merge");
    assert_eq!(press(&live.member, &choice, &choice, &[("contact_id", id(&twin))]).await.status, 303);
    let merged = live.org.get(format!("/api/v1/contacts/{signer}")).send().await.ok(200);
    assert_eq!(merged["merged_into"], twin["id"]);
    assert_eq!(records().await, before);
}

#[tokio::test]
async fn what_cannot_be_merged_is_refused_with_its_reason() {
    let (org, browser) = signed_in().await;
    let [first, second, third] = [org.contact("First").await, org.contact("Second").await, org.contact("Third").await];
    let firm = json!({"display_name": "Firm", "kind": "llc"});
    let firm = org.post("/api/v1/contacts", &firm).send().await.ok(201);
    let merge = async |from: &Value, into: &str| {
        let choice = format!("{CONTACTS}/{}/merge", id(from));
        press(&browser, &choice, &choice, &[("contact_id", into)]).await
    };
    assert_eq!(merge(&second, id(&first)).await.status, 303);
    for (from, into, reason) in [
        (&third, &third, "can’t be merged into itself"),
        (&second, &third, "merged already"),
        (&first, &third, "Others are merged into this contact"),
        (&third, &second, "was merged into another one"),
        (&third, &firm, "A person can’t be merged into an entity"),
    ] {
        let refused = merge(from, id(into)).await;
        assert_eq!(refused.status, 409, "{reason}");
        assert!(refused.says("Nothing was merged") && refused.says(reason), "{reason}: {}", refused.body);
    }
    assert_eq!(merge(&third, &unknown_id()).await.status, 404);
    let into = async |contact: &Value| {
        org.get(format!("/api/v1/contacts/{}", id(contact))).send().await.ok(200)["merged_into"].clone()
    };
    assert_eq!(
        [into(&first).await, into(&second).await, into(&third).await],
        [Value::Null, first["id"].clone(), Value::Null]
    );
}

#[tokio::test]
async fn what_is_archived_leaves_the_lists_of_the_app_and_comes_back() {
    let (org, browser) = signed_in().await;
    let (contact, workspace) = (org.contact("Old Contact").await, org.workspace("Old Harbor").await);
    let draft = json!({"workspace_id": workspace["id"], "name": "Old Lease"});
    let draft = org.post("/api/v1/agreements", &draft).send().await.ok(201);
    for (list, api, record, name, kind) in [
        (CONTACTS, "/api/v1/contacts", &contact, "Old Contact", "contact"),
        (WORKSPACES, "/api/v1/workspaces", &workspace, "Old Harbor", "workspace"),
        (AGREEMENTS, "/api/v1/agreements", &draft, "Old Lease", "draft"),
    ] {
        let page = format!("{list}/{}", id(record));
        let stored = async || org.get(format!("{api}/{}", id(record))).send().await.ok(200);
        let before = stored().await;
        assert!(browser.get(list).await.says(name));
        let archived = act(&browser, &page, "archive").await;
        assert_eq!((archived.status, archived.location()), (303, &*page));
        assert_eq!(audit_of(&org, &archived).await["operation"], format!("archive_{kind}"));
        assert!(!browser.get(list).await.says(name), "{kind}");
        let list_of_archived = format!("{list}?show=archived");
        assert!(browser.get(&list_of_archived).await.says(&link(&page, name)), "{kind}");
        assert_eq!(stored().await, before, "as before for clients");
        assert_eq!(org.total(api).await, 1, "the API lists it");
        assert!(browser.get("/app/search?q=Old").await.says("Archived</span>"), "the search finds it");
        let back = act(&browser, &page, "bring-back").await;
        assert_eq!(audit_of(&org, &back).await["operation"], format!("bring_back_{kind}"));
        assert!(browser.get(list).await.says(name) && !browser.get(&list_of_archived).await.says(name), "{kind}");
    }
}

#[tokio::test]
async fn what_is_archived_is_as_before_for_clients_also_once_the_clock_has_counted_people() {
    let (org, browser) = signed_in().await;
    let (workspace, ada) = (org.workspace("Harbor").await, org.contact("Ada").await);
    let people = format!("/api/v1/workspaces/{}/contacts", id(&workspace));
    org.post(&people, &json!({"contact_id": ada["id"]})).send().await.ok(201);
    let clock = Clockwork::of(&org);
    clock.tick().await;
    let stored = async || {
        let one = org.get(format!("/api/v1/workspaces/{}", id(&workspace))).send().await.ok(200);
        (one, org.all("/api/v1/workspaces").await)
    };
    let before = stored().await;
    let page = format!("{WORKSPACES}/{}", id(&workspace));
    for change in ["archive", "bring-back"] {
        assert_eq!(act(&browser, &page, change).await.status, 303);
        clock.tick().await;
        assert_eq!(stored().await, before, "{change}");
    }
}

#[tokio::test]
async fn an_etag_is_that_of_the_stored_version_also_after_a_change_that_only_the_app_shows() {
    let (org, browser) = signed_in().await;
    let (ada, twin) = (org.contact("Ada").await, org.contact("Ada (old)").await);
    let path = format!("/api/v1/contacts/{}", id(&ada));
    let read = async || {
        let answer = org.get(&path).send().await;
        (answer.etag(), answer.ok(200))
    };
    let (before, shown) = read().await;
    let choice = format!("{CONTACTS}/{}/merge", id(&twin));
    assert_eq!(press(&browser, &choice, &choice, &[("contact_id", id(&ada))]).await.status, 303);
    let (after, still_shown) = read().await;
    assert_eq!(still_shown, shown, "no field of the one that stays changes");
    assert_ne!(after, before, "the record has a new version");
    let change = json!({"external_reference": "crm-1"});
    org.patch(&path, &change).if_match(before).send().await.refused(409);
    org.patch(&path, &change).if_match(after).send().await.ok(200);
}

#[tokio::test]
async fn an_archived_workspace_goes_on_and_is_offered_for_nothing_new() {
    let (org, browser) = signed_in().await;
    let (workspace, ada) = (org.workspace("Harbor").await, org.contact("Ada").await);
    let draft = json!({"workspace_id": workspace["id"], "name": "Lease"});
    org.post("/api/v1/agreements", &draft).send().await.ok(201);
    let page = format!("{WORKSPACES}/{}", id(&workspace));
    assert!(browser.get(&page).await.says("Its agreements and payments go on"));
    act(&browser, &page, "archive").await;
    assert!(browser.get(AGREEMENTS).await.says("Lease"), "archiving hides the workspace only");
    assert!(!browser.get("/app/trusts/new").await.says("Harbor"));
    let people = format!("{page}/people");
    assert_eq!(press(&browser, &people, &people, &[("contact_id", id(&ada))]).await.status, 303);
    let stored = org.get(format!("/api/v1/workspaces/{}", id(&workspace))).send().await.ok(200);
    assert_eq!(stored["people"][0]["contact_id"], ada["id"]);
}

#[tokio::test]
async fn a_draft_is_archived_only_while_nobody_has_to_decide_on_it() {
    let (org, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    org.propose("publish_agreement", &draft).await;
    let page = format!("{AGREEMENTS}/{}", draft.id());
    assert!(!browser.get(&page).await.says("Archive…"));
    let refused = act(&browser, &page, "archive").await;
    assert!(browser.get(refused.location()).await.says("needs your decision, decide on it first"));
    assert!(browser.get(AGREEMENTS).await.says("Lease"));
}

#[tokio::test]
async fn publishing_an_archived_draft_brings_it_back() {
    let (org, browser) = signed_in().await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    let page = format!("{AGREEMENTS}/{}", draft.id());
    assert_eq!(act(&browser, &page, "archive").await.status, 303);
    assert!(browser.get(&page).await.says("Archived: lists don’t show it."));
    let published = browser.decide(&format!("{page}/publish"), "", "").await;
    assert_eq!(published.status, 303, "{}", published.body);
    assert!(browser.get(AGREEMENTS).await.says("Lease"));
}
