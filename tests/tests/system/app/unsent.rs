//! Input in a form whose session has ended is kept, and can be submitted again after signing in.

use tests::Org;
use tests::app::{Browser, Page, Person};

const CONTACTS: &str = "/app/contacts";
const ENDED: &str = "Your session ended. Nothing was saved.";

struct Desk {
    org: Org,
    person: Person,
    browser: Browser,
}

impl Desk {
    async fn new() -> Self {
        let org = Org::new().await;
        let person = org.member("Maren Holt").await;
        let browser = Browser::of(&org, &person).await;
        Self { org, person, browser }
    }

    async fn end_sessions(&self) {
        let elsewhere = Browser::of(&self.org, &self.person).await;
        let token = elsewhere.get("/app/account").await.hidden("form_token");
        assert_eq!(elsewhere.post("/app/sign-out-everywhere", &[("form_token", &token)]).await.status, 303);
    }

    async fn sign_in(&self, next: &str) -> Page {
        self.browser.sign_in(&self.person.email, &self.person.password, next).await
    }

    async fn contacts(&self, name: &str) -> serde_json::Value {
        let found = self.org.get(format!("/api/v1/contacts?search={name}")).send().await.ok(200);
        found["pagination"]["total"].clone()
    }
}

fn contact<'a>(page: &Page, name: &'a str) -> Vec<(&'static str, std::borrow::Cow<'a, str>)> {
    let hidden = ["form_token", "copy"].map(|field| (field, page.hidden(field).into()));
    let typed = [("display_name", name), ("kind", "person"), ("email", "ada@okafor.example")];
    hidden.into_iter().chain(typed.map(|(field, value)| (field, value.into()))).collect()
}

async fn post(
    browser: &Browser,
    path: &str,
    fields: &[(&str, std::borrow::Cow<'_, str>)],
    headers: &[(&str, &str)],
) -> Page {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_ref())).collect();
    browser.post_with(path, &fields, headers).await
}

fn again(page: &Page) -> Vec<(String, String)> {
    let (_, form) = page.body.split_once("action=\"/app/contacts\"").expect("the form again");
    let (form, _) = form.split_once("</form>").expect("the end of the form");
    let text = |part: &str| part.split('"').next().unwrap_or_default().to_owned();
    let inputs = form.split("<input type=\"hidden\" name=\"").skip(1);
    let value = |input: &str| input.split_once("value=\"").map(|(_, rest)| text(rest)).expect("a value");
    inputs.map(|input| (text(input), value(input))).collect()
}

#[tokio::test]
async fn a_form_of_an_ended_session_is_there_after_signing_in() {
    let desk = Desk::new().await;
    let page = desk.browser.get(CONTACTS).await;
    desk.end_sessions().await;
    let out = post(&desk.browser, CONTACTS, &contact(&page, "Ada Okafor"), &[]).await;
    assert_eq!((out.status, out.location()), (303, "/app/sign-in?next=/app/unsent&ended=form"), "{}", out.body);
    assert!(!desk.browser.cookie("once-form").expect("a cookie").contains("Okafor"), "it is sealed");
    let sign_in = desk.browser.get(out.location()).await;
    assert!(sign_in.says(ENDED) && sign_in.says("Sign in to submit it again."), "{}", sign_in.body);
    assert_eq!(desk.sign_in("/app/unsent").await.location(), "/app/unsent");
    assert_eq!(desk.contacts("Okafor").await, 0);

    for _ in 0..2 {
        let kept = desk.browser.get("/app/unsent").await;
        for shown in [ENDED, "<dt>Name</dt>", "Ada Okafor</dd>", "Submit again", "href=\"/app/contacts\""] {
            assert!(kept.says(shown), "{shown}: {}", kept.body);
        }
    }
    let fields = again(&desk.browser.get("/app/unsent").await);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for _ in 0..2 {
        let added = desk.browser.post(CONTACTS, &fields).await;
        assert!(added.status == 303 && added.location().starts_with("/app/contacts/"), "{}", added.body);
    }
    assert_eq!(desk.contacts("Okafor").await, 1, "a form that is sent twice adds one contact");
}

#[tokio::test]
async fn whoever_signed_in_again_in_another_window_submits_it_at_once() {
    let desk = Desk::new().await;
    let browser = Browser::of(&desk.org, &desk.person).await;
    let page = browser.get(CONTACTS).await;
    desk.end_sessions().await;
    assert_eq!(browser.sign_in(&desk.person.email, &desk.person.password, "/app").await.status, 303);
    let own = [("origin", desk.org.base_url())];
    let kept = post(&browser, CONTACTS, &contact(&page, "Ada Okafor"), &own).await;
    assert!(kept.status == 403 && kept.says(ENDED) && kept.title().starts_with("Error: "), "{}", kept.body);
    let fields = again(&kept);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(browser.post(CONTACTS, &fields).await.status, 303);
    assert_eq!(desk.contacts("Okafor").await, 1);
    // A form of unknown origin may be planted.
    for headers in [&[][..], &[("origin", "https://evil.example")]] {
        let refused = post(&browser, CONTACTS, &contact(&page, "Planted"), headers).await;
        assert!(refused.status == 403 && !refused.says("Planted"), "{}", refused.body);
    }
}

#[tokio::test]
async fn a_kept_form_opens_for_its_member_only_and_secrets_are_not_kept() {
    let desk = Desk::new().await;
    let page = desk.browser.get(CONTACTS).await;
    let token = page.hidden("form_token");
    desk.end_sessions().await;
    let password = [("form_token", token.as_str()), ("current_password", "old"), ("new_password", "new")];
    let out = desk.browser.post("/app/account/password", &password).await;
    assert!(out.status == 303 && !out.location().contains("unsent"), "{}", out.location());
    assert_eq!(desk.browser.cookie("once-form"), None);

    let desk = Desk::new().await;
    let page = desk.browser.get(CONTACTS).await;
    desk.end_sessions().await;
    post(&desk.browser, CONTACTS, &contact(&page, "Ada Okafor"), &[]).await;
    let colleague = desk.org.member("Okon").await;
    assert_eq!(desk.browser.sign_in(&colleague.email, &colleague.password, "/app").await.status, 303);
    let none = desk.browser.get("/app/unsent").await;
    assert_eq!((none.status, none.location()), (303, "/app"), "{}", none.body);
}

#[tokio::test]
async fn an_account_number_typed_about_a_payment_is_not_shown_again() {
    let desk = Desk::new().await;
    let path = format!("/app/money/movements/{}/exception", uuid::Uuid::now_v7());
    for (note, is_shown) in [("The caller was someone else.", true), ("It went to DE89 3704 0044 0532 0130 00.", false)]
    {
        let token = desk.browser.get(CONTACTS).await.hidden("form_token");
        desk.end_sessions().await;
        let typed = [("form_token", token.as_str()), ("reason", "suspected_fraud"), ("note", note)];
        assert_eq!(desk.browser.post(&path, &typed).await.status, 303);
        desk.sign_in("/app/unsent").await;
        let page = desk.browser.get("/app/unsent").await;
        assert!(page.says("suspected_fraud") && page.says(note) == is_shown, "{}", page.body);
        // Four digits alone may stand in a token.
        assert!(!page.body.contains("0532 0130") && !page.body.contains("05320130"), "{}", page.body);
    }
}

#[tokio::test]
async fn a_form_that_fits_in_no_cookie_is_shown_to_be_copied() {
    let desk = Desk::new().await;
    let page = desk.browser.get(CONTACTS).await;
    desk.end_sessions().await;
    let long = "\u{20000}".repeat(2000);
    let out = post(&desk.browser, CONTACTS, &contact(&page, &long), &[]).await;
    assert_eq!(out.status, 401, "{}", out.body);
    assert!(out.says(ENDED) && out.says(&long) && out.says("Copy it, then sign in"), "{}", out.body);
    // A browser without the session's cookies says only where the form comes from.
    let stranger = Browser::new(desk.org.base_url());
    let own = [("origin", desk.org.base_url())];
    let out = post(&stranger, CONTACTS, &contact(&page, "Ada Okafor"), &own).await;
    assert!(out.status == 401 && out.says("Ada Okafor"), "{}", out.body);
    let out = post(&stranger, CONTACTS, &contact(&page, "Ada Okafor"), &[]).await;
    assert!(out.status == 303 && !out.location().contains("unsent"), "{}", out.location());
}
