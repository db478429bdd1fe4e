//! Trusts over forms: the list, creating one once, and its page.

use serde_json::json;

use super::{Desk, assert_says, id, submit};

#[tokio::test]
async fn a_trust_is_created_once_with_its_people() {
    let desk = Desk::new().await;
    let choose = desk.maren.get("/app/trusts/new").await;
    let at = format!("/app/trusts/new?workspace={}", desk.workspace());
    assert!(choose.says(&format!("href=\"{at}\"")), "{}", choose.body);
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
}

#[tokio::test]
async fn the_page_of_a_trust_has_its_items_and_documents() {
    let desk = Desk::new().await;
    let item = desk.org.ready_item(&desk.estate, "A painting").await;
    let draft = desk.org.paper(&[&item]).await;
    let page = desk.maren.get(&format!("/app/trusts/{}", id(&desk.estate.trust))).await;
    let document = format!(
        "/app/agreements/{}/documents/{}/download",
        id(&draft),
        draft["documents"][0]["id"].as_str().expect("an id")
    );
    assert_says(&page, &["A painting", "Papered", "Assignment: A painting", &document, "0 of 1"]);
    assert_eq!(desk.maren.get(&document).await.status, 200);
    let overview = desk.maren.get("/app/funding").await;
    assert_says(&overview, &["Harbor", "0 of 1"]);
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
