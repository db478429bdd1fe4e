//! The page of a delivery: its attempts, the event's body, and the replay.

use askama::Template;
use shared::domain::delivery::{Attempt, Delivery, DeliveryState, FailureClass, Outcome};
use shared::domain::ids::{EndpointId, EventId};
use shared::error::Error;
use shared::limits;
use shared::service::deliveries::{self, DeliveryReview};
use shared::service::endpoints::EndpointState;
use shared::web::Request;

use crate::Handler;
use crate::developers::endpoint_url;
use crate::endpoint::{NewSecret, delivery_url, load_endpoint, new_secret};
use crate::labels::{Badge, DisplayTime, delivery_badge};
use crate::layout::{Layout, Link};
use crate::response::PageResponse;

#[derive(Template)]
#[template(path = "delivery.html")]
struct DeliveryPage {
    layout: Layout,
    path: String,
    endpoint: Link,
    new_secret: Option<NewSecret>,
    event_type: &'static str,
    event_id: String,
    created_at: DisplayTime,
    badge: Badge,
    explanation: String,
    due_at: Option<DisplayTime>,
    attempts: Vec<AttemptRow>,
    /// The number of earlier attempts that are no longer stored.
    omitted_attempts: u32,
    body: String,
    can_replay: bool,
    is_delivered: bool,
}

struct AttemptRow {
    number: u32,
    at: DisplayTime,
    badge: Badge,
    result: String,
    failure_class: Option<&'static str>,
    duration_ms: u64,
    dialled: Option<String>,
    excerpt: Option<String>,
}

impl AttemptRow {
    fn new(attempt: &Attempt) -> Self {
        let (badge, result, failure_class) = match attempt.outcome {
            Outcome::Delivered { status } => {
                (Badge { text: "Delivered", class: "green" }, format!("the server answered {status}"), None)
            }
            Outcome::Failed { class, status } => {
                (Badge { text: "Failed", class: "red" }, failure(class, status), Some(class.as_str()))
            }
        };
        Self {
            number: attempt.number,
            at: attempt.at.into(),
            badge,
            result,
            failure_class,
            duration_ms: attempt.duration_ms,
            dialled: attempt.dialled.map(|address| address.to_string()),
            excerpt: attempt.excerpt.clone(),
        }
    }
}

/// Shows the page.
pub(crate) struct Show;

impl Handler for Show {
    fn operation(_: &Request) -> &'static str {
        "view_delivery"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        request.check_admin()?;
        let (endpoint, event): (EndpointId, EventId) = (request.path_id("id")?, request.path_id("event")?);
        let review = deliveries::review(request.signed_in()?.scope(), endpoint, event).await?;
        let new_secret = new_secret(request, endpoint).await?;
        let page = delivery_page(request, review, new_secret);
        Ok(PageResponse::render(&page)?.showing([endpoint.uuid(), event.uuid()]))
    }
}

fn delivery_page(request: &Request, review: DeliveryReview, new_secret: Option<NewSecret>) -> DeliveryPage {
    let is_quarantined = review.is_quarantined();
    let DeliveryReview { endpoint: EndpointState { endpoint, .. }, delivery, event } = review;
    let stored = u32::try_from(delivery.attempts.len()).unwrap_or(u32::MAX);
    DeliveryPage {
        layout: Layout::new(request),
        path: delivery_url(endpoint.id(), event.id),
        endpoint: Link { url: endpoint_url(endpoint.id()), text: endpoint.url().as_str().to_owned() },
        new_secret,
        event_type: event.event_type.as_str(),
        event_id: event.id.to_string(),
        created_at: event.created_at.into(),
        badge: delivery_badge(delivery.state()),
        explanation: if is_quarantined { QUARANTINED_EXPLANATION.to_owned() } else { explanation(&delivery) },
        due_at: delivery.due_at().filter(|_| delivery.state() == DeliveryState::Waiting).map(Into::into),
        attempts: delivery.attempts.iter().rev().map(AttemptRow::new).collect(),
        omitted_attempts: delivery.attempted.saturating_sub(stored),
        body: event.body,
        can_replay: is_quarantined || delivery.state() != DeliveryState::Queued,
        is_delivered: delivery.state() == DeliveryState::Delivered,
    }
}

/// How an attempt failed, as the rest of a sentence that begins with its number.
fn failure(class: FailureClass, status: Option<u16>) -> String {
    let description = match class {
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
        (_, Some(status)) => format!("{description} ({status})"),
        (_, None) => description.to_owned(),
    }
}

/// The explanation of a quarantined delivery.
const QUARANTINED_EXPLANATION: &str =
    "It could not be processed. That is our fault. Nothing is lost: replay it once it is mended.";

/// The number of attempts in the schedule: the first, and one after each wait.
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

/// Replays the delivery.
pub(crate) struct Replay;

impl Handler for Replay {
    fn operation(_: &Request) -> &'static str {
        "replay_delivery"
    }

    async fn handle(request: &mut Request) -> Result<PageResponse, Error> {
        let submitted = request.submitted_form()?.require_admin()?;
        let endpoint = load_endpoint(request).await?.endpoint.id();
        let event: EventId = request.path_id("event")?;
        submitted.run(|| deliveries::replay(submitted.scope(), submitted.submitter(), endpoint, event)).await?;
        Ok(PageResponse::see_other(delivery_url(endpoint, event)))
    }
}
