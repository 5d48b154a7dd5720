//! The operations: up, preview, refresh, destroy, import.
//!
//! All share the same phases (`course.rs`): the stack is opened, and locked if it will be changed; a preview runs and is
//! confirmed; the operation runs; the state is saved and the stack unlocked.

mod advice;
mod analyze;
mod browse;
mod converted;
mod course;
mod debugging;
mod destroyed;
mod drift;
mod event_log;
mod host;
mod import;
mod import_code;
mod import_document;
mod import_file;
mod import_source;
mod interrupts;
mod keys;
mod naming;
mod older_packages;
mod pending;
mod plan;
mod policies;
mod reports;
mod request;
pub mod runs;
mod screen;
mod secrecy;
mod session;
mod snippets;
mod standalone_host;
mod state_json;
mod translated;
mod watch;

pub use analyze::{AnalysisRequest, analyze};
pub use converted::{InfoStream, tell};
pub use course::run;
pub use debugging::Debugged;
pub use import_code::{plugin_of, prepare_output};
pub use import_source::{DiscoveredResource, ImportSource, InlineResource};
pub use pending::PendingCreates;
pub use policies::PackFlags;
pub use request::{
    Caller, Conversion, DisplayFlags, ImportRequest, Kind, OperationRequest, ReportFiles, Scope,
    StackChoice, check_confirmed,
};
pub use screen::Form;
pub use snippets::{SnippetOrder, SnippetUpdate, update_snippets};
pub use standalone_host::StandaloneHost;
pub use translated::of_translated;
pub use watch::watch;
