//! Other stacks of the same store, for references of programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use plumb_backend::{Backend, BackendError, LoadedRoot};
use plumb_project::StackReference;
use plumb_providers::{ResourceOutputs, StackOutputs, StackReadError, StackReader};
use plumb_state::{CiphertextCache, SecretCodec, SecretsError, Snapshot};

/// Part of a state that a reference to a stack needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The root stack resource, which has the outputs. A large state has it near its beginning.
    Root,
    /// All resources.
    Whole,
}

impl Part {
    /// Reads this part of a stack's state, with the codec of its recorded secrets manager.
    pub fn read<C: SecretCodec, E: From<BackendError> + From<SecretsError>>(
        self,
        backend: &dyn Backend,
        stack: &StackReference,
        codec: impl FnOnce(&Snapshot) -> Result<C, E>,
    ) -> Result<Snapshot, E> {
        let loaded = match self {
            Part::Root => backend.load_root(stack)?,
            Part::Whole => LoadedRoot::Among(backend.load(stack)?),
        };
        match loaded.opaque() {
            Some(recorded) => {
                let codec = codec(recorded)?;
                Ok(loaded.decrypt(&codec, &mut CiphertextCache::new())?)
            }
            None => Ok(Snapshot::default()),
        }
    }
}

/// Reads a part of the state of the stack with a given name; the error is text for the user. Calls may take long.
pub type ReadStack = Arc<dyn Fn(&str, Part) -> Result<Snapshot, String> + Send + Sync>;

/// Reads other stacks of the same store.
pub struct OtherStacks {
    read: ReadStack,
}

impl OtherStacks {
    /// A reader that gets states from `read`.
    pub fn new(read: ReadStack) -> Self {
        OtherStacks { read }
    }

    /// Reads the state on a blocking thread, because deriving keys and decrypting take long.
    async fn snapshot(&self, name: &str, part: Part) -> Result<Snapshot, StackReadError> {
        let (read, name) = (self.read.clone(), name.to_owned());
        tokio::task::spawn_blocking(move || read(&name, part))
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
            .map_err(|message| StackReadError {
                message,
                source: None,
            })
    }
}

#[async_trait]
impl StackReader for OtherStacks {
    async fn stack_outputs(&self, name: &str) -> Result<StackOutputs, StackReadError> {
        let snapshot = self.snapshot(name, Part::Root).await?;
        let root = snapshot
            .resources
            .iter()
            .find(|state| state.urn.is_root_stack() && !state.delete);
        Ok(StackOutputs {
            outputs: root
                .map(|state| state.outputs.as_ref().clone())
                .unwrap_or_default(),
            undecryptable: Vec::new(),
        })
    }

    async fn stack_resource_outputs(
        &self,
        name: &str,
    ) -> Result<BTreeMap<ecow::EcoString, ResourceOutputs>, StackReadError> {
        let snapshot = self.snapshot(name, Part::Whole).await?;
        let live = snapshot.resources.iter().filter(|state| !state.delete);
        Ok(live
            .map(|state| {
                let outputs = ResourceOutputs {
                    type_token: state.type_token.as_str().into(),
                    outputs: state.outputs.as_ref().clone(),
                };
                (state.urn.as_str().into(), outputs)
            })
            .collect())
    }
}
