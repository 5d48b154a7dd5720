//! A stack of a workspace.

use std::sync::Arc;

use plumb_backend::{Backend, Page, RemoveOptions, StackKey, UpdateRecord};
use plumb_engine::with_causes;
use plumb_project::StackReference;
use plumb_resource::ResourceState;
use plumb_state::Snapshot;
use plumb_state::edit::{drop_pending_operations, import_problems};
use plumb_state::file::{Layout, no_deployment, parse_deployment};
use plumb_value::PropertyMap;
use uuid::Uuid;

use crate::codec::ManagerCodec;
use crate::operation::{Import, Kind, Operation};
use crate::stacks::Part;
use crate::workspace::{Shared, blocking};
use crate::{Error, Program};

/// A stack: resources that are created, changed and deleted together. Clones are the same stack.
#[derive(Clone)]
pub struct Stack {
    shared: Arc<Shared>,
    reference: StackReference,
}

impl Stack {
    pub(crate) fn new(shared: Arc<Shared>, reference: StackReference) -> Self {
        Stack { shared, reference }
    }

    /// Name of the stack.
    pub fn name(&self) -> &str {
        self.reference.stack.as_str()
    }

    /// Name of its project.
    pub fn project(&self) -> &str {
        self.reference.project.as_ref().map_or("", |it| it.as_str())
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.shared.backend
    }

    pub(crate) fn reference(&self) -> &StackReference {
        &self.reference
    }

    /// Makes the resources as `program` says.
    pub fn up(&self, program: Program) -> Operation {
        Operation::new(self.clone(), Kind::Update, Some(program))
    }

    /// Finds out what [`Stack::up`] would do, and changes nothing.
    pub fn preview(&self, program: Program) -> Operation {
        self.up(program).preview()
    }

    /// Makes the state as the objects are.
    pub fn refresh(&self) -> Operation {
        Operation::new(self.clone(), Kind::Refresh, None)
    }

    /// Deletes every resource; the stack stays.
    pub fn destroy(&self) -> Operation {
        Operation::new(self.clone(), Kind::Destroy, None)
    }

    /// Adopts objects that exist. The next [`Stack::up`] deletes those that its program does not have.
    pub fn import(&self, objects: impl IntoIterator<Item = Import>) -> Operation {
        let objects = objects.into_iter().collect();
        Operation::new(self.clone(), Kind::Import(objects), None)
    }

    /// Whether the stack exists.
    pub async fn exists(&self) -> Result<bool, Error> {
        self.with(|stack| Ok(stack.backend().stack_exists(stack.reference())?))
            .await
    }

    /// Outputs after the last update; secret ones are secret values.
    pub async fn outputs(&self) -> Result<PropertyMap, Error> {
        let root = self.with(|stack| stack.snapshot(Part::Root)).await?;
        Ok(outputs_of(&root))
    }

    /// Resources in the order of the state, with their secrets as secret values.
    pub async fn resources(&self) -> Result<Vec<Arc<ResourceState>>, Error> {
        let whole = self.with(|stack| stack.snapshot(Part::Whole)).await?;
        Ok(whole.resources)
    }

    /// The state as JSON, in the form of `stack export`. Secrets are encrypted.
    pub async fn export(&self) -> Result<String, Error> {
        self.with(|stack| {
            let loaded = stack.backend().load(stack.reference())?;
            let Some(snapshot) = loaded.opaque() else {
                return Ok(no_deployment(Layout::Indented));
            };
            let managers = &stack.shared.managers;
            let manager = managers.recorded(snapshot.secrets_provider.as_ref())?;
            let encrypted = loaded.into_encrypted(&ManagerCodec(manager))?;
            Ok(encrypted.deployment(Layout::Indented))
        })
        .await
    }

    /// Replaces the state by one in the form of [`Stack::export`]. A state that contradicts itself is refused.
    pub async fn replace_state(&self, json: impl Into<String>) -> Result<(), Error> {
        let json = json.into();
        self.with(move |stack| {
            let deployment = parse_deployment(json.as_bytes());
            let deployment = deployment.map_err(|error| Error::State(with_causes(&error)))?;
            let problems = import_problems(deployment.opaque(), stack.name());
            if let Some(problem) = problems.first() {
                return Err(Error::State(problem.to_string()));
            }
            let provider = deployment.opaque().secrets_provider.as_ref();
            let manager = stack.shared.managers.recorded(provider)?;
            let mut snapshot = deployment.into_encrypted(&ManagerCodec(manager))?;
            drop_pending_operations(&mut snapshot);
            let verified = snapshot.opaque().verify();
            verified.map_err(|error| Error::State(error.to_string()))?;
            let id = Uuid::new_v4().to_string();
            let update = stack.backend().begin_update(stack.reference(), &id)?;
            Ok(update.replace(&snapshot)?)
        })
        .await
    }

    /// Encrypts the state as a whole, with its journals, history and backups, as `plumb stack encrypt` does. Later
    /// operations keep it encrypted.
    pub async fn encrypt_state(&self) -> Result<(), Error> {
        self.with(|stack| {
            let (backend, reference) = (stack.backend(), stack.reference());
            // A key that is there already continues a conversion that was interrupted.
            let key = backend.stack_key(reference)?;
            let key = key.map_or_else(|| stack.new_state_key(), Ok)?;
            Ok(backend.set_stack_key(reference, Some(key))?)
        })
        .await
    }

    /// Undoes [`Stack::encrypt_state`]. Secrets in the state stay encrypted.
    pub async fn decrypt_state(&self) -> Result<(), Error> {
        self.with(|stack| Ok(stack.backend().set_stack_key(stack.reference(), None)?))
            .await
    }

    /// Records of the newest `count` operations, newest first.
    pub async fn history(&self, count: usize) -> Result<Vec<UpdateRecord>, Error> {
        self.with(move |stack| {
            let page = Page {
                number: 1,
                size: count,
            };
            Ok(stack.backend().history(stack.reference(), Some(page))?)
        })
        .await
    }

    /// Stops the running operation of the stack, in whichever process it runs: its owner can write nothing any more. What
    /// it did until then is in the state.
    pub async fn cancel(&self) -> Result<(), Error> {
        self.with(|stack| Ok(stack.backend().cancel(stack.reference()).map(drop)?))
            .await
    }

    /// Removes the stack. One that has resources is removed only with `force`, and its objects stay.
    pub async fn remove(&self, force: bool) -> Result<(), Error> {
        self.with(move |stack| {
            let options = RemoveOptions {
                force,
                remove_backups: false,
            };
            Ok(stack.backend().remove_stack(stack.reference(), options)?)
        })
        .await
    }

    fn new_state_key(&self) -> Result<StackKey, Error> {
        let loaded = self.backend().load(&self.reference)?;
        let recorded = loaded.opaque().and_then(|it| it.secrets_provider.as_ref());
        self.shared.managers.new_state_key(recorded)
    }

    /// Decrypted part of the state. Blocks.
    pub(crate) fn snapshot(&self, part: Part) -> Result<Snapshot, Error> {
        part.read(&**self.backend(), &self.reference, |recorded| {
            let provider = recorded.secrets_provider.as_ref();
            Ok(ManagerCodec(self.shared.managers.recorded(provider)?))
        })
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(Stack) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let stack = self.clone();
        blocking(move || work(stack)).await
    }
}

/// Outputs of the root stack resource.
pub(crate) fn outputs_of(snapshot: &Snapshot) -> PropertyMap {
    let mut states = snapshot.resources.iter();
    let root = states.find(|state| state.urn.is_root_stack() && !state.delete);
    root.map(|state| state.outputs.as_ref().clone())
        .unwrap_or_default()
}
