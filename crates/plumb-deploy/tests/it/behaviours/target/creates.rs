//! New resources, in and out of target.

use crate::world::{Res, World, component, for_orders, provider, res, targets, urn, urn_of};
use plumb_deploy::request::Outcome;
use plumb_deploy::target::UrnSet;
use plumb_resource::{Alias, AliasParent, AliasSpec, Urn};

/// TARGET-12, TARGET-23: and its default provider with it.
#[test]
fn a_new_target_is_created() {
    for_orders(|world| {
        let ran = world.up_with(&[res("a"), res("b")], |options| {
            options.targets = targets(&["a"]);
        });
        ran.succeeded();
        assert_eq!(world.names(), ["a"]);
        assert_eq!(world.states("default").len(), 1);
    });
}

/// TARGET-13, TARGET-20: what is left out counts as `same`, one thing that is left out may need another, and the program
/// is told that nothing is known of them.
#[test]
fn what_is_not_targeted_is_left_out() {
    for_orders(|world| {
        let program = [
            res("a").with("value", "1"),
            res("b").uses("value", "a"),
            res("c"),
        ];
        let ran = world.up_with(&program, |options| options.targets = targets(&["c"]));
        ran.succeeded();
        assert_eq!(ran.counts(), [("create", 1), ("same", 2)]);
        assert_eq!(world.names(), ["c"]);
        for name in ["a", "b"] {
            let reply = ran.reply(name);
            assert_eq!((reply.outcome, reply.unknown), (Outcome::Success, true));
        }
    });
}

/// How one resource needs another.
type Link = fn(Res) -> Res;

fn former_without_parent(new: Res) -> Res {
    new.parent("new").tune(|request, _| {
        request.aliases = [Alias::Spec(AliasSpec {
            parent: AliasParent::None,
            ..AliasSpec::default()
        })]
        .into();
    })
}

/// TARGET-14, TARGET-15, TARGET-16, TARGET-17, TARGET-18: a target that needs what is left out, in any way.
#[test]
fn a_target_may_not_need_what_is_left_out() {
    let links: [(&str, Link); 5] = [
        ("changed", |res| res.depends_on("new").with("x", "2")),
        ("unchanged", |res| res.depends_on("new")),
        ("property", |res| res.uses("value", "new")),
        ("deleted with", |res| res.deleted_with("new")),
        ("parent", former_without_parent),
    ];
    for (how, link) in links {
        for_orders(|world| {
            world.up(&[res("a").with("x", "1")]).succeeded();
            let before = world.contents();
            let program = [res("new"), link(res("a").with("x", "1"))];
            let target = match how {
                "parent" => child_of(&urn("new"), "a"),
                _ => urn("a"),
            };
            let set = UrnSet::new([target.to_string()]);
            let preview = world.preview_with(&program, |options| options.targets = set.clone());
            let ran = world.up_with(&program, |options| options.targets = set);
            let message = format!(
                "Resource '{target}' depends on '{}' which was was not specified in --target list.",
                urn("new")
            );
            preview.failed(&message);
            ran.failed(&message);
            assert_eq!(world.contents(), before, "{how}");
        });
    }
}

fn child_of(parent: &Urn, name: &str) -> Urn {
    Urn::new(
        "dev",
        "proj",
        parent.qualified_type(),
        "test:index:Thing",
        name,
    )
}

/// TARGET-19
#[test]
fn the_provider_of_a_target_is_created_with_it() {
    for_orders(|world| {
        let program = [provider("p"), res("a").provider("p"), provider("q")];
        let ran = world.up_with(&program, |options| options.targets = targets(&["a"]));
        ran.succeeded();
        assert_eq!(ran.steps("p"), ["create"]);
        assert_eq!(world.names(), ["a"]);
    });
}

/// TARGET-26, TARGET-27, TARGET-28: who shares a provider with a target does not depend on the target.
#[test]
fn dependents_of_targets_are_created_and_siblings_are_not() {
    let program = [
        provider("p"),
        res("a").provider("p"),
        res("child").provider("p").parent("a"),
        res("sibling").provider("p"),
        res("plain"),
        res("plain sibling"),
    ];
    let provider_p = urn_of("pulumi:providers:test", "p");
    for (target, created) in [
        (urn("a"), vec!["a", "child"]),
        (urn("plain"), vec!["plain"]),
        (provider_p, vec!["a", "child", "sibling"]),
    ] {
        for_orders(|world| {
            let ran = world.up_with(&program, |options| {
                options.targets = UrnSet::new([target.to_string()]);
                options.target_dependents = true;
            });
            ran.succeeded();
            assert_eq!(world.names(), created);
        });
    }
}

fn family(x: &str) -> [Res; 2] {
    [
        component("parent"),
        res("child").parent("parent").with("x", x),
    ]
}

fn child_of_parent() -> UrnSet {
    let parent = urn_of("test:index:Group", "parent");
    UrnSet::new([child_of(&parent, "child").to_string()])
}

fn up_child(world: &mut World, program: &[Res]) -> crate::world::Ran {
    world.up_with(program, |options| options.targets = child_of_parent())
}

/// TARGET-29
#[test]
fn a_target_below_an_untargeted_parent_needs_it_to_exist() {
    for_orders(|world| {
        up_child(world, &family("1")).failed("which was was not specified in --target list");
        assert!(world.names().is_empty());
        world.up(&family("1")).succeeded();
        let ran = up_child(world, &family("2"));
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 1), ("update", 1)]);
    });
}

/// TARGET-35
#[test]
fn an_untargeted_resource_does_not_come_to_depend_on_what_is_left_out() {
    for_orders(|world| {
        world.up(&[res("a"), res("b")]).succeeded();
        let before = world.state("b").clone();
        let program = [
            res("new"),
            res("a").with("x", "2"),
            res("b").depends_on("new"),
        ];
        let ran = world.up_with(&program, |options| options.targets = targets(&["a"]));
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["update"]);
        assert_eq!(world.state("b"), &before);
        assert_eq!(world.names(), ["a", "b"]);
    });
}

/// TARGET-36
#[test]
fn an_untargeted_parent_does_not_come_to_depend_on_what_is_left_out() {
    for_orders(|world| {
        let program = |x: &str| {
            let [parent, child] = family(x);
            [res("new"), parent.depends_on("new"), child]
        };
        up_child(world, &program("1")).failed("which was was not specified in --target list");
        world.up(&family("1")).succeeded();
        let before = world.state("parent").clone();
        let ran = up_child(world, &program("2"));
        ran.succeeded();
        assert_eq!(ran.steps("child"), ["update"]);
        assert_eq!(world.state("parent"), &before);
    });
}
