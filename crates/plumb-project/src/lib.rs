//! The files of a project: `Pulumi.yaml`, `Pulumi.<stack>.yaml`, the workspace and credentials files.
//!
//! This crate knows their formats, configuration keys, values, paths and types, names of projects and stacks, and how
//! YAML is read and written so that comments survive. It does not decrypt, and knows nothing of the engine. Types
//! take and give text; only [`files`] touches the disk, at paths that callers name.
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
