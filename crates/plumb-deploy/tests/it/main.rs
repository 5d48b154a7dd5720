//! The core at work: whole runs against a small world.

mod behaviours;
mod generated;
mod histories;
mod hooks;
mod world;
