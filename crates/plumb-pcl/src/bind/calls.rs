//! Calls of functions: the language's own, and those of providers.

use std::sync::Arc;

use ecow::EcoString;
use hcl_edit::expr::{Expression, FuncCall, ObjectKey};
use plumb_eval::source::Span;
use plumb_schema::{Function, PackageSchema, ReturnType};

use super::Binder;
use super::expression::nothing;
use crate::expression::{Expr, ExprKind, Invoke};
use crate::functions::{self, Found};
use crate::syntax::span_of;
use crate::types::{Field, Type};

/// A function and its package.
type KnownFunction = (Arc<PackageSchema>, Arc<Function>);

impl Binder<'_> {
    pub(super) fn call(&mut self, call: &FuncCall, span: Span) -> Expr {
        let name = call.name.name.as_str();
        let name_span = span_of(&call.name.name);
        if call.args.expand_final() {
            self.error(span, "expanding the last argument is not supported yet");
        }
        if call.name.is_namespaced() {
            self.error(name_span, "functions have no namespaces");
            return nothing(span);
        }
        if name == "invoke" {
            return self.invoke(call, span);
        }
        let args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
        let (callee, arity) = match functions::find(name) {
            Found::Callee(callee, arity) => (callee, arity),
            Found::NotBuilt => {
                self.error(
                    name_span,
                    format!("the function '{name}' is not supported yet"),
                );
                return nothing(span);
            }
            Found::Nothing => {
                let summary = format!("unknown function '{name}'");
                self.wrong_name(name_span, summary, name, functions::names());
                return nothing(span);
            }
        };
        if args.len() < arity.least || args.len() > arity.most {
            let wanted = match (arity.least, arity.most) {
                (least, usize::MAX) => format!("{least} or more"),
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} to {most}"),
            };
            let summary = format!("{name} takes {wanted} arguments, not {}", args.len());
            self.error(span, summary);
        }
        let types: Vec<Type> = args.iter().map(|arg| arg.ty.clone()).collect();
        Expr {
            ty: callee.result(&types),
            kind: ExprKind::Call(callee, args),
            span,
        }
    }

    fn invoke(&mut self, call: &FuncCall, span: Span) -> Expr {
        let args: Vec<&Expression> = call.args.iter().collect();
        let (token, args, options) = match args.as_slice() {
            [Expression::String(token)] => (token, None, None),
            [Expression::String(token), args] => (token, Some(*args), None),
            [Expression::String(token), args, options] => (token, Some(*args), Some(*options)),
            _ => {
                let wanted = "invoke takes a token in quotes, arguments and options";
                self.error(span, wanted);
                return nothing(span);
            }
        };
        let token_span = span_of(token);
        let args = args.map(|args| self.expression(args));
        let (token, function) = self.function(token.value(), token_span);
        let ty = match &function {
            None => Type::Dynamic,
            Some((package, function)) => {
                self.check_arguments(package, function, args.as_ref(), span);
                return_type(package, function)
            }
        };
        let returns_value = function
            .as_ref()
            .is_some_and(|(_, function)| matches!(function.returns, ReturnType::Value(_)));
        let mut invoke = Invoke {
            token,
            returns_value,
            args,
            provider: None,
            parent: None,
            depends_on: None,
            version: EcoString::new(),
            download_url: EcoString::new(),
        };
        if let Some(options) = options {
            self.invoke_options(options, &mut invoke);
        }
        Expr {
            kind: ExprKind::Invoke(Box::new(invoke)),
            ty,
            span,
        }
    }

    fn function(&mut self, token: &str, span: Span) -> (EcoString, Option<KnownFunction>) {
        let Some(package) = self.packages.of_token(token).cloned() else {
            return (token.into(), None);
        };
        let full = package.resolve_function(token).unwrap_or(token).to_owned();
        match package.function(&full) {
            Some(Ok(function)) => (full.into(), Some((package, function))),
            Some(Err(error)) => {
                self.error(span, error.to_string());
                (full.into(), None)
            }
            None => {
                let known = package.function_tokens();
                self.wrong_name(span, format!("unknown function '{token}'"), token, known);
                (full.into(), None)
            }
        }
    }

    fn check_arguments(
        &mut self,
        package: &Arc<PackageSchema>,
        function: &Function,
        args: Option<&Expr>,
        span: Span,
    ) {
        let Some(inputs) = &function.inputs else {
            return;
        };
        let entries = match args.map(|args| &args.kind) {
            None => &[][..],
            Some(ExprKind::Object(entries)) => entries,
            Some(_) => return,
        };
        let named = |name: &str| {
            let is_it = |(key, _): &&(Expr, Expr)| matches!(&key.kind, ExprKind::String(text) if text == name);
            entries.iter().find(is_it)
        };
        for property in inputs.properties.values() {
            match named(&property.name) {
                Some((_, value)) => self.check(&Type::of_property(package, property), value),
                None if property.required && property.constant.is_none() => {
                    let at = args.map_or(span, |args| args.span);
                    let summary = format!("missing required attribute '{}'", property.name);
                    self.error(at, summary);
                }
                None => {}
            }
        }
        for (key, _) in entries {
            if let ExprKind::String(name) = &key.kind
                && !inputs.properties.contains_key(name.as_str())
            {
                let known = inputs.properties.keys().map(String::as_str);
                self.wrong_name(
                    key.span,
                    format!("unsupported attribute '{name}'"),
                    name,
                    known,
                );
            }
        }
    }

    fn invoke_options(&mut self, options: &Expression, invoke: &mut Invoke) {
        let Expression::Object(object) = options else {
            return self.error(span_of(options), "the options of invoke are an object");
        };
        for (key, value) in object {
            let (name, span) = match key {
                ObjectKey::Ident(name) => (name.as_str().to_owned(), span_of(name)),
                ObjectKey::Expression(Expression::String(name)) => {
                    (name.value().clone(), span_of(name))
                }
                ObjectKey::Expression(other) => {
                    self.error(span_of(other), "the name of an option is no expression");
                    continue;
                }
            };
            let value = self.expression(value.expr());
            match name.as_str() {
                "provider" => invoke.provider = Some(value),
                "parent" => invoke.parent = Some(value),
                "dependsOn" => invoke.depends_on = Some(value),
                "version" => invoke.version = self.literal(value),
                "pluginDownloadUrl" | "pluginDownloadURL" => {
                    invoke.download_url = self.literal(value);
                }
                other => {
                    let known = [
                        "provider",
                        "parent",
                        "dependsOn",
                        "version",
                        "pluginDownloadUrl",
                    ];
                    let summary = format!("invoke has no option '{other}'");
                    self.wrong_name(span, summary, other, known.into_iter());
                }
            }
        }
    }

    /// A text that must stand there as it is.
    fn literal(&mut self, value: Expr) -> EcoString {
        let ExprKind::String(text) = value.kind else {
            self.error(value.span, "this must be a text in quotes");
            return EcoString::new();
        };
        text
    }
}

fn return_type(package: &Arc<PackageSchema>, function: &Function) -> Type {
    match &function.returns {
        ReturnType::None => Type::Dynamic,
        ReturnType::Value(ty) => Type::Schema(package.clone(), ty.clone()),
        ReturnType::Object(object) => Type::Object(
            object
                .properties
                .values()
                .map(|property| Field {
                    name: property.name.as_str().into(),
                    ty: Type::of_property(package, property),
                    required: property.required,
                })
                .collect(),
        ),
    }
}
