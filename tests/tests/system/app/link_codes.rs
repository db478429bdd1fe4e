//! Codes that members read out by phone: if required, a participant's link opens a session only with one.

use std::net::IpAddr;

use futures_util::future::join_all;
use serde_json::Value;
use shared::domain::ids::ParticipantId;
use shared::limits;
use tests::Org;
use tests::app::{Browser, Page};
use tests::attending::{Attendee, Live, hidden, shown_code};
use tests::{Fault, Rule, Shaky, rows};

struct Desk {
    live: Live,
    admin: Browser,
}

impl Desk {
    async fn new() -> Self {
        let live = Live::new(|draft| {
            draft.stages.drain(..1);
            draft.stages.truncate(1);
        })
        .await;
        let admin = Browser::of(&live.org, &live.org.admin("Kim Sato").await).await;
        let desk = Self { live, admin };
        desk.ask(true).await;
        desk
    }

    async fn ask(&self, asks: bool) {
        let token = self.admin.get("/app").await.hidden("form_token");
        let form = [("form_token", token.as_str()), ("name", "Harbor"), ("time_zone", "UTC"), ("asks_for_codes", "on")];
        let form = if asks { &form[..] } else { &form[..3] };
        let saved = self.admin.post("/app/organization", form).await;
        assert_eq!(saved.status, 303, "{}", saved.body);
    }

    fn access(&self, participant: ParticipantId) -> String {
        format!("{}/participants/{participant}/access", self.live.path())
    }

    async fn send(&self, page: &Page, participant: ParticipantId) -> Page {
        let at = format!("{}/code", self.access(participant));
        let fields = hidden(page, &at);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.live.member.post(&at, &fields).await
    }

    fn browser(&self, participant: ParticipantId) -> Attendee {
        Attendee { browser: Browser::new(self.live.org.base_url()), participant }
    }

    async fn row(&self, participant: ParticipantId) -> Value {
        let state = self.live.org.state().await;
        let key = format!("LINKCODE#{participant}");
        state.into_iter().find(|row| row["sk"] == key.as_str()).expect("a code")
    }
}

fn other(code: &str) -> &'static str {
    if code.starts_with('9') { "000 000" } else { "999 999" }
}

async fn open(attendee: &Attendee, link: &str, code: &str) -> Page {
    let page = attendee.browser.get(link).await;
    assert_eq!(page.status, 200, "{}", page.body);
    attendee.browser.post(link, &[("form_token", &page.hidden("form_token")), ("code", code)]).await
}

fn is_open(page: &Page) -> bool {
    page.status == 303 && page.location().starts_with("/app/parts/")
}

fn is_wrong(page: &Page) -> bool {
    page.status == 422 && page.says("is wrong, or no longer works") && page.title().starts_with("Error: ")
}

#[tokio::test]
async fn a_link_opens_a_session_only_with_the_code_that_a_member_reads_out() {
    let desk = Desk::new().await;
    let ada = desk.live.ids()[0];
    let link = desk.live.link(ada).await;
    let attendee = desk.browser(ada);
    let page = attendee.browser.get(&link).await;
    for text in ["Harbor", "Lease", "Ada Okafor", "Code</label>", "reads out to you by phone"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    assert!(is_wrong(&open(&attendee, &link, "123456").await));
    let blank = open(&attendee, &link, "12345").await;
    assert!(blank.status == 422 && blank.says("Code must be six digits"), "{}", blank.body);
    assert_eq!(attendee.get("").await.status, 401);

    let code = desk.live.code(ada).await;
    let card = desk.live.member.get(&desk.access(ada)).await;
    assert!(card.says(&code) && card.says("5 tries left"), "{}", card.body);
    let wrong = open(&attendee, &link, other(&code)).await;
    assert!(is_wrong(&wrong) && wrong.says("Lease"), "{}", wrong.body);
    assert!(desk.live.member.get(&desk.access(ada)).await.says("4 tries left"));
    assert!(is_open(&open(&attendee, &link, &code.replace(' ', "-")).await));
    assert_eq!(attendee.get("").await.status, 200);
    let back = attendee.browser.get(&link).await;
    assert!(!back.says("Code</label>"), "{}", back.body);
    assert!(is_open(&attendee.browser.post(&link, &[("form_token", &back.hidden("form_token"))]).await));
    assert_eq!(attendee.get("").await.status, 200);
    assert!(is_wrong(&open(&desk.browser(ada), &link, &code).await));
    let card = desk.live.member.get(&desk.access(ada)).await;
    assert!(!card.says(&code) && !card.says("tries left"), "a used code is not shown: {}", card.body);

    let row = desk.row(ada).await;
    let audit = desk.live.org.audit().await;
    let log = std::fs::read_to_string(desk.live.org.stack().log_file()).unwrap_or_default();
    let rows = serde_json::to_string(&audit).expect("JSON");
    let digits = code.replace(' ', "");
    for secret in [row["hash"].as_str().expect("a hash"), &link] {
        assert!(!log.contains(secret) && !rows.contains(secret), "{secret}");
    }
    assert!(!row.to_string().contains(&format!("\"{digits}\"")) && !log.contains(&format!("\"{digits}\"")));
    let of = |operation: &str| audit.iter().filter(|row| row["operation"] == operation).cloned().collect::<Vec<_>>();
    assert_eq!(of("create_link_code").len(), 1);
    let opened = of("open_participant_link");
    let ok = opened.iter().filter(|row| row["code"] == "ok").count();
    assert_eq!((ok, opened.len()), (2, 6), "refusals are on record too: {opened:?}");
    assert!(opened.iter().all(|row| row.to_string().contains(&ada.uuid().simple().to_string())), "{opened:?}");
}

#[tokio::test]
async fn whoever_guesses_while_signed_in_elsewhere_is_in_the_log_of_the_link_s_organization() {
    let desk = Desk::new().await;
    let ada = desk.live.ids()[0];
    let (link, code) = (desk.live.link(ada).await, desk.live.code(ada).await);
    let elsewhere = Org::new().await;
    let browser = Browser::of(&elsewhere, &elsewhere.member("Mallory").await).await;
    let guesser = Attendee { browser, participant: ada };
    assert!(is_wrong(&open(&guesser, &link, other(&code)).await));
    let tries = async |org: &Org| {
        let audit = org.audit().await;
        audit.iter().filter(|row| row["operation"] == "open_participant_link").count()
    };
    assert_eq!((tries(&desk.live.org).await, tries(&elsewhere).await), (1, 0));
}

#[tokio::test]
async fn without_the_setting_nothing_changes_and_turning_it_on_ends_no_session() {
    let desk = Desk::new().await;
    desk.ask(false).await;
    let [ada, northwind] = desk.live.ids();
    let page = desk.live.member.get(&desk.access(ada)).await;
    assert!(!page.says("Create code"), "{}", page.body);
    let before = desk.live.attend(ada).await;
    let link = desk.live.link(northwind).await;
    let waiting = desk.browser(northwind);
    let page = waiting.browser.get(&link).await;
    assert!(!page.says("Code</label>"));
    desk.ask(true).await;
    assert_eq!(before.get("").await.status, 200, "a session that began before goes on");
    let token = page.hidden("form_token");
    let asked = waiting.browser.post(&link, &[("form_token", &token)]).await;
    assert!(asked.status == 422 && asked.says("You need a code") && asked.says("Code</label>"), "{}", asked.body);
    let code = desk.live.code(northwind).await;
    let form = desk.live.member.get(&desk.access(northwind)).await;
    desk.ask(false).await;
    assert!(is_open(&waiting.browser.post(&link, &[("form_token", &token), ("code", other(&code))]).await));
    let none = desk.send(&form, northwind).await;
    assert_eq!(none.status, 303, "{}", none.body);
    let page = desk.live.member.get(none.location()).await;
    assert!(page.says("No code was made"), "{}", page.body);
    let token = desk.admin.get("/app").await.hidden("form_token");
    let form = [("form_token", token.as_str()), ("name", " "), ("time_zone", "UTC"), ("asks_for_codes", "on")];
    let refused = desk.admin.post("/app/organization", &form).await;
    assert!(refused.status == 422 && refused.body.contains("name=\"asks_for_codes\" type=\"checkbox\""));
    assert!(refused.says("type=\"checkbox\" checked"), "{}", refused.body);
    let token = desk.live.member.get("/app").await.hidden("form_token");
    let form = [("form_token", token.as_str()), form[2], ("name", "Mine"), form[3]];
    assert_eq!(desk.live.member.post("/app/organization", &form).await.status, 403, "settings are for admins");
}

#[tokio::test]
async fn a_code_ends_after_five_tries_15_minutes_another_code_or_another_link() {
    let desk = Desk::new().await;
    let [ada, northwind] = desk.live.ids();
    let link = desk.live.link(ada).await;
    let attendee = desk.browser(ada);
    let code = desk.live.code(ada).await;
    for _ in 0..limits::LINK_CODE_TRIES_MAX {
        assert!(is_wrong(&open(&attendee, &link, other(&code)).await));
    }
    assert!(is_wrong(&open(&attendee, &link, &code).await), "too many tries");
    assert!(!desk.live.member.get(&desk.access(ada)).await.says("tries left"));

    let code = desk.live.code(ada).await;
    let expired = shared::domain::time::Timestamp::now().plus_seconds(-1).to_string();
    rows::set_text(desk.live.org.stack().table(), &desk.row(ada).await, "expires_at", &expired).await;
    assert!(is_wrong(&open(&attendee, &link, &code).await), "expired");

    let old = desk.live.code(ada).await;
    let new = desk.live.code(ada).await;
    assert_ne!(old, new, "one in a million");
    assert!(is_wrong(&open(&attendee, &link, &old).await), "another one was made");
    let of_other = desk.live.code(northwind).await;
    if of_other != new {
        assert!(is_wrong(&open(&attendee, &link, &of_other).await), "another participant's");
    }
    let page = desk.live.member.get(&desk.access(ada)).await;
    let fields = hidden(&page, &format!("{}/reissue", desk.access(ada)));
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(desk.live.member.post(&format!("{}/reissue", desk.access(ada)), &fields).await.status, 303);
    let link = desk.live.link(ada).await;
    assert!(is_wrong(&open(&attendee, &link, &new).await), "the link was reissued");
    let code = desk.live.code(ada).await;
    assert!(is_open(&open(&attendee, &link, &code).await));
}

#[tokio::test]
async fn a_code_opens_one_session_whatever_happens_at_once() {
    let desk = Desk::new().await;
    let ada = desk.live.ids()[0];
    let link = desk.live.link(ada).await;
    let page = desk.live.member.get(&desk.access(ada)).await;
    let (one, other) = tokio::join!(desk.send(&page, ada), desk.send(&page, ada));
    assert_eq!((one.status, other.status), (303, 303), "{} {}", one.body, other.body);
    let code = shown_code(&desk.live.member.get(&desk.access(ada)).await).expect("a code");
    let [phone, desktop] = [desk.browser(ada), desk.browser(ada)];
    let (one, other) = tokio::join!(open(&phone, &link, &code), open(&desktop, &link, &code));
    assert_eq!(usize::from(is_open(&one)) + usize::from(is_open(&other)), 1, "{} {}", one.status, other.status);
    assert!(is_wrong(&one) || is_wrong(&other));
    let open_now = [phone.get("").await.status, desktop.get("").await.status];
    assert_eq!(open_now.iter().filter(|status| **status == 200).count(), 1, "{open_now:?}");
    // Simultaneous guesses count like successive ones.
    let code = desk.live.code(ada).await;
    let crowd: Vec<_> = (0..12).map(|_| desk.browser(ada)).collect();
    let wrong = self::other(&code);
    let guesses = join_all(crowd.iter().map(|one| open(one, &link, wrong))).await;
    assert!(guesses.iter().all(is_wrong), "{:?}", guesses.iter().map(|page| page.status).collect::<Vec<_>>());
    assert_eq!(desk.row(ada).await["tries"], limits::LINK_CODE_TRIES_MAX.to_string().as_str());
    assert!(is_wrong(&open(&desk.browser(ada), &link, &code).await));
}

#[tokio::test]
async fn wrong_codes_slow_down_their_own_link_from_their_network_address() {
    let desk = Desk::new().await;
    let ada = desk.live.ids()[0];
    let link = desk.live.link(ada).await;
    let guesser =
        Attendee { browser: Browser::at(desk.live.org.base_url(), IpAddr::from([127, 77, 4, 9])), participant: ada };
    let token = guesser.browser.get(&link).await.hidden("form_token");
    let mut refused = 0;
    for _ in 0..60 {
        let page = guesser.browser.post(&link, &[("form_token", &token), ("code", "123456")]).await;
        assert!(page.status == 422 || page.status == 429, "{}", page.status);
        refused += u32::from(page.status == 429);
    }
    assert!(refused > 0);
    let code = desk.live.code(ada).await;
    // On a busy machine, creating the code may take longer than the wait: another guess begins another wait.
    let again = guesser.browser.post(&link, &[("form_token", &token), ("code", "123456")]).await;
    assert!(again.status == 422 || again.status == 429, "{}", again.status);
    assert_eq!(guesser.browser.post(&link, &[("form_token", &token), ("code", &code)]).await.status, 429);
    assert!(is_open(&open(&desk.browser(ada), &link, &code).await), "others are not slowed down");
    let northwind = desk.live.ids()[1];
    let (link, code) = (desk.live.link(northwind).await, desk.live.code(northwind).await);
    let browser = Browser::at(desk.live.org.base_url(), IpAddr::from([127, 77, 4, 9]));
    assert!(is_open(&open(&Attendee { browser, participant: northwind }, &link, &code).await));
}

/// A session that began although the store seemed to refuse it is open, with its cookie, and used its code once.
#[tokio::test]
async fn a_session_whose_answer_was_lost_is_open() {
    let desk = Desk::new().await;
    let ada = desk.live.ids()[0];
    let link = desk.live.link(ada).await;
    let code = desk.live.code(ada).await;
    let shaky = Shaky::beside(&desk.live.org);
    let far = Attendee { browser: shaky.browser(), participant: ada };
    shaky.faults.inject(Rule::on("TransactWriteItems").containing("LINKCODE#").times(1), Fault::LateCommit);
    let opened = open(&far, &link, &code).await;
    assert!(is_open(&opened), "{} {}", opened.status, opened.body);
    let cookie = format!("part-{ada}");
    let near = desk.browser(ada);
    near.browser.set_cookie(&cookie, &far.browser.cookie(&cookie).expect("a session"));
    assert_eq!(near.get("").await.status, 200);
}
