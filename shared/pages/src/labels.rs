//! Texts and badges for states, actors and actions.

use askama::Template;
use askama::filters::HtmlSafe;
use shared::domain::actor::{Actor, ActorType};
use shared::domain::agreement::{Agreement, Lifecycle, StageState};
use shared::domain::contact::{Contact, ContactKind};
use shared::domain::delivery::DeliveryState;
use shared::domain::endpoint::Subscription;
use shared::domain::funding::{FundingItem, FundingStatus, Phase};
use shared::domain::ids::ContactId;
use shared::domain::movement::state::MovementState;
use shared::domain::movement::{Movement, Risk};
use shared::domain::obligation::{Obligation, ObligationState};
use shared::domain::organization::Role;
use shared::domain::proposal::{ProposalAction, ProposalState};
use shared::domain::time::Timestamp;
use shared::domain::time_zone::TimeZone;
use shared::domain::token::{Scope, Token};
use shared::domain::workspace::Workspace;
use shared::service::endpoints::EndpointState;
use shared::text::movements::{movement_state, risk};
use shared::text::reader;
use shared::text::{self, funding_words};

/// A state in a word, and its color.
pub struct Badge<T = &'static str> {
    /// The text.
    pub text: T,
    /// The CSS class of its color.
    pub class: &'static str,
}

impl From<Badge> for Badge<String> {
    fn from(Badge { text, class }: Badge) -> Self {
        Self { text: text.to_owned(), class }
    }
}

/// A time in a page, in the organization's zone: in a template, `{{ at }}` renders its element. Its title has the time
/// in UTC, until the script puts the reader's own there.
#[derive(Template)]
#[template(path = "time.html")]
pub struct DisplayTime {
    /// The value of a `datetime` attribute.
    pub datetime: String,
    /// The text.
    pub text: String,
    /// The time in UTC, if the text has another zone, or all of a short one.
    title: Option<String>,
    /// Whether no more than the hour is known, which the script then leaves as it is.
    is_hour: bool,
    /// Whether it is only the day, or the time today.
    is_short: bool,
}

// Its template escapes its content.
impl HtmlSafe for DisplayTime {}

impl DisplayTime {
    fn new(time: Timestamp, write: impl Fn(&TimeZone) -> String) -> Self {
        let (zone, utc) = (reader::zone(), TimeZone::default());
        let title = (zone != utc).then(|| write(&utc));
        Self { datetime: time.to_string(), text: write(&zone), title, is_hour: false, is_short: false }
    }

    /// Short, on a page that names the zone: its day, or its time today.
    #[must_use]
    pub fn short(time: Timestamp, now: Timestamp) -> Self {
        let zone = reader::zone();
        let title = Some(zone.for_people(time));
        Self { text: zone.briefly(time, now), title, is_short: true, ..Self::from(time) }
    }

    /// Exact to the second, where a minute can't tell rows apart.
    #[must_use]
    pub fn with_seconds(time: Timestamp) -> Self {
        Self::new(time, |zone| zone.for_people_to_the_second(time))
    }

    /// The hour that begins at `time`, where no more is known.
    #[must_use]
    pub fn hour_of(time: Timestamp) -> Self {
        Self { is_hour: true, ..Self::new(time, |zone| zone.hour_for_people(time)) }
    }
}

impl From<Timestamp> for DisplayTime {
    fn from(time: Timestamp) -> Self {
        Self::new(time, |zone| zone.for_people(time))
    }
}

/// A URL that breaks between its parts, not within a word.
#[derive(Template)]
#[template(path = "address.html")]
pub struct DisplayUrl<'a> {
    url: &'a str,
}

impl HtmlSafe for DisplayUrl<'_> {}

impl<'a> DisplayUrl<'a> {
    /// Wraps a URL for display.
    #[must_use]
    pub fn new(url: &'a str) -> Self {
        Self { url }
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        self.url.split_inclusive(['/', '.', '?', '&', '='])
    }
}

/// Formats a number with thousands separators.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A contact's kind in words.
#[must_use]
pub fn contact_kind_label(kind: ContactKind) -> &'static str {
    match kind {
        ContactKind::Person => "Person",
        ContactKind::Household => "Household",
        ContactKind::Trust => "Trust",
        ContactKind::Llc => "LLC",
        ContactKind::Corporation => "Corporation",
        ContactKind::Partnership => "Partnership",
        ContactKind::Nonprofit => "Nonprofit",
        ContactKind::Other => "Other",
    }
}

/// The state of an agreement.
#[must_use]
pub fn lifecycle_badge(lifecycle: Lifecycle) -> Badge {
    match lifecycle {
        Lifecycle::Draft => Badge { text: "Draft", class: "quiet" },
        Lifecycle::Active => Badge { text: "Active", class: "blue" },
        Lifecycle::Completed => Badge { text: "Completed", class: "green" },
        Lifecycle::Cancelled => Badge { text: "Cancelled", class: "red" },
        Lifecycle::Expired => Badge { text: "Expired", class: "red" },
    }
}

/// The state of an agreement, with the current step of an active one.
#[must_use]
pub fn agreement_badge(agreement: &Agreement, is_ready: bool) -> Badge<String> {
    let Badge { text, class } = lifecycle_badge(agreement.lifecycle());
    let current = agreement.stages.iter().enumerate().find(|(_, stage)| stage.state == StageState::Current);
    let text = match (agreement.lifecycle(), current) {
        (Lifecycle::Active, Some((index, stage))) => {
            format!("Step {} of {}: {}", index + 1, agreement.stages.len(), stage.name.as_str())
        }
        (Lifecycle::Draft, _) if is_ready => format!("{text}, ready to publish"),
        _ => text.to_owned(),
    };
    Badge { text, class }
}

/// The state of a workspace.
#[must_use]
pub fn workspace_badge(workspace: &Workspace) -> Badge {
    match workspace.activated_at() {
        Some(_) => Badge { text: "Activated", class: "green" },
        None => Badge { text: "Not activated", class: "quiet" },
    }
}

/// The state of a proposal.
#[must_use]
pub fn proposal_badge(state: ProposalState) -> Badge {
    match state {
        ProposalState::Pending => Badge { text: "Needs your decision", class: "amber" },
        ProposalState::Confirmed => Badge { text: "Confirmed", class: "green" },
        ProposalState::Declined => Badge { text: "Declined", class: "red" },
        ProposalState::Expired => Badge { text: "Expired", class: "quiet" },
    }
}

/// The state of a payment for everyone. Only a proven arrival is green, never a claim.
#[must_use]
pub fn movement_badge(state: MovementState) -> Badge {
    let class = match state {
        MovementState::Draft | MovementState::Cancelled => "quiet",
        MovementState::Authorized | MovementState::InstructionsReady | MovementState::Processing => "blue",
        MovementState::SenderReported | MovementState::ReceiptPending => "amber",
        MovementState::Reconciled => "green",
        MovementState::Exception | MovementState::Returned => "red",
    };
    Badge { text: movement_state(state), class }
}

/// The state of a payment for members: what puts its money at risk comes first.
#[must_use]
pub fn payment_badge(payment: &Movement) -> Badge {
    risk_badge(payment.risk()).unwrap_or_else(|| movement_badge(payment.state()))
}

/// The badge of what puts a payment's money at risk.
#[must_use]
pub fn risk_badge(found: Option<Risk>) -> Option<Badge> {
    found.map(|found| Badge { text: risk(found), class: "red" })
}

/// The state of a delivery.
#[must_use]
pub fn delivery_badge(state: DeliveryState) -> Badge {
    match state {
        DeliveryState::Queued => Badge { text: "Queued", class: "blue" },
        DeliveryState::Waiting => Badge { text: "Retrying", class: "amber" },
        DeliveryState::Delivered => Badge { text: "Delivered", class: "green" },
        DeliveryState::Exhausted => Badge { text: "Exhausted", class: "red" },
        DeliveryState::Held => Badge { text: "Held", class: "quiet" },
    }
}

/// The state of an endpoint.
#[must_use]
pub fn endpoint_badge(state: &EndpointState) -> Badge {
    if state.endpoint.paused_at().is_some() {
        Badge { text: "Paused", class: "amber" }
    } else if state.is_failing() {
        Badge { text: "Failing", class: "red" }
    } else if state.health.last_success_at.is_some() {
        Badge { text: "Working", class: "green" }
    } else {
        Badge { text: "New", class: "quiet" }
    }
}

/// How many deliveries of an endpoint are quarantined.
#[must_use]
pub fn quarantined_deliveries(state: &EndpointState) -> String {
    let count = grouped(u64::try_from(state.quarantined.len()).unwrap_or(u64::MAX));
    match state.quarantined.len() {
        1 => "1 delivery".to_owned(),
        _ if state.has_more_quarantined => format!("{count} or more deliveries"),
        _ => format!("{count} deliveries"),
    }
}

/// A subscription's event types.
#[must_use]
pub fn subscription_label(events: &Subscription) -> String {
    match events {
        Subscription::All => "All events".to_owned(),
        Subscription::Only(types) => types.iter().map(|event_type| event_type.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// An actor's name. Marks a token's, which isn't a person's.
#[must_use]
pub fn actor_label(actor: &Actor) -> String {
    match actor.actor_type {
        ActorType::Member | ActorType::Participant | ActorType::System => actor.display_name.clone(),
        ActorType::Token => format!("{} (over the API)", actor.display_name),
    }
}

/// The verb for a proposal's action.
#[must_use]
pub fn action_verb(action: ProposalAction) -> &'static str {
    match action {
        ProposalAction::PublishAgreement => "Publish",
        ProposalAction::CancelAgreement => "Cancel",
    }
}

/// Only a proven item is green, never a claim.
#[must_use]
pub fn item_badge(item: &FundingItem) -> Badge {
    let class = match (item.funding_status(), item.phase()) {
        (FundingStatus::Funded, _) => "green",
        (FundingStatus::Unfunded, _) | (_, Phase::Unsorted | Phase::Gathering | Phase::Done) => "quiet",
        (_, Phase::Ready | Phase::Papered | Phase::InProgress) => "blue",
        (_, Phase::Claimed) => "amber",
    };
    Badge { text: funding_words::state(item), class }
}

/// An open obligation that is past due.
pub const OVERDUE: Badge = Badge { text: "Overdue", class: "red" };

/// A sentence about a state beside its badge, whose word it doesn’t repeat.
#[must_use]
pub fn beside(badge: &Badge, sentence: String) -> String {
    let rest = sentence.strip_prefix(badge.text).filter(|rest| rest.is_empty() || rest.starts_with(' '));
    let Some(rest) = rest.map(str::trim_start) else { return sentence };
    let mut letters = rest.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// What became of an obligation beside its badge.
#[must_use]
pub fn obligation_status(obligation: &Obligation, now: Timestamp) -> String {
    beside(&obligation_badge(obligation, now), text::obligation_state(obligation, now))
}

/// A claim is never green.
#[must_use]
pub fn obligation_badge(obligation: &Obligation, now: Timestamp) -> Badge {
    let is_overdue = obligation.next_due_at().is_some_and(|due| due < now);
    match obligation.state() {
        ObligationState::Open if is_overdue => OVERDUE,
        state => obligation_state_badge(state),
    }
}

/// The state of an obligation, without "overdue".
#[must_use]
pub fn obligation_state_badge(state: ObligationState) -> Badge {
    match state {
        ObligationState::Dormant => Badge { text: "Waiting for a trigger", class: "quiet" },
        ObligationState::Open => Badge { text: "Open", class: "blue" },
        ObligationState::Satisfied => Badge { text: "To be confirmed", class: "amber" },
        ObligationState::Confirmed => Badge { text: "Confirmed", class: "green" },
        ObligationState::Cancelled => Badge { text: "Cancelled", class: "quiet" },
    }
}

/// The name of a role.
#[must_use]
pub fn role_label(role: Role) -> &'static str {
    match role {
        Role::Admin => "Admin",
        Role::Member => "Member",
    }
}

/// The state of an access token.
#[must_use]
pub fn token_badge(token: &Token, now: Timestamp) -> Badge {
    if token.revoked_at.is_some() {
        Badge { text: "Revoked", class: "red" }
    } else if token.expires_at <= now {
        Badge { text: "Expired", class: "quiet" }
    } else if token.ends_soon(now) {
        Badge { text: "Expires soon", class: "amber" }
    } else {
        Badge { text: "Valid", class: "green" }
    }
}

/// The scope of an access token, in words.
#[must_use]
pub fn scope_label(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "Read only",
        Scope::ReadWrite => "Read and write",
    }
}

/// Why an agreement is no longer in the state that the proposal needs.
#[must_use]
pub fn too_late(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Draft | Lifecycle::Active => "The agreement has been published already.",
        Lifecycle::Completed => "The agreement is completed.",
        Lifecycle::Cancelled => "The agreement has been cancelled.",
        Lifecycle::Expired => "The agreement has expired.",
    }
}

/// Contacts' names, in the order of `ids`.
#[must_use]
pub fn names(ids: &[ContactId], people: &[Contact]) -> String {
    names_in(ids, people, ", ")
}

/// Like [`names`], with another separator.
#[must_use]
pub fn names_in(ids: &[ContactId], people: &[Contact], between: &str) -> String {
    let name = |id: &ContactId| people.iter().find(|contact| contact.id == *id);
    let names: Vec<&str> = ids.iter().filter_map(name).map(|contact| contact.display_name.as_str()).collect();
    names.join(between)
}
