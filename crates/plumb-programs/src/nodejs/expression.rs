//! Expressions in TypeScript.

use std::collections::BTreeSet;

use ecow::EcoString;
use plumb_codegen::programs::{ProgramLanguage, typescript_key};
use plumb_pcl::{BinaryOperator, UnaryOperator};

use super::helpers::Helper;
use crate::layout::Doc;
use crate::names::Names;
use crate::tree::{
    Collected, Conversion, Group, InvokeTree, Loop, MethodTree, Presence, Resources, Tree,
};

const NODEJS: ProgramLanguage = ProgramLanguage::Nodejs;

/// Precedence of an expression, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// `=>` and `?:`
    Loose,
    /// `??`, which cannot stand beside `||` and `&&`.
    Coalesce,
    Or,
    And,
    Equality,
    Relation,
    Add,
    Multiply,
    Sign,
    Atom,
}

/// Prints the expressions of one file.
pub(super) struct Printer<'n> {
    pub(super) names: &'n Names,
    /// Imported modules of Node.js.
    pub(super) modules: BTreeSet<&'static str>,
    pub(super) helpers: BTreeSet<Helper>,
    /// Names of the key and the value of the current range.
    pub(super) range: Option<(String, String)>,
    /// Whether the expression is serialized as JSON, in which missing values must be explicit.
    pub(super) is_json: bool,
}

impl<'n> Printer<'n> {
    pub(super) fn new(names: &'n Names) -> Self {
        Printer {
            names,
            modules: BTreeSet::new(),
            helpers: BTreeSet::new(),
            range: None,
            is_json: false,
        }
    }

    /// Prints an expression without parentheses.
    pub(super) fn value(&mut self, tree: &Tree) -> Doc {
        self.at(tree, Level::Loose)
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

    fn print(&mut self, tree: &Tree) -> (Doc, Level) {
        let atom = |doc: Doc| (doc, Level::Atom);
        match tree {
            Tree::Null => atom(Doc::text(if self.is_json { "null" } else { "undefined" })),
            Tree::Bool(value) => atom(Doc::text(value.to_string())),
            Tree::Number(value) if *value < 0.0 => (Doc::text(value.to_string()), Level::Sign),
            Tree::Number(value) => atom(Doc::text(value.to_string())),
            Tree::Text(text) => atom(Doc::text(NODEJS.string(text))),
            Tree::Template(parts) => atom(self.template("", parts)),
            Tree::Interpolation(parts, _) => atom(self.template("pulumi.interpolate", parts)),
            Tree::List(items) => {
                let items = items.iter().map(|item| self.value(item)).collect();
                atom(Doc::list("[", items, "]"))
            }
            Tree::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let key = match key {
                        Tree::Text(name) => Doc::text(typescript_key(name)),
                        other => Doc::hugged("[", self.value(other), "]"),
                    };
                    Doc::Row(vec![key, Doc::text(": "), self.value(value)])
                });
                let entries = entries.collect();
                atom(Doc::spaced_list("{", entries, "}"))
            }
            Tree::Object(object) => {
                let fields = object.fields.iter().map(|(name, value)| {
                    let name = format!("{}: ", typescript_key(name));
                    Doc::Row(vec![Doc::text(name), self.value(value)])
                });
                let fields = fields.collect();
                atom(Doc::spaced_list("{", fields, "}"))
            }
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
                    _ => atom(Doc::text(match &value.value {
                        plumb_schema::Constant::Bool(flag) => flag.to_string(),
                        plumb_schema::Constant::Number(number) => number.to_string(),
                        plumb_schema::Constant::String(text) => NODEJS.string(text),
                    })),
                }
            }
            Tree::Definition(position) => {
                atom(Doc::text(self.names.definition(*position).to_owned()))
            }
            Tree::Variable(name) if name == "error" => atom(Doc::text("String(error)")),
            Tree::Variable(name) => atom(Doc::text(NODEJS.variable(name))),
            Tree::RangeKey => atom(Doc::text(self.range_part(|range| &range.0))),
            Tree::RangeValue => atom(Doc::text(self.range_part(|range| &range.1))),
            Tree::Property(receiver, name, presence) | Tree::Key(receiver, name, presence) => {
                let receiver = self.at(receiver, Level::Atom);
                atom(Doc::Row(vec![receiver, Doc::text(member(name, *presence))]))
            }
            Tree::Index(receiver, index, presence) => {
                let receiver = self.at(receiver, Level::Atom);
                let index = self.value(index);
                let open = match presence {
                    Presence::Certain => "[",
                    Presence::Optional => "?.[",
                };
                atom(Doc::Row(vec![receiver, Doc::hugged(open, index, "]")]))
            }
            Tree::For(it) => atom(self.loop_of(it)),
            Tree::Conditional(it) => {
                let [condition, yes, no] = &**it;
                let condition = self.at(condition, Level::Coalesce);
                let yes = self.at(yes, Level::Coalesce);
                let no = self.value(no);
                let row = vec![condition, Doc::text(" ? "), yes, Doc::text(" : "), no];
                (Doc::Row(row), Level::Loose)
            }
            Tree::Unary(operator, operand) => {
                let sign = match operator {
                    UnaryOperator::Negate => "-",
                    UnaryOperator::Not => "!",
                };
                let operand = self.at(operand, Level::Atom);
                (Doc::Row(vec![Doc::text(sign), operand]), Level::Sign)
            }
            Tree::Binary(operator, operands) => self.binary(*operator, operands),
            Tree::Call(function, args) => self.call(*function, args),
            Tree::Invoke(invoke) => atom(self.invoke(invoke)),
            Tree::OwnComponent => atom(Doc::text("this")),
            Tree::Method(method) => atom(self.method(method)),
            Tree::Apply(params, body) => atom(self.apply(params, body)),
            Tree::AsOutput(inner) => {
                let inner = self.value(inner);
                atom(Doc::hugged("pulumi.output(", inner, ")"))
            }
            Tree::Present(inner) => {
                let inner = self.at(inner, Level::Atom);
                atom(Doc::Row(vec![inner, Doc::text("!")]))
            }
            Tree::Convert(conversion, inner) => {
                if *conversion == Conversion::TextToBool {
                    let inner = self.at(inner, Level::Relation);
                    let row = vec![inner, Doc::text(" === \"true\"")];
                    return (Doc::Row(row), Level::Equality);
                }
                let open = match conversion {
                    Conversion::BoolToText | Conversion::NumberToText => "String(",
                    _ => "Number(",
                };
                atom(Doc::hugged(open, self.value(inner), ")"))
            }
        }
    }

    fn range_part(&self, part: impl Fn(&(String, String)) -> &String) -> String {
        match &self.range {
            Some(range) => part(range).clone(),
            None => "undefined".to_owned(),
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

    fn template(&mut self, tag: &str, parts: &[Tree]) -> Doc {
        let mut row = vec![Doc::text(format!("{tag}`"))];
        for part in parts {
            match part {
                Tree::Text(text) => row.push(Doc::text(in_template(text))),
                // Template literals convert values to text.
                Tree::Convert(Conversion::BoolToText | Conversion::NumberToText, inner) => {
                    row.push(Doc::hugged("${", self.value(inner), "}"));
                }
                other => row.push(Doc::hugged("${", self.value(other), "}")),
            }
        }
        row.push(Doc::text("`"));
        let row = Doc::Row(row);
        match row.flat() {
            Some(text) => Doc::Text(text),
            None => row,
        }
    }

    /// Prints the body of an arrow function; objects need parentheses.
    pub(super) fn body(&mut self, tree: &Tree) -> Doc {
        let body = self.value(tree);
        if matches!(tree, Tree::Map(_) | Tree::Object(_)) {
            Doc::hugged("(", body, ")")
        } else {
            body
        }
    }

    fn loop_of(&mut self, it: &Loop) -> Doc {
        let value = NODEJS.variable(&it.value);
        let key = it.key.as_ref().map(|key| NODEJS.variable(key));
        let key = key.filter(|key| key != "_");
        let is_list = it.collected == Collected::List;
        let collection = self.at(
            &it.collection,
            if is_list { Level::Atom } else { Level::Loose },
        );
        let any = if it.is_untyped { "<any>" } else { "" };
        let collection = match (it.collected, &key) {
            (Collected::List, _) => collection,
            (Collected::Map, Some(_)) => {
                around(&format!("Object.entries{any}("), collection, ").sort()")
            }
            (Collected::Map, None) => around(&format!("Object.values{any}("), collection, ")"),
            (Collected::Unknown, _) => {
                self.helpers.insert(Helper::Entries);
                around("entriesOf(", collection, ")")
            }
        };
        let typed = if it.is_untyped { ": any" } else { "" };
        let params = match (it.collected, &key) {
            (Collected::List, Some(key)) => format!("({value}{typed}, {key})"),
            (Collected::List, None) => format!("({value}{typed})"),
            (Collected::Map | Collected::Unknown, Some(key)) => format!("([{key}, {value}])"),
            (Collected::Map, None) => format!("({value})"),
            (Collected::Unknown, None) => format!("([, {value}])"),
        };
        let result = match &it.result_key {
            Some(key) => Doc::Row(vec![
                Doc::text("["),
                self.value(key),
                Doc::text(", "),
                self.value(&it.result),
                Doc::text("]"),
            ]),
            None => self.body(&it.result),
        };
        let is_itself = it.result_key.is_none()
            && matches!(&it.result, Tree::Variable(name) if *name == it.value);
        let mut row = vec![collection];
        let uses_index = key.is_some() && is_list;
        match &it.condition {
            // The index refers to the whole collection.
            Some(condition) if uses_index => {
                let condition = self.at(condition, Level::Coalesce);
                row.push(Doc::text(format!(".flatMap({params} => ")));
                row.push(condition);
                row.push(Doc::text(" ? ["));
                row.push(result);
                row.push(Doc::text("] : [])"));
            }
            condition => {
                if let Some(condition) = condition {
                    row.push(Doc::text(format!(".filter({params} => ")));
                    row.push(self.value(condition));
                    row.push(Doc::text(")"));
                }
                let has_pairs = match it.collected {
                    Collected::List => false,
                    Collected::Map => key.is_some(),
                    Collected::Unknown => true,
                };
                if !is_itself || has_pairs {
                    row.push(Doc::text(format!(".map({params} => ")));
                    row.push(result);
                    row.push(Doc::text(")"));
                }
            }
        }
        if it.result_key.is_some() {
            return around("Object.fromEntries(", Doc::Row(row), ")");
        }
        Doc::Row(row)
    }

    fn binary(&mut self, operator: BinaryOperator, operands: &[Tree; 2]) -> (Doc, Level) {
        let [left, right] = operands;
        let with_null = matches!(left, Tree::Null) || matches!(right, Tree::Null);
        let (text, level) = match operator {
            // Missing values are undefined or null.
            BinaryOperator::Equal if with_null => ("==", Level::Equality),
            BinaryOperator::NotEqual if with_null => ("!=", Level::Equality),
            BinaryOperator::Equal => ("===", Level::Equality),
            BinaryOperator::NotEqual => ("!==", Level::Equality),
            BinaryOperator::And => ("&&", Level::And),
            BinaryOperator::Or => ("||", Level::Or),
            BinaryOperator::Less => ("<", Level::Relation),
            BinaryOperator::LessOrEqual => ("<=", Level::Relation),
            BinaryOperator::Greater => (">", Level::Relation),
            BinaryOperator::GreaterOrEqual => (">=", Level::Relation),
            BinaryOperator::Add => ("+", Level::Add),
            BinaryOperator::Subtract => ("-", Level::Add),
            BinaryOperator::Multiply => ("*", Level::Multiply),
            BinaryOperator::Divide => ("/", Level::Multiply),
            BinaryOperator::Modulo => ("%", Level::Multiply),
        };
        let operand = |this: &mut Self, tree: &Tree, level| match tree {
            Tree::Null if with_null => Doc::text("null"),
            tree => this.at(tree, level),
        };
        let left = operand(self, left, level);
        let right = operand(self, right, tighter(level));
        let row = vec![left, Doc::text(format!(" {text} ")), right];
        (Doc::Row(row), level)
    }

    fn apply(&mut self, params: &[(EcoString, Tree)], body: &Tree) -> Doc {
        let body = self.body(body);
        if let [(name, value)] = params {
            let value = self.at(value, Level::Atom);
            let param = NODEJS.variable(name);
            return Doc::Row(vec![
                value,
                Doc::text(format!(".apply(({param}) => ")),
                body,
                Doc::text(")"),
            ]);
        }
        let names: Vec<String> = params
            .iter()
            .map(|(name, _)| NODEJS.variable(name))
            .collect();
        let values = params.iter().map(|(_, value)| self.value(value)).collect();
        Doc::Row(vec![
            Doc::list("pulumi.all([", values, "])"),
            Doc::text(format!(".apply(([{}]) => ", names.join(", "))),
            body,
            Doc::text(")"),
        ])
    }

    fn object_of(&mut self, fields: &[(EcoString, Tree)]) -> Doc {
        let fields = fields.iter().map(|(name, value)| {
            let name = format!("{}: ", typescript_key(name));
            Doc::Row(vec![Doc::text(name), self.value(value)])
        });
        let fields = fields.collect();
        Doc::spaced_list("{", fields, "}")
    }

    fn invoke(&mut self, invoke: &InvokeTree) -> Doc {
        let at = usize::from(invoke.is_output);
        let name = invoke.package.as_ref().and_then(|package| {
            self.qualified(package.name(), &invoke.token, |names| {
                names.function(&invoke.token)[at].clone()
            })
        });
        let options = self.invoke_options(invoke);
        let Some(name) = name else {
            let mut args = vec![
                Doc::text(NODEJS.string(&invoke.token)),
                self.object_of(&invoke.args),
            ];
            args.extend(options);
            return Doc::list("pulumi.runtime.invokeOutput<any>(", args, ")");
        };
        let mut args: Vec<Doc> = Vec::new();
        if !invoke.positional.is_empty() {
            args = self.positional(invoke, options.is_some());
        } else if !invoke.args.is_empty() || (options.is_some() && invoke.has_inputs) {
            args.push(self.object_of(&invoke.args));
        }
        args.extend(options);
        call(&name, args)
    }

    /// Arguments by position. Omitted ones are written if something follows them.
    fn positional(&mut self, invoke: &InvokeTree, has_options: bool) -> Vec<Doc> {
        let given = |name: &EcoString| invoke.args.iter().find(|(given, _)| given == name);
        let count = match invoke
            .positional
            .iter()
            .rposition(|name| given(name).is_some())
        {
            _ if has_options => invoke.positional.len(),
            Some(last) => last + 1,
            None => 0,
        };
        let positions = invoke.positional[..count].iter();
        positions
            .map(|name| match given(name) {
                Some((_, value)) => self.value(value),
                None => Doc::text("undefined"),
            })
            .collect()
    }

    /// Prints the resources that an option names.
    pub(super) fn resources(&mut self, resources: &Resources) -> Doc {
        let groups = match resources {
            Resources::Plain(tree) => return self.value(tree),
            Resources::Mixed(groups) => groups,
        };
        let items = groups.iter().map(|group| match group {
            Group::One(tree) => self.value(tree),
            Group::Several(tree) => Doc::Row(vec![Doc::text("..."), self.at(tree, Level::Atom)]),
        });
        Doc::list("[", items.collect(), "]")
    }

    fn invoke_options(&mut self, invoke: &InvokeTree) -> Option<Doc> {
        let mut options = Vec::new();
        let parts = [("parent", &invoke.parent), ("provider", &invoke.provider)];
        for (name, value) in parts {
            if let Some(value) = value {
                let row = vec![Doc::text(format!("{name}: ")), self.value(value)];
                options.push(Doc::Row(row));
            }
        }
        if let Some(resources) = &invoke.depends_on {
            let row = vec![Doc::text("dependsOn: "), self.resources(resources)];
            options.push(Doc::Row(row));
        }
        for (name, text) in [
            ("version", &invoke.version),
            ("pluginDownloadURL", &invoke.download_url),
        ] {
            if !text.is_empty() {
                options.push(Doc::text(format!("{name}: {}", NODEJS.string(text))));
            }
        }
        (!options.is_empty()).then(|| Doc::spaced_list("{", options, "}"))
    }

    fn method(&mut self, method: &MethodTree) -> Doc {
        let receiver = self.at(&method.receiver, Level::Atom);
        let args = if method.args.is_empty() {
            Vec::new()
        } else {
            vec![self.object_of(&method.args)]
        };
        Doc::Row(vec![receiver, call(&format!(".{}", method.method), args)])
    }
}

/// A call; if the last argument is an object, its braces stay beside the parentheses.
pub(super) fn call(name: &str, args: Vec<Doc>) -> Doc {
    let mut row = vec![Doc::text(format!("{name}("))];
    for (at, arg) in args.into_iter().enumerate() {
        if at > 0 {
            row.push(Doc::text(", "));
        }
        row.push(arg);
    }
    row.push(Doc::text(")"));
    Doc::Row(row)
}

pub(super) fn around(open: &str, inner: Doc, close: &str) -> Doc {
    Doc::hugged(open, inner, close)
}

fn member(name: &str, presence: Presence) -> String {
    let key = typescript_key(name);
    let is_quoted = key != name;
    match (presence, is_quoted) {
        (Presence::Certain, false) => format!(".{name}"),
        (Presence::Certain, true) => format!("[{key}]"),
        (Presence::Optional, false) => format!("?.{name}"),
        (Presence::Optional, true) => format!("?.[{key}]"),
    }
}

/// Text escaped for a template literal.
fn in_template(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('`', "\\`")
        .replace("${", "\\${")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

fn tighter(level: Level) -> Level {
    match level {
        Level::Loose | Level::Coalesce => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::Equality,
        Level::Equality => Level::Relation,
        Level::Relation => Level::Add,
        Level::Add => Level::Multiply,
        Level::Multiply => Level::Sign,
        Level::Sign | Level::Atom => Level::Atom,
    }
}
