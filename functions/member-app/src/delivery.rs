//! One delivery: its attempts, what was sent, and sending it again.

use askama::Template;
use shared::domain::delivery::{Attempt, Delivery, DeliveryState, FailureClass, Outcome};
use shared::domain::ids::EventId;
use shared::error::Error;
use shared::limits;
use shared::service::deliveries;
use shared::web::Request;

use crate::Page;
use crate::agreement_summary::Badge;
use crate::developers::link;
use crate::endpoint::{delivery_badge, delivery_link, find};
use crate::layout::{Answer, Layout, Moment};

#[derive(Template)]
#[template(path = "delivery.html")]
struct DeliveryPage {
    layout: Layout,
    path: String,
    endpoint: (String, String),
    event_type: &'static str,
    event_id: String,
    at: Moment,
    badge: Badge,
    explanation: String,
    due_at: Option<Moment>,
    attempts: Vec<AttemptLine>,
    left_out: u32,
    body: String,
    can_replay: bool,
    is_delivered: bool,
}

struct AttemptLine {
    number: u32,
    at: Moment,
    badge: Badge,
    result: String,
    class: Option<&'static str>,
    duration_ms: u64,
    dialled: Option<String>,
    excerpt: Option<String>,
}

impl AttemptLine {
    fn new(attempt: &Attempt) -> Self {
        let (badge, result, class) = match attempt.outcome {
            Outcome::Delivered { status } => {
                (Badge { text: "Delivered", look: "green" }, format!("the server answered {status}"), None)
            }
            Outcome::Failed { class, status } => {
                (Badge { text: "Failed", look: "red" }, failure(class, status), Some(class.as_str()))
            }
        };
        Self {
            number: attempt.number,
            at: attempt.at.into(),
            badge,
            result,
            class,
            duration_ms: attempt.duration_ms,
            dialled: attempt.dialled.map(|address| address.to_string()),
            excerpt: attempt.excerpt.clone(),
        }
    }
}

/// The page.
pub(crate) struct Show;

impl Page for Show {
    fn operation(_: &Request) -> &'static str {
        "view_delivery"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        request.check_admin()?;
        let store = request.signed_in()?.scope().store();
        let state = find(request).await?;
        let endpoint = &state.endpoint;
        let event_id: EventId = request.path_id("event")?;
        let event = store.event(event_id).await?.ok_or_else(Error::not_found)?;
        let delivery = match store.delivery(endpoint.id(), event_id).await? {
            Some(found) => found.into_inner(),
            // An event that was told a moment ago has no delivery yet.
            None if event.is_for(endpoint) => {
                Delivery::new(endpoint.id(), event.id, event.event_type, event.created_at, request.now())
            }
            None => return Err(Error::not_found()),
        };
        let is_aside = state.quarantined.iter().any(|quarantined| quarantined.event_id == event_id);
        let kept = u32::try_from(delivery.attempts.len()).unwrap_or(u32::MAX);
        let page = DeliveryPage {
            layout: Layout::new(request),
            path: delivery_link(endpoint.id(), event_id),
            endpoint: (link(endpoint.id()), endpoint.url().as_str().to_owned()),
            event_type: event.event_type.as_str(),
            event_id: event_id.to_string(),
            at: event.created_at.into(),
            badge: delivery_badge(delivery.state()),
            explanation: if is_aside { QUARANTINED_EXPLANATION.to_owned() } else { explanation(&delivery) },
            due_at: delivery.due_at().filter(|_| delivery.state() == DeliveryState::Waiting).map(Into::into),
            attempts: delivery.attempts.iter().rev().map(AttemptLine::new).collect(),
            left_out: delivery.attempted.saturating_sub(kept),
            body: event.body,
            can_replay: is_aside || delivery.state() != DeliveryState::Queued,
            is_delivered: delivery.state() == DeliveryState::Delivered,
        };
        Ok(Answer::page(&page)?.showing([endpoint.id().uuid(), event_id.uuid()]))
    }
}

/// How an attempt failed, to be read after its number.
fn failure(class: FailureClass, status: Option<u16>) -> String {
    let what = match class {
        FailureClass::DnsError => "the host’s name could not be looked up",
        FailureClass::AddressRefused => "the host is not a public one",
        FailureClass::ConnectError => "no connection to the server",
        FailureClass::TlsError => "no encrypted connection, or not the server’s certificate",
        FailureClass::Timeout => "the server took too long",
        FailureClass::Redirect => "the server redirects, which is not followed",
        FailureClass::HttpError => "the server refused it",
        FailureClass::InvalidResponse => "the response is no HTTP",
        FailureClass::ConnectionClosed => "the connection ended before the response",
    };
    match (class, status) {
        (FailureClass::HttpError, Some(status)) => format!("the server answered {status}"),
        (_, Some(status)) => format!("{what} ({status})"),
        (_, None) => what.to_owned(),
    }
}

/// Of one that the sender could not process.
const QUARANTINED_EXPLANATION: &str =
    "It could not be processed. That is our fault. Nothing is lost: replay it once it is mended.";

/// Attempts of the schedule: the first, and one after each wait.
const ATTEMPTS: usize = 1 + limits::RETRY_WAITS_S.len();

fn explanation(delivery: &Delivery) -> String {
    match delivery.state() {
        DeliveryState::Queued => "It is on its way. Reload the page to see how it went.".to_owned(),
        DeliveryState::Waiting => {
            format!("{} of {ATTEMPTS} attempts failed. The next one is made by itself.", delivery.failures)
        }
        DeliveryState::Delivered => "The endpoint has acknowledged it.".to_owned(),
        DeliveryState::Exhausted => {
            format!("All {ATTEMPTS} attempts failed. It is not tried again until you replay it.")
        }
        DeliveryState::Held => "The endpoint is paused. It goes out when the endpoint is resumed.".to_owned(),
    }
}

/// Sends it again.
pub(crate) struct Replay;

impl Page for Replay {
    fn operation(_: &Request) -> &'static str {
        "replay_delivery"
    }

    async fn answer(request: &mut Request) -> Result<Answer, Error> {
        let submitted = request.submitted_form()?.require_admin()?;
        let endpoint = find(request).await?.endpoint.id();
        let event: EventId = request.path_id("event")?;
        submitted.run(|| deliveries::replay(submitted.scope(), submitted.submitter(), endpoint, event)).await?;
        Ok(Answer::see_other(delivery_link(endpoint, event)))
    }
}
