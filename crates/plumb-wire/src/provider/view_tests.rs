//! Published steps of views.

use std::collections::BTreeMap;

use plumb_proto::pulumirpc::{self, PropertyDiff, ViewStep, ViewStepState, property_diff};
use plumb_resource::{DiffKind, StepOp, ViewStatus};
use plumb_value::{PropertyMap, Value};

use super::view::{ViewStepError, view_steps};
use crate::MarshalOptions;
use crate::property::encode_map;

fn state(value: Value) -> ViewStepState {
    let map = PropertyMap::new().with("k", value);
    let map = encode_map(&map, MarshalOptions::RICH).unwrap();
    ViewStepState {
        r#type: "a:b:Part".to_owned(),
        name: "part".to_owned(),
        inputs: Some(map.clone()),
        outputs: Some(map),
        ..Default::default()
    }
}

fn step(op: pulumirpc::view_step::Op) -> ViewStep {
    ViewStep {
        op: op.into(),
        old: Some(state("1".into())),
        new: Some(state(Value::secret("2".into()))),
        ..Default::default()
    }
}

#[test]
fn a_step_is_read_with_everything_in_it() {
    let message = ViewStep {
        status: pulumirpc::view_step::Status::PartialFailure.into(),
        error: "not ready".to_owned(),
        keys: vec!["k".to_owned()],
        diffs: vec!["d".to_owned()],
        detailed_diff: BTreeMap::from([(
            "k".to_owned(),
            PropertyDiff {
                kind: property_diff::Kind::UpdateReplace.into(),
                input_diff: true,
            },
        )]),
        has_detailed_diff: true,
        ..step(pulumirpc::view_step::Op::ReadDiscard)
    };
    let steps = view_steps(&[message], false).unwrap();
    let [step] = &steps[..] else {
        panic!("one step: {steps:?}");
    };
    assert_eq!(
        (step.type_token.as_str(), step.name.as_str()),
        ("a:b:Part", "part")
    );
    assert_eq!(step.op, StepOp::Discard);
    assert_eq!(step.status, ViewStatus::Partial);
    assert_eq!(step.error.as_deref(), Some("not ready"));
    assert_eq!(
        step.old.as_ref().unwrap().inputs.get("k"),
        Some(&"1".into())
    );
    let new = step.new.as_ref().unwrap();
    assert_eq!(new.outputs.get("k"), Some(&Value::secret("2".into())));
    assert_eq!((step.keys.len(), step.diffs.len()), (1, 1));
    let differences = step.detailed_diff.as_ref().unwrap();
    assert_eq!(differences["k"].kind, DiffKind::UpdateReplace);
}

#[test]
fn unknowns_are_for_previews() {
    let unknown = ViewStep {
        new: Some(state(Value::UNKNOWN)),
        ..step(pulumirpc::view_step::Op::Create)
    };
    assert!(view_steps(std::slice::from_ref(&unknown), true).is_ok());
    assert!(matches!(
        view_steps(&[unknown], false),
        Err(ViewStepError::Value(_))
    ));
}

#[test]
fn a_step_says_what_it_does_and_to_which_view() {
    assert_eq!(
        view_steps(&[step(pulumirpc::view_step::Op::Unspecified)], false),
        Err(ViewStepError::Op(0))
    );
    let odd = ViewStep {
        status: 7,
        ..step(pulumirpc::view_step::Op::Same)
    };
    assert_eq!(view_steps(&[odd], false), Err(ViewStepError::Status(7)));
    let nameless = ViewStep {
        op: pulumirpc::view_step::Op::Same.into(),
        ..Default::default()
    };
    assert_eq!(view_steps(&[nameless], false), Err(ViewStepError::Nameless));
    let named = ViewStep {
        op: pulumirpc::view_step::Op::Delete.into(),
        r#type: "a:b:Part".to_owned(),
        name: "part".to_owned(),
        ..Default::default()
    };
    assert_eq!(view_steps(&[named], false).unwrap()[0].name, "part");
}
