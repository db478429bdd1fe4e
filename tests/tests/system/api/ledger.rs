//! The ledger over the API: one row per thing owed or owing, consistent with its record, and read-only.

use http::Method;
use serde_json::{Value, json};
use shared::domain::agreement::AgreementName;
use shared::domain::movement::terms::PaymentTerms;
use tests::drafts::Drafted;
use tests::ledger::Deal;
use tests::{Org, drafts, obligations, payments};

use crate::{members, unknown_id};

const LEDGER: &str = "/api/v1/ledger";

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn titles(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| text(&row["title"])).collect()
}

async fn record(org: &Org, row: &Value) -> Value {
    let list = match text(&row["row_type"]) {
        "movement" => "movements",
        "obligation" => "obligations",
        _ => "agreements",
    };
    org.get(format!("/api/v1/{list}/{}", text(&row["id"]))).send().await.ok(200)
}

#[tokio::test]
async fn each_thing_is_a_row_that_agrees_with_its_record() {
    let org = Org::new().await;
    let (maren, ines) = (org.member("Maren").await, org.member("Ines").await);
    let deal = Deal::new(&org, [&maren, &ines]).await;
    let receiver = deal.agreement.participants[1].contact_id.to_string();
    org.acts_as(&[&receiver]).await;
    let (ada, ben) = (org.contact("Ada").await, org.contact("Ben").await);
    let workspace = org.workspace("Lease").await;
    let (terms, at) = (vec![obligations::on(&[-2, 40]), obligations::triggered(&[10])], obligations::days_ago(5));
    let (lease, owed) = obligations::in_force(&org, &workspace, [&ada, &ben], terms, at).await;

    let rows = org.ledger(&[]).await;
    assert_eq!(rows.len(), 3 + 11 + 2, "{rows:#?}");
    let mut ids: Vec<&str> = rows.iter().map(|row| text(&row["id"])).collect();
    ids.sort_unstable();
    assert_eq!(ids, rows.iter().map(|row| text(&row["id"])).collect::<Vec<_>>(), "in the order of ids");
    for row in &rows {
        let record = record(&org, row).await;
        assert_eq!(row["workspace_id"], record["workspace_id"], "{row}");
        assert_eq!(members(row).len(), 19, "{row}");
        let kind = text(&row["row_type"]);
        assert_eq!(row["agreement_id"], *record.get("agreement_id").unwrap_or(&record["id"]), "{row}");
        assert_eq!(row["movement_id"], if kind == "movement" { record["id"].clone() } else { Value::Null }, "{row}");
        assert_eq!(
            row["obligation_id"],
            if kind == "obligation" { record["id"].clone() } else { Value::Null },
            "{row}"
        );
        assert_eq!(row["product"], "agreement", "{row}");
        for field in ["amount_minor", "currency", "amount_display"] {
            assert_eq!(row[field], if kind == "movement" { record[field].clone() } else { Value::Null }, "{row}");
        }
        let (path, same): (&str, &[(&str, &str)]) = match kind {
            "movement" => (
                "money/movements",
                &[
                    ("title", "purpose"),
                    ("state", "state"),
                    ("status_sentence", "state_sentence"),
                    ("due_at", "due_at"),
                ],
            ),
            "obligation" => (
                "obligations",
                &[
                    ("title", "name"),
                    ("state", "state"),
                    ("status_sentence", "state_sentence"),
                    ("due_at", "next_due_at"),
                ],
            ),
            _ => ("agreements", &[("title", "name"), ("state", "lifecycle"), ("due_at", "expires_at")]),
        };
        for (name, of) in same {
            assert_eq!(row[name], record[of], "{name} of {row} and {record}");
        }
        if kind == "movement" {
            let is_done = ["reconciled", "returned", "cancelled"].contains(&text(&record["state"]));
            assert_eq!((&row["reconciled"], &row["done"]), (&record["reconciled"], &json!(is_done)), "{row}");
        } else {
            assert_eq!((&row["reconciled"], &row["done"]), (&json!(false), &json!(false)), "{row}");
            assert_eq!(row["direction"] == Value::Null, kind == "agreement", "{row}");
        }
        assert_eq!(row["app_url"], format!("{}/app/{path}/{}", org.base_url(), text(&row["id"])));
    }
    for (state, id) in &deal.payments {
        let row = rows.iter().find(|row| row["id"] == json!(id)).expect("a row");
        assert_eq!((&row["state"], &row["direction"]), (&json!(state), &json!("owed_to_us")), "{row}");
        let sender = json!([{"contact_id": deal.agreement.participants[0].contact_id, "display_name": "Ada Okafor"}]);
        assert_eq!(row["counterparties"], sender, "our own contact is no counterparty");
        assert_eq!(row["reconciled"], *state == "reconciled", "a claim is no proof: {row}");
    }
    let planned = rows.iter().find(|row| row["id"] == json!(deal.draft.1)).expect("a row of a draft");
    assert_eq!((&planned["state"], &planned["done"]), (&json!("draft"), &json!(false)));
    assert_eq!(planned["direction"], "between_others");
    assert_eq!(planned["counterparties"].as_array().map(Vec::len), Some(2));
    let promised = rows.iter().find(|row| row["id"] == json!(owed[0])).expect("a row of an obligation");
    assert_eq!(promised["counterparties"][0]["display_name"], "Ben", "who owes it comes first");
    org.acts_as(&[text(&ben["id"])]).await;
    for (id, direction) in [(json!(owed[0]), json!("owed_by_us")), (json!(deal.payments[0].1), json!("between_others"))]
    {
        let now = org.ledger(&[]).await;
        assert_eq!(now.iter().find(|row| row["id"] == id).expect("a row")["direction"], direction, "as it is now");
    }
    assert_eq!(titles(&org.ledger(&[("search", "lease")]).await), ["Lease"], "{}", lease.id());
}

#[tokio::test]
async fn filters_let_through_what_they_say_and_nothing_else() {
    let org = Org::new().await;
    let (maren, ines) = (org.member("Maren").await, org.member("Ines").await);
    let deal = Deal::new(&org, [&maren, &ines]).await;
    let all = org.ledger(&[]).await;
    let open = org.ledger(&[("include_done", "false")]).await;
    assert_eq!(open, all.iter().filter(|row| row["done"] == false).cloned().collect::<Vec<_>>());
    assert_eq!((all.len(), open.len()), (13, 10));
    assert_eq!(org.ledger(&[("include_done", "true")]).await, all);
    let workspace = deal.agreement.workspace_id.to_string();
    let of_one = org.ledger(&[("workspace_id", &workspace)]).await;
    assert!(of_one.len() == 11 && of_one.iter().all(|row| row["workspace_id"] == json!(workspace)), "{of_one:?}");
    assert_eq!(org.ledger(&[("workspace_id", &unknown_id())]).await, [] as [Value; 0]);
    let safe = drafts::written(&org, "Seed SAFE").await;
    let mut as_safe = Drafted::of(&org, &safe.id()).await;
    as_safe
        .change(&org, |draft| {
            *draft = draft
                .describe(
                    draft.name.clone(),
                    shared::domain::agreement::AgreementKind::Safe,
                    shared::domain::time::Timestamp::now(),
                )
                .expect("a draft");
        })
        .await;
    let investment =
        org.payment(as_safe.agreement.id(), payments::terms(&as_safe.agreement, "Investment", "S-1")).await;
    let of_safes = org.ledger(&[("product", "safe")]).await;
    assert_eq!(titles(&of_safes), ["Seed SAFE", "Investment"]);
    assert_eq!(of_safes[1]["id"], json!(investment));
    assert!(of_safes.iter().all(|row| row["product"] == "safe"));
    assert_eq!(org.ledger(&[("product", "agreement")]).await, all);
    assert_eq!(org.ledger(&[("product", "safe"), ("workspace_id", &workspace)]).await, [] as [Value; 0]);

    let page = org.get(LEDGER).query("limit", 5).query("offset", 5).send().await.ok(200);
    assert_eq!(page["data"].as_array().expect("rows"), &org.ledger(&[]).await[5..10]);
    assert_eq!(page["pagination"], json!({"total": 15, "has_more": true, "limit": 5, "offset": 5}));
    for (name, value, code) in [
        ("product", "payment", "invalid_value"),
        ("product", "", "invalid_value"),
        ("product", "SAFE", "invalid_value"),
        ("workspace_id", "7", "invalid_format"),
        ("workspace_id", "", "invalid_format"),
        ("include_done", "", "invalid_type"),
        ("include_done", "no", "invalid_type"),
        ("include_done", "0", "invalid_type"),
        ("search", &"x".repeat(201), "too_long"),
        ("limit", "201", "out_of_range"),
        ("state", "reconciled", "unknown_parameter"),
        ("agreement_id", &unknown_id(), "unknown_parameter"),
        ("direction", "owed_to_us", "unknown_parameter"),
        ("includeDone", "false", "unknown_parameter"),
    ] {
        org.get(LEDGER).query(name, value).send().await.refused_for(422, &[(name, code)]);
    }
}

#[tokio::test]
async fn search_finds_titles_and_counterparties_and_new_names_at_once() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let [straße, northwind] = [org.contact("Straße & Söhne").await, org.person("Northwind").await];
    let (terms, at) = (vec![obligations::monthly(10)], obligations::days_ago(1));
    let (lease, _) = obligations::in_force(&org, &workspace, [&straße, &northwind], terms, at).await;
    let draft = drafts::written(&org, "Sale of the mill").await;
    let untitled = org.payment(draft.agreement.id(), PaymentTerms::default()).await;
    let deposit = PaymentTerms { receiver: None, ..payments::terms(&draft.agreement, "Deposit", "REF-900") };
    org.payment(draft.agreement.id(), deposit).await;
    let found = async |needle: &str| {
        let rows = org.ledger(&[("search", needle)]).await;
        titles(&rows).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    // The promise came into force a day before the agreement was written.
    let of_lease = ["Promise 1", "Lease"];
    assert_eq!(found("STRASSE").await, of_lease, "a counterparty");
    assert_eq!(found("northwind").await, of_lease);
    assert_eq!(found("northwind@example.org").await, [""; 0], "no address is searched");
    assert_eq!(found("promise").await, ["Promise 1"]);
    assert_eq!(found("MILL").await, ["Sale of the mill"], "the title of the agreement is not that of its payments");
    assert_eq!(found("deposit").await, ["Deposit"]);
    assert_eq!(found("ref-900").await, [""; 0], "the reference is no title");
    assert_eq!(found("ada").await, ["Sale of the mill", "Deposit"]);
    let shown = "Payment without a purpose";
    assert_eq!(found("WITHOUT a purpose").await, [shown]);
    assert_eq!(found("  ").await.len(), 5);
    assert_eq!(org.ledger(&[("search", shown)]).await[0]["id"], json!(untitled));

    org.patch(format!("/api/v1/contacts/{}", text(&northwind["id"])), &json!({"display_name": "Southwind"}))
        .send()
        .await
        .ok(200);
    assert_eq!(
        (found("southwind").await, found("northwind").await),
        (of_lease.map(str::to_owned).to_vec(), Vec::new())
    );
    let named = org.ledger(&[("search", "southwind")]).await;
    assert_eq!(named[0]["counterparties"][0]["display_name"], "Southwind");
    let mut renamed = Drafted::of(&org, &draft.id()).await;
    renamed.change(&org, |draft| draft.name = AgreementName::parse("Sale of the brewery").expect("a name")).await;
    assert_eq!((found("brewery").await.len(), found("mill").await.len()), (1, 0));
    // The contact that the organization acts as is no counterparty, so its name finds nothing.
    org.acts_as(&[text(&northwind["id"])]).await;
    assert_eq!(found("southwind").await, [""; 0]);
    assert_eq!(found("strasse").await, of_lease, "{}", lease.id());
}

#[tokio::test]
async fn no_method_changes_the_ledger_and_no_stranger_sees_a_row() {
    let (org, other) = (Org::new().await, Org::new().await);
    let draft = drafts::written(&org, "Seed").await;
    org.payment(draft.agreement.id(), payments::terms(&draft.agreement, "Investment", "INV-1")).await;
    assert_eq!(org.ledger(&[]).await.len(), 2);
    assert_eq!(other.ledger(&[]).await, [] as [Value; 0]);
    assert_eq!(other.ledger(&[("workspace_id", &draft.agreement.workspace_id.to_string())]).await, [] as [Value; 0]);
    assert_eq!(other.ledger(&[("search", "seed")]).await, [] as [Value; 0]);
    assert_eq!(org.read_only().get(LEDGER).send().await.ok(200)["pagination"]["total"], 2);
    let before = org.state().await;
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        for body in [json!({}), json!({"state": "reconciled", "reconciled": true, "done": true})] {
            let answer = org.call(method.clone(), LEDGER).json(&body).send().await;
            answer.refused(405);
            assert!(answer.header("allow").contains("GET"), "{method}");
        }
    }
    assert_eq!(org.state().await, before);
}
