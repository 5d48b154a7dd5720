//! Programs against a pretend engine.

mod behaviour;
mod fake;
mod oracle;
mod recordings;
mod speed;
