//! Registration requests for resources (`yaml-runtime.md` 5).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::{PackageRequest, ReadResourceRequest, RegisterRequest};
use plumb_resource::Urn;
use plumb_schema::Resource;

use plumb_eval::inputs::{Inputs, apply_schema, set_properties};

use super::convert::Form;
use super::driver::Run;
use super::evaluator::Stop;
use super::lift::{self, Lifted};
use super::options::set_options;
use super::read;
use super::references::{provider, provider_list, resource, resources};
use super::value::{Deps, Providers, ResourceVal, Val};
use crate::diagnostic::Diagnostic;
use crate::syntax::expression::{Accessor, Expr};
use crate::syntax::program::{Properties, ResourceDecl, package_of};

/// Token of references to other stacks.
pub(crate) const STACK_REFERENCE: &str = "pulumi:pulumi:StackReference";

/// Next step for a resource.
pub(crate) enum Plan {
    /// None, because it depends on a poisoned value.
    Poison,
    /// Registration.
    Register {
        request: Box<RegisterRequest>,
        providers: Providers,
    },
    /// Read.
    Read {
        request: Box<ReadResourceRequest>,
        providers: Providers,
    },
}

/// Evaluates the inputs and options of a resource.
pub(crate) fn plan(run: &Run<'_>, index: usize) -> Result<Plan, Stop> {
    let decl = &run.syntax.resources[index];
    let resolved = &run.types.resources[index];
    let schema = resolved.schema.as_ref().map(|(_, resource)| &**resource);
    if resolved.token == STACK_REFERENCE && decl.read().is_none() {
        return read::stack_reference(run, index);
    }
    let Some(common) = Common::evaluate(run, index, &resolved.token)? else {
        return Ok(Plan::Poison);
    };
    if let Some((get, _)) = decl.read() {
        return read::read(run, index, get, common);
    }
    let Some(mut inputs) = inputs(run, decl, schema)? else {
        return Ok(Plan::Poison);
    };
    if let Some(resource) = schema {
        apply_schema(&mut inputs, resource);
    }
    if inputs.iter().any(|(_, value)| lift::is_poisoned(value)) {
        return Ok(Plan::Poison);
    }
    let remote = schema.is_some_and(|resource| resource.is_component);
    let mut request = RegisterRequest::new(&resolved.token, &run.resource_name(decl), !remote);
    request.remote = remote;
    set_properties(
        &mut request,
        &inputs,
        if remote { Form::Outputs } else { Form::Plain },
    );
    let providers = common.providers.clone();
    common.set(&mut request, remote);
    if !set_options(run, &mut request, decl, schema)? {
        return Ok(Plan::Poison);
    }
    Ok(Plan::Register {
        request: Box::new(request),
        providers,
    })
}

/// Common part of registrations and reads.
pub(super) struct Common {
    pub(super) parent: Urn,
    pub(super) depends_on: Deps,
    pub(super) provider: EcoString,
    /// Providers named by the resource. Those inherited from components are known to the engine.
    named: Providers,
    /// Providers for its children.
    pub(super) providers: Providers,
    pub(super) package: PackageRequest,
    pub(super) source_position: Option<EcoString>,
}

impl Common {
    /// Evaluates the common options; `None` if a value that they refer to is poisoned.
    pub(super) fn evaluate(
        run: &Run<'_>,
        index: usize,
        token: &str,
    ) -> Result<Option<Common>, Stop> {
        let decl = &run.syntax.resources[index];
        let options = decl.options();
        let mut providers = run.owner.providers.clone();
        let mut parent = run.owner.urn.clone();
        if let Some(expr) = &options.parent {
            let Some(resource) = resource(run, expr)? else {
                return Ok(None);
            };
            parent = resource.urn.clone();
            providers = resource.providers.clone();
        }
        let mut depends_on = Deps::default();
        if let Some(expr) = &options.depends_on {
            let Some(resources) = resources(run, expr, "dependsOn")? else {
                return Ok(None);
            };
            depends_on = resources
                .iter()
                .map(|resource| resource.urn.clone())
                .collect();
        }
        let Some(named) = named_providers(run, index)? else {
            return Ok(None);
        };
        let named: BTreeMap<EcoString, EcoString> = named
            .iter()
            .filter_map(|it| Some((it.provided_package()?.into(), it.provider_ref())))
            .collect();
        if !named.is_empty() {
            Arc::make_mut(&mut providers).extend(named.clone());
        }
        let is_provider = token.starts_with("pulumi:providers:");
        let provider = if is_provider {
            None
        } else {
            providers.get(package_of(token))
        };
        Ok(Some(Common {
            parent,
            depends_on,
            provider: provider.cloned().unwrap_or_default(),
            package: package_request(run, index),
            source_position: Some(run.position(decl.key.span)),
            named: Arc::new(named),
            providers,
        }))
    }

    fn set(self, request: &mut RegisterRequest, remote: bool) {
        let mut dependencies = self.depends_on;
        for urns in request.property_dependencies.values() {
            dependencies.merge(&urns.iter().cloned().collect());
        }
        request.dependencies = dependencies.to_vec().into();
        request.parent = Some(self.parent);
        request.provider = self.provider;
        if remote {
            request.providers = Arc::unwrap_or_clone(self.named);
        }
        request.package = self.package;
        request.source_position = self.source_position;
    }
}

/// Providers named by a resource, or its default provider if it names none; `None` if one is poisoned.
fn named_providers(run: &Run<'_>, index: usize) -> Result<Option<Vec<Arc<ResourceVal>>>, Stop> {
    let options = run.syntax.resources[index].options();
    let mut named = Vec::new();
    if let Some(expr) = &options.providers {
        let Some(resources) = provider_list(run, expr)? else {
            return Ok(None);
        };
        named = resources;
    }
    if let Some(expr) = &options.provider {
        let Some(resource) = provider(run, expr)? else {
            return Ok(None);
        };
        named.push(resource);
    } else if let Some(default) = run.default_provider_of_resource(index) {
        let Val::Resource(resource) = default else {
            return Ok(None);
        };
        named.push(resource.clone());
    }
    Ok(Some(named))
}

/// Version and download URL of the plugin: those of the resource, or else those of its default provider.
fn package_request(run: &Run<'_>, index: usize) -> PackageRequest {
    let decl = &run.syntax.resources[index];
    let default = decl
        .options()
        .provider
        .is_none()
        .then(|| run.graph.default_provider(decl.package()))
        .flatten();
    let default = default
        .filter(|default| *default != index)
        .map(|default| run.syntax.resources[default].options());
    let own = decl.options();
    let version = own
        .version
        .as_ref()
        .or(default.and_then(|default| default.version.as_ref()));
    let download_url = own
        .download_url
        .as_ref()
        .or(default.and_then(|default| default.download_url.as_ref()));
    let mut package = PackageRequest {
        version: version.map(|(text, _)| text.clone()).unwrap_or_default(),
        download_url: download_url.cloned().unwrap_or_default(),
        ..PackageRequest::default()
    };
    if package.version.is_empty() && package.download_url.is_empty() {
        package.package_ref = run.package_ref(run.types.resources[index].declaration);
    }
    package
}

/// Inputs in order of declaration; `None` if they are poisoned as a whole.
fn inputs(
    run: &Run<'_>,
    decl: &ResourceDecl,
    schema: Option<&Resource>,
) -> Result<Option<Inputs>, Stop> {
    match &decl.properties {
        Properties::None => Ok(Some(Vec::new())),
        Properties::Map(entries) => {
            let mut inputs = Vec::with_capacity(entries.len());
            for (key, expr) in entries {
                inputs.push((key.text.clone(), run.evaluator.eval(expr)?));
            }
            Ok(Some(inputs))
        }
        Properties::Expr(expr) => {
            let value = run.evaluator.eval(expr)?;
            match &value {
                Val::Object(entries) => Ok(Some(
                    entries
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect(),
                )),
                Val::Output(_) => spread(run, expr, &value, schema).map(Some),
                Val::Poison => Ok(None),
                other => {
                    let summary = format!(
                        "resource properties must be an object, not {}",
                        other.kind()
                    );
                    Err(Diagnostic::error(expr.span, summary).into())
                }
            }
        }
    }
}

/// Splits an output into properties: the inputs in the schema, or without a schema, the properties of the value.
fn spread(
    run: &Run<'_>,
    expr: &Expr,
    value: &Val,
    schema: Option<&Resource>,
) -> Result<Inputs, Stop> {
    let mut lifted = Lifted::default();
    let names: Vec<EcoString> = match (schema, lifted.strip_outer(value)) {
        (Some(schema), _) => schema
            .input_properties
            .keys()
            .map(|name| name.as_str().into())
            .collect(),
        (None, Val::Object(entries)) => entries.keys().cloned().collect(),
        (None, _) => {
            let summary = "resource properties that are not known yet need the schema of the resource's package";
            return Err(Diagnostic::error(expr.span, summary).into());
        }
    };
    let mut inputs = Vec::new();
    for name in names {
        let path = [Accessor::Name(name.clone())];
        let found =
            super::access::access(value, &path, &run.evaluator).map_err(
                |failure| match failure {
                    super::access::Failure::Problem(summary) => {
                        Stop::from(Diagnostic::error(expr.span, summary))
                    }
                    super::access::Failure::Fetch(urn) => Stop::Fetch(urn),
                },
            )?;
        let is_null = matches!(&found, Val::Output(output) if output.value == Some(Val::Null));
        if !is_null {
            inputs.push((name, found));
        }
    }
    Ok(inputs)
}
