//! PROV: which provider serves what, which plugin it is, and what becomes of its resources when it changes.

mod configuration;
mod inherited;
mod replaced;
mod versions;

use plumb_resource::provider::{DiffChanges, DiffResult, ProviderReply};

use crate::world::World;

/// Has the provider plugin answer comparisons for the provider `name`: none, or a replacement because of `key`.
pub(super) fn compares(world: &mut World, name: &str, key: Option<&str>, deletes_first: bool) {
    let changes = match key {
        Some(_) => DiffChanges::Some,
        None => DiffChanges::None,
    };
    let diff = DiffResult {
        replace_keys: key.into_iter().map(Into::into).collect(),
        delete_before_replace: deletes_first,
        ..DiffResult::of(changes)
    };
    world.cloud.on("diffConfig", name, move |_| {
        Some(Ok(ProviderReply::Diffed(diff.clone())))
    });
}
