//! Requests for invokes and stack references, and what their answers mean (`yaml-runtime.md` 7).

use std::sync::Arc;

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
use super::register;
use super::value::{Deps, Val};
use crate::diagnostic::Diagnostic;
use crate::syntax::program::InvokeDecl;

/// What to do about an invoke.
pub(crate) enum Plan {
    /// The result is known without a call.
    Done(Val),
    /// Ask the engine.
    Call {
        request: Box<InvokeFunctionRequest>,
        /// Secrecy and dependencies of the arguments and `dependsOn`.
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
    // Calls wait for what they depend on, and run in previews whether it exists yet or not.
    if let Some(expr) = &invoke.options.depends_on {
        let resources = register::resources(run, expr, "dependsOn")?;
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
        Some(expr) => match register::resource(run, expr, "parent")? {
            None => return Ok(Plan::Done(Val::Poison)),
            parent => parent,
        },
    };
    let package_name = crate::syntax::program::package_of(&resolved.token);
    let mut package = package_request(run, index, invoke);
    let provider = match &invoke.options.provider {
        Some(expr) => match register::provider(run, expr)? {
            None => return Ok(Plan::Done(Val::Poison)),
            Some(provider) => provider.provider_ref(),
        },
        None => match run.default_provider_of_invoke(index) {
            Some(Val::Resource(provider)) => provider.provider_ref(),
            Some(_) => return Ok(Plan::Done(Val::Poison)),
            None => parent
                .as_ref()
                .map_or(&run.owner.providers, |parent| &parent.providers)
                .get(package_name)
                .cloned()
                .unwrap_or_default(),
        },
    };
    if lifted.poisoned {
        return Ok(Plan::Done(Val::Poison));
    }
    if lifted.unknown {
        return Ok(Plan::Done(lifted.wrap(Val::Null)));
    }
    let args = match args {
        Val::Null => PropertyMap::new(),
        Val::Object(entries) => convert::to_map(&entries, Form::Plain),
        other => {
            let summary = format!(
                "the arguments of an invoke must be an object, not {}",
                other.kind()
            );
            let span = invoke.args.as_ref().map_or(invoke.span, |args| args.span);
            return Err(Diagnostic::error(span, summary).into());
        }
    };
    if !package.package_ref.is_empty() {
        package = PackageRequest {
            package_ref: package.package_ref,
            ..PackageRequest::default()
        };
    }
    let request = Box::new(InvokeFunctionRequest {
        token: resolved.token.clone(),
        args: Arc::new(args),
        provider,
        package,
        parent: parent
            .map(|parent| parent.urn.clone())
            .or_else(|| run.component()),
        depends_on: Vec::new(),
    });
    Ok(Plan::Call { request, lifted })
}

/// The package reference goes along even when a version is given.
fn package_request(run: &Run<'_>, index: usize, invoke: &InvokeDecl) -> PackageRequest {
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
        checksums: std::collections::BTreeMap::new(),
        package_ref: run.package_ref(run.types.invokes[index].declaration),
    }
}

/// The value of an invoke that was answered.
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

/// What reads the outputs of a stack for `fn::stackReference`.
pub(crate) fn read_stack(run: &Run<'_>, name: &str) -> ReadResourceRequest {
    stack_reference(name, name, Some(run.owner.urn.clone()))
}

/// A read of the stack `stack`, under the resource name `name`.
pub(crate) fn stack_reference(name: &str, stack: &str, parent: Option<Urn>) -> ReadResourceRequest {
    ReadResourceRequest {
        id: ResourceId::from_text(stack),
        type_token: register::STACK_REFERENCE.into(),
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
