//! The files of a configuration: those of its root module and of the modules that it calls.
//!
//! Only files below one folder are read. Modules from elsewhere are read where `terraform init` put them, in
//! `.terraform/modules`; one that is not there stays a call without a module.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hcl_edit::structure::{Block, Body};
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::source::{SourceFile, Span};
use serde::Deserialize;

use crate::json;
use crate::lines::joined;
use crate::overrides::{self, Text};
use crate::repeated;

/// A Terraform configuration as it is written.
#[derive(Debug)]
pub struct Configuration {
    /// The folder that holds all of it.
    pub(crate) folder: PathBuf,
    /// The modules, the root module first.
    pub(crate) modules: Vec<ModuleSource>,
}

/// The files of one module.
#[derive(Debug)]
pub(crate) struct ModuleSource {
    /// Folder, relative to that of the configuration; empty for that itself.
    pub(crate) folder: String,
    /// Files, ordered by name; those called `override` last, as Terraform reads them.
    pub(crate) files: Vec<ModuleFile>,
    /// Modules by the name of their call; `None` for one that is not there.
    pub(crate) calls: BTreeMap<String, Option<usize>>,
}

/// One file of a module.
#[derive(Debug)]
pub(crate) struct ModuleFile {
    pub(crate) source: Arc<SourceFile>,
    pub(crate) body: Body,
}

impl ModuleFile {
    fn text(&self) -> Text<'_> {
        Text {
            text: &self.source.text,
            body: &self.body,
        }
    }

    /// Name without the folder.
    pub(crate) fn name(&self) -> &str {
        let path = &self.source.name;
        path.rsplit_once('/')
            .map_or(path.as_str(), |(_, name)| name)
    }
}

/// Why a configuration cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no configuration in the folder.
    #[error(
        "there is no Terraform configuration in {0}: its files end with .tf, .tofu, .tf.json or .tofu.json"
    )]
    Empty(PathBuf),
    /// The folder of the root module is not within the folder that is converted.
    #[error(
        "the folder {0} is outside of the folder that is converted; run the command in a folder that holds both"
    )]
    Outside(String),
    /// A file or folder cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Files have errors; the texts have a place and an excerpt each.
    #[error("{}", .0.join("\n"))]
    Syntax(Vec<String>),
}

impl Configuration {
    /// Reads the configuration whose root module is in the folder `start` within `folder`; `start` is empty for `folder`
    /// itself.
    pub fn read(folder: &Path, start: &str) -> Result<Self, ReadError> {
        let root = normal(start).ok_or_else(|| ReadError::Outside(start.to_owned()))?;
        let mut reader = Reader {
            folder,
            manifest: Manifest::read(&folder.join(&root)),
            root: root.clone(),
            configuration: Configuration {
                folder: folder.to_owned(),
                modules: Vec::new(),
            },
            problems: Vec::new(),
        };
        reader.module(&root, "")?;
        if !reader.problems.is_empty() {
            return Err(ReadError::Syntax(reader.problems));
        }
        if reader.configuration.modules[0].files.is_empty() {
            return Err(ReadError::Empty(folder.join(root)));
        }
        Ok(reader.configuration)
    }

    /// Text of a file by its path within the configuration; `None` if there is none or it is elsewhere.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let path = normal(path)?;
        fs::read_to_string(self.folder.join(path)).ok()
    }
}

struct Reader<'a> {
    folder: &'a Path,
    root: String,
    manifest: Manifest,
    configuration: Configuration,
    problems: Vec<String>,
}

impl Reader<'_> {
    /// Reads the module in `folder`, which is called by the path `key`, and the modules that it calls; returns its place.
    /// Modules that call each other are read once.
    fn module(&mut self, folder: &str, key: &str) -> Result<usize, ReadError> {
        let modules = &self.configuration.modules;
        if let Some(place) = modules.iter().position(|it| it.folder == folder) {
            return Ok(place);
        }
        let files = self.files(folder)?;
        let called: Vec<(String, Option<String>)> =
            files.iter().flat_map(|file| calls(&file.body)).collect();
        let place = self.configuration.modules.len();
        self.configuration.modules.push(ModuleSource {
            folder: folder.to_owned(),
            files,
            calls: BTreeMap::new(),
        });
        for (name, source) in called {
            let key = if key.is_empty() {
                name.clone()
            } else {
                format!("{key}.{name}")
            };
            let module = match self.folder_of(folder, &key, source.as_deref()) {
                Some(folder) => Some(self.module(&folder, &key)?),
                None => None,
            };
            self.configuration.modules[place].calls.insert(name, module);
        }
        Ok(place)
    }

    /// The folder of a called module, if it is there.
    fn folder_of(&self, folder: &str, key: &str, source: Option<&str>) -> Option<String> {
        let source = source?;
        let path = if source.starts_with("./") || source.starts_with("../") {
            normal(&format!("{folder}/{source}"))?
        } else {
            let place = self.manifest.folders.get(key)?;
            normal(&format!("{}/{place}", self.root))?
        };
        self.folder.join(&path).is_dir().then_some(path)
    }

    fn files(&mut self, folder: &str) -> Result<Vec<ModuleFile>, ReadError> {
        let path = self.folder.join(folder);
        let mut files = Vec::new();
        for name in names(&path)? {
            let shown = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            let path = path.join(&name);
            let text =
                fs::read_to_string(&path).map_err(|source| ReadError::Io { path, source })?;
            let text = if name.strip_suffix(".json").is_some() {
                json::to_hcl(&text).map_err(|problem| format!("{shown}: {problem}"))
            } else {
                Ok(text)
            };
            match text {
                Ok(text) => files.extend(self.parsed(&shown, text)),
                Err(problem) => self.problems.push(problem),
            }
        }
        Ok(self.overridden(files))
    }

    /// Reads the text of a file, or adds the problem that it has.
    fn parsed(&mut self, shown: &str, text: String) -> Option<ModuleFile> {
        let source = |text| SourceFile::new(shown, shown.to_owned().into(), text);
        let again = |error| repeated::parse(joined(&text)).map_err(|_| error);
        match repeated::parse(text.clone()).or_else(again) {
            Ok((body, read)) => {
                // Places are the same in the original, unless marks were added to what was read.
                let text = if read.len() == text.len() { text } else { read };
                let source = Arc::new(source(text));
                Some(ModuleFile { source, body })
            }
            Err(error) => {
                self.problems.push(unreadable(&source(text), &error));
                None
            }
        }
    }

    /// Merges override files, which are last, into the files before them.
    fn overridden(&mut self, files: Vec<ModuleFile>) -> Vec<ModuleFile> {
        let mut merged: Vec<ModuleFile> = Vec::new();
        for mut file in files {
            if is_override(file.name()) {
                for base in &mut merged {
                    let Some(texts) = overrides::merge(&base.text(), &file.text()) else {
                        continue;
                    };
                    let base_name = base.source.name.clone();
                    let name = file.source.name.clone();
                    if let (Some(new_base), Some(rest)) = (
                        self.parsed(&base_name, texts.base),
                        self.parsed(&name, texts.rest),
                    ) {
                        *base = new_base;
                        file = rest;
                    }
                }
            }
            merged.push(file);
        }
        merged
    }
}

/// Name of the file for OpenTofu alone that replaces a file for Terraform.
fn tofu_name(name: &str) -> Option<String> {
    let (base, end) = match name.strip_suffix(".json") {
        Some(base) => (base, ".json"),
        None => (name, ""),
    };
    let stem = base.strip_suffix(".tf")?;
    Some(format!("{stem}.tofu{end}"))
}

/// Names of the files of a configuration in a folder, in their order; override files are last.
fn names(folder: &Path) -> Result<Vec<String>, ReadError> {
    let failed = |source| ReadError::Io {
        path: folder.to_owned(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy().into_owned();
        if stem(&name).is_some() && !name.starts_with('.') {
            names.push(name);
        }
    }
    // OpenTofu reads a file of its own instead of the one with the same name for Terraform.
    let all = names.clone();
    names.retain(|name| !tofu_name(name).is_some_and(|own| all.contains(&own)));
    names.sort_by_key(|name| (is_override(name), name.clone()));
    Ok(names)
}

fn unreadable(source: &SourceFile, error: &hcl_edit::parser::Error) -> String {
    let at = error.location().offset().min(source.text.len());
    let end = (at + 1).min(source.text.len());
    let summary = format!("syntax error: {}", error.message());
    Diagnostic::error(Span::new(at, end), summary).excerpt(source)
}

/// Whether Terraform merges the blocks of a file into those of other files.
fn is_override(name: &str) -> bool {
    stem(name).is_some_and(|stem| stem == "override" || stem.ends_with("_override"))
}

/// Name of a file of a configuration without its extension; `None` for other files.
pub(crate) fn stem(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".json").unwrap_or(name);
    name.strip_suffix(".tf")
        .or_else(|| name.strip_suffix(".tofu"))
}

/// Names and sources of the modules that a file calls.
fn calls(body: &Body) -> impl Iterator<Item = (String, Option<String>)> {
    body.get_blocks("module").filter_map(|block| {
        let name = block.labels.first()?.as_str().to_owned();
        Some((name, text_of(block, "source")))
    })
}

/// The attribute `name` of a block, if it is a plain text.
pub(crate) fn text_of(block: &Block, name: &str) -> Option<String> {
    let value = &block.body.get_attribute(name)?.value;
    value.as_str().map(str::to_owned)
}

/// A path with `/` in its one form, without a dot at its start; `None` if it leads out of the folder.
pub(crate) fn normal(path: &str) -> Option<String> {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    Some(steps.join("/"))
}

/// Folders into which `terraform init` put modules from registries and repositories.
#[derive(Debug, Default)]
struct Manifest {
    /// Folders by the path of calls, with dots.
    folders: BTreeMap<String, String>,
}

impl Manifest {
    fn read(root: &Path) -> Self {
        #[derive(Deserialize)]
        struct Entry {
            #[serde(rename = "Key")]
            key: String,
            #[serde(rename = "Dir")]
            dir: String,
        }
        #[derive(Deserialize)]
        struct File {
            #[serde(rename = "Modules")]
            modules: Vec<Entry>,
        }
        let path = root.join(".terraform/modules/modules.json");
        let text = fs::read_to_string(path).unwrap_or_default();
        let file: Option<File> = serde_json::from_str(&text).ok();
        let entries = file.map(|it| it.modules).unwrap_or_default();
        Manifest {
            folders: entries.into_iter().map(|it| (it.key, it.dir)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn paths_stay_in_their_folder() {
        assert_eq!(normal("a/./b/../c").as_deref(), Some("a/c"));
        assert_eq!(normal("./").as_deref(), Some(""));
        assert_eq!(normal("a/../../b"), None);
    }
}
