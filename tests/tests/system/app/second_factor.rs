//! The second factor: setup, sign-in, and lost phones and codes.

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

#[tokio::test]
async fn turning_off_takes_the_password_and_a_code() {
    let guarded = Guarded::new().await;
    let password = guarded.person.password.as_str();
    let code = guarded.code(0);
    for (password, code, error) in [
        ("wrong", code.as_str(), "Current password is incorrect."),
        (password, "000", "Code must have 6 digits, or be a recovery code."),
        (password, "aaaa-aaaa-aaaa-aaaa", WRONG),
    ] {
        let page = send(&guarded.browser, TURN_OFF, &[("current_password", password), ("turn_off_code", code)]).await;
        assert!(page.status == 422 && page.says(error), "{error}: {}", page.body);
        assert!(page.says("<details class=\"confirm\" open>") && page.says("autofocus"), "{}", page.body);
    }
    let elsewhere = guarded.halfway().await;
    assert_eq!(send_code(&elsewhere, "recovery_code", &guarded.codes[1]).await.status, 303);
    let halfway = guarded.halfway().await;
    let code = guarded.code(0);
    let off = [("current_password", password), ("turn_off_code", code.as_str())];
    // A double click turns it off once, and says so twice.
    for _ in 0..2 {
        let page = send(&guarded.browser, TURN_OFF, &off).await;
        assert_eq!((page.status, page.location()), (303, PAGE), "{}", page.body);
    }
    let page = guarded.browser.get(PAGE).await;
    assert!(page.says("Second factor turned off") && page.says(">Set up second factor</button>"), "{}", page.body);
    guarded.audit_row("turn_off_second_factor").await;
    assert_eq!(elsewhere.get(ACCOUNT).await.status, 200);
    Browser::of(&guarded.org, &guarded.person).await;
    assert!(needs_password(&send_code(&halfway, "recovery_code", &guarded.codes[2]).await));
    let again = Guarded::of(guarded.org, guarded.person).await;
    assert_ne!(again.secret.expose(), guarded.secret.expose());
}

#[tokio::test]
async fn what_another_window_did_meanwhile_is_told() {
    let guarded = Guarded::new().await;
    let page = send(&guarded.browser, PAGE, &[("current_password", &guarded.person.password)]).await;
    assert!(page.status == 422 && page.says("This page was out of date") && page.says("10 of 10"), "{}", page.body);
    let page = send(&guarded.browser, TURN_ON, &[("code", &guarded.code(0))]).await;
    assert!(page.status == 422 && page.says("This page was out of date"), "{}", page.body);
}

#[tokio::test]
async fn it_is_turned_on_and_off_once_though_the_answer_of_the_table_was_lost() {
    let broken = Broken::new().await;
    let person = broken.org.member("Maren Holt").await;
    let browser = Browser::new(broken.client.base_url());
    assert_eq!(browser.sign_in(&person.email, &person.password, "/app").await.status, 303);
    let secrets = || Rule::on("TransactWriteItems").containing("SECONDFACTOR#").times(1);
    for fault in [Fault::LateCommit, Fault::LostResponse, Fault::Conflict] {
        assert_eq!(send(&browser, PAGE, &[("current_password", &person.password)]).await.status, 303);
        let secret = key_on(&browser.get(PAGE).await).expect("a key");
        let code = secret.code_at(step()).reveal();
        let late = broken.faults.inject(secrets(), fault);
        let page = send(&browser, TURN_ON, &[("code", &code)]).await;
        assert_eq!((page.status, late.count()), (303, 1), "{fault:?}: {}", page.body);
        let codes = codes_on(&browser.get(page.location()).await);
        let late = broken.faults.inject(secrets(), fault);
        let page = send(&browser, CODES, &[("code", &codes[0])]).await;
        assert_eq!((page.status, late.count()), (303, 1), "{fault:?}: {}", page.body);
        let codes = codes_on(&browser.get(page.location()).await);
        let late = broken.faults.inject(secrets(), fault);
        let off = [("current_password", person.password.as_str()), ("turn_off_code", &codes[0])];
        let page = send(&browser, TURN_OFF, &off).await;
        assert_eq!((page.status, late.count()), (303, 1), "{fault:?}: {}", page.body);
        assert!(browser.get(PAGE).await.says(">Set up second factor</button>"), "{fault:?}");
    }
}

#[tokio::test]
async fn a_link_to_set_a_password_keeps_the_second_factor() {
    let guarded = Guarded::new().await;
    let admin = Browser::of(&guarded.org, &guarded.org.admin("Ada Okafor").await).await;
    let made = send(&admin, &format!("/app/organization/members/{}/password-link", guarded.person.id), &[]).await;
    let link = link_on(&guarded.org, &admin.get(made.location()).await).expect("a link");
    let visitor = guarded.visitor();
    assert!(visitor.get(&link).await.says("and with your second factor if you have one"));
    let set = send_signed_out(&visitor, &link, &[("password", "tiger lamp orchid")]).await;
    assert_eq!(set.location(), "/app/sign-in?password=saved", "{}", set.body);
    let page = visitor.sign_in(&guarded.person.email, "tiger lamp orchid", "/app").await;
    assert_eq!(page.location(), "/app/sign-in/code?next=/app");
}

#[tokio::test]
async fn an_admin_resets_the_second_factor_of_a_member() {
    let guarded = Guarded::new().await;
    let (org, person) = (&guarded.org, &guarded.person);
    let ada = org.admin("Ada Okafor").await;
    let admin = Browser::of(org, &ada).await;
    let reset = |id: String| format!("/app/organization/members/{id}/second-factor");
    let page = admin.get("/app/organization").await;
    assert!(page.says("Reset second factor…") && page.says(&reset(person.id.to_string())), "{}", page.body);
    let count =
        |page: &Page, state: &str| page.body.matches(&format!("data-label=\"Second factor\">{state}</td>")).count();
    assert_eq!((count(&page, "On"), count(&page, "Off")), (1, 1), "{}", page.body);
    assert!(!guarded.browser.get("/app/organization").await.says("data-label=\"Second factor\""), "only admins see it");
    assert!(!page.says(&reset(ada.id.to_string())), "not one's own");
    assert_eq!(page.body.matches("count as one person for 7 days").count(), 2, "said before: {}", page.body);

    let other = Org::new().await;
    let stranger = Browser::of(&other, &other.admin("Noor Vance").await).await;
    assert_eq!(send(&guarded.browser, &reset(ada.id.to_string()), &[]).await.status, 403);
    assert_eq!(send(&guarded.browser, &reset(person.id.to_string()), &[]).await.status, 403);
    let unknown = crate::unknown_id();
    for (by, id) in [(&stranger, person.id.to_string()), (&admin, unknown)] {
        let page = send(by, &reset(id), &[]).await;
        assert!(page.status == 404 && page.says("There is no such member"), "{}", page.body);
    }
    let page = send(&admin, &reset(ada.id.to_string()), &[]).await;
    assert!(page.status == 422 && page.says("You can’t reset your own second factor"), "{}", page.body);
    let ben = org.member("Ben Ruiz").await;
    let page = send(&admin, &reset(ben.id.to_string()), &[]).await;
    assert!(page.status == 422 && page.says("There is nothing to reset"), "{}", page.body);
    assert_eq!(guarded.halfway().await.cookie("session"), None, "it is still on");

    let halfway = guarded.halfway().await;
    let page = send(&admin, &reset(person.id.to_string()), &[]).await;
    assert_eq!((page.status, page.location()), (303, "/app/organization"), "{}", page.body);
    let page = admin.get("/app/organization").await;
    assert!(page.says("Second factor reset") && count(&page, "On") == 0, "{}", page.body);
    let row = guarded.audit_row("reset_second_factor").await;
    assert_eq!((&row["member_id"], rows::objects(&row)), (&json!(ada.id.to_string()), vec![person.id.to_string()]));
    assert!(admin.get("/app/audit").await.says("Reset a member’s second factor"));
    assert_eq!(guarded.browser.get(ACCOUNT).await.status, 303, "its sessions have ended");
    assert!(needs_password(&send_code(&halfway, "recovery_code", &guarded.codes[0]).await));
    let browser = Browser::of(org, person).await;
    assert!(browser.get(ACCOUNT).await.says(">Set up second factor</a>"));
}

#[tokio::test]
async fn an_operator_resets_the_second_factor_of_an_only_admin() {
    let guarded = Guarded::new().await;
    let store = guarded.table().store();
    let nobody = ops::reset_second_factor(&store, "nobody@members.example").await.expect_err("no account");
    assert_eq!(nobody.to_string(), "there is no account with this email address");
    ops::reset_second_factor(&store, &guarded.person.email.to_uppercase()).await.expect("reset");
    assert_eq!(guarded.browser.get(ACCOUNT).await.status, 303, "all sessions end");
    let browser = Browser::new(guarded.org.base_url());
    let signed_in = browser.sign_in(&guarded.person.email, &guarded.person.password, ACCOUNT).await;
    assert_eq!(signed_in.location(), ACCOUNT);
    assert!(browser.get(PAGE).await.says("Set up your second factor"));
    let rows = guarded.org.audit().await;
    let row = rows.iter().find(|row| row["operation"] == "reset_second_factor").expect("an audit row");
    assert!(row["status"] == "200" && row.get("member_id").is_none(), "the service's own act: {row}");
    let again = ops::reset_second_factor(&store, &guarded.person.email).await.expect_err("off already");
    assert_eq!(again.to_string(), "this account has no second factor");
}

#[tokio::test]
async fn no_admin_resets_the_second_factor_of_an_account_that_another_organization_uses() {
    let guarded = Guarded::new().await;
    let other = Org::new().await;
    let store = guarded.table().store();
    ops::add_membership(&store, other.id, "Maren at the other", &guarded.person.email, ops::Role::Member)
        .await
        .unwrap();
    let admin = Browser::of(&guarded.org, &guarded.org.admin("Ada Okafor").await).await;
    let page = send(&admin, &format!("/app/organization/members/{}/second-factor", guarded.person.id), &[]).await;
    assert!(page.status == 422 && page.says("They also belong to another organization"), "{}", page.body);
    assert_eq!(guarded.browser.get(ACCOUNT).await.status, 200);
    guarded.halfway().await;
    let to = other.id.to_string();
    let switched = send(&guarded.browser, "/app/account/organization", &[("organization", &to)]).await;
    assert_eq!(switched.status, 303, "{}", switched.body);
    assert_eq!(guarded.browser.get(ACCOUNT).await.status, 200);
}

#[tokio::test]
async fn whoever_is_invited_and_has_a_second_factor_joins_with_a_code() {
    let guarded = Guarded::new().await;
    let other = Org::new().await;
    let admin = Browser::of(&other, &other.admin("Noor Vance").await).await;
    let invited = [("email", guarded.person.email.as_str()), ("role", "member")];
    let made = send(&admin, "/app/organization/invitations", &invited).await;
    let link = link_on(&other, &admin.get(made.location()).await).expect("a link");
    let visitor = guarded.visitor();
    let wrong = send_signed_out(&visitor, &link, &[("password", "wrong")]).await;
    assert!(wrong.status == 422 && !wrong.says("name=\"code\""), "{}", wrong.body);
    let code = guarded.code(0);
    let alone = send_signed_out(&visitor, &link, &[("code", &code)]).await;
    assert!(alone.status == 422 && alone.says("Enter your password again"), "{}", alone.body);

    let asked = send_signed_out(&visitor, &link, &[("password", &guarded.person.password)]).await;
    assert!(asked.status == 200 && asked.says("<label for=\"code\">Code</label>"), "{}", asked.body);
    assert!(!asked.says("name=\"password\"") && visitor.cookie("session").is_none());
    assert!(visitor.get(&link).await.says("name=\"code\""), "also when the page is opened again");
    for (code, error) in [("x", "Code must have 6 digits, or be a recovery code."), ("aaaa-aaaa-aaaa-aaaa", WRONG)] {
        let page = send_signed_out(&visitor, &link, &[("code", code)]).await;
        assert!(page.status == 422 && page.says(error) && page.title().starts_with("Error: "), "{}", page.body);
    }
    assert!(!guarded.browser.get(ACCOUNT).await.says(&other.name), "not a member yet");
    let code = guarded.code(0);
    let joined = send_signed_out(&visitor, &link, &[("code", &code)]).await;
    assert_eq!((joined.status, joined.location()), (303, "/app?arrived=joined"), "{}", joined.body);
    assert!(visitor.get(ACCOUNT).await.says(&other.name));
    assert_eq!(visitor.cookie("second-step"), None);
    assert!(is_refused(&send_code(&guarded.halfway().await, "code", &code).await), "the code is used");
}

#[tokio::test]
async fn a_missing_name_or_a_link_that_has_ended_costs_no_attempt_at_a_code() {
    let guarded = Guarded::new().await;
    ops::remove_member(&guarded.table().store(), guarded.org.id, guarded.person.id).await.unwrap();
    let other = Org::new().await;
    let admin = Browser::of(&other, &other.admin("Noor Vance").await).await;
    let invite = async || {
        let invited = [("email", guarded.person.email.as_str()), ("role", "member")];
        let made = send(&admin, "/app/organization/invitations", &invited).await;
        link_on(&other, &admin.get(made.location()).await).expect("a link")
    };
    let (replaced, link) = (invite().await, invite().await);
    let visitor = guarded.visitor();
    let typed = [("name", "Ines Moreau"), ("password", guarded.person.password.as_str())];
    let asked = send_signed_out(&visitor, &link, &typed).await;
    assert!(asked.status == 200 && asked.says("<label for=\"code\">Code</label>"), "{}", asked.body);
    let code = guarded.code(0);
    for n in 0..=limits::LOGIN_CODES_AT_ACCOUNT {
        let name = if n % 2 == 0 { String::new() } else { "n".repeat(201) };
        let nameless = send_signed_out(&visitor, &link, &[("name", &name), ("code", &code)]).await;
        assert!(nameless.status == 422 && nameless.says("id=\"name-error\""), "{n}: {}", nameless.body);
        let form_token = nameless.hidden("form_token");
        let fields = [("form_token", form_token.as_str()), ("name", "Ines Moreau"), ("code", &code)];
        let gone = visitor.post(&replaced, &fields).await;
        assert_eq!(gone.status, 404, "{n}: {}", gone.body);
    }
    let code = guarded.code(0);
    let joined = send_signed_out(&visitor, &link, &[("name", "Ines Moreau"), ("code", &code)]).await;
    assert_eq!((joined.status, joined.location()), (303, "/app?arrived=joined"), "{}", joined.body);
}

#[tokio::test]
async fn a_removed_member_learns_of_it_after_the_code_only() {
    let guarded = Guarded::new().await;
    ops::remove_member(&guarded.table().store(), guarded.org.id, guarded.person.id).await.unwrap();
    let browser = guarded.halfway().await;
    let page = send_code(&browser, "code", &guarded.code(0)).await;
    assert!(page.status == 422 && page.says("Your account belongs to no organization"), "{}", page.body);
    assert_eq!(browser.cookie("session"), None);
}
