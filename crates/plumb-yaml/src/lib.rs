//! The YAML language: programs in `Pulumi.yaml` (or `Main.yaml`, `Main.json`), evaluated in process.
//!
//! From a program to requests:
//!
//! 1. `syntax` parses the text into declarations and expressions, with source positions.
//! 2. `settings` determines the values of the configuration; `graph` resolves names and computes the
//!    evaluation order.
//! 3. `schemas` loads the packages in use and completes type tokens; `check` checks types where they are
//!    known.
//! 4. `eval` evaluates: each resource is registered when its inputs are known.
//!
//! Start with [`YamlProgram`]. [`component`] has plugins whose components are written in YAML; their bodies are
//! evaluated like programs. [`inputs_as_pcl`] converts the inputs of one resource to the language of snippets,
//! [`from_pcl()`] converts a program in that language to a YAML program, and [`folder_as_pcl`] the other way. The
//! rules are those of `yaml-runtime.md`.

mod body;
mod check;
mod compiler;
pub mod component;
mod config;
mod eval;
mod from_pcl;
mod graph;
pub mod imported;
mod load;
mod packages;
mod program;
mod required;
mod requirement;
mod schemas;
mod settings;
mod snippet;
mod syntax;
mod to_pcl;

use plumb_eval::{diagnostic, duration, report};

pub use compiler::{Compiler, CompilerError};
pub use diagnostic::{Diagnostic, Severity};
pub use from_pcl::{PclFile, Translated, from_pcl};
pub use load::LoadError;
pub use packages::{DeclarationError, PackageDeclaration, find_declarations};
pub use program::YamlProgram;
pub use report::DiagnosticStyle;
pub use required::{RequiredPackage, RequiredPackagesError};
pub use snippet::{InvalidInputs, inputs_as_pcl, value_as_pcl};
pub use syntax::source::{SourceFile, Span};
pub use syntax::{function_names, resource_option_names};
pub use to_pcl::{AsPcl, folder_as_pcl, program_as_pcl};
