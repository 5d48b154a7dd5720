//! Types, checked against schemas before anything runs (`yaml-runtime.md` 10).

mod assign;
mod types;

use std::sync::Arc;

use plumb_schema::{Resource, ReturnType};

use self::assign::{Mismatch, Source};
use self::types::Ty;
use crate::diagnostic::{self, Diagnostic};
use crate::eval::value::Val;
use crate::graph::{Graph, Node, PULUMI};
use crate::schemas::Types;
use crate::syntax::expression::{Access, Accessor, Expr, ExprKind, Mention};
use crate::syntax::functions::Function;
use crate::syntax::program::{Properties, ResourceDecl, Syntax};
use crate::syntax::source::Span;

/// Compares the whole program with the schemas of its packages.
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
        nodes: Vec::new(),
        diagnostics: Vec::new(),
    };
    checker.nodes = vec![Ty::Any; graph.nodes.len()];
    for id in graph.order.iter().copied() {
        checker.nodes[id] = match graph.nodes[id] {
            Node::Config(index) => Ty::of_value(&config[index]),
            Node::Variable(index) => checker.infer(&syntax.variables[index].1),
            Node::Resource(index) => checker.resource(index),
            Node::Invoke(index) => checker.invoke(index),
            Node::Stack(_) => Ty::Any,
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
    /// Types of the nodes that were visited.
    nodes: Vec<Ty>,
    diagnostics: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn resource(&mut self, index: usize) -> Ty {
        let decl = &self.syntax.resources[index];
        let resolved = &self.types.resources[index];
        let ty = Ty::Resource(resolved.token.clone(), resolved.schema.clone());
        let inputs: Vec<(ecow::EcoString, Ty)> = match &decl.properties {
            Properties::None => Vec::new(),
            Properties::Map(entries) => entries
                .iter()
                .map(|(key, expr)| (key.text.clone(), self.infer(expr)))
                .collect(),
            Properties::Expr(expr) => {
                self.infer(expr);
                return ty;
            }
        };
        self.options(decl);
        if let Some((package, resource)) = &resolved.schema {
            let found = match &decl.get {
                Some(_) => check_state(decl, resource),
                None => check_inputs(decl, inputs, package, resource),
            };
            if let Err(mismatch) = found {
                self.diagnostics.push(mismatch.into_diagnostic());
            }
        }
        ty
    }

    /// Expressions in options and reads: only what they mention is checked.
    fn options(&mut self, decl: &ResourceDecl) {
        let mut exprs = Vec::new();
        decl.visit_expressions(&mut |expr| exprs.push(expr));
        let n_inputs = match &decl.properties {
            Properties::Map(entries) => entries.len(),
            Properties::None | Properties::Expr(_) => 0,
        };
        exprs.into_iter().skip(n_inputs).for_each(|expr| {
            self.infer(expr);
        });
    }

    fn invoke(&mut self, index: usize) -> Ty {
        let decl = &self.syntax.calls.invokes[index];
        let args = decl.args.as_ref().map(|args| (self.infer(args), args));
        let options = [
            &decl.options.depends_on,
            &decl.options.parent,
            &decl.options.provider,
        ];
        for expr in options.into_iter().flatten() {
            self.infer(expr);
        }
        let Some((package, function)) = &self.types.invokes[index].schema else {
            return Ty::Any;
        };
        if let (Some((Ty::Literal(entries), args)), Some(inputs)) = (&args, &function.inputs) {
            for (name, _) in entries
                .iter()
                .filter(|(name, _)| !inputs.properties.contains_key(name.as_str()))
            {
                let existing =
                    diagnostic::existing(name, inputs.properties.keys().map(String::as_str));
                let summary = format!("{} does not exist on Invoke {}", name, decl.token);
                let detail = format!("Existing fields are: {existing}");
                self.diagnostics
                    .push(Diagnostic::warning(args.span, summary).with_detail(detail));
            }
        }
        match (&function.returns, &decl.returns) {
            (ReturnType::None, _) => Ty::Any,
            (ReturnType::Value(ty), None) => Ty::of_schema(package, ty),
            (ReturnType::Value(_), Some(_)) => Ty::Any,
            (ReturnType::Object(object), None) => Ty::of_object(package, &function.token, object),
            (ReturnType::Object(object), Some((name, span))) => {
                if let Some(property) = object.properties.get(name.as_str()) {
                    Ty::of_schema(package, &property.ty)
                } else {
                    let existing =
                        diagnostic::existing(name, object.properties.keys().map(String::as_str));
                    let summary = format!("{name} does not exist on {}", function.token);
                    let detail = format!("Existing fields are: {existing}");
                    self.diagnostics
                        .push(Diagnostic::error(*span, summary).with_detail(detail));
                    Ty::Any
                }
            }
        }
    }

    /// The type of an expression; what it mentions is checked on the way.
    fn infer(&mut self, expr: &Expr) -> Ty {
        match &expr.kind {
            ExprKind::Null => Ty::Null,
            ExprKind::Bool(_) => Ty::Bool,
            ExprKind::Number(_) => Ty::Number,
            ExprKind::String(_) => Ty::String,
            ExprKind::Symbol(access) => self.access(access, expr.span),
            ExprKind::Interpolate(_) => {
                let mut accesses = Vec::new();
                expr.visit(&mut |mention, _| {
                    if let Mention::Access(access) = mention {
                        accesses.push(access.clone());
                    }
                });
                for access in accesses {
                    self.access(&access, expr.span);
                }
                Ty::String
            }
            ExprKind::List(items) => {
                Ty::list_of(items.iter().map(|item| self.infer(item)).collect())
            }
            ExprKind::Object(entries) => self.object(entries),
            ExprKind::Function(function, argument) => self.function(*function, argument),
            ExprKind::Invoke(index) => self.nodes[self.graph.invoke(*index)].clone(),
            ExprKind::StackOutput(_, name) => {
                self.infer(name);
                Ty::Any
            }
        }
    }

    /// Objects with computed keys are maps.
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
            Ty::Map(Arc::new(Ty::Any))
        }
    }

    fn function(&mut self, function: Function, argument: &Expr) -> Ty {
        let argument_ty = self.infer(argument);
        match function {
            Function::Secret | Function::Unsecret => argument_ty,
            Function::Join
            | Function::ToJson
            | Function::ToBase64
            | Function::FromBase64
            | Function::ReadFile
            | Function::FileBase64
            | Function::FileBase64Sha256
            | Function::Sha1
            | Function::ResourceName
            | Function::ResourceType => Ty::String,
            Function::Split => Ty::List(Arc::new(Ty::String)),
            Function::Length => Ty::Integer,
            Function::Select => self.selected(argument),
            Function::SingleOrNone => match argument_ty {
                Ty::List(element) => (*element).clone(),
                _ => Ty::Any,
            },
            Function::StringAsset | Function::FileAsset | Function::RemoteAsset => Ty::Asset,
            Function::FileArchive | Function::RemoteArchive | Function::AssetArchive => Ty::Archive,
        }
    }

    fn selected(&mut self, argument: &Expr) -> Ty {
        let ExprKind::List(items) = &argument.kind else {
            return Ty::Any;
        };
        match items.get(1).map(|list| &list.kind) {
            Some(ExprKind::Symbol(access)) => match self.quiet_access(access) {
                Ty::List(element) => (*element).clone(),
                _ => Ty::Any,
            },
            _ => Ty::Any,
        }
    }

    fn quiet_access(&mut self, access: &Access) -> Ty {
        let before = self.diagnostics.len();
        let ty = self.access(access, Span::default());
        self.diagnostics.truncate(before);
        ty
    }

    fn access(&mut self, access: &Access, span: Span) -> Ty {
        if access.root == PULUMI {
            return Ty::String;
        }
        let Some(id) = self.graph.lookup(&access.root) else {
            return Ty::Any;
        };
        let mut ty = self.nodes[id].clone();
        for accessor in &access.path {
            ty = match step(&ty, accessor) {
                Ok(ty) => ty,
                Err((summary, detail)) => {
                    self.diagnostics
                        .push(Diagnostic::error(span, summary).with_detail(detail));
                    return Ty::Any;
                }
            };
        }
        ty
    }
}

/// The inputs of a resource against its schema.
fn check_inputs(
    decl: &ResourceDecl,
    inputs: Vec<(ecow::EcoString, Ty)>,
    package: &Arc<plumb_schema::PackageSchema>,
    resource: &Resource,
) -> Result<(), Mismatch> {
    let label = &resource.token;
    let properties = &resource.input_properties;
    let written: &[_] = match &decl.properties {
        Properties::Map(entries) => entries,
        Properties::None | Properties::Expr(_) => &[],
    };
    let whole = Ty::Literal(Arc::new(inputs));
    let Ty::Literal(inputs) = &whole else {
        return Ok(());
    };
    let accepts_version = label.starts_with("pulumi:providers:");
    for ((key, expr), (name, ty)) in written.iter().zip(inputs.iter()) {
        let Some(property) = properties.get(name.as_str()) else {
            if accepts_version && properties.is_empty() {
                continue;
            }
            return Err(assign::unknown_property(
                key.span, name, &whole, label, properties,
            ));
        };
        assign::assign(
            Source {
                ty,
                span: expr.span,
                expr: Some(expr),
            },
            package,
            &property.ty,
        )
        .map_err(|mut mismatch| {
            mismatch.reasons.insert(
                0,
                format!("Cannot assign '{}' to '{label}':", whole.label()),
            );
            mismatch
        })?;
    }
    let is_given = |name: &str| {
        inputs
            .iter()
            .any(|(key, ty)| key == name && !matches!(ty, Ty::Null))
    };
    assign::check_required(decl.key.span, properties, is_given)
}

/// A read: its state may only have properties of the resource.
fn check_state(decl: &ResourceDecl, resource: &Resource) -> Result<(), Mismatch> {
    for (key, _) in decl.get.iter().flat_map(|get| &get.state) {
        let inputs = resource
            .state_inputs
            .as_ref()
            .is_some_and(|inputs| inputs.contains_key(key.text.as_str()));
        if !inputs && !resource.properties.contains_key(key.text.as_str()) {
            let source = Ty::Literal(Arc::new(vec![(key.text.clone(), Ty::Any)]));
            let properties = &resource.properties;
            return Err(assign::unknown_property(
                key.span,
                &key.text,
                &source,
                &resource.token,
                properties,
            ));
        }
    }
    Ok(())
}

/// The type of one part of a value; otherwise summary and detail of what is wrong.
fn step(ty: &Ty, accessor: &Accessor) -> Result<Ty, (String, String)> {
    match (ty, accessor) {
        (Ty::List(element), Accessor::Index(_)) => Ok((**element).clone()),
        (Ty::List(_), Accessor::Name(_)) => Err((
            "cannot access a list element using a property name".to_owned(),
            String::new(),
        )),
        (Ty::Map(element), Accessor::Name(_)) => Ok((**element).clone()),
        (Ty::Literal(entries), Accessor::Name(name)) => Ok(entries
            .iter()
            .find(|(key, _)| key == name)
            .map_or(Ty::Any, |(_, ty)| ty.clone())),
        (Ty::Object(object), Accessor::Name(name)) => match object.properties.get(name.as_str()) {
            Some(property) => Ok(Ty::of_schema(&object.package, &property.ty)),
            None => Err(no_property(
                name,
                &object.label,
                object.properties.keys().map(String::as_str),
            )),
        },
        (Ty::Resource(token, Some((package, resource))), Accessor::Name(name)) => {
            match name.as_str() {
                "urn" => Ok(Ty::String),
                "id" if !resource.is_component => Ok(Ty::String),
                _ => match resource.properties.get(name.as_str()) {
                    Some(property) => Ok(Ty::of_schema(package, &property.ty)),
                    None => Err(no_property(
                        name,
                        token,
                        resource.properties.keys().map(String::as_str),
                    )),
                },
            }
        }
        (Ty::Object(_) | Ty::Literal(_) | Ty::Map(_), Accessor::Index(_)) => Err((
            "cannot access an object property using an integer index".to_owned(),
            String::new(),
        )),
        // What is left is found out when there are values.
        _ => Ok(Ty::Any),
    }
}

fn no_property<'a>(
    name: &str,
    label: &str,
    properties: impl ExactSizeIterator<Item = &'a str>,
) -> (String, String) {
    let existing = diagnostic::existing(name, properties);
    (
        format!("Property {name} does not exist on '{label}'"),
        format!("Existing properties are: {existing}"),
    )
}
