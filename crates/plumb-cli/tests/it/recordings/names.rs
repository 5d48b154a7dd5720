//! Values that differ between machines or runs, but are constant within a run.
//!
//! Recordings contain `$NAMES` for folders and ports. Random ids of the engine are learned during a replay: the first
//! occurrence maps the id to the recorded one for the rest of the run.

use std::path::Path;

use serde_json::Value as Json;

/// Mapping between recorded values and those of this run.
#[derive(Clone)]
pub(super) struct Names {
    /// Longest first, because one folder may contain another.
    folders: Vec<(&'static str, String)>,
    ids: Vec<(String, String)>,
}

/// Placeholder for unknown values in previews, such as ids.
const UNKNOWN: &str = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const LOCALHOST: &str = "127.0.0.1:";
const PORT: &str = "127.0.0.1:$PORT";

impl Names {
    pub(super) fn new(project: &Path, plugins: &Path) -> Self {
        let folder = |path: &Path| path.canonicalize().unwrap().display().to_string();
        Names {
            folders: vec![
                ("$PROJECT", folder(project)),
                ("$PLUGINS", folder(plugins)),
                ("$VENV", "/recorded/home/venv".to_owned()),
                ("$GOROOT", "/recorded/go".to_owned()),
                ("$HOME", "/recorded/home".to_owned()),
                ("$TMP", "/recorded/tmp".to_owned()),
            ],
            ids: Vec::new(),
        }
    }

    /// Maps `recorded` to `ours` from now on, unless one of them is mapped already.
    pub(super) fn learn(&mut self, recorded: &Json, ours: &Json) {
        let (Some(recorded), Some(ours)) = (recorded.as_str(), ours.as_str()) else {
            return;
        };
        let is_known = |it: &(String, String)| it.0 == recorded || it.1 == ours;
        if recorded != UNKNOWN && recorded != ours && !self.ids.iter().any(is_known) {
            self.ids.push((recorded.to_owned(), ours.to_owned()));
        }
    }

    /// Replaces recorded values by those of this run. `port` is the port for callbacks of the program.
    pub(super) fn to_ours(&self, json: &Json, port: u16) -> Json {
        strings(json, &|text| {
            let mut text = text.replace(PORT, &format!("{LOCALHOST}{port}"));
            for (recorded, ours) in &self.folders {
                text = text.replace(recorded, ours);
            }
            for (recorded, ours) in &self.ids {
                text = text.replace(recorded, ours);
            }
            text
        })
    }

    /// Replaces values of this run by the recorded ones.
    pub(super) fn to_recorded(&self, json: &Json) -> Json {
        strings(json, &|text| {
            let mut text = without_ports(text);
            for (recorded, ours) in &self.folders {
                text = text.replace(ours, recorded);
            }
            for (recorded, ours) in &self.ids {
                text = text.replace(ours, recorded);
            }
            text
        })
    }
}

fn without_ports(text: &str) -> String {
    match text.strip_prefix(LOCALHOST) {
        Some(port) if port.parse::<u16>().is_ok() => PORT.to_owned(),
        _ => text.to_owned(),
    }
}

/// Maps all strings in a value, without the keys.
pub(super) fn strings(json: &Json, change: &dyn Fn(&str) -> String) -> Json {
    match json {
        Json::String(text) => Json::String(change(text)),
        Json::Array(items) => items.iter().map(|item| strings(item, change)).collect(),
        Json::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), strings(value, change)))
            .collect(),
        other => other.clone(),
    }
}
