//! The YAML language: programs in `Pulumi.yaml` (or `Main.yaml`, `Main.json`), evaluated in process.
//!
//! How a program becomes requests:
//!
//! 1. `syntax` reads the text into declarations and expressions, with places for messages.
//! 2. `settings` gives configuration its values; `graph` finds what each name means and orders everything.
//! 3. `schemas` loads the packages in use and completes type tokens; `check` compares types where it can.
//! 4. `eval` evaluates: each resource is registered as soon as its inputs are known.
//!
//! Start with [`YamlProgram`]. [`component`] has plugins whose components are written in YAML; their bodies are
//! evaluated like programs. [`inputs_as_pcl`] turns the inputs of one resource into the language of snippets, and
//! [`from_pcl()`] turns a program in that language into a YAML program. The rules are those of `yaml-runtime.md`.

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
