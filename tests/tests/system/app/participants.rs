//! Participants' own pages: they open their link, consent, sign, approve, upload and decline, step by step.

mod races;

use std::fmt::Write as _;

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::Agreement;
use shared::domain::agreement::gate::{Countdown, GateRule, RequestedFile};
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::{FormCopy, Page, form, unescaped};
use tests::attending::{Attendee, Live, hidden};
use tests::clockwork::Clockwork;
use tests::pdf::pdf;
use tests::{Fault, Rule, Shaky, eventually, raw, rows};
use tokio::io::AsyncWriteExt;

use super::evidence::{lines, unzipped};
use crate::unknown_id;

pub(super) async fn two_signers() -> Live {
    Live::new(|draft| {
        draft.stages.drain(..1);
        draft.stages.truncate(1);
    })
    .await
}

pub(super) async fn approval_and_uploads() -> Live {
    Live::new(|draft| {
        let both = draft.participants.iter().map(|participant| participant.id).collect();
        draft.documents.clear();
        draft.stages.truncate(2);
        draft.stages[0].actions.clear();
        draft.stages[1].gates.truncate(1);
        let upload = draft.stages.remove(1).gates.remove(0);
        draft.stages[0].gates.push(upload);
        draft.stages[0].gates[1].rule = GateRule::FileUpload { participant_ids: both, file: RequestedFile::default() };
    })
    .await
}

pub(super) fn document(agreement: &Agreement) -> String {
    format!("/documents/{}", agreement.documents[0].id)
}

fn condition(agreement: &Agreement, gate: usize) -> String {
    format!("/conditions/{}", agreement.stages[0].gates[gate].id)
}

async fn receipt(attendee: &Attendee, done: &Page) -> Page {
    assert_eq!(done.status, 303, "{}", done.body);
    let page = attendee.browser.get(done.location()).await;
    assert_eq!(page.status, 200, "{}", done.location());
    page
}

#[tokio::test]
async fn two_signers_and_an_approval_complete_an_agreement_with_their_receipts() {
    let live = Live::new(|draft| draft.stages.truncate(2)).await;
    let [ada, northwind] = live.ids();
    let ada = live.attend(ada).await;
    let tasks = ada.get("").await;
    for text in ["Lease", "What waits for you", "Give your approval", "Review and approve", "Northwind Robotics, Inc."]
    {
        assert!(tasks.says(text), "{text}: {}", tasks.body);
    }
    assert!(!tasks.says("Sign “Purchase agreement”"), "its step has not begun");
    for text in [">Signed in as Ada Okafor<", &format!(">invited by {}<", live.org.name)] {
        assert!(tasks.says(text), "{text}: {}", tasks.body);
    }
    let approved = receipt(&ada, &ada.approve(&live.agreement, 0, 0).await).await;
    for text in ["You approved “Approval”", "I approve the step “Approval” of the agreement “Lease”", "127.0.0.1"]
    {
        assert!(unescaped(&approved.body).contains(text), "{text}: {}", approved.body);
    }
    assert!(approved.says("Next: Sign “Purchase agreement”"), "{}", approved.body);
    let page = ada.get(&document(&live.agreement)).await;
    for text in
        ["Type your name", ">Sign</button>", "alt=\"Page 1 of “Purchase agreement”", ">Download</a>", "I have read"]
    {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let pictures = format!("/app/pictures/{}/{}", ada.participant, live.agreement.documents[0].id);
    let picture = ada.browser.get(&format!("{pictures}/1")).await;
    assert_eq!((picture.status, picture.headers["content-type"].to_str().unwrap()), (200, "image/png"));
    for none in ["0", "2", "101", "x"] {
        assert_eq!(ada.browser.get(&format!("{pictures}/{none}")).await.status, 404, "{none}");
    }
    // Opening a picture two minutes later counts as looking again.
    let (table, secret) = (live.org.stack().table(), ada.browser.cookie(&format!("part-{}", ada.participant)));
    let long_ago = Timestamp::now().plus_seconds(-2 * limits::SESSION_REFRESH_S);
    rows::age_participant_session(table, &secret.expect("a session"), long_ago, long_ago).await;
    let before = rows::seen_at(table, ada.participant).await;
    assert_eq!(ada.browser.get(&format!("{pictures}/1")).await.status, 200);
    assert_ne!(rows::seen_at(table, ada.participant).await, before);
    let file = ada.get(&format!("{}/download", document(&live.agreement))).await;
    assert!(file.status == 200 && file.body.starts_with("%PDF-"));
    let signed = receipt(&ada, &ada.sign(&live.agreement, "Ada O.").await).await;
    let sha256 = page.hidden("sha256");
    for text in ["You signed “Purchase agreement”", "Ada O.", "Typed name", &sha256] {
        assert!(signed.says(text), "{text}: {}", signed.body);
    }
    let read = live.read().await;
    assert_eq!(read["stages"][1]["gates"][0]["waiting_on_participant_ids"], json!([northwind]));

    let home = live.member.get("/app").await;
    assert!(
        home.says("Northwind Robotics, Inc. to sign") && home.says("Northwind Robotics, Inc. has not opened the link"),
        "{}",
        home.body
    );
    let northwind = live.attend(northwind).await;
    let home = live.member.get("/app").await;
    for looked in ["Northwind Robotics, Inc. last looked <time", "Ada Okafor last looked <time"] {
        assert!(home.says(looked), "{looked}: {}", home.body);
    }
    receipt(&northwind, &northwind.sign(&live.agreement, "Nora Wind").await).await;
    let read = live.read().await;
    assert_eq!((&read["lifecycle"], &read["documents"][0]["state"]), (&json!("completed"), &json!("signed")));
    let events: Vec<Value> = live.org.events().await;
    let signatures: Vec<&Value> = events.iter().filter(|event| event["type"] == "signature.completed").collect();
    let of: Vec<&Value> = signatures.iter().map(|event| &event["data"]["participant_id"]).collect();
    assert_eq!(of, [&json!(ada.participant), &json!(northwind.participant)]);
    assert_eq!(signatures[0]["data"]["document_id"], json!(live.agreement.documents[0].id));
    assert_eq!(events.iter().filter(|event| event["type"] == "agreement.completed").count(), 1);
    for page in [ada.get("").await, northwind.get("").await] {
        assert!(page.says("This agreement is completed") && page.says("Signed by you"), "{}", page.body);
    }
    let page = live.member.get(&live.path()).await;
    for text in ["Signed the document “Purchase agreement”", "Agreed to electronic records", "Last visit"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
}

#[tokio::test]
async fn nothing_is_done_before_the_consent_or_after_it_was_withdrawn() {
    let live = two_signers().await;
    let ada = live.open(live.ids()[0]).await;
    for path in ["", &document(&live.agreement)] {
        let page = ada.get(path).await;
        assert!(page.says("Do you agree to act electronically?") && page.says(">I agree</button>"), "{}", page.body);
        assert!(page.says("Lease"), "{}", page.body);
    }
    let token = ada.get("").await.hidden("form_token");
    let sign = [("form_token", token.as_str()), ("signature", "Ada"), ("sha256", "x")];
    let at = ada.at(&format!("{}/sign", document(&live.agreement)));
    let early = ada.browser.post(&at, &sign).await;
    assert!(early.status == 409 && early.says(">I agree</button>"), "{}", early.body);
    assert_eq!(ada.submit("", "/consent", &[]).await.status, 303);
    let shown = ada.get(&document(&live.agreement)).await;
    assert_eq!(ada.submit("", "/consent/withdraw", &[]).await.status, 303);
    let again = ada.get("").await;
    assert!(again.says("Do you agree again") && again.says("You have withdrawn your consent"), "{}", again.body);
    let late = ada.send(&shown, &format!("{}/sign", document(&live.agreement)), &[("signature", "Ada")]).await;
    assert!(late.status == 409 && late.says("Your consent is needed first"), "{}", late.body);
    assert_eq!(live.read().await["documents"][0]["state"], "out");
    assert_eq!(ada.submit("", "/consent", &[]).await.status, 303);
    assert_eq!(ada.sign(&live.agreement, "Ada Okafor").await.status, 303);
    let record = live.member.get(&format!("{}/participants/{}/access", live.path(), ada.participant)).await;
    assert_eq!(record.body.matches("row-main\">Agreed to electronic records").count(), 2, "{}", record.body);
    assert!(record.says("Withdrew the consent") && record.says("Signed “Purchase agreement”"), "{}", record.body);
}

#[tokio::test]
async fn a_link_opens_its_own_pages_only_and_ends_when_it_is_reissued() {
    let (live, other) = tokio::join!(two_signers(), two_signers());
    let [ada, northwind] = live.ids();
    let link = live.link(ada).await;
    let ada = live.attend(ada).await;
    for stranger in [northwind.to_string(), other.ids()[0].to_string(), unknown_id().clone(), "x".to_owned()] {
        let page = ada.browser.get(&format!("/app/parts/{stranger}")).await;
        assert!(page.status == 401 && page.says("Open your link again"), "{}", page.body);
    }
    let foreign = ada.get(&document(&other.agreement)).await;
    assert!(foreign.status == 404 && foreign.says("Go to your agreement"), "{}", foreign.body);
    let cookie = ada.browser.cookie(&format!("part-{}", ada.participant)).expect("a session");
    ada.browser.set_cookie(&format!("part-{northwind}"), &cookie);
    assert_eq!(ada.browser.get(&format!("/app/parts/{northwind}")).await.status, 401);
    let phone = live.open(ada.participant).await;
    assert_eq!((phone.get("").await.status, ada.get("").await.status), (200, 200));

    let access = format!("{}/participants/{}/access", live.path(), ada.participant);
    let page = live.member.get(&access).await;
    assert!(page.says("Last visit") && page.says(">Copy link</button>"), "it was shown just now: {}", page.body);
    assert!(page.says("href=\"mailto:ada%40okafor.example?"), "{}", page.body);
    let (token, generation) = (page.hidden("form_token"), page.hidden("generation"));
    let fields = [("form_token", token.as_str()), ("generation", generation.as_str())];
    for _ in 0..2 {
        let done = live.member.post(&format!("{access}/reissue"), &fields).await;
        assert_eq!((done.status, done.location()), (303, access.as_str()), "{}", done.body);
    }
    let new = live.link(ada.participant).await;
    assert_ne!(new, link);
    for page in [ada.get("").await, phone.get("").await] {
        assert!(page.status == 401 && page.says("Open your link again"), "{}", page.body);
    }
    let old = ada.browser.get(&link).await;
    assert!(old.status == 404 && old.says("This link no longer works") && !old.says("Lease"), "{}", old.body);
    assert_eq!(ada.follow(&new).await.status, 303);
    assert!(ada.get("").await.says("Do you agree"), "the link before may have been in other hands");
    let secret = new.rsplit('/').next().expect("a secret");
    let told =
        [std::fs::read_to_string(live.org.stack().log_file()).unwrap_or_default(), live.read().await.to_string()];
    let rows = serde_json::to_string(&live.org.audit().await).expect("JSON");
    assert!(told.iter().chain([&rows]).all(|text| !text.contains(secret)));
}

/// Whoever got the link can't lock out the person it was meant for.
#[tokio::test]
async fn a_consent_can_be_given_however_often_it_was_withdrawn() {
    let live = two_signers().await;
    let ada = live.attend(live.ids()[0]).await;
    for _ in 0..limits::WITHDRAWALS_PER_PARTICIPANT_MAX {
        assert_eq!(ada.submit("", "/consent/withdraw", &[]).await.status, 303);
        assert_eq!(ada.submit("", "/consent", &[]).await.status, 303);
    }
    let refused = ada.submit("", "/consent/withdraw", &[]).await;
    assert_eq!(refused.location(), ada.at(""), "{}", refused.body);
    let page = ada.get("").await;
    assert!(page.says("Too much has been recorded for you") && !page.says("Do you agree"), "{}", page.body);
    let access = format!("{}/participants/{}/access", live.path(), ada.participant);
    let page = live.member.get(&access).await;
    let fields = [("form_token", page.hidden("form_token")), ("generation", page.hidden("generation"))];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(live.member.post(&format!("{access}/reissue"), &fields).await.status, 303);
    let ada = live.attend(ada.participant).await;
    assert_eq!(ada.sign(&live.agreement, "Ada Okafor").await.status, 303);
}

#[tokio::test]
async fn a_condition_takes_so_many_files_of_a_participant() {
    let live = approval_and_uploads().await;
    let ada = live.attend(live.ids()[0]).await;
    let gate = live.agreement.stages.iter().flat_map(|stage| &stage.gates);
    let gate = gate.clone().find(|gate| matches!(gate.rule, GateRule::FileUpload { .. })).expect("an upload").id;
    let at = format!("/conditions/{gate}");
    for n in 0..=limits::UPLOADS_PER_CONDITION_MAX {
        let done = ada.upload(&at, &format!("{at}/upload"), ("file.pdf", &pdf(&format!("File {n}"), ""))).await;
        let expected = if n < limits::UPLOADS_PER_CONDITION_MAX { 303 } else { 409 };
        assert_eq!(done.status, expected, "{n}: {}", done.body);
    }
    let table = live.org.stack().table();
    let stored = rows::file_bytes(table, ada.participant).await;
    let expected: usize = (0..limits::UPLOADS_PER_CONDITION_MAX).map(|n| pdf(&format!("File {n}"), "").len()).sum();
    assert_eq!(stored, u64::try_from(expected).expect("a size"), "nothing was stored of what was refused");
    let huge = ada.upload(&at, &format!("{at}/upload"), ("file.pdf", &vec![0; 5 * 1024 * 1024])).await;
    assert!(huge.status == 422 && huge.says("That is more than 4 MB"), "{}", huge.body);
}

#[tokio::test]
async fn a_link_stores_so_many_bytes_whatever_becomes_of_them() {
    let live = approval_and_uploads().await;
    let ada = live.attend(live.ids()[0]).await;
    let gate = live.agreement.stages.iter().flat_map(|stage| &stage.gates);
    let gate = gate.clone().find(|gate| matches!(gate.rule, GateRule::FileUpload { .. })).expect("an upload").id;
    let at = format!("/conditions/{gate}");
    let (file, table) = (pdf("A file", ""), live.org.stack().table());
    let bytes = u64::try_from(file.len()).expect("a size");
    rows::store_file_bytes(table, ada.participant, limits::PARTICIPANT_FILE_BYTES_MAX - 2 * bytes + 1).await;
    for expected in [303, 422, 422] {
        let done = ada.upload(&at, &format!("{at}/upload"), ("file.pdf", &file)).await;
        assert_eq!(done.status, expected, "{}", done.body);
        assert!(expected == 303 || done.says("your link has used up its space"), "{}", done.body);
    }
    let stored = rows::file_bytes(table, ada.participant).await;
    assert_eq!(stored, limits::PARTICIPANT_FILE_BYTES_MAX - bytes + 1, "what finds no room is not counted");
    let access = format!("{}/participants/{}/access", live.path(), ada.participant);
    let page = live.member.get(&access).await;
    let fields = [("form_token", page.hidden("form_token")), ("generation", page.hidden("generation"))];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(live.member.post(&format!("{access}/reissue"), &fields).await.status, 303);
    let ada = live.attend(ada.participant).await;
    assert_eq!(ada.upload(&at, &format!("{at}/upload"), ("file.pdf", &file)).await.status, 303);
}

#[tokio::test]
async fn a_declined_condition_waits_for_a_member_who_opens_it_again() {
    let live = two_signers().await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let path = document(&live.agreement);
    let shown = northwind.get(&path).await;
    let blank = ada.submit(&path, &format!("{path}/decline"), &[("reason", " ")]).await;
    assert!(blank.status == 422 && blank.says("Reason must not be blank"), "{}", blank.body);
    let reason = "The rent is <b>wrong</b>.";
    let declined = receipt(&ada, &ada.submit(&path, &format!("{path}/decline"), &[("reason", reason)]).await).await;
    assert!(
        declined.says("You declined to sign “Purchase agreement”") && !declined.says("<b>wrong"),
        "{}",
        declined.body
    );
    let read = live.read().await;
    let states = |read: &Value| -> Vec<Value> {
        let gates = read["stages"][0]["gates"].as_array().expect("gates");
        gates.iter().map(|gate| gate["state"].clone()).collect()
    };
    assert_eq!(states(&read), ["declined", "declined"]);
    assert_eq!(read["stages"][0]["gates"][0]["waiting_on"], "Declined by Ada Okafor");
    let late = northwind.send(&shown, &format!("{path}/sign"), &[("signature", "Nora")]).await;
    assert!(late.status == 409 && late.says("A participant has declined this"), "{}", late.body);

    let page = live.member.get(&live.path()).await;
    assert!(
        unescaped(&page.body).contains(reason) && page.body.matches(">Reopen</button>").count() == 2,
        "{}",
        page.body
    );
    assert!(live.member.get("/app").await.says("Declined by Ada Okafor"));
    let (token, declined_at) = (page.hidden("form_token"), page.hidden("declined_at"));
    let reopen = [("form_token", token.as_str()), ("declined_at", declined_at.as_str())];
    let old = [("form_token", token.as_str()), ("declined_at", "2026-01-01T00:00:00.000Z")];
    for gate in &live.agreement.stages[0].gates {
        let at = format!("{}/conditions/{}/reopen", live.path(), gate.id);
        assert_eq!(live.member.post(&at, &old).await.status, 303);
        assert!(live.member.get(&live.path()).await.says("A participant has declined again"));
        for _ in 0..2 {
            let done = live.member.post(&at, &reopen).await;
            assert_eq!(done.status, 303, "{}", done.body);
        }
    }
    assert_eq!(states(&live.read().await), ["open", "open"]);
    assert!(
        ada.sign(&live.agreement, "Ada").await.status == 303
            && northwind.sign(&live.agreement, "Nora").await.status == 303
    );
    assert_eq!(live.read().await["lifecycle"], "completed");
    let at = format!("{}/conditions/{}/reopen", live.path(), live.agreement.stages[0].gates[0].id);
    let too_late = live.member.post(&at, &reopen).await;
    assert!(too_late.status == 303 && live.member.get(&live.path()).await.says("Nothing was changed"));
}

#[tokio::test]
async fn files_are_uploaded_and_only_members_get_them() {
    let live = approval_and_uploads().await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let at = condition(&live.agreement, 1);
    let upload = format!("{at}/upload");
    let big = [b"%PDF-1.7\n".to_vec(), vec![b'x'; 4 * 1024 * 1024]].concat();
    let zip = [&pdf("both", "")[..], b"PK\x05\x06"].concat();
    for (name, content, says) in [
        ("a.pdf", &b""[..], "is empty"),
        ("a.exe", b"MZ\x90\0program", "must be a PDF, JPEG or PNG file"),
        ("a.pdf", b"<html><script>alert(1)</script>", "must be a PDF, JPEG or PNG file"),
        ("a.pdf", b"%PDF-1.7 cut off", "must be a PDF, JPEG or PNG file"),
        ("a.pdf", &zip, "must be a PDF, JPEG or PNG file"),
        ("a.pdf", &big, "is 4.1 MB. The limit is 4 MB"),
    ] {
        let page = ada.upload(&at, &upload, (name, content)).await;
        assert!(page.status == 422 && page.says(says), "{says}: {}", page.body);
    }
    assert_eq!(live.read().await["stages"][0]["gates"][1]["state"], "open");
    let file = pdf("Proof of address", "");
    let name = "../<img>\u{202e}fdp.exe";
    let done = receipt(&ada, &ada.upload(&at, &upload, (name, &file)).await).await;
    assert!(done.says("You uploaded “File.pdf”"), "a name that can’t be one: {}", done.body);
    let page = ada.get(&at).await;
    let form = hidden(&page, &upload);
    let form: Vec<_> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let copy = form.iter().find(|(name, _)| *name == "copy").map(|(_, copy)| *copy).expect("a copy");
    let id = FormCopy::named(copy.to_owned()).id;
    let again = ada.browser.upload(&ada.at(&upload), &form, ("file", "Proof & address.PDF", &file)).await;
    let again = receipt(&ada, &again).await;
    assert!(unescaped(&again.body).contains("You uploaded “Proof & address.pdf”"), "{}", again.body);
    assert!(!northwind.get("").await.says("Proof"), "nobody else sees it");
    receipt(&northwind, &northwind.upload(&at, &upload, ("b.png", b"\x89PNG\r\n\x1a\nx\0\0\0\0IEND\xaeB`\x82")).await)
        .await;
    assert_eq!(live.read().await["stages"][0]["gates"][1]["state"], "cleared");

    // The last upload's response was lost: the same form leads to its receipt, but not with another file.
    let first = ada.browser.upload(&ada.at(&upload), &form, ("file", "Proof & address.PDF", &file)).await;
    assert_eq!((first.status, first.location()), (303, ada.at(&format!("/receipts/{id}")).as_str()), "{}", first.body);
    let another = pdf("Another proof", "");
    let other = ada.browser.upload(&ada.at(&upload), &form, ("file", "Proof.pdf", &another)).await;
    assert!(other.status == 409 && other.says("This form was already used"), "{}", other.body);
    let late = ada
        .browser
        .upload(&ada.at(&upload), &[("form_token", &ada.get("").await.hidden("form_token"))], ("file", "c.pdf", &file))
        .await;
    assert!(late.status == 409 && late.says("You have done this already"), "{}", late.body);

    let access = format!("{}/participants/{}/access", live.path(), ada.participant);
    let page = live.member.get(&access).await;
    let (_, rest) = page.body.split_once(&format!("{access}/files/")).expect("a file");
    let download = live.member.get(&format!("{access}/files/{}", rest.split('"').next().expect("an id"))).await;
    assert!(download.status == 200 && download.body.starts_with("%PDF-"));
    assert!(download.headers["content-disposition"].to_str().unwrap().starts_with("attachment;"));
    assert_eq!(live.member.get(&format!("{access}/files/{}", unknown_id())).await.status, 404);
}

#[tokio::test]
async fn forms_that_are_sent_twice_or_whose_answer_is_lost_do_it_once() {
    let live = two_signers().await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let path = document(&live.agreement);
    let page = ada.get(&path).await;
    let sign = format!("{path}/sign");
    let typed = [("signature", "Ada Okafor")];
    let answers = join_all((0..4).map(|_| ada.send(&page, &sign, &typed))).await;
    let locations: Vec<_> = answers.iter().map(|answer| (answer.status, answer.location().to_owned())).collect();
    assert!(locations.iter().all(|at| *at == locations[0]) && locations[0].0 == 303, "{locations:?}");
    let another = ada.get("").await.copy().name;
    let again = ada.send(&page, &sign, &[("signature", "Ada Okafor"), ("copy", &another)]).await;
    assert!(again.status == 409 && again.says("You have done this already"), "{}", again.body);
    assert_eq!(ada.get("").await.body.matches("You signed “Purchase agreement”</a>").count(), 1);
    let contact = format!("/api/v1/contacts/{}", live.agreement.participants[0].contact_id);
    live.org.patch(contact, &json!({"display_name": "Ada Eze"})).send().await.ok(200);
    assert_eq!(ada.send(&page, &sign, &typed).await.location(), locations[0].1);
    let decline = [("reason", "Too late.")];
    let other = ada.send(&page, &format!("{path}/decline"), &decline).await;
    assert!(other.status == 409 && other.says("You have done this already"), "{}", other.body);

    // The last signature's response is lost: the receipt shows it, and the agreement completes once.
    let shaky = Shaky::beside(&live.org);
    let far = Attendee { browser: shaky.browser(), participant: northwind.participant };
    let cookie = format!("part-{}", northwind.participant);
    far.browser.set_cookie(&cookie, &northwind.browser.cookie(&cookie).expect("a session"));
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("RECEIPT#").times(1), Fault::LateCommit);
    // The other stack has no files, so the page comes from this one.
    let page = northwind.get(&path).await;
    let done = far.send(&page, &sign, &[("signature", "Nora Wind")]).await;
    assert!(receipt(&far, &done).await.says("You signed “Purchase agreement”"));
    let events = live.org.events().await;
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((count("signature.completed"), count("agreement.completed")), (2, 1));
}
