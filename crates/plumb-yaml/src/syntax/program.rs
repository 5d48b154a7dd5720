//! Declarations of a program (`yaml-runtime.md` 2, 3, 5).

use std::sync::{Arc, LazyLock};

use ecow::EcoString;
use rustc_hash::FxHashMap;

use super::expression::{Expr, ExprKind, Scope};
use super::node::{Key, Node, NodeKind};
use super::options;
use super::reader;
use super::record::{Record, UnknownKeys};
use super::source::{SourceFile, Span};
use crate::config::{self, ConfigDecl};
use crate::diagnostic::Diagnostic;

/// A parsed program.
#[derive(Debug)]
pub(crate) struct Syntax {
    pub(crate) source: Arc<SourceFile>,
    pub(crate) config: Vec<ConfigDecl>,
    pub(crate) variables: Vec<(Key, Expr)>,
    pub(crate) resources: Vec<ResourceDecl>,
    pub(crate) outputs: Vec<(Key, Expr)>,
    pub(crate) required_version: Option<Expr>,
    pub(crate) calls: Calls,
    /// Error for a section that is valid in plugins but not in programs.
    pub(crate) misplaced: Option<&'static str>,
}

impl Syntax {
    /// An empty program from `source`.
    pub(crate) fn of(source: &Arc<SourceFile>) -> Self {
        Syntax {
            source: source.clone(),
            config: Vec::new(),
            variables: Vec::new(),
            resources: Vec::new(),
            outputs: Vec::new(),
            required_version: None,
            calls: Calls::default(),
            misplaced: None,
        }
    }
}

/// Calls that need the engine, at any place in a program.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) invokes: Vec<InvokeDecl>,
    pub(crate) stacks: Vec<StackDecl>,
    stack_names: FxHashMap<EcoString, usize>,
}

impl Calls {
    pub(crate) fn add_invoke(&mut self, invoke: InvokeDecl) -> ExprKind {
        self.invokes.push(invoke);
        ExprKind::Invoke(self.invokes.len() - 1)
    }

    /// Adds a stack reference; all uses of a stack share one.
    pub(crate) fn add_stack(&mut self, stack: StackDecl) -> usize {
        let next = self.stacks.len();
        let index = *self.stack_names.entry(stack.name.clone()).or_insert(next);
        if index == next {
            self.stacks.push(stack);
        }
        index
    }
}

#[derive(Debug)]
pub(crate) struct InvokeDecl {
    pub(crate) token: EcoString,
    pub(crate) span: Span,
    pub(crate) args: Option<Expr>,
    pub(crate) returns: Option<(EcoString, Span)>,
    pub(crate) options: InvokeOptions,
}

#[derive(Debug, Default)]
pub(crate) struct InvokeOptions {
    pub(crate) depends_on: Option<Expr>,
    pub(crate) parent: Option<Expr>,
    pub(crate) provider: Option<Expr>,
    pub(crate) version: Option<(EcoString, Span)>,
    pub(crate) download_url: Option<EcoString>,
}

#[derive(Debug)]
pub(crate) struct StackDecl {
    pub(crate) name: EcoString,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct ResourceDecl {
    pub(crate) key: Key,
    pub(crate) span: Span,
    pub(crate) type_token: EcoString,
    pub(crate) type_span: Span,
    pub(crate) name: Option<EcoString>,
    pub(crate) default_provider: Option<(bool, Span)>,
    pub(crate) properties: Properties,
    options: Option<Box<ResourceOptions>>,
    pub(crate) get: Option<Box<GetDecl>>,
    /// Unknown fields of the resource, with the positions of their values.
    pub(crate) unknown_fields: Vec<(Key, Span)>,
}

/// Options of a resource without any.
static NO_OPTIONS: LazyLock<ResourceOptions> = LazyLock::new(ResourceOptions::default);

impl ResourceDecl {
    /// The options; empty ones if there are none.
    pub(crate) fn options(&self) -> &ResourceOptions {
        self.options.as_deref().unwrap_or(&NO_OPTIONS)
    }

    /// Id and state for the lookup, if the resource is read. Requires an id.
    pub(crate) fn read(&self) -> Option<(&GetDecl, &Expr)> {
        let get = self.get.as_deref()?;
        Some((get, get.id.as_ref()?))
    }

    /// Name under which the resource is registered.
    pub(crate) fn logical_name(&self) -> &EcoString {
        self.name.as_ref().unwrap_or(&self.key.text)
    }

    /// Package of the type.
    pub(crate) fn package(&self) -> &str {
        package_of(&self.type_token)
    }
}

/// Package of a token; for a provider type, the package that it provides.
pub(crate) fn package_of(token: &str) -> &str {
    let rest = token.strip_prefix("pulumi:providers:").unwrap_or(token);
    rest.split(':').next().unwrap_or(rest)
}

#[derive(Debug, Default)]
pub(crate) enum Properties {
    #[default]
    None,
    Map(Vec<(Key, Expr)>),
    Expr(Expr),
}

#[derive(Debug)]
pub(crate) struct GetDecl {
    pub(crate) id: Option<Expr>,
    pub(crate) state: Vec<(Key, Expr)>,
    pub(crate) span: Span,
}

#[derive(Debug, Default)]
pub(crate) struct ResourceOptions {
    pub(crate) additional_secret_outputs: Vec<EcoString>,
    pub(crate) ignore_changes: Vec<EcoString>,
    pub(crate) replace_on_changes: Vec<EcoString>,
    pub(crate) hide_diffs: Vec<EcoString>,
    pub(crate) delete_before_replace: Option<bool>,
    pub(crate) retain_on_delete: Option<bool>,
    pub(crate) import: Option<EcoString>,
    pub(crate) version: Option<(EcoString, Span)>,
    pub(crate) download_url: Option<EcoString>,
    pub(crate) aliases: Vec<AliasDecl>,
    /// The whole `aliases` expression.
    pub(crate) alias_list: Option<Expr>,
    pub(crate) custom_timeouts: Option<TimeoutsDecl>,
    pub(crate) protect: Option<Expr>,
    pub(crate) depends_on: Option<Expr>,
    pub(crate) replace_with: Option<Expr>,
    pub(crate) providers: Option<Expr>,
    pub(crate) parent: Option<Expr>,
    pub(crate) provider: Option<Expr>,
    pub(crate) deleted_with: Option<Expr>,
    pub(crate) replacement_trigger: Option<Expr>,
    pub(crate) env_var_mappings: Option<Expr>,
    /// Unknown options.
    pub(crate) unknown: Vec<Key>,
}

#[derive(Debug)]
pub(crate) enum AliasDecl {
    Urn(Expr),
    Spec {
        name: Option<Expr>,
        type_token: Option<Expr>,
        stack: Option<Expr>,
        project: Option<Expr>,
        parent: Option<Expr>,
        no_parent: bool,
    },
}

#[derive(Debug, Default)]
pub(crate) struct TimeoutsDecl {
    pub(crate) create: Option<Expr>,
    pub(crate) update: Option<Expr>,
    pub(crate) delete: Option<Expr>,
    pub(crate) read: Option<Expr>,
}

impl ResourceDecl {
    /// Visits all expressions of the resource, properties first.
    pub(crate) fn visit_expressions<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        match &self.properties {
            Properties::None => {}
            Properties::Map(entries) => entries.iter().for_each(|(_, expr)| visit(expr)),
            Properties::Expr(expr) => visit(expr),
        }
        if let Some(get) = &self.get {
            get.id.iter().for_each(&mut *visit);
            get.state.iter().for_each(|(_, expr)| visit(expr));
        }
        self.options().visit_expressions(visit);
    }
}

impl ResourceOptions {
    fn visit_expressions<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        let single = [
            &self.alias_list,
            &self.depends_on,
            &self.parent,
            &self.protect,
            &self.provider,
            &self.providers,
            &self.replace_with,
            &self.replacement_trigger,
            &self.deleted_with,
            &self.env_var_mappings,
        ];
        single.into_iter().flatten().for_each(&mut *visit);
        if let Some(timeouts) = &self.custom_timeouts {
            let all = [
                &timeouts.create,
                &timeouts.update,
                &timeouts.delete,
                &timeouts.read,
            ];
            all.into_iter().flatten().for_each(&mut *visit);
        }
    }
}

const TOP_LEVEL: [&str; 11] = [
    "components",
    "config",
    "configuration",
    "description",
    "name",
    "namespace",
    "outputs",
    "pulumi",
    "resources",
    "variables",
    "version",
];

/// Fields of a resource.
pub(crate) const RESOURCE_FIELDS: [&str; 6] = [
    "defaultProvider",
    "get",
    "name",
    "options",
    "properties",
    "type",
];

/// Parses a program. Returns everything that could be parsed, even if the diagnostics contain
/// errors.
pub(crate) fn parse(source: &Arc<SourceFile>) -> (Syntax, Vec<Diagnostic>) {
    let mut scope = Scope::default();
    let mut syntax = Syntax::of(source);
    match reader::read_document(&source.text) {
        Ok(Some(Node {
            kind: NodeKind::Map(entries),
            ..
        })) => {
            read_document(&mut scope, &mut syntax, &entries);
        }
        Ok(Some(node)) => {
            let summary = format!("Top level of '{}' must be an object", source.name);
            scope.diagnostics.push(Diagnostic {
                span: None,
                ..Diagnostic::error(node.span, summary)
            });
        }
        Ok(None) => {}
        Err(diagnostic) => scope.diagnostics.push(diagnostic),
    }
    syntax.calls = scope.calls;
    (syntax, scope.diagnostics)
}

fn read_document(scope: &mut Scope, syntax: &mut Syntax, entries: &[(Key, Node)]) {
    let mut record =
        Record::of_entries(scope, entries, "program", &TOP_LEVEL, UnknownKeys::Ignored);
    for (field, summary) in [
        (
            "components",
            "components are only supported in plugins, not in programs",
        ),
        (
            "namespace",
            "namespace is only supported in component plugins",
        ),
    ] {
        let is_there =
            |node: &Node| !matches!(&node.kind, NodeKind::Map(entries) if entries.is_empty());
        if record.take(field).is_some_and(|(_, node)| is_there(node)) {
            syntax.misplaced.get_or_insert(summary);
        }
    }
    read_config(scope, syntax, &mut record);
    read_body(scope, syntax, &mut record);
}

/// Parses the sections that programs and components have in common.
pub(super) fn read_body(scope: &mut Scope, syntax: &mut Syntax, record: &mut Record<'_>) {
    if let Some((_, node)) = record.take("pulumi")
        && let Some(mut settings) = Record::open(scope, node, "pulumi", &["requiredVersion"])
    {
        syntax.required_version = settings
            .take("requiredVersion")
            .map(|(_, node)| scope.expression(node));
    }
    if let Some((_, node)) = record.take("variables") {
        syntax.variables = named_expressions(scope, node, "variables");
    }
    if let Some((_, node)) = record.take("resources") {
        let entries = section(scope, node, "resources");
        syntax.resources.reserve_exact(entries.len());
        for (key, node) in entries {
            if let Some(resource) = resource(scope, key, node) {
                syntax.resources.push(resource);
            }
        }
    }
    if let Some((_, node)) = record.take("outputs") {
        syntax.outputs = named_expressions(scope, node, "outputs");
    }
}

fn read_config(scope: &mut Scope, syntax: &mut Syntax, record: &mut Record<'_>) {
    for (field, deprecated) in [("config", false), ("configuration", true)] {
        let Some((key, node)) = record.take(field) else {
            continue;
        };
        if deprecated {
            let summary = "Pulumi.yaml: root-level `configuration` field is deprecated; please use `config` instead.";
            scope.diagnostics.push(Diagnostic {
                span: None,
                ..Diagnostic::warning(key.span, summary)
            });
        }
        for (key, node) in section(scope, node, field) {
            let is_shadowed =
                deprecated && syntax.config.iter().any(|decl| decl.key.text == key.text);
            if !is_shadowed {
                syntax.config.push(config::parse(scope, key, node));
            }
        }
    }
}

/// Entries of a top-level section; null counts as empty.
pub(super) fn section<'a>(scope: &mut Scope, node: &'a Node, name: &str) -> &'a [(Key, Node)] {
    match &node.kind {
        NodeKind::Map(entries) => entries,
        NodeKind::Null => &[],
        _ => {
            scope.diagnostics.push(Diagnostic::error(
                node.span,
                format!("{name} must be an object"),
            ));
            &[]
        }
    }
}

fn named_expressions(scope: &mut Scope, node: &Node, name: &str) -> Vec<(Key, Expr)> {
    section(scope, node, name)
        .iter()
        .map(|(key, node)| (key.clone(), scope.expression(node)))
        .collect()
}

fn resource(scope: &mut Scope, key: &Key, node: &Node) -> Option<ResourceDecl> {
    let NodeKind::Map(entries) = &node.kind else {
        let summary = format!("resources.{} must be an object", key.text);
        scope
            .diagnostics
            .push(Diagnostic::error(node.span, summary));
        return None;
    };
    let name = format!("resources.{}", key.text);
    let unknown_keys = UnknownKeys::Reported;
    let mut record = Record::of_entries(scope, entries, &name, &RESOURCE_FIELDS, unknown_keys);
    let unknown_fields = record.unknown().iter();
    let unknown_fields = unknown_fields
        .map(|(key, node)| ((*key).clone(), node.span))
        .collect();
    let type_token = record.literal(scope, "type");
    let default_span = entries
        .iter()
        .find(|(key, _)| key.text.eq_ignore_ascii_case("defaultProvider"));
    let default_span = default_span.map_or(key.span, |(_, value)| value.span);
    Some(ResourceDecl {
        key: key.clone(),
        span: node.span,
        name: record.literal(scope, "name").map(|(text, _)| text),
        default_provider: record
            .boolean(scope, "defaultProvider")
            .map(|value| (value, default_span)),
        properties: record
            .take("properties")
            .map(|(_, node)| properties(scope, node))
            .unwrap_or_default(),
        options: record
            .take("options")
            .map(|(_, node)| Box::new(options::resource_options(scope, node))),
        get: record
            .take("get")
            .and_then(|(key, node)| get(scope, key, node))
            .map(Box::new),
        type_span: type_token.as_ref().map_or(node.span, |(_, span)| *span),
        type_token: type_token.map(|(text, _)| text).unwrap_or_default(),
        unknown_fields,
    })
}

fn properties(scope: &mut Scope, node: &Node) -> Properties {
    match &node.kind {
        NodeKind::Null => Properties::None,
        NodeKind::Map(entries) => {
            let expr = scope.expression(node);
            if !matches!(expr.kind, ExprKind::Object(_)) {
                return Properties::Expr(expr);
            }
            let ExprKind::Object(values) = expr.kind else {
                return Properties::None;
            };
            let values = values.into_iter().map(|(_, value)| value);
            Properties::Map(
                entries
                    .iter()
                    .map(|(key, _)| key.clone())
                    .zip(values)
                    .collect(),
            )
        }
        _ => Properties::Expr(scope.expression(node)),
    }
}

fn get(scope: &mut Scope, key: &Key, node: &Node) -> Option<GetDecl> {
    let mut record = Record::open(scope, node, "get", &["id", "state"])?;
    let id = record.take("id").map(|(_, node)| scope.expression(node));
    let state = match record.take("state") {
        Some((_, node)) => named_expressions(scope, node, "state"),
        None => Vec::new(),
    };
    Some(GetDecl {
        id,
        state,
        span: key.span,
    })
}
