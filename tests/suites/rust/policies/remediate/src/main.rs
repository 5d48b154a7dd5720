//! A rule that corrects.

use plumb_policy::prelude::*;

#[derive(Clone, Debug, plumb::ObjectType)]
struct Settings {
    value: bool,
}

fn main() -> std::process::ExitCode {
    Pack::new("remediate", "3.0.0")
        .policy(
            Policy::resource("fixup", "Sets property to config")
                .of("simple:index:Resource")
                .level(Level::Remediate)
                .fix(|resource, fix| {
                    fix.set("value", resource.config::<Settings>()?.value);
                    Ok(())
                }),
        )
        .serve()
}
