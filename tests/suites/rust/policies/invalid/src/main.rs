//! A pack that cannot be.

use plumb_policy::prelude::*;

fn main() -> std::process::ExitCode {
    Pack::new("invalid", "1.0.0")
        .policy(
            Policy::resource("all", "Invalid policy name")
                .check(|_, _| Err(Error::new("It never runs."))),
        )
        .serve()
}
