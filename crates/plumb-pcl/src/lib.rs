//! PCL, the intermediate language for conversions between program languages, and the language of snippets.
//!
//! 1. `syntax` parses the text (HCL, with `hcl-edit`) and reports syntax errors.
//! 2. [`Packages`] loads the schemas of the packages that the text refers to.
//! 3. `bind` resolves names, functions and types to a [`SnippetProgram`], or reports errors with positions: missing and
//!    unknown attributes, and values that cannot be converted to the required type.
//! 4. `eval` evaluates a snippet with the resource monitor, using the values of `plumb-eval`.
//!
//! A snippet is the body of one resource, with references to others: [`SnippetProgram`]. A whole program is a folder of
//! files with definitions of all kinds: [`Program::load`] reads the files and the schemas that they refer to, and binds
//! them for generators of programs in other languages. Only snippets are evaluated.
//!
//! [`format`](format()) prints PCL in its canonical form. [`BodyText`] edits the text of a snippet, and
//! [`evaluate_inputs`] evaluates one without a deployment.
//!
//! Start with [`SnippetProgram::bind`] and [`PclSnippets`]. The rules are those of `codegen.md` 10 and 11.

mod bind;
mod eval;
mod expression;
mod format;
mod functions;
mod inputs;
mod load;
mod packages;
mod program;
mod resource;
mod snippet;
mod syntax;
mod text;
mod types;

pub use bind::ResourceHead;
pub use expression::{
    BinaryOperator, Expr, ExprKind, For, Invoke, MethodCall, PackageFunction, Step, UnaryOperator,
};
pub use format::format;
pub use functions::Callee;
pub use inputs::evaluate_inputs;
pub use load::{Sources, comments};
pub use packages::Packages;
pub use plumb_eval::diagnostic::{Diagnostic, Severity};
pub use plumb_eval::source::{SourceFile, Span};
pub use program::{
    Component, ComponentSource, Config, Definition, DefinitionKind, Hook, Leniency, Loaded,
    Problem, Program, Read,
};
pub use resource::{
    AliasExpr, FormerIdentity, Input, Options, Reference, Resource, SnippetProgram,
};
pub use snippet::PclSnippets;
pub use syntax::Parsed;
pub use text::{BodyText, NoExpression, Unreadable, expression_of};
pub use types::{Conversion, Field, ResourceType, Type};
