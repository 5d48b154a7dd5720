//! End-to-end tests over the built binary.

mod arguments;
mod config;
mod context;
mod layers;
mod new;
mod plugins;
mod secrets;
mod session;
mod stacks;
mod state;
