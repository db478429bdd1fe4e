//! A whole deal over forms, from publication to evidence; and where none of its secrets may appear (goal S3).

use std::fmt::Write as _;

use serde_json::{Value, json};
use shared::domain::agreement::gate::{FieldType, GateRule, InformationField, RequestedFile};
use shared::domain::agreement::{Agreement, Label};
use shared::domain::ids::{FieldId, GateId, ParticipantId};
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page};
use tests::attending::{Attendee, Live, hidden};
use tests::fixture::{Ids, path};
use tests::pdf::pdf;
use tests::spec::{self, Operation};
use tests::{Org, rows};

use super::evidence::unzipped;

/// An account number that must appear only where it is typed.
const IBAN: &str = "GB33BUKB20201555555555";

fn word(name: &str) -> String {
    format!("canary-{name}-{}", uuid::Uuid::new_v4().simple())
}

/// A two-step deal: both sign; then Northwind approves, and Ada uploads a file and answers two questions.
fn set_up(draft: &mut Agreement) {
    let [ada, northwind] = [draft.participants[0].id, draft.participants[1].id];
    draft.stages.drain(..1);
    draft.stages.truncate(1);
    draft.stages[0].gates.truncate(1);
    let label = |text| Label::parse(text).expect("a label");
    let now = Timestamp::now();
    let (mut after, stage) = draft.add_stage(label("Closing"), [].into(), now).expect("a step");
    let field = |text, field_type| InformationField {
        id: FieldId::new(),
        label: label(text),
        field_type,
        required: true,
        options: Vec::new(),
    };
    let fields = vec![field("Who are you?", FieldType::Text), field("Where to?", FieldType::BankDetails)];
    for rule in [
        GateRule::ParticipantApproval { participant_ids: [northwind].into() },
        GateRule::FileUpload { participant_ids: [ada].into(), file: RequestedFile::default() },
        GateRule::InformationRequest { participant_ids: [ada].into(), fields },
    ] {
        after = after.add_gate(stage, rule, now).expect("a condition").0;
    }
    *draft = after;
}

/// Opens a participant's link with the code that the member reads out, and consents to electronic records.
async fn arrive(live: &Live, participant: ParticipantId) -> (Attendee, [String; 2]) {
    let (link, code) = (live.link(participant).await, live.code(participant).await);
    let attendee = Attendee { browser: Browser::new(live.org.base_url()), participant };
    let page = attendee.browser.get(&link).await;
    assert!(page.says("Harbor") && page.says("Lease"), "{}", page.body);
    let opened = attendee.browser.post(&link, &[("form_token", &page.hidden("form_token")), ("code", &code)]).await;
    assert_eq!((opened.status, opened.location()), (303, attendee.at("").as_str()), "{}", opened.body);
    assert_eq!(attendee.submit("", "/consent", &[]).await.status, 303);
    let secret = link.rsplit('/').next().unwrap_or_default().to_owned();
    assert!(secret.len() >= 22, "at least 128 bits: {link}");
    (attendee, [secret, code])
}

async fn answer(ada: &Attendee, gate: GateId, fields: &[InformationField], act: &str, text: &str) -> Page {
    let names = [format!("answer.{}", fields[0].id), format!("answer.{}", fields[1].id)];
    let part = |part: &str| format!("{}.{part}", names[1]);
    let typed = [
        (names[0].clone(), text),
        (part("holder"), "Ada Okafor"),
        (part("bank"), "First Bank"),
        (part("number"), IBAN),
    ];
    let typed: Vec<_> = typed.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let at = format!("/conditions/{gate}");
    ada.submit(&at, &format!("{at}/answers/{act}"), &typed).await
}

async fn judge(live: &Live, page: &str, act: &str, reason: &str) {
    let shown = live.member.get(page).await;
    let fields = hidden(&shown, &format!("{page}/{act}"));
    let typed = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain([("reason", reason)]);
    let judged = live.member.post(&format!("{page}/{act}"), &typed.collect::<Vec<_>>()).await;
    assert_eq!(judged.status, 303, "{}", judged.body);
}

async fn responses(live: &Live) -> String {
    let (org, agreement) = (&live.org, &live.agreement);
    let proposals = org.get("/api/v1/proposals").send().await.ok(200);
    let ids: Ids = [
        ("agreement_id", agreement.id().to_string()),
        ("contact_id", agreement.participants[0].contact_id.to_string()),
        ("workspace_id", agreement.workspace_id.to_string()),
        ("proposal_id", proposals["data"][0]["id"].as_str().expect("a proposal").to_owned()),
    ]
    .map(|(name, id)| (name.to_owned(), id))
    .into();
    let reads = spec::all().into_iter().filter(|operation| !operation.is_write());
    // The deal has no payment and no obligation.
    let about_it =
        |operation: &Operation| operation.parameters("path").iter().all(|field| ids.contains_key(&field.name));
    let reads: Vec<Operation> = reads.filter(about_it).collect();
    assert!(reads.iter().any(|operation| operation.id == "list_information") && reads.len() >= 12, "{}", reads.len());
    let mut told = String::new();
    for operation in &reads {
        for client in [&**org, &org.read_only()] {
            let answer = client.get(path(operation, &ids)).send().await;
            assert_eq!(answer.status, 200, "{}: {answer}", operation.id);
            let _ = writeln!(told, "{:?} {}", answer.headers, String::from_utf8_lossy(&answer.bytes));
        }
    }
    told
}

async fn begin(org: Org, admin: &Browser) -> Live {
    let token = admin.get("/app").await.hidden("form_token");
    let settings = [("form_token", token.as_str()), ("name", "Harbor"), ("time_zone", "UTC"), ("asks_for_codes", "on")];
    assert_eq!(admin.post("/app/organization", &settings).await.status, 303);
    let member = Browser::of(&org, &org.member("Maren Holt").await).await;
    let draft = org.ready_draft("Lease", set_up).await;
    Live::publish(org, member, draft).await
}

#[tokio::test]
async fn a_deal_completes_over_forms_and_leaves_its_secrets_nowhere() {
    let org = Org::new().await;
    let subscriber = org.subscriber().await;
    let live = begin(org, &subscriber.admin).await;
    let [ada, northwind] = live.ids();
    let (name, draft, text, reason, file) = (word("name"), word("draft"), word("text"), word("reason"), word("file"));

    let (ada, ada_secrets) = arrive(&live, ada).await;
    let (northwind, northwind_secrets) = arrive(&live, northwind).await;
    assert!(ada.get("").await.says("Sign “Purchase agreement”"));
    assert_eq!(ada.sign(&live.agreement, &name).await.status, 303);
    assert_eq!(live.read().await["stages"][0]["state"], "current");
    assert_eq!(northwind.sign(&live.agreement, "Nora Wind").await.status, 303);
    let read = live.read().await;
    assert_eq!((&read["stages"][0]["state"], &read["stages"][1]["state"]), (&json!("done"), &json!("current")));

    assert_eq!(northwind.approve(&live.agreement, 1, 0).await.status, 303);
    let gates: Vec<GateId> = live.agreement.stages[1].gates.iter().map(|gate| gate.id).collect();
    let at = format!("/conditions/{}", gates[1]);
    let upload = (format!("{file}.pdf"), pdf("Proof of address", ""));
    assert_eq!(ada.upload(&at, &format!("{at}/upload"), (&upload.0, &upload.1)).await.status, 303);
    let fields = live.agreement.questions(gates[2]).expect("questions");
    let information = format!("/api/v1/agreements/{}/information", live.agreement.id());
    assert_eq!(answer(&ada, gates[2], fields, "save", &draft).await.status, 303);
    assert_eq!(live.org.get(&information).send().await.ok(200), json!([]));
    let sent = answer(&ada, gates[2], fields, "send", &text).await;
    assert_eq!(sent.status, 303, "{}", sent.body);

    assert!(live.member.get("/app").await.says("Answers to read"));
    let answers = format!("{}/conditions/{}/answers/{}", live.path(), gates[2], ada.participant);
    judge(&live, &answers, "return", &reason).await;
    assert!(ada.get("").await.says("Answer questions"));
    assert_eq!(answer(&ada, gates[2], fields, "send", &text).await.status, 303);
    assert_eq!(live.read().await["lifecycle"], "active");
    judge(&live, &answers, "accept", "").await;
    assert_eq!(live.read().await["lifecycle"], "completed");
    assert_eq!(live.member.get(&live.path()).await.status, 200);

    let arrivals = subscriber
        .receiver
        .wait_until(|arrivals| arrivals.iter().any(|arrival| arrival.event_type() == "agreement.completed"))
        .await;
    let signatures = arrivals.iter().filter(|arrival| arrival.event_type() == "signature.completed").count();
    assert_eq!(signatures, 2);
    let bundle = live.member.get(&format!("/app/evidence/agreements/{}/bundle", live.agreement.id())).await;
    assert_eq!(bundle.status, 200, "{}", bundle.body);
    let evidence = unzipped(&bundle.bytes);
    assert!(evidence.contains_key("certificate.pdf") && evidence.contains_key("receipts.jsonl"));
    let answered = String::from_utf8_lossy(&evidence["answers.jsonl"]);
    assert!(answered.contains(&text) && answered.contains("bank details are in no bundle"), "{answered}");
    for attendee in [&ada, &northwind] {
        let path = format!("/app/evidence/parts/{}/certificate", attendee.participant);
        assert_eq!(attendee.browser.get(&path).await.bytes, evidence["certificate.pdf"]);
    }

    // Secrets appear nowhere; what people wrote is in no log, audit row or event.
    let sessions = [&ada, &northwind].map(|attendee| {
        let cookie = attendee.browser.cookie(&format!("part-{}", attendee.participant));
        cookie.expect("a session")
    });
    let told = arrivals
        .iter()
        .map(|arrival| format!("{} {:?} {}", arrival.path, arrival.headers, String::from_utf8_lossy(&arrival.body)));
    let told: Vec<String> = told.collect();
    let responses = responses(&live).await;
    assert!(responses.contains(&text), "the scan would see a secret if it were there");
    let mut pages = Vec::new();
    for path in ["/app", &live.path(), &answers, "/app/agreements", "/app/audit", "/app/organization"] {
        pages.push(live.member.get(path).await.body);
    }
    for (attendee, path) in [(&ada, String::new()), (&ada, format!("/conditions/{}", gates[2]))] {
        pages.push(attendee.get(&path).await.body);
    }
    let all = rows::all(live.org.stack().table()).await;
    let is_record =
        |row: &&Value| row["pk"].as_str().is_some_and(|pk| pk.contains("#AUDIT#") || pk.starts_with("TRAIL#"));
    let records = json!(all.iter().filter(is_record).collect::<Vec<_>>()).to_string();
    let table = json!(all).to_string();
    let log = std::fs::read_to_string(live.org.stack().log_file()).expect("the log");
    let files: Vec<_> = evidence.values().map(|bytes| String::from_utf8_lossy(bytes)).collect();

    let codes = [ada_secrets[1].as_str(), northwind_secrets[1].as_str()];
    let signing = subscriber.secret.expose();
    let signing = signing.strip_prefix("whsec_").expect("a prefix").trim_end_matches('=').to_owned();
    let tokens = [&live.org.token.value, &live.org.read_only_token.value];
    let secrets = [&ada_secrets[0], &northwind_secrets[0], &sessions[0], &sessions[1], &signing];
    let secrets = secrets.into_iter().chain(tokens).map(String::as_str);
    for secret in secrets.chain(codes).chain([IBAN]) {
        for (place, text) in [("the table", &table), ("the log", &log), ("a response", &responses)] {
            assert!(!text.contains(secret), "a secret in {place}");
        }
        assert!(told.iter().all(|body| !body.contains(secret)), "a secret in an event");
        assert!(pages.iter().all(|page| !page.contains(secret)), "a secret on a page");
        assert!(files.iter().all(|file| !file.contains(secret)), "a secret in the evidence");
    }
    assert!(!table.contains(&draft), "a draft is sealed");
    assert!(table.contains(&text) && !responses.contains(&draft));
    for written in [&name, &draft, &text, &reason, &file] {
        assert!(!records.contains(written.as_str()), "{written} in an audit row");
        assert!(!log.contains(written.as_str()), "{written} in the log");
        assert!(told.iter().all(|body| !body.contains(written.as_str())), "{written} in an event");
    }
}
