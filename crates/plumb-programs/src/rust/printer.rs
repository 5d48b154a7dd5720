//! State of one printed file, and values with their kinds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_codegen::programs::rust_items::{RustItem, RustItems};
use plumb_schema::PackageSchema;

use super::RUST;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::names::Names;
use crate::values::Scope;
pub(super) use crate::values::{Form, Level};

/// Owner of the value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// The expression creates the value.
    Owned,
    /// A variable, a field or an element, which the expression must not move.
    Place,
    /// A variable that is a reference; never one of a value that is copied.
    Borrowed,
    /// The expression is of the type `&str`.
    Text,
    /// The expression is a builder of arguments.
    Args,
}

/// A printed expression.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) code: Doc,
    pub(super) level: Level,
    pub(super) kind: Kind,
    pub(super) form: Form,
    pub(super) hold: Hold,
}

impl Value {
    pub(super) fn new(code: impl Into<Doc>, kind: Kind, form: Form) -> Self {
        Value {
            code: code.into(),
            level: Level::Atom,
            kind,
            form,
            hold: Hold::Owned,
        }
    }

    pub(super) fn plain(code: impl Into<Doc>, kind: Kind) -> Self {
        Value::new(code, kind, Form::Plain)
    }

    pub(super) fn output(code: impl Into<Doc>, kind: Kind) -> Self {
        Value::new(code, kind, Form::Output)
    }

    /// Text of the type `&str`.
    pub(super) fn text(code: impl Into<Doc>) -> Self {
        Value::plain(code, Kind::Text).held(Hold::Text)
    }

    pub(super) fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    pub(super) fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    pub(super) fn held(mut self, hold: Hold) -> Self {
        self.hold = hold;
        self
    }

    pub(super) fn is_plain(&self) -> bool {
        self.form == Form::Plain
    }

    pub(super) fn is_copy(&self) -> bool {
        let is_simple = matches!(self.kind, Kind::Bool | Kind::Int | Kind::Float);
        self.is_plain() && (is_simple || self.hold == Hold::Text)
    }

    /// The code, with parentheses if its precedence is lower than `level`.
    pub(super) fn at(&self, level: Level) -> Doc {
        if self.hold == Hold::Borrowed && level != Level::Atom {
            return Doc::Row(vec!["*".into(), self.code.clone()]);
        }
        if self.level < level {
            Doc::hugged("(", self.code.clone(), ")")
        } else {
            self.code.clone()
        }
    }

    /// Call of a method of the value.
    pub(super) fn method(&self, name: &str, args: Vec<Doc>) -> Doc {
        let call = call(&format!(".{name}("), args);
        Doc::Row(vec![self.at(Level::Atom), call])
    }

    /// The value itself, which variables keep a copy of.
    pub(super) fn owned(&self) -> Value {
        let code = match self.hold {
            Hold::Owned | Hold::Args => return self.clone(),
            Hold::Place if self.is_copy() => return self.clone(),
            Hold::Place | Hold::Borrowed => self.method("clone", Vec::new()),
            Hold::Text => self.method("to_owned", Vec::new()),
        };
        Value::new(code, self.kind.clone(), self.form)
    }

    /// A reference to the value, such as `&str`.
    pub(super) fn reference(&self) -> Doc {
        if matches!(self.hold, Hold::Text | Hold::Borrowed) {
            return self.code.clone();
        }
        Doc::Row(vec!["&".into(), self.at(Level::Atom)])
    }

    /// Argument of a function that accepts values and references.
    pub(super) fn lent(&self) -> Doc {
        if self.hold == Hold::Text {
            return self.code.clone();
        }
        let is_reference = self.form == Form::Output
            || matches!(
                self.kind,
                Kind::Text
                    | Kind::Id
                    | Kind::Any
                    | Kind::Struct(_)
                    | Kind::Resource(..)
                    | Kind::Component(..)
            );
        let is_resource =
            self.is_plain() && matches!(self.kind, Kind::Resource(..) | Kind::Component(..));
        let is_variable = matches!(self.hold, Hold::Place | Hold::Borrowed);
        if is_resource || (is_variable && is_reference && !self.is_copy()) {
            self.reference()
        } else {
            self.owned().code
        }
    }
}

/// A call; a single argument starts and ends directly at the brackets.
pub(super) fn call(open: &str, mut args: Vec<Doc>) -> Doc {
    if args.len() == 1 {
        Doc::hugged(open, args.remove(0), ")")
    } else {
        Doc::list(open, args, ")")
    }
}

/// Prints the expressions of one file.
pub(super) struct Printer {
    pub(super) names: Names,
    /// Values of definitions that have been printed, by index.
    pub(super) definitions: Vec<Option<Value>>,
    pub(super) scope: Scope<Value>,
    /// Key and value of the current range.
    pub(super) range: Option<[Value; 2]>,
    /// Paths of imports, by the name that they have in the file.
    pub(super) imports: BTreeMap<String, String>,
    /// Traits whose methods are called.
    pub(super) traits: BTreeSet<&'static str>,
    /// Functions at the end of the file.
    pub(super) helpers: BTreeSet<&'static str>,
    /// Constructs without a form.
    pub(super) problems: Vec<String>,
    /// Whether the current expression contains `?`.
    pub(super) is_fallible: bool,
    /// Whether a failing step must be an error, instead of a panic.
    pub(super) is_trying: bool,
    pub(super) is_component: bool,
    /// Number of closures around the current expression that own what they use.
    pub(super) depth: usize,
    /// Variables of the current closure that come from outside; whether the closure needs copies of them.
    pub(super) captured: BTreeMap<String, bool>,
    /// Number of closures around the declaration of each variable that is a reference.
    borrowed: BTreeMap<String, usize>,
    items: BTreeMap<String, Arc<RustItems>>,
}

impl Printer {
    pub(super) fn new(names: Names, count: usize, is_component: bool) -> Self {
        Printer {
            names,
            definitions: vec![None; count],
            scope: Scope::default(),
            range: None,
            imports: BTreeMap::new(),
            traits: BTreeSet::new(),
            helpers: BTreeSet::new(),
            problems: Vec::new(),
            is_fallible: false,
            is_trying: false,
            is_component,
            depth: 0,
            captured: BTreeMap::new(),
            borrowed: BTreeMap::new(),
            items: BTreeMap::new(),
        }
    }

    /// Reports a construct without a form; the value is a placeholder.
    pub(super) fn refuse(&mut self, what: &str) -> Value {
        self.problems.push(what.to_owned());
        let text = crate::report::without_form("Rust", what);
        let call = format!("todo!({})", RUST.string(&text));
        Value::plain(call, Kind::Any)
    }

    /// Name of an item in this file: its last word, which is imported, unless that means something else.
    pub(super) fn import(&mut self, path: &str) -> String {
        let simple = path.rsplit("::").next().unwrap_or(path);
        if IMPLICIT.contains(&simple) || self.names.taken().contains(simple) {
            return path.to_owned();
        }
        let known = self
            .imports
            .entry(simple.to_owned())
            .or_insert_with(|| path.to_owned());
        if known == path {
            simple.to_owned()
        } else {
            path.to_owned()
        }
    }

    /// Path of an item in this file, which begins with its module unless that is the root of a crate.
    pub(super) fn named(&mut self, path: &str) -> String {
        let steps: Vec<&str> = path.split("::").collect();
        match steps.as_slice() {
            [package, module, name] if package.starts_with("pulumi_") => {
                let module = self.import(&format!("{package}::{module}"));
                format!("{module}::{name}")
            }
            _ => self.import(path),
        }
    }

    /// Items of the crate of a package.
    pub(super) fn items(&mut self, package: &Arc<PackageSchema>) -> Arc<RustItems> {
        let known = self.items.entry(package.name().to_owned());
        known
            .or_insert_with(|| Arc::new(RustItems::new(package)))
            .clone()
    }

    /// Absolute path of an item of a package.
    pub(super) fn path(&mut self, package: &Arc<PackageSchema>, item: &RustItem) -> String {
        let items = self.items(package);
        let (root, name) = (&items.crate_name, &item.name);
        match item.module.as_str() {
            "" => format!("{root}::{name}"),
            module => format!("{root}::{module}::{name}"),
        }
    }

    /// Absolute path of the type of an object or an enum.
    pub(super) fn definition_path(
        &mut self,
        package: &Arc<PackageSchema>,
        token: &str,
    ) -> Option<String> {
        let item = self.items(package).definition(token)?;
        Some(self.path(package, &item))
    }

    /// Absolute path of the type of a resource.
    pub(super) fn resource_path(
        &mut self,
        package: &Arc<PackageSchema>,
        token: &str,
    ) -> Option<String> {
        let item = self.items(package).resource(token)?;
        Some(self.path(package, &item))
    }

    /// Reserves a name for a parameter.
    pub(super) fn local(&mut self, wanted: &str) -> String {
        self.scope.parameter(&RUST.variable(wanted), &self.names)
    }

    /// A new variable that is a reference, or a copy if the value is copied.
    pub(super) fn element_variable(&mut self, name: &str, kind: Kind, form: Form) -> Value {
        let value = Value::new(name, kind, form).held(Hold::Place);
        if value.is_copy() {
            return value;
        }
        self.borrowed.insert(name.to_owned(), self.depth);
        value.held(Hold::Borrowed)
    }

    /// The variable or the parameter `value`, which closures around the expression need.
    pub(super) fn used(&mut self, mut value: Value) -> Value {
        if let Some(code) = value.code.flat() {
            let root: String = code
                .chars()
                .take_while(|it| it.is_alphanumeric() || *it == '_')
                .collect();
            let is_variable = root.starts_with(|it: char| it.is_lowercase() || it == '_');
            if is_variable && (value.hold != Hold::Owned || value.is_copy()) {
                // Closures have copies.
                let is_copied = self.borrowed.get(&root).is_some_and(|it| *it < self.depth);
                if value.hold == Hold::Borrowed && is_copied {
                    value.hold = Hold::Place;
                }
                self.captured.insert(root, !value.is_copy());
            }
        }
        value
    }

    /// Reference to the context.
    pub(super) fn context(&mut self) -> &'static str {
        self.captured.insert("ctx".to_owned(), true);
        if self.is_component && self.depth == 0 {
            "ctx"
        } else {
            "&ctx"
        }
    }

    /// An expression whose failure ends the current function or closure.
    pub(super) fn fallible(&mut self, code: Doc) -> Doc {
        self.is_fallible = true;
        Doc::Row(vec![code, "?".into()])
    }
}

/// Names that files have without a line for each, and those of other meanings.
const IMPLICIT: [&str; 50] = [
    "Alias",
    "AnyProvider",
    "AnyResource",
    "Archive",
    "Asset",
    "Box",
    "BuildComponent",
    "Built",
    "Clone",
    "Component",
    "ComponentArgs",
    "Config",
    "Context",
    "Copy",
    "Ctx",
    "Debug",
    "Default",
    "Drop",
    "Err",
    "Error",
    "Exports",
    "From",
    "HookOptions",
    "Input",
    "Into",
    "InvokeOptions",
    "Iterator",
    "Join",
    "None",
    "ObjectType",
    "Ok",
    "Option",
    "Options",
    "Output",
    "Resource",
    "Result",
    "Secret",
    "Self",
    "Some",
    "StackReference",
    "String",
    "ToString",
    "Value",
    "Vec",
    "core",
    "interpolate",
    "kind",
    "opts",
    "std",
    "value",
];
