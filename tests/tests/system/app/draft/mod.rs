//! Drafts: members set up a deal in the browser alone, publish it, discard it and copy it.

mod conditions;
mod documents;
mod edits;
mod hostile_documents;
mod payments;
mod promises;
mod templates;
mod warnings;

use serde_json::{Value, json};
use tests::Org;
use tests::app::{Browser, FormCopy, Page, unescaped};
use tests::pdf::pdf;

const NEW: &str = "/app/agreements/new";

struct Desk {
    org: Org,
    browser: Browser,
    token: String,
    workspace: String,
    people: [String; 2],
}

impl Desk {
    async fn new() -> Self {
        let org = Org::new().await;
        let person = org.member("Maren Holt").await;
        let browser = Browser::of(&org, &person).await;
        let token = browser.get("/app").await.hidden("form_token");
        let workspace = org.workspace("Harbor refit").await["id"].as_str().expect("an id").to_owned();
        let mut people = Vec::new();
        for name in ["Ada", "Ben"] {
            let contact = org.person(name).await["id"].as_str().expect("an id").to_owned();
            let path = format!("/api/v1/workspaces/{workspace}/contacts");
            org.post(&path, &json!({"contact_id": contact})).send().await.ok(201);
            people.push(contact);
        }
        let people = people.try_into().expect("two people");
        Self { org, browser, token, workspace, people }
    }

    async fn colleague(&self) -> (Browser, String) {
        let browser = Browser::of(&self.org, &self.org.member("Ines Duarte").await).await;
        let token = browser.get("/app").await.hidden("form_token");
        (browser, token)
    }

    fn copy(&self) -> FormCopy {
        self.browser.copy("session")
    }

    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let fields: Vec<_> = [("form_token", self.token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.browser.post(path, &fields).await
    }

    async fn upload(&self, path: &str, fields: &[(&str, &str)], file: &[u8]) -> Page {
        let fields: Vec<_> = [("form_token", self.token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.browser.upload(path, &fields, ("file", "deed.pdf", file)).await
    }

    async fn begin(&self, template: &str, parties: &[(&str, &str)]) -> String {
        let fields = [("workspace", self.workspace.as_str()), ("template", template), ("name", "Refit contract")];
        let fields: Vec<_> = fields.into_iter().chain(parties.iter().copied()).collect();
        let begun = self.send(NEW, &fields).await;
        assert_eq!(begun.status, 303, "{}", begun.body);
        begun.location().to_owned()
    }

    async fn two_party(&self) -> String {
        self.begin("two-party-signature", &[("party.first", &self.people[0]), ("party.second", &self.people[1])]).await
    }

    async fn agreement(&self, page: &str) -> Value {
        self.org.get(page.replace("/app/", "/api/v1/")).send().await.ok(200)
    }

    async fn seen(&self, path: &str) -> String {
        self.browser.get(path).await.hidden("seen")
    }

    async fn published(&self) -> String {
        let page = self.two_party().await;
        let document = self.agreement(&page).await["documents"][0]["id"].as_str().expect("an id").to_owned();
        let path = format!("{page}/documents/{document}");
        let seen = self.seen_of_edit(&path).await;
        let filed = self.upload(&path, &[("seen", &seen), ("name", "Agreement")], &pdf("one", "")).await;
        assert_eq!(filed.status, 303, "{}", filed.body);
        let version = self.browser.get(&format!("{page}/publish")).await.hidden("version");
        let done = self.send(&format!("{page}/publish"), &[("version", &version)]).await;
        assert_eq!((done.status, done.location()), (303, page.as_str()), "{}", done.body);
        page
    }

    /// The `seen` of a document's own form, which follows those of its signature blocks.
    async fn seen_of_edit(&self, path: &str) -> String {
        self.browser.get(path).await.hidden("seen")
    }
}

fn notice(page: &Page, title: &str) {
    assert!(page.says(&format!("<p class=\"notice-title\">{title}</p>")), "{title}: {}", page.body);
}

#[tokio::test]
async fn a_deal_goes_from_nothing_to_active_in_the_browser_alone() {
    let desk = Desk::new().await;
    let begins = desk.browser.get(NEW).await;
    assert!(begins.says("It begins in a new workspace") && begins.says("Two-party signature"), "{}", begins.body);
    let chooser = desk.browser.get(&format!("{NEW}/workspace")).await;
    assert!(chooser.says("Which deal or matter") && chooser.says("Harbor refit"), "{}", chooser.body);
    let templates = desk.browser.get(&format!("{NEW}?workspace={}", desk.workspace)).await;
    for name in ["Two-party signature", "SAFE", "Engagement letter", "Notice period", "Blank agreement", "Blank SAFE"] {
        assert!(templates.says(name), "{name}");
    }
    let form = desk.browser.get(&format!("{NEW}?workspace={}&template=two-party-signature", desk.workspace)).await;
    for text in ["Agreement name", "First party", "Second party", "Choose later, or name them below", "Ada"] {
        assert!(form.says(text), "{text}");
    }

    let page = desk.two_party().await;
    let shown = desk.browser.get(&page).await;
    notice(&shown, "Draft “Refit contract” was created");
    assert!(shown.says("Before you publish") && shown.says("Upload the file of “Agreement”"), "{}", shown.body);
    let agreement = desk.agreement(&page).await;
    assert_eq!(agreement["participants"].as_array().map(Vec::len), Some(2));
    let document = agreement["documents"][0]["id"].as_str().expect("an id").to_owned();

    let path = format!("{page}/documents/{document}");
    let seen = desk.seen(&path).await;
    let file = pdf("the refit", "");
    let filed = desk.upload(&path, &[("seen", &seen), ("name", "Contract")], &file).await;
    assert_eq!((filed.status, filed.location()), (303, path.as_str()), "{}", filed.body);
    let shown = desk.browser.get(&path).await;
    notice(&shown, "“deed.pdf” was uploaded");
    let agreement = desk.agreement(&page).await;
    let sha256 = agreement["documents"][0]["sha256"].as_str().expect("a hash");
    assert!(shown.says(sha256) && shown.says(&format!("{} bytes", file.len())), "{}", shown.body);

    let viewed = desk.browser.get(&format!("{path}/view")).await;
    assert_eq!((viewed.status, viewed.body.as_bytes()), (200, &file[..]));
    assert_eq!(viewed.headers["content-type"], "application/pdf");
    assert_eq!(viewed.headers["x-content-type-options"], "nosniff");
    assert!(
        viewed.headers["content-disposition"].to_str().expect("text").starts_with("inline; filename=\"Contract.pdf\"")
    );
    let saved = desk.browser.get(&format!("{path}/download")).await;
    assert!(saved.headers["content-disposition"].to_str().expect("text").starts_with("attachment; "));
    let operations: Vec<Value> = desk.org.audit().await.into_iter().map(|row| row["operation"].clone()).collect();
    assert!(operations.contains(&json!("view_document")) && operations.contains(&json!("download_document")));

    let shown = desk.browser.get(&page).await;
    assert!(shown.says("Ready to publish") && shown.says("Publishing also activates the workspace"), "{}", shown.body);
    let review = desk.browser.get(&format!("{page}/publish")).await;
    assert!(review.says("Publish “Refit contract”?") && review.says("is activated"), "{}", review.body);
    let version = review.hidden("version");
    let published = desk.send(&format!("{page}/publish"), &[("version", &version)]).await;
    assert_eq!((published.status, published.location()), (303, page.as_str()), "{}", published.body);
    let shown = desk.browser.get(&page).await;
    notice(&shown, "Published");
    assert_eq!(desk.agreement(&page).await["lifecycle"], "active");
    let types: Vec<Value> = desk.org.events().await.into_iter().map(|event| event["type"].clone()).collect();
    for expected in ["proposal.created", "proposal.confirmed", "workspace.activated", "agreement.published"] {
        assert_eq!(types.iter().filter(|found| **found == json!(expected)).count(), 1, "{expected}: {types:?}");
    }
    let proposals = desk.org.get("/api/v1/proposals").send().await.ok(200);
    assert_eq!(proposals["data"][0]["state"], "confirmed");
    assert_eq!(proposals["data"][0]["created_by"], proposals["data"][0]["decided_by"]);

    let again = desk.send(&format!("{page}/publish"), &[("version", &version)]).await;
    assert_eq!((again.status, again.location()), (303, page.as_str()));
    assert_eq!(desk.browser.get(&format!("{page}/publish")).await.location(), page);
    assert_eq!(desk.org.get("/api/v1/proposals").send().await.ok(200)["pagination"]["total"], 1);
    assert_eq!(desk.browser.get(&format!("{path}/view")).await.status, 200);
    assert!(desk.browser.get(&page).await.says(&format!("{path}/download")));
}

#[tokio::test]
async fn a_draft_that_is_published_while_another_types_keeps_what_was_typed_in_sight() {
    let desk = Desk::new().await;
    let page = desk.published().await;
    let step = desk.agreement(&page).await["stages"][0]["id"].as_str().expect("an id").to_owned();
    let late = desk.send(&format!("{page}/steps/{step}"), &[("seen", "x"), ("name", "A better name")]).await;
    assert_eq!(late.status, 409);
    assert!(late.says("published while you were typing") && late.says("A better name"), "{}", late.body);
    assert!(late.says("<dt>Step name</dt>") && late.says("Now: Signing"), "{}", late.body);
    let form = [("act", "expiry"), ("seen", "x"), ("expires_at", "31/12/2031")];
    let late = desk.send(&format!("{page}/details"), &form).await;
    assert!(
        late.says("<dt>Expires</dt>") && late.says("31 Dec 2031, 23:59 UTC"),
        "as it was understood: {}",
        late.body
    );
    let form = [("seen", "x"), ("name", "Refit contract"), ("kind", "safe")];
    let late = desk.send(&format!("{page}/details"), &form).await;
    assert!(
        late.says("<dt>Kind</dt>") && late.says("SAFE") && !late.says("<dt>Agreement name</dt>"),
        "only what differs: {}",
        late.body
    );
    let late =
        desk.send(&format!("{page}/participants"), &[("contact_id", &desk.people[0]), ("role.signer", "on")]).await;
    assert!(late.status == 409 && late.says("published while you were typing"), "{}", late.body);
    assert!(late.says("<dt>Roles</dt>") && late.says("Signer"), "{}", late.body);
    let parties = desk.agreement(&page).await["participants"].clone();
    let of = |side: &str, n: usize| format!("{side}.{}", parties[n]["id"].as_str().expect("an id"));
    let (owes, gets) = (of("promisor", 0), of("promisee", 1));
    let promise = [("kind", "triggered"), ("name", "Report"), ("trigger-1", "The sale"), ("after-1", "10")];
    let promise: Vec<_> = promise.into_iter().chain([(owes.as_str(), "on"), (&gets, "on")]).collect();
    let late = desk.send(&format!("{page}/promises"), &promise).await;
    assert!(late.status == 409 && late.says("<dt>Triggers</dt>") && late.says("The sale"), "{}", late.body);
    assert!(!late.says("Removed since"), "{}", late.body);
    for path in ["details", "terms", "participants", &format!("steps/{step}")] {
        let led = desk.browser.get(&format!("{page}/{path}")).await;
        assert_eq!((led.status, led.location()), (303, page.as_str()), "{path}");
    }
}

#[tokio::test]
async fn a_draft_is_discarded_in_one_act_and_copied_in_any_state() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let shown = desk.browser.get(&page).await;
    assert!(shown.says("Discard draft…") && shown.says("Discarding permanently cancels this draft"));
    let version = shown.hidden("version");
    let FormCopy { name: form, id: copy } = desk.copy();
    for _ in 0..2 {
        let copied = desk.send(&format!("{page}/duplicate"), &[("copy", &form)]).await;
        assert_eq!((copied.status, copied.location()), (303, format!("/app/agreements/{copy}").as_str()));
    }
    let copied = desk.agreement(&format!("/app/agreements/{copy}")).await;
    assert_eq!((&copied["name"], &copied["lifecycle"]), (&json!("Copy of Refit contract"), &json!("draft")));
    assert_eq!(copied["participants"].as_array().map(Vec::len), Some(2));

    desk.send(&format!("{page}/steps"), &[("act", "add"), ("step_name", "New")]).await;
    let stale = desk.send(&format!("{page}/discard"), &[("version", &version)]).await;
    assert_eq!(stale.status, 409, "{}", stale.body);
    let version = desk.browser.get(&page).await.hidden("version");
    for _ in 0..2 {
        let done = desk.send(&format!("{page}/discard"), &[("version", &version)]).await;
        assert_eq!((done.status, done.location()), (303, page.as_str()), "{}", done.body);
    }
    assert_eq!(desk.agreement(&page).await["lifecycle"], "cancelled");
    let types: Vec<Value> = desk.org.events().await.into_iter().map(|event| event["type"].clone()).collect();
    assert_eq!(types, [json!("proposal.created"), json!("proposal.confirmed")], "once");
    let again = desk.send(&format!("{page}/duplicate"), &[]).await;
    assert_eq!(again.status, 303, "a cancelled agreement can be copied too");
}

#[tokio::test]
async fn a_member_proposes_and_a_pending_proposal_is_decided_first() {
    let desk = Desk::new().await;
    let page = desk.begin("notice-period", &[("party.recipient", &desk.people[0])]).await;
    let document = desk.agreement(&page).await["documents"][0]["id"].as_str().expect("an id").to_owned();
    let blocked = desk.send(&format!("{page}/propose"), &[("action", "publish_agreement")]).await;
    assert_eq!(blocked.status, 422, "{}", blocked.body);
    notice(&blocked, "Nothing was proposed");
    assert_eq!(desk.send(&format!("{page}/documents/{document}"), &[("act", "remove")]).await.status, 303);

    let long = "n".repeat(2001);
    let refused = desk.send(&format!("{page}/propose"), &[("action", "publish_agreement"), ("note", &long)]).await;
    assert!(refused.status == 422 && refused.says(&long), "what was typed stays");
    let proposed = desk.send(&format!("{page}/propose"), &[("action", "publish_agreement"), ("note", "Please.")]).await;
    assert_eq!(proposed.status, 303, "{}", proposed.body);
    let proposal = proposed.location().to_owned();
    notice(&desk.browser.get(&proposal).await, "Proposed");
    let again = desk.send(&format!("{page}/propose"), &[("action", "publish_agreement")]).await;
    assert_eq!((again.status, again.location()), (303, proposal.as_str()), "there is one");
    let review = desk.browser.get(&format!("{page}/publish")).await;
    assert!(review.says("Review the proposal") && !review.says("name=\"version\""), "{}", review.body);
    let confirmed = desk.browser.decide(&proposal, "confirm", "").await;
    assert_eq!(confirmed.status, 303);

    let active = desk.browser.get(&page).await;
    assert!(active.says("Propose cancellation…"), "{}", active.body);
    let cancel = desk.send(&format!("{page}/propose"), &[("action", "cancel_agreement"), ("note", "Sold.")]).await;
    assert_eq!(cancel.status, 303, "{}", cancel.body);
    assert!(!desk.browser.get(&page).await.says("Propose cancellation…"));
    assert_eq!(desk.browser.decide(cancel.location(), "confirm", "").await.status, 303);
    assert_eq!(desk.agreement(&page).await["lifecycle"], "cancelled");
}

#[tokio::test]
async fn another_organizations_draft_does_not_exist() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let agreement = desk.agreement(&page).await;
    let id = |value: &Value| value["id"].as_str().expect("an id").to_owned();
    let (step, gate) = (id(&agreement["stages"][0]), id(&agreement["stages"][0]["gates"][0]));
    let (participant, document) = (id(&agreement["participants"][0]), id(&agreement["documents"][0]));
    let stranger = Desk::new().await;
    for path in [
        String::new(),
        "/details".to_owned(),
        "/terms".to_owned(),
        "/participants".to_owned(),
        format!("/participants/{participant}"),
        format!("/documents/{document}"),
        format!("/documents/{document}/view"),
        format!("/steps/{step}"),
        format!("/steps/{step}/conditions"),
        format!("/conditions/{gate}"),
        "/publish".to_owned(),
    ] {
        assert_eq!(stranger.browser.get(&format!("{page}{path}")).await.status, 404, "{path}");
    }
    let before = desk.agreement(&page).await;
    for (path, fields) in [
        ("details", vec![("name", "Mine"), ("kind", "general")]),
        ("participants", vec![("contact_id", stranger.people[0].as_str()), ("role.signer", "on")]),
        ("steps", vec![("act", "add"), ("step_name", "Mine")]),
        ("duplicate", vec![]),
        ("publish", vec![("version", "1-x")]),
        ("discard", vec![("version", "1-x")]),
        ("propose", vec![("action", "publish_agreement")]),
    ] {
        let answer = stranger.send(&format!("{page}/{path}"), &fields).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
    }
    assert_eq!(desk.agreement(&page).await, before);
    assert_eq!(
        stranger.send(NEW, &[("workspace", &desk.workspace), ("template", "blank"), ("name", "Mine")]).await.status,
        404
    );
}

#[tokio::test]
async fn a_draft_that_was_edited_after_it_was_proposed_says_so() {
    let desk = Desk::new().await;
    let page = desk.begin("notice-period", &[("party.recipient", &desk.people[0])]).await;
    let document = desk.agreement(&page).await["documents"][0]["id"].as_str().expect("an id").to_owned();
    desk.send(&format!("{page}/documents/{document}"), &[("act", "remove")]).await;
    let proposed = desk.send(&format!("{page}/propose"), &[("action", "publish_agreement")]).await;
    assert_eq!(proposed.status, 303, "{}", proposed.body);
    assert!(!desk.browser.get(&page).await.says("edited after this was proposed"));
    desk.send(&format!("{page}/steps"), &[("act", "add"), ("step_name", "New")]).await;
    assert!(desk.browser.get(&page).await.says("edited after this was proposed"));
}

#[tokio::test]
async fn an_agreement_begins_with_its_workspace_and_parties_in_one_press() {
    let desk = Desk::new().await;
    let form = desk.browser.get(&format!("{NEW}?template=safe")).await;
    for says in [
        "It keeps the people and agreements of a deal together.",
        "Company (issuer)",
        "value=\"Ada\"",
        "any other name creates one",
    ] {
        assert!(unescaped(&form.body).contains(says), "{says}: {}", form.body);
    }
    let kind_of = |party: &str| {
        let (_, select) = form.body.split_once(&format!("name=\"kind.{party}\"")).expect("a choice");
        let (before, _) = select.split_once(" selected").expect("one is chosen");
        before.rsplit_once("value=\"").expect("a value").1.trim_end_matches('"').to_owned()
    };
    assert_eq!(["issuer", "investor"].map(kind_of), ["corporation", "person"], "a company is no person");
    let copy = desk.copy();
    let typed = [
        ("copy", copy.name.as_str()),
        ("template", "safe"),
        ("name", "Series seed"),
        ("workspace_name", "Northwind round"),
        ("display_name.issuer", "Northwind Robotics Inc."),
        ("kind.issuer", "corporation"),
        ("email.issuer", "legal@northwind.example"),
        ("display_name.investor", "Ada"),
        ("kind.investor", "person"),
    ];
    let begun = desk.send(NEW, &typed).await;
    assert_eq!(begun.status, 303, "{}", begun.body);
    let draft = desk.browser.get(begun.location()).await;
    assert!(draft.says("Uses an existing contact: Ada (ada@example.org)."), "{}", draft.body);
    assert_eq!(desk.send(NEW, &typed).await.location(), begun.location(), "sent twice, begun once");
    let agreement = desk.agreement(begun.location()).await;
    let workspace = agreement["workspace_id"].as_str().expect("an id");
    let workspace: Value = desk.org.get(format!("/api/v1/workspaces/{workspace}")).send().await.ok(200);
    assert_eq!((&workspace["name"], &workspace["activated"]), (&json!("Northwind round"), &json!(false)));
    let people: Vec<&Value> = workspace["people"].as_array().expect("people").iter().collect();
    assert_eq!(people.len(), 2, "the parties are its people: {people:?}");
    let investor = &agreement["participants"].as_array().expect("participants")[1];
    assert_eq!(investor["contact_id"], json!(desk.people[0]), "the contact of this name takes part");
    let issuers: Value = desk.org.get("/api/v1/contacts?search=legal@northwind.example").send().await.ok(200);
    assert_eq!(issuers["pagination"]["total"], 1);
}

#[tokio::test]
async fn nothing_begins_until_each_party_is_clear() {
    let desk = Desk::new().await;
    let typed = [("template", "two-party-signature"), ("name", "Harbor lease")];
    let begin = async |more: &[(&str, &str)]| {
        let fields: Vec<_> = typed.iter().chain(more).copied().collect();
        desk.send(NEW, &fields).await
    };
    desk.org.person("Ada").await;
    let before = desk.org.state().await;
    let bo = [("display_name.first", "Bo"), ("kind.first", "person")];
    for (fields, says) in [
        (
            &[("display_name.first", "Ada"), ("kind.first", "person")][..],
            "The name is that of 2 contacts: enter the email address",
        ),
        (&[("email.first", "bo@quay.example"), ("kind.first", "person")], "The name is required"),
        (&[bo[0], ("kind.first", "ship")], "The kind must be"),
        (&[bo[0], bo[1], ("email.first", "bo@quay")], "The email address"),
        (&[bo[0], bo[1], ("party.first", &desk.people[0])], "can’t be combined with a chosen person"),
        (&[bo[0], bo[1], ("display_name.second", "Bo"), ("kind.second", "person")], "must be a different contact"),
    ] {
        let refused = begin(fields).await;
        assert!(refused.status == 422 && unescaped(&refused.body).contains(says), "{says}: {}", refused.body);
        assert!(refused.says("value=\"Harbor lease\""), "what was typed stays: {}", refused.body);
    }
    assert_eq!(desk.org.state().await, before, "nothing was begun or added");
    let done = begin(&[]).await;
    let workspace = desk.agreement(done.location()).await["workspace_id"].as_str().expect("an id").to_owned();
    let workspace: Value = desk.org.get(format!("/api/v1/workspaces/{workspace}")).send().await.ok(200);
    assert_eq!(workspace["name"], "Harbor lease", "it is named like the agreement");
}

#[tokio::test]
async fn a_new_contact_becomes_a_participant_in_one_press() {
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/participants");
    desk.org.person("Aaron").await;
    let shown = desk.browser.get(&path).await;
    let order =
        ["In this workspace</h2>", ">Ada<", ">Ben<", "Other contacts</h2>", ">Aaron<", ">A new contact</label>"];
    let places = order.map(|text| shown.body.find(text).unwrap_or_else(|| panic!("{text}: {}", shown.body)));
    assert!(places.is_sorted(), "the workspace’s people come first: {}", shown.body);

    let nameless = desk.send(&path, &[("contact_id", "new"), ("kind", "llc"), ("email", "lea@quai")]).await;
    assert_eq!(nameless.status, 422);
    for kept in ["value=\"new\" checked", "value=\"lea@quai\"", "The name is required", "Roles must have"] {
        assert!(nameless.says(kept), "{kept}: {}", nameless.body);
    }
    let typed = [
        ("contact_id", "new"),
        ("display_name", "Quai Holdings LLC"),
        ("kind", "llc"),
        ("email", "lea@quai.example"),
        ("role.signer", "on"),
    ];
    let added = desk.send(&path, &typed).await;
    assert_eq!(added.status, 303, "{}", added.body);
    notice(&desk.browser.get(&page).await, "Quai Holdings LLC takes part");

    let found = desk.org.get("/api/v1/contacts").query("search", "quai").send().await.ok(200);
    let contact = &found["data"][0];
    assert_eq!((&contact["kind"], &contact["email"]), (&json!("llc"), &json!("lea@quai.example")));
    let participant = &desk.agreement(&page).await["participants"][0];
    assert_eq!((&participant["contact_id"], &participant["roles"]), (&contact["id"], &json!(["signer"])));
    let workspace = desk.org.get(format!("/api/v1/workspaces/{}", desk.workspace)).send().await.ok(200);
    assert!(workspace["people"].to_string().contains(contact["id"].as_str().expect("an id")), "{workspace}");

    let twin = desk.send(&path, &typed).await;
    assert_eq!(twin.status, 409, "{}", twin.body);
    assert!(twin.says("A contact with this name and email exists") && twin.says("Choose Quai"), "{}", twin.body);
    let anyway: Vec<_> = typed.into_iter().chain([("anyway", "yes")]).collect();
    assert_eq!(desk.send(&path, &anyway).await.status, 303, "someone else of the same name");
    assert_eq!(desk.agreement(&page).await["participants"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn the_history_of_an_agreement_leaves_drafting_out() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    for name in ["One", "Two", "Three", "Four", "Five"] {
        desk.send(&format!("{page}/steps"), &[("act", "add"), ("step_name", name)]).await;
    }
    let history = |page: &Page| page.body.split_once("id=\"acts\"").expect("a history").1.to_owned();
    let draft = history(&desk.browser.get(&page).await);
    let (first, on_demand) = draft.split_once("Show drafting").expect("drafting, on demand");
    assert!(first.contains("Only drafting so far.") && !first.contains("<li>"), "{first}");
    assert!(on_demand.contains("step “Five”"), "{on_demand}");

    let published = desk.published().await;
    let active = history(&desk.browser.get(&published).await);
    assert!(active.contains("Published"), "{active}");
    for left_out in ["Drafted", "step “", "Show drafting"] {
        assert!(!active.contains(left_out), "{left_out}: {active}");
    }
}
