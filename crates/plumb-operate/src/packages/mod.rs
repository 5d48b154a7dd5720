//! Packages that a project uses, and the plugins that they come from, outside operations.

mod discovery;
mod excerpt;
mod host;
mod mapping;
mod place;
mod plugins;
mod project_plugins;
mod schema_text;

pub use discovery::{discovery, log_arguments};
pub use excerpt::Excerpts;
pub use mapping::mapping;
pub use place::{named, path_of, plugin_at};
pub use plugins::{Wanted, schema_file, schemas};
pub use schema_text::SchemaText;
