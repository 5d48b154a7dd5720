//! Options of resources and invokes (`yaml-runtime.md` 5.1, 7).

use ecow::EcoString;

use super::expression::{Expr, ExprKind, Scope};
use super::node::{Node, NodeKind};
use super::program::{AliasDecl, InvokeOptions, ResourceOptions, TimeoutsDecl};
use super::record::Record;
use super::source::Span;
use crate::diagnostic::Diagnostic;

/// Options of resources.
pub(crate) const RESOURCE_OPTIONS: [&str; 20] = [
    "additionalSecretOutputs",
    "aliases",
    "customTimeouts",
    "deleteBeforeReplace",
    "deletedWith",
    "dependsOn",
    "envVarMappings",
    "hideDiffs",
    "ignoreChanges",
    "import",
    "parent",
    "pluginDownloadURL",
    "protect",
    "provider",
    "providers",
    "replaceOnChanges",
    "replaceWith",
    "replacementTrigger",
    "retainOnDelete",
    "version",
];

/// Parses the options of a resource.
pub(crate) fn resource_options(scope: &mut Scope, node: &Node) -> ResourceOptions {
    let Some(mut record) = Record::open(scope, node, "options", &RESOURCE_OPTIONS) else {
        return ResourceOptions::default();
    };
    let unknown = record.unknown().iter();
    let unknown = unknown.map(|(key, _)| (*key).clone()).collect();
    let alias_list = expression(scope, &mut record, "aliases");
    let aliases = alias_list.as_ref().map(|list| aliases(scope, list));
    ResourceOptions {
        additional_secret_outputs: record.literals(scope, "additionalSecretOutputs"),
        ignore_changes: record.literals(scope, "ignoreChanges"),
        replace_on_changes: record.literals(scope, "replaceOnChanges"),
        hide_diffs: record.literals(scope, "hideDiffs"),
        delete_before_replace: record.boolean(scope, "deleteBeforeReplace"),
        retain_on_delete: record.boolean(scope, "retainOnDelete"),
        import: record.literal(scope, "import").map(|(text, _)| text),
        version: version(scope, &mut record),
        download_url: record
            .literal(scope, "pluginDownloadURL")
            .map(|(text, _)| text),
        aliases: aliases.unwrap_or_default(),
        alias_list,
        custom_timeouts: record
            .take("customTimeouts")
            .map(|(_, node)| timeouts(scope, node)),
        protect: expression(scope, &mut record, "protect"),
        depends_on: expression(scope, &mut record, "dependsOn"),
        replace_with: expression(scope, &mut record, "replaceWith"),
        providers: expression(scope, &mut record, "providers"),
        parent: expression(scope, &mut record, "parent"),
        provider: expression(scope, &mut record, "provider"),
        deleted_with: expression(scope, &mut record, "deletedWith"),
        replacement_trigger: expression(scope, &mut record, "replacementTrigger"),
        env_var_mappings: expression(scope, &mut record, "envVarMappings"),
        unknown,
    }
}

/// Parses the options of an invoke.
pub(crate) fn invoke_options(scope: &mut Scope, node: &Node) -> InvokeOptions {
    let fields = [
        "dependsOn",
        "parent",
        "pluginDownloadURL",
        "provider",
        "version",
    ];
    let Some(mut record) = Record::open(scope, node, "invokeOptions", &fields) else {
        return InvokeOptions::default();
    };
    InvokeOptions {
        depends_on: expression(scope, &mut record, "dependsOn"),
        parent: expression(scope, &mut record, "parent"),
        provider: expression(scope, &mut record, "provider"),
        version: version(scope, &mut record),
        download_url: record
            .literal(scope, "pluginDownloadURL")
            .map(|(text, _)| text),
    }
}

fn version(scope: &mut Scope, record: &mut Record<'_>) -> Option<(EcoString, Span)> {
    let (text, span) = record.literal(scope, "version")?;
    match semver::Version::parse(text.strip_prefix('v').unwrap_or(&text)) {
        Ok(_) => Some((text, span)),
        Err(error) => {
            let summary = format!("unable to parse resource {text:?} version: {error}");
            scope.diagnostics.push(Diagnostic::error(span, summary));
            None
        }
    }
}

fn expression(scope: &mut Scope, record: &mut Record<'_>, field: &str) -> Option<Expr> {
    let (_, node) = record.take(field)?;
    (node.kind != NodeKind::Null).then(|| scope.expression(node))
}

fn timeouts(scope: &mut Scope, node: &Node) -> TimeoutsDecl {
    let fields = ["create", "delete", "read", "update"];
    let Some(mut record) = Record::open(scope, node, "customTimeouts", &fields) else {
        return TimeoutsDecl::default();
    };
    TimeoutsDecl {
        create: expression(scope, &mut record, "create"),
        update: expression(scope, &mut record, "update"),
        delete: expression(scope, &mut record, "delete"),
        read: expression(scope, &mut record, "read"),
    }
}

/// Parses a list of aliases; other values are left to the type check.
fn aliases(scope: &mut Scope, list: &Expr) -> Vec<AliasDecl> {
    let ExprKind::List(items) = &list.kind else {
        return Vec::new();
    };
    items.iter().map(|item| alias(scope, item)).collect()
}

fn alias(scope: &mut Scope, item: &Expr) -> AliasDecl {
    let ExprKind::Object(entries) = &item.kind else {
        return AliasDecl::Urn(item.clone());
    };
    let field = |name: &str| {
        let named = |(key, _): &&(Expr, Expr)| key.kind == ExprKind::String(name.into());
        entries.iter().find(named).map(|(_, value)| value.clone())
    };
    if let Some(urn) = field("urn") {
        return AliasDecl::Urn(urn);
    }
    let no_parent = field("noParent").is_some_and(|expr| expr.kind == ExprKind::Bool(true));
    let parent = field("parent");
    if no_parent && parent.is_some() {
        let summary = "an alias cannot have both 'parent' and 'noParent'";
        scope
            .diagnostics
            .push(Diagnostic::error(item.span, summary));
    }
    AliasDecl::Spec {
        name: field("name"),
        type_token: field("type"),
        stack: field("stack"),
        project: field("project"),
        parent,
        no_parent,
    }
}
