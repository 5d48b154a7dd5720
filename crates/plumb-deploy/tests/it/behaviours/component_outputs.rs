//! COMP: components and their outputs.

use plumb_value::PropertyMap;

use crate::world::{component, for_orders};

/// An update starts without outputs; those that the program registers are the component's.
#[test]
fn an_updated_component_has_the_outputs_that_are_registered_then() {
    for_orders(|world| {
        let first = component("c").with("size", 1.0).output("one", "1");
        world.up(&[first]).succeeded();
        let before = world.state("c").clone();
        assert_eq!(*before.outputs, PropertyMap::new().with("one", "1"));
        let ran = world.up(&[component("c").with("size", 2.0)]);
        ran.succeeded();
        assert_eq!(ran.steps("c"), ["update"]);
        assert_eq!(*world.state("c").outputs, PropertyMap::new());
        assert_eq!(world.state("c").created, before.created);
        assert_eq!(world.state("c").modified, before.modified);
    });
}

/// Without a change the outputs stay until there are others.
#[test]
fn an_unchanged_component_keeps_its_outputs() {
    for_orders(|world| {
        let with_output = || component("c").with("size", 1.0).output("one", "1");
        world.up(&[with_output()]).succeeded();
        world.up(&[component("c").with("size", 1.0)]).succeeded();
        assert_eq!(
            *world.state("c").outputs,
            PropertyMap::new().with("one", "1")
        );
    });
}
