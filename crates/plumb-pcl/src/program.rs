//! Whole programs: the bound definitions of all files in a folder.
//!
//! [`Program::load`] creates a program from [`Sources`]. Definitions are in source order, file by file, and expressions
//! refer to them by index. A component contains the program in its folder.

use std::sync::Arc;

use ecow::EcoString;
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::source::{SourceFile, Span};
use plumb_schema::PackageSchema;

use crate::expression::Expr;
use crate::resource::{Input, Options, Resource};
use crate::types::Type;

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Folder, relative to that of the root program; empty for the root program.
    pub folder: String,
    /// Definitions, in source order.
    pub definitions: Vec<Definition>,
    /// Packages used by the program, sorted by name.
    pub packages: Vec<Arc<PackageSchema>>,
    /// Required range of engine versions.
    pub required_version: Option<Expr>,
}

/// A definition of a program.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Name in the program.
    pub name: EcoString,
    /// Name in the engine, as seen by users.
    pub logical_name: EcoString,
    /// Comments before the definition, without comment markers.
    pub comments: Vec<String>,
    /// File of the definition.
    pub source: Arc<SourceFile>,
    /// Position in the file.
    pub span: Span,
    /// Type of references to the definition.
    pub ty: Type,
    /// Kind of definition.
    pub kind: DefinitionKind,
}

/// Kinds of definitions.
#[derive(Clone, Debug)]
pub enum DefinitionKind {
    /// `name = value`
    Local(Expr),
    /// A setting of the stack; in a component, an input.
    Config(Box<Config>),
    /// A resource that the program registers.
    Resource(Box<Resource>),
    /// An existing resource that is read.
    Read(Box<Read>),
    /// A component.
    Component(Box<Component>),
    /// Commands that run before or after steps of resources, or after errors.
    Hook(Box<Hook>),
    /// An output of the program.
    Output(Expr),
    /// A definition that could not be bound.
    Unusable,
}

/// A setting of a program, or an input of a component.
#[derive(Clone, Debug)]
pub struct Config {
    /// Type of the value, without `none` even if the setting is nullable.
    pub ty: Type,
    /// Default value.
    pub default: Option<Expr>,
    /// Description.
    pub description: Option<EcoString>,
    /// Whether the value may be missing.
    pub is_nullable: bool,
    /// Whether the value is secret.
    pub is_secret: bool,
}

impl Config {
    /// Whether a value is required.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !self.is_nullable
    }
}

/// A resource that is read.
#[derive(Clone, Debug)]
pub struct Read {
    /// Id of the resource.
    pub id: Expr,
    /// The resource; its inputs are used for the lookup.
    pub resource: Resource,
}

/// A component.
#[derive(Clone, Debug)]
pub struct Component {
    /// Source of the child resources.
    pub source: ComponentSource,
    /// Inputs, in order.
    pub inputs: Vec<Input>,
    /// Options of the component.
    pub options: Options,
}

/// Source of a component's child resources.
#[derive(Clone, Debug)]
pub enum ComponentSource {
    /// A program in a subfolder.
    Program(Arc<Program>),
    /// No source: an empty component with this type token.
    Token(EcoString),
}

/// A hook.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Whether the hook runs after errors; otherwise it runs before or after steps.
    pub is_for_errors: bool,
    /// Command with its arguments.
    pub command: Expr,
    /// Whether the hook runs in previews.
    pub on_dry_run: Option<Expr>,
    /// Whether failures are ignored.
    pub ignore_errors: Option<Expr>,
}

/// A diagnostic with its file.
#[derive(Clone, Debug)]
pub struct Problem {
    /// File of the diagnostic.
    pub source: Arc<SourceFile>,
    /// The diagnostic.
    pub diagnostic: Diagnostic,
}

impl Problem {
    /// File, line, column and diagnostic on one line.
    pub fn one_line(&self) -> String {
        let Diagnostic {
            summary,
            detail,
            span,
            ..
        } = &self.diagnostic;
        let place = span.map(|span| {
            let (line, column) = self.source.position(span.start);
            format!("{}:{line}:{column}: ", self.source.name)
        });
        let detail = detail.as_ref().map(|it| format!(": {it}"));
        let (place, detail) = (place.unwrap_or_default(), detail.unwrap_or_default());
        format!("{place}{summary}{detail}")
    }
}

/// The bound part of a program, with its problems.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program; definitions with errors are missing or dynamic.
    pub program: Program,
    /// All problems, including those of components.
    pub problems: Vec<Problem>,
}

impl Loaded {
    /// Whether any problem is an error.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|it| it.diagnostic.is_error())
    }
}

/// Mistakes to accept, with a warning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leniency {
    /// References to undefined names.
    pub missing_variables: bool,
    /// Missing or unknown properties, and values of wrong types.
    pub properties: bool,
    /// Unknown packages, resource types and functions.
    pub unknown_types: bool,
}

impl Leniency {
    /// Accepts all mistakes.
    pub const ALL: Leniency = Leniency {
        missing_variables: true,
        properties: true,
        unknown_types: true,
    };
    /// Accepts no mistakes.
    pub const NONE: Leniency = Leniency {
        missing_variables: false,
        properties: false,
        unknown_types: false,
    };
}
