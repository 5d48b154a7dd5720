//! Packages that a project uses, and the plugins that they come from, outside operations.

mod discovery;
mod host;
mod mapping;
mod place;
mod plugins;
mod project_plugins;
mod schema_text;

pub(crate) use discovery::{discovery, log_arguments};
pub(crate) use mapping::mapping;
pub(crate) use place::{named, path_of, plugin_at};
pub(crate) use plugins::{Wanted, schema_file, schemas};
pub(crate) use schema_text::SchemaText;
