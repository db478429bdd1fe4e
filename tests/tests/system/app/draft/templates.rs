//! Templates that members keep: any agreement, with roles in place of people, begins others.

use serde_json::{Value, json};
use tests::app::{Browser, FormCopy, Page};
use tests::pdf::pdf;

use super::super::contacts::audit_of;
use super::{Desk, NEW, notice};
use crate::unknown_id;

/// The numbers of the contract's limits that this file reaches.
const TEMPLATES_MAX: usize = 50;
const ROLES_MAX: usize = 16;

impl Desk {
    async fn condition(&self, page: &str, step: usize, fields: &[(&str, &str)]) -> String {
        let step = self.agreement(page).await["stages"][step]["id"].as_str().expect("an id").to_owned();
        let FormCopy { name: copy, id } = self.copy();
        let fields: Vec<_> = [("copy", copy.as_str())].into_iter().chain(fields.iter().copied()).collect();
        let added = self.send(&format!("{page}/steps/{step}/conditions"), &fields).await;
        assert_eq!(added.status, 303, "{}", added.body);
        id
    }

    /// A purchase from Ben by Ada that is active, with a payment, a requested file, a question and obligations.
    async fn purchase(&self) -> String {
        let (page, [ada, ben]) = self.with_parties().await;
        let document = self.agreement(&page).await["documents"][0]["id"].as_str().expect("an id").to_owned();
        let path = format!("{page}/documents/{document}");
        let seen = self.seen_of_edit(&path).await;
        let filed = self.upload(&path, &[("seen", &seen), ("name", "Deed of Ben")], &pdf("one", "")).await;
        assert_eq!(filed.status, 303, "{}", filed.body);
        let price = [
            ("purpose", "Price from Ada"),
            ("reference", "Invoice 77"),
            ("amount", "250,000"),
            ("currency", "USD"),
            ("payer", &ada),
            ("payee", &ben),
            ("method", "swift"),
            ("due", "20/3/2031"),
        ];
        let payment = self.pay(&page, &price).await;
        let added = self.send(&format!("{page}/steps"), &[("act", "add"), ("step_name", "Closing")]).await;
        assert_eq!(added.status, 303, "{}", added.body);
        let payment = payment.rsplit('/').next().expect("an id").to_owned();
        let (seller, buyer) = (format!("participant.{ben}"), format!("participant.{ada}"));
        let file = [("type", "file_upload"), (&seller, "on"), ("title", "Resolution of Ben"), ("review", "on")];
        self.condition(&page, 1, &file).await;
        let gate = self.condition(&page, 1, &[("type", "information_request"), (&buyer, "on")]).await;
        let question = [("act", "add_question"), ("question", "Which port?"), ("answer", "text"), ("options", "")];
        assert_eq!(self.send(&format!("{page}/conditions/{gate}"), &question).await.status, 303);
        self.condition(&page, 1, &[("type", "movement_reconciled"), ("movement_id", &payment)]).await;
        self.condition(&page, 1, &[("type", "countdown"), ("until", "2031-05-04T12:30")]).await;
        let (promisor, promisee) = (format!("promisor.{ben}"), format!("promisee.{ada}"));
        for fields in [
            [("kind", "standing"), ("name", "Insurance by Ben"), ("days", "90")],
            [("kind", "scheduled"), ("name", "Report"), ("dates", "2031-03-31")],
        ] {
            let fields: Vec<_> = fields.into_iter().chain([(promisor.as_str(), "on"), (&promisee, "on")]).collect();
            assert_eq!(self.send(&format!("{page}/promises"), &fields).await.status, 303);
        }
        let seen = self.browser.get(&format!("{page}/details")).await.body;
        let seen = seen.rsplit("name=\"seen\" value=\"").next().and_then(|rest| rest.split('"').next()).expect("seen");
        let expiry = [("act", "expiry"), ("seen", seen), ("expires_at", "31/12/2031")];
        assert_eq!(self.send(&format!("{page}/details"), &expiry).await.status, 303);
        let review = self.browser.get(&format!("{page}/publish")).await;
        let (version, ticks) = (review.hidden("version"), review.ticks());
        let fields: Vec<_> = ticks.iter().map(|tick| (tick.as_str(), "on")).chain([("version", &*version)]).collect();
        let published = self.send(&format!("{page}/publish"), &fields).await;
        assert_eq!(published.status, 303, "{}", published.body);
        page
    }

    async fn press_keep(&self, page: &str, name: &str, labels: &[&str]) -> Page {
        let agreement = self.agreement(page).await;
        let participants = agreement["participants"].as_array().expect("participants").iter();
        let fields = participants.map(|participant| format!("label.{}", participant["id"].as_str().expect("an id")));
        let fields: Vec<String> = fields.collect();
        let labels = fields.iter().map(String::as_str).zip(labels.iter().copied());
        self.send(&format!("{page}/template"), &labels.chain([("name", name)]).collect::<Vec<_>>()).await
    }

    async fn keep(&self, page: &str, name: &str) -> String {
        let kept = self.press_keep(page, name, &["Buyer", "Seller"]).await;
        assert_eq!(kept.status, 303, "{}", kept.body);
        kept.location().to_owned()
    }

    /// What the table has of the organization's templates, as text.
    async fn stored(&self) -> String {
        let rows = self.org.state().await;
        let rows: Vec<Value> = rows.into_iter().filter(|row| row["pk"].to_string().contains("#TEMPLATES")).collect();
        Value::Array(rows).to_string()
    }
}

fn id_in(template: &str) -> &str {
    template.rsplit('/').next().expect("an id")
}

#[tokio::test]
async fn an_active_agreement_begins_another_with_other_people_and_nothing_of_the_first() {
    let desk = Desk::new().await;
    let page = desk.purchase().await;
    let first = desk.agreement(&page).await;
    assert!(desk.browser.get(&page).await.says(&format!("href=\"{page}/template\">Keep as a template</a>")));
    let form = desk.browser.get(&format!("{page}/template")).await;
    for text in ["Template name", "Role of Ada", "Role of Ben", "value=\"First party\"", "value=\"Second party\""] {
        assert!(form.says(text), "{text}: {}", form.body);
    }
    assert!(form.says("1 obligation is not kept, because it has dates of its own"), "{}", form.body);
    let template = desk.keep(&page, "Purchase").await;
    let shown = desk.browser.get(&template).await;
    notice(&shown, "“Purchase” was kept as a template");
    for text in ["Buyer", "Seller", "Deed of Seller", "Price from Buyer", "Insurance by Seller", "Confirmed payment"] {
        assert!(shown.says(text), "{text}: {}", shown.body);
    }
    assert_eq!(desk.agreement(&page).await, first, "it stays as it is");

    let stored = desk.stored().await;
    assert!(stored.contains("Resolution of Seller") && stored.contains("Which port?"), "{stored}");
    let of_people = ["Ada", "Ben"].map(str::to_owned);
    let of_deal = ["Invoice 77", "25000000", "2031-03", "2031-05", "2031-12", "Report"].map(str::to_owned);
    let ids = ["id", "sha256"].map(|name| first["documents"][0][name].as_str().expect("a text").to_owned());
    let parties = first["participants"].as_array().expect("participants").iter();
    let parties = parties.flat_map(|party| [&party["id"], &party["contact_id"]]);
    let parties = parties.map(|id| id.as_str().expect("an id").to_owned());
    let gone: Vec<String> = of_people.into_iter().chain(of_deal).chain(ids).chain(parties).collect();
    for text in &gone {
        assert!(!stored.contains(text), "{text}: {stored}");
    }
    assert!(!stored.contains('@'), "no address: {stored}");

    let choices = desk.browser.get(NEW).await;
    assert!(choices.says("Your templates") && choices.says("Two-party signature"), "{}", choices.body);
    assert!(choices.says(&format!("href=\"{NEW}?template={}\">Purchase</a>", id_in(&template))), "{}", choices.body);
    let form = desk.browser.get(&format!("{NEW}?template={}", id_in(&template))).await;
    assert!(form.says("<legend>Buyer</legend>") && form.says("<legend>Seller</legend>"), "{}", form.body);
    let gil = desk.org.person("Gil").await["id"].as_str().expect("an id").to_owned();
    let parties = [("party.1", gil.as_str()), ("display_name.2", "Hana"), ("kind.2", "person")];
    let begun = desk.begin(id_in(&template), &parties).await;
    let second = desk.agreement(&begun).await;
    assert_eq!((&second["lifecycle"], &second["expires_at"]), (&json!("draft"), &Value::Null));
    for text in &gone {
        assert!(!second.to_string().contains(text), "{text}: {second}");
    }
    let parties = |of: &Value| {
        let parties = of["participants"].as_array().expect("participants").clone();
        parties.iter().map(|party| (party["display_name"].clone(), party["roles"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(parties(&second), [(json!("Gil"), json!(["signer"])), (json!("Hana"), json!(["signer"]))]);
    let types = |of: &Value| {
        let stages = of["stages"].as_array().expect("stages").clone();
        let gates = stages.iter().flat_map(|stage| stage["gates"].as_array().expect("gates").clone());
        gates.map(|gate| gate["type"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(types(&second), types(&first));
    let gate = |n: usize| second["stages"][1]["gates"][n].clone();
    assert_eq!((&gate(0)["title"], &gate(0)["review"]), (&json!("Resolution of Seller"), &json!(true)));
    assert_eq!(gate(1)["fields"][0]["label"], "Which port?");
    let document = &second["documents"][0];
    assert_eq!((&document["name"], &document["sha256"]), (&json!("Deed of Seller"), &Value::Null));
    let movements = desk.org.get("/api/v1/movements").query("agreement_id", second["id"].as_str().expect("an id"));
    let payment = movements.send().await.ok(200)["data"][0].clone();
    assert_eq!((&payment["purpose"], &payment["method"]), (&json!("Price from Buyer"), &json!("swift")));
    assert_eq!(gate(2)["movement_id"], payment["id"]);
    for open in ["amount_minor", "currency", "reference", "due_at"] {
        assert_eq!(payment[open], Value::Null, "{open}");
    }
    assert_eq!(payment["sender_participant_id"], second["participants"][0]["id"]);
    let promises: Vec<&Value> =
        second["promises"].as_array().expect("promises").iter().map(|one| &one["name"]).collect();
    assert_eq!(promises, [&json!("Insurance by Seller")]);
    let shown = desk.browser.get(&begun).await;
    assert!(shown.says("To be signed by Gil, Hana"), "{}", shown.body);
    for text in ["Upload the file of “Deed of Seller”", "Complete the payment “Price from Buyer”: amount"] {
        assert!(shown.says(text), "a blocker asks for what was left open: {text}: {}", shown.body);
    }
}

#[tokio::test]
async fn a_draft_and_what_was_discarded_are_kept_too_and_a_form_pressed_twice_keeps_one() {
    let desk = Desk::new().await;
    assert!(desk.browser.get(NEW).await.says("Templates of your own appear here"));
    let page = desk.two_party().await;
    let agreement = desk.agreement(&page).await;
    let labels: Vec<String> =
        (0..2).map(|n| format!("label.{}", agreement["participants"][n]["id"].as_str().unwrap_or_default())).collect();
    let FormCopy { name: copy, id } = desk.copy();
    let fields = [("copy", copy.as_str()), ("name", "Draft"), (&labels[0], "Client"), (&labels[1], "Firm")];
    for _ in 0..2 {
        let kept = desk.send(&format!("{page}/template"), &fields).await;
        assert_eq!((kept.status, kept.location()), (303, format!("/app/agreements/templates/{id}").as_str()));
    }
    let version = desk.browser.get(&page).await.hidden("version");
    assert_eq!(desk.send(&format!("{page}/discard"), &[("version", &version)]).await.status, 303);
    let kept = desk.keep(&page, "Discarded").await;
    assert_eq!(desk.browser.get(NEW).await.body.matches("Kept by Maren Holt").count(), 2);
    let begun = desk.begin(id_in(&kept), &[]).await;
    assert_eq!(desk.agreement(&begun).await["participants"], json!([]), "roles may stay open");
}

#[tokio::test]
async fn a_name_is_a_templates_own_and_each_role_has_another_one() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    desk.keep(&page, "Purchase").await;
    for (name, labels, field) in [
        ("", ["Buyer", "Seller"], "name"),
        ("purchase", ["Buyer", "Seller"], "name"),
        (&"x".repeat(201), ["Buyer", "Seller"], "name"),
        ("Sale", ["Buyer", ""], "label."),
        ("Sale", ["Buyer", "buyer"], "label."),
        ("Sale", ["Buyer", "DE89 3704 0044 0532 0130 00"], "label."),
    ] {
        let refused = desk.press_keep(&page, name, &labels).await;
        assert_eq!(refused.status, 422, "{name} {labels:?}: {}", refused.body);
        let wrong =
            refused.body.split("aria-invalid=\"true\"").next().and_then(|before| before.rsplit("name=\"").next());
        assert!(wrong.is_some_and(|wrong| wrong.starts_with(field)), "{name} {labels:?}: {}", refused.body);
    }
    let other = desk.keep(&page, "Sale").await;
    let taken = desk.send(&other, &[("seen", "Sale"), ("name", "PURCHASE")]).await;
    assert!(taken.status == 422 && taken.says("Template name is that of another template"), "{}", taken.body);
}

#[tokio::test]
async fn a_template_is_renamed_and_deleted_and_a_late_form_says_what_happened_meanwhile() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let kept = desk.press_keep(&page, "Purchase", &["Buyer", "Seller"]).await;
    let template = kept.location().to_owned();
    let of = |page: &Value| page["operation"].clone();
    let row = audit_of(&desk.org, &kept).await;
    assert_eq!(of(&row), "keep_template");
    for id in [id_in(&page), id_in(&template)] {
        assert!(row["objects"].to_string().contains(&id.replace('-', "")), "{row}");
    }
    let begun = desk.begin(id_in(&template), &[]).await;
    let fields = [("seen", "Purchase"), ("name", "Purchase with escrow")];
    for _ in 0..2 {
        let renamed = desk.send(&template, &fields).await;
        assert_eq!((renamed.status, renamed.location()), (303, template.as_str()), "{}", renamed.body);
    }
    notice(&desk.browser.get(&template).await, "The template is now called “Purchase with escrow”");
    assert!(desk.browser.get(NEW).await.says(">Purchase with escrow</a>"));
    let late = desk.send(&template, &[("seen", "Purchase"), ("name", "Sale")]).await;
    assert_eq!(late.status, 409, "{}", late.body);
    assert!(late.says("Another member renamed this template") && late.says("value=\"Sale\""), "{}", late.body);

    let deleted = desk.send(&format!("{template}/delete"), &[]).await;
    assert_eq!(
        (deleted.status, deleted.location(), of(&audit_of(&desk.org, &deleted).await)),
        (303, NEW, json!("delete_template"))
    );
    let choices = desk.browser.get(NEW).await;
    notice(&choices, "The template was deleted");
    assert!(!choices.says("Purchase with escrow") && !desk.stored().await.contains("Buyer"));
    assert_eq!(desk.send(&format!("{template}/delete"), &[]).await.status, 404, "by another member");
    assert_eq!(desk.browser.get(&template).await.status, 404);
    assert_eq!(desk.send(&template, &fields).await.status, 404);
    let fields = [("template", id_in(&template)), ("name", "Second"), ("workspace", &desk.workspace)];
    let late = desk.send(NEW, &fields).await;
    assert!(late.status == 422 && late.says("This template was deleted"), "{}", late.body);
    assert_eq!(desk.agreement(&begun).await["lifecycle"], "draft", "what began with it stays");
}

#[tokio::test]
async fn no_other_organization_sees_a_template() {
    let desk = Desk::new().await;
    let template = desk.keep(&desk.two_party().await, "Purchase").await;
    let stranger = tests::Org::on(desk.org.stack().clone()).await;
    let browser = Browser::of(&stranger, &stranger.member("Ines Duarte").await).await;
    let token = browser.get("/app").await.hidden("form_token");
    assert!(!browser.get(NEW).await.says("Purchase"));
    for path in [template.clone(), format!("{NEW}?template={}", id_in(&template)), format!("{template}x")] {
        assert_eq!(browser.get(&path).await.status, 404, "{path}");
    }
    let renamed = [("form_token", token.as_str()), ("seen", "Purchase"), ("name", "Ours")];
    assert_eq!(browser.post(&template, &renamed).await.status, 404);
    let deleted = browser.post(&format!("{template}/delete"), &[("form_token", &token)]).await;
    assert_eq!(deleted.status, 404);
    let begun = [("form_token", token.as_str()), ("template", id_in(&template)), ("name", "Ours")];
    assert_eq!(browser.post(NEW, &begun).await.status, 422);
    assert!(desk.browser.get(&template).await.says("<h1>Purchase</h1>"), "it is as it was");
    let unknown = desk.browser.get(&format!("/app/agreements/{}/template", unknown_id())).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn what_is_too_much_is_said_before_anything_is_typed() {
    let desk = Desk::new().await;
    let large = desk.begin("blank", &[]).await;
    for n in 0..=ROLES_MAX {
        let contact = desk.org.person(&format!("Person{n}")).await;
        let path = format!("{}/participants", large.replace("/app/", "/api/v1/"));
        desk.org.post(path, &json!({"contact_id": contact["id"], "roles": ["signer"]})).send().await.ok(201);
    }
    let reason = "A template can have at most 16 participants. This agreement has 17.";
    let labels: Vec<String> = (0..=ROLES_MAX).map(|n| format!("Role {n}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    for page in [desk.browser.get(&format!("{large}/template")).await, desk.press_keep(&large, "Large", &labels).await]
    {
        assert!(page.says(reason) && !page.says("id=\"name\""), "{}", page.body);
    }
    let small = desk.begin("blank", &[]).await;
    for n in 0..TEMPLATES_MAX {
        desk.keep(&small, &format!("Template {n}")).await;
    }
    let reason = "Your organization has 50 templates, the most it can have.";
    let refused = desk.press_keep(&small, "One more", &[]).await;
    assert!(refused.status == 422 && refused.says(reason), "{}", refused.body);
    let first = desk.browser.get(NEW).await;
    let first =
        first.body.split("/app/agreements/templates/").nth(1).and_then(|rest| rest.split('"').next()).expect("one");
    desk.send(&format!("/app/agreements/templates/{first}/delete"), &[]).await;
    desk.keep(&small, "One more").await;
}

#[tokio::test]
async fn the_largest_template_begins_with_as_many_new_people() {
    let desk = Desk::new().await;
    let large = desk.begin("blank", &[]).await;
    for n in 0..ROLES_MAX {
        let contact = desk.org.person(&format!("Person{n}")).await;
        let path = format!("{}/participants", large.replace("/app/", "/api/v1/"));
        desk.org.post(path, &json!({"contact_id": contact["id"], "roles": ["signer"]})).send().await.ok(201);
    }
    for n in 0..16 {
        desk.pay(&large, &[("purpose", &format!("Payment {n}"))]).await;
    }
    let labels: Vec<String> = (0..ROLES_MAX).map(|n| format!("Role {n}")).collect();
    let kept = desk.press_keep(&large, "Large", &labels.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(kept.status, 303, "{}", kept.body);
    let fields: Vec<[String; 2]> = (1..=ROLES_MAX)
        .flat_map(|n| [[format!("display_name.{n}"), format!("New {n}")], [format!("kind.{n}"), "person".to_owned()]])
        .collect();
    let fields = fields.iter().map(|[name, value]| (name.as_str(), value.as_str()));
    let begun = [("template", id_in(kept.location())), ("name", "Large again")];
    let begun = desk.send(NEW, &fields.chain(begun).collect::<Vec<_>>()).await;
    assert_eq!(begun.status, 303, "in a workspace of its own: {}", begun.body);
    let agreement = desk.agreement(begun.location()).await;
    assert_eq!(agreement["participants"].as_array().map(Vec::len), Some(ROLES_MAX));
    let movements = desk.org.get("/api/v1/movements").query("agreement_id", agreement["id"].as_str().expect("an id"));
    assert_eq!(movements.send().await.ok(200)["pagination"]["total"], 16);
}
