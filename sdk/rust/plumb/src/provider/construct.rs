//! Components of a provider: a program of its own that makes one component.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::sync::Arc;

use prost_types::{Struct, Value as Wire};

use super::Members;
use crate::callbacks::{ErrorHook, Hook};
use crate::component::build;
use crate::context::Ctx;
use crate::monitor::Monitor;
use crate::monitor::grpc::Grpc;
use crate::output::{Cell, Output, Resolved, settle};
use crate::program::{Features, Program, Settings};
use crate::resource::{Binding, Dependencies, Handle, OptionData, Options, kind, monitor_error};
use crate::value::{FromValue, Value};
use crate::wire::{Decoder, Encoder};
use crate::{Alias, BuildComponent, Error, Result, Timeouts};

/// A component that the engine asks for.
#[derive(Clone, Debug, Default)]
#[allow(
    missing_docs,
    reason = "the fields are those of the message of the protocol"
)]
pub struct Construction {
    pub monitor: String,
    pub engine: String,
    pub project: String,
    pub stack: String,
    pub organization: String,
    pub is_preview: bool,
    pub config: BTreeMap<String, String>,
    pub secret_keys: BTreeSet<String>,
    pub name: String,
    /// A URN; empty if the engine shall choose the parent.
    pub parent: String,
    pub inputs: Option<Struct>,
    pub input_dependencies: BTreeMap<String, Vec<String>>,
    /// Inputs that have to be there at once.
    pub plain: BTreeSet<String>,
    /// Whether the engine reads outputs with their markers.
    pub accepts_outputs: bool,
    /// References to providers, by package.
    pub providers: BTreeMap<String, String>,
    pub depends_on: Vec<String>,
    pub protect: Option<bool>,
    pub additional_secret_outputs: Vec<String>,
    pub timeouts: Option<Timeouts>,
    pub deleted_with: String,
    pub delete_before_replace: Option<bool>,
    pub ignore_changes: Vec<String>,
    pub replace_on_changes: Vec<String>,
    pub retain_on_delete: Option<bool>,
    pub replace_with: Vec<String>,
    pub replacement_trigger: Option<Wire>,
    pub aliases: Vec<Alias>,
    /// Names of hooks: before and after a creation, an update, a deletion, and on an error.
    pub hooks: [Vec<String>; 7],
}

/// A component that was made.
#[derive(Clone, Debug, Default)]
#[allow(
    missing_docs,
    reason = "the fields are those of the message of the protocol"
)]
pub struct Constructed {
    pub urn: String,
    pub state: Struct,
    pub dependencies: BTreeMap<String, Vec<String>>,
}

/// Makes a component, and waits until everything in it has been registered.
pub async fn construct<T: BuildComponent>(construction: Construction) -> Result<Constructed>
where
    T::Args: FromValue,
{
    let program = construction.program().await?;
    let inputs = construction.inputs(&program).await?;
    let options = construction.options(&program)?;
    let (handle, outputs) = {
        let args = T::Args::from_value(Value::Map(inputs));
        let args = args.map_err(|it| Error::at(format!("the inputs do not fit: {it}"), None))?;
        let options = Options::<kind::Component>::of(options);
        let ctx = Ctx::new(program.clone());
        let built = build::<T>(&ctx, &construction.name, args, options)?;
        (built.resource().clone(), built.outputs())
    };
    program.rest().await?;
    program.end();
    if let Some(error) = first_of(program.failures()) {
        return Err(error);
    }
    let mut constructed = Constructed {
        urn: handle.registered_urn().await?,
        ..Constructed::default()
    };
    let encoder = Encoder {
        keeps_outputs: construction.accepts_outputs,
        ..Encoder::default()
    };
    for (name, value) in outputs {
        let mut found = Dependencies::default();
        let wire = encoder.value(&value, &mut found).await?;
        let urns = found.expand(None).await?.into_iter().collect();
        constructed.state.fields.insert(name.to_owned(), wire);
        constructed.dependencies.insert(name.to_owned(), urns);
    }
    Ok(constructed)
}

/// All failures as one; those that the engine knows of are not repeated.
fn first_of(failures: Vec<Error>) -> Option<Error> {
    let (quiet, loud): (Vec<_>, Vec<_>) = failures.into_iter().partition(Error::is_quiet);
    let texts: Vec<_> = loud.iter().map(Error::report).collect();
    if texts.is_empty() {
        return quiet.into_iter().next();
    }
    Some(Error::at(texts.join("\n"), None))
}

impl Construction {
    async fn program(&self) -> Result<Program> {
        let settings = Settings {
            monitor: self.monitor.clone(),
            engine: self.engine.clone(),
            project: self.project.clone(),
            stack: self.stack.clone(),
            organization: self.organization.clone(),
            is_preview: self.is_preview,
            config: self.config.clone(),
            secret_keys: self.secret_keys.clone(),
            ..Settings::default()
        };
        let monitor: Arc<dyn Monitor> = Arc::new(Grpc::connect(&self.monitor, &self.engine).await?);
        let features = Features::discover(monitor.as_ref()).await;
        let features = features.map_err(|it| monitor_error(&it, "cannot ask the engine", None))?;
        Ok(Program::new(settings, features, monitor))
    }

    async fn inputs(&self, program: &Program) -> Result<Members> {
        let mut inputs = Decoder::marked(program, self.inputs.clone())?;
        for (name, value) in &mut inputs {
            if self.plain.contains(name) {
                let state = settle(std::mem::take(value)).await?;
                *value = state.value.ok_or_else(|| {
                    Error::at(
                        format!("the input `{name}` has to be known in a preview, too"),
                        None,
                    )
                })?;
            } else if let Some(urns) = self.input_dependencies.get(name) {
                depend(program, value, urns);
            }
        }
        Ok(inputs)
    }

    fn options(&self, program: &Program) -> Result<OptionData> {
        let dependency = |urn: &String| Handle::dependency(program, urn.clone());
        let given = |urn: &String| Some(urn).filter(|it| !it.is_empty()).map(dependency);
        let [hooks @ .., on_error] = &self.hooks;
        let bindings = [
            Binding::BeforeCreate,
            Binding::AfterCreate,
            Binding::BeforeUpdate,
            Binding::AfterUpdate,
            Binding::BeforeDelete,
            Binding::AfterDelete,
        ];
        let hooks = bindings.into_iter().zip(hooks);
        let hooks = hooks.flat_map(|(binding, names)| {
            names.iter().map(move |name| (binding, Hook::named(name)))
        });
        let trigger = match &self.replacement_trigger {
            Some(wire) => Decoder::marked(program, Some(single(wire.clone())))?.remove(SINGLE),
            None => None,
        };
        Ok(OptionData {
            parent: given(&self.parent),
            depends_on: self
                .depends_on
                .iter()
                .map(|urn| Value::Resource(dependency(urn)))
                .collect(),
            protect: self.protect,
            providers: self
                .providers
                .values()
                .filter_map(|reference| Handle::provider(program, reference))
                .collect(),
            ignore_changes: self.ignore_changes.clone(),
            replace_on_changes: self.replace_on_changes.clone(),
            replacement_trigger: trigger,
            replace_with: self.replace_with.iter().map(dependency).collect(),
            deleted_with: given(&self.deleted_with),
            retain_on_delete: self.retain_on_delete,
            delete_before_replace: self.delete_before_replace,
            additional_secret_outputs: self.additional_secret_outputs.clone(),
            aliases: self.aliases.clone(),
            timeouts: self.timeouts.clone(),
            hooks: hooks.collect(),
            error_hooks: on_error.iter().map(|name| ErrorHook::named(name)).collect(),
            location: Some(Location::caller()),
            ..OptionData::default()
        })
    }
}

/// Adds dependencies that the engine names beside the value.
fn depend(program: &Program, value: &mut Value, urns: &[String]) {
    if urns.is_empty() || matches!(value, Value::Output(_)) {
        return;
    }
    let dependencies = urns
        .iter()
        .map(|urn| Handle::dependency(program, urn.clone()));
    let state = Resolved {
        value: Some(std::mem::take(value)).filter(|it| *it != Value::Unknown),
        secret: false,
        dependencies: dependencies.collect(),
    };
    *value = Value::Output(Output::dynamic(Cell::ready(Ok(state))));
}

const SINGLE: &str = "value";

/// An object with one value.
fn single(value: Wire) -> Struct {
    Struct {
        fields: BTreeMap::from([(SINGLE.to_owned(), value)]),
    }
}
