//! Developers: the endpoints that an organization's subscribers are told at, and adding one. For admins.

use std::collections::BTreeSet;

use askama::Template;
use http::{HeaderValue, StatusCode, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use shared::Webhooks;
use shared::domain::endpoint::{Endpoint, Subscription};
use shared::domain::event::EventType;
use shared::domain::ids::EndpointId;
use shared::domain::sentences;
use shared::error::Error;
use shared::limits;
use shared::seal::Sealed;
use shared::store::endpoints::{self, EndpointState};
use shared::visit::{Form, Posted, Visit};
use shared::webhook::guard::{AddressError, EndpointUrl, check};
use shared::webhook::resolve::ResolveError;
use shared::webhook::secret::SigningSecret;

use crate::Page;
use crate::frame::{Answer, Frame, Moment, Notice};
use crate::outline::Badge;

#[derive(Template)]
#[template(path = "developers.html")]
struct DevelopersPage {
    frame: Frame,
    notice: Option<Notice>,
    endpoints: Vec<EndpointLine>,
    is_full: bool,
    form: EndpointForm,
}

struct EndpointLine {
    link: String,
    url: String,
    events: String,
    badge: Badge,
    last_success_at: Option<Moment>,
    failures_in_a_row: u32,
}

/// The fields of an endpoint, as they were typed, with what is wrong with them.
pub(crate) struct EndpointForm {
    pub url: String,
    pub url_error: Option<String>,
    pub types: Vec<TypeChoice>,
}

/// An event type to choose.
pub(crate) struct TypeChoice {
    pub name: &'static str,
    pub about: &'static str,
    pub is_chosen: bool,
}

impl EndpointForm {
    /// The form with these fields in it.
    pub fn of(url: &str, events: &Subscription) -> Self {
        let is_chosen = |event_type| matches!(events, Subscription::Only(types) if types.contains(&event_type));
        Self::new(url, is_chosen)
    }

    /// The form as somebody typed it.
    pub fn typed(form: &Form) -> Self {
        Self::new(form.get("url"), |event_type| !form.get(&field_of(event_type)).is_empty())
    }

    fn new(url: &str, is_chosen: impl Fn(EventType) -> bool) -> Self {
        let types = EventType::SUBSCRIBABLE.into_iter().map(|event_type| TypeChoice {
            name: event_type.as_str(),
            about: sentences::event_type(event_type),
            is_chosen: is_chosen(event_type),
        });
        Self { url: url.to_owned(), url_error: None, types: types.collect() }
    }

    /// What a form asks for, or the form with what is wrong.
    ///
    /// # Errors
    /// The form to be shown again.
    pub async fn read(form: &Form, webhooks: &Webhooks) -> Result<(EndpointUrl, Subscription), Box<Self>> {
        let refuse = |why: String| {
            let mut again = Self::typed(form);
            again.url_error = Some(why);
            Box::new(again)
        };
        let url = EndpointUrl::parse(form.get("url"), &*webhooks.guard).map_err(|error| refuse(error.to_string()))?;
        reachable(&url, webhooks).await.map_err(|error| refuse(error.to_string()))?;
        let chosen: BTreeSet<EventType> = EventType::SUBSCRIBABLE
            .into_iter()
            .filter(|event_type| !form.get(&field_of(*event_type)).is_empty())
            .collect();
        Ok((url, if chosen.is_empty() { Subscription::All } else { Subscription::Only(chosen) }))
    }
}

/// The field of an event type.
fn field_of(event_type: EventType) -> String {
    format!("event:{}", event_type.as_str())
}

/// Whether an address may be an endpoint's now. Name servers that don't answer are no reason to refuse it: every attempt
/// asks again.
///
/// # Errors
/// Why it may not.
pub(crate) async fn reachable(url: &EndpointUrl, webhooks: &Webhooks) -> Result<(), AddressError> {
    match check(url, &*webhooks.guard, &*webhooks.resolver).await {
        Err(AddressError::Unresolved(ResolveError::TimedOut | ResolveError::Failed(_))) | Ok(_) => Ok(()),
        Err(refused) => Err(refused),
    }
}

/// What it takes to change endpoints.
pub(crate) fn webhooks(visit: &Visit) -> Result<&Webhooks, Error> {
    let webhooks = visit.app().webhooks.as_ref();
    webhooks.ok_or_else(|| Error::Internal("this function is not set up for webhooks".to_owned()))
}

/// How an endpoint does, in a word.
pub(crate) fn endpoint_badge(state: &EndpointState) -> Badge {
    if state.endpoint.value.paused_at().is_some() {
        Badge { text: "Paused", look: "amber" }
    } else if state.is_failing() {
        Badge { text: "Failing", look: "red" }
    } else if state.health.last_success_at.is_some() {
        Badge { text: "Working", look: "green" }
    } else {
        Badge { text: "New", look: "quiet" }
    }
}

/// What an endpoint is told, in words.
pub(crate) fn told(events: &Subscription) -> String {
    match events {
        Subscription::All => "All events".to_owned(),
        Subscription::Only(types) => types.iter().map(|event_type| event_type.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// The page.
pub(crate) struct Show;

impl Page for Show {
    fn operation(_: &Visit) -> &'static str {
        "view_developers"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        visit.admin()?;
        page(visit, EndpointForm::of("", &Subscription::All), None).await
    }
}

async fn page(visit: &Visit, form: EndpointForm, notice: Option<Notice>) -> Result<Answer, Error> {
    let endpoints = visit.signed_in()?.act().store().endpoints().await?;
    let line = |state: &EndpointState| {
        let endpoint = &state.endpoint.value;
        EndpointLine {
            link: link(endpoint.id()),
            url: endpoint.url().as_str().to_owned(),
            events: told(endpoint.events()),
            badge: endpoint_badge(state),
            last_success_at: state.health.last_success_at.map(Into::into),
            failures_in_a_row: state.health.failures_in_a_row,
        }
    };
    let page = DevelopersPage {
        frame: Frame::new(visit),
        notice,
        is_full: endpoints.len() >= limits::ENDPOINTS_MAX,
        endpoints: endpoints.iter().map(line).collect(),
        form,
    };
    Ok(Answer::page(&page)?.showing(endpoints.iter().map(|state| state.endpoint.value.id().uuid())))
}

/// Where an endpoint's page is.
pub(crate) fn link(id: EndpointId) -> String {
    format!("/app/developers/endpoints/{id}")
}

/// Adds an endpoint.
pub(crate) struct Add;

impl Page for Add {
    fn operation(_: &Visit) -> &'static str {
        "add_endpoint"
    }

    async fn answer(visit: &mut Visit) -> Result<Answer, Error> {
        let posted = visit.posted()?;
        let (admin, webhooks) = (posted.admin()?, webhooks(visit)?);
        let (url, events) = match EndpointForm::read(posted.form(), webhooks).await {
            Ok(read) => read,
            Err(again) => return refused(page(visit, *again, None).await),
        };
        if posted.act().store().endpoints().await?.len() >= limits::ENDPOINTS_MAX {
            let notice = Notice {
                look: "bad",
                title: "There is no room for another endpoint".to_owned(),
                lines: vec![format!(
                    "An organization has at most {}. Delete one that you no longer need.",
                    limits::ENDPOINTS_MAX
                )],
            };
            return refused(page(visit, EndpointForm::typed(posted.form()), Some(notice)).await);
        }
        let keys = webhooks.keys.keyring().await?;
        let secret = SigningSecret::generate()?;
        let added = Endpoint::new(admin, url, events, &secret, &keys, posted.act().now())?;
        let cookie = OneTimeSecret::hide(&posted, webhooks, added.id(), &secret).await?;
        posted
            .until_settled(|| async {
                let change = endpoints::create(posted.act().org(), &added)?;
                posted.commit().with([change]).done_as(StatusCode::SEE_OTHER, &[added.id().uuid()]).await
            })
            .await?;
        Ok(Answer::see_other(link(added.id())).with_cookie(cookie).recorded())
    }
}

/// A page as a refusal of the form on it.
pub(crate) fn refused(page: Result<Answer, Error>) -> Result<Answer, Error> {
    Ok(page?.refused(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request"))
}

/// A new secret on its way from the act that made it to the page that shows it, once: in a cookie that only this page
/// can read, for two minutes. Nothing but the sealed secret is kept, so it can't be shown again.
pub(crate) struct OneTimeSecret;

impl OneTimeSecret {
    const SECONDS: u32 = 120;

    fn name(is_local: bool) -> &'static str {
        if is_local { "once" } else { "__Host-once" }
    }

    /// For whom and what it opens.
    fn place(form_token: &str, endpoint: EndpointId) -> String {
        format!("shown once of {endpoint} to {form_token}")
    }

    /// The cookie that brings it to the page.
    pub async fn hide(
        posted: &Posted<'_>,
        webhooks: &Webhooks,
        endpoint: EndpointId,
        secret: &SigningSecret,
    ) -> Result<Option<HeaderValue>, Error> {
        let keys = webhooks.keys.keyring().await?;
        let sealed = keys.seal(&secret.expose(), &Self::place(&posted.form_token(), endpoint))?;
        let text = serde_json::to_string(&sealed).map_err(|error| Error::Internal(error.to_string()))?;
        let value = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
        Ok(Self::cookie(posted.app().insecure_cookies, &value, Self::SECONDS))
    }

    /// The secret of an endpoint, where the browser brings one, with the header that takes it away.
    pub async fn show(
        visit: &Visit,
        endpoint: EndpointId,
    ) -> Result<Option<(SigningSecret, Option<HeaderValue>)>, Error> {
        let is_local = visit.app().insecure_cookies;
        let lines = visit.headers().get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let Some((_, value)) = pairs.find(|(name, _)| *name == Self::name(is_local)) else { return Ok(None) };
        let text = percent_decode_str(value).decode_utf8().ok();
        let Some(sealed) = text.and_then(|text| serde_json::from_str::<Sealed>(&text).ok()) else { return Ok(None) };
        let keys = webhooks(visit)?.keys.keyring().await?;
        let opened = keys.open(&sealed, &Self::place(&visit.signed_in()?.form_token(), endpoint)).ok();
        let secret = opened.and_then(|text| SigningSecret::parse(&text).ok());
        Ok(secret.map(|secret| (secret, Self::cookie(is_local, "", 0))))
    }

    fn cookie(is_local: bool, value: &str, seconds: u32) -> Option<HeaderValue> {
        let secure = if is_local { "" } else { "; Secure" };
        let name = Self::name(is_local);
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::try_from(text).ok()
    }
}
