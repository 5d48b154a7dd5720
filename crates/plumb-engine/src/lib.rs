//! The shell around the deployment core: it performs effects, and turns their results and outside requests into events.
//!
//! [`Shell::run`] runs one [`plumb_deploy::Deployment`] to its end. `driver` owns the core and is its only caller.
//! `instances` calls providers, [`policies`] calls policy packs, and `flights` detects calls that take long. `journal`
//! records intents and outcomes. `server` implements the gRPC services for SDKs and plugins, and [`monitor`] the same
//! interface for programs in this process. [`spans`] emits tracing spans. [`analysis`] runs policy packs on a state without
//! a deployment. The shell makes no decisions about resources.

pub mod analysis;
mod assets;
mod callbacks;
mod driver;
mod flights;
mod instances;
pub mod journal;
mod language;
pub mod masks;
pub mod monitor;
mod outbox;
pub mod policies;
pub mod position;
pub mod program;
mod secrets_gate;
mod server;
mod shell;
pub mod snippet;
pub mod spans;

pub use instances::with_causes;
pub use language::{HostOrigin, LanguageProgram};
pub use secrets_gate::SecretsGate;
pub use server::SourceContext;
pub use shell::{Ended, RunError, RunSetup, Shell, Subscriber};
