//! Conversion of inputs from YAML to PCL: users write the inputs of one resource or function, which are stored in
//! the language of snippets.
//!
//! The document is a mapping from inputs to expressions, as under `properties` in a program. Names refer to
//! existing resources; `${pulumi.stack}` and similar accesses become functions.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_eval::access::Accessor;
use plumb_eval::builtins::Function;
use plumb_eval::hcl;

use crate::diagnostic::Diagnostic;
use crate::syntax::expression::{Access, Expr, ExprKind, Part, Scope};
use crate::syntax::functions;
use crate::syntax::node::{Node, NodeKind};
use crate::syntax::program::{Calls, InvokeDecl, InvokeOptions};
use crate::syntax::reader;
use crate::syntax::source::{SourceFile, Span};

/// Errors in inputs, with their positions.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct InvalidInputs {
    problems: Vec<Diagnostic>,
    source_file: Arc<SourceFile>,
}

impl InvalidInputs {
    fn text(&self) -> String {
        let problems = self.problems.iter();
        let problems: Vec<String> = problems.map(|it| it.excerpt(&self.source_file)).collect();
        problems.join("\n\n")
    }
}

/// Converts the mapping `text` to PCL attributes, one per line; `name` is the document's name in messages.
pub fn inputs_as_pcl(name: &str, text: &str) -> Result<String, InvalidInputs> {
    let reading = Reading::begin(name, text);
    let entries = match reading.node.as_ref().map(|node| (&node.kind, node.span)) {
        None | Some((NodeKind::Null, _)) => &[][..],
        Some((NodeKind::Map(entries), _)) => entries.as_slice(),
        Some((_, span)) => {
            let problem = Diagnostic::error(span, "inputs are a mapping from names to values");
            return Err(reading.failed(vec![problem]));
        }
    };
    let mut scope = Scope::default();
    let mut inputs = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        if !hcl::is_identifier(&key.text) {
            let summary = format!("'{}' cannot name an input", key.text);
            scope.diagnostics.push(Diagnostic::error(key.span, summary));
        }
        inputs.push((&key.text, scope.expression(value)));
    }
    reading.written(scope, |writer| {
        let mut out = String::new();
        for (name, value) in &inputs {
            out.extend([name.as_str(), " = ", &writer.expression(value), "\n"]);
        }
        out
    })
}

/// Converts one YAML value to a PCL expression; `name` is the document's name in messages.
pub fn value_as_pcl(name: &str, text: &str) -> Result<String, InvalidInputs> {
    let reading = Reading::begin(name, text);
    let mut scope = Scope::default();
    let value = reading.node.as_ref().map(|node| scope.expression(node));
    reading.written(scope, |writer| {
        value.map_or_else(|| "null".to_owned(), |value| writer.expression(&value))
    })
}

/// A document being converted.
struct Reading {
    source_file: Arc<SourceFile>,
    node: Option<Node>,
    problem: Option<Diagnostic>,
}

impl Reading {
    fn begin(name: &str, text: &str) -> Self {
        let (node, problem) = match reader::read_document(text) {
            Ok(node) => (node, None),
            Err(problem) => (None, Some(problem)),
        };
        Reading {
            source_file: Arc::new(SourceFile::new(name, name.into(), text)),
            node,
            problem,
        }
    }

    fn failed(&self, problems: Vec<Diagnostic>) -> InvalidInputs {
        InvalidInputs {
            problems,
            source_file: self.source_file.clone(),
        }
    }

    /// Result of `write`; the errors if there are any.
    fn written(
        &self,
        scope: Scope,
        write: impl FnOnce(&mut Writer<'_>) -> String,
    ) -> Result<String, InvalidInputs> {
        let mut problems: Vec<Diagnostic> = self.problem.clone().into_iter().collect();
        problems.extend(scope.diagnostics);
        let mut writer = Writer {
            calls: &scope.calls,
            names: BTreeMap::new(),
            stacks: Vec::new(),
            problems,
        };
        let written = write(&mut writer);
        let mut problems = writer.problems;
        problems.retain(Diagnostic::is_error);
        if problems.is_empty() {
            Ok(written)
        } else {
            Err(self.failed(problems))
        }
    }
}

/// Writes expressions as PCL.
pub(crate) struct Writer<'a> {
    pub(crate) calls: &'a Calls,
    /// Identifiers of names that are not what they are called.
    pub(crate) names: BTreeMap<EcoString, String>,
    /// Identifiers of the stacks among the calls, where there are such.
    pub(crate) stacks: Vec<String>,
    pub(crate) problems: Vec<Diagnostic>,
}

impl Writer<'_> {
    pub(crate) fn error(&mut self, span: Span, summary: impl Into<String>) {
        self.problems.push(Diagnostic::error(span, summary));
    }

    pub(crate) fn expression(&mut self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Null => "null".to_owned(),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Number(value) => hcl::number(*value).unwrap_or_else(|| {
                self.error(expr.span, "PCL has no such number");
                "0".to_owned()
            }),
            ExprKind::String(text) => hcl::quoted(text),
            ExprKind::Interpolate(parts) => {
                let parts = parts.iter().map(|part| match part {
                    Part::Text(text) => hcl::escaped(text),
                    Part::Access(access) => format!("${{{}}}", self.access(access, expr.span)),
                });
                format!("\"{}\"", parts.collect::<String>())
            }
            ExprKind::Symbol(access) => self.access(access, expr.span),
            ExprKind::List(items) => {
                let items: Vec<String> = items.iter().map(|it| self.expression(it)).collect();
                hcl::list(&items)
            }
            ExprKind::Object(entries) => self.object(entries),
            ExprKind::Function(function, argument) => self.call(*function, argument),
            ExprKind::Invoke(index) => {
                let calls = self.calls;
                self.invoke(&calls.invokes[*index])
            }
            ExprKind::StackOutput(stack, output) => {
                let output = self.expression(output);
                if let Some(stack) = self.stacks.get(*stack) {
                    return format!("getOutput({stack}, {output})");
                }
                self.error(expr.span, "fn::stackReference cannot stand here");
                "null".to_owned()
            }
        }
    }

    fn object(&mut self, entries: &[(Expr, Expr)]) -> String {
        let entries: Vec<(String, String)> = entries
            .iter()
            .map(|(key, value)| {
                let key = match &key.kind {
                    ExprKind::String(name) => hcl::key(name),
                    _ => format!("({})", self.expression(key)),
                };
                (key, self.expression(value))
            })
            .collect();
        hcl::object(&entries)
    }

    /// `name.property["key"][0]`
    fn access(&mut self, access: &Access, span: Span) -> String {
        if access.root == "pulumi"
            && let [Accessor::Name(fact)] = access.path.as_slice()
        {
            const FACTS: [&str; 5] = ["cwd", "organization", "project", "rootDirectory", "stack"];
            if FACTS.contains(&fact.as_str()) {
                return format!("{fact}()");
            }
            self.error(span, format!("pulumi has no '{fact}'"));
        }
        let renamed = self.names.get(&access.root).cloned();
        let mut out = renamed.unwrap_or_else(|| access.root.to_string());
        if !hcl::is_identifier(&out) {
            self.error(
                span,
                format!("'{}' is not the name of a resource", access.root),
            );
        }
        for step in &access.path {
            match step {
                Accessor::Name(name) if hcl::is_identifier(name) => {
                    out.push('.');
                    out.push_str(name);
                }
                Accessor::Name(name) => out.extend(["[", &hcl::quoted(name), "]"]),
                Accessor::Index(index) => out.extend(["[", &index.to_string(), "]"]),
            }
        }
        out
    }

    fn call(&mut self, function: Function, argument: &Expr) -> String {
        let name = functions::name(function).trim_start_matches("fn::");
        match (function, &argument.kind) {
            (Function::Join | Function::Split, ExprKind::List(arguments)) => {
                let arguments: Vec<String> =
                    arguments.iter().map(|it| self.expression(it)).collect();
                format!("{name}({})", arguments.join(", "))
            }
            (Function::Select, ExprKind::List(arguments)) if arguments.len() == 2 => {
                let index = self.expression(&arguments[0]);
                format!("element({}, {index})", self.expression(&arguments[1]))
            }
            _ => format!("{name}({})", self.expression(argument)),
        }
    }

    fn invoke(&mut self, invoke: &InvokeDecl) -> String {
        let mut arguments = vec![hcl::quoted(&invoke.token)];
        let options = self.invoke_options(&invoke.options);
        match &invoke.args {
            Some(args) => arguments.push(self.expression(args)),
            None if !options.is_empty() => arguments.push("{}".to_owned()),
            None => {}
        }
        if !options.is_empty() {
            arguments.push(hcl::object(&options));
        }
        let call = format!("invoke({})", arguments.join(", "));
        match &invoke.returns {
            Some((name, _)) if hcl::is_identifier(name) => format!("{call}.{name}"),
            Some((name, _)) => format!("{call}[{}]", hcl::quoted(name)),
            None => call,
        }
    }

    fn invoke_options(&mut self, options: &InvokeOptions) -> Vec<(String, String)> {
        let named = [
            ("provider", &options.provider),
            ("parent", &options.parent),
            ("dependsOn", &options.depends_on),
        ];
        let mut written = Vec::new();
        for (name, option) in named {
            if let Some(expr) = option {
                written.push((name.to_owned(), self.expression(expr)));
            }
        }
        if let Some((version, _)) = &options.version {
            written.push(("version".to_owned(), hcl::quoted(version)));
        }
        if let Some(url) = &options.download_url {
            written.push(("pluginDownloadUrl".to_owned(), hcl::quoted(url)));
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, expected: &str) {
        assert_eq!(value_as_pcl("value", yaml).unwrap(), expected, "{yaml}");
    }

    #[test]
    fn scalars_and_collections() {
        check("hello", "\"hello\"");
        check("0o45", "37");
        check("\"0o45\"", "\"0o45\"");
        check("false", "false");
        check("~", "null");
        check("", "null");
        check("[1, two, {a b: 3}]", "[1, \"two\", {\n  \"a b\" = 3\n}]");
        check("5% of $${x} %{y}", "\"5% of $${x} %%{y}\"");
    }

    #[test]
    fn names_and_facts() {
        check("${bucket.arn}", "bucket.arn");
        check(
            "x-${bucket.tags[\"a b\"]}-${pulumi.stack}",
            "\"x-${bucket.tags[\"a b\"]}-${stack()}\"",
        );
        check("${bucket.parts[0].id}", "bucket.parts[0].id");
    }

    #[test]
    fn functions_of_the_language_and_of_providers() {
        check("fn::secret: hunter2", "secret(\"hunter2\")");
        check("fn::join: [\"-\", [a, b]]", "join(\"-\", [\"a\", \"b\"])");
        check("fn::select: [1, [a, b]]", "element([\"a\", \"b\"], 1)");
        check("fn::fileAsset: ./x", "fileAsset(\"./x\")");
        check(
            "fn::invoke: {function: \"pkg:f\", arguments: {x: 1}, return: y}",
            "invoke(\"pkg:f\", {\n  x = 1\n}).y",
        );
        check("fn::pkg:f: {}", "invoke(\"pkg:f\", {})");
    }

    #[test]
    fn inputs_are_attributes() {
        let pcl = inputs_as_pcl("in.yaml", "name: a\ntags:\n  x: [1]\n").unwrap();
        assert_eq!(pcl, "name = \"a\"\ntags = {\n  x = [1]\n}\n");
        assert_eq!(inputs_as_pcl("in.yaml", "").unwrap(), "");
        assert_eq!(
            inputs_as_pcl("in.json", "{\"a\": true}").unwrap(),
            "a = true\n"
        );
    }

    #[test]
    fn mistakes_have_places() {
        let failed = |text: &str| inputs_as_pcl("in.yaml", text).unwrap_err().to_string();
        assert!(
            failed("- 1").contains("inputs are a mapping"),
            "{}",
            failed("- 1")
        );
        let text = failed("a: ok\nb: ${c");
        assert!(text.contains("unterminated interpolation"), "{text}");
        assert!(text.contains("in.yaml line 2"), "{text}");
        assert!(failed("a b: 1").contains("cannot name an input"));
        assert!(failed("a: ${pulumi.nothing}").contains("pulumi has no"));
    }
}
