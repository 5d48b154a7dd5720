//! Folders and files where plugins are searched, and their logging flags.

use std::ffi::OsString;
use std::path::Path;

use plumb_plugin::Discovery;
use plumb_plugin::discovery::Cache;

use super::project_plugins::plugins_of;
use crate::Environment;
use crate::context::{Globals, LoadedProject};

/// Logging flags to pass on to plugins, if `--logflow` is set.
pub fn log_arguments(globals: &Globals) -> Vec<OsString> {
    let mut arguments = Vec::new();
    if globals.logflow && globals.logtostderr {
        arguments.push("--logtostderr".into());
    }
    if globals.logflow && globals.verbose > 0 {
        arguments.push(format!("-v={}", globals.verbose).into());
    }
    arguments
}

/// Folders and files where plugins are searched.
pub fn discovery(environment: &Environment, project: Option<&LoadedProject>) -> Discovery {
    let bundled = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .ok()
        .and_then(|path| path.parent().map(Path::to_owned));
    let path = || {
        environment
            .variables()
            .get(&OsString::from("PATH"))
            .cloned()
    };
    Discovery {
        project: project.map(plugins_of).unwrap_or_default(),
        search_path: (!environment.is_on("PULUMI_IGNORE_AMBIENT_PLUGINS"))
            .then(path)
            .flatten(),
        bundled,
        cache: Cache::new(environment.pulumi_home.join("plugins")),
        accept_newer: environment.is_on("PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH"),
    }
}
