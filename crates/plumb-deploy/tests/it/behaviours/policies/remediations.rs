//! Remediations: changes that packs make to inputs.

use std::sync::Arc;

use plumb_events::OperationResult;
use plumb_resource::policy::EnforcementLevel::Remediate;
use plumb_resource::policy::{Remediation, Remedy};
use plumb_resource::provider::ProviderCall;
use plumb_value::{PropertyMap, Value};

use super::nothing_was_done;
use crate::world::{component, for_orders, must_replace, pack, res, sets, targets, violation};

fn setting(key: &'static str, value: &'static str) -> impl Fn(&PropertyMap) -> Vec<Remediation> {
    move |inputs| vec![sets(key, inputs, key, value)]
}

/// POLICY-04
#[test]
fn remediations_apply_one_after_the_other_and_the_last_one_wins() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .policy("first", Remediate)
                .policy("ignored", Remediate)
                .policy("second", Remediate)
                .remediates("a", |inputs| {
                    let first = sets("first", inputs, "value", "remediated");
                    let Remedy::Inputs(remediated) = &first.outcome else {
                        unreachable!()
                    };
                    let second = sets("second", remediated, "value", "remediated twice");
                    vec![first, second]
                }),
            pack("other").remediates("a", setting("tag", "t")),
        ];
        let ran = world.up(&[res("a").with("value", "program")]);
        ran.succeeded();
        let inputs = PropertyMap::new()
            .with("value", "remediated twice")
            .with("tag", "t");
        assert_eq!(*world.state("a").inputs, inputs);
        let ProviderCall::Create(request) = world.cloud.request("create", "a") else {
            panic!("not a create");
        };
        assert_eq!(*request.inputs, inputs);
        assert_eq!(*ran.analyzed("a").properties, inputs);
        let values: Vec<_> = ran
            .remediations()
            .into_iter()
            .map(|it| {
                let text = |map: &PropertyMap| {
                    let value = map.get("value").and_then(Value::as_str);
                    value.unwrap_or_default().to_owned()
                };
                (it.policy.as_str(), text(&it.before), text(&it.after))
            })
            .collect();
        let change = |policy, before: &str, after: &str| (policy, before.into(), after.into());
        assert_eq!(
            values,
            [
                change("first", "program", "remediated"),
                change("second", "remediated", "remediated twice"),
                change("tag", "remediated twice", "remediated twice"),
            ]
        );
        assert_eq!(
            ran.remediate_summary_of("house", "a"),
            (vec!["ignored"], vec!["first", "second"])
        );
    });
}

/// POLICY-04
#[test]
fn remediated_inputs_stay_the_same_in_the_next_run_and_through_a_replacement() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .policy("tag", Remediate)
                .remediates("a", setting("tag", "t")),
        ];
        world.up(&[res("a").with("value", "1")]).succeeded();
        let ran = world.up(&[res("a").with("value", "1")]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["same"]);
        world.cloud.diffs("a", must_replace("value"));
        let ran = world.up(&[res("a").with("value", "2")]);
        ran.succeeded();
        assert_eq!(
            ran.steps("a"),
            ["create-replacement", "replace", "delete-replaced"]
        );
        let tag = world.state("a").inputs.get("tag").and_then(Value::as_str);
        assert_eq!(tag, Some("t"));
        // Remediated twice, told once.
        assert_eq!(ran.remediations().len(), 1);
    });
}

/// POLICY-04: whether it is decided before or after it is deleted for another's replacement.
#[test]
fn a_dependent_of_a_replacement_is_recreated_remediated() {
    for_orders(|world| {
        let root = |value: &str| {
            let root = res("root").with("replace", value).with("value", value);
            root.delete_before_replace(true)
        };
        let user = || res("user").delete_before_replace(true);
        world
            .up(&[root("1"), user().uses("rvalue", "root")])
            .succeeded();
        world.cloud.take_calls();
        world.packs = vec![pack("house").remediates("user", setting("tag", "t"))];
        let ran = world.up(&[root("2"), user().with("rvalue", "2")]);
        ran.succeeded();
        assert_eq!(world.cloud.take_changes().len(), 4);
        let tag = world.state("user").inputs.get("tag").cloned();
        assert_eq!(tag.as_ref().and_then(Value::as_str), Some("t"));
        assert_eq!(ran.remediations().len(), 1);
    });
}

/// POLICY-04: a new text that contains a secret is secret itself, although the pack does not say so.
#[test]
fn a_text_that_is_made_from_a_secret_is_secret() {
    for_orders(|world| {
        world.packs = vec![pack("house").remediates("a", |inputs| {
            let remediated = inputs.clone().with("note", "it contains hunter2");
            vec![Remediation {
                policy: "note".into(),
                outcome: Remedy::Inputs(Arc::new(remediated.with("tag", "t"))),
            }]
        })];
        let secret = Value::secret("hunter2".into());
        world
            .up(&[res("a").with("password", secret.clone())])
            .succeeded();
        let expected = PropertyMap::new()
            .with("password", secret)
            .with("note", Value::secret("it contains hunter2".into()))
            .with("tag", "t");
        assert_eq!(*world.state("a").inputs, expected);
    });
}

/// POLICY-04: properties that it no longer ignores are remediated too.
#[test]
fn inputs_that_a_replacement_stops_ignoring_are_remediated() {
    for_orders(|world| {
        let program = |tag: &str, value: &str| {
            let mut a = res("a").with("tag", tag).with("value", value);
            a.ignore_changes = vec!["tag".to_owned()];
            [a]
        };
        world.up(&program("good", "1")).succeeded();
        world.packs = vec![pack("house").remediates("a", |inputs| {
            let tag = inputs.get("tag").and_then(Value::as_str);
            let is_bad = tag == Some("bad");
            let remediated = is_bad.then(|| sets("tag", inputs, "tag", "remediated"));
            remediated.into_iter().collect()
        })];
        world.cloud.diffs("a", must_replace("value"));
        let ran = world.up(&program("bad", "2"));
        ran.succeeded();
        let tag = world.state("a").inputs.get("tag").cloned();
        assert_eq!(tag.as_ref().and_then(Value::as_str), Some("remediated"));
        assert_eq!(ran.remediations().len(), 1);
    });
}

/// POLICY-04
#[test]
fn untargeted_resources_are_judged_and_stay_as_they_are() {
    for_orders(|world| {
        let program = [res("a").with("value", "1"), res("b").with("value", "1")];
        world.up(&program).succeeded();
        world.packs = vec![pack("house").remediates("b", setting("tag", "t"))];
        let ran = world.up_with(&[res("a").with("value", "2"), res("b"), res("c")], |it| {
            it.targets = targets(&["a"]);
        });
        ran.succeeded();
        assert_eq!(ran.steps("b"), ["same"]);
        assert!(!world.state("b").inputs.contains_key("tag"));
        // Nothing is made of what is left out.
        let asked = ran.consultations().join(", ");
        assert!(!asked.contains(" c"), "{asked}");
    });
}

/// POLICY-04, PLAN-01
#[test]
fn a_plan_holds_with_remediations() {
    for_orders(|world| {
        world.packs = vec![pack("house").remediates("a", setting("tag", "t"))];
        let program = [res("a").with("value", "1")];
        let (_, plan) = world.plan(&program);
        world.up_to(&plan, &program).succeeded();
        let tag = world.state("a").inputs.get("tag").and_then(Value::as_str);
        assert_eq!(tag, Some("t"));
    });
}

/// POLICY-05
#[test]
fn a_remediation_that_only_says_why_not_is_a_warning() {
    for_orders(|world| {
        let unremediated = Remediation {
            policy: "tag".into(),
            outcome: Remedy::Failed("cannot tag this".into()),
        };
        world.packs = vec![
            pack("house")
                .policy("tag", Remediate)
                .remediates("a", move |_| vec![unremediated.clone()]),
        ];
        let ran = world.up(&[res("a").with("value", "1")]);
        ran.succeeded();
        assert_eq!(ran.violated(), ["advisory tag a"]);
        assert_eq!(ran.violations()[0].message, "cannot tag this\n");
        assert_eq!(ran.remediations().len(), 0);
        assert_eq!(ran.remediate_summary("a"), (vec![], vec!["tag"]));
        assert_eq!(
            *world.state("a").inputs,
            PropertyMap::new().with("value", "1")
        );
    });
}

/// POLICY-07
#[test]
fn a_failed_remediation_counts_as_a_mandatory_violation() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .policy("tag", Remediate)
                .finds("a", vec![violation("tag", Remediate)]),
        ];
        let ran = world.up(&[res("a")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert_eq!(ran.violated(), ["mandatory tag a"]);
        nothing_was_done(world);
    });
}

/// POLICY-12
#[test]
fn packs_remediate_in_turn_and_judge_together() {
    for_orders(|world| {
        world.packs = vec![pack("one"), pack("two"), pack("three")];
        let ran = world.up(&[component("a")]);
        ran.succeeded();
        assert_eq!(
            ran.consultations(),
            [
                "remediate 0 a",
                "remediate 1 a",
                "remediate 2 a",
                "analyze 0 a, analyze 1 a, analyze 2 a",
                "analyzeStack 0 stack, analyzeStack 1 stack, analyzeStack 2 stack",
            ]
        );
    });
}

/// The comparison uses the remediated inputs, not those of the program.
#[test]
fn a_remedy_can_be_a_change_by_itself() {
    for_orders(|world| {
        world.up(&[res("a").with("value", "1")]).succeeded();
        world.packs = vec![pack("house").remediates("a", setting("value", "2"))];
        let ran = world.up(&[res("a").with("value", "1")]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["update"]);
        assert_eq!(world.cloud.take_changes().last().unwrap(), "update a");
    });
}
