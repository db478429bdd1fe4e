//! Papering: an ordinary draft with its items, all or nothing; and the items' fate with their agreement.

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::SignatureBlock;
use shared::domain::agreement::gate::GateRule;
use shared::domain::funding::CloseReason;
use shared::domain::member::funding::NotDone;
use shared::domain::movement::safe_text::SafeNote;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::service::funding_items::FundingAct;
use tests::clockwork::Clockwork;
use tests::drafts::{Coming, Drafted, make_due};
use tests::funding::{Estate, ITEMS, PAPER, TRUSTS, funding_path, item_path, proof};
use tests::{Needs, Org, drafts, eventually};

use crate::unknown_id;

fn agreement_path(agreement: &Value) -> String {
    format!("/api/v1/agreements/{}", agreement["id"].as_str().expect("an id"))
}

fn ids(items: &[&Value]) -> Value {
    json!({"item_ids": items.iter().map(|item| &item["id"]).collect::<Vec<_>>()})
}

async fn decide(org: &Org, member: &tests::app::Person, agreement: &Value, action: ProposalAction) {
    let id = agreement["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    org.decide_at_once(member, id, action).await;
}

async fn summary(org: &Org, workspace: &Value) -> Value {
    org.get(funding_path(workspace)).send().await.ok(200)["summary"].clone()
}

#[tokio::test]
async fn items_are_papered_as_an_ordinary_draft() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    let (first, second) = (org.ready_item(&estate, "A painting").await, org.ready_item(&estate, "חזרה לבית").await);
    let mut body = ids(&[&first, &second]);
    body["name"] = json!("Art to the trust");
    let created = org.post(PAPER, &body).send().await;
    let draft = created.ok(201);
    assert_eq!(created.header("location"), agreement_path(&draft));
    assert_eq!(org.get(agreement_path(&draft)).send().await.ok(200), draft);
    assert_eq!((&draft["lifecycle"], &draft["name"]), (&json!("draft"), &json!("Art to the trust")));
    assert_eq!(draft["funding_item_ids"], json!([first["id"], second["id"]]));
    assert_eq!(draft["workspace_id"], estate.workspace["id"]);
    let names: Vec<&Value> = draft["documents"].as_array().expect("documents").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["Assignment: A painting", "Assignment: חזרה לבית"]);
    assert!(draft["documents"][0]["size_bytes"].as_u64() > Some(1000), "{}", draft["documents"]);
    let roles: Vec<&Value> = draft["participants"].as_array().expect("all").iter().map(|one| &one["roles"]).collect();
    assert_eq!(roles, [&json!(["signer", "trustee"]), &json!(["signer", "contributor", "observer"])]);
    let stages: Vec<Value> = draft["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .map(|stage| json!([stage["name"], stage["gates"][0]["type"], stage["gates"].as_array().map(Vec::len)]))
        .collect();
    assert_eq!(stages, [json!(["Signing", "signature_blocks", 1]), json!(["Confirmation", "information_request", 1])]);
    let blockers: Vec<&Value> =
        draft["publish_blockers"].as_array().expect("blockers").iter().map(|blocker| &blocker["code"]).collect();
    assert_eq!((blockers, &draft["proposal_ready"]), (vec![&json!("workspace_not_activated")], &json!(true)));
    for item in [&first, &second] {
        let item = org.item(item).await;
        assert_eq!((&item["phase"], &item["agreement_id"]), (&json!("papered"), &draft["id"]));
        assert_eq!(item["missing_facts"], json!([]));
    }
    let people = org.get(format!("/api/v1/workspaces/{}", estate.workspace["id"].as_str().expect("an id")));
    assert_eq!(people.send().await.ok(200)["people_count"], 2);
    let papered: Vec<Value> =
        org.events().await.into_iter().filter(|event| event["type"] == "funding_item.papered").collect();
    assert_eq!(papered.len(), 2);
    assert_eq!(
        papered[0]["data"],
        json!({"funding_item_id": first["id"], "workspace_id": estate.workspace["id"], "agreement_id": draft["id"]})
    );
    let wrong_state = [("path.item_id", "wrong_state")];
    org.patch(item_path(&first), &json!({"label": "x"})).send().await.refused_for(422, &wrong_state);
    org.post(PAPER, &ids(&[&first])).send().await.refused_for(422, &[("item_ids[0]", "wrong_state")]);
}

#[tokio::test]
async fn what_cannot_be_papered_is_named_item_by_item_and_nothing_changes() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (estate, pine, foreign) = (org.estate("Harbor").await, org.estate("Pine").await, other.estate("Theirs").await);
    let ready = org.ready_item(&estate, "A painting").await;
    let theirs = other.ready_item(&foreign, "Theirs").await;
    let elsewhere = org.ready_item(&pine, "Elsewhere").await;
    let unsorted = org.funding_item(&estate.workspace, "Checking").await;
    let held = org.ready_item(&estate, "Held").await;
    org.post(format!("{}/park", item_path(&held)), &json!({"waiting_on": "counsel"})).send().await.ok(200);
    let left_out = org.funding_item(&estate.workspace, "A boat").await;
    let change = json!({"verb": "leave_out", "detail": {"reason": "Sold soon"}, "trust_id": estate.trust["id"]});
    org.patch(item_path(&left_out), &change).send().await.ok(200);
    let papered = org.ready_item(&estate, "Papered").await;
    org.paper(&[&papered]).await;
    let trust = json!({"workspace_id": estate.workspace["id"], "formal_name": "Another trust"});
    let second = org.post(TRUSTS, &trust).send().await.ok(201);
    let of_second = org.ready_item(&estate, "Of another trust").await;
    org.patch(item_path(&of_second), &json!({"trust_id": second["id"]})).send().await.ok(200);
    let before = org.state().await;

    let refused = async |items: &[&Value], status: u16, errors: &[(&str, &str)]| {
        org.post(PAPER, &ids(items)).send().await.refused_for(status, errors);
    };
    refused(&[&ready, &theirs], 404, &[("item_ids[1]", "not_found")]).await;
    refused(&[&ready, &elsewhere], 422, &[("item_ids[1]", "wrong_workspace")]).await;
    refused(&[&ready, &of_second], 422, &[("item_ids[1]", "invalid_value")]).await;
    refused(&[&ready, &ready], 422, &[("item_ids[1]", "invalid_value")]).await;
    let all = [&ready, &unsorted, &held, &left_out, &papered];
    let errors = [
        ("item_ids[1]", "missing_facts"),
        ("item_ids[2]", "on_hold"),
        ("item_ids[3]", "verb_not_allowed"),
        ("item_ids[4]", "wrong_state"),
    ];
    refused(&all, 422, &errors).await;
    let path = PAPER;
    let many: Vec<String> = (0..26).map(|_| unknown_id()).collect();
    org.post(path, &json!({"item_ids": many})).send().await.refused_for(422, &[("item_ids", "too_long")]);
    org.post(path, &json!({"item_ids": []})).send().await.refused_for(422, &[("item_ids", "too_short")]);
    org.post(path, &json!({"item_ids": ["x"]})).send().await.refused_for(422, &[("item_ids[0]", "invalid_format")]);
    org.post(path, &json!({})).send().await.refused_for(422, &[("item_ids", "required")]);
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn twenty_five_items_are_papered_published_and_given_free_together() {
    let org = Org::with(Needs::OWN.time_scale(60)).await;
    let (estate, maren) = (org.estate("Harbor").await, org.member("Maren").await);
    let mut items = Vec::new();
    for n in 0..25 {
        items.push(org.ready_item(&estate, &format!("Asset {n}")).await);
    }
    let named: Vec<&Value> = items.iter().collect();
    let draft = org.paper(&named).await;
    assert_eq!(summary(&org, &estate.workspace).await["papered"], 25);
    decide(&org, &maren, &draft, ProposalAction::PublishAgreement).await;
    assert_eq!(summary(&org, &estate.workspace).await["in_progress"], 25, "in the transaction of the publication");
    file_proof_of_all(&org, &maren, &items).await;
    decide(&org, &maren, &draft, ProposalAction::CancelAgreement).await;
    assert_eq!(summary(&org, &estate.workspace).await["ready"], 25, "in the transaction of the cancellation");
    let events = org.events().await;
    assert_eq!(events.iter().filter(|event| event["type"] == "funding_item.reopened").count(), 25);
    nothing_is_left_to_review(&org, &maren).await;
    let draft = org.paper(&named).await;
    let id = draft["id"].as_str().expect("an id");
    let later = Timestamp::now().plus_seconds(3600);
    Drafted::of(&org, id).await.change(&org, |draft| draft.expires_at = Some(later)).await;
    decide(&org, &maren, &draft, ProposalAction::PublishAgreement).await;
    file_proof_of_all(&org, &maren, &items).await;
    make_due(&org, id, Coming::Expiry).await;
    Clockwork::of(&org).tick().await;
    assert_eq!(summary(&org, &estate.workspace).await["ready"], 25, "in the transaction of the expiry");
    nothing_is_left_to_review(&org, &maren).await;
}

async fn file_proof_of_all(org: &Org, maren: &tests::app::Person, items: &[Value]) {
    for item in items {
        assert_eq!(org.act_on_item(maren, item, FundingAct::FileProof(proof())).await, Ok(()));
    }
}

/// From the agreement's end on, Home has no proof to review, and its rows are removed soon.
async fn nothing_is_left_to_review(org: &Org, maren: &tests::app::Person) {
    let home = tests::app::Browser::of(org, maren).await.get("/app").await;
    assert!(home.status == 200 && !home.says("Proof of transfers to review"), "{}", home.body);
    eventually("no row of proof to review is left", async || {
        let rows = org.state().await;
        let is_left = rows.iter().any(|row| tests::rows::key(row).0.contains("FUNDINGTOREVIEW"))
            || org.due().await.iter().any(|due| due.contains("ENDING"));
        (!is_left).then_some(())
    })
    .await;
}

#[tokio::test]
async fn items_are_open_again_in_the_moment_in_which_their_agreement_ends() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let (estate, maren) = (org.estate("Harbor").await, org.member("Maren").await);
    let total = async |phase: &str| {
        let page = org.get(ITEMS).query("phase", phase).send().await.ok(200);
        page["pagination"]["total"].as_u64().expect("a total")
    };
    let (first, second) = (org.ready_item(&estate, "One").await, org.ready_item(&estate, "Two").await);
    let park = json!({"waiting_on": "institution"});
    for (round, ending) in ["discarded", "cancelled", "expired"].into_iter().enumerate() {
        let draft = org.paper(&[&first, &second]).await;
        let id = draft["id"].as_str().expect("an id");
        if ending == "expired" {
            let later = Timestamp::now().plus_seconds(3600);
            Drafted::of(&org, id).await.change(&org, |draft| draft.expires_at = Some(later)).await;
        }
        if ending != "discarded" {
            decide(&org, &maren, &draft, ProposalAction::PublishAgreement).await;
            org.act_on_item(&maren, &first, FundingAct::RecordClaim(None)).await.expect("it is in progress");
            org.post(format!("{}/park", item_path(&second)), &park).send().await.ok(200);
        }
        match ending {
            "expired" => {
                make_due(&org, id, Coming::Expiry).await;
                Clockwork::of(&org).tick().await;
            }
            _ => decide(&org, &maren, &draft, ProposalAction::CancelAgreement).await,
        }
        let lifecycle = org.get(agreement_path(&draft)).send().await.ok(200)["lifecycle"].clone();
        assert_eq!(lifecycle, if ending == "expired" { "expired" } else { "cancelled" });
        let counted = summary(&org, &estate.workspace).await;
        assert_eq!((&counted["ready"], &counted["claimed"], &counted["done"]), (&json!(2), &json!(0), &json!(0)));
        assert_eq!(counted["parked"], u32::from(ending != "discarded"), "a hold stays");
        assert_eq!((total("ready").await, total("papered").await, total("in_progress").await), (2, 0, 0), "{ending}");
        let listed = org.get(ITEMS).send().await.ok(200);
        for (item, listed) in [&first, &second].into_iter().zip(listed["data"].as_array().expect("items")) {
            let alone = org.item(item).await;
            assert_eq!((&alone["phase"], &alone["agreement_id"]), (&json!("ready"), &Value::Null), "{ending}");
            assert_eq!((&alone, &alone["claimed_at"]), (listed, &Value::Null));
        }
        org.post(format!("{}/park", item_path(&second)), &json!({"waiting_on": null})).send().await.ok(200);
        let reopened = org.events().await.into_iter().filter(|event| event["type"] == "funding_item.reopened").count();
        assert_eq!(reopened, 2 * (round + 1), "each once: {ending}");
        Clockwork::of(&org).tick().await;
        assert!(!org.due().await.iter().any(|due| due.contains("ENDING")), "nothing is left to do");
    }
}

#[tokio::test]
async fn a_claim_moves_no_number_and_proof_does() {
    // The clock relays what the test writes past the service: sixty times sooner.
    let org = Org::with(Needs::OWN.time_scale(60)).await;
    let subscriber = org.subscriber_of(&["funding_item.closed", "funding_item.reopened"]).await;
    let (estate, maren) = (org.estate("Harbor").await, org.member("Maren").await);
    let item = org.ready_item(&estate, "A painting").await;
    let early = org.act_on_item(&maren, &item, FundingAct::RecordClaim(None)).await;
    assert_eq!(early, Err(NotDone::NotInProgress));
    let draft = org.paper(&[&item]).await;
    let closed = org.act_on_item(&maren, &item, FundingAct::CloseUnfunded(CloseReason::Sold, None)).await;
    assert!(matches!(closed, Err(NotDone::Papered(_))));
    decide(&org, &maren, &draft, ProposalAction::PublishAgreement).await;
    assert_eq!(org.act_on_item(&maren, &item, FundingAct::RecordClaim(None)).await, Ok(()));
    let again = org.act_on_item(&maren, &item, FundingAct::RecordClaim(None)).await;
    assert_eq!(again, Err(NotDone::ClaimedAlready));
    let claimed = org.item(&item).await;
    assert_eq!((&claimed["phase"], &claimed["status"]), (&json!("claimed"), &json!("open")));
    assert!(claimed["claimed_at"].is_string());
    assert_eq!(summary(&org, &estate.workspace).await["done"], 0, "a claim never moves it");
    let filed = proof();
    assert_eq!(org.act_on_item(&maren, &item, FundingAct::FileProof(filed.clone())).await, Ok(()));
    let again = org.act_on_item(&maren, &item, FundingAct::FileProof(filed.clone())).await;
    assert_eq!(again, Err(NotDone::FiledAlready));
    let rejected = proof();
    assert_eq!(org.act_on_item(&maren, &item, FundingAct::FileProof(rejected.clone())).await, Ok(()));
    let reason = SafeNote::parse("It is of another account").expect("a reason");
    assert_eq!(org.act_on_item(&maren, &item, FundingAct::RejectProof(rejected.id, reason)).await, Ok(()));
    let decided = org.act_on_item(&maren, &item, FundingAct::AcceptProof(rejected.id)).await;
    assert_eq!(decided, Err(NotDone::DecidedAlready));
    assert_eq!(summary(&org, &estate.workspace).await["done"], 0);
    assert_eq!(org.act_on_item(&maren, &item, FundingAct::AcceptProof(filed.id)).await, Ok(()));
    let funded = org.item(&item).await;
    assert_eq!((&funded["phase"], &funded["status"]), (&json!("done"), &json!("funded")));
    let counted = summary(&org, &estate.workspace).await;
    assert_eq!((&counted["done"], &counted["funded"], &counted["claimed"]), (&json!(1), &json!(1), &json!(0)));
    let live = org.act_on_item(&maren, &item, FundingAct::Reopen).await;
    assert!(matches!(live, Err(NotDone::AgreementLive(_))), "its agreement is active");
    org.post(format!("{}/park", item_path(&item)), &json!({"waiting_on": "counsel"}))
        .send()
        .await
        .refused_for(422, &[("path.item_id", "wrong_state")]);

    let other = org.funding_item(&estate.workspace, "A boat").await;
    let close = FundingAct::CloseUnfunded(CloseReason::Sold, None);
    assert_eq!(org.act_on_item(&maren, &other, close).await, Ok(()));
    assert_eq!(org.item(&other).await["close_reason"], "sold");
    assert_eq!(summary(&org, &estate.workspace).await["done"], 2);
    assert_eq!(org.act_on_item(&maren, &other, FundingAct::Reopen).await, Ok(()));
    assert_eq!(org.item(&other).await["phase"], "unsorted");
    let arrivals = subscriber.receiver.wait_for(3).await;
    let mut told: Vec<Value> =
        arrivals.iter().map(|arrival| json!([arrival.event_type(), arrival.json()["data"]])).collect();
    told.sort_by_key(ToString::to_string);
    let data = |item: &Value| json!({"funding_item_id": item["id"], "workspace_id": estate.workspace["id"]});
    let closed = |item: &Value, status: &str| {
        let mut data = data(item);
        data["status"] = json!(status);
        json!(["funding_item.closed", data])
    };
    let mut expected =
        [closed(&item, "funded"), closed(&other, "unfunded"), json!(["funding_item.reopened", data(&other)])];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(told, expected);
}

#[tokio::test]
async fn what_changes_after_papering_is_in_the_way_of_publication() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    let item = org.ready_item(&estate, "A painting").await;
    let draft = org.paper(&[&item]).await;
    let codes = async || -> Vec<Value> {
        let shown = org.get(agreement_path(&draft)).send().await.ok(200);
        let listed = org.get("/api/v1/agreements").send().await.ok(200);
        assert_eq!(listed["data"][0]["proposal_ready"], shown["proposal_ready"]);
        let all = shown["publish_blockers"].as_array().expect("blockers").clone();
        all.into_iter()
            .map(|blocker| blocker["code"].clone())
            .filter(|code| code != "workspace_not_activated")
            .collect()
    };
    assert_eq!(codes().await, [] as [Value; 0]);
    let park = format!("{}/park", item_path(&item));
    org.post(&park, &json!({"waiting_on": "counsel"})).send().await.ok(200);
    assert_eq!(codes().await, ["funding_item_changed"]);
    let publish = json!({"action": "publish_agreement", "agreement_id": draft["id"]});
    let refused = org.post("/api/v1/proposals", &publish).send().await;
    refused.refused_for(422, &[("agreement_id", "funding_item_changed")]);
    org.post(&park, &json!({"waiting_on": null})).send().await.ok(200);
    assert_eq!(codes().await, [] as [Value; 0]);
    for (contact, name) in [(&estate.settlor, "Sol"), (&estate.trustee, "Tova")] {
        let path = format!("/api/v1/contacts/{}", contact["id"].as_str().expect("an id"));
        org.patch(&path, &json!({"display_name": "Somebody Else"})).send().await.ok(200);
        assert_eq!(codes().await, ["funding_item_changed"], "{name}");
        org.patch(&path, &json!({"display_name": name})).send().await.ok(200);
        assert_eq!(codes().await, [] as [Value; 0], "{name}");
    }
    let mut edited = Drafted::of(&org, draft["id"].as_str().expect("an id")).await;
    let owner = estate.settlor["id"].as_str().expect("an id");
    edited
        .change(&org, |draft| {
            let gone = draft.participants.iter().find(|one| one.contact_id.to_string() == owner).expect("the owner").id;
            let kept = |block: &SignatureBlock| block.participant_id != gone;
            let blocks = draft.documents[0].blocks.iter().filter(|block| kept(block)).map(|block| block.id).collect();
            draft.stages[0].gates[0].rule = GateRule::SignatureBlocks { block_ids: blocks };
            draft.documents[0].blocks.retain(kept);
            draft.participants.retain(|one| one.id != gone);
        })
        .await;
    assert_eq!(codes().await, [] as [Value; 0]);
    let path = format!("/api/v1/contacts/{owner}");
    org.patch(&path, &json!({"display_name": "Somebody Else"})).send().await.ok(200);
    assert_eq!(codes().await, ["funding_item_changed"]);
    org.patch(&path, &json!({"display_name": "Sol"})).send().await.ok(200);
    let mute = format!("/api/v1/contacts/{}", estate.trustee["id"].as_str().expect("an id"));
    org.patch(mute, &json!({"email": null})).send().await.ok(200);
    assert_eq!(codes().await, ["participant_email_missing"]);
}

#[tokio::test]
async fn papering_is_raced_and_one_wins() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    let item = org.ready_item(&estate, "A painting").await;
    let answers = join_all((0..6).map(|_| org.post(PAPER, &ids(&[&item])).send())).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.refused_for(422, &[("item_ids[0]", "wrong_state")]);
    }
    assert_eq!(org.total("/api/v1/agreements").await, 1);
    for n in 0..6 {
        let item = org.ready_item(&estate, &format!("Race {n}")).await;
        let park = org.post(format!("{}/park", item_path(&item)), &json!({"waiting_on": "counsel"}));
        let sort = org.patch(item_path(&item), &json!({"verb": null}));
        let other = if n % 2 == 0 { park } else { sort };
        let (papered, other) = tokio::join!(org.post(PAPER, &ids(&[&item])).send(), other.send());
        let after = org.item(&item).await;
        if papered.status == 201 {
            assert_eq!(after["phase"], "papered", "{after}");
            assert!([200, 422].contains(&other.status), "{other}");
        } else {
            let code = if n % 2 == 0 { "on_hold" } else { "missing_facts" };
            papered.refused_for(422, &[("item_ids[0]", code)]);
            other.ok(200);
            assert_eq!(after["agreement_id"], Value::Null);
        }
    }
}

#[tokio::test]
async fn a_papering_that_is_repeated_with_its_key_papers_once() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    let item = org.ready_item(&estate, "A painting").await;
    let request = org.post(PAPER, &ids(&[&item])).key("paper-1");
    let answers = join_all((0..5).map(|_| request.clone().send())).await;
    for answer in &answers {
        assert_eq!((answer.ok(201), &answer.bytes), (answers[0].json(), &answers[0].bytes));
    }
    assert!(request.send().await.is_replay());
    assert_eq!(org.total("/api/v1/agreements").await, 1);
    assert_eq!(org.events().await.iter().filter(|event| event["type"] == "funding_item.papered").count(), 1);
    assert_eq!(org.total(ITEMS).await, 1);
}

#[tokio::test]
async fn every_event_of_funding_is_seen_at_a_subscriber() {
    let types = [
        "funding_item.added",
        "funding_item.closed",
        "funding_item.papered",
        "funding_item.parked",
        "funding_item.reopened",
        "funding_item.sorted",
        "trust.created",
        "trust.updated",
    ];
    let org = Org::with(Needs::OWN.time_scale(60)).await;
    let subscriber = org.subscriber_of(&types).await;
    let (workspace, owner, maren) = (org.workspace("Harbor").await, org.person("Ada").await, org.member("Maren").await);
    let mut body = json!({
        "workspace_id": workspace["id"],
        "formal_name": "The Harbor Trust",
        "trustee_contact_ids": [owner["id"]],
        "external_reference": "t-1",
    });
    let trust = org.post(TRUSTS, &body).send().await.ok(201);
    body["formal_name"] = json!("The Harbor Family Trust");
    org.post(TRUSTS, &body).send().await.ok(200);
    let estate = tests::funding::Estate { workspace, trust, trustee: owner.clone(), settlor: owner };
    let item = org.ready_item(&estate, "A painting").await;
    let park = format!("{}/park", item_path(&item));
    org.post(&park, &json!({"waiting_on": "counsel"})).send().await.ok(200);
    org.post(&park, &json!({"waiting_on": null})).send().await.ok(200);
    let draft = org.paper(&[&item]).await;
    let other = org.funding_item(&estate.workspace, "A boat").await;
    org.patch(item_path(&other), &json!({"verb": "assign"})).send().await.ok(200);
    org.act_on_item(&maren, &other, FundingAct::CloseUnfunded(CloseReason::Sold, None)).await.expect("it is open");
    org.act_on_item(&maren, &other, FundingAct::Reopen).await.expect("it is closed");
    let assigned = json!({"workspace_id": estate.workspace["id"], "label": "A car", "trust_id": estate.trust["id"]});
    let assigned = org.post(ITEMS, &assigned).send().await.ok(201);
    let arrivals = subscriber.receiver.wait_for(12).await;
    let mut told: Vec<(String, Value)> = Vec::new();
    for arrival in &arrivals {
        let body = arrival.json();
        tests::spec::assert_delivery(&body);
        told.push((arrival.event_type(), body["data"].clone()));
    }
    let with = |item: &Value, more: Value| {
        let mut data = json!({"funding_item_id": item["id"], "workspace_id": estate.workspace["id"]});
        data.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        data
    };
    let trust_id = &estate.trust["id"];
    let of_trust = json!({"trust_id": trust_id, "workspace_id": estate.workspace["id"]});
    let mut expected: Vec<(String, Value)> = [
        ("trust.created", of_trust.clone()),
        ("trust.updated", of_trust),
        ("funding_item.added", with(&item, json!({}))),
        ("funding_item.sorted", with(&item, json!({"verb": "assign", "trust_id": trust_id}))),
        ("funding_item.parked", with(&item, json!({"waiting_on": "counsel"}))),
        ("funding_item.parked", with(&item, json!({}))),
        ("funding_item.papered", with(&item, json!({"agreement_id": draft["id"]}))),
        ("funding_item.added", with(&other, json!({}))),
        ("funding_item.sorted", with(&other, json!({"verb": "assign"}))),
        ("funding_item.closed", with(&other, json!({"status": "unfunded"}))),
        ("funding_item.reopened", with(&other, json!({}))),
        ("funding_item.added", with(&assigned, json!({"trust_id": trust_id}))),
    ]
    .map(|(kind, data)| (kind.to_owned(), data))
    .into();
    for all in [&mut told, &mut expected] {
        all.sort_by_key(|(kind, data)| format!("{kind} {data}"));
    }
    assert_eq!(told, expected);
    let seen: std::collections::BTreeSet<&str> = told.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), types);
}

#[tokio::test]
async fn items_of_a_trust_without_trustees_are_not_papered() {
    let org = Org::new().await;
    let mut estate = org.estate("Harbor").await;
    let body = json!({"workspace_id": estate.workspace["id"], "formal_name": "The Empty Trust"});
    estate.trust = org.post(TRUSTS, &body).send().await.ok(201);
    let item = org.ready_item(&estate, "A painting").await;
    let refused = org.post(PAPER, &json!({"item_ids": [item["id"]]})).send().await;
    refused.refused_for(422, &[("item_ids", "missing_facts")]);
    assert_eq!(org.item(&item).await["phase"], "ready", "nothing happened");
}

#[tokio::test]
async fn those_who_take_part_become_people_of_the_workspace_and_a_full_one_says_what_to_do() {
    let org = Org::new().await;
    let estate = org.estate("Harbor").await;
    let path = format!("/api/v1/workspaces/{}", estate.workspace["id"].as_str().expect("an id"));
    assert_eq!(org.get(path.clone()).send().await.ok(200)["people"], json!([]), "a trust adds no one");
    let item = org.ready_item(&estate, "A painting").await;
    let draft = org.paper(&[&item]).await;
    let workspace = org.get(path).send().await.ok(200);
    let mut people: Vec<&Value> =
        workspace["people"].as_array().expect("people").iter().map(|person| &person["contact_id"]).collect();
    people.sort_by_key(ToString::to_string);
    let mut expected = vec![&estate.trustee["id"], &estate.settlor["id"]];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(people, expected);
    let blockers: Vec<&str> =
        draft["publish_blockers"].as_array().expect("blockers").iter().filter_map(|one| one["code"].as_str()).collect();
    assert_eq!(blockers, ["workspace_not_activated"]);

    let strangers: Vec<String> = (0..limits::WORKSPACE_PEOPLE_MAX).map(|_| unknown_id()).collect();
    let crowded = drafts::crowded(&org, "Full", strangers.iter().map(String::as_str)).await;
    let body = json!({"workspace_id": crowded["id"], "formal_name": "The Full Trust",
        "trustee_contact_ids": [estate.trustee["id"]]});
    let trust = org.post(TRUSTS, &body).send().await.ok(201);
    let full = Estate { workspace: crowded, trust, ..estate };
    let item = org.ready_item(&full, "Another painting").await;
    let refused = org.post(PAPER, &json!({"item_ids": [item["id"]]})).send().await;
    refused.refused_for(422, &[("item_ids", "limit_reached")]);
    assert_eq!(org.item(&item).await["phase"], "ready");
}
