//! Plugins that are not installed.

use std::process::Command;

use axum::Router;
use axum::routing::get;
use plumb_automation::{Program, Workspace};

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

#[tokio::test]
async fn a_missing_plugin_is_downloaded_into_the_home_folder() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let archive = archive();
    let service = Router::new().fallback(get(move || {
        let archive = archive.clone();
        async move { archive }
    }));
    let serving = tokio::spawn(async move { axum::serve(listener, service).await });
    let home = tempfile::tempdir().unwrap();
    let workspace = Workspace::builder()
        .home(home.path())
        .download_plugins()
        .variable(
            "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES",
            format!("lost=http://{address}"),
        )
        .build()
        .unwrap();
    let stack = workspace.create_stack("shop", "dev").await.unwrap();
    let error = stack.up(Program::yaml(PROGRAM)).run().await.unwrap_err();
    assert!(error.to_string().contains("never there"), "{error:?}");
    let plugin = home
        .path()
        .join("plugins/resource-lost-v1.2.3/pulumi-resource-lost");
    assert!(plugin.is_file());
    serving.abort();
}
