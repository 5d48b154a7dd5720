//! Complete operations.

use std::io::Read as _;
use std::process::Command;

use crate::context::TestContext;

/// PULUMI-02
#[test]
fn a_project_without_a_runtime_is_an_empty_program() {
    let context = TestContext::without_project().with_passphrase();
    context.write("Pulumi.yaml", "name: proj\n");
    context.ok(&["stack", "init", "dev"]);
    for verb in ["up", "refresh", "up", "destroy"] {
        let text = context.ok(&[verb, "--yes", "--skip-preview"]);
        assert!(!text.contains("error"), "{text}");
    }
}

/// PULUMI-09: the second interrupt asks the provider to stop; its answer is recorded, and the run ends with an error.
#[test]
fn a_second_interrupt_reaches_what_a_provider_does() {
    let context = TestContext::new().with_passphrase();
    context.write(
        "Pulumi.yaml",
        "name: proj\nruntime: yaml\nresources:\n  slow:\n    type: command:local:Command\n    properties:\n      \
         create: echo started > started && sleep 600\n",
    );
    context.ok(&["stack", "init", "dev"]);
    let started = context.project().join("started");
    let made = Command::new("mkfifo").arg(&started).status().unwrap();
    assert!(made.success());
    let run = context.start(&["up", "--yes", "--skip-preview"]);
    // Blocks until the script opens the pipe.
    let mut text = String::new();
    let mut pipe = std::fs::File::open(&started).unwrap();
    pipe.read_to_string(&mut text).unwrap();
    let id = run.id().to_string();
    for _ in 0..2 {
        let told = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(told.success());
        // Two signals that are pending together would count as one.
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    let ended = context.ended(run);
    assert_ne!(ended.code, 0);
    assert!(
        ended.stdout.contains("update canceled"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    let state = context.ok(&["stack", "export"]);
    assert!(!state.contains("pending_operations\": [{"), "{state}");
}
