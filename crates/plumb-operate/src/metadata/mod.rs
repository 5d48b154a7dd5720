//! Metadata of an update (`cli.md` 20): the message, and the `environment` of the history.
//!
//! Values of variables and flags are not recorded, because they may be secret: only whether they are set, or on or off.

mod git;
mod remote;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crate::environment::ci::{self, CiRun};
use crate::environment::{arch_name, os_name};
use crate::{Environment, VERSION, trace};
use git::Checkout;

/// Entries of `environment` in the history.
pub(crate) type Facts = BTreeMap<String, String>;

/// Boolean variables with the prefix `PULUMI_`, recorded as on or off; of all others, only that they are set is recorded.
const SWITCHES: [&str; 27] = [
    "AUTOMATION_API_SKIP_VERSION_CHECK",
    "CONTINUE_ON_ERROR",
    "DEBUG_COMMANDS",
    "DEV",
    "DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
    "DISABLE_JOURNALING",
    "DISABLE_OUTPUT_VALUES",
    "DISABLE_PROVIDER_PREVIEW",
    "DISABLE_REGISTRY_RESOLVE",
    "DISABLE_RESOURCE_REFERENCES",
    "DISABLE_SECRET_CACHE",
    "DISABLE_VALIDATION",
    "DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS",
    "DIY_BACKEND_GZIP",
    "DIY_BACKEND_LEGACY_LAYOUT",
    "DIY_BACKEND_NO_LEGACY_WARNING",
    "DIY_BACKEND_RETAIN_CHECKPOINTS",
    "ENABLE_LEGACY_DIFF",
    "ENABLE_LEGACY_REFRESH_DIFF",
    "ENABLE_STREAMING_JSON_PREVIEW",
    "EXPERIMENTAL",
    "FALLBACK_TO_STATE_SECRETS_MANAGER",
    "IGNORE_AMBIENT_PLUGINS",
    "RUN_PROGRAM",
    "SKIP_CHECKPOINTS",
    "SKIP_CONFIRMATIONS",
    "SKIP_UPDATE_CHECK",
];

/// Origin of an update: who or what started it, and from which commit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// Default message of the update; `--message` overrides it.
    pub(crate) message: String,
    /// `environment` in the history.
    pub(crate) facts: Facts,
}

/// Metadata collected on a thread of its own during the update, because large repositories take long.
pub(crate) struct Gathering(JoinHandle<Metadata>);

impl Gathering {
    /// Starts to collect; `root` is the folder of the project.
    pub(crate) fn start(environment: &Environment, root: PathBuf) -> Self {
        let environment = environment.clone();
        Gathering(std::thread::spawn(move || gather(&environment, &root)))
    }

    /// Waits for the result.
    pub(crate) fn finish(self) -> Metadata {
        // A panic while collecting must not fail the update.
        self.0.join().unwrap_or_default()
    }
}

fn gather(environment: &Environment, root: &Path) -> Metadata {
    let mut metadata = Metadata::default();
    let run = ci::detect(environment);
    match git::repository(root) {
        Some(repository) => {
            let checkout = Checkout::read(environment, &repository, root);
            add_checkout(&mut metadata, &checkout, run.as_ref());
        }
        None => add_variables(&mut metadata, environment, run.as_ref()),
    }
    if metadata.message.is_empty() {
        let text = environment.non_empty("PULUMI_COMMIT_MESSAGE");
        metadata.message = title(text.unwrap_or_default());
    }
    if let Some(run) = run {
        add_run(&mut metadata.facts, run);
    }
    add_ourselves(&mut metadata.facts, environment);
    metadata
}

fn add(facts: &mut Facts, key: &str, value: Option<&str>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        facts.insert(key.to_owned(), value.to_owned());
    }
}

/// Adds the facts of a checkout. For a detached head, the branch comes from the CI system.
fn add_checkout(metadata: &mut Metadata, checkout: &Checkout, run: Option<&CiRun>) {
    let facts = &mut metadata.facts;
    if let Some(commit) = &checkout.commit {
        add(facts, "git.head", Some(&commit.hash));
        add(facts, "git.committer", Some(&commit.committer));
        add(facts, "git.committer.email", Some(&commit.committer_email));
        add(facts, "git.author", Some(&commit.author));
        add(facts, "git.author.email", Some(&commit.author_email));
        let message = Some(commit.message.trim()).filter(|message| !message.is_empty());
        let message = message.or(run.and_then(|run| run.commit_message.as_deref()));
        metadata.message = title(message.unwrap_or_default());
    }
    let branch = || run.and_then(|run| run.branch.as_deref());
    add(
        facts,
        "git.headName",
        checkout.head_name.as_deref().or_else(branch),
    );
    let is_dirty = checkout.is_dirty.map(|is_dirty| is_dirty.to_string());
    add(facts, "git.dirty", is_dirty.as_deref());
    if let Some(remote) = checkout.remote.as_deref().and_then(remote::parse) {
        add(facts, "vcs.owner", Some(&remote.owner));
        add(facts, "vcs.repo", Some(&remote.repository));
        add(facts, "vcs.kind", Some(&remote.kind));
    }
    if checkout.remote.is_some() {
        add(facts, "vcs.root", checkout.folder.as_deref());
    }
}

/// Adds facts from variables, for folders without a repository, such as containers with only the files.
fn add_variables(metadata: &mut Metadata, environment: &Environment, run: Option<&CiRun>) {
    let facts = &mut metadata.facts;
    for (key, variable) in [
        ("vcs.owner", "PULUMI_VCS_REPO_OWNER"),
        ("vcs.repo", "PULUMI_VCS_REPO_NAME"),
        ("vcs.kind", "PULUMI_VCS_REPO_KIND"),
        ("vcs.root", "PULUMI_VCS_REPO_ROOT"),
        ("git.head", "PULUMI_GIT_HEAD"),
        ("git.committer", "PULUMI_GIT_COMMITTER"),
        ("git.committer.email", "PULUMI_GIT_COMMITTER_EMAIL"),
        ("git.author", "PULUMI_GIT_AUTHOR"),
        ("git.author.email", "PULUMI_GIT_AUTHOR_EMAIL"),
    ] {
        add(facts, key, environment.non_empty(variable));
    }
    let head_name = environment.non_empty("PULUMI_GIT_HEAD_NAME");
    let branch = || run.and_then(|run| run.branch.as_deref());
    add(facts, "git.headName", head_name.or_else(branch));
    let message = environment.non_empty("PULUMI_GIT_COMMIT_MESSAGE");
    let of_run = || run.and_then(|run| run.commit_message.as_deref());
    metadata.message = title(message.or_else(of_run).unwrap_or_default());
}

fn add_run(facts: &mut Facts, run: CiRun) {
    facts.insert("ci.system".to_owned(), run.system);
    add(facts, "ci.build.id", run.build_id.as_deref());
    add(facts, "ci.build.number", run.build_number.as_deref());
    add(facts, "ci.build.type", run.build_type.as_deref());
    add(facts, "ci.build.url", run.build_url.as_deref());
    add(facts, "ci.pr.headSHA", run.commit.as_deref());
    add(facts, "ci.pr.number", run.pull_request.as_deref());
}

fn add_ourselves(facts: &mut Facts, environment: &Environment) {
    add(facts, "pulumi.version", Some(VERSION));
    add(facts, "pulumi.os", Some(os_name()));
    add(facts, "pulumi.arch", Some(arch_name()));
    let names = environment.variables().keys();
    for name in names.filter_map(|name| name.to_str()) {
        if name == trace::ENDPOINT {
            // Set by this program itself, for its child processes.
            continue;
        }
        let Some(rest) = name.strip_prefix("PULUMI_") else {
            continue;
        };
        let told = match SWITCHES.contains(&rest) {
            true if environment.is_on(name) => "true",
            true => "false",
            false => "set",
        };
        facts.insert(format!("pulumi.env.{name}"), told.to_owned());
    }
}

/// First line of a message.
fn title(message: &str) -> String {
    message
        .split(['\r', '\n'])
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests;
