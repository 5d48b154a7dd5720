//! SDKs for .NET, in C# (`codegen.md` 5).
//!
//! 1. [`sdk`] assigns namespaces and class names.
//! 2. [`resource`], [`function`], [`args`], [`results`], [`config`] and [`utilities`] build classes, with every type and
//!    expression as text with fully qualified names.
//! 3. [`classes`](crate::classes) prints the files on several threads.

mod args;
mod config;
mod docs;
mod function;
mod manifest;
pub(crate) mod names;
pub(crate) mod programs;
mod resource;
mod results;
mod sdk;
mod settings;
mod types;
mod utilities;
pub(crate) mod vocabulary;

use std::collections::BTreeSet;

use plumb_schema::bound::{Package, TypeShape};

use crate::classes::{self, Class, SourceFile, Style};
use crate::uses::Uses;
use crate::{FilePath, GenerateError, Purpose, Sink, parallel};
use sdk::{Sdk, Shape};

/// Unit of work: files that are generated together.
enum Job {
    Provider,
    Resource(usize),
    Function(usize),
    Type(usize),
    /// Enums of a module.
    Enums(String),
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
    for (position, resource) in package.resources.iter().enumerate() {
        if !resource.outputs.overlay.is_overlay {
            jobs.push(Job::Resource(position));
        }
    }
    for (position, function) in package.functions.iter().enumerate() {
        if !function.is_method && !function.overlay.is_overlay {
            jobs.push(Job::Function(position));
        }
    }
    let mut modules = BTreeSet::new();
    for (position, definition) in package.types.iter().enumerate() {
        match &definition.shape {
            TypeShape::Enum(_) => {
                modules.insert(package.module_of(definition.token));
            }
            TypeShape::Object(_) => jobs.push(Job::Type(position)),
        }
    }
    jobs.extend(modules.into_iter().map(Job::Enums));
    let make = |job: &Job| -> Result<Vec<(FilePath, String)>, GenerateError> {
        let files = sdk.files(job)?;
        let printed = files.into_iter().map(|file| {
            let text = classes::print(&file, Style::CSharp);
            (file.path, text)
        });
        Ok(printed.collect())
    };
    parallel::write(&jobs, make, sink)?;
    sdk.manifests(sink)
}

impl Sdk<'_, '_> {
    fn files(&self, job: &Job) -> Result<Vec<SourceFile>, GenerateError> {
        match job {
            Job::Provider => match &self.package.provider {
                Some(provider) => self.provider_files(provider),
                None => Ok(Vec::new()),
            },
            Job::Resource(position) => self.resource_files(&self.package.resources[*position]),
            Job::Function(position) => {
                let function = &self.package.functions[*position];
                Ok(vec![self.function_file(function)?])
            }
            Job::Type(position) => self.type_files(*position),
            Job::Enums(module) => self.enums_file(module),
            Job::Shared => {
                let mut files = vec![self.utilities_file()?];
                files.extend(self.config_file()?);
                Ok(files)
            }
        }
    }

    fn file(path: FilePath, namespace: String, types: Vec<Class>) -> SourceFile {
        SourceFile {
            path,
            head: vec!["#nullable enable".to_owned()],
            namespace: Some(namespace),
            types,
        }
    }

    fn enums_file(&self, module: &str) -> Result<Vec<SourceFile>, GenerateError> {
        let mut types = Vec::new();
        for definition in &self.package.types {
            if let TypeShape::Enum(shape) = &definition.shape
                && !shape.overlay.is_overlay
                && self.package.module_of(definition.token) == module
            {
                types.push(self.enum_class(definition.token, shape)?);
            }
        }
        if types.is_empty() {
            return Ok(Vec::new());
        }
        let namespace = self.root.of(module);
        let path = self.path(&namespace, "Enums")?;
        Ok(vec![Self::file(path, namespace, types)])
    }

    /// Classes of an object type, one per shape in which it is used.
    fn type_files(&self, position: usize) -> Result<Vec<SourceFile>, GenerateError> {
        let TypeShape::Object(object) = &self.package.types[position].shape else {
            return Ok(Vec::new());
        };
        if object.overlay.is_overlay {
            return Ok(Vec::new());
        }
        let uses = self.uses[position];
        let mut files: Vec<SourceFile> = Vec::new();
        for (any, shape) in [
            (Uses::INPUT, Shape::Input),
            (Uses::STATE, Shape::State),
            (Uses::FUNCTION_INPUT, Shape::FunctionInput),
            (Uses::PLAIN, Shape::Plain),
            (Uses::OUTPUT, Shape::Output),
            (Uses::RESULT, Shape::Result),
        ] {
            if !uses.has(any) || (shape == Shape::Input && self.is_resource(position)) {
                continue;
            }
            let (namespace, name) = self.own_class(position, shape);
            let path = self.path(&namespace, &name)?;
            // Several shapes can share a class.
            if files.iter().any(|file| file.path == path) {
                continue;
            }
            let doc = self.doc(object.description);
            let properties = &object.properties;
            let class = if shape.is_given() {
                self.args_class(args::Args {
                    name: &name,
                    doc,
                    properties,
                    purpose: args::Purpose::Resource,
                    shape,
                })
            } else {
                self.result_class("public", &name, doc, properties, shape)
            };
            files.push(Self::file(path, namespace, vec![class]));
        }
        Ok(files)
    }

    /// Whether a resource has the token of the type. In Kubernetes packages both also share a namespace, so the resource's
    /// class of arguments is the type's input class.
    fn is_resource(&self, position: usize) -> bool {
        let token = self.package.types[position].token;
        self.settings.compatibility == crate::settings::Compatibility::Kubernetes20
            && self
                .package
                .resources
                .iter()
                .any(|resource| resource.token == token)
    }
}
