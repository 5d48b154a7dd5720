//! PLAN: updates that are held to what a preview showed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use plumb_deploy::setup::{Operation, Options, Phase};
use plumb_resource::StepOp;
use plumb_resource::provider::{
    CheckFailure, CheckResponse, CreateResponse, PluginSpec, ProviderCall, ProviderReply,
    UpdateResponse,
};
use plumb_state::plan::Plan;
use plumb_value::{PropertyMap, Value};

use crate::world::{
    Res, World, component, for_many_orders, for_orders, must_replace, read, res, stack, targets,
    urn,
};

fn steps(plan: &Plan, name: &str) -> Vec<&'static str> {
    let steps = &plan.resources[&urn(name)].steps;
    steps.iter().map(|step| step.as_str()).collect()
}

/// Message about `a` when it does something that the plan does not allow.
fn violation(what: &str) -> String {
    format!("resource {} violates plan: {what}", urn("a"))
}

/// Whether the provider was asked to make (or delete) something for real.
fn was_called(world: &World, wanted: &str) -> bool {
    world.cloud.requests.iter().any(|(call, request)| {
        let is_for_show = matches!(request, ProviderCall::Create(create) if create.preview);
        call == wanted && !is_for_show
    })
}

fn object(entries: &[(&str, Value)]) -> PropertyMap {
    let mut map = PropertyMap::new();
    for (key, value) in entries {
        map.insert(*key, value.clone());
    }
    map
}

/// Properties of which some may not be known.
fn properties(inner: Option<Value>, element: Value, zed: Option<Value>) -> PropertyMap {
    let mut inside = object(&[("a", 42.0.into())]);
    inside.extend(inner.map(|inner| ("b".into(), inner)));
    let mut all = object(&[
        ("foo", "bar".into()),
        ("baz", inside.into()),
        ("qux", Value::array([element, 24.0.into()])),
    ]);
    all.extend(zed.map(|zed| ("zed".into(), zed)));
    all
}

fn unknown_properties() -> PropertyMap {
    properties(Some(Value::UNKNOWN), Value::UNKNOWN, Some(Value::UNKNOWN))
}

fn known_properties() -> PropertyMap {
    properties(Some("alpha".into()), "beta".into(), Some("grr".into()))
}

fn with(res: Res, properties: PropertyMap) -> Res {
    Res { properties, ..res }
}

/// PLAN-01: the unknown may become anything; what is known must come. What was done before stays.
#[test]
fn an_update_may_fill_in_what_the_plan_leaves_open() {
    for_orders(|world| {
        let (_, plan) = world.plan(&[with(res("a"), unknown_properties())]);
        let list = Value::array(["alpha".into(), 24.0.into()]);
        let ran = world.up_to(&plan, &[res("a").with("qux", list)]);
        ran.failed(&violation(
            "properties changed: +-baz[{map[a:{42} b:output<string>{}]}], +-foo[{bar}]",
        ));
        assert!(!was_called(world, "create a"));
        assert_eq!(world.states("default").len(), 1);
        assert_eq!(world.snapshot.resources.len(), 1);
        world
            .up_to(&plan, &[with(res("a"), known_properties())])
            .succeeded();
        assert_eq!(*world.state("a").outputs, known_properties());
    });
}

/// PLAN-02
#[test]
fn what_is_not_planned_is_not_created() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        let (_, plan) = world.plan(&[res("a")]);
        let ran = world.up_to(&plan, &[res("a"), res("b")]);
        ran.failed("create is not allowed by the plan: no steps were expected for this resource");
        assert!(!was_called(world, "create b"));
        assert_eq!(world.names(), ["a"]);
    });
}

/// PLAN-03
#[test]
fn what_is_to_stay_is_not_deleted() {
    for_orders(|world| {
        world.up(&[res("a"), res("b")]).succeeded();
        let (_, plan) = world.plan(&[res("a"), res("b")]);
        let ran = world.up_to(&plan, &[res("a")]);
        ran.failed("delete is not allowed by the plan: this resource is constrained to same");
        assert!(!was_called(world, "delete b"));
        assert_eq!(world.names(), ["a", "b"]);
    });
}

/// PLAN-04
#[test]
fn what_is_to_go_must_not_be_registered() {
    for_orders(|world| {
        world.up(&[res("a"), res("b")]).succeeded();
        let (_, plan) = world.plan(&[res("b")]);
        assert_eq!(steps(&plan, "a"), ["delete"]);
        assert_eq!(plan.resources[&urn("a")].goal, None);
        let ran = world.up_to(&plan, &[res("a"), res("b")]);
        ran.failed(&violation("resource unexpectedly not deleted"));
        assert_eq!(world.names(), ["a", "b"]);
    });
}

/// PLAN-05
#[test]
fn what_is_planned_must_happen() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        let (_, plan) = world.plan(&[res("a"), res("b")]);
        let ran = world.up_to(&plan, &[res("a")]);
        let missing = urn("b");
        ran.failed(&format!(
            "expected resource operations for {missing} but none were seen"
        ));
        assert_eq!(ran.errors.len(), 1, "{:?}", ran.errors);
        assert_eq!(world.names(), ["a"]);
    });
}

/// PLAN-06
#[test]
fn an_input_that_is_planned_must_be_there() {
    for_orders(|world| {
        let (_, plan) = world.plan(&[res("a").with("foo", "bar").with("frob", "baz")]);
        let ran = world.up_to(&plan, &[res("a").with("foo", "bar")]);
        ran.failed(&violation("properties changed: +-frob[{baz}]"));
    });
}

/// PLAN-07
#[test]
fn a_create_that_is_not_needed_any_more() {
    for_orders(|world| {
        let program = [res("a").with("foo", "bar")];
        let (_, plan) = world.plan(&program);
        assert_eq!(steps(&plan, "a"), ["create"]);
        world.up(&program).succeeded();
        let ran = world.up_to(&plan, &program);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["same"]);
    });
}

/// PLAN-08
#[test]
fn a_delete_that_is_not_needed_any_more() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        let (_, plan) = world.plan(&[]);
        world.up(&[]).succeeded();
        world.up_to(&plan, &[]).succeeded();
        assert!(world.snapshot.resources.is_empty());
    });
}

/// PLAN-09
#[test]
fn what_came_after_the_plan_may_stay_the_same() {
    for_orders(|world| {
        let (_, plan) = world.plan(&[res("a").with("foo", "bar").with("zed", Value::UNKNOWN)]);
        let b = || res("b").with("x", "y").protect(true).output("out", "put");
        world.up(&[b()]).succeeded();
        let a = || res("a").with("foo", "bar").with("zed", 24.0);
        let ran = world.up_to(&plan, &[a(), b()]);
        ran.succeeded();
        assert_eq!(ran.counts(), [("create", 1), ("same", 1)]);
        let ran = world.up_to(&plan, &[a(), b().with("x", "z")]);
        ran.failed("properties changed: =~x[{z}]");
        let ran = world.up_to(&plan, &[a(), b().protect(false)]);
        ran.failed("violates plan: protect changed (expected true)");
        let ran = world.up_to(&plan, &[a(), b().output("out", "other")]);
        ran.failed("resource violates plan: properties changed: =~out[{other}]");
    });
}

/// PLAN-10
#[test]
fn previews_are_held_to_plans_too() {
    for_orders(|world| {
        let (_, plan) = world.plan(&[with(res("a"), unknown_properties())]);
        world.plan = Some(plan);
        world
            .preview(&[res("a").with("foo", "bar")])
            .failed(&violation(
                "properties changed: +-baz[{map[a:{42} b:output<string>{}]}]",
            ));
        let partly_known = properties(Some(Value::UNKNOWN), "beta".into(), Some("grr".into()));
        world.preview(&[with(res("a"), partly_known)]).succeeded();
    });
}

/// PLAN-11
#[test]
fn what_changed_since_must_not_be_changed_back() {
    for_orders(|world| {
        let a = |foo: &str, zed: f64| [res("a").with("foo", foo).with("zed", zed)];
        world.up(&a("bar", 24.0)).succeeded();
        let (_, plan) = world.plan(&a("baz", 24.0));
        world.up(&a("bar", 26.0)).succeeded();
        let ran = world.up_to(&plan, &a("baz", 24.0));
        ran.failed(&violation("properties changed: =~zed[{24}]"));
        assert_eq!(world.state("a").inputs.get("zed"), Some(&26.0.into()));
    });
}

/// PLAN-12
#[test]
fn registered_outputs_are_held_to_the_plan() {
    for_orders(|world| {
        let (_, plan) = world.plan(&[res("a").output("foo", "bar").output("frob", "baz")]);
        let ran = world.up_to(&plan, &[res("a").output("foo", "bar")]);
        ran.failed("resource violates plan: properties changed: +-frob[{baz}]");
    });
}

/// PLAN-13: plans are about what the program asks for, whatever the provider makes of it.
#[test]
fn outputs_of_providers_are_not_held_to_the_plan() {
    for_orders(|world| {
        let outputs =
            |text: &str| Arc::new(object(&[("frob", text.into()), ("more", 24.0.into())]));
        let (created, updated) = (outputs("created"), outputs("updated"));
        world.cloud.on("create", "a", move |_| {
            Some(Ok(ProviderReply::Created(CreateResponse {
                id: plumb_resource::ResourceId::Known("a-1".into()),
                outputs: created.clone(),
                refresh_before_update: false,
            })))
        });
        world.cloud.on("update", "a", move |_| {
            Some(Ok(ProviderReply::Updated(UpdateResponse {
                outputs: updated.clone(),
                refresh_before_update: false,
            })))
        });
        let a = |frob: &str| [res("a").with("foo", "bar").with("frob", frob)];
        let (_, plan) = world.plan(&a("baz"));
        world.up_to(&plan, &a("baz")).succeeded();
        let (_, plan) = world.plan(&a("newBazzer"));
        world.up_to(&plan, &a("differentBazzer")).failed(&violation(
            "properties changed: ~~frob[{newBazzer}!={differentBazzer}]",
        ));
        world.up_to(&plan, &a("newBazzer")).succeeded();
    });
}

/// PLAN-14: the plan of a renamed resource stands under its new name, that of its former half included.
#[test]
fn renamed_resources_have_their_plans() {
    for_orders(|world| {
        world.up(&[res("old").with("replace", "1")]).succeeded();
        let renamed = [res("a").alias("old").with("replace", "2")];
        let (_, plan) = world.plan(&renamed);
        let expected = ["create-replacement", "replace", "delete-replaced"];
        assert_eq!(steps(&plan, "a"), expected);
        assert!(!plan.resources.contains_key(&urn("old")));
        world
            .up_to(&plan, &[res("a").alias("other").with("replace", "2")])
            .failed(&violation(
                "aliases changed: added {name: other}; deleted {name: old}",
            ));
        world.up_to(&plan, &renamed).succeeded();
        assert_eq!(world.names(), ["a"]);
    });
}

/// PLAN-15
#[test]
fn the_unknown_may_turn_out_to_be_nothing() {
    for_orders(|world| {
        let program = |properties: PropertyMap| {
            let a = Res {
                outputs: Some(properties.clone()),
                ..res("a")
            };
            [a, with(res("b"), properties)]
        };
        let gone = properties(None, Value::Null, None);
        let (_, plan) = world.plan(&program(unknown_properties()));
        world.up_to(&plan, &program(gone.clone())).succeeded();
        assert_eq!(*world.state("a").outputs, gone);
        assert_eq!(*world.state("b").outputs, gone);
        world.up(&program(known_properties())).succeeded();
        let (_, plan) = world.plan(&program(unknown_properties()));
        world.up_to(&plan, &program(gone.clone())).succeeded();
        assert_eq!(*world.state("a").outputs, gone);
        assert_eq!(*world.state("b").outputs, gone);
    });
}

/// PLAN-16
#[test]
fn a_check_that_answers_by_chance_violates_the_plan() {
    for_orders(|world| {
        let counter = AtomicU32::new(0);
        world.cloud.on("check", "a", move |call| {
            let ProviderCall::Check(check) = call else {
                return None;
            };
            let name = format!("name-{}", counter.fetch_add(1, Ordering::Relaxed));
            let inputs = check.new_inputs.as_ref().clone().with("name", name);
            Some(Ok(ProviderReply::Checked(CheckResponse {
                inputs: Some(inputs.into()),
                ..CheckResponse::default()
            })))
        });
        let (_, plan) = world.plan(&[res("a").with("zed", Value::UNKNOWN)]);
        let ran = world.up_to(&plan, &[res("a").with("zed", "baz")]);
        ran.failed(&violation("properties changed: ++name[{name-0}!={name-1}]"));
        assert!(!was_called(world, "create a"));
    });
}

/// PLAN-17
#[test]
fn a_failed_check_is_told_and_makes_no_plan() {
    for_orders(|world| {
        world.cloud.on("check", "a", |call| {
            let ProviderCall::Check(check) = call else {
                return None;
            };
            (check.new_inputs.get("foo") == Some(&"bad".into())).then(|| {
                Ok(ProviderReply::Checked(CheckResponse {
                    failures: vec![CheckFailure {
                        property: "foo".into(),
                        reason: "Bad foo".into(),
                    }],
                    ..CheckResponse::default()
                }))
            })
        });
        let bad = [res("a").with("foo", "bad")];
        let text = "test:index:Thing resource 'a': property foo value {bad} has a problem: Bad foo";
        let options = Options {
            makes_plan: true,
            ..Options::new(Phase::Preview)
        };
        let ran = world.run(Operation::Update, &bad, options);
        ran.failed(text);
        assert_eq!(ran.plan, None);
        let (_, plan) = world.plan(&[res("a").with("foo", "good")]);
        let ran = world.up_to(&plan, &bad);
        ran.failed(text);
        assert_eq!(ran.errors, [text]);
    });
}

/// PLAN-18
#[test]
fn packages_without_a_version_do_not_matter() {
    for_orders(|world| {
        let other = PluginSpec {
            version: Some(semver::Version::new(1, 0, 0)),
            ..PluginSpec::named("other")
        };
        world.packages = vec![PluginSpec::named("test"), other];
        let (_, plan) = world.plan(&[res("a")]);
        assert_eq!(steps(&plan, "a"), ["create"]);
    });
}

/// PLAN-19: names by chance are those of the preview; a replacement has another one.
#[test]
fn the_plan_keeps_the_seeds() {
    for_orders(|world| {
        world.cloud.on("check", "a", |call| {
            let ProviderCall::Check(check) = call else {
                return None;
            };
            let old = check.old_inputs.as_ref().and_then(|old| old.get("name"));
            let fresh = || hex::encode(&check.random_seed).into();
            let name = old.cloned().unwrap_or_else(fresh);
            let inputs = check.new_inputs.as_ref().clone().with("name", name);
            Some(Ok(ProviderReply::Checked(CheckResponse {
                inputs: Some(inputs.into()),
                ..CheckResponse::default()
            })))
        });
        let a = |value: &str| [res("a").with("replace", value)];
        let (_, plan) = world.plan(&a("1"));
        let planned = &plan.resources[&urn("a")];
        let name: Value = hex::encode(planned.seed.as_ref().unwrap()).into();
        let goal = planned.goal.as_ref().unwrap();
        assert_eq!(goal.inputs.adds.get("name"), Some(&name));
        world.up_to(&plan, &a("1")).succeeded();
        assert_eq!(world.state("a").inputs.get("name"), Some(&name));
        world.up(&a("2")).succeeded();
        assert_ne!(world.state("a").inputs.get("name"), Some(&name));
    });
}

/// PLAN-20
#[test]
fn replacements_that_delete_first_are_planned_whole() {
    for_orders(|world| {
        let program = |value: &str| {
            [
                res("a")
                    .with("value", value)
                    .with("replace", value)
                    .with("dbr", "yes"),
                res("b").uses("rest", "a"),
            ]
        };
        world.up(&program("1")).succeeded();
        let (_, plan) = world.plan(&program("2"));
        let whole = ["delete-replaced", "replace", "create-replacement"];
        assert_eq!(steps(&plan, "a"), whole);
        assert_eq!(steps(&plan, "b"), whole);
        let ran = world.up_to(&plan, &program("2"));
        ran.succeeded();
        assert_eq!(ran.steps("a"), whole);
        assert_eq!(ran.steps("b"), whole);
    });
}

/// A former dependent of a replaced resource is replaced with it, or was decided before: that depends on the order of
/// answers. A run that does what its preview showed is never refused, whenever what goes was checked.
#[test]
fn what_goes_with_another_may_be_checked_before_or_after() {
    let kept = std::cell::Cell::new(0);
    for_many_orders(400, |world| {
        let a = |replace: &str| {
            let a = res("a").with("value", "1").with("dbr", "yes");
            a.with("replace", replace)
        };
        let b = res("b").uses("rest", "a").with("gone", "1");
        world.up(&[a("1"), b]).succeeded();
        let second = [a("2"), res("b").with("rest", "1").with("new", "2")];
        let (shown, plan) = world.plan(&second);
        let ran = world.up_to(&plan, &second);
        let is_other = ran.errors.iter().any(|it| it.contains("violates plan"));
        assert!(!is_other, "{:?}", ran.errors);
        if ["a", "b"].iter().all(|it| shown.steps(it) == ran.steps(it)) {
            ran.succeeded();
            kept.set(kept.get() + usize::from(shown.steps("b").len() > 1));
        }
    });
    assert!(kept.get() > 0, "b goes with a in no order");
}

/// A dependent that the plan replaces with another resource must still be as planned.
#[test]
fn what_goes_with_another_is_held_to_its_plan() {
    for_orders(|world| {
        let program = |value: &str, extra: &str| {
            let a = res("a").with("value", value).with("dbr", "yes");
            let b = res("b").uses("rest", "a").with("extra", extra);
            [a.with("replace", value), b]
        };
        world.up(&program("1", "1")).succeeded();
        let (_, plan) = world.plan(&program("2", "2"));
        let ran = world.up_to(&plan, &program("2", "3"));
        ran.failed("violates plan: properties changed: ++extra[{2}!={3}]");
        assert!(!ran.steps("b").contains(&"create-replacement"));
    });
}

/// PLAN-21
#[test]
fn a_plan_for_targets_is_one_for_these_targets() {
    for_orders(|world| {
        let program = [res("a"), res("b").with("foo", "bar")];
        let at_b = |options: &mut Options| options.targets = targets(&["b"]);
        let (_, plan) = world.plan_with(&program, at_b);
        assert_eq!(steps(&plan, "a"), ["same"]);
        world
            .up_to(&plan, &program)
            .failed("create is not allowed by the plan: this resource is constrained to same");
        assert!(!was_called(world, "create a"));
        world.up_to_with(&plan, &program, at_b).succeeded();
        assert_eq!(world.names(), ["b"]);
    });
}

/// PLAN-22
#[test]
fn a_stack_that_is_no_target_has_outputs() {
    for_orders(|world| {
        let program = [stack().output("foo", "bar"), res("a")];
        let at_a = |options: &mut Options| options.targets = targets(&["a"]);
        let (_, plan) = world.plan_with(&program, at_a);
        world.up_to_with(&plan, &program, at_a).succeeded();
        let outputs = &world.state("proj-dev").outputs;
        assert_eq!(outputs.get("foo"), Some(&"bar".into()));
    });
}

/// A resource outside the targets may be in the plan or not: it stays in either case.
#[test]
fn bystanders_of_targets_stay() {
    for_orders(|world| {
        let program = |value: &str| {
            [
                res("a").with("value", value),
                res("b").with("value", value).depends_on("a"),
                res("c").with("value", value),
            ]
        };
        world.up(&program("1")).succeeded();
        let at_b = |options: &mut Options| options.targets = targets(&["b"]);
        let (_, plan) = world.plan_with(&program("2")[..2], at_b);
        let ran = world.up_to_with(&plan, &program("2")[..2], at_b);
        ran.succeeded();
        assert_eq!(ran.counts(), [("same", 2), ("update", 1)]);
        assert_eq!(world.state("a").inputs.get("value"), Some(&"1".into()));
    });
}

/// A resource that was recorded early because another one refers to it may be registered later: its plan is used once.
#[test]
fn what_was_passed_on_may_still_be_registered() {
    for_orders(|world| {
        world.up(&[res("a"), res("b").depends_on("a")]).succeeded();
        let program = [res("a"), res("b")];
        let without = |options: &mut Options| options.excludes = targets(&["other"]);
        let (_, plan) = world.plan_with(&program, without);
        assert_eq!(steps(&plan, "a"), ["same"]);
        world.up_to_with(&plan, &program, without).succeeded();
    });
}

/// Options of a registration must be as planned, one by one.
#[test]
fn options_must_be_as_planned() {
    for_orders(|world| {
        world.up(&[res("x"), res("y")]).succeeded();
        let base = || {
            [
                res("x"),
                res("y"),
                res("a")
                    .depends_on("x")
                    .after("y")
                    .protect(true)
                    .with("foo", "bar"),
            ]
        };
        let (_, plan) = world.plan(&base());
        let changed = |change: &dyn Fn(Res) -> Res| {
            let [x, y, a] = base();
            [x, y, change(a)]
        };
        let tuned = |tune: fn(&mut plumb_deploy::request::RegisterRequest)| {
            changed(&move |a: Res| a.tune(move |request, _| tune(request)))
        };
        for (program, told) in [
            (
                changed(&|a| a.protect(false)),
                "protect changed (expected true)",
            ),
            (
                changed(&|a| a.delete_before_replace(true)),
                "deleteBeforeReplace changed (expected no value)",
            ),
            (
                changed(&|a| a.depends_on("y")),
                "dependencies changed: added urn:pulumi:dev::proj::test:index:Thing::y",
            ),
            (
                changed(&|a| Res {
                    ignore_changes: vec!["foo".to_owned()],
                    ..a
                }),
                "ignoreChanges changed: added foo",
            ),
            (
                tuned(|request| request.custom_timeouts.get_or_insert_default().delete = 60.0),
                "delete timeout changed (expected 0)",
            ),
            (
                tuned(|request| request.additional_secret_outputs = ["foo".into()].into()),
                "additionalSecretOutputs changed: added foo",
            ),
            (
                tuned(|request| {
                    let x = request.dependencies[0].clone();
                    request
                        .property_dependencies
                        .insert("foo".into(), [x].into());
                }),
                "dependencies for foo changed: added urn:pulumi:dev::proj::test:index:Thing::x",
            ),
            (
                changed(&|a| a.parent("y")),
                "create is not allowed by the plan: no steps were expected for this resource",
            ),
        ] {
            world.up_to(&plan, &program).failed(told);
        }
        world.up_to(&plan, &base()).succeeded();
    });
}

/// A provider that the preview would have made may have any id in the update; another provider is a violation.
#[test]
fn a_new_provider_is_known_by_its_urn() {
    for_orders(|world| {
        let program = |name: &str| {
            [
                crate::world::provider("p"),
                crate::world::provider("q"),
                res("a").after("q").provider(name),
            ]
        };
        let (_, plan) = world.plan(&[
            crate::world::provider("p"),
            crate::world::provider("q"),
            res("a").provider("p"),
        ]);
        let told = "provider changed (expected urn:pulumi:dev::proj::pulumi:providers:test::p::";
        world.up_to(&plan, &program("q")).failed(&violation(told));
        world.up_to(&plan, &program("p")).succeeded();
    });
}

/// Objects are adopted and read as before; the adoption is a planned step.
#[test]
fn imports_are_planned_and_reads_are_not() {
    for_orders(|world| {
        for id in ["kept-1", "kept-2"] {
            let object = PropertyMap::new().with("foo", "bar");
            world.cloud.objects.insert(id.to_owned(), object);
        }
        let program = |foo: &str| {
            [
                res("a").import("kept-1").with("foo", foo),
                read("r", "kept-2"),
            ]
        };
        let (_, plan) = world.plan(&program("baz"));
        assert_eq!(steps(&plan, "a"), ["import", "update"]);
        assert!(!plan.resources.contains_key(&urn("r")));
        world
            .up_to(&plan, &[res("a").with("foo", "baz"), read("r", "kept-2")])
            .failed(&violation("importID changed (expected kept-1)"));
        world.up_to(&plan, &program("baz")).succeeded();
        assert_eq!(world.state("a").id.as_str(), "kept-1");
    });
}

/// Secrets are compared, and not told.
#[test]
fn a_secret_that_differs_is_not_told() {
    for_orders(|world| {
        let a = |value: Value| [res("a").with("foo", Value::secret(value))];
        let (_, plan) = world.plan(&a("old".into()));
        let ran = world.up_to(&plan, &a("new".into()));
        ran.failed(&violation(
            "properties changed: ++foo[{[secret]}!={[secret]}]",
        ));
        world
            .up_to(&plan, &[res("a").with("foo", "old")])
            .failed("violates plan");
        world.up_to(&plan, &a("old".into())).succeeded();
    });
}

/// A plan that another program made names what a renamed resource was called when it deletes it.
#[test]
fn the_former_name_is_good_for_a_delete() {
    for_orders(|world| {
        world.up(&[res("old").with("replace", "1")]).succeeded();
        let renamed = [res("a").alias("old").with("replace", "2")];
        let (_, mut plan) = world.plan(&renamed);
        let entry = plan.resources.get_mut(&urn("a")).unwrap();
        assert_eq!(entry.steps.pop(), Some(StepOp::DeleteReplaced));
        let former = plan.resources.entry(urn("old")).or_default();
        former.steps.push(StepOp::DeleteReplaced);
        world.up_to(&plan, &renamed).succeeded();
    });
}

/// A plan allows less than it holds: where an update is planned nothing is replaced.
#[test]
fn more_than_planned_is_not_done() {
    for_orders(|world| {
        world.up(&[res("a").with("foo", "1")]).succeeded();
        let program = [res("a").with("foo", "2")];
        let (_, plan) = world.plan(&program);
        assert_eq!(steps(&plan, "a"), ["update"]);
        world.cloud.diffs("a", must_replace("foo"));
        let ran = world.up_to(&plan, &program);
        ran.failed("is not allowed by the plan: this resource is constrained to update");
        assert!(!was_called(world, "delete a"));
        assert_eq!(world.states("a").len(), 1);
    });
}

#[test]
fn a_parent_is_the_planned_one() {
    for_orders(|world| {
        let below = |parent: &str| [component("p"), component("q"), res("a").parent(parent)];
        let (_, plan) = world.plan(&below("p"));
        let ran = world.up_to(&plan, &below("q"));
        ran.failed("violates plan: parent changed");
        assert!(!was_called(world, "create a"));
        world.up_to(&plan, &below("p")).succeeded();
    });
}
