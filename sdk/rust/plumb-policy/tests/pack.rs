//! Rules of a pack, without an engine.

use plumb_policy::prelude::*;
use plumb_policy::testing::Tester;

const DISK: &str = "cloud:index:Disk";

#[derive(Clone, Debug, plumb::ObjectType)]
struct Limits {
    gigabytes: i64,
}

fn disks() -> Pack {
    Pack::new("disks", "1.2.3")
        .level(Level::Mandatory)
        .policy(
            Policy::resource("small", "Disks must be small")
                .of(DISK)
                .config_schema(
                    value!({ "gigabytes": { "type": "integer" } }),
                    &["gigabytes"],
                )
                .check(|disk, report| {
                    let limit = disk.config::<Limits>()?.gigabytes;
                    if disk.get::<i64>("size")?.unwrap_or(0) > limit {
                        report.violation(format!("at most {limit} GB"));
                    }
                    Ok(())
                }),
        )
        .policy(
            Policy::resource("encrypted", "Disks must be encrypted")
                .of(DISK)
                .level(Level::Remediate)
                .fix(|disk, fix| {
                    if disk.get::<bool>("encrypted")? != Some(true) {
                        fix.set("encrypted", true);
                        fix.set("key", "default");
                    }
                    Ok(())
                })
                .check(|disk, report| {
                    if disk.get::<bool>("encrypted")? != Some(true) {
                        report.violation("");
                    }
                    Ok(())
                }),
        )
        .policy(
            Policy::resource("broken", "Nothing has the name panic")
                .level(Level::Advisory)
                .check(|resource, _| {
                    assert!(resource.name() != "panic", "this rule is broken");
                    resource.get::<bool>("size").map(|_| ()).or_else(|error| {
                        if resource.name() == "mismatch" {
                            Err(error)
                        } else {
                            Ok(())
                        }
                    })
                }),
        )
        .policy(
            Policy::stack("few", "A stack has one disk").check(|stack, report| {
                for disk in stack.of(DISK).skip(1) {
                    report.violation_of(disk.urn(), "one too many");
                }
                Ok(())
            }),
        )
}

fn tester() -> Tester {
    let tester = Tester::new(disks()).expect("the names are valid");
    tester
        .configure("small", Level::Mandatory, value!({ "gigabytes": 10 }))
        .expect("the settings are an object");
    tester
}

fn names(found: &[plumb_policy::testing::Violation]) -> Vec<(&str, Level)> {
    found
        .iter()
        .map(|it| (it.policy.as_str(), it.level))
        .collect()
}

#[test]
fn rules_see_resources_of_their_types() -> Result<()> {
    let tester = tester();
    let good = value!({ "size": 10, "encrypted": true });
    assert!(tester.check(DISK, "good", good)?.is_empty());
    let found = tester.check(DISK, "bad", value!({ "size": 11 }))?;
    // What is corrected at the level `remediate` fails the deployment if it is still there.
    assert_eq!(
        names(&found),
        [("small", Level::Mandatory), ("encrypted", Level::Mandatory)]
    );
    assert_eq!(found[0].message, "Disks must be small\nat most 10 GB");
    assert_eq!(found[1].message, "Disks must be encrypted");
    assert!(
        tester
            .check("cloud:index:Host", "other", value!({ "size": 11 }))?
            .is_empty()
    );
    Ok(())
}

#[test]
fn levels_and_settings_come_from_the_configuration() -> Result<()> {
    let tester = tester();
    tester.configure("small", Level::Advisory, value!({ "gigabytes": 12 }))?;
    assert!(
        tester
            .check(DISK, "a", value!({ "size": 11, "encrypted": true }))?
            .is_empty()
    );
    let found = tester.check(DISK, "a", value!({ "size": 13, "encrypted": true }))?;
    assert_eq!(names(&found), [("small", Level::Advisory)]);
    tester.configure("encrypted", Level::Disabled, value!({}))?;
    // The configuration is one as a whole: `small` has no settings any more.
    let error = tester
        .check(DISK, "a", value!({ "size": 1 }))
        .expect_err("it has no settings");
    assert!(
        error
            .to_string()
            .contains("the policy `small` of the pack `disks` failed"),
        "{error}"
    );
    Ok(())
}

#[test]
fn corrections_keep_secrets_and_what_they_do_not_touch() -> Result<()> {
    let tester = tester();
    let secret = |text: &str| Value::Secret(Box::new(Value::String(text.to_owned())));
    let inputs = value!({ "size": 3, "key": secret("mine"), "note": secret("x") });
    let fixed = tester.fix(DISK, "a", inputs)?.expect("it is corrected");
    assert_eq!(fixed["encrypted"], Value::Bool(true));
    assert_eq!(fixed["key"], secret("default"), "a secret stays one");
    assert_eq!(fixed["note"], secret("x"));
    assert_eq!(tester.fix(DISK, "a", value!({ "encrypted": true }))?, None);
    assert_eq!(tester.fix("cloud:index:Host", "a", value!({}))?, None);
    Ok(())
}

#[test]
fn a_preview_says_what_it_cannot_look_at() -> Result<()> {
    let tester = tester().preview();
    let unknown = value!({ "size": Value::Unknown, "encrypted": true });
    let found = tester.check(DISK, "a", unknown.clone())?;
    assert_eq!(names(&found), [("small", Level::Advisory)]);
    assert!(
        found[0]
            .message
            .contains("because the property `size` is not known yet")
    );
    assert_eq!(
        tester.fix(DISK, "a", value!({ "encrypted": Value::Unknown }))?,
        None
    );
    Ok(())
}

#[test]
fn a_rule_that_fails_is_named() {
    let tester = tester();
    let error = tester
        .check("cloud:index:Host", "mismatch", value!({ "size": 1 }))
        .expect_err("the type is another one");
    let text =
        "the policy `broken` of the pack `disks` failed: size: expected a boolean, found a number";
    assert_eq!(error.to_string(), text);
    let error = tester
        .check("cloud:index:Host", "panic", value!({}))
        .expect_err("it panics");
    assert_eq!(error.to_string(), "a policy panicked: this rule is broken");
}

#[test]
fn no_message_shows_a_secret() -> Result<()> {
    let pack = Pack::new("p", "1").policy(Policy::resource("few", "There are few").check(
        |resource, _| {
            resource.get::<i8>("count")?;
            Ok(())
        },
    ));
    let tester = Tester::new(pack)?;
    let failed = |count: Value| {
        let outcome = tester.check(DISK, "a", value!({ "count": count }));
        outcome.expect_err("it is too large").to_string()
    };
    assert!(failed(Value::Number(4711.0)).contains("4711"));
    let secret = Value::Secret(Box::new(Value::Number(4711.0)));
    assert!(failed(secret).ends_with("count: it has another type than expected"));
    Ok(())
}

#[test]
fn rules_see_the_stack_as_a_whole() -> Result<()> {
    let tester = tester();
    let disk = |name: &'static str| (DISK, name, value!({ "size": 1 }));
    assert!(tester.check_stack([disk("one")])?.is_empty());
    let found = tester.check_stack([disk("one"), disk("two")])?;
    assert_eq!(names(&found), [("few", Level::Mandatory)]);
    assert_eq!(
        found[0].urn,
        "urn:pulumi:stack::project::cloud:index:Disk::two"
    );
    Ok(())
}

#[test]
fn names_are_checked() {
    let rule = |name: &str| Policy::resource(name, "It is so").check(|_, _| Ok(()));
    for (pack, problem) in [
        (
            Pack::new("p", "1").policy(rule("all")),
            "stands for every policy",
        ),
        (
            Pack::new("p", "1").policy(rule("a")).policy(rule("a")),
            "two policies with the name `a`",
        ),
        (Pack::new("p", "1").policy(rule("")), "has no name"),
        (Pack::new("p", ""), "needs a name and a version"),
    ] {
        let error = Tester::new(pack).expect_err(problem);
        assert!(error.to_string().contains(problem), "{error}");
    }
}
