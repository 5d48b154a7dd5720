//! Edits of settings files, compared with those of the Go YAML library.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::config::{ConfigMap, Key, Value};
use crate::stack_file::StackFile;

const FILE: &str = "Pulumi.dev.yaml";

#[derive(Deserialize)]
struct Golden {
    document: String,
    input: String,
    edit: Edit,
    output: String,
}

#[derive(Deserialize)]
struct Edit {
    path: Vec<Json>,
    #[serde(default)]
    value: Json,
    #[serde(default)]
    remove: bool,
}

impl Edit {
    fn apply(&self, config: &mut ConfigMap) {
        let key = Key::parse_in(self.path[0].as_str().unwrap(), "proj").unwrap();
        if self.remove && self.path.len() == 1 {
            config.remove(&key);
            return;
        }
        let before = config.get(&key).map_or(Json::Null, Value::to_json);
        let value = self.changed(before, &self.path[1..]);
        config.insert(key, Value::from_json(&value));
    }

    /// The value after setting or removing the part at `path`.
    fn changed(&self, value: Json, path: &[Json]) -> Json {
        let Some((step, rest)) = path.split_first() else {
            return self.value.clone();
        };
        let removes = rest.is_empty() && self.remove;
        match step {
            Json::String(key) => {
                let mut entries = match value {
                    Json::Object(entries) => entries,
                    _ => serde_json::Map::new(),
                };
                let before = entries.remove(key).unwrap_or_default();
                if !removes {
                    entries.insert(key.clone(), self.changed(before, rest));
                }
                Json::Object(entries)
            }
            index => {
                let index = usize::try_from(index.as_u64().unwrap()).unwrap();
                let Json::Array(mut items) = value else {
                    panic!("{value} is no list")
                };
                if removes {
                    items.remove(index);
                } else if index == items.len() {
                    items.push(self.changed(Json::Null, rest));
                } else {
                    items[index] = self.changed(items[index].take(), rest);
                }
                Json::Array(items)
            }
        }
    }
}

fn goldens() -> Vec<Golden> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/yaml/edits.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn settings_are_edited_as_the_go_library_edits_them() {
    let goldens = goldens();
    assert!(goldens.len() > 150);
    let mut failures = Vec::new();
    for golden in &goldens {
        let Golden {
            document,
            input,
            edit,
            output,
        } = golden;
        let mut file = StackFile::parse(FILE, input, "proj").unwrap();
        let mut config = file.config().clone();
        edit.apply(&mut config);
        file.set_config(&config);
        let written = file.to_text();
        if &written != output {
            let path = Json::from(edit.path.clone());
            let value = &edit.value;
            failures.push(format!(
                "== {document}: {path} to {value}\n{written}-- expected\n{output}"
            ));
        }
        let read = StackFile::parse(FILE, &written, "proj").unwrap();
        assert_eq!(
            read.config(),
            &config,
            "{document} reads differently:\n{written}"
        );
    }
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} differ\n{}",
        failures.join("\n")
    );
}

#[test]
fn comments_stay_where_there_is_nothing_else() {
    let mut file = StackFile::parse(FILE, "# Nothing but a comment.\n", "proj").unwrap();
    let mut config = ConfigMap::default();
    config.insert(Key::new("proj", "a"), Value::Text("b".to_owned()));
    file.set_config(&config);
    let text = file.to_text();
    assert!(text.starts_with("# Nothing but a comment.\n"), "{text}");
    assert!(text.ends_with("config:\n  proj:a: b\n"), "{text}");
}

/// The Go library writes quotes that other readers reject, and folded blocks that gain a line.
#[test]
fn what_the_go_library_writes_badly_is_written_well() {
    for style in ["'x'", ">-\n    x y"] {
        let input = format!("config:\n  proj:a: {style}\n  proj:b: c\n");
        let mut file = StackFile::parse(FILE, &input, "proj").unwrap();
        let mut config = file.config().clone();
        config.insert(
            Key::new("proj", "a"),
            Value::Text("two\nlines\n".to_owned()),
        );
        file.set_config(&config);
        let written = file.to_text();
        let read = StackFile::parse(FILE, &written, "proj").unwrap();
        assert_eq!(read.config(), &config, "{written}");
    }
}
