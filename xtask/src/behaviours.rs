//! Test coverage of the catalogue of behaviours.
//!
//! The ids are those in `tests/data/behaviours/ids.txt`. A test covers a behaviour by naming its id in a comment, a
//! name or a message, anywhere in the tests of a crate or among the recorded cases that must pass. `docs/behaviours.md`
//! lists the ids without a test, with the reason for each family.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

const IDS: &str = "tests/data/behaviours/ids.txt";
const OPEN: &str = "docs/behaviours.md";
const CASES: &str = "tests/oracle/cases";
const PASSING: &str = "tests/oracle-passing.txt";

/// Citations of each id of the catalogue.
pub(crate) struct Coverage {
    cited: BTreeMap<String, BTreeSet<PathBuf>>,
    /// Ids that the documentation lists as open.
    open: BTreeSet<String>,
}

impl Coverage {
    /// Reads the sources.
    pub(crate) fn of(root: &Path) -> Result<Self> {
        let ids = read(&root.join(IDS))?;
        let mut coverage = Coverage {
            cited: ids
                .lines()
                .map(|id| (id.to_owned(), BTreeSet::new()))
                .collect(),
            open: BTreeSet::new(),
        };
        for crate_folder in folders(&root.join("crates"))? {
            for file in rust_files(&crate_folder)? {
                let text = read(&file)?;
                coverage.cite(tests_of(&file, &text), &file);
            }
        }
        for case in passing_cases(root)? {
            let file = root.join(CASES).join(case).join("case.json");
            coverage.cite(&read(&file)?, &file);
        }
        let open = read(&root.join(OPEN))?;
        coverage.open = ids_in(&open)
            .filter(|id| coverage.cited.contains_key(*id))
            .map(str::to_owned)
            .collect();
        Ok(coverage)
    }

    fn cite(&mut self, text: &str, file: &Path) {
        for id in ids_in(text) {
            if let Some(files) = self.cited.get_mut(id) {
                files.insert(file.to_owned());
            }
        }
    }

    fn missing(&self) -> impl Iterator<Item = &str> {
        let is_missing = |(_, files): &(&String, &BTreeSet<PathBuf>)| files.is_empty();
        self.cited
            .iter()
            .filter(is_missing)
            .map(|(id, _)| id.as_str())
    }

    /// Fails if an id has neither a test nor an entry among the open ones, or has both.
    pub(crate) fn check(&self) -> Result<()> {
        let missing: BTreeSet<&str> = self.missing().collect();
        let open: BTreeSet<&str> = self.open.iter().map(String::as_str).collect();
        let unlisted: Vec<_> = missing.difference(&open).collect();
        ensure!(
            unlisted.is_empty(),
            "no test cites {unlisted:?}, and {OPEN} does not list them"
        );
        let outdated: Vec<_> = open.difference(&missing).collect();
        ensure!(
            outdated.is_empty(),
            "{OPEN} lists {outdated:?}, which have tests"
        );
        Ok(())
    }

    /// Table with the citations of each id, one per line.
    pub(crate) fn table(&self, root: &Path) -> String {
        let mut table = String::new();
        for (id, files) in &self.cited {
            let shown: Vec<String> = files
                .iter()
                .map(|file| {
                    file.strip_prefix(root)
                        .unwrap_or(file)
                        .display()
                        .to_string()
                })
                .collect();
            let shown = if shown.is_empty() {
                "-".to_owned()
            } else {
                shown.join(" ")
            };
            let _ = writeln!(table, "{id:<12} {shown}");
        }
        let covered = self.cited.len() - self.missing().count();
        let _ = writeln!(
            table,
            "{covered} of {} behaviours have a test",
            self.cited.len()
        );
        table
    }
}

/// The part of a source file that is test code.
fn tests_of<'a>(file: &Path, text: &'a str) -> &'a str {
    let is_test_file = file
        .components()
        .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
    if is_test_file {
        return text;
    }
    text.find("#[cfg(test)]").map_or("", |start| &text[start..])
}

/// Words in the form of ids: capital letters, a hyphen, digits.
fn ids_in(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    text.split(move |c| !is_part(c)).filter(|word| {
        word.split_once('-').is_some_and(|(family, number)| {
            family.starts_with(|c: char| c.is_ascii_uppercase())
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

fn passing_cases(root: &Path) -> Result<Vec<String>> {
    let text = read(&root.join(PASSING))?;
    // The name is followed by permitted differences.
    let name = |line: &str| {
        let listed = line.split('#').next().unwrap_or_default();
        Some(listed.split_whitespace().next()?.to_owned())
    };
    let is_case = |name: &String| !name.contains('/');
    Ok(text.lines().filter_map(name).filter(is_case).collect())
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The Rust files below a folder.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_behaviour_has_a_test_or_is_listed_as_open() {
        let coverage = Coverage::of(&crate::repository_root()).unwrap();
        coverage.check().unwrap();
    }

    #[test]
    fn ids_are_found_in_running_text() {
        let found: Vec<&str> =
            ids_in("/// TAINT-01, RWITH-3: see PROV-0x; UTF-8 \"XFORM-11\"").collect();
        assert_eq!(
            found,
            ["TAINT-01", "RWITH-3", "PROV-0", "UTF-8", "XFORM-11"]
        );
    }
}
