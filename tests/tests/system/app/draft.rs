//! Drafts: members set up a deal in the browser alone, publish it, discard it and copy it.

use serde_json::{Value, json};
use tests::Org;
use tests::app::{Browser, Page};
use tests::pdf::pdf;

use crate::unknown_id;

const NEW: &str = "/app/agreements/new";

/// An organization with a workspace of two people, and a member's browser.
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

    /// A second member's browser.
    async fn colleague(&self) -> (Browser, String) {
        let browser = Browser::of(&self.org, &self.org.member("Ines Duarte").await).await;
        let token = browser.get("/app").await.hidden("form_token");
        (browser, token)
    }

    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let fields: Vec<_> = [("form_token", self.token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.browser.post(path, &fields).await
    }

    async fn upload(&self, path: &str, fields: &[(&str, &str)], file: &[u8]) -> Page {
        let fields: Vec<_> = [("form_token", self.token.as_str())].into_iter().chain(fields.iter().copied()).collect();
        self.browser.upload(path, &fields, ("file", "deed.pdf", file)).await
    }

    /// Begins a draft with a template, and gives the path of its page.
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

    /// The agreement of a page, as the API shows it.
    async fn agreement(&self, page: &str) -> Value {
        self.org.get(page.replace("/app/", "/api/v1/")).send().await.ok(200)
    }

    /// What a page's forms showed of their part.
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

    /// The `seen` of a document's own form, which comes after those of its signature blocks.
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
    let chooser = desk.browser.get(NEW).await;
    assert!(chooser.says("Which deal or matter") && chooser.says("Harbor refit"), "{}", chooser.body);
    let templates = desk.browser.get(&format!("{NEW}?workspace={}", desk.workspace)).await;
    for name in ["Two-party signature", "SAFE", "Engagement letter", "Notice period", "Blank agreement", "Blank SAFE"] {
        assert!(templates.says(name), "{name}");
    }
    let form = desk.browser.get(&format!("{NEW}?workspace={}&template=two-party-signature", desk.workspace)).await;
    for text in ["Agreement name", "First party", "Second party", "Choose later", "Ada"] {
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

    // The same press again, and the back button: nothing happens twice.
    let again = desk.send(&format!("{page}/publish"), &[("version", &version)]).await;
    assert_eq!((again.status, again.location()), (303, page.as_str()));
    assert_eq!(desk.browser.get(&format!("{page}/publish")).await.location(), page);
    assert_eq!(desk.org.get("/api/v1/proposals").send().await.ok(200)["pagination"]["total"], 1);
    // A document of an active agreement opens.
    assert_eq!(desk.browser.get(&format!("{path}/view")).await.status, 200);
    assert!(desk.browser.get(&page).await.says(&format!("{path}/download")));
}

#[tokio::test]
async fn every_type_of_condition_is_added_set_and_removed() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let agreement = desk.agreement(&page).await;
    let step = agreement["stages"][0]["id"].as_str().expect("an id").to_owned();
    let participant = agreement["participants"][0]["id"].as_str().expect("an id").to_owned();
    let document = agreement["documents"][0]["id"].as_str().expect("an id").to_owned();
    let who = format!("participant.{participant}");
    let steps = format!("{page}/steps/{step}");
    let blocks = desk.browser.get(&format!("{steps}/conditions?type=signature_blocks")).await.body;
    let block =
        blocks.split("name=\"block.").nth(1).and_then(|rest| rest.split('"').next()).expect("a block").to_owned();
    let listed = desk.browser.get(&steps).await;
    assert!(!listed.says("Authorized payment"), "a condition of a payment is set up with the payment");
    for (kind, fields) in [
        ("signature_blocks", vec![(format!("block.{block}"), "on")]),
        ("document_signed", vec![("document_id".to_owned(), document.as_str())]),
        ("participant_approval", vec![(who.clone(), "on")]),
        ("file_upload", vec![(who.clone(), "on")]),
        ("countdown", vec![("wait".to_owned(), "3"), ("unit".to_owned(), "days")]),
        ("information_request", vec![(who.clone(), "on")]),
        ("identity_verified", vec![(who.clone(), "on")]),
    ] {
        let form = desk.browser.get(&format!("{steps}/conditions?type={kind}")).await;
        let (id, kind) = (form.hidden("id"), form.hidden("type"));
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let fields: Vec<_> = [("id", id.as_str()), ("type", &kind)].into_iter().chain(fields).collect();
        let added = desk.send(&format!("{steps}/conditions"), &fields).await;
        assert_eq!(added.status, 303, "{kind}: {}", added.body);
        // The second press of a double click.
        assert_eq!(desk.send(&format!("{steps}/conditions"), &fields).await.status, 303);
        let gates = desk.agreement(&page).await["stages"][0]["gates"].as_array().cloned().expect("gates");
        let gate = gates.iter().filter(|gate| gate["id"] == json!(id)).collect::<Vec<_>>();
        assert_eq!((gate.len(), &gate[0]["type"]), (1, &json!(kind)));
        let settings = desk.browser.get(&format!("{page}/conditions/{id}")).await;
        assert!(settings.says("Save condition") && settings.says("Remove condition"), "{}", settings.body);
        let removed = desk.send(&format!("{page}/conditions/{id}"), &[("act", "remove")]).await;
        assert_eq!(removed.status, 303, "{}", removed.body);
        assert_eq!(desk.send(&format!("{page}/conditions/{id}"), &[("act", "remove")]).await.status, 303);
    }
    assert_eq!(desk.agreement(&page).await["stages"][0]["gates"].as_array().map(Vec::len), Some(1));

    // A countdown to a date, and what is no duration.
    let id = unknown_id();
    let until = [("id", id.as_str()), ("type", "countdown"), ("until", "2031-05-04T12:30")];
    assert_eq!(desk.send(&format!("{steps}/conditions"), &until).await.status, 303);
    assert!(desk.browser.get(&format!("{page}/conditions/{id}")).await.says("value=\"May 4, 2031 12:30 PM\""));
    for (name, value) in [("wait", "0"), ("wait", "-1"), ("wait", "soon"), ("wait", "999999999"), ("until", "tomorrow")]
    {
        let wrong = desk.send(&format!("{steps}/conditions"), &[("type", "countdown"), (name, value)]).await;
        assert_eq!(wrong.status, 422, "{value}");
        assert!(
            wrong.says(&format!("id=\"{name}-error\"")) && wrong.says(value) && wrong.says("<title>Error: "),
            "{value}"
        );
    }
}

#[tokio::test]
async fn questions_are_added_edited_moved_and_removed() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let step = desk.agreement(&page).await["stages"][0]["id"].as_str().expect("an id").to_owned();
    let gate = unknown_id();
    let add = [("id", gate.as_str()), ("type", "information_request")];
    desk.send(&format!("{page}/steps/{step}/conditions"), &add).await;
    let path = format!("{page}/conditions/{gate}");
    let mut ids = Vec::new();
    for (question, answer, options) in [("Which port?", "choice", "Kiel\nOslo"), ("Anything else?", "long_text", "")] {
        let id = unknown_id();
        let fields =
            [("act", "add_question"), ("id", &id), ("question", question), ("answer", answer), ("options", options)];
        let added = desk.send(&path, &fields).await;
        assert_eq!(added.status, 303, "{}", added.body);
        ids.push(id);
    }
    let fields = async || {
        let agreement = desk.agreement(&page).await;
        let gates = agreement["stages"][0]["gates"].as_array().cloned().expect("gates");
        gates.into_iter().find(|found| found["id"] == json!(gate)).expect("the gate")["fields"].clone()
    };
    assert_eq!(fields().await[0]["options"], json!(["Kiel", "Oslo"]));
    let order = desk.browser.get(&path).await;
    let seen_order = order.body.split("value=\"move_question\"").next().expect("a form").to_owned();
    let seen_order =
        seen_order.rsplit("name=\"seen\" value=\"").next().and_then(|rest| rest.split('"').next()).expect("seen");
    let moved = desk.send(&path, &[("act", "move_question"), ("id", &ids[1]), ("to", "0"), ("seen", seen_order)]).await;
    assert_eq!(moved.status, 303, "{}", moved.body);
    assert_eq!(fields().await[0]["label"], "Anything else?");
    // The same order moved by another member in the meantime.
    let late = desk.send(&path, &[("act", "move_question"), ("id", &ids[1]), ("to", "1"), ("seen", seen_order)]).await;
    assert_eq!(late.status, 409, "{}", late.body);
    let wrong = [("act", "add_question"), ("question", "Which?"), ("answer", "choice"), ("options", "")];
    let wrong = desk.send(&path, &wrong).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.says("options-error") && wrong.says("value=\"Which?\""), "{}", wrong.body);
    let removed = desk.send(&path, &[("act", "remove_question"), ("id", &ids[0])]).await;
    assert_eq!(removed.status, 303);
    assert_eq!(fields().await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_file_that_is_no_document_is_refused_with_the_reason() {
    const FOUR_MIB: usize = 4 * 1024 * 1024;
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/documents");
    let whole = pdf("whole", "");
    let padded = |bytes: usize| {
        // The offset at the end has more digits in a longer file.
        let mut note = "n".repeat(bytes - 1000);
        note.push_str(&"n".repeat(bytes - pdf(&note, "").len()));
        let padded = pdf(&note, "");
        assert_eq!(padded.len(), bytes);
        padded
    };
    let mut too_large = padded(FOUR_MIB);
    too_large.push(b'\n');
    for (file, reason) in [
        (b"".to_vec(), "is empty"),
        (b"<!doctype html><script>alert(1)</script>".to_vec(), "is not a PDF"),
        (b"PK\x03\x04 a text".to_vec(), "is not a PDF"),
        (whole[..whole.len() / 2].to_vec(), "broken PDF"),
        (pdf("secret", "/Encrypt 9 0 R "), "is encrypted"),
        (too_large, "is larger than 4 MB"),
    ] {
        let refused = desk.upload(&path, &[("document_name", "Deed")], &file).await;
        assert_eq!(refused.status, 422, "{reason}");
        assert!(refused.says(reason) && refused.says("id=\"file-error\""), "{reason}: {}", refused.body);
        assert!(refused.says("<title>Error: ") && refused.says("value=\"Deed\""), "what was typed stays");
    }
    let none = desk.send(&path, &[("document_name", "Deed")]).await;
    assert!(none.status == 422 && none.says("File must be chosen"), "{}", none.body);
    assert_eq!(desk.agreement(&page).await["documents"], json!([]));

    // The largest file, named after itself, once for two presses.
    let id = unknown_id();
    for _ in 0..2 {
        let added = desk.upload(&path, &[("id", &id), ("document_name", "")], &padded(FOUR_MIB)).await;
        assert_eq!(added.status, 303, "{}", added.body);
    }
    let documents = desk.agreement(&page).await["documents"].clone();
    assert_eq!(documents.as_array().map(Vec::len), Some(1));
    assert_eq!((&documents[0]["name"], &documents[0]["size_bytes"]), (&json!("deed"), &json!(FOUR_MIB)));

    // A body that breaks off in the middle of the file.
    let head = "------x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\n%PDF-1.4";
    let broken = desk.browser.send_body(&path, "multipart/form-data; boundary=----x", head.as_bytes().to_vec()).await;
    assert_eq!(broken.status, 422, "{}", broken.body);
    // Nothing of another organization is there.
    let stranger = Desk::new().await;
    for act in ["view", "download"] {
        assert_eq!(stranger.browser.get(&format!("{page}/documents/{id}/{act}")).await.status, 404);
    }
}

#[tokio::test]
async fn members_who_edit_different_parts_both_keep_their_edits() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let page = desk.two_party().await;
    let step = desk.agreement(&page).await["stages"][0]["id"].as_str().expect("an id").to_owned();
    let steps = format!("{page}/steps/{step}");
    // Both open their pages first.
    let (details, step_page) = (desk.seen(&format!("{page}/details")).await, other.get(&steps).await.hidden("seen"));
    let named =
        desk.send(&format!("{page}/details"), &[("seen", &details), ("name", "Refit"), ("kind", "general")]).await;
    let stepped =
        other.post(&steps, &[("form_token", &other_token), ("seen", &step_page), ("name", "Signatures")]).await;
    assert_eq!((named.status, stepped.status), (303, 303), "{}{}", named.body, stepped.body);
    // The second press of a double click finds what the first one did.
    let again = [("form_token", other_token.as_str()), ("seen", &step_page), ("name", "Signatures")];
    assert_eq!(other.post(&steps, &again).await.status, 303);
    let agreement = desk.agreement(&page).await;
    assert_eq!((&agreement["name"], &agreement["stages"][0]["name"]), (&json!("Refit"), &json!("Signatures")));

    // The same part: the second one is told, keeps what they typed, and can then replace it.
    let stale = desk.send(&steps, &[("seen", &step_page), ("name", "Closing <b>dinner</b>")]).await;
    assert_eq!(stale.status, 409);
    notice(&stale, "Ines Duarte changed this while you were typing");
    assert!(stale.says("Name: now “Signatures”; you typed “Closing &#60;b&#62;dinner&#60;/b&#62;”."), "{}", stale.body);
    assert!(
        stale.says("Signatures") && stale.says("value=\"Closing &#60;b&#62;dinner&#60;/b&#62;\""),
        "{}",
        stale.body
    );
    let replaced = desk.send(&steps, &[("seen", &stale.hidden("seen")), ("name", "Closing")]).await;
    assert_eq!(replaced.status, 303, "{}", replaced.body);

    // A step that another member removed.
    let seen = desk.seen(&steps).await;
    assert_eq!(other.post(&steps, &[("form_token", &other_token), ("act", "remove")]).await.status, 303);
    let gone = desk.send(&steps, &[("seen", &seen), ("name", "A long thought")]).await;
    assert_eq!(gone.status, 409);
    assert!(gone.says("removed by another member") && gone.says("A long thought"), "{}", gone.body);
}

#[tokio::test]
async fn steps_are_moved_by_the_order_that_was_shown() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let page = desk.begin("blank", &[]).await;
    for name in ["One", "Two", "Three"] {
        assert_eq!(desk.send(&format!("{page}/steps"), &[("act", "add"), ("step_name", name)]).await.status, 303);
    }
    let agreement = desk.agreement(&page).await;
    let ids: Vec<&str> =
        agreement["stages"].as_array().expect("stages").iter().filter_map(|stage| stage["id"].as_str()).collect();
    let order = desk.seen(&page).await;
    let path = format!("{page}/steps");
    let moved = desk.send(&path, &[("act", "move"), ("id", ids[2]), ("to", "0"), ("seen", &order)]).await;
    assert_eq!((moved.status, moved.location()), (303, format!("{page}#notice").as_str()), "{}", moved.body);
    let shown = desk.browser.get(&page).await;
    notice(&shown, "The step “Three” was moved up");
    let (above, steps) = shown.body.split_once("id=\"steps\"").expect("the section");
    assert!(!above.contains("id=\"notice\"") && steps.contains("id=\"notice\""), "it stands where the member acted");
    let twice = desk.send(&path, &[("act", "move"), ("id", ids[2]), ("to", "0"), ("seen", &order)]).await;
    assert_eq!(twice.status, 303, "the second press of a double click: {}", twice.body);
    let fields = [("form_token", other_token.as_str()), ("act", "move"), ("id", ids[0]), ("to", "2"), ("seen", &order)];
    let stale = other.post(&path, &fields).await;
    assert_eq!(stale.status, 409, "the order that the other member saw is no more");
    notice(&stale, "The steps were reordered by Maren Holt");
    assert!(stale.says("move it again if you still want to"), "{}", stale.body);
    let names = |agreement: &Value| {
        let stages = agreement["stages"].as_array().cloned().expect("stages");
        stages.iter().map(|stage| stage["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&desk.agreement(&page).await), ["Three", "One", "Two"]);
    let order = desk.seen(&page).await;
    for to in ["9", "-1", "x"] {
        let nowhere = desk.send(&path, &[("act", "move"), ("id", ids[0]), ("to", to), ("seen", &order)]).await;
        assert_eq!(nowhere.status, 422, "{to}");
    }
    for n in 3..50 {
        let added = desk.send(&path, &[("act", "add"), ("step_name", &format!("Step {n}"))]).await;
        assert_eq!(added.status, 303, "{}", added.body);
    }
    let full = desk.send(&path, &[("act", "add"), ("step_name", "One too many")]).await;
    assert!(full.status == 422 && full.says("At most 50"), "{}", full.body);
    assert!(full.says("An agreement has at most 50 steps."), "{}", full.body);
}

#[tokio::test]
async fn what_others_refer_to_stays() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let agreement = desk.agreement(&page).await;
    let participant = agreement["participants"][0]["id"].as_str().expect("an id").to_owned();
    let document = agreement["documents"][0]["id"].as_str().expect("an id").to_owned();
    let refused = desk.send(&format!("{page}/participants/{participant}"), &[("act", "remove")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("remove that signature block first"), "{}", refused.body);
    assert!(refused.says(&format!("href=\"{page}/documents/{document}#blocks\"")), "it links there: {}", refused.body);
    let refused = desk.send(&format!("{page}/documents/{document}"), &[("act", "remove")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("condition of the step “Signing”"), "{}", refused.body);
    assert_eq!(desk.agreement(&page).await["participants"].as_array().map(Vec::len), Some(2));

    let path = format!("{page}/participants/{participant}");
    let seen = desk.seen(&path).await;
    let saved = desk.send(&path, &[("seen", &seen), ("role.approver", "on"), ("role.signer", "on")]).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(desk.agreement(&page).await["participants"][0]["roles"], json!(["signer", "approver"]));
    let none = desk.send(&path, &[("seen", &desk.seen(&path).await)]).await;
    assert!(none.status == 422 && none.says("at least one choice"), "{}", none.body);
}

#[tokio::test]
async fn a_participant_is_added_with_roles() {
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/participants");
    let shown = desk.browser.get(&format!("{path}?search=ada")).await;
    assert!(shown.says("Ada") && !shown.says("Ben"), "{}", shown.body);
    let nobody = desk.send(&path, &[]).await;
    assert!(nobody.status == 422 && nobody.says("must be chosen from the list") && nobody.says("at least one choice"));
    let added = desk.send(&path, &[("contact_id", &desk.people[0]), ("role.signer", "on")]).await;
    assert_eq!(added.status, 303, "{}", added.body);
    notice(&desk.browser.get(&page).await, "Ada takes part");
    let again = desk.send(&path, &[("contact_id", &desk.people[0]), ("role.approver", "on")]).await;
    assert_eq!(again.status, 303);
    let participants = desk.agreement(&page).await["participants"].clone();
    assert_eq!(participants.as_array().map(Vec::len), Some(1), "roles merge");
    assert_eq!(participants[0]["roles"], json!(["signer", "approver"]));
    // A contact of another organization is none.
    let stranger = Desk::new().await;
    let foreign = desk.send(&path, &[("contact_id", &stranger.people[0]), ("role.signer", "on")]).await;
    assert_eq!(foreign.status, 404);
    let party = [
        ("workspace", desk.workspace.as_str()),
        ("template", "safe"),
        ("name", "A"),
        ("party.investor", &stranger.people[0]),
    ];
    let foreign = desk.send(NEW, &party).await;
    assert_eq!(foreign.status, 422, "{}", foreign.body);
}

#[tokio::test]
async fn terms_are_read_as_people_type_them() {
    let desk = Desk::new().await;
    let page = desk.begin("blank-safe", &[]).await;
    let path = format!("{page}/terms");
    let seen = desk.seen(&path).await;
    let fields = [
        ("seen", seen.as_str()),
        ("investment", "$750k"),
        ("currency", "usd"),
        ("cap", "8,000,000"),
        ("discount", "20 %"),
        ("timing", "post_money"),
        ("law", "Delaware"),
        ("pro_rata", "on"),
    ];
    let saved = desk.send(&path, &fields).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let terms = desk.agreement(&page).await["terms"].clone();
    assert_eq!(terms["investment_amount_minor"], 75_000_000);
    assert_eq!((&terms["valuation_cap_minor"], &terms["discount_rate"]), (&json!(800_000_000), &json!("0.20")));
    assert_eq!((&terms["currency"], &terms["mfn"], &terms["pro_rata"]), (&json!("USD"), &json!(false), &json!(true)));
    let shown = desk.browser.get(&page).await;
    notice(&shown, "Terms saved");
    assert!(shown.says("Investment: $750,000.00 USD"), "what was understood: {}", shown.body);
    let (header, rest) = shown.body.split_once("</dl>").expect("the header of the deal");
    for text in ["$750,000.00 USD", "No participants yet", "Valuation cap", "20%", "Edit name, kind and expiry"] {
        assert!(header.contains(text), "the deal comes first: {text}");
    }
    assert!(rest.contains("id=\"notice\""), "the notice stands by the terms");
    let shown = desk.browser.get(&path).await;
    assert!(shown.says("value=\"750,000.00\"") && shown.says("value=\"20%\""), "{}", shown.body);
    let wrong = [
        ("seen", shown.hidden("seen")),
        ("investment", "1.234,56".into()),
        ("currency", "USD".into()),
        ("discount", "0.2".into()),
    ];
    let wrong: Vec<_> = wrong.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = desk.send(&path, &wrong).await;
    assert_eq!(refused.status, 422);
    let texts = [
        "Did you mean 20%?<",
        "investment-error",
        "discount-error",
        "value=\"1.234,56\"",
        "value=\"0.2\"",
        "<title>Error: ",
    ];
    for text in texts {
        assert!(refused.says(text), "{text}: {}", refused.body);
    }
}

#[tokio::test]
async fn name_kind_and_expiry_are_edited() {
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/details");
    let long = "宽".repeat(250);
    for (name, status) in [("", 422), ("a\u{202e}b", 422), (long.as_str(), 303)] {
        let seen = desk.seen(&path).await;
        let saved = desk.send(&path, &[("seen", &seen), ("name", name), ("kind", "safe")]).await;
        assert_eq!(saved.status, status, "{name}: {}", saved.body);
    }
    let agreement = desk.agreement(&page).await;
    assert_eq!((&agreement["kind"], &agreement["name"]), (&json!("safe"), &json!(long)));
    let body = desk.browser.get(&path).await.body;
    let expiry =
        body.split("name=\"seen\" value=\"").nth(2).and_then(|rest| rest.split('"').next()).expect("seen").to_owned();
    let fields = [("act", "expiry"), ("seen", expiry.as_str()), ("expires_at", "2031-01-31T09:00")];
    assert_eq!(desk.send(&path, &fields).await.status, 303);
    assert_eq!(desk.agreement(&page).await["expires_at"], "2031-01-31T09:00:00.000Z");
}

#[tokio::test]
async fn an_expiry_is_read_as_people_type_it_and_shown_as_it_was_understood() {
    let desk = Desk::new().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/details");
    let save = async |typed: &str| {
        let body = desk.browser.get(&path).await.body;
        let seen = body.split("name=\"seen\" value=\"").nth(2).and_then(|rest| rest.split('"').next()).expect("seen");
        desk.send(&path, &[("act", "expiry"), ("seen", seen), ("expires_at", typed)]).await
    };
    for (typed, expected) in [
        ("12/31/2031", "2031-12-31T23:59:00.000Z"),
        ("Dec 31, 2031 5pm", "2031-12-31T17:00:00.000Z"),
        ("31 December 2031", "2031-12-31T23:59:00.000Z"),
        ("2031-12-30", "2031-12-30T23:59:00.000Z"),
        ("2031-12-31T09:00", "2031-12-31T09:00:00.000Z"),
    ] {
        assert_eq!(save(typed).await.status, 303, "{typed}");
        assert_eq!(desk.agreement(&page).await["expires_at"], expected, "{typed}");
    }
    notice(&desk.browser.get(&page).await, "Expires 31 Dec 2031, 09:00 UTC");
    assert!(desk.browser.get(&path).await.says("value=\"Dec 31, 2031 9:00 AM\""));
    for (typed, reason) in [
        ("31/12/2031", "must be a day that exists"),
        ("tomorrow", "must be a date"),
        ("12/31/9999", "must be in the years 1900 to 2199"),
    ] {
        let wrong = save(typed).await;
        assert_eq!(wrong.status, 422, "{typed}");
        assert!(
            wrong.says("expires_at-error") && wrong.says(reason) && wrong.says(&format!("value=\"{typed}\"")),
            "{typed}"
        );
    }
    // A date in the past is no error, but it keeps the draft from being published.
    assert_eq!(save("1/2/2020").await.status, 303);
    let shown = desk.browser.get(&page).await;
    assert!(shown.says("class=\"notice warn\"") && shown.says("That is in the past"), "{}", shown.body);
    assert!(shown.says("Choose an expiry in the future"), "{}", shown.body);
}

#[tokio::test]
async fn each_blocker_names_what_is_missing_and_where() {
    let desk = Desk::new().await;
    let page = desk.begin("blank-safe", &[]).await;
    let step = unknown_id();
    desk.send(&format!("{page}/steps"), &[("act", "add"), ("id", &step), ("step_name", "Closing")]).await;
    for (kind, lacking) in [
        ("document_signed", "choose the document of “Signed document” in “Closing”."),
        ("countdown", "set the waiting period of “Waiting period” in “Closing”."),
        ("information_request", "add questions to “Information request” in “Closing”."),
        ("participant_approval", "choose who must act in “Approval” in “Closing”."),
    ] {
        let id = unknown_id();
        let fields = [("id", id.as_str()), ("type", kind)];
        let added = desk.send(&format!("{page}/steps/{step}/conditions"), &fields).await;
        let shown = desk.browser.get(added.location().split('#').next().expect("a path")).await;
        assert!(shown.says("class=\"notice warn\"") && shown.says(lacking), "{kind}: {}", shown.body);
    }
    let shown = desk.browser.get(&page).await;
    for text in [
        "Choose the document of “Signed document” in “Closing”",
        "Set the waiting period of “Waiting period” in “Closing”",
        "Add questions to “Information request” in “Closing”",
        "Choose who must act in “Approval” in “Closing”",
        "Complete the SAFE terms: investment amount; currency; valuation cap, discount or most favored nation; conversion; governing law",
        "Give one participant the role Investor and one participant the role Issuer",
    ] {
        assert!(shown.says(text), "{text}: {}", shown.body);
    }
}

#[tokio::test]
async fn two_who_rename_one_draft_are_told_of_each_other() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let page = desk.begin("blank", &[]).await;
    let path = format!("{page}/details");
    let seen = desk.seen(&path).await;
    let renamed = [("form_token", other_token.as_str()), ("seen", &seen), ("name", "Charter"), ("kind", "safe")];
    assert_eq!(other.post(&path, &renamed).await.status, 303);
    let stale = desk.send(&path, &[("seen", &seen), ("name", "Refit"), ("kind", "general")]).await;
    assert_eq!(stale.status, 409);
    notice(&stale, "Ines Duarte changed this while you were typing");
    for text in
        ["Name: now “Charter”; you typed “Refit”.", "Kind: now “SAFE”; you typed “Agreement”.", "value=\"Refit\""]
    {
        assert!(stale.says(text), "{text}: {}", stale.body);
    }
    // A change of one's own, in another window.
    let seen = desk.seen(&path).await;
    assert_eq!(desk.send(&path, &[("seen", &seen), ("name", "Tender"), ("kind", "safe")]).await.status, 303);
    let stale = desk.send(&path, &[("seen", &seen), ("name", "Refit"), ("kind", "safe")]).await;
    notice(&stale, "You changed this in another window");
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
async fn the_parties_of_a_template_can_be_added_meanwhile() {
    let desk = Desk::new().await;
    let typed = [("workspace", desk.workspace.as_str()), ("template", "two-party-signature"), ("name", "Half typed")];
    let before = desk.send(NEW, &[("act", "update")].into_iter().chain(typed).collect::<Vec<_>>()).await;
    assert_eq!(before.status, 200, "{}", before.body);
    assert!(before.says("value=\"Half typed\"") && !before.says("Cleo"), "{}", before.body);
    let contact = desk.org.person("Cleo").await["id"].as_str().expect("an id").to_owned();
    let path = format!("/api/v1/workspaces/{}/contacts", desk.workspace);
    desk.org.post(&path, &json!({"contact_id": contact})).send().await.ok(201);
    let after = desk.send(NEW, &[("act", "update")].into_iter().chain(typed).collect::<Vec<_>>()).await;
    assert!(after.says("Cleo") && after.says("value=\"Half typed\""), "{}", after.body);
}

#[tokio::test]
async fn a_draft_that_is_published_while_another_types_keeps_what_was_typed_in_sight() {
    let desk = Desk::new().await;
    let page = desk.published().await;
    let step = desk.agreement(&page).await["stages"][0]["id"].as_str().expect("an id").to_owned();
    let late = desk.send(&format!("{page}/steps/{step}"), &[("seen", "x"), ("name", "A better name")]).await;
    assert_eq!(late.status, 409);
    assert!(late.says("published while you were typing") && late.says("A better name"), "{}", late.body);
    assert!(late.says("<dt>Name</dt>") && late.says("Now: Signing"), "{}", late.body);
    let form = [("act", "expiry"), ("seen", "x"), ("expires_at", "12/31/2031")];
    let late = desk.send(&format!("{page}/details"), &form).await;
    assert!(
        late.says("<dt>Expires</dt>") && late.says("31 Dec 2031, 23:59 UTC"),
        "as it was understood: {}",
        late.body
    );
    let form = [("seen", "x"), ("name", "Refit contract"), ("kind", "safe")];
    let late = desk.send(&format!("{page}/details"), &form).await;
    assert!(
        late.says("<dt>Kind</dt>") && late.says("SAFE") && !late.says("<dt>Name</dt>"),
        "only what differs: {}",
        late.body
    );
    let late =
        desk.send(&format!("{page}/participants"), &[("contact_id", &desk.people[0]), ("role.signer", "on")]).await;
    assert!(late.status == 409 && late.says("published while you were typing"), "{}", late.body);
    assert!(late.says("<dt>Roles</dt>") && late.says("Signer"), "{}", late.body);
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
    let copy = unknown_id();
    for _ in 0..2 {
        let copied = desk.send(&format!("{page}/duplicate"), &[("id", &copy)]).await;
        assert_eq!((copied.status, copied.location()), (303, format!("/app/agreements/{copy}").as_str()));
    }
    let copied = desk.agreement(&format!("/app/agreements/{copy}")).await;
    assert_eq!((&copied["name"], &copied["lifecycle"]), (&json!("Copy of Refit contract"), &json!("draft")));
    assert_eq!(copied["participants"].as_array().map(Vec::len), Some(2));

    // A change after the page was shown: nothing is discarded unseen.
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
    let again = desk.send(&format!("{page}/duplicate"), &[("id", &unknown_id())]).await;
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
