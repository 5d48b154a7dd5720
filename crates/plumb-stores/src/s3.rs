//! S3 and compatible servers.
//!
//! Credentials and region come from the standard chain of AWS: environment variables, profiles with source profiles,
//! single sign-on and processes, web identity, and the metadata services of machines and containers.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::{ProfileFileCredentialsProvider, ProfileFileRegionProvider};
use aws_config::sts::AssumeRoleProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::{CredentialProvider, Error};
use plumb_backend::Bucket;
use tokio::sync::Mutex;

use crate::Variables;
use crate::answer::NoCredentials;
use crate::error::OpenError;
use crate::object::{ObjectBucket, Rights, client, retries, unusable};
use crate::runtime::Worker;
use crate::url::{Encryption, S3Url};
use crate::watch::StoreWatch;

/// Remaining lifetime below which credentials are requested again.
const MARGIN: Duration = Duration::from_mins(5);

pub(crate) fn open(
    url: &S3Url,
    variables: Variables<'_>,
    watch: &Arc<StoreWatch>,
) -> Result<Arc<dyn Bucket>, OpenError> {
    let address = format!("s3://{}", url.bucket);
    let worker = Worker::start(&address, watch)?;
    let wanted = url.clone();
    let config = worker.run(async move { configuration(&wanted).await });
    let endpoint = url
        .endpoint
        .clone()
        .or_else(|| variables("AWS_ENDPOINT_URL_S3"))
        .or_else(|| config.endpoint_url().map(str::to_owned));
    let region = match (config.region(), &endpoint) {
        (Some(region), _) => region.to_string(),
        // Compatible servers rarely have regions, but requests must name one.
        (None, Some(_)) => "us-east-1".to_owned(),
        (None, None) => {
            return Err(OpenError::Settings {
                url: address,
                problem: "no region was found; add ?region=… to the address, or set AWS_REGION"
                    .to_owned(),
            });
        }
    };
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&url.bucket)
        .with_region(&region)
        .with_retry(retries())
        .with_disable_tagging(true)
        .with_client_options(client().with_allow_http(true));
    builder = with_address(builder, url, endpoint.as_deref(), &region);
    builder = with_encryption(builder, url);
    builder = if url.anonymous {
        builder.with_skip_signature(true)
    } else {
        let role = url.role.clone();
        let provider = worker.run(async move { provider(&config, role).await });
        builder.with_credentials(Arc::new(AwsCredentials::new(provider)))
    };
    let store = builder.build().map_err(unusable(&address))?;
    Ok(Arc::new(ObjectBucket::new(
        Arc::new(store),
        worker,
        ("s3", &url.bucket, &url.prefix),
        rights(url),
    )))
}

fn rights(url: &S3Url) -> Rights {
    Rights {
        read: "s3:GetObject",
        write: "s3:PutObject",
        remove: "s3:DeleteObject",
        list: "s3:ListBucket",
        objects: format!("arn:aws:s3:::{}/{}*", url.bucket, url.prefix),
        bucket: format!("arn:aws:s3:::{}", url.bucket),
    }
}

/// Settings from the environment and the shared configuration.
async fn configuration(url: &S3Url) -> SdkConfig {
    let mut loader = aws_config::defaults(BehaviorVersion::latest());
    if let Some(name) = &url.profile {
        // A profile in the address takes precedence over keys in environment variables.
        let provider = ProfileFileCredentialsProvider::builder().profile_name(name);
        let loaded = loader.profile_name(name);
        loader = loaded.credentials_provider(provider.build());
    }
    let given = url.region.clone().map(Region::new);
    loader = if given.is_some() {
        loader.region(RegionProviderChain::first_try(given))
    } else if url.endpoint.is_some() {
        // The metadata service of a machine in AWS does not apply to another server.
        let mut profile = ProfileFileRegionProvider::builder();
        if let Some(name) = &url.profile {
            profile = profile.profile_name(name);
        }
        let environment = aws_config::environment::EnvironmentVariableRegionProvider::new();
        loader.region(RegionProviderChain::first_try(environment).or_else(profile.build()))
    } else {
        loader
    };
    loader.load().await
}

async fn provider(config: &SdkConfig, role: Option<String>) -> Option<SharedCredentialsProvider> {
    match role {
        None => config.credentials_provider(),
        Some(role) => {
            let builder = AssumeRoleProvider::builder(role).configure(config);
            let provider = builder.session_name("plumb").build().await;
            Some(SharedCredentialsProvider::new(provider))
        }
    }
}

fn with_encryption(builder: AmazonS3Builder, url: &S3Url) -> AmazonS3Builder {
    let kind = url.encryption.map(|kind| match kind {
        Encryption::Aes256 => "AES256",
        Encryption::Kms => "aws:kms",
        Encryption::KmsTwice => "aws:kms:dsse",
    });
    let settings = [
        ("aws_server_side_encryption", kind),
        ("aws_sse_kms_key_id", url.kms_key.as_deref()),
    ];
    let given = settings
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    given.fold(builder, |builder, (name, value)| {
        let key: AmazonS3ConfigKey = name.parse().expect("the library has this setting");
        builder.with_config(key, value)
    })
}

/// Sets the address of the bucket: its name is part of the host name, unless that is impossible.
fn with_address(
    builder: AmazonS3Builder,
    url: &S3Url,
    endpoint: Option<&str>,
    region: &str,
) -> AmazonS3Builder {
    let bucket = &url.bucket;
    let Some(endpoint) = endpoint else {
        let stack = if url.dualstack { ".dualstack" } else { "" };
        let fips = if url.fips { "-fips" } else { "" };
        let host = if url.accelerate {
            format!("s3-accelerate{stack}.amazonaws.com")
        } else {
            format!("s3{fips}{stack}.{region}.{}", domain_of(region))
        };
        // Certificates do not cover names with further dots.
        return if url.path_style || bucket.contains('.') {
            builder.with_endpoint(format!("https://{host}"))
        } else {
            builder
                .with_virtual_hosted_style_request(true)
                .with_endpoint(format!("https://{bucket}.{host}"))
        };
    };
    match endpoint.split_once("://") {
        Some((scheme, host)) if !is_in_path(url, host) => builder
            .with_virtual_hosted_style_request(true)
            .with_endpoint(format!("{scheme}://{bucket}.{host}")),
        _ => builder.with_endpoint(endpoint),
    }
}

fn domain_of(region: &str) -> &'static str {
    if region.starts_with("cn-") {
        "amazonaws.com.cn"
    } else {
        "amazonaws.com"
    }
}

/// Whether the bucket is in the path of a custom endpoint. IP addresses cannot have the bucket as a subdomain.
fn is_in_path(url: &S3Url, host: &str) -> bool {
    let name = host.split(['/', '?']).next().unwrap_or_default();
    let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
    let is_number = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    url.path_style || url.hostname_immutable || is_number
}

/// AWS credentials, cached until shortly before they expire.
struct AwsCredentials {
    provider: Option<SharedCredentialsProvider>,
    present: Mutex<Option<(Arc<AwsCredential>, Option<SystemTime>)>>,
}

impl std::fmt::Debug for AwsCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AwsCredentials")
    }
}

impl AwsCredentials {
    fn new(provider: Option<SharedCredentialsProvider>) -> Self {
        AwsCredentials {
            provider,
            present: Mutex::new(None),
        }
    }

    async fn ask(&self) -> Result<Credentials, Error> {
        const ADVICE: &str = "log in with `aws sso login`, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
        let provider = self.provider.as_ref();
        let found = match provider {
            Some(provider) => provider.provide_credentials().await,
            None => Err(CredentialsError::not_loaded("there are none")),
        };
        found.map_err(|error| NoCredentials::error("AWS", ADVICE, &error))
    }
}

#[async_trait::async_trait]
impl CredentialProvider for AwsCredentials {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> Result<Arc<AwsCredential>, Error> {
        let mut present = self.present.lock().await;
        let limit = SystemTime::now() + MARGIN;
        if let Some((credential, ends)) = present.as_ref()
            && ends.is_none_or(|ends| ends > limit)
        {
            return Ok(credential.clone());
        }
        let found = self.ask().await?;
        let credential = Arc::new(AwsCredential {
            key_id: found.access_key_id().to_owned(),
            secret_key: found.secret_access_key().to_owned(),
            token: found.session_token().map(str::to_owned),
        });
        *present = Some((credential.clone(), found.expiry()));
        Ok(credential)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bucket_is_in_the_host_name_where_it_can_be() {
        let plain = S3Url::default();
        let styled = S3Url {
            path_style: true,
            ..S3Url::default()
        };
        assert!(!is_in_path(&plain, "minio.example:9000"));
        assert!(!is_in_path(&plain, "localhost:9000"));
        assert!(is_in_path(&plain, "127.0.0.1:9000"));
        assert!(is_in_path(&plain, "[::1]:9000"));
        assert!(is_in_path(&styled, "minio.example:9000"));
    }
}
