//! What the languages that run in process have in common: values with outputs in them, and problems with places.
//!
//! - [`value`] has the values of a running program, [`lift`] takes outputs off them and puts them back on results;
//!   [`access`] follows `a.b[0]` into them; [`convert`] goes between them and the values of requests.
//! - [`builtins`] are functions that only compute; [`inputs`] turns values into the properties of a registration,
//!   [`answers`] says what the engine's answers mean.
//! - [`hcl`] writes pieces of the text that snippets are kept as.
//! - [`source`], [`diagnostic`] and [`report`] say what is wrong with a program, and where.
//!
//! The crate knows no syntax: `plumb-yaml` and `plumb-pcl` have their own expressions and evaluate them into these
//! values.

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
