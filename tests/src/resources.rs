//! Creates the template's tables, queues and secrets at an endpoint, without what hinders deletion or needs AWS.

use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, StreamSpecification, StreamViewType, TimeToLiveSpecification,
};
use serde_json::Value;

use crate::stack::Table;
use crate::template::properties;

/// Creates a missing table. The template's stream is optional: without it, tests run three times as fast.
pub async fn create_table(table: &Table, with_stream: bool) {
    let (client, defined) = (table.client(), properties("Table"));
    let list = |name: &str| defined[name].as_array().expect("a list").iter();
    let attributes = list("AttributeDefinitions").map(|it| {
        let attribute = AttributeDefinition::builder().attribute_name(word(&it["AttributeName"]));
        attribute.attribute_type(word(&it["AttributeType"]).into()).build().expect("an attribute")
    });
    let keys = list("KeySchema").map(|it| {
        let key = KeySchemaElement::builder().attribute_name(word(&it["AttributeName"]));
        key.key_type(word(&it["KeyType"]).into()).build().expect("a key")
    });
    let stream = with_stream.then(|| {
        let view = StreamViewType::from(word(&defined["StreamSpecification"]["StreamViewType"]));
        StreamSpecification::builder().stream_enabled(true).stream_view_type(view).build().expect("a stream")
    });
    let create = client
        .create_table()
        .table_name(&table.name)
        .set_attribute_definitions(Some(attributes.collect()))
        .set_key_schema(Some(keys.collect()))
        .billing_mode(BillingMode::from(word(&defined["BillingMode"])))
        .set_stream_specification(stream);
    match create.send().await {
        Ok(_) => {}
        Err(error) if error.as_service_error().is_some_and(CreateTableError::is_resource_in_use_exception) => return,
        Err(error) => panic!("the template's table: {}", aws_sdk_dynamodb::error::DisplayErrorContext(error)),
    }
    let expiry = &defined["TimeToLiveSpecification"];
    let expiry = TimeToLiveSpecification::builder()
        .attribute_name(word(&expiry["AttributeName"]))
        .enabled(expiry["Enabled"] == true)
        .build()
        .expect("an expiry");
    wait_until_active(&client, &table.name).await;
    let update = client.update_time_to_live().table_name(&table.name).time_to_live_specification(expiry);
    update.send().await.expect("the table takes its expiry");
}

async fn wait_until_active(client: &aws_sdk_dynamodb::Client, name: &str) {
    crate::eventually("the table is active", async || {
        let described = client.describe_table().table_name(name).send().await.ok()?;
        let status = described.table?.table_status?;
        (status == aws_sdk_dynamodb::types::TableStatus::Active).then_some(())
    })
    .await;
}

fn word(value: &Value) -> &str {
    value.as_str().expect("a word")
}

/// Creates a queue with most of the template's attributes; returns its URL. `dead_letters` is an ARN.
#[cfg(feature = "aws")]
pub async fn create_queue(
    client: &aws_sdk_sqs::Client,
    id: &str,
    name: &str,
    dead_letters: Option<&str>,
    but: &[(&str, &str)],
) -> String {
    use std::collections::HashMap;

    let mut attributes = HashMap::new();
    for (name, value) in properties(id).as_object().expect("properties") {
        let text = match (name.as_str(), value) {
            ("RedrivePolicy", policy) => {
                let mut policy = policy.clone();
                policy["deadLetterTargetArn"] = dead_letters.expect("a queue for dead letters").into();
                policy.to_string()
            }
            (_, Value::String(text)) => text.clone(),
            (_, other) => other.to_string(),
        };
        attributes.insert(name.as_str().into(), text);
    }
    attributes.extend(but.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())));
    let made = client.create_queue().queue_name(name).set_attributes(Some(attributes)).send().await;
    made.expect("a queue").queue_url.expect("its address")
}

/// Creates the template's secret with a value, which the template must not set.
#[cfg(feature = "aws")]
pub async fn create_secret(client: &aws_sdk_secretsmanager::Client, name: &str, value: &str) {
    let defined = properties("Keyring");
    for forbidden in ["SecretString", "GenerateSecretString"] {
        assert!(defined.get(forbidden).is_none(), "the template makes no key");
    }
    let description = word(&defined["Description"]);
    client.create_secret().name(name).description(description).send().await.expect("a secret");
    client.put_secret_value().secret_id(name).secret_string(value).send().await.expect("its value");
}
