//! Rules for a value, one for each of its two values.

use plumb_policy::prelude::*;

fn main() -> std::process::ExitCode {
    Pack::new("simple", "1.0.0")
        .policy(
            Policy::resource("truthiness", "Verifies properties are true")
                .of("simple:index:Resource")
                .check(|resource, report| {
                    if resource.get("value")? == Some(true) {
                        report.violation("This is a test warning");
                    }
                    Ok(())
                }),
        )
        .policy(
            Policy::resource("falsiness", "Verifies properties are false")
                .of("simple:index:Resource")
                .level(Level::Mandatory)
                .check(|resource, report| {
                    if resource.get("value")? != Some(true) {
                        report.violation("This is a test error");
                    }
                    Ok(())
                }),
        )
        .serve()
}
