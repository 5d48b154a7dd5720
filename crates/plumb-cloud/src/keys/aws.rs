//! AWS KMS: `awskms://alias/<name>?region=…`, `awskms://<key id>`, `awskms:///arn:aws:kms:…`.
//!
//! Credentials and region come from the official chain (`aws-config`): environment, profiles with roles, single sign-on,
//! processes, web identity, containers, instances. The two requests are implemented here, because the official KMS client is
//! large.

use std::collections::BTreeMap;
use std::time::SystemTime;

use aws_config::sts::AssumeRoleProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials as _;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_secrets::{KeyAction, KeyError};
use serde_json::json;

use super::address::Address;
use super::failure::{Failure, chain};
use super::http::{self, Answer};
use super::{Secret, Variables};

const CONTEXT: &str = "context_";
/// Parameters of AWS addresses without a meaning for keys, which are ignored.
const IGNORED: [&str; 5] = [
    "awssdk",
    "hostname_immutable",
    "rate_limiter_capacity",
    "request_checksum_calculation",
    "response_checksum_validation",
];

pub(crate) struct Aws {
    key: String,
    region: Option<String>,
    profile: Option<String>,
    role: Option<String>,
    endpoint: Option<String>,
    has_fips: bool,
    is_dual_stack: bool,
    context: BTreeMap<String, String>,
    variables: Variables,
}

impl Aws {
    pub(crate) fn open(mut address: Address, variables: Variables) -> Result<Self, KeyError> {
        let context = address.take_all(|name| name.starts_with(CONTEXT));
        address.take_all(|name| IGNORED.contains(&name));
        let aws = Aws {
            key: address.name()?,
            region: address.take("region"),
            profile: address.take("profile"),
            role: address.take("role"),
            endpoint: address.take("endpoint"),
            has_fips: address.take_switch("fips")?,
            is_dual_stack: address.take_switch("dualstack")?,
            context: context
                .into_iter()
                .map(|(name, value)| (name[CONTEXT.len()..].to_owned(), value))
                .collect(),
            variables,
        };
        address.finish()?;
        Ok(aws)
    }

    pub(crate) async fn call(&self, action: KeyAction, bytes: &[u8]) -> Result<Secret, Failure> {
        let config = self.config().await;
        let region = self.region(&config)?;
        let endpoint = self.endpoint(&config, &region);
        let credentials = self.credentials(&config).await?;
        let (target, body, answered) = self.request(action, bytes);
        let client = http::client(Vec::new())?;
        let answer = http::exchange(&client, || {
            signed(&endpoint, &region, target, &body, &credentials)
        })
        .await?;
        if !answer.is_good() {
            return Err(refusal(&answer));
        }
        match STANDARD.decode(answer.text(&format!("/{answered}"))) {
            Ok(bytes) if !bytes.is_empty() => Ok(Secret::new(bytes)),
            _ => Err(Failure::unexpected(answered)),
        }
    }

    /// Name of the action, the request, and the member of the response that holds the result.
    fn request(&self, action: KeyAction, bytes: &[u8]) -> (&'static str, Secret, &'static str) {
        let text = STANDARD.encode(bytes);
        let (target, mut body, answered) = match action {
            KeyAction::Wrap => (
                "TrentService.Encrypt",
                json!({ "KeyId": self.key, "Plaintext": text }),
                "CiphertextBlob",
            ),
            // The key is not named, because the ciphertext names it. An alias may refer to another key by now.
            KeyAction::Unwrap => (
                "TrentService.Decrypt",
                json!({ "CiphertextBlob": text }),
                "Plaintext",
            ),
        };
        if !self.context.is_empty() {
            body["EncryptionContext"] = json!(self.context);
        }
        (target, Secret::new(body.to_string().into_bytes()), answered)
    }

    async fn config(&self) -> SdkConfig {
        let mut loader = aws_config::defaults(BehaviorVersion::latest());
        if let Some(region) = &self.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(profile) = &self.profile {
            // A requested profile takes precedence over keys in the environment.
            let credentials = aws_config::profile::ProfileFileCredentialsProvider::builder()
                .profile_name(profile)
                .build();
            loader = loader
                .profile_name(profile)
                .credentials_provider(credentials);
        }
        loader.load().await
    }

    async fn credentials(&self, config: &SdkConfig) -> Result<Credentials, Failure> {
        let found = if let Some(role) = &self.role {
            let provider = AssumeRoleProvider::builder(role.as_str())
                .session_name("plumb")
                .configure(config)
                .build()
                .await;
            provider.provide_credentials().await
        } else {
            let provider = config
                .credentials_provider()
                .ok_or_else(|| Failure::Credentials("none are configured".to_owned()))?;
            provider.provide_credentials().await
        };
        found.map_err(|error| Failure::Credentials(chain(&error)))
    }

    /// The region of the address, of the AWS settings, or of the key's ARN.
    fn region(&self, config: &SdkConfig) -> Result<String, Failure> {
        let of_arn = || self.key.strip_prefix("arn:")?.split(':').nth(2);
        config
            .region()
            .map(AsRef::as_ref)
            .or_else(of_arn)
            .filter(|region| !region.is_empty())
            .map(ToOwned::to_owned)
            .ok_or_else(|| Failure::Setting("no AWS region is configured".to_owned()))
    }

    fn endpoint(&self, config: &SdkConfig, region: &str) -> String {
        let of_service = || (self.variables)("AWS_ENDPOINT_URL_KMS").filter(|it| !it.is_empty());
        let of_config = || config.endpoint_url().map(ToOwned::to_owned);
        if let Some(endpoint) = self.endpoint.clone().or_else(of_service).or_else(of_config) {
            return if endpoint.contains("://") {
                endpoint
            } else {
                format!("https://{endpoint}")
            };
        }
        let fips = if self.has_fips { "-fips" } else { "" };
        let domain = match (region.starts_with("cn-"), self.is_dual_stack) {
            (false, false) => "amazonaws.com",
            (false, true) => "api.aws",
            (true, false) => "amazonaws.com.cn",
            (true, true) => "api.amazonwebservices.com.cn",
        };
        format!("https://kms{fips}.{region}.{domain}/")
    }

    pub(crate) fn advice(&self, action: KeyAction, failure: &Failure) -> String {
        let right = match action {
            KeyAction::Wrap => "kms:Encrypt",
            KeyAction::Unwrap => "kms:Decrypt",
        };
        let code = match failure {
            Failure::Credentials(_) => {
                return "log in with `aws sso login`, or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                    .to_owned();
            }
            Failure::Setting(_) => {
                return "add `region=…` to the address, or set AWS_REGION".to_owned();
            }
            Failure::Refused { code, .. } => code.as_str(),
            failure if failure.is_out_of_reach() => {
                return "check the network, the region and the endpoint".to_owned();
            }
            _ => return "check the endpoint".to_owned(),
        };
        match code {
            "AccessDeniedException" | "AccessDenied" => format!(
                "allow `{right}` on the key `{}` to this identity, in its policy or in that of the key",
                self.key
            ),
            "NotFoundException" => "check the name of the key and its region".to_owned(),
            "DisabledException" | "KMSInvalidStateException" => "enable the key".to_owned(),
            "InvalidCiphertextException" | "IncorrectKeyException" => {
                "the data key was encrypted with another key, in another region, or with another `context_…`"
                    .to_owned()
            }
            _ if code.contains("Token") || code.contains("Signature") => {
                "the credentials are not valid; log in again".to_owned()
            }
            _ => format!("see that the identity may use `{right}` on the key"),
        }
    }
}

/// A request with its signature.
fn signed(
    endpoint: &str,
    region: &str,
    target: &str,
    body: &[u8],
    credentials: &Credentials,
) -> Result<reqwest::Request, Failure> {
    const TYPE: (&str, &str) = ("content-type", "application/x-amz-json-1.1");
    let malformed = |what: String| Failure::Setting(format!("the endpoint is malformed: {what}"));
    let identity = credentials.clone().into();
    let params = SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("kms")
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| Failure::Credentials(chain(&error)))?
        .into();
    let headers = [TYPE, ("x-amz-target", target)];
    let signable = SignableRequest::new(
        "POST",
        endpoint,
        headers.into_iter(),
        SignableBody::Bytes(body),
    )
    .map_err(|error| malformed(chain(&error)))?;
    let (instructions, _) = sign(signable, &params)
        .map_err(|error| Failure::Credentials(chain(&error)))?
        .into_parts();
    let mut request = ::http::Request::post(endpoint)
        .header(TYPE.0, TYPE.1)
        .header("x-amz-target", target)
        .body(body.to_vec())
        .map_err(|error| malformed(chain(&error)))?;
    instructions.apply_to_request_http1x(&mut request);
    request
        .try_into()
        .map_err(|error: reqwest::Error| malformed(chain(&error)))
}

fn refusal(answer: &Answer) -> Failure {
    let code = answer.text("/__type");
    let code = code.rsplit('#').next().unwrap_or_default();
    let message = match answer.text("/message") {
        "" => answer.text("/Message"),
        message => message,
    };
    Failure::refused(answer.status, code, message)
}
