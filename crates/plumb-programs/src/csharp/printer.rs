//! State of one printed file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_codegen::programs::{CsharpClasses, PackageNames};
use plumb_schema::PackageSchema;

use super::CSHARP;
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
    /// Imported namespaces.
    pub(super) usings: BTreeSet<&'static str>,
    /// Namespaces of packages, by alias.
    pub(super) aliases: BTreeMap<String, String>,
    pub(super) helpers: BTreeSet<Helper>,
    /// Constructs without a form.
    pub(super) problems: Vec<String>,
}

impl Printer {
    pub(super) fn new(names: Names, count: usize) -> Self {
        Printer {
            names,
            definitions: vec![None; count],
            scope: Scope::default(),
            range: None,
            usings: BTreeSet::new(),
            aliases: BTreeMap::new(),
            helpers: BTreeSet::new(),
            problems: Vec::new(),
        }
    }

    /// Reports a construct without a form; the value is a placeholder.
    pub(super) fn refuse(&mut self, what: &str) -> Value {
        self.problems.push(what.to_owned());
        let text = crate::report::without_form("C#", what);
        let call = self.help(
            Helper::NotImplemented,
            "",
            vec![CSHARP.string(&text).into()],
        );
        Value::plain(call, Kind::Null)
    }

    /// Class of a package, by the alias of the package's namespace.
    pub(super) fn class(
        &mut self,
        package: &Arc<PackageSchema>,
        relative: impl FnOnce(&CsharpClasses) -> String,
    ) -> String {
        let classes = CsharpClasses::new(package);
        let namespace = classes.namespace();
        let alias = namespace.rsplit('.').next().unwrap_or_default().to_owned();
        self.aliases.insert(alias.clone(), namespace.to_owned());
        format!("{alias}.{}", relative(&classes))
    }

    /// Name of the constant of an enum.
    pub(super) fn names_of(package: &Arc<PackageSchema>) -> PackageNames {
        PackageNames::new(package, CSHARP)
    }

    /// Expression that calls a helper of the program.
    pub(super) fn help(&mut self, helper: Helper, types: &str, args: Vec<Doc>) -> Doc {
        self.helpers.insert(helper);
        Doc::call(&format!("Helpers.{}{types}(", helper.name()), args)
    }

    /// Reserves a name for a parameter.
    pub(super) fn local(&mut self, wanted: &str) -> String {
        self.scope.parameter(&CSHARP.variable(wanted), &self.names)
    }
}
