//! Many stacks in one process.

use plumb_automation::{Program, Workspace};
use pretty_assertions::assert_eq;

const PROGRAM: &str = "
resources: { pet: { type: 'random:RandomPet', properties: { prefix: '${pulumi.stack}' } } }
outputs: { name: '${pet.id}' }
";

/// Each gets its own result, and an operation on a stack that another one holds is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_stacks_are_updated_side_by_side() {
    let workspace = Workspace::in_memory().unwrap();
    let tenants = (0..100).map(|number| {
        let workspace = workspace.clone();
        tokio::spawn(async move {
            let name = format!("tenant{number}");
            let stack = workspace.create_stack("shop", &name).await.unwrap();
            let report = stack.up(Program::yaml(PROGRAM)).run().await.unwrap();
            assert_eq!(
                report.output("name").unwrap().split('-').next(),
                Some(&*name)
            );
            report.resources.len()
        })
    });
    for tenant in tenants.collect::<Vec<_>>() {
        assert_eq!(tenant.await.unwrap(), 3);
    }
    assert_eq!(workspace.stacks(Some("shop")).await.unwrap().len(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_on_one_stack_exclude_each_other() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let slow = Program::yaml(
        "resources: { a: { type: 'command:local:Command', properties: { create: 'sleep 1' } } }",
    );
    let first = tokio::spawn(stack.up(slow).run());
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let second = stack.up(Program::yaml(PROGRAM)).run().await.unwrap_err();
    assert!(second.to_string().contains("locked"), "{second}");
    first.await.unwrap().unwrap();
    stack.up(Program::yaml(PROGRAM)).run().await.unwrap();
}
