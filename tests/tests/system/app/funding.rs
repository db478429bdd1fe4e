//! Funding over members' forms, from label to confirmed transfer: claim, proof, several at once, paper preview.

mod confirmation;
mod decisions;
mod files;
mod histories;
mod killed;
mod owners;
mod scripts;
mod selected;
mod trusts;

use serde_json::{Value, json};
use shared::domain::agreement::Life;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::Org;
use tests::app::{Browser, Page, Person, unescaped};
use tests::attending::hidden;
use tests::funding::{Estate, funding_path};
use tests::pdf::pdf;

pub(super) struct Desk {
    pub org: Org,
    pub person: Person,
    pub maren: Browser,
    pub estate: Estate,
}

impl Desk {
    pub async fn new() -> Self {
        let org = Org::new().await;
        let person = org.member("Maren Holt").await;
        let maren = Browser::of(&org, &person).await;
        let estate = org.estate("Harbor").await;
        Self { org, person, maren, estate }
    }

    pub fn workspace(&self) -> &str {
        id(&self.estate.workspace)
    }

    pub fn path(&self) -> String {
        format!("/app/funding/{}", self.workspace())
    }

    pub async fn act(&self, item: &Value, act: &str, typed: &[(&str, &str)]) -> Page {
        let page = item_page(item);
        submit(&self.maren, &page, &format!("{page}/{act}"), typed).await
    }

    pub async fn done(&self, item: &Value, act: &str, typed: &[(&str, &str)]) -> Page {
        let done = self.act(item, act, typed).await;
        let page = item_page(item);
        assert_eq!((done.status, done.location()), (303, &*format!("{page}#notice")), "{}", done.body);
        self.maren.get(&page).await
    }

    pub async fn in_progress(&self) -> Value {
        let item = self.org.ready_item(&self.estate, "A painting").await;
        let draft = self.org.paper(&[&item]).await;
        let agreement = id(&draft).parse().expect("an id");
        self.org.decide_at_once(&self.person, agreement, ProposalAction::PublishAgreement).await;
        item
    }

    pub async fn phase(&self, item: &Value) -> String {
        self.org.item(item).await["phase"].as_str().expect("a phase").to_owned()
    }

    pub async fn summary(&self) -> Value {
        self.org.get(funding_path(&self.estate.workspace)).send().await.ok(200)["summary"].clone()
    }

    async fn events_since(&self, count: usize) -> Vec<String> {
        let events = self.org.events().await;
        events.iter().skip(count).map(|event| event["type"].as_str().expect("a type").to_owned()).collect()
    }
}

pub(super) fn id(value: &Value) -> &str {
    value["id"].as_str().expect("an id")
}

pub(super) fn item_page(item: &Value) -> String {
    format!("/app/funding/items/{}", id(item))
}

pub(super) async fn submit(by: &Browser, page: &str, action: &str, typed: &[(&str, &str)]) -> Page {
    let page = by.get(page).await;
    let mut own = hidden(&page, action);
    if own.is_empty() {
        own.push(("form_token".to_owned(), page.hidden("form_token")));
    }
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    by.post(action, &own.chain(typed.iter().copied()).collect::<Vec<_>>()).await
}

pub(super) fn assert_says(page: &Page, texts: &[&str]) {
    let body = unescaped(&page.body);
    for expected in texts {
        assert!(body.contains(expected), "{expected}: {body}");
    }
}

fn columns(page: &Page) -> (String, String) {
    let (_, rest) = page.body.split_once("class=\"track claim\"").expect("a claim");
    let (claim, proof) = rest.split_once("class=\"track proof\"").expect("a proof");
    (claim.to_owned(), proof.split("</section>").next().unwrap_or_default().to_owned())
}

/// The primary buttons of an item's page, all of which stand below its next step.
#[track_caller]
pub(super) fn next_acts(page: &Page) -> Vec<&str> {
    let (before, next) = page.body.split_once("<h2 id=\"next\">").expect("a next step");
    let (next, after) = next.split_once("</section>").expect("its end");
    assert!(!before.contains("primary") && !after.contains("primary"), "{before}{after}");
    let acts = next.split("primary").skip(1).filter_map(|act| act.split('>').nth(1)?.split('<').next());
    acts.collect()
}

const SORTED: [(&str, &str); 6] = [
    ("label", "Checking at First National"),
    ("asset_kind", "bank_account"),
    ("verb", "transfer"),
    ("detail.institution", "First National"),
    ("detail.account_last4", "4411"),
    ("detail.amount_minor", "1,250.50"),
];

#[tokio::test]
async fn an_amount_that_was_sent_without_its_currency_stays_what_it_is() {
    let desk = Desk::new().await;
    let item = desk.org.funding_item(&desk.estate.workspace, "Checking").await;
    let detail = json!({"institution": "First", "account_last4": "4411", "amount_minor": 500_000});
    let sorted = json!({"asset_kind": "bank_account", "verb": "transfer", "detail": detail});
    desk.org.patch(tests::funding::item_path(&item), &sorted).send().await.ok(200);
    let shown = desk.maren.get(&format!("/app/funding/items/{}", id(&item))).await;
    assert_says(&shown, &["value=\"500000 minor units\""]);
    let typed = |amount: &'static str, currency: &'static str| {
        [
            ("label", "Checking"),
            ("asset_kind", "bank_account"),
            ("verb", "transfer"),
            ("detail.institution", "First"),
            ("detail.account_last4", "4411"),
            ("detail.amount_minor", amount),
            ("detail.currency", currency),
        ]
    };
    let done = desk.done(&item, "sort", &typed("500000 minor units", "USD")).await;
    assert_says(&done, &["value=\"5,000.00\""]);
    assert_eq!(desk.org.item(&item).await["detail"]["amount_minor"], 500_000);
    desk.done(&item, "sort", &typed("6,000", "USD")).await;
    assert_eq!(desk.org.item(&item).await["detail"]["amount_minor"], 600_000);
}

#[tokio::test]
async fn an_item_is_added_and_sorted_until_nothing_is_missing() {
    let desk = Desk::new().await;
    let page = desk.maren.get(&desk.path()).await;
    assert_says(&page, &["Nothing listed yet", "0 of 0 items done"]);
    let (token, copy) = (page.hidden("form_token"), page.copy());
    let item_id = copy.id;
    let fields =
        [("form_token", token.as_str()), ("copy", &copy.name), ("label", "Checking"), ("asset_kind", "bank_account")];
    for _ in 0..2 {
        let added = desk.maren.post(&desk.path(), &fields).await;
        assert_eq!((added.status, added.location()), (303, &*format!("/app/funding/items/{item_id}#notice")));
    }
    let item = desk.org.item(&json!({"id": item_id})).await;
    assert_eq!((&item["phase"], desk.summary().await["total"].clone()), (&json!("unsorted"), json!(1)));

    let typed =
        |more: &[(&'static str, &'static str)]| -> Vec<(&str, &str)> { SORTED.iter().chain(more).copied().collect() };
    let refused = desk.act(&item, "sort", &typed(&[("detail.currency", "")])).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Currency must be a currency of ISO 4217", "value=\"1,250.50\"", "value=\"4411\""]);
    assert!(refused.title().starts_with("Error: ") && refused.body.matches(" autofocus").count() == 1);
    let trust = id(&desk.estate.trust).to_owned();
    let owner = format!("owner.{}", id(&desk.estate.settlor));
    let mut fields = typed(&[("detail.currency", "usd")]);
    fields.extend([("trust_id", trust.as_str()), (owner.as_str(), "on")]);
    let sorted = desk.done(&item, "sort", &fields).await;
    assert_says(&sorted, &["Nothing is missing. Draft its agreement.", "Ready", "value=\"1,250.50\"", "Facts saved"]);
    let read = desk.org.item(&item).await;
    let detail =
        json!({"institution": "First National", "account_last4": "4411", "amount_minor": 125_050, "currency": "USD"});
    assert_eq!((&read["phase"], &read["detail"]), (&json!("ready"), &detail));

    let mut without = fields.clone();
    without.retain(|(name, _)| *name != "detail.institution");
    without.push(("detail.institution", " "));
    desk.done(&item, "sort", &without).await;
    assert_eq!(desk.org.item(&item).await["missing_facts"], json!(["institution"]));
}

#[tokio::test]
async fn a_full_account_number_is_refused_and_not_shown_again() {
    let desk = Desk::new().await;
    let item = desk.org.funding_item(&desk.estate.workspace, "Checking").await;
    let mut typed = SORTED.to_vec();
    typed[4] = ("detail.account_last4", "000123456789");
    let refused = desk.act(&item, "sort", &typed).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Last 4 of the account number must be the last 4 characters only"]);
    assert!(!refused.says("000123456789"), "{}", refused.body);
    let refused = desk.act(&item, "park", &[("waiting_on", "institution"), ("note", "Account 000123456789")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(!refused.says("000123456789"), "{}", refused.body);
    assert_eq!(desk.org.item(&item).await["waiting_on"], Value::Null);
}

#[tokio::test]
async fn a_sort_of_what_has_changed_since_is_told_and_keeps_what_was_typed() {
    let desk = Desk::new().await;
    let item = desk.org.funding_item(&desk.estate.workspace, "Checking").await;
    let action = format!("{}/sort", item_page(&item));
    let stale = desk.maren.get(&item_page(&item)).await;
    let (token, version) = (stale.hidden("form_token"), stale.hidden("version"));
    let other = json!({"label": "Savings"});
    desk.org.patch(tests::funding::item_path(&item), &other).send().await.ok(200);
    let own = [
        ("form_token", token.as_str()),
        ("version", &version),
        ("label", "Mine"),
        ("asset_kind", "other"),
        ("verb", "assign"),
    ];
    let refused = desk.maren.post(&action, &own).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(&refused, &["This item has changed since you opened it", "value=\"Mine\""]);
    assert_eq!(desk.org.item(&item).await["label"], "Savings");
}

#[tokio::test]
async fn a_hold_is_put_and_cleared() {
    let desk = Desk::new().await;
    let item = desk.org.ready_item(&desk.estate, "A painting").await;
    let refused = desk.act(&item, "park", &[("waiting_on", ""), ("note", "Why")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Waiting on must be chosen", "Why"]);
    let held = desk.done(&item, "park", &[("waiting_on", "counsel"), ("note", "They read the deed.")]).await;
    assert_says(&held, &["On hold: Counsel", "“They read the deed.”", "Clear hold"]);
    assert_eq!(held.body.matches(">Clear hold</button>").count(), 1, "the next step is the act itself");
    assert!(!held.says("href=\"#hold\""), "{}", held.body);
    let list = desk.maren.get(&format!("{}?hold=yes", desk.path())).await;
    assert_says(&list, &["A painting", "1 on hold", "On hold: Counsel"]);
    let preview = desk.maren.get(&format!("/app/papers/{}?items={}", desk.workspace(), id(&item))).await;
    assert_says(&preview, &["It can’t be papered yet", "is on hold: clear the hold first."]);
    assert!(!preview.says(">Paper selected</button>"), "{}", preview.body);
    let cleared = desk.done(&item, "clear", &[]).await;
    assert!(!cleared.says("On hold:") && desk.org.item(&item).await["waiting_on"].is_null(), "{}", cleared.body);
    let list = desk.maren.get(&format!("{}?hold=yes", desk.path())).await;
    assert_says(&list, &["Nothing matches these filters"]);
}

#[tokio::test]
async fn selected_items_are_previewed_and_papered_once() {
    let desk = Desk::new().await;
    let (one, two) =
        (desk.org.ready_item(&desk.estate, "A painting").await, desk.org.ready_item(&desk.estate, "חזרה").await);
    let action = format!("{}/selected", desk.path());
    let none = submit(&desk.maren, &desk.path(), &action, &[("act", "paper")]).await;
    assert_eq!(none.status, 422, "{}", none.body);
    assert_says(&none, &["Nothing is selected"]);
    let boxes = [format!("item.{}", id(&one)), format!("item.{}", id(&two))];
    let chosen = [("act", "paper"), (boxes[0].as_str(), "on"), (boxes[1].as_str(), "on")];
    let to_preview = submit(&desk.maren, &desk.path(), &action, &chosen).await;
    assert_eq!(to_preview.status, 303, "{}", to_preview.body);
    let at = to_preview.location().to_owned();
    let preview = desk.maren.get(&at).await;
    assert_says(
        &preview,
        &[
            "Preview of the agreement",
            "Funding of The Harbor Trust",
            "<dt>Tova</dt>",
            "Trustee, signs",
            "Owner, signs; Settlor",
            "Counsel must review",
        ],
    );
    assert_eq!(desk.phase(&one).await, "ready", "a preview drafts nothing");

    let papers = format!("/app/papers/{}", desk.workspace());
    let own = hidden(&preview, &papers);
    let mut fields: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.push(("name", "Art to the trust"));
    let before = desk.org.events().await.len();
    for _ in 0..2 {
        let done = desk.maren.post(&papers, &fields).await;
        assert!(done.status == 303 && done.location().starts_with("/app/agreements/"), "{}", done.body);
        let draft = desk.maren.get(done.location().trim_end_matches("#notice")).await;
        assert_says(&draft, &["Art to the trust", "Assignment: A painting", "Agreement drafted"]);
    }
    let papered = vec!["funding_item.papered"; 2];
    assert_eq!(desk.events_since(before).await, papered, "a form that is sent twice papers once");
    assert_eq!((desk.phase(&one).await, desk.phase(&two).await), ("papered".to_owned(), "papered".to_owned()));

    let again = desk.maren.get(&at).await;
    assert_says(&again, &["is papered or closed already."]);
    let mut stale = fields.clone();
    let (other, copy) = (uuid::Uuid::now_v7().to_string(), again.copy().name);
    for (name, value) in &mut stale {
        match *name {
            "agreement" => *value = &other,
            "copy" => *value = &copy,
            _ => {}
        }
    }
    let refused = desk.maren.post(&papers, &stale).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(&refused, &["Nothing was papered", "is papered or closed already."]);
}

#[tokio::test]
async fn a_claim_moves_no_number_and_accepted_proof_does() {
    let desk = Desk::new().await;
    let item = desk.in_progress().await;
    let before = desk.summary().await;
    let claimed = desk.done(&item, "claim", &[("claim_note", "Ruth says the bank changed it.")]).await;
    let (claim, proof) = columns(&claimed);
    assert!(claim.contains("Ruth says the bank changed it.") && claim.contains("A claim is not proof"), "{claim}");
    assert!(!claim.contains("green") && proof.contains("Nothing shows that it has moved."), "{claim} {proof}");
    let after = desk.summary().await;
    assert_eq!((&after["done"], &after["claimed"], &before["done"]), (&json!(0), &json!(1), &json!(0)));
    let schedule = desk.maren.get(&desk.path()).await;
    assert_says(&schedule, &["0 of 1 item done", "1 only claimed", "not counted as done"]);
    let again = desk.act(&item, "claim", &[("claim_note", "Again")]).await;
    assert_eq!(again.status, 409, "{}", again.body);

    let refused = desk.act(&item, "proof", &[("source", ""), ("dated", "16/3/2126"), ("proof_note", "")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Source must be chosen", "Dated must not be in the future", "File is missing"]);
    let page = desk.maren.get(&item_page(&item)).await;
    assert_eq!(next_acts(&page), ["File proof"]);
    let action = format!("{}/proof", item_page(&item));
    let own = hidden(&page, &action);
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let typed = [("source", "institution_confirmation"), ("dated", "16/3/2026"), ("proof_note", "")];
    let fields: Vec<(&str, &str)> = own.chain(typed).collect();
    let file = pdf("The new title", "");
    for _ in 0..2 {
        let filed = desk.maren.upload(&action, &fields, ("file", "title.pdf", &file)).await;
        assert_eq!(filed.status, 303, "{}", filed.body);
    }
    let page = desk.maren.get(&item_page(&item)).await;
    let (_, proof) = columns(&page);
    assert!(!proof.contains("Accept proof</button>") && proof.contains("Reject proof…"), "{proof}");
    assert_eq!(next_acts(&page), ["Accept proof"]);
    assert!(proof.contains("To review") && !proof.contains("badge green") && proof.contains("title.pdf"), "{proof}");
    let (_, rest) = proof.split_once("id=\"proof-").expect("proof");
    let filed = rest.split('"').next().expect("its id").to_owned();
    let downloaded = desk.maren.get(&format!("{}/proof/{filed}/file", item_page(&item))).await;
    assert_eq!((downloaded.status, &downloaded.bytes), (200, &file));

    let before = desk.org.events().await.len();
    let funded = desk.done(&item, &format!("proof/{filed}/accept"), &[]).await;
    assert_says(&funded, &["Funded: the receiving side confirmed it.", "Accepted by Maren Holt"]);
    assert_eq!(desk.events_since(before).await, ["funding_item.closed"]);
    let after = desk.summary().await;
    assert_eq!((&after["done"], &after["funded"], &after["claimed"]), (&json!(1), &json!(1), &json!(0)));
    assert_says(&desk.maren.get(&desk.path()).await, &["1 of 1 item done", "1 funded"]);
    assert!(!funded.says(">Reopen</button>"), "{}", funded.body);
    let token = funded.hidden("form_token");
    let refused = desk.maren.post(&format!("{}/reopen", item_page(&item)), &[("form_token", &token)]).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(&refused, &["Its agreement is not over"]);
}

#[tokio::test]
async fn proof_that_is_rejected_does_not_count() {
    let desk = Desk::new().await;
    let item = desk.in_progress().await;
    let typed = [("source", "new_statement"), ("dated", "16/3/2026"), ("proof_note", "They read it out on the phone.")];
    let page = desk.done(&item, "proof", &typed).await;
    let (_, rest) = page.body.split_once("id=\"proof-").expect("proof");
    let (_, rest) = rest.split_once("<li class=\"open\" id=\"proof-").unwrap_or((rest, rest));
    let filed = rest.split('"').next().expect("its id").to_owned();
    let refused = desk.act(&item, &format!("proof/{filed}/reject"), &[("reason", "")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let rejected = desk.done(&item, &format!("proof/{filed}/reject"), &[("reason", "It names another account.")]).await;
    assert_says(&rejected, &["Rejected by Maren Holt", "“It names another account.”"]);
    let refused = desk.act(&item, &format!("proof/{filed}/accept"), &[]).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_eq!((desk.phase(&item).await, desk.summary().await["done"].clone()), ("in_progress".to_owned(), json!(0)));
}

#[tokio::test]
async fn an_item_is_closed_as_unfunded_and_reopened() {
    let desk = Desk::new().await;
    let item = desk.org.funding_item(&desk.estate.workspace, "Sailing boat").await;
    let refused = desk.act(&item, "close", &[("close_reason", ""), ("close_note", "Sold in May")]).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_says(&refused, &["Reason must be chosen", "Sold in May"]);
    let closed = desk.done(&item, "close", &[("close_reason", "sold"), ("close_note", "Sold in May")]).await;
    assert_says(&closed, &["Closed: it was sold.", "“Sold in May”", "Unfunded"]);
    let summary = desk.summary().await;
    assert_eq!((&summary["done"], &summary["unfunded"], &summary["funded"]), (&json!(1), &json!(1), &json!(0)));
    let opened = desk.done(&item, "reopen", &[]).await;
    assert_says(&opened, &["Reopened", "Unsorted"]);
    assert_eq!(desk.summary().await["done"], 0);
    // Once papered, it closes only with its agreement.
    let papered = desk.org.ready_item(&desk.estate, "A painting").await;
    let page = desk.maren.get(&item_page(&papered)).await;
    desk.org.paper(&[&papered]).await;
    let token = page.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("close_reason", "sold"), ("close_note", "")];
    let refused = desk.maren.post(&format!("{}/close", item_page(&papered)), &fields).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(&refused, &["An agreement papers this item"]);
}

#[tokio::test]
async fn an_item_that_was_refused_after_its_agreement_was_completed_is_closed_as_unfunded() {
    let desk = Desk::new().await;
    let item = desk.in_progress().await;
    desk.done(&item, "claim", &[("claim_note", "")]).await;
    let sold = [("close_reason", "refused"), ("close_note", "The bank takes no trusts.")];
    assert!(!desk.maren.get(&item_page(&item)).await.says("Close as unfunded"));
    let refused = desk.act(&item, "close", &sold).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_says(&refused, &["An agreement papers this item"]);
    let agreement = desk.org.item(&item).await["agreement_id"].as_str().and_then(|id| id.parse().ok());
    let now = Timestamp::now();
    let life = Life::Completed { published_at: now, completed_at: now };
    tests::drafts::put_life(&desk.org, agreement.expect("an id"), life).await;
    assert!(desk.maren.get(&item_page(&item)).await.says("Close as unfunded"));
    let before = desk.org.events().await.len();
    let closed = desk.done(&item, "close", &sold).await;
    assert_says(&closed, &["Closed: the transfer was refused.", "Unfunded", "“The bank takes no trusts.”"]);
    assert_eq!(desk.events_since(before).await, ["funding_item.closed"]);
    let summary = desk.summary().await;
    assert_eq!((&summary["done"], &summary["unfunded"], &summary["claimed"]), (&json!(1), &json!(1), &json!(0)));
}

#[tokio::test]
async fn proof_that_was_filed_beside_the_accepted_one_is_not_decided_any_more() {
    let desk = Desk::new().await;
    let item = desk.in_progress().await;
    let mut filed = Vec::new();
    for note in ["They read it out on the phone.", "By letter."] {
        let typed = [("source", "new_statement"), ("dated", "16/3/2026"), ("proof_note", note)];
        let page = desk.done(&item, "proof", &typed).await;
        let ids = page.body.split("<li class=\"open\" id=\"proof-").skip(1);
        filed = ids.map(|rest| rest.split('"').next().expect("an id").to_owned()).collect();
    }
    assert_eq!(filed.len(), 2);
    desk.done(&item, &format!("proof/{}/accept", filed[1]), &[]).await;
    let page = desk.maren.get(&item_page(&item)).await;
    assert_says(&page, &["Not reviewed"]);
    assert!(!page.says("Reject proof") && !page.says("To review"), "{}", page.body);
    let before = desk.org.state().await;
    for (act, typed) in [("reject", [("reason", "It is unreadable.")].as_slice()), ("accept", &[])] {
        let refused = desk.act(&item, &format!("proof/{}/{act}", filed[0]), typed).await;
        assert_eq!(refused.status, 409, "{act}: {}", refused.body);
        assert_says(&refused, &["This item is closed already"]);
    }
    assert_eq!(desk.org.state().await, before);
    assert_eq!(desk.summary().await["funded"], 1);
}

#[tokio::test]
async fn a_schedule_begins_with_the_newest_of_each_phase_and_can_be_sorted() {
    let desk = Desk::new().await;
    let labels = ["Mira’s boat", "Zoe’s boat", "Ada’s boat"];
    for label in labels {
        desk.org.funding_item(&desk.estate.workspace, label).await;
    }
    let sorted = async |query: &str| {
        let page = desk.maren.get(&format!("{}{query}", desk.path())).await;
        let at = |label: &&str| page.body.find(&format!(">{label}</a>"));
        let mut found: Vec<(usize, char)> =
            labels.iter().filter_map(|label| Some((at(label)?, label.chars().next()?))).collect();
        found.sort_unstable();
        (found.into_iter().map(|(_, first)| first).collect::<String>(), page)
    };
    for (query, expected) in
        [("", "AZM"), ("?sort=oldest", "MZA"), ("?sort=name", "AMZ"), ("?sort=name&search=o", "AMZ")]
    {
        assert_eq!(sorted(query).await.0, expected, "{query}");
    }
    let (_, page) = sorted("?sort=name&phase=unsorted").await;
    assert_eq!(page.hidden("sort"), "name", "the next search keeps the order");
    for text in [
        "<span aria-current=\"true\">Name</span>",
        "?phase=unsorted&#38;hold=&#38;trust_id=&#38;search=&#38;sort=oldest",
    ] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
}

#[tokio::test]
async fn items_are_found_by_their_labels_whatever_their_workspace() {
    let desk = Desk::new().await;
    let pier = desk.org.workspace("Pier").await;
    let found = [&desk.estate.workspace, &pier];
    let mut boats = Vec::new();
    for workspace in found {
        boats.push(desk.org.funding_item(workspace, "Sailing boat").await);
    }
    desk.org.funding_item(&pier, "Piano").await;
    let page = desk.maren.get("/app/funding?search=BOAT").await;
    assert_eq!(page.body.matches("<td class=\"main\">").count(), 2, "{}", page.body);
    assert!(page.says("Sailing boat") && !page.says("Piano"), "{}", page.body);
    let places: Vec<_> = boats.iter().rev().map(|boat| page.body.find(id(boat)).expect("its row")).collect();
    assert!(places.is_sorted(), "newest first: {}", page.body);
    assert_says(&desk.maren.get("/app/funding?search=submarine").await, &["Nothing matches “submarine”"]);
    let search = desk.maren.get("/app/search?q=sailing").await;
    assert_says(&search, &["<h2 id=\"funding-items\">Funding items", "Unsorted", "count\">2</span>"]);
    let search = desk.maren.get("/app/search?q=harbor%20trust").await;
    let link = format!("href=\"/app/trusts/{}\">The Harbor Trust</a>", id(&desk.estate.trust));
    assert_says(&search, &["<h2 id=\"trusts\">Trusts", &link]);
    let stranger = Desk::new().await;
    assert!(!stranger.maren.get("/app/search?q=sailing").await.says("Sailing boat"));
    assert!(!stranger.maren.get("/app/funding?search=sailing").await.says("Sailing boat"));
}

#[tokio::test]
async fn the_audit_log_names_trusts_and_items_and_leads_to_them() {
    let desk = Desk::new().await;
    let (trust, item) = (&desk.estate.trust, desk.org.ready_item(&desk.estate, "A painting").await);
    desk.done(&item, "park", &[("waiting_on", "counsel"), ("note", "")]).await;
    desk.done(&item, "clear", &[]).await;
    desk.org.paper(&[&item]).await;
    let body = json!({"workspace_id": desk.estate.workspace["id"], "label": "Boat", "trust_id": trust["id"]});
    let boat = desk.org.post(tests::funding::ITEMS, &body).send().await.ok(201);
    let item_link = format!("href=\"{}\">A painting</a>", item_page(&item));
    let trust_link = format!("href=\"/app/trusts/{}\">The Harbor Trust</a>", id(trust));
    let row = async |operation: &str| desk.maren.get(&format!("/app/audit?operation={operation}")).await;
    assert_says(&row("create_trust").await, &["Created or changed a trust", &trust_link]);
    assert_says(&row("update_funding_item").await, &["Saved the facts of a funding item", &item_link]);
    assert_says(&row("park_funding_item").await, &[&item_link]);
    assert_says(
        &row("paper_funding_items").await,
        &["Papered funding items", &item_link, "Funding of The Harbor Trust"],
    );
    let boat_link = format!("href=\"{}\">Boat</a>", item_page(&boat));
    assert_says(&row("create_funding_item").await, &[&item_link, &trust_link, &boat_link]);
    desk.org.patch(tests::funding::item_path(&boat), &json!({"label": "Wooden sloop"})).send().await.ok(200);
    let chosen = desk.maren.get("/app/audit?object=wooden").await;
    assert_eq!(chosen.status, 303, "{}", chosen.body);
    assert!(chosen.location().contains(id(&boat)), "{}", chosen.location());
    let log = desk.maren.get(chosen.location()).await;
    assert_says(&log, &[&format!("href=\"{}\">Wooden sloop</a>", item_page(&boat))]);
    let chosen = desk.maren.get("/app/audit?object=harbor%20trust").await;
    assert_says(&chosen, &["The Harbor Trust", "Trust"]);
    let home = desk.maren.get("/app").await;
    assert_says(&home, &["saved the facts of a funding item", "Wooden sloop"]);
    let (_, visited) = tests::pages::visit(&desk.org, &desk.maren, "/app/audit", "Home").await;
    assert!(visited.waits <= tests::pages::WAITS_MAX, "{visited:?}");
}

#[tokio::test]
async fn nothing_of_another_organization_exists() {
    let desk = Desk::new().await;
    let stranger = Desk::new().await;
    let theirs = stranger.org.funding_item(&stranger.estate.workspace, "Theirs").await;
    for path in [
        stranger.path(),
        item_page(&theirs),
        format!("/app/trusts/{}", id(&stranger.estate.trust)),
        format!("/app/trusts/{}/edit", id(&stranger.estate.trust)),
        format!("/app/papers/{}?items={}", stranger.workspace(), id(&theirs)),
        format!("/app/papers/{}/schedule.pdf", stranger.workspace()),
        format!("{}/export", stranger.path()),
        format!("{}/import", stranger.path()),
    ] {
        assert_eq!(desk.maren.get(&path).await.status, 404, "{path}");
    }
    let token = desk.maren.get("/app").await.hidden("form_token");
    for act in ["sort", "park", "clear", "close", "reopen", "claim", "proof"] {
        let fields = [
            ("form_token", token.as_str()),
            ("waiting_on", "counsel"),
            ("close_reason", "sold"),
            ("version", "1"),
            ("label", "X"),
            ("asset_kind", "other"),
            ("source", "new_statement"),
            ("dated", "16/3/2026"),
            ("proof_note", "X"),
        ];
        let refused = desk.maren.post(&format!("{}/{act}", item_page(&theirs)), &fields).await;
        assert_eq!(refused.status, 404, "{act}: {}", refused.body);
    }
    let trust = format!("/app/trusts/{}/edit", id(&stranger.estate.trust));
    let fields = [("form_token", token.as_str()), ("version", "1"), ("formal_name", "X"), ("external_reference", "")];
    assert_eq!(desk.maren.post(&trust, &fields).await.status, 404);
    let fields = [("form_token", token.as_str()), ("label", "X"), ("trust_id", id(&stranger.estate.trust))];
    let refused = desk.maren.post(&desk.path(), &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_eq!(desk.summary().await["total"], 0);
}
