//! Papering that collides with other calls at a chosen moment, or whose response is lost.

use futures_util::future::join;
use serde_json::{Value, json};
use shared::domain::funding::CloseReason;
use shared::service::funding_items::FundingAct;
use tests::app::{Browser, Page};
use tests::attending::hidden;
use tests::client::Request;
use tests::funding::{Estate, ITEMS, PAPER, TRUSTS, item_path};
use tests::{Answer, Fault, Org, Rule, eventually};

use super::faults::Broken;
use super::races::overtaken;

const AGREEMENTS: &str = "/api/v1/agreements";
const WRITE: &str = "TransactWriteItems";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    Close,
    Unsort,
    Park,
    Paper,
}

const OTHERS: [Other; 4] = [Other::Close, Other::Unsort, Other::Park, Other::Paper];

struct Desk {
    broken: Broken,
    estate: Estate,
}

impl Desk {
    async fn new() -> Self {
        let broken = Broken::new().await;
        let estate = broken.org.estate("Harbor").await;
        Self { broken, estate }
    }

    fn org(&self) -> &Org {
        &self.broken.org
    }

    fn writes(&self) -> Rule {
        self.broken.on(WRITE)
    }

    async fn papered_events(&self) -> usize {
        self.org().events().await.iter().filter(|event| event["type"] == "funding_item.papered").count()
    }

    async fn assert_of_one_agreement(&self, item: &Value) {
        let item = self.org().item(item).await;
        let drafts = self.org().all(AGREEMENTS).await;
        let mut naming = Vec::new();
        for draft in &drafts {
            let path = format!("{AGREEMENTS}/{}", draft["id"].as_str().expect("an id"));
            let full = self.org().get(path).send().await.ok(200);
            if full["funding_item_ids"].as_array().expect("ids").contains(&item["id"]) {
                naming.push(full["id"].clone());
            }
        }
        let own: Vec<Value> =
            (!item["agreement_id"].is_null()).then(|| item["agreement_id"].clone()).into_iter().collect();
        assert_eq!(naming, own, "{item}");
    }
}

fn paper(items: &[&Value]) -> Value {
    json!({"item_ids": items.iter().map(|item| &item["id"]).collect::<Vec<_>>()})
}

fn unsort(client: &tests::Client, item: &Value) -> Request {
    client.patch(item_path(item), &json!({"verb": null}))
}

fn park(client: &tests::Client, item: &Value) -> Request {
    client.post(format!("{}/park", item_path(item)), &json!({"waiting_on": "counsel"}))
}

#[tokio::test]
async fn a_papering_that_is_overtaken_is_refused_for_what_is_true_then() {
    let desk = Desk::new().await;
    let maren = desk.org().member("Maren").await;
    for other in OTHERS {
        let (item, second) = (
            desk.org().ready_item(&desk.estate, "A painting").await,
            desk.org().ready_item(&desk.estate, "A vase").await,
        );
        let (drafts, papered) = (desk.org().total(AGREEMENTS).await, desk.papered_events().await);
        let call = desk.broken.client.post(PAPER, &paper(&[&second, &item]));
        let answer = overtaken(&desk.broken, call, desk.writes(), async |org| match other {
            Other::Close => {
                let close = FundingAct::CloseUnfunded(CloseReason::Sold, None);
                org.act_on_item(&maren, &item, close).await.expect("it is open");
            }
            Other::Unsort => drop(unsort(org, &item).send().await.ok(200)),
            Other::Park => drop(park(org, &item).send().await.ok(200)),
            Other::Paper => drop(org.paper(&[&item]).await),
        })
        .await;
        let (code, own_drafts) = match other {
            Other::Close => ("wrong_state", 0),
            Other::Unsort => ("missing_facts", 0),
            Other::Park => ("on_hold", 0),
            Other::Paper => ("wrong_state", 1),
        };
        answer.refused_for(422, &[("item_ids[1]", code)]);
        assert_eq!(desk.org().total(AGREEMENTS).await, drafts + own_drafts, "{other:?}");
        assert_eq!(desk.papered_events().await, papered + usize::from(own_drafts == 1), "{other:?}");
        assert_eq!(desk.org().item(&second).await["phase"], "ready", "all or nothing: {other:?}");
        desk.assert_of_one_agreement(&item).await;
    }
}

/// What a papering overtakes is decided again: papered items can't be closed, sorted or papered. Holds are fine.
#[tokio::test]
async fn what_a_papering_overtakes_is_refused_for_what_is_true_then() {
    let desk = Desk::new().await;
    let maren = desk.org().member("Maren").await;
    let browser = Browser::new(&desk.broken.stack.base_url);
    assert_eq!(browser.sign_in(&maren.email, &maren.password, "/app").await.status, 303);
    for other in OTHERS {
        let item = desk.org().ready_item(&desk.estate, "A painting").await;
        let client = &desk.broken.client;
        let request = match other {
            Other::Close => {
                let (closed, draft) = close_overtaken(&desk, &browser, &item).await;
                assert_eq!(closed.status, 409, "{}", closed.body);
                assert!(closed.says("An agreement papers this item"), "{}", closed.body);
                assert_eq!(desk.org().item(&item).await["agreement_id"], draft["id"]);
                continue;
            }
            Other::Unsort => unsort(client, &item),
            Other::Park => park(client, &item),
            Other::Paper => client.post(PAPER, &paper(&[&item])),
        };
        let mut draft = Value::Null;
        let answer =
            overtaken(&desk.broken, request, desk.writes(), async |org| draft = org.paper(&[&item]).await).await;
        match other {
            Other::Unsort => answer.refused_for(422, &[("path.item_id", "wrong_state")]),
            Other::Park => {
                let held = answer.ok(200);
                assert_eq!((&held["phase"], &held["waiting_on"]), (&json!("papered"), &json!("counsel")));
            }
            _ => answer.refused_for(422, &[("item_ids[0]", "wrong_state")]),
        }
        let after = desk.org().item(&item).await;
        assert_eq!(
            (&after["phase"], &after["verb"], &after["agreement_id"]),
            (&json!("papered"), &json!("assign"), &draft["id"])
        );
        desk.assert_of_one_agreement(&item).await;
    }
    assert_eq!(desk.papered_events().await, OTHERS.len());
    let closed = desk.org().events().await.iter().filter(|event| event["type"] == "funding_item.closed").count();
    assert_eq!(closed, 0);
}

async fn close_overtaken(desk: &Desk, browser: &Browser, item: &Value) -> (Page, Value) {
    let page = format!("/app/funding/items/{}", item["id"].as_str().expect("an id"));
    let action = format!("{page}/close");
    let own = hidden(&browser.get(&page).await, &action);
    let typed = [("close_reason", "sold"), ("close_note", "")];
    let fields: Vec<(&str, &str)> =
        own.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(typed).collect();
    let held = desk.broken.faults.inject(desk.writes(), Fault::Held);
    let overtake = async {
        held.wait_for_hits(1).await;
        let draft = desk.org().paper(&[item]).await;
        held.end();
        draft
    };
    join(browser.post(&action, &fields), overtake).await
}

/// Changes that leave an item ready don't refuse the papering, whose documents have the new facts.
#[tokio::test]
async fn a_papering_that_is_overtaken_by_a_new_label_and_a_new_name_has_both() {
    let desk = Desk::new().await;
    let item = desk.org().ready_item(&desk.estate, "A painting").await;
    let named = json!({
        "workspace_id": desk.estate.workspace["id"],
        "formal_name": "The Pine Trust",
        "external_reference": "t-1",
        "trustee_contact_ids": [desk.estate.trustee["id"]],
    });
    let trust = desk.org().post(TRUSTS, &named).send().await.ok(201);
    desk.org().patch(item_path(&item), &json!({"trust_id": trust["id"]})).send().await.ok(200);
    let call = desk.broken.client.post(PAPER, &paper(&[&item]));
    let answer = overtaken(&desk.broken, call, desk.writes(), async |org| {
        org.patch(item_path(&item), &json!({"label": "A drawing"})).send().await.ok(200);
        let mut renamed = named.clone();
        renamed["formal_name"] = json!("The Pine Family Trust");
        org.post(TRUSTS, &renamed).send().await.ok(200);
    })
    .await;
    let draft = answer.ok(201);
    assert_eq!(
        (&draft["name"], &draft["documents"][0]["name"]),
        (&json!("Funding of The Pine Family Trust"), &json!("Assignment: A drawing"))
    );
    assert_eq!(desk.papered_events().await, 1);
}

/// The repeat gets the first attempt's response, whether the store's response was lost or the caller left.
#[tokio::test]
async fn a_papering_whose_response_is_lost_is_repeated_with_its_key_and_papers_once() {
    let desk = Desk::new().await;
    let (item, other) =
        (desk.org().ready_item(&desk.estate, "A painting").await, desk.org().ready_item(&desk.estate, "A vase").await);
    let call = |client: &tests::Client, item: &Value, key: &str| client.post(PAPER, &paper(&[item])).key(key);
    let lost = desk.broken.faults.inject(desk.writes().times(1), Fault::LostResponse);
    let first: Answer = call(&desk.broken.client, &item, "paper-1").send().await;
    assert_eq!((lost.count(), first.status), (1, 201), "{first}");
    let again = call(desk.org(), &item, "paper-1").send().await;
    assert!(again.is_replay() && again.bytes == first.bytes, "{again}");
    assert_eq!(desk.org().item(&item).await["agreement_id"], first.json()["id"]);

    // The caller leaves during the transaction, which takes effect anyway.
    let held = desk.broken.faults.inject(desk.writes(), Fault::Held);
    tokio::select! {
        answer = call(&desk.broken.client, &other, "paper-2").send() => panic!("it was held: {answer}"),
        () = held.wait_for_hits(1) => {}
    }
    held.end();
    eventually("the other item is papered", async || {
        (desk.org().item(&other).await["phase"] == "papered").then_some(())
    })
    .await;
    let repeated = call(desk.org(), &other, "paper-2").send().await;
    assert!(repeated.is_replay(), "{repeated}");
    assert_eq!(repeated.ok(201)["id"], desk.org().item(&other).await["agreement_id"]);
    call(desk.org(), &item, "paper-2").send().await.refused(409);
    assert_eq!(
        (desk.org().total(AGREEMENTS).await, desk.papered_events().await, desk.org().total(ITEMS).await),
        (2, 2, 2)
    );
}
