use serde_json::{Value, json};
use tests::Org;

use crate::api::input::refused;
use crate::{assert_moment, members, unknown_id};

const CONTACTS: &str = "/api/v1/contacts";
const KINDS: [&str; 8] = ["person", "household", "trust", "llc", "corporation", "partnership", "nonprofit", "other"];

fn path(contact: &Value) -> String {
    format!("{CONTACTS}/{}", contact["id"].as_str().expect("an id"))
}

fn full() -> Value {
    json!({
        "display_name": "Ada Okafor",
        "kind": "person",
        "email": "ada@okafor.example",
        "external_reference": "crm-4711",
    })
}

#[tokio::test]
async fn a_contact_is_created_with_all_it_was_given() {
    let org = Org::new().await;
    let created = org.post(CONTACTS, &full()).send().await;
    let contact = created.ok(201);
    let expected =
        ["created_at", "display_name", "email", "external_reference", "id", "kind", "merged_into", "updated_at"];
    assert_eq!(members(&contact), expected);
    for (field, value) in full().as_object().expect("an object") {
        assert_eq!(&contact[field], value, "{field}");
    }
    assert_moment(&contact["created_at"]);
    assert_eq!(contact["created_at"], contact["updated_at"]);
    let id = contact["id"].as_str().expect("an id");
    assert_eq!(uuid::Uuid::try_parse(id).expect("a uuid").get_version_num(), 7);
    assert_eq!(id, id.to_lowercase());

    let got = org.get(path(&contact)).send().await;
    assert_eq!(got.ok(200), contact);
    assert_eq!(got.etag(), created.etag());
    assert_eq!(org.all(CONTACTS).await, [contact]);
}

#[tokio::test]
async fn what_a_contact_does_not_have_is_null() {
    let org = Org::new().await;
    let contact = org.contact("Ada").await;
    assert_eq!((&contact["email"], &contact["external_reference"]), (&Value::Null, &Value::Null));
    let with_nulls = json!({"display_name": "Ben", "kind": "person", "email": null, "external_reference": null});
    let other = org.post(CONTACTS, &with_nulls).send().await.ok(201);
    assert_eq!((&other["email"], &other["external_reference"]), (&Value::Null, &Value::Null));
    assert_eq!(members(&other), members(&contact));
}

#[tokio::test]
async fn every_kind_is_taken() {
    let org = Org::new().await;
    for kind in KINDS {
        let contact = org.post(CONTACTS, &json!({"display_name": kind, "kind": kind})).send().await.ok(201);
        assert_eq!(contact["kind"], kind);
    }
    assert_eq!(org.total(CONTACTS).await, 8);
}

#[tokio::test]
async fn texts_are_trimmed_and_counted_in_characters() {
    let org = Org::new().await;
    let longest = "日".repeat(200);
    let body = json!({
        "display_name": format!("  {longest}\u{a0} "),
        "kind": "llc",
        "email": " ada@okafor.example ",
        "external_reference": format!(" {longest} "),
    });
    let contact = org.post(CONTACTS, &body).send().await.ok(201);
    assert_eq!(contact["display_name"], longest);
    assert_eq!(contact["email"], "ada@okafor.example");
    assert_eq!(contact["external_reference"], longest);
    let same = json!({"display_name": "Other", "kind": "llc", "external_reference": longest});
    assert_eq!(org.post(CONTACTS, &same).send().await.ok(200), contact);
}

#[tokio::test]
async fn an_id_is_read_in_upper_case_too() {
    let org = Org::new().await;
    let contact = org.contact("Ada").await;
    let id = contact["id"].as_str().expect("an id").to_uppercase();
    assert_eq!(org.get(format!("{CONTACTS}/{id}")).send().await.ok(200), contact);
    let patched = org.patch(format!("{CONTACTS}/{id}"), &json!({"kind": "trust"})).send().await.ok(200);
    assert_eq!(patched["id"], contact["id"]);
}

#[tokio::test]
async fn a_contact_of_nobody_and_one_of_another_organization_are_not_found_alike() {
    let (org, other) = (Org::new().await, Org::new().await);
    let theirs = other.contact("Theirs").await;
    let get_foreign = org.get(path(&theirs)).send().await;
    let get_unknown = org.get(format!("{CONTACTS}/{}", unknown_id())).send().await;
    let change = json!({"display_name": "Mine now"});
    let patch_foreign = org.patch(path(&theirs), &change).send().await;
    let patch_unknown = org.patch(format!("{CONTACTS}/{}", unknown_id()), &change).send().await;
    for answer in [&get_foreign, &get_unknown, &patch_foreign, &patch_unknown] {
        answer.refused(404);
        assert_eq!(answer.without_request_id(), get_unknown.without_request_id());
    }
    let tag = other.get(path(&theirs)).send().await.etag();
    org.patch(path(&theirs), &change).if_match(tag).send().await.refused(404);
    assert_eq!(other.get(path(&theirs)).send().await.ok(200), theirs);
}

#[tokio::test]
async fn a_patch_changes_the_fields_it_names_and_no_other() {
    let org = Org::new().await;
    let mut expected = org.post(CONTACTS, &full()).send().await.ok(201);
    for (field, value) in [
        ("display_name", json!("Ada Okafor-Lindqvist")),
        ("kind", json!("household")),
        ("email", json!("okafor@example.org")),
        ("external_reference", json!("crm-4712")),
        ("email", Value::Null),
        ("external_reference", Value::Null),
        ("email", json!("ada@okafor.example")),
    ] {
        let before = org.get(path(&expected)).send().await;
        let patched = org.patch(path(&expected), &json!({field: value})).send().await;
        let contact = patched.ok(200);
        assert_ne!(patched.etag(), before.etag(), "{field}");
        assert!(contact["updated_at"].as_str() >= expected["updated_at"].as_str(), "{field}");
        expected[field] = value;
        expected["updated_at"] = contact["updated_at"].clone();
        assert_eq!(contact, expected);
        let got = org.get(path(&expected)).send().await;
        assert_eq!(got.ok(200), expected);
        assert_eq!(got.etag(), patched.etag());
        assert_eq!(org.all(CONTACTS).await, [expected.clone()], "the list shows {field}");
    }
}

#[tokio::test]
async fn a_patch_of_nothing_changes_nothing() {
    let org = Org::new().await;
    let contact = org.post(CONTACTS, &full()).send().await.ok(201);
    assert_eq!(org.patch(path(&contact), &json!({})).send().await.ok(200), contact);
    assert_eq!(org.patch(path(&contact), &full()).send().await.ok(200), contact);
    assert_eq!(org.get(path(&contact)).send().await.ok(200), contact);
}

#[tokio::test]
async fn a_patch_of_a_version_that_is_gone_is_refused() {
    let org = Org::new().await;
    let created = org.post(CONTACTS, &full()).send().await;
    let contact = created.ok(201);
    let first = org.patch(path(&contact), &json!({"kind": "trust"})).if_match(created.etag()).send().await;
    let current = first.ok(200);
    let before = org.state().await;
    for stale in [created.etag(), "\"no-such-version\"".to_owned()] {
        org.patch(path(&contact), &json!({"kind": "llc"})).if_match(stale).send().await.refused(409);
    }
    assert_eq!(org.state().await, before);
    assert_eq!(org.get(path(&contact)).send().await.ok(200), current);
    org.patch(path(&contact), &json!({"kind": "llc"})).if_match(first.etag()).send().await.ok(200);
    org.patch(path(&contact), &json!({"kind": "other"})).if_match("*").send().await.ok(200);
}

#[tokio::test]
async fn without_if_match_the_last_write_wins_field_by_field() {
    let org = Org::new().await;
    let contact = org.post(CONTACTS, &full()).send().await.ok(201);
    org.patch(path(&contact), &json!({"display_name": "From one client"})).send().await.ok(200);
    org.patch(path(&contact), &json!({"kind": "llc"})).send().await.ok(200);
    org.patch(path(&contact), &json!({"display_name": "From another"})).send().await.ok(200);
    let last = org.get(path(&contact)).send().await.ok(200);
    assert_eq!((&last["display_name"], &last["kind"]), (&json!("From another"), &json!("llc")));
    assert_eq!(last["email"], contact["email"]);
}

#[tokio::test]
async fn a_create_with_a_known_reference_returns_what_is_there() {
    let org = Org::new().await;
    let first = org.post(CONTACTS, &full()).send().await;
    let contact = first.ok(201);
    let before = org.state().await;
    let other = json!({"display_name": "Somebody else", "kind": "llc", "external_reference": "crm-4711"});
    for body in [full(), other] {
        let again = org.post(CONTACTS, &body).send().await;
        assert_eq!(again.ok(200), contact);
        assert_eq!(again.etag(), first.etag());
        assert_eq!(again.header("location"), "", "nothing was created");
        assert!(!again.is_replay());
    }
    assert_eq!(org.state().await, before, "the repeat changed something");
}

#[tokio::test]
async fn a_repeated_create_names_the_values_that_it_dropped() {
    let org = Org::new().await;
    assert_eq!(org.post(CONTACTS, &full()).send().await.header("ignored-fields"), "");
    let create = |name: &str, kind: &str, email: Option<Value>| {
        let mut body = json!({"display_name": name, "kind": kind, "external_reference": "crm-4711"});
        if let Some(email) = email {
            body["email"] = email;
        }
        org.post(CONTACTS, &body)
    };
    let ada = full()["email"].clone();
    for (request, ignored) in [
        (create("Ada Okafor", "person", None), ""),
        (create(" Ada Okafor ", "person", Some(ada)), ""),
        (create("Ada", "person", None), "display_name"),
        (create("Ada Okafor", "person", Some(Value::Null)), "email"),
        (create("ada okafor", "llc", Some(json!("ada@elsewhere.example"))), "display_name, kind, email"),
    ] {
        let answer = request.clone().send().await;
        answer.ok(200);
        assert_eq!(answer.header("ignored-fields"), ignored, "{answer}");
        let key = unknown_id();
        let (first, replayed) = (request.clone().key(&key).send().await, request.key(&key).send().await);
        assert!(replayed.is_replay() && replayed.bytes == first.bytes, "{replayed}");
        assert_eq!(replayed.header("ignored-fields"), ignored, "{replayed}");
    }
    assert_eq!(org.total(CONTACTS).await, 1);
}

#[tokio::test]
async fn a_reference_is_unique_within_an_organization_and_no_further() {
    let (org, other) = (Org::new().await, Org::new().await);
    let contact = org.post(CONTACTS, &full()).send().await.ok(201);
    let theirs = other.post(CONTACTS, &full()).send().await.ok(201);
    assert_ne!(contact["id"], theirs["id"]);
    let upper = json!({"display_name": "Ada", "kind": "person", "external_reference": "CRM-4711"});
    assert_ne!(org.post(CONTACTS, &upper).send().await.ok(201)["id"], contact["id"]);
}

#[tokio::test]
async fn a_patch_to_a_reference_in_use_is_refused() {
    let org = Org::new().await;
    let holder = org.post(CONTACTS, &full()).send().await.ok(201);
    let contact = org.contact("Ben").await;
    let before = org.state().await;
    let change = json!({"display_name": "Benjamin", "external_reference": "crm-4711"});
    org.patch(path(&contact), &change).send().await.refused_for(422, &[("external_reference", "taken")]);
    assert_eq!(org.state().await, before);
    org.patch(path(&holder), &json!({"external_reference": "crm-4711"})).send().await.ok(200);
}

#[tokio::test]
async fn a_reference_that_is_given_up_is_free_again() {
    let org = Org::new().await;
    let first = org.post(CONTACTS, &full()).send().await.ok(201);
    org.patch(path(&first), &json!({"external_reference": "crm-9"})).send().await.ok(200);
    let second = org.post(CONTACTS, &full()).send().await.ok(201);
    assert_ne!(second["id"], first["id"]);
    let known = json!({"display_name": "x", "kind": "other", "external_reference": "crm-9"});
    assert_eq!(org.post(CONTACTS, &known).send().await.id(200), first["id"]);

    org.patch(path(&second), &json!({"external_reference": null})).send().await.ok(200);
    let taken_over = org.patch(path(&first), &json!({"external_reference": "crm-4711"})).send().await.ok(200);
    assert_eq!(taken_over["external_reference"], "crm-4711");
    assert_eq!(org.post(CONTACTS, &full()).send().await.id(200), first["id"]);
    assert_eq!(org.total(CONTACTS).await, 2);
}

async fn by_reference(org: &Org, reference: &str) -> (Value, Value) {
    let mut page = org.get(CONTACTS).query("external_reference", reference).send().await.ok(200);
    (page["data"].take(), page["pagination"]["total"].take())
}

#[tokio::test]
async fn a_reference_finds_its_contact_and_no_other() {
    let org = Org::new().await;
    let contact = org.post(CONTACTS, &full()).send().await.ok(201);
    for reference in ["crm-47", "crm-47110"] {
        let other = json!({"display_name": "Other", "kind": "llc", "external_reference": reference});
        org.post(CONTACTS, &other).send().await.ok(201);
    }
    org.contact("Without a reference").await;
    for reference in ["crm-4711", "  crm-4711 "] {
        assert_eq!(by_reference(&org, reference).await, (json!([contact]), json!(1)), "{reference:?}");
    }
    for reference in ["crm", "4711", "CRM-4711", "crm-471", "crm-%", "null"] {
        assert_eq!(by_reference(&org, reference).await, (json!([]), json!(0)), "{reference:?}");
    }
}

#[tokio::test]
async fn a_list_by_reference_follows_a_change() {
    let org = Org::new().await;
    let contact = org.post(CONTACTS, &full()).send().await.ok(201);
    let changed = org.patch(path(&contact), &json!({"external_reference": "crm-9"})).send().await.ok(200);
    assert_eq!(by_reference(&org, "crm-4711").await, (json!([]), json!(0)));
    assert_eq!(by_reference(&org, "crm-9").await, (json!([changed]), json!(1)));
    org.patch(path(&contact), &json!({"external_reference": null})).send().await.ok(200);
    assert_eq!(by_reference(&org, "crm-9").await, (json!([]), json!(0)));
}

#[tokio::test]
async fn a_list_by_reference_is_searched_and_paged_like_any_other() {
    let org = Org::new().await;
    let contact = org.post(CONTACTS, &full()).send().await.ok(201);
    org.contact("Ada Lindqvist").await;
    let ask = || org.get(CONTACTS).query("external_reference", "crm-4711");
    for (search, total) in [("", 1), (" ", 1), ("OKAFOR", 1), ("@okafor", 1), ("lindqvist", 0), ("crm-4711", 0)] {
        let page = ask().query("search", search).send().await.ok(200);
        assert_eq!(page["pagination"]["total"], total, "{search:?}");
        assert_eq!(page["data"].as_array().map(Vec::len), Some(total), "{search:?}");
    }
    for (offset, data) in [(0, json!([contact])), (1, json!([])), (200, json!([]))] {
        let page = ask().query("limit", 1).query("offset", offset).send().await.ok(200);
        assert_eq!(page["data"], data, "{offset}");
        let pagination = json!({"total": 1, "has_more": false, "limit": 1, "offset": offset});
        assert_eq!(page["pagination"], pagination, "{offset}");
    }
}

#[tokio::test]
async fn a_reference_of_another_organization_finds_nothing() {
    let (org, other) = (Org::new().await, Org::new().await);
    let theirs = other.post(CONTACTS, &full()).send().await.ok(201);
    assert_eq!(by_reference(&org, "crm-4711").await, (json!([]), json!(0)));
    let ours = org.post(CONTACTS, &full()).send().await.ok(201);
    assert_eq!(by_reference(&org, "crm-4711").await, (json!([ours]), json!(1)));
    assert_eq!(by_reference(&other, "crm-4711").await, (json!([theirs]), json!(1)));
}

#[tokio::test]
async fn a_reference_to_list_by_is_as_valid_as_one_to_create_with() {
    let org = Org::new().await;
    org.contact("Ada").await;
    assert_eq!(by_reference(&org, &"日".repeat(200)).await, (json!([]), json!(0)));
    let cases = [
        (String::new(), "too_short"),
        (" \u{a0} ".to_owned(), "too_short"),
        ("日".repeat(201), "too_long"),
        ("crm\n4711".to_owned(), "invalid_value"),
    ];
    let ask = |(reference, code): (String, _)| {
        (org.get(CONTACTS).query("external_reference", reference), vec![("external_reference", code)])
    };
    refused(&org, cases.map(ask).into()).await;
}

#[tokio::test]
async fn search_looks_in_name_and_email_and_nowhere_else() {
    let org = Org::new().await;
    let contact = org.post(CONTACTS, &full()).send().await.ok(201);
    org.contact("Ben Lindqvist").await;
    for needle in ["ada", "OKAFOR", "a o", "@okafor.example", "ADA@", "  okafor  ", "ada okafor"] {
        let page = org.get(CONTACTS).query("search", needle).send().await.ok(200);
        assert_eq!(page["data"], json!([contact]), "{needle}");
    }
    for needle in
        ["crm-4711", "person", "okaforada", "Okafor ada@", contact["id"].as_str().expect("an id"), "%", "*", "_"]
    {
        let page = org.get(CONTACTS).query("search", needle).send().await.ok(200);
        assert_eq!(page["pagination"]["total"], 0, "{needle}");
    }
}

#[tokio::test]
async fn search_follows_a_change() {
    let org = Org::new().await;
    let contact = org.post(CONTACTS, &full()).send().await.ok(201);
    org.patch(path(&contact), &json!({"display_name": "Zoë Straße", "email": null})).send().await.ok(200);
    for (needle, total) in [("okafor", 0), ("ada", 0), ("zoe\u{308}", 1), ("STRASSE", 1)] {
        let page = org.get(CONTACTS).query("search", needle).send().await.ok(200);
        assert_eq!(page["pagination"]["total"], total, "{needle}");
    }
}
