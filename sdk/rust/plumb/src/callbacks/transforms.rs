//! Transforms: functions that may change a resource or a call before the engine sees it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use prost::Message as _;

use super::Handler;
use crate::program::Program;
use crate::protocol as pb;
use crate::resource::{TypedResource, monitor_error};
use crate::value::{IntoValue, Value};
use crate::wire::{Decoder, Encoder};
use crate::{Error, Result};

/// A resource on its way to the engine.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// ctx.stack_transform(|mut resource| async move {
///     if resource.token().starts_with("aws:") && resource.get("tags").is_none() {
///         resource.set("tags", value!({ "owner": "infra" }));
///         resource.ignore_changes("tags");
///     }
///     Ok(resource)
/// });
/// # }
/// ```
#[derive(Debug)]
pub struct Transform {
    token: String,
    name: String,
    is_custom: bool,
    parent: String,
    inputs: BTreeMap<String, Value>,
    options: pb::TransformResourceOptions,
}

impl Transform {
    /// The token of the type.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether the resource has the type `R`.
    pub fn is<R: TypedResource>(&self) -> bool {
        self.token == R::TOKEN
    }

    /// The name in the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a provider creates the resource; components are not custom.
    pub fn is_custom(&self) -> bool {
        self.is_custom
    }

    /// The URN of the parent.
    pub fn parent(&self) -> &str {
        &self.parent
    }

    /// The inputs, with secrets and unknown values marked.
    pub fn inputs(&self) -> &BTreeMap<String, Value> {
        &self.inputs
    }

    /// One input.
    pub fn get(&self, name: impl AsRef<str>) -> Option<&Value> {
        self.inputs.get(name.as_ref())
    }

    /// Sets an input.
    pub fn set(&mut self, name: impl Into<String>, value: impl IntoValue) {
        self.inputs.insert(name.into(), value.into_value());
    }

    /// Removes an input.
    pub fn remove(&mut self, name: impl AsRef<str>) -> Option<Value> {
        self.inputs.remove(name.as_ref())
    }

    /// Sets whether the resource is protected.
    pub fn protect(&mut self, protect: bool) {
        self.options.protect = Some(protect);
    }

    /// Sets whether the resource stays where it is when it is removed from the stack.
    pub fn retain_on_delete(&mut self, retain: bool) {
        self.options.retain_on_delete = Some(retain);
    }

    /// Sets whether a replacement deletes the old resource first.
    pub fn delete_before_replace(&mut self, first: bool) {
        self.options.delete_before_replace = Some(first);
    }

    /// Adds a property whose changes are ignored.
    pub fn ignore_changes(&mut self, property: impl Into<String>) {
        self.options.ignore_changes.push(property.into());
    }

    /// Adds a property whose changes replace the resource.
    pub fn replace_on_changes(&mut self, property: impl Into<String>) {
        self.options.replace_on_changes.push(property.into());
    }

    /// Adds an output that is a secret.
    pub fn additional_secret_output(&mut self, output: impl Into<String>) {
        self.options.additional_secret_outputs.push(output.into());
    }

    /// Sets the version of the plugin.
    pub fn version(&mut self, version: impl Into<String>) {
        self.options.version = version.into();
    }
}

/// A call of a function of a provider on its way to the engine.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// ctx.invoke_transform(|mut call| async move {
///     if call.token() == "aws:ec2/getAmi:getAmi" {
///         call.set("mostRecent", true);
///     }
///     Ok(call)
/// });
/// # }
/// ```
#[derive(Debug)]
pub struct InvokeTransform {
    token: String,
    args: BTreeMap<String, Value>,
    options: pb::TransformInvokeOptions,
}

impl InvokeTransform {
    /// The token of the function.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The arguments.
    pub fn args(&self) -> &BTreeMap<String, Value> {
        &self.args
    }

    /// Sets an argument.
    pub fn set(&mut self, name: &str, value: impl IntoValue) {
        self.args.insert(name.to_owned(), value.into_value());
    }

    /// Sets the version of the plugin.
    pub fn version(&mut self, version: impl Into<String>) {
        self.options.version = version.into();
    }
}

type Function = dyn Fn(Transform) -> BoxFuture<'static, Result<Transform>> + Send + Sync;

/// A transform of the user.
#[derive(Clone)]
pub(crate) struct TransformFn(Arc<Function>);

impl TransformFn {
    pub(crate) fn new<F, Fut>(transform: F) -> Self
    where
        F: Fn(Transform) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Transform>> + Send + 'static,
    {
        TransformFn(Arc::new(move |resource| transform(resource).boxed()))
    }

    /// Makes the function known to the engine.
    pub(crate) async fn register(&self, program: &Program) -> Result<pb::Callback, Error> {
        if !program.features.transforms {
            return Err(Error::at(
                "this version of the engine has no transforms",
                None,
            ));
        }
        let (function, program_inside) = (Arc::clone(&self.0), program.clone());
        let handler: Handler = Arc::new(move |bytes: Vec<u8>| {
            run(program_inside.clone(), Arc::clone(&function), bytes).boxed()
        });
        program.callback(handler).await
    }

    /// Lets the engine call the function for every resource that comes later.
    pub(crate) fn register_for_stack(self, program: &Program) {
        let owner = program.clone();
        program.prepare(async move {
            let callback = self.register(&owner).await?;
            let sent = owner.engine().register_transform(callback).await;
            sent.map_err(|it| monitor_error(&it, "cannot register a transform", None))
        });
    }
}

async fn run(program: Program, function: Arc<Function>, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let _busy = program.busy();
    let request = pb::TransformRequest::decode(bytes.as_slice())?;
    let transform = Transform {
        token: request.r#type,
        name: request.name,
        is_custom: request.custom,
        parent: request.parent,
        inputs: Decoder::marked(&program, request.properties)?,
        options: request.options.unwrap_or_default(),
    };
    let transform = function(transform).await?;
    let response = pb::TransformResponse {
        properties: Some(encode(&program, &transform.inputs).await?),
        options: Some(transform.options),
    };
    Ok(response.encode_to_vec())
}

async fn encode(
    program: &Program,
    values: &BTreeMap<String, Value>,
) -> Result<prost_types::Struct, Error> {
    let encoder = Encoder {
        keeps_outputs: program.features.output_values,
        ..Encoder::default()
    };
    encoder.members(values, |_, _| {}).await
}

/// Lets the engine call `transform` for every call of a function that comes later.
pub(crate) fn register_invoke_transform<F, Fut>(program: &Program, transform: F)
where
    F: Fn(InvokeTransform) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<InvokeTransform>> + Send + 'static,
{
    let transform = Arc::new(transform);
    let owner = program.clone();
    program.prepare(async move {
        let inside = owner.clone();
        let handler: Handler = Arc::new(move |bytes: Vec<u8>| {
            let (program, transform) = (inside.clone(), Arc::clone(&transform));
            async move {
                let _busy = program.busy();
                let request = pb::TransformInvokeRequest::decode(bytes.as_slice())?;
                let call = InvokeTransform {
                    token: request.token,
                    args: Decoder::marked(&program, request.args)?,
                    options: request.options.unwrap_or_default(),
                };
                let call = transform(call).await?;
                let response = pb::TransformInvokeResponse {
                    args: Some(encode(&program, &call.args).await?),
                    options: Some(call.options),
                };
                Ok::<_, Error>(response.encode_to_vec())
            }
            .boxed()
        });
        let callback = owner.callback(handler).await?;
        let sent = owner.engine().register_invoke_transform(callback).await;
        sent.map_err(|it| monitor_error(&it, "cannot register a transform", None))
    });
}
