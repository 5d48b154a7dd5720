//! The deployment core: from what a program asks for to what is done about it.
//!
//! [`Deployment`] is a state machine: [`Event`]s go in, [`Effect`]s come out. It never waits, does no I/O, reads no clock
//! and makes nothing up by chance, so that the same events give the same effects: tests, simulation and recovery rely on
//! it. The shell around it (`plumb-engine`) performs the effects.
//!
//! Where to look:
//!
//! | Question | Module |
//! |---|---|
//! | What goes in and out? | `event`, [`request`], [`setup`] |
//! | How does a run go on? | `deployment` |
//! | Functions, methods, remote components? | `functions`, `lineage` |
//! | Which provider, which dependencies? | `monitor`, `transforms`, `packages`, `providers`, `extensions` |
//! | Which old resource does a registration continue? | `identity` |
//! | Same, create, update or replace? | `registration`, `decide`, `compare`, `replace` |
//! | What do steps do, what becomes of the state? | `step`, `chain`, `perform`, `answer`, `record`, `outputs`, `reads` |
//! | What runs around steps, what is tried again? | `hooks`, `around`, `retries` |
//! | What is deleted at the end, in which order? | `deletes`, `graph`, `targeting` |
//! | What does a plan allow? | `plans` |
//! | How are resources named? | [`autonaming`] |
//! | Refresh and import? | `refresh`, `import`, `import_operation`, `pending` |
//! | What do people see? | `report` |
//!
//! The crate does not know processes, wire formats, files, or how anything is shown.

mod answer;
mod arena;
mod around;
pub mod autonaming;
mod chain;
mod compare;
mod decide;
mod deletes;
mod deployment;
mod event;
mod extensions;
mod functions;
mod graph;
mod hooks;
mod identity;
mod import;
mod import_operation;
mod lineage;
mod marks;
mod monitor;
mod outputs;
mod packages;
mod pending;
mod perform;
mod plans;
mod provider_inputs;
mod providers;
mod reads;
mod record;
mod refresh;
mod registration;
mod replace;
mod report;
pub mod request;
mod retries;
mod seeds;
pub mod setup;
mod step;
pub mod target;
mod targeting;
mod transforms;

pub use arena::DuplicateResource;
pub use deployment::Deployment;
pub use event::{
    CallId, Effect, Event, InstanceId, Outcome, ProgramEnd, ProviderAction, RequestId,
};
