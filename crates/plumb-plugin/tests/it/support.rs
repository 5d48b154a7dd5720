//! A plugin host over a temporary folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plumb_plugin::discovery::Cache;
use plumb_plugin::process::{Environment, PluginTimeouts};
use plumb_plugin::{Discovery, HostOptions, OutputLine, OutputSink, PluginHost, ServiceAddresses};

/// A folder with a search path, and the output of all plugins.
pub(crate) struct World {
    pub(crate) root: tempfile::TempDir,
    pub(crate) lines: Arc<Mutex<Vec<OutputLine>>>,
    pub(crate) environment: Environment,
    search_path: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        let environment = std::env::vars_os().collect();
        let search_path = root.path().join("bin");
        World {
            root,
            lines: Arc::default(),
            environment,
            search_path,
        }
    }

    /// A world with the lab provider, or `None` when its Python is not set up.
    pub(crate) fn with_lab() -> Option<Self> {
        let project = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .canonicalize()
            .unwrap();
        let virtualenv = project.join(".cache/venvs/pulumi-3.259");
        if !virtualenv.join(".complete").exists() {
            eprintln!(
                "SKIPPED: {} is missing; run tests/setup-python.sh 3.259",
                virtualenv.display()
            );
            return None;
        }
        let python = virtualenv.join("bin/python");
        let mut world = World::new();
        let cloud = world.root.path().join("cloud");
        fs::create_dir(&cloud).unwrap();
        for (key, value) in [
            ("LAB_PYTHON", python),
            ("LAB_CLOUD", cloud),
            ("LAB_LOG", world.log_path()),
        ] {
            world.environment.insert(key.into(), value.into());
        }
        world.search_path = project.join("tests/lab");
        Some(world)
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.root.path().join("log.jsonl")
    }

    /// Names of the calls that the lab provider received.
    pub(crate) fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.log_path()).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter(|entry| entry.get("call").is_some())
            .map(|entry| entry["method"].as_str().unwrap().to_owned())
            .collect()
    }

    /// A shell script on the search path.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self
            .root
            .path()
            .join("bin")
            .join(format!("pulumi-resource-{name}"));
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn sink(&self) -> OutputSink {
        let lines = self.lines.clone();
        Arc::new(move |line| lines.lock().unwrap().push(line))
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.lines
            .lock()
            .unwrap()
            .iter()
            .map(|line| line.text.clone())
            .collect()
    }

    pub(crate) fn options(&self) -> HostOptions {
        HostOptions {
            schema_cache: None,
            acquire: None,
            discovery: Discovery {
                project: Vec::new(),
                search_path: Some(self.search_path.clone().into_os_string()),
                bundled: None,
                cache: Cache::new(self.root.path().join("plugins")),
                accept_newer: false,
            },
            environment: self.environment.clone(),
            working_directory: self.root.path().to_owned(),
            project: Some("proj".to_owned()),
            runtime_options: BTreeMap::new(),
            config: BTreeMap::new(),
            services: ServiceAddresses {
                engine: "127.0.0.1:1".to_owned(),
                ..ServiceAddresses::default()
            },
            log_arguments: Vec::new(),
            attached_providers: BTreeMap::new(),
            attached_languages: BTreeMap::new(),
            timeouts: PluginTimeouts {
                port: Duration::from_secs(20),
                connect: Duration::from_secs(10),
                ..PluginTimeouts::default()
            },
            refresh_before_update: true,
            use_provider_preview: true,
            ignore_versions: false,
            output: self.sink(),
        }
    }

    pub(crate) fn host(&self) -> PluginHost {
        PluginHost::new(self.options())
    }
}

/// Whether a process with this id runs (zombies do not count).
pub(crate) fn is_running(id: u32) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| !rest.trim_start().starts_with(['Z', 'X']))
    })
}
