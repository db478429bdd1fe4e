//! The page of webhook endpoints, on which admins add one.

use std::collections::BTreeSet;

use askama::Template;
use pages::done::shown_once;
use pages::fields::Fields;
use pages::form;
use pages::labels::{Badge, DisplayTime, DisplayUrl, endpoint_badge, subscription_label};
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use pages::urls::endpoint_url;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::endpoint::Subscription;
use shared::domain::event::EventType;
use shared::domain::ids::EndpointId;
use shared::domain::member::Admin;
use shared::error::Error;
use shared::service::endpoints::{self, EndpointState, NewEndpoint};
use shared::web::{Flash, Form, Redirect, Request, SubmittedForm};
use shared::webhook::guard::{AddressError, EndpointUrl, check};
use shared::webhook::resolve::ResolveError;
use shared::wire::input::Empty;
use shared::{Webhooks, limits};

#[derive(Template)]
#[template(path = "developers.html")]
struct DevelopersPage {
    layout: Layout,
    notice: Option<Notice>,
    endpoints: Vec<EndpointRow>,
    is_full: bool,
    /// The form that adds an endpoint. `None` if the limit is reached and nothing was submitted.
    form: Option<EndpointForm>,
}

struct EndpointRow {
    link: String,
    url: String,
    events: String,
    badge: Badge,
    last_success_at: Option<DisplayTime>,
    failures_in_a_row: u32,
}

impl EndpointRow {
    fn new(state: &EndpointState) -> Self {
        let endpoint = &state.endpoint;
        Self {
            link: endpoint_url(endpoint.id()),
            url: endpoint.url().as_str().to_owned(),
            events: subscription_label(endpoint.events()),
            badge: endpoint_badge(state),
            last_success_at: state.health.last_success_at.map(Into::into),
            failures_in_a_row: state.health.failures_in_a_row,
        }
    }
}

form! {
    /// An endpoint's address and events.
    pub(crate) ENDPOINT: EndpointFields {
        url: Field::url("url", "Endpoint URL")
            .called("The URL can’t be used: it")
            .hint("https, on a public host. Redirects are never followed.")
            .required(),
        events: Field::choice("events", "Events"),
        types: Field::choice("event:", "Selected events"),
    }
}

pub(crate) struct EndpointForm {
    pub fields: Fields,
    pub is_all: bool,
    pub events_error: Option<&'static str>,
    pub event_types: Vec<EventTypeOption>,
}

pub(crate) struct EventTypeOption {
    pub name: &'static str,
    pub description: &'static str,
    pub is_selected: bool,
}

impl EndpointForm {
    pub fn of_endpoint(url: &str, events: &Subscription) -> Self {
        Self::new(url, &Choice::of(events))
    }

    fn submitted(form: &Form) -> Self {
        Self::new(form.get(ENDPOINT.url), &Choice::submitted(form))
    }

    fn new(url: &str, choice: &Choice) -> Self {
        let event_types = EventType::subscribable().map(|event_type| EventTypeOption {
            name: event_type.as_str(),
            description: event_type.sent_when(),
            is_selected: choice.types.contains(&event_type),
        });
        Self {
            fields: Fields::of([(ENDPOINT.url, url)]),
            is_all: choice.is_all,
            events_error: None,
            event_types: event_types.collect(),
        }
    }

    /// Parses a submitted form's URL and subscription. The error is the form with its values and errors.
    pub async fn parse(form: &Form, webhooks: &Webhooks) -> Result<(EndpointUrl, Subscription), Box<Self>> {
        let url = match EndpointUrl::parse(form.get(ENDPOINT.url), &*webhooks.guard) {
            Ok(url) => check_address(&url, webhooks).await.map(|()| url).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match (url, Choice::submitted(form).subscription()) {
            (Ok(url), Some(events)) => Ok((url, events)),
            (url, events) => Err(Box::new(Self {
                fields: url
                    .err()
                    .map_or_else(Fields::default, |error| Fields::wrong_one(ENDPOINT.url, &error))
                    .over(Fields::of([(ENDPOINT.url, form.get(ENDPOINT.url))])),
                events_error: events.is_none().then_some("Select at least one event, or choose All events."),
                ..Self::submitted(form)
            })),
        }
    }
}

struct Choice {
    is_all: bool,
    types: BTreeSet<EventType>,
}

impl Choice {
    fn of(events: &Subscription) -> Self {
        match events {
            Subscription::All => Self { is_all: true, types: BTreeSet::new() },
            Subscription::Only(types) => Self { is_all: false, types: types.clone() },
        }
    }

    /// Forms without the radio buttons come from an old page, where no type meant all.
    fn submitted(form: &Form) -> Self {
        let is_selected = |event_type: &EventType| !form.get(ENDPOINT.types.member(event_type.as_str())).is_empty();
        let types: BTreeSet<EventType> = EventType::subscribable().filter(is_selected).collect();
        let is_all = match form.get(ENDPOINT.events) {
            "all" => true,
            "selected" => false,
            _ => types.is_empty(),
        };
        Self { is_all, types }
    }

    fn subscription(self) -> Option<Subscription> {
        match (self.is_all, self.types.is_empty()) {
            (true, _) => Some(Subscription::All),
            (false, true) => None,
            (false, false) => Some(Subscription::Only(self.types)),
        }
    }
}

/// A failing name server is no error, because every attempt resolves the host again.
pub(crate) async fn check_address(url: &EndpointUrl, webhooks: &Webhooks) -> Result<(), AddressError> {
    match check(url, &*webhooks.guard, &*webhooks.resolver).await {
        Err(AddressError::Unresolved(ResolveError::TimedOut | ResolveError::Failed(_))) | Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    request.check_admin()?;
    let Empty {} = request.read_query()?;
    // The page also works when the flash's keys can't be read.
    let (url, cookie) = Flash::DeletedEndpoint.take(request).await.ok().flatten().unzip();
    let notice = url.map(|url| Notice::good("Endpoint deleted", format!("Nothing more is sent to {url}.")));
    Ok(developers_page(request, None, notice).await?.with_cookie(cookie.flatten()))
}

async fn developers_page(
    request: &Request,
    submitted: Option<EndpointForm>,
    notice: Option<Notice>,
) -> Result<PageResponse, Error> {
    let endpoints = endpoints::list(request.signed_in()?.scope()).await?;
    let is_full = endpoints.len() >= limits::ENDPOINTS_MAX;
    let page = DevelopersPage {
        layout: Layout::new(request),
        notice,
        is_full,
        endpoints: endpoints.iter().map(EndpointRow::new).collect(),
        form: submitted.or_else(|| (!is_full).then(|| EndpointForm::of_endpoint("", &Subscription::All))),
    };
    Ok(PageResponse::render(&page)?.showing(endpoints.iter().map(|state| state.endpoint.id().uuid())))
}

pub(crate) async fn add_endpoint(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let webhooks = request.app().webhooks()?;
    let (url, events) = match EndpointForm::parse(submitted.form(), webhooks).await {
        Ok(parsed) => parsed,
        Err(form) => return Ok(developers_page(request, Some(*form), None).await?.unprocessable()),
    };
    let (endpoint, redirect) = match new_endpoint(&submitted, url, events).await {
        Ok(new) => new,
        Err(Error::Unavailable(cause)) => {
            let line = "Its signing secret can’t be encrypted at the moment. Try again in a minute.";
            let notice = Notice::bad("The endpoint was not added", line);
            let form = EndpointForm::submitted(submitted.form());
            return Ok(developers_page(request, Some(form), Some(notice)).await?.unavailable(cause));
        }
        Err(error) => return Err(error),
    };
    submitted.redirect_if_committed(&redirect);
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    if submitted.run(|| endpoints::add(scope, admin, &endpoint)).await?.is_ok() {
        let line = "Copy its signing secret below: your server verifies deliveries with it.";
        return Ok(shown_once(&submitted, redirect, "Endpoint added", line).await);
    }
    let line = format!("An organization has at most {}. Delete one that you no longer need.", limits::ENDPOINTS_MAX);
    let notice = Notice::bad("There is no room for another endpoint", line);
    let form = EndpointForm::submitted(submitted.form());
    Ok(developers_page(request, Some(form), Some(notice)).await?.unprocessable())
}

async fn new_endpoint(
    submitted: &SubmittedForm<'_, Admin<'_>>,
    url: EndpointUrl,
    events: Subscription,
) -> Result<(NewEndpoint, Redirect), Error> {
    let keys = submitted.app().webhooks()?.keys.keyring().await?;
    let id = submitted.new_id::<EndpointId>();
    let secret = SigningSecret::generate()?;
    let new = NewEndpoint::new(submitted.scope(), submitted.submitter(), id, url, events, secret, &keys)?;
    let cookie = Flash::SigningSecret(new.id()).set(submitted, &new.secret().expose()).await?;
    let redirect = Redirect { location: endpoint_url(new.id()), cookie };
    Ok((new, redirect))
}
