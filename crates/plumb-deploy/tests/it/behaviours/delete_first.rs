//! DBR: replacements that delete the old resource first, and what they take along.

use std::cell::Cell;

use plumb_events::Event;

use crate::world::{Ran, Res, for_many_orders, for_orders, provider, res};

fn root(value: &str) -> Res {
    res("root")
        .with("replace", value)
        .with("value", value)
        .delete_before_replace(true)
}

/// DBR-04
#[test]
fn what_does_not_depend_on_it_any_more_stays() {
    for_orders(|world| {
        let before = [root("1"), res("user").uses("rvalue", "root")];
        world.up(&before).succeeded();
        world.cloud.take_calls();
        let after = [res("user").with("rvalue", "1"), root("2").after("user")];
        let ran = world.up(&after);
        ran.succeeded();
        assert_eq!(ran.steps("user"), ["same"]);
        assert_eq!(world.cloud.take_changes(), ["delete root", "create root"]);
    });
}

/// DBR-05
#[test]
fn a_protected_dependent_stands_in_the_way() {
    for_orders(|world| {
        let program = |value: &str, protect: bool| {
            let user = res("user").uses("rvalue", "root").protect(protect);
            [root(value), user]
        };
        world.up(&program("1", true)).succeeded();
        world.cloud.take_calls();
        let ran = world.up(&program("2", true));
        ran.failed("::user\" as part of replacing \"urn:pulumi:dev");
        ran.failed("as it is currently marked for protection");
        assert!(world.cloud.take_changes().is_empty());
        world.edit("user", |state| state.protect = false);
        world.up(&program("2", false)).succeeded();
        assert_eq!(
            world.cloud.take_changes(),
            ["delete user", "delete root", "create root", "create user"]
        );
    });
}

/// DBR-06
#[test]
fn what_is_replaced_on_changes_goes_first() {
    for_orders(|world| {
        let user = || Res {
            replace_on_changes: vec!["value".to_owned()],
            ..res("user").uses("value", "root")
        };
        world.up(&[root("1"), user()]).succeeded();
        world.cloud.take_calls();
        world.up(&[root("2"), user()]).succeeded();
        assert_eq!(
            world.cloud.take_changes(),
            ["delete user", "delete root", "create root", "create user"]
        );
    });
}

/// DBR-07: the program registers both at once, and whichever comparison is answered first, the dependent goes first.
#[test]
fn dependents_go_first_in_whatever_order_differences_are_told() {
    for_orders(|world| {
        let user = || res("user").delete_before_replace(true);
        world
            .up(&[root("1"), user().uses("rvalue", "root")])
            .succeeded();
        world.cloud.take_calls();
        world
            .up(&[root("2"), user().with("rvalue", "2")])
            .succeeded();
        let calls = world.cloud.take_changes();
        let at = |call: &str| calls.iter().position(|it| it == call);
        assert!(at("delete user") < at("delete root"), "{calls:?}");
        assert_eq!(world.names(), ["root", "user"]);
    });
}

/// DBR-08: whether the dependent is compared before or after its provider has new settings.
#[test]
fn dependents_are_compared_by_a_provider_that_is_being_updated() {
    for parallel in [1, 16] {
        for_many_orders(150, |world| {
            let program = |value: &str| {
                [
                    provider("p").with("region", value),
                    root(value),
                    res("user").uses("rvalue", "root").provider("p"),
                    res("other").with("value", value),
                ]
            };
            world.up(&program("1")).succeeded();
            world.cloud.take_calls();
            let ran = world.up_with(&program("2"), |options| options.parallel = parallel);
            ran.succeeded();
            assert_eq!(ran.steps("p"), ["update"]);
            assert_eq!(world.cloud.setting("create", "user", "region"), Some("2"));
            assert_eq!(world.up(&program("2")).counts(), [("same", 4)]);
        });
    }
}

/// A provider whose settings come from the root, like that of a cluster: it is replaced, and its users go before the root.
#[test]
fn users_of_a_dependent_provider_go_first() {
    for_orders(|world| {
        let program = |value: &str| {
            let cluster = provider("p").uses("rvalue", "root");
            [root(value), cluster, res("user").provider("p")]
        };
        world.up(&program("1")).succeeded();
        world.cloud.compares_config("p");
        world.cloud.take_calls();
        let ran = world.up(&program("2"));
        ran.succeeded();
        let replaced = ["delete-replaced", "replace", "create-replacement"];
        assert_eq!(ran.steps("p"), replaced);
        assert_eq!(ran.steps("user"), replaced);
        assert_eq!(
            world.cloud.take_changes(),
            ["delete user", "delete root", "create root", "create user"]
        );
        assert_eq!(world.up(&program("2")).counts(), [("same", 3)]);
    });
}

/// Starts and ends of the steps of two resources, in order.
fn moments(ran: &Ran) -> Vec<String> {
    let title = |event: &Event| {
        let (what, metadata) = match event {
            Event::ResourcePre(it) => ("begins", &it.metadata),
            Event::ResourceOutputs(it) => ("ends", &it.metadata),
            _ => return None,
        };
        let (op, name) = (metadata.op.as_str(), metadata.urn.name());
        Some(format!("{op} {name} {what}"))
    };
    ran.events.iter().filter_map(title).collect()
}

/// DBR-07: what lets go of it has done so before it goes.
#[test]
fn it_goes_when_nothing_uses_it_any_more() {
    let met = Cell::new(0);
    for_many_orders(150, |world| {
        let before = [root("1"), res("user").uses("value", "root")];
        world.up(&before).succeeded();
        let ran = world.up(&[root("2"), res("user").with("value", "2")]);
        ran.succeeded();
        let moments = moments(&ran);
        let at = |moment: &str| moments.iter().position(|it| it == moment);
        let goes = at("delete-replaced root begins");
        if at("update user begins") < goes {
            met.set(met.get() + 1);
            assert!(at("update user ends") < goes, "{moments:?}");
        }
    });
    assert!(met.get() > 10);
}

/// DBR-04: while it is found out what must go with a resource, nothing is decided about what may have to.
#[test]
fn a_dependent_goes_or_lets_go_and_never_both() {
    let (gone, stayed) = (Cell::new(0), Cell::new(0));
    for_many_orders(150, |world| {
        let before = [root("1"), res("user").uses("rvalue", "root")];
        world.up(&before).succeeded();
        world.cloud.take_calls();
        let ran = world.up(&[root("2"), res("user").with("rvalue", "1")]);
        ran.succeeded();
        let changes = world.cloud.take_changes();
        if ran.steps("user") == ["same"] {
            stayed.set(stayed.get() + 1);
            assert_eq!(changes, ["delete root", "create root"]);
        } else {
            gone.set(gone.get() + 1);
            assert_eq!(changes[..2], ["delete user", "delete root"]);
            assert_eq!(changes.len(), 4, "{changes:?}");
        }
        assert_eq!(world.state("user").id.as_str(), world.cloud.id("user"));
    });
    assert!(gone.get() > 10 && stayed.get() > 10, "{gone:?} {stayed:?}");
}
