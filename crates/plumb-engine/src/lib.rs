//! The shell around the deployment core.

pub mod monitor;
pub mod program;
