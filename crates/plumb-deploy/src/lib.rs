//! The deployment core: from what a program asks for to the steps that are taken.
//!
//! [`Deployment`] is a state machine: [`Event`]s go in, [`Effect`]s come out. It never waits, does no I/O, reads no clock
//! and draws no random numbers, so the same events give the same effects: tests, simulation and recovery rely on
//! it. The shell around it (`plumb-engine`) performs the effects.
//!
//! # The rooms
//!
//! | Room | Holds |
//! |---|---|
//! | [`deployment`], [`event`], [`request`], [`setup`] | the state machine that routes between the rooms, and its inputs and outputs |
//! | [`facts`] | old and new resource states, and what is known of each URN |
//! | [`monitor`] | requests of programs, made ready for decisions |
//! | [`decide`] | registrations: check, policies, comparison, decision |
//! | [`scope`] | targets, excludes and snippets: which resources a run may touch |
//! | [`steps`] | chains of steps: intent, provider call, outcome, hooks, views |
//! | [`whole`] | refresh, import, deletes and the end of a run |
//!
//! # One run
//!
//! 1. [`setup`] gives the operation, the snapshot that it starts from, and the options.
//! 2. If the options ask for it, `whole::refresh` reads every resource first, and `whole::pending` adopts objects of
//!    interrupted creates; `whole::import_operation` is an operation of its own. Then the program starts.
//! 3. A request of the program comes to [`monitor`]. `transforms` may change it, `inheritance` adds what its parent gives,
//!    `packages` and `default_providers` find its provider. Functions, methods and remote components go to `functions`, and
//!    wait for what they depend on (`facts::lineage`); reads go to `decide::reads`.
//! 4. `decide::registration` gives a resource its URN, and `facts::identity` finds the old resource that it continues, by URN
//!    or by alias. An import option adopts an existing object (`decide::import`).
//! 5. `decide::check` has the provider check the inputs, after `autonaming`; policy packs remediate and judge them
//!    (`decide::policies`).
//! 6. [`decide`] chooses between same, create, update and replace. `compare` has the rules of comparison, `replace` finds the
//!    dependents that a replacement includes, `scope::targeting` holds the decision against the user's targets, and
//!    `plans` against a plan.
//! 7. The steps of one decision run in a chain (`steps::chain`); chains run side by side. `perform` begins a step behind its
//!    intent in the journal, `answer` takes the provider's answer, and `record` writes the outcome.
//! 8. The chain's end answers the program. The outputs that a component registers come to `monitor::outputs`.
//! 9. When the program has ended, `whole::deletes` removes what it did not register, dependents first (`facts::graph`).
//! 10. Policy packs judge the whole stack; `whole::ending` answers what is still open and says how the run ended.
//!
//! Shared by all: [`outbox`] (effects, in their order), [`report`] (events that people see), [`status`] (whether the run goes
//! on) and [`seeds`] (random names that are the same in every replay).
//!
//! The crate does not know processes, wire formats, files, or how anything is shown.

#![allow(rustdoc::private_intra_doc_links)]

mod decide;
mod deployment;
mod event;
mod facts;
mod monitor;
mod outbox;
mod report;
pub mod request;
mod scope;
mod seeds;
pub mod setup;
mod status;
mod steps;
mod whole;

pub use decide::autonaming;
pub use decide::policies::inspection::Inspection;
pub use deployment::Deployment;
pub use event::{
    CallId, Effect, Event, Fence, InstanceId, Milestone, Outcome, PackId, ProgramEnd,
    ProviderAction, RequestId,
};
pub use facts::arena::DuplicateResource;
pub use scope::{snippets, target};
pub use steps::provider_inputs::plugin_of;
