//! A project in a temporary folder, and a host to run it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use plumb_language::{LanguageOptions, PythonHost};
use plumb_plugin::language::{
    LinkDependency, LinkRequest, PackageDependency, ProgramInfo, RunRequest,
};
use plumb_plugin::process::Environment;
use plumb_plugin::{LanguageRuntime, OutputLine, OutputSink, OutputStream, PluginKind};

use crate::engine::FakeEngine;

pub(crate) struct World {
    pub(crate) root: tempfile::TempDir,
    pub(crate) lines: Arc<Mutex<Vec<OutputLine>>>,
    pub(crate) environment: Environment,
    pub(crate) engine: FakeEngine,
    pub(crate) address: String,
    /// Whether debug messages are shown.
    pub(crate) debug_messages: bool,
}

/// Folder of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A virtual environment with the SDK; `None` if it is not set up.
pub(crate) fn sdk(version: &str) -> Option<PathBuf> {
    let directory = repository()
        .join(".cache/venvs")
        .join(format!("pulumi-{version}"));
    if !directory.join(".complete").exists() {
        eprintln!(
            "SKIPPED: {} is missing; run tests/setup-python.sh",
            directory.display()
        );
        return None;
    }
    Some(directory)
}

impl World {
    pub(crate) async fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("project")).unwrap();
        let engine = FakeEngine::default();
        let address = engine.serve().await;
        let environment = std::env::vars_os().collect();
        World {
            root,
            lines: Arc::default(),
            environment,
            engine,
            address,
            debug_messages: false,
        }
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.path().join("project").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn sink(&self) -> OutputSink {
        let lines = self.lines.clone();
        Arc::new(move |line| lines.lock().unwrap().push(line))
    }

    pub(crate) fn printed(&self, stream: OutputStream) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        lines
            .iter()
            .filter(|line| line.stream == stream)
            .map(|line| line.text.clone())
            .collect()
    }

    pub(crate) fn host(&self) -> PythonHost {
        PythonHost::new(self.options())
    }

    /// Host of the language with this name in project files.
    pub(crate) fn host_of(&self, name: &str) -> Arc<dyn LanguageRuntime> {
        (plumb_language::language(name).unwrap().host)(self.options())
    }

    /// Options for a host of any language.
    pub(crate) fn options(&self) -> LanguageOptions {
        LanguageOptions {
            environment: self.environment.clone(),
            engine_address: self.address.clone(),
            debug_messages: self.debug_messages,
            cache_directory: self.root.path().join("cache"),
            version: semver::Version::new(1, 2, 3),
            output: self.sink(),
        }
    }

    /// Puts `directory` first on the PATH.
    pub(crate) fn search_first(&mut self, directory: &Path) {
        let path = self.environment.get(std::ffi::OsStr::new("PATH"));
        let others = path.map(std::env::split_paths).into_iter().flatten();
        let all = std::iter::once(directory.to_owned()).chain(others);
        let path = std::env::join_paths(all).unwrap();
        self.environment.insert("PATH".into(), path);
    }

    /// Whether a tool is installed; if not, prints that the test is skipped.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        let path = self.environment.get(&std::ffi::OsString::from("PATH"));
        let found = which::which_in(name, path, self.root.path()).is_ok();
        if !found {
            eprintln!("SKIPPED: there is no `{name}`");
        }
        found
    }

    pub(crate) fn info(&self, options: serde_json::Value) -> ProgramInfo {
        let directory = self.root.path().join("project");
        ProgramInfo {
            root_directory: directory.clone(),
            program_directory: directory,
            entry_point: ".".to_owned(),
            options: options.as_object().cloned().unwrap_or_default(),
        }
    }

    /// Request to link the library of the package `name` in a folder.
    pub(crate) fn link_request(&self, name: &str, path: impl Into<PathBuf>) -> LinkRequest {
        let package = PackageDependency {
            name: name.to_owned(),
            kind: PluginKind::Resource,
            version: None,
            server: None,
            checksums: BTreeMap::new(),
            parameterization: None,
            extension: None,
        };
        LinkRequest {
            info: self.info(serde_json::json!({})),
            loader_target: String::new(),
            packages: vec![LinkDependency {
                package,
                path: path.into(),
            }],
        }
    }

    pub(crate) fn run_request(&self, virtualenv: &Path) -> RunRequest {
        let info = self.info(serde_json::json!({"virtualenv": virtualenv}));
        RunRequest {
            working_directory: info.program_directory.clone(),
            info,
            project: "proj".to_owned(),
            stack: "dev".to_owned(),
            organization: "org".to_owned(),
            args: Vec::new(),
            config: [("proj:colour".to_owned(), "red".to_owned())].into(),
            config_secret_keys: vec!["proj:colour".to_owned()],
            dry_run: false,
            parallel: 4,
            monitor_address: self.address.clone(),
            loader_target: String::new(),
            mapper_target: String::new(),
            attach_debugger: false,
        }
    }
}
