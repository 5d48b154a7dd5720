//! State of one printed file, and values with their kinds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use plumb_codegen::programs::{JavaClasses, PackageNames};
use plumb_schema::PackageSchema;

use super::JAVA;
use super::collections::call;
use super::helpers::Helper;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::names::Names;

/// Precedence of an expression, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// `->` and `?:`
    Loose,
    Or,
    And,
    Equality,
    Relation,
    Add,
    Multiply,
    /// Signs and casts.
    Sign,
    Atom,
}

/// Form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// A list or a map that contains outputs.
    Nested,
    /// `Output<T>`.
    Output,
}

/// A printed expression.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) code: Doc,
    pub(super) level: Level,
    pub(super) kind: Kind,
    pub(super) form: Form,
}

impl Value {
    pub(super) fn plain(code: impl Into<Doc>, kind: Kind) -> Self {
        Value::new(code, kind, Form::Plain)
    }

    pub(super) fn output(code: impl Into<Doc>, kind: Kind) -> Self {
        Value::new(code, kind, Form::Output)
    }

    pub(super) fn new(code: impl Into<Doc>, kind: Kind, form: Form) -> Self {
        Value {
            code: code.into(),
            level: Level::Atom,
            kind,
            form,
        }
    }

    pub(super) fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    pub(super) fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    pub(super) fn is_plain(&self) -> bool {
        self.form == Form::Plain
    }

    /// The code, with parentheses if its precedence is lower than `level`.
    pub(super) fn at(&self, level: Level) -> Doc {
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
}

impl From<&str> for Doc {
    fn from(text: &str) -> Doc {
        Doc::text(text)
    }
}

impl From<String> for Doc {
    fn from(text: String) -> Doc {
        Doc::text(text)
    }
}

/// Prints the expressions of one file.
pub(super) struct Printer {
    pub(super) names: Names,
    /// Values of definitions that have been printed, by index.
    pub(super) definitions: Vec<Option<Value>>,
    /// Variables of loops and callbacks, the innermost last.
    pub(super) variables: Vec<(EcoString, Value)>,
    /// Names of the parameters around the current expression.
    locals: Vec<String>,
    /// Key and value of the current range.
    pub(super) range: Option<[Value; 2]>,
    /// Imported classes, by simple name.
    pub(super) imports: BTreeMap<String, String>,
    /// Classes whose static methods are imported.
    pub(super) statics: BTreeSet<&'static str>,
    pub(super) helpers: BTreeSet<Helper>,
    /// Constructs without a form.
    pub(super) problems: Vec<String>,
    /// Whether a failing step must throw, instead of giving a missing value.
    pub(super) is_trying: bool,
    pub(super) is_component: bool,
}

impl Printer {
    pub(super) fn new(names: Names, count: usize, is_component: bool) -> Self {
        Printer {
            names,
            definitions: vec![None; count],
            variables: Vec::new(),
            locals: Vec::new(),
            range: None,
            imports: BTreeMap::new(),
            statics: BTreeSet::new(),
            helpers: BTreeSet::new(),
            problems: Vec::new(),
            is_trying: false,
            is_component,
        }
    }

    /// Reports a construct without a form; the value is a placeholder.
    pub(super) fn refuse(&mut self, what: &str) -> Value {
        self.problems.push(what.to_owned());
        Value::plain("null", Kind::Null)
    }

    /// Name of a class in this file: the simple name, which is imported, unless another class has it.
    pub(super) fn class(&mut self, qualified: &str) -> String {
        let Some((package, simple)) = qualified.rsplit_once('.') else {
            return qualified.to_owned();
        };
        if package == "java.lang" || package == super::PACKAGE {
            return simple.to_owned();
        }
        if IMPLICIT.contains(&simple) || self.names.taken().contains(simple) {
            return qualified.to_owned();
        }
        let known = self
            .imports
            .entry(simple.to_owned())
            .or_insert_with(|| qualified.to_owned());
        if known == qualified {
            simple.to_owned()
        } else {
            qualified.to_owned()
        }
    }

    /// Classes of a package, and names of its enums' constants.
    pub(super) fn package(package: &Arc<PackageSchema>) -> (JavaClasses, PackageNames) {
        (JavaClasses::new(package), PackageNames::new(package, JAVA))
    }

    /// Expression that calls a helper of the program.
    pub(super) fn help(&mut self, helper: Helper, args: Vec<Doc>) -> Doc {
        let name = self.helper(helper, "");
        Doc::arguments(&format!("{name}("), args, ")")
    }

    /// Name of a helper, with type arguments.
    pub(super) fn helper(&mut self, helper: Helper, types: &str) -> String {
        self.helpers.insert(helper);
        let name = helper.name();
        if self.is_component || !types.is_empty() {
            format!("App.{types}{name}")
        } else {
            name.to_owned()
        }
    }

    /// Reserves a name for a parameter: different from all variables in scope.
    pub(super) fn local(&mut self, wanted: &str) -> String {
        let wanted = JAVA.variable(wanted);
        let mut name = wanted.clone();
        let mut number = 2;
        while self.names.taken().contains(&name) || self.locals.contains(&name) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        self.locals.push(name.clone());
        name
    }

    /// Number of parameters in scope, for [`Printer::close`].
    pub(super) fn open(&self) -> [usize; 2] {
        [self.locals.len(), self.variables.len()]
    }

    /// Removes parameters from the scope.
    pub(super) fn close(&mut self, [locals, variables]: [usize; 2]) {
        self.locals.truncate(locals);
        self.variables.truncate(variables);
    }

    pub(super) fn variable(&self, name: &str) -> Option<Value> {
        let found = self.variables.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }
}

/// Classes of `java.lang` that generated files use or that would hide these.
const IMPLICIT: [&str; 22] = [
    "App",
    "Boolean",
    "Class",
    "Double",
    "Enum",
    "Error",
    "Exception",
    "Integer",
    "Iterable",
    "Long",
    "Math",
    "Module",
    "Number",
    "Object",
    "Override",
    "Process",
    "Record",
    "Runtime",
    "String",
    "System",
    "Thread",
    "Void",
];
