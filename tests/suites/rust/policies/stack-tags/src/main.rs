//! A rule that reads a tag of the stack.

use plumb_policy::prelude::*;

fn main() -> std::process::ExitCode {
    Pack::new("stack-tags", "2.0.0")
        .policy(
            Policy::resource("allowed", "Verifies property equals the stack tag value")
                .of("simple:index:Resource")
                .level(Level::Mandatory)
                .check(|resource, report| {
                    let Some(tag) = resource.info().tag("value") else {
                        report.violation("Stack tag 'value' is required");
                        return Ok(());
                    };
                    let wanted: bool = tag.parse()?;
                    if let Some(value) = resource.get::<bool>("value")?.filter(|it| *it != wanted) {
                        report.violation(format!("Property was {value}"));
                    }
                    Ok(())
                }),
        )
        .serve()
}
