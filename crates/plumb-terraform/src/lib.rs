//! Terraform configurations as programs in PCL (`codegen.md` 14).
//!
//! 1. [`Configuration::read`] reads the files of a root module and of the modules that it calls.
//! 2. The caller gets schemas and mappings for [`Configuration::providers`], and puts them into [`Packages`].
//! 3. [`convert`] makes a file of PCL of each file. Variables become settings, data sources calls of functions, modules
//!    components, and meta-arguments options.
//! 4. [`adopt`] lists the resources of a state, to import them under the names of the converted program.
//!
//! Nothing is dropped in silence: what has no counterpart stays as a comment, or as a call that fails when it is reached,
//! and is in the list of [`Note`]s.

mod circles;
mod convert;
mod coverage;
mod dates;
mod expression;
mod fit;
mod functions;
mod inputs;
mod json;
mod known;
mod lines;
mod mapping;
mod module;
mod names;
mod notes;
mod options;
mod overrides;
mod packages;
mod program;
mod providers;
mod provisioners;
mod reference;
mod repeated;
mod scope;
mod shape;
mod source;
mod state;
mod statements;
mod template;
mod text;
mod values;
mod variable_type;

pub use coverage::Coverage;
pub use functions::{Becomes, FUNCTIONS, becomes};
pub use notes::Note;
pub use packages::{Packages, package_of};
pub use program::{Converted, convert};
pub use source::{Configuration, ReadError};
pub use state::{Adopted, Values as StateValues, adopt};
pub use values::Values;
