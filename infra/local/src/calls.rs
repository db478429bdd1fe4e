//! Records which function makes which AWS calls, so that tests can compare them with the roles in the template.
//!
//! All functions share one process here, so each request, tick and message runs under the name of the function that it
//! would reach in the cloud. A listener gets that name and each call's action. Calls to the table are seen at its
//! client; queues, keys and files are ports here, and count as the calls of their cloud adapters.

use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemInput;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::get_item::GetItemInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::query::QueryInput;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_smithy_runtime_api::client::interceptors::context::BeforeSerializationInterceptorContextRef;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use shared::crypto::keyring::{Keyring, SealError};
use shared::crypto::keys::Keys;
use shared::domain::agreement::DocumentContent;
use shared::domain::ids::OrgId;
use shared::domain::time::Timestamp;
use shared::platform::files::{FileStore, FilesError};
use shared::store::files::Upload;
use shared::webhook::queue::{DeliveryMessage, Queue, QueueError};

tokio::task_local! {
    static FUNCTION: String;
}

/// Runs `work` under a function's name.
pub(crate) async fn of<T>(function: &str, work: impl Future<Output = T>) -> T {
    FUNCTION.scope(function.to_owned(), work).await
}

/// Does `work` beside what goes on, under the name of the function that this is.
pub(crate) fn beside(work: impl Future<Output = ()> + Send + 'static) {
    match FUNCTION.try_with(Clone::clone) {
        Ok(function) => tokio::spawn(FUNCTION.scope(function, work)),
        Err(_) => tokio::spawn(work),
    };
}

/// Receives a function's name and an IAM action, such as `dynamodb:GetItem`.
type Listener = dyn Fn(&str, &str) + Send + Sync;

/// Reports every call of a function to a listener.
#[derive(Clone)]
pub struct Calls(Arc<Listener>);

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Calls")
    }
}

impl Calls {
    /// Calls `listener` for each.
    #[must_use]
    pub fn told_to(listener: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }

    /// Ignores work outside a function, such as seeding.
    pub(crate) fn tell(&self, action: &str) {
        let _ = FUNCTION.try_with(|function| (self.0)(function, action));
    }

    pub(crate) fn of_keys(&self, keys: Arc<dyn Keys>) -> Arc<dyn Keys> {
        Arc::new(Told { calls: self.clone(), of: keys })
    }

    pub(crate) fn of_files(&self, files: Arc<dyn FileStore>) -> Arc<dyn FileStore> {
        Arc::new(Told { calls: self.clone(), of: files })
    }

    pub(crate) fn of_queue(&self, queue: Arc<dyn Queue>) -> Arc<dyn Queue> {
        Arc::new(Told { calls: self.clone(), of: queue })
    }
}

#[aws_smithy_runtime_api::client::interceptors::dyn_dispatch_hint]
impl Intercept for Calls {
    fn name(&self) -> &'static str {
        "Calls"
    }

    fn read_before_serialization(
        &self,
        context: &BeforeSerializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let input = context.input();
        if let Some(transaction) = input.downcast_ref::<TransactWriteItemsInput>() {
            // Each item of a transaction needs the action of its kind.
            for item in transaction.transact_items() {
                for (is_one, action) in [
                    (item.condition_check().is_some(), "dynamodb:ConditionCheckItem"),
                    (item.delete().is_some(), "dynamodb:DeleteItem"),
                    (item.put().is_some(), "dynamodb:PutItem"),
                    (item.update().is_some(), "dynamodb:UpdateItem"),
                ] {
                    if is_one {
                        self.tell(action);
                    }
                }
            }
            return Ok(());
        }
        let actions = [
            (input.downcast_ref::<GetItemInput>().is_some(), "dynamodb:GetItem"),
            (input.downcast_ref::<BatchGetItemInput>().is_some(), "dynamodb:BatchGetItem"),
            (input.downcast_ref::<QueryInput>().is_some(), "dynamodb:Query"),
            (input.downcast_ref::<PutItemInput>().is_some(), "dynamodb:PutItem"),
            (input.downcast_ref::<UpdateItemInput>().is_some(), "dynamodb:UpdateItem"),
            (input.downcast_ref::<DeleteItemInput>().is_some(), "dynamodb:DeleteItem"),
        ];
        // No role allows this action, so any other call stands out.
        let action = actions.into_iter().find(|(is_it, _)| *is_it).map_or("dynamodb:another", |(_, action)| action);
        self.tell(action);
        Ok(())
    }
}

/// A port that reports its calls.
#[derive(Debug)]
struct Told<P: ?Sized> {
    calls: Calls,
    of: Arc<P>,
}

impl Keys for Told<dyn Keys> {
    fn keyring(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        self.calls.tell("secretsmanager:GetSecretValue");
        self.of.keyring()
    }

    fn newest(&self) -> BoxFuture<'_, Result<Arc<Keyring>, SealError>> {
        self.calls.tell("secretsmanager:GetSecretValue");
        self.of.newest()
    }
}

impl FileStore for Told<dyn FileStore> {
    fn put<'a>(&'a self, upload: &'a Upload, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>> {
        self.calls.tell("s3:PutObject");
        self.of.put(upload, file)
    }

    fn get<'a>(&'a self, org: OrgId, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>> {
        self.calls.tell("s3:GetObject");
        self.of.get(org, content)
    }

    fn remove<'a>(&'a self, org: OrgId, sha256: &'a str) -> BoxFuture<'a, Result<(), FilesError>> {
        self.calls.tell("s3:DeleteObject");
        self.of.remove(org, sha256)
    }

    /// A link works with the rights of the function that signed it.
    fn hand_out<'a>(
        &'a self,
        org: OrgId,
        file: Bytes,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, FilesError>> {
        self.calls.tell("s3:PutObject");
        self.calls.tell("s3:GetObject");
        self.of.hand_out(org, file, name)
    }

    fn put_rows<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>> {
        self.calls.tell("s3:PutObject");
        self.of.put_rows(path, file)
    }

    fn get_rows<'a>(&'a self, path: &'a str, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>> {
        self.calls.tell("s3:GetObject");
        self.of.get_rows(path, content)
    }
}

impl Queue for Told<dyn Queue> {
    fn send<'a>(&'a self, messages: &'a [DeliveryMessage]) -> BoxFuture<'a, Result<(), QueueError>> {
        self.calls.tell("sqs:SendMessage");
        self.of.send(messages)
    }

    fn put_back(&self, message: DeliveryMessage, at: Timestamp) -> BoxFuture<'_, Result<(), QueueError>> {
        self.calls.tell("sqs:SendMessage");
        self.of.put_back(message, at)
    }
}
