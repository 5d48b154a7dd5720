//! A rule with a setting that no schema describes.

use plumb_policy::prelude::*;

#[derive(Clone, Debug, plumb::ObjectType)]
struct Settings {
    value: bool,
}

fn main() -> std::process::ExitCode {
    Pack::new("config", "2.0.0")
        .policy(
            Policy::resource("allowed", "Verifies properties")
                .of("simple:index:Resource")
                .level(Level::Mandatory)
                .check(|resource, report| {
                    let wanted = resource.config::<Settings>()?.value;
                    if let Some(value) = resource.get::<bool>("value")?.filter(|it| *it != wanted) {
                        report.violation(format!("Property was {value}"));
                    }
                    Ok(())
                }),
        )
        .serve()
}
