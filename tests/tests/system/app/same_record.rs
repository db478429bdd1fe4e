//! The same record wherever a form or body may name one: the response is a sentence, never a failure.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::Org;
use tests::app::Browser;
use tests::pages::{Form, crawl, furnish};
use tests::spec;

async fn forms(org: &Org, admin: &Browser) -> BTreeSet<Form> {
    crawl(org, admin).await.into_iter().flat_map(|visit| visit.forms).collect()
}

#[tokio::test]
async fn a_template_with_one_contact_as_both_parties_asks_for_another_at_the_second() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren Holt").await).await;
    let workspace = org.workspace("Harbor").await["id"].as_str().expect("an id").to_owned();
    let contact = org.person("Ada").await["id"].as_str().expect("an id").to_owned();
    let people = format!("/api/v1/workspaces/{workspace}/contacts");
    org.post(&people, &json!({"contact_id": contact})).send().await.ok(201);
    let form_token = browser.get("/app").await.hidden("form_token");
    for (template, first, second, label) in [
        ("two-party-signature", "party.first", "party.second", "First party"),
        ("safe", "party.issuer", "party.investor", "Company (issuer)"),
    ] {
        let fields = [
            ("form_token", form_token.as_str()),
            ("workspace", &workspace),
            ("template", template),
            ("name", "Refit contract"),
            (first, &contact),
            (second, &contact),
        ];
        let before = org.state().await;
        let page = browser.post("/app/agreements/new", &fields).await;
        assert_eq!(page.status, 422, "{}", page.body);
        assert!(page.title().starts_with("Error:"), "{}", page.title());
        let error = format!("must be a different contact from “{label}”");
        let place = page.body.find(&format!("id=\"{second}-error\"")).unwrap_or_else(|| panic!("{}", page.body));
        assert!(page.body[place..].split("</p>").next().is_some_and(|text| text.contains(&error)), "{}", page.body);
        assert!(!page.says(&format!("id=\"{first}-error\"")), "{}", page.body);
        assert!(page.says("value=\"Refit contract\""), "what was typed stays: {}", page.body);
        assert_eq!(org.state().await, before, "nothing was begun");
    }
}

#[tokio::test]
async fn no_form_fails_that_names_one_record_wherever_it_can() {
    let org = Org::new().await;
    let admin = furnish(&org).await.subscriber.admin;
    let token = admin.get("/app").await.hidden("form_token");
    let forms = forms(&org, &admin).await;
    let with_choices: Vec<Form> = forms.iter().filter(|form| !form.choices.is_empty()).cloned().collect();
    let mut sent = 0;
    for form in with_choices {
        // Two of the offered records suffice: the first, and the last, which other lists may not offer.
        let records: Vec<String> = form.records().into_iter().map(str::to_owned).collect();
        let ends: BTreeSet<&str> = records.first().into_iter().chain(records.last()).map(String::as_str).collect();
        for record in if ends.is_empty() { BTreeSet::from([""]) } else { ends } {
            let filled = form.typed("12").choosing_only(record);
            let answer = filled.send(&admin, &token).await;
            assert!(answer.status < 500, "{filled:?}: {}", answer.status);
            sent += 1;
        }
    }
    assert!(sent > 30, "{sent}");
}

#[tokio::test]
async fn no_body_fails_that_names_one_record_wherever_it_can() {
    let org = Org::new().await;
    let id_of = |record: &Value| record["id"].as_str().expect("an id").to_owned();
    let estate = org.estate("Pine").await;
    let item = id_of(&org.ready_item(&estate, "Grand piano").await);
    let draft = org.ready_draft("Lease", |_| ()).await.id().to_string();
    let contact = id_of(&org.person("Ada").await);
    let (workspace, trust) = (id_of(&estate.workspace), id_of(&estate.trust));
    let is_id = |schema: &Value| schema["format"] == "uuid";
    for operation in spec::all().iter().filter(|operation| operation.is_write()) {
        let record = |name: &str| match name {
            _ if name.starts_with("item") => item.as_str(),
            _ if name.starts_with("trust_") => trust.as_str(),
            _ if name.starts_with("workspace") => workspace.as_str(),
            _ if name.starts_with("agreement") => draft.as_str(),
            _ => contact.as_str(),
        };
        let mut body = operation.example_body().unwrap_or_else(|| json!({}));
        let mut names = Vec::new();
        for field in operation.fields() {
            let (id, name) = (record(&field.name), &field.name);
            if is_id(&field.schema) {
                body[name] = json!(id);
                names.push(name.clone());
            } else if field.schema["items"].is_object() && name.ends_with("_ids") {
                body[name] = json!([id, id]);
                names.push(name.clone());
            }
        }
        // Another reference than the example's, so that each call creates what it asks for.
        if body.get("external_reference").is_some() {
            body["external_reference"] = json!(format!("twice-{}", operation.id));
        }
        let place = operation.path.split('{').nth(1).and_then(|rest| rest.split('}').next()).unwrap_or_default();
        let path = operation.path_with(record(place));
        for _ in 0..2 {
            let answer = org.call(operation.method.clone(), &path).json(&body).send().await;
            assert!(answer.status < 500, "{} with {names:?} of {body}: {answer}", operation.id);
        }
    }
}
