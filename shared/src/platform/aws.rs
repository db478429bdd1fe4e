//! Clients of AWS services, with one HTTP client, TLS provider and set of timeouts.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region, SharedCredentialsProvider, SharedHttpClient};
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_types::SdkConfig;
use url::{Host, Url};

use crate::limits;
use crate::platform::config::{self, ConfigError};

/// Root certificates of AWS's endpoints (Amazon Trust Services). Loading the system's takes 3 ms per cold start.
const AMAZON_ROOTS: &[u8] = include_bytes!("../../roots/amazon.pem");

/// Endpoint, region and credentials of AWS services.
#[derive(Debug, Clone)]
pub struct AwsSettings {
    /// An emulator's endpoint. None for AWS itself.
    pub endpoint_url: Option<String>,
    /// The region.
    pub region: String,
    /// The credentials.
    pub credentials: SharedCredentialsProvider,
}

impl AwsSettings {
    /// A function's settings: `AWS_REGION` and credentials; for emulators `AWS_ENDPOINT_URL`, or one per service.
    ///
    /// # Errors
    /// If one is missing.
    pub fn from_env(service: Service) -> Result<Self, ConfigError> {
        let endpoint = |name| std::env::var(name).ok().filter(|url| !url.is_empty());
        let of_all = || endpoint("AWS_ENDPOINT_URL").filter(|url| EndpointKind::of(url) != EndpointKind::Aws);
        Ok(Self {
            endpoint_url: endpoint(service.endpoint_variable()).or_else(of_all),
            region: config::required("AWS_REGION")?,
            credentials: credentials_from_env()?,
        })
    }

    /// Settings for an endpoint. A local one takes placeholders for missing credentials: emulators accept any.
    ///
    /// # Errors
    /// If one is missing, and the endpoint isn't local.
    pub fn at(endpoint_url: &str) -> Result<Self, ConfigError> {
        let (region, credentials) = (config::required("AWS_REGION"), credentials_from_env());
        match EndpointKind::of(endpoint_url) {
            EndpointKind::Loopback => {
                let Self { endpoint_url, region: any_region, credentials: any } = Self::emulator(endpoint_url);
                let (region, credentials) = (region.unwrap_or(any_region), credentials.unwrap_or(any));
                Ok(Self { endpoint_url, region, credentials })
            }
            EndpointKind::Aws => Ok(Self { endpoint_url: None, region: region?, credentials: credentials? }),
            EndpointKind::Other => {
                Ok(Self { endpoint_url: Some(endpoint_url.to_owned()), region: region?, credentials: credentials? })
            }
        }
    }

    /// Changes the region, if one is given.
    #[must_use]
    pub fn in_region(self, region: Option<&str>) -> Self {
        Self { region: region.map_or(self.region, str::to_owned), ..self }
    }

    /// A local emulator, which accepts any credentials.
    #[must_use]
    pub fn emulator(endpoint_url: impl Into<String>) -> Self {
        Self {
            endpoint_url: Some(endpoint_url.into()),
            region: "us-east-1".to_owned(),
            credentials: SharedCredentialsProvider::new(Credentials::new("local", "local", None, None, "emulator")),
        }
    }
}

/// What answers at an endpoint; decides which credentials it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointKind {
    /// AWS itself. The URL is unused: the SDK derives each service's endpoint from the region.
    Aws,
    /// An emulator on this machine.
    Loopback,
    /// An emulator elsewhere, such as in a network of containers.
    Other,
}

impl EndpointKind {
    /// Classifies an endpoint's URL.
    #[must_use]
    pub fn of(endpoint_url: &str) -> Self {
        let is_of_aws = |name: &str| {
            let is_below = |parent| name == parent || name.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'));
            ["amazonaws.com", "amazonaws.com.cn", "api.aws"].into_iter().any(is_below)
        };
        let is_of_this_machine = |name: &str| name == "localhost" || name.ends_with(".localhost");
        match Url::parse(endpoint_url).ok().as_ref().and_then(Url::host) {
            Some(Host::Domain(name)) if is_of_aws(name) => Self::Aws,
            Some(Host::Domain(name)) if is_of_this_machine(name) => Self::Loopback,
            Some(Host::Ipv4(address)) if address.is_loopback() => Self::Loopback,
            Some(Host::Ipv6(address)) if address.is_loopback() => Self::Loopback,
            _ => Self::Other,
        }
    }
}

/// Lambda sets credentials before a process starts and never changes them, so they are read once.
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
    /// The files.
    S3,
    /// The functions, one of which invokes another.
    Lambda,
}

impl Service {
    /// The variable for an emulator's endpoint, as in AWS's own tools.
    fn endpoint_variable(self) -> &'static str {
        match self {
            Self::DynamoDb => "AWS_ENDPOINT_URL_DYNAMODB",
            Self::Sqs => "AWS_ENDPOINT_URL_SQS",
            Self::SecretsManager => "AWS_ENDPOINT_URL_SECRETS_MANAGER",
            Self::S3 => "AWS_ENDPOINT_URL_S3",
            Self::Lambda => "AWS_ENDPOINT_URL_LAMBDA",
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

/// The configuration of all clients, also those for tools and tests.
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

/// The HTTP client of all clients and of the SDK's credential chain.
#[must_use]
pub fn http_client() -> SharedHttpClient {
    let builder = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring));
    match tls_context() {
        Some(context) => builder.tls_context(context).build_https(),
        None => builder.build_https(),
    }
}

/// A connector for signed calls of a service without a client here.
#[must_use]
pub fn connector() -> Connector {
    let builder = Connector::builder().tls_provider(Provider::Rustls(CryptoMode::Ring));
    match tls_context() {
        Some(context) => builder.tls_context(context).build(),
        None => builder.build(),
    }
}

/// TLS with AWS's root certificates. `None` doesn't occur; the system's roots would be as safe, only slower.
fn tls_context() -> Option<TlsContext> {
    let roots = TrustStore::empty().with_native_roots(false).with_pem_certificate(AMAZON_ROOTS);
    TlsContext::builder().with_trust_store(roots).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_of_aws_of_this_machine_or_elsewhere() {
        for (kind, urls) in [
            (
                EndpointKind::Aws,
                &[
                    "https://amazonaws.com",
                    "https://dynamodb.eu-central-1.amazonaws.com/",
                    "https://sqs.cn-north-1.amazonaws.com.cn",
                    "https://dynamodb.us-east-1.api.aws",
                ][..],
            ),
            (
                EndpointKind::Loopback,
                &["http://127.0.0.1:8000", "http://localhost:4566", "http://[::1]:4566", "http://aws.localhost"],
            ),
            (
                EndpointKind::Other,
                &[
                    "http://localstack:4566",
                    "https://localhost.localstack.cloud:4566",
                    "http://10.0.0.7:4566",
                    "https://notamazonaws.com",
                    "https://amazonaws.com.example",
                    "localhost:4566",
                    "",
                ],
            ),
        ] {
            for url in urls {
                assert_eq!(EndpointKind::of(url), kind, "{url}");
            }
        }
    }
}
