//! Names, dependencies, and the evaluation order (`yaml-runtime.md` 4).

use ecow::EcoString;
use rustc_hash::FxHashMap;

use crate::diagnostic::{Diagnostic, probably_meant};
use crate::syntax::expression::{Access, Expr, ExprKind, Mention};
use crate::syntax::node::Key;
use crate::syntax::program::{InvokeDecl, Syntax, package_of};
use crate::syntax::source::Span;

/// Name of the variable with properties of the deployment.
pub(crate) const PULUMI: &str = "pulumi";

/// Index of a node.
pub(crate) type NodeId = usize;

/// A declaration or call with a value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// A setting: its index in the table of settings.
    Config(usize),
    Variable(usize),
    Resource(usize),
    Invoke(usize),
    Stack(usize),
}

impl Node {
    fn kind(self) -> &'static str {
        match self {
            Node::Config(_) => "config",
            Node::Variable(_) => "variable",
            Node::Resource(_) => "resource",
            Node::Invoke(_) => "invoke",
            Node::Stack(_) => "stack reference",
        }
    }
}

/// Nodes of a program and their order.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// Dependencies of each node, without duplicates.
    pub(crate) needs: Vec<Vec<NodeId>>,
    /// Evaluation order of all reachable nodes, each after its dependencies.
    pub(crate) order: Vec<NodeId>,
    names: FxHashMap<EcoString, NodeId>,
    invokes: Vec<NodeId>,
    stacks: Vec<NodeId>,
    /// Default provider resources, by package.
    default_providers: FxHashMap<EcoString, usize>,
    /// First undefined name in each node.
    unknown_names: FxHashMap<NodeId, Diagnostic>,
    /// Whether each invoke is top-level, and therefore gets default providers.
    top_level_invokes: Vec<bool>,
    project_prefix: String,
}

/// Name of a setting.
pub(crate) struct ConfigName<'a> {
    pub(crate) name: &'a EcoString,
    /// Key of its declaration, if the program declares it.
    pub(crate) declared: Option<&'a Key>,
}

impl Graph {
    /// Builds the graph of `syntax` with the given settings.
    pub(crate) fn build(
        syntax: &Syntax,
        config: &[ConfigName<'_>],
        project: &str,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Graph {
        let mut graph = Graph {
            project_prefix: format!("{project}:"),
            ..Graph::default()
        };
        graph.declare(syntax, config, diagnostics);
        graph.connect(syntax);
        if diagnostics.is_empty() {
            diagnostics.extend(graph.sort(syntax));
        }
        graph
    }

    /// First undefined name in a node. Names in outputs are resolved during evaluation.
    pub(crate) fn unknown_name(&self, id: NodeId) -> Option<&Diagnostic> {
        self.unknown_names.get(&id)
    }

    /// Node with this name; settings can have the project's name as a prefix.
    pub(crate) fn lookup(&self, name: &str) -> Option<NodeId> {
        let found = self.names.get(name);
        found
            .or_else(|| self.names.get(name.strip_prefix(&self.project_prefix)?))
            .copied()
    }

    pub(crate) fn invoke(&self, index: usize) -> NodeId {
        self.invokes[index]
    }

    pub(crate) fn stack(&self, index: usize) -> NodeId {
        self.stacks[index]
    }

    /// Index of the declared default provider for `package`.
    pub(crate) fn default_provider(&self, package: &str) -> Option<usize> {
        self.default_providers.get(package).copied()
    }

    /// Default provider for an invoke.
    pub(crate) fn invoke_default_provider(
        &self,
        index: usize,
        invoke: &InvokeDecl,
    ) -> Option<usize> {
        let takes_part = self.top_level_invokes[index] && invoke.options.provider.is_none();
        takes_part
            .then(|| self.default_provider(package_of(&invoke.token)))
            .flatten()
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.needs.push(Vec::new());
        self.nodes.len() - 1
    }

    fn declare(
        &mut self,
        syntax: &Syntax,
        config: &[ConfigName<'_>],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut settings_only: FxHashMap<EcoString, NodeId> = FxHashMap::default();
        for (index, setting) in config.iter().enumerate() {
            let id = self.add(Node::Config(index));
            match setting.declared {
                Some(key) => self.name(key, id, diagnostics),
                None => {
                    settings_only.insert(setting.name.clone(), id);
                }
            }
        }
        for (index, resource) in syntax.resources.iter().enumerate() {
            let id = self.add(Node::Resource(index));
            self.name(&resource.key, id, diagnostics);
            if matches!(resource.default_provider, Some((true, _))) {
                self.default_providers
                    .insert(resource.package().into(), index);
            }
        }
        for (index, (key, _)) in syntax.variables.iter().enumerate() {
            let id = self.add(Node::Variable(index));
            self.name(key, id, diagnostics);
        }
        for (name, id) in settings_only {
            self.names.entry(name).or_insert(id);
        }
        self.invokes = (0..syntax.calls.invokes.len())
            .map(|index| self.add(Node::Invoke(index)))
            .collect();
        self.stacks = (0..syntax.calls.stacks.len())
            .map(|index| self.add(Node::Stack(index)))
            .collect();
        self.top_level_invokes = vec![false; syntax.calls.invokes.len()];
        for (_, expr) in &syntax.variables {
            if let ExprKind::Invoke(index) = expr.kind {
                self.top_level_invokes[index] = true;
            }
        }
    }

    fn name(&mut self, key: &Key, id: NodeId, diagnostics: &mut Vec<Diagnostic>) {
        let kind = self.nodes[id].kind();
        if key.text == PULUMI {
            let summary = format!("{kind} {} uses the reserved name pulumi", key.text);
            diagnostics.push(Diagnostic::error(key.span, summary));
            return;
        }
        let Some(other) = self.names.insert(key.text.clone(), id) else {
            return;
        };
        let other_kind = self.nodes[other].kind();
        let summary = if other_kind == kind {
            format!("found duplicate {kind} {}", key.text)
        } else {
            format!(
                "{kind} {0} cannot have the same name as {other_kind} {0}",
                key.text
            )
        };
        diagnostics.push(Diagnostic::error(key.span, summary));
    }

    fn connect(&mut self, syntax: &Syntax) {
        for id in 0..self.nodes.len() {
            let mut needs = Vec::new();
            let mut unknown = None;
            self.visit_expressions(id, syntax, &mut |expr| {
                self.mentions(expr, &mut |mentioned, access, span| match mentioned {
                    Some(need) => needs.push(need),
                    None => {
                        unknown.get_or_insert_with(|| self.unknown_access(access, span));
                    }
                });
            });
            match self.nodes[id] {
                Node::Config(_) | Node::Stack(_) | Node::Variable(_) => {}
                Node::Resource(index) => {
                    let resource = &syntax.resources[index];
                    let wants_default = resource.options().provider.is_none()
                        && !resource.type_token.starts_with("pulumi:providers:");
                    if wants_default
                        && let Some(provider) = self.default_provider(resource.package())
                    {
                        needs.extend(self.lookup(&syntax.resources[provider].key.text));
                    }
                }
                Node::Invoke(index) => {
                    let invoke = &syntax.calls.invokes[index];
                    if let Some(provider) = self.invoke_default_provider(index, invoke) {
                        needs.extend(self.lookup(&syntax.resources[provider].key.text));
                    }
                }
            }
            let mut seen = rustc_hash::FxHashSet::default();
            needs.retain(|need| seen.insert(*need));
            self.needs[id] = needs;
            if let Some(unknown) = unknown {
                self.unknown_names.insert(id, unknown);
            }
        }
    }

    /// Visits the expressions of a node.
    fn visit_expressions<'e>(
        &self,
        id: NodeId,
        syntax: &'e Syntax,
        visit: &mut impl FnMut(&'e Expr),
    ) {
        match self.nodes[id] {
            Node::Config(_) | Node::Stack(_) => {}
            Node::Variable(index) => visit(&syntax.variables[index].1),
            Node::Resource(index) => syntax.resources[index].visit_expressions(visit),
            Node::Invoke(index) => {
                let invoke = &syntax.calls.invokes[index];
                let options = &invoke.options;
                let exprs = [
                    &invoke.args,
                    &options.depends_on,
                    &options.parent,
                    &options.provider,
                ];
                exprs.into_iter().flatten().for_each(visit);
            }
        }
    }

    /// Visits the references in `expr`: the node (`None` for an undefined name), the access and its position.
    fn mentions(&self, expr: &Expr, visit: &mut impl FnMut(Option<NodeId>, Option<&Access>, Span)) {
        expr.visit(&mut |mention, span| match mention {
            Mention::Access(access) if access.root == PULUMI => {}
            Mention::Access(access) => visit(self.lookup(&access.root), Some(access), span),
            Mention::Invoke(index) => visit(Some(self.invokes[index]), None, span),
            Mention::Stack(index) => visit(Some(self.stacks[index]), None, span),
        });
    }

    fn unknown_access(&self, access: Option<&Access>, span: Span) -> Diagnostic {
        let name = access.map_or("", |access| access.root.as_str());
        let summary = format!("resource, variable, or config value {name:?} not found");
        let diagnostic = Diagnostic::error(span, summary);
        match probably_meant(name, self.names.keys().map(EcoString::as_str)) {
            Some(name) => diagnostic.with_hint(format!("Did you mean {name:?}?")),
            None => diagnostic,
        }
    }

    /// Dependencies of expressions that are not part of a node.
    pub(crate) fn needs_of<'e>(&self, exprs: impl Iterator<Item = &'e Expr>) -> Vec<NodeId> {
        let mut needs = Vec::new();
        exprs.for_each(|expr| self.mentions(expr, &mut |need, _, _| needs.extend(need)));
        needs.sort_unstable();
        needs.dedup();
        needs
    }

    /// Sorts the nodes depth-first, starting with settings, resources and variables in document order; nodes used
    /// only by outputs come last. Stops at the first cycle.
    fn sort(&mut self, syntax: &Syntax) -> Option<Diagnostic> {
        let is = |node: Node| {
            move |id: &NodeId, nodes: &[Node]| {
                std::mem::discriminant(&nodes[*id]) == std::mem::discriminant(&node)
            }
        };
        let all: Vec<NodeId> = (0..self.nodes.len()).collect();
        let pick = |test: &dyn Fn(&NodeId, &[Node]) -> bool| -> Vec<NodeId> {
            all.iter()
                .filter(|id| test(id, &self.nodes))
                .copied()
                .collect()
        };
        let mut roots = pick(&is(Node::Config(0)));
        roots.extend(self.needs_of(syntax.required_version.iter()));
        roots.extend(pick(&is(Node::Resource(0))));
        roots.extend(pick(&is(Node::Variable(0))));
        roots.extend(self.needs_of(syntax.outputs.iter().map(|(_, expr)| expr)));
        let mut marks = vec![Mark::New; self.nodes.len()];
        roots
            .into_iter()
            .find_map(|root| self.visit(root, &mut marks, syntax))
    }

    fn visit(&mut self, root: NodeId, marks: &mut [Mark], syntax: &Syntax) -> Option<Diagnostic> {
        let mut stack: Vec<(NodeId, usize)> = Vec::new();
        if marks[root] == Mark::New {
            marks[root] = Mark::Open;
            stack.push((root, 0));
        }
        while let Some((id, next)) = stack.last_mut() {
            let id = *id;
            let Some(need) = self.needs[id].get(*next).copied() else {
                marks[id] = Mark::Done;
                self.order.push(id);
                stack.pop();
                continue;
            };
            *next += 1;
            match marks[need] {
                Mark::Done => {}
                Mark::New => {
                    marks[need] = Mark::Open;
                    stack.push((need, 0));
                }
                Mark::Open => return Some(self.cycle(id, need, syntax)),
            }
        }
        None
    }

    /// Error for the cycle that is closed by a reference from `from` to `id`.
    fn cycle(&self, from: NodeId, id: NodeId, syntax: &Syntax) -> Diagnostic {
        let kind = self.nodes[id].kind();
        let (name, _) = self.label(id, syntax);
        let mut closes = None;
        self.visit_expressions(from, syntax, &mut |expr| {
            self.mentions(expr, &mut |mentioned, _, span| {
                if mentioned == Some(id) {
                    closes.get_or_insert(span);
                }
            });
        });
        let span = closes.unwrap_or_else(|| self.label(from, syntax).1);
        Diagnostic::error(
            span,
            format!("circular dependency of {kind} '{name}' transitively on itself"),
        )
    }

    /// Name and position of a node.
    pub(crate) fn label<'a>(&self, id: NodeId, syntax: &'a Syntax) -> (&'a str, Span) {
        match self.nodes[id] {
            Node::Config(_) => ("", Span::default()),
            Node::Variable(index) => (
                syntax.variables[index].0.text.as_str(),
                syntax.variables[index].0.span,
            ),
            Node::Resource(index) => (
                syntax.resources[index].key.text.as_str(),
                syntax.resources[index].key.span,
            ),
            Node::Invoke(index) => (
                syntax.calls.invokes[index].token.as_str(),
                syntax.calls.invokes[index].span,
            ),
            Node::Stack(index) => (
                syntax.calls.stacks[index].name.as_str(),
                syntax.calls.stacks[index].span,
            ),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}
