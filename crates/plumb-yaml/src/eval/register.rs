//! Requests that register and read resources (`yaml-runtime.md` 5).

use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::{PackageRequest, ReadResourceRequest, RegisterRequest};
use plumb_resource::{Alias, AliasParent, AliasSpec, CustomTimeouts, ResourceId, TypeToken, Urn};
use plumb_schema::Resource;
use plumb_value::{PropertyKey, PropertyMap, Value};

use plumb_eval::inputs::{Inputs, apply_schema, set_properties};

use super::convert::{self, Form};
use super::driver::Run;
use super::evaluator::Stop;
use super::lift::{self, Lifted};
use super::value::{Deps, Providers, ResourceVal, Val};
use crate::diagnostic::Diagnostic;
use crate::duration;
use crate::syntax::expression::{Accessor, Expr};
use crate::syntax::program::{
    AliasDecl, GetDecl, Properties, ResourceDecl, ResourceOptions, package_of,
};
use crate::syntax::source::Span;

/// The type that stands for another stack.
pub(crate) const STACK_REFERENCE: &str = "pulumi:pulumi:StackReference";

/// What to do about a resource.
pub(crate) enum Plan {
    /// Nothing: it rests on something that could not be evaluated.
    Poison,
    /// Register it.
    Register {
        request: Box<RegisterRequest>,
        providers: Providers,
    },
    /// Read it.
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
    if resolved.token == STACK_REFERENCE && decl.get.is_none() {
        return stack_reference(run, index);
    }
    let Some(common) = Common::evaluate(run, index, &resolved.token)? else {
        return Ok(Plan::Poison);
    };
    if let Some(get) = &decl.get {
        return read(run, index, get, common);
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

/// What registrations and reads have in common.
struct Common {
    parent: Urn,
    depends_on: Deps,
    provider: EcoString,
    providers: Providers,
    package: PackageRequest,
    source_position: Option<EcoString>,
}

impl Common {
    /// `None` when something that an option names is poisoned.
    fn evaluate(run: &Run<'_>, index: usize, token: &str) -> Result<Option<Common>, Stop> {
        let decl = &run.syntax.resources[index];
        let options = decl.options();
        let mut providers = run.owner.providers.clone();
        let mut parent = run.owner.urn.clone();
        if let Some(expr) = &options.parent {
            let Some(resource) = resource(run, expr, "parent")? else {
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
        let mut own = Vec::new();
        if let Some(expr) = &options.providers {
            let Some(resources) = provider_list(run, expr)? else {
                return Ok(None);
            };
            own = resources;
        }
        let mut explicit = None;
        if let Some(expr) = &options.provider {
            let Some(resource) = provider(run, expr)? else {
                return Ok(None);
            };
            explicit = Some(resource);
        } else if let Some(default) = run.default_provider_of_resource(index) {
            let Val::Resource(resource) = default else {
                return Ok(None);
            };
            explicit = Some(resource.clone());
        }
        own.extend(explicit);
        if !own.is_empty() {
            let map = Arc::make_mut(&mut providers);
            for resource in own {
                if let Some(package) = resource.provided_package() {
                    map.insert(package.into(), resource.provider_ref());
                }
            }
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
            package: package_request(run, index)?,
            source_position: Some(run.position(decl.key.span)),
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
            request.providers = (*self.providers).clone();
        }
        request.package = self.package;
        request.source_position = self.source_position;
    }
}

/// Version and address of the plugin: the resource's own, or those of its default provider.
fn package_request(run: &Run<'_>, index: usize) -> Result<PackageRequest, Stop> {
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
    if let Some(default) = default {
        check_default(own, default)?;
    }
    let mut package = PackageRequest {
        version: version.map(|(text, _)| text.clone()).unwrap_or_default(),
        download_url: download_url.cloned().unwrap_or_default(),
        ..PackageRequest::default()
    };
    if package.version.is_empty() && package.download_url.is_empty() {
        package.package_ref = run.package_ref(run.types.resources[index].declaration);
    }
    Ok(package)
}

/// A resource may not contradict its default provider.
fn check_default(own: &ResourceOptions, default: &ResourceOptions) -> Result<(), Stop> {
    if let (Some((own, span)), Some((default, _))) = (&own.version, &default.version)
        && own != default
    {
        let summary = "Version conflicts with the default provider version";
        let detail = format!("Try removing this option, or change it to {default:?}");
        return Err(Diagnostic::error(*span, summary).with_detail(detail).into());
    }
    if let (Some(own_url), Some(default_url)) = (&own.download_url, &default.download_url)
        && own_url != default_url
    {
        let span = own
            .version
            .as_ref()
            .map_or(Span::default(), |(_, span)| *span);
        return Err(Diagnostic::error(
            span,
            "PluginDownloadURL conflicts with the default provider URL",
        )
        .into());
    }
    Ok(())
}

/// The inputs in order of declaration; `None` when they are poisoned as a whole.
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

/// Properties out of an output: by schema each input is a property of it; without one, those that it has.
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

/// Sets the options; `false` when something that they name is poisoned.
fn set_options(
    run: &Run<'_>,
    request: &mut RegisterRequest,
    decl: &ResourceDecl,
    schema: Option<&Resource>,
) -> Result<bool, Stop> {
    set_plain_options(run, request, decl.options(), schema);
    // Like SDKs, it always says something, if only that there is no limit.
    request.custom_timeouts = Some(timeouts(run, decl)?);
    Ok(set_evaluated_options(run, request, decl.options())?
        && set_aliases(run, request, decl, schema)?)
}

/// Options that are no expressions, and what the schema adds to them.
fn set_plain_options(
    run: &Run<'_>,
    request: &mut RegisterRequest,
    options: &ResourceOptions,
    schema: Option<&Resource>,
) {
    request.delete_before_replace = options.delete_before_replace;
    request.retain_on_delete = options.retain_on_delete;
    request.ignore_changes = options.ignore_changes.as_slice().into();
    request.hide_diff = options.hide_diffs.as_slice().into();
    request.replace_on_changes = options.replace_on_changes.as_slice().into();
    let secrets = options.additional_secret_outputs.iter().cloned();
    request.additional_secret_outputs = secrets.map(PropertyKey::from).collect();
    request.import_id = options.import.clone().unwrap_or_default();
    if let Some(resource) = schema {
        let secrets = resource.secret_outputs().map(PropertyKey::from);
        request.additional_secret_outputs.extend(secrets);
        let paths = run.types.replace_on_changes.get(&request.type_token);
        request
            .replace_on_changes
            .extend(paths.into_iter().flatten().cloned());
    }
}

fn set_evaluated_options(
    run: &Run<'_>,
    request: &mut RegisterRequest,
    options: &ResourceOptions,
) -> Result<bool, Stop> {
    if let Some(expr) = &options.protect {
        request.protect = match run.evaluator.eval(expr)? {
            Val::Bool(value) => Some(value),
            Val::Poison => return Ok(false),
            Val::Output(_) => {
                let problem = "protect must be not be an output";
                return Err(Diagnostic::error(expr.span, problem).into());
            }
            _ => {
                let problem = "protect must be a boolean value";
                return Err(Diagnostic::error(expr.span, problem).into());
            }
        };
    }
    if let Some(expr) = &options.deleted_with {
        let Some(resource) = resource(run, expr, "deletedWith")? else {
            return Ok(false);
        };
        request.deleted_with = Some(resource.urn.clone());
    }
    if let Some(expr) = &options.replace_with {
        let Some(resources) = resources(run, expr, "replaceWith")? else {
            return Ok(false);
        };
        request.replace_with = resources.iter().map(|it| it.urn.clone()).collect();
    }
    if let Some(expr) = &options.replacement_trigger {
        let value = run.evaluator.eval(expr)?;
        if lift::is_poisoned(&value) {
            return Ok(false);
        }
        let mut needed: Deps = request.dependencies.iter().cloned().collect();
        lift::dependencies(&value, &mut needed);
        request.dependencies = needed.to_vec().into();
        request.replacement_trigger = convert::to_value(&value, Form::Plain);
    }
    for (name, expr) in &options.env_var_mappings {
        let Some(text) = plain_string(run, expr, "envVarMappings")? else {
            return Ok(false);
        };
        request.env_var_mappings.insert(name.clone(), text);
    }
    Ok(true)
}

fn set_aliases(
    run: &Run<'_>,
    request: &mut RegisterRequest,
    decl: &ResourceDecl,
    schema: Option<&Resource>,
) -> Result<bool, Stop> {
    for alias in &decl.options().aliases {
        let Some(alias) = self::alias(run, alias)? else {
            return Ok(false);
        };
        request.aliases.push(alias);
    }
    request.aliases.extend(run.former_name(decl));
    for alias in schema.into_iter().flat_map(|schema| &schema.aliases) {
        let type_token = Some(TypeToken::new(alias.type_token.as_str()));
        request.aliases.push(Alias::Spec(AliasSpec {
            type_token,
            ..AliasSpec::default()
        }));
    }
    Ok(true)
}

fn alias(run: &Run<'_>, alias: &AliasDecl) -> Result<Option<Alias>, Stop> {
    match alias {
        AliasDecl::Urn(expr) => {
            let Some(text) = alias_text(run, expr)? else {
                return Ok(None);
            };
            Urn::parse(&text)
                .map(|urn| Some(Alias::Urn(urn)))
                .map_err(|_| urn_error(expr))
        }
        AliasDecl::Spec {
            name,
            type_token,
            stack,
            project,
            parent,
            no_parent,
        } => {
            let mut poisoned = false;
            let mut text = |expr: &Option<Expr>| -> Result<Option<EcoString>, Stop> {
                let Some(expr) = expr else { return Ok(None) };
                let text = alias_text(run, expr)?;
                poisoned |= text.is_none();
                Ok(text)
            };
            let mut spec = AliasSpec {
                name: text(name)?,
                type_token: text(type_token)?.map(TypeToken::new),
                stack: text(stack)?,
                project: text(project)?,
                parent: if *no_parent {
                    AliasParent::None
                } else {
                    AliasParent::Same
                },
            };
            if let Some(expr) = parent {
                match run.evaluator.eval(expr)? {
                    Val::Resource(resource) => spec.parent = AliasParent::Urn(resource.urn.clone()),
                    _ => match alias_text(run, expr)? {
                        Some(text) => {
                            let urn = Urn::parse(&text).map_err(|_| urn_error(expr))?;
                            spec.parent = AliasParent::Urn(urn);
                        }
                        None => poisoned = true,
                    },
                }
            }
            Ok((!poisoned).then_some(Alias::Spec(spec)))
        }
    }
}

/// The text may come from a secret: it is not shown.
fn urn_error(expr: &Expr) -> Stop {
    Diagnostic::error(expr.span, "alias is not a valid URN").into()
}

/// A text in an alias: plain, or an output that is known.
fn alias_text(run: &Run<'_>, expr: &Expr) -> Result<Option<EcoString>, Stop> {
    let mut lifted = Lifted::default();
    match lifted.strip(&run.evaluator.eval(expr)?) {
        Val::String(text) => Ok(Some(text)),
        Val::Poison => Ok(None),
        _ if lifted.unknown => Err(Diagnostic::error(expr.span, "aliases must be known").into()),
        other => Err(Diagnostic::error(
            expr.span,
            format!("alias must be a string, not {}", other.kind()),
        )
        .into()),
    }
}

fn timeouts(run: &Run<'_>, decl: &ResourceDecl) -> Result<CustomTimeouts, Stop> {
    let Some(timeouts) = &decl.options().custom_timeouts else {
        return Ok(CustomTimeouts::default());
    };
    let seconds = |name: &str, expr: &Option<Expr>| -> Result<f64, Stop> {
        let Some(expr) = expr else { return Ok(0.0) };
        match run.evaluator.eval(expr)? {
            Val::String(text) => duration::seconds(&text).ok_or_else(|| {
                Diagnostic::error(
                    expr.span,
                    format!("unable to parse customTimeouts.{name} {text:?}"),
                )
                .into()
            }),
            Val::Poison => Ok(0.0),
            other => {
                let summary = format!(
                    "customTimeouts.{name} must be a string, got {}",
                    other.kind()
                );
                Err(Diagnostic::error(expr.span, summary).into())
            }
        }
    };
    Ok(CustomTimeouts {
        create: seconds("create", &timeouts.create)?,
        update: seconds("update", &timeouts.update)?,
        delete: seconds("delete", &timeouts.delete)?,
        read: seconds("read", &timeouts.read)?,
    })
}

fn plain_string(run: &Run<'_>, expr: &Expr, option: &str) -> Result<Option<EcoString>, Stop> {
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

/// The resource that an option names; `None` when it is poisoned.
pub(crate) fn resource(
    run: &Run<'_>,
    expr: &Expr,
    option: &str,
) -> Result<Option<Arc<ResourceVal>>, Stop> {
    match run.evaluator.eval(expr)? {
        Val::Resource(resource) => Ok(Some(resource)),
        Val::Reference(reference) => Err(Stop::Fetch(reference.urn.clone())),
        Val::Poison => Ok(None),
        Val::Output(_) => Err(Diagnostic::error(
            expr.span,
            format!("{option}: resource cannot be an output"),
        )
        .into()),
        other => {
            let summary = format!("{option}: expected resource, got {}", other.kind());
            Err(Diagnostic::error(expr.span, summary).into())
        }
    }
}

/// The resources that an option names; `None` when one is poisoned.
pub(crate) fn resources(
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
        found.kind()
    );
    Diagnostic::error(expr.span, summary).into()
}

/// The provider resource that an option names.
pub(crate) fn provider(run: &Run<'_>, expr: &Expr) -> Result<Option<Arc<ResourceVal>>, Stop> {
    let Some(resource) = resource(run, expr, "provider")? else {
        return Ok(None);
    };
    if resource.provided_package().is_none() {
        let summary = format!(
            "resource passed as provider was not a provider resource {:?}",
            resource.name.as_str()
        );
        return Err(Diagnostic::error(expr.span, summary).into());
    }
    Ok(Some(resource))
}

/// Providers by package as a list or as a map.
fn provider_list(run: &Run<'_>, expr: &Expr) -> Result<Option<Vec<Arc<ResourceVal>>>, Stop> {
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

/// The read that stands for another stack.
fn stack_reference(run: &Run<'_>, index: usize) -> Result<Plan, Stop> {
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

fn read(run: &Run<'_>, index: usize, get: &GetDecl, common: Common) -> Result<Plan, Stop> {
    let decl = &run.syntax.resources[index];
    let token = &run.types.resources[index];
    let Some(id_expr) = &get.id else {
        return Err(Diagnostic::error(get.span, "get: the field 'id' is required").into());
    };
    let mut deps = common.depends_on.clone();
    let mut lifted = Lifted::default();
    let id = lifted.strip(&run.evaluator.eval(id_expr)?);
    deps.merge(&lifted.deps);
    let id = match id {
        _ if lifted.poisoned => return Ok(Plan::Poison),
        _ if lifted.unknown => ResourceId::Unknown,
        Val::String(text) => ResourceId::from_text(&text),
        Val::Resource(resource) => resource.id.clone(),
        other => {
            return Err(Diagnostic::error(
                id_expr.span,
                format!("id must be a string, not {}", other.kind()),
            )
            .into());
        }
    };
    let mut properties = PropertyMap::new();
    for (key, expr) in &get.state {
        let value = run.evaluator.eval(expr)?;
        if lift::is_poisoned(&value) {
            return Ok(Plan::Poison);
        }
        lift::dependencies(&value, &mut deps);
        let value = convert::to_value(&value, Form::Plain);
        if value != Value::Null {
            properties.insert(key.text.clone(), value);
        }
    }
    let mut secrets: Vec<PropertyKey> = decl
        .options()
        .additional_secret_outputs
        .iter()
        .cloned()
        .map(PropertyKey::from)
        .collect();
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

/// The value of a resource whose object is not known yet, so that nothing can be read.
pub(crate) fn unknown_read(
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
