//! Google Cloud KMS: `gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K`.
//!
//! Tokens come from the official library (`google-cloud-auth`): from the JSON text in `GOOGLE_CREDENTIALS`, the token in
//! `GOOGLE_OAUTH_ACCESS_TOKEN`, or otherwise the application default credentials.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use google_cloud_auth::build_errors::Error as BuildError;
use google_cloud_auth::credentials::service_account::AccessSpecifier;
use google_cloud_auth::credentials::{
    AccessTokenCredentials, Builder, external_account, impersonated, service_account, user_account,
};
use plumb_secrets::{KeyAction, KeyError};
use reqwest::{Client, Request, Url};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::address::Address;
use super::failure::{Failure, chain};
use super::http;
use super::{Secret, Variables};

const SCOPE: &str = "https://www.googleapis.com/auth/cloudkms";
const HOST: &str = "cloudkms.googleapis.com";

pub(crate) struct Google {
    /// The resource name of the key.
    key: String,
    /// Additional authenticated data, in standard base64.
    data: Option<String>,
    variables: Variables,
}

impl Google {
    pub(crate) fn open(mut address: Address, variables: Variables) -> Result<Self, KeyError> {
        let key = address.name()?;
        let parts: Vec<&str> = key.split('/').collect();
        let is_key = matches!(
            parts.as_slice(),
            [
                "projects",
                _,
                "locations",
                _,
                "keyRings",
                _,
                "cryptoKeys",
                _
            ]
        );
        if !is_key || parts.contains(&"") {
            return Err(address.invalid(
                "expected `gcpkms://projects/<project>/locations/<location>/keyRings/<ring>/cryptoKeys/<key>`",
            ));
        }
        let data = match address.take("additional_authenticated_data") {
            Some(text) => {
                let bytes = URL_SAFE
                    .decode(&text)
                    .or_else(|_| URL_SAFE_NO_PAD.decode(&text));
                let bytes = bytes.map_err(|_| {
                    address.invalid("`additional_authenticated_data` is not base64 for addresses")
                })?;
                Some(STANDARD.encode(bytes))
            }
            None => None,
        };
        address.finish()?;
        Ok(Google {
            key,
            data,
            variables,
        })
    }

    pub(crate) async fn call(&self, action: KeyAction, bytes: &[u8]) -> Result<Secret, Failure> {
        let token = self.token().await?;
        let (sent, answered) = match action {
            KeyAction::Wrap => ("plaintext", "ciphertext"),
            KeyAction::Unwrap => ("ciphertext", "plaintext"),
        };
        let mut body = json!({ sent: STANDARD.encode(bytes) });
        if let Some(data) = &self.data {
            body["additionalAuthenticatedData"] = json!(data);
        }
        let text = format!("https://{HOST}/v1/{}:{action}", self.key);
        let url = Url::parse(&text).map_err(|error| Failure::Setting(error.to_string()))?;
        let client = http::client(Vec::new())?;
        let answer = http::exchange(&client, || request(&client, &url, &token, &body)).await?;
        if !answer.is_good() {
            let (code, message) = (answer.text("/error/status"), answer.text("/error/message"));
            return Err(Failure::refused(answer.status, code, message));
        }
        match STANDARD.decode(answer.text(&format!("/{answered}"))) {
            Ok(bytes) if !bytes.is_empty() => Ok(Secret::new(bytes)),
            _ => Err(Failure::unexpected(answered)),
        }
    }

    async fn token(&self) -> Result<Zeroizing<String>, Failure> {
        let variable = |name: &str| (self.variables)(name).filter(|value| !value.is_empty());
        let credentials = match variable("GOOGLE_CREDENTIALS") {
            Some(text) => of_text(&text)?,
            None => match variable("GOOGLE_OAUTH_ACCESS_TOKEN") {
                Some(token) => return Ok(Zeroizing::new(token)),
                None => built(
                    Builder::default()
                        .with_scopes([SCOPE])
                        .build_access_token_credentials(),
                )?,
            },
        };
        let token = credentials.access_token().await;
        token
            .map(|token| Zeroizing::new(token.token))
            .map_err(|error| Failure::Credentials(chain(&error)))
    }

    pub(crate) fn advice(&self, action: KeyAction, failure: &Failure) -> String {
        let right = match action {
            KeyAction::Wrap => "cloudkms.cryptoKeyVersions.useToEncrypt",
            KeyAction::Unwrap => "cloudkms.cryptoKeyVersions.useToDecrypt",
        };
        match failure {
            Failure::Credentials(_) | Failure::Refused { status: 401, .. } => {
                "log in with `gcloud auth application-default login`, or set GOOGLE_CREDENTIALS or \
                 GOOGLE_APPLICATION_CREDENTIALS"
                    .to_owned()
            }
            Failure::Refused { status: 403, .. } => format!(
                "grant this identity `{right}` on `{}`, for example with the role \
                 roles/cloudkms.cryptoKeyEncrypterDecrypter",
                self.key
            ),
            Failure::Refused { status: 404, .. } => {
                "check the names of project, location, key ring and key".to_owned()
            }
            Failure::Refused { status: 400, .. } if action == KeyAction::Unwrap => {
                "the data key was encrypted with another key, or with other `additional_authenticated_data`".to_owned()
            }
            failure if failure.is_out_of_reach() => format!("check the network: {HOST} must be in reach"),
            _ => "check the address of the key, and that its purpose is to encrypt and decrypt".to_owned(),
        }
    }
}

/// Credentials from JSON text. Errors do not repeat the text.
fn of_text(text: &str) -> Result<AccessTokenCredentials, Failure> {
    let malformed =
        || Failure::Credentials("GOOGLE_CREDENTIALS is not the JSON of credentials".to_owned());
    let json: Value = serde_json::from_str(text).map_err(|_| malformed())?;
    let kind = json["type"].as_str().unwrap_or_default().to_owned();
    built(match kind.as_str() {
        "service_account" => service_account::Builder::new(json)
            .with_access_specifier(AccessSpecifier::from_scopes([SCOPE]))
            .build_access_token_credentials(),
        "authorized_user" => user_account::Builder::new(json)
            .with_scopes([SCOPE])
            .build_access_token_credentials(),
        "external_account" => external_account::Builder::new(json)
            .with_scopes([SCOPE])
            .build_access_token_credentials(),
        "impersonated_service_account" => impersonated::Builder::new(json)
            .with_scopes([SCOPE])
            .build_access_token_credentials(),
        _ => return Err(malformed()),
    })
}

fn built(
    credentials: Result<AccessTokenCredentials, BuildError>,
) -> Result<AccessTokenCredentials, Failure> {
    credentials.map_err(|error| Failure::Credentials(chain(&error)))
}

fn request(client: &Client, url: &Url, token: &str, body: &Value) -> Result<Request, Failure> {
    let request = client.post(url.clone()).bearer_auth(token).json(body);
    request
        .build()
        .map_err(|_| Failure::Credentials("the token is malformed".to_owned()))
}
