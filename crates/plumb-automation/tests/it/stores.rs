//! Stacks that outlive the process.

use std::path::Path;

use plumb_automation::{Encryption, Error, Program, Store, Workspace};

const PROGRAM: &str = "
resources: { password: { type: 'random:RandomPassword', properties: { length: 12 } } }
outputs: { password: '${password.result}' }
";

#[tokio::test]
async fn another_workspace_reads_a_folder_with_the_passphrase_alone() {
    let folder = tempfile::tempdir().unwrap();
    let open = |passphrase: &str| {
        Workspace::builder()
            .store(Store::Folder(folder.path().to_owned()))
            .encryption(Encryption::passphrase(passphrase))
            .build()
            .unwrap()
    };
    let first = open("correct horse");
    let stack = first.create_stack("shop", "dev").await.unwrap();
    let made = stack.up(Program::yaml(PROGRAM)).run().await.unwrap();

    let second = open("correct horse");
    let stack = second.stack("shop", "dev").await.unwrap();
    assert_eq!(stack.outputs().await.unwrap(), made.outputs);
    let again = stack.up(Program::yaml(PROGRAM)).run().await.unwrap();
    assert!(!again.has_changes);

    let wrong = open("battery staple");
    let stack = wrong.stack("shop", "dev").await.unwrap();
    let error = stack.outputs().await.unwrap_err();
    assert!(matches!(error, Error::Secrets(_)), "{error}");
    let error = stack.up(Program::yaml(PROGRAM)).run().await.unwrap_err();
    assert!(matches!(error, Error::Secrets(_)), "{error}");
    assert!(matches!(
        wrong.create_stack("shop", "dev").await,
        Err(Error::StackExists(_))
    ));
}

#[tokio::test]
async fn a_state_is_encrypted_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::builder()
        .store(Store::Folder(folder.path().to_owned()))
        .encryption(Encryption::passphrase("correct horse"))
        .build()
        .unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let up = || stack.up(Program::yaml(PROGRAM)).run();
    let made = up().await.unwrap();
    assert!(names_the_password(folder.path()));

    stack.encrypt_state().await.unwrap();
    stack.encrypt_state().await.unwrap();
    assert!(!up().await.unwrap().has_changes);
    assert_eq!(stack.outputs().await.unwrap(), made.outputs);
    assert!(!names_the_password(folder.path()));

    stack.decrypt_state().await.unwrap();
    assert!(names_the_password(folder.path()));
    assert!(!up().await.unwrap().has_changes);
}

/// Whether any file below a folder has the type of the resource in it.
fn names_the_password(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return names_the_password(&path);
        }
        let content = std::fs::read(&path).unwrap();
        String::from_utf8_lossy(&content).contains("RandomPassword")
    })
}

#[test]
fn a_key_of_the_process_is_refused_for_what_outlives_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::Folder(folder.path().to_owned());
    let refused = Workspace::builder().store(store).build().err().unwrap();
    assert!(
        refused.to_string().contains("nobody could read them"),
        "{refused}"
    );
    let relative = Workspace::builder().home("here").build().err().unwrap();
    assert!(
        relative.to_string().contains("is not absolute"),
        "{relative}"
    );
}
