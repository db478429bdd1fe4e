//! One endpoint: how it does, what can be done to it, and its deliveries.

use askama::Template;
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::delivery::{Delivery, DeliveryState};
use shared::domain::endpoint::{Endpoint, Rotation};
use shared::domain::event::EventType;
use shared::domain::ids::{EndpointId, EventId};
use shared::domain::member::Admin;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::service::endpoints;
use shared::store::deliveries::DeliveryFilter;
use shared::store::endpoints::EndpointState;
use shared::web::{Flash, Form, Request, SubmittedForm};
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::Page;
use crate::agreement_summary::{Badge, who_is};
use crate::developers::{EndpointForm, endpoint_badge, link, reachable, refused, told};
use crate::layout::{Answer, Layout, Moment, Notice, in_query};

/// Deliveries on a page.
const DELIVERIES: usize = 25;

#[derive(Template)]
#[template(path = "endpoint.html")]
struct EndpointPage {
    layout: Layout,
    path: String,
    url: String,
    badge: Badge,
    notice: Option<Notice>,
    secret: Option<String>,
    events: String,
    failing: Option<u32>,
    paused_at: Option<Moment>,
    overlaps_until: Option<Moment>,
    last_success_at: Option<Moment>,
    last_failure_at: Option<Moment>,
    failures_in_a_row: u32,
    added: (String, Moment),
    /// Since when, and where to look.
    quarantined: Vec<(Moment, String)>,
    replay: Option<ReplayForm>,
    states: Vec<Choice>,
    types: Vec<Choice>,
    is_filtered: bool,
    deliveries: Vec<DeliveryLine>,
    older: Option<String>,
    is_first: bool,
}

/// The form that replays what was not delivered.
struct ReplayForm {
    count: u64,
    /// Whether an earlier one goes on.
    is_under_way: bool,
    /// For the field: a moment without a zone, which is UTC; or what was typed, where that is none.
    since: String,
    since_text: String,
    error: Option<&'static str>,
}

/// An entry of a list to choose from.
struct Choice {
    value: &'static str,
    text: &'static str,
    is_chosen: bool,
}

pub(crate) struct DeliveryLine {
    pub link: String,
    pub event_type: &'static str,
    pub badge: Badge,
    pub at: Moment,
    pub attempted: u32,
    pub due_at: Option<Moment>,
}

impl DeliveryLine {
    pub fn new(delivery: &Delivery) -> Self {
        let is_waiting = delivery.state() == DeliveryState::Waiting;
        Self {
            link: delivery_link(delivery.endpoint_id, delivery.event_id),
            event_type: delivery.event_type.as_str(),
            badge: delivery_badge(delivery.state()),
            at: delivery.created_at.into(),
            attempted: delivery.attempted,
            due_at: delivery.due_at().filter(|_| is_waiting).map(Into::into),
        }
    }
}

/// Where a delivery's page is.
pub(crate) fn delivery_link(endpoint: EndpointId, event: EventId) -> String {
    format!("{}/deliveries/{event}", link(endpoint))
}

/// A delivery's state in a word.
pub(crate) fn delivery_badge(state: DeliveryState) -> Badge {
    let (text, look) = match state {
        DeliveryState::Queued => ("Queued", "blue"),
        DeliveryState::Waiting => ("Waiting", "amber"),
        DeliveryState::Delivered => ("Delivered", "green"),
        DeliveryState::Exhausted => ("Exhausted", "red"),
        DeliveryState::Held => ("Held", "quiet"),
    };
    Badge { text, look }
}

/// An endpoint of the organization.
pub(crate) async fn find(request: &Request) -> Result<EndpointState, Error> {
    let id: EndpointId = request.path_id("id")?;
    endpoints::get(request.signed_in()?.scope(), id).await
}

/// The page.
pub(crate) struct Show;

impl Page for Show {
    fn operation(_: &Request) -> &'static str {
        "view_endpoint"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        request.check_admin()?;
        let state = find(request).await?;
        page(request, &state, None).await
    }
}

async fn page(request: &Request, state: &EndpointState, notice: Option<Notice>) -> Result<Answer, Error> {
    let store = request.signed_in()?.scope().store();
    let endpoint = &state.endpoint;
    let chosen_state = request.query("state").and_then(|text| DeliveryState::parse(&text));
    let chosen_type = request.query("type").and_then(|text| EventType::parse(&text));
    let before: Option<EventId> = request.query("before").and_then(|text| text.parse().ok());
    let filter = DeliveryFilter { state: chosen_state, event_type: chosen_type };
    let found = store.deliveries(endpoint.id(), filter, before, DELIVERIES).await?;
    let (secret, cookie) = Flash::SigningSecret(endpoint.id()).take(request).await?.unzip();
    let path = link(endpoint.id());
    let state_name = chosen_state.map_or("", DeliveryState::as_str);
    let type_name = chosen_type.map_or("", EventType::as_str);
    let page = EndpointPage {
        layout: Layout::new(request),
        url: endpoint.url().as_str().to_owned(),
        badge: endpoint_badge(state),
        notice,
        secret,
        events: told(endpoint.events()),
        failing: Some(state.health.failures_in_a_row).filter(|failures| *failures > 0 && state.is_failing()),
        paused_at: endpoint.paused_at().map(Into::into),
        overlaps_until: endpoint.overlaps_until(request.now()).map(Into::into),
        last_success_at: state.health.last_success_at.map(Into::into),
        last_failure_at: state.health.last_failure_at.map(Into::into),
        failures_in_a_row: state.health.failures_in_a_row,
        added: (who_is(endpoint.created_by()), endpoint.created_at().into()),
        quarantined: state
            .quarantined
            .iter()
            .map(|quarantined| (quarantined.at.into(), delivery_link(endpoint.id(), quarantined.event_id)))
            .collect(),
        replay: replay_form(request, state).await?,
        states: DeliveryState::ALL
            .into_iter()
            .map(|state| Choice {
                value: state.as_str(),
                text: delivery_badge(state).text,
                is_chosen: chosen_state == Some(state),
            })
            .collect(),
        types: EventType::ALL
            .into_iter()
            .map(|event_type| Choice {
                value: event_type.as_str(),
                text: event_type.as_str(),
                is_chosen: chosen_type == Some(event_type),
            })
            .collect(),
        is_filtered: chosen_state.is_some() || chosen_type.is_some(),
        deliveries: found.deliveries.iter().map(DeliveryLine::new).collect(),
        older: found.next.map(|event| format!("{path}?state={state_name}&type={type_name}&before={event}#deliveries")),
        is_first: before.is_none(),
        path,
    };
    let events = found.deliveries.iter().map(|delivery| delivery.event_id.uuid());
    Ok(Answer::page(&page)?.with_cookie(cookie.flatten()).showing(std::iter::once(endpoint.id().uuid()).chain(events)))
}

/// The form with its count: of what somebody asked about, in the address or in the form itself, or of everything.
async fn replay_form(request: &Request, state: &EndpointState) -> Result<Option<ReplayForm>, Error> {
    let store = request.signed_in()?.scope().store();
    let typed = request.unverified_form();
    let typed = Some(typed.get("since").to_owned()).filter(|_| Button::of(&typed) == Some(Button::ReplayAll));
    let asked = typed.or_else(|| request.query("since"));
    let since = asked.as_deref().map(read_moment);
    let from = since.flatten().unwrap_or_else(the_beginning);
    let found = store.undelivered(state.endpoint.id(), &state.quarantined, from).await?;
    if found.count == 0 && asked.is_none() {
        return Ok(None);
    }
    let from = since.flatten().or(found.earliest).unwrap_or(request.now());
    // To the second below, so that the first is among them.
    let from = Timestamp::from_unix_ms(from.unix_ms().div_euclid(1000) * 1000).unwrap_or(from);
    let text = from.to_string().chars().take("2026-03-14T09:26:53".len()).collect();
    let wrong = asked.filter(|_| since == Some(None));
    Ok(Some(ReplayForm {
        count: found.count,
        is_under_way: state.replay.is_some(),
        since_text: from.for_people(),
        error: wrong.is_some().then_some("must be a date with a time, such as 2026-03-14T09:26"),
        since: wrong.unwrap_or(text),
    }))
}

/// Before anything happened.
fn the_beginning() -> Timestamp {
    Timestamp::from_unix_ms(0).unwrap_or_else(|_| Timestamp::now())
}

/// A moment as browsers send it from a field for one: without a zone, which is UTC.
fn read_moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    [format!("{text}:00Z"), format!("{text}Z"), text.to_owned()].iter().find_map(|text| text.parse().ok())
}

/// What a button of the page does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Button {
    Test,
    Pause,
    Resume,
    Rotate,
    Delete,
    /// Changes nothing: a form of the page, so that its token is not part of an address.
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

/// What the buttons of the page do.
pub(crate) struct Change;

impl Page for Change {
    fn operation(request: &Request) -> &'static str {
        match Button::of(&request.unverified_form()) {
            Some(Button::Test) => "send_test_event",
            Some(Button::Pause) => "pause_endpoint",
            Some(Button::Resume) => "resume_endpoint",
            Some(Button::Rotate) => "rotate_secret",
            Some(Button::Delete) => "delete_endpoint",
            Some(Button::Count) => "count_undelivered",
            Some(Button::ReplayAll) => "replay_undelivered",
            None => "change_endpoint",
        }
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?.require_admin()?;
        let unknown = || FieldErrors::one("act", FieldCode::InvalidValue, "must be one of the page's buttons");
        let button = Button::of(submitted.form()).ok_or_else(|| Error::Invalid(unknown()))?;
        let id: EndpointId = request.path_id("id")?;
        let (scope, admin) = (submitted.scope(), submitted.submitter());
        match button {
            Button::Test => return send_test(request, &submitted, id).await,
            Button::Pause => submitted.run(|| endpoints::pause(scope, admin, id)).await?,
            Button::Resume => submitted.run(|| endpoints::resume(scope, admin, id)).await?,
            Button::Rotate => return rotate(&submitted, id).await,
            Button::Delete => {
                submitted.run(|| endpoints::delete(scope, admin, id)).await?;
                return Ok(Answer::see_other("/app/developers"));
            }
            Button::Count => {
                let since = in_query(submitted.form().get("since"));
                find(request).await?;
                return Ok(Answer::see_other(format!("{}?since={since}#replay", link(id))));
            }
            Button::ReplayAll => return replay_undelivered(request, &submitted, id).await,
        }
        Ok(Answer::see_other(link(id)))
    }
}

/// A form of the page, sent by an admin.
type AdminForm<'a> = SubmittedForm<'a, Admin<'a>>;

/// Sends a test event, if the endpoint's address can be used now.
async fn send_test(request: &Request, submitted: &AdminForm<'_>, id: EndpointId) -> Result<Answer, Error> {
    let state = find(request).await?;
    if let Err(refusal) = reachable(state.endpoint.url(), submitted.app().webhooks()?).await {
        let line = format!("The address can’t be used: it {refusal}.");
        return refused(page(request, &state, Some(refusal_notice("No test was sent", line))).await);
    }
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    let event = submitted.run(|| std::future::ready(Ok(endpoints::send_test(scope, admin, id)))).await?;
    Ok(Answer::see_other(delivery_link(id, event)))
}

/// Gives the endpoint a new signing secret, which its page shows once.
async fn rotate(submitted: &AdminForm<'_>, id: EndpointId) -> Result<Answer, Error> {
    let how = if submitted.form().get("old") == "keep" { Rotation::Overlapping } else { Rotation::AtOnce };
    let (scope, admin) = (submitted.scope(), submitted.submitter());
    // One for all attempts: what is shown must be what the attempt wrote that took effect.
    let secret = SigningSecret::generate()?;
    let keys = submitted.app().webhooks()?.keys.keyring().await?;
    let cookie = Flash::SigningSecret(id).set(submitted, &secret.expose()).await?;
    submitted.run(|| endpoints::rotate_secret(scope, admin, id, how, &secret, &keys)).await?;
    Ok(Answer::see_other(link(id)).with_cookie(cookie))
}

/// Requests a replay of what the endpoint has not received since a moment.
async fn replay_undelivered(request: &Request, submitted: &AdminForm<'_>, id: EndpointId) -> Result<Answer, Error> {
    let Some(since) = read_moment(submitted.form().get("since")) else {
        let line = "Since must be a date with a time, such as 2026-03-14T09:26.".to_owned();
        let notice = refusal_notice("Nothing was replayed", line);
        return refused(page(request, &find(request).await?, Some(notice)).await);
    };
    submitted.run(|| endpoints::replay_undelivered(submitted.scope(), submitted.submitter(), id, since)).await?;
    Ok(Answer::see_other(link(id)))
}

fn refusal_notice(title: &str, line: String) -> Notice {
    Notice { look: "bad", title: title.to_owned(), lines: vec![line] }
}

#[derive(Template)]
#[template(path = "endpoint_edit.html")]
struct EditPage {
    layout: Layout,
    path: String,
    url: String,
    form: EndpointForm,
}

/// The form that changes its address and events.
pub(crate) struct Edit;

impl Page for Edit {
    fn operation(_: &Request) -> &'static str {
        "view_endpoint"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        request.check_admin()?;
        let endpoint = find(request).await?.endpoint;
        let form = EndpointForm::of(endpoint.url().as_str(), endpoint.events());
        edit_page(request, &endpoint, form)
    }
}

fn edit_page(request: &Request, endpoint: &Endpoint, form: EndpointForm) -> Result<Answer, Error> {
    let (path, url) = (link(endpoint.id()), endpoint.url().as_str().to_owned());
    let page = EditPage { layout: Layout::new(request), path, url, form };
    Ok(Answer::page(&page)?.showing([endpoint.id().uuid()]))
}

/// That form, sent.
pub(crate) struct Save;

impl Page for Save {
    fn operation(_: &Request) -> &'static str {
        "edit_endpoint"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?.require_admin()?;
        let before = find(request).await?.endpoint;
        let (url, events) = match EndpointForm::read(submitted.form(), submitted.app().webhooks()?).await {
            Ok(read) => read,
            Err(again) => return refused(edit_page(request, &before, *again)),
        };
        let (scope, admin, id) = (submitted.scope(), submitted.submitter(), before.id());
        submitted.run(|| endpoints::edit(scope, admin, id, url.clone(), events.clone())).await?;
        Ok(Answer::see_other(link(id)))
    }
}

#[cfg(test)]
mod tests {
    use super::read_moment;

    #[test]
    fn a_moment_is_read_as_browsers_send_it() {
        let moment = read_moment("2026-03-14T09:26").unwrap();
        for text in ["2026-03-14T09:26:00", "2026-03-14T09:26:00.000", "2026-03-14T09:26:00Z", " 2026-03-14T09:26 "] {
            assert_eq!(read_moment(text), Some(moment), "{text}");
        }
        for text in ["", "yesterday", "2026-03-14", "09:26"] {
            assert_eq!(read_moment(text), None, "{text}");
        }
    }
}
