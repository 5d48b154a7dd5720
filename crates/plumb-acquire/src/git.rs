//! Plugins from source repositories, fetched with `git` (`protocol.md` 14.1).

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use plumb_plugin::discovery::{Repository, commit_of, commit_version, parse_tolerant};
use plumb_plugin::process::Environment;
use semver::Version;

/// Errors of fetching a repository.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// `git` is not installed, or cannot be run.
    #[error(
        "could not run `git`, which fetches plugins from repositories; install it, and see that it is on the PATH"
    )]
    Run(#[source] io::Error),
    /// `git` reported an error.
    #[error("could not {action} {repository}: {said}")]
    Failed {
        /// Verb phrase for the failed action.
        action: &'static str,
        /// The repository, without credentials.
        repository: String,
        /// Error output of `git`.
        said: String,
    },
    /// The repository has no commits.
    #[error("the repository {repository} has no commits")]
    Empty {
        /// The repository, without credentials.
        repository: String,
    },
    /// The repository has no such folder, or the folder holds no plugin.
    #[error("there is no plugin in {place}: a PulumiPlugin.yaml says how one is run")]
    NoPlugin {
        /// The repository and folder.
        place: String,
    },
}

/// Runs `git` for one repository.
pub(crate) struct Git<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) environment: &'a Environment,
}

impl Git<'_> {
    /// The version in the address; otherwise that of the newest version tag, or the latest commit.
    pub(crate) fn version(&self) -> Result<Version, GitError> {
        if let Some(version) = &self.repository.version {
            return Ok(version.clone());
        }
        let url = self.repository.clone_url();
        let listed = self.run("look into", &["ls-remote", "--", &url], None)?;
        let references = listed.lines().filter_map(|line| line.split_once('\t'));
        let tags = references.clone().filter_map(|(_, name)| {
            let tag = name.strip_prefix("refs/tags/")?;
            parse_tolerant(tag.strip_prefix('v')?)
        });
        let releases = tags.clone().filter(|version| version.pre.is_empty()).max();
        if let Some(version) = releases.or_else(|| tags.max()) {
            return Ok(version);
        }
        let mut references = references;
        let head = references.find(|(_, name)| *name == "HEAD");
        head.and_then(|(hash, _)| commit_version(hash))
            .ok_or_else(|| GitError::Empty {
                repository: self.repository.download_url(),
            })
    }

    /// Fetches the sources of a version, without history, into the empty folder `folder`.
    pub(crate) fn fetch(&self, version: &Version, folder: &Path) -> Result<(), GitError> {
        let url = self.repository.clone_url();
        let clone = |words: &[&str]| {
            let target = folder.to_string_lossy();
            let words = [&["clone", "--quiet"][..], words, &["--", &url, &*target]].concat();
            self.run("fetch", &words, None)
        };
        if let Some(hash) = commit_of(version) {
            clone(&["--no-checkout"])?;
            let checkout = ["checkout", "--quiet", "--detach", hash, "--"];
            self.run("check out that commit of", &checkout, Some(folder))?;
        } else if *version == Version::new(0, 0, 0) {
            clone(&["--depth", "1"])?;
        } else {
            clone(&["--depth", "1", "--branch", &format!("v{version}")])?;
        }
        std::fs::remove_dir_all(folder.join(".git")).map_err(GitError::Run)
    }

    fn run(
        &self,
        action: &'static str,
        words: &[&str],
        folder: Option<&Path>,
    ) -> Result<String, GitError> {
        let mut command = Command::new("git");
        command
            .args(words)
            .env_clear()
            .envs(self.environment)
            // Prompts are disabled, because no user would see them.
            .env("GIT_TERMINAL_PROMPT", "0")
            .stdin(Stdio::null());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let output = command.output().map_err(GitError::Run)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let repository = self.repository.download_url();
        Err(GitError::Failed {
            action,
            // The command line contains the address, which may contain a password.
            said: said
                .trim()
                .replace(&self.repository.clone_url(), &repository),
            repository,
        })
    }
}
