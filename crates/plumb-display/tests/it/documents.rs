//! Documents for programs.

use plumb_display::{PreviewDigest, ResultSummary, StateToJson};
use plumb_events::json::to_json_line;
use plumb_events::{Diagnostic, Event, OperationResult, Severity};
use plumb_resource::{DiffKind, PropertyDiff, ResourceState, StepOp};
use plumb_value::{PropertyMap, Value};
use serde_json::json;
use serde_json::value::RawValue;

use crate::support::{done, error, metadata, pre, pre_of, stack, summary, thing};

fn state_to_json() -> StateToJson {
    Box::new(|state: &ResourceState| {
        let inputs: Vec<String> = state
            .inputs
            .iter()
            .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("?")))
            .collect();
        RawValue::from_string(to_json_line(&json!({ "inputs": inputs }))).unwrap()
    })
}

fn digest_of(events: &[Event]) -> String {
    let mut digest = PreviewDigest::new(state_to_json(), false);
    for event in events {
        digest.handle(event);
    }
    digest.to_json()
}

#[test]
fn a_preview_document_has_steps_without_secrets() {
    let stack = stack();
    let inputs = |value: &str| {
        PropertyMap::new()
            .with("p", Value::secret(value.into()))
            .with("v", value)
    };
    let (old, new) = (
        thing("a:b:C", "x").inputs(inputs("one")),
        thing("a:b:C", "x").inputs(inputs("two")),
    );
    let mut step = metadata(StepOp::Update, Some(&old), Some(&new));
    step.diffs = vec!["v".into()];
    step.detailed_diff = Some(
        [(
            "v".into(),
            PropertyDiff {
                kind: DiffKind::Update,
                input_diff: true,
            },
        )]
        .into(),
    );
    let ephemeral = Diagnostic {
        ephemeral: true,
        ..Diagnostic::new(Severity::Info, None, "gone\n")
    };
    let events = [
        Event::Prelude {
            config: [("shop:size".into(), "3".into())].into(),
        },
        pre(StepOp::Same, Some(&stack), Some(&stack)),
        pre(StepOp::CreateReplacement, Some(&old), Some(&new)),
        pre_of(step),
        Event::Diagnostic(ephemeral),
        error(Some(&new), "say it <now>\n"),
        summary(
            &[(StepOp::Update, 1), (StepOp::Same, 1)],
            OperationResult::Succeeded,
        ),
    ];
    insta::assert_snapshot!(digest_of(&events), @r#"
    {
        "config": {
            "shop:size": "3"
        },
        "steps": [
            {
                "op": "same",
                "urn": "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
                "oldState": {
                    "inputs": []
                },
                "newState": {
                    "inputs": []
                },
                "detailedDiff": null
            },
            {
                "op": "update",
                "urn": "urn:pulumi:dev::shop::a:b:C::x",
                "oldState": {
                    "inputs": [
                        "p=[secret]",
                        "v=one"
                    ]
                },
                "newState": {
                    "inputs": [
                        "p=[secret]",
                        "v=two"
                    ]
                },
                "diffReasons": [
                    "v"
                ],
                "detailedDiff": {
                    "v": {
                        "kind": "update",
                        "inputDiff": true
                    }
                }
            }
        ],
        "diagnostics": [
            {
                "urn": "urn:pulumi:dev::shop::a:b:C::x",
                "message": "error: say it \u003cnow\u003e\n",
                "severity": "error"
            }
        ],
        "duration": 64100000000,
        "changeSummary": {
            "same": 1,
            "update": 1
        }
    }
    "#);
}

#[test]
fn a_refresh_becomes_what_it_found() {
    let x = thing("a:b:C", "x");
    let text = digest_of(&[
        pre(StepOp::Refresh, Some(&x), Some(&x)),
        done(StepOp::Delete, Some(&x), None),
    ]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["steps"][0]["op"], "delete");
    let text = digest_of(&[
        pre(StepOp::Refresh, Some(&x), Some(&x)),
        done(StepOp::Update, Some(&x), Some(&x)),
    ]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        document["steps"][0]["op"], "refresh",
        "an update without detailed differences does not count"
    );
}

#[test]
fn the_summary_line_lists_what_changed() {
    let (stack, x) = (stack(), thing("a:b:C", "x"));
    let events = [
        pre(StepOp::Same, Some(&stack), Some(&stack)),
        pre(StepOp::CreateReplacement, Some(&x), Some(&x)),
        pre(StepOp::Replace, Some(&x), Some(&x)),
        pre(StepOp::DeleteReplaced, Some(&x), None),
        summary(
            &[(StepOp::Replace, 1), (StepOp::Same, 1)],
            OperationResult::Succeeded,
        ),
    ];
    let line = |show_sames| {
        let mut summary = ResultSummary::new(show_sames);
        for event in &events {
            summary.handle(event);
        }
        summary.to_line()
    };
    insta::assert_snapshot!(line(false).trim_end(), @r#"{"result":"succeeded","duration":64100000000,"summary":{"replace":1,"same":1},"resources":[{"urn":"urn:pulumi:dev::shop::a:b:C::x","type":"a:b:C","name":"x","op":"create-replacement","parent":"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"},{"urn":"urn:pulumi:dev::shop::a:b:C::x","type":"a:b:C","name":"x","op":"replace","parent":"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"},{"urn":"urn:pulumi:dev::shop::a:b:C::x","type":"a:b:C","name":"x","op":"delete-replaced","parent":"urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"}]}"#);
    assert!(line(true).contains(r#""op":"same""#));
}
