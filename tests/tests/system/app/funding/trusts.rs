//! Trusts over forms: the list, creating one once, and its page.

use serde_json::json;
use tests::app::Page;

use super::{Desk, assert_says, id, submit};

#[tokio::test]
async fn a_trust_is_created_once_with_its_people() {
    let desk = Desk::new().await;
    let at = format!("/app/trusts/new?workspace={}", desk.workspace());
    assert_says(&desk.maren.get(&desk.path()).await, &[&format!("href=\"{at}\">New trust</a>")]);
    let form = desk.maren.get(&at).await;
    let (settlor, trustee) =
        (format!("settlor.{}", id(&desk.estate.settlor)), format!("trustee.{}", id(&desk.estate.trustee)));
    assert_says(&form, &[">Sol<", ">Tova<", "Settlors", "Trustees", &settlor, &trustee]);
    let own = tests::attending::hidden(&form, "/app/trusts/new");
    let mut fields: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let refused = desk.maren.post("/app/trusts/new", &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.title().starts_with("Error: "), "{}", refused.title());
    fields.extend([("formal_name", "The Ellery Trust"), (settlor.as_str(), "on"), (trustee.as_str(), "on")]);
    let before = desk.org.events().await.len();
    for _ in 0..2 {
        let created = desk.maren.post("/app/trusts/new", &fields).await;
        assert!(created.status == 303 && created.location().starts_with("/app/trusts/"), "{}", created.body);
        let page = desk.maren.get(created.location()).await;
        assert_says(&page, &["The Ellery Trust was created", ">Sol<", ">Tova<", "Nothing listed yet"]);
    }
    assert_eq!(desk.org.events().await.len(), before + 1);
    let trusts = desk.org.get("/api/v1/trusts?search=ellery").send().await.ok(200);
    assert_eq!(trusts["data"][0]["settlor_contact_ids"], json!([desk.estate.settlor["id"]]));
    let list = desk.maren.get("/app/trusts?search=ellery").await;
    assert_says(&list, &["The Ellery Trust", "Harbor"]);
    assert!(!list.says("The Harbor Trust"), "{}", list.body);
    let all = async |query: &str| desk.maren.get(&format!("/app/trusts{query}")).await;
    let begins = |page: &Page, first: &str| {
        let (_, rows) = page.body.split_once("<tbody>").expect("rows");
        rows.split("<td class=\"main\">").nth(1).is_some_and(|row| row.contains(&format!(">{first}</a>")))
    };
    for (sort, first) in [
        ("", "The Ellery Trust"),
        ("?sort=oldest", "The Harbor Trust"),
        ("?sort=name", "The Ellery Trust"),
        ("?search=trust&sort=oldest", "The Harbor Trust"),
    ] {
        let page = all(sort).await;
        assert!(begins(&page, first), "{sort}: {}", page.body);
    }
    assert_says(&all("").await, &["<span aria-current=\"true\">Newest</span>", "sort=name&offset=0\">Name</a>"]);
    assert_eq!(all("?sort=whatever").await.status, 422);
}

#[tokio::test]
async fn a_trust_begins_with_its_workspace_and_people_on_one_page() {
    let desk = Desk::new().await;
    let sol = desk.estate.settlor.clone();
    let form = desk.maren.get("/app/trusts/new").await;
    assert_says(&form, &[">A new workspace</option>", "name=\"workspace_name\"", "First person", "Second person"]);
    let typed = [
        ("formal_name", "The Ellery Trust"),
        ("display_name.1", "Sol"),
        ("kind.1", "person"),
        ("is_settlor.1", "on"),
        ("is_trustee.1", "on"),
        ("display_name.2", "Tess Ellery"),
        ("kind.2", "person"),
        ("email.2", "tess@ellery.example"),
        ("is_trustee.2", "on"),
    ];
    let before = desk.org.state().await;
    for (left_out, told) in [
        ("is_trustee.2", "This person must be a settlor, a trustee, or both."),
        ("display_name.2", "The name is required."),
        ("formal_name", "Formal name is required."),
    ] {
        let typed: Vec<_> = typed.into_iter().filter(|(name, _)| *name != left_out).collect();
        let refused = submit(&desk.maren, "/app/trusts/new", "/app/trusts/new", &typed).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &[told, "value=\"tess@ellery.example\""]);
    }
    assert_eq!(desk.org.state().await, before, "nothing is made");

    let created = submit(&desk.maren, "/app/trusts/new", "/app/trusts/new", &typed).await;
    assert_eq!(created.status, 303, "{}", created.body);
    let page = desk.maren.get(created.location()).await;
    assert_says(&page, &["The Ellery Trust was created", "Uses an existing contact: Sol", ">Tess Ellery<"]);
    let trust = &desk.org.get("/api/v1/trusts?search=ellery").send().await.ok(200)["data"][0];
    let tess = &desk.org.get("/api/v1/contacts?search=tess").send().await.ok(200)["data"][0];
    assert_eq!(tess["email"], "tess@ellery.example");
    assert_eq!(trust["settlor_contact_ids"], json!([sol["id"]]));
    assert_eq!(trust["trustee_contact_ids"], json!([sol["id"], tess["id"]]));
    let workspace = format!("/api/v1/workspaces/{}", trust["workspace_id"].as_str().expect("an id"));
    let workspace = desk.org.get(workspace).send().await.ok(200);
    assert_eq!(workspace["name"], "The Ellery Trust", "it is named like the trust");
    let mut people: Vec<_> = [&sol, tess].map(|contact| contact["id"].clone()).to_vec();
    people.sort_by_key(ToString::to_string);
    let told: Vec<_> =
        workspace["people"].as_array().expect("people").iter().map(|person| person["contact_id"].clone()).collect();
    assert_eq!(told, people);
}

#[tokio::test]
async fn a_trust_begins_in_a_workspace_of_the_list_and_nothing_typed_is_lost() {
    let desk = Desk::new().await;
    let at = "/app/trusts/new";
    let form = desk.maren.get(at).await;
    let (_, form) =
        form.body.split_once(&format!("<form class=\"card stack\" method=\"post\" action=\"{at}\">")).expect("a form");
    let form = form.split("</form>").next().unwrap_or_default();
    assert!(form.contains(&format!("value=\"{}\">Harbor</option>", desk.workspace())), "{form}");
    assert!(!form.contains("<a "), "no link of the form leads away from what was typed: {form}");
    let typed = |name| {
        [
            ("workspace", desk.workspace()),
            ("formal_name", name),
            ("display_name.1", "Tess Ellery"),
            ("kind.1", "person"),
            ("is_trustee.1", "on"),
        ]
    };
    let refused = submit(&desk.maren, at, at, &typed("")).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let chosen = format!("value=\"{}\" selected>Harbor</option>", desk.workspace());
    assert_says(&refused, &[&chosen, "value=\"Tess Ellery\""]);
    let both = [&typed("The Ellery Trust")[..], &[("workspace_name", "Another")]].concat();
    let refused = submit(&desk.maren, at, at, &both).await;
    assert_says(&refused, &["is for a new workspace: leave it empty", &chosen, "value=\"Another\""]);
    let created = submit(&desk.maren, at, at, &typed("The Ellery Trust")).await;
    assert_eq!(created.status, 303, "{}", created.body);
    let trust = &desk.org.get("/api/v1/trusts?search=ellery").send().await.ok(200)["data"][0];
    assert_eq!(trust["workspace_id"], desk.workspace());
}

#[tokio::test]
async fn a_page_of_funding_says_whose_it_is() {
    let desk = Desk::new().await;
    let page = desk.maren.get(&desk.path()).await;
    assert_says(&page, &["<h1>The Harbor Trust</h1>"]);
    assert!(page.title().starts_with("Funding · The Harbor Trust"), "{}", page.title());
    let body = json!({"workspace_id": desk.estate.workspace["id"], "formal_name": "The Ellery Trust"});
    let other = desk.org.post(tests::funding::TRUSTS, &body).send().await.ok(201);
    assert_says(&desk.maren.get(&desk.path()).await, &["<h1>Harbor</h1>"]);
    let page = desk.maren.get(&format!("{}?trust_id={}", desk.path(), id(&other))).await;
    assert_says(&page, &["<h1>The Ellery Trust</h1>"]);
}

#[tokio::test]
async fn someone_new_is_added_to_a_trust_where_it_is_changed() {
    let desk = Desk::new().await;
    let sol = &desk.estate.settlor;
    let at = format!("/app/trusts/{}/edit", id(&desk.estate.trust));
    let (settlor, trustee) =
        (format!("settlor.{}", id(&desk.estate.settlor)), format!("trustee.{}", id(&desk.estate.trustee)));
    let typed = [
        ("formal_name", "The Harbor Trust"),
        (settlor.as_str(), "on"),
        (trustee.as_str(), "on"),
        ("display_name.1", "Tess Ellery"),
        ("kind.1", "person"),
        ("is_trustee.1", "on"),
        ("display_name.2", "sol"),
        ("kind.2", "person"),
        ("is_trustee.2", "on"),
    ];
    let saved = submit(&desk.maren, &at, &at, &typed).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_says(&desk.maren.get(saved.location()).await, &["Changes saved", "Uses an existing contact: Sol"]);
    let trust = &desk.org.get("/api/v1/trusts").send().await.ok(200)["data"][0];
    let tess = &desk.org.get("/api/v1/contacts?search=tess").send().await.ok(200)["data"][0];
    assert_eq!(trust["trustee_contact_ids"], json!([desk.estate.trustee["id"], tess["id"], sol["id"]]));
    let workspace = desk.org.get(format!("/api/v1/workspaces/{}", desk.workspace())).send().await.ok(200);
    let is_tess = |person: &serde_json::Value| person["contact_id"] == tess["id"];
    assert!(workspace["people"].as_array().is_some_and(|people| people.iter().any(is_tess)), "{workspace}");
}

#[tokio::test]
async fn the_items_of_a_trust_are_counted_alone_and_a_new_one_is_of_it() {
    let desk = Desk::new().await;
    let body = json!({"workspace_id": desk.estate.workspace["id"], "formal_name": "The Ellery Trust",
        "trustee_contact_ids": [desk.estate.trustee["id"]]});
    let only = format!("<option value=\"{}\" selected>", id(&desk.estate.trust));
    assert_says(&desk.maren.get(&desk.path()).await, &[&only]);
    let empty = desk.org.post(tests::funding::TRUSTS, &body).send().await.ok(201);
    let page = desk.maren.get(&desk.path()).await;
    assert!(!page.says(&only), "one of two is not chosen: {}", page.body);
    let item = desk.org.ready_item(&desk.estate, "A painting").await;
    desk.org.funding_item(&desk.estate.workspace, "Checking").await;
    desk.done(&item, "close", &[("close_reason", "left_out"), ("close_note", "")]).await;
    let of = |trust: &serde_json::Value| format!("{}?trust_id={}", desk.path(), id(trust));
    let page = desk.maren.get(&of(&desk.estate.trust)).await;
    assert_says(&page, &[">1 of 1 item done</h2>", ">All 1</a>"]);
    let page = desk.maren.get(&of(&empty)).await;
    assert_says(&page, &["Nothing listed for The Ellery Trust yet", ">Add an item</a>", ">All 0</a>"]);
    let chosen = format!("<option value=\"{}\" selected>The Ellery Trust", id(&empty));
    assert_eq!(page.body.matches(&chosen).count(), 2, "in the filter and in the form: {}", page.body);
    let page = desk.maren.get(&format!("/app/trusts/{}", id(&empty))).await;
    assert_says(&page, &[&format!("href=\"{}#add\">Add an item</a>", of(&empty))]);
}

#[tokio::test]
async fn a_new_trust_never_changes_the_one_that_has_its_reference() {
    let desk = Desk::new().await;
    let body = json!({"workspace_id": desk.estate.workspace["id"], "formal_name": "The Castellan Trust",
        "trustee_contact_ids": [desk.estate.trustee["id"]], "external_reference": "trust-1"});
    let trust = desk.org.post(tests::funding::TRUSTS, &body).send().await.ok(201);
    let other = desk.org.workspace("Pine").await;
    for workspace in [desk.workspace(), id(&other)] {
        let form = desk.maren.get(&format!("/app/trusts/new?workspace={workspace}")).await;
        let own = tests::attending::hidden(&form, "/app/trusts/new");
        let mut fields: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.extend([("formal_name", "Completely New Trust"), ("external_reference", "trust-1")]);
        let refused = desk.maren.post("/app/trusts/new", &fields).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &["is the reference of another trust", "value=\"Completely New Trust\""]);
    }
    let all = desk.org.get("/api/v1/trusts").send().await.ok(200);
    assert_eq!(all["data"].as_array().map(Vec::len), Some(2), "none is new");
    let found = desk.org.get("/api/v1/trusts?search=castellan").send().await.ok(200);
    assert_eq!(found["data"][0], trust, "as it was");
}

#[tokio::test]
async fn the_page_of_a_trust_has_its_items_and_documents() {
    let desk = Desk::new().await;
    let item = desk.org.ready_item(&desk.estate, "A painting").await;
    let draft = desk.org.paper(&[&item]).await;
    let newer = desk.org.ready_item(&desk.estate, "A vase").await;
    let page = desk.maren.get(&format!("/app/trusts/{}", id(&desk.estate.trust))).await;
    let places = [&newer, &item].map(|item| page.body.find(id(item)).expect("its row"));
    assert!(places.is_sorted(), "newest first: {}", page.body);
    let document = format!(
        "/app/agreements/{}/documents/{}/download",
        id(&draft),
        draft["documents"][0]["id"].as_str().expect("an id")
    );
    assert_says(&page, &["A painting", "Papered", "Assignment: A painting", &document, "0 of 2"]);
    assert_eq!(desk.maren.get(&document).await.status, 200);
    let overview = desk.maren.get("/app/funding").await;
    assert_says(&overview, &["Harbor", "0 of 2"]);
    let workspace = desk.maren.get(&format!("/app/workspaces/{}", desk.workspace())).await;
    assert!(workspace.says(&format!("href=\"{}\">Funding</a>", desk.path())), "{}", workspace.body);
}

#[tokio::test]
async fn an_account_number_is_no_name() {
    let desk = Desk::new().await;
    let at = format!("/app/trusts/new?workspace={}", desk.workspace());
    let typed = [("formal_name", "Trust of account 000123456789")];
    let refused = submit(&desk.maren, &at, "/app/trusts/new", &typed).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Formal name must have no full account number"]);
}

fn edited<'a>(version: &'a str, replaced: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let own = [("version", version), ("formal_name", "The Harbor Trust"), ("external_reference", "")];
    let kept = own.into_iter().filter(|(name, _)| replaced.iter().all(|(other, _)| other != name));
    kept.chain(replaced.iter().copied()).collect()
}

#[tokio::test]
async fn a_trust_is_changed_once_and_told_only_if_something_differs() {
    let desk = Desk::new().await;
    let trust = format!("/app/trusts/{}", id(&desk.estate.trust));
    let at = format!("{trust}/edit");
    assert_says(&desk.maren.get(&trust).await, &[&format!("href=\"{at}\">Edit</a>")]);
    let form = desk.maren.get(&at).await;
    let (settlor, trustee) =
        (format!("settlor.{}", id(&desk.estate.settlor)), format!("trustee.{}", id(&desk.estate.trustee)));
    let is_checked = |name: &str| format!("name=\"{name}\" type=\"checkbox\" checked");
    assert_says(&form, &["value=\"The Harbor Trust\"", &is_checked(&settlor), &is_checked(&trustee), "Save changes"]);
    let (token, version) = (form.hidden("form_token"), form.hidden("version"));
    let people = [(settlor.as_str(), "on"), (trustee.as_str(), "on"), ("form_token", token.as_str())];
    let post = async |fields: Vec<(&str, &str)>| desk.maren.post(&at, &fields).await;

    let before = desk.org.events().await.len();
    let same = post(edited(&version, &people)).await;
    assert_eq!((same.status, same.location()), (303, trust.as_str()), "{}", same.body);
    assert_eq!(desk.org.events().await.len(), before);

    let other = [
        ("formal_name", "The Harbor Family Trust"),
        ("external_reference", "trust-9"),
        (trustee.as_str(), "on"),
        ("form_token", token.as_str()),
    ];
    for _ in 0..2 {
        let saved = post(edited(&version, &other)).await;
        assert_eq!((saved.status, saved.location()), (303, trust.as_str()), "{}", saved.body);
    }
    let events = desk.org.events().await;
    let told: Vec<&str> = events.iter().skip(before).filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(told, ["trust.updated"]);
    let stored = desk.org.get("/api/v1/trusts?external_reference=trust-9").send().await.ok(200);
    let stored = &stored["data"][0];
    assert_eq!(stored["formal_name"], "The Harbor Family Trust");
    assert_eq!(
        (&stored["settlor_contact_ids"], &stored["trustee_contact_ids"]),
        (&json!([]), &json!([desk.estate.trustee["id"]]))
    );
    let contact = format!("/api/v1/contacts/{}", stored["contact_id"].as_str().expect("an id"));
    assert_eq!(desk.org.get(contact).send().await.ok(200)["display_name"], "The Harbor Family Trust");
    let page = desk.maren.get(&trust).await;
    assert_says(&page, &["Changes saved", "The Harbor Family Trust", "trust-9"]);
    let body = json!({
        "workspace_id": desk.workspace(), "formal_name": "The Harbor Family Trust", "external_reference": "trust-9",
    });
    let repeated = desk.org.post("/api/v1/trusts", &body).send().await.ok(200);
    assert_eq!(repeated["id"], desk.estate.trust["id"]);
    assert_eq!(desk.org.events().await.len(), before + 1);

    let version = desk.maren.get(&at).await.hidden("version");
    let none = [("formal_name", "The Harbor Family Trust"), (trustee.as_str(), "on"), ("form_token", token.as_str())];
    assert_eq!(post(edited(&version, &none)).await.status, 303);
    let new = desk.org.post("/api/v1/trusts", &body).send().await.ok(201);
    assert_ne!(new["id"], desk.estate.trust["id"]);
    let version = desk.maren.get(&at).await.hidden("version");
    let refused = post(edited(&version, &other)).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Your reference is the reference of another trust", "value=\"trust-9\""]);
}

#[tokio::test]
async fn two_members_who_change_a_trust_at_once_are_told() {
    let desk = Desk::new().await;
    let at = format!("/app/trusts/{}/edit", id(&desk.estate.trust));
    let form = desk.maren.get(&at).await;
    let (token, version) = (form.hidden("form_token"), form.hidden("version"));
    let save = async |name: &str, version: &str| {
        let fields = [("formal_name", name), ("form_token", token.as_str())];
        desk.maren.post(&at, &edited(version, &fields)).await
    };
    assert_eq!(save("The Harbor Trust I", &version).await.status, 303);
    let refused = save("The Harbor Trust II", &version).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(
        &refused,
        &["This trust has changed since you opened it", "value=\"The Harbor Trust II\"", "Open the trust"],
    );
    assert_says(&desk.maren.get("/app/trusts").await, &["The Harbor Trust I<"]);
    assert_eq!(save("The Harbor Trust II", &refused.hidden("version")).await.status, 303);
    for (name, why) in [("", "Formal name"), ("Trust of account 000123456789", "must have no full account number")] {
        let version = desk.maren.get(&at).await.hidden("version");
        let refused = save(name, &version).await;
        assert_eq!(refused.status, 422, "{name}: {}", refused.body);
        assert!(refused.title().starts_with("Error: "), "{}", refused.title());
        assert_says(&refused, &[why]);
    }
    let stranger = format!("trustee.{}", crate::unknown_id());
    let version = desk.maren.get(&at).await.hidden("version");
    let fields = [("form_token", token.as_str()), (stranger.as_str(), "on")];
    let refused = desk.maren.post(&at, &edited(&version, &fields)).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Trustees: one is no contact of your organization"]);
}

#[tokio::test]
async fn a_change_of_a_trust_keeps_a_draft_that_names_it_from_publication() {
    let desk = Desk::new().await;
    let item = desk.org.ready_item(&desk.estate, "A painting").await;
    let draft = desk.org.paper(&[&item]).await;
    let at = format!("/app/trusts/{}/edit", id(&desk.estate.trust));
    let form = desk.maren.get(&at).await;
    assert_says(&form, &["An item of this trust is papered by a draft"]);
    let typed = [("formal_name", "The Harbor Trust II"), ("external_reference", "")];
    assert_eq!(submit(&desk.maren, &at, &at, &typed).await.status, 303);
    let agreement = format!("/app/agreements/{}", id(&draft));
    assert_says(&desk.maren.get(&agreement).await, &["discard this draft and paper the items again"]);
}
