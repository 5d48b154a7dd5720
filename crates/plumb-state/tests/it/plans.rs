//! Plan files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plumb_resource::{
    Alias, AliasParent, AliasSpec, CustomTimeouts, ProviderRef, StepOp, TypeToken, Urn,
};
use plumb_state::plan::{GoalPlan, Plan, PlanDiff, PlanError, PlanFile, PlanHead, ResourcePlan};
use plumb_state::{Manifest, RawJson, SecretsError};
use plumb_value::{PropertyMap, Value};

use crate::support::{CountingCodec, NoCodec, json};

fn urn(name: &str) -> Urn {
    Urn::new("dev", "proj", "", "test:index:Thing", name)
}

fn head() -> PlanHead {
    PlanHead {
        manifest: Manifest::new(jiff::Timestamp::UNIX_EPOCH, "v1.0.0"),
        config: Some(RawJson::parse(r#"{"proj:region": "x"}"#).unwrap()),
    }
}

fn bare_goal() -> GoalPlan {
    GoalPlan {
        type_token: TypeToken::new("test:index:Thing"),
        name: "a".into(),
        is_custom: true,
        inputs: PlanDiff::default(),
        outputs: PlanDiff::default(),
        parent: None,
        protect: false,
        dependencies: [].into(),
        provider: None,
        property_dependencies: plumb_resource::PropertyDependencies::new(),
        delete_before_replace: None,
        ignore_changes: [].into(),
        additional_secret_outputs: [].into(),
        aliases: [].into(),
        import_id: "".into(),
        custom_timeouts: CustomTimeouts::default(),
    }
}

fn secret(text: &str) -> Value {
    Value::secret(text.into())
}

/// A plan that uses every member.
fn full_plan() -> Plan {
    let goal = GoalPlan {
        inputs: PlanDiff {
            adds: Arc::new(
                PropertyMap::new()
                    .with("new", secret("added"))
                    .with("open", Value::UNKNOWN),
            ),
            deletes: BTreeSet::from(["gone".into()]),
            updates: Arc::new(PropertyMap::new().with("size", 2.0)),
        },
        outputs: PlanDiff {
            updates: Arc::new(PropertyMap::new().with("out", secret("put"))),
            ..PlanDiff::default()
        },
        parent: Some(urn("parent")),
        protect: true,
        dependencies: [urn("b")].into(),
        provider: Some(ProviderRef::new(
            Urn::new("dev", "proj", "", "pulumi:providers:test", "default"),
            "",
        )),
        property_dependencies: plumb_resource::PropertyDependencies::from([
            ("new".into(), [urn("b")].into()),
            ("size".into(), [].into()),
        ]),
        delete_before_replace: Some(false),
        ignore_changes: ["x[0]".into()].into(),
        additional_secret_outputs: ["password".into()].into(),
        aliases: [
            Alias::Urn(urn("former")),
            Alias::Spec(AliasSpec {
                name: Some("other".into()),
                parent: AliasParent::None,
                ..AliasSpec::default()
            }),
        ]
        .into(),
        import_id: "id-1".into(),
        custom_timeouts: CustomTimeouts {
            create: 60.0,
            ..CustomTimeouts::default()
        },
        ..bare_goal()
    };
    let changed = ResourcePlan {
        goal: Some(goal),
        steps: vec![StepOp::CreateReplacement, StepOp::Replace],
        outputs: Some(Arc::new(PropertyMap::new().with("out", secret("put")))),
        seed: Some(Arc::from([1, 2, 255])),
    };
    let going = ResourcePlan {
        steps: vec![StepOp::Delete],
        ..ResourcePlan::default()
    };
    Plan {
        resources: BTreeMap::from([(urn("a"), changed), (urn("gone"), going)]),
    }
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let plan = full_plan();
    let codec = CountingCodec::default();
    let text = plan.encrypt(&codec).unwrap().file(&head());
    for hidden in ["added", "put"] {
        assert!(!text.contains(&format!("\\\"{hidden}\\\"")), "{text}");
    }
    assert_eq!(codec.encrypted.get(), 3);
    let file = PlanFile::parse(text.as_bytes()).unwrap();
    assert_eq!(file.decrypt(&codec).unwrap(), plan);
}

/// Plan files are shared with other programs: names, order and omissions matter.
#[test]
fn the_file_has_the_known_form() {
    let text = full_plan().file_with_secrets_exposed(&head());
    let expected = r#"{
    "manifest": {
        "time": "1970-01-01T00:00:00Z",
        "magic": "MAGIC",
        "version": "v1.0.0"
    },
    "config": {
        "proj:region": "x"
    },
    "resourcePlans": {
        "urn:pulumi:dev::proj::test:index:Thing::a": {
            "goal": {
                "type": "test:index:Thing",
                "name": "a",
                "custom": true,
                "inputDiff": {
                    "adds": {
                        "new": {
                            "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                            "plaintext": "\"added\""
                        },
                        "open": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
                    },
                    "deletes": [
                        "gone"
                    ],
                    "updates": {
                        "size": 2
                    }
                },
                "outputDiff": {
                    "updates": {
                        "out": {
                            "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                            "plaintext": "\"put\""
                        }
                    }
                },
                "parent": "urn:pulumi:dev::proj::test:index:Thing::parent",
                "protect": true,
                "dependencies": [
                    "urn:pulumi:dev::proj::test:index:Thing::b"
                ],
                "provider": "urn:pulumi:dev::proj::pulumi:providers:test::default::04da6b54-80e4-46f7-96ec-b56ff0331ba9",
                "propertyDependencies": {
                    "new": [
                        "urn:pulumi:dev::proj::test:index:Thing::b"
                    ],
                    "size": []
                },
                "deleteBeforeReplace": false,
                "ignoreChanges": [
                    "x[0]"
                ],
                "additionalSecretOutputs": [
                    "password"
                ],
                "structuredAliases": [
                    {
                        "URN": "urn:pulumi:dev::proj::test:index:Thing::former",
                        "Name": "",
                        "Type": "",
                        "Project": "",
                        "Stack": "",
                        "Parent": "",
                        "NoParent": false
                    },
                    {
                        "URN": "",
                        "Name": "other",
                        "Type": "",
                        "Project": "",
                        "Stack": "",
                        "Parent": "",
                        "NoParent": true
                    }
                ],
                "id": "id-1",
                "customTimeouts": {
                    "create": 60
                }
            },
            "steps": [
                "create-replacement",
                "replace"
            ],
            "state": {
                "out": {
                    "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
                    "plaintext": "\"put\""
                }
            },
            "seed": "AQL/"
        },
        "urn:pulumi:dev::proj::test:index:Thing::gone": {
            "steps": [
                "delete"
            ],
            "state": null
        }
    }
}
"#;
    let magic = plumb_state::magic_of("v1.0.0");
    assert_eq!(text, expected.replace("MAGIC", &magic));
    let file = PlanFile::parse(text.as_bytes()).unwrap();
    assert_eq!(file.decrypt(&NoCodec).unwrap(), full_plan());
}

#[test]
fn an_empty_plan_needs_no_secrets_manager() {
    let head = PlanHead {
        config: None,
        ..head()
    };
    let text = Plan::default().encrypt(&NoCodec).unwrap().file(&head);
    let members: Vec<String> = json(&text).as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["manifest"]);
    let file = PlanFile::parse(text.as_bytes()).unwrap();
    assert_eq!(file.decrypt(&NoCodec).unwrap(), Plan::default());
}

/// Older programs write aliases as URNs, and other programs may add members.
#[test]
fn what_others_write_is_read() {
    let text = r#"{
        "manifest": {}, "novelty": 1,
        "resourcePlans": {"urn:pulumi:dev::proj::test:index:Thing::a": {
            "goal": {
                "type": "test:index:Thing", "name": "a", "custom": true, "inputDiff": {}, "outputDiff": {},
                "protect": false, "propertyDependencies": {"x": null},
                "aliases": ["urn:pulumi:dev::proj::test:index:Thing::former"],
                "customTimeouts": {}, "novelty": {}
            },
            "steps": null, "state": {}
        }}
    }"#;
    let plan = PlanFile::parse(text.as_bytes()).unwrap();
    let plan = plan.decrypt(&NoCodec).unwrap();
    let read = &plan.resources[&urn("a")];
    let expected = GoalPlan {
        property_dependencies: plumb_resource::PropertyDependencies::from([(
            "x".into(),
            [].into(),
        )]),
        aliases: [Alias::Urn(urn("former"))].into(),
        ..bare_goal()
    };
    assert_eq!(read.goal.as_ref(), Some(&expected));
    assert_eq!((&read.steps, &read.seed), (&Vec::new(), &None));
}

#[test]
fn what_is_not_a_plan_is_refused() {
    let resource = |member: &str| {
        format!(
            r#"{{"resourcePlans": {{"urn:pulumi:dev::proj::test:index:Thing::a": {{{member}}}}}}}"#
        )
    };
    let parse = |text: &str| PlanFile::parse(text.as_bytes()).unwrap_err();
    assert!(matches!(parse("[]"), PlanError::Json(_)));
    assert!(matches!(
        parse(r#"{"resourcePlans": {"x": {}}}"#),
        PlanError::Urn(_)
    ));
    assert!(matches!(
        parse(&resource(r#""steps": ["sidestep"]"#)),
        PlanError::Step { step, .. } if step == "sidestep"
    ));
    assert!(matches!(
        parse(&resource(r#""seed": "?""#)),
        PlanError::Seed { .. }
    ));
    assert!(matches!(
        parse(&resource(r#""goal": {"provider": "p"}"#)),
        PlanError::Provider { .. }
    ));
}

#[test]
fn a_locked_secrets_manager_keeps_the_plan_closed() {
    let sealed = full_plan().encrypt(&CountingCodec::default()).unwrap();
    let file = PlanFile::parse(sealed.file(&head()).as_bytes()).unwrap();
    assert!(matches!(
        file.decrypt(&NoCodec),
        Err(SecretsError::Codec(_))
    ));
}
