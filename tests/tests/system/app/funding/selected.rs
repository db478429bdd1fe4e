//! Several items at once: the action, the trust and the owner of all that are selected.

use serde_json::{Value, json};
use tests::app::unescaped;

use super::super::contacts::audit_of;
use super::{Desk, assert_says, hidden, id, submit};

#[tokio::test]
async fn several_items_are_sorted_at_once_or_none() {
    let desk = Desk::new().await;
    let (one, two) = (
        desk.org.funding_item(&desk.estate.workspace, "Painting").await,
        desk.org.funding_item(&desk.estate.workspace, "Sculpture").await,
    );
    let body = json!({"workspace_id": desk.estate.workspace["id"], "label": "IRA", "asset_kind": "retirement_account"});
    let account = desk.org.post(tests::funding::ITEMS, &body).send().await.ok(201);
    let action = format!("{}/selected", desk.path());
    let boxes = [&one, &two, &account].map(|item| format!("item.{}", id(item)));
    let (trust, owner) = (id(&desk.estate.trust), id(&desk.estate.settlor));
    let change = [("act", "sort"), ("verb", "assign"), ("trust", trust), ("owner", owner)];
    let with = |count: usize| -> Vec<(&str, &str)> {
        change.into_iter().chain(boxes.iter().take(count).map(|name| (name.as_str(), "on"))).collect()
    };
    let refused = submit(&desk.maren, &desk.path(), &action, &with(3)).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Nothing was changed", "“IRA”"]);
    assert_eq!(desk.phase(&one).await, "unsorted", "all or none");
    let before = desk.org.events().await.len();
    let own = hidden(&desk.maren.get(&desk.path()).await, &action);
    let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let send = async |typed: Vec<(&str, &str)>| desk.maren.post(&action, &[own.clone(), typed].concat()).await;
    for code in ["ok", "replayed"] {
        let sorted = send(with(2)).await;
        assert_eq!(sorted.status, 303, "{}", sorted.body);
        assert_eq!(audit_of(&desk.org, &sorted).await["code"], code, "the same copy of the form sorts once");
    }
    assert_says(&desk.maren.get(&desk.path()).await, &["2 items were changed"]);
    let other = send(with(1)).await;
    assert!(other.status == 409 && other.says("This form was already used."), "{}", other.body);
    assert_eq!(desk.events_since(before).await, ["funding_item.sorted", "funding_item.sorted"]);
    let read = desk.org.item(&two).await;
    assert_eq!((&read["phase"], &read["missing_facts"]), (&json!("gathering"), &json!(["description"])));
    let nothing = submit(&desk.maren, &desk.path(), &action, &[("act", "sort"), (&boxes[0], "on")]).await;
    assert_eq!(nothing.status, 422, "{}", nothing.body);
}

#[tokio::test]
async fn the_owner_of_several_items_can_be_named_where_they_are_changed() {
    let desk = Desk::new().await;
    let items = ["Painting", "Sculpture"].map(|label| desk.org.funding_item(&desk.estate.workspace, label));
    let items: Vec<Value> = futures_util::future::join_all(items).await;
    let (path, action) = (desk.path(), format!("{}/selected", desk.path()));
    let form = desk.maren.get(&path).await;
    assert_says(&form, &["An owner who isn’t listed", "name=\"display_name.owner\""]);
    let boxes: Vec<String> = items.iter().map(|item| format!("item.{}", id(item))).collect();
    let change = async |name: &str, email: &str| {
        let owner = [("act", "sort"), ("display_name.owner", name), ("kind.owner", "person"), ("email.owner", email)];
        let typed: Vec<(&str, &str)> =
            owner.into_iter().chain(boxes.iter().map(|name| (name.as_str(), "on"))).collect();
        submit(&desk.maren, &path, &action, &typed).await
    };
    let typed = [("act", "paper"), ("display_name.owner", "Iris Castellan"), (&boxes[0], "on")];
    let kept = submit(&desk.maren, &path, &action, &typed).await;
    assert_eq!(kept.status, 422, "{}", kept.body);
    assert_says(&kept, &["Nothing is papered yet", "value=\"Iris Castellan\"", "<details class=\"more-acts\" open>"]);
    let refused = change("", "iris@castellan.example").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["The name", "iris@castellan.example"]);
    let done = change("Iris Castellan", "iris@castellan.example").await;
    assert_eq!(done.status, 303, "{}", done.body);
    let shown = desk.maren.get(done.location()).await;
    assert_says(&shown, &["2 items were changed", "Iris Castellan is now one of your contacts."]);
    let found = desk.org.get("/api/v1/contacts").query("search", "iris").send().await.ok(200);
    assert_eq!(found["pagination"]["total"], 1, "both have the same new contact: {found}");
    for item in &items {
        assert_eq!(desk.org.item(item).await["owner_contact_ids"], json!([found["data"][0]["id"]]));
    }
    let twin = json!({"display_name": "Iris Castellan", "kind": "person", "email": "other@castellan.example"});
    desk.org.post("/api/v1/contacts", &twin).send().await.ok(201);
    let unclear = change("Iris Castellan", "").await;
    assert_eq!(unclear.status, 422, "{}", unclear.body);
    assert_says(&unclear, &["is that of 2 contacts", "enter the email address"]);
}

#[tokio::test]
async fn a_form_comes_back_to_the_part_of_the_list_that_it_was_sent_from() {
    let desk = Desk::new().await;
    let item = desk.org.funding_item(&desk.estate.workspace, "Painting").await;
    desk.org.ready_item(&desk.estate, "A vase").await;
    let list = format!("{}?trust_id={}", desk.path(), id(&desk.estate.trust));
    let shown = desk.maren.get(&list).await;
    assert!(shown.says("A vase") && !shown.says("Painting"), "{}", shown.body);
    let (_, action) = shown.body.split_once("/selected?").expect("a form that carries the filters");
    let (query, _) = action.split_once('"').expect("an attribute");
    let action = format!("{}/selected?{}", desk.path(), unescaped(query));
    let refused = submit(&desk.maren, &list, &action, &[("act", "sort")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.says("Nothing is selected") && !refused.says("Painting"), "{}", refused.body);
    let selected = format!("item.{}", id(&item));
    let done = submit(&desk.maren, &list, &action, &[("act", "sort"), ("verb", "assign"), (&selected, "on")]).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let after = desk.maren.get(done.location()).await;
    assert!(after.says("1 item was changed") && !after.says("Painting"), "{}", after.body);
}
