//! SDKs for Python (`codegen.md` 3).
//!
//! 1. [`usage`] determines which nested types are used as inputs, as arguments of functions and as outputs.
//! 2. [`sdk`] sorts members into modules and assigns names.
//! 3. [`resource`], [`function`], [`nested`], [`index`] and [`config`] build a [`model::SourceFile`] each; [`object`]
//!    builds the classes of arguments and results. Every type, expression and import is text by then.
//! 4. [`print`] prints the files.
//!
//! Files of a package can import each other in a cycle. Types are therefore strings, which the core SDK resolves when it
//! needs them, and files import modules rather than names.

mod config;
mod function;
mod imports;
mod index;
mod manifest;
mod method;
mod model;
pub(crate) mod names;
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
pub(crate) use sdk::{package_name, python_module as module_path};

/// Unit of work of a thread.
enum Job<'s> {
    Provider,
    /// The resource at a position.
    Resource(usize),
    Function(usize),
    /// All other files of the module at this path.
    Module(&'s str),
}

/// Generates the SDK of a package, including hand-written files. The SDK is the same for every purpose.
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

/// Files of a job, with their text.
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

/// Files of a module that contain more than one member.
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
