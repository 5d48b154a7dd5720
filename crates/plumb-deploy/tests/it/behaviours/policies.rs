//! POLICY: packs that mend and judge what a program wants.

use std::sync::Arc;

use plumb_events::{Event, OperationResult};
use plumb_resource::policy::EnforcementLevel::{Advisory, Disabled, Mandatory, Remediate};
use plumb_resource::policy::{PolicyDiagnostic, PolicySeverity, Remediation, Remedy};
use plumb_resource::provider::{CheckFailure, CheckResponse, ProviderCall, ProviderReply};
use plumb_value::{PropertyMap, Value};

use crate::world::{
    Ran, World, component, for_orders, must_replace, pack, provider, res, sets, stack, targets,
    urn, violation,
};

/// Whether nothing was asked of the cloud that changes anything.
fn nothing_was_done(world: &mut World) {
    assert_eq!(world.cloud.take_changes(), [""; 0]);
}

fn is_before(ran: &Ran, first: &str, second: &str) -> bool {
    let title = |event: &Event| match event {
        Event::Prelude { .. } => "prelude".to_owned(),
        Event::PolicyLoad => "load".to_owned(),
        Event::PolicyViolation(it) => format!("violation {}", it.policy),
        Event::PolicyAnalyzeSummary(it) => {
            format!(
                "summary {}",
                it.urn.as_ref().expect("it is about one").name()
            )
        }
        Event::ResourcePre(it) => format!("step {}", it.metadata.urn.name()),
        _ => String::new(),
    };
    let titles: Vec<String> = ran.events.iter().map(title).collect();
    let at = |wanted: &str| {
        let found = titles.iter().position(|title| title == wanted);
        found.unwrap_or_else(|| panic!("no {wanted:?} in {titles:?}"))
    };
    at(first) < at(second)
}

/// POLICY-02
#[test]
fn a_mandatory_violation_fails_the_update_and_summaries_tell_the_rest() {
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
fn packs_are_loaded_before_the_run_does_anything_and_listed_in_its_summary() {
    for_orders(|world| {
        world.packs = vec![pack("house").at("packs/house"), pack("cloud")];
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        assert!(is_before(&ran, "load", "prelude"));
        assert!(is_before(&ran, "load", "step a"));
        let Some(Event::Summary(summary)) = ran
            .events
            .iter()
            .find(|event| matches!(event, Event::Summary(_)))
        else {
            panic!("no summary");
        };
        let packs = summary.policy_packs.iter();
        let packs: Vec<_> = packs.map(|(name, version)| (&**name, &**version)).collect();
        assert_eq!(
            packs,
            [("cloud", "1.0.0"), ("house|local|packs/house", "1.0.0")]
        );
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

/// POLICY-02: whoever hears that a check failed hears of violations of the resource too.
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
fn an_advisory_violation_forbids_nothing_and_is_told_again_by_an_update_without_changes() {
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
                .mends("a", |inputs| {
                    let first = sets("first", inputs, "value", "mended");
                    let Remedy::Inputs(mended) = &first.outcome else {
                        unreachable!()
                    };
                    let second = sets("second", mended, "value", "mended twice");
                    vec![first, second]
                }),
            pack("other").mends("a", setting("tag", "t")),
        ];
        let ran = world.up(&[res("a").with("value", "program")]);
        ran.succeeded();
        let inputs = PropertyMap::new()
            .with("value", "mended twice")
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
                change("first", "program", "mended"),
                change("second", "mended", "mended twice"),
                change("tag", "mended twice", "mended twice"),
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
fn what_is_mended_stays_the_same_in_the_next_run_and_through_a_replacement() {
    for_orders(|world| {
        world.packs = vec![
            pack("house")
                .policy("tag", Remediate)
                .mends("a", setting("tag", "t")),
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
        // Mended twice, told once.
        assert_eq!(ran.remediations().len(), 1);
    });
}

/// POLICY-04: whether it is decided before or after it goes for the replacement of something else.
#[test]
fn what_goes_for_the_replacement_of_something_else_comes_back_mended() {
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
        world.packs = vec![pack("house").mends("user", setting("tag", "t"))];
        let ran = world.up(&[root("2"), user().with("rvalue", "2")]);
        ran.succeeded();
        assert_eq!(world.cloud.take_changes().len(), 4);
        let tag = world.state("user").inputs.get("tag").cloned();
        assert_eq!(tag.as_ref().and_then(Value::as_str), Some("t"));
        assert_eq!(ran.remediations().len(), 1);
    });
}

/// POLICY-02: a replacement takes over what it ignored as long as the old object was kept, and that is judged, too.
#[test]
fn what_a_replacement_does_not_ignore_any_more_is_judged() {
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

/// POLICY-04: the same with what is mended in it.
#[test]
fn what_a_replacement_does_not_ignore_any_more_is_mended() {
    for_orders(|world| {
        let program = |tag: &str, value: &str| {
            let mut a = res("a").with("tag", tag).with("value", value);
            a.ignore_changes = vec!["tag".to_owned()];
            [a]
        };
        world.up(&program("good", "1")).succeeded();
        world.packs = vec![pack("house").mends("a", |inputs| {
            let tag = inputs.get("tag").and_then(Value::as_str);
            let is_bad = tag == Some("bad");
            let mended = is_bad.then(|| sets("tag", inputs, "tag", "mended"));
            mended.into_iter().collect()
        })];
        world.cloud.diffs("a", must_replace("value"));
        let ran = world.up(&program("bad", "2"));
        ran.succeeded();
        let tag = world.state("a").inputs.get("tag").cloned();
        assert_eq!(tag.as_ref().and_then(Value::as_str), Some("mended"));
        assert_eq!(ran.remediations().len(), 1);
    });
}

/// POLICY-04
#[test]
fn what_is_not_targeted_is_judged_and_stays_as_it_is() {
    for_orders(|world| {
        let program = [res("a").with("value", "1"), res("b").with("value", "1")];
        world.up(&program).succeeded();
        world.packs = vec![pack("house").mends("b", setting("tag", "t"))];
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
fn a_plan_holds_whatever_is_mended() {
    for_orders(|world| {
        world.packs = vec![pack("house").mends("a", setting("tag", "t"))];
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
        let unmended = Remediation {
            policy: "tag".into(),
            outcome: Remedy::Failed("cannot tag this".into()),
        };
        world.packs = vec![
            pack("house")
                .policy("tag", Remediate)
                .mends("a", move |_| vec![unmended.clone()]),
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

/// POLICY-06
#[test]
fn a_pack_that_cannot_mend_or_judge_ends_the_run_before_anything_is_done() {
    let cases = [
        ("remediate", "failed to run remediation: it broke"),
        ("analyze", "failed to run policy: it broke"),
    ];
    for (operation, message) in cases {
        for_orders(|world| {
            world.packs = vec![pack("fine"), pack("house").fails(operation, "it broke")];
            world.up(&[res("a")]).failed(message);
            nothing_was_done(world);
            world.preview(&[res("a")]).failed(message);
        });
    }
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

/// POLICY-07
#[test]
fn what_a_policy_was_to_mend_and_did_not_is_as_bad_as_mandatory() {
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

/// POLICY-08
#[test]
fn the_same_of_policies_for_the_stack() {
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

/// POLICY-09
#[test]
fn an_interrupt_does_not_wait_for_packs() {
    for_orders(|world| {
        world.packs = vec![pack("house")];
        world.interrupt_after = Some(1);
        let ran = world.up(&[res("a"), res("b")]);
        assert_eq!(ran.outcome.result, OperationResult::Canceled);
        assert_eq!(ran.outcome.error.as_deref(), Some("canceled"));
        assert!(ran.consultations().iter().all(|it| !it.contains("Stack")));
    });
}

/// POLICY-10
#[test]
fn every_violation_of_every_severity_is_told() {
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

/// POLICY-12
#[test]
fn packs_mend_in_turn_and_judge_together() {
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

/// POLICY-13
#[test]
fn violations_stand_in_the_order_of_packs_whoever_answers_first() {
    for_orders(|world| {
        let strict = |name| {
            pack(name)
                .judges_stack(move |_| vec![violation(name, Advisory)])
                .finds("a", vec![violation(name, Advisory)])
        };
        world.packs = vec![strict("z"), strict("m"), strict("a")];
        let ran = world.up(&[res("a")]);
        ran.succeeded();
        assert_eq!(
            ran.violated(),
            [
                "advisory z a",
                "advisory m a",
                "advisory a a",
                "advisory z proj-dev",
                "advisory m proj-dev",
                "advisory a proj-dev"
            ]
        );
    });
}

/// POLICY-14, POLICY-15
#[test]
fn a_pack_that_cannot_be_had_fails_the_operation_with_the_reason() {
    for_orders(|world| {
        world.packs_fail = Some("failed to download policy pack: no such host".to_owned());
        let ran = world.up(&[res("a")]);
        ran.refused("failed to download policy pack: no such host");
        assert_eq!(world.cloud.take_calls(), [""; 0]);
    });
}

/// POLICY-02
#[test]
fn operations_that_decide_nothing_ask_no_packs() {
    for_orders(|world| {
        world.up(&[res("a")]).succeeded();
        world.packs = vec![pack("house")];
        let ran = world.refresh();
        ran.succeeded();
        assert_eq!(ran.consultations(), [""; 0]);
        // A destroy has nothing to put to them but the empty stack.
        let ran = world.destroy();
        ran.succeeded();
        assert_eq!(ran.consultations(), ["analyzeStack 0 stack"]);
        assert_eq!(ran.analyzed_stack().len(), 0);
    });
}

/// TARGET-43
#[test]
fn the_stack_that_is_judged_has_what_the_program_does_not_register_and_no_target_names() {
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

/// The comparison sees what is mended, not what the program said.
#[test]
fn a_remedy_can_be_a_change_by_itself() {
    for_orders(|world| {
        world.up(&[res("a").with("value", "1")]).succeeded();
        world.packs = vec![pack("house").mends("a", setting("value", "2"))];
        let ran = world.up(&[res("a").with("value", "1")]);
        ran.succeeded();
        assert_eq!(ran.steps("a"), ["update"]);
        assert_eq!(world.cloud.take_changes().last().unwrap(), "update a");
    });
}
