//! Gate before calls that may return secrets.
//!
//! Plugins return secrets that the program did not ask for. If such a secret cannot be encrypted, the object that the plugin
//! just created cannot be recorded correctly. **No such call is made before secrets can be recorded**: the gate is checked
//! once per run, before the first call whose answer may hold secrets.

use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_resource::provider::{ProviderCall, ProviderError};
use tokio::sync::OnceCell;

/// Checks that secrets can be recorded; the error says why not. May take long.
type Check = dyn Fn() -> Result<(), String> + Send + Sync;

/// Cached result of the check. Clones share it.
#[derive(Clone)]
pub struct SecretsGate {
    check: Arc<Check>,
    checked: Arc<OnceCell<Result<(), String>>>,
}

impl SecretsGate {
    /// A gate that opens if `check` succeeds.
    pub fn new(check: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        SecretsGate {
            check: Arc::new(check),
            checked: Arc::default(),
        }
    }

    /// Passes if the answer to `call` cannot hold secrets, or if secrets can be recorded.
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
