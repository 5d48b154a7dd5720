//! Metadata of updates in the history.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::context::TestContext;

fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .args(words)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ada")
        .env("GIT_AUTHOR_EMAIL", "ada@us.example")
        .env("GIT_COMMITTER_NAME", "Bob")
        .env("GIT_COMMITTER_EMAIL", "bob@us.example")
        .output()
        .expect("git is here");
    assert!(
        output.status.success(),
        "git {words:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn up(context: &TestContext, more: &[&str]) -> Value {
    let mut words = vec!["up", "--yes", "--skip-preview"];
    words.extend(more);
    context.ok(&words);
    let history = context.ok(&["stack", "history", "--json"]);
    serde_json::from_str::<Value>(&history).unwrap()[0].take()
}

#[test]
fn the_history_tells_commit_and_repository() {
    let context = TestContext::new().with_passphrase();
    let repository = context.project().parent().unwrap().to_owned();
    git(&repository, &["init", "--quiet", "--initial-branch=topic"]);
    let address = "https://me:hush@github.com/us/shop.git";
    git(&repository, &["remote", "add", "origin", address]);
    std::fs::write(repository.join(".gitignore"), "*\n!.gitignore\n").unwrap();
    git(&repository, &["add", ".gitignore"]);
    git(
        &repository,
        &["commit", "--quiet", "-m", "Add a shop\n\nIt sells."],
    );
    context.ok(&["stack", "init", "dev"]);
    let update = up(&context, &[]);
    assert_eq!(update["message"], "Add a shop");
    let facts = &update["environment"];
    for (key, wanted) in [
        (
            "git.head",
            git(&repository, &["rev-parse", "HEAD"]).as_str(),
        ),
        ("git.headName", "refs/heads/topic"),
        ("git.author", "Ada"),
        ("git.author.email", "ada@us.example"),
        ("git.committer", "Bob"),
        ("git.committer.email", "bob@us.example"),
        ("git.dirty", "false"),
        ("vcs.owner", "us"),
        ("vcs.repo", "shop"),
        ("vcs.kind", "github.com"),
        ("vcs.root", "project"),
        ("exec.kind", "cli"),
        ("pulumi.version", plumb_operate::VERSION),
        ("pulumi.env.PULUMI_CONFIG_PASSPHRASE", "set"),
        ("pulumi.flag.yes", "true"),
        ("runtime.name", "yaml"),
    ] {
        assert_eq!(facts[key], wanted, "{key} in {facts:#}");
    }
    assert!(!facts.to_string().contains("hush"), "{facts:#}");

    std::fs::write(repository.join(".gitignore"), "*\n").unwrap();
    git(&repository, &["checkout", "--quiet", "--detach"]);
    let update = up(&context, &["--message", "by hand", "--parallel", "3"]);
    assert_eq!(update["message"], "by hand");
    let facts = &update["environment"];
    assert_eq!(facts["git.dirty"], "true");
    assert_eq!(facts["pulumi.flag.parallel"], "set");
    // Detached head.
    assert_eq!(facts.get("git.headName"), None);
    let shown = context.ok(&["stack", "history"]);
    assert!(shown.contains("    vcs.owner: us\n"), "{shown}");
}

#[test]
fn the_history_tells_the_system_of_continuous_integration() {
    let context = TestContext::new()
        .with_passphrase()
        .with("GITLAB_CI", "true")
        .with("CI_PIPELINE_ID", "77")
        .with("CI_PIPELINE_IID", "7")
        .with("CI_PIPELINE_SOURCE", "merge_request_event")
        .with("CI_JOB_URL", "https://gitlab.example/us/shop/-/jobs/1")
        .with("CI_COMMIT_SHA", "abc")
        .with("CI_COMMIT_REF_NAME", "topic")
        .with("CI_COMMIT_MESSAGE", "Sell more\nand more")
        .with("CI_MERGE_REQUEST_IID", "5");
    context.ok(&["stack", "init", "dev"]);
    let update = up(&context, &[]);
    assert_eq!(update["message"], "Sell more");
    let facts = &update["environment"];
    for (key, wanted) in [
        ("ci.system", "GitLab CI/CD"),
        ("ci.build.id", "77"),
        ("ci.build.number", "7"),
        ("ci.build.type", "merge_request_event"),
        ("ci.build.url", "https://gitlab.example/us/shop/-/jobs/1"),
        ("ci.pr.headSHA", "abc"),
        ("ci.pr.number", "5"),
        ("git.headName", "topic"),
    ] {
        assert_eq!(facts[key], wanted, "{key} in {facts:#}");
    }
}
