//! Evaluation of expressions in options: resources, providers, strings.

use std::sync::Arc;

use ecow::EcoString;

use super::driver::Run;
use super::evaluator::Stop;
use super::value::{ResourceVal, Val};
use crate::diagnostic::Diagnostic;
use crate::syntax::expression::Expr;

/// String value of an option; `None` if it is poisoned.
pub(super) fn plain_string(
    run: &Run<'_>,
    expr: &Expr,
    option: &str,
) -> Result<Option<EcoString>, Stop> {
    match run.evaluator.eval(expr)? {
        Val::String(text) => Ok(Some(text)),
        Val::Poison => Ok(None),
        other => Err(Diagnostic::error(
            expr.span,
            format!("{option} must be a string, got {}", other.kind()),
        )
        .into()),
    }
}

/// Resource in an option; `None` if it is poisoned.
pub(super) fn resource(run: &Run<'_>, expr: &Expr) -> Result<Option<Arc<ResourceVal>>, Stop> {
    match run.evaluator.eval(expr)? {
        Val::Resource(resource) => Ok(Some(resource)),
        Val::Reference(reference) => Err(Stop::Fetch(reference.urn.clone())),
        Val::Poison => Ok(None),
        Val::Output(_) => Err(Diagnostic::error(expr.span, "resource cannot be an output").into()),
        other => {
            let summary = format!("expected resource, got {}", other.go_type());
            Err(Diagnostic::error(expr.span, summary).into())
        }
    }
}

/// Resources in an option; `None` if one is poisoned.
pub(super) fn resources(
    run: &Run<'_>,
    expr: &Expr,
    option: &str,
) -> Result<Option<Vec<Arc<ResourceVal>>>, Stop> {
    let value = run.evaluator.eval(expr)?;
    let items = match &value {
        Val::List(items) => items.as_slice(),
        Val::Resource(_) => std::slice::from_ref(&value),
        Val::Poison => return Ok(None),
        other => return Err(not_resources(expr, option, other)),
    };
    let mut resources = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Val::Resource(resource) => resources.push(resource.clone()),
            Val::Poison => return Ok(None),
            other => return Err(not_resources(expr, option, other)),
        }
    }
    Ok(Some(resources))
}

fn not_resources(expr: &Expr, option: &str, found: &Val) -> Stop {
    let summary = format!(
        "resource option {option} value must be a list of resource(s), found {}",
        found.described()
    );
    Diagnostic::error(expr.span, summary).into()
}

/// Provider resource in an option; `None` if it is poisoned.
pub(super) fn provider(run: &Run<'_>, expr: &Expr) -> Result<Option<Arc<ResourceVal>>, Stop> {
    let Some(resource) = resource(run, expr)? else {
        return Ok(None);
    };
    if resource.provided_package().is_none() {
        let summary = format!(
            "resource passed as Provider was not a provider resource '{}'",
            resource.name
        );
        return Err(Diagnostic::error(expr.span, summary).into());
    }
    Ok(Some(resource))
}

/// Providers in an option: a list, or a map by package.
pub(super) fn provider_list(
    run: &Run<'_>,
    expr: &Expr,
) -> Result<Option<Vec<Arc<ResourceVal>>>, Stop> {
    let value = run.evaluator.eval(expr)?;
    let Val::Object(entries) = &value else {
        return resources(run, expr, "providers");
    };
    let mut providers = Vec::new();
    for value in entries.values() {
        match value {
            Val::Resource(resource) => providers.push(resource.clone()),
            Val::Poison => return Ok(None),
            other => return Err(not_resources(expr, "providers", other)),
        }
    }
    Ok(Some(providers))
}
