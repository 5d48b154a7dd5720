//! The shell around the deployment core: it performs effects and turns what happens into events.
//!
//! [`Shell::run`] drives one [`plumb_deploy::Deployment`] to its end: `driver` owns the core and is the only one who talks to it,
//! `instances` runs provider calls, [`policies`] those to policy packs, `journal` writes intents and outcomes, `server` is the gRPC side that SDKs and plugins
//! see, [`monitor`] the same for programs in process. The shell decides nothing about resources.

mod assets;
mod callbacks;
mod driver;
mod instances;
pub mod journal;
mod language;
pub mod monitor;
mod outbox;
pub mod policies;
pub mod position;
pub mod program;
mod server;
pub mod snippet;

pub use driver::{Ended, RunError, RunSetup, Shell, Subscriber};
pub use language::{HostOrigin, LanguageProgram};
pub use server::SourceContext;
