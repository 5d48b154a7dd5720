//! State of the generation of one file: names, imports, open blocks, and problems.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use ecow::EcoString;
use plumb_codegen::programs::{PackageNames, go_package};
use plumb_schema::{PackageSchema, TypeDefinition};

use super::GO;
use super::helpers::Helper;
use super::kinds::Kind;
use super::syntax::{Code, Statement};
use crate::names::Names;

/// A value: its code, its kind, and the form in which it is available.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) code: Code,
    pub(super) kind: Kind,
    pub(super) form: Form,
}

/// Form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// An untyped constant.
    Constant,
    /// An input that is no output, or may be one.
    Input,
    Output,
}

impl Value {
    pub(super) fn plain(code: Code, kind: Kind) -> Self {
        Value {
            code,
            kind,
            form: Form::Plain,
        }
    }

    pub(super) fn output(code: Code, kind: Kind) -> Self {
        Value {
            code,
            kind,
            form: Form::Output,
        }
    }

    pub(super) fn input(code: Code, kind: Kind) -> Self {
        Value {
            code,
            kind,
            form: Form::Input,
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self.form, Form::Plain | Form::Constant)
    }
}

/// Statements of a block.
#[derive(Default)]
struct Block {
    statements: Vec<Statement>,
    /// Whether the variable `err` exists.
    has_error: bool,
    /// Names that were taken before the block, if it is the body of a function.
    outer_names: Option<BTreeSet<String>>,
}

pub(super) struct Printer {
    pub(super) names: Names,
    /// Values of the definitions that have been written.
    pub(super) definitions: Vec<Option<Value>>,
    /// Variables of loops and callbacks, the innermost last.
    pub(super) variables: Vec<(EcoString, Value)>,
    /// Key and value of the current range.
    pub(super) range: Option<[Value; 2]>,
    /// Names of variables that the code mentions.
    pub(super) used: BTreeSet<String>,
    pub(super) helpers: BTreeSet<Helper>,
    /// Imported packages: alias and package name by path.
    pub(super) imports: BTreeMap<String, String>,
    pub(super) problems: Vec<String>,
    /// Whether the current expression may fail, as an argument of `try` or `can`.
    pub(super) is_trying: bool,
    /// Whether the current expression is the command of a hook.
    pub(super) is_hook: bool,
    /// Name of the variable for the result of the next call of a provider function, if it is determined.
    pub(super) result_name: Option<String>,
    /// Names of packages, which follow from their schemas.
    packages: BTreeMap<String, Rc<PackageNames>>,
    /// Types that the function declares for the objects of settings, with their names.
    structs: Vec<(Kind, String)>,
    blocks: Vec<Block>,
}

/// The statement that returns the error of the current function; replaced when the function is complete.
const FAILED: &str = "return err";

impl Printer {
    pub(super) fn new(names: Names, count: usize) -> Self {
        Printer {
            names,
            definitions: vec![None; count],
            variables: Vec::new(),
            range: None,
            used: BTreeSet::new(),
            helpers: BTreeSet::new(),
            imports: BTreeMap::new(),
            problems: Vec::new(),
            structs: Vec::new(),
            is_trying: false,
            is_hook: false,
            result_name: None,
            packages: BTreeMap::new(),
            blocks: vec![Block::default()],
        }
    }

    /// Reports a construct without a form; the returned value stands in for it.
    pub(super) fn refuse(&mut self, what: &str) -> Value {
        self.problems.push(what.to_owned());
        let text = crate::report::without_form("Go", what);
        let helper = self.help(Helper::NotImplemented);
        let call = Code::call(helper, vec![Code::word(GO.string(&text))]);
        Value::plain(call, Kind::Any)
    }

    pub(super) fn import(&mut self, path: &str) {
        let name = go_package(path);
        self.imports.entry(path.to_owned()).or_insert(name);
    }

    pub(super) fn help(&mut self, helper: Helper) -> &'static str {
        self.helpers.insert(helper);
        helper.name()
    }

    /// Names of the members of a package.
    pub(super) fn package(&mut self, package: &Arc<PackageSchema>) -> Rc<PackageNames> {
        let known = self.packages.entry(package.name().to_owned());
        let names = known.or_insert_with(|| Rc::new(PackageNames::new(package, GO)));
        Rc::clone(names)
    }

    /// Qualified name of a member of a package; imports the package.
    pub(super) fn qualified(
        &mut self,
        package: &Arc<PackageSchema>,
        token: &str,
        member: &str,
    ) -> String {
        let names = self.package(package);
        let mut path = names.import.clone();
        for step in names.module(package, token) {
            path.push('/');
            path.push_str(&step);
        }
        let alias = if let Some(alias) = self.imports.get(&path) {
            alias.clone()
        } else {
            let alias = self.names.fresh(&go_package(&path));
            self.imports.insert(path, alias.clone());
            alias
        };
        format!("{alias}.{member}")
    }

    pub(super) fn class(&mut self, package: &Arc<PackageSchema>, token: &str) -> String {
        let class = self.package(package).class(token);
        self.qualified(package, token, &class)
    }

    /// Class of an object or an enum.
    pub(super) fn type_class(&mut self, package: &Arc<PackageSchema>, token: &str) -> String {
        let class = self.type_name(package, token);
        self.qualified(package, token, &class)
    }

    /// Name of an object or an enum within its Go package.
    pub(super) fn type_name(&mut self, package: &Arc<PackageSchema>, token: &str) -> String {
        let definition = package.type_definition(token).and_then(Result::ok);
        let is_enum = definition.is_some_and(|it| matches!(&*it, TypeDefinition::Enum(_)));
        self.package(package).go_type(package, token, is_enum)
    }

    /// Declares types for the objects within a kind, the innermost first; `name` is that of the value.
    pub(super) fn declare_structs(&mut self, name: &str, kind: &Kind) {
        match kind {
            Kind::List(element) | Kind::Map(element) => {
                self.declare_structs(&format!("{name}Item"), element);
            }
            Kind::Pointer(inner) => self.declare_structs(name, inner),
            Kind::Struct(fields) if !self.structs.iter().any(|(known, _)| known.is(kind)) => {
                let lines = self.struct_fields(name, fields);
                let name = self.fresh(name);
                self.emit(Statement::Fields(format!("type {name} struct"), lines));
                self.structs.push((kind.clone(), name));
            }
            _ => {}
        }
    }

    /// The fields of a struct that is read from JSON: name, type and tag.
    pub(super) fn struct_fields(
        &mut self,
        name: &str,
        fields: &[(EcoString, Kind)],
    ) -> Vec<[String; 3]> {
        let mut lines = Vec::with_capacity(fields.len());
        for (field, kind) in fields {
            let title = GO.property(field);
            self.declare_structs(&format!("{name}{title}"), kind);
            let ty = self.plain_type(kind);
            lines.push([title, ty, format!("`json:{}`", GO.string(field))]);
        }
        lines
    }

    /// Plain Go type of a kind.
    pub(super) fn plain_type(&mut self, kind: &Kind) -> String {
        match kind {
            Kind::Any | Kind::Null => "interface{}".to_owned(),
            Kind::Bool => "bool".to_owned(),
            Kind::Int => "int".to_owned(),
            Kind::Float => "float64".to_owned(),
            Kind::Text => "string".to_owned(),
            Kind::Id => "pulumi.ID".to_owned(),
            Kind::Asset => "pulumi.AssetOrArchive".to_owned(),
            Kind::Archive => "pulumi.Archive".to_owned(),
            Kind::List(element) => format!("[]{}", self.plain_type(element)),
            Kind::Map(element) => format!("map[string]{}", self.plain_type(element)),
            Kind::Pointer(inner) => format!("*{}", self.plain_type(inner)),
            Kind::Object(package, token) | Kind::Enum(package, token, _) => {
                self.type_class(&package.clone(), &token.clone())
            }
            Kind::Struct(_) => {
                let known = self.structs.iter().find(|(known, _)| known.is(kind));
                known.map_or_else(|| "interface{}".to_owned(), |(_, name)| name.clone())
            }
            Kind::Resource(_, class) | Kind::Component(class, _) => format!("*{class}"),
            Kind::Result(function) => {
                let (package, token) = (function.package.clone(), function.schema.token.clone());
                let name = self.function_name(&package, &token);
                let name = self.qualified(&package, &token, &name);
                format!("*{name}Result")
            }
        }
    }

    /// Name of a provider function. The name of a resource's getter belongs to the resource.
    pub(super) fn function_name(&mut self, package: &Arc<PackageSchema>, token: &str) -> String {
        let names = self.package(package);
        let [name, _] = names.function(token);
        let is_taken = |resource: &str| {
            let getter = format!("Get{}", names.class(resource));
            getter == name && names.module(package, resource) == names.module(package, token)
        };
        match name.strip_prefix("Get") {
            Some(rest) if package.resource_tokens().any(is_taken) => format!("Lookup{rest}"),
            _ => name,
        }
    }

    /// Stem of the input and output types of a kind.
    pub(super) fn stem(&mut self, kind: &Kind) -> Option<String> {
        if let Some(stem) = kind.core_stem() {
            return Some(format!("pulumi.{stem}"));
        }
        Some(match kind {
            Kind::Object(..) | Kind::Enum(..) => self.plain_type(kind),
            Kind::List(element) | Kind::Map(element) if matches!(**element, Kind::Pointer(_)) => {
                return None;
            }
            Kind::List(element) => self.stem(element)? + "Array",
            Kind::Map(element) => self.stem(element)? + "Map",
            Kind::Pointer(inner) => self.stem(inner)? + "Ptr",
            _ => return None,
        })
    }

    /// Type of an input; any input for kinds without a type of their own.
    pub(super) fn input_type(&mut self, kind: &Kind) -> String {
        let stem = self.stem(kind).unwrap_or_else(|| "pulumi.".to_owned());
        stem + "Input"
    }

    /// Output type, if the core SDK has it.
    pub(super) fn core_output(kind: &Kind) -> Option<String> {
        let stem = kind.core_stem()?;
        Some(if stem.is_empty() {
            "pulumi.AnyOutput".to_owned()
        } else {
            format!("pulumi.{stem}Output")
        })
    }

    pub(super) fn emit(&mut self, statement: Statement) {
        if let Some(block) = self.blocks.last_mut() {
            block.statements.push(statement);
        }
    }

    /// Writes text and an expression.
    pub(super) fn line(&mut self, text: impl Into<String>, code: Option<Code>) {
        self.emit(Statement::Simple(text.into(), code));
    }

    /// Starts a block.
    pub(super) fn open(&mut self, is_function: bool) {
        self.blocks.push(Block {
            outer_names: is_function.then(|| self.names.taken().clone()),
            ..Block::default()
        });
    }

    /// Ends a block; returns its statements. Names of variables of a function are free again.
    pub(super) fn close(&mut self) -> Vec<Statement> {
        let block = self.blocks.pop().unwrap_or_default();
        if let Some(names) = block.outer_names {
            self.names.restore(names);
            for alias in self.imports.values() {
                self.names.take(alias);
            }
        }
        if self.blocks.is_empty() {
            self.blocks.push(Block::default());
        }
        block.statements
    }

    /// Writes `if` with a body.
    pub(super) fn when(&mut self, head: &str, condition: Option<Code>, body: Vec<Statement>) {
        self.emit(Statement::Block {
            head: head.to_owned(),
            condition,
            tail: "",
            body,
            otherwise: None,
        });
    }

    fn has_error(&self) -> bool {
        for block in self.blocks.iter().rev() {
            if block.has_error {
                return true;
            }
            if block.outer_names.is_some() {
                return false;
            }
        }
        false
    }

    /// Marks that the variable `err` exists.
    pub(super) fn declare_error(&mut self) {
        if let Some(block) = self.blocks.last_mut() {
            block.has_error = true;
        }
    }

    /// Assigns the first result of a call to a new variable, and returns its error if it has one.
    pub(super) fn checked(&mut self, name: &str, call: Code) {
        let assignment = match (name, self.has_error()) {
            ("_", true) => "_, err = ".to_owned(),
            ("_", false) => "_, err := ".to_owned(),
            (name, _) => format!("{name}, err := "),
        };
        self.line(assignment, Some(call));
        self.declare_error();
        self.check();
    }

    fn check(&mut self) {
        let body = vec![Statement::Simple(FAILED.to_owned(), None)];
        self.when("if err != nil", None, body);
    }

    /// A new variable with the result of a call that may fail.
    pub(super) fn attempt(&mut self, wanted: &str, call: Code) -> Code {
        let name = self.fresh(wanted);
        self.checked(&name, call);
        Code::word(name)
    }

    /// A free name.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        self.names.fresh(&GO.variable(wanted))
    }

    /// A new variable with a value.
    pub(super) fn variable(&mut self, wanted: &str, code: Code) -> Code {
        let name = self.fresh(wanted);
        self.line(format!("{name} := "), Some(code));
        Code::word(name)
    }
}

/// Whether statements return errors.
pub(super) fn can_fail(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Simple(text, None) => text == FAILED,
        Statement::Block {
            body, otherwise, ..
        } => can_fail(body) || otherwise.as_ref().is_some_and(|it| can_fail(it)),
        _ => false,
    })
}

/// Completes the statements that return errors in a function with another result.
pub(super) fn with_result(statements: &mut [Statement], result: &str) {
    for statement in statements {
        match statement {
            Statement::Simple(text, None) if text == FAILED => {
                *text = format!("return {result}, err");
            }
            Statement::Block {
                body, otherwise, ..
            } => {
                with_result(body, result);
                if let Some(otherwise) = otherwise {
                    with_result(otherwise, result);
                }
            }
            _ => {}
        }
    }
}
