//! What differs from machine to machine and from run to run, and stays the same within a run.
//!
//! Recordings have `$NAMES` for folders and ports. Ids that the engine makes by chance are learned while a recording is
//! replayed: the first time that one is seen, it stands for the recorded one from there on.

use std::path::Path;

use serde_json::Value as Json;

/// Turns what was recorded into what is true here, and back.
#[derive(Clone)]
pub(super) struct Names {
    /// Longest first, so that no folder hides one inside it.
    folders: Vec<(&'static str, String)>,
    ids: Vec<(String, String)>,
}

/// What previews have instead of ids and other values.
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

    /// From here on, `ours` stands for `recorded`, unless something else does already.
    pub(super) fn learn(&mut self, recorded: &Json, ours: &Json) {
        let (Some(recorded), Some(ours)) = (recorded.as_str(), ours.as_str()) else {
            return;
        };
        let is_known = |it: &(String, String)| it.0 == recorded || it.1 == ours;
        if recorded != UNKNOWN && recorded != ours && !self.ids.iter().any(is_known) {
            self.ids.push((recorded.to_owned(), ours.to_owned()));
        }
    }

    /// What is true here for something recorded. Callbacks of the program are served on `port`.
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

    /// What would have been recorded for something that is true here.
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

/// The same with every text changed; keys stay.
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
