//! Declarations of a component plugin (`yaml-runtime.md` 11).

use std::sync::Arc;

use ecow::EcoString;

use super::expression::Scope;
use super::node::{Key, Node, NodeKind};
use super::program::{self, Syntax};
use super::reader;
use super::record::{Record, UnknownKeys};
use super::source::SourceFile;
use crate::config;
use crate::diagnostic::Diagnostic;

/// A component declaration; its inputs are the configuration of its body.
#[derive(Debug)]
pub(crate) struct ComponentDecl {
    pub(crate) key: Key,
    pub(crate) description: Option<EcoString>,
    pub(crate) body: Syntax,
}

/// A parsed file of a plugin.
#[derive(Debug, Default)]
pub(crate) struct PluginSyntax {
    pub(crate) name: Option<EcoString>,
    pub(crate) version: Option<EcoString>,
    pub(crate) description: Option<EcoString>,
    pub(crate) namespace: Option<EcoString>,
    pub(crate) components: Vec<ComponentDecl>,
}

/// Sections that are only valid in programs.
const OF_PROGRAMS: [&str; 5] = [
    "config",
    "configuration",
    "outputs",
    "resources",
    "variables",
];

const TOP_LEVEL: [&str; 10] = [
    "components",
    "config",
    "configuration",
    "description",
    "name",
    "namespace",
    "outputs",
    "resources",
    "variables",
    "version",
];

const COMPONENT_FIELDS: [&str; 6] = [
    "description",
    "inputs",
    "outputs",
    "pulumi",
    "resources",
    "variables",
];

/// Parses a file of a plugin. Returns everything that could be parsed, even if the diagnostics contain
/// errors.
pub(crate) fn parse(source: &Arc<SourceFile>) -> (PluginSyntax, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut plugin = PluginSyntax::default();
    match reader::read_document(&source.text) {
        Ok(Some(Node {
            kind: NodeKind::Map(entries),
            ..
        })) => read_plugin(source, &mut plugin, &entries, &mut diagnostics),
        Ok(Some(node)) => {
            let summary = format!("Top level of '{}' must be an object", source.name);
            diagnostics.push(Diagnostic::error(node.span, summary));
        }
        Ok(None) => {}
        Err(diagnostic) => diagnostics.push(diagnostic),
    }
    (plugin, diagnostics)
}

fn read_plugin(
    source: &Arc<SourceFile>,
    plugin: &mut PluginSyntax,
    entries: &[(Key, Node)],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut scope = Scope::default();
    let mut record = Record::of_entries(
        &mut scope,
        entries,
        "plugin",
        &TOP_LEVEL,
        UnknownKeys::Ignored,
    );
    for field in OF_PROGRAMS {
        if let Some((key, _)) = record.take(field) {
            let summary = format!("{field} is only supported in programs, not in plugins");
            scope.diagnostics.push(Diagnostic::error(key.span, summary));
        }
    }
    let mut text = |field| record.literal(&mut scope, field).map(|(text, _)| text);
    plugin.name = text("name");
    plugin.version = text("version");
    plugin.description = text("description");
    plugin.namespace = text("namespace");
    if let Some((_, node)) = record.take("components") {
        for (key, node) in program::section(&mut scope, node, "components") {
            let component = component(source, key, node, diagnostics);
            plugin.components.push(component);
        }
    }
    diagnostics.append(&mut scope.diagnostics);
}

/// Parses a component, with its own list of calls.
fn component(
    source: &Arc<SourceFile>,
    key: &Key,
    node: &Node,
    diagnostics: &mut Vec<Diagnostic>,
) -> ComponentDecl {
    let mut scope = Scope::default();
    let mut body = Syntax::of(source);
    let mut description = None;
    if let Some(mut record) = Record::open(&mut scope, node, "component", &COMPONENT_FIELDS) {
        description = record
            .literal(&mut scope, "description")
            .map(|(text, _)| text);
        if let Some((_, node)) = record.take("inputs") {
            for (key, node) in program::section(&mut scope, node, "inputs") {
                body.config.push(config::parse(&mut scope, key, node));
            }
        }
        program::read_body(&mut scope, &mut body, &mut record);
    }
    body.calls = scope.calls;
    diagnostics.append(&mut scope.diagnostics);
    ComponentDecl {
        key: key.clone(),
        description,
        body,
    }
}
