//! Programs in other languages made of PCL, as people would write them (`codegen.md` 10 to 13).
//!
//! 1. `plumb-pcl` binds a program. [`flow`] finds out where outputs are in it, and [`order`] in which order statements stand.
//! 2. [`lower`] turns expressions into [`tree`]s: waits for outputs become callbacks, literals become members of enums and
//!    objects of packages' types. [`dialect`] says what the SDK of a language can do without callbacks.
//! 3. Each language spells statements and trees: [`python`], [`nodejs`]. [`layout`] breaks lines.
//! 4. [`project`] adds the files that a project has beside its program.
//!
//! **Names are those of the SDKs**: they come from `plumb_codegen::programs`. Texts of PCL are escaped where they are printed.
//! Constructs without a form in a language are reported, never left out.
//!
//! This crate reads and writes no files. Start with [`generate`].

mod components;
mod dialect;
mod flow;
mod layout;
mod lower;
mod names;
mod nodejs;
mod options;
mod order;
mod project;
mod python;
mod tree;
mod walk;

use std::collections::BTreeMap;

use plumb_pcl::{Problem, Program};

pub use plumb_codegen::programs::ProgramLanguage;
pub use project::{Project, project, runtime};

/// Files of a program, and what could not be said in its language.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// Texts by their paths.
    pub files: BTreeMap<String, String>,
    /// Constructs without a form, with their places.
    pub problems: Vec<Problem>,
}

/// The language of a runtime.
pub fn language_of(runtime: &str) -> Option<ProgramLanguage> {
    Some(match runtime {
        "python" => ProgramLanguage::Python,
        "nodejs" | "typescript" | "javascript" | "bun" => ProgramLanguage::Nodejs,
        _ => return None,
    })
}

/// Makes the files of `program`, its components included, in `language`.
pub fn generate(program: &Program, language: ProgramLanguage) -> Generated {
    let mut generated = Generated::default();
    match language {
        ProgramLanguage::Python => python::generate(program, &mut generated),
        ProgramLanguage::Nodejs => nodejs::generate(program, &mut generated),
    }
    generated
}
