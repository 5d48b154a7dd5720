//! The key services of `state.md` 5.3, each with its address scheme.
//!
//! 1. [`Keys::open`] parses the address. Unknown parameters are rejected; no request is sent.
//! 2. Each call runs on a thread of its own with its own runtime, because callers may be inside a runtime or on the thread
//!    that writes the journal.
//! 3. Credentials are acquired, then one request is sent. Transient failures are retried ([`http`]); the whole call ends
//!    after [`DEADLINE`].
//! 4. The error names the address, the action, and the permission or setting to add. **The error never contains the data
//!    key**, even if a server repeats the request in its response.

mod address;
#[cfg(feature = "aws")]
mod aws;
#[cfg(feature = "azure")]
mod azure;
mod failure;
#[cfg(feature = "google")]
mod google;
mod http;
#[cfg(test)]
mod tests;
#[cfg(feature = "vault")]
mod vault;

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use plumb_secrets::{KeyAction, KeyError, KeyService, KeyServices};
use zeroize::Zeroizing;

use address::Address;
use failure::Failure;

/// Maximum duration of a call, including credentials and all attempts.
pub const DEADLINE: Duration = Duration::from_secs(45);

/// Address schemes, whether or not their service is built in.
pub const SCHEMES: [&str; 4] = ["awskms", "azurekeyvault", "gcpkms", "hashivault"];

/// Reader of environment variables.
type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Bytes that are wiped from memory when dropped.
type Secret = Zeroizing<Vec<u8>>;

/// Opens keys of cloud services.
#[derive(Clone)]
pub struct Keys {
    variables: Variables,
    deadline: Duration,
}

impl Keys {
    /// An opener of keys; `variables` reads the environment, which holds the address of Vault and some credentials.
    pub fn new(variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Keys {
            variables: Arc::new(variables),
            deadline: DEADLINE,
        }
    }

    fn service(&self, url: &str) -> Result<Service, KeyError> {
        let address = Address::parse(url)?;
        let variables = Arc::clone(&self.variables);
        match address.scheme() {
            #[cfg(feature = "aws")]
            "awskms" => aws::Aws::open(address, variables).map(Service::Aws),
            #[cfg(feature = "azure")]
            "azurekeyvault" => azure::Azure::open(address, variables).map(Service::Azure),
            #[cfg(feature = "google")]
            "gcpkms" => google::Google::open(address, variables).map(Service::Google),
            #[cfg(feature = "vault")]
            "hashivault" => vault::Vault::open(address, variables).map(Service::Vault),
            scheme if SCHEMES.contains(&scheme) => Err(KeyError::NotBuilt {
                scheme: scheme.to_owned(),
            }),
            scheme => Err(address.invalid(format!("no key service has the scheme `{scheme}`"))),
        }
    }
}

impl KeyServices for Keys {
    fn open(&self, url: &str) -> Result<Box<dyn KeyService>, KeyError> {
        Ok(Box::new(Key {
            url: url.to_owned(),
            service: self.service(url)?,
            deadline: self.deadline,
        }))
    }
}

/// A key of one of the services.
enum Service {
    #[cfg(feature = "aws")]
    Aws(aws::Aws),
    #[cfg(feature = "azure")]
    Azure(azure::Azure),
    #[cfg(feature = "google")]
    Google(google::Google),
    #[cfg(feature = "vault")]
    Vault(vault::Vault),
}

// Matches on `*self`, because a build without any service has no value to match.
impl Service {
    async fn call(&self, action: KeyAction, bytes: &[u8]) -> Result<Secret, Failure> {
        match *self {
            #[cfg(feature = "aws")]
            Service::Aws(ref key) => key.call(action, bytes).await,
            #[cfg(feature = "azure")]
            Service::Azure(ref key) => key.call(action, bytes).await,
            #[cfg(feature = "google")]
            Service::Google(ref key) => key.call(action, bytes).await,
            #[cfg(feature = "vault")]
            Service::Vault(ref key) => key.call(action, bytes).await,
        }
    }

    /// Advice for the user after a failure.
    fn advice(&self, action: KeyAction, failure: &Failure) -> String {
        match *self {
            #[cfg(feature = "aws")]
            Service::Aws(ref key) => key.advice(action, failure),
            #[cfg(feature = "azure")]
            Service::Azure(ref key) => key.advice(action, failure),
            #[cfg(feature = "google")]
            Service::Google(ref key) => key.advice(action, failure),
            #[cfg(feature = "vault")]
            Service::Vault(ref key) => key.advice(action, failure),
        }
    }
}

struct Key {
    url: String,
    service: Service,
    deadline: Duration,
}

impl Key {
    fn run(&self, action: KeyAction, bytes: &[u8]) -> Result<Secret, KeyError> {
        let called = std::thread::scope(|scope| {
            let caller = scope.spawn(|| self.call(action, bytes));
            caller
                .join()
                .unwrap_or_else(|_| Err(Failure::Strange("the call ended early".to_owned())))
        });
        called.map_err(|failure| KeyError::Call {
            url: self.url.clone(),
            action,
            advice: self.service.advice(action, &failure),
            failure: match action {
                KeyAction::Wrap => without(&failure.to_string(), bytes),
                KeyAction::Unwrap => failure.to_string(),
            },
        })
    }

    fn call(&self, action: KeyAction, bytes: &[u8]) -> Result<Secret, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::Strange(error.to_string()))?;
        runtime.block_on(async {
            tracing::debug!(%action, "calling a key service");
            tokio::time::timeout(self.deadline, self.service.call(action, bytes))
                .await
                .unwrap_or(Err(Failure::Late(self.deadline)))
        })
    }
}

impl KeyService for Key {
    fn wrap(&self, key: &[u8]) -> Result<Vec<u8>, KeyError> {
        Ok(self.run(KeyAction::Wrap, key)?.to_vec())
    }

    fn unwrap(&self, wrapped: &[u8]) -> Result<Secret, KeyError> {
        self.run(KeyAction::Unwrap, wrapped)
    }
}

/// The text without the data key, in any form of base64 in which a server may have repeated it.
fn without(text: &str, key: &[u8]) -> String {
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
        .iter()
        .map(|form| Zeroizing::new(form.encode(key)))
        .fold(text.to_owned(), |text, form| {
            text.replace(form.as_str(), "[secret]")
        })
}
