//! Expressions in Python.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ecow::EcoString;
use plumb_codegen::programs::ProgramLanguage;
use plumb_pcl::{BinaryOperator, UnaryOperator};

use super::captures::Loops;
use super::helpers::Helper;
use crate::layout::Doc;
use crate::names::Names;
use crate::tree::{
    Collected, Conversion, Group, InvokeTree, Loop, MethodTree, Object, Parts, Presence, Resources,
    Tree,
};

const PYTHON: ProgramLanguage = ProgramLanguage::Python;

/// Precedence of an expression, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// `lambda`
    Lambda,
    Conditional,
    Or,
    And,
    Not,
    Compare,
    Add,
    Multiply,
    Sign,
    Atom,
}

/// Quotes of string literals; those inside an f-string need the other kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    Double,
    Single,
}

/// Python expression for a parameter of a callback.
pub(super) enum Written {
    Plain(String),
    /// Entry of the parameter with this name.
    Entry(&'static str, String),
}

/// Prints the expressions of one file.
pub(super) struct Printer<'n> {
    pub(super) names: &'n Names,
    /// Imported modules of the standard library.
    pub(super) modules: BTreeSet<&'static str>,
    pub(super) helpers: BTreeSet<Helper>,
    /// Parameters of the enclosing callbacks, with their Python expressions.
    pub(super) params: Vec<(EcoString, Written)>,
    /// Names of the key and the value of the current range.
    pub(super) range: Option<(String, String)>,
    /// Variables of the enclosing loops.
    pub(super) loops: Loops,
    quotes: Quotes,
}

impl<'n> Printer<'n> {
    pub(super) fn new(names: &'n Names) -> Self {
        Printer {
            names,
            modules: BTreeSet::new(),
            helpers: BTreeSet::new(),
            params: Vec::new(),
            range: None,
            loops: Loops::default(),
            quotes: Quotes::Double,
        }
    }

    /// Prints an expression without parentheses.
    pub(super) fn value(&mut self, tree: &Tree) -> Doc {
        self.at(tree, Level::Lambda)
    }

    pub(super) fn needs(&mut self, module: &'static str) {
        self.modules.insert(module);
    }

    /// Prints an expression, with parentheses if its precedence is lower than `level`.
    pub(super) fn at(&mut self, tree: &Tree, level: Level) -> Doc {
        let (doc, own) = self.print(tree);
        if own < level {
            Doc::hugged("(", doc, ")")
        } else {
            doc
        }
    }

    pub(super) fn string(&self, text: &str) -> String {
        let is_simple = !text.contains(['\'', '"', '\\']) && !text.chars().any(char::is_control);
        if self.quotes == Quotes::Single && is_simple {
            return format!("'{text}'");
        }
        PYTHON.string(text)
    }

    fn print(&mut self, tree: &Tree) -> (Doc, Level) {
        let atom = |doc: Doc| (doc, Level::Atom);
        match tree {
            Tree::Null => atom(Doc::text("None")),
            Tree::Bool(value) => atom(Doc::text(if *value { "True" } else { "False" })),
            Tree::Number(value) if *value < 0.0 => (Doc::text(value.to_string()), Level::Sign),
            Tree::Number(value) => atom(Doc::text(value.to_string())),
            Tree::Text(text) => atom(Doc::text(self.string(text))),
            Tree::Template(parts) => self.template(parts),
            Tree::Interpolation(parts, Parts::Texts) => {
                let parts = parts.iter().map(|part| self.value(part)).collect();
                atom(Doc::list("pulumi.Output.concat(", parts, ")"))
            }
            Tree::Interpolation(parts, Parts::Mixed) => atom(self.format(parts)),
            Tree::List(items) => {
                let items = items.iter().map(|item| self.value(item)).collect();
                atom(Doc::list("[", items, "]"))
            }
            Tree::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let key = self.value(key);
                    Doc::Row(vec![key, Doc::text(": "), self.value(value)])
                });
                let entries = entries.collect();
                atom(Doc::list("{", entries, "}"))
            }
            Tree::Object(object) => atom(self.object(object)),
            Tree::Member {
                package,
                token,
                value,
            } => {
                let class = self.qualified(package.name(), token, |names| names.class(token));
                let member = self.names.package(package.name());
                let member = member.and_then(|it| it.names.enum_member(token, value));
                match (class, member) {
                    (Some(class), Some(member)) => atom(Doc::text(format!("{class}.{member}"))),
                    _ => atom(Doc::text(self.constant(&value.value))),
                }
            }
            Tree::Definition(position) => {
                atom(Doc::text(self.names.definition(*position).to_owned()))
            }
            Tree::Variable(name) => atom(Doc::text(self.variable(name))),
            Tree::RangeKey => atom(Doc::text(self.range_part(|range| &range.0))),
            Tree::RangeValue => atom(Doc::text(self.range_part(|range| &range.1))),
            Tree::Property(receiver, name, presence) => {
                let step = format!(".{}", PYTHON.property(name));
                self.step(receiver, &step, *presence)
            }
            Tree::Key(receiver, name, presence) => {
                let step = format!("[{}]", self.string(name));
                self.step(receiver, &step, *presence)
            }
            Tree::Index(receiver, index, _) => {
                let receiver = self.at(receiver, Level::Atom);
                let index = self.value(index);
                atom(Doc::Row(vec![receiver, Doc::hugged("[", index, "]")]))
            }
            Tree::For(it) if it.is_all_values() => {
                let values = self.at(&it.collection, Level::Atom);
                atom(Doc::Row(vec![
                    Doc::text("list("),
                    values,
                    Doc::text(".values())"),
                ]))
            }
            Tree::For(it) => atom(self.comprehension(it)),
            Tree::Conditional(it) => {
                let [condition, yes, no] = &**it;
                let yes = self.at(yes, Level::Or);
                let condition = self.at(condition, Level::Or);
                let no = self.at(no, Level::Conditional);
                let row = vec![yes, Doc::text(" if "), condition, Doc::text(" else "), no];
                (Doc::Row(row), Level::Conditional)
            }
            Tree::Unary(UnaryOperator::Not, operand) => {
                let operand = self.at(operand, Level::Not);
                (Doc::Row(vec![Doc::text("not "), operand]), Level::Not)
            }
            Tree::Unary(UnaryOperator::Negate, operand) => {
                let operand = self.at(operand, Level::Sign);
                (Doc::Row(vec![Doc::text("-"), operand]), Level::Sign)
            }
            Tree::Binary(operator, operands) => self.binary(*operator, operands),
            Tree::Call(function, args) => self.call(*function, args),
            Tree::Invoke(invoke) => atom(self.invoke(invoke)),
            Tree::OwnComponent => atom(Doc::text("self")),
            Tree::Method(method) => atom(self.method(method)),
            Tree::Apply(params, body) => atom(self.apply(params, body)),
            Tree::AsOutput(inner) => {
                let inner = self.value(inner);
                atom(Doc::list("pulumi.Output.from_input(", vec![inner], ")"))
            }
            Tree::Present(inner) => self.print(inner),
            Tree::Convert(conversion, inner) => self.convert(*conversion, inner),
        }
    }

    fn constant(&self, constant: &plumb_schema::Constant) -> String {
        match constant {
            plumb_schema::Constant::Bool(true) => "True".to_owned(),
            plumb_schema::Constant::Bool(false) => "False".to_owned(),
            plumb_schema::Constant::Number(number) => number.to_string(),
            plumb_schema::Constant::String(text) => self.string(text),
        }
    }

    fn variable(&mut self, name: &EcoString) -> String {
        let param = self.params.iter().rev().find(|(known, _)| known == name);
        match param {
            Some((_, Written::Plain(text))) => text.clone(),
            Some((_, Written::Entry(of, name))) => format!("{of}[{}]", self.string(name)),
            None => {
                let name = PYTHON.variable(name);
                self.loops.used(&name);
                name
            }
        }
    }

    fn range_part(&mut self, part: impl Fn(&(String, String)) -> &String) -> String {
        let Some(range) = &self.range else {
            return "None".to_owned();
        };
        let name = part(range).clone();
        self.loops.used(&name);
        name
    }

    fn step(&mut self, receiver: &Tree, step: &str, presence: Presence) -> (Doc, Level) {
        let written = self.at(receiver, Level::Atom);
        let can_repeat = matches!(receiver, Tree::Definition(_) | Tree::Variable(_));
        match (presence, written.flat()) {
            (Presence::Optional, Some(text)) if can_repeat => {
                let text = format!("{text}{step} if {text} is not None else None");
                (Doc::text(text), Level::Conditional)
            }
            _ => (Doc::Row(vec![written, Doc::text(step)]), Level::Atom),
        }
    }

    /// Qualified name of a package member, starting with the alias of the import.
    pub(super) fn qualified(
        &self,
        package: &str,
        token: &str,
        member: impl Fn(&plumb_codegen::programs::PackageNames) -> String,
    ) -> Option<String> {
        let package = self.names.package(package)?;
        let mut path = package.alias.clone();
        for step in package.names.module(&package.schema, token) {
            path.push('.');
            path.push_str(&step);
        }
        Some(format!("{path}.{}", member(&package.names)))
    }

    fn object(&mut self, object: &Object) -> Doc {
        let package = self.names.package(object.package.name());
        let has_dicts = package.is_none_or(|it| it.names.has_dicts);
        let class = self.qualified(object.package.name(), &object.token, |names| {
            names.args_class(&object.token)
        });
        match class {
            // The SDK does not know the type of a dictionary that may have several.
            Some(class) if !has_dicts || object.is_in_callback || object.is_variant => {
                let fields = object.fields.iter().map(|(name, value)| {
                    let name = format!("{}=", PYTHON.property(name));
                    Doc::Row(vec![Doc::text(name), self.value(value)])
                });
                let fields = fields.collect();
                Doc::list(&format!("{class}("), fields, ")")
            }
            _ => {
                let fields = object.fields.iter().map(|(name, value)| {
                    let name = format!("{}: ", self.string(&PYTHON.property(name)));
                    Doc::Row(vec![Doc::text(name), self.value(value)])
                });
                let fields = fields.collect();
                Doc::list("{", fields, "}")
            }
        }
    }

    /// An f-string; parts that an f-string cannot contain are joined with `+`.
    fn template(&mut self, parts: &[Tree]) -> (Doc, Level) {
        let outer = std::mem::replace(&mut self.quotes, Quotes::Single);
        let mut text = String::from("f\"");
        let mut fits = outer == Quotes::Double;
        for part in parts {
            if let Tree::Text(literal) = part {
                let quoted = PYTHON.string(literal);
                let inner = &quoted[1..quoted.len() - 1];
                text.push_str(&inner.replace('{', "{{").replace('}', "}}"));
                continue;
            }
            match self.at(part, Level::Conditional).flat() {
                Some(inner) if !inner.contains(['"', '\\']) && !inner.starts_with('{') => {
                    text.push('{');
                    text.push_str(&inner);
                    text.push('}');
                }
                _ => fits = false,
            }
        }
        self.quotes = outer;
        if fits {
            text.push('"');
            return (Doc::text(text), Level::Atom);
        }
        let mut joined = Vec::new();
        for part in parts {
            if !joined.is_empty() {
                joined.push(Doc::text(" + "));
            }
            joined.push(match part {
                Tree::Text(literal) => Doc::text(self.string(literal)),
                other => Doc::hugged("str(", self.value(other), ")"),
            });
        }
        (Doc::Row(joined), Level::Add)
    }

    /// A format string with outputs and values as arguments.
    fn format(&mut self, parts: &[Tree]) -> Doc {
        let mut text = String::new();
        let mut args = Vec::new();
        for part in parts {
            if let Tree::Text(literal) = part {
                text.push_str(&literal.replace("{", "{{").replace("}", "}}"));
            } else {
                let _ = write!(text, "{{{}}}", args.len());
                args.push(self.value(part));
            }
        }
        args.insert(0, Doc::text(self.string(&text)));
        Doc::list("pulumi.Output.format(", args, ")")
    }

    fn comprehension(&mut self, it: &Loop) -> Doc {
        let value = PYTHON.variable(&it.value);
        let key = it.key.as_ref().map(|key| PYTHON.variable(key));
        let collection = self.at(&it.collection, Level::Or);
        let is_unknown = it.collected == Collected::Unknown;
        if is_unknown {
            self.helpers.insert(Helper::Entries);
        }
        let (variables, collection) = match (&key, it.is_map()) {
            (_, false) if is_unknown => (
                format!("{}, {value}", key.as_deref().unwrap_or("_")),
                Doc::hugged("entries_of(", collection, ")"),
            ),
            (Some(key), true) => (
                format!("{key}, {value}"),
                Doc::Row(vec![
                    Doc::text("sorted("),
                    collection,
                    Doc::text(".items())"),
                ]),
            ),
            (Some(key), false) if key != "_" => (
                format!("{key}, {value}"),
                Doc::hugged("enumerate(", collection, ")"),
            ),
            (None, true) => (
                value.clone(),
                Doc::Row(vec![collection, Doc::text(".values()")]),
            ),
            _ => (value.clone(), collection),
        };
        let names: Vec<&str> = key.as_deref().into_iter().chain([value.as_str()]).collect();
        let depth = self.loops.enter(&names);
        let result = self.value(&it.result);
        let result = match &it.result_key {
            Some(key) => Doc::Row(vec![self.value(key), Doc::text(": "), result]),
            None => result,
        };
        let mut inner = vec![
            Doc::Soft,
            result,
            Doc::Line,
            Doc::text(format!("for {variables} in ")),
            collection,
        ];
        if let Some(condition) = &it.condition {
            inner.push(Doc::Line);
            inner.push(Doc::text("if "));
            inner.push(self.at(condition, Level::Or));
        }
        self.loops.leave(depth);
        let (open, close) = if it.result_key.is_some() {
            ("{", "}")
        } else {
            ("[", "]")
        };
        Doc::Group(vec![
            Doc::text(open),
            Doc::Nest(Box::new(Doc::Row(inner))),
            Doc::Soft,
            Doc::text(close),
        ])
    }

    fn binary(&mut self, operator: BinaryOperator, operands: &[Tree; 2]) -> (Doc, Level) {
        let [left, right] = operands;
        let with_null = matches!(left, Tree::Null) || matches!(right, Tree::Null);
        let (text, level) = match operator {
            BinaryOperator::Equal if with_null => ("is", Level::Compare),
            BinaryOperator::NotEqual if with_null => ("is not", Level::Compare),
            BinaryOperator::Equal => ("==", Level::Compare),
            BinaryOperator::NotEqual => ("!=", Level::Compare),
            BinaryOperator::And => ("and", Level::And),
            BinaryOperator::Or => ("or", Level::Or),
            BinaryOperator::Less => ("<", Level::Compare),
            BinaryOperator::LessOrEqual => ("<=", Level::Compare),
            BinaryOperator::Greater => (">", Level::Compare),
            BinaryOperator::GreaterOrEqual => (">=", Level::Compare),
            BinaryOperator::Add => ("+", Level::Add),
            BinaryOperator::Subtract => ("-", Level::Add),
            BinaryOperator::Multiply => ("*", Level::Multiply),
            BinaryOperator::Divide => ("/", Level::Multiply),
            BinaryOperator::Modulo => ("%", Level::Multiply),
        };
        // Chained comparisons have another meaning in Python.
        let own = if level == Level::Compare {
            Level::Add
        } else {
            level
        };
        let left = self.at(left, own);
        let right = self.at(right, tighter(level));
        let row = vec![left, Doc::text(format!(" {text} ")), right];
        (Doc::Row(row), level)
    }

    fn convert(&mut self, conversion: Conversion, inner: &Tree) -> (Doc, Level) {
        let text = match conversion {
            Conversion::BoolToText => {
                let inner = self.value(inner);
                let row = vec![Doc::hugged("str(", inner, ")"), Doc::text(".lower()")];
                return (Doc::Row(row), Level::Atom);
            }
            Conversion::TextToBool => {
                let inner = self.at(inner, Level::Add);
                let wanted = format!(" == {}", self.string("true"));
                return (Doc::Row(vec![inner, Doc::text(wanted)]), Level::Compare);
            }
            Conversion::NumberToText => "str(",
            Conversion::NumberToInt | Conversion::TextToInt => "int(",
            Conversion::TextToNumber => "float(",
        };
        let inner = self.value(inner);
        (Doc::hugged(text, inner, ")"), Level::Atom)
    }

    fn apply(&mut self, params: &[(EcoString, Tree)], body: &Tree) -> Doc {
        let depth = self.params.len();
        if let [(name, value)] = params {
            let value = self.at(value, Level::Atom);
            let written = PYTHON.variable(name);
            self.params
                .push((name.clone(), Written::Plain(written.clone())));
            let (body, captured) = self.callback(body);
            self.params.truncate(depth);
            let head = Doc::text(format!("lambda {written}{captured}: "));
            let lambda = Doc::Row(vec![head, body]);
            return Doc::Row(vec![
                value,
                Doc::Group(vec![
                    Doc::text(".apply("),
                    Doc::Nest(Box::new(Doc::Row(vec![Doc::Soft, lambda]))),
                    Doc::Soft,
                    Doc::text(")"),
                ]),
            ]);
        }
        let mut values = Vec::with_capacity(params.len());
        let mut inner = Vec::with_capacity(params.len());
        for (name, value) in params {
            let written = PYTHON.variable(name);
            let row = vec![Doc::text(format!("{written}=")), self.value(value)];
            values.push(Doc::Row(row));
            inner.push((name.clone(), written));
        }
        let args = if depth == 0 { "args" } else { "inner" };
        for (name, written) in inner {
            self.params.push((name, Written::Entry(args, written)));
        }
        let (body, captured) = self.callback(body);
        self.params.truncate(depth);
        let head = Doc::text(format!("lambda {args}{captured}: "));
        let lambda = Doc::Row(vec![head, body]);
        Doc::Row(vec![
            Doc::list("pulumi.Output.all(", values, ")"),
            Doc::Group(vec![
                Doc::text(".apply("),
                Doc::Nest(Box::new(Doc::Row(vec![Doc::Soft, lambda]))),
                Doc::Soft,
                Doc::text(")"),
            ]),
        ])
    }

    /// The body of a callback, and the parameters for the variables of loops that it uses.
    pub(super) fn callback(&mut self, body: &Tree) -> (Doc, String) {
        let free = self.loops.begin();
        let body = self.value(body);
        (body, self.loops.end(&free))
    }

    fn invoke(&mut self, invoke: &InvokeTree) -> Doc {
        let at = usize::from(invoke.is_output);
        let name = invoke.package.as_ref().and_then(|package| {
            self.qualified(package.name(), &invoke.token, |names| {
                names.function(&invoke.token)[at].clone()
            })
        });
        let mut args = Vec::new();
        let Some(name) = name else {
            return self.dynamic_invoke(invoke);
        };
        let package = invoke.package.as_ref().map(|it| it.name().to_owned());
        for (arg, value) in &invoke.args {
            let names = package.as_ref().and_then(|it| self.names.package(it));
            let arg = names.map_or_else(|| PYTHON.property(arg), |it| it.names.parameter(arg));
            args.push(Doc::Row(vec![
                Doc::text(format!("{arg}=")),
                self.value(value),
            ]));
        }
        if let Some(options) = self.invoke_options(invoke) {
            args.push(Doc::Row(vec![Doc::text("opts="), options]));
        }
        Doc::list(&format!("{name}("), args, ")")
    }

    fn dynamic_invoke(&mut self, invoke: &InvokeTree) -> Doc {
        let fields = invoke.args.iter().map(|(name, value)| {
            let name = format!("{}: ", self.string(name));
            Doc::Row(vec![Doc::text(name), self.value(value)])
        });
        let fields: Vec<Doc> = fields.collect();
        let mut args = vec![
            Doc::text(self.string(&invoke.token)),
            Doc::list("{", fields, "}"),
        ];
        args.extend(self.invoke_options(invoke));
        let function = if invoke.is_output {
            "pulumi.runtime.invoke_output("
        } else {
            "pulumi.runtime.invoke("
        };
        let call = Doc::list(function, args, ")");
        if invoke.is_output {
            call
        } else {
            Doc::Row(vec![call, Doc::text(".value")])
        }
    }

    /// Prints the resources that an option names.
    pub(super) fn resources(&mut self, resources: &Resources) -> Doc {
        let groups = match resources {
            Resources::Plain(tree) => return self.value(tree),
            Resources::Mixed(groups) => groups,
        };
        let items = groups.iter().map(|group| match group {
            Group::One(tree) => self.value(tree),
            Group::Several(Tree::For(it)) if it.is_all_values() => {
                let values = self.at(&it.collection, Level::Atom);
                Doc::Row(vec![Doc::text("*"), values, Doc::text(".values()")])
            }
            Group::Several(tree) => Doc::Row(vec![Doc::text("*"), self.at(tree, Level::Atom)]),
        });
        Doc::list("[", items.collect(), "]")
    }

    fn invoke_options(&mut self, invoke: &InvokeTree) -> Option<Doc> {
        let mut options = Vec::new();
        let parts = [("parent", &invoke.parent), ("provider", &invoke.provider)];
        for (name, value) in parts {
            if let Some(value) = value {
                let row = vec![Doc::text(format!("{name}=")), self.value(value)];
                options.push(Doc::Row(row));
            }
        }
        if let Some(resources) = &invoke.depends_on {
            let row = vec![Doc::text("depends_on="), self.resources(resources)];
            options.push(Doc::Row(row));
        }
        for (name, text) in [
            ("version", &invoke.version),
            ("plugin_download_url", &invoke.download_url),
        ] {
            if !text.is_empty() {
                options.push(Doc::text(format!("{name}={}", self.string(text))));
            }
        }
        let class = if invoke.is_output {
            "pulumi.InvokeOutputOptions("
        } else {
            "pulumi.InvokeOptions("
        };
        (!options.is_empty()).then(|| Doc::list(class, options, ")"))
    }

    fn method(&mut self, method: &MethodTree) -> Doc {
        let receiver = self.at(&method.receiver, Level::Atom);
        let args = method.args.iter().map(|(name, value)| {
            let name = format!("{}=", PYTHON.property(name));
            Doc::Row(vec![Doc::text(name), self.value(value)])
        });
        let args = args.collect();
        let name = PYTHON.property(&method.method);
        Doc::Row(vec![receiver, Doc::list(&format!(".{name}("), args, ")")])
    }
}

pub(super) fn around(open: &str, inner: Doc, close: &str) -> Doc {
    Doc::hugged(open, inner, close)
}

fn tighter(level: Level) -> Level {
    match level {
        Level::Lambda => Level::Conditional,
        Level::Conditional => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::Not,
        Level::Not => Level::Compare,
        Level::Compare => Level::Add,
        Level::Add => Level::Multiply,
        Level::Multiply => Level::Sign,
        Level::Sign | Level::Atom => Level::Atom,
    }
}
