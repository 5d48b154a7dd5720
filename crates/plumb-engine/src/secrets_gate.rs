//! A gate before everything that may bring secrets to light.
//!
//! Plugins return secrets that no program asked for. An object that was made by a plugin and whose outputs cannot be encrypted
//! cannot be recorded as it is. **No such call is made before secrets can be recorded**: the gate is asked once in each run,
//! before the first call whose answer may hold secrets.

use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_resource::provider::{ProviderCall, ProviderError};
use tokio::sync::OnceCell;

/// Makes sure that secrets can be recorded, or says why they cannot be. It may take long.
type Check = dyn Fn() -> Result<(), String> + Send + Sync;

/// Says whether secrets can be recorded. Clones are one gate.
#[derive(Clone)]
pub struct SecretsGate {
    check: Arc<Check>,
    checked: Arc<OnceCell<Result<(), String>>>,
}

impl SecretsGate {
    /// A gate that opens when `check` succeeds.
    pub fn new(check: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        SecretsGate {
            check: Arc::new(check),
            checked: Arc::default(),
        }
    }

    /// Passes if `call` has nothing to do with secrets, or they can be recorded.
    pub(crate) async fn pass(
        &self,
        provider: &dyn Provider,
        call: &ProviderCall,
    ) -> Result<(), ProviderError> {
        if !provider.may_answer_secrets(call) {
            return Ok(());
        }
        let checked = self.checked.get_or_init(|| async {
            let check = self.check.clone();
            let checked = tokio::task::spawn_blocking(move || check()).await;
            checked.unwrap_or_else(|error| Err(error.to_string()))
        });
        checked.await.clone().map_err(|reason| {
            ProviderError::clean(format!(
                "the provider was not called, because its answer may hold secrets, which cannot be recorded: {reason}"
            ))
        })
    }
}
