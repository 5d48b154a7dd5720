//! Whether the tests would notice: rules of the deployment core, broken one at a time.
//!
//! `xtask/mutations.json` lists breakages: a text that stands exactly once in a file, what to put there, and the rule that
//! this breaks. Each is made in a copy of the sources; then the tests of the core run, the fast ones, and if they pass a
//! simulation. A breakage that passes both has survived: a test is missing.

use std::fmt;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

const LIST: &str = "xtask/mutations.json";

/// What is copied: everything that the crates are built from.
const SOURCES: [&str; 8] = [
    ".cargo",
    "Cargo.toml",
    "Cargo.lock",
    "clippy.toml",
    "crates",
    "xtask",
    "benches",
    "tests/data",
];

/// How long tests or simulation may take; a rule that is broken may keep a run from ending.
const PATIENCE: Duration = Duration::from_mins(10);

/// Operations of the simulation.
const OPERATIONS: &str = "20000";

/// A rule, and how it is broken.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    name: String,
    file: String,
    text: String,
    replacement: String,
    rule: String,
}

/// What noticed a breakage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Tests,
    Simulation,
    Survived,
    /// The breakage is not a program.
    Nonsense,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fate::Tests => "caught by tests",
            Fate::Simulation => "caught by the simulation",
            Fate::Survived => "SURVIVED",
            Fate::Nonsense => "DOES NOT COMPILE",
        })
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Well,
    Failed,
    Never,
}

impl Mutation {
    /// The file as it is, and as the breakage has it.
    fn broken(&self, root: &Path) -> Result<(String, String)> {
        let path = root.join(&self.file);
        let whole = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let times = whole.matches(&self.text).count();
        ensure!(
            times == 1,
            "{}: its text stands {times} times in {}",
            self.name,
            self.file
        );
        let broken = whole.replacen(&self.text, &self.replacement, 1);
        ensure!(broken != whole, "{}: it changes nothing", self.name);
        Ok((whole, broken))
    }
}

fn list(root: &Path) -> Result<Vec<Mutation>> {
    let text = fs::read_to_string(root.join(LIST)).context(LIST)?;
    Ok(serde_json::from_str(&text)?)
}

/// Tries all breakages whose name contains one of `names`, or all; fails if one survives.
#[allow(clippy::print_stdout)] // The table is what is asked for.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<()> {
    let all = list(root)?;
    for mutation in &all {
        mutation.broken(root)?;
    }
    let wanted = |it: &&Mutation| names.is_empty() || names.iter().any(|n| it.name.contains(n));
    let bench = Bench::new(root)?;
    ensure!(
        bench.fate()? == Fate::Survived,
        "the tests fail although nothing is broken"
    );
    let mut bad = 0;
    for mutation in all.iter().filter(wanted) {
        let (whole, broken) = mutation.broken(bench.folder.path())?;
        let path = bench.folder.path().join(&mutation.file);
        fs::write(&path, broken)?;
        let started = Instant::now();
        let fate = bench.fate()?;
        fs::write(&path, whole)?;
        bad += usize::from(matches!(fate, Fate::Survived | Fate::Nonsense));
        let seconds = started.elapsed().as_secs();
        println!(
            "{:32} {fate} ({seconds} s): {}",
            mutation.name, mutation.rule
        );
    }
    if bad > 0 {
        bail!("{bad} breakages were not noticed");
    }
    Ok(())
}

/// A copy of the sources to break.
struct Bench {
    folder: tempfile::TempDir,
    /// Shared with the repository, so that crates from outside are compiled once.
    target: PathBuf,
}

impl Bench {
    fn new(root: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        for name in SOURCES {
            let from = root.join(name);
            if from.exists() {
                copy(&from, &folder.path().join(name))?;
            }
        }
        let target = std::env::var_os("CARGO_TARGET_DIR");
        let target = target.map_or_else(|| root.join("target"), PathBuf::from);
        Ok(Bench { folder, target })
    }

    fn fate(&self) -> Result<Fate> {
        let core = ["--package", "plumb-deploy", "--test", "it"];
        if self.cargo(&["test", "--quiet", "--no-run"], &core)? != End::Well {
            return Ok(Fate::Nonsense);
        }
        let fast = ["--", "--skip", "random_histories"];
        if self.cargo(&["test", "--quiet"], &[&core[..], &fast].concat())? != End::Well {
            return Ok(Fate::Tests);
        }
        let simulate = ["--package", "plumb-simulate", "--bin", "simulate", "--"];
        let simulate = [&simulate[..], &["--ops", OPERATIONS, "--no-shrinking"]].concat();
        match self.cargo(&["run", "--quiet", "--profile", "bench-fast"], &simulate)? {
            End::Well => Ok(Fate::Survived),
            End::Failed | End::Never => Ok(Fate::Simulation),
        }
    }

    fn cargo(&self, command: &[&str], options: &[&str]) -> Result<End> {
        let mut child = Command::new(env!("CARGO"))
            .args(command)
            .args(options)
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        wait(&mut child)
    }
}

/// Waits for a process; ends it, with everything that it started, when it takes too long.
fn wait(child: &mut Child) -> Result<End> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() {
                End::Well
            } else {
                End::Failed
            });
        }
        if started.elapsed() > PATIENCE {
            let group = format!("-{}", child.id());
            Command::new("kill")
                .args(["-KILL", "--", &group])
                .status()?;
            child.wait()?;
            return Ok(End::Never);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::create_dir_all(to.parent().context("it has a folder")?)?;
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_breakage_fits_the_sources() {
        let root = crate::repository_root();
        let all = list(&root).unwrap();
        assert!(all.len() >= 20);
        let mut names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len(), "two have the same name");
        for mutation in &all {
            mutation.broken(&root).unwrap();
            assert!(mutation.rule.ends_with('.'), "{}", mutation.name);
        }
    }

    #[test]
    fn a_text_that_stands_nowhere_is_told_of() {
        let mutation = Mutation {
            name: "none".to_owned(),
            file: LIST.to_owned(),
            text: ["no", "such", "text"].concat(),
            replacement: String::new(),
            rule: String::new(),
        };
        assert!(mutation.broken(&crate::repository_root()).is_err());
    }
}
