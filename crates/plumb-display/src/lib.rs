//! Displays of operations: progress lines, a tree or a diff for people, and JSON for programs.
//!
//! Everything in this crate converts engine events to text. It does not print, read the clock or query the terminal;
//! the caller passes events and the time since the start of the operation, and writes the result.
//!
//! Start with [`Display`]; [`Options`] selects its contents. [`ChangeReport`] makes reports for files. [`PreviewDigest`] and
//! [`ResultSummary`] are documents for programs; `plumb_events::json` has engine events as JSON lines.

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
mod names;
mod ops;
mod options;
mod painter;
mod policies;
mod preview_json;
mod progress;
mod quoted;
mod reasons;
mod report;
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
pub use names::{OWN_NAME, with_program};
pub use options::{Action, Options, View};
pub use painter::{Painter, ScreenSize};
pub use preview_json::{PreviewDigest, StateToJson};
pub use report::{Browser, BrowserKey, ChangeReport, fenced};
pub use summary_json::ResultSummary;
pub use text::linked;
pub use tree::expected_changes;
pub use unchanged::Unchanged;
pub use values::object_text;
pub use watch::WatchLines;
