//! Judgement of single resources.

use std::sync::Arc;

use plumb_events::OperationResult;
use plumb_resource::policy::EnforcementLevel::{Advisory, Disabled, Mandatory};
use plumb_resource::policy::{PolicyDiagnostic, PolicySeverity};
use plumb_resource::provider::{CheckFailure, CheckResponse, ProviderCall, ProviderReply};
use plumb_value::{PropertyMap, Value};

use super::{is_before, nothing_was_done};
use crate::world::{
    World, component, for_orders, must_replace, pack, provider, res, stack, targets, urn, violation,
};

/// POLICY-02
#[test]
fn a_mandatory_violation_fails_the_update_and_summaries_show_the_rest() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .severe_policy("bad", Mandatory, PolicySeverity::High)
                .policy("fine", Advisory)
                .policy("off", Disabled)
                .policy("elsewhere", Mandatory)
                .stack_policy("whole", Mandatory)
                .not_applicable("elsewhere")
                .finds("a", vec![violation("bad", Mandatory)]),
        ];
        let ran = world.up(&[provider("mine"), res("a").provider("mine")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        let [violation] = ran.violations()[..] else {
            panic!("{:?}", ran.violated());
        };
        assert_eq!(violation.urn, Some(urn("a")));
        assert_eq!(
            (violation.policy.as_str(), violation.pack.name.as_str()),
            ("bad", "house")
        );
        assert_eq!(
            (
                violation.pack.version.as_str(),
                violation.pack.version_tag.as_str()
            ),
            ("1.0.0", "1.0.0")
        );
        assert_eq!(
            (
                violation.enforcement_level.as_str(),
                violation.severity.as_str()
            ),
            ("mandatory", "high")
        );
        assert_eq!(violation.message, "no good\n");
        assert_eq!(ran.analyze_summary("mine"), (vec!["bad", "fine"], vec![]));
        assert_eq!(ran.analyze_summary("a"), (vec!["fine"], vec!["bad"]));
        assert!(is_before(&ran, "violation bad", "summary a"));
        nothing_was_done(world);
        assert_eq!(world.names(), [""; 0]);
    });
}

/// POLICY-02
#[test]
fn a_preview_shows_every_violation_and_fails_at_its_end() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .policy("bad", Mandatory)
                .stack_policy("whole", Advisory)
                .judges(|it| match it.urn.name() {
                    "a" | "b" => vec![violation("bad", Mandatory)],
                    _ => Vec::new(),
                })
                .judges_stack(|_| vec![violation("whole", Advisory)]),
        ];
        let ran = world.preview(&[stack(), res("a"), res("b"), res("c")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        let mut violated = ran.violated();
        violated.sort();
        assert_eq!(
            violated,
            [
                "advisory whole proj-dev",
                "mandatory bad a",
                "mandatory bad b"
            ]
        );
        assert_eq!(ran.steps("c"), ["create"]);
        assert_eq!(ran.errors, ["preview failed"]);
    });
}

/// POLICY-02: violations of a resource are reported beside its failed check.
#[test]
fn a_resource_whose_check_failed_is_judged_before_the_run_ends() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .policy("note", Advisory)
                .finds("a", vec![violation("note", Advisory)]),
        ];
        world.cloud.on("check", "a", |_| {
            Some(Ok(ProviderReply::Checked(CheckResponse {
                failures: vec![CheckFailure {
                    property: "foo".into(),
                    reason: "Bad foo".into(),
                }],
                ..CheckResponse::default()
            })))
        });
        for run in [World::preview, World::up] {
            let ran = run(world, &[res("a").with("foo", "bad")]);
            ran.failed(
                "test:index:Thing resource 'a': property foo value {bad} has a problem: Bad foo",
            );
            assert_eq!(ran.violated(), ["advisory note a"]);
            assert_eq!(*ran.analyzed("a").properties, PropertyMap::new());
            assert!(ran.consultations().iter().all(|it| !it.contains("Stack")));
        }
        nothing_was_done(world);
    });
}

/// POLICY-02
#[test]
fn an_advisory_violation_forbids_nothing_and_is_reported_again_by_an_update_without_changes() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .policy("style", Advisory)
                .finds("a", vec![violation("style", Advisory)]),
        ];
        let program = [res("a")];
        for steps in [["create"], ["same"]] {
            let ran = world.up(&program);
            ran.succeeded();
            assert_eq!(ran.steps("a"), steps);
            assert_eq!(ran.violated(), ["advisory style a"]);
        }
    });
}

/// POLICY-02
#[test]
fn packs_see_checked_inputs_options_and_the_provider() {
    for_orders(|world| {
        world.cloud.on("check", "a", |request| {
            let ProviderCall::Check(request) = request else {
                return None;
            };
            let inputs = request.new_inputs.as_ref().clone().with("default", "d");
            Some(Ok(ProviderReply::Checked(CheckResponse {
                inputs: Some(Arc::new(inputs)),
                ..CheckResponse::default()
            })))
        });
        world.packs = vec![pack("house")];
        let mut a = res("a").with("value", "1").provider("mine").parent("group");
        a.protect = Some(true);
        a.delete_before_replace = Some(false);
        let program = [
            component("group"),
            provider("mine").with("region", "here"),
            a,
        ];
        let ran = world.up(&program);
        ran.succeeded();
        let analyzed = ran.analyzed("a");
        let inputs = PropertyMap::new().with("value", "1").with("default", "d");
        assert_eq!(*analyzed.properties, inputs);
        assert!(analyzed.options.protect);
        assert_eq!(analyzed.options.delete_before_replace, Some(false));
        let group = world.state("group").urn.clone();
        assert_eq!(analyzed.options.parent, Some(group));
        let provider = analyzed.provider.as_ref().unwrap();
        assert_eq!(provider.urn.name(), "mine");
        let region = provider.properties.get("region").and_then(Value::as_str);
        assert_eq!(region, Some("here"));
        assert_eq!(ran.analyzed("group").provider, None);
        // The stack sees the same options, and what came of it.
        let whole = ran.analyzed_in_stack("a");
        assert_eq!(whole.resource.options, analyzed.options);
        assert_eq!(whole.resource.properties, world.state("a").outputs);
        assert_eq!(whole.resource.provider, analyzed.provider);
    });
}

/// POLICY-02: a replacement no longer takes ignored properties from the old object, and its own ones are judged.
#[test]
fn inputs_that_a_replacement_stops_ignoring_are_judged() {
    for_orders(|world| {
        let program = |tag: &str, value: &str| {
            let mut a = res("a").with("tag", tag).with("value", value);
            a.ignore_changes = vec!["tag".to_owned()];
            [a]
        };
        world.up(&program("good", "1")).succeeded();
        world.packs = vec![pack("house").policy("tags", Mandatory).judges(|resource| {
            let tag = resource.properties.get("tag").and_then(Value::as_str);
            let found = (tag == Some("bad")).then(|| violation("tags", Mandatory));
            found.into_iter().collect()
        })];
        world.cloud.take_changes();
        // As long as the object stays the value is only ignored.
        let ran = world.up(&program("bad", "2"));
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["update"]);
        world.cloud.take_changes();
        world.cloud.diffs("a", must_replace("value"));
        let ran = world.up(&program("bad", "3"));
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        assert_eq!(ran.violated(), ["mandatory tags a"]);
        nothing_was_done(world);
    });
}

/// POLICY-10
#[test]
fn violations_of_every_severity_are_reported() {
    use PolicySeverity::{Critical, High, Low, Medium};
    let severities = [None, Some(Low), Some(Medium), Some(High), Some(Critical)];
    let found: Vec<PolicyDiagnostic> = [Advisory, Mandatory]
        .into_iter()
        .flat_map(|level| {
            severities.map(|severity| PolicyDiagnostic {
                severity,
                ..violation("strict", level)
            })
        })
        .collect();
    for_orders(|world| {
        world.packs = vec![pack("house").finds("a", found.clone())];
        let ran = world.up(&[res("a")]);
        assert_eq!(ran.outcome.result, OperationResult::Failed);
        let told: Vec<_> = ran
            .violations()
            .into_iter()
            .map(|it| (it.enforcement_level.as_str(), it.severity.as_str()))
            .collect();
        let names = ["", "low", "medium", "high", "critical"];
        let expected: Vec<_> = ["advisory", "mandatory"]
            .into_iter()
            .flat_map(|level| names.map(|name| (level, name)))
            .collect();
        assert_eq!(told, expected);
    });
}

/// POLICY-11
#[test]
fn the_severity_of_a_violation_comes_before_that_of_its_policy() {
    use PolicySeverity::{Critical, Low};
    for_orders(|world| {
        let own = PolicyDiagnostic {
            severity: Some(Critical),
            ..violation("strict", Advisory)
        };
        world.packs = vec![
            pack("house")
                .severe_policy("strict", Advisory, Low)
                .finds("a", vec![own, violation("strict", Advisory)]),
        ];
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        let severities: Vec<_> = ran
            .violations()
            .iter()
            .map(|it| it.severity.as_str())
            .collect();
        assert_eq!(severities, ["critical", "low"]);
    });
}

/// TARGET-44
#[test]
fn untargeted_resources_are_judged_with_the_provider_that_they_have() {
    for_orders(|world| {
        let program = |region: &str| {
            [
                provider("mine").with("region", region),
                res("a").provider("mine").with("value", region),
                res("b").provider("mine").with("value", "1"),
            ]
        };
        world.up(&program("here")).succeeded();
        world.packs = vec![pack("house")];
        for refresh in [false, true] {
            // The provider is not in the program any more: it stays for the sake of what uses it.
            let ran = world.up_with(&[res("c")], |it| {
                it.targets = targets(&["c"]);
                it.refresh = refresh;
            });
            ran.succeeded();
            for name in ["a", "b"] {
                let provider = ran.analyzed_in_stack(name).resource.provider.as_ref();
                let provider = provider.unwrap_or_else(|| panic!("{name} has no provider"));
                assert_eq!(provider.urn.name(), "mine");
                let region = provider.properties.get("region").and_then(Value::as_str);
                assert_eq!(region, Some("here"));
            }
        }
    });
}

#[test]
fn a_preview_with_unknowns_is_judged_with_them() {
    for_orders(|world| {
        world.packs = vec![pack("house")];
        let ran = world.preview(&[res("a"), res("b").uses("value", "a")]);
        ran.succeeded();
        let value = ran.analyzed("b").properties.get("value").cloned();
        assert!(value.is_some_and(|value| value.contains_unknowns()));
    });
}
