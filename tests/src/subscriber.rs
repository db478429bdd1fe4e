//! Endpoints as admins set them up in the app, with a subscriber at the other end.

use ops::{NewMember, Role};
use shared::crypto::signing_secret::SigningSecret;
use shared::domain::delivery::Delivery;
use shared::domain::ids::{EndpointId, EventId};
use shared::store::Versioned;
use shared::store::deliveries::DeliveryKey;

use crate::app::{Browser, Page, Person};
use crate::org::Org;
use crate::receiver::Receiver;
use crate::wait::eventually;

/// The page where admins set up endpoints.
pub const DEVELOPERS: &str = "/app/developers";

/// An endpoint, as the admin who set it up knows it.
#[derive(Debug)]
pub struct Subscriber {
    /// The admin who set it up, signed in.
    pub admin: Browser,
    /// The endpoint.
    pub id: EndpointId,
    /// Its secret, as shown.
    pub secret: SigningSecret,
    /// Receives its deliveries.
    pub receiver: Receiver,
}

impl Org {
    /// A new admin.
    pub async fn admin(&self, name: &str) -> Person {
        let email = format!("a-{}@members.example", uuid::Uuid::now_v7().simple());
        let password = "correct horse battery".to_owned();
        let new = NewMember { name, email: &email, password: &password, role: Role::Admin };
        let id = ops::create_member(self.store(), self.id, new).await.expect("an admin");
        Person { id, email, password }
    }

    /// A subscriber to all events.
    pub async fn subscriber(&self) -> Subscriber {
        self.subscriber_of(&[]).await
    }

    /// A subscriber to these types of events, or to all if none is named.
    pub async fn subscriber_of(&self, types: &[&str]) -> Subscriber {
        let admin = self.admin("Ines Duarte").await;
        let admin = Browser::of(self, &admin).await;
        let receiver = Receiver::new().await;
        Subscriber::add(admin, receiver, types).await
    }
}

impl Subscriber {
    /// Adds an endpoint in the app.
    pub async fn add(admin: Browser, receiver: Receiver, types: &[&str]) -> Self {
        let page = add(&admin, &receiver.url(), types).await;
        assert_eq!(page.status, 303, "{}", page.body);
        let path = page.location().to_owned();
        let id = path.rsplit('/').next().and_then(|id| id.parse().ok()).expect("an endpoint's page");
        let shown = admin.get(&path).await;
        let secret = secret_on(&shown).expect("the secret is shown");
        Self { admin, id, secret, receiver }
    }

    /// Its page.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{DEVELOPERS}/endpoints/{}", self.id)
    }

    /// The page of one of its deliveries.
    #[must_use]
    pub fn delivery_path(&self, event: impl std::fmt::Display) -> String {
        format!("{}/deliveries/{event}", self.path())
    }

    /// The endpoint's page once it says something: an attempt's result is there before the endpoint's health.
    pub async fn wait_until_page_says(&self, text: &str) -> Page {
        let look = async || {
            let page = self.admin.get(&self.path()).await;
            page.says(text).then_some(page)
        };
        eventually(text, look).await
    }

    /// Presses a button on its page.
    pub async fn press(&self, act: &str, fields: &[(&str, &str)]) -> Page {
        let token = self.admin.get(&self.path()).await.hidden("form_token");
        let fields: Vec<(&str, &str)> =
            [("form_token", token.as_str()), ("act", act)].into_iter().chain(fields.iter().copied()).collect();
        self.admin.post(&self.path(), &fields).await
    }

    /// Presses `Send test event`, and returns the event.
    pub async fn test(&self) -> EventId {
        let page = self.press("test", &[]).await;
        assert_eq!(page.status, 303, "{}", page.body);
        page.location().rsplit('/').next().and_then(|id| id.parse().ok()).expect("an event's id")
    }

    /// Presses `Replay` on the page of a delivery.
    pub async fn replay(&self, event: impl std::fmt::Display) -> Page {
        let path = self.delivery_path(event);
        let token = self.admin.get(&path).await.hidden("form_token");
        self.admin.post(&path, &[("form_token", &token)]).await
    }

    /// Presses `Rotate secret`, and returns the new one.
    pub async fn rotate(&self, old: &str) -> SigningSecret {
        let page = self.press("rotate", &[("old", old)]).await;
        assert_eq!(page.status, 303, "{}", page.body);
        secret_on(&self.admin.get(page.location()).await).expect("the new secret is shown")
    }

    /// Submits the form that edits it.
    pub async fn edit(&self, url: &str, types: &[&str]) -> Page {
        let path = format!("{}/edit", self.path());
        let token = self.admin.get(&path).await.hidden("form_token");
        send_fields(&self.admin, &path, &token, url, types).await
    }

    /// Its rows in the table, except audit rows and events.
    pub async fn rows(&self, org: &Org) -> Vec<serde_json::Value> {
        let id = self.id.to_string();
        let mut rows = crate::rows::all(org.stack().table()).await;
        rows.retain(|row| {
            let key = format!("{} {}", row["pk"].as_str().unwrap_or_default(), row["sk"].as_str().unwrap_or_default());
            key.contains(&id) && !key.contains("#AUDIT#")
        });
        rows
    }

    /// One of its deliveries in the store.
    pub async fn delivery(&self, org: &Org, event: EventId) -> Option<Versioned<Delivery>> {
        let key = DeliveryKey { org: org.id, endpoint: self.id, event };
        org.store().delivery(key).await.expect("the store answers")
    }

    /// Waits until one of its deliveries is in this state.
    pub async fn wait_for(&self, org: &Org, event: EventId, state: &str) -> Delivery {
        self.wait_until(org, event, state, |delivery| delivery.state().as_str() == state).await
    }

    /// Waits until one of its deliveries fits.
    pub async fn wait_until(
        &self,
        org: &Org,
        event: EventId,
        what: &str,
        is_so: impl Fn(&Delivery) -> bool,
    ) -> Delivery {
        let look = async || self.delivery(org, event).await.map(Versioned::into_inner).filter(&is_so);
        eventually(format!("the delivery of {event} is {what}"), look).await
    }
}

/// Submits the form that adds an endpoint.
pub async fn add(admin: &Browser, url: &str, types: &[&str]) -> Page {
    let token = admin.get(DEVELOPERS).await.hidden("form_token");
    send_fields(admin, DEVELOPERS, &token, url, types).await
}

async fn send_fields(admin: &Browser, path: &str, token: &str, url: &str, types: &[&str]) -> Page {
    let names: Vec<String> = types.iter().map(|name| format!("event:{name}")).collect();
    let events = if types.is_empty() { "all" } else { "selected" };
    let mut fields = vec![("form_token", token), ("url", url), ("events", events)];
    fields.extend(names.iter().map(|name| (name.as_str(), "on")));
    admin.post(path, &fields).await
}

/// The secret on a page, if any.
#[must_use]
pub fn secret_on(page: &Page) -> Option<SigningSecret> {
    let (_, rest) = page.body.split_once("value=\"whsec_")?;
    SigningSecret::parse(&format!("whsec_{}", rest.split('"').next()?)).ok()
}
