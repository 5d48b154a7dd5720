//! SDKs for Node.js, in TypeScript (`codegen.md` 2).
//!
//! 1. [`usage`] determines which nested types are used as inputs, as plain arguments and as outputs.
//! 2. [`sdk`] sorts members into modules and assigns names.
//! 3. [`resource`], [`function`], [`nested`], [`index`] and [`config`] build a [`model::SourceFile`] each, with
//!    every type, expression and import as text.
//! 4. [`print`] prints the files.

mod config;
mod function;
mod imports;
mod index;
mod interface;
mod manifest;
mod method;
mod model;
pub(crate) mod names;
mod nested;
mod print;
mod resource;
mod sdk;
mod settings;
mod types;
mod usage;
mod utilities;
mod values;
pub(crate) mod vocabulary;

use plumb_schema::bound::Package;

use crate::{FileMap, FilePath, GenerateError, Purpose, Sink, Supplement};
use model::SourceFile;
use sdk::Sdk;

/// Sink that records the paths of sources.
struct Output<'s> {
    sink: &'s mut dyn Sink,
    sources: Vec<FilePath>,
}

impl Output<'_> {
    fn source(&mut self, file: &SourceFile) -> Result<(), GenerateError> {
        self.sources.push(file.path.clone());
        self.sink.file(file.path.clone(), print::print(file))
    }

    fn sources(&mut self, files: &[SourceFile]) -> Result<(), GenerateError> {
        files.iter().try_for_each(|file| self.source(file))
    }
}

/// Generates the SDK of a package, including hand-written files.
pub(crate) fn generate(
    package: &Package<'_>,
    purpose: Purpose,
    supplement: &Supplement,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    let written = &supplement.written;
    let sdk = Sdk::new(package, purpose, written)?;
    let mut output = Output {
        sink,
        sources: sources_of(written),
    };
    if let Some(provider) = &package.provider {
        output.source(&sdk.provider_file(provider)?)?;
    }
    for (path, module) in &sdk.modules {
        for &position in &module.resources {
            output.source(&sdk.resource_file(&package.resources[position])?)?;
        }
        for &position in &module.functions {
            output.source(&sdk.function_file(&package.functions[position])?)?;
        }
        if path.is_empty() || sdk.has_members(path) {
            output.source(&sdk.index_file(path, module)?)?;
        }
    }
    output.sources(&sdk.type_files()?)?;
    output.sources(&sdk.enum_files()?)?;
    output.sources(&sdk.config_files()?)?;
    output.source(&sdk.utilities_file()?)?;
    let sources = std::mem::take(&mut output.sources);
    sdk.manifests(sources, &supplement.local_dependencies, output.sink)
}

/// Hand-written files that the compiler must include.
fn sources_of(written: &FileMap) -> Vec<FilePath> {
    let sources = written.0.keys();
    sources
        .filter(|path| sdk::source_name(path.as_str()).is_some())
        .cloned()
        .collect()
}
