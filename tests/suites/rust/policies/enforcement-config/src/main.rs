//! A rule whose level the configuration sets.

use plumb_policy::prelude::*;

fn main() -> std::process::ExitCode {
    Pack::new("enforcement-config", "3.0.0")
        .policy(
            Policy::resource("false", "Verifies property is false")
                .of("simple:index:Resource")
                .check(|resource, report| {
                    if resource.get("value")? == Some(true) {
                        report.violation("Property was true");
                    }
                    Ok(())
                }),
        )
        .serve()
}
