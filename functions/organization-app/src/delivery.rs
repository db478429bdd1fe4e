//! The page of a delivery: attempts, event body, and replay.

use askama::Template;
use pages::done::{notice_of_act, redirect_with_notice};
use pages::labels::{Badge, DisplayTime, delivery_badge};
use pages::layout::{Layout, Link, Notice};
use pages::response::PageResponse;
use pages::urls::endpoint_url;
use shared::domain::delivery::{Attempt, Delivery, DeliveryState, Outcome};
use shared::domain::ids::{EndpointId, EventId};
use shared::error::Error;
use shared::limits;
use shared::service::deliveries::{self, DeliveryReview};
use shared::service::endpoints::EndpointState;
use shared::web::Request;

use crate::attempts::failure;
use crate::endpoint::{NewSecret, delivery_url, load_endpoint, new_secret};

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
    notice: Option<Notice>,
    due_at: Option<DisplayTime>,
    /// The attempts, latest first, grouped by schedule: the first one, and one per replay.
    rounds: Vec<Round>,
    omitted_attempts: u32,
    body: String,
    can_replay: bool,
    is_delivered: bool,
}

struct Round {
    title: Option<String>,
    attempts: Vec<AttemptRow>,
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
    is_latest: bool,
}

impl AttemptRow {
    fn new(attempt: &Attempt, is_latest: bool) -> Self {
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
            at: DisplayTime::with_seconds(attempt.at),
            badge,
            result,
            failure_class,
            duration_ms: attempt.duration_ms,
            dialled: attempt.dialled.map(|address| address.to_string()),
            excerpt: attempt.excerpt.clone(),
            is_latest,
        }
    }
}

fn rounds(delivery: &Delivery) -> Vec<Round> {
    let latest = delivery.attempts.last().map(|attempt| attempt.number);
    let rounds = delivery.attempts.chunk_by(|one, next| one.replays == next.replays).rev();
    rounds
        .map(|attempts| Round {
            title: attempts.first().filter(|_| delivery.replays > 0).map(|first| match first.replays {
                0 => "First schedule".to_owned(),
                1 if delivery.replays == 1 => "After the replay".to_owned(),
                replays => format!("After replay {replays}"),
            }),
            attempts: attempts
                .iter()
                .rev()
                .map(|attempt| AttemptRow::new(attempt, Some(attempt.number) == latest))
                .collect(),
        })
        .collect()
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    request.check_admin()?;
    let (endpoint, event): (EndpointId, EventId) = (request.path_id("id")?, request.path_id("event")?);
    let review = deliveries::review(request.signed_in()?.scope(), endpoint, event).await?;
    let new_secret = new_secret(request, endpoint).await?;
    let (notice, cookie) = notice_of_act(request).await;
    let page = delivery_page(request, review, new_secret, notice);
    Ok(PageResponse::render(&page)?.showing([endpoint.uuid(), event.uuid()]).with_cookie(cookie))
}

fn delivery_page(
    request: &Request,
    review: DeliveryReview,
    new_secret: Option<NewSecret>,
    notice: Option<Notice>,
) -> DeliveryPage {
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
        created_at: DisplayTime::with_seconds(event.created_at),
        notice,
        badge: delivery_badge(delivery.state()),
        explanation: if is_quarantined { QUARANTINED_EXPLANATION.to_owned() } else { explanation(&delivery) },
        due_at: delivery.due_at().filter(|_| delivery.state() == DeliveryState::Waiting).map(DisplayTime::with_seconds),
        rounds: rounds(&delivery),
        omitted_attempts: delivery.attempted.saturating_sub(stored),
        body: event.body,
        can_replay: is_quarantined || delivery.state() != DeliveryState::Queued,
        is_delivered: delivery.state() == DeliveryState::Delivered,
    }
}

const QUARANTINED_EXPLANATION: &str =
    "We could not process it. That is our fault. Nothing is lost: replay it once it’s fixed.";

const ATTEMPTS: usize = 1 + limits::RETRY_WAITS_S.len();

fn explanation(delivery: &Delivery) -> String {
    let since = if delivery.replays == 0 { "" } else { " since the last replay" };
    match delivery.state() {
        DeliveryState::Queued => "It is on its way. Reload the page to see how it went.".to_owned(),
        DeliveryState::Waiting => {
            format!("{} of {ATTEMPTS} attempts{since} failed. We’ll retry automatically.", delivery.failures)
        }
        DeliveryState::Delivered => "The endpoint has acknowledged it.".to_owned(),
        DeliveryState::Exhausted => {
            format!("All {ATTEMPTS} attempts{since} failed. We won’t retry until you replay it.")
        }
        DeliveryState::Held => "The endpoint is paused. It goes out when the endpoint is resumed.".to_owned(),
    }
}

pub(crate) async fn replay(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let endpoint = load_endpoint(request).await?.endpoint.id();
    let event: EventId = request.path_id("event")?;
    let line = "It is being sent. If an attempt fails, we’ll retry on the same schedule.";
    let redirect = redirect_with_notice(&submitted, delivery_url(endpoint, event), "Replay started", line).await;
    submitted.run(|| deliveries::replay(submitted.scope(), submitted.submitter(), endpoint, event)).await?;
    Ok(redirect.into())
}
