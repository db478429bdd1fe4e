use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::{Life, Participant, ParticipantRole};
use shared::domain::ids::{ContactId, ParticipantId};
use shared::domain::time::Timestamp;
use tests::{Org, drafts};

use crate::{assert_moment, members, unknown_id};

const AGREEMENTS: &str = "/api/v1/agreements";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn path(agreement: &Value) -> String {
    format!("{AGREEMENTS}/{}", text(&agreement["id"]))
}

fn participants(agreement: &Value) -> String {
    format!("{}/participants", path(agreement))
}

fn part(contact: &Value, roles: &[&str]) -> Value {
    json!({"contact_id": contact["id"], "roles": roles})
}

fn blockers(agreement: &Value) -> Vec<&str> {
    agreement["publish_blockers"].as_array().expect("blockers").iter().map(|blocker| text(&blocker["code"])).collect()
}

fn in_list(agreement: &Value) -> Value {
    let mut agreement = agreement.clone();
    for field in ["stages", "documents", "participants", "terms", "promises", "publishable", "publish_blockers"] {
        agreement[field] = Value::Null;
    }
    agreement
}

#[tokio::test]
async fn an_agreement_begins_as_an_empty_draft() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let new = json!({"workspace_id": workspace["id"], "name": "  Seed round  "});
    let draft = org.post(AGREEMENTS, &new).send().await.ok(201);
    let fields = [
        "app_url",
        "cancelled_at",
        "completed_at",
        "created_at",
        "documents",
        "expires_at",
        "funding_item_ids",
        "id",
        "kind",
        "lifecycle",
        "name",
        "participants",
        "promises",
        "proposal_ready",
        "publish_blockers",
        "publishable",
        "published_at",
        "stages",
        "status",
        "terms",
        "updated_at",
        "workspace_id",
    ];
    assert_eq!(members(&draft), fields);
    for (field, value) in [
        ("workspace_id", workspace["id"].clone()),
        ("name", json!("Seed round")),
        ("kind", json!("general")),
        ("lifecycle", json!("draft")),
        ("stages", json!([])),
        ("documents", json!([])),
        ("participants", json!([])),
        ("terms", Value::Null),
        ("promises", json!([])),
        ("publishable", json!(false)),
        ("proposal_ready", json!(false)),
        ("expires_at", Value::Null),
        ("published_at", Value::Null),
        ("completed_at", Value::Null),
        ("cancelled_at", Value::Null),
        ("funding_item_ids", json!([])),
    ] {
        assert_eq!(draft[field], value, "{field}");
    }
    assert!(!text(&draft["status"]).is_empty());
    assert_eq!(blockers(&draft), ["workspace_not_activated", "no_participants", "no_stages"]);
    for blocker in draft["publish_blockers"].as_array().expect("blockers") {
        assert_eq!(members(blocker), ["code", "message", "url"]);
        assert_eq!(blocker["url"], draft["app_url"]);
    }
    assert_moment(&draft["created_at"]);
    assert_eq!(draft["updated_at"], draft["created_at"]);
    let id = text(&draft["id"]);
    assert_eq!(uuid::Uuid::try_parse(id).expect("a uuid").get_version_num(), 7);
    assert_eq!(draft["app_url"], format!("{}/app/agreements/{id}", org.base_url()));

    assert_eq!(org.get(path(&draft)).send().await.ok(200), draft);
    assert_eq!(org.all(AGREEMENTS).await, [in_list(&draft)]);
    assert_eq!(org.events().await, Vec::<Value>::new(), "drafting tells nobody");
}

#[tokio::test]
async fn a_safe_has_terms_and_needs_its_parties() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let new = json!({"workspace_id": workspace["id"], "name": "SAFE", "kind": "safe"});
    let safe = org.post(AGREEMENTS, &new).send().await.ok(201);
    assert_eq!(safe["kind"], "safe");
    let terms = [
        "conversion_timing",
        "currency",
        "discount_rate",
        "governing_law",
        "investment_amount_minor",
        "mfn",
        "pro_rata",
        "valuation_cap_minor",
    ];
    assert_eq!(members(&safe["terms"]), terms);
    let expected =
        ["workspace_not_activated", "no_participants", "no_stages", "safe_terms_incomplete", "safe_parties_missing"];
    assert_eq!(blockers(&safe), expected);
}

#[tokio::test]
async fn bad_drafts_are_refused_and_record_nothing() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (workspace, foreign) = (org.workspace("Harbor").await, other.workspace("Theirs").await);
    let id = &workspace["id"];
    let before = org.state().await;
    for (body, errors) in [
        (json!({}), vec![("workspace_id", "required"), ("name", "required")]),
        (json!({"workspace_id": null, "name": null}), vec![("workspace_id", "required"), ("name", "required")]),
        (json!({"workspace_id": id, "name": " "}), vec![("name", "too_short")]),
        (json!({"workspace_id": id, "name": "é".repeat(251)}), vec![("name", "too_long")]),
        (json!({"workspace_id": id, "name": "a\u{0}b"}), vec![("name", "invalid_value")]),
        (json!({"workspace_id": "x", "name": "A"}), vec![("workspace_id", "invalid_format")]),
        (json!({"workspace_id": 1, "name": 2}), vec![("workspace_id", "invalid_type"), ("name", "invalid_type")]),
        (json!({"workspace_id": id, "name": "A", "kind": "lease"}), vec![("kind", "invalid_value")]),
        (json!({"workspace_id": id, "name": "A", "lifecycle": "active"}), vec![("lifecycle", "unknown_field")]),
    ] {
        org.post(AGREEMENTS, &body).key("k").send().await.refused_for(422, &errors);
    }
    for nowhere in [foreign["id"].clone(), json!(unknown_id())] {
        let refused = org.post(AGREEMENTS, &json!({"workspace_id": nowhere, "name": "A"})).key("k").send().await;
        refused.refused_for(404, &[("workspace_id", "not_found")]);
    }
    assert_eq!(org.state().await, before);
    let longest = json!({"workspace_id": id, "name": "é".repeat(250)});
    let made = org.post(AGREEMENTS, &longest).key("k").send().await;
    assert!(!made.is_replay(), "refusals consume no key");
    assert_eq!(org.post(AGREEMENTS, &longest).key("k").send().await.bytes, made.bytes);
    assert_eq!(org.total(AGREEMENTS).await, 1);
}

#[tokio::test]
async fn what_people_wrote_comes_back_as_it_was() {
    let org = Org::new().await;
    let name = "<script>alert('1')</script> & \"Łódź\" 🦀";
    let workspace = org.workspace("Harbor").await;
    let draft = org.empty_draft(&workspace, name).await;
    assert_eq!(draft["name"], name);
    assert_eq!(org.get(path(&draft)).send().await.ok(200)["name"], name);
}

#[tokio::test]
async fn lists_are_filtered() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (harbor, pine) = (org.workspace("Harbor").await, org.workspace("Pine").await);
    let foreign = other.workspace("Theirs").await;
    other.empty_draft(&foreign, "Straße").await;
    let first = org.empty_draft(&harbor, "Seed Straße").await;
    let second = org.empty_draft(&pine, "Bridge loan").await;
    let live = drafts::write(&org, drafts::active(&drafts::empty(&harbor, "Live"))).await;
    let cancelled = Life::Cancelled { published_at: None, cancelled_at: Timestamp::now() };
    let over = drafts::with_life(&drafts::empty(&pine, "Over"), cancelled);
    let over = drafts::write(&org, over).await;
    let ids = [text(&first["id"]).to_owned(), text(&second["id"]).to_owned(), live.id(), over.id()];
    let all = [0, 1, 2, 3].map(|n: usize| ids[n].as_str());

    for (query, expected) in [
        (vec![], all.to_vec()),
        (vec![("lifecycle", String::new())], all.to_vec()),
        (vec![("search", String::new())], all.to_vec()),
        (vec![("lifecycle", "draft".into())], vec![all[0], all[1]]),
        (vec![("lifecycle", "active".into())], vec![all[2]]),
        (vec![("lifecycle", "cancelled".into())], vec![all[3]]),
        (vec![("lifecycle", "completed".into())], vec![]),
        (vec![("lifecycle", "expired".into())], vec![]),
        (vec![("workspace_id", text(&harbor["id"]).to_owned())], vec![all[0], all[2]]),
        (vec![("workspace_id", text(&harbor["id"]).to_uppercase())], vec![all[0], all[2]]),
        (vec![("workspace_id", text(&foreign["id"]).to_owned())], vec![]),
        (vec![("workspace_id", unknown_id())], vec![]),
        (vec![("search", " STRASSE ".into())], vec![all[0]]),
        (vec![("search", "loan".into()), ("workspace_id", text(&harbor["id"]).to_owned())], vec![]),
        (vec![("search", "e".into()), ("lifecycle", "draft".into())], vec![all[0], all[1]]),
        (vec![("search", "x".repeat(250))], vec![]),
    ] {
        let request = query.iter().fold(org.get(AGREEMENTS), |request, (name, value)| request.query(name, value));
        let page = request.send().await.ok(200);
        let ids: Vec<&str> = page["data"].as_array().expect("a page").iter().map(|row| text(&row["id"])).collect();
        assert_eq!(ids, expected, "{query:?}");
        assert_eq!(page["pagination"]["total"], expected.len(), "{query:?}");
    }
    for (name, value, code) in [
        ("lifecycle", "live", "invalid_value"),
        ("lifecycle", "Active", "invalid_value"),
        ("workspace_id", "", "invalid_format"),
        ("workspace_id", "harbor", "invalid_format"),
        ("search", &"é".repeat(251), "too_long"),
        ("state", "active", "unknown_parameter"),
        ("limit", "0", "out_of_range"),
    ] {
        org.get(AGREEMENTS).query(name, value).send().await.refused_for(422, &[(name, code)]);
    }
    let twice = org.get(AGREEMENTS).query("lifecycle", "draft").query("lifecycle", "active").send().await;
    twice.refused_for(422, &[("lifecycle", "invalid_value")]);
}

#[tokio::test]
async fn a_list_tells_which_drafts_can_be_proposed() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let (ada, ben) = (org.person("Ada").await, org.contact("Ben").await);
    let ready = drafts::write(&org, drafts::ready(&workspace, "Ready", &ada)).await;
    let silent = drafts::write(&org, drafts::ready(&workspace, "Silent", &ben)).await;
    let empty = drafts::write(&org, drafts::empty(&workspace, "Empty")).await;
    let live = drafts::write(&org, drafts::active(&drafts::ready(&workspace, "Live", &ada))).await;
    let full = org.get(ready.path()).send().await.ok(200);
    assert_eq!((&full["proposal_ready"], &full["publishable"]), (&json!(true), &json!(false)));
    assert_eq!(blockers(&full), ["workspace_not_activated"]);
    let full = org.get(silent.path()).send().await.ok(200);
    assert_eq!(blockers(&full), ["workspace_not_activated", "participant_email_missing"]);
    let participant = silent.agreement.participants[0].id.to_string();
    assert_eq!(full["publish_blockers"][1]["participant_id"], participant);
    let full = org.get(live.path()).send().await.ok(200);
    assert_eq!((&full["publishable"], &full["publish_blockers"]), (&Value::Null, &Value::Null));
    assert!(full["stages"].is_array() && full["participants"].is_array());

    let listed = async || {
        let rows = org.all(AGREEMENTS).await;
        for row in &rows {
            assert_eq!(*row, in_list(row), "lists leave out what takes long to read");
        }
        rows.into_iter().map(|row| (text(&row["id"]).to_owned(), row["proposal_ready"] == true)).collect::<Vec<_>>()
    };
    let expected =
        |ready_is: bool| vec![(ready.id(), ready_is), (silent.id(), false), (empty.id(), false), (live.id(), false)];
    assert_eq!(listed().await, expected(true));
    org.post("/api/v1/proposals", &ready.publication()).send().await.ok(201);
    assert_eq!(listed().await, expected(false), "a pending proposal is enough");
    let full = org.get(ready.path()).send().await.ok(200);
    assert_eq!(full["proposal_ready"], false);
    assert_eq!(blockers(&full), ["workspace_not_activated"], "a pending proposal is no blocker");
}

#[tokio::test]
async fn an_agreement_is_shown_in_full() {
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed").await;
    let full = org.get(draft.path()).send().await.ok(200);
    let participant = draft.agreement.participants[0].id.to_string();
    let stage = &full["stages"][0];
    assert_eq!(members(stage), ["actions", "gates", "id", "name", "position", "state"]);
    assert_eq!((&stage["position"], &stage["state"]), (&json!(1), &json!("upcoming")));
    let gate = &stage["gates"][0];
    let fields = [
        "cleared_at",
        "document_id",
        "due_at",
        "fields",
        "help",
        "id",
        "movement_id",
        "review",
        "signature_blocks",
        "state",
        "title",
        "type",
        "waiting_on",
        "waiting_on_participant_ids",
    ];
    assert_eq!(members(gate), fields);
    assert_eq!((&gate["type"], &gate["state"]), (&json!("participant_approval"), &json!("locked")));
    assert_eq!(gate["waiting_on_participant_ids"], json!([participant]));
    let shown = &full["participants"][0];
    assert_eq!(members(shown), ["agreement_id", "contact_id", "display_name", "id", "roles"]);
    assert_eq!((&shown["id"], &shown["display_name"]), (&json!(participant), &json!("Ada")));
    // A contact's new name shows everywhere: participants reference contacts and never copy them.
    let contact = format!("/api/v1/contacts/{}", draft.agreement.participants[0].contact_id);
    org.patch(&contact, &json!({"display_name": "Ada Okafor"})).send().await.ok(200);
    let full = org.get(draft.path()).send().await.ok(200);
    assert_eq!(full["participants"][0]["display_name"], "Ada Okafor");
}

#[tokio::test]
async fn roles_are_merged_into_one_participant() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let draft = org.empty_draft(&workspace, "Seed").await;
    let (ada, ben) = (org.contact("Ada").await, org.contact("Ben").await);
    let add = async |body: Value| org.post(participants(&draft), &body).send().await;

    let first = add(part(&ada, &["investor", "signer", "investor"])).await.ok(201);
    assert_eq!(first["roles"], json!(["signer", "investor"]), "a set, in the order of the enumeration");
    assert_eq!((&first["agreement_id"], &first["contact_id"]), (&draft["id"], &ada["id"]));
    let merged = add(part(&ada, &["observer", "funder"])).await.ok(200);
    assert_eq!(merged["id"], first["id"]);
    assert_eq!(merged["roles"], json!(["signer", "funder", "investor", "observer"]));
    let before = org.get(path(&draft)).send().await.ok(200);
    assert_eq!(add(part(&ada, &["funder"])).await.ok(200), merged, "the same again changes nothing");
    assert_eq!(org.get(path(&draft)).send().await.ok(200), before);

    let every =
        ["observer", "contributor", "trustee", "issuer", "investor", "approver", "receiver", "funder", "signer"];
    let all = add(part(&ben, &every)).await.ok(201);
    let mut in_order = every;
    in_order.reverse();
    assert_eq!(all["roles"], json!(in_order));
    let full = org.get(path(&draft)).send().await.ok(200);
    assert_eq!(full["participants"], json!([merged, all]));
    assert_eq!(blockers(&full), ["workspace_not_activated", "no_stages"]);
    let people =
        org.get(format!("/api/v1/workspaces/{}", text(&workspace["id"]))).send().await.ok(200)["people"].clone();
    let people: Vec<&Value> = people.as_array().expect("people").iter().map(|person| &person["contact_id"]).collect();
    assert_eq!(people, [&ada["id"], &ben["id"]], "who takes part joins the workspace's people");
}

#[tokio::test]
async fn bad_participants_are_refused_and_record_nothing() {
    let (org, other) = (Org::new().await, Org::new().await);
    let workspace = org.workspace("Harbor").await;
    let draft = org.empty_draft(&workspace, "Seed").await;
    let (ada, foreign) = (org.contact("Ada").await, other.contact("Theirs").await);
    let theirs = other.empty_draft(&other.workspace("Theirs").await, "Theirs").await;
    let before = org.state().await;
    let id = &ada["id"];
    for (body, errors) in [
        (json!({}), vec![("contact_id", "required"), ("roles", "required")]),
        (json!({"contact_id": id, "roles": []}), vec![("roles", "too_short")]),
        (json!({"contact_id": id, "roles": null}), vec![("roles", "required")]),
        (json!({"contact_id": id, "roles": "signer"}), vec![("roles", "invalid_type")]),
        (json!({"contact_id": id, "roles": ["signer", "king"]}), vec![("roles[1]", "invalid_value")]),
        (json!({"contact_id": id, "roles": ["Signer"]}), vec![("roles[0]", "invalid_value")]),
        (json!({"contact_id": id, "roles": [7]}), vec![("roles[0]", "invalid_type")]),
        (json!({"contact_id": "ada", "roles": ["signer"]}), vec![("contact_id", "invalid_format")]),
        (json!({"contact_id": id, "roles": ["signer"], "id": id}), vec![("id", "unknown_field")]),
    ] {
        org.post(participants(&draft), &body).key("k").send().await.refused_for(422, &errors);
    }
    for nobody in [foreign["id"].clone(), json!(unknown_id()), draft["id"].clone()] {
        let refused = org.post(participants(&draft), &json!({"contact_id": nobody, "roles": ["signer"]})).send().await;
        refused.refused_for(404, &[("contact_id", "not_found")]);
    }
    for nowhere in [text(&theirs["id"]).to_owned(), unknown_id()] {
        let to = format!("{AGREEMENTS}/{nowhere}");
        org.get(&to).send().await.refused(404);
        org.post(format!("{to}/participants"), &part(&ada, &["signer"])).send().await.refused(404);
    }
    assert_eq!(org.state().await, before);
    let added = org.post(participants(&draft), &part(&ada, &["signer"])).key("k").send().await;
    added.ok(201);
    assert!(!added.is_replay(), "refusals consume no key");
}

#[tokio::test]
async fn who_takes_part_is_settled_once_it_is_published() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let ada = org.person("Ada").await;
    let live = drafts::write(&org, drafts::active(&drafts::ready(&workspace, "Live", &ada))).await;
    let before = org.state().await;
    let to = format!("{}/participants", live.path());
    for contact in [&ada, &org.contact("Ben").await] {
        let refused = org.post(&to, &part(contact, &["approver"])).send().await;
        refused.refused_for(422, &[("path.agreement_id", "wrong_state")]);
    }
    let ben_is_new = 2;
    assert_eq!(org.state().await.len(), before.len() + ben_is_new, "only the new contact and its row");
}

#[tokio::test]
async fn an_agreement_has_at_most_a_hundred_participants() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let (ada, ben) = (org.contact("Ada").await, org.contact("Ben").await);
    let mut agreement = drafts::empty(&workspace, "Full");
    let somebody = |contact_id| Participant {
        id: ParticipantId::new(),
        contact_id,
        roles: BTreeSet::from([ParticipantRole::Observer]),
        contact_version: None,
    };
    agreement.participants.extend((0..99).map(|_| somebody(ContactId::new())));
    let full = drafts::write(&org, agreement).await;
    let to = format!("{}/participants", full.path());
    org.post(&to, &part(&ada, &["signer"])).send().await.ok(201);
    let refused = org.post(&to, &part(&ben, &["signer"])).send().await;
    refused.refused_for(422, &[("contact_id", "limit_reached")]);
    org.post(&to, &part(&ada, &["funder"])).send().await.ok(200);
}

#[tokio::test]
async fn an_agreement_that_is_too_large_takes_nobody_in() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let (ada, ben) = (org.person("Ada").await, org.contact("Ben").await);
    let mut agreement = drafts::ready(&workspace, "Large", &ada);
    let size = |value: Value| value.to_string().len();
    let gate = agreement.stages[0].gates[0].clone();
    let length = size(json!(gate)) + 1;
    let count = (300 * 1024 - 300 - size(json!(agreement))).div_ceil(length);
    agreement.stages[0].gates.extend(std::iter::repeat_n(gate, count));
    let large = drafts::write(&org, agreement).await;
    let to = format!("{}/participants", large.path());
    org.get(large.path()).send().await.ok(200);
    let crowd = join_all((0..4).map(async |n| org.contact(&format!("Contact {n}")).await)).await;
    let mut statuses = BTreeSet::new();
    for contact in crowd.iter().chain([&ben]) {
        statuses.insert(org.post(&to, &part(contact, &["signer", "observer"])).send().await.status);
    }
    assert!(statuses.contains(&422), "{statuses:?}");
    let refused = org.post(&to, &part(&org.contact("Late").await, &["signer", "funder", "observer"])).send().await;
    refused.refused_for(422, &[("path.agreement_id", "limit_reached")]);
}

#[tokio::test]
async fn roles_added_at_once_are_all_there() {
    const ROLES: [&str; 9] =
        ["signer", "funder", "receiver", "approver", "investor", "issuer", "trustee", "contributor", "observer"];
    let org = Org::new().await;
    let draft = org.empty_draft(&org.workspace("Harbor").await, "Seed").await;
    let ada = org.contact("Ada").await;
    let answers = join_all(ROLES.iter().map(|role| org.post(participants(&draft), &part(&ada, &[role])).send())).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1, "the contact is new once");
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 201), "{answer}");
    }
    let full = org.get(path(&draft)).send().await.ok(200);
    assert_eq!(full["participants"].as_array().map(Vec::len), Some(1));
    assert_eq!(full["participants"][0]["roles"], json!(ROLES));
}
