//! Lowered options of resources: with their names in PCL, in a fixed order.

use ecow::EcoString;
use plumb_pcl::{AliasExpr, Expr, Options, ResourceType, Type};

use crate::lower::Lowering;
use crate::tree::{Resources, Tree};

/// One option.
pub(crate) enum OptionTree {
    /// A value.
    Value(&'static str, Tree),
    Resources(&'static str, Resources),
    /// Property paths.
    Paths(&'static str, Vec<EcoString>),
    Aliases(Vec<AliasTree>),
    /// `customTimeouts`, by name.
    Timeouts(Vec<(EcoString, Tree)>),
}

/// A former identity.
pub(crate) enum AliasTree {
    Urn(Tree),
    Spec {
        name: Option<Tree>,
        type_token: Option<Tree>,
        no_parent: bool,
        parent: Option<Tree>,
    },
}

/// Lowers the options of a resource of type `ty`.
pub(crate) fn lower(
    lowering: &mut Lowering<'_>,
    options: &Options,
    ty: Option<&ResourceType>,
) -> Vec<OptionTree> {
    let mut lowered = Vec::new();
    for (name, expr, wanted) in [
        ("parent", &options.parent, Type::Dynamic),
        ("provider", &options.provider, Type::Dynamic),
        ("providers", &options.providers, Type::Dynamic),
        ("dependsOn", &options.depends_on, Type::Dynamic),
        ("protect", &options.protect, Type::Bool),
        ("retainOnDelete", &options.retain_on_delete, Type::Bool),
        (
            "deleteBeforeReplace",
            &options.delete_before_replace,
            Type::Bool,
        ),
        ("deletedWith", &options.deleted_with, Type::Dynamic),
        ("replaceWith", &options.replace_with, Type::Dynamic),
        (
            "replacementTrigger",
            &options.replacement_trigger,
            Type::Dynamic,
        ),
        ("import", &options.import, Type::String),
        ("envVarMappings", &options.env_var_mappings, Type::Dynamic),
    ] {
        let Some(expr) = expr else { continue };
        lowered.push(match name {
            "dependsOn" | "replaceWith" => OptionTree::Resources(name, lowering.resources(expr)),
            _ => OptionTree::Value(name, lowering.value(expr, &wanted)),
        });
    }
    for (name, paths) in [
        ("ignoreChanges", &options.ignore_changes),
        ("hideDiffs", &options.hide_diffs),
        ("replaceOnChanges", &options.replace_on_changes),
        (
            "additionalSecretOutputs",
            &options.additional_secret_outputs,
        ),
    ] {
        if !paths.is_empty() {
            lowered.push(OptionTree::Paths(name, paths.clone()));
        }
    }
    if !options.aliases.is_empty() {
        let aliases = options.aliases.iter().map(|it| alias(lowering, it));
        lowered.push(OptionTree::Aliases(aliases.collect()));
    }
    if let Some(timeouts) = &options.custom_timeouts
        && let Tree::Map(entries) = lowering.any(timeouts)
    {
        let entries = entries.into_iter().filter_map(|(key, value)| match key {
            Tree::Text(name) => Some((name, value)),
            _ => None,
        });
        lowered.push(OptionTree::Timeouts(entries.collect()));
    }
    // The SDK requests its own version, so an equal option is redundant.
    let own = ty
        .and_then(|ty| ty.package.version())
        .map(ToString::to_string);
    if let Some(version) = &options.version
        && !is_text(version, own.as_deref())
    {
        lowered.push(OptionTree::Value(
            "version",
            lowering.value(version, &Type::String),
        ));
    }
    let url = ty.and_then(|ty| ty.package.download_url());
    if let Some(download_url) = &options.download_url
        && !is_text(download_url, url)
    {
        let tree = lowering.value(download_url, &Type::String);
        lowered.push(OptionTree::Value("pluginDownloadURL", tree));
    }
    lowered
}

/// Lowers the hooks of a resource: lists of hooks, by the moment at which they run.
pub(crate) fn hooks(lowering: &mut Lowering<'_>, options: &Options) -> Vec<(EcoString, Tree)> {
    let hooks = options.hooks.iter();
    hooks
        .map(|(moment, hooks)| (moment.clone(), lowering.any(hooks)))
        .collect()
}

fn is_text(expr: &Expr, wanted: Option<&str>) -> bool {
    matches!((&expr.kind, wanted), (plumb_pcl::ExprKind::String(text), Some(wanted)) if text == wanted)
}

fn alias(lowering: &mut Lowering<'_>, alias: &AliasExpr) -> AliasTree {
    match alias {
        AliasExpr::Urn(urn) => AliasTree::Urn(lowering.any(urn)),
        AliasExpr::Spec(spec) => {
            let mut part = |expr: &Option<Expr>| expr.as_ref().map(|it| lowering.any(it));
            AliasTree::Spec {
                name: part(&spec.name),
                type_token: part(&spec.type_token),
                no_parent: spec
                    .no_parent
                    .as_ref()
                    .is_some_and(|it| matches!(it.kind, plumb_pcl::ExprKind::Bool(true))),
                parent: part(&spec.parent),
            }
        }
    }
}
