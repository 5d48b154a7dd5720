//! PCL, the language that every program can be written in between two others, and the one of snippets.
//!
//! 1. `syntax` reads the text (HCL, by `hcl-edit`) and says what is wrong with it.
//! 2. [`Packages`] loads the schemas that the text names.
//! 3. `bind` resolves names, functions and types to a [`Program`], or says with places what does not fit: attributes
//!    that are missing or that nobody knows, types that cannot be what is asked for.
//! 4. `eval` evaluates a program against the resource monitor, with the values of `plumb-eval`.
//!
//! Bound so far is what snippets need: the body of one resource, with references to others. Locals, config, outputs,
//! components, reads and hooks, which whole programs have, are errors that say so.
//!
//! [`BodyText`] changes the text of a snippet, and [`evaluate_inputs`] evaluates one without a deployment.
//!
//! Start with [`Program::bind`] and [`PclSnippets`]. The rules are those of `codegen.md` 10 and 11.

mod bind;
mod eval;
mod expression;
mod functions;
mod inputs;
mod packages;
mod program;
mod snippet;
mod syntax;
mod text;
mod types;

pub use bind::ResourceHead;
pub use expression::{BinaryOperator, Expr, ExprKind, For, Invoke, Step, UnaryOperator};
pub use functions::Callee;
pub use inputs::evaluate_inputs;
pub use packages::Packages;
pub use plumb_eval::diagnostic::{Diagnostic, Severity};
pub use plumb_eval::source::{SourceFile, Span};
pub use program::{AliasExpr, FormerIdentity, Input, Options, Program, Reference, Resource};
pub use snippet::PclSnippets;
pub use syntax::Parsed;
pub use text::{BodyText, NoExpression, Unreadable, expression_of};
pub use types::{Conversion, Field, ResourceType, Type};
