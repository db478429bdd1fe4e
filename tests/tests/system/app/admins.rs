//! Admins who lose their role, or are removed, just before their act is written.

use ops::Scope;
use serde_json::json;
use shared::domain::time::Timestamp;
use tests::app::{Browser, Page, Person};
use tests::receiver::Receiver;
use tests::subscriber::{DEVELOPERS, Subscriber};
use tests::{Needs, Org, Rule, Shaky, outbox, rows};

const TOKENS: &str = "/app/developers/tokens";

#[derive(Debug)]
struct AdminAct {
    operation: &'static str,
    path: String,
    fields: Vec<(&'static str, String)>,
}

struct Admin {
    person: Person,
    subscriber: Subscriber,
    // Dropped before its stack.
    shaky: Shaky,
    org: Org,
}

impl Admin {
    async fn new() -> Self {
        let org = Org::with(Needs::OWN.without_background().on_configured_store()).await;
        let person = org.admin("Ines Duarte").await;
        let shaky = Shaky::beside(&org);
        let subscriber = Subscriber::add(shaky.browser_of(&person).await, Receiver::new().await, &[]).await;
        Self { person, subscriber, shaky, org }
    }

    async fn acts(&self) -> Vec<AdminAct> {
        let event = outbox::event();
        outbox::insert_relayed(&self.org, std::slice::from_ref(&event)).await;
        outbox::deliver(&self.org, self.subscriber.id, &event, |_| {}).await;
        let colleague = self.org.member("Ben Ruiz").await;
        let issued = self.org.issue("Report", Scope::Read, Timestamp::now()).await;
        let (own, url) = (self.subscriber.path(), self.subscriber.receiver.url());
        let press = |act: &str| ("act", act.to_owned());
        let act = |operation, path, fields| AdminAct { operation, path, fields };
        vec![
            act("add_endpoint", DEVELOPERS.to_owned(), vec![("url", url.clone())]),
            act("edit_endpoint", format!("{own}/edit"), vec![("url", format!("{url}/elsewhere"))]),
            act("send_test_event", own.clone(), vec![press("test")]),
            act("rotate_secret", own.clone(), vec![press("rotate"), ("old", "keep".to_owned())]),
            act("replay_undelivered", own.clone(), vec![press("replay"), ("since", "2026-01-01T00:00".to_owned())]),
            act("replay_delivery", self.subscriber.delivery_path(event.id), vec![]),
            act("pause_endpoint", own.clone(), vec![press("pause")]),
            act("resume_endpoint", own.clone(), vec![press("resume")]),
            act("create_token", TOKENS.to_owned(), vec![("name", "CRM sync".to_owned()), ("scope", "read".to_owned())]),
            act("revoke_token", format!("{TOKENS}/{}/revoke", issued.id), vec![]),
            act("remove_member", "/app/organization/members".to_owned(), vec![("member", colleague.id.to_string())]),
            act("delete_endpoint", own, vec![press("delete")]),
        ]
    }

    async fn send(&self, AdminAct { path, fields, .. }: &AdminAct) -> Page {
        let browser = &self.subscriber.admin;
        let token = browser.get("/app").await.hidden("form_token");
        let fields = fields.iter().map(|(name, value)| (*name, value.as_str()));
        browser.post(path, &fields.chain([("form_token", token.as_str())]).collect::<Vec<_>>()).await
    }

    async fn send_after(&self, act: &AdminAct, meanwhile: impl Future<Output = ()>) -> Page {
        let writes = Rule::on("TransactWriteItems").containing(self.org.id);
        self.shaky.meanwhile(writes, self.send(act), meanwhile).await
    }

    async fn become_a(&self, role: &str) {
        rows::set_role(self.org.stack().table(), self.org.id, self.person.id, role).await;
    }
}

fn refusal_message(operation: &str) -> &'static str {
    match operation {
        "remove_member" => "No one was removed. Ask an admin of your organization.",
        _ => "Settings of your organization are changed by its admins.",
    }
}

#[tokio::test]
async fn an_admin_who_loses_the_role_while_their_act_is_written_does_nothing() {
    let admin = Admin::new().await;
    for act in admin.acts().await {
        let operation = act.operation;
        let before = admin.org.state().await;
        let refused = Box::pin(admin.send_after(&act, admin.become_a("member"))).await;
        assert_eq!(refused.status, 403, "{operation}: {}", refused.body);
        assert!(refused.says(refusal_message(operation)), "{operation}: {}", refused.body);
        let id = refused.headers["x-request-id"].to_str().unwrap();
        let audit = admin.org.audit().await;
        let row = audit.iter().find(|row| row["sk"] == id).expect("an audit row");
        assert_eq!((&row["operation"], &row["code"]), (&json!(operation), &json!("forbidden")));
        admin.become_a("admin").await;
        assert_eq!(admin.org.state().await, before, "{operation}");
        // Only the role was in the way, and the next act finds what this one leaves.
        assert_eq!(admin.send(&act).await.status, 303, "{operation}");
    }
}

#[tokio::test]
async fn an_admin_who_is_removed_while_their_act_is_written_does_nothing() {
    let admin = Admin::new().await;
    let other = Browser::of(&admin.org, &admin.org.admin("Eve Holt").await).await;
    let token = other.get("/app").await.hidden("form_token");
    let (path, fields) = (admin.subscriber.path(), vec![("act", "delete".to_owned())]);
    let act = AdminAct { operation: "delete_endpoint", path, fields };
    let out = admin
        .send_after(&act, async {
            let form = [("form_token", token.as_str()), ("member", &admin.person.id.to_string())];
            assert_eq!(other.post("/app/organization/members", &form).await.status, 303);
        })
        .await;
    assert!(out.status == 303 && out.location().starts_with("/app/sign-in"), "{}", out.body);
    assert_eq!(other.get(&admin.subscriber.path()).await.status, 200, "the endpoint is there");
}

#[tokio::test]
async fn the_forms_of_a_former_admin_are_refused() {
    let admin = Admin::new().await;
    let acts = admin.acts().await;
    admin.become_a("member").await;
    let before = admin.org.state().await;
    for act in acts {
        let refused = admin.send(&act).await;
        assert!(
            refused.status == 403 && refused.says(refusal_message(act.operation)),
            "{}: {}",
            act.operation,
            refused.body
        );
    }
    assert_eq!(admin.org.state().await, before);
}
