//! Proposals: creation over the API, expiry, and their events in the outbox.

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::gate::GateRule;
use shared::domain::agreement::{Agreement, AgreementKind, ParticipantRole, SafeTerms};
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::clockwork::Clockwork;
use tests::drafts::{self, Drafted};
use tests::{Org, eventually, rows};

use crate::{assert_moment, members, unknown_id};

const PROPOSALS: &str = "/api/v1/proposals";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn path(proposal: &Value) -> String {
    format!("{PROPOSALS}/{}", text(&proposal["id"]))
}

fn cancellation(of: &Drafted) -> Value {
    json!({"action": "cancel_agreement", "agreement_id": of.id()})
}

fn moment(value: &Value) -> Timestamp {
    text(value).parse().expect("a moment")
}

fn in_ms(ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(Timestamp::now().unix_ms() + ms).expect("a moment")
}

fn proposal_events(events: &[Value]) -> Vec<(&str, &str)> {
    events.iter().map(|event| (text(&event["type"]), text(&event["data"]["proposal_id"]))).collect()
}

async fn ids(org: &Org, filters: &[(&str, &str)]) -> Vec<String> {
    let request = filters.iter().fold(org.get(PROPOSALS), |request, (name, value)| request.query(name, value));
    let page = request.send().await.ok(200);
    let ids: Vec<String> =
        page["data"].as_array().expect("a page").iter().map(|row| text(&row["id"]).to_owned()).collect();
    assert_eq!(page["pagination"]["total"], ids.len(), "{filters:?}");
    ids
}

#[tokio::test]
async fn a_proposal_waits_for_a_decision() {
    const SEVENTY_TWO_HOURS_MS: i64 = 72 * 3600 * 1000;
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed round").await;
    let before = org.get(draft.path()).send().await.ok(200);
    let mut new = draft.publication();
    new["note"] = json!("  As agreed.\r\n\tSee <b>page 2</b>.  ");
    let created = org.post(PROPOSALS, &new).key("a key").send().await;
    let proposal = created.ok(201);
    let fields = [
        "action",
        "agreement_id",
        "confirm_url",
        "created_at",
        "created_by",
        "decided_at",
        "decided_by",
        "decision_note",
        "expires_at",
        "id",
        "note",
        "state",
        "summary_sentence",
    ];
    assert_eq!(members(&proposal), fields);
    let id = text(&proposal["id"]);
    let by = json!({"type": "token", "id": org.token.id.to_string(), "display_name": tests::org::TOKEN_NAME});
    for (field, value) in [
        ("action", json!("publish_agreement")),
        ("agreement_id", json!(draft.id())),
        ("note", json!("As agreed.\n\tSee <b>page 2</b>.")),
        ("state", json!("pending")),
        ("confirm_url", json!(format!("{}/app/proposals/{id}", org.base_url()))),
        ("created_by", by),
        ("decided_at", Value::Null),
        ("decided_by", Value::Null),
        ("decision_note", Value::Null),
    ] {
        assert_eq!(proposal[field], value, "{field}");
    }
    assert!(text(&proposal["summary_sentence"]).contains("Seed round"));
    assert_moment(&proposal["created_at"]);
    let lifetime = moment(&proposal["expires_at"]).unix_ms() - moment(&proposal["created_at"]).unix_ms();
    assert_eq!(lifetime, SEVENTY_TWO_HOURS_MS);
    assert_eq!(org.get(path(&proposal)).send().await.ok(200), proposal);
    assert_eq!(org.all(PROPOSALS).await, std::slice::from_ref(&proposal));

    let mut after = org.get(draft.path()).send().await.ok(200);
    assert_eq!(after["lifecycle"], "draft");
    (after["proposal_ready"], after["status"]) = (before["proposal_ready"].clone(), before["status"].clone());
    assert_eq!(after, before);

    let again = org.post(PROPOSALS, &new).key("a key").send().await;
    assert_eq!((again.status, &again.bytes, again.is_replay()), (201, &created.bytes, true));
    let events = org.events().await;
    assert_eq!(events.len(), 1, "a replay tells nobody anything");
    assert_eq!(events[0]["type"], "proposal.created");
    assert_eq!(
        events[0]["data"],
        json!({"proposal_id": id, "agreement_id": draft.id(), "action": "publish_agreement"})
    );
    assert_eq!(events[0]["created_at"], proposal["created_at"]);
    let due = org.due().await;
    let due: Vec<&String> = due.iter().filter(|key| !key.starts_with("EVENT#")).collect();
    let expiry = format!("PROPOSAL#{:015}#{}#{id}", moment(&proposal["expires_at"]).unix_ms(), org.id);
    assert_eq!(due, [&expiry]);
}

/// Each kind of blocker whose resource exists, over HTTP; the pure function's tests have the others.
#[tokio::test]
async fn each_kind_of_blocker_refuses_a_publication() {
    type Change = fn(&mut Agreement);
    let cases: [(&str, Change); 9] = [
        ("no_participants", |draft| {
            draft.participants.clear();
            draft.documents.clear();
            draft.stages.truncate(1);
        }),
        ("no_stages", |draft| draft.stages.clear()),
        ("stage_empty", |draft| draft.stages[0].gates.clear()),
        ("gate_incomplete", |draft| {
            draft.stages[1].gates[1].rule = GateRule::DocumentSigned { document_id: None };
        }),
        ("gate_participant_missing", |draft| {
            draft.stages[0].gates[0].rule = GateRule::ParticipantApproval { participant_ids: [].into() };
        }),
        ("document_missing", |draft| draft.documents[0].content = None),
        ("safe_terms_incomplete", |draft| {
            draft.kind = AgreementKind::Safe;
            draft.terms = Some(SafeTerms::default());
        }),
        ("safe_parties_missing", |draft| {
            draft.kind = AgreementKind::Safe;
            for participant in &mut draft.participants {
                participant.roles = [ParticipantRole::Signer].into();
            }
        }),
        ("expiry_in_past", |draft| draft.expires_at = Some(in_ms(-1000))),
    ];
    let org = Org::new().await;
    for (code, change) in cases {
        let draft = org.ready_draft(code, change).await;
        let body = json!({"action": "publish_agreement", "agreement_id": draft.id()});
        let refused = org.post(PROPOSALS, &body).key(code).send().await;
        assert_eq!(refused.status, 422, "{code}: {refused}");
        assert!(refused.errors().contains(&("agreement_id".to_owned(), code.to_owned())), "{code}: {refused}");
        let shown = org.get(format!("/api/v1/agreements/{}", draft.id())).send().await.ok(200);
        let listed = shown["publish_blockers"].as_array().expect("blockers").iter().any(|found| found["code"] == code);
        assert!(listed && shown["publishable"] == false && shown["proposal_ready"] == false, "{code}: {shown}");
    }
    assert_eq!(org.events().await, Vec::<Value>::new());
}

#[tokio::test]
async fn blockers_refuse_a_publication_which_records_nothing() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let ada = org.contact("Ada").await;
    let ready = drafts::ready(&workspace, "Seed", &ada);
    let mut begun = ready.clone();
    (begun.stages, begun.participants) = (Vec::new(), Vec::new());
    let mut draft = drafts::write(&org, begun).await;
    let before = org.state().await;
    let refused = org.post(PROPOSALS, &draft.publication()).key("a key").send().await;
    refused.refused_for(422, &[("agreement_id", "no_participants"), ("agreement_id", "no_stages")]);
    let messages = refused.json()["error"]["errors"].clone();
    assert!(messages.as_array().expect("errors").iter().all(|error| !text(&error["message"]).is_empty()));
    assert_eq!(org.state().await, before, "nothing but its audit row");
    assert_eq!(ids(&org, &[]).await, Vec::<String>::new());
    let audit = org.audit().await;
    let row = audit.iter().find(|row| row["sk"] == refused.request_id()).expect("an audit row");
    assert_eq!(row["code"], "invalid_request");
    assert_eq!(rows::objects(row), [draft.id()]);

    draft
        .change(&org, |draft| {
            (draft.participants, draft.stages) = (ready.participants.clone(), ready.stages.clone());
            let empty = |name| shared::domain::agreement::Stage {
                id: shared::domain::ids::StageId::new(),
                name: shared::domain::agreement::Label::parse(name).expect("a label"),
                gates: Vec::new(),
                ..ready.stages[0].clone()
            };
            draft.stages.extend([empty("Second"), empty("Third")]);
        })
        .await;
    let refused = org.post(PROPOSALS, &draft.publication()).key("a key").send().await;
    let stages = [("agreement_id", "stage_empty"); 2];
    refused.refused_for(422, &[&[("agreement_id", "participant_email_missing")], &stages[..]].concat());
    draft.change(&org, |draft| draft.stages.truncate(1)).await;
    let refused = org.post(PROPOSALS, &draft.publication()).key("a key").send().await;
    refused.refused_for(422, &[("agreement_id", "participant_email_missing")]);
    assert_eq!(org.events().await, Vec::<Value>::new());

    let email = json!({"email": "ada@example.org"});
    org.patch(format!("/api/v1/contacts/{}", text(&ada["id"])), &email).send().await.ok(200);
    let made = org.post(PROPOSALS, &draft.publication()).key("a key").send().await;
    made.ok(201);
    assert!(!made.is_replay(), "the key is free after a refusal");
    assert_eq!(org.post(PROPOSALS, &draft.publication()).key("a key").send().await.bytes, made.bytes);
    let other = org.post(PROPOSALS, &cancellation(&draft)).key("a key").send().await;
    other.refused(409);
}

#[tokio::test]
async fn bad_proposals_are_refused() {
    let (org, other) = (Org::new().await, Org::new().await);
    let draft = drafts::written(&org, "Seed").await;
    let theirs = drafts::written(&other, "Theirs").await;
    let before = (org.state().await, other.state().await);
    let id = draft.id();
    for (body, errors) in [
        (json!({}), vec![("action", "required"), ("agreement_id", "required")]),
        (json!({"action": "publish", "agreement_id": id}), vec![("action", "invalid_value")]),
        (json!({"action": "publish_agreement", "agreement_id": "x"}), vec![("agreement_id", "invalid_format")]),
        (json!({"action": 1, "agreement_id": id}), vec![("action", "invalid_type")]),
        (json!({"action": "publish_agreement", "agreement_id": id, "note": " "}), vec![("note", "too_short")]),
        (
            json!({"action": "publish_agreement", "agreement_id": id, "note": "é".repeat(2001)}),
            vec![("note", "too_long")],
        ),
        (json!({"action": "publish_agreement", "agreement_id": id, "note": "a\u{7}"}), vec![("note", "invalid_value")]),
        (
            json!({"action": "publish_agreement", "agreement_id": id, "note": "I do \u{202e}ton\u{202c} agree"}),
            vec![("note", "invalid_value")],
        ),
        (
            json!({"action": "publish_agreement", "agreement_id": id, "state": "confirmed"}),
            vec![("state", "unknown_field")],
        ),
    ] {
        org.post(PROPOSALS, &body).send().await.refused_for(422, &errors);
    }
    for nowhere in [theirs.id(), unknown_id()] {
        for action in ["publish_agreement", "cancel_agreement"] {
            let refused = org.post(PROPOSALS, &json!({"action": action, "agreement_id": nowhere})).send().await;
            refused.refused_for(404, &[("agreement_id", "not_found")]);
        }
    }
    let foreign = other.post(PROPOSALS, &theirs.publication()).send().await.ok(201);
    org.get(path(&foreign)).send().await.refused(404);
    assert_eq!(ids(&org, &[("agreement_id", &theirs.id())]).await, Vec::<String>::new());
    assert_eq!(org.state().await, before.0);
    let longest = json!({"action": "publish_agreement", "agreement_id": id, "note": "é".repeat(2000)});
    org.post(PROPOSALS, &longest).send().await.ok(201);
}

#[tokio::test]
async fn each_action_needs_its_state() {
    let org = Org::new().await;
    let workspace = org.workspace("Harbor").await;
    let ada = org.person("Ada").await;
    let live = drafts::write(&org, drafts::active(&drafts::ready(&workspace, "Live", &ada))).await;
    let cancelled = shared::domain::agreement::Life::Cancelled { published_at: None, cancelled_at: Timestamp::now() };
    let over = drafts::write(&org, drafts::with_life(&drafts::ready(&workspace, "Over", &ada), cancelled)).await;
    for refused in [live.publication(), over.publication(), cancellation(&over)] {
        org.post(PROPOSALS, &refused).send().await.refused_for(422, &[("agreement_id", "wrong_state")]);
    }
    let proposal = org.post(PROPOSALS, &cancellation(&live)).send().await.ok(201);
    assert_eq!(proposal["action"], "cancel_agreement");
    let empty = drafts::write(&org, drafts::empty(&workspace, "Empty")).await;
    org.post(PROPOSALS, &cancellation(&empty)).send().await.ok(201);
    let cancel = |event: &Value| event["data"]["action"] == "cancel_agreement";
    assert!(org.events().await.iter().all(cancel));
}

#[tokio::test]
async fn one_proposal_of_each_action_waits_at_a_time() {
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed").await;
    let publication = org.post(PROPOSALS, &draft.publication()).send().await.ok(201);
    let before = org.state().await;
    let refused = org.post(PROPOSALS, &draft.publication()).key("k").send().await;
    refused.refused_for(422, &[("agreement_id", "proposal_pending")]);
    assert_eq!(org.state().await, before);
    let cancellation = org.post(PROPOSALS, &cancellation(&draft)).key("k").send().await.ok(201);
    let both = [&publication, &cancellation].map(|proposal| text(&proposal["id"]).to_owned());
    assert_eq!(ids(&org, &[("state", "pending")]).await, both);
}

#[tokio::test]
async fn of_twenty_proposals_made_at_once_one_is_made() {
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed").await;
    let answers = join_all((0..20).map(|_| org.post(PROPOSALS, &draft.publication()).send())).await;
    let made: Vec<&tests::Answer> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(made.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.refused_for(422, &[("agreement_id", "proposal_pending")]);
    }
    assert_eq!(org.all(PROPOSALS).await, [made[0].json()]);
    assert_eq!(proposal_events(&org.events().await), [("proposal.created", text(&made[0].json()["id"]))]);
}

#[tokio::test]
async fn of_ten_repeats_at_once_one_takes_effect_and_all_are_answered() {
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed").await;
    let answers = join_all((0..10).map(|_| org.post(PROPOSALS, &draft.publication()).key("one").send())).await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.bytes), (201, &answers[0].bytes), "{answer}");
    }
    assert_eq!(org.events().await.len(), 1);
}

#[tokio::test]
async fn lists_are_filtered_by_the_state_of_the_moment() {
    let org = Org::new().await;
    let (seed, bridge) = (drafts::written(&org, "Seed").await, drafts::written(&org, "Bridge").await);
    let pending = org.post(PROPOSALS, &seed.publication()).send().await.ok(201);
    let over = drafts::propose_until(&org, &bridge.agreement, ProposalAction::PublishAgreement, in_ms(-1)).await;
    let (pending, over) = (text(&pending["id"]).to_owned(), over.id().to_string());
    for (filters, expected) in [
        (vec![], vec![&pending, &over]),
        (vec![("state", "")], vec![&pending, &over]),
        (vec![("state", "pending")], vec![&pending]),
        (vec![("state", "expired")], vec![&over]),
        (vec![("state", "confirmed")], vec![]),
        (vec![("state", "declined")], vec![]),
        (vec![("agreement_id", seed.id().as_str())], vec![&pending]),
        (vec![("agreement_id", bridge.id().as_str()), ("state", "pending")], vec![]),
        (vec![("agreement_id", bridge.id().as_str()), ("state", "expired")], vec![&over]),
        (vec![("agreement_id", unknown_id().as_str())], vec![]),
    ] {
        assert_eq!(ids(&org, &filters).await.iter().collect::<Vec<_>>(), expected, "{filters:?}");
    }
    for (name, value, code) in [
        ("state", "done", "invalid_value"),
        ("state", "Pending", "invalid_value"),
        ("agreement_id", "", "invalid_format"),
        ("action", "publish_agreement", "unknown_parameter"),
        ("search", "seed", "unknown_parameter"),
    ] {
        org.get(PROPOSALS).query(name, value).send().await.refused_for(422, &[(name, code)]);
    }
    assert_eq!(org.events().await.len(), 1);
}

#[tokio::test]
async fn expiry_is_decided_on_read_to_the_millisecond() {
    // On a busy machine, a short lifetime may end before the first reads.
    let mut was_seen_before = false;
    for lifetime_ms in [1_500, 6_000, 24_000] {
        was_seen_before = was_seen_before || reads_before_an_expiry(lifetime_ms).await > 0;
    }
    assert!(was_seen_before, "it was seen before its end, too");
}

async fn reads_before_an_expiry(lifetime_ms: i64) -> u32 {
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed").await;
    let expires_at = in_ms(lifetime_ms);
    let proposal = drafts::propose_until(&org, &draft.agreement, ProposalAction::PublishAgreement, expires_at).await;
    let own = format!("{PROPOSALS}/{}", proposal.id());
    let (mut seen_before, mut seen_after) = (0, 0);
    while seen_after < 3 {
        let asked = Timestamp::now();
        let state = org.get(&own).send().await.ok(200)["state"].clone();
        let listed = ids(&org, &[("state", "expired")]).await.len();
        let ready = org.get(draft.path()).send().await.ok(200)["proposal_ready"].clone();
        let ready_in_list = org.all("/api/v1/agreements").await[0]["proposal_ready"].clone();
        let answered = Timestamp::now();
        let found = (state, listed, ready, ready_in_list);
        if answered < expires_at {
            assert_eq!(found, (json!("pending"), 0, json!(false), json!(false)));
            seen_before += 1;
        } else if asked >= expires_at {
            assert_eq!(found, (json!("expired"), 1, json!(true), json!(true)));
            seen_after += 1;
        }
    }
    let expired = org.get(&own).send().await.ok(200);
    assert_eq!((&expired["decided_at"], &expired["decided_by"]), (&Value::Null, &Value::Null));
    seen_before
}

#[tokio::test]
async fn an_expired_proposal_makes_way_and_is_settled_with_it() {
    let org = Org::new().await;
    let draft = drafts::written(&org, "Seed").await;
    let over = drafts::propose_until(&org, &draft.agreement, ProposalAction::PublishAgreement, in_ms(-1)).await;
    let answers = join_all((0..8).map(|_| org.post(PROPOSALS, &draft.publication()).send())).await;
    let made: Vec<&tests::Answer> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(made.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.refused_for(422, &[("agreement_id", "proposal_pending")]);
    }
    let (made, over) = (made[0].json(), over.id().to_string());
    let events = org.events().await;
    assert_eq!(
        proposal_events(&events),
        [("proposal.expired", over.as_str()), ("proposal.created", text(&made["id"]))]
    );
    let data = json!({"proposal_id": over, "agreement_id": draft.id(), "action": "publish_agreement"});
    assert_eq!(events[0]["data"], data);
    assert_eq!(ids(&org, &[("state", "pending")]).await, [text(&made["id"])]);
    assert_eq!(ids(&org, &[("state", "expired")]).await, [over.as_str()]);
    Clockwork::of(&org).tick().await;
    assert_eq!(org.events().await, events);
    org.post(PROPOSALS, &draft.publication()).send().await.refused_for(422, &[("agreement_id", "proposal_pending")]);
}

#[tokio::test]
async fn the_clock_settles_what_nobody_reads() {
    let org = Org::new().await;
    let fast = org.stack().scaled(72 * 3600 * 2);
    let draft = drafts::written(&org, "Seed").await;
    let proposal = org.at(&fast).post(PROPOSALS, &draft.publication()).send().await.ok(201);
    let id = text(&proposal["id"]).to_owned();
    let lifetime = moment(&proposal["expires_at"]).unix_ms() - moment(&proposal["created_at"]).unix_ms();
    assert_eq!(lifetime, 500, "the true scaled moment");
    let events =
        eventually("the clock settles it", async || Some(org.events().await).filter(|events| 2 <= events.len())).await;
    assert_eq!(proposal_events(&events), [("proposal.created", id.as_str()), ("proposal.expired", id.as_str())]);
    assert!(moment(&events[1]["created_at"]) >= moment(&proposal["expires_at"]), "never early");
    let due = org.due().await;
    assert!(due.iter().all(|key| key.starts_with("EVENT#")), "the proposal is off: {due:?}");
    let state = org.state().await;
    assert!(!state.iter().any(|row| text(&row["pk"]).contains("#PENDING#")), "the claim is gone");
    let audit = org.audit().await;
    let rows: Vec<&Value> = audit.iter().filter(|row| row["operation"] == "expire_proposal").collect();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["status"], &rows[0]["code"]), (&json!("200"), &json!("ok")));
    assert!(["token_id", "member_id", "participant_id"].iter().all(|who| rows[0].get(*who).is_none()), "{}", rows[0]);
    assert_eq!(rows::objects(rows[0]), [id.clone(), draft.id()]);
    assert_eq!(org.get(path(&proposal)).send().await.ok(200)["state"], "expired");
    org.post(PROPOSALS, &draft.publication()).send().await.ok(201);
}

#[tokio::test]
async fn clocks_that_tick_at_once_settle_once() {
    let org = Org::new().await;
    let mut expected = Vec::new();
    for n in 0..12 {
        let draft = drafts::written(&org, &format!("Deal {n}")).await;
        for action in [ProposalAction::PublishAgreement, ProposalAction::CancelAgreement] {
            expected.push(drafts::propose_due(&org, &draft.agreement, action, in_ms(-1 - n)).await.id().to_string());
        }
    }
    let clock = Clockwork::of(&org);
    let ticks = join_all((0..4).map(|_| clock.tick())).await;
    assert_eq!(ticks.iter().map(|tick| tick.failed).sum::<u32>(), 0, "{ticks:?}");
    let events = org.events().await;
    assert!(events.iter().all(|event| event["type"] == "proposal.expired"));
    let mut settled: Vec<&str> = events.iter().map(|event| text(&event["data"]["proposal_id"])).collect();
    settled.sort_unstable();
    expected.sort();
    assert_eq!(settled, expected, "each once");
    assert!(org.due().await.iter().all(|key| key.starts_with("EVENT#")));
    let rows = org.audit().await.iter().filter(|row| row["operation"] == "expire_proposal").count();
    assert_eq!(rows, expected.len());
}

#[tokio::test]
async fn a_clock_and_a_new_proposal_settle_once() {
    let org = Org::new().await;
    let clock = Clockwork::of(&org);
    for round in 0..6 {
        let draft = drafts::written(&org, &format!("Deal {round}")).await;
        let over = drafts::propose_due(&org, &draft.agreement, ProposalAction::PublishAgreement, in_ms(-1)).await;
        let (made, tick) = tokio::join!(org.post(PROPOSALS, &draft.publication()).send(), clock.tick());
        assert_eq!(tick.failed, 0);
        let made = made.id(201);
        let events = org.events().await;
        let told: Vec<&Value> = events.iter().filter(|event| event["data"]["agreement_id"] == draft.id()).collect();
        let expired = told.iter().filter(|event| event["type"] == "proposal.expired").count();
        assert_eq!((told.len(), expired), (2, 1), "{told:?}");
        assert_eq!(ids(&org, &[("agreement_id", &draft.id()), ("state", "pending")]).await, [made]);
        assert_eq!(ids(&org, &[("agreement_id", &draft.id()), ("state", "expired")]).await, [over.id().to_string()]);
    }
}

#[tokio::test]
async fn the_clock_takes_away_what_was_left_behind_and_goes_on() {
    use aws_sdk_dynamodb::types::AttributeValue;
    let org = Org::new().await;
    let table = org.stack().table();
    let draft = drafts::written(&org, "Seed").await;
    let decided = org.post(PROPOSALS, &draft.publication()).send().await.id(201);
    let over = drafts::propose_due(&org, &draft.agreement, ProposalAction::CancelAgreement, in_ms(-1)).await;
    // Entries of nothing, not yet due, and in an unknown format, before due ones.
    let mut left_behind: Vec<(String, String)> = Vec::new();
    for shard in 0..8 {
        for id in [unknown_id(), decided.clone()] {
            left_behind.push((format!("DUE#{shard}"), format!("PROPOSAL#000000000000001#{}#{id}", org.id)));
        }
        left_behind.push((format!("DUE#{shard}"), format!("PROPOSAL#000000000000000#{}", org.id)));
    }
    for (pk, sk) in &left_behind {
        let put = table.client().put_item().table_name(&table.name);
        let put = put.item("pk", AttributeValue::S(pk.clone())).item("sk", AttributeValue::S(sk.clone()));
        put.send().await.expect("the table takes it");
    }
    Clockwork::of(&org).tick().await;
    assert_eq!(ids(&org, &[("state", "expired")]).await, [over.id().to_string()]);
    assert_eq!(
        ids(&org, &[("state", "pending")]).await,
        std::slice::from_ref(&decided),
        "what is not due is left alone"
    );
    let due = org.due().await;
    let proposals: Vec<&String> = due.iter().filter(|key| key.starts_with("PROPOSAL#")).collect();
    assert_eq!(proposals.len(), 1, "{due:?}");
    assert!(proposals[0].ends_with(&decided), "its own entry is still there: {due:?}");
}
