//! Members' decisions that something interferes with: names change, time passes, members are removed.

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use shared::domain::agreement::gate::{FieldType, Gate, GateRule, GateState, InformationField};
use shared::domain::agreement::{Agreement, Label, Participant, ParticipantRole};
use shared::domain::ids::{ContactId, FieldId, GateId, ParticipantId, StageId};
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page, Person};
use tests::{Fault, Org, Rule, Shaky, drafts};

const WRITE: &str = "TransactWriteItems";
const AN_HOUR_MS: i64 = 3_600_000;

struct Review {
    browser: Browser,
    person: Person,
    path: String,
    agreement: Agreement,
    expires_at: Timestamp,
    // Dropped before its stack.
    shaky: Shaky,
    org: Org,
}

impl Review {
    async fn of(change: impl FnOnce(&mut Agreement), lifetime_ms: i64) -> Self {
        Self::on(Org::new().await, change, lifetime_ms).await
    }

    async fn on(org: Org, change: impl FnOnce(&mut Agreement), lifetime_ms: i64) -> Self {
        let person = org.member("Maren Holt").await;
        let shaky = Shaky::beside(&org);
        let browser = shaky.browser_of(&person).await;
        let agreement = org.ready_draft("Lease", change).await;
        let expires_at = Timestamp::from_unix_ms(Timestamp::now().unix_ms() + lifetime_ms).expect("a moment");
        let proposal = drafts::propose_due(&org, &agreement, ProposalAction::PublishAgreement, expires_at).await;
        let path = format!("/app/proposals/{}", proposal.id());
        Self { browser, person, path, agreement, expires_at, shaky, org }
    }

    fn writes(&self) -> Rule {
        Rule::on(WRITE).containing(format!("PROPOSAL#{}", self.proposal()))
    }

    fn proposal(&self) -> &str {
        self.path.rsplit('/').next().expect("an id")
    }

    async fn send(&self, page: &Page, decision: &str) -> Page {
        let (token, version) = (page.hidden("form_token"), page.hidden("version"));
        let form = [("form_token", token.as_str()), ("version", &version), ("note", "Typed"), ("decision", decision)];
        self.browser.post(&self.path, &form).await
    }

    async fn rename(&self, contact: ContactId, changes: &Value) {
        self.org.patch(format!("/api/v1/contacts/{contact}"), changes).send().await.ok(200);
    }

    async fn states(&self) -> (String, String) {
        let text = |value: &Value| value.as_str().expect("a state").to_owned();
        let proposal = self.org.get(format!("/api/v1/proposals/{}", self.proposal())).send().await.ok(200);
        let agreement = self.org.get(format!("/api/v1/agreements/{}", self.agreement.id())).send().await.ok(200);
        (text(&proposal["state"]), text(&agreement["lifecycle"]))
    }
}

fn filled<'a>(page: &Page, note: &'a str, decision: &'a str) -> Vec<(&'static str, String)> {
    let hidden = ["form_token", "version", "member"].map(|name| (name, page.hidden(name)));
    hidden.into_iter().chain([("note", note.to_owned()), ("decision", decision.to_owned())]).collect()
}

async fn submit(browser: &Browser, path: &str, form: &[(&'static str, String)], headers: &[(&str, &str)]) -> Page {
    let fields: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    browser.post_with(path, &fields, headers).await
}

async fn sign_out_everywhere(org: &Org, person: &Person) {
    let elsewhere = Browser::of(org, person).await;
    let token = elsewhere.get("/app/account").await.hidden("form_token");
    assert_eq!(elsewhere.post("/app/sign-out-everywhere", &[("form_token", &token)]).await.status, 303);
}

const ENDED: &str = "Your session ended. Nothing was decided.";

#[tokio::test]
async fn a_note_sent_after_the_session_ended_is_there_after_signing_in() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let (browser, person) = (&review.browser, &review.person);
    let page = browser.get(&review.path).await;
    sign_out_everywhere(&review.org, person).await;
    let note = "Terms as agreed;\r\n“20%” <b>is</b> the cap.";
    let out = submit(browser, &review.path, &filled(&page, note, "confirm"), &[]).await;
    assert_eq!(out.status, 303, "{}", out.body);
    assert!(browser.cookie("session").is_none() && browser.cookie("once-note").is_some());
    assert!(!browser.cookie("once-note").unwrap_or_default().contains("agreed"), "it is sealed");
    let sign_in = browser.get(out.location()).await;
    assert!(sign_in.says(ENDED) && sign_in.says("Your note is kept."), "{}", sign_in.body);
    let fields = [
        ("form_token", sign_in.hidden("form_token")),
        ("next", sign_in.hidden("next")),
        ("email", person.email.clone()),
        ("password", person.password.clone()),
    ];
    let back = submit(browser, "/app/sign-in", &fields, &[]).await;
    assert_eq!((back.status, back.location()), (303, review.path.as_str()), "{}", back.body);
    let page = browser.get(&review.path).await;
    for text in
        [ENDED, "Your note is kept below.", "Terms as agreed;\r\n“20%” &#60;b&#62;is&#60;/b&#62; the cap.</textarea>"]
    {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    are(&review.states().await, "pending", "draft");
    assert!(browser.cookie("once-note").is_none());
    assert_eq!(submit(browser, &review.path, &filled(&page, note, "confirm"), &[]).await.status, 303);
    are(&review.states().await, "confirmed", "active");
}

#[tokio::test]
async fn a_kept_note_is_for_whoever_typed_it_on_its_own_page() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let (org, browser) = (&review.org, &review.browser);
    let colleague = org.member("Okon").await;
    let other = org.ready_draft("Option", |_| {}).await;
    let other = org.propose("publish_agreement", &other).await;
    let page = browser.get(&review.path).await;
    sign_out_everywhere(org, &review.person).await;
    assert_eq!(submit(browser, &review.path, &filled(&page, "For my eyes", "confirm"), &[]).await.status, 303);
    assert_eq!(browser.sign_in(&colleague.email, &colleague.password, "/app").await.status, 303);
    assert!(!browser.get(&review.path).await.says("For my eyes"));
    browser.set_cookie("session", "");
    assert_eq!(browser.sign_in(&review.person.email, &review.person.password, "/app").await.status, 303);
    let elsewhere = format!("/app/proposals/{}", other["id"].as_str().expect("an id"));
    assert!(!browser.get(&elsewhere).await.says("For my eyes"));
}

#[tokio::test]
async fn a_note_is_kept_when_its_member_has_signed_in_again_in_another_window() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let person = &review.person;
    let own = [("origin", review.org.base_url())];
    let browser = &Browser::of(&review.org, person).await;
    let page = browser.get(&review.path).await;
    sign_out_everywhere(&review.org, person).await;
    assert_eq!(browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
    let out = submit(browser, &review.path, &filled(&page, "Terms as agreed", "confirm"), &own).await;
    assert_eq!(out.status, 403, "{}", out.body);
    for text in [ENDED, "Your note is kept below.", "Terms as agreed</textarea>"] {
        assert!(out.says(text), "{text}: {}", out.body);
    }
    are(&review.states().await, "pending", "draft");
    assert!(out.title().starts_with("Error:"), "{}", out.title());
    let colleague = Browser::of(&review.org, &review.org.member("Okon").await).await;
    for (other, headers) in [(browser, &[][..]), (&colleague, &own)] {
        let refused = submit(other, &review.path, &filled(&page, "Planted", "confirm"), headers).await;
        assert!(refused.status == 403 && !refused.says("Planted"), "{}", refused.body);
    }
    assert_eq!(submit(browser, &review.path, &filled(&out, "Terms as agreed", "confirm"), &own).await.status, 303);
    are(&review.states().await, "confirmed", "active");
}

#[tokio::test]
async fn only_the_own_form_of_an_ended_session_is_kept() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let page = review.browser.get(&review.path).await;
    let form = filled(&page, "Planted", "confirm");
    let stranger = Browser::new(review.org.base_url());
    let own = review.org.base_url().to_owned();
    for headers in [
        &[][..],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("origin", own.as_str()), ("sec-fetch-site", "cross-site")],
    ] {
        let out = submit(&stranger, &review.path, &form, headers).await;
        assert_eq!(out.status, 303, "{headers:?}");
        assert!(!out.location().contains("ended") && stranger.cookie("once-note").is_none(), "{headers:?}");
    }
    // The browser has removed the cookie with the session, and says that the form is the app's own.
    let out = submit(&stranger, &review.path, &form, &[("origin", &own)]).await;
    assert!(out.location().ends_with("&ended=decision") && stranger.cookie("once-note").is_some());
    sign_out_everywhere(&review.org, &review.person).await;
    let mut forged = form.clone();
    forged[0].1 = "5f".repeat(32);
    let out = submit(&review.browser, &review.path, &forged, &[]).await;
    assert!(out.status == 303 && !out.location().contains("ended") && review.browser.cookie("once-note").is_none());
    are(&review.states().await, "pending", "draft");
}

#[tokio::test]
async fn a_note_that_fits_in_no_cookie_is_shown_to_be_copied() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let page = review.browser.get(&review.path).await;
    sign_out_everywhere(&review.org, &review.person).await;
    let kept = "n".repeat(2000);
    let out = submit(&review.browser, &review.path, &filled(&page, &kept, "decline"), &[]).await;
    assert!(out.status == 303 && review.browser.cookie("once-note").is_some(), "{}", out.body);
    let again = Browser::new(review.org.base_url());
    let long = "\u{20000}".repeat(2000);
    let own = [("origin", review.org.base_url())];
    let out = submit(&again, &review.path, &filled(&page, &long, "decline"), &own).await;
    assert_eq!(out.status, 401);
    assert!(out.says(ENDED) && out.says(&long) && out.title().starts_with("Error:"), "{}", out.title());
    are(&review.states().await, "pending", "draft");
}

#[tokio::test]
async fn every_decision_says_what_it_did_and_what_is_next() {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    let path = |proposal: &Value| format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    let draft = org.ready_draft("Lease", |_| {}).await;

    let declined = path(&org.propose("publish_agreement", &draft).await);
    assert_eq!(browser.decide(&declined, "decline", "").await.status, 303);
    let page = browser.get(&declined).await;
    assert!(page.says(">Declined</p>") && page.says("Nothing was published."), "{}", page.body);
    assert!(page.title().starts_with("Declined:"), "{}", page.title());

    let published = path(&org.propose("publish_agreement", &draft).await);
    let page = browser.get(&published).await;
    assert!(page.says("Confirming publishes this agreement.") && !page.says("danger-fill"), "{}", page.body);
    assert_eq!(browser.decide(&published, "confirm", "").await.status, 303);
    let page = browser.get(&published).await;
    assert!(page.says(">Published</p>") && page.says("Next: Ada Okafor to approve."), "{}", page.body);
    assert!(!browser.get(&published).await.says("Next: Ada"), "it is said once");

    let cancelled = path(&org.propose("cancel_agreement", &draft).await);
    let page = browser.get(&cancelled).await;
    assert!(page.says("Confirming permanently cancels this agreement.") && page.says("danger-fill"), "{}", page.body);
    assert_eq!(browser.decide(&cancelled, "confirm", "").await.status, 303);
    let page = browser.get(&cancelled).await;
    assert!(page.says(">Cancelled</p>") && page.says("cancelled permanently"), "{}", page.body);
}

#[tokio::test]
async fn the_review_begins_with_the_deal_and_links_to_what_is_in_the_way() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let id = review.agreement.id();
    let page = review.browser.get(&review.path).await;
    let document = format!("/app/agreements/{id}/documents/{}", review.agreement.documents[0].id);
    let header = page.body.split_once("<dl class=\"deal").and_then(|(_, rest)| rest.split_once("</dl>"));
    let header = header.map_or("", |(header, _)| header);
    for text in [
        "Ada Okafor <span class=\"quiet small\">Signer, Investor",
        "Decide by",
        "Purchase agreement",
        &format!("{document}/view"),
        &format!("{document}/download"),
    ] {
        assert!(header.contains(text), "{text}: {header}");
    }
    let mut after = review.agreement.clone();
    after.stages[2].gates.clear();
    after.documents[0].content.as_mut().expect("a file").sha256 = "aa".repeat(32);
    review.org.edit(&after).await;
    let page = review.browser.get(&review.path).await;
    let step =
        format!("<a href=\"/app/agreements/{id}/steps/{}#add\">Add a condition to “Closing”</a>", after.stages[2].id);
    assert!(page.says(&step), "{}", page.body);
    // The proposed file has been replaced: once the proposal is declined, its name links nowhere.
    assert_eq!(review.browser.decide(&review.path, "decline", "").await.status, 303);
    let page = review.browser.get(&review.path).await;
    assert!(page.says("What follows is the agreement as it was proposed.") && !page.says(&document), "{}", page.body);
}

fn are(states: &(String, String), proposal: &str, agreement: &str) {
    assert_eq!((states.0.as_str(), states.1.as_str()), (proposal, agreement));
}

#[tokio::test]
async fn who_was_renamed_under_the_page_is_shown_again_before_anything_is_confirmed() {
    const REFUSED: &str = "Something that the agreement refers to has changed";
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let ada = review.agreement.participants[0].contact_id;
    for (changes, shown) in [
        (json!({"display_name": "Adaeze Okafor"}), "Adaeze Okafor"),
        (json!({"email": "adaeze@okafor.example"}), "Adaeze Okafor"),
    ] {
        let page = review.browser.get(&review.path).await;
        review.rename(ada, &changes).await;
        let refused = review.send(&page, "confirm").await;
        assert_eq!(refused.status, 409, "{changes}");
        for text in [REFUSED, shown, "Typed</textarea>"] {
            assert!(refused.says(text), "{text}: {}", refused.body);
        }
        are(&review.states().await, "pending", "draft");
    }
    let page = review.browser.get(&review.path).await;
    let workspace = format!("/app/workspaces/{}", review.agreement.workspace_id);
    let token = page.hidden("form_token");
    assert_eq!(review.browser.post(&workspace, &[("form_token", &token)]).await.status, 303);
    let refused = review.send(&page, "confirm").await;
    assert!(refused.status == 409 && refused.says(REFUSED), "{}", refused.body);
    assert_eq!(review.send(&refused, "confirm").await.status, 303);
    are(&review.states().await, "confirmed", "active");
}

#[tokio::test]
async fn who_takes_no_part_may_be_renamed_and_declining_needs_no_second_look() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let page = review.browser.get(&review.path).await;
    let other = review.org.contact("Somebody else").await;
    let other: ContactId = other["id"].as_str().expect("an id").parse().expect("an id");
    review.rename(other, &json!({"display_name": "Another"})).await;
    let body = json!({"contact_id": other});
    let people = format!("/api/v1/workspaces/{}/contacts", review.agreement.workspace_id);
    review.org.post(people, &body).send().await.ok(201);
    assert_eq!(review.send(&page, "confirm").await.status, 303);

    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let page = review.browser.get(&review.path).await;
    review.rename(review.agreement.participants[1].contact_id, &json!({"display_name": "Northwind"})).await;
    assert_eq!(review.send(&page, "decline").await.status, 303);
    are(&review.states().await, "declined", "draft");
}

#[tokio::test]
async fn who_is_renamed_while_the_decision_is_written_is_shown_again() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let page = review.browser.get(&review.path).await;
    let new_name = json!({"display_name": "Southwind"});
    let rename = review.rename(review.agreement.participants[1].contact_id, &new_name);
    let refused = review.shaky.meanwhile(review.writes(), review.send(&page, "confirm"), rename).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.says("Southwind"));
    are(&review.states().await, "pending", "draft");
    assert_eq!(review.org.events().await.len(), 0);
}

#[tokio::test]
async fn a_hundred_people_can_be_confirmed() {
    let org = Org::new().await;
    let crowd = futures_util::future::join_all((0..98).map(async |n| org.person(&format!("Person{n}")).await)).await;
    let somebody = |contact: &Value| Participant {
        id: ParticipantId::new(),
        contact_id: contact["id"].as_str().expect("an id").parse().expect("an id"),
        roles: [ParticipantRole::Observer].into(),
        contact_version: None,
    };
    let crowd: Vec<Participant> = crowd.iter().map(somebody).collect();
    let last = crowd[97].contact_id;
    let review = Review::on(org, |draft| draft.participants.extend(crowd), AN_HOUR_MS).await;
    let page = review.browser.get(&review.path).await;
    review.rename(last, &json!({"display_name": "Latecomer"})).await;
    let refused = review.send(&page, "confirm").await;
    assert!(refused.status == 409 && refused.says("Latecomer"), "{}", refused.body);
    assert_eq!(review.send(&refused, "confirm").await.status, 303);
    are(&review.states().await, "confirmed", "active");
}

#[tokio::test]
async fn the_largest_agreement_can_be_proposed_and_confirmed() {
    let org = Org::new().await;
    // Four bytes each in UTF-8.
    let name = || (0..200).map(|_| fastrand::char('\u{20000}'..='\u{2a6df}')).collect::<String>();
    let crowd = futures_util::future::join_all((0..98).map(async |_| org.contact(&name()).await)).await;
    let somebody = |contact: &Value| Participant {
        id: ParticipantId::new(),
        contact_id: contact["id"].as_str().expect("an id").parse().expect("an id"),
        roles: [ParticipantRole::Observer].into(),
        contact_version: None,
    };
    let review = Review::on(
        org,
        |draft| {
            draft.participants.extend(crowd.iter().map(somebody));
            while draft.as_draft().is_ok() {
                let label = || Label::parse(&name()).expect("a label");
                let last = draft.stages.last_mut().expect("a stage");
                if last.gates.len() < 20 {
                    let id = GateId::new();
                    let participant_ids = [draft.participants[0].id].into();
                    let fields = (0..10).map(|_| InformationField {
                        id: FieldId::new(),
                        label: label(),
                        field_type: FieldType::Text,
                        required: true,
                        options: Vec::new(),
                    });
                    let rule = GateRule::InformationRequest { participant_ids, fields: fields.collect() };
                    last.gates.push(Gate { id, rule, state: GateState::Locked });
                } else {
                    let mut next = last.clone();
                    (next.id, next.name) = (StageId::new(), label());
                    next.gates.clear();
                    draft.stages.push(next);
                }
            }
            draft.stages.last_mut().expect("a stage").gates.pop();
        },
        AN_HOUR_MS,
    )
    .await;
    let body = json!({"action": "cancel_agreement", "agreement_id": review.agreement.id()});
    review.org.post("/api/v1/proposals", &body).send().await.ok(201);
    let page = review.browser.get(&review.path).await;
    assert_eq!(page.status, 200);
    assert_eq!(review.send(&page, "confirm").await.status, 303);
    are(&review.states().await, "confirmed", "active");
}

#[tokio::test]
async fn a_decision_that_is_tried_again_after_the_end_comes_too_late() {
    for decision in ["confirm", "decline"] {
        // The first attempt must be in time, the last (up to 9 s later) too late: on a busy machine, try several times.
        let mut comes_too_late = false;
        for lifetime_ms in [3_000, 5_000, 8_000] {
            comes_too_late = comes_too_late || is_tried_until_it_is_too_late(decision, lifetime_ms).await;
        }
        assert!(comes_too_late, "no first attempt came in time");
    }
}

/// Whether the first attempt was in time. If so, attempts continued until too late.
async fn is_tried_until_it_is_too_late(decision: &str, lifetime_ms: i64) -> bool {
    let review = Review::of(|_| {}, lifetime_ms).await;
    let expires_at = review.expires_at;
    let page = review.browser.get(&review.path).await;
    if expires_at <= Timestamp::now() {
        return false;
    }
    let conflicts = review.shaky.faults.inject(review.writes(), Fault::Conflict);
    let first = async {
        loop {
            if 0 < conflicts.count() {
                return Timestamp::now() < expires_at;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    // No attempt gets through: the first after the end is refused before it writes.
    let sent = std::pin::pin!(review.send(&page, decision));
    let first = std::pin::pin!(first);
    let refused = match select(sent, first).await {
        Either::Left(_) | Either::Right((false, _)) => return false,
        Either::Right((true, sent)) => sent.await,
    };
    conflicts.end();
    assert!(expires_at <= Timestamp::now());
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.says("The time to decide is over"), "{}", refused.body);
    assert!(!refused.says("name=\"decision\""), "there is nothing more to decide: {}", refused.body);
    are(&review.states().await, "expired", "draft");
    assert!(review.org.events().await.iter().all(|event| event["type"] == "proposal.expired"));
    true
}

#[tokio::test]
async fn a_decision_that_is_tried_again_in_time_happens_then() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let page = review.browser.get(&review.path).await;
    let asked = Timestamp::now();
    let conflicts = review.shaky.faults.inject(review.writes().times(3), Fault::Conflict);
    assert_eq!(review.send(&page, "confirm").await.status, 303);
    assert_eq!(conflicts.count(), 3);
    let proposal = review.org.get(format!("/api/v1/proposals/{}", review.proposal())).send().await.ok(200);
    let decided_at: Timestamp = proposal["decided_at"].as_str().expect("a moment").parse().expect("a moment");
    assert!(decided_at > asked);
    let events = review.org.events().await;
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|event| event["created_at"] == proposal["decided_at"]), "{events:?}");
    let rows = review.org.audit().await;
    let rows: Vec<&Value> = rows.iter().filter(|row| row["operation"] == "confirm_proposal").collect();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["member_id"], review.person.id.to_string());
}

/// Another member confirms between two reads: the proposal seemed pending, but the agreement is confirmed.
#[tokio::test]
async fn who_is_overtaken_between_two_looks_is_told_that_it_was_decided() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let other = Browser::of(&review.org, &review.org.member("Okon").await).await;
    let page = review.browser.get(&review.path).await;
    let looks = Rule::on("GetItem").containing(format!("AGREEMENT#{}", review.agreement.id()));
    let overtake = async { assert_eq!(other.decide(&review.path, "confirm", "").await.status, 303) };
    let refused = review.shaky.meanwhile(looks, review.send(&page, "confirm"), overtake).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.says("It was already confirmed"), "{}", refused.body);
    are(&review.states().await, "confirmed", "active");
}

#[tokio::test]
async fn a_removed_member_is_out_with_the_next_request_and_a_form_opened_before_does_nothing() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let (org, store) = (&review.org, review.org.stack().table().store());
    let elsewhere = Org::new().await;
    ops::add_membership(&store, elsewhere.id, "Maren", &review.person.email, ops::Role::Member)
        .await
        .expect("a member");
    let page = review.browser.get(&review.path).await;
    let before = org.state().await;
    ops::remove_member(&store, org.id, review.person.id).await.expect("removed");
    let out = review.send(&page, "confirm").await;
    assert_eq!(out.status, 303);
    assert!(out.location().starts_with("/app/sign-in"), "{}", out.location());
    assert!(review.browser.get("/app").await.location().starts_with("/app/sign-in"));
    are(&review.states().await, "pending", "draft");
    let changed: Vec<Value> = org.state().await;
    let gone: Vec<&Value> = before.iter().filter(|row| !changed.contains(row)).collect();
    assert_eq!(gone.len(), 1, "nothing but the member's record has changed: {gone:?}");

    let audit = org.audit().await;
    let row = audit.iter().find(|row| row["operation"] == "remove_member").expect("an audit row");
    assert_eq!((&row["code"], tests::rows::objects(row)), (&json!("ok"), vec![review.person.id.to_string()]));
    let again = Browser::new(org.base_url());
    assert_eq!(again.sign_in(&review.person.email, &review.person.password, "/app").await.status, 303);
    assert!(again.get("/app/account").await.says(&elsewhere.name));
    let token = again.get("/app/account").await.hidden("form_token");
    let switch = [("form_token", token.as_str()), ("organization", &org.id.to_string())];
    assert_eq!(again.post("/app/account/organization", &switch).await.status, 404);
    let nobody = ops::remove_member(&store, org.id, review.person.id).await.expect_err("nobody is there");
    assert!(
        matches!(nobody, ops::OpsError::NotRemoved(shared::domain::member::NotRemovedByOperator::Unknown)),
        "{nobody}"
    );
}

#[tokio::test]
async fn who_is_removed_while_their_decision_is_written_decides_nothing() {
    let review = Review::of(|_| {}, AN_HOUR_MS).await;
    let page = review.browser.get(&review.path).await;
    let store = review.org.stack().table().store();
    let remove = async { ops::remove_member(&store, review.org.id, review.person.id).await.expect("removed") };
    let out = review.shaky.meanwhile(review.writes(), review.send(&page, "confirm"), remove).await;
    assert_eq!(out.status, 303, "{}", out.body);
    assert!(out.location().starts_with("/app/sign-in"), "{}", out.location());
    are(&review.states().await, "pending", "draft");
    assert_eq!(review.org.events().await.len(), 0);
}

#[tokio::test]
async fn of_admins_who_are_removed_at_once_one_stays() {
    let org = Org::new().await;
    let store = org.stack().table().store();
    let mut admins = Vec::new();
    for n in 0..4 {
        let email = format!("admin-{n}-{}@members.example", crate::unknown_id());
        let new = ops::NewMember { name: "Admin", email: &email, password: "correct horse", role: ops::Role::Admin };
        admins.push(ops::create_member(&store, org.id, new).await.expect("an admin"));
    }
    let removals = admins.iter().map(|admin| ops::remove_member(&store, org.id, *admin));
    let ended = futures_util::future::join_all(removals).await;
    let left = async || {
        let state = org.state().await;
        state.iter().filter(|row| row["pk"].as_str().is_some_and(|pk| pk.ends_with("#MEMBERS"))).count()
    };
    let stayed = left().await;
    assert!(stayed >= 1, "{ended:?}");
    assert_eq!(ended.iter().filter(|removal| removal.is_ok()).count(), 4 - stayed);
    for admin in admins {
        let _ = ops::remove_member(&store, org.id, admin).await;
    }
    assert_eq!(left().await, 1);
}
