//! The table's definition, for the local stack and tests. In the cloud the template defines the table.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType, StreamSpecification,
    StreamViewType, TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
};
use tokio::time::Instant;

use super::keys::{DROP_AT, PARTITION, SORT};
use super::{Store, StoreError};
use crate::limits;

impl Store {
    /// Creates the table with its key, billing and expiry, or completes an existing one.
    pub async fn create_table(&self) -> Result<(), StoreError> {
        self.create(None).await
    }

    /// Creates the table with a stream of written keys for `event-relay`, as the template does in the cloud.
    pub async fn create_table_with_stream(&self) -> Result<(), StoreError> {
        let keys_only =
            StreamSpecification::builder().stream_enabled(true).stream_view_type(StreamViewType::KeysOnly).build();
        self.create(Some(keys_only?)).await
    }

    /// The name of the table's stream, if it has one.
    pub async fn stream(&self) -> Result<Option<String>, StoreError> {
        let output = self.client.describe_table().table_name(&*self.table).send().await?;
        Ok(output.table.and_then(|table| table.latest_stream_arn))
    }

    async fn create(&self, stream: Option<StreamSpecification>) -> Result<(), StoreError> {
        let attribute = |name| {
            AttributeDefinition::builder()
                .attribute_name(name)
                .attribute_type(ScalarAttributeType::S)
                .build()
                .map_err(StoreError::from)
        };
        let key = |name, kind| {
            KeySchemaElement::builder().attribute_name(name).key_type(kind).build().map_err(StoreError::from)
        };
        let created = self
            .client
            .create_table()
            .table_name(&*self.table)
            .attribute_definitions(attribute(PARTITION)?)
            .attribute_definitions(attribute(SORT)?)
            .key_schema(key(PARTITION, KeyType::Hash)?)
            .key_schema(key(SORT, KeyType::Range)?)
            .billing_mode(BillingMode::PayPerRequest)
            .set_stream_specification(stream)
            .send()
            .await;
        match created {
            Ok(_) => {}
            Err(SdkError::ServiceError(error)) if error.err().is_resource_in_use_exception() => {}
            Err(error) => return Err(error.into()),
        }
        self.wait_until_active().await?;
        self.enable_expiry().await
    }

    async fn wait_until_active(&self) -> Result<(), StoreError> {
        let deadline = Instant::now() + limits::TABLE_CREATION_WAIT;
        loop {
            let output = self.client.describe_table().table_name(&*self.table).send().await?;
            if output.table.and_then(|table| table.table_status) == Some(TableStatus::Active) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(StoreError::Failed("the table does not become active".to_owned()));
            }
            tokio::time::sleep(limits::WRITE_BACKOFF_MAX).await;
        }
    }

    async fn enable_expiry(&self) -> Result<(), StoreError> {
        let output = self.client.describe_time_to_live().table_name(&*self.table).send().await?;
        let status = output.time_to_live_description.and_then(|description| description.time_to_live_status);
        if matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)) {
            return Ok(());
        }
        let expiry = TimeToLiveSpecification::builder().attribute_name(DROP_AT).enabled(true).build()?;
        let request = self.client.update_time_to_live().table_name(&*self.table).time_to_live_specification(expiry);
        request.send().await.map(|_| ()).map_err(StoreError::from)
    }
}
