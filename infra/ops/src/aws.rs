//! AWS settings outside Lambda: the SDK's own chain of credentials and regions.
//!
//! Functions read only the environment, which Lambda fills (`shared::platform::aws`). The chain also asks profiles and
//! machine roles, at a cost in crates and start-up time that functions can't afford: hence the feature `aws`.

use aws_config::BehaviorVersion;
use aws_credential_types::provider::ProvideCredentials;
use shared::platform::aws::{AwsSettings, EndpointKind, http_client};
use shared::platform::config::ConfigError;

/// Why settings are missing.
#[derive(Debug, thiserror::Error)]
pub enum NoAwsSettings {
    /// Neither the environment nor the profile names a region.
    #[error("no region: set AWS_REGION, or `region` in the profile")]
    NoRegion,
    /// The chain has no credentials.
    #[error("no credentials in the environment, the profile, or the role of this machine or container ({0})")]
    NoCredentials(String),
    /// A variable has an invalid value.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Settings for an endpoint or AWS itself, with region and credentials from the SDK's chain, checked first. A local
/// emulator gets the environment's credentials or placeholders: a profile's credentials are for AWS.
pub async fn settings(endpoint_url: Option<&str>) -> Result<AwsSettings, NoAwsSettings> {
    settings_in(endpoint_url, None).await
}

/// Like [`settings`], in another region if one is given.
pub async fn settings_in(endpoint_url: Option<&str>, region: Option<&str>) -> Result<AwsSettings, NoAwsSettings> {
    let endpoint_url = match endpoint_url.map(|url| (url, EndpointKind::of(url))) {
        Some((url, EndpointKind::Loopback)) => return Ok(AwsSettings::at(url)?.in_region(region)),
        Some((url, EndpointKind::Other)) => Some(url.to_owned()),
        Some((_, EndpointKind::Aws)) | None => None,
    };
    let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(http_client());
    if let Some(region) = region {
        loader = loader.region(aws_config::Region::new(region.to_owned()));
    }
    let chain = loader.load().await;
    let region = chain.region().ok_or(NoAwsSettings::NoRegion)?.to_string();
    let none = || NoAwsSettings::NoCredentials("no provider".to_owned());
    let credentials = chain.credentials_provider().ok_or_else(none)?;
    // Asked here, to report missing credentials before the first call.
    credentials.provide_credentials().await.map_err(|error| NoAwsSettings::NoCredentials(error.to_string()))?;
    Ok(AwsSettings { endpoint_url, region, credentials })
}
