//! Obligations on members' and parties' pages: what is due, and the acts, each once and only by those who may.

mod older;
mod parties;

use serde_json::{Value, json};
use shared::crypto::sha256_hex;
use shared::domain::agreement::StageAction;
use shared::domain::agreement::gate::{Countdown, GateRule};
use shared::domain::ids::{ObligationId, ParticipantId};
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use tests::Org;
use tests::app::{Browser, Page, Person};
use tests::attending::{Attendee, Live, hidden};
use tests::drafts::Drafted;
use tests::obligations::{self, day, days_ago, on, standing, triggered, with_promises};
use tests::pdf::pdf;

use super::evidence::{bundle_of, lines, unzipped};
use crate::unknown_id;

const LIST: &str = "/app/obligations";

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
        let (agreement, ids) = obligations::in_force(&org, &workspace, [&ada, &ben], terms, days_ago(40)).await;
        Self { org, maren, noah, agreement, ids }
    }

    fn path(&self, n: usize) -> String {
        format!("{LIST}/{}", self.ids[n])
    }

    async fn read(&self, n: usize) -> Value {
        self.org.get(format!("/api/v1/obligations/{}", self.ids[n])).send().await.ok(200)
    }

    async fn occurrence(&self, n: usize, number: usize) -> String {
        self.read(n).await["occurrences"][number]["id"].as_str().expect("an id").to_owned()
    }
}

async fn send(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get("/app").await.hidden("form_token");
    let fields: Vec<_> = [("form_token", token.as_str())].into_iter().chain(fields.iter().copied()).collect();
    browser.post(path, &fields).await
}

/// Sends one copy of a form twice: the repeat is answered as the first.
async fn send_twice(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let copy = browser.copy("session").name;
    let fields = [&[("copy", copy.as_str())], fields].concat();
    let first = send(browser, path, &fields).await;
    let again = send(browser, path, &fields).await;
    assert_eq!((again.status, again.location()), (first.status, first.location()), "{}", again.body);
    first
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
    assert!(list.says("<span aria-current=\"true\">Due</span>"), "{}", list.body);
    for (sort, expected) in
        [("newest", [3, 2, 1, 0]), ("oldest", [0, 1, 2, 3]), ("name", [0, 1, 2, 3]), ("due", [1, 0, 3, 2])]
    {
        let list = desk.maren.get(&format!("{LIST}?agreement_id={}&sort={sort}", desk.agreement.id())).await;
        let order: Vec<usize> = expected.map(|n| place(&list, &desk.path(n))).into();
        assert!(order.is_sorted(), "{sort}: {order:?}");
        assert_eq!(list.hidden("sort"), sort, "the filter keeps the order");
    }
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
    assert!(home.says(">Overdue</span>") && home.says(&desk.path(1)), "{}", home.body);
    assert!(home.says(" · waiting for Ben"), "{}", home.body);
    assert!(!home.says(&desk.path(0)) && !home.says("said to be done by"), "{}", home.body);
    let page = desk.maren.get(&format!("/app/agreements/{agreement}")).await;
    for n in 0..4 {
        assert!(page.says(&format!("<a href=\"{}\">", desk.path(n))), "the agreement’s page lists them: {}", page.body);
    }
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
    for text in ["Record satisfaction", "Claim: said to be done", ">Since ", "Ben to Ada", "Cancel obligation"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(!page.says("Overdue since"), "its badge says so: {}", page.body);
    let dormant = desk.maren.get(&desk.path(2)).await;
    assert_eq!(dormant.body.matches("Nothing due").count(), 1, "{}", dormant.body);
    assert!(
        !dormant.says("Nothing is due") && dormant.says("Nothing due until a trigger is declared"),
        "{}",
        dormant.body
    );
    assert!(!page.says("value=\"confirm\""), "there is nothing to confirm: {}", page.body);
    let early = send(&desk.noah, &path, &[("act", "confirm"), ("occurrence", &occurrence)]).await;
    assert_eq!(early.status, 409);
    notice(&early, "There is no claim to confirm");

    let done = send_twice(&desk.maren, &path, &[("act", "satisfy"), ("occurrence", &occurrence)]).await;
    assert_eq!((done.status, done.location()), (303, format!("{path}#notice").as_str()), "{}", done.body);
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
    let homes = [desk.maren.get("/app").await, desk.noah.get("/app").await];
    assert!(!homes[0].says("said to be done by"), "{}", homes[0].body);
    assert!(homes[1].says("said to be done by") && homes[1].says("said to be done by Maren Holt"), "{}", homes[1].body);
    assert!(homes.iter().all(|home| !home.says(">Overdue</span>")));

    let page = desk.noah.get(&path).await;
    assert!(page.says("value=\"confirm\""), "{}", page.body);
    let done = send_twice(&desk.noah, &path, &[("act", "confirm"), ("occurrence", &occurrence)]).await;
    assert_eq!(done.status, 303, "{}", done.body);
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
    let agreement = desk.maren.get(&format!("/app/agreements/{}", desk.agreement.id())).await;
    let (_, history) = agreement.body.split_once(">History</h2>").expect("a history");
    for did in ["Recorded that the obligation “Promise 2” is done", "Confirmed the obligation “Promise 2”"] {
        assert!(history.contains(did), "{did}: {history}");
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
    for (typed, error) in [
        ("", "must be given"),
        ("soon", "must be a date"),
        (later.as_str(), "must not be in the future"),
        ("1900-01-01", "must not be before "),
    ] {
        let refused = send(&desk.maren, &desk.path(2), &[&declare[..], &[("happened_on", typed)]].concat()).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.says(error) && refused.says("<title>Error: "), "{}", refused.body);
        assert!(typed.is_empty() || refused.says(&format!("value=\"{typed}\"")), "{}", refused.body);
    }
    let declare = [&declare[..], &[("happened_on", earlier.as_str())]].concat();
    let done = send_twice(&desk.maren, &desk.path(2), &declare).await;
    assert_eq!(done.status, 303, "{}", done.body);
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
    let done = send_twice(&desk.maren, &desk.path(3), &[("act", "verify"), ("occurrence", &verification)]).await;
    assert_eq!(done.status, 303, "{}", done.body);
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
    let done = send_twice(&desk.maren, &path, &[("act", "cancel"), ("reason", "Waived <b>")]).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let page = desk.noah.get(&path).await;
    for text in [">By Maren Holt<", "Waived &#60;b&#62;", "class=\"badge quiet\">Cancelled"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    for act in ["Record satisfaction", "Cancel obligation", "value=\"confirm\""] {
        assert!(!page.says(act), "{act}: {}", page.body);
    }
    let late = send(&desk.noah, &path, &[("act", "cancel"), ("reason", "Me too")]).await;
    assert_eq!(late.status, 409);
    notice(&late, "The obligation was cancelled");
    for act in ["", "forget", "Confirm"] {
        assert_eq!(send(&desk.maren, &path, &[("act", act)]).await.status, 404, "{act}");
    }
}

#[tokio::test]
async fn who_is_alone_confirms_what_they_recorded_and_is_asked_on_home() {
    let org = Org::new().await;
    let maren = Browser::of(&org, &org.member("Maren Holt").await).await;
    let (workspace, ada, ben) = (org.workspace("Harbor").await, org.person("Ada").await, org.person("Ben").await);
    let (_, ids) = obligations::in_force(&org, &workspace, [&ada, &ben], vec![on(&[-1])], days_ago(3)).await;
    let path = format!("{LIST}/{}", ids[0]);
    let occurrence = maren.get(&path).await.hidden("occurrence");
    let fields = |act| [("act", act), ("occurrence", occurrence.as_str())];
    assert_eq!(send(&maren, &path, &fields("satisfy")).await.status, 303);
    assert!(maren.get("/app").await.says("said to be done by"));
    assert!(maren.get(&path).await.says("value=\"confirm\""));
    assert_eq!(send(&maren, &path, &fields("confirm")).await.status, 303);
    let home = maren.get("/app").await;
    assert!(!home.says("said to be done by") && !home.says(">Overdue</span>"), "{}", home.body);
}

#[tokio::test]
async fn the_end_of_an_agreement_ends_what_is_shown_as_owed() {
    let desk = Desk::new().await;
    let olive = desk.org.member("Olive Kern").await;
    let agreement = desk.agreement.agreement.id();
    let occurrence = desk.occurrence(1, 0).await;
    desk.org.decide_at_once(&olive, agreement, ProposalAction::CancelAgreement).await;
    let page = desk.maren.get(&desk.path(1)).await;
    assert!(!page.says("value=\"satisfy\"") && !page.says("Cancel obligation"), "{}", page.body);
    for badge in [">Due</span>", ">Overdue</span>", ">To be confirmed</span>"] {
        assert!(!page.says(badge), "{badge}: {}", page.body);
    }
    assert!(page.says("badge quiet\">Cancelled</span>"), "{}", page.body);
    assert!(!desk.maren.get("/app").await.says(">Overdue</span>"));
    let late = send(&desk.maren, &desk.path(1), &[("act", "satisfy"), ("occurrence", &occurrence)]).await;
    assert_eq!(late.status, 409);
    assert!(late.says("The agreement was cancelled") || late.says("The obligation was cancelled"), "{}", late.body);
}

async fn record_with(desk: &Desk, typed: &[(&str, &str)], file: (&str, &[u8])) -> Page {
    let path = desk.path(1);
    let page = desk.maren.get(&path).await;
    let occurrence = desk.occurrence(1, 0).await;
    let token = page.hidden("form_token");
    let own = [("form_token", token.as_str()), ("occurrence", occurrence.as_str()), ("act", "satisfy")];
    desk.maren.upload(&path, &[&own[..], typed].concat(), ("file", file.0, file.1)).await
}

#[tokio::test]
async fn what_a_form_says_about_a_satisfaction_is_told_at_its_field() {
    let desk = Desk::new().await;
    let path = desk.path(1);
    let page = desk.maren.get(&path).await;
    for text in
        ["When it was done", "Add a day, a note or a file", "enctype=\"multipart/form-data\"", &day(0).for_people()]
    {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let [later, ancient] = [day(1).to_string(), day(-500).to_string()];
    let (long, account) = ("é".repeat(301), "Paid to DE89 3704 0044 0532 0130 00");
    let proof = pdf("Proof", "");
    let proof = ("proof.pdf", proof.as_slice());
    for (typed, file, error) in [
        (("done_on", later.as_str()), proof, "The day must not be in the future."),
        (("done_on", ancient.as_str()), proof, "The day must not be before "),
        (("done_on", "soon"), proof, "The day must be a date"),
        (("note", long.as_str()), proof, "The note must have at most 300 characters."),
        (("note", account), proof, "The note must not contain an account or card number"),
        (("note", "Handed over."), ("proof.pdf", &b"MZ no document"[..]), "The file must be a PDF, JPEG or PNG file."),
        (("note", "Handed over."), ("proof.pdf", &b""[..]), "The file is empty."),
        (("note", "Handed over."), ("DE89370400440532013000.pdf", proof.1), "The file has an account or card number"),
    ] {
        let refused = record_with(&desk, &[typed], file).await;
        assert_eq!(refused.status, 422, "{error}: {}", refused.body);
        for text in [
            error,
            "<title>Error: ",
            "Choose the file again.",
            "aria-invalid=\"true\"",
            "<details class=\"edit\" open>",
        ] {
            assert!(refused.says(text), "{text}: {}", refused.body);
        }
        assert_eq!(refused.says(&format!("value=\"{}\"", typed.1)), typed.0 == "done_on", "what was typed stays");
        assert!(!refused.says("3704 0044"), "an account number is shown nowhere again: {}", refused.body);
        assert_eq!(refused.body.matches("class=\"field-error\"").count(), 1, "at its own row: {}", refused.body);
    }
    assert_eq!(desk.read(1).await["occurrences"][0]["state"], "overdue", "nothing was recorded");
    let token = page.hidden("form_token");
    let twice = [("form_token", token.as_str()), ("act", "satisfy"), ("done_on", "1"), ("done_on", "2")];
    assert_eq!(desk.maren.post(&path, &twice).await.status, 422, "a field is given once");
}

#[tokio::test]
async fn members_record_when_and_how_it_was_done_and_the_other_side_reads_it_before_they_confirm() {
    let (live, [ada, ben], ids) = live(vec![on(&[-1, 5])]).await;
    let (other, [stranger, _], _) = self::live(vec![on(&[-1])]).await;
    let path = format!("{LIST}/{}", ids[0]);
    let page = live.member.get(&path).await;
    let [token, copy, occurrence] = ["form_token", "copy", "occurrence"].map(|name| page.hidden(name));
    let (done_on, proof) = (day(-2).to_string(), pdf("Delivery", ""));
    let fields = [
        ("form_token", token.as_str()),
        ("occurrence", occurrence.as_str()),
        ("act", "satisfy"),
        ("done_on", done_on.as_str()),
        ("note", "Handed over to <b>Mr. Lee</b>."),
    ];
    let file = ("file", "Delivery note.pdf", proof.as_slice());
    let copied = [&fields[..], &[("copy", &copy)]].concat();
    let (one, two) = tokio::join!(live.member.upload(&path, &copied, file), live.member.upload(&path, &copied, file));
    assert_eq!((one.status, two.status), (303, 303), "a double click records it once: {}{}", one.body, two.body);
    let other_words = [&fields[..4], &[("note", "Something else.")]].concat();
    let refused = live.member.upload(&path, &other_words, file).await;
    assert_eq!(refused.status, 409, "what was said stays: {}", refused.body);

    let when = format!("Done on {}", day(-2).for_people());
    let shown = [when.as_str(), "Handed over to &#60;b&#62;Mr. Lee&#60;/b&#62;.", "Delivery note.pdf"];
    let at = format!("/obligations/{}", ids[0]);
    let download = format!("/occurrences/{occurrence}/file");
    for page in [&live.member.get(&path).await, &ada.get(&at).await, &ben.get(&at).await] {
        for text in shown {
            assert!(page.says(text), "{text}: {}", page.body);
        }
    }
    let own = ada.get(&at).await;
    let form = own.body.split("<form ").find(|form| form.contains("value=\"confirm\"")).expect("a form to confirm");
    for text in [&shown[..], &["Said to be done by Maren Holt"]].concat() {
        assert!(form.contains(text), "{text} stands above the button: {form}");
    }
    for file in [
        live.member.get(&format!("{path}{download}")).await,
        ada.get(&format!("{at}{download}")).await,
        ben.get(&format!("{at}{download}")).await,
    ] {
        assert_eq!((file.status, &file.bytes[..]), (200, proof.as_slice()));
        assert_eq!(file.headers["content-type"], "application/pdf");
        assert!(file.headers["content-disposition"].to_str().expect("text").starts_with("attachment"));
    }
    assert_eq!(stranger.get(&format!("{at}{download}")).await.status, 404, "another participant’s link");
    assert_eq!(other.member.get(&format!("{path}{download}")).await.status, 404, "another organization’s member");
    assert_eq!(live.member.get(&format!("{path}/occurrences/{}/file", unknown_id())).await.status, 404);

    let confirmed = press(&ada, ids[0], "confirm").await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.body);
    let page = ada.get(&at).await;
    assert!(shown.iter().all(|text| page.says(text)), "it stays on record: {}", page.body);
    let bundle = live.member.get(&bundle_of(&live)).await;
    assert_eq!(bundle.status, 200, "{}", bundle.body);
    let files = unzipped(&bundle.bytes);
    assert_eq!(files["obligations/001 Delivery note.pdf"], proof);
    let owed = lines(&files, "obligations.jsonl");
    let occurrence = &owed[0]["occurrences"][0];
    for (member, value) in [
        ("done_on", json!(done_on)),
        ("note", json!("Handed over to <b>Mr. Lee</b>.")),
        ("path", json!("obligations/001 Delivery note.pdf")),
        ("state", json!("confirmed")),
    ] {
        assert_eq!(occurrence[member], value, "{occurrence}");
    }
    assert_eq!(occurrence["satisfied_by"]["display_name"], "Maren Holt");
}

#[tokio::test]
async fn promisors_say_when_and_how_they_did_it_and_members_read_it_before_they_confirm() {
    let (live, [ada, ben], ids) = live(vec![on(&[-1, 400])]).await;
    let at = format!("/obligations/{}", ids[0]);
    let page = ben.get(&at).await;
    let form = page.body.split("<form ").find(|form| form.contains("value=\"satisfy\"")).expect("a form");
    let form = Page { body: format!("<form {form}"), ..page.clone() };
    let (later, done_on, photo) = (day(1).to_string(), day(-1).to_string(), b"\xff\xd8\xff\xe0x\xff\xd9");
    let fields = hidden(&form, "/act");
    let own: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let send = async |typed: &[(&str, &str)], file: (&str, &[u8])| {
        let fields = [&own[..], &[("act", "satisfy")], typed].concat();
        ben.browser.upload(&ben.at(&format!("{at}/act")), &fields, ("file", file.0, file.1)).await
    };
    let refused = send(&[("done_on", &later), ("note", "Done.")], ("photo.jpg", photo)).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.says("The day must not be in the future.") && refused.says("Done."), "{}", refused.body);
    let refused = send(&[("done_on", &done_on)], ("photo.jpg", b"GIF89a no photo")).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.says("The file must be a PDF, JPEG or PNG file."), "{}", refused.body);

    let typed = [("done_on", done_on.as_str()), ("note", "Keys are in the box.")];
    let (one, two) = tokio::join!(send(&typed, ("photo.jpg", photo)), send(&typed, ("photo.jpg", photo)));
    assert_eq!((one.status, two.status), (303, 303), "{}{}", one.body, two.body);
    assert_eq!(one.location(), two.location(), "one receipt");
    let receipt = ben.browser.get(one.location()).await;
    let when = day(-1).for_people();
    for text in ["Keys are in the box.", "photo.jpg", &format!("It was done on {when}."), &sha256_hex(photo)] {
        assert!(receipt.says(text), "{text}: {}", receipt.body);
    }
    let counted = tests::rows::file_bytes(live.org.stack().table(), ben.participant).await;
    assert!(counted >= photo.len() as u64, "it counts for the participant: {counted}");

    let path = format!("{LIST}/{}", ids[0]);
    let page = live.member.get(&path).await;
    for text in ["Keys are in the box.", "photo.jpg", "value=\"confirm\"", &format!("Done on {when}")] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let occurrence = &own.iter().find(|(name, _)| *name == "occurrence").expect("an occurrence").1;
    let file = live.member.get(&format!("{path}/occurrences/{occurrence}/file")).await;
    assert_eq!((file.status, &file.bytes[..]), (200, &photo[..]));
    assert_eq!(file.headers["content-type"], "image/jpeg");
    let confirmed = send_confirm(&live, &path, occurrence).await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.body);
    assert!(ada.get(&at).await.says("Keys are in the box."), "the other side reads it too");
    let files = unzipped(&live.member.get(&bundle_of(&live)).await.bytes);
    let receipts = lines(&files, "receipts.jsonl");
    let said = receipts.iter().find(|line| line["did"] == "satisfied").expect("a receipt");
    assert_eq!((&said["done_on"], &said["note"]), (&json!(done_on), &json!("Keys are in the box.")));
    assert_eq!(files[said["path"].as_str().expect("a path")], photo);
}

async fn send_confirm(live: &Live, path: &str, occurrence: &str) -> Page {
    send(&live.member, path, &[("act", "confirm"), ("occurrence", occurrence)]).await
}

/// A live agreement whose promises Northwind made to Ada Okafor, both on their pages. Ada's approval completes it.
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

async fn press(who: &Attendee, id: ObligationId, act: &str) -> Page {
    press_saying(who, id, act, &day(0).to_string()).await
}

async fn press_saying(who: &Attendee, id: ObligationId, act: &str, happened: &str) -> Page {
    let at = format!("/obligations/{id}");
    let page = who.get(&at).await;
    let forms: Vec<&str> = page.body.split("<form ").collect();
    let form = forms.iter().find(|form| form.contains(&format!("value=\"{act}\"")));
    let form = form.unwrap_or_else(|| panic!("no form for {act}: {}", page.body));
    let form = Page { body: format!("<form {form}"), ..page.clone() };
    let fields = hidden(&form, "/act");
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let typed = [("act", act), ("happened_on", happened)];
    who.browser.post(&who.at(&format!("{at}/act")), &[&fields[..], &typed].concat()).await
}
