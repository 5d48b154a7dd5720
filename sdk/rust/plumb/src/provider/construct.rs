//! Components of a provider: a program of its own that makes one component, or that answers one call of a method.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::sync::Arc;

use prost_types::{Struct, Value as Wire};

use super::Members;
use crate::callbacks::{ErrorHook, Hook};
use crate::component::{Recall, build, hidden};
use crate::context::Ctx;
use crate::monitor::Monitor;
use crate::monitor::grpc::Grpc;
use crate::output::{Cell, Output, Resolved, settle};
use crate::program::{Features, Program, Settings};
use crate::resource::{Binding, Dependencies, Handle, OptionData, Options, kind, monitor_error};
use crate::value::{FromValue, IntoValue, Value};
use crate::wire::{Decoder, Encoder};
use crate::{Alias, BuildComponent, Error, Result, Timeouts};

/// The deployment in which the engine asks for something.
#[derive(Clone, Debug, Default)]
#[allow(
    missing_docs,
    reason = "the fields are those of the message of the protocol"
)]
pub struct Deployment {
    pub monitor: String,
    pub engine: String,
    pub project: String,
    pub stack: String,
    pub organization: String,
    pub is_preview: bool,
    pub config: BTreeMap<String, String>,
    pub secret_keys: BTreeSet<String>,
    /// Whether the engine reads outputs with their markers.
    pub accepts_outputs: bool,
}

/// Values that the engine passes.
#[derive(Clone, Debug, Default)]
#[allow(
    missing_docs,
    reason = "the fields are those of the message of the protocol"
)]
pub struct Passed {
    pub values: Option<Struct>,
    pub dependencies: BTreeMap<String, Vec<String>>,
    /// Names of those that have to be there at once.
    pub plain: BTreeSet<String>,
}

/// A component that the engine asks for.
#[derive(Clone, Debug, Default)]
#[allow(
    missing_docs,
    reason = "the fields are those of the message of the protocol"
)]
pub struct Construction {
    pub deployment: Deployment,
    pub name: String,
    /// A URN; empty if the engine shall choose the parent.
    pub parent: String,
    pub inputs: Passed,
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
pub struct Constructed {
    /// URN of the component.
    pub urn: String,
    /// Outputs of the component.
    pub outputs: Returned,
}

/// Values that go back to the engine.
#[derive(Clone, Debug, Default)]
#[allow(
    missing_docs,
    reason = "the fields are those of the message of the protocol"
)]
pub struct Returned {
    pub values: Struct,
    pub dependencies: BTreeMap<String, Vec<String>>,
}

/// Makes a component, and waits until everything in it has been registered.
pub async fn construct<T: BuildComponent>(construction: Construction) -> Result<Constructed>
where
    T::Args: FromValue,
{
    let deployment = &construction.deployment;
    let program = deployment.program().await?;
    let inputs = construction.inputs.members(&program).await?;
    let options = construction.options(&program)?;
    let (handle, outputs) = {
        let args = T::Args::from_value(Value::Map(inputs));
        let args = args.map_err(|it| Error::at(format!("the inputs do not fit: {it}"), None))?;
        let options = Options::<kind::Component>::of(options);
        let ctx = Ctx::new(program.clone());
        let built = build::<T>(&ctx, &construction.name, args, options)?;
        let outputs = built.outputs().into_iter();
        let outputs = outputs.map(|(name, value)| (name.to_owned(), value));
        (built.resource().clone(), outputs.collect())
    };
    end(&program).await?;
    Ok(Constructed {
        urn: handle.registered_urn().await?,
        outputs: deployment.returned(outputs).await?,
    })
}

/// Name of the argument of a method that says whose it is.
pub const SELF: &str = "__self__";

/// Answers a call of a method of a component, and waits until everything that the method makes has been registered.
/// `secrets` are properties of the answer that are secret, whatever they come from.
pub async fn call<C, A, R>(
    deployment: Deployment,
    mut args: Passed,
    secrets: &BTreeSet<String>,
    method: impl FnOnce(&Ctx, C, A) -> Result<R> + Send,
) -> Result<Returned>
where
    C: Recall + Send,
    A: FromValue + Send,
    R: IntoValue,
{
    let program = deployment.program().await?;
    let fields = args.values.as_mut().map(|it| &mut it.fields);
    let Some(of) = fields.and_then(|it| it.remove(SELF)) else {
        return Err(Error::at(
            "the call has no argument `__self__`, which says whose method it is",
            None,
        ));
    };
    let of = Decoder::marked(&program, Some(single(of)))?.remove(SINGLE);
    let of = settle(of.unwrap_or_default()).await?.value;
    let of = Handle::from_value(of.unwrap_or_default());
    let of =
        of.map_err(|it| Error::at(format!("the argument `{SELF}` does not fit: {it}"), None))?;
    let args = args.members(&program).await?;
    let answer = {
        let args = A::from_value(Value::Map(args));
        let args = args.map_err(|it| Error::at(format!("the arguments do not fit: {it}"), None))?;
        let ctx = Ctx::new(program.clone()).inside(&of);
        method(&ctx, C::recall(&of), args)?.into_value()
    };
    end(&program).await?;
    let Value::Map(answer) = answer else {
        // `()` has no properties.
        return Ok(Returned::default());
    };
    let answer = answer.into_iter().map(|(name, value)| {
        let is_secret = secrets.contains(&name);
        (name, if is_secret { hidden(value) } else { value })
    });
    deployment.returned(answer.collect()).await
}

/// Waits until everything has been registered. Fails if any of it failed.
async fn end(program: &Program) -> Result<()> {
    program.rest().await?;
    program.end();
    first_of(program.failures()).map_or(Ok(()), Err)
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

impl Deployment {
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

    async fn returned(&self, values: Vec<(String, Value)>) -> Result<Returned> {
        let encoder = Encoder {
            keeps_outputs: self.accepts_outputs,
            ..Encoder::default()
        };
        let mut returned = Returned::default();
        for (name, value) in values {
            let mut found = Dependencies::default();
            let wire = encoder.value(&value, &mut found).await?;
            let urns = found.expand(None).await?.into_iter().collect();
            returned.values.fields.insert(name.clone(), wire);
            returned.dependencies.insert(name, urns);
        }
        Ok(returned)
    }
}

impl Passed {
    async fn members(&self, program: &Program) -> Result<Members> {
        let mut inputs = Decoder::marked(program, self.values.clone())?;
        for (name, value) in &mut inputs {
            if self.plain.contains(name) {
                let state = settle(std::mem::take(value)).await?;
                *value = state.value.ok_or_else(|| {
                    Error::at(
                        format!("the input `{name}` has to be known in a preview, too"),
                        None,
                    )
                })?;
            } else if let Some(urns) = self.dependencies.get(name) {
                depend(program, value, urns);
            }
        }
        Ok(inputs)
    }
}

impl Construction {
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
