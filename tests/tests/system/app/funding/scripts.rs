//! Papered documents in right-to-left scripts, read back from their files.

use serde_json::{Value, json};
use tests::funding::{ITEMS, PAPER, TRUSTS, item_path};

use super::{Desk, id};

/// Hebrew, Arabic, Persian with zero-width non-joiner, Thaana and N’Ko, mixed with numbers and Latin.
const OWNER: &str = "נועה כהן־לוי";
const TRUSTEE: &str = "أحمد محمود الخطيب";
const TRUST: &str = "وقف عائلة الخطيب";
const LABEL: &str = "דירה 4 ברחוב הרצל 12 (Tel Aviv)";
const FACTS: [(&str, &str); 5] = [
    ("address", "רחוב הרצל 12, תל אביב 6688312"),
    ("county", "می\u{200c}خواهم تهران"),
    ("state", "މުޙައްމަދު"),
    ("legal_description", "قطعة رقم ٧ من الحوض ١٢، سجل Tapu 88/3\nגוש 6900 חלקה 14"),
    ("current_vesting", "ߒߞߏ ߡߊ߬ߡߊ"),
];

fn packed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A text's words. In a line with both directions, readers have to guess the order.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_matches(['(', ')', ',', '،']))
}

fn assert_words(text: &str, value: &str) {
    for word in words(value) {
        assert!(text.contains(word), "{word} of {value}: {text}");
    }
}

async fn person(desk: &Desk, name: &str, email: &str) -> Value {
    let body = json!({"display_name": name, "kind": "person", "email": email});
    desk.org.post("/api/v1/contacts", &body).send().await.ok(201)
}

#[tokio::test]
async fn right_to_left_texts_are_read_back_from_papered_documents() {
    let desk = Desk::new().await;
    let owner = person(&desk, OWNER, "noa@example.org").await;
    let trustee = person(&desk, TRUSTEE, "ahmad@example.org").await;
    let trust = json!({
        "workspace_id": desk.estate.workspace["id"],
        "formal_name": TRUST,
        "settlor_contact_ids": [owner["id"]],
        "trustee_contact_ids": [trustee["id"]],
    });
    let trust = desk.org.post(TRUSTS, &trust).send().await.ok(201);
    let item = json!({"workspace_id": desk.estate.workspace["id"], "label": LABEL, "asset_kind": "real_estate"});
    let item = desk.org.post(ITEMS, &item).send().await.ok(201);
    let facts: serde_json::Map<String, Value> =
        FACTS.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let sorted = json!({"verb": "deed", "trust_id": trust["id"], "owner_contact_ids": [owner["id"]], "detail": facts});
    let sorted = desk.org.patch(item_path(&item), &sorted).send().await.ok(200);
    assert_eq!((&sorted["phase"], &sorted["detail"]), (&json!("ready"), &json!(facts)), "{sorted}");
    let draft = desk.org.post(PAPER, &json!({"item_ids": [item["id"]]})).send().await.ok(201);
    let document = &draft["documents"][0];
    assert_eq!(document["name"], format!("Deed cover sheet: {LABEL}"));

    let path = format!("/app/agreements/{}/documents/{}/download", id(&draft), id(document));
    let file = desk.maren.get(&path).await;
    assert_eq!(file.status, 200, "{}", file.body);
    let text = pdf::reading::text(&file.bytes).expect("a PDF");
    assert!(!text.contains(char::REPLACEMENT_CHARACTER), "{text}");
    let (text, mut rest) = (packed(&text), 0);
    // Each word as typed, and all in the page's order: the asset, then its facts.
    for value in std::iter::once(LABEL).chain(FACTS.map(|(_, value)| value)).flat_map(str::lines) {
        // In right-to-left lines, joiners are only in the PDF's structure.
        let value = &value.replace('\u{200c}', "");
        let at = words(value).next().and_then(|first| text[rest..].find(first));
        rest += at.unwrap_or_else(|| panic!("{value} is not behind {rest}: {text}"));
        assert_words(&text[rest..], value);
    }
    for name in [OWNER, TRUSTEE, TRUST] {
        assert!(text.contains(&packed(name)), "{name}: {text}");
    }
    let signatures = &text[rest..];
    assert!(signatures.contains(&packed(OWNER)) && signatures.contains(&packed(TRUSTEE)), "{signatures}");

    let print = desk.maren.get(&format!("/app/papers/{}/schedule.pdf", desk.workspace())).await;
    assert_eq!(print.status, 200, "{}", print.body);
    let text = packed(&pdf::reading::text(&print.bytes).expect("a PDF"));
    assert!(text.contains(&packed(TRUST)), "{text}");
    assert_words(&text, LABEL);
}
