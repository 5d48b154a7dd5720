//! Type checks against schemas before evaluation (`yaml-runtime.md` 10).
//!
//! Nodes are checked in evaluation order, each after its expressions. An undefined name ends the check, because
//! everything that depends on it has no type.

mod access;
mod assign;
mod fields;
mod shape;
mod target;
mod types;

use std::sync::Arc;

use plumb_schema::{PackageSchema, Resource, ReturnType};

use self::assign::{Source, Written, assertion, known_names};
pub(crate) use self::shape::shape;
use self::target::{Own, Presence, Target};
use self::types::Ty;
use crate::diagnostic::Diagnostic;
use crate::eval::value::Val;
use crate::graph::{Graph, Node, PULUMI};
use crate::schemas::Types;
use crate::syntax::expression::{Access, Expr, ExprKind};
use crate::syntax::functions::Function;
use crate::syntax::node::Key;
use crate::syntax::program::{Properties, ResourceDecl, Syntax};
use crate::syntax::source::Span;

/// Checks a program against the schemas of its packages.
pub(crate) fn check(
    syntax: &Syntax,
    graph: &Graph,
    types: &Types,
    config: &[Val],
) -> Vec<Diagnostic> {
    let mut checker = Checker {
        syntax,
        graph,
        types,
        nodes: vec![Ty::Invalid; graph.nodes.len()],
        diagnostics: Vec::new(),
    };
    for id in graph.order.iter().copied() {
        if let Some(unknown) = graph.unknown_name(id) {
            checker.diagnostics.push(unknown.clone());
            return checker.diagnostics;
        }
        checker.nodes[id] = match graph.nodes[id] {
            Node::Config(index) => Ty::of_value(&config[index]),
            Node::Variable(index) => checker.infer(&syntax.variables[index].1),
            Node::Resource(index) => checker.resource(index),
            Node::Invoke(index) => checker.invoke(index),
            Node::Stack(_) => Ty::Invalid,
        };
    }
    for (_, expr) in &syntax.outputs {
        checker.infer(expr);
    }
    checker.diagnostics
}

struct Checker<'a> {
    syntax: &'a Syntax,
    graph: &'a Graph,
    types: &'a Types,
    /// Types of the nodes visited so far.
    nodes: Vec<Ty>,
    diagnostics: Vec<Diagnostic>,
}

/// The resource being checked, and its schema.
struct Checked<'a> {
    decl: &'a ResourceDecl,
    token: &'a str,
    package: &'a Arc<PackageSchema>,
    resource: &'a Resource,
}

impl<'a> Checker<'a> {
    fn error(&mut self, span: Span, summary: impl Into<String>, detail: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(span, summary).with_detail(detail));
    }

    fn assert(&mut self, expr: &Expr, ty: &Ty, own: &Own) {
        self.diagnostics
            .extend(assertion(Source::of(expr, ty), Target::Own(own)));
    }

    fn resource(&mut self, index: usize) -> Ty {
        let (syntax, types) = (self.syntax, self.types);
        let decl = &syntax.resources[index];
        let resolved = &types.resources[index];
        let mut exprs = Vec::new();
        decl.visit_expressions(&mut |expr| exprs.push(expr));
        let found: Vec<(&Expr, Ty)> = exprs
            .into_iter()
            .map(|expr| (expr, self.infer(expr)))
            .collect();
        if let Some(problem) = &resolved.problem {
            self.diagnostics.push(problem.clone());
            return Ty::Invalid;
        }
        let Some((package, resource)) = &resolved.schema else {
            return Ty::Resource(resolved.token.clone(), None);
        };
        let checked = Checked {
            decl,
            token: &resolved.token,
            package,
            resource,
        };
        self.inputs(&checked, &found);
        self.state(&checked, &found);
        let inputs = resource.input_properties.keys().map(String::as_str);
        self.diagnostics
            .extend(fields::unknown_fields(syntax, decl, checked.token, inputs));
        self.options(decl, &found);
        Ty::Resource(resolved.token.clone(), resolved.schema.clone())
    }

    fn inputs(&mut self, checked: &Checked<'a>, found: &[(&Expr, Ty)]) {
        let decl = checked.decl;
        let get = decl.get.as_deref();
        let is_read = get.is_some_and(|get| get.id.is_some() || !get.state.is_empty());
        let has_properties = match &decl.properties {
            Properties::None => false,
            Properties::Map(entries) => !entries.is_empty(),
            Properties::Expr(_) => true,
        };
        if is_read && has_properties {
            let detail = "Properties is used to describe a resource managed by Pulumi.\n\
                Get is used to describe a resource managed outside of the current Pulumi stack.\n\
                See https://www.pulumi.com/docs/intro/concepts/resources/get for more details on using Get.";
            let summary = "Resource fields properties and get are mutually exclusive";
            self.error(decl.key.span, summary, detail);
        }
        let target = Target::Properties(
            checked.package,
            checked.token,
            &checked.resource.input_properties,
            Presence::AsDeclared,
        );
        match &decl.properties {
            Properties::None if is_read => {}
            Properties::None => self.entries(&[], found, target),
            Properties::Map(entries) => self.entries(entries, found, target),
            Properties::Expr(expr) => {
                let ty = type_in(found, expr);
                self.diagnostics
                    .extend(assertion(Source::of(expr, ty), target));
            }
        }
    }

    /// Checks the id and the state of a resource that is read.
    fn state(&mut self, checked: &Checked<'a>, found: &[(&Expr, Ty)]) {
        let Some(get) = checked.decl.get.as_deref() else {
            return;
        };
        if let Some(id) = &get.id {
            self.assert(id, type_in(found, id), &target::STRING);
        }
        let target = Target::Properties(
            checked.package,
            checked.token,
            &checked.resource.properties,
            Presence::Optional,
        );
        self.entries(&get.state, found, target);
    }

    /// Checks the entries in a program as one object.
    fn entries(&mut self, entries: &[(Key, Expr)], found: &[(&Expr, Ty)], target: Target<'_>) {
        let written: Vec<(&str, Span, &Expr)> = entries
            .iter()
            .map(|(key, expr)| (key.text.as_str(), key.span, expr))
            .collect();
        let typed = entries.iter();
        let typed = typed.map(|(key, expr)| (key.text.clone(), type_in(found, expr).clone()));
        let ty = Ty::Literal(Arc::new(typed.collect()));
        let source = Source {
            ty: &ty,
            span: None,
            written: Written::Entries(&written),
        };
        self.diagnostics.extend(assertion(source, target));
    }

    fn options(&mut self, decl: &ResourceDecl, found: &[(&Expr, Ty)]) {
        let options = decl.options();
        self.diagnostics
            .extend(options.unknown.iter().map(fields::unknown_option));
        if let Some(aliases) = &options.alias_list {
            self.assert(aliases, type_in(found, aliases), &target::ALIASES);
        }
        if let Some(mappings) = &options.env_var_mappings {
            self.assert(mappings, type_in(found, mappings), &target::TEXTS);
        }
    }

    fn invoke(&mut self, index: usize) -> Ty {
        let (syntax, types) = (self.syntax, self.types);
        let decl = &syntax.calls.invokes[index];
        let args = decl.args.as_ref().map(|args| (self.infer(args), args));
        let options = [
            &decl.options.depends_on,
            &decl.options.parent,
            &decl.options.provider,
        ];
        for expr in options.into_iter().flatten() {
            self.infer(expr);
        }
        let resolved = &types.invokes[index];
        if let Some(problem) = &resolved.problem {
            self.diagnostics.push(problem.clone());
            return Ty::Invalid;
        }
        let Some((package, function)) = &resolved.schema else {
            return Ty::Invalid;
        };
        if let (Some((Ty::Literal(entries), args)), Some(inputs)) = (&args, &function.inputs) {
            let known = &inputs.properties;
            for (name, _) in entries
                .iter()
                .filter(|(name, _)| !known.contains_key(name.as_str()))
            {
                let label = format!("Invoke {}", function.token);
                let names = known.keys().map(String::as_str);
                let detail = known_names(name, &label, "fields", names);
                let summary = format!("{name} does not exist on {label}");
                self.diagnostics
                    .push(Diagnostic::warning(args.span, summary).with_detail(detail));
            }
        }
        match (&function.returns, &decl.returns) {
            (ReturnType::None, None) => Ty::Invalid,
            (ReturnType::Value(ty), None) => Ty::of_schema(package, ty),
            (ReturnType::Value(ty), Some((name, span))) => {
                let detail = format!(
                    "cannot specify property '{name}' for function {}",
                    function.token
                );
                self.error(*span, "fn::invoke has a non-object return value", detail);
                Ty::of_schema(package, ty)
            }
            (ReturnType::Object(object), None) => Ty::of_object(package, &function.token, object),
            (ReturnType::Object(object), Some((name, span))) => {
                if let Some(property) = object.properties.get(name.as_str()) {
                    return Ty::of_schema(package, &property.ty);
                }
                let names = object.properties.keys().map(String::as_str);
                let detail = known_names(name, &decl.token, "properties", names);
                self.error(
                    *span,
                    format!("{name} does not exist on {}", decl.token),
                    detail,
                );
                Ty::Invalid
            }
            (ReturnType::None, Some((name, span))) => {
                let detail = known_names(name, &decl.token, "properties", std::iter::empty());
                self.error(
                    *span,
                    format!("{name} does not exist on {}", decl.token),
                    detail,
                );
                Ty::Invalid
            }
        }
    }

    /// Type of an expression; checks its parts too.
    fn infer(&mut self, expr: &Expr) -> Ty {
        match &expr.kind {
            ExprKind::Null => Ty::Invalid,
            ExprKind::Bool(_) => Ty::Bool,
            ExprKind::Number(_) => Ty::Number,
            // Values in interpolations are checked during evaluation.
            ExprKind::String(_) | ExprKind::Interpolate(_) => Ty::String,
            ExprKind::Symbol(access) => self.access(access, expr.span),
            ExprKind::List(items) => {
                Ty::list_of(items.iter().map(|item| self.infer(item)).collect())
            }
            ExprKind::Object(entries) => self.object(entries),
            ExprKind::Function(function, argument) => self.function(*function, argument),
            ExprKind::Invoke(index) => self.nodes[self.graph.invoke(*index)].clone(),
            ExprKind::StackOutput(_, name) => {
                self.infer(name);
                Ty::Invalid
            }
        }
    }

    /// Type of an object; `Ty::Invalid` if it has computed keys.
    fn object(&mut self, entries: &[(Expr, Expr)]) -> Ty {
        let mut fields = Vec::with_capacity(entries.len());
        let mut is_literal = true;
        for (key, value) in entries {
            let ty = self.infer(value);
            if let ExprKind::String(name) = &key.kind {
                fields.push((name.clone(), ty));
            } else {
                self.infer(key);
                is_literal = false;
            }
        }
        if is_literal {
            Ty::Literal(Arc::new(fields))
        } else {
            Ty::Invalid
        }
    }

    fn function(&mut self, function: Function, argument: &Expr) -> Ty {
        if let (Function::Join | Function::Split | Function::Select, ExprKind::List(items)) =
            (function, &argument.kind)
            && let [first, second] = items.as_slice()
        {
            let types = [self.infer(first), self.infer(second)];
            return self.of_two(function, [first, second], types);
        }
        let argument_ty = self.infer(argument);
        match function {
            Function::Secret | Function::Unsecret => argument_ty,
            Function::ToJson => Ty::String,
            Function::StringAsset | Function::FileAsset | Function::RemoteAsset => Ty::Asset,
            Function::FileArchive | Function::RemoteArchive | Function::AssetArchive => Ty::Archive,
            // Results of these functions are converted where they are used.
            _ => Ty::Invalid,
        }
    }

    /// Type of a function with two arguments.
    fn of_two(&mut self, function: Function, exprs: [&Expr; 2], types: [Ty; 2]) -> Ty {
        let ([first, second], [first_ty, second_ty]) = (exprs, &types);
        match function {
            Function::Select => {
                self.assert(first, first_ty, &target::INTEGER);
                self.assert(second, second_ty, &target::ANY_LIST);
                match second_ty {
                    Ty::List(element) => (**element).clone(),
                    _ => Ty::Invalid,
                }
            }
            Function::Split => {
                self.assert(first, first_ty, &target::STRING);
                self.assert(second, second_ty, &target::STRING);
                Ty::List(Arc::new(Ty::String))
            }
            _ => {
                self.assert(first, first_ty, &target::STRING);
                Ty::String
            }
        }
    }

    fn access(&mut self, access: &Access, span: Span) -> Ty {
        let root = if access.root == PULUMI {
            pulumi()
        } else {
            match self.graph.lookup(&access.root) {
                Some(id) => self.nodes[id].clone(),
                None => return Ty::Invalid,
            }
        };
        access::part(&root, &access.root, &access.path).unwrap_or_else(|(summary, detail)| {
            self.error(span, summary, detail);
            Ty::Invalid
        })
    }
}

/// Type of an expression that has been visited.
fn type_in<'t>(found: &'t [(&Expr, Ty)], expr: &Expr) -> &'t Ty {
    let known = found.iter().find(|(known, _)| std::ptr::eq(*known, expr));
    known.map_or(&Ty::Invalid, |(_, ty)| ty)
}

/// Type of the variable `pulumi`, with the properties of the deployment.
fn pulumi() -> Ty {
    let names = ["cwd", "project", "stack", "organization", "rootDirectory"];
    let members = names.map(|name| (name.into(), Ty::String));
    Ty::Literal(Arc::new(members.into()))
}
