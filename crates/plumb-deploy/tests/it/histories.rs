//! Stories of one stack: what is decided, asked, recorded. Each runs under several orders of events.

use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_deploy::target::UrnSet;
use plumb_events::OperationResult;
use plumb_value::PropertyMap;

use crate::world::{Fault, Ran, Res, What, World, for_orders, options, res, targets, urn};

fn succeeded(ran: &Ran) {
    ran.succeeded();
}

fn changes(ran: &Ran) -> Vec<(&str, u32)> {
    ran.counts()
}

fn calls(world: &mut World) -> Vec<String> {
    world.cloud.take_calls()
}

fn position(calls: &[String], call: &str) -> usize {
    calls
        .iter()
        .position(|it| it == call)
        .unwrap_or_else(|| panic!("no call `{call}` in {calls:?}"))
}

fn names(world: &World) -> Vec<&str> {
    world.names()
}

fn chain(root: Res) -> Vec<Res> {
    vec![
        root,
        Res::new("b").uses("value", "a"),
        Res::new("c").uses("value", "b"),
    ]
}

#[test]
fn what_is_created_stays_the_same_and_is_destroyed_in_reverse() {
    for_orders(|world| {
        let program = chain(Res::new("a").with("value", "1"));
        let ran = world.up(&program);
        succeeded(&ran);
        assert_eq!(changes(&ran), [("create", 3)]);
        calls(world);
        let again = world.up(&program);
        assert_eq!(changes(&again), [("same", 3)]);
        assert!(!again.outcome.has_changes);
        assert!(
            again
                .effects
                .iter()
                .flatten()
                .all(|effect| !matches!(effect, plumb_deploy::Effect::Journal(_)))
        );
        calls(world);
        let gone = world.destroy();
        succeeded(&gone);
        let calls = calls(world);
        assert!(position(&calls, "delete c") < position(&calls, "delete b"));
        assert!(position(&calls, "delete b") < position(&calls, "delete a"));
        assert!(world.snapshot.resources.is_empty() && world.cloud.objects.is_empty());
    });
}

/// PULUMI-27: a preview changes nothing and records nothing.
#[test]
fn a_preview_leaves_no_trace() {
    for_orders(|world| {
        let program = chain(Res::new("a").with("value", "1"));
        let ran = world.run(Operation::Update, &program, Options::new(Phase::Preview));
        succeeded(&ran);
        assert_eq!(changes(&ran), [("create", 3)]);
        assert!(world.cloud.objects.is_empty() && ran.snapshot.resources.is_empty());
    });
}

/// GOSDK-03: create-before-delete.
#[test]
fn a_replacement_is_created_before_the_old_one_goes() {
    for_orders(|world| {
        world.up(&[Res::new("a").with("replace", "1")]);
        calls(world);
        let ran = world.up(&[Res::new("a").with("replace", "2")]);
        succeeded(&ran);
        assert_eq!(changes(&ran), [("replace", 1)]);
        let calls = calls(world);
        assert!(position(&calls, "create a") < position(&calls, "delete a"));
        assert_eq!(world.cloud.objects.len(), 1);
    });
}

/// DBR-01, DBR-03: dependents whose property forces it go first and come back last.
#[test]
fn delete_before_replace_takes_dependents_along() {
    for_orders(|world| {
        let program = |value: &str| {
            vec![
                Res::new("a")
                    .with("rvalue", value)
                    .with("value", value)
                    .with("dbr", true),
                Res::new("forced").uses("rvalue", "a"),
                Res::new("loose").uses("value", "a"),
            ]
        };
        world.up(&program("1"));
        calls(world);
        let ran = world.up(&program("2"));
        succeeded(&ran);
        assert_eq!(changes(&ran), [("replace", 2), ("update", 1)]);
        let calls = calls(world);
        assert!(position(&calls, "delete forced") < position(&calls, "delete a"));
        assert!(position(&calls, "delete a") < position(&calls, "create a"));
        assert!(position(&calls, "create a") < position(&calls, "create forced"));
        assert_eq!(changes(&world.up(&program("2"))), [("same", 3)]);
    });
}

/// PREPL-02: a replacement that was deleted and not created is created by the next run, without a second delete.
#[test]
fn an_interrupted_replacement_is_finished() {
    for_orders(|world| {
        let program = |value: &str| vec![Res::new("a").with("replace", value).with("dbr", true)];
        world.up(&program("1"));
        world.cloud.fail("create", "a", Fault::Clean);
        let failed = world.up(&program("2"));
        assert_eq!(failed.outcome.result, OperationResult::Failed);
        assert!(
            world
                .snapshot
                .resources
                .iter()
                .any(|state| state.pending_replacement)
        );
        world.cloud.failures.clear();
        calls(world);
        let ran = world.up(&program("2"));
        succeeded(&ran);
        assert!(!calls(world).contains(&"delete a".to_owned()));
        assert!(
            !world
                .snapshot
                .resources
                .iter()
                .any(|state| state.pending_replacement)
        );
    });
}

/// ALIAS-01
#[test]
fn a_renamed_resource_is_the_same() {
    for_orders(|world| {
        world.up(&[Res::new("a").with("value", "1")]);
        let renamed = Res {
            alias: Some("a".to_owned()),
            ..Res::new("b").with("value", "1")
        };
        let ran = world.up(std::slice::from_ref(&renamed));
        succeeded(&ran);
        assert_eq!(changes(&ran), [("same", 1)]);
        assert_eq!(names(world), ["b"]);
        assert!(
            world
                .snapshot
                .resources
                .iter()
                .all(|state| state.aliases.is_empty())
        );
    });
}

/// ALIAS-04
#[test]
fn two_claims_to_one_former_name_fail() {
    for_orders(|world| {
        world.up(&[Res::new("a").with("value", "1")]);
        let claim = |name: &str| Res {
            alias: Some("a".to_owned()),
            ..Res::new(name)
        };
        let ran = world.up(&[claim("b"), claim("c")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert!(
            ran.errors
                .iter()
                .any(|error| error.starts_with("Duplicate resource alias")),
            "{:?}",
            ran.errors
        );
    });
}

/// PULUMI-55, PULUMI-54: what failed is not recorded, what ran is, nothing is deleted.
#[test]
fn a_failed_create_ends_the_run_without_deletes() {
    for_orders(|world| {
        world.up(&[Res::new("old").with("value", "1")]);
        world.cloud.fail("create", "b", Fault::Clean);
        let ran = world.up(&chain(Res::new("a").with("value", "1")));
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert!(!ran.known.registered.contains_key("b"));
        assert_eq!(names(world), ["a", "old"]);
        assert!(ran.errors.contains(&"create of b failed".to_owned()));
        assert!(ran.errors.contains(&"update failed".to_owned()));
        world.cloud.failures.clear();
        succeeded(&world.up(&chain(Res::new("a").with("value", "1"))));
        assert_eq!(names(world), ["a", "b", "c"]);
    });
}

/// PULUMI-15, STEPGEN-07: half done is recorded, and tried again.
#[test]
fn partial_failures_are_recorded_and_retried() {
    for_orders(|world| {
        world.cloud.fail("create", "a", Fault::Partial);
        let ran = world.up(&[Res::new("a").with("value", "1")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert_eq!(
            *world.snapshot.resources.last().unwrap().init_errors,
            ["not ready"]
        );
        world.cloud.failures.clear();
        let ran = world.up(&[Res::new("a").with("value", "1")]);
        succeeded(&ran);
        assert_eq!(changes(&ran), [("update", 1)]);
        assert!(
            world
                .snapshot
                .resources
                .last()
                .unwrap()
                .init_errors
                .is_empty()
        );
    });
}

/// COE-02, COE-09
#[test]
fn continue_on_error_goes_on_with_what_does_not_depend_on_it() {
    for_orders(|world| {
        world.cloud.fail("create", "b", Fault::Clean);
        let mut program = chain(Res::new("a").with("value", "1"));
        program.push(Res::new("other"));
        let options = Options {
            continue_on_error: true,
            ..Options::new(Phase::Execute)
        };
        let ran = world.run(Operation::Update, &program, options);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert_eq!(names(world), ["a", "other"]);
        assert_eq!(
            ran.known.registered["b"].outcome,
            plumb_deploy::request::Outcome::Failed
        );
        assert_eq!(
            ran.known.registered["c"].outcome,
            plumb_deploy::request::Outcome::Skipped
        );
    });
}

/// PULUMI-33
#[test]
fn protected_resources_are_neither_deleted_nor_replaced() {
    for_orders(|world| {
        let protected = |value: &str| Res {
            protect: Some(true),
            ..Res::new("a").with("replace", value)
        };
        world.up(&[protected("1")]);
        let ran = world.up(&[protected("2")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert!(
            ran.errors[0].starts_with("unable to replace resource"),
            "{:?}",
            ran.errors
        );
        let ran = world.destroy();
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert!(
            ran.errors[0].contains("cannot be deleted"),
            "{:?}",
            ran.errors
        );
        assert_eq!(world.cloud.objects.len(), 1);
        let options = Options {
            ignore_protect: true,
            ..Options::new(Phase::Execute)
        };
        succeeded(&world.run(Operation::Destroy, &[], options));
    });
}

/// RETAIN-01
#[test]
fn retained_objects_stay() {
    for_orders(|world| {
        world.up(&[Res {
            retain: true,
            ..Res::new("a")
        }]);
        calls(world);
        let ran = world.run(
            Operation::Update,
            &[Res {
                retain: true,
                ..Res::new("z")
            }],
            Options::new(Phase::Execute),
        );
        succeeded(&ran);
        assert!(!calls(world).contains(&"delete a".to_owned()));
        assert_eq!(names(world), ["z"]);
    });
}

/// PULUMI-35, DWREPL-01: what is deleted with another is not deleted by its provider.
#[test]
fn deleted_with_another_means_no_delete_of_its_own() {
    for_orders(|world| {
        let program = vec![
            Res::new("a"),
            Res {
                deleted_with: Some("a".to_owned()),
                ..Res::new("b")
            },
        ];
        world.up(&program);
        calls(world);
        world.cloud.objects.retain(|id, _| !id.starts_with("b-"));
        succeeded(&world.destroy());
        let calls = calls(world);
        assert!(calls.contains(&"delete a".to_owned()) && !calls.contains(&"delete b".to_owned()));
    });
}

/// RWITH-01
#[test]
fn replace_with_follows_a_replacement() {
    for_orders(|world| {
        let program = |value: &str| {
            vec![
                Res::new("a").with("replace", value),
                Res {
                    replace_with: vec!["a".to_owned()],
                    ..Res::new("b").with("value", "x")
                },
            ]
        };
        world.up(&program("1"));
        let ran = world.up(&program("2"));
        succeeded(&ran);
        assert_eq!(changes(&ran), [("replace", 2)]);
    });
}

/// PULUMI-19, PULUMI-21
#[test]
fn ignored_changes_are_ignored_and_listed_ones_replace() {
    for_orders(|world| {
        let program = |value: &str| {
            vec![
                Res {
                    ignore_changes: vec!["value".to_owned()],
                    ..Res::new("a").with("value", value)
                },
                Res {
                    replace_on_changes: vec!["*".to_owned()],
                    ..Res::new("b").with("value", value)
                },
            ]
        };
        world.up(&program("1"));
        let ran = world.up(&program("2"));
        succeeded(&ran);
        assert_eq!(changes(&ran), [("replace", 1), ("same", 1)]);
    });
}

/// IMPORT-01: differing inputs are updated after the import.
#[test]
fn an_import_is_followed_by_an_update_where_inputs_differ() {
    for_orders(|world| {
        world
            .cloud
            .objects
            .insert("ext-1".to_owned(), PropertyMap::new().with("value", "old"));
        let import = |value: &str| Res {
            import: Some("ext-1".to_owned()),
            ..Res::new("a").with("value", value)
        };
        let ran = world.up(&[import("new")]);
        succeeded(&ran);
        assert_eq!(changes(&ran), [("import", 1), ("update", 1)]);
        let ran = world.up(&[import("new")]);
        assert_eq!(changes(&ran), [("same", 1)]);
    });
}

/// REFRESH-05, REFRESH-06, REFRESH-09
#[test]
fn a_refresh_takes_over_what_the_world_is() {
    for_orders(|world| {
        world.up(&chain(Res::new("a").with("value", "1")));
        let id = world
            .cloud
            .objects
            .keys()
            .find(|id| id.starts_with("b-"))
            .unwrap()
            .clone();
        world.cloud.objects.remove(&id);
        let id = world
            .cloud
            .objects
            .keys()
            .find(|id| id.starts_with("a-"))
            .unwrap()
            .clone();
        world
            .cloud
            .objects
            .insert(id, PropertyMap::new().with("value", "drift"));
        let ran = world.run(Operation::Refresh, &[], Options::new(Phase::Execute));
        succeeded(&ran);
        assert_eq!(
            changes(&ran),
            [("same", 1), ("update", 1), ("delete", 1)]
                .map(|it| it)
                .into_iter()
                .collect::<std::collections::BTreeMap<_, _>>()
                .into_iter()
                .collect::<Vec<_>>()
        );
        assert_eq!(names(world), ["a", "c"]);
        let c = world
            .snapshot
            .resources
            .iter()
            .find(|state| state.urn.name() == "c")
            .unwrap();
        assert!(c.dependencies.is_empty());
        let ran = world.up(&chain(Res::new("a").with("value", "1")));
        succeeded(&ran);
        assert_eq!(names(world), ["a", "b", "c"]);
    });
}

/// TARGET-11, TARGET-13, TARGET-24
#[test]
fn a_targeted_update_leaves_the_rest_alone() {
    for_orders(|world| {
        world.up(&[
            Res::new("a").with("value", "1"),
            Res::new("b").with("value", "1"),
        ]);
        let program = [
            Res::new("a").with("value", "2"),
            Res::new("b").with("value", "2"),
            Res::new("new"),
        ];
        let options = Options {
            targets: UrnSet::new([urn("a").to_string()]),
            ..Options::new(Phase::Execute)
        };
        let ran = world.run(Operation::Update, &program, options);
        succeeded(&ran);
        assert_eq!(changes(&ran), [("same", 2), ("update", 1)]);
        assert_eq!(names(world), ["a", "b"]);
    });
}

/// TARGET-14
#[test]
fn targets_of_a_destroy_or_refresh_must_exist() {
    for operation in [Operation::Destroy, Operation::Refresh] {
        for_orders(|world| {
            world.up(&[res("a")]).succeeded();
            for names in [&["b"][..], &["a", "b", "c"]] {
                let targeted = options(|options| options.targets = targets(names));
                let excluding = options(|options| options.excludes = targets(names));
                for options in [targeted, excluding] {
                    let ran = world.run(operation.clone(), &[], options);
                    ran.refused(&format!("no resource named '{}' found", urn("b")));
                }
            }
            assert_eq!(world.names(), ["a"]);
        });
    }
}

#[test]
fn a_target_may_not_depend_on_what_is_left_out() {
    for_orders(|world| {
        let options = Options {
            targets: UrnSet::new([urn("b").to_string()]),
            ..Options::new(Phase::Execute)
        };
        let ran = world.run(
            Operation::Update,
            &chain(Res::new("a").with("value", "1")),
            options,
        );
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert!(
            ran.errors
                .iter()
                .any(|error| error.contains("which was was not specified")),
            "{:?}",
            ran.errors
        );
    });
}

/// STEPGEN-01
#[test]
fn a_urn_is_taken_once() {
    for_orders(|world| {
        let ran = world.up(&[
            Res::new("a"),
            Res {
                what: What::Component,
                ..Res::new("g")
            },
            Res::new("x").parent("g"),
        ]);
        succeeded(&ran);
        let order: Vec<_> = world
            .snapshot
            .resources
            .iter()
            .map(|state| state.urn.name().to_owned())
            .collect();
        assert!(position(&order, "g") < position(&order, "x"));
    });
}
