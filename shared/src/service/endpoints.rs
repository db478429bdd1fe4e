//! Webhook endpoints, which admins manage.

use crate::crypto::keyring::Keyring;
use crate::crypto::signing_secret::SigningSecret;
use crate::domain::endpoint::{Endpoint, Rotation, Subscription, TooManySecrets};
use crate::domain::endpoint_url::EndpointUrl;
use crate::domain::event::{Event, EventKind, TestData};
use crate::domain::ids::EndpointId;
use crate::domain::member::Admin;
use crate::domain::time::Timestamp;
use crate::error::Error;
use crate::limits;
use crate::service::scope::{Plan, Scope};
use crate::store::Versioned;
use crate::store::endpoints::{self as stored, Replay};

pub use crate::store::endpoints::EndpointState;

/// The organization's endpoints with their health, oldest first.
pub async fn list(scope: &Scope) -> Result<Vec<EndpointState>, Error> {
    Ok(scope.store().endpoints().await?)
}

/// An endpoint with its health.
pub async fn get(scope: &Scope, id: EndpointId) -> Result<EndpointState, Error> {
    let all = list(scope).await?;
    all.into_iter().find(|state| state.endpoint.id() == id).ok_or_else(Error::not_found)
}

/// A new endpoint with its signing secret.
#[derive(Debug)]
pub struct NewEndpoint {
    endpoint: Endpoint,
    secret: SigningSecret,
}

impl NewEndpoint {
    /// Builds the endpoint, with the id from its form.
    pub fn new(
        scope: &Scope,
        admin: Admin<'_>,
        id: EndpointId,
        url: EndpointUrl,
        events: Subscription,
        secret: SigningSecret,
        keys: &Keyring,
    ) -> Result<Self, Error> {
        let endpoint = Endpoint::new(admin, id, url, events, &secret, keys, scope.now())?;
        Ok(Self { endpoint, secret })
    }

    /// The endpoint's id.
    #[must_use]
    pub fn id(&self) -> EndpointId {
        self.endpoint.id()
    }

    /// The signing secret, shown once.
    #[must_use]
    pub fn secret(&self) -> &SigningSecret {
        &self.secret
    }
}

/// No endpoint was added: the organization has [`limits::ENDPOINTS_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

/// Adds an endpoint.
pub async fn add(scope: &Scope, admin: Admin<'_>, new: &NewEndpoint) -> Result<Plan<Result<(), NoRoom>>, Error> {
    let endpoint = &new.endpoint;
    let all = list(scope).await?;
    if all.len() >= limits::ENDPOINTS_MAX {
        return Ok(Plan::new(scope, Err(NoRoom)));
    }
    let changes = stored::create(scope.call(), admin, endpoint)?;
    Ok(Plan::new(scope, Ok(())).change([changes]).showing([endpoint.id().uuid()]))
}

/// Changes the URL and the subscription of an endpoint.
pub async fn edit(
    scope: &Scope,
    admin: Admin<'_>,
    id: EndpointId,
    url: EndpointUrl,
    events: Subscription,
) -> Result<Plan<()>, Error> {
    let before = get(scope, id).await?.endpoint;
    let after = before.edited(admin, url, events, scope.now());
    replace(scope, admin, &before, Some(after))
}

/// Pauses an endpoint; nothing changes if it is already paused.
pub async fn pause(scope: &Scope, admin: Admin<'_>, id: EndpointId) -> Result<Plan<()>, Error> {
    let before = get(scope, id).await?.endpoint;
    replace(scope, admin, &before, before.paused(admin, scope.now()))
}

/// Resumes an endpoint; nothing changes if it is not paused.
pub async fn resume(scope: &Scope, admin: Admin<'_>, id: EndpointId) -> Result<Plan<()>, Error> {
    let before = get(scope, id).await?.endpoint;
    replace(scope, admin, &before, before.resumed(admin, scope.now()))
}

/// A new signing secret for an endpoint.
#[derive(Debug)]
pub struct NewSecret {
    secret: SigningSecret,
    how: Rotation,
}

impl NewSecret {
    /// The secret, and what becomes of the one it replaces.
    #[must_use]
    pub fn new(secret: SigningSecret, how: Rotation) -> Self {
        Self { secret, how }
    }

    /// The signing secret, shown once.
    #[must_use]
    pub fn secret(&self) -> &SigningSecret {
        &self.secret
    }
}

/// Gives an endpoint a new signing secret, unless too many replaced ones would still sign.
pub async fn rotate_secret(
    scope: &Scope,
    admin: Admin<'_>,
    id: EndpointId,
    new: &NewSecret,
    keys: &Keyring,
) -> Result<Plan<Result<(), TooManySecrets>>, Error> {
    let before = get(scope, id).await?.endpoint;
    match before.rotated(admin, new.how, &new.secret, keys, scope.now())? {
        Ok(after) => Ok(replace(scope, admin, &before, Some(after))?.with_output(Ok(()))),
        Err(reason) => Ok(Plan::new(scope, Err(reason))),
    }
}

fn replace(
    scope: &Scope,
    admin: Admin<'_>,
    before: &Versioned<Endpoint>,
    after: Option<Endpoint>,
) -> Result<Plan<()>, Error> {
    let plan = Plan::new(scope, ()).showing([before.id().uuid()]);
    let Some(after) = after else { return Ok(plan) };
    Ok(plan.change([stored::replace(scope.call(), admin, before, &after)?]))
}

/// Deletes an endpoint. Its deliveries are deleted afterwards.
pub async fn delete(scope: &Scope, admin: Admin<'_>, id: EndpointId) -> Result<Plan<()>, Error> {
    let before = get(scope, id).await?.endpoint;
    Ok(Plan::new(scope, ()).change([stored::delete(scope.call(), admin, &before)]).showing([id.uuid()]))
}

/// A test event. Make it once per call, or a call that succeeds late has the id of an event that doesn't exist.
#[must_use]
pub fn test_event(scope: &Scope) -> Event {
    Event::new(EventKind::WebhookTest(TestData::NOTHING_HAPPENED), scope.now(), scope.store().due_shards())
}

/// Sends an endpoint a test event, whatever it subscribes to.
pub fn send_test(scope: &Scope, _by: Admin<'_>, id: EndpointId, event: &Event) -> Plan<()> {
    Plan::new(scope, ()).emit_to(id, event.clone()).showing([id.uuid(), event.id.uuid()])
}

/// Requests a replay of the events since a moment that an endpoint hasn't received, even those of a running replay.
pub async fn replay_undelivered(
    scope: &Scope,
    admin: Admin<'_>,
    id: EndpointId,
    since: Timestamp,
) -> Result<Plan<()>, Error> {
    let state = get(scope, id).await?;
    let since = state.replay.as_ref().map_or(since, |earlier| earlier.since.min(since));
    let replay = Replay { since, asked_at: scope.now() };
    let changes = stored::request_replay(scope.call(), admin, id, &replay)?;
    Ok(Plan::new(scope, ()).change([changes]).showing([id.uuid()]))
}
