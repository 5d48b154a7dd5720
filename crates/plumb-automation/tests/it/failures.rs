//! Failures, interrupts and panics, and the state after them.

use std::time::Duration;

use plumb_automation::{Error, Interrupts, Program, Workspace};
use plumb_events::OperationResult;
use plumb_resource::StepOp;
use pretty_assertions::assert_eq;

#[tokio::test]
async fn a_failed_step_is_an_error_with_a_report() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let program = Program::yaml(
        "resources:
  good: { type: 'random:RandomPet' }
  bad:
    type: command:local:Command
    properties: { create: 'echo no >&2; exit 3' }
    options: { dependsOn: ['${good}'] }
",
    );
    let error = stack.up(program).run().await.unwrap_err();
    assert!(error.to_string().contains("exit status 3"), "{error}");
    let report = error.report().unwrap();
    assert_eq!(report.result, OperationResult::Failed);
    assert_eq!(report.count(StepOp::Create), 2);
    let names = stack.resources().await.unwrap();
    let names: Vec<&str> = names.iter().map(|it| it.urn.name()).collect();
    assert!(
        names.contains(&"good") && !names.contains(&"bad"),
        "{names:?}"
    );
    assert_eq!(stack.history(1).await.unwrap()[0].result, "failed");
}

#[tokio::test]
async fn a_program_that_cannot_run_is_refused() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let error = stack.up(Program::folder(folder.path())).run().await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("it has no project file"), "{error}");
    // The stack is free again.
    stack.up(Program::yaml("outputs: {}")).run().await.unwrap();
}

#[tokio::test]
async fn an_interrupt_ends_what_runs() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let program = Program::yaml(
        "resources:
  first: { type: 'command:local:Command', properties: { create: 'sleep 0.4' } }
  second: { type: 'random:RandomPet', options: { dependsOn: ['${first}'] } }
",
    );
    let interrupts = Interrupts::new();
    let (sent, waiting) = (interrupts.clone(), Duration::from_millis(100));
    tokio::spawn(async move {
        tokio::time::sleep(waiting).await;
        sent.interrupt();
    });
    let error = stack
        .up(program.clone())
        .interrupts(&interrupts)
        .run()
        .await;
    assert!(matches!(error, Err(Error::Canceled(_))), "{error:?}");
    let names = stack.resources().await.unwrap();
    let names: Vec<&str> = names.iter().map(|it| it.urn.name()).collect();
    assert!(
        names.contains(&"first") && !names.contains(&"second"),
        "{names:?}"
    );
    stack.up(program).run().await.unwrap();
}

#[tokio::test]
async fn interrupts_before_the_start_count() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let program = Program::yaml("resources: { pet: { type: 'random:RandomPet' } }");
    let interrupts = Interrupts::new();
    interrupts.interrupt();
    let error = stack
        .up(program.clone())
        .interrupts(&interrupts)
        .run()
        .await;
    assert!(matches!(error, Err(Error::Canceled(_))), "{error:?}");
    let error = stack.preview(program).interrupts(&interrupts).run().await;
    assert!(matches!(error, Err(Error::Canceled(_))), "{error:?}");
}

#[tokio::test]
async fn a_listener_that_panics_does_not_lose_the_state() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let program = Program::yaml("resources: { pet: { type: 'random:RandomPet' } }");
    let update = stack.up(program).on_event(|_| panic!("not ready for that"));
    let panicked = tokio::spawn(update.run()).await.unwrap_err();
    assert!(panicked.is_panic());
    let states = stack.resources().await.unwrap();
    assert!(states.iter().any(|state| state.urn.name() == "pet"));
}

/// For the stack this is like a killed process: the update is never finished.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operation_that_is_dropped_loses_nothing() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let program = Program::yaml(
        "resources:
  first: { type: 'random:RandomPet' }
  second:
    type: command:local:Command
    properties: { create: 'sleep 30' }
    options: { dependsOn: ['${first}'] }
",
    );
    let running = stack.up(program).run();
    let dropped = tokio::time::timeout(Duration::from_secs(1), running).await;
    assert!(dropped.is_err(), "{dropped:?}");
    let short = Program::yaml("resources: { first: { type: 'random:RandomPet' } }");
    let report = stack.up(short).run().await.unwrap();
    assert_eq!(report.count(StepOp::Create), 0, "{report:?}");
}
