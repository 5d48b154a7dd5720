//! What operations look like: to people, as progress lines, a tree or a diff, and to programs, as JSON.
//!
//! Everything here is a fold from engine events to text: nothing is printed, no clock is read, no terminal is asked.
//! The caller hands in events and the time since the operation began, and writes what comes back where it belongs.
//!
//! Start with [`Display`]; [`Options`] says what it shows. [`PreviewDigest`] and [`ResultSummary`] are the documents
//! for programs; engine events as JSON lines are the matter of `plumb_events::json`.

mod ci;
mod color;
mod detailed;
mod diff;
mod diff_view;
mod display;
mod embedded;
mod explanations;
mod glyphs;
mod lists;
mod ops;
mod options;
mod painter;
mod policies;
mod preview_json;
mod progress;
mod quoted;
mod reasons;
mod rows;
mod sections;
mod steps;
mod summary_json;
mod text;
mod text_diff;
mod tree;
mod unchanged;
mod values;
mod waits;
mod watch;

pub use ci::CiSystem;
pub use color::colorize;
pub use diff_view::DiffView;
pub use display::{Display, Output, Scroll};
pub use explanations::{Explanation, Explanations, RunExplanation};
pub use glyphs::plain;
pub use options::{Action, Options, View};
pub use painter::{Painter, ScreenSize};
pub use preview_json::{PreviewDigest, StateToJson};
pub use summary_json::ResultSummary;
pub use text::linked;
pub use unchanged::Unchanged;
pub use values::object_text;
pub use watch::WatchLines;
