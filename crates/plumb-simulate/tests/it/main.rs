//! Stories that failed once.
//!
//! Generated histories are not among the tests yet: the model and the core still disagree about some of them. `cargo xtask
//! simulate --ops 50000 --seed 0` runs them and prints the shortest story that it finds.

mod stories;
