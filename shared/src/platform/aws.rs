//! Clients of AWS services, which share an HTTP client, a TLS provider and timeouts.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region, SharedCredentialsProvider, SharedHttpClient};
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_types::SdkConfig;

use crate::limits;
use crate::platform::config::{self, ConfigError};

/// The roots of AWS's endpoints (Amazon Trust Services). Loading the system's more than a hundred roots instead costs 3 ms
/// at every cold start.
const AMAZON_ROOTS: &[u8] = include_bytes!("../../roots/amazon.pem");

/// The endpoint, region and credentials of AWS services.
#[derive(Debug, Clone)]
pub struct AwsSettings {
    /// The endpoint of an emulator. None for AWS's own.
    pub endpoint_url: Option<String>,
    /// The region.
    pub region: String,
    /// The credentials.
    pub credentials: SharedCredentialsProvider,
}

impl AwsSettings {
    /// The settings that Lambda gives a function: `AWS_REGION` and credentials in the environment. With an emulator also
    /// `AWS_ENDPOINT_URL`, or a variable for one service, such as `AWS_ENDPOINT_URL_DYNAMODB`.
    ///
    /// # Errors
    /// When one of them is missing.
    pub fn from_env(service: Service) -> Result<Self, ConfigError> {
        let endpoint = |name| std::env::var(name).ok().filter(|url| !url.is_empty());
        Ok(Self {
            endpoint_url: endpoint(service.endpoint_variable()).or_else(|| endpoint("AWS_ENDPOINT_URL")),
            region: config::required("AWS_REGION")?,
            credentials: credentials_from_env()?,
        })
    }

    /// The settings for an endpoint: with the region and credentials of the environment if it has them, for AWS itself; else
    /// with placeholders, for an emulator.
    #[must_use]
    pub fn at(endpoint_url: &str) -> Self {
        let has_credentials = std::env::var_os("AWS_ACCESS_KEY_ID").is_some();
        match Self::from_env(Service::DynamoDb) {
            Ok(settings) if has_credentials => Self { endpoint_url: Some(endpoint_url.to_owned()), ..settings },
            _ => Self::emulator(endpoint_url),
        }
    }

    /// An emulator on this machine, which takes any credentials.
    #[must_use]
    pub fn emulator(endpoint_url: impl Into<String>) -> Self {
        Self {
            endpoint_url: Some(endpoint_url.into()),
            region: "us-east-1".to_owned(),
            credentials: SharedCredentialsProvider::new(Credentials::new("local", "local", None, None, "emulator")),
        }
    }
}

/// Lambda sets credentials before a process starts and never changes them in it, so they are read once.
fn credentials_from_env() -> Result<SharedCredentialsProvider, ConfigError> {
    let session_token = std::env::var("AWS_SESSION_TOKEN").ok().filter(|token| !token.is_empty());
    Ok(SharedCredentialsProvider::new(Credentials::new(
        config::required("AWS_ACCESS_KEY_ID")?,
        config::required("AWS_SECRET_ACCESS_KEY")?,
        session_token,
        None,
        "environment",
    )))
}

/// An AWS service with a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// The table.
    DynamoDb,
    /// The queues.
    Sqs,
    /// The encryption keys.
    SecretsManager,
}

impl Service {
    /// The environment variable with the endpoint of its emulator, as AWS's own tools read it.
    fn endpoint_variable(self) -> &'static str {
        match self {
            Self::DynamoDb => "AWS_ENDPOINT_URL_DYNAMODB",
            Self::Sqs => "AWS_ENDPOINT_URL_SQS",
            Self::SecretsManager => "AWS_ENDPOINT_URL_SECRETS_MANAGER",
        }
    }
}

/// A client of `DynamoDB`. Build it once per process: it keeps connections open.
#[must_use]
pub fn dynamodb(settings: &AwsSettings) -> aws_sdk_dynamodb::Client {
    aws_sdk_dynamodb::Client::new(&config(settings))
}

/// A client of SQS. Build it once per process.
#[must_use]
#[cfg(feature = "lambda")]
pub fn sqs(settings: &AwsSettings) -> aws_sdk_sqs::Client {
    aws_sdk_sqs::Client::new(&config(settings))
}

/// A client of Secrets Manager. Build it once per process.
#[must_use]
#[cfg(feature = "lambda")]
pub fn secrets_manager(settings: &AwsSettings) -> aws_sdk_secretsmanager::Client {
    aws_sdk_secretsmanager::Client::new(&config(settings))
}

/// The configuration of every client, also of services that only tools and tests use.
#[must_use]
pub fn config(settings: &AwsSettings) -> SdkConfig {
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .http_client(http_client())
        .region(Region::new(settings.region.clone()))
        .credentials_provider(settings.credentials.clone())
        .retry_config(
            RetryConfig::standard()
                .with_max_attempts(limits::AWS_ATTEMPTS_MAX)
                .with_initial_backoff(limits::AWS_BACKOFF_FIRST),
        )
        .timeout_config(
            TimeoutConfig::builder()
                .connect_timeout(limits::AWS_CONNECT_TIMEOUT)
                .operation_attempt_timeout(limits::AWS_ATTEMPT_TIMEOUT)
                .operation_timeout(limits::AWS_CALL_TIMEOUT)
                .build(),
        );
    config.set_endpoint_url(settings.endpoint_url.clone());
    config.build()
}

fn http_client() -> SharedHttpClient {
    let roots = TrustStore::empty().with_native_roots(false).with_pem_certificate(AMAZON_ROOTS);
    let builder = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring));
    match TlsContext::builder().with_trust_store(roots).build() {
        Ok(context) => builder.tls_context(context).build_https(),
        // Not reached with the roots above. The system's roots are as safe, and slower to load.
        Err(_) => builder.build_https(),
    }
}
