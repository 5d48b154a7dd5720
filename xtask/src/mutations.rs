//! Mutation tests of the deployment core: its rules are broken one at a time.
//!
//! `xtask/mutations.json` lists mutations: a text that occurs exactly once in a file, its replacement, and the rule
//! that this breaks. All of them are applied to one copy of the sources (`target/mutations`): a mutated function
//! contains its original body and one per mutation, and an environment variable selects one. The copy is therefore
//! compiled only once, and each mutation costs at most two runs: of the fast tests of the core, and of a simulation,
//! which first repeats the stories found before. A mutation that passes both has survived, so a test is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

const LIST: &str = "xtask/mutations.json";

/// Files to copy: all sources of the crates.
const SOURCES: [&str; 9] = [
    ".cargo",
    "Cargo.toml",
    "Cargo.lock",
    "clippy.toml",
    "crates",
    "sdk/rust",
    "xtask",
    "benches",
    "tests/data",
];

/// Environment variable with the selected mutation.
const SWITCH: &str = "PLUMB_BROKEN";

/// Time limit of tests and simulation, because a broken rule may prevent the end of a run.
const PATIENCE: Duration = Duration::from_mins(5);

/// Number of operations in the simulation.
const OPERATIONS: &str = "20000";

/// Stories found by earlier simulations.
const FOUND: &str = "crates/plumb-simulate/tests/it/found.txt";

/// A mutation and the rule that it breaks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    name: String,
    file: String,
    text: String,
    replacement: String,
    rule: String,
}

/// Result of a mutation: the tests that detected it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fate {
    tests: bool,
    simulation: bool,
}

impl Fate {
    fn survived(self) -> bool {
        !self.tests && !self.simulation
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match (self.tests, self.simulation) {
            (true, true) => "caught by both",
            (true, false) => "caught by tests",
            (false, true) => "caught by simulation",
            (false, false) => "SURVIVED",
        })
    }
}

impl Mutation {
    /// Position of its text in a file.
    fn place(&self, whole: &str) -> Result<usize> {
        let mut places = whole.match_indices(&self.text).map(|(at, _)| at);
        let (first, second) = (places.next(), places.next());
        let (name, file) = (&self.name, &self.file);
        ensure!(second.is_none(), "{name}: its text stands twice in {file}");
        ensure!(self.text != self.replacement, "{name}: it changes nothing");
        first.with_context(|| format!("{name}: its text stands nowhere in {file}"))
    }
}

fn list(root: &Path) -> Result<Vec<Mutation>> {
    let text = fs::read_to_string(root.join(LIST)).context(LIST)?;
    Ok(serde_json::from_str(&text)?)
}

/// Runs the mutations with these names, or all; fails if one survives.
#[allow(clippy::print_stdout)] // The table is the output.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<()> {
    let all = list(root)?;
    if let Some(name) = names
        .iter()
        .find(|name| all.iter().all(|it| it.name != **name))
    {
        bail!("there is no breakage {name}");
    }
    let bench = Bench::new(root, &all)?;
    let unbroken = bench.fate("")?;
    ensure!(
        unbroken.survived(),
        "something fails although nothing is broken: {unbroken}"
    );
    let mut survivors = 0;
    let wanted = |it: &&Mutation| names.is_empty() || names.contains(&it.name);
    for mutation in all.iter().filter(wanted) {
        let started = Instant::now();
        let fate = bench.fate(&mutation.name)?;
        survivors += usize::from(fate.survived());
        let seconds = started.elapsed().as_secs();
        println!(
            "{:32} {fate:20} ({seconds:3} s) {}",
            mutation.name, mutation.rule
        );
    }
    if survivors > 0 {
        bail!("{survivors} breakages were not noticed");
    }
    Ok(())
}

/// Compiled programs that contain all mutations.
struct Bench {
    tests: PathBuf,
    simulation: PathBuf,
    found: PathBuf,
}

impl Bench {
    /// Updates the copy and compiles it.
    fn new(root: &Path, mutations: &[Mutation]) -> Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR");
        let target = target.map_or_else(|| root.join("target"), PathBuf::from);
        let folder = target.join("mutations");
        let sources = folder.join("sources");
        let broken = broken_files(root, mutations)?;
        for name in SOURCES {
            mirror(root, &sources, Path::new(name), &broken)?;
        }
        let build = |options: &[&str]| cargo(&sources, &target, options);
        let core = ["--package", "plumb-deploy", "--test", "it"];
        let tests = build(&[&["test", "--no-run"], &core[..]].concat())?;
        let simulate = ["--package", "plumb-simulate", "--bin", "simulate"];
        let simulate = [&["build", "--profile", "bench-fast"], &simulate[..]].concat();
        // Copy the program, because the next build of the repository itself overwrites it.
        let simulation = folder.join("simulate");
        fs::copy(build(&simulate)?, &simulation)?;
        Ok(Bench {
            tests,
            simulation,
            found: root.join(FOUND),
        })
    }

    fn fate(&self, name: &str) -> Result<Fate> {
        let succeeds = |program: &Path, options: &[&OsStr]| -> Result<bool> {
            let mut child = Command::new(program)
                .args(options)
                .env(SWITCH, name)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .process_group(0)
                .spawn()?;
            wait(&mut child)
        };
        let fast = ["--skip", "random_histories"].map(OsStr::new);
        let some = ["--ops", OPERATIONS, "--no-shrinking"].map(OsStr::new);
        let found = [OsStr::new("--found"), self.found.as_os_str()];
        Ok(Fate {
            tests: !succeeds(&self.tests, &fast)?,
            simulation: !succeeds(&self.simulation, &some)? || !succeeds(&self.simulation, &found)?,
        })
    }
}

/// Files with a switch for every mutation, by path.
fn broken_files(root: &Path, mutations: &[Mutation]) -> Result<BTreeMap<PathBuf, String>> {
    let mut by_file: BTreeMap<&str, Vec<&Mutation>> = BTreeMap::new();
    for mutation in mutations {
        by_file.entry(&mutation.file).or_default().push(mutation);
    }
    let mut files = BTreeMap::new();
    let mut crates = BTreeSet::new();
    for (file, mutations) in by_file {
        let whole = fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
        files.insert(PathBuf::from(file), with_switches(&whole, &mutations)?);
        let (name, _) = file.split_once("/src/").context("it is in a crate")?;
        crates.insert(format!("{name}/src/lib.rs"));
    }
    // Change the version, because cargo would otherwise reuse artifacts of the repository's crates.
    let workspace = fs::read_to_string(root.join("Cargo.toml"))?;
    let version = format!("version = \"{}\"", env!("CARGO_PKG_VERSION"));
    let other = format!("version = \"{}-broken\"", env!("CARGO_PKG_VERSION"));
    ensure!(workspace.contains(&version), "the workspace has no version");
    let workspace = workspace.replacen(&version, &other, 1);
    files.insert(PathBuf::from("Cargo.toml"), workspace);
    for library in crates {
        let whole = fs::read_to_string(root.join(&library))?;
        files.insert(PathBuf::from(library), format!("{whole}{IS_BROKEN}"));
    }
    Ok(files)
}

const IS_BROKEN: &str = r#"
pub(crate) fn is_broken(rule: &str) -> bool {
    static BROKEN: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    BROKEN.get_or_init(|| std::env::var("PLUMB_BROKEN").unwrap_or_default()) == rule
}
"#;

/// File in which mutated functions have one body per mutation.
fn with_switches(whole: &str, mutations: &[&Mutation]) -> Result<String> {
    let mut bodies: BTreeMap<(usize, usize), Vec<&Mutation>> = BTreeMap::new();
    for mutation in mutations {
        let at = mutation.place(whole)?;
        let body = body_around(whole, at)
            .with_context(|| format!("{}: it is in no function", mutation.name))?;
        bodies
            .entry((body.start, body.end))
            .or_default()
            .push(mutation);
    }
    let mut result = whole.to_owned();
    for ((start, end), mutations) in bodies.into_iter().rev() {
        let body = &whole[start..end];
        let branches = mutations.iter().map(|it| {
            let broken = body.replacen(&it.text, &it.replacement, 1);
            format!("if crate::is_broken({:?}) {broken} else ", it.name)
        });
        let switch = format!("{{ {}{body} }}", branches.collect::<String>());
        result.replace_range(start..end, &switch);
    }
    Ok(result)
}

/// Range of the body, including braces, of the function around a position. In formatted sources the body begins with
/// the first line that ends in a brace, and ends with the first line that is only a brace, both with the indentation of
/// the function.
fn body_around(whole: &str, at: usize) -> Option<Range<usize>> {
    let mut lines = Vec::new();
    let mut offset = 0;
    for line in whole.split_inclusive('\n') {
        lines.push((offset, line.trim_end()));
        offset += line.len();
    }
    let before = lines.iter().take_while(|(start, _)| *start <= at).count();
    (0..before).rev().find_map(|number| {
        let line = lines[number].1;
        let indent = line.len() - line.trim_start().len();
        let (qualifiers, _) = line[indent..].split_once("fn ")?;
        if !qualifiers.is_empty() && !qualifiers.starts_with("pub") {
            return None;
        }
        let is_in_line = |text: &str| text.len() - text.trim_start().len() == indent;
        let mut rest = lines[number..].iter().filter(|(_, text)| is_in_line(text));
        let (start, first) = rest.find(|(_, text)| text.ends_with('{'))?;
        let (end, _) = rest.find(|(_, text)| text.trim() == "}")?;
        let body = start + first.len() - 1..end + indent + 1;
        (body.start < at && at < body.end).then_some(body)
    })
}

/// Builds a program with cargo; returns its path.
fn cargo(folder: &Path, target: &Path, options: &[&str]) -> Result<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(options)
        .args(["--quiet", "--message-format", "json-render-diagnostics"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_INCREMENTAL", "0")
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "the breakages do not compile");
    let messages = String::from_utf8(output.stdout)?;
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
        .context("cargo has made no program")
}

/// Waits for a process, and returns whether it succeeded; kills its process group after the time limit.
fn wait(child: &mut Child) -> Result<bool> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if started.elapsed() > PATIENCE {
            let group = format!("-{}", child.id());
            Command::new("kill")
                .args(["-KILL", "--", &group])
                .status()?;
            child.wait()?;
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Makes `path` below `to` equal to that below `from`, or to its text in `instead`. Equal files are not written.
fn mirror(from: &Path, to: &Path, path: &Path, instead: &BTreeMap<PathBuf, String>) -> Result<()> {
    let (source, copy) = (from.join(path), to.join(path));
    if source.is_dir() {
        fs::create_dir_all(&copy)?;
        let wanted = names_in(&source)?;
        for name in names_in(&copy)?.difference(&wanted) {
            let left = copy.join(name);
            if left.is_dir() {
                fs::remove_dir_all(left)?;
            } else {
                fs::remove_file(left)?;
            }
        }
        return wanted
            .iter()
            .try_for_each(|name| mirror(from, to, &path.join(name), instead));
    }
    if !source.exists() {
        return Ok(());
    }
    let bytes = match instead.get(path) {
        Some(text) => text.clone().into_bytes(),
        None => fs::read(&source)?,
    };
    if fs::read(&copy).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    fs::create_dir_all(copy.parent().context("it has a folder")?)?;
    Ok(fs::write(&copy, bytes)?)
}

fn names_in(folder: &Path) -> Result<BTreeSet<OsString>> {
    let entries = fs::read_dir(folder)?;
    let names: std::io::Result<_> = entries.map(|entry| Ok(entry?.file_name())).collect();
    Ok(names?)
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
        let broken = broken_files(&root, &all).unwrap();
        let text: String = broken.into_values().collect();
        for mutation in &all {
            let switch = format!("is_broken({:?})", mutation.name);
            assert_eq!(text.matches(&switch).count(), 1, "{}", mutation.name);
            assert!(mutation.rule.ends_with('.'), "{}", mutation.name);
        }
    }

    fn mutation(text: &str) -> Mutation {
        Mutation {
            name: "it".to_owned(),
            file: LIST.to_owned(),
            text: text.to_owned(),
            replacement: "2".to_owned(),
            rule: String::new(),
        }
    }

    #[test]
    fn a_text_must_stand_in_one_place() {
        assert!(mutation("1").place("fn a() {}").is_err());
        assert!(mutation("1").place("fn a() { 1 + 1 }").is_err());
    }

    #[test]
    fn a_function_gets_a_body_for_each_breakage() {
        let whole = "impl A {\n    pub(crate) fn a(\n        b: B,\n    ) -> u8 {\n        if b {\n            1\n        }\n    }\n}\n";
        let broken = with_switches(whole, &[&mutation("1")]).unwrap();
        let body = "{\n        if b {\n            1\n        }\n    }";
        let other = body.replace('1', "2");
        let switch = format!("{{ if crate::is_broken(\"it\") {other} else {body} }}");
        assert_eq!(broken, whole.replace(body, &switch));
        assert!(with_switches(whole, &[&mutation("A")]).is_err());
    }

    #[test]
    fn a_mirror_touches_only_what_differs() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("it/a")).unwrap();
        fs::write(from.join("it/a/one"), "1").unwrap();
        fs::write(from.join("it/two"), "2").unwrap();
        let instead = BTreeMap::from([(PathBuf::from("it/two"), "broken".to_owned())]);
        let it = Path::new("it");
        mirror(&from, &to, it, &instead).unwrap();
        assert_eq!(fs::read_to_string(to.join("it/two")).unwrap(), "broken");
        let written = |name: &str| fs::metadata(to.join(name)).unwrap().modified().unwrap();
        let before = written("it/a/one");
        fs::write(to.join("it/a/three"), "left").unwrap();
        mirror(&from, &to, it, &BTreeMap::new()).unwrap();
        assert_eq!(fs::read_to_string(to.join("it/two")).unwrap(), "2");
        assert_eq!(written("it/a/one"), before);
        assert!(!to.join("it/a/three").exists());
    }
}
