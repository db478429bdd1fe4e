//! Fifty organizations at once, for `make load` and the test of its simulation: what each calls, and what it sees.
//!
//! The same calls go to a stack on this machine in real time, and to a [simulated] one.

pub mod phase;
pub mod simulated;

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Router;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::client::{Client, Request};
use crate::org::Org;

/// Organizations that call at once, those that trouble the others included.
pub const ORGANIZATIONS: usize = 50;
/// An organization's calls per second, as a deployment has them by default.
pub const CALLS_PER_SECOND: u32 = 50;
/// Endpoints of the organization that writes all it may.
pub const BUSY_ENDPOINTS: usize = 10;
/// Between the answer to a call of a calm organization and its next call: some 200 calls a second of all.
const THINKS: Duration = Duration::from_millis(240);
/// Calls that an organization which floods has under way, without a pause.
const FLOOD: usize = 16;
const PROPOSALS: &str = "/api/v1/proposals";

/// An organization that calls, and what its calls are about.
#[derive(Debug, Clone)]
pub struct Caller {
    client: Client,
    contact: String,
    workspace: Value,
}

impl Caller {
    /// An organization with a contact and a workspace.
    pub async fn of(org: &Org) -> Self {
        let (contact, workspace) = (org.contact("Ada Okafor").await, org.workspace("Quayside").await);
        let contact = format!("/api/v1/contacts/{}", contact["id"].as_str().expect("an id"));
        Self { client: org.at(org.stack()), contact, workspace }
    }

    /// The same organization, whose calls reach the service in this process after so long.
    #[must_use]
    pub fn in_process(&self, router: Router, takes: Duration) -> Self {
        Self { client: self.client.in_process(router, takes), ..self.clone() }
    }
}

/// What one organization saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// From each call to its answer.
    pub times: Vec<Duration>,
    /// Answers by status.
    pub statuses: BTreeMap<u16, usize>,
    /// Events that its calls made.
    pub events: usize,
}

impl Seen {
    async fn call(&mut self, request: Request) -> Value {
        let began = Instant::now();
        let answer = request.send().await;
        self.times.push(began.elapsed());
        *self.statuses.entry(answer.status).or_default() += 1;
        if answer.status < 300 { answer.json() } else { Value::Null }
    }

    /// All of several callers.
    fn of_all(callers: Vec<Self>) -> Self {
        callers.into_iter().fold(Self::default(), |mut all, seen| {
            all.times.extend(seen.times);
            for (status, count) in seen.statuses {
                *all.statuses.entry(status).or_default() += count;
            }
            all.events += seen.events;
            all
        })
    }

    /// Calls that were not answered with what they asked for.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, count)| count).sum()
    }

    /// Proposes to cancel a new draft, which is an event.
    async fn propose(&mut self, caller: &Caller, n: usize) {
        let Caller { client, workspace, .. } = caller;
        let draft = json!({"workspace_id": workspace["id"], "name": format!("Lease {n}")});
        let draft = self.call(client.post("/api/v1/agreements", &draft)).await;
        let proposal = json!({"action": "cancel_agreement", "agreement_id": draft["id"]});
        if !self.call(client.post(PROPOSALS, &proposal)).await.is_null() {
            self.events += 1;
        }
    }
}

impl Caller {
    /// A mixture of calls, one after another, as an integration makes them.
    pub async fn calm(&self, until: Instant) -> Seen {
        let (client, mut seen) = (&self.client, Seen::default());
        for n in 0.. {
            if until <= Instant::now() {
                break;
            }
            match n % 10 {
                0..4 => drop(seen.call(client.get(&self.contact)).await),
                4..6 => drop(seen.call(client.get("/api/v1/contacts").query("limit", 50)).await),
                6 => drop(seen.call(client.get("/api/v1/contacts").query("search", "person 1")).await),
                7..9 => {
                    let body = json!({"display_name": format!("Person {n}"), "kind": "person"});
                    seen.call(client.post("/api/v1/contacts", &body)).await;
                }
                _ => seen.propose(self, n).await,
            }
            tokio::time::sleep(THINKS).await;
        }
        seen
    }

    /// Lists without a pause.
    pub async fn flood(&self, until: Instant) -> Seen {
        let flooding = (0..FLOOD).map(|_| async {
            let mut seen = Seen::default();
            while Instant::now() < until {
                seen.call(self.client.get("/api/v1/contacts").query("limit", 50)).await;
            }
            seen
        });
        Seen::of_all(join_all(flooding).await)
    }

    /// As many events as it is allowed.
    pub async fn busy(&self, until: Instant) -> Seen {
        let flooding = (0..FLOOD).map(|caller| async move {
            let mut seen = Seen::default();
            for n in 0.. {
                if until <= Instant::now() {
                    break;
                }
                seen.propose(self, caller * 1_000_000 + n).await;
            }
            seen
        });
        Seen::of_all(join_all(flooding).await)
    }

    /// An event a second.
    pub async fn steady(&self, until: Instant) -> Seen {
        let mut seen = Seen::default();
        for n in 0.. {
            if until <= Instant::now() {
                break;
            }
            seen.propose(self, n).await;
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        seen
    }
}
