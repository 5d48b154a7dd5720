//! The pipeline: its system, and the event that started it.

use std::fmt::Write as _;

use plumb_operate::environment::ci;
use plumb_operate::{Environment, Error};

use super::Operation;
use super::forge::ForgeKind;

/// A run of a continuous integration system.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// Server of the repository, if it is one that takes comments.
    pub(super) forge: Option<ForgeKind>,
    trigger: Trigger,
    /// Number of the pull or merge request.
    pub(super) change: Option<String>,
    commit: Option<String>,
    log: Option<String>,
}

/// Kind of event that started the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    /// A pull or merge request.
    Change,
    DefaultBranch,
    OtherBranch,
    Schedule,
    /// Anything else, or a system that does not say.
    Unknown,
}

impl Pipeline {
    pub(super) fn of(environment: &Environment) -> Self {
        let run = ci::detect(environment).unwrap_or_default();
        let forge = match run.system.as_str() {
            "GitHub Actions" => Some(ForgeKind::GitHub),
            "GitLab CI/CD" => Some(ForgeKind::GitLab),
            _ => None,
        };
        let is_default = match forge {
            Some(ForgeKind::GitHub) => is_default_on_github(environment),
            Some(ForgeKind::GitLab) => environment
                .non_empty("CI_COMMIT_BRANCH")
                .is_some_and(|it| environment.get("CI_DEFAULT_BRANCH") == Some(it)),
            None => false,
        };
        let trigger = match (forge, run.build_type.as_deref()) {
            _ if run.pull_request.is_some() => Trigger::Change,
            (Some(_), Some("schedule")) => Trigger::Schedule,
            (Some(_), _) if is_default => Trigger::DefaultBranch,
            (Some(_), _) => Trigger::OtherBranch,
            (None, _) => Trigger::Unknown,
        };
        Pipeline {
            forge,
            trigger,
            change: run.pull_request,
            commit: run.commit,
            log: run.build_url,
        }
    }

    /// The operation that the event calls for.
    pub(super) fn operation(&self) -> Result<Operation, Error> {
        match self.trigger {
            Trigger::Change | Trigger::OtherBranch => Ok(Operation::Preview),
            Trigger::DefaultBranch => Ok(Operation::Up),
            Trigger::Schedule => Ok(Operation::Drift),
            Trigger::Unknown => Err(Error::user(
                "this is no pipeline of GitHub or GitLab, so there is no event that says what to do",
            )
            .hint("name the operation, such as `plumb ci preview`")),
        }
    }

    /// Last line of reports: the commit, and a link to the log.
    pub(super) fn footer(&self) -> String {
        let mut out = String::new();
        if let Some(commit) = &self.commit {
            let short = commit.get(..8).unwrap_or(commit);
            let _ = write!(out, "Commit {short}");
        }
        if let Some(log) = &self.log {
            let between = if out.is_empty() { "" } else { " · " };
            let _ = write!(out, "{between}[Log]({log})");
        }
        out
    }
}

/// Whether the workflow runs for the default branch, which only the file of the event names.
fn is_default_on_github(environment: &Environment) -> bool {
    let event = ci::github_event(environment);
    let default = event
        .as_ref()
        .and_then(|it| it["repository"]["default_branch"].as_str());
    environment.get("GITHUB_REF_TYPE") != Some("tag")
        && default.is_some()
        && environment.get("GITHUB_REF_NAME") == default
}
