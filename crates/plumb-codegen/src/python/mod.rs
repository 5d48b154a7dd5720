//! SDKs for Python (`codegen.md` 3).
//!
//! 1. [`usage`] finds out which nested types are used as inputs, as arguments of functions and as outputs.
//! 2. [`sdk`] sorts members into modules and settles names.
//! 3. [`resource`], [`function`], [`nested`], [`index`] and [`config`] make a [`model::SourceFile`] each; [`object`] makes the
//!    classes of what users give and get. Every type, expression and import is text by then.
//! 4. [`print`] lays it out, file by file.
//!
//! Files of a package may need each other in a circle. Types are therefore texts that the core SDK looks up when it needs
//! them, in files that import modules and not what is in them.

mod config;
mod function;
mod imports;
mod index;
mod manifest;
mod method;
mod model;
mod names;
mod nested;
mod object;
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

use crate::{FileMap, FilePath, GenerateError, Sink, parallel};
use model::SourceFile;
use sdk::Sdk;

/// What one thread makes at a time.
enum Job<'s> {
    Provider,
    /// A resource or function, by its position.
    Resource(usize),
    Function(usize),
    /// The rest of the module at this path.
    Module(&'s str),
}

/// Makes the SDK of a package, the same for every purpose, with files that people wrote.
pub(crate) fn generate(
    package: &Package<'_>,
    written: &FileMap,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    let sdk = Sdk::new(package, written)?;
    for (path, text) in &written.0 {
        sink.file(sdk.path("", path.as_str())?, text.clone())?;
    }
    let mut jobs = Vec::new();
    jobs.extend(package.provider.as_ref().map(|_| Job::Provider));
    for (path, module) in &sdk.modules {
        jobs.extend(module.resources.iter().map(|at| Job::Resource(*at)));
        jobs.extend(module.functions.iter().map(|at| Job::Function(*at)));
        jobs.push(Job::Module(path));
    }
    parallel::write(&jobs, |job| make(&sdk, job), sink)?;
    let utilities = sdk.utilities_file()?;
    sink.file(utilities.path.clone(), print::print(&utilities))?;
    sdk.manifests(sink)
}

/// The files of a job, as texts.
fn make(sdk: &Sdk<'_, '_>, job: &Job<'_>) -> Result<Vec<(FilePath, String)>, GenerateError> {
    let package = sdk.package;
    let files = match job {
        Job::Provider => match &package.provider {
            Some(provider) => vec![sdk.provider_file(provider)?],
            None => Vec::new(),
        },
        Job::Resource(position) => vec![sdk.resource_file(&package.resources[*position])?],
        Job::Function(position) => vec![sdk.function_file(&package.functions[*position])?],
        Job::Module(path) => module_files(sdk, path)?,
    };
    let texts = files.into_iter();
    Ok(texts
        .map(|file| (file.path.clone(), print::print(&file)))
        .collect())
}

/// Files of a module that hold more than one member.
fn module_files(sdk: &Sdk<'_, '_>, path: &str) -> Result<Vec<SourceFile>, GenerateError> {
    let module = &sdk.modules[path];
    let types = [
        sdk.enums_file(path, module)?,
        sdk.inputs_file(path, module)?,
        sdk.outputs_file(path, module)?,
    ];
    let mut files: Vec<SourceFile> = types.into_iter().flatten().collect();
    if module.is_config {
        files.extend(sdk.config_files(module)?);
    } else if path.is_empty() || sdk.has_members(path) {
        files.push(sdk.index_file(path, module)?);
    }
    Ok(files)
}
