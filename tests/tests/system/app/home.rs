//! Home is a work queue: what needs the member, whom others wait for, what closes soon, and the latest changes.

use futures_util::future::join_all;
use ops::Scope;
use serde_json::json;
use shared::domain::agreement::gate::{Countdown, GateRule};
use shared::domain::agreement::{Agreement, NewParticipant, ParticipantRole, Roles};
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::{Browser, Page};
use tests::attending::{Attendee, link_of};
use tests::pages::{self, WAITS_MAX};
use tests::{Org, drafts, log};

const HOUR_S: i64 = 3600;
const DAY_S: i64 = 24 * HOUR_S;

async fn signed_in(org: &Org) -> Browser {
    Browser::of(org, &org.member("Maren Holt").await).await
}

#[track_caller]
fn section<'a>(page: &'a Page, id: &str) -> &'a str {
    let (_, rest) = page.body.split_once(&format!("<h2 id=\"{id}\"")).unwrap_or_else(|| panic!("{id}: {}", page.body));
    rest.split_once("</section>").map_or(rest, |(section, _)| section)
}

fn has_section(page: &Page, id: &str) -> bool {
    page.says(&format!("<h2 id=\"{id}\""))
}

async fn publish(org: &Org, browser: &Browser, draft: &Agreement) {
    let proposal = org.propose("publish_agreement", draft).await;
    let path = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
    assert_eq!(browser.decide(&path, "confirm", "").await.status, 303);
}

#[tokio::test]
async fn a_newcomer_is_led_to_the_first_agreement_and_who_is_done_is_caught_up() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let home = browser.get("/app").await;
    assert!(home.says("Begin your first agreement") && home.says("href=\"/app/agreements/new\""), "{}", home.body);
    for id in ["needs", "waiting", "closing"] {
        assert!(!has_section(&home, id), "{id}: {}", home.body);
    }

    let draft = org.ready_draft("Lease", |_| {}).await;
    assert!(section(&browser.get("/app").await, "needs").contains("Ready to publish"));
    publish(&org, &browser, &draft).await;
    let home = browser.get("/app").await;
    assert!(home.says("All caught up") && home.says("Nothing needs you."), "{}", home.body);
    assert!(section(&home, "waiting").contains("Ada Okafor to approve"), "{}", home.body);
    let cancellation = org.propose("cancel_agreement", &draft).await;
    let home = browser.get("/app").await;
    assert!(!home.says("All caught up") && home.says("One thing needs you."), "{}", home.body);
    let path = format!("/app/proposals/{}", cancellation["id"].as_str().expect("an id"));
    assert!(section(&home, "needs").contains(&path) && section(&home, "needs").contains("2 days, 23 hours left"));
    let deal = browser.get(&format!("/app/agreements/{}", draft.id())).await;
    let (_, waiting) = deal.body.split_once("<dt>Waiting for</dt>").expect("whom it waits for");
    let first = format!(
        "<dd><span>A member to decide about the proposal</span> <a class=\"button primary small-button\" href=\"{path}\">"
    );
    assert!(waiting.starts_with(&first), "the decision comes first: {waiting}");
    assert!(waiting.contains("Ada Okafor to approve"), "{waiting}");
    assert_eq!(browser.decide(&path, "confirm", "").await.status, 303);
    let home = browser.get("/app").await;
    assert!(home.says("All caught up") && home.says("you’re not waiting on anyone"), "{}", home.body);
    assert!(!has_section(&home, "waiting"), "{}", home.body);
}

#[tokio::test]
async fn each_agreement_stands_where_its_next_step_is() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let now = Timestamp::now();
    let workspace = org.workspace("Harbor").await;
    let empty = org.empty_draft(&workspace, "Empty draft").await;
    let place = |draft: &str, place: &str| format!("href=\"/app/agreements/{draft}{place}\">");
    let empty = empty["id"].as_str().expect("an id");
    org.ready_draft("Ready draft", |_| {}).await;
    let proposed = org.ready_draft("Proposed draft", |_| {}).await;
    org.propose("publish_agreement", &proposed).await;
    let people = org.ready_draft("Waits for people", |_| {}).await;
    publish(&org, &browser, &people).await;
    let countdown = org
        .ready_draft("Waits for time", |draft| {
            draft.stages[0].gates[0].rule = GateRule::Countdown { until: Some(Countdown::AfterHours(24)) };
        })
        .await;
    publish(&org, &browser, &countdown).await;
    org.ready_draft("Closes soon", |draft| draft.expires_at = Some(now.plus_seconds(2 * DAY_S + HOUR_S))).await;
    org.ready_draft("Closes late", |draft| draft.expires_at = Some(now.plus_seconds(8 * DAY_S))).await;
    let over = org.ready_draft("Would be over", |draft| draft.expires_at = Some(now.plus_seconds(-HOUR_S))).await;

    let home = browser.get("/app").await;
    let decide = section(&home, "needs");
    assert!(
        decide.contains("Publish “Proposed draft”")
            && decide.contains("Needs your decision · proposed by Integration (over the API)")
    );
    let (_, listed) = decide.split_once("Proposed draft").expect("decisions come before drafts");
    for shown in [
        "Empty draft",
        "2 things left",
        &format!("{}Add a participant</a> · ", place(empty, "/participants")),
        &format!("{}Add a step</a>", place(empty, "#add-step")),
        "Ready draft",
        "Everything is in place.",
        "Closes late",
        "Closes soon",
        "2 days left",
        "expires <time",
        "Would be over",
        "1 thing left",
        &format!("{}Choose an expiry in the future</a>", place(&over.id().to_string(), "/details#expires_at")),
    ] {
        assert!(listed.contains(shown), "{shown}: {listed}");
    }
    assert_eq!(listed.matches("Ready to publish").count(), 2, "what expires soon says that instead: {listed}");
    let at = |text: &str| listed.find(text).unwrap_or_else(|| panic!("{text}: {listed}"));
    assert!(at("Closes soon") < at("Closes late"), "it can’t be published as it is after that");
    assert!(at("Closes late") < at("Ready draft") && at("Ready draft") < at("Would be over"), "ready ones first");

    let waiting = section(&home, "waiting");
    for shown in ["Waits for people", "Ada Okafor to approve · since <time", "24-hour waiting period · ends <time"] {
        assert!(waiting.contains(shown), "{shown}: {waiting}");
    }
    assert!(waiting.find("Waits for people") < waiting.find("Waits for time"), "the longest wait first");
    assert!(!has_section(&home, "closing"), "a draft waits for no others: {}", home.body);
}

#[tokio::test]
async fn what_waits_for_the_own_company_needs_attention() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.admin("Maren Holt").await).await;
    let ours = org.ready_draft("Our lease", |_| {}).await;
    publish(&org, &browser, &ours).await;
    assert!(section(&browser.get("/app").await, "waiting").contains("Our lease"));
    let contact = ours.participants[0].contact_id.to_string();
    let page = browser.get("/app/organization/contacts").await;
    let form = [("form_token", page.hidden("form_token")), ("contact_id", contact)];
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(browser.post("/app/organization/contacts", &form).await.status, 303);
    publish(&org, &browser, &org.ready_draft("Their lease", |_| {}).await).await;

    let home = browser.get("/app").await;
    let attention = section(&home, "needs");
    assert!(
        attention.contains("Our lease") && attention.contains("Ada Okafor to approve · since <time"),
        "{attention}"
    );
    assert!(attention.contains("Your turn") && !attention.contains("Their lease"), "{attention}");
    let waiting = section(&home, "waiting");
    assert!(waiting.contains("Their lease") && !waiting.contains("Our lease"), "{waiting}");
    assert!(!home.says("All caught up"), "{}", home.body);
}

#[tokio::test]
async fn home_says_when_each_participant_last_looked() {
    let soon = Some(Timestamp::now().plus_seconds(DAY_S));
    tokio::join!(says_when_each_last_looked("waiting", None), says_when_each_last_looked("closing", soon));
}

async fn says_when_each_last_looked(place: &str, expires_at: Option<Timestamp>) {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let (now, mut others) = (Timestamp::now(), Vec::new());
    for name in ["Ben", "Cleo", "Dora"] {
        others.push(org.person(name).await["id"].as_str().expect("an id").parse().expect("an id"));
    }
    let draft = org
        .ready_draft("Lease", |draft| {
            for contact_id in others {
                let roles = Roles([ParticipantRole::Approver].into());
                *draft = draft.add_participant(NewParticipant { contact_id, roles }, now).expect("one more").agreement;
            }
            let waited_for = [draft.participants[1].id, draft.participants[3].id].into();
            draft.stages[0].gates[0].rule = GateRule::ParticipantApproval { participant_ids: waited_for };
            draft.expires_at = expires_at;
        })
        .await;
    publish(&org, &browser, &draft).await;
    let looked = async || {
        let home = browser.get("/app").await;
        let listed = section(&home, place);
        let line = listed.rsplit_once("<span class=\"quiet small block\">Northwind");
        let (_, line) = line.expect("those who are waited for");
        format!("Northwind{}", line.split("</span>").next().unwrap_or_default())
    };
    let no = "has not opened the link";
    let never = format!("Northwind Robotics, Inc. {no} · Cleo {no} · Ada Okafor {no} · Ben {no} · 1 more");
    assert_eq!(looked().await, never);
    let opens = link_of(&browser, draft.id(), draft.participants[3].id).await;
    let cleo = Attendee { browser: Browser::new(org.base_url()), participant: draft.participants[3].id };
    assert_eq!(cleo.follow(&opens).await.status, 303);
    assert_eq!(cleo.get("").await.status, 200);
    let line = looked().await;
    let (before, after) = never.split_once(&format!("Cleo {no}")).expect("Cleo");
    assert!(line.starts_with(&format!("{before}Cleo last looked <time ")) && line.ends_with(after), "{line}");
}

#[tokio::test]
async fn what_the_clock_has_not_recorded_yet_is_true_already() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let over = org.ready_draft("Lease", |draft| draft.expires_at = Some(Timestamp::now().plus_seconds(DAY_S))).await;
    publish(&org, &browser, &over).await;
    assert!(section(&browser.get("/app").await, "closing").contains("Lease"));
    let id = over.id().to_string();
    drafts::make_due(&org, &id, drafts::Coming::Expiry).await;
    let home = browser.get("/app").await;
    assert!(!has_section(&home, "closing") && !has_section(&home, "waiting"), "{}", home.body);
    // An expired proposal needs no decision, even before the clock comes by.
    let draft = drafts::written(&org, "Old lease").await;
    let past = Timestamp::now().plus_seconds(-60);
    drafts::propose_until(&org, &draft.agreement, ProposalAction::PublishAgreement, past).await;
    let home = browser.get("/app").await;
    assert!(!home.says("Needs your decision") && section(&home, "needs").contains("Old lease"), "{}", home.body);
}

#[tokio::test]
async fn admins_are_told_of_tokens_that_end_soon() {
    let org = Org::new().await;
    let issued = |days: i64| Timestamp::now().plus_seconds(-days * DAY_S);
    for (name, days) in [("Fresh", 10), ("Ends in ten days", 80), ("Ends in a day", 89), ("Ended", 91)] {
        org.issue(name, Scope::Read, issued(days)).await;
    }
    let revoked = org.issue("Revoked", Scope::Read, issued(85)).await;
    org.revoke(revoked.id).await;
    let admin = Browser::of(&org, &org.admin("Ines Duarte").await).await;
    let home = admin.get("/app").await;
    let attention = section(&home, "needs");
    let at = |text: &str| attention.find(text).unwrap_or_else(|| panic!("{text}: {attention}"));
    assert!(at("Ends in a day") < at("Ends in ten days"), "the next end first");
    assert!(["Fresh", "Ended<", "Revoked"].iter().all(|name| !attention.contains(name)), "{attention}");
    assert!(attention.contains("href=\"/app/developers/tokens\""), "{attention}");
    assert!(!home.says("All caught up"), "something needs attention");
    for days in [81, 82, 83] {
        org.issue("One more", Scope::Read, issued(days)).await;
    }
    assert!(section(&admin.get("/app").await, "needs").contains("2 more tokens"));
    let member = signed_in(&org).await.get("/app").await;
    assert!(!has_section(&member, "needs") && !member.says("Ends in a day"), "{}", member.body);
}

#[tokio::test]
async fn the_latest_changes_are_there_for_every_member_of_the_organization() {
    let (org, other) = (Org::new().await, Org::new().await);
    let (browser, stranger) = (signed_in(&org).await, signed_in(&other).await);
    let contact = org.contact("Ada <script>alert(1)</script>").await;
    let token = browser.get("/app/workspaces").await.hidden("form_token");
    let made = browser.post("/app/workspaces", &[("form_token", &token), ("name", "Quay & Sons")]).await;
    org.get("/api/v1/contacts").send().await.ok(200);
    org.post("/api/v1/contacts", &json!({"display_name": "", "kind": "person"})).send().await;

    let home = browser.get("/app").await;
    let changes = section(&home, "changes");
    let person = format!("href=\"/app/contacts/{}\">Ada &#60;script&#62;", contact["id"].as_str().expect("an id"));
    for shown in
        ["Integration (over the API) created a contact", &person, "Maren Holt created a workspace", "Quay &#38; Sons"]
    {
        assert!(changes.contains(shown), "{shown}: {changes}");
    }
    assert!(changes.contains(&format!("href=\"{}\"", made.location())) && changes.contains("Maren Holt"), "{changes}");
    assert_eq!(changes.matches("<td class=\"main\">").count(), 2, "no reads, views and refusals: {changes}");
    assert!(changes.find("created a workspace") < changes.find("created a contact"), "the newest first");
    assert!(home.has_only_own_script());
    let foreign = stranger.get("/app").await;
    assert!(!foreign.says("Ada") && !foreign.says("Quay"), "{}", foreign.body);

    for n in 0..limits::HOME_ACTS_MAX {
        org.contact(&format!("Person {n}")).await;
    }
    let home = browser.get("/app").await;
    let changes = section(&home, "changes");
    assert_eq!(changes.matches("<td class=\"main\">").count(), limits::HOME_ACTS_MAX);
    assert!(!changes.contains("created a workspace"), "{changes}");
}

async fn cost(org: &Org, page: &Page) -> (u64, f64) {
    let id = page.headers["x-request-id"].to_str().expect("an id");
    let line = log::line(org.stack().log_file(), id).await;
    (line["round_trips"].as_u64().expect("a count"), line["read_units"].as_f64().expect("units"))
}

#[tokio::test]
async fn a_long_queue_shows_its_beginning_and_costs_no_more_calls() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let workspace = org.workspace("Harbor").await;
    let ada = org.person("Ada").await;
    for name in ["First", "Second"] {
        drafts::write(&org, drafts::ready(&workspace, name, &ada)).await;
    }
    let (calls, _) = cost(&org, &browser.get("/app").await).await;
    let many = (0..60).map(|n| drafts::write(&org, drafts::ready(&workspace, &format!("Draft {n:02}"), &ada)));
    join_all(many).await;
    let home = browser.get("/app").await;
    let listed = section(&home, "needs");
    assert_eq!(listed.matches("<li class=\"row\">").count(), limits::HOME_AGREEMENTS_MAX, "{listed}");
    assert!(listed.contains("href=\"/app/agreements?lifecycle=draft\">57 more drafts</a>"), "{listed}");
    let (calls_of_many, read_units) = cost(&org, &home).await;
    assert_eq!(calls_of_many, calls, "however many there are");
    assert!(read_units < 60.0, "rows, not records: {read_units}");
}

#[tokio::test]
async fn the_sentence_counts_all_that_needs_the_member_shown_or_not() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let (workspace, ada) = (org.workspace("Harbor").await, org.person("Ada").await);
    let named = |n: usize| drafts::ready(&workspace, &format!("Draft {n:03}"), &ada);
    join_all((0..105).map(|n| drafts::write(&org, named(n)))).await;
    for n in 0..12 {
        let draft = org.ready_draft(&format!("Proposed {n:02}"), |_| {}).await;
        org.propose("publish_agreement", &draft).await;
    }
    let home = browser.get("/app").await;
    let listed = section(&home, "needs");
    let more = listed.split("<a class=\"button\"").skip(1).filter_map(|link| {
        let (_, text) = link.split_once('>')?;
        text.split_once(" more ")?.0.parse::<usize>().ok()
    });
    let counted = listed.matches("<li class=\"row\">").count() + more.sum::<usize>();
    assert!(counted == 117 && home.says("117 things need you."), "{counted}: {}", home.body);
}

#[tokio::test]
async fn times_are_short_and_their_zone_is_named_once() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let draft =
        org.ready_draft("Lease", |draft| draft.expires_at = Some(Timestamp::now().plus_seconds(5 * DAY_S))).await;
    publish(&org, &browser, &draft).await;
    let home = browser.get("/app").await;
    assert_eq!(home.body.matches("Times in UTC").count(), 1, "{}", home.body);
    let times: Vec<&str> = home.body.split("<time ").skip(1).filter_map(|rest| rest.split("</time>").next()).collect();
    assert!(times.len() > 1, "{}", home.body);
    for time in &times {
        let (attributes, text) = time.split_once('>').expect("a text");
        assert!(attributes.contains(" title=\"") && attributes.contains(" UTC\""), "exact where asked: {time}");
        assert!(!text.contains("UTC"), "{time}");
    }
    assert!(times.iter().any(|time| time.contains(">today, ")), "{times:?}");
    let expiry = Timestamp::now().plus_seconds(5 * DAY_S);
    let day = shared::domain::time_zone::TimeZone::default().day_of(expiry).for_people();
    assert!(times.iter().any(|time| time.ends_with(&format!(">{day}"))), "{day}: {times:?}");
}

#[tokio::test]
async fn an_admin_is_led_to_choose_the_time_zone() {
    let org = Org::new().await;
    let (admin, member) = (org.admin("Ada Okafor").await, org.member("Maren Holt").await);
    let (admin, member) = (Browser::of(&org, &admin).await, Browser::of(&org, &member).await);
    let link = "<a href=\"/app/organization#time_zone\">Choose your organization’s time zone</a>";
    let home = admin.get("/app").await;
    assert!(home.says("Times in UTC, dates day first.") && home.says(link), "{}", home.body);
    assert!(!member.get("/app").await.says(link), "members can't");
    let other = Org::new().await;
    let working = Browser::of(&other, &other.admin("Kim Sato").await).await;
    assert!(working.get("/app").await.says(link));
    publish(&other, &working, &other.ready_draft("Lease", |_| {}).await).await;
    assert!(!working.get("/app").await.says(link), "who publishes in UTC means it");
    let token = home.hidden("form_token");
    let form = [("form_token", token.as_str()), ("name", "Harbor"), ("time_zone", "America/New_York")];
    assert_eq!(admin.post("/app/organization", &form).await.status, 303);
    let home = admin.get("/app").await;
    assert!(home.says("<h1>Home</h1>") && !home.says(link), "{}", home.body);
}

#[tokio::test]
async fn a_list_says_that_a_proposed_draft_waits_for_a_decision() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let draft = org.ready_draft("Lease", |_| {}).await;
    for (is_proposed, waits) in [(false, "A member to publish it"), (true, "A member to decide about the proposal")] {
        if is_proposed {
            org.propose("publish_agreement", &draft).await;
        }
        for at in ["/app/agreements".to_owned(), format!("/app/agreements/{}", draft.id())] {
            let page = browser.get(&at).await;
            assert!(page.says(&format!(">{waits}<")), "{at}: {}", page.body);
        }
    }
    let mut over = draft.clone();
    over.expires_at = Some(Timestamp::now().plus_seconds(-HOUR_S));
    org.edit(&over).await;
    let list = browser.get("/app/agreements").await;
    assert!(list.says(">A member to decide about the proposal<"), "whatever it has lost since: {}", list.body);
}

#[tokio::test]
async fn recent_activity_reaches_past_many_calls_that_only_read() {
    let org = Org::new().await;
    let browser = signed_in(&org).await;
    let contact = org.contact("Ada Okafor").await;
    let reads = usize::try_from(limits::AUDIT_ROWS_READ).expect("a count");
    join_all((0..reads).map(|_| async { org.get("/api/v1/me").send().await.ok(200) })).await;
    let home = browser.get("/app").await;
    assert!(home.says(&format!("href=\"/app/contacts/{}\"", contact["id"].as_str().expect("an id"))), "{}", home.body);
    assert!(pages::waits(&org, &browser, "/app").await <= WAITS_MAX);
}
