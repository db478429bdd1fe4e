//! Information requests: participants save and send answers, members read, return and accept; others see nothing.

mod ended;

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::agreement::Label;
use shared::domain::agreement::gate::{FieldType, GateRule, InformationField};
use shared::domain::ids::{FieldId, GateId, ParticipantId};
use tests::app::{Browser, Page, unescaped};
use tests::attending::{Attendee, Live, hidden};
use tests::pdf::pdf;
use tests::{Fault, Org, Rule, Shaky};

use crate::unknown_id;

/// An account number that must appear only where it is typed.
const IBAN: &str = "DE89370400440532013000";
const CARD: &str = "4111 1111 1111 1111";

pub(super) fn question(label: &str, field_type: FieldType, required: bool) -> InformationField {
    let options = match field_type {
        FieldType::Choice | FieldType::MultiChoice => vec!["Red".to_owned(), "Green & blue".to_owned()],
        _ => Vec::new(),
    };
    InformationField { id: FieldId::new(), label: Label::parse(label).expect("a label"), field_type, required, options }
}

pub(super) async fn asking(fields: Vec<InformationField>, both: bool) -> Live {
    Live::new(|draft| {
        let count = if both { 2 } else { 1 };
        let participant_ids = draft.participants.iter().take(count).map(|participant| participant.id).collect();
        draft.documents.clear();
        draft.stages.truncate(1);
        draft.stages[0].actions.clear();
        draft.stages[0].gates.truncate(1);
        draft.stages[0].gates[0].rule = GateRule::InformationRequest { participant_ids, fields };
    })
    .await
}

async fn two_questions() -> Live {
    asking(
        vec![question("Who are you?", FieldType::Text, true), question("Since when?", FieldType::Date, false)],
        false,
    )
    .await
}

fn gate(live: &Live) -> GateId {
    live.agreement.stages[0].gates[0].id
}

fn fields(live: &Live) -> &[InformationField] {
    live.agreement.questions(gate(live)).expect("questions")
}

fn condition(live: &Live) -> String {
    format!("/conditions/{}", gate(live))
}

pub(super) fn name(live: &Live, question: usize) -> String {
    format!("answer.{}", fields(live)[question].id)
}

pub(super) async fn submit(live: &Live, ada: &Attendee, act: &str, typed: &[(&str, &str)]) -> Page {
    let at = condition(live);
    ada.submit(&at, &format!("{at}/answers/{act}"), typed).await
}

pub(super) async fn information(live: &Live) -> Vec<Value> {
    let path = format!("/api/v1/agreements/{}/information", live.agreement.id());
    let found = live.org.get(path).send().await.ok(200);
    found.as_array().expect("an array").clone()
}

fn answers(live: &Live, participant: ParticipantId) -> String {
    format!("{}/conditions/{}/answers/{participant}", live.path(), gate(live))
}

pub(super) async fn judge(live: &Live, member: &Browser, participant: ParticipantId, act: (&str, &str)) -> Page {
    let at = answers(live, participant);
    let page = member.get(&at).await;
    let (token, submission) = (page.hidden("form_token"), page.hidden("submission"));
    let fields = [("form_token", token.as_str()), ("submission", &submission), ("reason", act.1)];
    member.post(&format!("{at}/{}", act.0), &fields).await
}

fn state(read: &Value) -> &Value {
    &read["stages"][0]["gates"][0]["state"]
}

#[tokio::test]
async fn answers_of_every_kind_are_saved_sent_returned_changed_and_accepted() {
    let live = asking(
        vec![
            question("Who are you?", FieldType::Text, true),
            question("Tell us more.", FieldType::LongText, true),
            question("How many?", FieldType::Number, true),
            question("Since when?", FieldType::Date, true),
            question("Are you sure?", FieldType::Boolean, true),
            question("Which one?", FieldType::Choice, true),
            question("Which ones?", FieldType::MultiChoice, true),
            question("Proof?", FieldType::File, false),
            question("Where do you live?", FieldType::Address, true),
            question("Where do we send the money?", FieldType::BankDetails, true),
            question("Anything else?", FieldType::Text, false),
        ],
        false,
    )
    .await;
    let ada = live.attend(live.ids()[0]).await;
    let names: Vec<String> = (0..11).map(|question| name(&live, question)).collect();
    let part = |question: usize, part: &str| format!("{}.{part}", names[question]);
    let typed = [
        (names[0].clone(), "Ada <b>Okafor</b>"),
        (names[1].clone(), "First.\r\nMy card is 4111 1111 1111 1111."),
        (names[2].clone(), "1,250.50"),
        (names[3].clone(), "Mar 14, 2019"),
        (names[4].clone(), "yes"),
        (names[5].clone(), "Green & blue"),
        (part(6, "0"), "on"),
        (part(6, "1"), "on"),
        (part(8, "line1"), "1 Main St"),
        (part(8, "city"), "Albany"),
        (part(8, "country"), "USA"),
        (part(9, "holder"), "Ada Okafor"),
        (part(9, "bank"), "First Bank"),
        (part(9, "number"), IBAN),
    ];
    let typed: Vec<(&str, &str)> = typed.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let overview = ada.get("").await;
    assert!(overview.says("Answer questions"), "{}", overview.body);

    let saved = submit(&live, &ada, "save", &typed[..3]).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let page = ada.get(&condition(&live)).await;
    assert!(page.says("<h1>Questions for “Approval”</h1>"), "{}", page.body);
    assert!(page.says("Draft saved") && page.says("3 of 11 answered") && page.says("1,250.50"), "{}", page.body);
    assert_eq!(information(&live).await, Vec::<Value>::new());
    assert!(live.member.get(&answers(&live, ada.participant)).await.says("has not sent answers yet"));

    let early = submit(&live, &ada, "send", &typed[..6]).await;
    assert!(early.status == 422 && early.says("Some answers need another look"), "{}", early.body);
    assert!(early.title().starts_with("Error: ") && early.says("Your answer is missing"), "{}", early.body);
    assert!(ada.get(&condition(&live)).await.says("6 of 11 answered"));
    assert_eq!(information(&live).await, Vec::<Value>::new());

    // Even the page with other errors doesn't show an account number again, but keeps it.
    let without_name = submit(&live, &ada, "send", &typed[1..]).await;
    assert!(without_name.status == 422 && without_name.says("One answer needs another look"), "{}", without_name.body);
    assert!(!without_name.body.contains(&IBAN[4..16]) && without_name.says("ending in 3000"), "{}", without_name.body);
    let sent = submit(&live, &ada, "send", &typed[..13]).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let receipt = ada.browser.get(sent.location()).await;
    assert!(receipt.says("You answered the questions for “Approval”") && receipt.says("Revision"), "{}", receipt.body);
    let page = ada.get(&condition(&live)).await;
    assert!(page.says("What you sent") && page.says("Waiting to be read") && page.says("ending in 3000"));
    assert!(page.says("Nothing waits for you here") && !page.says(">Send</button>"), "{}", page.body);
    assert!(!ada.get("").await.says("Answer questions"));

    let read = live.read().await;
    let waiting = &read["stages"][0]["gates"][0];
    assert_eq!((state(&read), &waiting["waiting_on_participant_ids"]), (&json!("open"), &json!([])));
    assert_eq!(waiting["waiting_on"], "A member to read the answers of Ada Okafor");
    let first = &information(&live).await[0];
    assert_eq!((&first["state"], &first["revision"], &first["accepted_by"]), (&json!("sent"), &json!(1), &Value::Null));
    let values: Vec<&Value> =
        first["answers"].as_array().expect("answers").iter().map(|answer| &answer["value"]).collect();
    let address = json!({"line1": "1 Main St", "line2": null, "city": "Albany", "region": null, "postal_code": null, "country": "USA"});
    assert_eq!(
        values,
        [
            &json!("Ada <b>Okafor</b>"),
            &Value::Null,
            &json!("1250.50"),
            &json!("2019-03-14"),
            &json!(true),
            &json!("Green & blue"),
            &json!(["Red", "Green & blue"]),
            &Value::Null,
            &address,
            &Value::Null,
            &Value::Null,
        ]
    );
    let redacted: Vec<bool> =
        first["answers"].as_array().expect("answers").iter().map(|answer| answer["redacted"] == true).collect();
    assert_eq!((0..11).filter(|at| redacted[*at]).collect::<Vec<_>>(), [1, 9], "a card number and bank details");

    let home = live.member.get("/app").await;
    assert!(home.says("Answers to read") && home.says("A member to read the answers of Ada Okafor"), "{}", home.body);
    let page = live.member.get(&live.path()).await;
    assert!(page.says("Read answers of Ada Okafor") && page.says(&answers(&live, ada.participant)), "{}", page.body);
    let page = live.member.get(&answers(&live, ada.participant)).await;
    for text in ["Ada <b>Okafor</b>", CARD, "14 Mar 2019", "Yes", "Albany", "First Bank", "IBAN ending in 3000"] {
        assert!(unescaped(&page.body).contains(text), "{text}: {}", page.body);
    }
    assert!(!page.says("<b>Okafor"), "{}", page.body);

    let blank = judge(&live, &live.member, ada.participant, ("return", "  ")).await;
    assert!(blank.status == 422 && blank.says("Reason must not be blank"), "{}", blank.body);
    let returned = judge(&live, &live.member, ada.participant, ("return", "Which <i>city</i>?")).await;
    assert_eq!(returned.status, 303, "{}", returned.body);
    let page = ada.get(&condition(&live)).await;
    assert!(
        unescaped(&page.body).contains("Which <i>city</i>?") && page.says("returned your answers"),
        "{}",
        page.body
    );
    assert!(page.says("1 Main St") && page.says("Account number ending in 3000"), "what was sent is the draft");
    let overview = unescaped(&ada.get("").await.body);
    assert!(overview.contains("Answer questions"), "{overview}");
    assert!(overview.contains("Returned: Which <i>city</i>? · Step: Approval"), "{overview}");

    // All as before, except the city; the account number stays without being shown.
    let city = part(8, "city");
    let mut again: Vec<(&str, &str)> = typed.clone();
    again.retain(|(name, _)| *name != part(9, "number"));
    for (name, value) in &mut again {
        if *name == city {
            *value = "Troy";
        }
    }
    let sent = submit(&live, &ada, "send", &again).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let second = ada.browser.get(sent.location()).await;
    let page = live.member.get(&answers(&live, ada.participant)).await;
    assert!(page.says("Revision 2") && page.says("1 answer changed since revision 1"), "{}", page.body);
    assert_eq!(page.body.matches(">Changed</span>").count(), 1, "{}", page.body);
    assert!(page.says("This completes the agreement."), "nothing else is left: {}", page.body);
    let accepted = judge(&live, &live.member, ada.participant, ("accept", "")).await;
    assert_eq!(accepted.status, 303, "{}", accepted.body);
    let done = live.member.get(accepted.location()).await;
    for text in ["Answers accepted", "The agreement is completed.", "These answers are settled"] {
        assert!(done.says(text), "{text}: {}", done.body);
    }
    let read = live.read().await;
    assert_eq!((state(&read), &read["lifecycle"]), (&json!("cleared"), &json!("completed")));
    let found = information(&live).await;
    let states: Vec<&Value> = found.iter().map(|submission| &submission["state"]).collect();
    assert_eq!(states, ["returned", "accepted"]);
    assert_eq!((&found[0]["return_reason"], &found[1]["revision"]), (&json!("Which <i>city</i>?"), &json!(2)));
    assert_eq!(found[1]["accepted_by"]["display_name"], "Maren Holt");
    assert!(ada.get(&condition(&live)).await.says("Accepted"));

    the_hashes_of_receipts_can_be_checked(&live, &ada, [&second, &receipt]).await;
    nobody_knows_the_account_number(&live, &ada).await;
}

async fn the_hashes_of_receipts_can_be_checked(live: &Live, ada: &Attendee, receipts: [&Page; 2]) {
    let page = live.member.get(&answers(live, ada.participant)).await;
    let links = page.body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let links: Vec<&str> = links.filter(|link| link.contains("/hashed/")).collect();
    assert_eq!(links.len(), receipts.len(), "{}", page.body);
    for (link, receipt) in links.into_iter().zip(receipts) {
        let hashed = live.member.get(link).await;
        assert_eq!((hashed.status, &hashed.headers["content-type"]), (200, &"application/json".parse().unwrap()));
        let sha256 = shared::crypto::sha256_hex(&hashed.bytes);
        assert!(receipt.says(&sha256) && page.says(&sha256), "{sha256}: {}", receipt.body);
        let text = String::from_utf8(hashed.bytes.clone()).expect("text");
        assert!(text.contains("Ada <b>Okafor</b>") && text.contains("\"sealed\""), "{text}");
        assert!(!text.contains(&IBAN[4..16]), "{text}");
        assert_ne!(ada.browser.get(link).await.status, 200, "it is the members'");
    }
}

async fn nobody_knows_the_account_number(live: &Live, ada: &Attendee) {
    let middle = &IBAN[4..16];
    let mut told = vec![
        serde_json::to_string(&live.org.state().await).expect("JSON"),
        serde_json::to_string(&live.org.audit().await).expect("JSON"),
        serde_json::to_string(&live.org.events().await).expect("JSON"),
        serde_json::to_string(&information(live).await).expect("JSON"),
        std::fs::read_to_string(live.org.stack().log_file()).unwrap_or_default(),
    ];
    let record = format!("{}/participants/{}/access", live.path(), ada.participant);
    for path in [&answers(live, ada.participant), &live.path(), &record, "/app"] {
        told.push(live.member.get(path).await.body);
    }
    for path in ["", &condition(live)] {
        told.push(ada.get(path).await.body);
    }
    for text in told {
        assert!(!text.contains(middle), "{text}");
    }
}

#[tokio::test]
async fn what_was_sent_is_sent_once_and_not_changed() {
    let live = two_questions().await;
    let ada = live.attend(live.ids()[0]).await;
    let at = condition(&live);
    let who = name(&live, 0);
    let page = ada.get(&at).await;
    let send = format!("{at}/answers/send");
    let typed = [(who.as_str(), "Ada")];
    let done = join_all((0..4).map(|_| ada.send(&page, &send, &typed))).await;
    let locations: Vec<_> = done.iter().map(|page| (page.status, page.location().to_owned())).collect();
    assert!(locations.iter().all(|at| *at == locations[0]) && locations[0].0 == 303, "{locations:?}");
    assert_eq!(information(&live).await.len(), 1);
    assert_eq!(ada.get("").await.body.matches("You answered the questions for “Approval”</a>").count(), 1);
    for (act, typed) in [("save", "Eve"), ("send", "Eve")] {
        let another = ada.get("").await.copy().name;
        let late = ada.send(&page, &format!("{at}/answers/{act}"), &[(who.as_str(), typed), ("copy", &another)]).await;
        assert!(late.status == 409 && late.says("You have done this already"), "{act}: {}", late.body);
    }
    assert_eq!(information(&live).await[0]["answers"][0]["value"], "Ada");
    let declined = ada.send(&page, &format!("{at}/decline"), &[("reason", "No.")]).await;
    assert!(declined.status == 409 && declined.says("You have done this already"), "{}", declined.body);
}

struct Windows {
    live: Live,
    ada: Attendee,
    shaky: Shaky,
    far: Attendee,
    who: String,
    page: Page,
    send: String,
}

async fn two_windows() -> Windows {
    let live = two_questions().await;
    let ada = live.attend(live.ids()[0]).await;
    let shaky = Shaky::beside(&live.org);
    let far = Attendee { browser: shaky.browser(), participant: ada.participant };
    let cookie = format!("part-{}", ada.participant);
    far.browser.set_cookie(&cookie, &ada.browser.cookie(&cookie).expect("a session"));
    let page = ada.get(&condition(&live)).await;
    let (who, send) = (name(&live, 0), format!("{}/answers/send", condition(&live)));
    Windows { live, ada, shaky, far, who, page, send }
}

#[tokio::test]
async fn answers_that_another_call_sends_between_two_reads_are_sent_once() {
    for reads_before in 0.. {
        let Windows { live, ada, shaky, far, who, page, send } = two_windows().await;
        let read = || Rule::on("GetItem").containing(live.agreement.id());
        shaky.faults.inject(read().times(reads_before), Fault::Delay(Duration::ZERO));
        let held = shaky.faults.inject(read().times(1), Fault::Held);
        let typed = [(who.as_str(), "Ada")];
        let mut second = Box::pin(far.send(&page, &send, &typed));
        tokio::select! {
            second = &mut second => {
                assert!(second.status == 303 && reads_before > 2, "after {reads_before} reads: {}", second.body);
                break;
            }
            () = held.wait_for_hits(1) => {}
        }
        let first = ada.send(&page, &send, &typed).await;
        held.end();
        let second = second.await;
        assert_eq!((second.status, second.location()), (303, first.location()), "{reads_before}: {}", second.body);
        assert_eq!(information(&live).await.len(), 1);
    }
}

#[tokio::test]
async fn a_lost_response_sends_once_and_a_failure_sends_nothing() {
    let Windows { live, ada, shaky, far, who, page, send } = two_windows().await;
    let failing = shaky.faults.inject(Rule::on("TransactWriteItems").containing("SUBMISSION#"), Fault::ServerError);
    let failed = far.send(&page, &send, &[(&who, "Ada")]).await;
    assert!(failed.status >= 500 && information(&live).await.is_empty(), "{}", failed.body);
    failing.end();
    assert!(ada.get(&condition(&live)).await.says("0 of 2 answered"), "no draft either");
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("SUBMISSION#").times(1), Fault::LateCommit);
    let done = far.send(&page, &send, &[(&who, "Ada")]).await;
    assert_eq!(done.status, 303, "{}", done.body);
    assert_eq!(information(&live).await.len(), 1);
    assert!(far.browser.get(done.location()).await.says("You answered"));
}

#[tokio::test]
async fn drafts_of_two_windows_do_not_replace_each_other_unseen() {
    let live = two_questions().await;
    let ada = live.attend(live.ids()[0]).await;
    let at = condition(&live);
    let (save, who) = (format!("{at}/answers/save"), name(&live, 0));
    let (one, other) = (ada.get(&at).await, ada.get(&at).await);
    for _ in 0..2 {
        assert_eq!(ada.send(&one, &save, &[(&who, "Ada")]).await.status, 303, "twice is as once");
    }
    let late = ada.send(&other, &save, &[(&who, "Eve")]).await;
    assert!(late.status == 409 && late.says("saved in another window") && late.says("value=\"Eve\""), "{}", late.body);
    assert!(ada.get(&at).await.says("value=\"Ada\""));
    assert_eq!(ada.send(&late, &save, &[(&who, "Eve")]).await.status, 303, "whoever has read that, may replace it");
    let page = ada.get(&at).await;
    assert!(page.says("value=\"Eve\"") && !page.says("value=\"Ada\""));
    let stale = ada.send(&one, &format!("{at}/answers/send"), &[(&who, "Ada")]).await;
    assert!(stale.status == 409 && information(&live).await.is_empty(), "{}", stale.body);
}

#[tokio::test]
async fn two_members_decide_once_and_others_never() {
    let live = two_questions().await;
    let ada = live.attend(live.ids()[0]).await;
    assert_eq!(submit(&live, &ada, "send", &[(&name(&live, 0), "Ada")]).await.status, 303);
    let other = Browser::of(&live.org, &live.org.member("Ines Park").await).await;
    let at = answers(&live, ada.participant);

    let foreign = Org::new().await;
    let stranger = Browser::of(&foreign, &foreign.member("Eve Stone").await).await;
    let submission = live.member.get(&at).await.hidden("submission");
    let token = stranger.get("/app/account").await.hidden("form_token");
    let fields = [("form_token", token.as_str()), ("submission", &submission)];
    assert_eq!(stranger.get(&at).await.status, 404);
    assert_eq!(stranger.post(&format!("{at}/accept"), &fields).await.status, 404);
    assert_eq!(live.member.get(&answers(&live, live.ids()[1])).await.status, 404, "Northwind is not asked");
    let token = live.member.get(&at).await.hidden("form_token");
    for wrong in [unknown_id(), "x".to_owned()] {
        let fields = [("form_token", token.as_str()), ("submission", &wrong)];
        assert_eq!(live.member.post(&format!("{at}/accept"), &fields).await.status, 404);
    }
    assert_eq!(state(&live.read().await), "open");

    let (one, two) = tokio::join!(
        judge(&live, &live.member, ada.participant, ("accept", "")),
        judge(&live, &other, ada.participant, ("return", "Not enough.")),
    );
    let mut outcome = [one.status, two.status];
    outcome.sort_unstable();
    assert_eq!(outcome, [303, 409], "{} {}", one.body, two.body);
    let late = if one.status == 409 { one } else { two };
    assert!(late.says("these answers already") && late.says("Nothing was changed"), "{}", late.body);
    let found = information(&live).await;
    let is_accepted = found[0]["state"] == "accepted";
    assert_eq!(state(&live.read().await) == "cleared", is_accepted, "{found:?}");
}

#[tokio::test]
async fn whoever_reads_answers_is_told_in_whose_browser_they_were_sent() {
    let live = two_questions().await;
    let ada = live.attend(live.ids()[0]).await;
    let kim = live.org.member("Kim Sato").await;
    assert_eq!(ada.browser.sign_in(&kim.email, &kim.password, "/app").await.status, 303);
    assert_eq!(ada.send(&ada.get("").await, "/in-person", &[]).await.status, 303);
    let sent = submit(&live, &ada, "send", &[(&name(&live, 0), "Ada Okafor")]).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let page = live.member.get(&answers(&live, ada.participant)).await;
    let told = "Ada Okafor sent these answers in person, in Kim Sato’s browser.";
    assert!(unescaped(&page.body).contains(told), "{}", page.body);
}

#[tokio::test]
async fn nobody_sees_another_participants_answers_and_each_counts() {
    let live = asking(vec![question("Who are you?", FieldType::Text, true)], true).await;
    let [ada, northwind] = live.ids();
    let (ada, northwind) = tokio::join!(live.attend(ada), live.attend(northwind));
    let who = name(&live, 0);
    assert_eq!(submit(&live, &ada, "send", &[(&who, "Only Ada knows")]).await.status, 303);
    for path in ["", &condition(&live)] {
        assert!(!northwind.get(path).await.says("Only Ada knows"), "{path}");
    }
    assert_eq!(
        live.read().await["stages"][0]["gates"][0]["waiting_on"],
        "Northwind Robotics, Inc. to answer, and a member to read the answers of Ada Okafor"
    );
    assert_eq!(submit(&live, &northwind, "send", &[(&who, "Northwind")]).await.status, 303);
    assert_eq!(judge(&live, &live.member, northwind.participant, ("accept", "")).await.status, 303);
    assert_eq!(state(&live.read().await), "open", "Ada's answers are not accepted yet");
    assert_eq!(judge(&live, &live.member, ada.participant, ("accept", "")).await.status, 303);
    assert_eq!(live.read().await["lifecycle"], "completed");
}

#[tokio::test]
async fn files_come_with_the_draft_and_only_members_get_them() {
    let live = asking(vec![question("Proof?", FieldType::File, true)], false).await;
    let ada = live.attend(live.ids()[0]).await;
    let at = condition(&live);
    let upload = async |act: &str, file: (&str, &[u8])| {
        let page = ada.get(&at).await;
        let action = format!("{at}/answers/{act}");
        let fields = hidden(&page, &action);
        let own: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        ada.browser.upload(&ada.at(&action), &own, (&name(&live, 0), file.0, file.1)).await
    };
    let zip = [&pdf("both", "")[..], b"PK\x05\x06"].concat();
    let big = [b"%PDF-1.7\n".to_vec(), vec![b'x'; 4 * 1024 * 1024]].concat();
    for (content, says) in [
        (&b""[..], "is empty"),
        (b"MZ\x90\0program", "must be a PDF, JPEG or PNG file"),
        (&zip, "must be a PDF, JPEG or PNG file"),
        (&big, "is 4.1 MB. The limit is 4 MB"),
    ] {
        for act in ["save", "send"] {
            let page = upload(act, ("a.pdf", content)).await;
            assert!(page.status == 422 && page.says(says), "{act} {says}: {}", page.body);
            assert!(page.says("0 of 1 answered"), "{act} {says}: {}", page.body);
            assert!(page.body.find("type=\"file\"") < page.body.find("class=\"field-error\""), "it stands below");
        }
    }
    let file = pdf("Proof of address", "");
    assert_eq!(upload("save", ("Proof.pdf", &file)).await.status, 303);
    let page = ada.get(&at).await;
    assert!(page.says("Saved: Proof.pdf") && page.says("1 of 1 answered"), "{}", page.body);
    let removed = submit(&live, &ada, "save", &[(&format!("{}.remove", name(&live, 0)), "on")]).await;
    assert!(removed.status == 303 && !ada.get(&at).await.says("Proof.pdf"));
    assert_eq!(upload("save", ("Proof.pdf", &file)).await.status, 303);
    assert_eq!(submit(&live, &ada, "send", &[]).await.status, 303, "the saved file counts");
    let value = &information(&live).await[0]["answers"][0]["value"];
    assert_eq!((&value["filename"], &value["size_bytes"]), (&json!("Proof.pdf"), &json!(file.len())));
    let page = live.member.get(&answers(&live, ada.participant)).await;
    let (_, rest) = page.body.split_once("/files/").expect("a file");
    let files = format!("{}/files", answers(&live, ada.participant));
    let got = live.member.get(&format!("{files}/{}", rest.split('"').next().expect("ids"))).await;
    assert!(got.status == 200 && got.body.starts_with("%PDF-"), "{}", got.body);
    assert!(got.headers["content-disposition"].to_str().unwrap().starts_with("attachment;"));
    assert_eq!(live.member.get(&format!("{files}/{}/{}", unknown_id(), unknown_id())).await.status, 404);
}
