//! SDKs for Rust: a crate that depends on nothing but the crate for programs.
//!
//! 1. [`model`] settles modules, names, and which types each module mentions.
//! 2. [`resource`], [`function`] and [`object`] write what a module holds.
//! 3. [`manifest`] writes `Cargo.toml`: a feature for each module, which implies those of the modules that it mentions.
//!    The compiler does not even read a module whose feature is off, so a program pays for what it uses.
//!
//! Arguments have a type parameter for each required input; the crate for programs explains how a missing one becomes an
//! error of the compiler. Objects are views of values: they have no conversions of their own, which is most of what
//! compiling other designs takes.

mod args;
mod function;
mod manifest;
mod model;
pub(crate) mod names;
mod object;
pub mod programs;
mod resource;
mod text;

use std::collections::BTreeMap;

use plumb_schema::bound::Package;

use crate::writer::Writer;
use crate::{FilePath, GenerateError, Sink};
use model::Sdk;

/// Makes the SDK of a package.
pub(crate) fn generate(
    package: &Package<'_>,
    local_dependencies: &BTreeMap<String, String>,
    sink: &mut dyn Sink,
) -> Result<(), GenerateError> {
    let sdk = Sdk::new(package);
    for (path, text) in sdk.manifests(local_dependencies) {
        sink.file(FilePath::new(path)?, text)?;
    }
    for (module, members) in &sdk.modules {
        let mut writer = Writer::new();
        writer.line(&[text::GENERATED]);
        writer.blank();
        if module.is_empty() {
            sdk.write_root(&mut writer);
        }
        for position in &members.enums {
            sdk.write_enum(&mut writer, *position);
        }
        for position in &members.objects {
            sdk.write_object(&mut writer, *position);
        }
        for position in &members.resources {
            sdk.write_resource(&mut writer, &package.resources[*position]);
        }
        for position in &members.functions {
            sdk.write_function(&mut writer, &package.functions[*position]);
        }
        let path = match module.as_str() {
            "" => "src/lib.rs".to_owned(),
            module => format!("src/{module}.rs"),
        };
        sink.file(FilePath::new(&path)?, writer.finish())?;
    }
    sink.file(FilePath::new("src/missing.rs")?, sdk.missing_file())
}
