//! SDKs for Go (`codegen.md` 4).
//!
//! 1. [`layout`] computes the paths of the module and its packages, [`usage`] the forms that each type needs, [`naming`]
//!    their names.
//! 2. [`sdk`] sorts members into packages.
//! 3. [`resource`], [`function`], [`nested`], [`enums`], [`config`], [`registry`] and [`internal`] build a
//!    [`model::SourceFile`] each, with every type, statement and import as text. [`forms`] has the declarations that all
//!    types share.
//! 4. [`print`] prints the files in the layout of `gofmt`, including comments ([`comment`]).

mod comment;
mod config;
mod enums;
mod forms;
mod function;
mod generic_forms;
mod generic_types;
mod imports;
mod internal;
pub(crate) mod layout;
mod manifest;
mod method;
mod model;
pub(crate) mod names;
pub(crate) mod naming;
mod nested;
mod print;
pub(crate) mod properties;
mod registry;
mod resource;
mod sdk;
mod settings;
mod types;
mod usage;
mod values;
pub(crate) mod vocabulary;

use std::collections::BTreeMap;

use plumb_schema::bound::{Package, Resource};

use crate::{FilePath, GenerateError, Purpose, Sink, parallel};
use model::SourceFile;
use sdk::{Module, Sdk};

/// A file to generate.
enum Job<'s, 'p, 'd> {
    Doc,
    Provider(&'p Resource<'d>),
    Resource(usize),
    Function(usize),
    /// A chunk of a module's objects, and the number of their file.
    Objects(&'s str, &'s [usize], usize),
    Enums(&'s str, &'s Module),
    Init(&'s str, &'s Module),
    Config,
    Utilities,
    /// Helpers for generic types.
    Inputs,
    Version,
}

/// Generates the SDK of a package.
pub(crate) fn generate(
    package: &Package<'_>,
    purpose: Purpose,
    local_dependencies: &BTreeMap<String, String>,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    let sdk = Sdk::new(package, purpose)?;
    let shared = [
        Job::Doc,
        Job::Config,
        Job::Utilities,
        Job::Inputs,
        Job::Version,
    ];
    write(&sdk, shared.into_iter().chain(jobs(&sdk)).collect(), sink)?;
    if let Some(sdk) = Sdk::beside(package, purpose)? {
        let own = std::iter::once(Job::Doc).chain(jobs(&sdk));
        write(&sdk, own.collect(), sink)?;
    }
    sdk.manifests(local_dependencies, sink)
}

fn write(
    sdk: &Sdk<'_, '_>,
    jobs: Vec<Job<'_, '_, '_>>,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    let make = |job: &Job<'_, '_, '_>| -> Result<Vec<(FilePath, String)>, GenerateError> {
        let file = source(sdk, job)?;
        Ok(file
            .map(|file| (file.path.clone(), print::print(&file)))
            .into_iter()
            .collect())
    };
    parallel::write(&jobs, make, sink)
}

fn jobs<'s, 'p, 'd>(sdk: &'s Sdk<'p, 'd>) -> Vec<Job<'s, 'p, 'd>> {
    let mut jobs = Vec::new();
    jobs.extend(sdk.package.provider.iter().map(Job::Provider));
    for (path, module) in &sdk.modules {
        // The largest jobs first, so that no thread runs one alone at the end.
        let objects = module.objects.chunks(nested::PER_FILE).enumerate();
        jobs.extend(objects.map(|(number, positions)| Job::Objects(path, positions, number)));
        jobs.extend(
            module
                .resources
                .iter()
                .map(|position| Job::Resource(*position)),
        );
        jobs.extend(
            module
                .functions
                .iter()
                .map(|position| Job::Function(*position)),
        );
        jobs.extend([Job::Enums(path, module), Job::Init(path, module)]);
    }
    jobs
}

fn source(sdk: &Sdk<'_, '_>, job: &Job<'_, '_, '_>) -> Result<Option<SourceFile>, GenerateError> {
    match job {
        Job::Doc => sdk.doc_file().map(Some),
        Job::Provider(provider) => sdk.provider_file(provider).map(Some),
        Job::Resource(position) => sdk.resource_file(*position).map(Some),
        Job::Function(position) => sdk.function_file(*position).map(Some),
        Job::Objects(module, positions, number) => {
            sdk.objects_file(module, positions, *number).map(Some)
        }
        Job::Enums(module, members) => sdk.enums_file(module, members),
        Job::Init(module, members) => sdk.init_file(module, members),
        Job::Config => sdk.config_file(),
        Job::Utilities => sdk.utilities_file().map(Some),
        Job::Inputs => sdk.inputs_file(),
        Job::Version => sdk.version_file().map(Some),
    }
}
