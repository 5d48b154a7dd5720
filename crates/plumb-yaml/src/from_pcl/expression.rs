//! Expressions of PCL as values of YAML.

use std::fmt::Write as _;

use hcl_edit::expr::{
    Expression, FuncCall, Object, ObjectKey, Traversal, TraversalOperator, UnaryOperator,
};
use hcl_edit::template::{Element, Template};
use plumb_project::yaml::{Data, Item, Mapping, Node};
use plumb_value::go_number;

use super::Translator;
use crate::imported::{
    self, call, escaped_before_reference, flow_if_empty, list, put, short_token, string,
};

/// Functions that have the same name and one argument in both languages.
const SAME_FUNCTIONS: [&str; 18] = [
    "assetArchive",
    "fileArchive",
    "fileAsset",
    "filebase64",
    "filebase64sha256",
    "fromBase64",
    "length",
    "pulumiResourceName",
    "pulumiResourceType",
    "readFile",
    "remoteArchive",
    "remoteAsset",
    "secret",
    "sha1",
    "singleOrNone",
    "stringAsset",
    "toBase64",
    "toJSON",
];

/// Functions without arguments, which are settings of YAML programs.
const SETTINGS: [&str; 5] = ["cwd", "organization", "project", "rootDirectory", "stack"];

impl Translator<'_> {
    /// Returns the YAML for an expression; null stands for an expression that has none.
    pub(super) fn value(&mut self, expression: &Expression) -> Node {
        match expression {
            Expression::Null(_) => Node::plain("null"),
            Expression::Bool(it) => Node::plain(it.value().to_string()),
            Expression::Number(it) => number(it.value().as_f64().unwrap_or(f64::NAN)),
            Expression::String(text) => string(text.value()),
            Expression::StringTemplate(it) => self.template(it),
            Expression::HeredocTemplate(it) => self.template(&it.template),
            Expression::Parenthesis(inner) => self.value(inner.inner()),
            Expression::Array(items) => list(items.iter().map(|it| self.value(it)).collect()),
            Expression::Object(object) => self.object(object),
            Expression::FuncCall(it) => self.call(it, None),
            Expression::Variable(_) => self.reference_or_null(expression),
            Expression::Traversal(it) => self.traversal(expression, it),
            Expression::UnaryOp(it) => match (it.operator.value(), &it.expr) {
                (UnaryOperator::Neg, Expression::Number(operand)) => {
                    number(-operand.value().as_f64().unwrap_or(f64::NAN))
                }
                _ => self.without_form(expression, "operators"),
            },
            Expression::BinaryOp(_) => self.without_form(expression, "operators"),
            Expression::Conditional(_) => self.without_form(expression, "conditions"),
            Expression::ForExpr(_) => self.without_form(expression, "`for` expressions"),
        }
    }

    fn without_form(&mut self, node: &impl hcl_edit::Span, what: &str) -> Node {
        self.problem(node, &format!("YAML programs have no form for {what}"));
        Node::plain("null")
    }

    fn object(&mut self, object: &Object) -> Node {
        let mut node = flow_if_empty(object.is_empty());
        for (key, value) in object {
            let key = match key {
                ObjectKey::Ident(name) => name.as_str().to_owned(),
                ObjectKey::Expression(key) => {
                    let Some(key) = self.value(key).as_str() else {
                        self.problem(key, "a key of an object must be a text");
                        continue;
                    };
                    key
                }
            };
            let value = self.value(value.expr());
            if let Data::Mapping(Mapping { entries, .. }) = &mut node.data {
                entries.push((imported::key(&key), Item::new(value)));
            }
        }
        node
    }

    /// Returns one text if every part has a path, else a call that joins the parts.
    fn template(&mut self, template: &Template) -> Node {
        let mut parts = Vec::new();
        for element in template {
            match element {
                // A reference may follow.
                Element::Literal(text) => {
                    parts.push(Node::string(escaped_before_reference(text.value())));
                }
                Element::Interpolation(it) => parts.push(self.value(&it.expr)),
                Element::Directive(it) => return self.without_form(&**it, "template directives"),
            }
        }
        // A text that is nothing but a value is that value.
        if let ([Element::Interpolation(_)], 1) = (elements(template).as_slice(), parts.len()) {
            return parts.remove(0);
        }
        let is_text =
            |part: &Node| matches!(&part.data, Data::Scalar(_)) && part.as_str().is_some();
        if parts.iter().all(is_text) {
            let texts: Vec<String> = parts.iter().filter_map(Node::as_str).collect();
            return Node::string(texts.concat());
        }
        call("fn::join", list(vec![Node::string(""), list(parts)]))
    }

    /// `returned`: the property of the result that is wanted.
    fn call(&mut self, function: &FuncCall, returned: Option<&str>) -> Node {
        let name = function.name.name.as_str();
        let arguments: Vec<&Expression> = function.args.iter().collect();
        if function.args.expand_final() {
            return self.without_form(function, "`...` behind arguments");
        }
        match (name, arguments.as_slice()) {
            ("invoke", [token, rest @ ..]) if rest.len() <= 2 => self.invoke(token, rest, returned),
            ("join" | "split", [separator, operand]) => {
                let arguments = vec![self.value(separator), self.value(operand)];
                call(&format!("fn::{name}"), list(arguments))
            }
            ("element", [elements, index]) => {
                let arguments = vec![self.value(index), self.value(elements)];
                call("fn::select", list(arguments))
            }
            // YAML programs have it although the reference's do not.
            ("unsecret", [argument]) => call("fn::unsecret", self.value(argument)),
            (name, [argument]) if SAME_FUNCTIONS.contains(&name) => {
                let argument = self.value(argument);
                call(&format!("fn::{name}"), argument)
            }
            (name, []) if SETTINGS.contains(&name) => Node::string(format!("${{pulumi.{name}}}")),
            ("getOutput", [stack, output]) => self.stack_output(stack, output),
            (name, _) => {
                let what = format!("the function `{name}` with {} arguments", arguments.len());
                self.without_form(function, &what)
            }
        }
    }

    fn stack_output(&mut self, stack: &Expression, output: &Expression) -> Node {
        match (self.reference(stack), output.as_str()) {
            (Some(stack), Some(output)) => {
                Node::string(format!("${{{stack}.outputs[{}]}}", quoted(output)))
            }
            _ => self.without_form(output, "names of outputs that are computed"),
        }
    }

    fn invoke(&mut self, token: &Expression, rest: &[&Expression], returned: Option<&str>) -> Node {
        let mut invoke = Node::empty_mapping();
        let token = token.as_str().unwrap_or_default();
        put(&mut invoke, "function", Node::string(short_token(token)));
        if let Some(arguments) = rest.first() {
            let arguments = self.value(arguments);
            put(&mut invoke, "arguments", arguments);
        }
        if let Some(options) = rest.get(1) {
            let mut options = self.value(options);
            rename(&mut options, "pluginDownloadUrl", "pluginDownloadURL");
            put(&mut invoke, "options", options);
        }
        if let Some(returned) = returned {
            put(&mut invoke, "return", Node::string(returned));
        }
        call("fn::invoke", invoke)
    }

    fn traversal(&mut self, expression: &Expression, traversal: &Traversal) -> Node {
        // A property of a function's result is what `return` asks for.
        if let (Some(function), [operator]) =
            (invocation(&traversal.expr), traversal.operators.as_slice())
            && let TraversalOperator::GetAttr(name) = operator.value()
        {
            return self.call(function, Some(name.as_str()));
        }
        self.reference_or_null(expression)
    }

    fn reference_or_null(&mut self, expression: &Expression) -> Node {
        match self.reference(expression) {
            Some(path) => Node::string(format!("${{{path}}}")),
            None => Node::plain("null"),
        }
    }

    /// Returns the path of an expression, as it stands between `${` and `}`.
    fn reference(&mut self, expression: &Expression) -> Option<String> {
        match expression {
            Expression::Parenthesis(inner) => self.reference(inner.inner()),
            Expression::Variable(name) => Some(name.as_str().to_owned()),
            Expression::Traversal(it) => {
                let (mut path, operators) = self.receiver(it);
                for operator in operators {
                    self.step(operator.value(), &mut path, false)?;
                }
                Some(path)
            }
            other => Some(self.variable_for(|translator| translator.value(other))),
        }
    }

    /// Returns the path of what a traversal begins with, and the steps that are left.
    fn receiver<'t>(
        &mut self,
        traversal: &'t Traversal,
    ) -> (String, &'t [hcl_edit::Decorated<TraversalOperator>]) {
        let operators = traversal.operators.as_slice();
        if let (Some(function), [first, rest @ ..]) = (invocation(&traversal.expr), operators)
            && let TraversalOperator::GetAttr(name) = first.value()
        {
            let name = name.as_str();
            let path = self.variable_for(|translator| translator.call(function, Some(name)));
            return (path, rest);
        }
        let path = self.reference(&traversal.expr);
        (path.unwrap_or_default(), operators)
    }

    /// Returns the name of a new variable for `value`.
    fn variable_for(&mut self, value: impl FnOnce(&mut Self) -> Node) -> String {
        let value = value(self);
        let name = self.fresh_name();
        put(&mut self.variables, &name, value);
        name
    }

    /// Appends one step to a path; nothing if YAML has no form for the step, which is then reported.
    fn step(
        &mut self,
        operator: &TraversalOperator,
        path: &mut String,
        in_option: bool,
    ) -> Option<()> {
        match operator {
            TraversalOperator::GetAttr(name) => property(name.as_str(), path),
            TraversalOperator::LegacyIndex(index) => {
                let _ = write!(path, "[{}]", index.value());
            }
            TraversalOperator::Index(Expression::String(key)) => {
                let _ = write!(path, "[{}]", quoted(key.value()));
            }
            TraversalOperator::Index(Expression::Number(index)) => {
                let _ = write!(path, "[{}]", index.value());
            }
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) if in_option => {
                path.push_str("[*]");
            }
            other => {
                self.problem(
                    other,
                    "YAML programs have no form for computed indices and splats",
                );
                return None;
            }
        }
        Some(())
    }

    /// Returns the path of a property that an option names.
    pub(super) fn property_path(&mut self, expression: &Expression) -> Node {
        let path = match expression {
            Expression::String(path) => Some(path.value().clone()),
            Expression::Variable(name) => Some(name.as_str().to_owned()),
            Expression::Traversal(it) => match &it.expr {
                Expression::Variable(name) => {
                    let mut path = name.as_str().to_owned();
                    let steps = it.operators.iter();
                    let done: Option<()> = steps
                        .map(|step| self.step(step.value(), &mut path, true))
                        .collect();
                    done.map(|()| path)
                }
                _ => None,
            },
            _ => None,
        };
        match path {
            Some(path) => Node::string(path),
            None => self.without_form(expression, "paths of properties that are computed"),
        }
    }
}

fn elements(template: &Template) -> Vec<&Element> {
    template.iter().collect()
}

fn number(number: f64) -> Node {
    Node::plain(go_number::format(number))
}

/// The call of a provider's function that `expression` is, if it is one.
fn invocation(expression: &Expression) -> Option<&FuncCall> {
    match expression {
        Expression::Parenthesis(inner) => invocation(inner.inner()),
        Expression::FuncCall(call) if call.name.name.as_str() == "invoke" => Some(call),
        _ => None,
    }
}

fn property(name: &str, path: &mut String) {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$';
    let is_name = !name.starts_with(|first: char| first.is_ascii_digit());
    let _ = if is_name && name.chars().all(is_plain) {
        write!(path, ".{name}")
    } else {
        write!(path, "[{}]", quoted(name))
    };
}

/// A key between quotes.
fn quoted(key: &str) -> String {
    format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""))
}

fn rename(node: &mut Node, from: &str, to: &str) {
    if let Data::Mapping(mapping) = &mut node.data {
        for (key, _) in &mut mapping.entries {
            if key.as_str().as_deref() == Some(from) {
                *key = Node::key(to);
            }
        }
    }
}
