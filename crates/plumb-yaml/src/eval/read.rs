//! Read requests for existing resources and for other stacks.

use std::sync::Arc;

use plumb_deploy::request::ReadResourceRequest;
use plumb_resource::{ResourceId, Urn};
use plumb_value::{PropertyKey, PropertyMap, Value};

use super::convert::{self, Form};
use super::driver::Run;
use super::evaluator::Stop;
use super::lift::{self, Lifted};
use super::references::plain_string;
use super::register::{Common, Plan, STACK_REFERENCE};
use super::value::{Deps, Providers, ResourceVal, Val};
use crate::diagnostic::Diagnostic;
use crate::syntax::program::{GetDecl, Properties};

/// Read request for another stack.
pub(super) fn stack_reference(run: &Run<'_>, index: usize) -> Result<Plan, Stop> {
    let decl = &run.syntax.resources[index];
    let mut stack = decl.logical_name().clone();
    if let Properties::Map(entries) = &decl.properties {
        for (key, expr) in entries.iter().filter(|(key, _)| key.text == "name") {
            let Some(text) = plain_string(run, expr, &key.text)? else {
                return Ok(Plan::Poison);
            };
            stack = text;
        }
    }
    let Some(common) = Common::evaluate(run, index, STACK_REFERENCE)? else {
        return Ok(Plan::Poison);
    };
    let mut request =
        super::invoke::stack_reference(&run.resource_name(decl), &stack, Some(common.parent));
    request.dependencies = common.depends_on.to_vec().into();
    request.source_position = common.source_position;
    Ok(Plan::Read {
        request: Box::new(request),
        providers: common.providers,
    })
}

/// Read request for a resource that is not managed by this stack.
pub(super) fn read(
    run: &Run<'_>,
    index: usize,
    get: &GetDecl,
    common: Common,
) -> Result<Plan, Stop> {
    let decl = &run.syntax.resources[index];
    let token = &run.types.resources[index];
    let mut deps = common.depends_on;
    let Some(id) = id(run, get, &mut deps)? else {
        return Ok(Plan::Poison);
    };
    let Some(properties) = lookup(run, get, &mut deps)? else {
        return Ok(Plan::Poison);
    };
    let own = decl.options().additional_secret_outputs.iter().cloned();
    let mut secrets: Vec<PropertyKey> = own.map(PropertyKey::from).collect();
    if let Some((_, resource)) = &token.schema {
        secrets.extend(resource.secret_outputs().map(PropertyKey::from));
    }
    let request = ReadResourceRequest {
        id,
        type_token: token.token.clone(),
        name: run.resource_name(decl),
        parent: Some(common.parent),
        properties: Arc::new(properties),
        dependencies: deps.to_vec().into(),
        provider: common.provider,
        package: common.package,
        additional_secret_outputs: secrets.into(),
        source_position: common.source_position,
        stack_trace: [].into(),
    };
    Ok(Plan::Read {
        request: Box::new(request),
        providers: common.providers,
    })
}

/// Id of the resource to read; `None` if it is poisoned.
fn id(run: &Run<'_>, get: &GetDecl, deps: &mut Deps) -> Result<Option<ResourceId>, Stop> {
    let Some(expr) = &get.id else {
        return Err(Diagnostic::error(get.span, "get: the field 'id' is required").into());
    };
    let mut lifted = Lifted::default();
    let id = lifted.strip(&run.evaluator.eval(expr)?);
    deps.merge(&lifted.deps);
    Ok(match id {
        _ if lifted.poisoned => None,
        _ if lifted.unknown => Some(ResourceId::Unknown),
        Val::String(text) => Some(ResourceId::from_text(&text)),
        Val::Resource(resource) => Some(resource.id.clone()),
        other => {
            let summary = format!("id must be a string, not {}", other.kind());
            return Err(Diagnostic::error(expr.span, summary).into());
        }
    })
}

/// State for the lookup; `None` if it is poisoned.
fn lookup(run: &Run<'_>, get: &GetDecl, deps: &mut Deps) -> Result<Option<PropertyMap>, Stop> {
    let mut properties = PropertyMap::new();
    for (key, expr) in &get.state {
        let value = run.evaluator.eval(expr)?;
        if lift::is_poisoned(&value) {
            return Ok(None);
        }
        lift::dependencies(&value, deps);
        let value = convert::to_value(&value, Form::Plain);
        if value != Value::Null {
            properties.insert(key.text.clone(), value);
        }
    }
    Ok(Some(properties))
}

/// Value of a resource with an unknown id, which cannot be read yet.
pub(super) fn unknown_read(
    run: &Run<'_>,
    request: &ReadResourceRequest,
    providers: Providers,
) -> Val {
    let parent_type = request
        .parent
        .as_ref()
        .map_or("", |parent| parent.qualified_type());
    let info = run.evaluator.info;
    Val::Resource(Arc::new(ResourceVal {
        urn: Urn::new(
            &info.stack,
            &info.project,
            parent_type,
            &request.type_token,
            &request.name,
        ),
        id: ResourceId::Unknown,
        custom: true,
        type_token: request.type_token.clone(),
        name: request.name.clone(),
        outputs: Arc::default(),
        partial: true,
        providers,
    }))
}
