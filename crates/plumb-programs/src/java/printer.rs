//! State of one printed file, and values with their kinds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_codegen::programs::{JavaClasses, PackageNames};
use plumb_schema::PackageSchema;

use super::JAVA;
use super::helpers::Helper;
use crate::kinds::Kind;
use crate::layout::Doc;
use crate::names::Names;
use crate::values::Scope;
pub(super) use crate::values::{Form, Level, Value};

/// Prints the expressions of one file.
pub(super) struct Printer {
    pub(super) names: Names,
    /// Values of definitions that have been printed, by index.
    pub(super) definitions: Vec<Option<Value>>,
    pub(super) scope: Scope,
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
            scope: Scope::default(),
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
        let text = crate::report::without_form("Java", what);
        let call = self.help(Helper::NotImplemented, vec![JAVA.string(&text).into()]);
        Value::plain(call, Kind::Null)
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

    /// Reserves a name for a parameter.
    pub(super) fn local(&mut self, wanted: &str) -> String {
        self.scope.parameter(&JAVA.variable(wanted), &self.names)
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
