//! Resources in the form of state files, for documents about previews.

use std::sync::Arc;

use plumb_resource::{ResourceId, ResourceKind, ResourceState, UNKNOWN_SENTINEL};
use plumb_state::Snapshot;
use plumb_state::file::Layout;
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
