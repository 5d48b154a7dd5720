//! Resource options in registrations.

use ecow::EcoString;
use plumb_deploy::request::RegisterRequest;
use plumb_resource::{Alias, AliasParent, AliasSpec, CustomTimeouts, TypeToken, Urn};
use plumb_schema::Resource;
use plumb_value::PropertyKey;

use super::convert::{self, Form};
use super::driver::Run;
use super::evaluator::Stop;
use super::lift::{self, Lifted};
use super::references::{resource, resources};
use super::value::{Deps, Val};
use crate::diagnostic::Diagnostic;
use crate::duration;
use crate::syntax::expression::Expr;
use crate::syntax::program::{AliasDecl, ResourceDecl, ResourceOptions};

/// Sets the options; returns `false` if a value that they refer to is poisoned.
pub(super) fn set_options(
    run: &Run<'_>,
    request: &mut RegisterRequest,
    decl: &ResourceDecl,
    schema: Option<&Resource>,
) -> Result<bool, Stop> {
    set_plain_options(run, request, decl.options(), schema);
    // Always set, even without timeouts, as SDKs do.
    request.custom_timeouts = Some(timeouts(run, decl)?);
    Ok(set_evaluated_options(run, request, decl.options())?
        && set_aliases(run, request, decl, schema)?)
}

/// Sets options that are not expressions, and additions from the schema.
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
        let Some(resource) = resource(run, expr)? else {
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
    match &options.env_var_mappings {
        Some(expr) => set_env_var_mappings(run, request, expr),
        None => Ok(true),
    }
}

fn set_env_var_mappings(
    run: &Run<'_>,
    request: &mut RegisterRequest,
    expr: &Expr,
) -> Result<bool, Stop> {
    let value = run.evaluator.eval(expr)?;
    if lift::is_poisoned(&value) {
        return Ok(false);
    }
    let Val::Object(entries) = value else {
        let summary = "envVarMappings must be an object with string values";
        return Err(Diagnostic::error(expr.span, summary).into());
    };
    for (name, value) in entries.iter() {
        let Val::String(text) = value else {
            let summary = format!("envVarMappings value for key {name:?} must be a string");
            return Err(Diagnostic::error(expr.span, summary).into());
        };
        request.env_var_mappings.insert(name.clone(), text.clone());
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

/// Error without the text, which may come from a secret.
fn urn_error(expr: &Expr) -> Stop {
    Diagnostic::error(expr.span, "alias is not a valid URN").into()
}

/// String in an alias: a plain value or a known output.
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
                    other.described()
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
