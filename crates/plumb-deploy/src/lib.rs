//! The deployment core: from what a program asks for to what is done about it.
//!
//! [`Deployment`] is a state machine: [`Event`]s go in, [`Effect`]s come out. It never waits, does no I/O, reads no clock
//! and makes nothing up by chance, so that the same events give the same effects: tests, simulation and recovery rely on
//! it. The shell around it (`plumb-engine`) performs the effects.
//!
//! # How a run goes
//!
//! 1. [`setup`] says what is to be done, to which snapshot, and with which options; [`deployment`] is the state machine
//!    that all that follows happens in. [`event`] has its inputs and outputs, [`request`] what programs ask for.
//! 2. Where it is asked for, [`refresh`] reads every resource first, and [`pending`] adopts objects of interrupted
//!    creates; [`import_operation`] is an operation of its own. Then the program starts.
//! 3. A request of the program comes to [`monitor`]: [`transforms`] may change it, [`inheritance`] adds what its parent
//!    says, [`packages`] and [`default_providers`] find its provider ([`providers`], [`extensions`]). Functions, methods
//!    and remote components go to [`functions`], and wait for what they depend on ([`lineage`]); reads to [`reads`].
//! 4. [`registration`] gives a resource its URN, and [`identity`] finds the old resource that it continues, by URN or by
//!    alias. An import option adopts the object ([`import`]).
//! 5. [`check`] has the provider check the inputs, after [`autonaming`]; policy packs mend and judge them ([`policies`]).
//! 6. [`decide`] says what becomes of it: same, create, update or replace. [`compare`] has the rules of comparison,
//!    [`replace`] what a replacement takes along, [`targeting`] what the user's targets allow, [`circles`] what they must
//!    not close, [`plans`] what a plan does.
//! 7. The steps of one decision ([`step`]) run in a [`chain`]; chains run side by side. [`perform`] begins a step, behind
//!    its intent in the journal; [`answer`] takes what the provider says; [`record`] writes down what became of it.
//!    [`hooks`] run [`step_hooks`] steps, [`retries`] begin a failed one again. What providers show as parts of resources
//!    follows them ([`views`]).
//! 8. The chain's end answers the program; what it says about outputs comes to [`outputs`].
//! 9. When the program has ended, [`deletes`] removes what it did not mention, dependents first ([`graph`]).
//! 10. Policy packs judge the whole; [`ending`] answers what is still open and says how the run went. All that people see
//!     on the way is in [`report`].
//!
//! What several of these share: [`arena`] (states by index), [`urns`] (what is known of a URN) and [`urn_flags`] (what has
//! happened to it), [`calls`] (who waits for which answer), [`outbox`] (effects), [`seeds`] (names made by chance, the same
//! in every replay), [`provider_inputs`] (what the engine keeps in the inputs of providers), [`shown`] (values in
//! messages), [`target`] (patterns of URNs).
//!
//! The crate does not know processes, wire formats, files, or how anything is shown.

#![allow(rustdoc::private_intra_doc_links)]

mod answer;
mod arena;
pub mod autonaming;
mod calls;
mod chain;
mod check;
mod circles;
mod compare;
mod decide;
mod default_providers;
mod deletes;
mod deployment;
mod ending;
mod event;
mod extensions;
mod functions;
mod graph;
mod hooks;
mod identity;
mod import;
mod import_operation;
mod inheritance;
mod lineage;
mod monitor;
mod outbox;
mod outputs;
mod packages;
mod pending;
mod perform;
mod plans;
mod policies;
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
mod shown;
pub mod snippets;
mod step;
mod step_hooks;
pub mod target;
mod targeting;
mod transforms;
mod urn_flags;
mod urns;
mod views;

pub use arena::DuplicateResource;
pub use deployment::Deployment;
pub use event::{
    CallId, Effect, Event, InstanceId, Milestone, Outcome, PackId, ProgramEnd, ProviderAction,
    RequestId,
};
pub use policies::inspection::Inspection;
pub use provider_inputs::plugin_of;
