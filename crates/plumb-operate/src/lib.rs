//! Operations on stacks, and what every command has: environment, settings, output.
//!
//! [`operations`] has `up`, `preview`, `refresh`, `destroy` and `import`, each from an
//! [`OperationRequest`](operations::OperationRequest) to the history. [`Context`] has the project, the store, the stacks and their
//! secrets. Flags and their parsing are in `plumb-cli`.
//!
//! A module names only those of its own line and of the lines above it in this table, which a test holds:
//!
//! | Modules | What they are |
//! |---|---|
//! | `error`, `identity` | errors, and what kind of error each is |
//! | `environment` | variables, folders, terminals and the build system of the process |
//! | `output`, `json`, `table`, `prompt` … | forms of input and output |
//! | `context`, `metadata`, `trace` | settings, project, stacks and secrets of a command, and what is recorded of it |
//! | `acquire`, `packages` | plugins that are downloaded, and the packages that come from plugins |
//! | `operations` | from a request to the history |

pub mod acquire;
pub mod catalogue;
pub mod context;
pub mod environment;
pub mod error;
pub mod go;
pub mod identity;
pub mod json;
mod metadata;
pub mod operations;
pub mod output;
pub mod own_version;
pub mod packages;
pub mod prompt;
pub mod secret_settings;
pub mod signals;
pub mod table;
pub mod terraform;
pub mod trace;

pub use context::Context;
pub use environment::Environment;
pub use error::{Error, ExitStatus};
pub use output::Printer;

pub use plumb_automation::{VERSION, semantic_version};

/// Name of the program in our own texts, independent of the name under which it was started.
pub const NAME: &str = plumb_display::OWN_NAME;

/// Stack size of threads that work for an operation, in bytes.
pub const WORKER_STACK: usize = 64 << 20;
