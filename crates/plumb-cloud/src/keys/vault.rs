//! The transit engine of HashiCorp Vault and of OpenBao: `hashivault://<key>?engine=transit`.
//!
//! Address and token come from the environment: `VAULT_SERVER_URL` or `VAULT_ADDR`, `VAULT_SERVER_TOKEN` or `VAULT_TOKEN`;
//! `VAULT_NAMESPACE` and `VAULT_CACERT` have the same meaning as for Vault's own command line. The wrapped key is the text
//! `vault:v1:…`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_secrets::{KeyAction, KeyError};
use reqwest::{Certificate, Client, Request, Url};
use serde_json::{Value, json};

use super::address::Address;
use super::failure::{Failure, chain};
use super::http::{self, Answer};
use super::{Secret, Variables};

pub(crate) struct Vault {
    key: String,
    engine: String,
    variables: Variables,
}

impl Vault {
    pub(crate) fn open(mut address: Address, variables: Variables) -> Result<Self, KeyError> {
        let vault = Vault {
            key: address.name()?,
            engine: address.take("engine").unwrap_or("transit".to_owned()),
            variables,
        };
        address.finish()?;
        Ok(vault)
    }

    pub(crate) async fn call(&self, action: KeyAction, bytes: &[u8]) -> Result<Secret, Failure> {
        let client = http::client(self.roots()?)?;
        let url = self.url(action)?;
        let body = match action {
            KeyAction::Wrap => json!({ "plaintext": STANDARD.encode(bytes) }),
            KeyAction::Unwrap => json!({ "ciphertext": String::from_utf8_lossy(bytes) }),
        };
        let answer = http::exchange(&client, || self.request(&client, &url, &body)).await?;
        if !answer.is_good() {
            return Err(refusal(&answer));
        }
        match action {
            KeyAction::Wrap => match answer.text("/data/ciphertext") {
                "" => Err(Failure::unexpected("data.ciphertext")),
                wrapped => Ok(Secret::new(wrapped.as_bytes().to_vec())),
            },
            KeyAction::Unwrap => match STANDARD.decode(answer.text("/data/plaintext")) {
                Ok(key) if !key.is_empty() => Ok(Secret::new(key)),
                _ => Err(Failure::unexpected("data.plaintext")),
            },
        }
    }

    fn request(&self, client: &Client, url: &Url, body: &Value) -> Result<Request, Failure> {
        let mut request = client
            .put(url.clone())
            .header("X-Vault-Request", "true")
            .json(body);
        let headers = [
            ("X-Vault-Token", ["VAULT_SERVER_TOKEN", "VAULT_TOKEN"]),
            ("X-Vault-Namespace", ["VAULT_NAMESPACE", "VAULT_NAMESPACE"]),
        ];
        for (header, names) in headers {
            if let Some(value) = self.first_of(names) {
                request = request.header(header, value);
            }
        }
        // Fails for a token with a line break, which cannot be a header. The error does not repeat the token.
        request.build().map_err(|_| {
            Failure::Credentials("the Vault token or namespace is malformed".to_owned())
        })
    }

    fn url(&self, action: KeyAction) -> Result<Url, Failure> {
        let server = self
            .first_of(["VAULT_SERVER_URL", "VAULT_ADDR"])
            .ok_or_else(|| {
                Failure::Setting("neither VAULT_SERVER_URL nor VAULT_ADDR is set".to_owned())
            })?;
        let text = format!(
            "{}/v1/{}/{action}/{}",
            server.trim_end_matches('/'),
            self.engine.trim_matches('/'),
            self.key
        );
        Url::parse(&text)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or_else(|| {
                Failure::Setting("the address of the Vault server is malformed".to_owned())
            })
    }

    fn roots(&self) -> Result<Vec<Certificate>, Failure> {
        let Some(path) = (self.variables)("VAULT_CACERT").filter(|path| !path.is_empty()) else {
            return Ok(Vec::new());
        };
        let broken = |why: String| Failure::Setting(format!("VAULT_CACERT {path}: {why}"));
        let text = std::fs::read(&path).map_err(|error| broken(error.to_string()))?;
        Certificate::from_pem_bundle(&text).map_err(|error| broken(chain(&error)))
    }

    fn first_of(&self, names: [&str; 2]) -> Option<String> {
        let mut values = names.iter().filter_map(|name| (self.variables)(name));
        values.find(|value| !value.is_empty())
    }

    pub(crate) fn advice(&self, action: KeyAction, failure: &Failure) -> String {
        let path = format!("{}/{action}/{}", self.engine, self.key);
        match failure {
            Failure::Setting(_) => "set VAULT_ADDR to the address of the server".to_owned(),
            Failure::Refused { status: 403, .. } => {
                format!("set VAULT_TOKEN to a valid token whose policy allows `update` on `{path}`")
            }
            Failure::Refused { status: 404, .. } => {
                format!("enable the transit engine at `{}`", self.engine)
            }
            Failure::Refused { status: 400, .. } => format!(
                "see whether there is a key `{}` that can {action}, and whether it is the one that the stack was made with",
                self.key
            ),
            Failure::Refused { status: 503, .. } => "unseal the server".to_owned(),
            failure if failure.is_out_of_reach() => {
                "check VAULT_ADDR and the network, and see that the server is running".to_owned()
            }
            _ => "check VAULT_ADDR and the address of the key".to_owned(),
        }
    }
}

fn refusal(answer: &Answer) -> Failure {
    let errors = answer.body.get("errors").and_then(Value::as_array);
    let errors: Vec<&str> = errors
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    Failure::refused(answer.status, "", &errors.join("; "))
}
