//! Endpoints: where events are delivered (specification, "Events"). Only an [`Admin`] sets one up or changes it.
//!
//! - Decision: tests are sent even while the endpoint is paused, because that is when people want to try it.
//! - Decision: replaced secrets sign until their promised end, so a rotation too many is refused, unless it ends them.

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

/// An endpoint as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    id: EndpointId,
    url: EndpointUrl,
    events: Subscription,
    secret: Sealed,
    /// The replaced secrets, latest first. Some may have ended since the record was written.
    #[serde(default, rename = "previous_secrets", skip_serializing_if = "Vec::is_empty")]
    previous: Vec<Previous>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paused_at: Option<Timestamp>,
    /// When its organization was suspended, if it is: a copy of the organization's own value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suspended_at: Option<Timestamp>,
    created_by: Actor,
    created_at: Timestamp,
    updated_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Previous {
    secret: Sealed,
    until: Timestamp,
}

/// The events that an endpoint subscribes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subscription {
    /// All events, including types added later.
    #[default]
    All,
    /// Events of these types. Unknown types are skipped.
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

/// The endpoint already has the maximum number of replaced secrets that still sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManySecrets {
    /// When the first of them ends.
    pub first_end: Timestamp,
}

/// How a secret is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// It and all earlier secrets stop signing.
    AtOnce,
    /// It also signs for 24 hours.
    Overlapping,
}

impl Endpoint {
    /// A new endpoint with a secret, which is shown once.
    pub fn new(
        by: Admin<'_>,
        id: EndpointId,
        url: EndpointUrl,
        events: Subscription,
        secret: &SigningSecret,
        keys: &Keyring,
        now: Timestamp,
    ) -> Result<Self, SealError> {
        let secret = keys.seal(&secret.expose(), &place(by.member().org(), id))?;
        Ok(Self {
            id,
            url,
            events,
            secret,
            previous: Vec::new(),
            paused_at: None,
            suspended_at: None,
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

    fn previous(&self, now: Timestamp) -> impl Iterator<Item = &Previous> {
        self.previous.iter().filter(move |previous| now < previous.until)
    }

    /// When each replaced secret that still signs ends, latest secret first.
    pub fn previous_ends(&self, now: Timestamp) -> impl Iterator<Item = Timestamp> {
        self.previous(now).map(|previous| previous.until)
    }

    /// Whether a subscribed endpoint existed when the event's call began; the commit may come a deadline later.
    #[must_use]
    pub fn wants(&self, event_type: EventType, happened_at: Timestamp) -> bool {
        let call_s = i64::try_from(limits::CALL_DEADLINE.as_secs()).unwrap_or_default();
        self.events.has(event_type) && self.created_at <= happened_at.plus_seconds(call_s)
    }

    /// Whether a delivery may be sent now: tests even while paused, nothing while the organization is suspended.
    #[must_use]
    pub fn may_send(&self, event_type: EventType) -> bool {
        self.suspended_at.is_none() && (self.paused_at.is_none() || event_type == EventType::WebhookTest)
    }

    /// Whether deliveries are held: the endpoint is paused or its organization suspended.
    #[must_use]
    pub fn holds_deliveries(&self) -> bool {
        self.paused_at.is_some() || self.suspended_at.is_some()
    }

    /// When its organization was suspended, if it is.
    #[must_use]
    pub fn suspended_at(&self) -> Option<Timestamp> {
        self.suspended_at
    }

    /// None if nothing changes.
    #[must_use]
    pub(crate) fn with_suspension(&self, suspended_at: Option<Timestamp>) -> Option<Self> {
        (self.suspended_at != suspended_at).then(|| Self { suspended_at, ..self.clone() })
    }

    /// The secrets that sign at a moment, current one first.
    pub fn secrets(&self, org: OrgId, keys: &Keyring, now: Timestamp) -> Result<Vec<SigningSecret>, SealError> {
        let place = place(org, self.id);
        let previous = self.previous(now).map(|previous| &previous.secret);
        let open = |sealed| SigningSecret::parse(&keys.open(sealed, &place)?).map_err(|_| SealError::Broken);
        [&self.secret].into_iter().chain(previous).map(open).collect()
    }

    /// The endpoint with all secrets sealed with the current key, or none if they already are.
    pub(crate) fn resealed(&self, org: OrgId, keys: &Keyring) -> Result<Option<Self>, SealError> {
        let (place, mut after) = (place(org, self.id), self.clone());
        let previous = after.previous.iter_mut().map(|previous| &mut previous.secret);
        let mut is_changed = false;
        for secret in std::iter::once(&mut after.secret).chain(previous) {
            if let Some(anew) = keys.reseal(secret, &place)? {
                *secret = anew;
                is_changed = true;
            }
        }
        Ok(is_changed.then_some(after))
    }

    /// The endpoint with another URL or subscription.
    #[must_use]
    pub fn edited(&self, _by: Admin<'_>, url: EndpointUrl, events: Subscription, now: Timestamp) -> Self {
        Self { url, events, updated_at: now.max(self.updated_at), ..self.clone() }
    }

    /// The endpoint, paused, so that deliveries are held. None if it is already paused.
    #[must_use]
    pub fn paused(&self, _by: Admin<'_>, now: Timestamp) -> Option<Self> {
        let is_paused = self.paused_at.is_some();
        (!is_paused).then(|| Self { paused_at: Some(now), updated_at: now.max(self.updated_at), ..self.clone() })
    }

    /// The endpoint, resumed. None if it is not paused.
    #[must_use]
    pub fn resumed(&self, _by: Admin<'_>, now: Timestamp) -> Option<Self> {
        self.paused_at?;
        Some(Self { paused_at: None, updated_at: now.max(self.updated_at), ..self.clone() })
    }

    /// The endpoint with a new secret, shown once. Refused if too many replaced secrets would still sign.
    pub fn rotated(
        &self,
        by: Admin<'_>,
        how: Rotation,
        secret: &SigningSecret,
        keys: &Keyring,
        now: Timestamp,
    ) -> Result<Result<Self, TooManySecrets>, SealError> {
        let previous = match how {
            Rotation::AtOnce => Vec::new(),
            Rotation::Overlapping => {
                let until = now.plus_seconds(limits::SECRET_OVERLAP_S);
                let replaced = Previous { secret: self.secret.clone(), until };
                std::iter::once(replaced).chain(self.previous(now).cloned()).collect()
            }
        };
        if previous.len() > limits::PREVIOUS_SECRETS_MAX {
            let first_end = self.previous_ends(now).min().unwrap_or(now);
            return Ok(Err(TooManySecrets { first_end }));
        }
        let secret = keys.seal(&secret.expose(), &place(by.member().org(), self.id))?;
        let updated_at = now.max(self.updated_at);
        Ok(Ok(Self { secret, previous, updated_at, ..self.clone() }))
    }
}

/// What a secret is sealed for: it opens for this endpoint only.
fn place(org: OrgId, endpoint: EndpointId) -> String {
    format!("signing secret of {endpoint} of {org}")
}

/// The recent successes and failures of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// When a delivery last succeeded.
    #[serde(default)]
    pub last_success_at: Option<Timestamp>,
    /// When an attempt last failed.
    #[serde(default)]
    pub last_failure_at: Option<Timestamp>,
    /// Failed attempts since the last success.
    #[serde(default)]
    pub failures_in_a_row: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::contact::{DisplayName, Email};
    use crate::domain::ids::MemberId;
    use crate::domain::member::Member;
    use crate::domain::organization::{MemberRecord, Role};

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_unix_ms(1_800_000_000_000).unwrap().plus_seconds(hours * 3600)
    }

    fn admin() -> Member {
        let record = MemberRecord {
            id: MemberId::new(),
            name: DisplayName::parse("Ines Duarte").unwrap(),
            email: Email::parse("ines@example.org").unwrap(),
            role: Role::Admin,
            created_at: at(0),
        };
        Member::of_session(OrgId::new(), &record)
    }

    struct Rotated {
        admin: Member,
        keys: Keyring,
        endpoint: Endpoint,
        secrets: Vec<SigningSecret>,
    }

    impl Rotated {
        fn new() -> Self {
            let (admin, keys, secret) = (admin(), Keyring::new("a").unwrap(), SigningSecret::generate().unwrap());
            let url = EndpointUrl::try_from("https://hooks.example.com/".to_owned()).unwrap();
            let by = admin.as_admin().unwrap();
            let endpoint = Endpoint::new(by, EndpointId::new(), url, Subscription::All, &secret, &keys, at(0)).unwrap();
            Self { admin, keys, endpoint, secrets: vec![secret] }
        }

        fn rotate(&mut self, how: Rotation, now: Timestamp) -> Result<(), TooManySecrets> {
            let (by, secret) = (self.admin.as_admin().unwrap(), SigningSecret::generate().unwrap());
            self.endpoint = self.endpoint.rotated(by, how, &secret, &self.keys, now).unwrap()?;
            self.secrets.push(secret);
            Ok(())
        }

        fn signing(&self, now: Timestamp) -> Vec<usize> {
            let signing = self.endpoint.secrets(self.admin.org(), &self.keys, now).unwrap();
            let number = |secret| self.secrets.iter().position(|known| known == secret).unwrap();
            signing.iter().map(number).collect()
        }
    }

    #[test]
    fn each_replaced_secret_signs_until_its_own_end() {
        let mut rotated = Rotated::new();
        rotated.rotate(Rotation::Overlapping, at(1)).unwrap();
        rotated.rotate(Rotation::Overlapping, at(3)).unwrap();
        rotated.rotate(Rotation::Overlapping, at(20)).unwrap();
        for (hour, signing) in [
            (20, &[3, 2, 1, 0][..]),
            (24, &[3, 2, 1, 0]),
            (25, &[3, 2, 1]),
            (26, &[3, 2, 1]),
            (27, &[3, 2]),
            (43, &[3, 2]),
            (44, &[3]),
        ] {
            assert_eq!(rotated.signing(at(hour)), signing, "after {hour} h");
        }
        assert!(rotated.endpoint.previous_ends(at(20)).eq([at(44), at(27), at(25)]));
        rotated.rotate(Rotation::Overlapping, at(26)).unwrap();
        assert_eq!(rotated.endpoint.previous.len(), 3);
        assert_eq!(rotated.signing(at(26)), [4, 3, 2, 1]);
        rotated.rotate(Rotation::AtOnce, at(26)).unwrap();
        assert_eq!(rotated.signing(at(26)), [5]);
    }

    #[test]
    fn a_rotation_that_would_end_a_secret_early_is_refused() {
        let mut rotated = Rotated::new();
        for _ in 0..limits::PREVIOUS_SECRETS_MAX {
            rotated.rotate(Rotation::Overlapping, at(1)).unwrap();
        }
        let before = rotated.endpoint.clone();
        assert_eq!(rotated.rotate(Rotation::Overlapping, at(24)), Err(TooManySecrets { first_end: at(25) }));
        assert_eq!(rotated.endpoint, before);
        assert_eq!(rotated.signing(at(24)).len(), 1 + limits::PREVIOUS_SECRETS_MAX);
        rotated.rotate(Rotation::Overlapping, at(25)).unwrap();
        assert_eq!(rotated.endpoint.previous.len(), 1);
        rotated.rotate(Rotation::AtOnce, at(25)).unwrap();
        assert_eq!(rotated.endpoint.previous, []);
    }
}
