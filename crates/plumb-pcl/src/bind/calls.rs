//! Binding of calls: functions of the language and of providers.

use ecow::EcoString;
use hcl_edit::expr::{Expression, FuncCall, ObjectKey};
use plumb_eval::source::Span;
use plumb_schema::ReturnType;

use super::expression::either;
use super::expression::nothing;
use super::{Binder, Names};
use crate::expression::{Expr, ExprKind, Invoke, MethodCall, PackageFunction};
use crate::functions::{self, Callee, Found};
use crate::syntax::span_of;
use crate::types::{Field, Type};

/// Functions that are available in programs but not in snippets.
const OF_PROGRAMS: [&str; 3] = ["call", "getOutput", "recover"];

impl Binder<'_> {
    pub(super) fn call(&mut self, call: &FuncCall, span: Span) -> Expr {
        let name = call.name.name.as_str();
        let name_span = span_of(&call.name.name);
        if call.name.is_namespaced() {
            self.error(name_span, "functions have no namespaces");
            return nothing(span);
        }
        let is_snippet = matches!(self.names, Names::References(_));
        if is_snippet && OF_PROGRAMS.contains(&name) {
            let what = format!("the function '{name}' is not supported yet");
            self.error(name_span, what);
            return nothing(span);
        }
        match name {
            "invoke" => return self.invoke(call, span),
            "call" => return self.method_call(call, span),
            _ => {}
        }
        let (callee, arity) = match functions::find(name) {
            Found::Callee(callee, arity) => (callee, arity),
            Found::Nothing => {
                let summary = format!("unknown function '{name}'");
                self.wrong_name(name_span, summary, name, functions::names());
                return nothing(span);
            }
        };
        let args = self.arguments(callee, call, span);
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
        let ty = match (callee, &args[..]) {
            (Callee::Lookup, [of, key, rest @ ..]) => looked_up(of, key, rest.first()),
            _ => callee.result(&types),
        };
        Expr {
            ty,
            kind: ExprKind::Call(callee, args),
            span,
        }
    }

    /// Arguments of a function of the language; those in a list followed by `...` are expanded.
    fn arguments(&mut self, callee: Callee, call: &FuncCall, span: Span) -> Vec<Expr> {
        let mut args = Vec::with_capacity(call.args.len());
        for (at, arg) in call.args.iter().enumerate() {
            let is_recovery = callee == Callee::Recover && at == 1;
            if is_recovery {
                self.variables.push(("error".into(), Type::String));
            }
            args.push(self.expression(arg));
            if is_recovery {
                self.variables.pop();
            }
        }
        if call.args.expand_final() {
            match args.pop() {
                Some(Expr {
                    kind: ExprKind::List(items),
                    ..
                }) => args.extend(items),
                _ => self.error(span, "`...` can stand only behind a list in brackets"),
            }
        }
        args
    }

    fn invoke(&mut self, call: &FuncCall, span: Span) -> Expr {
        let mut args: Vec<&Expression> = call.args.iter().collect();
        if args.is_empty() {
            self.error(
                span,
                "invoke takes a token in quotes, arguments and options",
            );
            return nothing(span);
        }
        let Expression::String(token) = args.remove(0) else {
            self.error(span, "the first argument of invoke is a token in quotes");
            return nothing(span);
        };
        let (token, function) = self.function(token.value(), span_of(token));
        let positional = function
            .as_ref()
            .map(|it| it.schema.positional_inputs.as_slice());
        let (args, options) = match (positional, args.as_slice()) {
            (Some(names @ [_, ..]), values)
                if !matches!(values, [Expression::Object(_)] | [Expression::Object(_), _]) =>
            {
                let count = values.len().min(names.len());
                let object = self.positional(&names[..count], &values[..count], span);
                (Some(object), values.get(count).copied())
            }
            (_, []) => (None, None),
            (_, [args]) => (Some(self.expression(args)), None),
            (_, [args, options]) => (Some(self.expression(args)), Some(*options)),
            _ => {
                self.error(
                    span,
                    "invoke takes a token in quotes, arguments and options",
                );
                return nothing(span);
            }
        };
        let ty = match &function {
            None => Type::Dynamic,
            Some(function) => {
                self.check_arguments(function, args.as_ref(), span);
                return_type(function)
            }
        };
        let returns_value = function
            .as_ref()
            .is_some_and(|it| matches!(it.schema.returns, ReturnType::Value(_)));
        let mut invoke = Invoke {
            token,
            function,
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

    /// Object with the names of positional arguments.
    fn positional(&mut self, names: &[String], values: &[&Expression], span: Span) -> Expr {
        let mut entries = Vec::with_capacity(values.len());
        let mut fields = Vec::with_capacity(values.len());
        for (name, value) in names.iter().zip(values) {
            let value = self.expression(value);
            fields.push(Field {
                name: name.as_str().into(),
                ty: value.ty.clone(),
                required: true,
            });
            let key = Expr {
                kind: ExprKind::String(name.as_str().into()),
                ty: Type::String,
                span: value.span,
            };
            entries.push((key, value));
        }
        Expr {
            kind: ExprKind::Object(entries),
            ty: Type::Object(fields),
            span,
        }
    }

    fn method_call(&mut self, call: &FuncCall, span: Span) -> Expr {
        let args: Vec<&Expression> = call.args.iter().collect();
        let (receiver, method, args) = match args.as_slice() {
            [receiver, Expression::String(method)] => (receiver, method, None),
            [receiver, Expression::String(method), args] => (receiver, method, Some(*args)),
            _ => {
                let wanted = "call takes a resource, the name of a method in quotes, and arguments";
                self.error(span, wanted);
                return nothing(span);
            }
        };
        let receiver = self.expression(receiver);
        let args = args.map(|args| self.expression(args));
        let function = self.method(&receiver, method.value(), span_of(method));
        let ty = match &function {
            None => Type::Dynamic,
            Some(function) => {
                self.check_arguments(function, args.as_ref(), span);
                return_type(function)
            }
        };
        let method = method.value().as_str().into();
        let inner = MethodCall {
            receiver,
            method,
            args,
            function,
        };
        Expr {
            kind: ExprKind::Method(Box::new(inner)),
            ty,
            span,
        }
    }

    fn method(&mut self, receiver: &Expr, name: &str, span: Span) -> Option<PackageFunction> {
        let Type::Resource(Some(resource)) = &receiver.ty else {
            return None;
        };
        let Some(token) = resource.schema.methods.get(name) else {
            let known = resource.schema.methods.keys().map(String::as_str);
            self.wrong_name(span, format!("unknown method '{name}'"), name, known);
            return None;
        };
        let schema = resource.package.function(token)?.ok()?;
        Some(PackageFunction {
            package: resource.package.clone(),
            schema,
        })
    }

    fn function(&mut self, token: &str, span: Span) -> (EcoString, Option<PackageFunction>) {
        let Some(package) = self.packages.of_token(token).cloned() else {
            return (token.into(), None);
        };
        let full = package.resolve_function(token).unwrap_or(token).to_owned();
        match package.function(&full) {
            Some(Ok(schema)) => (full.into(), Some(PackageFunction { package, schema })),
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

    fn check_arguments(&mut self, function: &PackageFunction, args: Option<&Expr>, span: Span) {
        let package = &function.package;
        let Some(inputs) = &function.schema.inputs else {
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
                None if property.required
                    && property.constant.is_none()
                    && property.name != "__self__" =>
                {
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

    /// Text that must be a literal.
    fn literal(&mut self, value: Expr) -> EcoString {
        let ExprKind::String(text) = value.kind else {
            self.error(value.span, "this must be a text in quotes");
            return EcoString::new();
        };
        text
    }
}

fn return_type(function: &PackageFunction) -> Type {
    match &function.schema.returns {
        ReturnType::None => Type::Dynamic,
        ReturnType::Value(ty) => Type::Schema(function.package.clone(), ty.clone()),
        ReturnType::Object(_) => Type::Result(function.clone()),
    }
}

/// Type of what is found for a key in a map or object, or of the default.
fn looked_up(of: &Expr, key: &Expr, default: Option<&Expr>) -> Type {
    let of = of.ty.without_none();
    let found = match &key.kind {
        ExprKind::String(name) => of.member(name).unwrap_or(Type::Dynamic),
        _ => of.element(),
    };
    match default {
        Some(default) => either(&found.without_none(), &default.ty),
        None => found,
    }
}
