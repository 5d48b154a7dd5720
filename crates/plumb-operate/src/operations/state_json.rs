//! Resources in the form of state files, for documents about previews.

use std::sync::Arc;

use plumb_resource::{ResourceId, ResourceKind, ResourceState, UNKNOWN_SENTINEL};
use plumb_state::Snapshot;
use plumb_state::file::Layout;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A resource in the form of the state file. The caller has masked its secrets.
pub(super) fn resource_json(state: &ResourceState) -> Box<RawValue> {
    let mut state = state.clone();
    if state.kind == ResourceKind::Provider && state.id == ResourceId::Unknown {
        state.id = ResourceId::Known(UNKNOWN_SENTINEL.into());
    }
    let snapshot = Snapshot {
        resources: vec![Arc::new(state)],
        ..Snapshot::default()
    };
    let text = snapshot.deployment_with_secrets_exposed(Layout::Compact);
    // Read as it stands, so that members keep the order of state files.
    let whole: Option<Whole> = serde_json::from_str(&text).ok();
    let resource = whole.and_then(|mut whole| whole.deployment.resources.pop());
    resource
        .unwrap_or_else(|| RawValue::from_string("null".to_owned()).expect("null is valid JSON"))
}

#[derive(Deserialize)]
struct Whole {
    deployment: Deployment,
}

#[derive(Deserialize)]
struct Deployment {
    resources: Vec<Box<RawValue>>,
}
