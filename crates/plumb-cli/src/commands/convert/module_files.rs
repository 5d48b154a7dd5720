//! Files that modules of Terraform read: templates, scripts, policies and the like.

use std::fs;
use std::path::{Path, PathBuf};

use plumb_operate::Error;

/// Endings of the files that are converted, and of states.
const CONVERTED: [&str; 8] = [
    ".tf",
    ".tf.json",
    ".tofu",
    ".tofu.json",
    ".tfvars",
    ".tfvars.json",
    ".tfstate",
    ".tfstate.backup",
];

/// The files that a module may read: all but its own source, its state, and other modules below its folder.
pub(super) struct ModuleFiles<'a> {
    /// Folders of the modules that are converted.
    modules: &'a [PathBuf],
    /// Folder of the new program.
    out: &'a Path,
    /// Text of the module.
    text: String,
}

impl<'a> ModuleFiles<'a> {
    /// The files of the module in `folder`.
    pub(super) fn of(folder: &Path, modules: &'a [PathBuf], out: &'a Path) -> Result<Self, Error> {
        let mut text = String::new();
        for path in entries(folder)? {
            if path.is_file() && is_converted(&path) {
                let bytes = fs::read(&path).map_err(|error| failed(&path, error))?;
                text += &String::from_utf8_lossy(&bytes);
            }
        }
        Ok(ModuleFiles { modules, out, text })
    }

    /// Copies the files of a folder, unless they are there.
    pub(super) fn copy(&self, from: &Path, to: &Path) -> Result<(), Error> {
        for path in entries(from)? {
            let name = path.file_name().unwrap_or_default();
            let target = to.join(name);
            if path.is_dir() {
                if self.is_read(&path)? {
                    self.copy(&path, &target)?;
                }
            } else if !is_converted(&path) && !is_hidden(&path) && !target.exists() {
                fs::create_dir_all(to).map_err(|error| failed(to, error))?;
                fs::copy(&path, &target).map_err(|error| failed(&path, error))?;
            }
        }
        Ok(())
    }

    /// Whether the module reads files in a folder, as far as one can tell: folders with modules, such as examples and tests,
    /// are read only if the module names them.
    fn is_read(&self, folder: &Path) -> Result<bool, Error> {
        let is_other = folder == self.out || self.modules.iter().any(|it| it == folder);
        if is_other || is_hidden(folder) {
            return Ok(false);
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Ok(self.text.contains(&format!("{name}/")) || !has_modules(folder)?)
    }
}

/// Whether there is a module in a folder, or below.
fn has_modules(folder: &Path) -> Result<bool, Error> {
    for path in entries(folder)?.into_iter().filter(|it| !is_hidden(it)) {
        let has = if path.is_dir() {
            has_modules(&path)?
        } else {
            is_converted(&path)
        };
        if has {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_converted(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    CONVERTED.iter().any(|ending| name.ends_with(ending))
}

/// Whether a file belongs to a tool or to a project, not to the module: hidden files, and settings named `Pulumi.…`.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name.starts_with("Pulumi.")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, error))?;
    let paths = entries.map(|entry| Ok(entry.map_err(|error| failed(folder, error))?.path()));
    paths.collect()
}

fn failed(path: &Path, error: std::io::Error) -> Error {
    Error::from(error).context(path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_tests_stay_behind() {
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("module");
        for (path, text) in [
            (
                "main.tf",
                "templatefile(\"${path.module}/policies/read.json\")",
            ),
            ("run.sh", ""),
            ("policies/read.json", ""),
            ("policies/maker/main.tf", ""),
            ("files/deep/script.sh", ""),
            ("examples/small/main.tf", ""),
            ("examples/small/note.txt", ""),
            (".terraform/plugin", ""),
            ("terraform.tfstate", ""),
            ("called/main.tf", ""),
            ("called/called.txt", ""),
            ("app/index.ts", ""),
        ] {
            let path = module.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (modules, out) = (vec![module.join("called")], module.join("app"));
        let to = folder.path().join("to");
        let files = ModuleFiles::of(&module, &modules, &out).unwrap();
        files.copy(&module, &to).unwrap();
        for (path, is_copied) in [
            ("run.sh", true),
            ("policies/read.json", true),
            ("files/deep/script.sh", true),
            ("examples", false),
            ("called", false),
            ("app", false),
            (".terraform", false),
            ("main.tf", false),
            ("terraform.tfstate", false),
        ] {
            assert_eq!(to.join(path).exists(), is_copied, "{path}");
        }
    }
}
