//! A writer with the protocol of the official program: a lock file, and writes of the whole state.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::link::Direct;
use super::{World, stack};
use crate::bucket::Bucket;
use crate::keys;

const STATE: &str = ".pulumi/stacks/proj/dev.json";

/// The writer, with or without a running update.
#[derive(Default)]
pub(super) struct Upstream {
    updates: usize,
    /// Key of its lock, if it has one.
    held: Option<String>,
}

impl Upstream {
    /// Whether the writer has a lock.
    pub(super) fn holds(&self) -> bool {
        self.held.is_some()
    }

    pub(super) fn act(&mut self, world: &Arc<World>) {
        if self.holds() {
            self.finish(world);
        } else {
            self.begin(world);
        }
    }

    fn name(&self) -> String {
        format!("upstream{}", self.updates)
    }

    /// Takes the lock, unless the stack is locked.
    fn begin(&mut self, world: &Arc<World>) {
        self.updates += 1;
        let bucket = Direct(world.clone());
        let folder = keys::locks(&stack());
        let is_free = |own: Option<&str>| {
            let locks = bucket.list(&folder).expect("listing works");
            locks.iter().all(|entry| Some(entry.key.as_str()) == own)
        };
        if !is_free(None) {
            return world.model().note("upstream finds a lock");
        }
        let key = format!("{folder}/{}.json", self.name());
        let content =
            br#"{"pid":7,"username":"u","hostname":"h","timestamp":"2026-01-01T00:00:00Z"}"#;
        bucket.put(&key, content).expect("writing works");
        world.act();
        if !is_free(Some(&key)) {
            bucket.delete(&key).expect("removing works");
            return world.model().note("upstream comes second");
        }
        let mut model = world.model();
        model.note("upstream has locked the stack");
        let now = model.now;
        model.holds(&self.name(), now, false);
        self.held = Some(key);
    }

    /// Writes the state with one more resource, and removes the lock.
    pub(super) fn finish(&mut self, world: &Arc<World>) {
        let Some(key) = self.held.take() else {
            return;
        };
        let bucket = Direct(world.clone());
        let read = bucket.get(STATE).expect("reading works");
        let text = String::from_utf8(read.unwrap_or_default()).expect("it is text");
        let name = world.model().new_name();
        let urn = format!("urn:pulumi:dev::proj::a:b:C::{name}");
        let Some(written) = with_resource(&text, &urn) else {
            bucket.delete(&key).expect("removing works");
            let mut model = world.model();
            model.lets_go(&self.name());
            return model.note("upstream does not support the state");
        };
        bucket
            .put(STATE, written.as_bytes())
            .expect("writing works");
        bucket.delete(&key).expect("removing works");
        let mut model = world.model();
        model.recorded(&[name]);
        model.lets_go(&self.name());
        model.note("upstream has written the state and unlocked the stack");
    }
}

/// A state file with one more component; `None` if it has a feature that only this program supports.
fn with_resource(text: &str, urn: &str) -> Option<String> {
    let mut file: Json = serde_json::from_str(text).expect("the state file is JSON");
    if file["features"] == json!(["encrypted-by-plumb"]) {
        return None;
    }
    file["version"] = json!(3);
    let latest = &mut file["checkpoint"]["latest"];
    if latest.is_null() {
        *latest =
            json!({ "manifest": { "time": "0001-01-01T00:00:00Z", "magic": "", "version": "" } });
    }
    if !latest["resources"].is_array() {
        latest["resources"] = json!([]);
    }
    let resource = json!({ "urn": urn, "custom": false, "type": "a:b:C" });
    let resources = latest["resources"].as_array_mut();
    resources.expect("it is an array").push(resource);
    Some(file.to_string())
}
