//! Rules for passwords and names.

use std::process::ExitCode;

use plumb::ObjectType;
use plumb_policy::prelude::*;

const PASSWORD: &str = "random:index/randomPassword:RandomPassword";

/// Settings of the rule for the length of passwords.
#[derive(Clone, Debug, ObjectType)]
struct Length {
    minimum: Option<i64>,
}

fn pack() -> Pack {
    Pack::new("rust-policy", env!("CARGO_PKG_VERSION"))
        .level(Level::Mandatory)
        .policy(long_passwords())
        .policy(special_characters())
        .policy(few_passwords())
}

fn long_passwords() -> Policy<plumb_policy::OfResource> {
    Policy::resource("long-passwords", "Passwords must be long")
        .of(PASSWORD)
        .severity(Severity::High)
        .config_schema(
            value!({ "minimum": { "type": "integer", "minimum": 1 } }),
            &[],
        )
        .check(|password, report| {
            let minimum = password.config::<Length>()?.minimum.unwrap_or(12);
            let length = password.get::<i64>("length")?.unwrap_or(0);
            if length < minimum {
                report.violation(format!(
                    "`length` is {length}, and must be {minimum} at least"
                ));
            }
            Ok(())
        })
}

fn special_characters() -> Policy<plumb_policy::OfResource> {
    Policy::resource(
        "special-characters",
        "Passwords must have special characters",
    )
    .of(PASSWORD)
    .level(Level::Remediate)
    .fix(|password, fix| {
        if password.get::<bool>("special")? == Some(false) {
            fix.set("special", true);
        }
        Ok(())
    })
}

fn few_passwords() -> Policy<plumb_policy::OfStack> {
    Policy::stack("few-passwords", "A stack should have few passwords")
        .level(Level::Advisory)
        .check(|stack, report| {
            let count = stack.of(PASSWORD).count();
            if count > 2 {
                report.violation(format!("there are {count}"));
            }
            Ok(())
        })
}

fn main() -> ExitCode {
    pack().serve()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plumb_policy::testing::Tester;

    #[test]
    fn short_passwords_are_refused() -> Result<()> {
        let tester = Tester::new(pack())?;
        let found = tester.check(PASSWORD, "login", value!({ "length": 8 }))?;
        assert_eq!(
            found[0].message,
            "Passwords must be long\n`length` is 8, and must be 12 at least"
        );
        assert!(
            tester
                .check(PASSWORD, "login", value!({ "length": 12 }))?
                .is_empty()
        );
        tester.configure(
            "long-passwords",
            Level::Mandatory,
            value!({ "minimum": 20 }),
        )?;
        assert_eq!(
            tester
                .check(PASSWORD, "login", value!({ "length": 12 }))?
                .len(),
            1
        );
        Ok(())
    }

    #[test]
    fn special_characters_are_added() -> Result<()> {
        let tester = Tester::new(pack())?;
        let fixed = tester.fix(
            PASSWORD,
            "login",
            value!({ "length": 12, "special": false }),
        )?;
        assert_eq!(
            fixed.and_then(|it| it.get("special").cloned()),
            Some(Value::Bool(true))
        );
        assert_eq!(
            tester.fix(PASSWORD, "login", value!({ "length": 12 }))?,
            None
        );
        Ok(())
    }
}
