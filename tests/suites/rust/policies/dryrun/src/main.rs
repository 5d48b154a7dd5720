//! A rule for previews alone.

use plumb_policy::prelude::*;

fn main() -> std::process::ExitCode {
    Pack::new("dryrun", "1.0.0")
        .level(Level::Mandatory)
        .policy(
            Policy::resource("dry", "Verifies properties are true on dryrun")
                .of("simple:index:Resource")
                .check(|resource, report| {
                    if resource.info().is_preview() && resource.get("value")? != Some(true) {
                        report.violation("This is a test error");
                    }
                    Ok(())
                }),
        )
        .serve()
}
