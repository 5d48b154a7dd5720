//! The key services that state.md 5.3 names, each behind one address.
//!
//! 1. [`Keys::open`] takes the address apart. Unknown parameters are refused; nothing is sent.
//! 2. Each call runs on a thread of its own with its own runtime, because callers are in the middle of anything: of a runtime,
//!    of the thread that writes the journal.
//! 3. Credentials are looked for, then one request is sent. Failures that pass are tried again ([`http`]); the whole call ends
//!    after [`DEADLINE`].
//! 4. The error names the address, the action and what to grant or set. **It never holds the data key**, not even if a server
//!    repeats the request in its answer.

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

/// The longest time that one call takes, with its credentials and all attempts.
pub const DEADLINE: Duration = Duration::from_secs(45);

/// The schemes of addresses, built in or not.
pub const SCHEMES: [&str; 4] = ["awskms", "azurekeyvault", "gcpkms", "hashivault"];

/// Reads a variable of the environment.
type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Bytes that are wiped from memory when dropped.
type Secret = Zeroizing<Vec<u8>>;

/// Opens keys of the clouds.
#[derive(Clone)]
pub struct Keys {
    variables: Variables,
    deadline: Duration,
}

impl Keys {
    /// Opens keys; `variables` reads the environment, where the address of Vault and some credentials stand.
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

// A build may have none of them, and then there is no value to match.
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

    /// The next step of the user after a failure.
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

/// A text without the data key, in whatever form of base64 a server may have repeated it.
fn without(text: &str, key: &[u8]) -> String {
    [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
        .iter()
        .map(|form| Zeroizing::new(form.encode(key)))
        .fold(text.to_owned(), |text, form| {
            text.replace(form.as_str(), "[secret]")
        })
}
