//! Endpoints: the addresses to which an organization's events are delivered (specification, "Events"). Members who are
//! admins set them up in the app; every function that changes one takes an [`Admin`].
//!
//! Decision: a test event is sent even while the endpoint is paused, because that is when people want to try it.

use std::collections::BTreeSet;

use serde::{Deserialize, Deserializer, Serialize};

use super::actor::Actor;
use super::endpoint_url::EndpointUrl;
use super::event::EventType;
use super::ids::{EndpointId, OrgId};
use super::member::Admin;
use super::time::Timestamp;
use crate::crypto::keyring::{Keyring, SealError, Sealed};
use crate::crypto::signing_secret::SigningSecret;
use crate::limits;

/// An endpoint as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    id: EndpointId,
    url: EndpointUrl,
    events: Subscription,
    secret: Sealed,
    /// The secret before, while it still signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<Previous>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paused_at: Option<Timestamp>,
    created_by: Actor,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// A replaced secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Previous {
    secret: Sealed,
    until: Timestamp,
}

/// The events that an endpoint subscribes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subscription {
    /// All events, including types that are added later.
    #[default]
    All,
    /// Events of these types. A type that this version does not know is skipped.
    Only(#[serde(deserialize_with = "known_types")] BTreeSet<EventType>),
}

fn known_types<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<EventType>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    Ok(names.iter().filter_map(|name| EventType::parse(name)).collect())
}

impl Subscription {
    /// Whether it includes a type.
    #[must_use]
    pub fn has(&self, event_type: EventType) -> bool {
        match self {
            Self::All => true,
            Self::Only(types) => types.contains(&event_type),
        }
    }
}

/// How a replaced secret is retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// It stops signing.
    AtOnce,
    /// It signs along with the new one for 24 hours.
    Overlapping,
}

impl Endpoint {
    /// A new endpoint with a secret, which is shown once.
    ///
    /// # Errors
    /// When the secret can't be sealed.
    pub fn new(
        by: Admin<'_>,
        url: EndpointUrl,
        events: Subscription,
        secret: &SigningSecret,
        keys: &Keyring,
        now: Timestamp,
    ) -> Result<Self, SealError> {
        let id = EndpointId::new();
        let secret = keys.seal(&secret.expose(), &place(by.member().org(), id))?;
        Ok(Self {
            id,
            url,
            events,
            secret,
            previous: None,
            paused_at: None,
            created_by: by.member().actor(),
            created_at: now,
            updated_at: now,
        })
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> EndpointId {
        self.id
    }

    /// The address of deliveries.
    #[must_use]
    pub fn url(&self) -> &EndpointUrl {
        &self.url
    }

    /// The events that it subscribes to.
    #[must_use]
    pub fn events(&self) -> &Subscription {
        &self.events
    }

    /// When it was paused, if it is.
    #[must_use]
    pub fn paused_at(&self) -> Option<Timestamp> {
        self.paused_at
    }

    /// Who added it.
    #[must_use]
    pub fn created_by(&self) -> &Actor {
        &self.created_by
    }

    /// When it was added.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When it was last changed.
    #[must_use]
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The end of the overlap in which the secret before signs too, if it does at a moment.
    #[must_use]
    pub fn overlaps_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.previous.as_ref().map(|previous| previous.until).filter(|until| now < *until)
    }

    /// Whether an event is for this endpoint: it subscribes to the type, and existed when the event happened. An event
    /// has the time at which its call began, and may have been committed as much later as a call can take.
    #[must_use]
    pub fn wants(&self, event_type: EventType, happened_at: Timestamp) -> bool {
        let call_s = i64::try_from(limits::CALL_DEADLINE.as_secs()).unwrap_or_default();
        self.events.has(event_type) && self.created_at <= happened_at.plus_seconds(call_s)
    }

    /// Whether a delivery of this type may be sent now. A test may, even while the endpoint is paused.
    #[must_use]
    pub fn may_send(&self, event_type: EventType) -> bool {
        self.paused_at.is_none() || event_type == EventType::WebhookTest
    }

    /// The secrets that sign at a moment, the current one first.
    ///
    /// # Errors
    /// When one can't be opened.
    pub fn secrets(&self, org: OrgId, keys: &Keyring, now: Timestamp) -> Result<Vec<SigningSecret>, SealError> {
        let place = place(org, self.id);
        let previous = self.previous.as_ref().filter(|previous| now < previous.until).map(|previous| &previous.secret);
        let open = |sealed| SigningSecret::parse(&keys.open(sealed, &place)?).map_err(|_| SealError::Broken);
        [&self.secret].into_iter().chain(previous).map(open).collect()
    }

    /// The endpoint with another URL or another subscription.
    #[must_use]
    pub fn edited(&self, _by: Admin<'_>, url: EndpointUrl, events: Subscription, now: Timestamp) -> Self {
        Self { url, events, updated_at: now.max(self.updated_at), ..self.clone() }
    }

    /// The endpoint, paused, so that its deliveries are held. None when it is paused already.
    #[must_use]
    pub fn paused(&self, _by: Admin<'_>, now: Timestamp) -> Option<Self> {
        let is_paused = self.paused_at.is_some();
        (!is_paused).then(|| Self { paused_at: Some(now), updated_at: now.max(self.updated_at), ..self.clone() })
    }

    /// The endpoint, resumed. None when it is not paused.
    #[must_use]
    pub fn resumed(&self, _by: Admin<'_>, now: Timestamp) -> Option<Self> {
        self.paused_at?;
        Some(Self { paused_at: None, updated_at: now.max(self.updated_at), ..self.clone() })
    }

    /// The endpoint with a new secret, which is shown once.
    ///
    /// # Errors
    /// When the secret can't be sealed.
    pub fn rotated(
        &self,
        by: Admin<'_>,
        how: Rotation,
        secret: &SigningSecret,
        keys: &Keyring,
        now: Timestamp,
    ) -> Result<Self, SealError> {
        let secret = keys.seal(&secret.expose(), &place(by.member().org(), self.id))?;
        let previous = match how {
            Rotation::AtOnce => None,
            Rotation::Overlapping => {
                Some(Previous { secret: self.secret.clone(), until: now.plus_seconds(limits::SECRET_OVERLAP_S) })
            }
        };
        Ok(Self { secret, previous, updated_at: now.max(self.updated_at), ..self.clone() })
    }
}

/// The place that a secret is sealed for: it opens for this endpoint only.
fn place(org: OrgId, endpoint: EndpointId) -> String {
    format!("signing secret of {endpoint} of {org}")
}

/// The recent successes and failures of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// When a delivery last arrived.
    #[serde(default)]
    pub last_success_at: Option<Timestamp>,
    /// When an attempt last failed.
    #[serde(default)]
    pub last_failure_at: Option<Timestamp>,
    /// Attempts that have failed since one arrived.
    #[serde(default)]
    pub failures_in_a_row: u32,
}
