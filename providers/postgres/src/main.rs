//! The process of the provider, which an engine starts.

use std::process::ExitCode;

fn main() -> ExitCode {
    postgres_provider::provider().serve()
}
