//! Engine events: what a deployment tells the world while it runs (`engine.md` 10).
//!
//! This crate knows the events ([`Event`]), their form in logs and streams ([`json`]) and how values are made fit to
//! be seen ([`Filter`]). It does not know who emits events or what they look like to people, and it has no clock:
//! sequence numbers and times are given when an event is written.
//!
//! Start with [`Event`]. Emitting one is cheap: states are shared, and nothing is rendered before a subscriber asks.

mod color;
mod event;
mod filter;
pub mod json;
mod policy;
mod read;

pub use color::{ColorMode, strip_color};
pub use event::{
    Diagnostic, Event, FailedStatus, FailedStepEvent, Metadata, OperationResult, Progress,
    ProgressKind, Severity, StateView, StepEvent, Summary, Wait, WaitSubject,
};
pub use filter::{Filter, SECRET_MARK, asset_text};
pub use policy::{PolicyAnalyzeSummary, PolicyPackId, PolicyRemediation, PolicyViolation};
pub use read::{ReadError, ReadEvent};
