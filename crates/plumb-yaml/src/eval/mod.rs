//! Evaluation of a checked program into requests.

pub(crate) mod driver;
pub(crate) mod evaluator;
pub(crate) mod invoke;
mod naming;
mod options;
mod read;
mod references;
pub(crate) mod register;

pub(crate) use plumb_eval::{access, builtins, convert, go_format, lift, value};
