//! The deployment core: from what a program asks for to the steps that are taken.
//!
//! [`Deployment`] is a state machine: [`Event`]s go in, [`Effect`]s come out. It never waits, does no I/O, reads no clock
//! and draws no random numbers, so the same events give the same effects: tests, simulation and recovery rely on
//! it. The shell around it (`plumb-engine`) performs the effects.
//!
//! # The rooms
//!
//! **A room uses only those above it in this table**, the type [`Deployment`] aside: its methods are written room by room.
//! `cargo xtask structure` prints who uses whom, and a test of `xtask` holds the order.
//!
//! | Room | Holds |
//! |---|---|
//! | [`seeds`], [`ids`] | random names that are the same in every replay; the names of requests, calls, registrations and chains |
//! | [`request`], [`event`] | what programs ask for; everything that comes in and goes out |
//! | [`work`] | what the core gives itself to do |
//! | [`setup`] | the operation, its options and its rules |
//! | [`facts`] | old and new resource states, and what is known of each URN |
//! | [`step`] | what is done to one resource at a time |
//! | [`outbox`], [`report`] | effects in their order; events that people see |
//! | [`status`] | where the run stands, and why it does not go on |
//! | [`steps`] | chains of steps: intent, provider call, outcome, hooks, views |
//! | [`scope`] | targets, excludes and snippets: which resources a run may touch |
//! | [`decide`] | registrations: check, policies, comparison, decision |
//! | [`monitor`] | requests of programs, made ready for decisions |
//! | [`whole`] | refresh, import, deletes and the end of a run |
//! | [`deployment`] | the state machine, which routes between the rooms |
//!
//! A room that has something for a later one returns it: [`steps`] answers the end of a chain
//! ([`ChainEnd`](steps::scheduler::ChainEnd)), and `deployment` passes it on to whoever decided about the resource.
//!
//! # One run
//!
//! 1. [`setup`] gives the operation, the snapshot that it starts from, and the options.
//! 2. If the options ask for it, `whole::refresh` reads every resource first, and `whole::pending` adopts objects of
//!    interrupted creates; `whole::import_operation` is an operation of its own. Then the program starts.
//! 3. A request of the program comes to [`monitor`]. `transforms` may change it, `inheritance` adds what its parent gives,
//!    `packages` and `default_providers` find its provider. Functions, methods and remote components go to `functions`, and
//!    wait for what they depend on (`facts::lineage`); reads go to `decide::reads`.
//! 4. `decide::arrival` gives a resource its URN, and `facts::identity` finds the old resource that it continues, by URN
//!    or by alias. An import option adopts an existing object (`decide::import`).
//! 5. `decide::check` has the provider check the inputs, after `autonaming`; policy packs remediate and judge them
//!    (`decide::policies`).
//! 6. [`decide`] chooses between same, create, update and replace. `steps::compare` has the rules of comparison, `replace`
//!    finds the dependents that a replacement includes, `scope::targeting` knows the user's targets, `left_out` keeps what
//!    they leave out, and `plans` holds the decision against a plan. Every decision leaves by `exit`.
//! 7. The steps of one decision run in a chain (`steps::chain`); chains run side by side (`steps::scheduler`). `perform`
//!    begins a step behind its intent in the journal, `answer` takes the provider's answer, and `record` writes the outcome.
//! 8. The chain's end goes through `deployment` to its owner, which answers the program. The outputs that a component registers
//!    come to `monitor::outputs`.
//! 9. When the program has ended, `whole::deletes` removes what it did not register, dependents first (`facts::graph`).
//! 10. Policy packs judge the whole stack; `whole::ending` answers what is still open and says how the run ended.
//!
//! The crate does not know processes, wire formats, files, or how anything is shown.

#![allow(rustdoc::private_intra_doc_links)]

mod decide;
mod deployment;
mod event;
mod facts;
mod ids;
mod monitor;
mod outbox;
mod report;
pub mod request;
mod scope;
mod seeds;
pub mod setup;
mod status;
mod step;
mod steps;
mod whole;
mod work;

pub use decide::policies::inspection::Inspection;
pub use deployment::Deployment;
pub use event::{Effect, Event, Milestone, Outcome, ProgramEnd, ProviderAction};
pub use facts::arena::DuplicateResource;
pub use ids::{CallId, Fence, InstanceId, PackId, RequestId};
pub use setup::{autonaming, snippets, target};
pub use steps::provider_inputs::plugin_of;
