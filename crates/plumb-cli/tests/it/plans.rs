//! `preview --save-plan`, `up --plan`, `up --strict`.

use serde_json::Value;

use crate::context::TestContext;

const A: &str = "urn:pulumi:dev::proj::pulumi:index:Stash::a";

fn program(context: &TestContext, input: &str) {
    let text = format!(
        "name: proj\nruntime: yaml\nresources:\n  a:\n    type: pulumi:index:Stash\n    properties:\n      input: {input}\n"
    );
    context.write("Pulumi.yaml", &text);
}

fn with_program(context: TestContext, input: &str) -> TestContext {
    program(&context, input);
    context.ok(&["stack", "init", "dev"]);
    context
}

fn up(context: &TestContext, more: &[&str]) -> (i32, String) {
    let ran = context.run(&[&["up", "--yes"], more].concat());
    (ran.code, ran.stdout)
}

#[test]
fn an_update_keeps_to_a_saved_plan() {
    let context = with_program(TestContext::new(), "first");
    let ran = context.run(&["preview", "--save-plan", "plan.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(
        ran.stderr,
        "Update plan written to 'plan.json'\nRun `plumb up --plan='plan.json'` to constrain the update to the \
         operations planned by this preview\n"
    );
    let plan: Value = serde_json::from_str(&context.read("plan.json")).unwrap();
    let planned = &plan["resourcePlans"][A];
    assert_eq!(planned["steps"], serde_json::json!(["create"]));
    assert_eq!(planned["goal"]["inputDiff"]["adds"]["input"], "first");
    program(&context, "second");
    let (code, stdout) = up(&context, &["--plan", "plan.json"]);
    assert_eq!(code, 1, "the preview is held to the plan");
    let told =
        format!("resource {A} violates plan: properties changed: ++input[{{first}}!={{second}}]");
    assert!(stdout.contains(&told), "{stdout}");
    program(&context, "first");
    let (code, stdout) = up(&context, &["--plan", "plan.json"]);
    assert_eq!(code, 0, "{stdout}");
    let history: Value =
        serde_json::from_str(&context.ok(&["stack", "history", "--json"])).unwrap();
    assert_eq!(history[0]["environment"]["updatePlan"], "true");
    program(&context, "third");
    let (code, stdout) = up(&context, &["--skip-preview", "--plan", "plan.json"]);
    assert_eq!(code, 1);
    assert!(stdout.contains("violates plan"), "{stdout}");
}

#[test]
fn a_preview_that_fails_or_changes_too_much_saves_no_plan() {
    let context = with_program(TestContext::new(), "${nothing}");
    assert_ne!(
        context.run(&["preview", "--save-plan", "plan.json"]).code,
        0
    );
    program(&context, "first");
    context.fails(
        7,
        &["preview", "--expect-no-changes", "--save-plan", "plan.json"],
    );
    assert!(!context.exists("plan.json"));
    let ran = context.run(&["preview", "--json", "--save-plan", "plan.json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(context.exists("plan.json"));
}

#[test]
fn secrets_of_a_plan_are_encrypted_unless_they_are_to_be_seen() {
    let context = TestContext::new().with_passphrase();
    let context = with_program(context, "{fn::secret: hush}");
    context.ok(&["preview", "--save-plan", "plan.json"]);
    assert!(!context.read("plan.json").contains("hush"));
    context.ok(&["preview", "--show-secrets", "--save-plan", "seen.json"]);
    assert!(context.read("seen.json").contains("hush"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let seen = std::fs::metadata(context.project().join("seen.json")).unwrap();
        assert_eq!(seen.permissions().mode() & 0o777, 0o600);
    }
    for plan in ["plan.json", "seen.json"] {
        let (code, stdout) = up(&context, &["--skip-preview", "--plan", plan]);
        assert_eq!(code, 0, "{stdout}");
    }
    program(&context, "{fn::secret: other}");
    let (code, stdout) = up(&context, &["--skip-preview", "--plan", "plan.json"]);
    assert_eq!(code, 1);
    assert!(stdout.contains("[{[secret]}!={[secret]}]"), "{stdout}");
}

#[test]
fn a_strict_update_keeps_to_its_own_preview() {
    let context = with_program(TestContext::new(), "first");
    assert_eq!(
        context.fails(1, &["up", "--yes", "--strict", "--skip-preview"]),
        "error: --strict cannot be used with --skip-preview; strict requires a preview\n"
    );
    let (code, stdout) = up(&context, &["--strict"]);
    assert_eq!(code, 0, "{stdout}");
}

#[test]
fn what_is_not_a_plan_is_refused_before_anything_happens() {
    let context = with_program(TestContext::new(), "first");
    context.write("plan.json", "[]");
    let told = context.fails(1, &["up", "--yes", "--plan", "plan.json"]);
    assert!(
        told.starts_with("error: could not read the plan <root>"),
        "{told}"
    );
    let told = context.fails(1, &["up", "--yes", "--plan", "nothing.json"]);
    assert_eq!(
        told,
        "error: open nothing.json: no such file or directory\n"
    );
    assert_eq!(
        context.ok(&["stack", "history"]),
        "Stack has never been updated\n"
    );
}

#[cfg(unix)]
#[test]
fn plans_are_written_into_the_file_that_is_there() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let context = with_program(TestContext::new(), "first");
    context.write("plan.json", "something longer than nothing");
    let path = context.project().join("plan.json");
    let before = std::fs::metadata(&path).unwrap().ino();
    context.ok(&["preview", "--save-plan", "plan.json"]);
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!(after.ino(), before);
    assert_eq!(after.permissions().mode() & 0o777, 0o600);
    context.ok(&["up", "--yes", "--skip-preview", "--plan", "plan.json"]);
    let told = context.run(&["preview", "--save-plan", "nowhere/plan.json"]);
    assert_eq!(told.code, 1);
    assert!(
        told.stderr
            .ends_with("error: open nowhere/plan.json: no such file or directory\n"),
        "{}",
        told.stderr
    );
}
