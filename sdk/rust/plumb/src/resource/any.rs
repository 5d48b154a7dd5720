//! Resources by their token: for packages without generated code.

use std::panic::Location;

use super::{Handle, Options, kind};
use crate::context::Ctx;
use crate::input::Inputs;
use crate::output::Output;
use crate::value::{FromValue, IntoValue};

/// A resource of any type, with untyped inputs and outputs.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn program(ctx: &Ctx) {
/// let token = AnyResource::new(ctx, "random:index/randomString:RandomString", "token",
///     value!({ "length": 8, "special": false }));
/// let text: Output<String> = token.output("result");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AnyResource(Handle);
crate::resource!(AnyResource);

impl AnyResource {
    /// Registers a resource.
    #[track_caller]
    pub fn new(ctx: &Ctx, token: &str, name: &str, inputs: impl Into<Inputs>) -> Self {
        AnyResource::with(ctx, token, name, inputs, Options::default())
    }

    /// Registers a resource with options.
    #[track_caller]
    pub fn with(
        ctx: &Ctx,
        token: &str,
        name: &str,
        inputs: impl Into<Inputs>,
        options: Options<kind::Custom>,
    ) -> Self {
        AnyResource(ctx.custom(token, name, inputs.into(), options.data, Location::caller()))
    }

    /// Looks at a resource that exists already, with this ID.
    #[track_caller]
    pub fn get<T: IntoValue>(ctx: &Ctx, token: &str, name: &str, id: T) -> Self {
        AnyResource(ctx.read(
            token,
            name,
            id.into_value(),
            Inputs::new(),
            Location::caller(),
        ))
    }

    /// Registers a component of a provider.
    #[track_caller]
    pub fn component(
        ctx: &Ctx,
        token: &str,
        name: &str,
        inputs: impl Into<Inputs>,
        options: Options<kind::Component>,
    ) -> Self {
        AnyResource(ctx.remote(token, name, inputs.into(), options.data, Location::caller()))
    }

    /// The output called `name` on the wire.
    pub fn output<T: FromValue + Clone + Send + Sync + 'static>(&self, name: &str) -> Output<T> {
        self.0.output(name)
    }

    /// The ID that the provider gave the resource.
    pub fn id(&self) -> Output<String> {
        self.0.id()
    }
}

/// A provider with its own configuration, for packages without generated code.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn program(ctx: &Ctx) {
/// let west = AnyProvider::new(ctx, "aws", "west", value!({ "region": "us-west-2" }));
/// let cx = ctx.with(opts().provider(&west));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AnyProvider(Handle);
crate::resource!(AnyProvider);

impl AnyProvider {
    /// Registers a provider of `package`.
    #[track_caller]
    pub fn new(ctx: &Ctx, package: &str, name: &str, inputs: impl Into<Inputs>) -> Self {
        AnyProvider::with(ctx, package, name, inputs, Options::default())
    }

    /// Registers a provider of `package` with options.
    #[track_caller]
    pub fn with(
        ctx: &Ctx,
        package: &str,
        name: &str,
        inputs: impl Into<Inputs>,
        options: Options<kind::Provider>,
    ) -> Self {
        let token = format!("pulumi:providers:{package}");
        AnyProvider(ctx.custom(
            &token,
            name,
            inputs.into(),
            options.data,
            Location::caller(),
        ))
    }
}
