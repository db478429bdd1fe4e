//! Obligations on the pages of members and of their parties: what is due, and the acts, each once and each by whom it may.

use serde_json::{Value, json};
use shared::domain::agreement::StageAction;
use shared::domain::agreement::gate::{Countdown, GateRule};
use shared::domain::ids::ObligationId;
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::Org;
use tests::app::{Browser, Page};
use tests::attending::{Attendee, Live, hidden};
use tests::drafts::Drafted;
use tests::obligations::{self, day, days_ago, on, standing, triggered, with_promises};

use crate::unknown_id;

const LIST: &str = "/app/obligations";

/// An organization with two members, and an agreement whose promises Ben made to Ada.
struct Desk {
    org: Org,
    maren: Browser,
    noah: Browser,
    agreement: Drafted,
    ids: Vec<ObligationId>,
}

impl Desk {
    async fn new() -> Self {
        let org = Org::new().await;
        let [maren, noah] = [org.member("Maren Holt").await, org.member("Noah Reyes").await];
        let (maren, noah) = (Browser::of(&org, &maren).await, Browser::of(&org, &noah).await);
        let (workspace, ada, ben) = (org.workspace("Harbor").await, org.person("Ada").await, org.person("Ben").await);
        let terms = vec![on(&[10]), on(&[-3, 400]), triggered(&[30, 0]), standing(90)];
        let force = (terms, days_ago(40));
        let (agreement, ids) = obligations::in_force(&org, &workspace, [&ada, &ben], force).await;
        Self { org, maren, noah, agreement, ids }
    }

    fn path(&self, n: usize) -> String {
        format!("{LIST}/{}", self.ids[n])
    }

    async fn read(&self, n: usize) -> Value {
        self.org.get(format!("/api/v1/obligations/{}", self.ids[n])).send().await.ok(200)
    }

    /// The id of an occurrence.
    async fn occurrence(&self, n: usize, number: usize) -> String {
        self.read(n).await["occurrences"][number]["id"].as_str().expect("an id").to_owned()
    }
}

/// Sends a form of a page with its token.
async fn send(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get("/app").await.hidden("form_token");
    let fields: Vec<_> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
    browser.post(path, &fields).await
}

#[track_caller]
fn notice(page: &Page, title: &str) {
    assert!(page.says(&format!("<p class=\"notice-title\">{title}</p>")), "{title}: {}", page.body);
}

fn place(page: &Page, text: &str) -> usize {
    page.body.find(text).unwrap_or_else(|| panic!("{text}: {}", page.body))
}

#[tokio::test]
async fn obligations_are_listed_by_due_date_and_what_is_overdue_comes_first() {
    let desk = Desk::new().await;
    let list = desk.maren.get(LIST).await;
    let order: Vec<usize> = [1, 0, 3, 2].map(|n| place(&list, &desk.path(n))).into();
    assert!(order.is_sorted(), "overdue, due in 10 days, in 50, and what waits for a trigger: {order:?}");
    for text in ["Ben to Ada", ">Overdue</span>", ">Open</span>", ">Waiting for a trigger</span>", "Nothing due"] {
        assert!(list.says(text), "{text}: {}", list.body);
    }
    assert!(list.says(&day(-3).for_people()), "{}", list.body);
    let agreement = desk.agreement.id();
    for (query, shown) in [
        ("state=dormant".to_owned(), vec![2]),
        (format!("agreement_id={agreement}&state=open"), vec![0, 1, 3]),
        (format!("agreement_id={}", unknown_id()), vec![]),
        (format!("workspace_id={}", unknown_id()), vec![]),
    ] {
        let list = desk.maren.get(&format!("{LIST}?{query}")).await;
        for n in 0..4 {
            assert_eq!(list.says(&desk.path(n)), shown.contains(&n), "{query}, {n}: {}", list.body);
        }
    }
    assert_eq!(desk.maren.get(&format!("{LIST}?state=late")).await.status, 422, "a typo widens nothing");
    let home = desk.maren.get("/app").await;
    assert!(home.says("Overdue obligations") && home.says(&desk.path(1)), "{}", home.body);
    assert!(!home.says(&desk.path(0)) && !home.says("Obligations to confirm"), "{}", home.body);
    let page = desk.maren.get(&format!("/app/agreements/{agreement}")).await;
    for n in 0..4 {
        assert!(page.says(&format!("<a href=\"{}\">", desk.path(n))), "the agreement’s page lists them: {}", page.body);
    }
    // Another organization's do not exist.
    let stranger = Org::new().await;
    let stranger = Browser::of(&stranger, &stranger.member("Otto Brandt").await).await;
    assert!(stranger.get(LIST).await.says("No obligations yet"));
    assert_eq!(stranger.get(&desk.path(0)).await.status, 404);
    let occurrence = desk.occurrence(1, 0).await;
    let foreign = send(&stranger, &desk.path(1), &[("act", "satisfy"), ("occurrence", &occurrence)]).await;
    assert_eq!(foreign.status, 404);
}

#[tokio::test]
async fn a_claim_and_its_confirmation_are_two_acts_of_two_people() {
    let desk = Desk::new().await;
    let path = desk.path(1);
    let occurrence = desk.occurrence(1, 0).await;
    let page = desk.maren.get(&path).await;
    for text in ["Record satisfaction", "Claim: said to be done", "Overdue since", "Ben to Ada", "Cancel obligation"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(!page.says("value=\"confirm\""), "there is nothing to confirm: {}", page.body);
    let early = send(&desk.noah, &path, &[("act", "confirm"), ("occurrence", &occurrence)]).await;
    assert_eq!(early.status, 409);
    notice(&early, "There is no claim to confirm");

    for _ in 0..2 {
        // The second press of a double click.
        let done = send(&desk.maren, &path, &[("act", "satisfy"), ("occurrence", &occurrence)]).await;
        assert_eq!((done.status, done.location()), (303, format!("{path}#notice").as_str()), "{}", done.body);
    }
    let page = desk.maren.get(&path).await;
    notice(&page, "Satisfaction recorded");
    for text in
        ["Maren Holt, ", ">To be confirmed</span>", "Another member or the other side confirms what you recorded."]
    {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(!page.says("class=\"badge green\""), "what is only claimed is never green: {}", page.body);
    let own = send(&desk.maren, &path, &[("act", "confirm"), ("occurrence", &occurrence)]).await;
    assert_eq!(own.status, 409);
    notice(&own, "You recorded this claim");
    assert_eq!(desk.read(1).await["occurrences"][0]["state"], "satisfied");
    // Home asks those who may confirm it, and the one that is overdue is not anymore.
    let homes = [desk.maren.get("/app").await, desk.noah.get("/app").await];
    assert!(!homes[0].says("Obligations to confirm"), "{}", homes[0].body);
    assert!(
        homes[1].says("Obligations to confirm") && homes[1].says("said to be done by Maren Holt"),
        "{}",
        homes[1].body
    );
    assert!(homes.iter().all(|home| !home.says("Overdue obligations")));

    let page = desk.noah.get(&path).await;
    assert!(page.says("value=\"confirm\""), "{}", page.body);
    for _ in 0..2 {
        let done = send(&desk.noah, &path, &[("act", "confirm"), ("occurrence", &occurrence)]).await;
        assert_eq!(done.status, 303, "{}", done.body);
    }
    let late = send(&desk.maren, &path, &[("act", "confirm"), ("occurrence", &occurrence)]).await;
    assert_eq!(late.status, 409);
    notice(&late, "This was done already");
    let page = desk.maren.get(&path).await;
    assert!(page.says("Noah Reyes, ") && page.says("class=\"badge green\">Confirmed"), "{}", page.body);
    let shown = desk.read(1).await;
    assert_eq!((&shown["occurrences"][0]["state"], &shown["state"]), (&json!("confirmed"), &json!("open")));
    let later = desk.occurrence(1, 1).await;
    assert_eq!(desk.read(1).await["occurrences"][1]["state"], "upcoming");
    let early = send(&desk.maren, &path, &[("act", "satisfy"), ("occurrence", &later)]).await;
    assert_eq!(early.status, 303, "what is done early is recorded early: {}", early.body);
    assert_eq!(desk.read(1).await["occurrences"][1]["state"], "satisfied");

    let audit = desk.maren.get("/app/audit").await;
    for did in ["Recorded that an obligation is done", "Confirmed an obligation"] {
        assert!(audit.says(did), "{did}: {}", audit.body);
    }
    let events: Vec<Value> = desk.org.events().await;
    let told: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(told, ["obligation.satisfied", "obligation.confirmed", "obligation.satisfied"]);
}

#[tokio::test]
async fn triggers_are_declared_standing_promises_verified_and_obligations_cancelled() {
    let desk = Desk::new().await;
    let trigger = desk.read(2).await["triggers"][0]["id"].as_str().expect("an id").to_owned();
    let page = desk.maren.get(&desk.path(2)).await;
    assert!(page.says("Declare trigger") && page.says("Due within 30 days"), "{}", page.body);
    let (earlier, later) = (day(-5).to_string(), day(2).to_string());
    let declare = [("act", "declare"), ("trigger", trigger.as_str())];
    for (typed, error) in
        [("", "must be given"), ("soon", "must be a date"), (later.as_str(), "must not be in the future")]
    {
        let refused = send(&desk.maren, &desk.path(2), &[&declare[..], &[("happened_on", typed)]].concat()).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.says(error) && refused.says("<title>Error: "), "{}", refused.body);
        assert!(typed.is_empty() || refused.says(&format!("value=\"{typed}\"")), "{}", refused.body);
    }
    let declare = [&declare[..], &[("happened_on", earlier.as_str())]].concat();
    for _ in 0..2 {
        let done = send(&desk.maren, &desk.path(2), &declare).await;
        assert_eq!(done.status, 303, "{}", done.body);
    }
    let page = desk.maren.get(&desk.path(2)).await;
    notice(&page, "Trigger declared");
    assert!(page.says(&format!("It happened on {}", day(-5).for_people())), "{}", page.body);
    assert!(page.says(&format!("Due by {}", day(25).for_people())), "it gives 30 days from then: {}", page.body);
    assert!(page.says("Declared by Maren Holt") && page.says("Record satisfaction"), "{}", page.body);
    let again = send(&desk.noah, &desk.path(2), &declare).await;
    assert_eq!(again.status, 409);
    notice(&again, "This was done already");
    let unknown =
        send(&desk.noah, &desk.path(2), &[("act", "declare"), ("trigger", &unknown_id()), ("happened_on", &earlier)])
            .await;
    assert_eq!(unknown.status, 409);

    let verification = desk.occurrence(3, 0).await;
    assert!(
        desk.maren.get(&desk.path(3)).await.says("Never verified")
            || desk.maren.get(&desk.path(3)).await.says("Not verified yet")
    );
    for _ in 0..2 {
        let done = send(&desk.maren, &desk.path(3), &[("act", "verify"), ("occurrence", &verification)]).await;
        assert_eq!(done.status, 303, "{}", done.body);
    }
    let page = desk.maren.get(&desk.path(3)).await;
    notice(&page, "Verified");
    assert!(page.says("Holds, as verified on") && page.says("Maren Holt, "), "{}", page.body);

    let path = desk.path(0);
    for (reason, text) in [("", "must be given"), ("To DE89 3704 0044 0532 0130 00", "account or card number")] {
        let refused = send(&desk.maren, &path, &[("act", "cancel"), ("reason", reason)]).await;
        assert_eq!(refused.status, 422);
        assert!(refused.says(text) && refused.says("<title>Error: ") && !refused.says("3704 0044"), "{}", refused.body);
        assert!(refused.says("<details class=\"confirm\" open>"), "{}", refused.body);
    }
    for _ in 0..2 {
        let done = send(&desk.maren, &path, &[("act", "cancel"), ("reason", "Waived <b>")]).await;
        assert_eq!(done.status, 303, "{}", done.body);
    }
    let page = desk.noah.get(&path).await;
    for text in ["Cancelled by Maren Holt", "Waived &#60;b&#62;", "class=\"badge quiet\">Cancelled"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    for act in ["Record satisfaction", "Cancel obligation", "value=\"confirm\""] {
        assert!(!page.says(act), "{act}: {}", page.body);
    }
    let late = send(&desk.noah, &path, &[("act", "cancel"), ("reason", "Me too")]).await;
    assert_eq!(late.status, 409);
    notice(&late, "The obligation was cancelled");
    // Nothing but these acts is known.
    for act in ["", "forget", "Confirm"] {
        assert_eq!(send(&desk.maren, &path, &[("act", act)]).await.status, 404, "{act}");
    }
}

#[tokio::test]
async fn who_is_alone_confirms_what_they_recorded_and_is_asked_on_home() {
    let org = Org::new().await;
    let maren = Browser::of(&org, &org.member("Maren Holt").await).await;
    let (workspace, ada, ben) = (org.workspace("Harbor").await, org.person("Ada").await, org.person("Ben").await);
    let (_, ids) = obligations::in_force(&org, &workspace, [&ada, &ben], (vec![on(&[-1])], days_ago(3))).await;
    let path = format!("{LIST}/{}", ids[0]);
    let occurrence = maren.get(&path).await.hidden("occurrence");
    let fields = |act| [("act", act), ("occurrence", occurrence.as_str())];
    assert_eq!(send(&maren, &path, &fields("satisfy")).await.status, 303);
    assert!(maren.get("/app").await.says("Obligations to confirm"));
    assert!(maren.get(&path).await.says("value=\"confirm\""));
    assert_eq!(send(&maren, &path, &fields("confirm")).await.status, 303);
    let home = maren.get("/app").await;
    assert!(!home.says("Obligations to confirm") && !home.says("Overdue obligations"), "{}", home.body);
}

#[tokio::test]
async fn the_end_of_an_agreement_ends_what_is_shown_as_owed() {
    let desk = Desk::new().await;
    let olive = desk.org.member("Olive Kern").await;
    let agreement = desk.agreement.agreement.id();
    let occurrence = desk.occurrence(1, 0).await;
    // The process dies before it has told the obligations.
    desk.org.decide_at_once(&olive, agreement, ProposalAction::CancelAgreement).await;
    let page = desk.maren.get(&desk.path(1)).await;
    assert!(!page.says("value=\"satisfy\"") && !page.says("Cancel obligation"), "{}", page.body);
    for badge in [">Due</span>", ">Overdue</span>", ">To be confirmed</span>"] {
        assert!(!page.says(badge), "{badge}: {}", page.body);
    }
    assert!(page.says("badge quiet\">Cancelled</span>"), "{}", page.body);
    assert!(!desk.maren.get("/app").await.says("Overdue obligations"));
    let late = send(&desk.maren, &desk.path(1), &[("act", "satisfy"), ("occurrence", &occurrence)]).await;
    assert_eq!(late.status, 409);
    assert!(late.says("The agreement was cancelled") || late.says("The obligation was cancelled"), "{}", late.body);
}

/// A live agreement whose promises Northwind made to Ada Okafor, with both on their pages. Ada's approval completes it.
async fn live(
    terms: Vec<shared::domain::agreement::promise::PromiseTerms>,
) -> (Live, [Attendee; 2], Vec<ObligationId>) {
    let live = Live::new(|draft| {
        let approver = draft.participants[0].id;
        let past = Countdown::At(Timestamp::now().plus_seconds(-60));
        draft.stages.truncate(2);
        for stage in &mut draft.stages {
            stage.gates.truncate(1);
            stage.actions.clear();
        }
        draft.stages[0].gates[0].rule = GateRule::Countdown { until: Some(past) };
        draft.stages[0].actions = [StageAction::ProjectObligations].into();
        draft.stages[1].gates[0].rule = GateRule::ParticipantApproval { participant_ids: [approver].into() };
        *draft = with_promises(draft, terms);
    })
    .await;
    let [ada, ben] = live.ids();
    let people = [live.attend(ada).await, live.attend(ben).await];
    let agreement = Drafted::of(&live.org, &live.agreement.id().to_string()).await.agreement;
    let ids = obligations::ids(&agreement);
    (live, people, ids)
}

/// Presses the first button of a kind on a participant's page of an obligation.
async fn press(who: &Attendee, id: ObligationId, act: &str) -> Page {
    let at = format!("/obligations/{id}");
    let page = who.get(&at).await;
    let forms: Vec<&str> = page.body.split("<form ").collect();
    let form = forms.iter().find(|form| form.contains(&format!("value=\"{act}\"")));
    let form = form.unwrap_or_else(|| panic!("no form for {act}: {}", page.body));
    let form = Page { body: format!("<form {form}"), ..page.clone() };
    let fields = hidden(&form, "/act");
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let happened = day(0).to_string();
    let typed = [("act", act), ("happened_on", happened.as_str())];
    who.browser.post(&who.at(&format!("{at}/act")), &[&fields[..], &typed].concat()).await
}

#[tokio::test]
async fn the_parties_keep_and_confirm_their_promises_also_after_completion() {
    let (live, [ada, ben], ids) = live(vec![on(&[-1, 5]), standing(30), triggered(&[7])]).await;
    let overview = ben.get("").await;
    assert!(overview.says("Record satisfaction: Promise 1") && overview.says(">Overdue</span>"), "{}", overview.body);
    assert!(!ada.get("").await.says("Record satisfaction"), "it is not hers");
    let approved = ada.approve(&live.agreement, (1, 0)).await;
    assert_eq!(approved.status, 303, "{}", approved.body);
    assert_eq!(live.read().await["lifecycle"], "completed");

    let overview = ben.get("").await;
    assert!(overview.says("This agreement is completed.") && overview.says("Record satisfaction: Promise 1"));
    assert!(ben.get(&format!("/obligations/{}", ids[0])).await.says("It can’t be undone."));
    let claimed = press(&ben, ids[0], "satisfy").await;
    assert_eq!(claimed.status, 303, "{}", claimed.body);
    let receipt = ben.browser.get(claimed.location()).await;
    for text in ["You said that it is done: “Promise 1”", "I say that “Promise 1”, due", "is done."] {
        assert!(receipt.says(text), "{text}: {}", receipt.body);
    }
    let page = ben.get(&format!("/obligations/{}", ids[0])).await;
    assert!(!page.says("value=\"confirm\""), "nobody confirms their own word: {}", page.body);
    assert!(page.says("Northwind Robotics, Inc., ") && !page.says("class=\"badge green\""), "{}", page.body);

    let overview = ada.get("").await;
    assert!(overview.says("Confirm: Promise 1"), "{}", overview.body);
    let confirmed = press(&ada, ids[0], "confirm").await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.body);
    let confirmed = ada.get(&format!("/obligations/{}", ids[0])).await;
    assert!(confirmed.says("Ada Okafor, ") && confirmed.says("class=\"badge green\">Confirmed"), "{}", confirmed.body);

    // Either side declares; the other side of a standing promise verifies it when it is time.
    let declared = press(&ada, ids[2], "declare").await;
    assert_eq!(declared.status, 303, "{}", declared.body);
    assert!(ben.get("").await.says("Record satisfaction: Promise 3"));
    let page = ada.get(&format!("/obligations/{}", ids[1])).await;
    assert!(page.says("Not verified yet") && page.says("Nothing waits for you here"), "{}", page.body);
    let member = live.member.get(&format!("{LIST}/{}", ids[0])).await;
    assert!(member.says("Northwind Robotics, Inc., ") && member.says("Ada Okafor, "), "{}", member.body);
    let record = live.member.get(&format!("{}/participants/{}/access", live.path(), ben.participant)).await;
    assert!(record.says("Said that it is done: “Promise 1”"), "{}", record.body);
}

#[tokio::test]
async fn whoever_owes_and_is_owed_reads_it_before_they_consent_approve_and_sign() {
    let live = Live::new(|draft| {
        draft.stages.truncate(2);
        draft.stages[1].gates.truncate(1);
        *draft = with_promises(draft, vec![on(&[30]), standing(90)]);
    })
    .await;
    let [ada, ben] = live.ids();
    let when = format!("Northwind Robotics, Inc. to Ada Okafor, on {}", day(30).for_people());
    let assert_listed = |page: &Page, side: &str| {
        for text in ["Promise 1", &when, "Promise 2", "at all times, verified every 90 days", side] {
            assert!(page.says(text), "{text}: {}", page.body);
        }
    };
    let ada = live.open(ada).await;
    assert_listed(&ada.get("").await, "Promised to you");
    assert_eq!(ada.submit("", "/consent", &[]).await.status, 303);
    let overview = ada.get("").await;
    assert!(overview.says("Give your approval"), "{}", overview.body);
    assert_listed(&overview, "Promised to you");
    let condition = ada.get(&format!("/conditions/{}", live.agreement.stages[0].gates[0].id)).await;
    assert_listed(&condition, "Promised to you");
    let named = "In this agreement I am promised: “Promise 1”, “Promise 2”.";
    assert!(condition.says(named), "{}", condition.body);
    let approved = ada.approve(&live.agreement, (0, 0)).await;
    assert!(ada.browser.get(approved.location()).await.says(named), "the receipt keeps it");

    let ben = live.attend(ben).await;
    assert_listed(&ben.get("").await, "You promise");
    let document = ben.get(&format!("/documents/{}", live.agreement.documents[0].id)).await;
    assert_listed(&document, "You promise");
    let named = "In this agreement I promise: “Promise 1”, “Promise 2”.";
    assert!(document.says(named), "{}", document.body);
    for who in [&ada, &ben] {
        assert_eq!(who.sign(&live.agreement, "Ada or Ben").await.status, 303);
    }
    assert_eq!(live.read().await["lifecycle"], "completed");
    let overview = ben.get("").await;
    assert!(
        overview.says(&when) && !overview.says("You promise"),
        "what is in force is an obligation: {}",
        overview.body
    );
}

#[tokio::test]
async fn only_the_parties_see_an_obligation_and_do_what_is_theirs() {
    let (live, [ada, ben], ids) = live(vec![on(&[-1])]).await;
    let (other, [stranger, _], foreign) = self::live(vec![on(&[-1])]).await;
    let at = format!("/obligations/{}", ids[0]);
    assert_eq!(stranger.get(&at).await.status, 404);
    assert_eq!(ada.get(&format!("/obligations/{}", foreign[0])).await.status, 404, "another agreement’s");
    let occurrence =
        live.org.get(format!("/api/v1/obligations/{}", ids[0])).send().await.ok(200)["occurrences"][0]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
    // A form of the other side, and one without its sentence.
    let post = async |who: &Attendee, act: &str, statement: &str| {
        let token = who.get("").await.hidden("form_token");
        let id = unknown_id();
        let fields = [
            ("form_token", token.as_str()),
            ("id", &id),
            ("occurrence", &occurrence),
            ("statement", statement),
            ("act", act),
        ];
        who.browser.post(&who.at(&format!("{at}/act")), &fields).await
    };
    for (who, act) in [(&ada, "satisfy"), (&ben, "confirm"), (&ben, "verify")] {
        let refused = post(who, act, "I say so.").await;
        assert_eq!(refused.status, 409, "{act}: {}", refused.body);
    }
    let reworded = post(&ben, "satisfy", "I say nothing.").await;
    assert_eq!(reworded.status, 409);
    assert!(reworded.says("This page has changed"), "{}", reworded.body);
    assert_eq!(post(&ben, "forget", "").await.status, 404);
    let foreign = post(&stranger, "satisfy", "I say so.").await;
    assert_eq!(foreign.status, 404);
    let shown = live.org.get(format!("/api/v1/obligations/{}", ids[0])).send().await.ok(200);
    assert_eq!(shown["occurrences"][0]["state"], "overdue", "nothing was recorded");

    // Without the consent to electronic records nothing is recorded, and the page asks for it.
    let withdrawn = ben.submit("", "/consent/withdraw", &[]).await;
    assert_eq!(withdrawn.status, 303, "{}", withdrawn.body);
    assert!(ben.get(&at).await.says("I agree"));
    drop(other);
}

/// The ids that a form names are those of its page.
#[tokio::test]
async fn a_form_that_is_sent_twice_leaves_one_receipt() {
    let (live, [_, ben], ids) = live(vec![on(&[-1])]).await;
    let at = format!("/obligations/{}", ids[0]);
    let page = ben.get(&at).await;
    let fields = hidden(&page, "/act");
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let fields = [&fields[..], &[("act", "satisfy")]].concat();
    let path = ben.at(&format!("{at}/act"));
    let (one, two) = tokio::join!(ben.browser.post(&path, &fields), ben.browser.post(&path, &fields));
    assert_eq!((one.status, two.status), (303, 303), "{}{}", one.body, two.body);
    assert_eq!(one.location(), two.location());
    let again = ben.browser.post(&path, &fields).await;
    assert_eq!((again.status, again.location()), (303, one.location()));
    let events = live.org.events().await;
    assert_eq!(events.iter().filter(|event| event["type"] == "obligation.satisfied").count(), 1);
}
