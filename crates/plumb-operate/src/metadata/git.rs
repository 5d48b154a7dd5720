//! Facts of a checkout, as `git` reports them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Environment;

/// The commit that is checked out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) hash: String,
    pub(super) author: String,
    pub(super) author_email: String,
    pub(super) committer: String,
    pub(super) committer_email: String,
    pub(super) message: String,
}

/// A checkout. Fields are `None` if `git` did not report them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Checkout {
    pub(super) commit: Option<Commit>,
    /// Full name of the checked-out branch; `None` for a detached head.
    pub(super) head_name: Option<String>,
    pub(super) is_dirty: Option<bool>,
    /// Address of `origin`.
    pub(super) remote: Option<String>,
    /// Path of the project folder, relative to the repository.
    pub(super) folder: Option<String>,
}

/// Root folder of the repository that contains `folder`.
pub(super) fn repository(folder: &Path) -> Option<PathBuf> {
    let has_repository = |folder: &&Path| folder.join(".git").exists();
    let folders = folder.ancestors();
    folders.into_iter().find(has_repository).map(Path::to_owned)
}

/// Format for `git log`: the fields of [`Commit`], separated by NUL.
const COMMIT: &str = "--format=%H%x00%an%x00%ae%x00%cn%x00%ce%x00%B";

impl Checkout {
    /// Runs the `git` commands in parallel; `root` is the folder of the project.
    pub(super) fn read(environment: &Environment, repository: &Path, root: &Path) -> Self {
        let ask = |arguments: &[&str]| start(environment, root, arguments);
        let commit = ask(&["log", "-1", "--no-show-signature", COMMIT]);
        let head = ask(&["symbolic-ref", "--quiet", "HEAD"]);
        let status = ask(&["status", "--porcelain", "-z"]);
        let remote = ask(&["remote", "get-url", "origin"]);
        Checkout {
            commit: commit.answer().and_then(|text| parse_commit(&text)),
            head_name: head.answer().map(|text| text.trim().to_owned()),
            is_dirty: status.answer().map(|text| !text.is_empty()),
            remote: remote.answer().map(|text| text.trim().to_owned()),
            folder: below(repository, root),
        }
    }
}

fn parse_commit(text: &str) -> Option<Commit> {
    let mut parts = text.splitn(6, '\0').map(ToOwned::to_owned);
    Some(Commit {
        hash: parts.next()?,
        author: parts.next()?,
        author_email: parts.next()?,
        committer: parts.next()?,
        committer_email: parts.next()?,
        message: parts.next()?,
    })
}

/// Path of `root` relative to the repository, with `/` as separator; `.` for the repository itself.
pub(super) fn below(repository: &Path, root: &Path) -> Option<String> {
    let (repository, root) = (repository.canonicalize().ok()?, root.canonicalize().ok()?);
    let path = root.strip_prefix(repository).ok()?;
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    Some(if parts.is_empty() {
        ".".to_owned()
    } else {
        parts.join("/")
    })
}

/// A `git` command that runs; `None` if it could not be started.
struct Question(Option<std::process::Child>);

fn start(environment: &Environment, folder: &Path, arguments: &[&str]) -> Question {
    let started = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(environment.variables())
        // Reading must neither take locks nor prompt for a password.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    Question(started.ok())
}

impl Question {
    /// Output of the command; `None` if `git` is not installed or failed.
    fn answer(self) -> Option<String> {
        let output = self.0?.wait_with_output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
