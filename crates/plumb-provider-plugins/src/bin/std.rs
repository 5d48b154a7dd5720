//! The plugin `std`.

use std::process::ExitCode;

fn main() -> ExitCode {
    plumb_provider_plugins::serve("std")
}
