//! The AWS account where test runs create tables, queues and secrets, and delete them again.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::error::DisplayErrorContext;
use futures_util::{StreamExt, stream};
use shared::platform::aws::{self, AwsSettings};

use crate::run_resources::{PREFIX, RunId};
use crate::wait::PATIENCE;

/// Concurrent deletions. AWS allows some ten such calls a second.
const CONCURRENCY: usize = 8;

/// Attempts per call: AWS throttles deletions.
const ATTEMPTS_MAX: u32 = 8;

/// The services where runs create resources.
#[derive(Debug)]
pub struct Account {
    dynamodb: aws_sdk_dynamodb::Client,
    sqs: aws_sdk_sqs::Client,
    secrets: aws_sdk_secretsmanager::Client,
}

impl Account {
    /// The account with its tables at one endpoint, queues and secrets at another or the same.
    #[must_use]
    pub fn new(tables: &AwsSettings, others: &AwsSettings) -> Self {
        let patient = |settings| {
            let timeouts = TimeoutConfig::builder()
                .connect_timeout(PATIENCE)
                .operation_attempt_timeout(PATIENCE)
                .operation_timeout(PATIENCE)
                .build();
            let retries = RetryConfig::standard().with_max_attempts(ATTEMPTS_MAX);
            aws::config(settings).into_builder().timeout_config(timeouts).retry_config(retries).build()
        };
        let (tables, others) = (patient(tables), patient(others));
        Self {
            dynamodb: aws_sdk_dynamodb::Client::new(&tables),
            sqs: aws_sdk_sqs::Client::new(&others),
            secrets: aws_sdk_secretsmanager::Client::new(&others),
        }
    }

    /// Deletes some runs' resources, and returns how many. Reports the first failure after deleting the rest.
    pub async fn delete(&self, is_wanted: impl Fn(&RunId) -> bool) -> Result<usize, String> {
        let found = [self.tables().await?, self.queues().await?, self.secrets().await?].concat();
        let wanted: Vec<Resource> = found
            .into_iter()
            .filter(|found| RunId::of_resource(found.name()).is_some_and(|run| is_wanted(&run)))
            .collect();
        let deletions = stream::iter(wanted).map(|resource| self.delete_one(resource)).buffer_unordered(CONCURRENCY);
        let outcomes: Vec<Result<(), String>> = deletions.collect().await;
        let count = outcomes.len();
        outcomes.into_iter().collect::<Result<(), String>>().map(|()| count)
    }

    async fn tables(&self) -> Result<Vec<Resource>, String> {
        // Names are sorted, so the list begins with ours.
        let mut names = self.dynamodb.list_tables().exclusive_start_table_name(PREFIX).into_paginator().items().send();
        let mut found = Vec::new();
        while let Some(name) = names.next().await {
            let name = name.map_err(described)?;
            if !name.starts_with(PREFIX) {
                break;
            }
            found.push(Resource::Table(name));
        }
        Ok(found)
    }

    async fn queues(&self) -> Result<Vec<Resource>, String> {
        let mut urls =
            self.sqs.list_queues().queue_name_prefix(PREFIX).max_results(1000).into_paginator().items().send();
        let mut found = Vec::new();
        while let Some(url) = urls.next().await {
            found.push(Resource::Queue { url: url.map_err(described)? });
        }
        Ok(found)
    }

    async fn secrets(&self) -> Result<Vec<Resource>, String> {
        let mut pages = self.secrets.list_secrets().into_paginator().send();
        let mut found = Vec::new();
        while let Some(page) = pages.next().await {
            let secrets = page.map_err(described)?.secret_list.unwrap_or_default();
            found.extend(secrets.into_iter().filter_map(|secret| secret.name).map(Resource::Secret));
        }
        Ok(found)
    }

    async fn delete_one(&self, resource: Resource) -> Result<(), String> {
        let name = resource.name().to_owned();
        let deleted = match resource {
            Resource::Table(name) => {
                self.dynamodb.delete_table().table_name(name).send().await.map(drop).map_err(described)
            }
            Resource::Queue { url } => self.sqs.delete_queue().queue_url(url).send().await.map(drop).map_err(described),
            Resource::Secret(name) => {
                let delete = self.secrets.delete_secret().secret_id(name).force_delete_without_recovery(true);
                delete.send().await.map(drop).map_err(described)
            }
        };
        deleted.map_err(|error| format!("{name}: {error}"))
    }
}

#[derive(Debug, Clone)]
enum Resource {
    Table(String),
    Queue { url: String },
    Secret(String),
}

impl Resource {
    fn name(&self) -> &str {
        match self {
            Self::Table(name) | Self::Secret(name) => name,
            Self::Queue { url } => url.rsplit('/').next().unwrap_or_default(),
        }
    }
}

fn described(error: impl std::error::Error) -> String {
    DisplayErrorContext(&error).to_string()
}
