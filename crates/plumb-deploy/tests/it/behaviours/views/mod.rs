//! VIEW: parts of resources that their providers tell of.

mod lives;
mod reads;

use crate::world::{World, part, res};

/// A resource `a` with the value "1" and one part of it that holds the same.
fn with_part(world: &mut World) {
    world
        .cloud
        .tells("create", "a", &[part("create", "part").to("1")]);
    world.up(&[res("a").with("value", "1")]).succeeded();
    world.cloud.take_calls();
}

/// Outputs of the view of this name; `None` when there is no such view.
fn value_of(world: &World, name: &str) -> Option<String> {
    let states = world.states(name);
    assert!(states.len() < 2, "{states:?}");
    let state = states.first()?;
    let value = |map: &plumb_value::PropertyMap, key| {
        let value = map.get(key).and_then(|it| it.as_str());
        value.map(str::to_owned)
    };
    let outputs = value(&state.outputs, "out");
    assert_eq!(value(&state.inputs, "in"), outputs);
    outputs
}
