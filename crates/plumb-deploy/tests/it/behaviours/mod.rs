//! The catalogue of behaviours: each test cites the ids that it pins. One file for each family of ids.
//!
//! `cargo xtask behaviours` lists which ids have a test, and where.

mod components;
mod dependencies;
mod taint;
mod triggers;
