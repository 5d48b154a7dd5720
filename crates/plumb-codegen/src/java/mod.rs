//! SDKs for Java (`codegen.md` 6).
//!
//! 1. [`sdk`] assigns packages and unique class names.
//! 2. [`resource`], [`function`], [`args`], [`results`], [`config`] and [`utilities`] build a [`SourceFile`] each,
//!    with every type, expression and import as text.
//! 3. [`classes`](crate::classes) prints the files on several threads.
//!
//! Resources have no methods, because published packages for Java have none.

mod args;
mod config;
mod docs;
mod function;
mod gradle;
mod imports;
mod manifest;
pub(crate) mod names;
pub(crate) mod programs;
mod resource;
mod results;
mod sdk;
mod settings;
mod types;
mod utilities;
mod values;
pub(crate) mod vocabulary;

use plumb_schema::bound::{Package, TypeShape};

use crate::classes::{self, SourceFile, Style};
use crate::uses::Uses;
use crate::{FilePath, GenerateError, Purpose, Sink, parallel};
use sdk::{INPUT_USES, OUTPUT_USES, Sdk};
use types::Shape;

/// Unit of work: files that are generated together.
enum Job<'m> {
    Provider,
    Resource(usize),
    Function(usize),
    Functions(&'m str),
    Type(usize),
    Shared,
}

/// Generates the SDK of a package.
pub(crate) fn generate(
    package: &Package<'_>,
    purpose: Purpose,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    let sdk = Sdk::new(package, purpose)?;
    let mut jobs = vec![Job::Shared, Job::Provider];
    let resources = package.resources.iter().enumerate();
    jobs.extend(
        resources
            .filter(|(_, resource)| !resource.outputs.overlay.is_overlay)
            .map(|(position, _)| Job::Resource(position)),
    );
    let functions = 0..package.functions.len();
    jobs.extend(
        functions
            .filter(|it| sdk.has_function(*it))
            .map(Job::Function),
    );
    jobs.extend(sdk.function_modules().into_iter().map(Job::Functions));
    jobs.extend((0..package.types.len()).map(Job::Type));
    let make = |job: &Job<'_>| -> Result<Vec<(FilePath, String)>, GenerateError> {
        let files = sdk.files(job)?;
        let printed = files.into_iter().map(|file| {
            let text = classes::print(&file, Style::Java);
            (file.path, text)
        });
        Ok(printed.collect())
    };
    parallel::write(&jobs, make, sink)?;
    sdk.manifests(sink)
}

impl Sdk<'_, '_> {
    fn files(&self, job: &Job<'_>) -> Result<Vec<SourceFile>, GenerateError> {
        match job {
            Job::Provider => match &self.package.provider {
                Some(provider) => self.provider_files(provider),
                None => Ok(Vec::new()),
            },
            Job::Resource(position) => self.resource_files(&self.package.resources[*position]),
            Job::Function(position) => self.function_files(*position),
            Job::Functions(module) => Ok(vec![self.functions_file(module)?]),
            Job::Type(position) => self.type_files(*position),
            Job::Shared => {
                let mut files = vec![self.utilities_file()?];
                files.extend(self.config_file()?);
                Ok(files)
            }
        }
    }

    /// Classes of a type, one per shape in which it is used.
    fn type_files(&self, position: usize) -> Result<Vec<SourceFile>, GenerateError> {
        let classes = &self.types[position];
        let object = match &self.package.types[position].shape {
            TypeShape::Enum(definition) if definition.overlay.is_overlay => return Ok(Vec::new()),
            TypeShape::Enum(definition) => {
                return Ok(vec![self.enum_file(&classes.enumeration, definition)?]);
            }
            TypeShape::Object(object) => object,
        };
        if object.overlay.is_overlay {
            return Ok(Vec::new());
        }
        let uses = self.uses[position];
        let doc = self.doc(object.description, None);
        let mut files = Vec::new();
        for (any, class, shape) in [
            (INPUT_USES, &classes.input, Shape::Input),
            (Uses::PLAIN, &classes.plain, Shape::Plain),
        ] {
            if uses.has(any) {
                files.push(self.args_file(args::Args {
                    class,
                    doc: doc.clone(),
                    properties: &object.properties,
                    purpose: args::Purpose::Nested,
                    shape,
                })?);
            }
        }
        for (any, class, shape) in [
            (OUTPUT_USES, &classes.output, Shape::Output),
            (Uses::CONFIG, &classes.config, Shape::Config),
        ] {
            if uses.has(any) {
                let properties = &object.properties;
                files.push(self.result_file(class, doc.clone(), properties, shape)?);
            }
        }
        Ok(files)
    }
}
