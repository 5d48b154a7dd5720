//! Options of resources and invokes (`yaml-runtime.md` 5.1, 7).

use ecow::EcoString;

use super::expression::{Expr, Scope};
use super::node::{Node, NodeKind};
use super::program::{AliasDecl, InvokeOptions, ResourceOptions, TimeoutsDecl};
use super::record::Record;
use super::source::Span;
use crate::diagnostic::Diagnostic;

const RESOURCE_OPTIONS: [&str; 21] = [
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
    "urn",
    "version",
];

/// Reads the options of a resource.
pub(crate) fn resource_options(scope: &mut Scope, node: &Node) -> ResourceOptions {
    let Some(mut record) = Record::open(scope, node, "options", &RESOURCE_OPTIONS) else {
        return ResourceOptions::default();
    };
    if let Some((key, _)) = record.take("urn") {
        let summary = "the option urn is not supported; use get to read an existing resource";
        scope.diagnostics.push(Diagnostic::error(key.span, summary));
    }
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
        aliases: record
            .take("aliases")
            .map(|(_, node)| aliases(scope, node))
            .unwrap_or_default(),
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
        env_var_mappings: record
            .take("envVarMappings")
            .map(|(_, node)| string_map(scope, node, "envVarMappings"))
            .unwrap_or_default(),
    }
}

/// Reads the options of an invoke.
pub(crate) fn invoke_options(scope: &mut Scope, node: &Node) -> InvokeOptions {
    let fields = [
        "dependsOn",
        "parent",
        "pluginDownloadURL",
        "provider",
        "version",
    ];
    let Some(mut record) = Record::open(scope, node, "options", &fields) else {
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

fn aliases(scope: &mut Scope, node: &Node) -> Vec<AliasDecl> {
    let NodeKind::List(items) = &node.kind else {
        if node.kind != NodeKind::Null {
            scope
                .diagnostics
                .push(Diagnostic::error(node.span, "aliases must be a list"));
        }
        return Vec::new();
    };
    items.iter().filter_map(|item| alias(scope, item)).collect()
}

fn alias(scope: &mut Scope, node: &Node) -> Option<AliasDecl> {
    let NodeKind::Map(entries) = &node.kind else {
        return Some(AliasDecl::Urn(scope.expression(node)));
    };
    if entries.len() == 1 && entries[0].0.text.starts_with("fn::") {
        return Some(AliasDecl::Urn(scope.expression(node)));
    }
    let fields = [
        "name", "noParent", "parent", "project", "stack", "type", "urn",
    ];
    let mut record = Record::open(scope, node, "alias", &fields)?;
    if let Some(urn) = expression(scope, &mut record, "urn") {
        return Some(AliasDecl::Urn(urn));
    }
    let no_parent = record.boolean(scope, "noParent").unwrap_or(false);
    let parent = expression(scope, &mut record, "parent");
    if no_parent && parent.is_some() {
        let summary = "an alias cannot have both 'parent' and 'noParent'";
        scope
            .diagnostics
            .push(Diagnostic::error(node.span, summary));
    }
    Some(AliasDecl::Spec {
        name: expression(scope, &mut record, "name"),
        type_token: expression(scope, &mut record, "type"),
        stack: expression(scope, &mut record, "stack"),
        project: expression(scope, &mut record, "project"),
        parent,
        no_parent,
    })
}

fn string_map(scope: &mut Scope, node: &Node, name: &str) -> Vec<(EcoString, Expr)> {
    let NodeKind::Map(entries) = &node.kind else {
        if node.kind != NodeKind::Null {
            scope.diagnostics.push(Diagnostic::error(
                node.span,
                format!("{name} must be an object of strings"),
            ));
        }
        return Vec::new();
    };
    entries
        .iter()
        .map(|(key, value)| (key.text.clone(), scope.expression(value)))
        .collect()
}
