//! Generators of idiomatic programs from PCL (`codegen.md` 10 to 13).
//!
//! 1. `plumb-pcl` binds a program. [`flow`] determines which values are outputs, and [`order`] the order of statements.
//! 2. [`lower`] converts expressions to [`tree`]s: waits for outputs become callbacks, literals become enum members and
//!    objects of package types. [`dialect`] describes the operations on outputs that an SDK supports.
//! 3. One module per language prints statements and trees: [`python`], [`nodejs`], [`go`], [`java`], [`csharp`], [`rust`]. [`layout`] breaks lines.
//! 4. [`project`] adds the other files of a project.
//!
//! **Names equal those in the SDKs**, because both use `plumb_codegen::programs`. Texts are escaped when they are
//! printed. Constructs that a language cannot express are reported, never omitted silently.
//!
//! This crate does not access files. Start with [`generate`].

mod components;
mod csharp;
mod dialect;
mod flow;
mod go;
mod java;
mod kinds;
mod layout;
mod lower;
mod names;
mod nodejs;
mod options;
mod order;
mod project;
mod python;
mod report;
mod rust;
mod tree;
mod values;
mod walk;

use std::collections::BTreeMap;

use plumb_pcl::{Problem, Program};

pub use components::all_packages as packages;
pub use plumb_codegen::programs::ProgramLanguage;
pub use project::{Project, project, runtime};

/// Files of a generated program, and the constructs that could not be generated.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// Contents by path.
    pub files: BTreeMap<String, String>,
    /// Constructs that the language cannot express, with their positions.
    pub problems: Vec<Problem>,
}

/// Language of a runtime; `None` if there is no generator for it.
pub fn language_of(runtime: &str) -> Option<ProgramLanguage> {
    Some(match runtime {
        "python" => ProgramLanguage::Python,
        "nodejs" | "typescript" | "javascript" | "bun" => ProgramLanguage::Nodejs,
        "go" => ProgramLanguage::Go,
        "java" => ProgramLanguage::Java,
        "dotnet" | "csharp" => ProgramLanguage::Csharp,
        "rust" => ProgramLanguage::Rust,
        _ => return None,
    })
}

/// Generates the files of `program` and its components in `language`.
pub fn generate(program: &Program, language: ProgramLanguage) -> Generated {
    let mut generated = Generated::default();
    match language {
        ProgramLanguage::Python => python::generate(program, &mut generated),
        ProgramLanguage::Nodejs => nodejs::generate(program, &mut generated),
        ProgramLanguage::Go => go::generate(program, &mut generated),
        ProgramLanguage::Java => java::generate(program, &mut generated),
        ProgramLanguage::Csharp => csharp::generate(program, &mut generated),
        ProgramLanguage::Rust => rust::generate(program, &mut generated),
    }
    generated
}
