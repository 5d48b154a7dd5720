//! From a checked program to requests.

pub(crate) mod access;
pub(crate) mod builtins;
pub(crate) mod convert;
pub(crate) mod driver;
pub(crate) mod evaluator;
pub(crate) mod go_format;
pub(crate) mod invoke;
pub(crate) mod lift;
pub(crate) mod register;
pub(crate) mod value;
