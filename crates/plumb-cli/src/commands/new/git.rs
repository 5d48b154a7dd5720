//! Templates in Git repositories: address syntax, and fetching with `git` (`cli.md` 8).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plumb_operate::{Context, Error};

/// Address of a folder in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// URL for `git clone`.
    pub(super) repository: String,
    /// Words after `tree/`: a branch, tag or commit, followed by a folder. The boundary is known only after a query
    /// to the repository.
    pub(super) tree: Vec<String>,
    /// Folder, if the address contains no `tree/`.
    pub(super) folder: Vec<String>,
}

/// Hosts on which repositories consist of the first two words of the path.
const HOSTS: [&str; 3] = ["github.com", "gitlab.com", "bitbucket.org"];

impl Address {
    /// Parses an address; `None` if `text` does not look like one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim_end_matches('/');
        if let Some((scheme, rest)) = text.split_once("://") {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            return Some(Self::of_parts(&format!("{scheme}://{host}/"), host, path));
        }
        if let Some((host, path)) = text
            .strip_prefix("git@")
            .and_then(|rest| rest.split_once(':'))
        {
            return Some(Self::of_parts(&format!("git@{host}:"), host, path));
        }
        let (host, path) = text.split_once('/')?;
        HOSTS
            .contains(&host)
            .then(|| Self::of_parts(&format!("https://{host}/"), host, path))
    }

    fn of_parts(before: &str, host: &str, path: &str) -> Self {
        let words: Vec<&str> = path.split('/').filter(|word| !word.is_empty()).collect();
        let at_suffix = words.iter().position(|word| has_extension(word, "git"));
        let count = match at_suffix {
            Some(at) => at + 1,
            None if HOSTS.iter().any(|known| host.ends_with(known)) => words.len().min(2),
            None => words
                .iter()
                .position(|word| *word == "tree")
                .unwrap_or(words.len()),
        };
        let (repository, rest) = words.split_at(count);
        // GitLab writes `/-/tree/`.
        let rest = rest.strip_prefix(&["-"]).unwrap_or(rest);
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let suffix = if at_suffix.is_none() && HOSTS.contains(&host) {
            ".git"
        } else {
            ""
        };
        let repository = format!("{before}{}{suffix}", repository.join("/"));
        match rest {
            ["tree", tree @ ..] => Address {
                repository,
                tree: owned(tree),
                folder: Vec::new(),
            },
            folder => Address {
                repository,
                tree: Vec::new(),
                folder: owned(folder),
            },
        }
    }

    /// Clones the repository into `target`; returns the addressed folder.
    pub(super) fn fetch(&self, target: &Path, ctx: &Context) -> Result<PathBuf, Error> {
        let (reference, folder) = if self.tree.is_empty() {
            (None, self.folder.clone())
        } else {
            let (reference, folder) = self.split_tree(ctx)?;
            (Some(reference), folder)
        };
        self.clone_to(target, reference.as_deref(), ctx)?;
        let folder: PathBuf = folder.iter().collect();
        let found = target.join(&folder);
        let is_inside = folder
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if is_inside && found.is_dir() {
            Ok(found)
        } else {
            Err(Error::user(format!(
                "{} has no folder {}",
                self.repository,
                folder.display()
            )))
        }
    }

    /// Splits the words after `tree/` into the branch or tag, the longest one in the repository, and the folder.
    fn split_tree(&self, ctx: &Context) -> Result<(String, Vec<String>), Error> {
        let listed = git(
            &["ls-remote", "--heads", "--tags", "--", &self.repository],
            ctx,
        )?;
        let names: Vec<&str> = listed
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1))
            .filter_map(|name| {
                name.strip_prefix("refs/heads/")
                    .or_else(|| name.strip_prefix("refs/tags/"))
            })
            .collect();
        let longest = (1..=self.tree.len())
            .rev()
            .find(|count| names.contains(&self.tree[..*count].join("/").as_str()));
        let count = longest.unwrap_or(1);
        Ok((self.tree[..count].join("/"), self.tree[count..].to_vec()))
    }

    fn clone_to(&self, target: &Path, reference: Option<&str>, ctx: &Context) -> Result<(), Error> {
        let into = target.to_string_lossy().into_owned();
        let repository = self.repository.as_str();
        let Some(reference) = reference else {
            return git(
                &["clone", "--quiet", "--depth", "1", "--", repository, &into],
                ctx,
            )
            .map(drop);
        };
        let branch = [
            "clone", "--quiet", "--depth", "1", "--branch", reference, "--", repository, &into,
        ];
        if !reference.starts_with('-') && git(&branch, ctx).is_ok() {
            return Ok(());
        }
        // A commit cannot be cloned directly.
        git(&["clone", "--quiet", "--", repository, &into], ctx)?;
        git(
            &[
                "-C", &into, "checkout", "--quiet", "--detach", reference, "--",
            ],
            ctx,
        )
        .map(drop)
    }
}

/// Whether the last part of an address ends in `.extension`.
pub(super) fn has_extension(address: &str, extension: &str) -> bool {
    Path::new(address)
        .extension()
        .is_some_and(|it| it == extension)
}

/// Runs `git` and returns its output. Disables its prompts if the session is not interactive.
pub(super) fn git(words: &[&str], ctx: &Context) -> Result<String, Error> {
    let mut command = Command::new("git");
    command
        .args(words)
        .current_dir(&ctx.environment.cwd)
        .stdin(Stdio::null());
    if !ctx.is_interactive() {
        command.env("GIT_TERMINAL_PROMPT", "0");
    }
    let output = command.output().map_err(|error| {
        Error::from(error)
            .context("could not run `git`, which fetches templates; install it, or name a folder")
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::user(format!(
        "`git {}` failed: {}",
        words[0],
        said.trim()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, repository: &str, tree: &[&str], folder: &[&str]) {
        let address = Address::parse(text).unwrap();
        assert_eq!(address.repository, repository, "{text}");
        assert_eq!(
            (address.tree.as_slice(), address.folder.as_slice()),
            (&owned(tree)[..], &owned(folder)[..]),
            "{text}"
        );
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn addresses_name_a_repository_a_branch_and_a_folder() {
        check(
            "https://github.com/org/repo",
            "https://github.com/org/repo.git",
            &[],
            &[],
        );
        check(
            "https://github.com/org/repo/sub/dir",
            "https://github.com/org/repo.git",
            &[],
            &["sub", "dir"],
        );
        check(
            "https://github.com/org/repo/tree/main/sub",
            "https://github.com/org/repo.git",
            &["main", "sub"],
            &[],
        );
        check(
            "github.com/org/repo.git/sub",
            "https://github.com/org/repo.git",
            &[],
            &["sub"],
        );
        check(
            "git@github.com:org/repo.git/sub",
            "git@github.com:org/repo.git",
            &[],
            &["sub"],
        );
        check(
            "ssh://git@host/x/repo.git",
            "ssh://git@host/x/repo.git",
            &[],
            &[],
        );
        check(
            "https://gitlab.com/org/repo/-/tree/v1",
            "https://gitlab.com/org/repo.git",
            &["v1"],
            &[],
        );
        check(
            "file:///srv/repo.git/tree/dev/a",
            "file:///srv/repo.git",
            &["dev", "a"],
            &[],
        );
        assert_eq!(Address::parse("typescript"), None);
        assert_eq!(Address::parse("a/b"), None);
    }
}
