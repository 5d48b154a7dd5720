//! Common parts of the languages that are evaluated in process: values with outputs, and diagnostics with positions.
//!
//! - [`value`] defines the values of a running program. [`lift`] removes outputs from them and restores outputs on results;
//!   [`access`] evaluates accesses such as `a.b[0]`; [`convert`] translates to and from the values of requests.
//! - [`builtins`] are the pure functions. [`inputs`] turns values into the properties of a registration; [`answers`]
//!   interprets the engine's answers.
//! - [`hcl`] writes pieces of the PCL text in which snippets are stored.
//! - [`source`], [`diagnostic`] and [`report`] describe problems of a program with their positions.
//!
//! The crate knows no syntax: `plumb-yaml` and `plumb-pcl` have their own expressions and evaluate them to these values.

pub mod access;
pub mod answers;
pub mod builtins;
pub mod convert;
pub mod diagnostic;
pub mod duration;
pub mod go_format;
pub mod hcl;
pub mod inputs;
pub mod lift;
pub mod report;
pub mod source;
pub mod value;
