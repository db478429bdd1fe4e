//! SQS, Secrets Manager and S3 themselves, or an emulator: for `make test-aws`, not `make test`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use bytes::Bytes;
use files::Files;
use shared::crypto::keyring::{Keyring, SealError};
use shared::crypto::keys::Keys;
use shared::domain::agreement::DocumentContent;
use shared::domain::delivery::DeliveryState;
use shared::domain::ids::{EndpointId, EventId, OrgId};
use shared::domain::time::Timestamp;
use shared::limits;
use shared::platform::aws;
use shared::platform::files::FilesError;
use shared::platform::secrets_manager::SecretsManagerKeys;
use shared::platform::sqs::SqsQueue;
use shared::store::deliveries::DeliveryKey;
use shared::webhook::queue::{DeliveryMessage, Queue};
use tests::aws_services::{AWS, BUCKET, real};
use tests::pdf::pdf;
use tests::resources::{create_queue, create_secret};
use tests::run_resources::resource_name;

use crate::webhooks::lambda::{Cloud, body, call, failures, in_s, sqs_batch, start};

const PATIENCE: Duration = Duration::from_secs(30);

/// The template's queues, except that received messages show again at once unless deleted.
struct Queues {
    client: aws_sdk_sqs::Client,
    deliveries: String,
    retries: String,
    dead_letters: String,
}

impl Queues {
    async fn new() -> Self {
        let client = aws::sqs(&real());
        let dead_letters = create_queue(&client, "DeadLetters", &resource_name("dead-letters"), None, &[]).await;
        let arn = attribute(&client, &dead_letters, QueueAttributeName::QueueArn).await;
        let at_once = [("VisibilityTimeout", "0")];
        let names = [resource_name("deliveries"), resource_name("retries")];
        let deliveries = create_queue(&client, "DeliveryQueue", &names[0], Some(&arn), &at_once).await;
        let retries = create_queue(&client, "RetryQueue", &names[1], Some(&arn), &at_once).await;
        Self { client, deliveries, retries, dead_letters }
    }

    fn queue(&self) -> Arc<SqsQueue> {
        SqsQueue::new(self.client.clone(), self.deliveries.clone(), self.retries.clone())
    }

    async fn receive(&self, url: &str) -> Vec<Message> {
        let receive = self.client.receive_message().queue_url(url).max_number_of_messages(10).wait_time_seconds(1);
        let receive = receive.message_system_attribute_names(MessageSystemAttributeName::All);
        receive.send().await.expect("the queue answers").messages.unwrap_or_default()
    }

    async fn delete(&self, url: &str, message: &Message) {
        let delete = self.client.delete_message().queue_url(url);
        delete.receipt_handle(message.receipt_handle().unwrap()).send().await.expect("the queue answers");
    }

    async fn drain(&self, url: &str, count: usize, within: Duration) -> Vec<(DeliveryMessage, String)> {
        let until = tokio::time::Instant::now() + within;
        let mut drained = Vec::new();
        while drained.len() < count && tokio::time::Instant::now() < until {
            for message in self.receive(url).await {
                self.delete(url, &message).await;
                let group = message.attributes().unwrap()[&MessageSystemAttributeName::MessageGroupId].clone();
                drained.push((serde_json::from_str(message.body().unwrap()).expect("a wake"), group));
            }
        }
        drained
    }
}

async fn attribute(client: &aws_sdk_sqs::Client, url: &str, name: QueueAttributeName) -> String {
    let got = client.get_queue_attributes().queue_url(url).attribute_names(name.clone()).send().await;
    got.expect("the queue answers").attributes.expect("attributes")[&name].clone()
}

fn wake(endpoint: EndpointId, seconds: i64) -> DeliveryMessage {
    DeliveryMessage {
        delivery: DeliveryKey { org: OrgId::new(), endpoint, event: EventId::new() },
        due_at: in_s(seconds),
    }
}

#[tokio::test]
#[ignore = "needs SQS: make test-aws"]
async fn messages_come_out_when_they_are_due_in_the_groups_of_their_organizations() {
    let queues = Queues::new().await;
    let (one, other) = (EndpointId::new(), EndpointId::new());
    // More than two calls take.
    let now: Vec<DeliveryMessage> = (0..23).map(|at| wake(if at % 2 == 0 { one } else { other }, -1)).collect();
    let (soon, late) = (wake(one, 4), wake(other, 7200));
    let mut all = now.clone();
    all.extend([soon, late]);
    queues.queue().send(&all).await.expect("the queues take them");

    let early = queues.drain(&queues.retries, 1, Duration::ZERO).await;
    assert_eq!(early, [], "it is not time yet");
    let drained = queues.drain(&queues.deliveries, now.len(), PATIENCE).await;
    assert_eq!(drained.iter().map(|(wake, _)| *wake).collect::<HashSet<_>>(), now.into_iter().collect());
    assert_eq!(drained.len(), 23);
    assert!(drained.iter().all(|(wake, group)| *group == wake.delivery.org.to_string()), "{drained:?}");
    assert_eq!(queues.drain(&queues.retries, 1, PATIENCE).await, [(soon, soon.delivery.org.to_string())]);
    assert!(soon.due_at <= Timestamp::now(), "not before it is due");
    let delayed = QueueAttributeName::ApproximateNumberOfMessagesDelayed;
    assert_eq!(attribute(&queues.client, &queues.retries, delayed).await, "1", "the other hops at its longest delay");
}

#[tokio::test]
#[ignore = "needs SQS: make test-aws"]
async fn a_poison_message_ends_among_the_dead_letters_and_keeps_no_other() {
    let (cloud, queues) = (Cloud::new().await, Queues::new().await);
    let secrets = aws::secrets_manager(&real());
    let name = resource_name("keyring");
    create_secret(&secrets, &name, &cloud.org.stack().keyring().reveal()).await;
    cloud.subscriber(&[]).await;
    cloud.happens().await;
    let wakes = cloud.relayed().await;
    queues.queue().send(&wakes).await.expect("the queue takes it");
    let poison = queues.client.send_message().queue_url(&queues.deliveries).message_body("poison");
    poison.message_group_id("nobody").send().await.expect("the queue takes it");

    let endpoint = std::env::var(AWS).expect("the endpoint");
    let mut environment = cloud.environment();
    environment.extend(
        [
            ("AWS_ENDPOINT_URL_SQS", endpoint.as_str()),
            ("AWS_ENDPOINT_URL_SECRETS_MANAGER", &endpoint),
            ("DELIVERY_QUEUE_URL", &queues.deliveries),
            ("RETRY_QUEUE_URL", &queues.retries),
            ("KEYRING_SECRET", &name),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    let mut sender = start("webhook-sender", &environment).await;
    // Acts as Lambda does between a queue and a function: deletes what didn't fail.
    let mut receives = 0;
    let dead = loop {
        let messages = queues.receive(&queues.deliveries).await;
        if messages.is_empty() {
            break queues.receive(&queues.dead_letters).await;
        }
        let bodies: Vec<String> = messages.iter().map(|message| message.body().unwrap().to_owned()).collect();
        receives += bodies.iter().filter(|body| *body == "poison").count();
        let (batch, ids) = sqs_batch(&bodies);
        let answer = call(&mut sender, &batch).await;
        let failed = failures(&answer);
        for (message, id) in messages.iter().zip(&ids) {
            assert_eq!(failed.contains(&id.as_str()), message.body() == Some("poison"));
            if !failed.contains(&id.as_str()) {
                queues.delete(&queues.deliveries, message).await;
            }
        }
    };
    assert_eq!(dead.iter().map(|message| message.body().unwrap()).collect::<Vec<_>>(), ["poison"]);
    assert_eq!(receives, usize::try_from(limits::MESSAGE_RECEIVES_MAX).unwrap());
    let delivery = cloud.delivery(wakes[0]).await;
    assert_eq!((delivery.state(), delivery.attempted), (DeliveryState::Waiting, 1));
    let early = DeliveryMessage { due_at: in_s(2), ..wakes[0] };
    assert!(failures(&call(&mut sender, &sqs_batch(&[body(early)]).0).await).is_empty());
    let sent_on = queues.drain(&queues.retries, 1, PATIENCE).await;
    assert_eq!(sent_on, [(early, early.delivery.org.to_string())]);
}

#[tokio::test]
#[ignore = "needs Secrets Manager: make test-aws"]
async fn keys_are_read_kept_and_found_again_after_a_rotation() {
    let client = aws::secrets_manager(&real());
    let name = resource_name("keyring");
    let first = ops::keyring::create(Timestamp::now()).expect("a keyring");
    create_secret(&client, &name, &first.reveal()).await;
    let keys = SecretsManagerKeys::new(client.clone(), name.clone());
    let before = keys.keyring().await.expect("the keys");
    let old = before.seal("a secret", "a place").expect("it is sealed");

    let rotated = ops::keyring::rotate(&first.reveal(), Timestamp::now()).expect("a keyring");
    let new = rotated.seal("another", "a place").expect("it is sealed");
    client.put_secret_value().secret_id(&name).secret_string(rotated.reveal()).send().await.expect("a new version");
    assert!(Arc::ptr_eq(&keys.keyring().await.expect("the keys"), &before), "they are kept for minutes");
    assert!(matches!(before.open(&new, "a place"), Err(SealError::NoSuchKey(_))));
    let opens_both = |keyring: &Keyring| {
        let opened = [&old, &new].map(|sealed| keyring.open(sealed, "a place").expect("it opens"));
        assert_eq!(opened, ["a secret", "another"]);
    };
    opens_both(&keys.newest().await.expect("the keys"));
    opens_both(&keys.keyring().await.expect("the keys"));
    opens_both(&SecretsManagerKeys::new(client.clone(), name.clone()).keyring().await.expect("the keys"));

    client.delete_secret().secret_id(&name).force_delete_without_recovery(true).send().await.expect("it is deleted");
    opens_both(&keys.keyring().await.expect("the keys"));
    for failed in [keys.newest().await, SecretsManagerKeys::new(client, name).keyring().await] {
        assert_eq!(failed.expect_err("no keys").to_string(), "no keys: Secrets Manager: ResourceNotFoundException");
    }
}

#[tokio::test]
#[ignore = "needs S3: make test-aws"]
async fn files_come_back_from_a_bucket_and_large_ones_by_a_link() {
    let Ok(bucket) = std::env::var(BUCKET) else {
        eprintln!("SKIPPED: {BUCKET} names no bucket");
        return;
    };
    let files = Files::in_bucket(&bucket, real());
    let (org, file) = (OrgId::new(), Bytes::from(pdf("a deed", "")));
    let content = files.put(org, file.clone()).await.expect("it is kept");
    assert_eq!(files.put(org, file.clone()).await.expect("it is kept"), content);
    assert_eq!(files.get(org, &content).await.expect("it is there"), file);
    let found = files.get(OrgId::new(), &content).await;
    assert!(matches!(found, Err(FilesError::NotThere)), "another organization's: {found:?}");
    let shorter = DocumentContent { size_bytes: content.size_bytes - 1, ..content.clone() };
    let found = files.get(org, &shorter).await;
    assert!(matches!(found, Err(FilesError::Damaged)), "{found:?}");

    // Too large for any response.
    let mut large = vec![0; limits::FILE_BYTES_MAX + 1];
    fastrand::fill(&mut large);
    let large = Bytes::from(large);
    let link = files.hand_out(org, large.clone(), "Müller & Co (1).zip").await.expect("it is kept").expect("a link");
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let got = http.get(&link).send().await.expect("an answer");
    assert_eq!(got.status(), 200);
    assert_eq!(got.headers()["content-disposition"], "attachment; filename=\"M_ller _ Co (1).zip\"");
    assert!(got.bytes().await.expect("a file") == large);
    let (path, query) = link.split_once('?').expect("a signature");
    let (exports, _) = path.split_once("/exports/").expect("a path below `exports`");
    let document = format!("{exports}/{org}/{}", content.sha256);
    for other in [path.to_owned(), format!("{path}?{}", query.replace("zip", "exe")), format!("{document}?{query}")] {
        assert_eq!(http.get(&other).send().await.expect("an answer").status(), 403, "{other}");
    }
}
