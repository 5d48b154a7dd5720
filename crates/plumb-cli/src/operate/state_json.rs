//! Resources in the form of state files, for documents about previews.

use std::sync::Arc;

use plumb_resource::ResourceState;
use plumb_state::Snapshot;
use plumb_state::file::Layout;
use serde_json::value::RawValue;

/// A resource as the state file has it. The caller has blinded its secrets.
pub(super) fn resource_json(state: &ResourceState) -> Box<RawValue> {
    let snapshot = Snapshot {
        resources: vec![Arc::new(state.clone())],
        ..Snapshot::default()
    };
    let text = snapshot.deployment_with_secrets_exposed(Layout::Compact);
    let whole: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let resource = whole.and_then(|mut whole| {
        Some(
            whole
                .get_mut("deployment")?
                .get_mut("resources")?
                .get_mut(0)?
                .take(),
        )
    });
    let text = resource.map_or_else(|| "null".to_owned(), |resource| resource.to_string());
    RawValue::from_string(text).expect("a JSON value is valid JSON")
}
