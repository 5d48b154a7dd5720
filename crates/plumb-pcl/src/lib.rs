//! PCL, the language that every program can be written in between two others, and the one of snippets.
//!
//! 1. `syntax` reads the text (HCL, by `hcl-edit`) and says what is wrong with it.
//! 2. [`Packages`] loads the schemas that the text names.
//! 3. `bind` resolves names, functions and types to a [`SnippetProgram`], or says with places what does not fit: attributes
//!    that are missing or that nobody knows, types that cannot be what is asked for.
//! 4. `eval` evaluates a program against the resource monitor, with the values of `plumb-eval`.
//!
//! A snippet is the body of one resource, with references to others: [`SnippetProgram`]. A whole program is a folder of files
//! with definitions of all kinds: [`Program::load`] reads the texts and the schemas that they name, and binds them for
//! generators of programs in other languages. Only snippets are evaluated.
//!
//! [`format`](format()) prints PCL in its one form. [`BodyText`] changes the text of a snippet, and [`evaluate_inputs`] evaluates one without a deployment.
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
pub use load::Sources;
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
