//! The policies of the pack.

use std::process::ExitCode;

use plumb_policy::prelude::*;

fn pack() -> Pack {
    Pack::new("policies", env!("CARGO_PKG_VERSION")).policy(
        Policy::resource(
            "names-are-short",
            "Names of resources are no longer than 50 characters.",
        )
        .check(|resource, report| {
            if resource.name().len() > 50 {
                report.violation(format!("The name {} is too long.", resource.name()));
            }
            Ok(())
        }),
    )
}

fn main() -> ExitCode {
    pack().serve()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plumb_policy::testing::Tester;

    #[test]
    fn long_names_are_reported() -> Result<()> {
        let tester = Tester::new(pack())?;
        let token = "random:index/randomPet:RandomPet";
        assert!(tester.check(token, "pet", value!({}))?.is_empty());
        assert_eq!(tester.check(token, &"x".repeat(51), value!({}))?.len(), 1);
        Ok(())
    }
}
