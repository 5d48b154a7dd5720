//! Mappings with a `fn::` key: function calls (`yaml-runtime.md` 6.3).

pub(crate) use plumb_eval::builtins::Function;

use super::expression::{Expr, ExprKind, Scope};
use super::node::{Key, Node, NodeKind};
use super::options;
use super::program::{InvokeDecl, InvokeOptions, StackDecl};
use super::record::Record;
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

/// The key that calls `function`.
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

/// Reads a mapping as a function call, if it is one.
pub(crate) fn parse(scope: &mut Scope, entries: &[(Key, Node)], span: Span) -> Option<Expr> {
    if entries.len() != 1 {
        check_keys(scope, entries);
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
        scope.diagnostics.push(Diagnostic::warning(
            key.span,
            format!(
                "'{}' looks like a miscapitalization of '{expected}'",
                key.text
            ),
        ));
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

/// Assets must be alone in their mapping; other keys that look like functions are data.
fn check_keys(scope: &mut Scope, entries: &[(Key, Node)]) {
    for (key, _) in entries
        .iter()
        .filter(|(key, _)| starts_like_function(&key.text))
    {
        match recognise(&key.text) {
            Some((Called::Plain(function), _)) if function.makes_asset() => {
                let summary = format!("{} must have it's own object", name(function));
                scope.diagnostics.push(Diagnostic::error(key.span, summary));
            }
            _ => warn_reserved(scope, key),
        }
    }
}

fn warn_reserved(scope: &mut Scope, key: &Key) {
    let names = FUNCTIONS
        .iter()
        .map(|(name, _)| *name)
        .chain([INVOKE, STACK_REFERENCE]);
    let hint = crate::diagnostic::probably_meant(&key.text, names);
    let warning = Diagnostic::warning(key.span, "'fn::' is a reserved prefix");
    scope.diagnostics.push(match hint {
        Some(name) => warning.with_hint(format!("Did you mean '{name}'?")),
        None => warning,
    });
}

fn plain(scope: &mut Scope, function: Function, argument: &Node) -> ExprKind {
    let problem = match function {
        Function::Join | Function::Split | Function::Select => match &argument.kind {
            NodeKind::List(items) if items.len() == 2 => None,
            _ => Some(format!(
                "the argument to {} must be a two-valued list",
                name(function)
            )),
        },
        Function::AssetArchive => match &argument.kind {
            NodeKind::Map(_) => None,
            _ => Some(format!(
                "the argument to {} must be an object",
                name(function)
            )),
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
    ExprKind::Function(function, Box::new(argument))
}

fn invoke(scope: &mut Scope, argument: &Node, span: Span) -> ExprKind {
    let fields = ["function", "arguments", "options", "return"];
    let Some(mut record) = Record::open(scope, argument, "the argument to fn::invoke", &fields)
    else {
        return ExprKind::Null;
    };
    let function = record.literal(scope, "function");
    let returns = record.literal(scope, "return");
    let args = record
        .take("arguments")
        .filter(|(_, node)| node.kind != NodeKind::Null)
        .map(|(_, node)| {
            if !matches!(node.kind, NodeKind::Map(_)) {
                let summary =
                    "the \"arguments\" value must be an object containing keys and values";
                scope
                    .diagnostics
                    .push(Diagnostic::error(node.span, summary));
            }
            scope.expression(node)
        });
    let options = match record.take("options") {
        Some((_, node)) => options::invoke_options(scope, node),
        None => InvokeOptions::default(),
    };
    let Some((token, token_span)) = function else {
        let summary = "missing function name ('function')";
        scope
            .diagnostics
            .push(Diagnostic::error(argument.span, summary));
        return ExprKind::Null;
    };
    scope.calls.add_invoke(InvokeDecl {
        token,
        token_span,
        span,
        args,
        returns,
        options,
    })
}

fn short_invoke(scope: &mut Scope, key: &Key, argument: &Node, span: Span) -> ExprKind {
    let args = match &argument.kind {
        NodeKind::Null => None,
        _ => Some(scope.expression(argument)),
    };
    let token = key.text.as_str()[4..].into();
    scope.calls.add_invoke(InvokeDecl {
        token,
        token_span: key.span,
        span,
        args,
        returns: None,
        options: InvokeOptions::default(),
    })
}

fn stack_reference(scope: &mut Scope, key: &Key, argument: &Node) -> ExprKind {
    let summary =
        "'fn::stackReference' is deprecated; use a resource of type pulumi:pulumi:StackReference";
    scope
        .diagnostics
        .push(Diagnostic::warning(key.span, summary));
    let NodeKind::List(items) = &argument.kind else {
        let summary = "the argument to fn::stackReference must be a two-valued list";
        scope
            .diagnostics
            .push(Diagnostic::error(argument.span, summary));
        return ExprKind::Null;
    };
    let ([stack, output], Some(name)) = (items.as_slice(), items.first().and_then(Node::as_str))
    else {
        let summary = "the argument to fn::stackReference must be a two-valued list, the first a literal stack name";
        scope
            .diagnostics
            .push(Diagnostic::error(argument.span, summary));
        return ExprKind::Null;
    };
    let index = scope.calls.add_stack(StackDecl {
        name: name.clone(),
        span: stack.span,
    });
    ExprKind::StackOutput(index, Box::new(scope.expression(output)))
}
