//! Buttons pressed twice by a person who saw nothing happen: they create one thing, and one-time content is in the
//! response to the second press, the only one that the browser receives.

use futures_util::future::join_all;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::service::endpoints;
use shared::service::scope::Writer;
use tests::app::{Browser, Page, Person};
use tests::receiver::Receiver;
use tests::subscriber::{DEVELOPERS, secret_on};
use tests::{Org, rows};

use super::second_factor::{CODES, PAGE as SECOND_FACTOR, TURN_ON, codes_on, key_on, step};
use super::tokens::{TOKENS, admin, value};

/// A form with its page's fields, as each press of its button sends it.
struct Pressed<'a> {
    path: &'a str,
    form_token: String,
    once: String,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Pressed<'a> {
    fn on(page: &Page, path: &'a str, fields: &[(&'a str, &'a str)]) -> Self {
        Self { path, form_token: page.hidden("form_token"), once: page.hidden("once"), fields: fields.to_vec() }
    }

    async fn by(&self, browser: &Browser) -> Page {
        let own = [("form_token", self.form_token.as_str()), ("once", self.once.as_str())];
        let all: Vec<_> = own.into_iter().chain(self.fields.iter().copied()).collect();
        browser.post(self.path, &all).await
    }

    /// Presses twice, in sequence and at once; the browser gets only the last response. Returns where each leads.
    async fn twice(&self, browser: &Browser) -> String {
        let first = self.by(&deaf(browser)).await;
        assert_eq!(first.status, 303, "{}", first.body);
        let heard = self.by(browser).await;
        assert_eq!((heard.status, heard.location()), (303, first.location()), "{}", heard.body);
        heard.location().to_owned()
    }
}

/// The same browser for a response that it never gets: nothing the response sets is in `browser`.
fn deaf(browser: &Browser) -> Browser {
    let deaf = Browser::new(browser.base_url());
    for name in ["session", "once-second-factor"] {
        if let Some(value) = browser.cookie(name) {
            deaf.set_cookie(name, &value);
        }
    }
    deaf
}

#[tokio::test]
async fn a_token_is_created_once_and_shown() {
    let (org, browser) = admin().await;
    let page = browser.get(TOKENS).await;
    let form = Pressed::on(&page, TOKENS, &[("name", "CRM sync"), ("scope", "read")]);
    let shown = browser.get(&form.twice(&browser).await).await;
    let secret = value(&shown).expect("the value");
    org.with_token(&secret).get("/api/v1/me").send().await.ok(200);
    assert_eq!(shown.body.matches("Audit trail of CRM sync").count(), 1, "{}", shown.body);

    // Another name in the same copy of the form, as after going back, creates another token.
    let other = Pressed { fields: vec![("name", "Report"), ("scope", "read")], ..form };
    let report = value(&browser.get(&other.twice(&browser).await).await).expect("the value");
    assert_ne!(report, secret);
    // So do another copy of the form, and another session with the same copy.
    let again = Pressed::on(&browser.get(TOKENS).await, TOKENS, &[("name", "CRM sync"), ("scope", "read")]);
    let third = value(&browser.get(&again.twice(&browser).await).await).expect("the value");
    assert!(third != secret && third != report);
    let colleague = Browser::of(&org, &org.admin("Kim Sato").await).await;
    let form_token = colleague.get(TOKENS).await.hidden("form_token");
    let theirs = Pressed { form_token, once: again.once, ..again };
    assert_ne!(value(&colleague.get(&theirs.twice(&colleague).await).await).expect("the value"), third);
}

#[tokio::test]
async fn four_presses_at_once_create_one_token() {
    let (org, browser) = admin().await;
    let form = Pressed::on(&browser.get(TOKENS).await, TOKENS, &[("name", "CRM sync"), ("scope", "read")]);
    let answers = join_all((0..4).map(|_| form.by(&browser))).await;
    for answer in &answers {
        assert_eq!((answer.status, answer.location()), (303, answers[0].location()), "{}", answer.body);
    }
    let shown = browser.get(answers[0].location()).await;
    org.with_token(value(&shown).expect("the value")).get("/api/v1/me").send().await.ok(200);
    assert_eq!(shown.body.matches("Audit trail of CRM sync").count(), 1, "{}", shown.body);
}

#[tokio::test]
async fn a_form_that_is_sent_again_later_shows_no_value_and_creates_no_token() {
    let (org, browser) = admin().await;
    let form = Pressed::on(&browser.get(TOKENS).await, TOKENS, &[("name", "CRM sync"), ("scope", "read")]);
    let location = form.twice(&browser).await;
    let secret = value(&browser.get(&location).await).expect("the value");
    rows::age_token(org.stack().table(), &secret, limits::FLASH_LIFETIME_S + 1).await;
    let before = org.state().await;
    let late = form.by(&browser).await;
    assert!(late.status == 422 && late.says("its value is shown no longer") && !late.says(&secret), "{}", late.body);
    assert_eq!(org.state().await, before);
    // The page that says so has a new copy of the form, as typed.
    let again = Pressed::on(&late, TOKENS, &[("name", "CRM sync"), ("scope", "read")]);
    assert!(late.says("value=\"CRM sync\""));
    assert_ne!(value(&browser.get(&again.twice(&browser).await).await).expect("the value"), secret);
}

#[tokio::test]
async fn an_endpoint_is_added_once_and_its_secret_shown() {
    let (_org, browser) = admin().await;
    let url = Receiver::new().await.url();
    let page = browser.get(DEVELOPERS).await;
    let form = Pressed::on(&page, DEVELOPERS, &[("url", &url), ("events", "all")]);
    let location = form.twice(&browser).await;
    assert!(secret_on(&browser.get(&location).await).is_some());
    let at_once = join_all((0..3).map(|_| form.by(&browser))).await;
    assert!(at_once.iter().all(|page| page.location() == location), "{at_once:?}");
    let list = browser.get(DEVELOPERS).await;
    assert_eq!(list.body.matches("href=\"/app/developers/endpoints/").count(), 1, "{}", list.body);
    // The same copy with other input is refused: it added another endpoint.
    let other =
        Pressed { fields: vec![("url", &url), ("events", "selected"), ("event:agreement.completed", "on")], ..form };
    let refused = other.by(&browser).await;
    assert!(refused.status == 422 && refused.says("Nothing was added"), "{}", refused.body);
    assert_eq!(Pressed::on(&refused, DEVELOPERS, &other.fields).by(&browser).await.status, 303);
}

#[tokio::test]
async fn a_secret_is_rotated_once_and_shown() {
    let org = Org::new().await;
    let subscriber = org.subscriber().await;
    let (admin, path) = (&subscriber.admin, subscriber.path());
    let mut secrets = vec![subscriber.secret.clone()];
    // As often as there is room for old secrets: another rotation by the second press would leave too few.
    for _ in 0..limits::PREVIOUS_SECRETS_MAX {
        let form = Pressed::on(&admin.get(&path).await, &path, &[("act", "rotate"), ("old", "keep")]);
        let secret = secret_on(&admin.get(&form.twice(admin).await).await).expect("the secret");
        assert!(!secrets.contains(&secret));
        secrets.push(secret);
    }
    let form = Pressed::on(&admin.get(&path).await, &path, &[("act", "rotate"), ("old", "keep")]);
    assert_eq!(form.by(admin).await.status, 422, "no room");
    let form = Pressed::on(&admin.get(&path).await, &path, &[("act", "rotate"), ("old", "replace")]);
    let secret = secret_on(&admin.get(&form.twice(admin).await).await).expect("the secret");
    assert!(!secrets.contains(&secret));
    let [state] = &endpoints::list(org.system().scope()).await.expect("the store answers")[..] else { panic!("one") };
    let signing = state.endpoint.secrets(org.id, org.stack().keyring(), Timestamp::now()).expect("secrets");
    assert!(signing == [secret], "the one that is shown signs, and no other");
}

/// A member whose page waits for the first code.
async fn setting_up() -> (Org, Person, Browser) {
    let org = Org::new().await;
    let person = org.member("Maren Holt").await;
    let browser = Browser::of(&org, &person).await;
    let form_token = browser.get(SECOND_FACTOR).await.hidden("form_token");
    let fields = [("form_token", form_token.as_str()), ("current_password", &person.password)];
    assert_eq!(browser.post(SECOND_FACTOR, &fields).await.status, 303);
    (org, person, browser)
}

#[tokio::test]
async fn recovery_codes_are_made_once_and_shown() {
    let (org, person, browser) = setting_up().await;
    let page = browser.get(SECOND_FACTOR).await;
    let secret = key_on(&page).expect("a key");
    let code = secret.code_at(step()).reveal();
    let form = Pressed::on(&page, TURN_ON, &[("code", &code)]);
    let shown = browser.get(&form.twice(&browser).await).await;
    let codes = codes_on(&shown);
    assert!(codes.len() == 10 && shown.says("Second factor turned on"), "{}", shown.body);

    rows::forget_used_codes(org.stack().table(), &person.email).await;
    let code = secret.code_at(step()).reveal();
    let form = Pressed::on(&shown, CODES, &[("code", &code)]);
    let shown = browser.get(&form.twice(&browser).await).await;
    let renewed = codes_on(&shown);
    assert!(renewed.len() == 10 && renewed.iter().all(|code| !codes.contains(code)), "{}", shown.body);

    // The shown codes work, and once one is used, the form shows nothing anymore.
    let form_token = shown.hidden("form_token");
    let fields =
        [("form_token", form_token.as_str()), ("once", &uuid::Uuid::now_v7().to_string()), ("code", &renewed[4])];
    assert_eq!(browser.post(CODES, &fields).await.status, 303);
    browser.expire_flashes();
    let late = form.by(&browser).await;
    assert!(
        late.status == 422 && codes_on(&late).is_empty() && late.says("is incorrect or was used already"),
        "{}",
        late.body
    );
}
