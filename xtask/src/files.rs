//! In-memory sets of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Contents by relative path.
#[derive(Default)]
pub(crate) struct FileSet(BTreeMap<PathBuf, String>);

impl FileSet {
    /// Adds a file.
    pub(crate) fn insert(&mut self, path: impl Into<PathBuf>, content: String) {
        self.0.insert(path.into(), content);
    }

    /// Writes the files to `folder`, and deletes all others in it.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        for stray in self.strays(folder)? {
            fs::remove_file(folder.join(stray))?;
        }
        for (path, content) in &self.0 {
            let target = folder.join(path);
            let parent = target.parent().unwrap_or(folder);
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot create {}", parent.display()))?;
            fs::write(&target, content)
                .with_context(|| format!("cannot write {}", target.display()))?;
        }
        Ok(())
    }

    /// Fails unless `folder` contains exactly these files.
    pub(crate) fn check(&self, folder: &Path) -> Result<()> {
        let changed = self.0.iter().filter(|(path, content)| {
            fs::read_to_string(folder.join(path)).ok().as_ref() != Some(*content)
        });
        let mut stale: BTreeSet<PathBuf> = changed.map(|(path, _)| path.clone()).collect();
        stale.extend(self.strays(folder)?);
        if stale.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = stale
            .iter()
            .map(|path| folder.join(path).display().to_string())
            .collect();
        bail!(
            "not up to date, run the task without --check: {}",
            names.join(", ")
        );
    }

    /// Files below `folder` that are not in the set.
    fn strays(&self, folder: &Path) -> Result<BTreeSet<PathBuf>> {
        let mut found = BTreeSet::new();
        if folder.is_dir() {
            collect(folder, Path::new(""), &mut found)?;
        }
        found.retain(|path| !self.0.contains_key(path));
        Ok(found)
    }
}

fn collect(folder: &Path, below: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(folder, &path, found)?;
        } else {
            found.insert(path);
        }
    }
    Ok(())
}
