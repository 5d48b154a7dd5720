//! Mappings with a `fn::` key: function calls (`yaml-runtime.md` 6.3).

use ecow::EcoString;
pub(crate) use plumb_eval::builtins::Function;

use super::expression::{Expr, ExprKind, Scope};
use super::node::{Key, Node, NodeKind};
use super::options;
use super::program::{InvokeDecl, InvokeOptions, StackDecl};
use super::record::{self, Record, UnknownKeys};
use super::source::Span;
use crate::diagnostic::Diagnostic;

const FUNCTIONS: [(&str, Function); 22] = [
    ("fn::join", Function::Join),
    ("fn::split", Function::Split),
    ("fn::select", Function::Select),
    ("fn::toJSON", Function::ToJson),
    ("fn::toBase64", Function::ToBase64),
    ("fn::fromBase64", Function::FromBase64),
    ("fn::secret", Function::Secret),
    ("fn::unsecret", Function::Unsecret),
    ("fn::readFile", Function::ReadFile),
    ("fn::filebase64", Function::FileBase64),
    ("fn::filebase64sha256", Function::FileBase64Sha256),
    ("fn::sha1", Function::Sha1),
    ("fn::length", Function::Length),
    ("fn::singleOrNone", Function::SingleOrNone),
    ("fn::stringAsset", Function::StringAsset),
    ("fn::fileAsset", Function::FileAsset),
    ("fn::remoteAsset", Function::RemoteAsset),
    ("fn::fileArchive", Function::FileArchive),
    ("fn::remoteArchive", Function::RemoteArchive),
    ("fn::assetArchive", Function::AssetArchive),
    ("fn::pulumiResourceName", Function::ResourceName),
    ("fn::pulumiResourceType", Function::ResourceType),
];

const INVOKE: &str = "fn::invoke";
const STACK_REFERENCE: &str = "fn::stackReference";

/// Keys that call functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let names = FUNCTIONS.iter().map(|(name, _)| *name);
    names.chain([INVOKE, STACK_REFERENCE])
}

/// Key that calls `function`.
pub(crate) fn name(function: Function) -> &'static str {
    FUNCTIONS
        .iter()
        .find(|(_, known)| *known == function)
        .map_or("fn::?", |(name, _)| name)
}

enum Called {
    Plain(Function),
    Invoke,
    StackReference,
    /// `fn::pkg:mod:name`
    Short,
}

/// Parses a mapping as a function call, if it is one.
pub(crate) fn parse(scope: &mut Scope, entries: &[(Key, Node)], span: Span) -> Option<Expr> {
    if entries.len() != 1 {
        check_keys(scope, entries, span);
        return None;
    }
    let (key, argument) = &entries[0];
    if !starts_like_function(&key.text) {
        return None;
    }
    let Some((called, spelled)) = recognise(&key.text) else {
        warn_reserved(scope, key);
        return None;
    };
    if spelled.is_some_and(|spelled| spelled != key.text) {
        let expected = spelled.unwrap_or_default();
        let summary = format!(
            "'{}' looks like a miscapitalization of '{expected}'",
            key.text
        );
        let warning = Diagnostic::warning(key.span, summary);
        scope
            .diagnostics
            .push(warning.with_detail(record::CASE_MATTERS));
    }
    let kind = match called {
        Called::Plain(function) => plain(scope, function, argument),
        Called::Invoke => invoke(scope, argument, span),
        Called::StackReference => stack_reference(scope, key, argument),
        Called::Short => short_invoke(scope, key, argument, span),
    };
    Some(Expr { kind, span })
}

fn starts_like_function(key: &str) -> bool {
    key.get(..4)
        .is_some_and(|prefix| prefix.eq_ignore_ascii_case("fn::"))
}

fn recognise(key: &str) -> Option<(Called, Option<&'static str>)> {
    if let Some((name, function)) = FUNCTIONS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(key))
    {
        return Some((Called::Plain(*function), Some(name)));
    }
    if key.eq_ignore_ascii_case(INVOKE) {
        return Some((Called::Invoke, Some(INVOKE)));
    }
    if key.eq_ignore_ascii_case(STACK_REFERENCE) {
        return Some((Called::StackReference, Some(STACK_REFERENCE)));
    }
    let parts: Vec<&str> = key.strip_prefix("fn::")?.split(':').collect();
    let is_token = matches!(parts.len(), 2 | 3) && parts.iter().all(|part| !part.is_empty());
    is_token.then_some((Called::Short, None))
}

/// Checks that an asset is the only entry of its mapping; other keys that look like functions are
/// data.
fn check_keys(scope: &mut Scope, entries: &[(Key, Node)], span: Span) {
    for (key, _) in entries
        .iter()
        .filter(|(key, _)| starts_like_function(&key.text))
    {
        if let Some((Called::Plain(function), _)) = recognise(&key.text)
            && function.makes_asset()
            && function != Function::AssetArchive
        {
            let summary = format!("{} must have it's own object", key.text);
            scope.diagnostics.push(Diagnostic::error(span, summary));
        }
    }
}

fn warn_reserved(scope: &mut Scope, key: &Key) {
    let hint = crate::diagnostic::probably_meant(&key.text, names());
    let detail = format!(
        "If you need to use the raw key '{}', please open an issue at https://github.com/pulumi/pulumi-yaml/issues",
        key.text
    );
    let warning = Diagnostic::warning(key.span, "'fn::' is a reserved prefix").with_detail(detail);
    scope.diagnostics.push(match hint {
        Some(name) => warning.with_hint(format!("Did you mean '{name}'?")),
        None => warning,
    });
}

fn plain(scope: &mut Scope, function: Function, argument: &Node) -> ExprKind {
    let problem = match function {
        Function::Join | Function::Split | Function::Select => match &argument.kind {
            NodeKind::List(items) if items.len() == 2 => None,
            _ if function == Function::Split => {
                Some("The argument to fn::split must be a two-values list".to_owned())
            }
            _ => Some(format!(
                "the argument to {} must be a two-valued list",
                name(function)
            )),
        },
        Function::AssetArchive => match &argument.kind {
            NodeKind::Map(_) => None,
            _ => Some("the argument to fn::assetArchive must be an object".to_owned()),
        },
        _ => None,
    };
    if let Some(problem) = problem {
        scope
            .diagnostics
            .push(Diagnostic::error(argument.span, problem));
        return ExprKind::Null;
    }
    let argument = match (&argument.kind, function) {
        (NodeKind::Map(entries), Function::AssetArchive) => Expr {
            kind: scope.object(entries),
            span: argument.span,
        },
        _ => scope.expression(argument),
    };
    if function == Function::AssetArchive {
        check_members(scope, &argument);
    }
    ExprKind::Function(function, Box::new(argument))
}

/// Checks that the members of an archive are literal assets and archives.
fn check_members(scope: &mut Scope, argument: &Expr) {
    let ExprKind::Object(entries) = &argument.kind else {
        return;
    };
    for (_, value) in entries {
        let found = match &value.kind {
            ExprKind::Function(function, _) if function.makes_asset() => continue,
            ExprKind::Null => "NullExpr",
            ExprKind::Bool(_) => "BooleanExpr",
            ExprKind::Number(_) => "NumberExpr",
            ExprKind::String(_) => "StringExpr",
            ExprKind::Interpolate(_) => "InterpolateExpr",
            ExprKind::Symbol(_) => "SymbolExpr",
            ExprKind::List(_) => "ListExpr",
            ExprKind::Object(_) => "ObjectExpr",
            ExprKind::Invoke(_) => "InvokeExpr",
            ExprKind::Function(..) | ExprKind::StackOutput(..) => "BuiltinExpr",
        };
        let summary = format!("value must be an asset or an archive, not a *ast.{found}");
        scope
            .diagnostics
            .push(Diagnostic::error(value.span, summary));
    }
}

fn invoke(scope: &mut Scope, argument: &Node, span: Span) -> ExprKind {
    let fields = ["function", "arguments", "options", "return"];
    let NodeKind::Map(entries) = &argument.kind else {
        let summary = "the argument to fn::invoke must be an object containing 'function', 'arguments', \
                       'options', and 'return'";
        return wrong(scope, argument.span, summary);
    };
    let mut record = Record::of_entries(scope, entries, "invoke", &fields, UnknownKeys::Ignored);
    let function = record.take("function").map(|(_, node)| node);
    let returns = record.take("return").map(|(_, node)| node);
    let returns =
        returns.and_then(|node| literal(scope, node, "return directive must be a string literal"));
    let args = record.take("arguments").map(|(_, node)| {
        let args = scope.expression(node);
        if !matches!(args.kind, ExprKind::Object(_) | ExprKind::Null) {
            let summary = "function arguments ('arguments') must be an object";
            wrong(scope, node.span, summary);
        }
        args
    });
    let args = args.filter(|args| args.kind != ExprKind::Null);
    let options = match record.take("options") {
        Some((_, node)) => options::invoke_options(scope, node),
        None => InvokeOptions::default(),
    };
    let Some(function) = function else {
        return wrong(scope, argument.span, "missing function name ('function')");
    };
    let Some((token, _)) = literal(scope, function, "function name must be a string literal")
    else {
        return ExprKind::Null;
    };
    scope.calls.add_invoke(InvokeDecl {
        token,
        span,
        args,
        returns,
        options,
    })
}

/// Reports an error; returns null for the expression.
fn wrong(scope: &mut Scope, span: Span, summary: &str) -> ExprKind {
    scope.diagnostics.push(Diagnostic::error(span, summary));
    ExprKind::Null
}

/// Text of a node that must be a string without interpolation.
fn literal(scope: &mut Scope, node: &Node, summary: &str) -> Option<(EcoString, Span)> {
    if let ExprKind::String(text) = scope.expression(node).kind {
        return Some((text, node.span));
    }
    wrong(scope, node.span, summary);
    None
}

fn short_invoke(scope: &mut Scope, key: &Key, argument: &Node, span: Span) -> ExprKind {
    let args = match &argument.kind {
        NodeKind::Null => None,
        _ => Some(scope.expression(argument)),
    };
    let token = key.text.as_str()[4..].into();
    scope.calls.add_invoke(InvokeDecl {
        token,
        span,
        args,
        returns: None,
        options: InvokeOptions::default(),
    })
}

fn stack_reference(scope: &mut Scope, key: &Key, argument: &Node) -> ExprKind {
    let summary =
        "'fn::stackReference' is deprecated; please use 'pulumi:pulumi:StackReference' instead";
    let detail =
        "see \"https://www.pulumi.com/docs/intro/concepts/stack/#stackreferences for more info.";
    scope
        .diagnostics
        .push(Diagnostic::warning(key.span, summary).with_detail(detail));
    let items = match &argument.kind {
        NodeKind::List(items) => items.as_slice(),
        _ => &[],
    };
    let [stack, output] = items else {
        let summary = "the argument to fn::stackReference must be a two-valued list";
        return wrong(scope, argument.span, summary);
    };
    let Some(name) = stack.as_str() else {
        let summary = "the first argument to fn::stackReference must be a string literal";
        return wrong(scope, argument.span, summary);
    };
    let index = scope.calls.add_stack(StackDecl {
        name: name.clone(),
        span: stack.span,
    });
    ExprKind::StackOutput(index, Box::new(scope.expression(output)))
}
