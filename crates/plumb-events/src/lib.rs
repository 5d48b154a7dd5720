//! Engine events: the record of a running deployment that displays, logs and streams follow (`engine.md` 10).
//!
//! This crate knows the events ([`Event`]), their form in logs and streams ([`json`]) and the hiding of secrets in them
//! ([`Filter`]). It does not know who emits events or how they are displayed, and it has no clock: sequence numbers and
//! times are given when an event is written.
//!
//! Start with [`Event`]. Emitting one is cheap: states are shared, and nothing is rendered until a subscriber needs it.

mod color;
mod event;
mod filter;
pub mod json;
mod policy;
mod program_code;
mod read;

pub use color::{ColorMode, strip_color};
pub use event::{
    Diagnostic, Event, FailedStatus, FailedStepEvent, Metadata, OperationResult, Progress,
    ProgressKind, Severity, StateView, StepEvent, Summary, Wait, WaitSubject,
};
pub use filter::{Filter, SECRET_MARK, asset_text};
pub use policy::{PolicyAnalyzeSummary, PolicyPackId, PolicyRemediation, PolicyViolation};
pub use read::{ReadError, ReadEvent};
