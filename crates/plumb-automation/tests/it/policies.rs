//! Policy packs and programs in other processes.

use plumb_automation::{Error, Program, Workspace};
use serde_json::Map;

#[tokio::test]
async fn a_pack_that_does_not_start_fails_the_operation() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let update = stack.up(Program::yaml("outputs: {}"));
    let error = update.policy_pack(folder.path(), Map::new()).run().await;
    let error = error.unwrap_err();
    assert!(
        !matches!(error, Error::Failed(ref report) if report.has_changes),
        "{error}"
    );
    assert!(error.to_string().contains("policy"), "{error}");
}
