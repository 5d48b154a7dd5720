//! Azure Key Vault: `azurekeyvault://<vault>.vault.azure.net/keys/<name>[/<version>]?algorithm=…`.
//!
//! Tokens come from the official library (`azure_identity`), from the first available of these: a client secret in the
//! environment, a workload identity, a managed identity, the command lines `az` and `azd`. The wrapped key is text: the
//! bytes of the vault in URL-safe base64 without padding.

use std::sync::Arc;
use std::time::Duration;

use azure_core::credentials::{Secret as Password, TokenCredential};
use azure_identity::{
    AzureCliCredential, ClientSecretCredential, DeveloperToolsCredential,
    ManagedIdentityCredential, ManagedIdentityCredentialOptions, UserAssignedId,
    WorkloadIdentityCredential,
};
use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use plumb_secrets::{KeyAction, KeyError};
use reqwest::{Client, Request, Url};
use serde_json::json;

use super::address::Address;
use super::failure::{Failure, chain};
use super::http::{self, Answer};
use super::{Secret, Variables};

const VERSION: &str = "7.4";
/// Limit for the request to the endpoint of managed identities, because outside of Azure nothing answers at that address.
const PROBE: Duration = Duration::from_secs(2);

type Credential = Result<Arc<dyn TokenCredential>, Failure>;

pub(crate) struct Azure {
    host: String,
    name: String,
    version: String,
    algorithm: String,
    variables: Variables,
}

impl Azure {
    pub(crate) fn open(mut address: Address, variables: Variables) -> Result<Self, KeyError> {
        let host = address.host();
        // The host must be that of a vault, because the token is sent to it.
        let is_vault = [".vault.", ".managedhsm."]
            .iter()
            .any(|it| host.contains(it));
        let mut parts = address.path().split('/');
        let (Some("keys"), Some(name), version, None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(
                address.invalid("expected `azurekeyvault://<vault>.vault.azure.net/keys/<name>`")
            );
        };
        if !is_vault || name.is_empty() {
            return Err(
                address.invalid("expected `azurekeyvault://<vault>.vault.azure.net/keys/<name>`")
            );
        }
        let (name, version) = (name.to_owned(), version.unwrap_or_default().to_owned());
        let algorithm = address
            .take("algorithm")
            .unwrap_or("RSA-OAEP-256".to_owned());
        address.finish()?;
        Ok(Azure {
            host,
            name,
            version,
            algorithm,
            variables,
        })
    }

    pub(crate) async fn call(&self, action: KeyAction, bytes: &[u8]) -> Result<Secret, Failure> {
        let token = self.token().await?;
        let value = match action {
            KeyAction::Wrap => URL_SAFE_NO_PAD.encode(bytes),
            KeyAction::Unwrap => wrapped_text(bytes),
        };
        let body = json!({ "alg": self.algorithm, "value": value });
        let client = http::client(Vec::new())?;
        let url = self.url(action)?;
        let answer = http::exchange(&client, || request(&client, &url, &token, &body)).await?;
        if !answer.is_good() {
            let (code, message) = (answer.text("/error/code"), answer.text("/error/message"));
            return Err(Failure::refused(answer.status, code, message));
        }
        value_of(action, &answer)
    }

    /// The URL of the action. Without a version its path segment is empty, as in requests of the official clients.
    fn url(&self, action: KeyAction) -> Result<Url, Failure> {
        let text = format!(
            "https://{}/keys/{}/{}/{action}?api-version={VERSION}",
            self.host, self.name, self.version
        );
        Url::parse(&text).map_err(|error| Failure::Setting(error.to_string()))
    }

    /// The scope of tokens: all vaults of the cloud, not just this one.
    fn scope(&self) -> String {
        let domain = self.host.split_once('.').map_or("", |(_, domain)| domain);
        let domain = domain.split(':').next().unwrap_or_default();
        format!("https://{domain}/.default")
    }

    async fn token(&self) -> Result<Password, Failure> {
        let scope = self.scope();
        let scopes = [scope.as_str()];
        if self.is_managed() {
            let managed = self.managed()?;
            let asked = tokio::time::timeout(PROBE, managed.get_token(&scopes, None)).await;
            if let Ok(Ok(token)) = asked {
                return Ok(token.token);
            }
        }
        let credential = self.credential()?;
        let token = credential.get_token(&scopes, None).await;
        token
            .map(|token| token.token)
            .map_err(|error| Failure::Credentials(chain(&error)))
    }

    /// Whether a managed identity is tried, because no other credential is configured.
    fn is_managed(&self) -> bool {
        let is_set = |name| self.variable(name).is_some();
        !is_set("AZURE_CLIENT_SECRET") && !is_set("AZURE_FEDERATED_TOKEN_FILE") && !self.wants_cli()
    }

    fn managed(&self) -> Credential {
        let options = ManagedIdentityCredentialOptions {
            user_assigned_id: self
                .variable("AZURE_CLIENT_ID")
                .map(UserAssignedId::ClientId),
            ..ManagedIdentityCredentialOptions::default()
        };
        opened(ManagedIdentityCredential::new(Some(options)))
    }

    fn credential(&self) -> Credential {
        if self.wants_cli() {
            return opened(AzureCliCredential::new(None));
        }
        let variable = |name| self.variable(name);
        if let Some(secret) = variable("AZURE_CLIENT_SECRET") {
            let (Some(tenant), Some(client)) =
                (variable("AZURE_TENANT_ID"), variable("AZURE_CLIENT_ID"))
            else {
                return Err(Failure::Credentials(
                    "AZURE_CLIENT_SECRET is set without AZURE_TENANT_ID and AZURE_CLIENT_ID"
                        .to_owned(),
                ));
            };
            let password = Password::new(secret);
            return opened(ClientSecretCredential::new(&tenant, client, password, None));
        }
        if variable("AZURE_FEDERATED_TOKEN_FILE").is_some() {
            return opened(WorkloadIdentityCredential::new(None));
        }
        if variable("AZURE_CLIENT_CERTIFICATE_PATH").is_some() {
            return Err(Failure::Credentials(
                "AZURE_CLIENT_CERTIFICATE_PATH is not supported yet".to_owned(),
            ));
        }
        opened(DeveloperToolsCredential::new(None))
    }

    fn wants_cli(&self) -> bool {
        let wanted = self.variable("AZURE_KEYVAULT_AUTH_VIA_CLI");
        wanted.is_some_and(|it| it == "1" || it.eq_ignore_ascii_case("true"))
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn advice(&self, action: KeyAction, failure: &Failure) -> String {
        match failure {
            Failure::Credentials(_) => {
                "log in with `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"
                    .to_owned()
            }
            Failure::Refused { status: 401 | 403, .. } => format!(
                "grant this identity the role `Key Vault Crypto User` on the vault `{}`, or `{action}` for keys in its access policy",
                self.host
            ),
            Failure::Refused { status: 404, .. } => {
                "check the names of the vault, the key and its version".to_owned()
            }
            Failure::Refused { status: 400, .. } if action == KeyAction::Unwrap => {
                "name the version of the key that the data key was encrypted with: `…/keys/<name>/<version>`"
                    .to_owned()
            }
            failure if failure.is_out_of_reach() => {
                "check the network, and the name of the vault".to_owned()
            }
            _ => "check the address of the key and its algorithm".to_owned(),
        }
    }
}

fn opened<C: TokenCredential + 'static>(credential: azure_core::Result<Arc<C>>) -> Credential {
    match credential {
        Ok(credential) => Ok(credential),
        Err(error) => Err(Failure::Credentials(chain(&error))),
    }
}

fn request(
    client: &Client,
    url: &Url,
    token: &Password,
    body: &serde_json::Value,
) -> Result<Request, Failure> {
    let request = client
        .post(url.clone())
        .bearer_auth(token.secret())
        .json(body);
    request
        .build()
        .map_err(|_| Failure::Credentials("the token is malformed".to_owned()))
}

/// The result of an action: the text itself for a wrapped key, the decoded bytes for the data key.
fn value_of(action: KeyAction, answer: &Answer) -> Result<Secret, Failure> {
    let text = answer.text("/value").trim_end_matches('=');
    match (action, URL_SAFE_NO_PAD.decode(text)) {
        (KeyAction::Wrap, Ok(bytes)) if !bytes.is_empty() => {
            Ok(Secret::new(text.as_bytes().to_vec()))
        }
        (KeyAction::Unwrap, Ok(bytes)) if !bytes.is_empty() => Ok(Secret::new(bytes)),
        _ => Err(Failure::unexpected("value")),
    }
}

/// The text to send to the vault. Wrapped keys are stored as that text; some programs have stored the decoded bytes.
fn wrapped_text(wrapped: &[u8]) -> String {
    let text = std::str::from_utf8(wrapped).ok();
    let is_text =
        |text: &&str| URL_SAFE_NO_PAD.decode(text).is_ok() || URL_SAFE.decode(text).is_ok();
    match text.filter(is_text) {
        Some(text) => text.trim_end_matches('=').to_owned(),
        None => URL_SAFE_NO_PAD.encode(wrapped),
    }
}
