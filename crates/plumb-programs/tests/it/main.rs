//! Programs generated from the PCL in `tests/programs`.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod corpus;
mod golden;
mod java;
mod properties;
