//! Snippets: what they register, targets among them, and those that are to go.

use std::collections::BTreeMap;

use plumb_deploy::snippets::{SnippetChanges, SnippetError};
use plumb_resource::ResourceKind;
use plumb_resource::provider::{ProviderCall, ProviderError};

use crate::world::{
    Fault, Res, World, awaited, component, for_orders, options, provider, remote, res, snippet,
    targets, urn, urn_of, wait,
};

fn uuids(all: &[&str]) -> std::collections::BTreeSet<ecow::EcoString> {
    all.iter().map(|uuid| (*uuid).into()).collect()
}

/// Two snippets with a resource each, and a resource of the program.
fn three(value: &str) -> [Res; 3] {
    [
        res("main").with("value", value),
        res("a").with("value", value).of_snippet("A"),
        res("b").with("value", value).of_snippet("B"),
    ]
}

fn with_three(world: &mut World) {
    world.store(&["A", "B"]);
    world.up(&three("1")).succeeded();
    world.cloud.take_calls();
}

/// PCL-21, PCL-05: what a snippet registers says so, what the program or the engine registers does not.
#[test]
fn resources_of_snippets_carry_their_uuid() {
    for_orders(|world| {
        with_three(world);
        let of = |name: &str| world.state(name).snippet_id.as_deref();
        assert_eq!((of("main"), of("a"), of("b")), (None, Some("A"), Some("B")));
        let providers = world.snapshot.resources.iter();
        let mut providers = providers.filter(|it| it.kind == ResourceKind::Provider);
        assert!(providers.all(|it| it.snippet_id.is_none()));
        assert_eq!(world.stored(), ["A", "B"]);
        let again = world.up(&three("1"));
        again.succeeded();
        assert_eq!(again.counts(), [("same", 3)]);
    });
}

/// PCL-21: what a provider registers while it constructs a component belongs to the snippet too.
#[test]
fn members_of_remote_components_belong_to_the_snippet() {
    for_orders(|world| {
        world.store(&["A"]);
        let far = remote("far").of_snippet("A").builds([
            component("far-self").called("far").output("x", "1"),
            res("inner").parent("far-self"),
        ]);
        world.up(&[far]).succeeded();
        for name in ["far", "inner"] {
            assert_eq!(world.state(name).snippet_id.as_deref(), Some("A"), "{name}");
        }
    });
}

/// PCL-09: the answer is what the provider made of it.
#[test]
fn a_snippet_waits_for_a_resource_of_the_program() {
    for_orders(|world| {
        world.store(&["A"]);
        let program = [
            res("main").with("value", "1"),
            awaited("it", urn("main")).of_snippet("A"),
            res("a").uses("value", "it").of_snippet("A"),
        ];
        world.up(&program).succeeded();
        assert_eq!(world.state("a").dependencies, [urn("main")]);
        assert_eq!(
            world.state("a").inputs.get("value"),
            world.state("main").outputs.get("value")
        );
    });
}

/// PCL-10: a component is there once its outputs are; one that never has any, when nothing else can come.
#[test]
fn components_are_awaited_until_their_outputs_are_there() {
    for_orders(|world| {
        world.store(&["A"]);
        let group = urn_of("test:index:Group", "group");
        let program = |group_of_program: Res| {
            [
                group_of_program,
                res("late").after("group"),
                awaited("it", group.clone()).of_snippet("A"),
                res("a").parent("it").uses("value", "it").of_snippet("A"),
            ]
        };
        let told = world.up(&program(component("group").output("value", "told")));
        told.succeeded();
        assert_eq!(told.known.output("it", "value"), "told".into());
        assert_eq!(world.state("a").parent.as_ref(), Some(&group));
        let silent = world.up(&program(component("group")));
        silent.succeeded();
        assert!(silent.known.registered["it"].outputs.is_empty());
    });
}

/// PCL-11: also when the program tells that it will register nothing more, and waits itself.
#[test]
fn what_nobody_registers_is_an_error() {
    for end in [res("other"), wait("end")] {
        for_orders(|world| {
            world.store(&["A"]);
            let program = [
                end.clone(),
                awaited("it", urn("main")).of_snippet("A"),
                res("a").uses("value", "it").of_snippet("A"),
            ];
            let ran = world.up(&program);
            ran.failed(
                "'urn:pulumi:dev::proj::test:index:Thing::main': no source registered this URN",
            );
            assert!(world.states("a").is_empty());
        });
    }
}

/// PCL-12: a chain of snippets works, and one without its beginning ends.
#[test]
fn chains_of_snippets_end_when_their_beginning_is_missing() {
    for_orders(|world| {
        let first = res("a").with("value", "1").of_snippet("A");
        let rest = [
            awaited("of-a", urn("a")).of_snippet("B"),
            res("b").uses("value", "of-a").of_snippet("B"),
            awaited("of-b", urn("b")).of_snippet("C"),
            res("c").uses("value", "of-b").of_snippet("C"),
        ];
        world.store(&["A", "B", "C"]);
        let whole: Vec<Res> = std::iter::once(first).chain(rest.clone()).collect();
        world.up(&whole).succeeded();
        assert_eq!(
            world.state("c").inputs.get("value"),
            world.state("a").outputs.get("value")
        );
        world.snapshot.snippets.remove(0);
        world.up(&rest).failed("no source registered this URN");
    });
}

/// PCL-13: a reference follows an alias, and is stored as what it means now.
#[test]
fn references_follow_aliases() {
    for_orders(|world| {
        world.store(&["A"]);
        let references = [("it".into(), urn("old").as_str().into())];
        world.snapshot.snippets[0].references = references.into();
        let program = |main: Res| {
            [
                main,
                awaited("it", urn("old")).of_snippet("A"),
                res("a").uses("value", "it").of_snippet("A"),
            ]
        };
        world
            .up(&program(res("old").with("value", "1")))
            .succeeded();
        let reference = |world: &World| world.snapshot.snippets[0].references["it"].clone();
        assert_eq!(reference(world), urn("old").as_str());
        let renamed = res("new").with("value", "1").alias("old");
        let ran = world.up(&program(renamed));
        ran.succeeded();
        assert_eq!(ran.known.urn("it"), urn("new"));
        assert_eq!(reference(world), urn("new").as_str());
        assert_eq!(world.state("a").dependencies, [urn("new")]);
    });
}

/// PCL-19: what is stored is written down before anything else happens, and is what runs.
#[test]
fn changes_are_stored_before_the_run() {
    for_orders(|world| {
        let add = |world: &World, uuid: &str| {
            let changes = BTreeMap::from([(uuid.into(), Some(snippet(uuid)))]);
            SnippetChanges::new(&world.snapshot.snippets, changes).unwrap()
        };
        let changes = add(world, "A");
        let program = [res("a").of_snippet("A")];
        world.cloud.fail("create", "a", Fault::Clean);
        let failed = world.up_with(&program, |options| {
            options.snippet_changes = Some(changes);
        });
        failed.failed("update failed");
        assert_eq!(world.stored(), ["A"]);
        world.cloud.behave();
        world.up(&program).succeeded();
        // In a preview nothing is stored.
        let changes = add(world, "B");
        let preview = world.preview_with(&[res("b").of_snippet("B")], |options| {
            options.snippet_changes = Some(changes);
        });
        preview.succeeded();
        assert_eq!(preview.steps("b"), ["create"]);
        assert_eq!(world.stored(), ["A"]);
    });
}

/// PCL-20
#[test]
fn changes_must_fit_to_what_is_stored() {
    let stored = [snippet("A")];
    let check = |uuid: &str, change| {
        SnippetChanges::new(&stored, BTreeMap::from([(uuid.into(), change)])).unwrap_err()
    };
    let mismatched = SnippetError::MismatchedUuid {
        key: "B".into(),
        uuid: "A".into(),
    };
    assert_eq!(check("B", Some(snippet("A"))), mismatched);
    let unknown = SnippetError::Unknown { uuid: "B".into() };
    assert_eq!(check("B", None), unknown);
    assert_eq!(check("", Some(snippet(""))), SnippetError::NoUuid);
}

/// PCL-22: the program runs, and what it registers stays as it is.
#[test]
fn a_target_snippet_alone_is_created() {
    for_orders(|world| {
        world.store(&["A", "B"]);
        let ran = world.up_with(&three("1"), |options| {
            options.target_snippets = uuids(&["A"]);
        });
        ran.succeeded();
        assert_eq!(world.names(), ["a"]);
        assert_eq!(world.take_actions(), ["create a"]);
        world.up(&three("1")).succeeded();
        assert_eq!(world.names(), ["a", "b", "main"]);
    });
}

/// PCL-23, PCL-25: the provider of the other snippet is not even asked about its configuration.
#[test]
fn a_removed_target_snippet_alone_is_deleted() {
    for_orders(|world| {
        world.store(&["A", "B"]);
        let other = res("b").token("other:index:Thing").of_snippet("B");
        let program = [res("main"), res("a").of_snippet("A"), other];
        world.up(&program).succeeded();
        world.cloud.take_calls();
        let changes = world.without(&["A"]);
        let ran = world.up_with(&program, |options| {
            options.snippet_changes = Some(changes);
            options.target_snippets = uuids(&["A"]);
        });
        ran.succeeded();
        assert_eq!(world.names(), ["b", "main"]);
        assert_eq!(world.stored(), ["B"]);
        assert_eq!(world.take_actions(), ["delete a"]);
        assert_eq!(ran.loaded(), ["test"]);
    });
}

/// PCL-24
#[test]
fn target_snippets_win_over_excludes() {
    for_orders(|world| {
        with_three(world);
        let changes = world.without(&["A"]);
        let ran = world.up_with(&three("1"), |options| {
            options.snippet_changes = Some(changes);
            options.target_snippets = uuids(&["A"]);
            options.excludes = targets(&["a"]);
        });
        ran.succeeded();
        assert_eq!(world.names(), ["b", "main"]);
    });
}

/// PCL-26: what is left out is not evaluated; what it registered before answers for it, and may be a parent.
#[test]
fn references_to_snippets_that_are_left_out_are_answered_from_the_state() {
    for_orders(|world| {
        world.store(&["A", "B"]);
        let program = |value: &str| {
            [
                res("a").with("value", value).of_snippet("A"),
                awaited("it", urn("a")).of_snippet("B"),
                res("b").uses("value", "it").of_snippet("B"),
                res("child").parent("it").of_snippet("B"),
            ]
        };
        world.up(&program("1")).succeeded();
        let ran = world.up_with(&program("2"), |options| {
            options.target_snippets = uuids(&["B"]);
        });
        ran.succeeded();
        assert!(!ran.known.has("a"));
        assert_eq!(world.state("a").inputs.get("value"), Some(&"1".into()));
        assert_eq!(ran.counts(), [("same", 3)]);
        let ran = world.up(&program("2"));
        assert_eq!(
            (ran.steps("a"), ran.steps("b")),
            (vec!["update"], vec!["update"])
        );
    });
}

/// PCL-26: something that is new may rest on what is left out.
#[test]
fn new_resources_may_depend_on_what_is_left_out() {
    for_orders(|world| {
        world.store(&["A"]);
        let a = res("a").with("value", "1").of_snippet("A");
        world.up(std::slice::from_ref(&a)).succeeded();
        world.store(&["B"]);
        let program = [
            a,
            awaited("it", urn("a")).of_snippet("B"),
            res("b").uses("value", "it").parent("it").of_snippet("B"),
        ];
        let ran = world.up_with(&program, |options| {
            options.target_snippets = uuids(&["B"]);
        });
        ran.succeeded();
        assert_eq!(world.names(), ["a", "b"]);
        assert_eq!(ran.steps("b"), ["create"]);
        assert_eq!(world.state("b").dependencies, [urn("a")]);
    });
}

/// PCL-27: the provider that another snippet registered is taken from the state and configured.
#[test]
fn explicit_providers_of_snippets_that_are_left_out_come_from_the_state() {
    for_orders(|world| {
        world.store(&["P", "A"]);
        let program = |value: &str| {
            [
                provider("prov").with("region", "1").of_snippet("P"),
                awaited("it", urn_of("pulumi:providers:test", "prov")).of_snippet("A"),
                res("a").with("value", value).provider("it").of_snippet("A"),
            ]
        };
        world.up(&program("1")).succeeded();
        let ran = world.up_with(&program("2"), |options| {
            options.target_snippets = uuids(&["A"]);
        });
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["update"]);
        assert!(!ran.known.has("prov"));
        let reference = world.state("a").provider.clone().unwrap();
        assert_eq!(reference.urn().name(), "prov");
        assert_eq!(ran.configured(), ["prov"]);
    });
}

/// PCL-26: others were perhaps told of it as it is, so nobody else may take it over in such a run.
#[test]
fn what_is_left_out_with_its_snippet_is_not_taken_over() {
    for_orders(|world| {
        with_three(world);
        let program = [res("a"), res("c").of_snippet("B")];
        let ran = world.up_with(&program, |options| {
            options.target_snippets = uuids(&["B"]);
        });
        ran.failed("belongs to the snippet 'A', which this run leaves out");
        assert_eq!(world.state("a").inputs.get("value"), Some(&"1".into()));
    });
}

/// PCL-26: what would have to be made anew with something else is not deleted, for nobody would make it.
#[test]
fn what_is_left_out_does_not_go_with_what_is_replaced() {
    for_orders(|world| {
        world.store(&["A", "B"]);
        let program = |value: &str| {
            let root = res("root").with("value", value).with("dbr", "yes");
            [
                root.with("replace", value).of_snippet("B"),
                awaited("it", urn("root")).of_snippet("A"),
                res("a").uses("rest", "it").of_snippet("A"),
            ]
        };
        world.up(&program("1")).succeeded();
        let ids = world.cloud.objects.len();
        let ran = world.up_with(&program("2"), |options| {
            options.target_snippets = uuids(&["B"]);
        });
        ran.failed("belongs to the snippet 'A' that this run leaves out; target that snippet too");
        assert_eq!(world.cloud.objects.len(), ids);
        let ran = world.up_with(&program("2"), |options| {
            options.target_snippets = uuids(&["A", "B"]);
        });
        ran.succeeded();
        assert_eq!(
            ran.steps("a"),
            ["delete-replaced", "replace", "create-replacement"]
        );
    });
}

/// A resource that a snippet takes over from the program and replaces is deleted in the same run.
#[test]
fn what_made_way_for_a_snippet_goes() {
    for_orders(|world| {
        world.up(&[res("a").with("replace", "1")]).succeeded();
        world.store(&["A"]);
        let program = [res("a").with("replace", "2").of_snippet("A")];
        let of_snippet =
            |options: &mut plumb_deploy::setup::Options| options.target_snippets = uuids(&["A"]);
        let ran = world.up_with(&program, of_snippet);
        ran.succeeded();
        assert_eq!(
            ran.steps("a"),
            ["create-replacement", "replace", "delete-replaced"]
        );
        let ran = world.up_with(&program, of_snippet);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["same"]);
        assert_eq!(world.names(), ["a"]);
    });
}

/// PCL-26: what is left out goes on referring to what it does, so that must not come to refer to it.
#[test]
fn what_is_left_out_closes_no_circle() {
    for_orders(|world| {
        world.store(&["A"]);
        let program = [
            res("root").with("value", "1"),
            res("main").uses("value", "root"),
            awaited("it", urn("main")).of_snippet("A"),
            res("a").uses("value", "it").of_snippet("A"),
        ];
        world.up(&program).succeeded();
        world.store(&["A", "B"]);
        let program = [
            awaited("it", urn("a")).of_snippet("B"),
            res("root").uses("value", "it").of_snippet("B"),
        ];
        let ran = world.up_with(&program, |options| {
            options.target_snippets = uuids(&["B"]);
        });
        ran.failed("which depends on it in turn and is left as it is");
        assert!(world.state("root").dependencies.is_empty());
    });
}

/// PCL-10: nothing is told of a component that failed.
#[test]
fn components_that_failed_are_not_told_of() {
    for_orders(|world| {
        world.store(&["A"]);
        world.cloud.fail("create", "first", Fault::Clean);
        let program = [
            res("first"),
            component("group").depends_on("first"),
            awaited("it", urn_of("test:index:Group", "group")).of_snippet("A"),
            res("a").after("it").of_snippet("A"),
        ];
        let ran = world.up_with(&program, |options| options.continue_on_error = true);
        ran.failed("test:index:Group::group' failed");
        assert!(world.states("a").is_empty());
    });
}

/// A dependent of a target snippet that is to go must be named too, or go with it.
#[test]
fn dependents_of_a_removed_target_snippet_are_not_left_dangling() {
    for_orders(|world| {
        world.store(&["A", "B"]);
        let program = [
            res("a").with("value", "1").of_snippet("A"),
            awaited("it", urn("a")).of_snippet("B"),
            res("b").uses("value", "it").of_snippet("B"),
        ];
        world.up(&program).succeeded();
        let remove = |world: &World| {
            options(|options| {
                options.snippet_changes = Some(world.without(&["A"]));
                options.target_snippets = uuids(&["A"]);
            })
        };
        let refused = remove(world);
        let ran = world.up_with(&program, |options| *options = refused.clone());
        ran.failed("will be destroyed but was not specified in --target list");
        assert_eq!(world.names(), ["a", "b"]);
        assert_eq!(world.stored(), ["A", "B"]);
        let mut allowed = remove(world);
        allowed.target_dependents = true;
        let ran = world.up_with(&program, |options| *options = allowed.clone());
        ran.succeeded();
        assert!(world.names().is_empty());
        assert_eq!(world.stored(), ["B"]);
    });
}

/// PCL-04, PCL-28: a removed snippet stays until its resource is gone.
#[test]
fn a_failed_deletion_keeps_the_snippet() {
    for_orders(|world| {
        with_three(world);
        world.cloud.fail("delete", "a", Fault::Clean);
        let changes = world.without(&["A"]);
        let ran = world.up_with(&three("1"), |options| {
            options.snippet_changes = Some(changes);
        });
        ran.failed("update failed");
        assert_eq!(world.stored(), ["A", "B"]);
        assert_eq!(world.names(), ["a", "b", "main"]);
        world.cloud.behave();
        let changes = world.without(&["A"]);
        let ran = world.up_with(&three("1"), |options| {
            options.snippet_changes = Some(changes);
        });
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["delete"]);
        assert_eq!(world.stored(), ["B"]);
        assert_eq!(world.names(), ["b", "main"]);
    });
}

/// PCL-04: what the program has taken over does not keep a snippet, though something that stays as it is refers to it.
#[test]
fn a_snippet_goes_when_the_program_takes_over_what_it_had() {
    for_orders(|world| {
        world.store(&["A", "B"]);
        let before = [
            res("a").of_snippet("A"),
            awaited("it", urn("a")).of_snippet("B"),
            res("b").uses("value", "it").of_snippet("B"),
        ];
        world.up(&before).succeeded();
        let changes = world.without(&["A"]);
        let after = [res("new").alias("a"), res("b")];
        let ran = world.up_with(&after, |options| {
            options.snippet_changes = Some(changes);
            options.excludes = targets(&["b"]);
        });
        ran.succeeded();
        assert_eq!(world.stored(), ["B"]);
        assert_eq!(world.names(), ["b", "new"]);
        assert_eq!(world.state("new").snippet_id, None);
        assert_eq!(world.state("b").dependencies, [urn("new")]);
    });
}

/// PCL-29
#[test]
fn only_snippets_with_something_left_are_kept() {
    for_orders(|world| {
        with_three(world);
        world.cloud.fail("delete", "a", Fault::Clean);
        let changes = world.without(&["A", "B"]);
        let ran = world.up_with(&three("1"), |options| {
            options.snippet_changes = Some(changes);
            options.continue_on_error = true;
        });
        ran.failed("update failed");
        assert_eq!(world.stored(), ["A"]);
        assert_eq!(world.names(), ["a", "main"]);
    });
}

/// PCL-30: the old copy of a replacement that could not be deleted does not keep the snippet.
#[test]
fn copies_that_are_due_for_deletion_do_not_keep_a_snippet() {
    for_orders(|world| {
        with_three(world);
        world.add_old_copy("a");
        world.cloud.on("delete", "a", |call| {
            let ProviderCall::Delete(it) = call else {
                return None;
            };
            let is_copy = it.id.as_str() == "a-0";
            is_copy.then(|| Err(ProviderError::clean("it is in use")))
        });
        let changes = world.without(&["A"]);
        let ran = world.up_with(&three("1"), |options| {
            options.snippet_changes = Some(changes);
            options.continue_on_error = true;
        });
        ran.failed("update failed");
        assert_eq!(world.stored(), ["B"]);
        assert!(world.state("a").delete);
        world.cloud.behave();
        let ran = world.up(&three("1"));
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["delete-replaced"]);
        assert_eq!(world.names(), ["b", "main"]);
    });
}

/// PCL-09: a destroy leaves the snippets as they are, also those whose resources go.
#[test]
fn a_destroy_keeps_snippets() {
    for_orders(|world| {
        with_three(world);
        world.destroy().succeeded();
        assert!(world.names().is_empty());
        assert_eq!(world.stored(), ["A", "B"]);
        world.up(&three("1")).succeeded();
        assert_eq!(world.names(), ["a", "b", "main"]);
    });
}

/// The failure of one snippet fails the run, whatever the others do.
#[test]
fn a_snippet_that_fails_fails_the_run() {
    for_orders(|world| {
        with_three(world);
        let mut program = three("1").to_vec();
        program.push(awaited("it", urn("nobody")).of_snippet("B"));
        world.up(&program).failed("no source registered this URN");
        assert_eq!(world.names(), ["a", "b", "main"]);
    });
}
