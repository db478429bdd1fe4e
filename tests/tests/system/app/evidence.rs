//! An agreement's evidence: bundles that outsiders verify, and certificates.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bundle::{KeyDocument, Manifest};
use serde_json::{Value, json};
use shared::domain::agreement::gate::{GateRule, RequestedFile};
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::{Browser, Page};
use tests::attending::{Attendee, Live};
use tests::clockwork::Clockwork;
use tests::mcp::Mcp;
use tests::pdf::pdf;
use tests::{Fault, Needs, Org, Rule, Shaky, Stack, drafts, eventually, rows};

use crate::unknown_id;

const KEYS: &str = "/app/evidence-keys.json";

pub(super) fn bundle_of(live: &Live) -> String {
    format!("/app/evidence/agreements/{}/bundle", live.agreement.id())
}

fn certificate_of(live: &Live) -> String {
    format!("/app/evidence/agreements/{}/certificate", live.agreement.id())
}

async fn keys(base_url: &str) -> KeyDocument {
    let page = Browser::new(base_url).get(KEYS).await;
    assert_eq!(page.status, 200, "{}", page.body);
    KeyDocument::parse(&page.bytes).expect("a key document")
}

pub(super) async fn verified(base_url: &str, page: &Page) -> Manifest {
    assert_eq!(page.status, 200, "{}", page.body);
    assert_eq!(page.headers["content-type"], "application/zip");
    let report = bundle::verify(&page.bytes, &keys(base_url).await);
    assert!(report.is_verified(), "{report}");
    report.manifest.expect("a proven manifest")
}

/// The files of an uncompressed zip, by their local headers.
pub(super) fn unzipped(zip: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let number = |at: usize, bytes: usize| {
        zip[at..at + bytes].iter().rev().fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
    };
    let (mut files, mut at) = (BTreeMap::new(), 0);
    while zip[at..].starts_with(b"PK\x03\x04") {
        let (size, name, extra) = (number(at + 18, 4), number(at + 26, 2), number(at + 28, 2));
        let start = at + 30 + name + extra;
        let name = String::from_utf8(zip[at + 30..at + 30 + name].to_vec()).expect("a name");
        files.insert(name, zip[start..start + size].to_vec());
        at = start + size;
    }
    files
}

pub(super) fn lines(files: &BTreeMap<String, Vec<u8>>, path: &str) -> Vec<Value> {
    let text = std::str::from_utf8(&files[path]).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

async fn live_on(org: Org) -> Live {
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let draft = org
        .ready_draft("Lease", |draft| {
            let ada = draft.participants[0].id;
            draft.stages.drain(..1);
            draft.stages.truncate(1);
            draft.stages[0].gates.truncate(2);
            draft.stages[0].gates[1].rule =
                GateRule::FileUpload { participant_ids: [ada].into(), file: RequestedFile::default() };
        })
        .await;
    Live::publish(org, member, draft).await
}

async fn complete(live: &Live) -> [Attendee; 2] {
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let condition = format!("/conditions/{}", live.agreement.stages[0].gates[1].id);
    let file = pdf("Proof of address", "");
    let uploaded = ada.upload(&condition, &format!("{condition}/upload"), ("Proof: address.PDF", &file)).await;
    assert_eq!(uploaded.status, 303, "{}", uploaded.body);
    let document = format!("/documents/{}", live.agreement.documents[0].id);
    let page = ada.get(&document).await;
    let drawn = [("signature", ""), ("drawing", "M10 20L300 200L400 10M500 100L900 290")];
    assert_eq!(ada.send(&page, &format!("{document}/sign"), &drawn).await.status, 303);
    assert_eq!(live.read().await["lifecycle"], "active");
    assert_eq!(northwind.sign(&live.agreement, "Nora Wind 山田").await.status, 303);
    assert_eq!(live.read().await["lifecycle"], "completed");
    [ada, northwind]
}

async fn to_approve(org: Org) -> Live {
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let draft = org
        .ready_draft("Approval", |draft| {
            draft.documents.clear();
            draft.stages.truncate(1);
            draft.stages[0].actions.clear();
        })
        .await;
    Live::publish(org, member, draft).await
}

#[tokio::test]
async fn a_completed_agreement_is_exported_with_everything_and_twice_the_same() {
    let live = live_on(Org::new().await).await;
    let base_url = live.org.base_url().to_owned();
    let [ada, northwind] = complete(&live).await;
    let page = live.member.get(&live.path()).await;
    for text in ["Export evidence", "Download certificate", &bundle_of(&live), &certificate_of(&live)] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let first = live.member.get(&bundle_of(&live)).await;
    let manifest = verified(&base_url, &first).await;
    assert_eq!(manifest.service, base_url);
    assert_eq!(manifest.organization_id, live.org.id.to_string());
    assert_eq!(manifest.agreement_id, live.agreement.id().to_string());
    let second = live.member.get(&bundle_of(&live)).await;
    assert!(first.bytes == second.bytes, "the first export changed the second");
    assert!(first.headers["content-disposition"].to_str().unwrap().contains("filename=\"Lease evidence.zip\""));

    let files = unzipped(&first.bytes);
    let paths: Vec<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "README.txt",
            "agreement.json",
            "answers.jsonl",
            "audit.jsonl",
            "certificate.pdf",
            "claims.jsonl",
            "consent/2026-11.txt",
            "documents/001 Purchase agreement.pdf",
            "file_reviews.jsonl",
            "movements.jsonl",
            "obligations.jsonl",
            "paper_signatures.jsonl",
            "receipts.jsonl",
            "receiver_evidence.jsonl",
            "sender_evidence.jsonl",
            "statement_extracts.jsonl",
            "timeline.jsonl",
            "uploads/001 Proof_ address.pdf",
            "verifications.jsonl",
        ]
    );
    assert_eq!(files["documents/001 Purchase agreement.pdf"], pdf("A document to sign", ""));
    assert_eq!(files["uploads/001 Proof_ address.pdf"], pdf("Proof of address", ""));
    assert!(files["certificate.pdf"].starts_with(b"%PDF-"));
    let agreement: Value = serde_json::from_slice(&files["agreement.json"]).expect("JSON");
    let read = live.read().await;
    assert_eq!(agreement["agreement"], read);
    assert_eq!(agreement["emails"][0]["email"], "ada@okafor.example");
    let consent = &files["consent/2026-11.txt"];
    let receipts = lines(&files, "receipts.jsonl");
    let acts: Vec<&str> = receipts.iter().map(|receipt| receipt["act"].as_str().unwrap()).collect();
    assert_eq!(acts.iter().filter(|act| **act == "consented").count(), 2);
    assert_eq!(acts[2..], ["uploaded", "signed", "signed"]);
    assert_eq!(receipts[0]["text_sha256"], shared::crypto::sha256_hex(consent));
    assert_eq!(receipts[2]["path"], "uploads/001 Proof_ address.pdf");
    assert_eq!(receipts[3]["drawn"], "M10 20L300 200L400 10M500 100L900 290");
    assert_eq!((&receipts[4]["typed"], &receipts[4]["address"]), (&json!("Nora Wind 山田"), &json!("127.0.0.1")));
    assert_eq!(receipts[4]["document_sha256"], read["documents"][0]["sha256"]);

    let timeline = lines(&files, "timeline.jsonl");
    assert!(timeline.is_sorted_by_key(|act| act["at"].as_str().unwrap().to_owned()));
    assert_eq!(timeline.last().unwrap()["at"], manifest.created_at);
    let last = timeline.last().unwrap();
    assert_eq!(last["events"], json!(["signature.completed", "agreement.completed"]));
    let signed = format!("Signed the document “{}”", read["documents"][0]["name"].as_str().unwrap());
    assert_eq!((&last["actor"]["type"], &last["what"]), (&json!("participant"), &json!(signed)));
    let published = timeline.iter().find(|act| act["what"] == "Confirmed the publication").expect("its publication");
    assert_eq!(published["actor"]["display_name"], "Maren Holt");
    let rows = lines(&files, "audit.jsonl");
    let calls = |lines: &[Value]| lines.iter().map(|line| line["request_id"].clone()).collect::<Vec<_>>();
    assert_eq!(calls(&rows), calls(&timeline));
    let stored = live.org.audit().await;
    for row in &rows {
        let id = row["request_id"].as_str().unwrap();
        let own = stored.iter().find(|stored| stored["sk"] == id).unwrap_or_else(|| panic!("{id}: {stored:?}"));
        assert_eq!((&row["operation"], &row["at"]), (&own["operation"], &own["at"]));
    }
    let exports = stored.iter().filter(|row| row["operation"] == "export_evidence").count();
    assert_eq!(exports, 2, "each export is in the audit log");
    let log = live.member.get("/app/audit").await;
    assert!(log.says("Exported the evidence"), "{}", log.body);

    let certificate = live.member.get(&certificate_of(&live)).await;
    assert_eq!((certificate.status, &certificate.bytes), (200, &files["certificate.pdf"]));
    for attendee in [&ada, &northwind] {
        let overview = attendee.get("").await;
        let path = format!("/app/evidence/parts/{}/certificate", attendee.participant);
        for text in ["Finished documents", "Certificate of completion", &path, "/download\""] {
            assert!(overview.says(text), "{text}: {}", overview.body);
        }
        let own = attendee.browser.get(&path).await;
        assert_eq!((own.status, &own.bytes), (200, &files["certificate.pdf"]));
        assert_eq!(own.headers["content-type"], "application/pdf");
    }
}

#[tokio::test]
async fn a_certificate_stays_the_same_and_a_bundle_has_every_later_act() {
    let live = live_on(Org::new().await).await;
    complete(&live).await;
    let before = live.member.get(&bundle_of(&live)).await;
    let access = format!("{}/participants/{}/access", live.path(), live.ids()[0]);
    let page = live.member.get(&access).await;
    let fields = [("form_token", page.hidden("form_token")), ("generation", page.hidden("generation"))];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(live.member.post(&format!("{access}/reissue"), &fields).await.status, 303);
    let contact = live.agreement.participants[0].contact_id;
    let renamed = json!({"display_name": "Ada Someone-Else", "email": "else@okafor.example"});
    live.org.patch(format!("/api/v1/contacts/{contact}"), &renamed).send().await.ok(200);
    let admin = live.org.subscriber().await.admin;
    rename(&admin, "Renamed Holdings").await;
    let after = live.member.get(&bundle_of(&live)).await;
    verified(live.org.base_url(), &after).await;
    let (before, after) = (unzipped(&before.bytes), unzipped(&after.bytes));
    assert_eq!(before["certificate.pdf"], after["certificate.pdf"]);
    assert_eq!(before["receipts.jsonl"], after["receipts.jsonl"]);
    let (old, new) = (lines(&before, "timeline.jsonl"), lines(&after, "timeline.jsonl"));
    assert_eq!(new[..old.len()], old[..]);
    assert_eq!((new.len() - old.len(), &new[old.len()]["operation"]), (1, &json!("reissue_link")));
    let text = String::from_utf8(after["agreement.json"].clone()).unwrap();
    assert!(text.contains("Ada Someone-Else") && text.contains("else@okafor.example"));
    assert!(text.contains("Renamed Holdings"), "{text}");
    rename(&admin, "Renamed Again").await;
    assert_eq!(live.member.get(&certificate_of(&live)).await.bytes, before["certificate.pdf"]);
}

/// Obligations due for decades keep adding acts to a completed agreement.
#[tokio::test]
async fn a_certificate_is_written_however_many_acts_follow_the_completion() {
    let live = live_on(Org::with(Needs::OWN.without_background()).await).await;
    complete(&live).await;
    let before = live.member.get(&certificate_of(&live)).await;
    assert_eq!(before.status, 200, "{}", before.body);
    drafts::add_acts(&live.org, live.agreement.id(), limits::BUNDLE_ACTS_MAX + 1).await;
    let after = live.member.get(&certificate_of(&live)).await;
    assert!(after.status == 200 && after.bytes == before.bytes, "{}", after.body);
}

#[tokio::test]
async fn the_evidence_of_a_long_history_is_in_parts_that_have_every_act_once() {
    let live = live_on(Org::with(Needs::OWN.without_background()).await).await;
    complete(&live).await;
    let certificate = live.member.get(&certificate_of(&live)).await;
    let whole = unzipped(&live.member.get(&bundle_of(&live)).await.bytes);
    drafts::add_acts(&live.org, live.agreement.id(), limits::BUNDLE_ACTS_MAX).await;
    let parts = live.member.get(&bundle_of(&live)).await;
    assert!(parts.status == 200 && parts.says("The evidence is in 2 parts"), "{}", parts.body);
    let mut timeline = Vec::new();
    let mut bundles = Vec::new();
    for number in 1..=2 {
        let path = format!("{}/{number}", bundle_of(&live));
        assert!(parts.says(&path), "{}", parts.body);
        let part = live.member.get(&path).await;
        verified(live.org.base_url(), &part).await;
        let files = unzipped(&part.bytes);
        let readme = String::from_utf8(files["README.txt"].clone()).expect("text");
        assert!(readme.contains(&format!("Part          {number} of 2")), "{readme}");
        let acts = lines(&files, "timeline.jsonl");
        let calls = |lines: &[Value]| lines.iter().map(|line| line["request_id"].clone()).collect::<Vec<_>>();
        assert_eq!(calls(&acts), calls(&lines(&files, "audit.jsonl")));
        timeline.extend(calls(&acts));
        bundles.push(files);
    }
    assert_eq!(timeline.len(), limits::BUNDLE_ACTS_MAX + lines(&whole, "timeline.jsonl").len());
    let mut once = timeline.iter().map(Value::to_string).collect::<Vec<_>>();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), timeline.len(), "each act is in one part");
    // The first part has everything but acts.
    let whole_but_acts =
        whole.keys().filter(|path| !["timeline.jsonl", "audit.jsonl", "README.txt"].contains(&path.as_str()));
    for path in whole_but_acts.filter(|path| !path.starts_with("manifest")) {
        assert_eq!(bundles[0][path], whole[path], "{path}");
    }
    assert_eq!(bundles[0]["certificate.pdf"], certificate.bytes);
    assert_eq!(
        bundles[1].keys().collect::<Vec<_>>(),
        ["README.txt", "audit.jsonl", "manifest.json", "manifest.sig", "timeline.jsonl"]
    );
    for none in ["0", "3", "x"] {
        assert_eq!(live.member.get(&format!("{}/{none}", bundle_of(&live))).await.status, 404, "{none}");
    }
}

async fn rename(admin: &Browser, name: &str) {
    let token = admin.get("/app").await.hidden("form_token");
    let settings = [("form_token", token.as_str()), ("name", name), ("time_zone", "UTC")];
    assert_eq!(admin.post("/app/organization", &settings).await.status, 303);
}

#[tokio::test]
async fn an_agreement_that_is_not_completed_has_a_bundle_without_a_certificate() {
    let live = live_on(Org::new().await).await;
    let ada = live.attend(live.ids()[0]).await;
    let page = live.member.get(&live.path()).await;
    assert!(page.says("recorded so far") && !page.says("Download certificate"), "{}", page.body);
    for refused in [
        live.member.get(&certificate_of(&live)).await,
        ada.browser.get(&format!("/app/evidence/parts/{}/certificate", ada.participant)).await,
    ] {
        assert!(refused.status == 409 && refused.says("There is no certificate yet"), "{}", refused.body);
    }
    assert!(!ada.get("").await.says("Certificate"), "not before the completion");
    let verification = format!("{}/participants/{}/verification", live.path(), ada.participant);
    let form = live.member.get(&verification).await;
    let (token, copy) = (form.hidden("form_token"), form.hidden("copy"));
    let typed = [
        ("form_token", token.as_str()),
        ("copy", &copy),
        ("method", "Passport"),
        ("reference", "Case 7"),
        ("day", "2026-03-14"),
    ];
    assert_eq!(live.member.post(&verification, &typed).await.status, 303);
    let first = live.member.get(&bundle_of(&live)).await;
    let manifest = verified(live.org.base_url(), &first).await;
    assert!(manifest.files.iter().all(|file| file.path != "certificate.pdf"));
    let readme = String::from_utf8(unzipped(&first.bytes)["README.txt"].clone()).unwrap();
    let recorded = lines(&unzipped(&first.bytes), "verifications.jsonl").pop().expect("the verification");
    let told = ["participant_id", "method", "reference", "day"].map(|name| recorded[name].clone());
    assert_eq!(told, [json!(ada.participant), json!("Passport"), json!("Case 7"), json!("2026-03-14")]);
    assert_eq!(recorded["recorded_by"]["display_name"], "Maren Holt");
    assert!(readme.contains("(no certificate: the agreement is not completed)"), "{readme}");

    // A cancelled agreement keeps what was recorded before as evidence, also that an agent proposed it.
    let cancel = json!({"action": "cancel_agreement", "agreement_id": live.agreement.id()});
    let cancel = Mcp::of(&live.org).call("create_proposal", &cancel).await.answer();
    let review = format!("/app/proposals/{}", cancel["id"].as_str().unwrap());
    assert_eq!(live.member.decide(&review, "confirm", "").await.status, 303);
    let cancelled = live.member.get(&bundle_of(&live)).await;
    verified(live.org.base_url(), &cancelled).await;
    let files = unzipped(&cancelled.bytes);
    let agreement: Value = serde_json::from_slice(&files["agreement.json"]).unwrap();
    assert_eq!(agreement["agreement"]["lifecycle"], "cancelled");
    assert_eq!(lines(&files, "timeline.jsonl").last().unwrap()["what"], "Confirmed the cancellation");
    let rows = lines(&files, "audit.jsonl");
    let by_agents: Vec<_> = rows.iter().filter(|row| row.get("via").is_some()).collect();
    assert_eq!(by_agents.len(), 1, "{rows:?}");
    assert_eq!((&by_agents[0]["operation"], &by_agents[0]["via"]), (&json!("create_proposal"), &json!("mcp")));
}

#[tokio::test]
async fn an_expired_agreement_is_exported_once_its_end_is_recorded() {
    let org = Org::new().await;
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let expiry = |draft: &mut shared::domain::agreement::Agreement| {
        draft.documents.clear();
        draft.stages.truncate(1);
        draft.stages[0].actions.clear();
        draft.expires_at = Some(Timestamp::now().plus_seconds(2));
    };
    let draft = org.ready_draft("Offer", expiry).await;
    let live = Live::publish(org, member, draft).await;
    let expired = || async {
        Clockwork::of(&live.org).tick().await;
        (live.read().await["lifecycle"] == "expired").then_some(())
    };
    eventually("the agreement expires", expired).await;
    let page = live.member.get(&bundle_of(&live)).await;
    verified(live.org.base_url(), &page).await;
    let last = lines(&unzipped(&page.bytes), "timeline.jsonl").pop().unwrap();
    assert_eq!((&last["operation"], &last["actor"]["type"]), (&json!("proceed_agreement"), &json!("system")));
}

#[tokio::test]
async fn a_draft_has_no_evidence() {
    let org = Org::new().await;
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let draft = org.ready_draft("Lease", |_| ()).await;
    let page = format!("/app/agreements/{}", draft.id());
    for file in ["bundle", "certificate"] {
        let away = member.get(&format!("/app/evidence/agreements/{}/{file}", draft.id())).await;
        assert_eq!((away.status, away.location()), (303, page.as_str()), "{}", away.body);
    }
    assert!(!member.get(&page).await.says("Export evidence"));
}

#[tokio::test]
async fn strangers_get_nothing() {
    let live = live_on(Org::new().await).await;
    let [ada, _] = complete(&live).await;
    let other = live_on(Org::new().await).await;
    let [stranger, _] = complete(&other).await;
    let own = format!("/app/evidence/parts/{}/certificate", ada.participant);
    for path in [bundle_of(&live), certificate_of(&live)] {
        let page = other.member.get(&path).await;
        assert!(page.status == 404 && page.says("There is nothing here"), "{path}: {}", page.body);
        let nobody = Browser::new(live.org.base_url()).get(&path).await;
        assert!(nobody.status == 303 && nobody.location().starts_with("/app/sign-in"), "{}", nobody.location());
        assert_eq!(ada.browser.get(&path).await.status, 303, "{path}");
        let unknown = path.replace(&live.agreement.id().to_string(), &unknown_id());
        assert_eq!(live.member.get(&unknown).await.status, 404, "{unknown}");
    }
    for browser in [&stranger.browser, &other.member, &live.member, &Browser::new(live.org.base_url())] {
        let page = browser.get(&own).await;
        assert!(page.status == 401 && page.says("Open your link again"), "{}", page.body);
    }
    assert_eq!(Browser::new(live.org.base_url()).get("/app/evidence/parts/x/y").await.status, 404);
    let posted = live.member.post(&bundle_of(&live), &[]).await;
    assert_eq!(posted.status, 405, "{}", posted.body);
    let bundle = other.member.get(&bundle_of(&other)).await;
    for id in [live.org.id.to_string(), live.agreement.id().to_string(), ada.participant.to_string()] {
        assert!(!bundle.body.contains(&id), "{id}");
    }
}

#[tokio::test]
async fn no_secret_is_in_a_bundle() {
    let live = live_on(Org::new().await).await;
    let [ada, northwind] = complete(&live).await;
    let link = live.link(ada.participant).await;
    let secret = link.rsplit('/').next().unwrap().to_owned();
    let cookie = |attendee: &Attendee| {
        attendee.browser.cookie(&format!("part-{}", attendee.participant)).expect("a participant's session")
    };
    let session = live.member.cookie("session").expect("a member's session");
    let form_token = ada.get("").await.hidden("form_token");
    let page = live.member.get(&bundle_of(&live)).await;
    verified(live.org.base_url(), &page).await;
    let keyring: Value = serde_json::from_str(&live.org.stack().keyring().reveal()).unwrap();
    let key = keyring["keys"].as_object().unwrap().iter().next().unwrap();
    let canaries = [
        &secret,
        &session,
        &cookie(&ada),
        &cookie(&northwind),
        &form_token,
        &live.org.token.value,
        key.0,
        &key.1.as_str().unwrap().to_owned(),
    ];
    for canary in canaries {
        assert!(canary.len() > 3 && !page.body.contains(canary.as_str()), "{canary} is in the bundle");
    }
    let keys = Browser::new(live.org.base_url()).get(KEYS).await;
    assert!(!keys.body.contains(key.0.as_str()), "the name of a key is published: {}", keys.body);
}

#[tokio::test]
async fn the_keys_are_public_and_old_bundles_verify_after_a_rotation() {
    let before = Stack::with(Needs::OWN.without_background().on_configured_store());
    let live = to_approve(Org::on(before.clone()).await).await;
    let ada = live.attend(live.ids()[0]).await;
    assert_eq!(ada.approve(&live.agreement, 0, 0).await.status, 303);
    let old = live.member.get(&bundle_of(&live)).await;
    verified(&before.base_url, &old).await;
    let old_keys = Browser::new(&before.base_url).get(KEYS).await;
    assert_eq!(old_keys.headers["cache-control"], "public, max-age=60");
    assert!(old_keys.headers.get("set-cookie").is_none());

    let rotated = ops::keyring::rotate(&before.keyring().reveal(), Timestamp::now()).expect("a keyring");
    let after = before.with_keyring(rotated, false);
    verified(&after.base_url, &old).await;
    let browser = Browser::new(&after.base_url);
    let member = live.org.member("Otto Brandt").await;
    assert_eq!(browser.sign_in(&member.email, &member.password, "/app").await.status, 303);
    let new = browser.get(&bundle_of(&live)).await;
    let manifest = verified(&after.base_url, &new).await;
    let old_document = KeyDocument::parse(&old_keys.bytes).unwrap();
    assert!(!bundle::verify(&new.bytes, &old_document).is_verified(), "another key signs now");
    let document: Value = serde_json::from_slice(&browser.get(KEYS).await.bytes).unwrap();
    assert_eq!(document["keys"].as_array().unwrap().len(), 2);
    let key = serde_json::to_value(&manifest.signing_key).unwrap();
    assert!(document["keys"].as_array().unwrap().contains(&key), "{document}");
    // The files are equal; only the names of the service and its key differ.
    let certificate = |page: &Page| unzipped(&page.bytes)["timeline.jsonl"].clone();
    assert_eq!(certificate(&old), certificate(&new));
}

#[tokio::test]
async fn a_file_that_is_missing_or_damaged_is_told_and_nothing_is_exported() {
    let live = live_on(Org::with(Needs::OWN).await).await;
    complete(&live).await;
    let folder: PathBuf = live.org.stack().log_file().parent().unwrap().join("files").join(live.org.id.to_string());
    let sha256 = shared::crypto::sha256_hex(&pdf("A document to sign", ""));
    let file = folder.join(sha256);
    let whole = std::fs::read(&file).expect("the stored document");
    let mut damaged = whole.clone();
    damaged[20] ^= 1;
    for broken in [Some(damaged), None] {
        match &broken {
            Some(damaged) => std::fs::write(&file, damaged).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let page = live.member.get(&bundle_of(&live)).await;
        assert_eq!(page.status, 500, "{broken:?}");
        for text in ["A file of this agreement is missing or damaged", "Nothing was exported", "Number for support"] {
            assert!(page.says(text), "{text}: {}", page.body);
        }
        // The certificate names documents by hash, and needs none of them.
        assert_eq!(live.member.get(&certificate_of(&live)).await.status, 200);
    }
    std::fs::write(&file, whole).unwrap();
    verified(live.org.base_url(), &live.member.get(&bundle_of(&live)).await).await;
}

#[tokio::test]
async fn what_changes_during_an_export_is_in_it_whole_or_not_at_all() {
    let live = to_approve(Org::new().await).await;
    let ada = live.attend(live.ids()[0]).await;
    let shaky = Shaky::beside(&live.org);
    let member = shaky.browser_of(&live.org.member("Otto Brandt").await).await;
    let path = bundle_of(&live);
    let calls = Rule::on("Query").containing("RECEIPT#").times(1);
    let approve = async {
        assert_eq!(ada.approve(&live.agreement, 0, 0).await.status, 303);
    };
    let page = shaky.meanwhile(calls, member.get(&path), approve).await;
    let base_url = member.base_url();
    let manifest = verified(base_url, &page).await;
    let files = unzipped(&page.bytes);
    let agreement: Value = serde_json::from_slice(&files["agreement.json"]).unwrap();
    assert_eq!(agreement["agreement"]["lifecycle"], "completed");
    assert!(manifest.files.iter().any(|file| file.path == "certificate.pdf"));
    assert_eq!(lines(&files, "receipts.jsonl").last().unwrap()["act"], "approved");
    assert_eq!(lines(&files, "timeline.jsonl").last().unwrap()["operation"], "approve_condition");
}

#[tokio::test]
async fn reads_in_parts_make_the_same_bundle() {
    let live = to_approve(Org::new().await).await;
    let ada = live.attend(live.ids()[0]).await;
    assert_eq!(ada.approve(&live.agreement, 0, 0).await.status, 303);
    let shaky = Shaky::beside(&live.org);
    let member = shaky.browser_of(&live.org.member("Otto Brandt").await).await;
    let whole = member.get(&bundle_of(&live)).await;
    verified(member.base_url(), &whole).await;
    let queries = shaky.faults.inject(Rule::on("Query"), Fault::Partial);
    shaky.faults.inject(Rule::on("BatchGetItem").containing("#AUDIT#1"), Fault::Partial);
    let in_parts = member.get(&bundle_of(&live)).await;
    assert!(queries.count() > 4, "{}", queries.count());
    assert!(whole.bytes == in_parts.bytes);
}

#[tokio::test]
async fn an_act_without_its_audit_row_is_no_evidence() {
    let live = to_approve(Org::new().await).await;
    let rows = live.org.audit().await;
    let row = rows.iter().find(|row| row["operation"] == "confirm_proposal").expect("the row of the publication");
    let table = live.org.stack().table();
    let (pk, sk) = rows::key(row);
    let key = |value: String| aws_sdk_dynamodb::types::AttributeValue::S(value);
    let delete = table.client().delete_item().table_name(&table.name).key("pk", key(pk)).key("sk", key(sk));
    delete.send().await.expect("the row is deleted");
    let page = live.member.get(&bundle_of(&live)).await;
    assert!(page.status == 500 && page.says("Something went wrong"), "{}", page.body);
}
