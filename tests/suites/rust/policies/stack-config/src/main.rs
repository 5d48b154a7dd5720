//! A pack that follows from the configuration of the stack.

use plumb_policy::prelude::*;

fn main() -> std::process::ExitCode {
    plumb_policy::serve(|info| {
        let wanted = info
            .config("value")
            .context("the variable `value` is not set")?
            == "true";
        let (name, description) = (
            format!("validate-{wanted}"),
            format!("Verifies property is {wanted}"),
        );
        let policy = Policy::resource(&name, &description)
            .of("simple:index:Resource")
            .check(move |resource, report| {
                if let Some(value) = resource.get::<bool>("value")?.filter(|it| *it != wanted) {
                    report.violation(format!("Property was {value}"));
                }
                Ok(())
            });
        Ok(Pack::new("stack-config", "2.0.0")
            .level(Level::Mandatory)
            .policy(policy))
    })
}
