//! The catalogue of behaviours: each test cites the ids that it pins. One file for each family of ids.
//!
//! `cargo xtask behaviours` lists which ids have a test, and where.

mod aliases;
mod autonaming;
mod component_outputs;
mod components;
mod continue_on_error;
mod delete_first;
mod deleted_with;
mod dependencies;
mod destroy;
mod error_hooks;
mod functions;
mod hooks;
mod imports;
mod lifecycle;
mod packages;
mod pcl;
mod pending;
mod pending_creates;
mod plans;
mod policies;
mod protect;
mod provider_records;
mod providers;
mod reads;
mod recorded;
mod references;
mod refresh;
mod refresh_program;
mod shutdown;
mod stalled;
mod taint;
mod target;
mod transforms;
mod triggers;
mod update;
mod views;
