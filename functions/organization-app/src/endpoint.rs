//! The page of an endpoint: health, settings and deliveries.

use std::sync::Arc;

use askama::Template;
use pages::done::{notice_of_act, redirect_with_notice, shown_once, with_notice};
use pages::fields::Fields;
use pages::form;
use pages::labels::{
    Badge, DisplayTime, DisplayUrl, actor_label, delivery_badge, endpoint_badge, quarantined_deliveries,
    subscription_label,
};
use pages::layout::{Layout, Notice};
use pages::response::PageResponse;
use pages::routes::Operation;
use pages::urls::{encode_query_value, endpoint_url};
use shared::crypto::keyring::Keyring;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::day::Day;
use shared::domain::delivery::{Delivery, DeliveryState, Outcome};
use shared::domain::endpoint::{Endpoint, Rotation, TooManySecrets};
use shared::domain::event::EventType;
use shared::domain::ids::{EndpointId, EventId};
use shared::domain::local_time::NotLocalTime;
use shared::domain::member::Admin;
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::error::Error;
use shared::limits;
use shared::service::deliveries::{self, DeliveryFilter};
use shared::service::endpoints::{self, EndpointState};
use shared::text::reader::Shown as _;
use shared::web::{Flash, Form, Redirect, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};
use shared::wire::page::Filter;

use crate::attempts::{failure_label, outcome_notice};
use crate::developers::{EndpointForm, check_address};

const DELIVERIES_PER_PAGE: usize = 25;
const QUARANTINED_SHOWN: usize = 5;

form! {
    /// What is replayed, and what becomes of the secret before a new one.
    pub(crate) ENDPOINT_ACTS: EndpointActsForm {
        since: Field::time("since", "Since").required().hint(
            "A date alone means the whole day. Each of them is sent again. If an attempt fails, we’ll retry on the same schedule.",
        ),
        old: Field::choice("old", "The secret before"),
    }
}

#[derive(Template)]
#[template(path = "endpoint.html")]
struct EndpointPage {
    layout: Layout,
    path: String,
    url: String,
    badge: Badge,
    notice: Option<Notice>,
    new_secret: Option<NewSecret>,
    events: String,
    failing: Option<u32>,
    paused_at: Option<DisplayTime>,
    previous_ends: Vec<DisplayTime>,
    last_success_at: Option<DisplayTime>,
    last_failure_at: Option<DisplayTime>,
    failures_in_a_row: u32,
    created_by: String,
    created_at: DisplayTime,
    /// How many are quarantined, and the first of them.
    quarantined: Option<(String, Vec<(DisplayTime, String)>)>,
    replay: Option<ReplayForm>,
    states: Vec<SelectOption>,
    event_types: Vec<SelectOption>,
    is_filtered: bool,
    deliveries: Vec<DeliveryRow>,
    older: Option<String>,
    is_first: bool,
}

struct ReplayForm {
    count: u64,
    is_under_way: bool,
    /// A time in the organization's zone, or the submitted invalid text.
    fields: Fields,
    since_at: DisplayTime,
}

struct SelectOption {
    value: &'static str,
    text: &'static str,
    is_selected: bool,
}

struct DeliveryRow {
    link: String,
    event_type: &'static str,
    subject: Option<String>,
    badge: Badge,
    created_at: DisplayTime,
    attempted: u32,
    last: Option<(String, u64)>,
    due_at: Option<DisplayTime>,
}

impl DeliveryRow {
    fn new(delivery: &Delivery, subject: Option<String>) -> Self {
        let is_waiting = delivery.state() == DeliveryState::Waiting;
        let outcome = |outcome: Outcome| match outcome {
            Outcome::Delivered { status } | Outcome::Failed { status: Some(status), .. } => status.to_string(),
            Outcome::Failed { class, status: None } => failure_label(class).to_owned(),
        };
        Self {
            link: delivery_url(delivery.endpoint_id, delivery.event_id),
            event_type: delivery.event_type.as_str(),
            subject,
            badge: delivery_badge(delivery.state()),
            created_at: DisplayTime::with_seconds(delivery.created_at),
            attempted: delivery.attempted,
            last: delivery.attempts.last().map(|last| (outcome(last.outcome), last.duration_ms)),
            due_at: delivery.due_at().filter(|_| is_waiting).map(DisplayTime::with_seconds),
        }
    }
}

pub(crate) fn delivery_url(endpoint: EndpointId, event: EventId) -> String {
    format!("{}/deliveries/{event}", endpoint_url(endpoint))
}

pub(crate) const VERIFIERS: [Verifier; 3] = [
    Verifier { id: "verify-py", language: "Python", code: include_str!("../../../events/verify/verify.py") },
    Verifier { id: "verify-ts", language: "TypeScript", code: include_str!("../../../events/verify/verify.ts") },
    Verifier { id: "verify-rs", language: "Rust", code: include_str!("../../../events/verify/verify.rs") },
];

pub(crate) struct Verifier {
    pub id: &'static str,
    pub language: &'static str,
    pub code: &'static str,
}

pub(crate) enum NewSecret {
    Shown(String),
    Unavailable,
}

/// The signing secret, if generated in this session less than two minutes ago.
pub(crate) async fn new_secret(request: &Request, id: EndpointId) -> Result<Option<NewSecret>, Error> {
    match Flash::SigningSecret(id).read(request).await {
        Ok(secret) => Ok(secret.map(NewSecret::Shown)),
        Err(Error::Unavailable(_)) => Ok(Some(NewSecret::Unavailable)),
        Err(error) => Err(error),
    }
}

pub(crate) async fn load_endpoint(request: &Request) -> Result<EndpointState, Error> {
    let id: EndpointId = request.path_id("id")?;
    endpoints::get(request.signed_in()?.scope(), id).await
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    request.check_admin()?;
    let (notice, cookie) = notice_of_act(request).await;
    Ok(endpoint_page(request, notice).await?.with_cookie(cookie))
}

#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    state: Filter<DeliveryState>,
    #[deserr(default, rename = "type")]
    event_type: Filter<EventType>,
    #[deserr(default)]
    before: Filter<EventId>,
    #[deserr(default)]
    since: Option<String>,
}

async fn endpoint_page(request: &Request, notice: Option<Notice>) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let id: EndpointId = request.path_id("id")?;
    let query: Query = request.read_query()?;
    let filter = DeliveryFilter { state: query.state.get(), event_type: query.event_type.get() };
    let before = query.before.get();
    // In two steps: a read of one half that began between those of the other would be one more wait.
    let found = deliveries::list(scope, id, filter, before, DELIVERIES_PER_PAGE);
    let (state, found) = tokio::try_join!(load_endpoint(request), found)?;
    let subjects = deliveries::subjects(scope, &found.deliveries);
    let held = deliveries::left_to_send(scope, &state);
    let (replay, held, mut subjects) = tokio::try_join!(replay_form(request, query.since, &state), held, subjects)?;
    let endpoint = &state.endpoint;
    let path = endpoint_url(id);
    let state_value = filter.state.map_or("", DeliveryState::as_str);
    let type_value = filter.event_type.map_or("", EventType::as_str);
    let older = |event: EventId| format!("{path}?state={state_value}&type={type_value}&before={event}#deliveries");
    let page = EndpointPage {
        layout: Layout::new(request),
        url: endpoint.url().as_str().to_owned(),
        badge: endpoint_badge(&state),
        notice: notice.or_else(|| going_out(held)),
        new_secret: new_secret(request, endpoint.id()).await?,
        events: subscription_label(endpoint.events()),
        failing: Some(state.health.failures_in_a_row).filter(|failures| *failures > 0 && state.is_failing()),
        paused_at: endpoint.paused_at().map(Into::into),
        previous_ends: endpoint.previous_ends(request.now()).map(Into::into).collect(),
        last_success_at: state.health.last_success_at.map(Into::into),
        last_failure_at: state.health.last_failure_at.map(Into::into),
        failures_in_a_row: state.health.failures_in_a_row,
        created_by: actor_label(endpoint.created_by()),
        created_at: endpoint.created_at().into(),
        quarantined: (!state.quarantined.is_empty()).then(|| {
            let first = state.quarantined.iter().take(QUARANTINED_SHOWN);
            let links = first.map(|one| (one.at.into(), delivery_url(endpoint.id(), one.event_id)));
            (quarantined_deliveries(&state), links.collect())
        }),
        replay,
        states: state_options(filter.state),
        event_types: event_type_options(filter.event_type),
        is_filtered: filter.state.is_some() || filter.event_type.is_some(),
        deliveries: found
            .deliveries
            .iter()
            .map(|delivery| DeliveryRow::new(delivery, subjects.remove(&delivery.event_id)))
            .collect(),
        older: found.next.map(older),
        is_first: before.is_none(),
        path,
    };
    let event_ids = found.deliveries.iter().map(|delivery| delivery.event_id.uuid());
    Ok(PageResponse::render(&page)?.showing(std::iter::once(endpoint.id().uuid()).chain(event_ids)))
}

fn state_options(selected: Option<DeliveryState>) -> Vec<SelectOption> {
    let option = |state: DeliveryState| SelectOption {
        value: state.as_str(),
        text: delivery_badge(state).text,
        is_selected: selected == Some(state),
    };
    DeliveryState::ALL.into_iter().map(option).collect()
}

fn event_type_options(selected: Option<EventType>) -> Vec<SelectOption> {
    let option = |event_type: EventType| SelectOption {
        value: event_type.as_str(),
        text: event_type.as_str(),
        is_selected: selected == Some(event_type),
    };
    EventType::ALL.into_iter().map(option).collect()
}

/// How far a resumed endpoint's deliveries are.
fn going_out(held: u64) -> Option<Notice> {
    if held == 0 {
        return None;
    }
    let (events, wait) = if held == 1 { ("event", "waits") } else { ("events", "wait") };
    let line = "They go out by themselves, the oldest first. Reload the page to see how many are left.";
    Some(Notice::plain(format!("{held} held {events} still {wait} to be sent"), line))
}

/// Counts the events since a requested time or the beginning. `None` without events and without a requested time.
async fn replay_form(
    request: &Request,
    since: Option<String>,
    state: &EndpointState,
) -> Result<Option<ReplayForm>, Error> {
    let form = request.unverified_form();
    let submitted =
        Some(form.get(ENDPOINT_ACTS.since).to_owned()).filter(|_| Button::of(&form) == Some(Button::ReplayAll));
    let requested = submitted.or(since);
    let zone = &request.signed_in()?.organization().time_zone;
    let since = requested.as_deref().map(|text| since_of(text, zone));
    let count_from = since.flatten().unwrap_or_else(beginning_of_time);
    let found = deliveries::undelivered(request.signed_in()?.scope(), state, count_from).await?;
    if found.count == 0 && requested.is_none() {
        return Ok(None);
    }
    let from = since.flatten().or(found.earliest).unwrap_or(request.now());
    // Rounded down to the second, to include the earliest event.
    let value = zone.write_local_second(from);
    let invalid = requested.filter(|_| since == Some(None));
    let wrong = invalid
        .as_ref()
        .map(|_| Fields::wrong_one(ENDPOINT_ACTS.since, &NotLocalTime::NoTime(zone.dates()).to_string()));
    Ok(Some(ReplayForm {
        count: found.count,
        is_under_way: state.replay.is_some(),
        since_at: from.into(),
        fields: wrong.unwrap_or_default().over(Fields::of([(ENDPOINT_ACTS.since, invalid.unwrap_or(value))])),
    }))
}

fn beginning_of_time() -> Timestamp {
    Timestamp::from_unix_ms(0).unwrap_or_else(|_| Timestamp::now())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Button {
    Test,
    Pause,
    Resume,
    Rotate,
    Delete,
    /// Shows the page with another count. It changes nothing, but as a POST it keeps the CSRF token out of the URL.
    Count,
    ReplayAll,
}

impl Button {
    fn of(form: &Form) -> Option<Self> {
        Some(match form.get("act") {
            "test" => Self::Test,
            "pause" => Self::Pause,
            "resume" => Self::Resume,
            "rotate" => Self::Rotate,
            "delete" => Self::Delete,
            "count" => Self::Count,
            "replay" => Self::ReplayAll,
            _ => return None,
        })
    }
}

pub(crate) const SUBMIT_OPERATIONS: Operation = Operation::ByField {
    field: "act",
    names: &[
        ("test", "send_test_event"),
        ("pause", "pause_endpoint"),
        ("resume", "resume_endpoint"),
        ("rotate", "rotate_secret"),
        ("delete", "delete_endpoint"),
        ("count", "count_undelivered"),
        ("replay", "replay_undelivered"),
    ],
    otherwise: "change_endpoint",
};

pub(crate) async fn submit(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let unknown = || FieldErrors::one("act", FieldCode::InvalidValue, "must be one of the page's buttons");
    let button = Button::of(submitted.form()).ok_or_else(|| Error::Invalid(unknown()))?;
    let id: EndpointId = request.path_id("id")?;
    match button {
        Button::Test => send_test(request, &submitted, id).await,
        Button::Pause => pause(&submitted, id).await,
        Button::Resume => resume(&submitted, id).await,
        Button::Rotate => rotate_secret(request, &submitted, id).await,
        Button::Delete => delete(request, &submitted, id).await,
        Button::Count => count_undelivered(request, &submitted, id).await,
        Button::ReplayAll => replay_undelivered(request, &submitted, id).await,
    }
}

type AdminForm<'a> = SubmittedForm<'a, Admin<'a>>;

/// Sends a test event, if the address guard currently allows the endpoint, and briefly waits for the outcome.
async fn send_test(request: &Request, submitted: &AdminForm<'_>, id: EndpointId) -> Result<PageResponse, Error> {
    let state = load_endpoint(request).await?;
    if let Err(error) = check_address(state.endpoint.url(), submitted.app().webhooks()?).await {
        let notice = Notice::bad("No test was sent", format!("The address can’t be used: it {error}."));
        return Ok(endpoint_page(request, Some(notice)).await?.unprocessable());
    }
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    // Retries send the same event, so that its delivery's page exists whichever takes effect.
    let event = endpoints::test_event(scope);
    let redirect = Redirect { location: delivery_url(id, event.id), cookie: None };
    submitted.redirect_if_committed(&redirect);
    submitted.run(|| std::future::ready(Ok(endpoints::send_test(scope, admin, id, &event)))).await?;
    let notice = outcome_notice(deliveries::wait_for_attempt(scope, id, event.id).await.as_ref());
    Ok(with_notice(submitted, redirect.location, &notice).await.into())
}

async fn pause(submitted: &AdminForm<'_>, id: EndpointId) -> Result<PageResponse, Error> {
    let line = "Deliveries are held until you resume it. Nothing is lost.";
    let redirect = redirect_with_notice(submitted, endpoint_url(id), "Endpoint paused", line).await;
    submitted.run(|| endpoints::pause(submitted.scope(), submitted.submitter(), id)).await?;
    Ok(redirect.into())
}

async fn resume(submitted: &AdminForm<'_>, id: EndpointId) -> Result<PageResponse, Error> {
    let line = "Held deliveries are sent now, the oldest first.";
    let redirect = redirect_with_notice(submitted, endpoint_url(id), "Endpoint resumed", line).await;
    submitted.run(|| endpoints::resume(submitted.scope(), submitted.submitter(), id)).await?;
    Ok(redirect.into())
}

async fn rotate_secret(request: &Request, submitted: &AdminForm<'_>, id: EndpointId) -> Result<PageResponse, Error> {
    let replace_now = submitted.form().get(ENDPOINT_ACTS.old) == "replace";
    let rotation = if replace_now { Rotation::AtOnce } else { Rotation::Overlapping };
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    let (new, keys, redirect) = match next_secret(submitted, id, rotation).await {
        Ok(sealed) => sealed,
        Err(Error::Unavailable(cause)) => {
            let line = "The new secret can’t be encrypted at the moment. Try again in a minute.";
            let notice = Notice::bad("The secret was not rotated", line);
            return Ok(endpoint_page(request, Some(notice)).await?.unavailable(cause));
        }
        Err(error) => return Err(error),
    };
    submitted.redirect_if_committed(&redirect);
    match submitted.run(|| endpoints::rotate_secret(scope, admin, id, &new, &keys)).await? {
        Ok(()) => {
            let line = match rotation {
                Rotation::AtOnce => "The old secret no longer signs. Copy the new one below.",
                Rotation::Overlapping => "The old secret signs for 24 more hours. Copy the new one below.",
            };
            Ok(shown_once(submitted, redirect, "Secret rotated", line).await)
        }
        Err(TooManySecrets { first_end }) => {
            let line = format!(
                "{} previous secrets are still valid, the most that an endpoint can have. Replace the secret at once, or wait until {}.",
                limits::PREVIOUS_SECRETS_MAX,
                first_end.shown()
            );
            let notice = Notice::bad("The secret was not rotated", line);
            Ok(endpoint_page(request, Some(notice)).await?.unprocessable())
        }
    }
}

async fn next_secret(
    submitted: &AdminForm<'_>,
    id: EndpointId,
    rotation: Rotation,
) -> Result<(endpoints::NewSecret, Arc<Keyring>, Redirect), Error> {
    let secret = SigningSecret::generate()?;
    let new = endpoints::NewSecret::new(secret, rotation);
    let keys = submitted.app().webhooks()?.keys.keyring().await?;
    let cookie = Flash::SigningSecret(id).set(submitted, &new.secret().expose()).await?;
    let redirect = Redirect { location: endpoint_url(id), cookie };
    Ok((new, keys, redirect))
}

async fn delete(request: &Request, submitted: &AdminForm<'_>, id: EndpointId) -> Result<PageResponse, Error> {
    let url = load_endpoint(request).await?.endpoint.url().as_str().to_owned();
    // Deleting works even if the flash's keys can't be read.
    let cookie = Flash::DeletedEndpoint.set(submitted, &url).await.ok().flatten();
    let redirect = Redirect { location: "/app/developers".to_owned(), cookie };
    submitted.redirect_if_committed(&redirect);
    submitted.run(|| endpoints::delete(submitted.scope(), submitted.submitter(), id)).await?;
    Ok(redirect.into())
}

async fn count_undelivered(
    request: &Request,
    submitted: &AdminForm<'_>,
    id: EndpointId,
) -> Result<PageResponse, Error> {
    let since = encode_query_value(submitted.form().get(ENDPOINT_ACTS.since));
    load_endpoint(request).await?;
    Ok(PageResponse::see_other(format!("{}?since={since}#replay", endpoint_url(id))))
}

/// When a replay begins. A date includes the whole day.
fn since_of(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    Day::read(text, zone.dates()).map(|day| zone.start_of(day)).or_else(|_| zone.read_local(text)).ok()
}

async fn replay_undelivered(
    request: &Request,
    submitted: &AdminForm<'_>,
    id: EndpointId,
) -> Result<PageResponse, Error> {
    let zone = &request.signed_in()?.organization().time_zone;
    let Some(since) = since_of(submitted.form().get(ENDPOINT_ACTS.since), zone) else {
        let line = format!("Since {}.", NotLocalTime::NoTime(zone.dates()));
        let notice = Notice::bad("Nothing was replayed", line);
        return Ok(endpoint_page(request, Some(notice)).await?.unprocessable());
    };
    let line = format!("What was not delivered since {} is sent again.", zone.for_people(since));
    let redirect = redirect_with_notice(submitted, endpoint_url(id), "Replay started", &line).await;
    submitted.run(|| endpoints::replay_undelivered(submitted.scope(), submitted.submitter(), id, since)).await?;
    Ok(redirect.into())
}

#[derive(Template)]
#[template(path = "endpoint_edit.html")]
struct EditPage {
    layout: Layout,
    path: String,
    url: String,
    new_secret: Option<NewSecret>,
    form: EndpointForm,
}

pub(crate) async fn edit(request: &mut Request) -> Result<PageResponse, Error> {
    request.check_admin()?;
    let endpoint = load_endpoint(request).await?.endpoint;
    let form = EndpointForm::of_endpoint(endpoint.url().as_str(), endpoint.events());
    edit_page(request, &endpoint, form).await
}

async fn edit_page(request: &Request, endpoint: &Endpoint, form: EndpointForm) -> Result<PageResponse, Error> {
    let (path, url) = (endpoint_url(endpoint.id()), endpoint.url().as_str().to_owned());
    let new_secret = new_secret(request, endpoint.id()).await?;
    let page = EditPage { layout: Layout::new(request), path, url, new_secret, form };
    Ok(PageResponse::render(&page)?.showing([endpoint.id().uuid()]))
}

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let endpoint = load_endpoint(request).await?.endpoint;
    let (url, events) = match EndpointForm::parse(submitted.form(), submitted.app().webhooks()?).await {
        Ok(parsed) => parsed,
        Err(form) => return Ok(edit_page(request, &endpoint, *form).await?.unprocessable()),
    };
    let (scope, admin, id) = (submitted.scope(), submitted.submitter(), endpoint.id());
    let line = "The next delivery uses the new settings.";
    let redirect = redirect_with_notice(&submitted, endpoint_url(id), "Changes saved", line).await;
    submitted.run(|| endpoints::edit(scope, admin, id, url.clone(), events.clone())).await?;
    Ok(redirect.into())
}
