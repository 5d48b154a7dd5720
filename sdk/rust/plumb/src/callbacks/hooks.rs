//! Hooks: functions that the engine calls while it works on a resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use prost::Message as _;

use super::Handler;
use crate::program::Program;
use crate::protocol as pb;
use crate::resource::monitor_error;
use crate::value::Value;
use crate::wire::Decoder;
use crate::{Error, Result};

/// A registered hook, for the options of resources. [`Ctx::hook`](crate::Ctx::hook) makes one.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// let audit = ctx.hook("audit", HookOptions::new(), |args| async move {
///     println!("{} {}", args.token(), args.id());
///     Ok(())
/// });
/// AnyResource::with(ctx, "aws:s3/bucket:Bucket", "logs", value!({}), opts().after_create(&audit).before_delete(&audit));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Hook {
    name: Arc<str>,
}

impl Hook {
    /// A hook of a program that called this one's component.
    pub(crate) fn named(name: &str) -> Self {
        Hook { name: name.into() }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A registered error hook. [`Ctx::error_hook`](crate::Ctx::error_hook) makes one.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// let retry = ctx.error_hook("retry", |args| async move { Ok(args.errors().len() < 3) });
/// AnyResource::with(ctx, "aws:s3/bucket:Bucket", "logs", value!({}), opts().on_error(&retry));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ErrorHook {
    name: Arc<str>,
}

impl ErrorHook {
    /// A hook of a program that called this one's component.
    pub(crate) fn named(name: &str) -> Self {
        ErrorHook { name: name.into() }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// When a hook runs.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// let options = HookOptions::new().on_preview(true).ignore_errors(true);
/// let notify = ctx.hook("notify", options, |args| async move { plumb::bail!("nobody hears of {}", args.name()) });
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HookOptions {
    on_preview: bool,
    ignores_errors: bool,
}

impl HookOptions {
    /// A hook that runs in deployments, and whose failure is one of the resource.
    pub fn new() -> Self {
        HookOptions::default()
    }

    /// Whether it runs in previews, too.
    #[must_use]
    pub fn on_preview(self, on_preview: bool) -> Self {
        HookOptions { on_preview, ..self }
    }

    /// Whether its failure is only a warning.
    #[must_use]
    pub fn ignore_errors(self, ignores_errors: bool) -> Self {
        HookOptions {
            ignores_errors,
            ..self
        }
    }
}

/// Properties by name, or nothing.
type Properties = BTreeMap<String, Value>;

/// The resource that a hook is called for.
///
/// A creation has new values only, a deletion old ones only, and outputs are there after the operation.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// ctx.hook("sizes", HookOptions::new(), |args| async move {
///     let size = |inputs: &std::collections::BTreeMap<String, Value>| inputs.get("size").cloned();
///     println!("{}: {:?} was {:?}", args.urn(), size(args.new_inputs()), size(args.old_inputs()));
///     Ok(())
/// });
/// # }
/// ```
#[derive(Debug)]
pub struct HookArgs {
    urn: String,
    id: String,
    name: String,
    token: String,
    new_inputs: Properties,
    old_inputs: Properties,
    new_outputs: Properties,
    old_outputs: Properties,
}

impl HookArgs {
    /// The URN of the resource.
    pub fn urn(&self) -> &str {
        &self.urn
    }

    /// The ID of the resource; empty before it is there.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The token of its type.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Inputs that the program gives the resource now.
    pub fn new_inputs(&self) -> &Properties {
        &self.new_inputs
    }

    /// Inputs of the last deployment.
    pub fn old_inputs(&self) -> &Properties {
        &self.old_inputs
    }

    /// Outputs after the operation.
    pub fn new_outputs(&self) -> &Properties {
        &self.new_outputs
    }

    /// Outputs before the operation.
    pub fn old_outputs(&self) -> &Properties {
        &self.old_outputs
    }
}

/// An operation that failed.
///
/// ```no_run
/// # use plumb::prelude::*;
/// # fn f(ctx: &Ctx) {
/// ctx.error_hook("patience", |args| async move {
///     let is_busy = args.errors().last().is_some_and(|it| it.contains("busy"));
///     Ok(args.operation() == "create" && is_busy)
/// });
/// # }
/// ```
#[derive(Debug)]
pub struct ErrorHookArgs {
    urn: String,
    name: String,
    operation: String,
    errors: Vec<String>,
}

impl ErrorHookArgs {
    /// The URN of the resource.
    pub fn urn(&self) -> &str {
        &self.urn
    }

    /// The name of the resource.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The operation: `create`, `update`, `delete`.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// The errors of all attempts, the newest first.
    pub fn errors(&self) -> &[String] {
        &self.errors
    }
}

pub(crate) fn register_hook<F, Fut>(
    program: &Program,
    name: &str,
    options: HookOptions,
    hook: F,
) -> Hook
where
    F: Fn(HookArgs) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<()>> + Send + 'static,
{
    let hook = Arc::new(hook);
    let (owner, inside) = (program.clone(), program.clone());
    let handler: Handler = Arc::new(move |bytes: Vec<u8>| {
        let (program, hook) = (inside.clone(), Arc::clone(&hook));
        async move {
            let _busy = program.busy();
            let args = args(&program, pb::ResourceHookRequest::decode(bytes.as_slice())?)?;
            let error = outcome(hook(args)).await.err().unwrap_or_default();
            Ok::<_, Error>(pb::ResourceHookResponse { error }.encode_to_vec())
        }
        .boxed()
    });
    let registered = name.to_owned();
    program.prepare(async move {
        if !owner.features.resource_hooks {
            return Err(Error::at("this version of the engine has no hooks", None));
        }
        let request = pb::RegisterResourceHookRequest {
            callback: Some(owner.callback(handler).await?),
            on_dry_run: options.on_preview,
            ignore_errors: options.ignores_errors,
            name: registered.clone(),
        };
        let sent = owner.engine().register_hook(request).await;
        let what = format!("cannot register the hook `{registered}`");
        sent.map_err(|it| monitor_error(&it, &what, None))
    });
    Hook { name: name.into() }
}

pub(crate) fn register_error_hook<F, Fut>(program: &Program, name: &str, hook: F) -> ErrorHook
where
    F: Fn(ErrorHookArgs) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<bool>> + Send + 'static,
{
    let hook = Arc::new(hook);
    let (owner, inside) = (program.clone(), program.clone());
    let handler: Handler = Arc::new(move |bytes: Vec<u8>| {
        let (program, hook) = (inside.clone(), Arc::clone(&hook));
        async move {
            let _busy = program.busy();
            let request = pb::ErrorHookRequest::decode(bytes.as_slice())?;
            let args = ErrorHookArgs {
                urn: request.urn,
                name: request.name,
                operation: request.failed_operation,
                errors: request.errors,
            };
            let (retry, error) = match outcome(hook(args)).await {
                Ok(retry) => (retry, String::new()),
                Err(error) => (false, error),
            };
            Ok::<_, Error>(pb::ErrorHookResponse { error, retry }.encode_to_vec())
        }
        .boxed()
    });
    let registered = name.to_owned();
    program.prepare(async move {
        if !owner.features.error_hooks {
            return Err(Error::at(
                "this version of the engine has no error hooks",
                None,
            ));
        }
        let request = pb::RegisterErrorHookRequest {
            callback: Some(owner.callback(handler).await?),
            name: registered.clone(),
        };
        let sent = owner.engine().register_error_hook(request).await;
        let what = format!("cannot register the hook `{registered}`");
        sent.map_err(|it| monitor_error(&it, &what, None))
    });
    ErrorHook { name: name.into() }
}

/// Runs a hook; its failure or panic is text for the engine.
async fn outcome<T>(hook: impl Future<Output = Result<T>>) -> Result<T, String> {
    match std::panic::AssertUnwindSafe(hook).catch_unwind().await {
        Ok(result) => result.map_err(|error| error.report()),
        Err(_) => Err("the hook panicked".to_owned()),
    }
}

fn args(program: &Program, request: pb::ResourceHookRequest) -> Result<HookArgs, Error> {
    Ok(HookArgs {
        urn: request.urn,
        id: request.id,
        name: request.name,
        token: request.r#type,
        new_inputs: Decoder::marked(program, request.new_inputs)?,
        old_inputs: Decoder::marked(program, request.old_inputs)?,
        new_outputs: Decoder::marked(program, request.new_outputs)?,
        old_outputs: Decoder::marked(program, request.old_outputs)?,
    })
}
