//! The plugin `random`.

use std::process::ExitCode;

fn main() -> ExitCode {
    plumb_provider_plugins::serve("random")
}
