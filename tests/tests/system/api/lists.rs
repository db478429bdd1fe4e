//! Lists: pages, totals and search, against a model.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use shared::domain::movement::safe_text::SafeLine;
use shared::domain::movement::terms::PaymentTerms;
use tests::{Fixture, Needs, Org, Stack, drafts, payments, spec};
use unicode_normalization::UnicodeNormalization;

use crate::{in_list, members};

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";

/// Set it to a failed run's seed to repeat its cases.
const SEED: &str = "COUNTERSIGN_TEST_SEED";

#[tokio::test]
async fn a_page_has_fifty_rows_unless_asked_otherwise() {
    let fixture = Fixture::new().await;
    for list in fixture.lists() {
        // Adding to another list may have added rows: a proposal belongs to an agreement.
        for _ in fixture.org.total(&list.path).await..52 {
            fixture.add_to(list).await;
        }
        let total = fixture.org.total(&list.path).await;
        let page = fixture.call(list).send().await.ok(200);
        assert_eq!(members(&page), ["data", "pagination"]);
        assert_eq!(page["data"].as_array().map(Vec::len), Some(50), "{}", list.id);
        assert_eq!(page["pagination"], json!({"total": total, "has_more": true, "limit": 50, "offset": 0}));
        let rest = fixture.call(list).query("offset", 50).send().await.ok(200);
        assert_eq!(rest["data"].as_array().map(|rows| rows.len() as u64), Some(total - 50), "{}", list.id);
        assert_eq!(rest["pagination"], json!({"total": total, "has_more": false, "limit": 50, "offset": 50}));
        let all = fixture.call(list).query("limit", 200).send().await.ok(200);
        assert_eq!(all["pagination"], json!({"total": total, "has_more": false, "limit": 200, "offset": 0}));
        let pages = [&page, &rest].map(|page| page["data"].as_array().expect("rows").clone()).concat();
        assert_eq!(all["data"], json!(pages), "{}", list.id);
    }
}

#[tokio::test]
async fn an_empty_list_is_a_list() {
    let org = Org::new().await;
    for list in spec::all().iter().filter(|operation| operation.is_list()) {
        let page = list.call(&org, "").send().await.ok(200);
        let pagination = json!({"total": 0, "has_more": false, "limit": 50, "offset": 0});
        assert_eq!(page, json!({"data": [], "pagination": pagination}), "{}", list.id);
    }
}

#[tokio::test]
async fn past_the_end_there_is_an_empty_page_with_the_right_total() {
    let org = Org::new().await;
    for name in ["Ada", "Ben", "Cleo"] {
        org.contact(name).await;
    }
    for offset in ["3", "4", "1000000", "9223372036854775807"] {
        let page = org.get(CONTACTS).query("offset", offset).query("limit", 200).send().await.ok(200);
        assert_eq!(page["data"], json!([]), "{offset}");
        assert_eq!(page["pagination"]["total"], 3, "{offset}");
        assert_eq!(page["pagination"]["has_more"], false, "{offset}");
        assert_eq!(page["pagination"]["offset"].to_string(), offset);
    }
    let page = org.get(CONTACTS).query("offset", 1).query("limit", 2).send().await.ok(200);
    assert_eq!((&page["pagination"]["has_more"], page["data"].as_array().map(Vec::len)), (&json!(false), Some(2)));
}

#[tokio::test]
async fn an_empty_or_blank_search_is_no_filter() {
    let org = Org::new().await;
    for name in ["Ada", "Ben"] {
        org.contact(name).await;
    }
    for search in ["", " ", "\u{3000}\u{a0} "] {
        let page = org.get(CONTACTS).query("search", search).send().await.ok(200);
        assert_eq!(page["pagination"]["total"], 2, "{search:?}");
    }
}

#[tokio::test]
async fn a_change_does_not_move_a_row() {
    let org = Org::new().await;
    let ids: Vec<Value> = futures_util::future::join_all(["Ada", "Ben", "Cleo"].map(|name| org.contact(name)))
        .await
        .into_iter()
        .map(|contact| contact["id"].clone())
        .collect();
    let order = |records: Vec<Value>| records.into_iter().map(|record| record["id"].clone()).collect::<Vec<_>>();
    let before = order(org.all(CONTACTS).await);
    let mut sorted = ids.clone();
    sorted.sort_by_key(ToString::to_string);
    assert_eq!(before, sorted, "the order is that of the ids");
    let first = format!("{CONTACTS}/{}", before[0].as_str().expect("an id"));
    org.patch(first, &json!({"display_name": "Zoe"})).send().await.ok(200);
    assert_eq!(order(org.all(CONTACTS).await), before);
}

#[tokio::test]
async fn a_list_has_the_rows_of_its_organization_only() {
    let (org, other) = (Org::new().await, Org::new().await);
    let ours = org.contact("Shared name").await;
    other.contact("Shared name").await;
    other.workspace("Shared name").await;
    let page = org.get(CONTACTS).query("search", "shared").send().await.ok(200);
    assert_eq!((&page["data"], &page["pagination"]["total"]), (&json!([ours]), &json!(1)));
    assert_eq!(org.total(WORKSPACES).await, 0);
}

#[tokio::test]
async fn what_was_acknowledged_is_in_every_later_list() {
    let org = Org::new().await;
    for n in 1..=30 {
        let contact = org.contact(&format!("Contact {n}")).await;
        let page = org.get(CONTACTS).query("offset", n - 1).send().await.ok(200);
        assert_eq!((&page["data"], &page["pagination"]["total"]), (&json!([contact]), &json!(n)));
    }
}

/// Pairs from Unicode's tables, not from code, that search must equate or distinguish.
#[tokio::test]
async fn search_folds_as_unicode_says() {
    let org = Org::new().await;
    for (name, needle, is_found) in [
        ("Straße", "STRASSE", true),
        ("STRASSE", "straße", true),
        ("Große Gasse", "SSE G", true),
        ("\u{130}stanbul", "i\u{307}stanbul", true),
        ("\u{130}stanbul", "istanbul", false),
        ("D\u{131}yar", "diyar", false),
        ("\u{fb01}scal", "FISCAL", true),
        ("Fiscal", "\u{fb01}", true),
        ("Andr\u{e9}", "ANDRE\u{301}", true),
        ("Andre\u{301}", "ANDR\u{c9}", true),
        ("Andr\u{e9}", "Andre", false),
        ("Andre", "andr\u{e9}", false),
        ("日本橋", "本橋", true),
        ("日本橋", "日橋", false),
        ("ΣΊΣΥΦΟΣ", "σίσυφος", true),
        ("\u{212a}elvin", "kelvin", true),
        ("\u{212b}ngstr\u{f6}m", "ÅNGSTRÖM", true),
        ("Ǆemal", "ǆ", true),
        ("two  blanks", "two blanks", false),
        ("a%b_c", "%", true),
        ("a%b_c", "a_b", false),
    ] {
        let contact = org.contact(&format!("{name} {}", crate::unknown_id())).await;
        let page = org.get(CONTACTS).query("search", needle).query("limit", 200).send().await.ok(200);
        let found = page["data"].as_array().expect("data").contains(&contact);
        assert_eq!(found, is_found, "{needle} in {name}");
    }
}

/// Text as search compares it, by the contract: NFC, full default case folding, NFC.
fn folded(text: &str) -> String {
    caseless::default_case_fold_str(&text.nfc().collect::<String>()).nfc().collect()
}

fn model<'a>(rows: &'a [(Value, Vec<String>)], ask: &Ask) -> (Vec<&'a Value>, usize) {
    let needle = folded(ask.needle.trim());
    let matching: Vec<&Value> = rows
        .iter()
        .filter(|(_, texts)| texts.iter().any(|text| folded(text).contains(&needle)))
        .map(|(record, _)| record)
        .collect();
    (matching.iter().skip(ask.offset).take(ask.limit).copied().collect(), matching.len())
}

#[derive(Debug, Clone)]
struct Ask {
    needle: String,
    limit: usize,
    offset: usize,
}

/// Pieces that differ in case, composition and folded length, and look-alikes.
const PIECES: [&str; 26] = [
    "ß", "ss", "SS", "ẞ", "İ", "i\u{307}", "i", "I", "ı", "ﬁ", "fi", "FI", "é", "e\u{301}", "É", "e", "日本", "日",
    "本", "a", "A", " ", "  ", "Σ", "ς", "\u{212a}",
];

fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), pieces).prop_map(|pieces| pieces.concat())
}

fn name() -> impl Strategy<Value = String> {
    text(1..7).prop_map(|text| text.trim().to_owned()).prop_filter("not blank", |text| !text.is_empty())
}

fn email() -> impl Strategy<Value = Option<String>> {
    let local_part = prop::sample::select(&["ada", "BEN", "fiona", "ss", "İ", "日本"][..]);
    let domain = prop::sample::select(&["example.org", "STRASSE.example", "a.example"][..]);
    prop::option::of((local_part, domain).prop_map(|(local_part, domain)| format!("{local_part}@{domain}")))
}

fn ask() -> impl Strategy<Value = Ask> {
    let needle = prop_oneof![
        4 => text(0..4),
        1 => prop::sample::select(&["@", "example", "EXAMPLE.ORG", "straße", "ws-0", "\u{fb01}ona@", "n f"][..]).prop_map(str::to_owned),
    ];
    let blanks = prop::sample::select(&["", " ", "\u{3000}"][..]);
    let limit = prop_oneof![1..=5_usize, 1..=200_usize];
    (blanks.clone(), needle, blanks, limit, 0..25_usize).prop_map(|(before, needle, after, limit, offset)| Ask {
        needle: format!("{before}{needle}{after}"),
        limit,
        offset,
    })
}

fn check<Case: Strategy>(cases: u32, strategy: &Case, check: impl AsyncFn(Case::Value)) {
    let given = std::env::var(SEED).ok().map(|seed| seed.parse().expect("a seed is a number"));
    let seed: u64 = given.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().1);
    println!("the cases are those of {SEED}={seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 100, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // Held for all cases, so that they share one stack.
    let _stack = Stack::with(Needs::SHARED);
    let outcome = runner.run(strategy, |case| {
        runtime.block_on(check(case));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{SEED}={seed}: {failure}");
    }
}

async fn compare(org: &Org, path: &str, rows: &[(Value, Vec<String>)], asks: &[Ask]) {
    for ask in asks {
        let request = org.get(path).query("search", &ask.needle).query("limit", ask.limit).query("offset", ask.offset);
        let page = request.send().await.ok(200);
        let (data, total) = model(rows, ask);
        assert_eq!(page["data"], json!(data), "{ask:?}");
        let has_more = ask.offset + data.len() < total && ask.offset < total;
        let pagination = json!({"total": total, "has_more": has_more, "limit": ask.limit, "offset": ask.offset});
        assert_eq!(page["pagination"], pagination, "{ask:?}");
    }
}

#[test]
fn contacts_are_listed_as_the_model_lists_them() {
    let case = (prop::collection::vec((name(), email()), 0..20), prop::collection::vec(ask(), 1..10));
    check(40, &case, async |(contacts, asks)| {
        let org = Org::new().await;
        let mut rows = Vec::new();
        for (name, email) in contacts {
            let body = json!({"display_name": name, "kind": "person", "email": email});
            let contact = org.post(CONTACTS, &body).send().await.ok(201);
            assert_eq!((&contact["display_name"], &contact["email"]), (&json!(name), &json!(email)));
            rows.push((contact, [Some(name), email].into_iter().flatten().collect()));
        }
        compare(&org, CONTACTS, &rows, &asks).await;
    });
}

#[test]
fn workspaces_are_listed_as_the_model_lists_them() {
    let case = (prop::collection::vec(name(), 0..12), prop::collection::vec(ask(), 1..8));
    check(20, &case, async |(names, asks)| {
        let org = Org::new().await;
        let mut rows = Vec::new();
        for name in names {
            let workspace = org.workspace(&name).await;
            let reference = workspace["reference"].as_str().expect("a reference").to_owned();
            rows.push((in_list(&workspace), vec![name, reference]));
        }
        compare(&org, WORKSPACES, &rows, &asks).await;
    });
}

#[test]
fn the_ledger_is_searched_by_what_its_rows_show() {
    let thing = (name(), name(), prop::option::of(name()));
    let case = (prop::collection::vec(thing, 0..8), prop::collection::vec(ask(), 1..8));
    check(15, &case, async |(things, asks)| {
        let org = Org::new().await;
        let workspace = org.workspace("Harbor").await;
        for (agreement, contact, purpose) in things {
            let draft = drafts::ready(&workspace, &agreement, &org.contact(&contact).await);
            let draft = drafts::write(&org, draft).await.agreement;
            let purpose = purpose.map(|purpose| SafeLine::parse(&purpose).expect("a purpose"));
            org.payment(draft.id(), PaymentTerms { purpose, ..payments::terms(&draft, "Rent", "R-1") }).await;
        }
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let texts = |row: &Value| {
            let names = row["counterparties"].as_array().expect("counterparties").iter();
            names.map(|named| text(&named["display_name"])).chain([text(&row["title"])]).collect()
        };
        let rows: Vec<_> = org.ledger(&[]).await.into_iter().map(|row| (row.clone(), texts(&row))).collect();
        compare(&org, "/api/v1/ledger", &rows, &asks).await;
    });
}
