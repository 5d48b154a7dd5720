//! The shell around the deployment core: it performs effects and turns what happens into events.
//!
//! [`Shell::run`] drives one [`plumb_deploy::Deployment`] to its end: `driver` owns the core and is the only one who talks to it,
//! `instances` runs provider calls, [`policies`] those to policy packs, `flights` knows which of them take long, `journal`
//! writes intents and outcomes, `server` is the gRPC side that SDKs and plugins see, [`monitor`] the same for programs in
//! process; [`spans`] tells whoever records it where the time goes. [`analysis`] has policy packs look at a state without a
//! deployment. The shell decides nothing about resources.

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

pub use language::{HostOrigin, LanguageProgram};
pub use secrets_gate::SecretsGate;
pub use server::SourceContext;
pub use shell::{Ended, RunError, RunSetup, Shell, Subscriber};
