//! End-to-end tests over the built binary.

#![expect(clippy::unwrap_used, reason = "tests may stop where they fail")]

mod arguments;
mod citations;
mod config;
mod context;
mod convert;
mod defects;
mod dependencies;
mod editor;
mod imports;
mod layers;
mod lifecycle;
mod looking;
mod messages;
mod metadata;
mod moves;
mod names;
mod new;
mod packages;
mod pending;
mod plans;
mod plugins;
mod recordings;
mod schemas;
mod secrets;
mod services;
mod session;
mod stacks;
mod state;
mod surface;
mod templates;
mod tools;
mod traces;
mod transcripts;
