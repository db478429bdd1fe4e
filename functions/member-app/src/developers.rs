//! Developers: the endpoints that an organization's subscribers are told at, and adding one. For admins.

use std::collections::BTreeSet;

use askama::Template;
use http::StatusCode;
use shared::Webhooks;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::endpoint::{Endpoint, Subscription};
use shared::domain::event::EventType;
use shared::domain::ids::EndpointId;
use shared::error::Error;
use shared::limits;
use shared::service::endpoints::{self, NoRoom};
use shared::store::endpoints::EndpointState;
use shared::web::{Flash, Form, Request};
use shared::webhook::guard::{AddressError, EndpointUrl, check};
use shared::webhook::resolve::ResolveError;

use crate::Page;
use crate::agreement_summary::Badge;
use crate::layout::{Answer, Layout, Moment, Notice};

#[derive(Template)]
#[template(path = "developers.html")]
struct DevelopersPage {
    layout: Layout,
    notice: Option<Notice>,
    endpoints: Vec<EndpointLine>,
    is_full: bool,
    /// Where there is room for another one, or somebody has typed what they may want to keep.
    form: Option<EndpointForm>,
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
        let types = EventType::subscribable().map(|event_type| TypeChoice {
            name: event_type.as_str(),
            about: event_type.sent_when(),
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
        let chosen: BTreeSet<EventType> =
            EventType::subscribable().filter(|event_type| !form.get(&field_of(*event_type)).is_empty()).collect();
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

/// How an endpoint does, in a word.
pub(crate) fn endpoint_badge(state: &EndpointState) -> Badge {
    if state.endpoint.paused_at().is_some() {
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
    fn operation(_: &Request) -> &'static str {
        "view_developers"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        request.check_admin()?;
        page(request, None, None).await
    }
}

async fn page(request: &Request, typed: Option<EndpointForm>, notice: Option<Notice>) -> Result<Answer, Error> {
    let endpoints = request.signed_in()?.scope().store().endpoints().await?;
    let is_full = endpoints.len() >= limits::ENDPOINTS_MAX;
    let line = |state: &EndpointState| {
        let endpoint = &state.endpoint;
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
        layout: Layout::new(request),
        notice,
        is_full,
        endpoints: endpoints.iter().map(line).collect(),
        form: typed.or_else(|| (!is_full).then(|| EndpointForm::of("", &Subscription::All))),
    };
    Ok(Answer::page(&page)?.showing(endpoints.iter().map(|state| state.endpoint.id().uuid())))
}

/// Where an endpoint's page is.
pub(crate) fn link(id: EndpointId) -> String {
    format!("/app/developers/endpoints/{id}")
}

/// Adds an endpoint.
pub(crate) struct Add;

impl Page for Add {
    fn operation(_: &Request) -> &'static str {
        "add_endpoint"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?.require_admin()?;
        let webhooks = request.app().webhooks()?;
        let (url, events) = match EndpointForm::read(submitted.form(), webhooks).await {
            Ok(read) => read,
            Err(again) => return refused(page(request, Some(*again), None).await),
        };
        let keys = webhooks.keys.keyring().await?;
        let secret = SigningSecret::generate()?;
        let added = Endpoint::new(submitted.submitter(), url, events, &secret, &keys, submitted.scope().now())?;
        let cookie = Flash::SigningSecret(added.id()).set(&submitted, &secret.expose()).await?;
        match submitted.run(|| endpoints::add(submitted.scope(), submitted.submitter(), &added)).await? {
            Ok(()) => return Ok(Answer::see_other(link(added.id())).with_cookie(cookie)),
            Err(NoRoom) => {}
        }
        let notice = Notice {
            look: "bad",
            title: "There is no room for another endpoint".to_owned(),
            lines: vec![format!(
                "An organization has at most {}. Delete one that you no longer need.",
                limits::ENDPOINTS_MAX
            )],
        };
        refused(page(request, Some(EndpointForm::typed(submitted.form())), Some(notice)).await)
    }
}

/// A page as a refusal of the form on it.
pub(crate) fn refused(page: Result<Answer, Error>) -> Result<Answer, Error> {
    Ok(page?.refused(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request"))
}
