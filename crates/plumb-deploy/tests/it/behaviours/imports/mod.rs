//! IMPORT: adopting what exists already.

mod operation;
mod option;

use std::sync::Arc;

use plumb_resource::ResourceId;
use plumb_resource::provider::{ProviderReply, ReadResponse};
use plumb_value::PropertyMap;

use crate::world::World;

/// An object with one property.
fn object(value: &str) -> PropertyMap {
    PropertyMap::new().with("value", value)
}

/// Has the provider read `name` as the object `id`, whatever id it is asked for.
fn reads_as(world: &mut World, name: &str, id: &str, inputs: PropertyMap, outputs: PropertyMap) {
    let response = ReadResponse {
        id: ResourceId::Known(id.into()),
        inputs: Some(Arc::new(inputs)),
        outputs: Some(Arc::new(outputs)),
        refresh_before_update: false,
    };
    world.cloud.on("read", name, move |_| {
        Some(Ok(ProviderReply::Read(response.clone())))
    });
}
