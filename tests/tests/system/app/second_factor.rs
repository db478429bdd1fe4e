//! The second factor: setup, sign-in, and lost phones and codes.

mod turned_off;

use std::net::IpAddr;

use serde_json::{Value, json};
use shared::crypto::keyring::Sealed;
use shared::crypto::{CookieSecret, TotpSecret};
use shared::domain::proposal::ProposalAction;
use shared::domain::time::Timestamp;
use shared::limits;
use tests::app::{Browser, Page, Person, form as form_of};
use tests::stack::Table;
use tests::{Fault, Org, Rule, drafts, rows};

use super::organization::{link_on, send_signed_out};
use super::sign_in::own_address;
use crate::store::faults::Broken;

const ACCOUNT: &str = "/app/account";
pub(super) const PAGE: &str = "/app/account/second-factor";
pub(super) const TURN_ON: &str = "/app/account/second-factor/turn-on";
pub(super) const CODES: &str = "/app/account/second-factor/recovery-codes";
const TURN_OFF: &str = "/app/account/second-factor/turn-off";
const SIGN_IN_CODE: &str = "/app/sign-in/code";
const STEP_S: i64 = 30;
const WRONG: &str = "is incorrect or was used already";

/// The current step. It may end anytime: then its code is one step old, and still accepted.
pub(super) fn step() -> u64 {
    u64::try_from(Timestamp::now().unix_s() / STEP_S).expect("a step")
}

async fn send(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Page {
    let token = browser.get(ACCOUNT).await.hidden("form_token");
    let mut all: Vec<(&str, &str)> = vec![("form_token", token.as_str())];
    // Admins confirm with their own password what lets someone in.
    all.extend(path.starts_with("/app/organization/").then_some(("own_password", "correct horse battery")));
    all.extend(fields);
    browser.post(path, &all).await
}

pub(super) fn key_on(page: &Page) -> Option<TotpSecret> {
    let (_, rest) = page.body.split_once("<pre id=\"key\"")?;
    TotpSecret::parse(rest.split_once('>')?.1.split('<').next()?)
}

pub(super) async fn turn_on(browser: &Browser, person: &Person) -> (TotpSecret, Page) {
    let begun = send(browser, PAGE, &[("current_password", &person.password)]).await;
    assert_eq!((begun.status, begun.location()), (303, PAGE), "{}", begun.body);
    let secret = key_on(&browser.get(PAGE).await).expect("a key");
    let code = secret.code_at(step()).reveal();
    let turned_on = send(browser, TURN_ON, &[("code", &code)]).await;
    assert_eq!((turned_on.status, turned_on.location()), (303, PAGE), "{}", turned_on.body);
    (secret, browser.get(PAGE).await)
}

pub(super) fn codes_on(page: &Page) -> Vec<String> {
    let Some((_, rest)) = page.body.split_once("<pre id=\"codes\"") else { return Vec::new() };
    let codes = rest.split_once('>').and_then(|(_, rest)| rest.split_once("</pre>")).expect("codes").0;
    codes.lines().map(str::to_owned).collect()
}

pub(super) async fn send_code(browser: &Browser, field: &str, code: &str) -> Page {
    let page = browser.get(&format!("{SIGN_IN_CODE}?next=/app/contacts")).await;
    assert_eq!(page.status, 200, "{}", page.location());
    let (token, next) = (page.hidden("form_token"), page.hidden("next"));
    browser.post(SIGN_IN_CODE, &[("form_token", &token), ("next", &next), (field, code)]).await
}

fn is_refused(page: &Page) -> bool {
    page.status == 422 && page.title() == "Error: Enter your code" && page.says(WRONG) && page.says("autofocus")
}

fn needs_password(page: &Page) -> bool {
    page.status == 303 && page.location().starts_with("/app/sign-in?ended=code")
}

struct Guarded {
    org: Org,
    person: Person,
    /// Code guessers' address, so that no other test has to wait for them.
    address: IpAddr,
    browser: Browser,
    turned_on: Page,
    secret: TotpSecret,
    codes: Vec<String>,
}

impl Guarded {
    async fn new() -> Self {
        let org = Org::new().await;
        let person = org.member("Maren Holt").await;
        Self::of(org, person).await
    }

    async fn of(org: Org, person: Person) -> Self {
        let browser = Browser::of(&org, &person).await;
        let (secret, turned_on) = turn_on(&browser, &person).await;
        let codes = codes_on(&turned_on);
        let guarded = Self { org, person, address: own_address(), browser, turned_on, secret, codes };
        guarded.forget_used_codes().await;
        guarded
    }

    fn table(&self) -> &Table {
        self.org.stack().table()
    }

    async fn forget_used_codes(&self) {
        rows::forget_used_codes(self.table(), &self.person.email).await;
    }

    fn code(&self, offset: i64) -> String {
        self.secret.code_at(step().checked_add_signed(offset).expect("a step")).reveal()
    }

    fn visitor(&self) -> Browser {
        Browser::at(self.org.base_url(), self.address)
    }

    async fn halfway(&self) -> Browser {
        let browser = self.visitor();
        let page = browser.sign_in(&self.person.email, &self.person.password, "/app/contacts").await;
        assert_eq!((page.status, page.location()), (303, "/app/sign-in/code?next=/app/contacts"), "{}", page.body);
        assert_eq!(browser.cookie("session"), None);
        assert_eq!(browser.get("/app").await.status, 303, "no session yet");
        browser
    }

    async fn audit_row(&self, operation: &str) -> Value {
        let rows = self.org.audit().await;
        let is_of = |row: &&Value| row["operation"] == operation && row["status"] == "303";
        rows.iter().find(is_of).unwrap_or_else(|| panic!("{operation}: {rows:?}")).clone()
    }
}

#[tokio::test]
async fn a_member_sets_up_a_second_factor_and_signs_in_with_it() {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    let account = browser.get(ACCOUNT).await;
    assert!(account.says(">Set up second factor</a>"), "{}", account.body);
    let page = browser.get(PAGE).await;
    assert!(page.says(">Set up second factor</button>") && page.says("Current password"), "{}", page.body);
    assert!(key_on(&page).is_none());
    let guarded = Guarded::of(org, person).await;

    assert_eq!(guarded.codes.len(), 10, "{:?}", guarded.codes);
    assert!(guarded.turned_on.says("Second factor turned on"), "{}", guarded.turned_on.body);
    let page = guarded.browser.get(PAGE).await;
    assert!(codes_on(&page) == guarded.codes && key_on(&page).is_none() && page.says("10 of 10"), "{}", page.body);
    guarded.browser.expire_flashes();
    let page = guarded.browser.get(PAGE).await;
    assert!(page.says("10 of 10") && !page.says(&guarded.codes[0]), "{}", page.body);
    let account = guarded.browser.get(ACCOUNT).await;
    assert!(account.says("10 of 10") && account.says(">Manage second factor</a>"), "{}", account.body);
    assert_eq!(browser.get(ACCOUNT).await.status, 200);

    let elsewhere = guarded.halfway().await;
    let page = elsewhere.get("/app/sign-in/code?next=/app/contacts").await;
    for text in ["autocomplete=\"one-time-code\"", "inputmode=\"numeric\"", "<label for=\"code\">Code</label>"] {
        assert!(page.says(text), "{text}: {}", page.body);
    }
    let code = guarded.code(0);
    let signed_in = send_code(&elsewhere, "code", &format!(" {} {} ", &code[..3], &code[3..])).await;
    assert_eq!((signed_in.status, signed_in.location()), (303, "/app/contacts"), "{}", signed_in.body);
    assert_eq!(elsewhere.get("/app").await.status, 200);
    assert_eq!(elsewhere.cookie("second-step"), None);
    assert_eq!(elsewhere.get(SIGN_IN_CODE).await.location(), "/app");

    let row = guarded.audit_row("turn_on_second_factor").await;
    assert_eq!((&row["member_id"], &row["code"]), (&json!(guarded.person.id.to_string()), &json!("ok")));
    guarded.audit_row("set_up_second_factor").await;
    guarded.audit_row("sign_in_with_code").await;
    let admin = Browser::of(&guarded.org, &guarded.org.admin("Ada Okafor").await).await;
    assert!(admin.get("/app/audit").await.says("Turned on the second factor"));
}

#[tokio::test]
async fn neither_secrets_nor_codes_are_in_rows_logs_or_cookies() {
    let guarded = Guarded::new().await;
    let typed = format!("canary-code-{}", uuid::Uuid::new_v4().simple());
    for path in [TURN_ON, CODES, TURN_OFF] {
        let fields = [("code", typed.as_str()), ("turn_off_code", &typed), ("current_password", &typed)];
        assert_eq!(send(&guarded.browser, path, &fields).await.status, 422, "{path}");
    }
    let halfway = guarded.halfway().await;
    for field in ["code", "recovery_code"] {
        let page = send_code(&halfway, field, &typed).await;
        assert!(page.status == 422 && !page.says(&typed), "{}", page.body);
    }
    assert_eq!(send_code(&halfway, "recovery_code", &guarded.codes[0]).await.status, 303);

    let log = std::fs::read_to_string(guarded.org.stack().log_file()).expect("the log");
    let rows = serde_json::to_string(&rows::all(guarded.table()).await).unwrap();
    assert!(rows.contains("SECONDFACTOR#") && log.contains("sign_in_with_recovery_code"), "they would be seen");
    let cookies = ["once-second-factor", "once-recovery-codes", "second-step"];
    let cookies = cookies.map(|name| guarded.browser.cookie(name).unwrap_or_default()).concat();
    assert!(!cookies.is_empty());
    let secret = guarded.secret.expose();
    let [used, left] = [&guarded.codes[0], &guarded.codes[1]];
    for canary in [&typed, &secret, &secret.to_lowercase(), used, left, &left.replace('-', ""), &left.to_uppercase()] {
        for (place, text) in [("the log", &log), ("a row", &rows), ("a cookie", &cookies)] {
            assert!(!text.contains(canary.as_str()), "{canary} in {place}");
        }
    }
}

#[tokio::test]
async fn a_note_typed_before_the_session_ended_is_kept_through_the_code() {
    let guarded = Guarded::new().await;
    let agreement = guarded.org.ready_draft("Lease", |_| {}).await;
    let expires_at = Timestamp::now().plus_seconds(3600);
    let proposal = drafts::propose_due(&guarded.org, &agreement, ProposalAction::PublishAgreement, expires_at).await;
    let (path, browser) = (format!("/app/proposals/{}", proposal.id()), &guarded.browser);
    let page = browser.get(&path).await;
    let elsewhere = guarded.halfway().await;
    assert_eq!(send_code(&elsewhere, "recovery_code", &guarded.codes[0]).await.status, 303);
    assert_eq!(send(&elsewhere, "/app/sign-out-everywhere", &[]).await.status, 303);

    let hidden = ["form_token", "version", "member"].map(|name| (name, page.hidden(name)));
    let mut fields: Vec<(&str, &str)> = hidden.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fields.extend([("note", "Terms as agreed."), ("decision", "confirm")]);
    let out = browser.post(&path, &fields).await;
    assert!(out.status == 303 && out.location().ends_with("&ended=decision"), "{}", out.location());
    let sign_in = browser.get(out.location()).await;
    let (token, next) = (sign_in.hidden("form_token"), sign_in.hidden("next"));
    let (email, password) = (guarded.person.email.as_str(), guarded.person.password.as_str());
    let fields = [("form_token", token.as_str()), ("next", &next), ("email", email), ("password", password)];
    let halfway = browser.post("/app/sign-in", &fields).await;
    assert_eq!(halfway.location(), format!("/app/sign-in/code?next={path}"), "{}", halfway.body);
    let code = browser.get(halfway.location()).await;
    let (token, next) = (code.hidden("form_token"), code.hidden("next"));
    let wrong = [("form_token", token.as_str()), ("next", &next), ("code", "1")];
    assert_eq!(browser.post(SIGN_IN_CODE, &wrong).await.hidden("next"), path);
    let right = [("form_token", token.as_str()), ("next", &next), ("code", &guarded.code(0))];
    let back = browser.post(SIGN_IN_CODE, &right).await;
    assert_eq!((back.status, back.location()), (303, path.as_str()), "{}", back.body);
    let page = browser.get(&path).await;
    assert!(page.says("Your note is kept below.") && page.says("Terms as agreed.</textarea>"), "{}", page.body);
}

#[tokio::test]
async fn only_the_password_begins_to_set_up_and_only_a_right_code_turns_on() {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    for password in ["", "wrong", "<b>wrong</b>"] {
        let page = send(&browser, PAGE, &[("current_password", password)]).await;
        assert!(page.status == 422 && page.says("Current password is incorrect."), "{}", page.body);
        assert!(page.title() == "Error: Second factor" && !page.says("<b>wrong") && key_on(&page).is_none());
    }
    let page = send(&browser, TURN_ON, &[("code", "123456")]).await;
    assert!(page.status == 422 && page.says("This page was out of date"), "{}", page.body);

    assert_eq!(send(&browser, PAGE, &[("current_password", &person.password)]).await.status, 303);
    let page = browser.get(PAGE).await;
    let secret = key_on(&page).expect("a key");
    let qr = page.body.split_once("<svg class=\"qr\"").expect("a QR code").1;
    assert!(qr.contains("role=\"img\" aria-label=\"QR code") && page.says("<path fill=\"#fff\" d=\"M0 0h"));
    // The finder pattern in the corner, seven dark modules, begins after the quiet zone of four, which scanners need.
    let between = |before, after| qr.split_once(before).and_then(|(_, rest)| rest.split_once(after)).expect(before).0;
    let size: usize = between("viewBox=\"0 0 ", " ").parse().expect("a size");
    let path = between("fill=\"#000\" d=\"M", "\"");
    assert!((size - 8 - 17).is_multiple_of(4) && path.starts_with("4 4h7v1h-7z"), "{size} {path}");
    for run in path.split('M') {
        let x: usize = run.split_once(' ').expect("a point").0.parse().expect("a number");
        assert!((4..size - 4).contains(&x), "{run}");
    }
    assert_eq!(page.headers["cache-control"], "no-store");
    let another = TotpSecret::generate().unwrap();
    let step = step();
    let (wrong, late) = (another.code_at(step).reveal(), secret.code_at(step - 3).reveal());
    for (code, error) in [
        (wrong.as_str(), "is incorrect. Wait for the next one"),
        (&late, "is incorrect. Wait for the next one"),
        ("", "must have 6 digits"),
        ("12345", "must have 6 digits"),
        ("<b>12345", "must have 6 digits"),
    ] {
        let page = send(&browser, TURN_ON, &[("code", code)]).await;
        assert!(page.status == 422 && page.says(&format!("Code from your app {error}")), "{code}: {}", page.body);
        assert!(page.says("autofocus") && !page.says("<b>12345"), "{code}");
        assert_eq!(key_on(&page).map(|key| key.expose()), Some(secret.expose()), "the same key");
    }
    let colleague = Browser::of(&org, &org.member("Ben Ruiz").await).await;
    colleague.set_cookie("once-second-factor", &browser.cookie("once-second-factor").unwrap());
    assert!(key_on(&colleague.get(PAGE).await).is_none());
    assert!(browser.get(ACCOUNT).await.says(">Set up second factor</a>"));
    Browser::of(&org, &person).await;
    assert!(
        rows::all(org.stack().table())
            .await
            .iter()
            .all(|row| row["pk"] != format!("SECONDFACTOR#{}", person.email).as_str())
    );
    let stranger = Browser::new(org.base_url());
    for path in [PAGE, TURN_ON, CODES, TURN_OFF] {
        assert!(stranger.post(path, &[("form_token", "x")]).await.location().starts_with("/app/sign-in"), "{path}");
        assert_eq!(browser.post(path, &[("form_token", "x")]).await.status, 403, "{path}");
    }
}

#[tokio::test]
async fn a_clock_may_be_thirty_seconds_off_and_no_more() {
    let guarded = Guarded::new().await;
    for (offset, is_accepted) in [(-1, true), (0, true), (1, true), (-2, false), (2, false), (-120, false)] {
        let (browser, page) = loop {
            guarded.forget_used_codes().await;
            let (browser, began) = (guarded.halfway().await, step());
            let code = guarded.secret.code_at(began.checked_add_signed(offset).expect("a step")).reveal();
            let page = send_code(&browser, "code", &code).await;
            // If the next step has begun meanwhile, the code may have arrived in either.
            if step() == began {
                break (browser, page);
            }
        };
        assert_eq!(page.status == 303, is_accepted, "{offset}: {}", page.body);
        if !is_accepted {
            assert!(is_refused(&page), "{offset}");
            assert_eq!(send_code(&browser, "code", &guarded.code(0)).await.status, 303);
        }
    }
}

#[tokio::test]
async fn a_code_works_once() {
    let guarded = Guarded::new().await;
    let (one, two) = (guarded.halfway().await, guarded.halfway().await);
    let (code, earlier) = (guarded.code(0), guarded.code(-1));
    assert_eq!(send_code(&one, "code", &code).await.status, 303);
    for used in [&code, &earlier] {
        let page = send_code(&two, "code", used).await;
        assert!(is_refused(&page), "{}", page.body);
    }
    let page = send(&one, CODES, &[("code", &code)]).await;
    assert!(page.status == 422 && page.says(WRONG), "{}", page.body);
    let next = guarded.code(1);
    assert_eq!(send_code(&two, "code", &next).await.status, 303);
}

#[tokio::test]
async fn of_two_uses_of_a_code_at_once_one_signs_in() {
    let guarded = Guarded::new().await;
    for _ in 0..3 {
        guarded.forget_used_codes().await;
        let browsers = [guarded.halfway().await, guarded.halfway().await, guarded.halfway().await];
        let code = guarded.code(0);
        let pages = tokio::join!(
            send_code(&browsers[0], "code", &code),
            send_code(&browsers[1], "code", &code),
            send_code(&browsers[2], "code", &code)
        );
        let statuses = [pages.0.status, pages.1.status, pages.2.status];
        assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
        let mut sessions = 0;
        for browser in &browsers {
            sessions += u32::from(browser.get("/app").await.status == 200);
        }
        assert_eq!(sessions, 1);
    }
}

#[tokio::test]
async fn whoever_signs_in_with_a_code_is_signed_in_though_the_answer_of_the_table_was_lost() {
    for fault in [Fault::LateCommit, Fault::LostResponse, Fault::Conflict] {
        let broken = Broken::new().await;
        let person = broken.org.member("Maren Holt").await;
        let guarded = Guarded::of(broken.org, person).await;
        let browser = Browser::at(broken.client.base_url(), guarded.address);
        browser.sign_in(&guarded.person.email, &guarded.person.password, "/app").await;
        let code = guarded.code(0);
        let injected = broken.faults.inject(Rule::on("TransactWriteItems").containing("SESSION#").times(1), fault);
        let page = send_code(&browser, "code", &code).await;
        assert_eq!((page.status, injected.count()), (303, 1), "{fault:?}: {}", page.body);
        assert_eq!(browser.get("/app").await.status, 200, "{fault:?}");
    }
}

#[tokio::test]
async fn a_recovery_code_signs_in_once_and_few_are_warned_of() {
    let guarded = Guarded::new().await;
    let code = &guarded.codes[0];
    let typed = code.to_uppercase().replace('-', " ");
    let browser = guarded.halfway().await;
    for wrong in ["", "123456", "k7qf-2mzx", "<b>k7qf"] {
        let page = send_code(&browser, "recovery_code", wrong).await;
        assert!(
            page.status == 422 && page.says("Recovery code must be a 16-character recovery code"),
            "{wrong}: {}",
            page.body
        );
        assert!(page.says("<details class=\"confirm calm\" open>") && !page.says("<b>k7qf"), "{}", page.body);
    }
    let foreign = send_code(&browser, "recovery_code", "aaaa-aaaa-aaaa-aaaa").await;
    assert!(is_refused(&foreign), "{}", foreign.body);
    assert_eq!(send_code(&browser, "recovery_code", &typed).await.status, 303);
    guarded.audit_row("sign_in_with_recovery_code").await;
    assert!(is_refused(&send_code(&guarded.halfway().await, "recovery_code", code).await));
    for code in &guarded.codes[1..7] {
        let page = guarded.browser.get(ACCOUNT).await;
        assert!(!page.says("You have few recovery codes left."), "{}", page.body);
        assert_eq!(send_code(&guarded.halfway().await, "recovery_code", code).await.status, 303);
    }
    let page = guarded.browser.get(ACCOUNT).await;
    assert!(page.says("3 of 10") && page.says("You have few recovery codes left."), "{}", page.body);

    guarded.browser.expire_flashes();
    let refused = send(&guarded.browser, CODES, &[("code", "1")]).await;
    assert!(
        refused.status == 422 && refused.says("Code must have 6 digits, or be a recovery code"),
        "{}",
        refused.body
    );
    let refused = send(&guarded.browser, CODES, &[("code", code)]).await;
    assert!(refused.status == 422 && refused.says(WRONG) && codes_on(&refused).is_empty(), "{}", refused.body);
    let renewed = send(&guarded.browser, CODES, &[("code", &guarded.codes[7])]).await;
    assert_eq!((renewed.status, renewed.location()), (303, PAGE), "{}", renewed.body);
    let page = guarded.browser.get(PAGE).await;
    let new = codes_on(&page);
    assert!(page.says("New recovery codes created"), "{}", page.body);
    assert!(new.len() == 10 && !new.contains(&guarded.codes[8]) && page.says("10 of 10"), "{}", page.body);
    guarded.audit_row("create_recovery_codes").await;
    assert!(is_refused(&send_code(&guarded.halfway().await, "recovery_code", &guarded.codes[8]).await));
    assert_eq!(send_code(&guarded.halfway().await, "recovery_code", &new[9]).await.status, 303);
}

#[tokio::test]
async fn guesses_at_a_code_are_slowed_down_and_the_owner_is_not() {
    let guarded = Guarded::new().await;
    let thief = guarded.halfway().await;
    let another = TotpSecret::generate().unwrap();
    for guess in 0..10 {
        let page = send_code(&thief, "code", &another.code_at(guess).reveal()).await;
        assert!(is_refused(&page), "{guess}: {}", page.body);
    }
    rows::postpone_login(guarded.table(), "code", &guarded.person.email).await;
    let page = send_code(&thief, "code", &guarded.code(0)).await;
    assert!(is_refused(&page), "the right one comes too soon: {}", page.body);
    let again = guarded.halfway().await;
    assert!(is_refused(&send_code(&again, "recovery_code", &guarded.codes[0]).await));
    // The owner has signed in with this browser before.
    assert_eq!(send(&guarded.browser, "/app/sign-out", &[]).await.status, 303);
    let (email, password) = (&guarded.person.email, &guarded.person.password);
    assert_eq!(guarded.browser.sign_in(email, password, "/app/contacts").await.status, 303);
    assert_eq!(send_code(&guarded.browser, "code", &guarded.code(0)).await.status, 303);
    assert!(is_refused(&send_code(&again, "code", &guarded.code(1)).await));
}

#[tokio::test]
async fn a_right_password_is_counted_until_the_code_is_right() {
    let guarded = Guarded::new().await;
    let browser = Browser::of(&guarded.org, &guarded.org.member("Ben Ruiz").await).await;
    let known = guarded.browser;
    assert_eq!(send(&known, "/app/sign-out", &[]).await.status, 303);
    // Ten free attempts on a known device.
    for _ in 0..10 {
        let page = known.sign_in(&guarded.person.email, &guarded.person.password, "/app").await;
        assert_eq!(page.location(), "/app/sign-in/code?next=/app");
    }
    // One of the next comes too soon, however slow the machine: the wait doubles each time.
    let mut page = known.sign_in(&guarded.person.email, &guarded.person.password, "/app").await;
    for _ in 0..3 {
        if page.status == 303 {
            page = known.sign_in(&guarded.person.email, &guarded.person.password, "/app").await;
        }
    }
    assert!(page.status == 422 && page.says("Incorrect email or password"), "{}", page.body);
    assert_eq!(browser.get("/app").await.status, 200);
}

fn age_step(guarded: &Guarded, browser: &Browser, seconds: i64) {
    let keys = guarded.org.stack().keyring();
    let form = CookieSecret::parse(&browser.cookie("form").unwrap()).unwrap();
    let place = format!("a sign-in without its code, to {}", form.form_token());
    let cookie = reqwest::Url::parse(&format!("http://x/?{}", browser.cookie("second-step").unwrap())).unwrap();
    let sealed: Sealed = serde_json::from_str(&cookie.query_pairs().next().unwrap().0).unwrap();
    let (at, text): (Timestamp, String) = serde_json::from_str(&keys.open(&sealed, &place).unwrap()).unwrap();
    let content = serde_json::to_string(&(at.plus_seconds(-seconds), text)).unwrap();
    let sealed = serde_json::to_string(&keys.seal(&content, &place).unwrap()).unwrap();
    browser.set_cookie("second-step", form_of(&[("", &sealed)]).trim_start_matches('='));
}

#[tokio::test]
async fn the_second_step_ends_and_is_of_one_browser_account_and_password() {
    let guarded = Guarded::new().await;
    let code = guarded.code(0);
    let stranger = guarded.visitor();
    assert!(needs_password(&stranger.get(SIGN_IN_CODE).await));
    assert!(needs_password(&stranger.post(SIGN_IN_CODE, &[("form_token", "x"), ("code", &code)]).await));
    let page = stranger.get("/app/sign-in?ended=code&next=/app").await;
    assert!(page.says("Enter your password again"), "{}", page.body);
    let token = page.hidden("form_token");
    assert!(needs_password(&stranger.post(SIGN_IN_CODE, &[("form_token", &token), ("code", &code)]).await));

    let halfway = guarded.halfway().await;
    let cookie = halfway.cookie("second-step").unwrap();
    assert!(!cookie.contains(&guarded.person.email), "it is sealed");
    stranger.set_cookie("second-step", &cookie);
    assert!(needs_password(&send_code(&stranger, "code", &code).await));
    stranger.set_cookie("second-step", "%7B%22key%22%3A%22x%22%2C%22text%22%3A%22x%22%7D");
    assert!(needs_password(&send_code(&stranger, "code", &code).await));

    age_step(&guarded, &halfway, 301);
    assert!(needs_password(&send_code(&halfway, "code", &code).await));
    let halfway = guarded.halfway().await;
    age_step(&guarded, &halfway, 290);
    assert_eq!(send_code(&halfway, "code", &guarded.code(0)).await.status, 303);

    guarded.forget_used_codes().await;
    let halfway = guarded.halfway().await;
    assert_eq!(send(&guarded.browser, "/app/sign-out-everywhere", &[]).await.status, 303);
    assert!(needs_password(&send_code(&halfway, "code", &guarded.code(0)).await));
    let (halfway, owner) = (guarded.halfway().await, guarded.halfway().await);
    assert_eq!(send_code(&owner, "code", &guarded.code(0)).await.status, 303);
    let new = [("current_password", guarded.person.password.as_str()), ("new_password", "tiger lamp orchid")];
    assert_eq!(send(&owner, "/app/account/password", &new).await.status, 303);
    assert!(needs_password(&send_code(&halfway, "code", &guarded.code(1)).await));
    let browser = guarded.visitor();
    let page = browser.sign_in(&guarded.person.email, "tiger lamp orchid", "/app").await;
    assert_eq!(page.location(), "/app/sign-in/code?next=/app");
    assert_eq!(send_code(&browser, "code", &guarded.code(1)).await.status, 303);
}

#[tokio::test]
async fn the_code_of_another_account_signs_in_nobody() {
    let (one, two) = (Guarded::new().await, Guarded::new().await);
    let browser = one.halfway().await;
    assert!(is_refused(&send_code(&browser, "code", &two.code(0)).await));
    assert!(is_refused(&send_code(&browser, "recovery_code", &two.codes[0]).await));
    let page = browser.sign_in(&two.person.email, &two.person.password, "/app").await;
    assert_eq!(page.location(), "/app/sign-in/code?next=/app");
    assert!(is_refused(&send_code(&browser, "recovery_code", &one.codes[0]).await));
    assert_eq!(send_code(&browser, "recovery_code", &two.codes[0]).await.status, 303);
    assert!(browser.get(ACCOUNT).await.says(&two.person.email));
}
