//! The handle of a resource: what it is, and the state that it gets from the engine.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::watch;

use super::{Dependencies, Resolutions, package_of};
use crate::Error;
use crate::input::Inputs;
use crate::output::{Cell, Output, Resolved};
use crate::program::{Program, lock};
use crate::protocol as pb;
use crate::value::{FromValue, Value};
use crate::wire::{Decoder, Encoder, UNKNOWN};

/// A resource, whatever its type.
#[derive(Clone)]
pub struct Handle(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    serial: u64,
    pub(crate) kind: Kind,
    pub(crate) token: String,
    pub(crate) name: String,
    pub(crate) parent: Option<Handle>,
    /// Providers that children inherit, by package.
    pub(crate) providers: BTreeMap<String, Handle>,
    /// The provider of the resource itself.
    pub(crate) provider: Option<Handle>,
    pub(crate) is_protected: Option<bool>,
    pub(crate) version: Option<String>,
    pub(crate) plugin_download_url: Option<String>,
    pub(crate) package: Option<crate::Package>,
    pub(crate) location: Option<&'static Location<'static>>,
    program: Program,
    state: Shared<BoxFuture<'static, Result<Arc<State>, Error>>>,
    children: Mutex<Vec<Handle>>,
    is_built: watch::Sender<bool>,
}

/// Facts about a type of resource that the program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A resource of a provider, or a provider.
    Custom,
    /// A component of this program.
    Component,
    /// A component of a provider.
    Remote,
    /// A resource of which only the URN is known.
    Dependency,
}

/// The ID that a provider gave a resource.
#[derive(Clone, Debug)]
pub(crate) enum ProviderId {
    /// Components have none.
    None,
    /// The ID is not known before an update.
    Unknown,
    Known(String),
}

impl ProviderId {
    /// The ID as the engine sends it: empty or a sentinel if it is not known.
    pub(crate) fn of(id: String) -> Self {
        if id.is_empty() || id == UNKNOWN {
            ProviderId::Unknown
        } else {
            ProviderId::Known(id)
        }
    }
}

/// The state of a resource that the engine has answered for.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) urn: String,
    pub(crate) id: ProviderId,
    pub(crate) outputs: Resolutions,
    /// The inputs as they were sent, if there is no output of the name: then the output has the value of its input.
    pub(crate) inputs: Resolutions,
    /// Whether outputs that are missing are not known yet, rather than not there.
    pub(crate) is_partial: bool,
}

/// A handle before it has a state.
pub(crate) struct Draft {
    pub(crate) kind: Kind,
    pub(crate) token: String,
    pub(crate) name: String,
    pub(crate) parent: Option<Handle>,
    pub(crate) providers: BTreeMap<String, Handle>,
    pub(crate) provider: Option<Handle>,
    pub(crate) is_protected: Option<bool>,
    pub(crate) version: Option<String>,
    pub(crate) plugin_download_url: Option<String>,
    pub(crate) package: Option<crate::Package>,
    pub(crate) location: Option<&'static Location<'static>>,
}

impl Handle {
    /// A handle whose state comes from `state`; it becomes a child of its parent.
    pub(crate) fn new(
        program: &Program,
        draft: Draft,
        state: impl Future<Output = Result<Arc<State>, Error>> + Send + 'static,
    ) -> Self {
        let is_built = draft.kind != Kind::Component;
        let handle = Handle(Arc::new(Inner {
            serial: program.next_serial(),
            kind: draft.kind,
            token: draft.token,
            name: draft.name,
            parent: draft.parent,
            providers: draft.providers,
            provider: draft.provider,
            is_protected: draft.is_protected,
            version: draft.version,
            plugin_download_url: draft.plugin_download_url,
            package: draft.package,
            location: draft.location,
            program: program.clone(),
            state: state.boxed().shared(),
            children: Mutex::default(),
            is_built: watch::Sender::new(is_built),
        }));
        if let Some(parent) = &handle.0.parent {
            lock(&parent.0.children).push(handle.clone());
        }
        handle
    }

    /// A resource of which only the URN is known.
    pub(crate) fn dependency(program: &Program, urn: String) -> Self {
        let state = State {
            id: ProviderId::None,
            outputs: Resolutions::default(),
            inputs: Resolutions::default(),
            is_partial: program.settings.is_preview,
            urn: urn.clone(),
        };
        let draft = Draft::of_urn(Kind::Dependency, &urn);
        Handle::new(program, draft, std::future::ready(Ok(Arc::new(state))))
    }

    /// A provider by the text by which the engine knows it: its URN and its ID.
    pub(crate) fn provider(program: &Program, reference: &str) -> Option<Self> {
        let (urn, id) = reference.rsplit_once("::")?;
        let state = State {
            urn: urn.to_owned(),
            id: ProviderId::of(id.to_owned()),
            outputs: Resolutions::default(),
            inputs: Resolutions::default(),
            is_partial: program.settings.is_preview,
        };
        let draft = Draft::of_urn(Kind::Dependency, urn);
        Some(Handle::new(
            program,
            draft,
            std::future::ready(Ok(Arc::new(state))),
        ))
    }

    /// A resource that a value refers to; its state is loaded when somebody looks at it.
    pub(crate) fn reference(program: &Program, urn: String, id: Option<String>) -> Self {
        let draft = Draft::of_urn(Kind::Dependency, &urn);
        let loading = program.clone();
        let id = id.map(ProviderId::of);
        Handle::new(program, draft, async move { load(&loading, urn, id).await })
    }

    /// The URN, which identifies the resource in the stack. It is known in a preview, too.
    pub fn urn(&self) -> Output<String> {
        let handle = self.clone();
        Output::native(Cell::lazy(Some(self.0.program.clone()), async move {
            let urn = handle.registered_urn().await?;
            Ok(handle.depended(Resolved::known(urn)))
        }))
    }

    /// The ID that the provider gave the resource; not known before it has been created.
    pub fn id(&self) -> Output<String> {
        let handle = self.clone();
        Output::native(Cell::lazy(Some(self.0.program.clone()), async move {
            let state = handle.state().await?;
            let id = match &state.id {
                ProviderId::Known(id) => Resolved::known(id.clone()),
                ProviderId::Unknown => Resolved::unknown(),
                ProviderId::None => {
                    return Err(Error::at(
                        format!("{} has no ID", handle.label()),
                        handle.0.location,
                    ));
                }
            };
            Ok(handle.depended(id))
        }))
    }

    /// The output called `name` on the wire.
    pub fn output<T: FromValue + Clone + Send + Sync + 'static>(&self, name: &str) -> Output<T> {
        let (handle, name) = (self.clone(), name.to_owned());
        Output::dynamic(Cell::lazy(Some(self.0.program.clone()), async move {
            let state = handle.state().await?;
            Ok(handle.depended(state.output(&name)))
        }))
    }

    /// Calls a method of the resource; `token` is its name on the wire.
    #[track_caller]
    pub fn call<T: FromValue + Clone + Send + Sync + 'static>(
        &self,
        token: &str,
        inputs: impl Into<Inputs>,
    ) -> Output<T> {
        crate::call::call(self, token, inputs.into(), Location::caller())
    }

    /// Type and name, for messages.
    pub(crate) fn label(&self) -> String {
        format!("`{}` ({})", self.0.name, self.0.token)
    }

    /// The token of the type.
    pub fn token(&self) -> &str {
        &self.0.token
    }

    /// The name in the program.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn program(&self) -> &Program {
        &self.0.program
    }

    pub(crate) fn serial(&self) -> u64 {
        self.0.serial
    }

    /// Waits until the engine has answered.
    pub(crate) async fn state(&self) -> Result<Arc<State>, Error> {
        self.0.state.clone().await
    }

    pub(crate) async fn registered_urn(&self) -> Result<String, Error> {
        Ok(self.state().await?.urn.clone())
    }

    /// The state with the resource itself among the dependencies.
    fn depended<T>(&self, mut state: Resolved<T>) -> Resolved<T> {
        state.dependencies.insert(self.clone());
        state
    }

    /// The children of a component, after it has been built.
    pub(crate) async fn built_children(&self) -> Vec<Handle> {
        let mut is_built = self.0.is_built.subscribe();
        // The sender lives as long as the handle.
        let _ = is_built.wait_for(|is_built| *is_built).await;
        lock(&self.0.children).clone()
    }

    /// Lets go of everything below the resource, after the end of the program.
    pub(crate) fn release(&self) {
        let mut open = vec![self.clone()];
        while let Some(handle) = open.pop() {
            open.append(&mut lock(&handle.0.children));
        }
    }

    /// Says that the component will get no more children from its constructor.
    pub(crate) fn set_built(&self) {
        self.0.is_built.send_replace(true);
    }

    /// Whether `other` is this resource or above it.
    pub(crate) fn is_below(&self, other: &Handle) -> bool {
        let mut next = Some(self);
        while let Some(handle) = next {
            if handle == other {
                return true;
            }
            next = handle.0.parent.as_ref();
        }
        false
    }

    /// The text by which the engine knows a provider.
    pub(crate) async fn provider_reference(&self) -> Result<String, Error> {
        let state = self.state().await?;
        let id = match &state.id {
            ProviderId::Known(id) if !id.is_empty() => id,
            ProviderId::Known(_) | ProviderId::Unknown | ProviderId::None => UNKNOWN,
        };
        Ok(format!("{}::{id}", state.urn))
    }

    /// The package of which this is a provider.
    pub(crate) fn provided_package(&self) -> Option<&str> {
        self.0.token.strip_prefix("pulumi:providers:")
    }

    /// The provider for a function or a resource called `token` below this resource.
    pub(crate) fn provider_for(&self, token: &str) -> Option<&Handle> {
        self.0.providers.get(package_of(token)?)
    }
}

impl Draft {
    /// Parts of a URN.
    fn of_urn(kind: Kind, urn: &str) -> Self {
        let mut parts = urn.splitn(4, "::").skip(2);
        let types = parts.next().unwrap_or_default();
        let token = types.rsplit('$').next().unwrap_or_default();
        Draft {
            kind,
            token: token.to_owned(),
            name: parts.next().unwrap_or_default().to_owned(),
            parent: None,
            providers: BTreeMap::new(),
            provider: None,
            is_protected: None,
            version: None,
            plugin_download_url: None,
            package: None,
            location: None,
        }
    }
}

impl State {
    /// The output called `name`: from the provider, or from the input of that name.
    fn output(&self, name: &str) -> Resolved<Value> {
        if let Some(output) = self.outputs.get(name) {
            return output.clone();
        }
        if self.is_partial {
            return Resolved::unknown();
        }
        let input = self.inputs.get(name);
        input
            .cloned()
            .unwrap_or_else(|| Resolved::known(Value::Null))
    }
}

/// Loads the state of a resource by its URN.
async fn load(program: &Program, urn: String, id: Option<ProviderId>) -> Result<Arc<State>, Error> {
    let args = Encoder::default()
        .members(
            &BTreeMap::from([("urn".to_owned(), Value::String(urn.clone()))]),
            |_, _| {},
        )
        .await?;
    let request = pb::ResourceInvokeRequest {
        tok: "pulumi:pulumi:getResource".to_owned(),
        args: Some(args),
        accept_resources: true,
        ..pb::ResourceInvokeRequest::default()
    };
    let response = program.engine().invoke(request).await;
    let response = response.map_err(|status| {
        super::monitor_error(&status, &format!("cannot load the state of {urn}"), None)
    })?;
    let mut result = Decoder::properties(program, response.r#return)?;
    let loaded = match result.remove("id").and_then(|it| it.value) {
        Some(Value::String(id)) => ProviderId::of(id),
        _ => ProviderId::None,
    };
    let outputs = match result.remove("state") {
        Some(state) => match state.value.clone() {
            Some(Value::Map(members)) => {
                let members = members.into_iter();
                members
                    .map(|(key, value)| {
                        (
                            key,
                            state.with(Some(value).filter(|it| *it != Value::Unknown)),
                        )
                    })
                    .collect()
            }
            _ => BTreeMap::new(),
        },
        None => BTreeMap::new(),
    };
    Ok(Arc::new(State {
        urn,
        id: id.unwrap_or(loaded),
        outputs: outputs.into(),
        inputs: Resolutions::default(),
        is_partial: program.settings.is_preview,
    }))
}

impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}

impl Dependencies {
    /// The one resource in the set, if there is exactly one.
    pub(crate) fn only(&self) -> Option<&Handle> {
        let mut handles = self.iter();
        handles.next().filter(|_| handles.next().is_none())
    }
}
