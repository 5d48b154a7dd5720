//! From a constructor to the engine and back.
//!
//! A constructor returns at once: [`Registration::start`] checks what can be checked, makes the handle, and leaves the rest to
//! a task, in this order:
//!
//! 1. wait for the explicit dependencies;
//! 2. wait for the inputs, and collect what each depends on;
//! 3. wait for the parent and the providers;
//! 4. wait until transforms and hooks of the program have reached the engine;
//! 5. ask the engine, and turn its answer into the state of the handle.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use tonic::{Code, Status};

use super::ProviderId;
use super::handle::Draft;
use super::options::Binding;
use super::{Dependencies, Handle, Kind, OptionData, State, providers};
use crate::Error;
use crate::input::Inputs;
use crate::output::Resolved;
use crate::program::{Program, Waiting};
use crate::protocol as pb;
use crate::value::Value;
use crate::wire::{Decoder, Encoder, UNKNOWN};

/// A resource to register.
pub(crate) struct Registration {
    pub(crate) kind: Kind,
    pub(crate) way: Way,
    pub(crate) token: String,
    pub(crate) name: String,
    pub(crate) inputs: Inputs,
    pub(crate) options: OptionData,
}

/// Ways for the engine to handle a resource.
pub(crate) enum Way {
    /// The stack manages the resource.
    Register,
    /// The resource exists elsewhere, under this ID, and is only read.
    Read(Value),
}

impl Registration {
    /// Starts the registration; the handle gets its state later.
    pub(crate) fn start(self, program: &Program) -> Handle {
        let (answer, answered) = oneshot::channel();
        let (draft, problem) = self.draft(program);
        let handle = Handle::new(program, draft, async move {
            let gone = || Error::quiet("the program ended before the resource was registered");
            answered.await.unwrap_or_else(|_| Err(gone()))
        });
        let task = Task {
            program: program.clone(),
            handle: handle.clone(),
            waiting: program.waiting_for_nothing(),
            registration: Box::new(self),
        };
        program.spawn(async move {
            let result = match problem {
                Some(problem) => Err(problem),
                None => task.run().await.map(Arc::new),
            };
            let outcome = result.as_ref().map(|_| ()).map_err(Error::clone);
            // Nobody may be waiting for the state.
            let _ = answer.send(result);
            outcome
        });
        handle
    }

    /// A handle at once, and the reason why the resource cannot be registered.
    fn draft(&self, program: &Program) -> (Draft, Option<Error>) {
        let options = &self.options;
        let parent = options.parent.clone().or_else(|| program.stack());
        let (chosen, mut problem) = match providers::choose(&self.token, parent.as_ref(), options) {
            Ok(chosen) => (Some(chosen), None),
            Err(error) => (None, Some(error)),
        };
        if self.name.is_empty() || self.token.is_empty() {
            let message = format!("a resource of type `{}` needs a name", self.token);
            problem = Some(Error::at(message, options.location));
        } else if program.is_over() {
            let message = format!("`{}` was made after the program had ended", self.name);
            problem = Some(Error::at(message, options.location));
        }
        let (handed_down, own) = chosen
            .map(|it| (it.handed_down, it.own))
            .unwrap_or_default();
        let inherited = parent.as_ref().and_then(|it| it.0.is_protected);
        let draft = Draft {
            kind: self.kind,
            token: self.token.clone(),
            name: self.name.clone(),
            parent,
            providers: handed_down,
            provider: own,
            is_protected: options.protect.or(inherited),
            version: options.version.clone(),
            plugin_download_url: options.plugin_download_url.clone(),
            package: options.package.clone(),
            location: options.location,
        };
        (draft, problem)
    }
}

fn place(handle: &Handle, location: Option<&'static Location<'static>>) -> String {
    match location {
        Some(location) => format!("{} at {location}", handle.label()),
        None => handle.label(),
    }
}

/// The error for a failed call of the engine.
///
/// An engine that is going away has told the user why: the program says nothing more.
pub(crate) fn monitor_error(
    status: &Status,
    what: &str,
    location: Option<&'static Location<'static>>,
) -> Error {
    match status.code() {
        Code::Unavailable | Code::Cancelled => Error::quiet("the engine is gone"),
        _ => Error::at(format!("{what}: {}", status.message()), location),
    }
}

struct Task {
    program: Program,
    handle: Handle,
    waiting: Waiting,
    registration: Box<Registration>,
}

/// Values by name.
type Properties = BTreeMap<String, Resolved<Value>>;

/// Inputs and everything that they depend on.
struct Prepared {
    object: prost_types::Struct,
    dependencies: BTreeSet<String>,
    property_dependencies: BTreeMap<String, BTreeSet<String>>,
    parent: String,
    provider: String,
    package: Option<String>,
}

impl Task {
    /// Registers or reads the resource. Thousands may wait for the engine at once: everything before has places of its own,
    /// which are free again then.
    async fn run(self) -> Result<State, Error> {
        match &self.registration.way {
            Way::Register => self.register().await,
            Way::Read(id) => Box::pin(self.read(id)).await,
        }
    }

    /// Waits for everything that the engine has to know.
    async fn prepared(&self) -> Result<Prepared, Error> {
        let explicit = self.explicit_dependencies().await?;
        let mut prepared = self.inputs().await?;
        prepared.dependencies.extend(explicit);
        if let Some(parent) = &self.handle.0.parent {
            let urn = parent.registered_urn();
            prepared.parent = self.wait(|| "its parent".to_owned(), urn).await?;
        }
        let provider = self.provider();
        prepared.provider = self.wait(|| "its provider".to_owned(), provider).await?;
        let callbacks = || "transforms and hooks of the program".to_owned();
        self.wait(callbacks, self.program.prepared()).await?;
        if let Some(package) = &self.registration.options.package {
            prepared.package = Some(package.reference(&self.program).await?);
        }
        Ok(prepared)
    }

    /// Waits for something. Notes what it is, in case that it never comes, unless it is there already: most is, and the note
    /// costs more than the look.
    async fn wait<T>(
        &self,
        what: impl FnOnce() -> String,
        something: impl Future<Output = T>,
    ) -> T {
        let mut something = pin!(something);
        if let Some(value) = something.as_mut().now_or_never() {
            return value;
        }
        let place = place(&self.handle, self.handle.0.location);
        self.waiting.update(format!("{place} waits for {}", what()));
        something.await
    }

    async fn explicit_dependencies(&self) -> Result<BTreeSet<String>, Error> {
        let options = &self.registration.options;
        let mut found: Dependencies = options.replace_with.iter().cloned().collect();
        for value in &options.depends_on {
            let settled = crate::output::settle(value.clone());
            let what = || "the resources in `depends_on`".to_owned();
            let state = self.wait(what, settled).await?;
            found.extend(&state.dependencies);
            let is_resource = |value: &Value| match value {
                Value::List(items) => items.iter().all(|it| matches!(it, Value::Resource(_))),
                Value::Resource(_) => true,
                _ => !state.dependencies.is_empty(),
            };
            if state.value.as_ref().is_some_and(|it| !is_resource(it)) {
                return Err(Error::at(
                    format!(
                        "{} depends on something that is no resource",
                        self.handle.label()
                    ),
                    options.location,
                ));
            }
        }
        let what = || format!("the resources in `depends_on`: {}", names(&found));
        self.wait(what, found.expand(Some(&self.handle))).await
    }

    async fn inputs(&self) -> Result<Prepared, Error> {
        let registration = &self.registration;
        let is_remote = registration.kind == Kind::Remote;
        let encoder = Encoder {
            keeps_outputs: is_remote && self.program.features.output_values,
            excludes_resources: is_remote,
            owner: Some(&self.handle),
        };
        let mut prepared = Prepared {
            object: prost_types::Struct::default(),
            dependencies: BTreeSet::new(),
            property_dependencies: BTreeMap::new(),
            parent: String::new(),
            provider: String::new(),
            package: None,
        };
        for (key, value) in registration.inputs.members() {
            let mut found = Dependencies::default();
            let value = encoder.value(value, &mut found);
            let wire = self.wait(|| format!("its input `{key}`"), value).await;
            let wire = wire.map_err(|error| {
                if error.is_quiet() || error.location().is_some() {
                    return error;
                }
                let place = format!("input `{key}` of {}", self.handle.label());
                Error::at(format!("{place}: {error}"), registration.options.location)
            })?;
            let what = || format!("its input `{key}`, which comes from {}", names(&found));
            let urns = self.wait(what, found.expand(Some(&self.handle))).await?;
            prepared.object.fields.insert(key.clone(), wire);
            prepared.dependencies.extend(urns.iter().cloned());
            prepared.property_dependencies.insert(key.clone(), urns);
        }
        Ok(prepared)
    }

    /// The provider of the resource as the engine knows it; components of the program have none.
    async fn provider(&self) -> Result<String, Error> {
        match (&self.handle.0.provider, self.registration.kind) {
            (Some(provider), Kind::Custom | Kind::Remote) => provider.provider_reference().await,
            _ => Ok(String::new()),
        }
    }

    async fn providers(&self) -> Result<BTreeMap<String, String>, Error> {
        let mut references = BTreeMap::new();
        if self.registration.kind != Kind::Custom {
            for (package, provider) in &self.handle.0.providers {
                references.insert(package.clone(), provider.provider_reference().await?);
            }
        }
        Ok(references)
    }

    async fn register(&self) -> Result<State, Error> {
        let (request, mut inputs) = Box::pin(self.request()).await?;
        let response = self.program.engine().register(request).await;
        let response = response.map_err(|status| self.failed("register", &status))?;
        if response.result() != pb::Result::Success {
            let error = Error::at(
                format!("{} failed to register", self.handle.label()),
                self.handle.0.location,
            );
            // The engine reported the failure, and the deployment goes on.
            error.handle();
            return Err(error);
        }
        let is_custom = self.registration.kind == Kind::Custom;
        let mut outputs = Decoder::properties(&self.program, response.object)?;
        for (key, sources) in response.property_dependencies {
            if let Some(output) = outputs.get_mut(&key) {
                for urn in sources.urns {
                    output
                        .dependencies
                        .insert(Handle::dependency(&self.program, urn));
                }
            }
        }
        inputs.retain(|key, _| !outputs.contains_key(key));
        Ok(State {
            urn: response.urn,
            id: if is_custom {
                ProviderId::of(response.id)
            } else {
                ProviderId::None
            },
            outputs: outputs.into(),
            inputs: inputs.into(),
            is_partial: self.program.settings.is_preview || response.unknown,
        })
    }

    /// The request to register the resource, and its inputs.
    async fn request(&self) -> Result<(Box<pb::RegisterResourceRequest>, Properties), Error> {
        let mut prepared = self.prepared().await?;
        let inputs = Decoder::properties(&self.program, Some(prepared.object.clone()))?;
        let package = prepared.package.take();
        let mut request = Box::new(self.known_options(prepared));
        request.providers = self.providers().await?;
        self.later_options(&mut request).await?;
        if let Some(reference) = package {
            request.package_ref = reference;
            request.version.clear();
            request.plugin_download_url.clear();
        }
        Ok((request, inputs))
    }

    fn known_options(&self, prepared: Prepared) -> pb::RegisterResourceRequest {
        use pb::register_resource_request::{CustomTimeouts, PropertyDependencies};
        let options = &self.registration.options;
        let properties = prepared.property_dependencies.into_iter();
        let timeouts = options.timeouts.clone().map(|it| CustomTimeouts {
            create: it.create.unwrap_or_default(),
            update: it.update.unwrap_or_default(),
            delete: it.delete.unwrap_or_default(),
            read: it.read.unwrap_or_default(),
        });
        pb::RegisterResourceRequest {
            r#type: self.registration.token.clone(),
            name: self.registration.name.clone(),
            parent: prepared.parent,
            provider: prepared.provider,
            custom: self.registration.kind == Kind::Custom,
            remote: self.registration.kind == Kind::Remote,
            object: Some(prepared.object),
            dependencies: prepared.dependencies.into_iter().collect(),
            property_dependencies: properties
                .map(|(key, urns)| {
                    let urns = urns.into_iter().collect();
                    (key, PropertyDependencies { urns })
                })
                .collect(),
            protect: self.handle.0.is_protected,
            ignore_changes: options.ignore_changes.clone(),
            replace_on_changes: options.replace_on_changes.clone(),
            retain_on_delete: options.retain_on_delete,
            delete_before_replace: options.delete_before_replace.unwrap_or_default(),
            delete_before_replace_defined: options.delete_before_replace.is_some(),
            additional_secret_outputs: options.additional_secret_outputs.clone(),
            import_id: options.import.clone().unwrap_or_default(),
            version: options.version.clone().unwrap_or_default(),
            plugin_download_url: options.plugin_download_url.clone().unwrap_or_default(),
            hide_diffs: options.hide_diffs.clone(),
            env_var_mappings: options.env_var_mappings.clone(),
            custom_timeouts: timeouts,
            source_position: self.source_position(),
            accept_secrets: true,
            accept_resources: true,
            supports_partial_values: true,
            supports_result_reporting: true,
            alias_specs: true,
            ..pb::RegisterResourceRequest::default()
        }
    }

    /// Where the constructor was called, for tools that show it.
    fn source_position(&self) -> Option<pb::SourcePosition> {
        let location = self.registration.options.location?;
        // An absolute path is that of a library.
        if location.file().starts_with('/') {
            return None;
        }
        Some(pb::SourcePosition {
            uri: format!("project:///{}", location.file()),
            line: i32::try_from(location.line()).unwrap_or_default(),
            column: i32::try_from(location.column()).unwrap_or_default(),
        })
    }

    /// Options that have to wait for something themselves.
    async fn later_options(&self, request: &mut pb::RegisterResourceRequest) -> Result<(), Error> {
        let options = &self.registration.options;
        for alias in &options.aliases {
            request.aliases.push(alias.encode().await?);
        }
        if let Some(other) = &options.deleted_with {
            request.deleted_with = other.registered_urn().await?;
        }
        for other in &options.replace_with {
            request.replace_with.push(other.registered_urn().await?);
        }
        if let Some(trigger) = &options.replacement_trigger {
            let mut found = Dependencies::default();
            let wire = Encoder::default().value(trigger, &mut found).await?;
            request.replacement_trigger = Some(wire);
        }
        for transform in &options.transforms {
            let callback = transform.register(&self.program).await?;
            request.transforms.push(callback);
        }
        if !options.hooks.is_empty() || !options.error_hooks.is_empty() {
            request.hooks = Some(self.hooks());
        }
        Ok(())
    }

    fn hooks(&self) -> pb::register_resource_request::ResourceHooksBinding {
        let mut bound = pb::register_resource_request::ResourceHooksBinding::default();
        for (binding, hook) in &self.registration.options.hooks {
            let names = match binding {
                Binding::BeforeCreate => &mut bound.before_create,
                Binding::AfterCreate => &mut bound.after_create,
                Binding::BeforeUpdate => &mut bound.before_update,
                Binding::AfterUpdate => &mut bound.after_update,
                Binding::BeforeDelete => &mut bound.before_delete,
                Binding::AfterDelete => &mut bound.after_delete,
            };
            names.push(hook.name().to_owned());
        }
        let error_hooks = self.registration.options.error_hooks.iter();
        bound.on_error = error_hooks.map(|hook| hook.name().to_owned()).collect();
        bound
    }

    async fn read(&self, id: &Value) -> Result<State, Error> {
        let prepared = self.prepared().await?;
        let package = prepared.package;
        let mut found = Dependencies::default();
        let id = crate::output::settle(id.clone()).await.inspect(|it| {
            found.extend(&it.dependencies);
        })?;
        let mut dependencies = prepared.dependencies;
        dependencies.extend(found.expand(Some(&self.handle)).await?);
        let mut inputs = Decoder::properties(&self.program, Some(prepared.object.clone()))?;
        let id = match id.value {
            Some(Value::String(id)) => id,
            None => UNKNOWN.to_owned(),
            Some(other) => {
                return Err(Error::at(
                    format!("the ID of {} is {}", self.handle.label(), other.kind()),
                    self.handle.0.location,
                ));
            }
        };
        let options = &self.registration.options;
        let request = pb::ReadResourceRequest {
            id: id.clone(),
            r#type: self.registration.token.clone(),
            name: self.registration.name.clone(),
            parent: prepared.parent,
            provider: prepared.provider,
            properties: Some(prepared.object),
            dependencies: dependencies.into_iter().collect(),
            version: options
                .version
                .clone()
                .filter(|_| package.is_none())
                .unwrap_or_default(),
            plugin_download_url: options
                .plugin_download_url
                .clone()
                .filter(|_| package.is_none())
                .unwrap_or_default(),
            package_ref: package.unwrap_or_default(),
            additional_secret_outputs: options.additional_secret_outputs.clone(),
            source_position: self.source_position(),
            accept_secrets: true,
            accept_resources: true,
            ..pb::ReadResourceRequest::default()
        };
        let response = self.program.engine().read(request).await;
        let response = response.map_err(|status| self.failed("read", &status))?;
        let id = Some(response.id).filter(|id| !id.is_empty()).unwrap_or(id);
        let outputs = Decoder::properties(&self.program, response.properties)?;
        inputs.retain(|key, _| !outputs.contains_key(key));
        Ok(State {
            urn: response.urn,
            id: ProviderId::of(id),
            outputs: outputs.into(),
            inputs: inputs.into(),
            is_partial: self.program.settings.is_preview || response.unknown,
        })
    }

    fn failed(&self, what: &str, status: &Status) -> Error {
        let what = format!("could not {what} {}", self.handle.label());
        monitor_error(status, &what, self.handle.0.location)
    }
}

fn names(dependencies: &Dependencies) -> String {
    let labels: Vec<String> = dependencies.iter().map(Handle::label).collect();
    match labels.as_slice() {
        [] => "something that is not there yet".to_owned(),
        labels => labels.join(", "),
    }
}
