//! The engine as a library: stacks that a program updates, without a command line and without a process for each.
//!
//! ```no_run
//! use plumb_automation::{Program, Workspace};
//!
//! # async fn f() -> Result<(), plumb_automation::Error> {
//! let workspace = Workspace::in_memory()?;
//! let stack = workspace.create_stack("shop", "dev").await?;
//! let program = Program::yaml(
//!     "resources: { pet: { type: random:RandomPet } }\noutputs: { name: '${pet.id}' }",
//! );
//! let report = stack.up(program).run().await?;
//! println!("{}", report.output("name").unwrap_or_default());
//! stack.destroy().run().await?;
//! # Ok(())
//! # }
//! ```
//!
//! | To | See |
//! |---|---|
//! | choose where stacks are kept, and how their secrets are encrypted | [`Workspace::builder`], [`Store`], [`Encryption`] |
//! | run a function of this process, a text, or a folder in any language | [`Program`] |
//! | create, change, read, refresh, adopt and delete | [`Stack`] |
//! | set options, follow events, stop | [`Operation`], [`Interrupts`] |
//! | use what came out | [`Report`], [`values`] |
//!
//! Nothing is taken from the environment (but for the place of temporary folders), the home folder or the current folder, and
//! nothing is printed. Any number of
//! stacks can be updated at the same time; operations on one stack exclude each other. A program that panics fails its own
//! operation alone. An operation whose future is dropped is like one whose process was killed: the journal has everything
//! that happened, and the next operation on the stack goes on from there.
//!
//! The modules [`acquiring`], [`codec`], [`hosting`], [`old_states`] and [`stacks`] are the parts that the command line is made of, too.

pub mod acquiring;
pub mod codec;
mod config;
mod error;
mod host;
pub mod hosting;
#[cfg(feature = "inline")]
mod inline;
pub mod old_states;
mod operation;
mod program;
mod report;
mod run;
mod secrets;
mod stack;
pub mod stacks;
mod taken;
pub mod values;
mod workspace;

pub use config::Config;
pub use error::Error;
pub use operation::{Import, Interrupts, Operation};
pub use program::Program;
pub use report::{Message, Report};
pub use secrets::Encryption;
pub use stack::Stack;
pub use workspace::{Store, Workspace, WorkspaceBuilder};

#[cfg(feature = "inline")]
pub use plumb as sdk;
#[cfg(feature = "inline")]
pub use plumb_policy as policy;

/// Types that options, events and results are made of.
pub use plumb_backend::UpdateRecord;
pub use plumb_events::{Event, OperationResult, PolicyViolation, Severity};
pub use plumb_resource::{ResourceState, StepOp, Urn};
pub use plumb_state::plan::Plan;
pub use plumb_value::{PropertyMap, Value};

pub use run::seed;

/// Version that states, plugins and tools are told, with a leading `v`.
pub const VERSION: &str = "v3.260.0";

/// [`VERSION`], parsed.
pub fn semantic_version() -> semver::Version {
    semver::Version::parse(VERSION.trim_start_matches('v'))
        .expect("the reported version is a version")
}

/// The guide, whose examples are compiled.
#[cfg(all(doctest, feature = "inline", feature = "stores"))]
#[doc = include_str!("../../../docs/guides/embedding.md")]
struct Guide;
