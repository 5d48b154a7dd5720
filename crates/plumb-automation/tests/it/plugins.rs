//! Plugins that are not installed.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use axum::Router;
use axum::routing::get;
use plumb_automation::{Program, Workspace, WorkspaceBuilder};
use tokio::task::JoinHandle;

const PROGRAM: &str = "resources: { a: { type: 'lost:Thing', options: { version: 1.2.3 } } }";

/// The archive of a plugin that ends at once.
fn archive() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("pulumi-resource-lost");
    std::fs::write(&script, "#!/bin/sh\necho never there >&2\nexit 1\n").unwrap();
    let made = Command::new("sh")
        .args([
            "-c",
            "chmod +x pulumi-resource-lost && tar czf - pulumi-resource-lost",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    made.stdout
}

#[tokio::test]
async fn nothing_is_downloaded_unless_asked_for() {
    let workspace = Workspace::in_memory().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let error = stack.up(Program::yaml(PROGRAM)).run().await.unwrap_err();
    assert!(error.to_string().contains("lost"), "{error}");
}

/// A server that answers every request with the archive.
async fn archives() -> (SocketAddr, JoinHandle<std::io::Result<()>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let archive = archive();
    let service = Router::new().fallback(get(move || {
        let archive = archive.clone();
        async move { archive }
    }));
    let serving = tokio::spawn(async move { axum::serve(listener, service).await });
    (address, serving)
}

/// Settings with a home folder, for plugins that come from this address.
fn downloading(home: &Path, address: SocketAddr) -> WorkspaceBuilder {
    let overrides = format!("lost=http://{address}");
    Workspace::builder()
        .home(home)
        .download_plugins()
        .variable("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES", overrides)
}

/// The error of a program that needs the plugin.
async fn error_of(settings: WorkspaceBuilder) -> String {
    let workspace = settings.build().unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let error = stack.up(Program::yaml(PROGRAM)).run().await.unwrap_err();
    error.to_string()
}

fn installed(home: &Path) -> PathBuf {
    home.join("plugins/resource-lost-v1.2.3/pulumi-resource-lost")
}

#[tokio::test]
async fn a_missing_plugin_is_downloaded_into_the_home_folder() {
    let (address, serving) = archives().await;
    let home = tempfile::tempdir().unwrap();
    let error = error_of(downloading(home.path(), address)).await;
    assert!(error.contains("never there"), "{error}");
    assert!(installed(home.path()).is_file());
    serving.abort();
}

#[tokio::test]
async fn plugins_are_written_down_and_others_are_refused() {
    let (address, serving) = archives().await;
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let unlisted = downloading(home.path(), address).only_locked_plugins(project.path());
    let error = error_of(unlisted).await;
    assert!(error.contains("plumb.lock"), "{error}");
    assert!(!installed(home.path()).exists(), "nothing is downloaded");

    let writing = downloading(home.path(), address).lock_plugins(project.path());
    assert!(error_of(writing).await.contains("never there"));
    let written = std::fs::read_to_string(project.path().join("plumb.lock")).unwrap();
    assert!(written.contains("resource-lost-v1.2.3"), "{written}");

    let listed = || {
        Workspace::builder()
            .home(home.path())
            .only_locked_plugins(project.path())
    };
    assert!(
        error_of(listed()).await.contains("never there"),
        "it is started"
    );
    std::fs::write(
        installed(home.path()),
        "#!/bin/sh\necho changed >&2\nexit 1\n",
    )
    .unwrap();
    let error = error_of(listed()).await;
    assert!(
        !error.contains("changed") && error.contains("plumb.lock"),
        "{error}"
    );
    serving.abort();
}

#[test]
fn a_lock_file_and_a_path_of_plugins_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let both = Workspace::builder()
        .plugin_path("/opt")
        .only_locked_plugins(folder.path());
    let error = both.build().map(drop).unwrap_err();
    assert!(error.to_string().contains("`plugin_path`"), "{error}");
}
