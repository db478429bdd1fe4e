//! Hostile text in every text field of the app: it is refused, or shown as text.

use std::collections::BTreeSet;

use reqwest::Url;
use serde_json::json;
use shared::domain::agreement::gate::{FieldType, GateRule, InformationField, RequestedFile};
use shared::domain::agreement::{Agreement, AgreementName, Label};
use shared::domain::ids::{FieldId, ParticipantId};
use shared::domain::note::Note;
use shared::domain::time::Timestamp;
use tests::Org;
use tests::app::{Browser, Page, unescaped};
use tests::attending::{Attendee, Live, shown_link};
use tests::pages::{Form, Furnished, crawl, crawl_from, furnish, visit};
use tests::pdf::pdf;

const MARKUP: &str = "<script>alert(1)</script>\"'&{{7*7}}<img src=x onerror=alert(2)>";
const RIGHT_TO_LEFT: &str = "Seed round \u{202E}fdp.exe";
/// The widest character; 200 of them have no place to break a line.
const WIDE: char = '\u{FDFD}';

fn has_only_text(page: &Page) -> bool {
    let mut pictures = page.body.split("<img").skip(1);
    let has_own_pictures = pictures.all(|rest| rest.starts_with(" src=\"/app/"));
    page.has_only_own_script() && has_own_pictures && !page.body.contains("\"'&{{")
}

#[tokio::test]
async fn text_is_refused_or_shown_as_text_wherever_it_is_typed() {
    let org = Org::new().await;
    let Furnished { subscriber, .. } = furnish(&org).await;
    let admin = &subscriber.admin;
    let visits = crawl(&org, admin).await;
    let forms: BTreeSet<Form> = visits.iter().flat_map(|visit| visit.forms.clone()).collect();
    let with_text: Vec<&Form> = forms.iter().filter(|form| !form.texts.is_empty()).collect();
    let names: BTreeSet<&String> = with_text.iter().flat_map(|form| &form.texts).collect();
    assert!(with_text.len() > 15 && names.len() > 10, "{names:?}");
    let token = admin.get("/app").await.hidden("form_token");
    let wide = WIDE.to_string().repeat(200);
    let mut kept = 0;
    for text in [MARKUP, RIGHT_TO_LEFT, &wide] {
        for form in &with_text {
            let answer = form.typed(text).send(admin, &token).await;
            assert!(answer.status < 500, "{text} in {form:?}: {}", answer.status);
            kept += usize::from(answer.status == 303);
            if !answer.body.is_empty() {
                assert!(has_only_text(&answer), "{text} in {form:?}: {}", answer.body);
            }
            if text == RIGHT_TO_LEFT && answer.status == 303 {
                let (shown, _) = visit(&org, admin, answer.location(), "a form").await;
                assert!(!shown.body.contains('\u{202E}'), "{form:?}: {}", answer.location());
            }
        }
    }
    assert!(kept > 10, "{kept} of the forms keep what was typed");
    for visit in crawl(&org, admin).await {
        let page = admin.get(&visit.path).await;
        assert!(has_only_text(&page), "{}: {}", visit.path, page.body);
        assert!(!page.body.contains('\u{202E}'), "{}: {}", visit.path, page.body);
    }
}

fn name_everything(draft: &mut Agreement, name: &str) {
    let label = Label::parse(name).expect("a label");
    draft.name = AgreementName::parse(name).expect("a name");
    draft.stages.drain(..1);
    draft.stages.truncate(1);
    draft.stages[0].name = label.clone();
    draft.stages[0].gates.truncate(1);
    draft.documents[0].name = label.clone();
    for block in &mut draft.documents[0].blocks {
        block.label = label.clone();
    }
    let participant_ids: BTreeSet<ParticipantId> = [draft.participants[0].id].into();
    let field = |field_type, options| InformationField {
        id: FieldId::new(),
        label: label.clone(),
        field_type,
        required: false,
        options,
    };
    let fields = vec![
        field(FieldType::Text, Vec::new()),
        field(FieldType::LongText, Vec::new()),
        field(FieldType::Choice, vec![name.to_owned(), "Other".to_owned()]),
        field(FieldType::Address, Vec::new()),
    ];
    let help = Note::parse(name).ok();
    let file = RequestedFile { title: Some(label.clone()), help, review: true };
    let (stage, now) = (draft.stages[0].id, Timestamp::now());
    for rule in [
        GateRule::ParticipantApproval { participant_ids: participant_ids.clone() },
        GateRule::FileUpload { participant_ids: participant_ids.clone(), file },
        GateRule::InformationRequest { participant_ids, fields },
    ] {
        *draft = draft.add_gate(stage, rule, now).expect("a condition").0;
    }
}

async fn named(name: &str) -> Live {
    let org = Org::new().await;
    let admin = org.subscriber().await.admin;
    let token = admin.get("/app").await.hidden("form_token");
    let settings = [("form_token", token.as_str()), ("name", name), ("time_zone", "UTC")];
    assert_eq!(admin.post("/app/organization", &settings).await.status, 303);
    let member = Browser::of(&org, &org.member(name).await).await;
    let draft = org.ready_draft("Lease", |draft| name_everything(draft, name)).await;
    for participant in &draft.participants {
        let path = format!("/api/v1/contacts/{}", participant.contact_id);
        org.patch(&path, &json!({"display_name": name})).send().await.ok(200);
    }
    Live::publish(org, member, draft).await
}

fn assert_only_text(page: &Page, at: &str) {
    assert!(page.status < 500, "{at}: {}", page.status);
    assert!(page.body.is_empty() || has_only_text(page), "{at}: {}", page.body);
    assert!(page.status == 422 || !page.body.contains('\u{202E}'), "{at}: {}", page.body);
}

async fn look_at_part(live: &Live, attendee: &Attendee) -> BTreeSet<Form> {
    let (mut forms, mut operations) = (BTreeSet::new(), BTreeSet::new());
    for visit in crawl_from(&live.org, &attendee.browser, &attendee.at("")).await {
        assert_only_text(&attendee.browser.get(&visit.path).await, &visit.path);
        forms.extend(visit.forms.into_iter().filter(|form| !form.texts.is_empty()));
        operations.insert(visit.operation);
    }
    assert!(operations.len() >= 3, "{operations:?}");
    forms
}

/// A page's `mailto:` has an address, a subject and a text, and nothing injected by a name.
fn check_mail(page: &Page, name: &str) {
    let link = page.body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let mail = link.into_iter().find(|link| link.starts_with("mailto:")).expect("a message");
    let mail = Url::parse(&unescaped(mail)).expect("an address");
    assert_eq!(mail.path(), "ada%40okafor.example");
    assert_eq!(mail.fragment(), None);
    let parts: Vec<_> = mail.query_pairs().collect();
    let [(subject, subject_text), (body, text)] = &parts[..] else { panic!("two parts: {parts:?}") };
    assert_eq!((subject.as_ref(), body.as_ref()), ("subject", "body"));
    assert_eq!(subject_text.as_ref(), format!("{name}: your part"));
    assert_eq!(text.matches(name).count(), 3, "participant, organization and agreement: {text}");
}

#[tokio::test]
async fn participants_are_shown_names_and_what_they_type_as_text() {
    let wide = WIDE.to_string().repeat(200);
    for name in [MARKUP, "Lease&bcc=eve@members.example?cc=x#y %0D%0ABcc:eve+z", &wide] {
        let live = named(name).await;
        let [ada, _] = live.ids();
        let access = format!("{}/participants/{ada}/access", live.path());
        for path in [live.path(), access] {
            assert_only_text(&live.member.get(&path).await, &path);
        }
        let shown = shown_link(&live.member, live.agreement.id(), ada).await;
        assert_only_text(&shown, "the link that is shown");
        check_mail(&shown, name);

        let link = live.link(ada).await;
        let invited = Browser::new(live.org.base_url()).get(&link).await;
        assert!(invited.status == 200 && invited.says("invites you to"), "{}", invited.body);
        assert_only_text(&invited, "the link");
        let attendee = live.open(ada).await;
        let consent = attendee.get("").await;
        assert!(consent.says("I agree"), "{}", consent.body);
        assert_only_text(&consent, "the consent");
        assert_eq!(attendee.submit("", "/consent", &[]).await.status, 303);

        // Typed text is refused, or kept as text. Declining comes last: nothing else works after it.
        let forms = look_at_part(&live, &attendee).await;
        assert!(forms.len() >= 5, "to sign, to answer, and to decline: {forms:?}");
        let (declining, forms): (Vec<Form>, Vec<Form>) =
            forms.into_iter().partition(|form| form.action.ends_with("/decline"));
        let token = attendee.get("").await.hidden("form_token");
        let upload = format!("/conditions/{}", live.agreement.stages[0].gates[2].id);
        let file = (format!("{}.pdf", &name[..name.len().min(120)]), pdf("a file", ""));
        let uploaded = attendee.upload(&upload, &format!("{upload}/upload"), (&file.0, &file.1)).await;
        assert_only_text(&uploaded, "the upload");
        let mut kept = 0;
        let each =
            [RIGHT_TO_LEFT, &wide, MARKUP].into_iter().flat_map(|text| forms.iter().map(move |form| (text, form)));
        let last = [RIGHT_TO_LEFT, MARKUP].into_iter().flat_map(|text| declining.iter().map(move |form| (text, form)));
        for (text, form) in each.chain(last) {
            let answer = form.typed(text).send(&attendee.browser, &token).await;
            assert_only_text(&answer, &format!("{text} in {form:?}"));
            assert!(text != RIGHT_TO_LEFT || answer.status == 422, "{form:?}: {}", answer.status);
            kept += usize::from(answer.status == 303);
        }
        assert!(kept >= 3, "{kept} of the forms keep what was typed");
        look_at_part(&live, &attendee).await;
        for path in [live.path(), format!("{}/participants/{ada}/access", live.path()), "/app".to_owned()] {
            assert_only_text(&live.member.get(&path).await, &path);
        }
    }
}
