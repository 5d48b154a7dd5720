//! Programs generated from the PCL in `tests/programs`.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod classes;
mod corpus;
mod externals;
mod golden;
mod properties;
