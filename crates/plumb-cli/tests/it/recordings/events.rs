//! Normal form of event logs, for comparison.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// The events of a log by subject and number.
///
/// The order of events is dropped, because independent resources complete in any order. Diagnostics are dropped, because
/// recordings contain none for the output of programs, but one for each start of a plugin.
pub(super) fn comparable(log: &str) -> Json {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut events = Map::new();
    for line in log.lines() {
        let mut event: Json = serde_json::from_str(line).unwrap();
        let fields = event.as_object_mut().unwrap();
        fields.remove("sequence");
        fields.remove("timestamp");
        if fields.contains_key("diagnosticEvent") {
            continue;
        }
        let subject = subject(fields);
        let count = counts.entry(subject.clone()).or_default();
        *count += 1;
        events.insert(format!("{subject} {count}"), event);
    }
    Json::Object(events)
}

/// `resourcePreEvent create urn:…`
fn subject(fields: &Map<String, Json>) -> String {
    let (kind, body) = fields.iter().next().unwrap();
    let text = |key: &str| body["metadata"][key].as_str().unwrap_or_default();
    format!("{kind} {} {}", text("op"), text("urn"))
}
