//! Endpoint forms whose commit is answered late or never take effect once, and lead to the outcome's page.

use std::time::Duration;

use shared::crypto::signing_secret::SigningSecret;
use shared::domain::ids::EventId;
use shared::domain::time::Timestamp;
use tests::receiver::Receiver;
use tests::subscriber::{DEVELOPERS, Subscriber, add, secret_on};
use tests::{Fault, Needs, Org, Rule, Shaky};

const FAULTS: [(Fault, usize); 4] = [
    // The SDK abandons the first attempt, which arrives after the second.
    (Fault::Delay(Duration::from_secs(4)), 1),
    (Fault::LateCommit, 1),
    (Fault::LostResponse, 1),
    (Fault::LostResponse, usize::MAX),
];

struct Setup {
    // Dropped before the organization's own stack.
    shaky: Shaky,
    subscriber: Subscriber,
    org: Org,
}

impl Setup {
    async fn new() -> Self {
        let org = Org::with(Needs::SHARED.with_stream()).await;
        let person = org.admin("Ines Duarte").await;
        let shaky = Shaky::beside(&org);
        let admin = shaky.browser_of(&person).await;
        let subscriber = Subscriber::add(admin, Receiver::new().await, &[]).await;
        subscriber.admin.expire_flashes();
        Self { shaky, subscriber, org }
    }

    async fn under<T>(&self, fault: Fault, times: usize, form: impl Future<Output = T>) -> T {
        let rule = Rule::on("TransactWriteItems").containing(self.org.id).times(times);
        let injected = self.shaky.faults.inject(rule, fault);
        let answer = form.await;
        assert!(injected.count() > 0, "{fault:?}");
        injected.end();
        answer
    }

    async fn tests_sent(&self) -> Vec<EventId> {
        let events = self.org.events().await;
        let tests = events.iter().filter(|event| event["type"] == "webhook.test");
        tests.map(|event| event["id"].as_str().expect("an id").parse().expect("a uuid")).collect()
    }

    async fn signing(&self) -> Vec<SigningSecret> {
        let endpoint = self.org.store().endpoint(self.org.id, self.subscriber.id).await.expect("the store answers");
        let endpoint = endpoint.expect("an endpoint");
        endpoint.secrets(self.org.id, self.org.stack().keyring(), Timestamp::now()).expect("they open")
    }
}

#[tokio::test]
async fn a_test_is_sent_once_and_leads_to_its_delivery() {
    for (fault, times) in FAULTS {
        let setup = Setup::new().await;
        let answer = setup.under(fault, times, setup.subscriber.press("test", &[])).await;
        assert_eq!(answer.status, 303, "{fault:?}: {}", answer.body);
        let sent = setup.tests_sent().await;
        assert_eq!(sent.len(), 1, "{fault:?}");
        assert_eq!(answer.location(), setup.subscriber.delivery_path(sent[0]), "{fault:?}");
        let page = setup.subscriber.admin.get(answer.location()).await;
        assert!(page.status == 200 && page.says("webhook.test"), "{fault:?}: {}", page.body);
    }
}

#[tokio::test]
async fn a_test_that_was_not_sent_says_so_and_can_be_sent_again() {
    let setup = Setup::new().await;
    let failed = setup.under(Fault::ServerError, usize::MAX, setup.subscriber.press("test", &[])).await;
    assert_eq!(failed.status, 500, "{}", failed.body);
    assert_eq!(setup.tests_sent().await, []);
    let test = setup.subscriber.test().await;
    assert_eq!(setup.tests_sent().await, [test]);
}

#[tokio::test]
async fn deleting_leads_to_the_endpoints_that_are_left() {
    for (fault, times) in FAULTS {
        let setup = Setup::new().await;
        let (admin, url) = (&setup.subscriber.admin, setup.subscriber.receiver.url());
        let answer = setup.under(fault, times, setup.subscriber.press("delete", &[])).await;
        assert_eq!((answer.status, answer.location()), (303, DEVELOPERS), "{fault:?}: {}", answer.body);
        assert_eq!(admin.get(&setup.subscriber.path()).await.status, 404);
        let page = admin.get(DEVELOPERS).await;
        assert!(page.says("Endpoint deleted") && page.says(&url), "{fault:?}: {}", page.body);
        let page = admin.get(DEVELOPERS).await;
        assert!(page.says("No endpoint yet") && !page.says(&url), "{fault:?}: {}", page.body);
    }
}

#[tokio::test]
async fn a_new_secret_is_shown_and_it_is_the_one_that_signs() {
    for (fault, times) in FAULTS {
        let setup = Setup::new().await;
        let subscriber = &setup.subscriber;
        let answer = setup.under(fault, times, subscriber.press("rotate", &[("old", "replace")])).await;
        assert_eq!((answer.status, answer.location()), (303, subscriber.path().as_str()), "{fault:?}: {}", answer.body);
        let secret = secret_on(&subscriber.admin.get(answer.location()).await).expect("the secret is shown");
        assert!(setup.signing().await == [secret], "{fault:?}");
    }
}

#[tokio::test]
async fn an_endpoint_is_added_once_and_its_secret_is_shown() {
    for (fault, times) in FAULTS {
        let setup = Setup::new().await;
        let admin = &setup.subscriber.admin;
        let url = Receiver::new().await.url();
        let answer = setup.under(fault, times, add(admin, &url, &[])).await;
        assert!(answer.status == 303 && answer.location() != DEVELOPERS, "{fault:?}: {}", answer.body);
        let page = admin.get(answer.location()).await;
        assert!(page.says(&url) && secret_on(&page).is_some(), "{fault:?}: {}", page.body);
        let listed = admin.get(DEVELOPERS).await;
        // URLs may break between their parts.
        assert_eq!(listed.body.replace("<wbr>", "").matches(&url).count(), 1, "{fault:?}: {}", listed.body);
    }
}
