//! Requests for invokes and stack references, and the results of their replies (`yaml-runtime.md` 7).

use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::{
    InvokeFunctionRequest, InvokeReply, PackageRequest, ReadResourceRequest,
};
use plumb_eval::answers;
use plumb_resource::{ResourceId, Urn};
use plumb_schema::ReturnType;
use plumb_value::{PropertyMap, Value};

use super::convert::{self, Form};
use super::driver::Run;
use super::evaluator::Stop;
use super::lift::Lifted;
use super::references;
use super::register::STACK_REFERENCE;
use super::value::{Deps, Providers, Val};
use crate::diagnostic::Diagnostic;
use crate::syntax::program::{InvokeDecl, package_of};

/// Next step for an invoke.
pub(crate) enum Plan {
    /// The result is known without a call.
    Done(Val),
    /// A call to the engine.
    Call {
        request: Box<InvokeFunctionRequest>,
        /// Secretness and dependencies of the arguments and of `dependsOn`.
        lifted: Lifted,
    },
}

/// Evaluates the arguments of an invoke.
pub(crate) fn plan(run: &Run<'_>, index: usize) -> Result<Plan, Stop> {
    let invoke = &run.syntax.calls.invokes[index];
    let resolved = &run.types.invokes[index];
    let mut lifted = Lifted::default();
    let args = match &invoke.args {
        None => Val::Null,
        Some(args) => lifted.strip(&run.evaluator.eval(args)?),
    };
    // `dependsOn` delays the call, but the call also runs in previews in which the dependencies are not created yet.
    if let Some(expr) = &invoke.options.depends_on {
        let resources = references::resources(run, expr, "dependsOn")?;
        let Some(resources) = resources else {
            return Ok(Plan::Done(Val::Poison));
        };
        for resource in resources {
            lifted.deps.merge(&Deps::one(resource.urn.clone()));
        }
        lifted.any = true;
    }
    let parent = match &invoke.options.parent {
        None => None,
        Some(expr) => match references::resource(run, expr)? {
            None => return Ok(Plan::Done(Val::Poison)),
            parent => parent,
        },
    };
    let providers = parent
        .as_ref()
        .map_or(&run.owner.providers, |parent| &parent.providers);
    let Some(provider) = provider_of(run, index, providers)? else {
        return Ok(Plan::Done(Val::Poison));
    };
    if lifted.poisoned {
        return Ok(Plan::Done(Val::Poison));
    }
    if lifted.unknown {
        return Ok(Plan::Done(lifted.wrap(Val::Null)));
    }
    let request = Box::new(InvokeFunctionRequest {
        token: resolved.token.clone(),
        args: Arc::new(argument_map(invoke, args)?),
        provider,
        package: package_request(run, index, invoke),
        parent: parent
            .map(|parent| parent.urn.clone())
            .or_else(|| run.component()),
        depends_on: Vec::new(),
    });
    Ok(Plan::Call { request, lifted })
}

/// Provider of an invoke: the named one, the default provider of the program, or that of the parent, which can be
/// empty. `None` if it is poisoned.
fn provider_of(
    run: &Run<'_>,
    index: usize,
    inherited: &Providers,
) -> Result<Option<EcoString>, Stop> {
    if let Some(expr) = &run.syntax.calls.invokes[index].options.provider {
        let provider = references::provider(run, expr)?;
        return Ok(provider.map(|provider| provider.provider_ref()));
    }
    Ok(match run.default_provider_of_invoke(index) {
        Some(Val::Resource(provider)) => Some(provider.provider_ref()),
        Some(_) => None,
        None => {
            let package = package_of(&run.types.invokes[index].token);
            Some(inherited.get(package).cloned().unwrap_or_default())
        }
    })
}

fn argument_map(invoke: &InvokeDecl, args: Val) -> Result<PropertyMap, Diagnostic> {
    match args {
        Val::Null => Ok(PropertyMap::new()),
        Val::Object(entries) => Ok(convert::to_map(&entries, Form::Plain)),
        other => {
            let kind = other.kind();
            let summary = format!("the arguments of an invoke must be an object, not {kind}");
            let span = invoke.args.as_ref().map_or(invoke.span, |args| args.span);
            Err(Diagnostic::error(span, summary))
        }
    }
}

/// Package of an invoke. For a declared package, its reference suffices.
fn package_request(run: &Run<'_>, index: usize, invoke: &InvokeDecl) -> PackageRequest {
    let package_ref = run.package_ref(run.types.invokes[index].declaration);
    if !package_ref.is_empty() {
        return PackageRequest {
            package_ref,
            ..PackageRequest::default()
        };
    }
    let default = run.graph.invoke_default_provider(index, invoke);
    let default = default.map(|index| run.syntax.resources[index].options());
    let version = invoke
        .options
        .version
        .as_ref()
        .or(default.and_then(|options| options.version.as_ref()));
    let download_url = invoke.options.download_url.as_ref();
    PackageRequest {
        version: version.map(|(text, _)| text.clone()).unwrap_or_default(),
        download_url: download_url.cloned().unwrap_or_default(),
        ..PackageRequest::default()
    }
}

/// Value of an invoke, from its reply.
pub(crate) fn result(
    run: &Run<'_>,
    index: usize,
    reply: InvokeReply,
    mut lifted: Lifted,
) -> Result<Val, Diagnostic> {
    let invoke = &run.syntax.calls.invokes[index];
    let token = &run.types.invokes[index].token;
    if !reply.failures.is_empty() {
        let summary = answers::failures(token, &reply.failures);
        return Err(Diagnostic::error(invoke.span, summary));
    }
    lifted.any = true;
    if reply.unknown {
        lifted.unknown = true;
        return Ok(lifted.wrap(Val::Null));
    }
    lifted.secret |= reply.result.contains_secrets();
    let result = reply.result.without_secrets();
    let value = pick(run, index, invoke, &result)?;
    Ok(lifted.wrap(value))
}

fn pick(
    run: &Run<'_>,
    index: usize,
    invoke: &InvokeDecl,
    result: &PropertyMap,
) -> Result<Val, Diagnostic> {
    let schema = run.types.invokes[index].schema.as_ref();
    let is_scalar =
        schema.is_some_and(|(_, function)| matches!(function.returns, ReturnType::Value(_)));
    if is_scalar {
        if let Some((name, span)) = &invoke.returns {
            let token = &run.types.invokes[index].token;
            let summary =
                format!("{token} has a non-object return value; cannot specify property '{name}'");
            return Err(Diagnostic::error(*span, summary));
        }
        return Ok(result
            .values()
            .next()
            .map_or(Val::Null, convert::from_value));
    }
    let Some((name, span)) = &invoke.returns else {
        return Ok(convert::from_map(result));
    };
    if let Some(value) = result.get(name) {
        return Ok(convert::from_value(value));
    }
    let declared = schema.is_some_and(|(_, function)| match &function.returns {
        ReturnType::Object(object) => object.properties.contains_key(name.as_str()),
        ReturnType::None | ReturnType::Value(_) => false,
    });
    if declared {
        return Ok(Val::Null);
    }
    let token = &invoke.token;
    Err(Diagnostic::error(
        *span,
        format!("Unable to evaluate result[{name}] of {token}: there is no such property"),
    ))
}

/// Read request for the outputs of a stack, for `fn::stackReference`.
pub(crate) fn read_stack(run: &Run<'_>, name: &str) -> ReadResourceRequest {
    stack_reference(name, name, Some(run.owner.urn.clone()))
}

/// Read request for the stack `stack`, under the resource name `name`.
pub(crate) fn stack_reference(name: &str, stack: &str, parent: Option<Urn>) -> ReadResourceRequest {
    ReadResourceRequest {
        id: ResourceId::from_text(stack),
        type_token: STACK_REFERENCE.into(),
        name: name.into(),
        parent,
        properties: Arc::new(PropertyMap::new().with("name", Value::from(stack))),
        dependencies: [].into(),
        provider: ecow::EcoString::new(),
        package: PackageRequest::default(),
        additional_secret_outputs: [].into(),
        source_position: None,
        stack_trace: [].into(),
    }
}
