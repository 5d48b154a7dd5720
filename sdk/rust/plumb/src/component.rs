//! Components: several resources as one.
//!
//! A component is a type with a function that builds it:
//!
//! ```no_run
//! use plumb::prelude::*;
//!
//! #[derive(Clone, Debug, ComponentArgs)]
//! struct GreetingArgs {
//!     name: Input<String>,
//!     length: Option<i64>,
//! }
//!
//! /// A pet with a greeting. The fields are the outputs.
//! #[derive(Clone, Component)]
//! #[component(token = "acme:index:Greeting")]
//! struct Greeting {
//!     text: Output<String>,
//! }
//!
//! impl BuildComponent for Greeting {
//!     type Args = GreetingArgs;
//!
//!     fn build(cx: &Ctx, args: GreetingArgs) -> plumb::Result<Self> {
//!         let pet = AnyResource::new(cx, "random:index/randomPet:RandomPet", &cx.name("pet"),
//!             value!({ "length": args.length }));
//!         Ok(Greeting { text: interpolate!("{}, {}", args.name, pet.id()) })
//!     }
//! }
//!
//! fn program(ctx: &Ctx) -> plumb::Result<()> {
//!     let greeting = Greeting::new(ctx, "hello", GreetingArgs { name: "Hi".into(), length: None })?;
//!     ctx.export("text", &greeting.text);
//!     Ok(())
//! }
//! ```

use std::collections::BTreeMap;
use std::ops::Deref;
use std::panic::Location;

use crate::Result;
use crate::context::Ctx;
use crate::input::Inputs;
use crate::protocol as pb;
use crate::resource::{Handle, Options, kind, monitor_error};
use crate::value::{IntoValue, Value};
use crate::wire::Encoder;

/// Facts that the derive macro `Component` generates for a component.
pub trait Component: Sized {
    /// The token of the type.
    const TOKEN: &'static str;

    /// The outputs by name.
    fn outputs(&self) -> Vec<(&'static str, Value)>;
}

/// The function that builds a component.
pub trait BuildComponent: Component {
    /// Arguments of the component; [`ComponentArgs`](crate::ComponentArgs) makes them inputs.
    type Args: ComponentInputs;

    /// Creates the resources of the component through `cx`, whose resources are its children.
    ///
    /// The function does not wait: outputs are there later, but children are known when it returns.
    fn build(cx: &Ctx, args: Self::Args) -> Result<Self>;
}

/// A component whose outputs can be read again: the derive macro `Component` implements it if every field is an `Output`.
#[diagnostic::on_unimplemented(
    message = "the outputs of `{Self}` cannot be read again",
    note = "a component with methods derives `Component`, and each of its fields is an `Output`"
)]
pub trait Recall: Component {
    /// The component that the engine knows under this handle.
    fn recall(handle: &Handle) -> Self;
}

/// The value as a secret, also if it is there later.
pub fn hidden(value: Value) -> Value {
    match value {
        Value::Output(output) => Value::Output(output.secret()),
        Value::Secret(_) | Value::Null => value,
        other => Value::Secret(Box::new(other)),
    }
}

/// Arguments of a component, which are its inputs in the state.
pub trait ComponentInputs {
    /// The inputs by name.
    fn inputs(&self) -> Inputs;
}

impl ComponentInputs for () {
    fn inputs(&self) -> Inputs {
        Inputs::new()
    }
}

/// A component that was built: its outputs, and the resource that it is.
#[derive(Clone, Debug)]
pub struct Built<T> {
    component: T,
    handle: Handle,
}

impl<T> Deref for Built<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.component
    }
}

impl<T> IntoValue for &Built<T> {
    fn into_value(self) -> Value {
        Value::Resource(self.handle.clone())
    }
}

impl<T> Built<T> {
    /// The resource that the component is, for options such as `parent`.
    pub fn resource(&self) -> &Handle {
        &self.handle
    }
}

/// Builds a component: the functions that the derive macro makes call it.
#[track_caller]
pub fn build<T: BuildComponent>(
    ctx: &Ctx,
    name: &str,
    args: T::Args,
    options: Options<kind::Component>,
) -> Result<Built<T>> {
    let location = Location::caller();
    let handle = ctx.local(T::TOKEN, name, args.inputs(), options.data, location);
    let result = T::build(&ctx.inside(&handle), args);
    handle.set_built();
    let component =
        result.map_err(|error| error.context(format!("cannot build the component `{name}`")))?;
    let outputs = component.outputs().into_iter();
    let outputs = outputs
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    register_outputs(&handle, outputs);
    Ok(Built { component, handle })
}

/// Tells the engine the outputs of a component when they are there.
fn register_outputs(handle: &Handle, outputs: BTreeMap<String, Value>) {
    let (program, handle) = (handle.program().clone(), handle.clone());
    let owner = program.clone();
    let waiting = program.waiting(format!("the outputs of {}", handle.label()));
    program.spawn(async move {
        let _waiting = waiting;
        let urn = handle.registered_urn().await?;
        let outputs = Encoder::default().members(&outputs, |_, _| {}).await?;
        let request = pb::RegisterResourceOutputsRequest {
            urn,
            outputs: Some(outputs),
        };
        let sent = owner.engine().register_outputs(request).await;
        let what = format!("could not register the outputs of {}", handle.label());
        sent.map_err(|status| monitor_error(&status, &what, handle.0.location))
    });
}

/// A component without a type of its own: a group of resources.
///
/// ```no_run
/// # use plumb::{Group, prelude::*};
/// # fn program(ctx: &Ctx) {
/// let group = Group::new(ctx, "acme:index:Network", "network");
/// let cx = ctx.child(&group);
/// // … resources through `cx` …
/// group.finish(value!({}));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Group(Handle);
crate::resource!(Group);

impl Group {
    /// Registers the component; its children come through [`Ctx::child`].
    #[track_caller]
    pub fn new(ctx: &Ctx, token: &str, name: &str) -> Self {
        Group::with(ctx, token, name, Options::default())
    }

    /// Registers the component with options.
    #[track_caller]
    pub fn with(ctx: &Ctx, token: &str, name: &str, options: Options<kind::Component>) -> Self {
        Group::with_inputs(ctx, token, name, Inputs::new(), options)
    }

    /// Registers the component with inputs, which stay in the state, and with options.
    #[track_caller]
    pub fn with_inputs(
        ctx: &Ctx,
        token: &str,
        name: &str,
        inputs: impl Into<Inputs>,
        options: Options<kind::Component>,
    ) -> Self {
        let location = Location::caller();
        Group(ctx.local(token, name, inputs.into(), options.data, location))
    }

    /// Says that the component has all its children, and what its outputs are.
    ///
    /// Whatever depends on the component waits for this.
    pub fn finish(&self, outputs: impl Into<Inputs>) {
        self.0.set_built();
        register_outputs(&self.0, outputs.into().members().clone());
    }
}
