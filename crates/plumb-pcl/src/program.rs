//! Whole programs: the definitions of all files of a folder, bound.
//!
//! A program is made from [`Sources`] by [`Program::load`]. Its definitions stand in the order of the text, file by file;
//! expressions refer to them by their positions. The program of a component's folder stands in the component.

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
    /// Its folder, from that of the outermost program; empty for that one.
    pub folder: String,
    /// Its definitions.
    pub definitions: Vec<Definition>,
    /// The packages that it names, by their names.
    pub packages: Vec<Arc<PackageSchema>>,
    /// The range of versions of the engine that it needs.
    pub required_version: Option<Expr>,
}

/// Something that a program defines.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What the program calls it.
    pub name: EcoString,
    /// What the engine and its users call it.
    pub logical_name: EcoString,
    /// Comments above it, without their marks.
    pub comments: Vec<String>,
    /// The file that it stands in.
    pub source: Arc<SourceFile>,
    /// Where it stands in its file.
    pub span: Span,
    /// The type of what its name means.
    pub ty: Type,
    /// What it is.
    pub kind: DefinitionKind,
}

/// Kinds of definitions.
#[derive(Clone, Debug)]
pub enum DefinitionKind {
    /// `name = value`
    Local(Expr),
    /// A setting of the stack; in a component, one of its inputs.
    Config(Box<Config>),
    /// A resource that the program registers.
    Resource(Box<Resource>),
    /// A resource that exists and is read.
    Read(Box<Read>),
    /// A component whose resources another program registers.
    Component(Box<Component>),
    /// Commands that run before or after steps of resources.
    Hook(Box<Hook>),
    /// A value that the program gives back.
    Output(Expr),
    /// A definition that could not be bound.
    Unusable,
}

/// A setting.
#[derive(Clone, Debug)]
pub struct Config {
    /// The type of its values; without `none`, even if it may be missing.
    pub ty: Type,
    /// Its value where the stack has none.
    pub default: Option<Expr>,
    /// A sentence about it.
    pub description: Option<EcoString>,
    /// Whether it may be missing.
    pub is_nullable: bool,
    /// Whether its value is secret.
    pub is_secret: bool,
}

impl Config {
    /// Whether there must be a value.
    pub fn is_required(&self) -> bool {
        self.default.is_none() && !self.is_nullable
    }
}

/// A resource that is read.
#[derive(Clone, Debug)]
pub struct Read {
    /// Its id.
    pub id: Expr,
    /// The resource; its inputs help to find it.
    pub resource: Resource,
}

/// A component.
#[derive(Clone, Debug)]
pub struct Component {
    /// Where its resources come from.
    pub source: ComponentSource,
    /// Its inputs.
    pub inputs: Vec<Input>,
    /// Its options.
    pub options: Options,
}

/// Where the resources of a component come from.
#[derive(Clone, Debug)]
pub enum ComponentSource {
    /// From a program in a folder below.
    Program(Arc<Program>),
    /// There are none: a component of this type with nothing in it.
    Token(EcoString),
}

/// A hook.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Whether it runs after errors; otherwise at steps.
    pub is_for_errors: bool,
    /// The command and its arguments.
    pub command: Expr,
    /// Whether it runs in previews.
    pub on_dry_run: Option<Expr>,
    /// Whether its failure is no error.
    pub ignore_errors: Option<Expr>,
}

/// A problem and the file that it is in.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The file.
    pub source: Arc<SourceFile>,
    /// The problem.
    pub diagnostic: Diagnostic,
}

impl Problem {
    /// File, line and column, and the problem in one line.
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

/// A program as far as it could be bound, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program; definitions with errors are missing or dynamic.
    pub program: Program,
    /// All problems, those of components included.
    pub problems: Vec<Problem>,
}

impl Loaded {
    /// Whether there are errors.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|it| it.diagnostic.is_error())
    }
}

/// Mistakes that do not keep a program from being used, and are warnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leniency {
    /// Names that nothing defines.
    pub missing_variables: bool,
    /// Properties that are missing or unknown, and values of other types than theirs.
    pub properties: bool,
    /// Packages, resource types and functions that are unknown.
    pub unknown_types: bool,
}

impl Leniency {
    /// All mistakes.
    pub const ALL: Leniency = Leniency {
        missing_variables: true,
        properties: true,
        unknown_types: true,
    };
    /// None.
    pub const NONE: Leniency = Leniency {
        missing_variables: false,
        properties: false,
        unknown_types: false,
    };
}
