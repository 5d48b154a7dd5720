//! Registrations: one per block, or one per entry of its range.

use std::sync::Arc;

use ecow::{EcoString, eco_format};
use futures::future::try_join_all;
use plumb_deploy::request::{PackageRequest, RegisterRequest, Reply, Request};
use plumb_eval::convert::{self, Form};
use plumb_eval::duration;
use plumb_eval::inputs::{Inputs, apply_schema, set_properties};
use plumb_eval::lift::{self, Lifted};
use plumb_eval::source::Span;
use plumb_eval::value::{Deps, ResourceVal, Val};
use plumb_events::Severity;
use plumb_resource::{Alias, AliasParent, AliasSpec, CustomTimeouts, TypeToken, Urn};
use plumb_value::PropertyKey;

use super::{Context, Evaluator, Scope, Stop, mismatched, operations, problem, refused};
use crate::expression::Expr;
use crate::resource::{AliasExpr, Resource, SnippetProgram};

/// Registers the resource of `program`.
pub(crate) async fn register(program: &SnippetProgram, context: &Context<'_>) -> Result<(), Stop> {
    let evaluator = Evaluator::new(program, context).await?;
    let Some(instances) = evaluator.instances().await? else {
        let name = &program.resource.name;
        let message = format!("how many of '{name}' there will be is not known yet");
        context.monitor.log(Severity::Warning, None, &message);
        return Ok(());
    };
    let registrations = instances
        .iter()
        .map(|instance| evaluator.register_instance(instance));
    try_join_all(registrations).await?;
    Ok(())
}

/// Inputs of the resource of `program`.
pub(crate) async fn inputs(
    program: &SnippetProgram,
    context: &Context<'_>,
) -> Result<Inputs, Stop> {
    let evaluator = Evaluator::new(program, context).await?;
    evaluator.inputs(&Scope::new(&[])).await
}

/// One of the resources of a block.
struct Instance {
    name: EcoString,
    variables: Vec<(EcoString, Val)>,
}

impl Evaluator<'_> {
    /// Resources to register; `None` while the range is unknown.
    async fn instances(&self) -> Result<Option<Vec<Instance>>, Stop> {
        let resource = &self.program.resource;
        let Some(expr) = &resource.options.range else {
            return Ok(Some(vec![Instance {
                name: resource.name.clone(),
                variables: Vec::new(),
            }]));
        };
        let mut lifted = Lifted::default();
        let range = lifted.strip_outer(&self.eval(expr, &Scope::new(&[])).await?);
        if lifted.unknown {
            return Ok(None);
        }
        let entries = match &range {
            Val::Bool(false) => Vec::new(),
            Val::Bool(true) => {
                return Ok(Some(vec![Instance {
                    name: resource.name.clone(),
                    variables: Vec::new(),
                }]));
            }
            Val::Number(_) | Val::String(_) => {
                let count = operations::number(&range, expr.span)?;
                if count < 0.0 || count.fract() != 0.0 {
                    return problem(expr.span, "a range is a whole number that is not negative");
                }
                let numbers = (0..).map(f64::from).take_while(|number| *number < count);
                let entry = |number| (Val::Number(number), Val::Number(number));
                numbers.map(entry).collect()
            }
            collection => {
                let Some(entries) = operations::entries(collection) else {
                    let summary = format!("{} is no range", collection.kind());
                    return problem(expr.span, summary);
                };
                entries
            }
        };
        Ok(Some(
            entries.into_iter().map(|it| self.instance(it)).collect(),
        ))
    }

    fn instance(&self, (key, value): (Val, Val)) -> Instance {
        let suffix = operations::text(&key).unwrap_or_default();
        let fields = [("key".into(), key), ("value".into(), value)];
        let range = Val::Object(Arc::new(fields.into_iter().collect()));
        Instance {
            name: eco_format!("{}-{suffix}", self.program.resource.name),
            variables: vec![("range".into(), range)],
        }
    }

    async fn register_instance(&self, instance: &Instance) -> Result<(), Stop> {
        let scope = Scope::new(&instance.variables);
        let request = self.request(&instance.name, &scope).await?;
        let reply = self
            .context
            .monitor
            .request(Request::Register(Box::new(request)))
            .await;
        match reply {
            // A failed step was reported already, and the deployment handles it.
            Reply::Registered(_) => Ok(()),
            Reply::Failed(error) => Err(refused(Span::default(), &error)),
            _ => Err(mismatched(Span::default())),
        }
    }

    async fn request(&self, name: &str, scope: &Scope<'_>) -> Result<RegisterRequest, Stop> {
        let resource = &self.program.resource;
        let schema = resource.ty.as_ref().map(|ty| &*ty.schema);
        let remote = schema.is_some_and(|schema| schema.is_component);
        let inputs = self.inputs(scope).await?;
        let mut request = RegisterRequest::new(&resource.token, name, !remote);
        request.remote = remote;
        request.snippet_id = Some(self.context.snippet.clone());
        let form = if remote { Form::Outputs } else { Form::Plain };
        set_properties(&mut request, &inputs, form);
        self.set_plain_options(&mut request, resource, scope)
            .await?;
        self.set_resource_options(&mut request, resource, scope)
            .await?;
        self.set_dependencies(&mut request, resource, scope).await?;
        self.set_aliases(&mut request, resource, scope).await?;
        Ok(request)
    }

    async fn inputs(&self, scope: &Scope<'_>) -> Result<Inputs, Stop> {
        let resource = &self.program.resource;
        let mut inputs = Inputs::with_capacity(resource.inputs.len());
        for input in &resource.inputs {
            let value = self.eval(&input.value, scope).await?;
            inputs.push((input.name.clone(), operations::coerce(value, &input.ty)));
        }
        if let Some(ty) = &resource.ty {
            apply_schema(&mut inputs, &ty.schema);
        }
        Ok(inputs)
    }

    async fn set_plain_options(
        &self,
        request: &mut RegisterRequest,
        resource: &Resource,
        scope: &Scope<'_>,
    ) -> Result<(), Stop> {
        let options = &resource.options;
        request.protect = self.truth_if(options.protect.as_ref(), scope).await?;
        request.retain_on_delete = self
            .truth_if(options.retain_on_delete.as_ref(), scope)
            .await?;
        request.delete_before_replace = self
            .truth_if(options.delete_before_replace.as_ref(), scope)
            .await?;
        let import = self.text_if(options.import.as_ref(), scope).await?;
        request.import_id = import.unwrap_or_default();
        request.ignore_changes = options.ignore_changes.as_slice().into();
        request.hide_diff = options.hide_diffs.as_slice().into();
        request.replace_on_changes = options.replace_on_changes.as_slice().into();
        let secrets = options.additional_secret_outputs.iter().cloned();
        request.additional_secret_outputs = secrets.map(PropertyKey::from).collect();
        if let Some(ty) = &resource.ty {
            let schema = &ty.schema;
            let secrets = schema.secret_outputs().map(PropertyKey::from);
            request.additional_secret_outputs.extend(secrets);
            let paths = ty.package.replace_on_changes(schema);
            request
                .replace_on_changes
                .extend(paths.into_iter().map(EcoString::from));
        }
        request.custom_timeouts = Some(
            self.timeouts(options.custom_timeouts.as_ref(), scope)
                .await?,
        );
        if let Some(expr) = &options.env_var_mappings {
            for (name, value) in self.entries(expr, scope).await? {
                let text = plain_text(&value, expr.span)?;
                request.env_var_mappings.insert(name, text);
            }
        }
        let version = self.text_if(options.version.as_ref(), scope).await?;
        let download_url = self.text_if(options.download_url.as_ref(), scope).await?;
        request.package = if version.is_none() && download_url.is_none() {
            self.context.package.clone()
        } else {
            PackageRequest {
                version: version.unwrap_or_default(),
                download_url: download_url.unwrap_or_default(),
                ..PackageRequest::default()
            }
        };
        Ok(())
    }

    async fn set_resource_options(
        &self,
        request: &mut RegisterRequest,
        resource: &Resource,
        scope: &Scope<'_>,
    ) -> Result<(), Stop> {
        let options = &resource.options;
        if let Some(expr) = &options.parent {
            request.parent = Some(self.resource(expr, scope).await?.urn.clone());
        }
        if let Some(expr) = &options.provider {
            request.provider = self.provider(expr, scope).await?.provider_ref();
        }
        if let Some(expr) = &options.providers {
            for provider in self.resources(expr, scope).await? {
                let Some(package) = provider.provided_package() else {
                    return problem(expr.span, "providers must be providers");
                };
                request
                    .providers
                    .insert(package.into(), provider.provider_ref());
            }
        }
        if let Some(expr) = &options.deleted_with {
            request.deleted_with = Some(self.resource(expr, scope).await?.urn.clone());
        }
        if let Some(expr) = &options.replace_with {
            let resources = self.resources(expr, scope).await?;
            request.replace_with = resources.iter().map(|it| it.urn.clone()).collect();
        }
        Ok(())
    }

    /// Dependencies of the resource, by option and through its inputs.
    async fn set_dependencies(
        &self,
        request: &mut RegisterRequest,
        resource: &Resource,
        scope: &Scope<'_>,
    ) -> Result<(), Stop> {
        let mut needed = Deps::default();
        if let Some(expr) = &resource.options.depends_on {
            for resource in self.resources(expr, scope).await? {
                needed.merge(&Deps::one(resource.urn.clone()));
            }
        }
        for urns in request.property_dependencies.values() {
            needed.merge(&urns.iter().cloned().collect());
        }
        if let Some(expr) = &resource.options.replacement_trigger {
            let value = self.eval(expr, scope).await?;
            lift::dependencies(&value, &mut needed);
            request.replacement_trigger = convert::to_value(&value, Form::Plain);
        }
        request.dependencies = needed.to_vec().into();
        Ok(())
    }

    async fn set_aliases(
        &self,
        request: &mut RegisterRequest,
        resource: &Resource,
        scope: &Scope<'_>,
    ) -> Result<(), Stop> {
        for alias in &resource.options.aliases {
            let alias = self.alias(alias, scope).await?;
            request.aliases.push(alias);
        }
        for alias in resource.ty.iter().flat_map(|ty| &ty.schema.aliases) {
            request.aliases.push(Alias::Spec(AliasSpec {
                type_token: Some(TypeToken::new(alias.type_token.as_str())),
                ..AliasSpec::default()
            }));
        }
        Ok(())
    }

    async fn alias(&self, alias: &AliasExpr, scope: &Scope<'_>) -> Result<Alias, Stop> {
        let (name, type_token, no_parent, parent) = match alias {
            AliasExpr::Urn(expr) => return Ok(Alias::Urn(self.urn(expr, scope).await?)),
            AliasExpr::Spec(it) => (&it.name, &it.type_token, &it.no_parent, &it.parent),
        };
        let has_none = self.truth_if(no_parent.as_ref(), scope).await?;
        let parent = match parent {
            Some(expr) => AliasParent::Urn(self.urn(expr, scope).await?),
            None if has_none == Some(true) => AliasParent::None,
            None => AliasParent::Same,
        };
        let type_token = self.text_if(type_token.as_ref(), scope).await?;
        Ok(Alias::Spec(AliasSpec {
            name: self.text_if(name.as_ref(), scope).await?,
            type_token: type_token.map(TypeToken::new),
            parent,
            ..AliasSpec::default()
        }))
    }

    /// URN given as text, or that of a resource.
    async fn urn(&self, expr: &Expr, scope: &Scope<'_>) -> Result<Urn, Stop> {
        let value = self.eval(expr, scope).await?;
        if let Val::Resource(resource) = &value {
            return Ok(resource.urn.clone());
        }
        // The error does not show the text, which may come from a secret.
        let text = plain_text(&value, expr.span)?;
        Urn::parse(&text).or_else(|_| problem(expr.span, "this is not a valid URN"))
    }

    async fn timeouts(
        &self,
        expr: Option<&Expr>,
        scope: &Scope<'_>,
    ) -> Result<CustomTimeouts, Stop> {
        let mut timeouts = CustomTimeouts::default();
        let Some(expr) = expr else {
            return Ok(timeouts);
        };
        for (name, value) in self.entries(expr, scope).await? {
            let text = plain_text(&value, expr.span)?;
            let Some(seconds) = duration::seconds(&text) else {
                let summary = format!("unable to parse customTimeouts.{name} {text:?}");
                return problem(expr.span, summary);
            };
            match name.as_str() {
                "create" => timeouts.create = seconds,
                "update" => timeouts.update = seconds,
                "delete" => timeouts.delete = seconds,
                "read" => timeouts.read = seconds,
                other => return problem(expr.span, format!("there is no timeout '{other}'")),
            }
        }
        Ok(timeouts)
    }

    async fn entries(&self, expr: &Expr, scope: &Scope<'_>) -> Result<Vec<(EcoString, Val)>, Stop> {
        match self.eval(expr, scope).await? {
            Val::Object(entries) => Ok(entries
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect()),
            other => problem(
                expr.span,
                format!("this must be an object, not {}", other.kind()),
            ),
        }
    }

    async fn truth_if(&self, expr: Option<&Expr>, scope: &Scope<'_>) -> Result<Option<bool>, Stop> {
        match expr {
            None => Ok(None),
            Some(expr) => match self.eval(expr, scope).await? {
                Val::Null => Ok(None),
                value => operations::truth(&value, expr.span).map(Some),
            },
        }
    }

    async fn text_if(
        &self,
        expr: Option<&Expr>,
        scope: &Scope<'_>,
    ) -> Result<Option<EcoString>, Stop> {
        match expr {
            None => Ok(None),
            Some(expr) => match self.eval(expr, scope).await? {
                Val::Null => Ok(None),
                value => plain_text(&value, expr.span).map(Some),
            },
        }
    }

    /// Resource given for an option.
    pub(super) async fn resource(
        &self,
        expr: &Expr,
        scope: &Scope<'_>,
    ) -> Result<Arc<ResourceVal>, Stop> {
        let value = self.eval(expr, scope).await?;
        as_resource(&value, expr.span)
    }

    /// Resources given for an option: a single one, a list, or a map.
    pub(super) async fn resources(
        &self,
        expr: &Expr,
        scope: &Scope<'_>,
    ) -> Result<Vec<Arc<ResourceVal>>, Stop> {
        let value = self.eval(expr, scope).await?;
        let mut found = Vec::new();
        add_resources(&value, expr.span, &mut found)?;
        Ok(found)
    }

    /// Provider given for an option.
    pub(super) async fn provider(
        &self,
        expr: &Expr,
        scope: &Scope<'_>,
    ) -> Result<Arc<ResourceVal>, Stop> {
        let resource = self.resource(expr, scope).await?;
        if resource.provided_package().is_none() {
            let summary = format!("'{}' is no provider", resource.name);
            return problem(expr.span, summary);
        }
        Ok(resource)
    }
}

/// Adds a resource, or those in a list or map: a range makes one of these.
fn add_resources(value: &Val, span: Span, found: &mut Vec<Arc<ResourceVal>>) -> Result<(), Stop> {
    match value {
        Val::List(items) => items
            .iter()
            .try_for_each(|it| add_resources(it, span, found)),
        Val::Object(entries) => entries
            .values()
            .try_for_each(|it| add_resources(it, span, found)),
        one => {
            found.push(as_resource(one, span)?);
            Ok(())
        }
    }
}

fn as_resource(value: &Val, span: Span) -> Result<Arc<ResourceVal>, Stop> {
    match value {
        Val::Resource(resource) => Ok(resource.clone()),
        other => problem(
            span,
            format!("this must be a resource, not {}", other.kind()),
        ),
    }
}

/// Known text.
fn plain_text(value: &Val, span: Span) -> Result<EcoString, Stop> {
    let mut lifted = Lifted::default();
    let plain = lifted.strip(value);
    match operations::text(&plain) {
        _ if lifted.unknown => problem(span, "this must be known"),
        Some(text) => Ok(text),
        None => problem(span, format!("this must be text, not {}", plain.kind())),
    }
}
