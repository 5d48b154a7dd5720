//! The `plumb` binary.
fn main() {}
