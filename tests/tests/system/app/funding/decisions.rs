//! Decisions about items rest on what the page showed: an outdated page is refused, and keeps what was typed.

use serde_json::{Value, json};
use tests::app::Page;
use tests::attending::hidden;
use tests::funding::item_path;

use super::{Desk, assert_says, columns, id, item_page, submit};

const CHANGED: &str = "This item has changed since you opened it";

pub struct Opened {
    action: String,
    fields: Vec<(String, String)>,
}

impl Opened {
    fn form(page: &Page, action: &str, typed: &[(&str, &str)]) -> Self {
        let typed = typed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let own = hidden(page, action);
        assert!(own.iter().any(|(name, _)| name == "shown"), "{action}: {}", page.body);
        Self { action: action.to_owned(), fields: own.into_iter().chain(typed).collect() }
    }

    async fn send(&self, desk: &Desk) -> Page {
        let fields: Vec<(&str, &str)> = self.fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        desk.maren.post(&self.action, &fields).await
    }

    /// Sends it, and asserts that it is told the changes and changes nothing.
    async fn is_out_of_date(&self, desk: &Desk, title: &str, told: &str) -> Page {
        let before = desk.org.state().await;
        let refused = self.send(desk).await;
        assert_eq!(refused.status, 409, "{}: {}", self.action, refused.body);
        assert_says(&refused, &[title, told]);
        assert_eq!(desk.org.state().await, before, "{}", self.action);
        refused
    }
}

pub fn waiting(page: &Page) -> Vec<String> {
    let ids = page.body.split("<li class=\"open\" id=\"proof-").skip(1);
    ids.map(|rest| rest.split('"').next().expect("an id").to_owned()).collect()
}

const PROOF: [(&str, &str); 3] =
    [("source", "new_statement"), ("dated", "16/3/2026"), ("proof_note", "They read it out on the phone.")];

impl Desk {
    async fn opened(&self, item: &Value, act: &str, typed: &[(&str, &str)]) -> Opened {
        let page = item_page(item);
        Opened::form(&self.maren.get(&page).await, &format!("{page}/{act}"), typed)
    }

    async fn rename(&self, contact: &Value, name: &str) {
        let path = format!("/api/v1/contacts/{}", id(contact));
        self.org.patch(path, &json!({"display_name": name})).send().await.ok(200);
    }
}

#[tokio::test]
async fn proof_is_accepted_only_as_its_page_showed_the_item() {
    let desk = Desk::new().await;
    let item = desk.in_progress().await;
    let filed = waiting(&desk.done(&item, "proof", &PROOF).await);
    let accept = format!("proof/{}/accept", filed[0]);
    let stale = desk.opened(&item, &accept, &[]).await;

    desk.done(&item, "claim", &[("claim_note", "Ruth says so.")]).await;
    stale.is_out_of_date(&desk, CHANGED, "Changed: the claim.").await;
    desk.done(&item, "park", &[("waiting_on", "institution"), ("note", "")]).await;
    stale.is_out_of_date(&desk, CHANGED, "Changed: its hold and the claim.").await;
    let stale = desk.opened(&item, &accept, &[]).await;
    desk.rename(&desk.estate.settlor, "Sol Harbor").await;
    stale.is_out_of_date(&desk, CHANGED, "Changed: the names of people, trust or workspace.").await;
    let stale = desk.opened(&item, &accept, &[]).await;
    let letter = [("source", "new_statement"), ("dated", "17/3/2026"), ("proof_note", "By letter.")];
    desk.done(&item, "proof", &letter).await;
    let shown = stale.is_out_of_date(&desk, CHANGED, "Changed: the proof.").await;

    let token = shown.hidden("form_token");
    let action = format!("{}/{accept}", item_page(&item));
    let without = desk.maren.post(&action, &[("form_token", &token)]).await;
    assert_eq!(without.status, 409, "{}", without.body);
    let fresh = Opened::form(&shown, &action, &[]);
    for _ in 0..2 {
        let done = fresh.send(&desk).await;
        assert_eq!(done.status, 303, "{}", done.body);
    }
    assert_eq!(desk.summary().await["funded"], 1);
    let page = desk.maren.get(&item_page(&item)).await;
    assert_says(&page, &["It can be reopened once its agreement is completed or cancelled", "Open the agreement"]);
}

#[tokio::test]
async fn an_item_is_closed_and_reopened_only_as_its_page_showed_it() {
    let desk = Desk::new().await;
    let item = desk.org.ready_item(&desk.estate, "A painting").await;
    let typed = [("close_reason", "sold"), ("close_note", "Sold at the auction")];
    let stale = desk.opened(&item, "close", &typed).await;
    desk.org.patch(item_path(&item), &json!({"label": "Another painting"})).send().await.ok(200);
    let shown = stale.is_out_of_date(&desk, CHANGED, "Changed: its facts.").await;
    assert_says(&shown, &["Sold at the auction", "value=\"sold\" selected", "Another painting"]);
    assert!(shown.body.contains("<details id=\"close\" class=\"confirm\" open>"), "{}", shown.body);
    let closed = Opened::form(&shown, &stale.action, &typed).send(&desk).await;
    assert_eq!(closed.status, 303, "{}", closed.body);

    let stale = desk.opened(&item, "reopen", &[]).await;
    desk.done(&item, "reopen", &[]).await;
    desk.done(&item, "close", &[("close_reason", "duplicate"), ("close_note", "")]).await;
    let shown = stale.is_out_of_date(&desk, CHANGED, "Changed: its state.").await;
    assert_says(&shown, &["Closed: another item is the same asset."]);
    assert_eq!(Opened::form(&shown, &stale.action, &[]).send(&desk).await.status, 303);
    assert_eq!(desk.phase(&item).await, "ready");
}

#[tokio::test]
async fn items_are_papered_only_as_their_preview_showed_the_agreement() {
    const CHANGED: &str = "Nothing was papered: what you saw has changed";

    let desk = Desk::new().await;
    let item = desk.org.ready_item(&desk.estate, "A painting").await;
    let papers = format!("/app/papers/{}", desk.workspace());
    let at = format!("{papers}?items={}", id(&item));
    let typed = [("name", "Art to the trust")];
    let open = async || Opened::form(&desk.maren.get(&at).await, &papers, &typed);

    let stale = open().await;
    let detail = json!({"detail": {"description": "Another painting"}});
    desk.org.patch(item_path(&item), &detail).send().await.ok(200);
    let shown = stale.is_out_of_date(&desk, CHANGED, "Changed: the items or their facts.").await;
    assert_says(&shown, &["value=\"Art to the trust\"", "Another painting"]);
    let stale = Opened::form(&shown, &papers, &typed);
    desk.rename(&desk.estate.trustee, "Tova Harbor").await;
    let shown = stale.is_out_of_date(&desk, CHANGED, "Changed: names of people or of the workspace.").await;
    assert_says(&shown, &["Tova Harbor"]);
    let stale = open().await;
    let trust = format!("/app/trusts/{}/edit", id(&desk.estate.trust));
    let trustee = format!("trustee.{}", id(&desk.estate.trustee));
    let changed = [("formal_name", "The Harbor Trust II"), ("external_reference", ""), (trustee.as_str(), "on")];
    assert_eq!(submit(&desk.maren, &trust, &trust, &changed).await.status, 303);
    let shown = stale.is_out_of_date(&desk, CHANGED, "Changed: the trust, its settlors or its trustees.").await;
    let done = Opened::form(&shown, &papers, &typed).send(&desk).await;
    assert_eq!(done.status, 303, "{}", done.body);
    assert_eq!(desk.phase(&item).await, "papered");
}

#[tokio::test]
async fn a_claim_on_the_wrong_item_is_withdrawn_and_stays_in_its_history() {
    let desk = Desk::new().await;
    let item = desk.in_progress().await;
    desk.done(&item, "claim", &[("claim_note", "The bank changed it.")]).await;
    let refused = desk.act(&item, "claim/withdraw", &[("withdraw_reason", "")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Reason is missing"]);
    let before = desk.org.events().await.len();
    let withdraw = desk.opened(&item, "claim/withdraw", &[("withdraw_reason", "It is the other account.")]).await;
    for _ in 0..2 {
        let done = withdraw.send(&desk).await;
        assert_eq!(done.status, 303, "{}", done.body);
    }
    let page = desk.maren.get(&item_page(&item)).await;
    let (claim, _) = columns(&page);
    for expected in ["Withdrawn by Maren Holt", "It is the other account.", "The bank changed it.", "Recorded by"] {
        assert!(claim.contains(expected), "{expected}: {claim}");
    }
    assert_says(&page, &["In progress", "Record a claim…"]);
    assert_eq!(desk.phase(&item).await, "in_progress");
    assert_eq!(desk.summary().await["claimed"], 0);
    assert!(desk.events_since(before).await.is_empty(), "no event tells of claims");
    let log = desk.maren.get("/app/audit?operation=withdraw_funding_claim").await;
    assert_says(&log, &["Withdrew the owner’s claim of a transfer", "A painting"]);
    let nothing = desk.act(&item, "claim/withdraw", &[("withdraw_reason", "Again.")]).await;
    assert_eq!(nothing.status, 409, "{}", nothing.body);
    assert_says(&nothing, &["No claim is on record"]);
    desk.done(&item, "claim", &[("claim_note", "")]).await;
    assert_eq!(desk.phase(&item).await, "claimed");
}

#[tokio::test]
async fn a_changed_kind_says_what_it_drops_and_drops_it_at_the_second_press_only() {
    let desk = Desk::new().await;
    let item = desk.org.funding_item(&desk.estate.workspace, "Checking").await;
    let detail = json!({"institution": "First", "account_type": "Checking", "account_last4": "4411"});
    let sorted = json!({"asset_kind": "bank_account", "verb": "retitle", "detail": detail});
    desk.org.patch(item_path(&item), &sorted).send().await.ok(200);
    let typed = [
        ("label", "Money market"),
        ("asset_kind", "life_insurance"),
        ("verb", "retitle"),
        ("detail.institution", "First"),
        ("detail.account_last4", "4411"),
        ("detail.current_title", "Ruth Vale"),
    ];
    let asked = desk.act(&item, "sort", &typed).await;
    assert_eq!(asked.status, 422, "{}", asked.body);
    assert_says(
        &asked,
        &[
            "Nothing is saved yet",
            "The kind “Life insurance” has no place for: the action “Retitle”, “Institution”, “Type of account”, “Last 4 of the account number”, “Current title”.",
            "value=\"Money market\"",
        ],
    );
    let before = desk.org.item(&item).await;
    assert_eq!((&before["asset_kind"], &before["detail"]), (&json!("bank_account"), &detail));

    let action = format!("{}/sort", item_page(&item));
    let own = hidden(&asked, &action);
    let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let post = async |typed: &[(&str, &str)]| {
        desk.maren.post(&action, &own.iter().chain(typed).copied().collect::<Vec<_>>()).await
    };
    let other = post(&[("label", "Money market"), ("asset_kind", "vehicle"), ("verb", "")]).await;
    assert_eq!(other.status, 422, "{}", other.body);
    assert_says(&other, &["The kind “Vehicle” has no place for"]);
    let back = post(&[("label", "Money market"), ("asset_kind", "bank_account"), ("verb", "")]).await;
    assert_eq!(back.status, 303, "{}", back.body);
    let read = desk.org.item(&item).await;
    let title = json!({"institution": "First", "account_type": "Checking", "account_last4": "4411", "current_title": "Ruth Vale"});
    assert_eq!((&read["label"], &read["verb"], &read["detail"]), (&json!("Money market"), &json!("retitle"), &title));

    let asked = desk.act(&item, "sort", &typed).await;
    let own = hidden(&asked, &action);
    let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let press =
        [("label", "Money market"), ("asset_kind", "life_insurance"), ("verb", "assign"), ("detail.carrier", "Acme")];
    let done = desk.maren.post(&action, &own.iter().chain(&press).copied().collect::<Vec<_>>()).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let read = desk.org.item(&item).await;
    let kept = (&read["asset_kind"], &read["verb"], &read["detail"]);
    assert_eq!(kept, (&json!("life_insurance"), &json!("assign"), &json!({"carrier": "Acme"})));
    let free = desk
        .act(
            &item,
            "sort",
            &[("label", "M"), ("asset_kind", "annuity"), ("verb", "assign"), ("detail.carrier", "Acme")],
        )
        .await;
    assert_eq!(free.status, 303, "{}", free.body);
    let number = [("label", "M"), ("asset_kind", "other"), ("verb", ""), ("detail.policy_last4", "000123456789")];
    let asked = desk.act(&item, "sort", &number).await;
    assert!(asked.status == 422 && !asked.says("000123456789"), "{}", asked.body);
}
