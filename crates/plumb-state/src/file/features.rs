//! Features that a reader of a file must support (`state.md` 1.2).

use plumb_resource::ResourceState;

use crate::Snapshot;
use crate::encrypted::has_plain_bytes;

pub(super) const BYTE_STRING: &str = "byteString";

/// All features that this version supports.
pub const FEATURES: [&str; 8] = [
    BYTE_STRING,
    "extensionParameterization",
    "hooks",
    "refreshBeforeUpdate",
    "replaceWith",
    "snippets-prototype",
    "taint",
    "views",
];

/// Features used by a file with this snapshot, sorted.
///
/// `has_byte_strings` says whether encrypted secrets contain byte strings. Resources of pending operations are checked
/// only for byte strings.
pub(super) fn features_of(snapshot: &Snapshot, has_byte_strings: bool) -> Vec<&'static str> {
    let any = |test: fn(&ResourceState) -> bool| snapshot.resources.iter().any(|state| test(state));
    let uses = [
        has_byte_strings || has_plain_bytes(snapshot),
        any(|state| state.extension_ref.is_some()),
        any(|state| !state.hooks.is_empty()),
        any(|state| state.refresh_before_update),
        any(|state| !state.replace_with.is_empty()),
        !snapshot.snippets.is_empty() || any(|state| state.snippet_id.is_some()),
        any(|state| state.taint),
        any(|state| state.view_of.is_some()),
    ];
    FEATURES
        .into_iter()
        .zip(uses)
        .filter_map(|(feature, is_used)| is_used.then_some(feature))
        .collect()
}
