//! Buttons pressed twice create one thing; the browser gets only the second response, with all one-time content.

use futures_util::future::join_all;
use serde_json::json;
use shared::domain::time::Timestamp;
use shared::limits;
use shared::service::endpoints;
use shared::service::scope::Writer;
use tests::app::{Browser, FormCopy, Page, Person};
use tests::receiver::Receiver;
use tests::subscriber::{DEVELOPERS, secret_on};
use tests::{Org, rows};

use super::contacts::audit_of;
use super::second_factor::{CODES, PAGE as SECOND_FACTOR, TURN_ON, codes_on, key_on, step};
use super::tokens::{TOKENS, admin, value};

#[derive(Clone)]
struct Pressed<'a> {
    path: &'a str,
    form_token: String,
    copy: String,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Pressed<'a> {
    fn on(page: &Page, path: &'a str, fields: &[(&'a str, &'a str)]) -> Self {
        Self { path, form_token: page.hidden("form_token"), copy: page.hidden("copy"), fields: fields.to_vec() }
    }

    async fn by(&self, browser: &Browser) -> Page {
        let own = [("form_token", self.form_token.as_str()), ("copy", self.copy.as_str())];
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

/// The same browser for a response that it never gets: its cookies don't reach `browser`.
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

    // Another name in the same copy of the form, as after going back, is another token, which is asked about first.
    let other = Pressed { fields: vec![("name", "Report"), ("scope", "read")], ..form };
    let asked = other.by(&browser).await;
    assert!(asked.status == 409 && asked.says("This form was already used. Add it again?"), "{}", asked.body);
    assert!(asked.says("<dd class=\"lines\">Report</dd>"), "{}", asked.body);
    let again = Pressed::on(&asked, TOKENS, &other.fields);
    let report = value(&browser.get(&again.twice(&browser).await).await).expect("the value");
    assert_ne!(report, secret);
    let again = Pressed::on(&browser.get(TOKENS).await, TOKENS, &[("name", "CRM sync"), ("scope", "read")]);
    let third = value(&browser.get(&again.twice(&browser).await).await).expect("the value");
    assert!(third != secret && third != report);
    let colleague = Browser::of(&org, &org.admin("Kim Sato").await).await;
    let form_token = colleague.get(TOKENS).await.hidden("form_token");
    let theirs = Pressed { form_token, copy: again.copy, ..again };
    assert_eq!(theirs.by(&colleague).await.status, 403);
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
    let late = form.by(&deaf(&browser)).await;
    assert_eq!((late.status, late.location()), (303, location.as_str()), "{}", late.body);
    browser.expire_flashes();
    assert!(value(&browser.get(&location).await).is_none_or(|value| value != secret));
    assert_eq!(org.state().await, before);
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
    // The same copy with something else typed adds nothing until it is sent again.
    let other =
        Pressed { fields: vec![("url", &url), ("events", "selected"), ("event:agreement.completed", "on")], ..form };
    let refused = other.by(&browser).await;
    assert!(refused.status == 409 && refused.says("This form was already used. Add it again?"), "{}", refused.body);
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

    let form_token = shown.hidden("form_token");
    let fields = [("form_token", form_token.as_str()), ("code", &renewed[4])];
    assert_eq!(browser.post(CODES, &fields).await.status, 303);
    browser.expire_flashes();
    let late = form.by(&deaf(&browser)).await;
    assert_eq!((late.status, late.location()), (303, SECOND_FACTOR), "{}", late.body);
    assert!(codes_on(&browser.get(SECOND_FACTOR).await).is_empty());
}

#[tokio::test]
async fn a_used_form_with_other_content_adds_it_on_the_next_press_only() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren Holt").await).await;
    let workspace = org.workspace("Harbor Street").await["id"].as_str().expect("an id").to_owned();
    let schedule = format!("/app/funding/{workspace}");
    for (path, list, name, more) in [
        ("/app/contacts", "/api/v1/contacts", "display_name", vec![("kind", "person")]),
        ("/app/workspaces", "/api/v1/workspaces", "name", vec![]),
        (&*schedule, "/api/v1/funding-items", "label", vec![("asset_kind", "bank_account")]),
    ] {
        let before = org.total(list).await;
        let with = |text: &'static str| [&[(name, text)], &more[..]].concat();
        let form = Pressed::on(&browser.get(path).await, path, &with("Ada Okafor"));
        assert_eq!(form.by(&browser).await.status, 303);
        let other = Pressed { fields: with("Ben Ruiz"), ..form };
        let asked = other.by(&browser).await;
        assert!(asked.status == 409 && asked.says("This form was already used. Add it again?"), "{}", asked.body);
        assert_eq!(org.total(list).await, before + 1, "{path}");
        let again = Pressed::on(&asked, path, &other.fields);
        assert_eq!((again.by(&browser).await.status, again.by(&browser).await.status), (303, 303));
        assert_eq!(org.total(list).await, before + 2, "{path}");
    }
}

#[tokio::test]
async fn a_repeat_is_audited_as_one_and_a_copy_that_no_page_showed_is_forged() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren Holt").await).await;
    let page = browser.get("/app/contacts").await;
    let form = Pressed::on(&page, "/app/contacts", &[("display_name", "Ada Okafor"), ("kind", "person")]);
    let mut codes = Vec::new();
    for _ in 0..2 {
        let row = audit_of(&org, &form.by(&browser).await).await;
        codes.push((row["operation"].clone(), row["code"].clone()));
    }
    assert_eq!(
        codes,
        [("create_contact", "ok"), ("create_contact", "replayed")].map(|(id, code)| (json!(id), json!(code)))
    );
    let FormCopy { name, id } = page.copy();
    let seal = name.split_once('.').expect("a seal").1;
    let other = uuid::Uuid::now_v7();
    for forged in ["", "x", &id, &format!("{other}.{seal}"), &format!("{}.{seal}", uuid::Uuid::nil())] {
        let refused =
            Pressed { copy: forged.to_owned(), fields: form.fields.clone(), ..form.clone() }.by(&browser).await;
        assert_eq!(refused.status, 403, "{forged}: {}", refused.body);
    }
    assert_eq!(org.total("/api/v1/contacts").await, 1);
}

#[tokio::test]
async fn one_copy_with_two_contents_at_once_adds_one_and_keeps_the_other() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren Holt").await).await;
    let page = browser.get("/app/contacts").await;
    let with = |name| Pressed::on(&page, "/app/contacts", &[("display_name", name), ("kind", "person")]);
    let (one, other) = (with("Ada Okafor"), with("Ben Ruiz"));
    let (one, other) = tokio::join!(one.by(&browser), other.by(&browser));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409], "{} {}", one.body, other.body);
    assert_eq!(org.total("/api/v1/contacts").await, 1);
}
