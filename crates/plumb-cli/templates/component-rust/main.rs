//! The provider of the components.

mod greeting;

use std::process::ExitCode;

use greeting::Greeting;
use plumb_provider::Provider;

fn main() -> ExitCode {
    Provider::new("${PROJECT}", env!("CARGO_PKG_VERSION"))
        .component::<Greeting>()
        .serve()
}
