//! Files of a project: `Pulumi.yaml`, `Pulumi.<stack>.yaml`, the workspace and credentials files.
//!
//! This crate knows the formats of these files; configuration keys, values, paths and types; names of projects and
//! stacks; and a YAML reader and writer that preserve comments. It does not decrypt and does not know the engine.
//! Types convert from and to text; only [`files`] accesses the disk, at paths given by callers.
//!
//! Start with [`Project`], [`StackFile`] and [`config::ConfigMap`].

pub mod config;
mod diagnostic;
pub mod files;
pub mod name;
pub mod project;
mod reader;
mod stack_file;
mod version_range;
pub mod workspace;
pub mod yaml;

pub use diagnostic::{Diagnostic, FileError};
pub use name::{ProjectName, StackName, StackReference};
pub use project::{Project, ProjectFile};
pub use reader::Format;
pub use stack_file::{SecretsSettings, StackFile};
pub use version_range::{VersionRange, VersionRangeError};

#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod shape_tests;
#[cfg(test)]
mod tests;
