//! Judgement of the whole stack.

use plumb_events::OperationResult;
use plumb_resource::policy::EnforcementLevel::{Advisory, Mandatory, Remediate};
use plumb_resource::policy::PolicyDiagnostic;
use plumb_value::PropertyMap;

use crate::world::{for_orders, pack, res, stack, targets, urn, violation};

/// POLICY-03
#[test]
fn a_mandatory_violation_of_the_stack_fails_the_update_after_everything_is_done() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .policy("fine", Mandatory)
                .stack_policy("whole", Mandatory)
                .stack_policy("other", Mandatory)
                .judges_stack(|_| vec![violation("whole", Mandatory)]),
        ];
        let ran = world.up(&[stack(), res("a")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert_eq!(world.cloud.take_changes(), ["create a"]);
        assert_eq!(world.names(), ["a", "proj-dev"]);
        assert_eq!(ran.violated(), ["mandatory whole proj-dev"]);
        assert_eq!(ran.stack_summary(), (vec!["other"], vec!["whole"]));
        let asked = ran.consultations();
        assert_eq!(
            asked.last().map(String::as_str),
            Some("analyzeStack 0 stack")
        );
    });
}

/// POLICY-03
#[test]
fn the_stack_is_blamed_unless_the_pack_names_one_of_its_resources() {
    for_orders(|world| {
        let blame = |name: &str| PolicyDiagnostic {
            urn: Some(urn(name)),
            ..violation("whole", Advisory)
        };
        let found = vec![blame("a"), blame("nobody"), violation("whole", Advisory)];
        world.packs = vec![
            pack("house")
                .stack_policy("whole", Advisory)
                .judges_stack(move |_| found.clone()),
        ];
        let ran = world.up(&[stack(), res("a")]);
        ran.succeeded();
        assert_eq!(
            ran.violated(),
            [
                "advisory whole a",
                "advisory whole proj-dev",
                "advisory whole proj-dev"
            ]
        );
    });
}

/// POLICY-03
#[test]
fn the_stack_is_judged_with_registered_outputs_and_in_previews_too() {
    for_orders(|world| {
        world.packs = vec![pack("house")];
        let outputs = PropertyMap::new().with("url", "https://x");
        let program = [
            stack().output("url", "https://x"),
            res("a").with("value", "1"),
            res("b").uses("value", "a"),
        ];
        for ran in [world.preview(&program), world.up(&program)] {
            ran.succeeded();
            assert_eq!(
                *ran.analyzed_in_stack("proj-dev").resource.properties,
                outputs
            );
            let b = ran.analyzed_in_stack("b");
            assert_eq!(b.dependencies, [urn("a")]);
            let by_key = b.property_dependencies.get("value");
            assert_eq!(by_key.map(ecow::EcoVec::as_slice), Some(&[urn("a")][..]));
        }
    });
}

/// POLICY-03
#[test]
fn a_run_that_failed_is_not_judged_as_a_whole() {
    for_orders(|world| {
        world.packs = vec![pack("house")];
        let ran = world.up_and_fail(&[res("a")]);
        assert!(ran.consultations().iter().all(|it| !it.contains("Stack")));
    });
}

/// POLICY-06
#[test]
fn a_pack_that_cannot_judge_the_stack_fails_the_run() {
    for_orders(|world| {
        world.packs = vec![
            pack("fine"),
            pack("house").fails("analyzeStack", "it broke"),
        ];
        let ran = world.up(&[res("a")]);
        ran.failed("failed to analyze resources: it broke");
        assert_eq!(world.names(), ["a"]);
    });
}

/// POLICY-08
#[test]
fn a_failed_remediation_of_the_stack_counts_as_a_mandatory_violation() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .stack_policy("whole", Remediate)
                .judges_stack(|_| vec![violation("whole", Remediate)]),
        ];
        let ran = world.up(&[stack(), res("a")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert_eq!(ran.violated(), ["mandatory whole proj-dev"]);
        assert_eq!(world.cloud.take_changes(), ["create a"]);
    });
}

/// TARGET-43
#[test]
fn the_stack_that_is_judged_has_resources_outside_program_and_targets() {
    for_orders(|world| {
        world
            .up(&[res("a").with("value", "1"), res("b").with("value", "1")])
            .succeeded();
        world.packs = vec![pack("house")];
        let ran = world.up_with(&[res("a").with("value", "2")], |it| {
            it.targets = targets(&["a"]);
        });
        ran.succeeded();
        let b = ran.analyzed_in_stack("b");
        assert_eq!(b.resource.properties, world.state("b").outputs);
        assert_eq!(b.resource.options.delete_before_replace, None);
    });
}
