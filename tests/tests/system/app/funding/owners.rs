//! Owners of an item, who may be named in its form.

use serde_json::json;

use super::{Desk, assert_says, id, item_page, submit};

#[tokio::test]
async fn someone_who_is_not_listed_is_named_as_an_owner() {
    let desk = Desk::new().await;
    let item = desk.org.funding_item(&desk.estate.workspace, "Checking").await;
    let (page, action) = (item_page(&item), format!("{}/sort", item_page(&item)));
    let form = desk.maren.get(&page).await;
    assert_says(&form, &["Add someone who isn’t listed", "name=\"display_name.owner\"", "<option value=\"Sol\">"]);
    let trustee = format!("owner.{}", id(&desk.estate.trustee));
    let named = |name: &'static str, email: &'static str| -> Vec<(&str, &str)> {
        let own =
            [("label", "Checking"), ("asset_kind", "bank_account"), ("verb", "transfer"), (trustee.as_str(), "on")];
        let owner = [("display_name.owner", name), ("kind.owner", "person"), ("email.owner", email)];
        own.into_iter().chain(owner).collect()
    };
    let before = desk.org.state().await;
    let refused = submit(&desk.maren, &page, &action, &named("", "tess@ellery.example")).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["The name is required.", "value=\"tess@ellery.example\""]);
    assert_eq!(desk.org.state().await, before, "nothing is made");

    let saved = submit(&desk.maren, &page, &action, &named("Tess Ellery", "tess@ellery.example")).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let shown = desk.maren.get(saved.location()).await;
    assert_says(&shown, &["Facts saved", "Tess Ellery is now one of your contacts.", ">Tess Ellery<"]);
    let tess = &desk.org.get("/api/v1/contacts?search=tess").send().await.ok(200)["data"][0];
    assert_eq!(tess["email"], "tess@ellery.example");
    assert_eq!(desk.org.item(&item).await["owner_contact_ids"], json!([desk.estate.trustee["id"], tess["id"]]));
    let workspace = desk.org.get(format!("/api/v1/workspaces/{}", desk.workspace())).send().await.ok(200);
    let is_tess = |person: &serde_json::Value| person["contact_id"] == tess["id"];
    assert!(workspace["people"].as_array().is_some_and(|people| people.iter().any(is_tess)), "{workspace}");

    let saved = submit(&desk.maren, &page, &action, &named("sol", "")).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_says(&desk.maren.get(saved.location()).await, &["Facts saved", "Uses an existing contact: Sol"]);
    let owners = json!([desk.estate.trustee["id"], desk.estate.settlor["id"]]);
    assert_eq!(desk.org.item(&item).await["owner_contact_ids"], owners, "those of the form");
    let sols = desk.org.get("/api/v1/contacts?search=sol").send().await.ok(200);
    assert_eq!(sols["pagination"]["total"], 1, "nobody is made");
}
