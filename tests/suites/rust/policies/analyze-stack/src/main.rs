//! A rule for a stack as a whole.

use plumb_policy::prelude::*;

fn main() -> std::process::ExitCode {
    Pack::new("analyze-stack", "1.0.0")
        .level(Level::Mandatory)
        .policy(
            Policy::stack(
                "stack-size",
                "Stack must contain at most one simple:index:Resource",
            )
            .check(|stack, report| {
                if stack.of("simple:index:Resource").count() > 1 {
                    report.violation("Found an extra simple:index:Resource");
                }
                Ok(())
            }),
        )
        .serve()
}
