//! Messages of views: calls carry the views in state, and providers publish steps of views during a call (`protocol.md`
//! 9.3).

use std::sync::Arc;

use plumb_proto::pulumirpc::{self, view_step};
use plumb_resource::{StatusTarget, StepOp, TypeToken, View, ViewStatus, ViewStep};
use prost_types::Struct;

use super::response::{ANSWER, detailed_diff};
use crate::property::{decode_map, encode_map};
use crate::{Error, MarshalOptions};

/// Errors of decoding a view step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewStepError {
    /// A value is malformed.
    #[error(transparent)]
    Value(#[from] Error),
    /// The kind of step is unknown.
    #[error("unknown step op {0}")]
    Op(i32),
    /// The status is unknown.
    #[error("unknown step status {0}")]
    Status(i32),
    /// The type or the name of the view is missing.
    #[error("a view step has no type or no name")]
    Nameless,
}

/// Decodes the steps that a provider publishes. Unknowns are allowed in previews only.
pub fn view_steps(
    steps: &[pulumirpc::ViewStep],
    preview: bool,
) -> Result<Vec<ViewStep>, ViewStepError> {
    steps.iter().map(|step| view_step(step, preview)).collect()
}

fn view_step(step: &pulumirpc::ViewStep, preview: bool) -> Result<ViewStep, ViewStepError> {
    let options = ANSWER.nil(false).unknowns_or_reject(preview);
    let state = |state: &Option<pulumirpc::ViewStepState>| {
        let read = |it: &pulumirpc::ViewStepState| {
            let maps = (it.inputs.as_ref(), it.outputs.as_ref());
            read_view(&it.r#type, &it.name, maps, options)
        };
        state.as_ref().map(read).transpose()
    };
    let (old, new) = (state(&step.old)?, state(&step.new)?);
    let named = (!step.r#type.is_empty() && !step.name.is_empty()).then(|| {
        let name = step.name.as_str().into();
        (TypeToken::new(step.r#type.as_str()), name)
    });
    let known = new.as_ref().or(old.as_ref());
    let identity = known.map(|view| (view.type_token.clone(), view.name.clone()));
    let (type_token, name) = identity.or(named).ok_or(ViewStepError::Nameless)?;
    if type_token.as_str().is_empty() || name.is_empty() {
        return Err(ViewStepError::Nameless);
    }
    Ok(ViewStep {
        type_token,
        name,
        op: op(step.op)?,
        status: status(step.status)?,
        error: (!step.error.is_empty()).then(|| step.error.as_str().into()),
        old,
        new,
        keys: step.keys.iter().map(Into::into).collect(),
        diffs: step.diffs.iter().map(Into::into).collect(),
        detailed_diff: step
            .has_detailed_diff
            .then(|| detailed_diff(&step.detailed_diff)),
    })
}

fn op(op: i32) -> Result<StepOp, ViewStepError> {
    use view_step::Op;
    Ok(match Op::try_from(op) {
        Ok(Op::Same) => StepOp::Same,
        Ok(Op::Create) => StepOp::Create,
        Ok(Op::Update) => StepOp::Update,
        Ok(Op::Delete) => StepOp::Delete,
        Ok(Op::Replace) => StepOp::Replace,
        Ok(Op::CreateReplacement) => StepOp::CreateReplacement,
        Ok(Op::DeleteReplaced) => StepOp::DeleteReplaced,
        Ok(Op::Read) => StepOp::Read,
        Ok(Op::ReadReplacement) => StepOp::ReadReplacement,
        Ok(Op::Refresh) => StepOp::Refresh,
        Ok(Op::ReadDiscard) => StepOp::Discard,
        Ok(Op::DiscardReplaced) => StepOp::DiscardReplaced,
        Ok(Op::RemovePendingReplace) => StepOp::RemovePendingReplace,
        Ok(Op::Import) => StepOp::Import,
        Ok(Op::ImportReplacement) => StepOp::ImportReplacement,
        Ok(Op::Unspecified) | Err(_) => return Err(ViewStepError::Op(op)),
    })
}

fn status(status: i32) -> Result<ViewStatus, ViewStepError> {
    use view_step::Status;
    match Status::try_from(status) {
        Ok(Status::Ok) => Ok(ViewStatus::Known),
        Ok(Status::PartialFailure) => Ok(ViewStatus::Partial),
        Ok(Status::Unknown) => Ok(ViewStatus::Unknown),
        Err(_) => Err(ViewStepError::Status(status)),
    }
}

/// Encodes the views of a resource in state.
pub(super) fn old_views(
    views: &[View],
    options: MarshalOptions,
) -> Result<Vec<pulumirpc::View>, Error> {
    let write = |view: &View| {
        Ok(pulumirpc::View {
            r#type: view.type_token.as_str().to_owned(),
            name: view.name.to_string(),
            inputs: Some(encode_map(&view.inputs, options)?),
            outputs: Some(encode_map(&view.outputs, options)?),
            ..Default::default()
        })
    };
    views.iter().map(write).collect()
}

/// Decodes the views of a resource from the engine's request.
pub(super) fn read_old_views(
    views: &[pulumirpc::View],
    options: MarshalOptions,
) -> Result<Vec<View>, Error> {
    let read = |it: &pulumirpc::View| {
        let maps = (it.inputs.as_ref(), it.outputs.as_ref());
        read_view(&it.r#type, &it.name, maps, options)
    };
    views.iter().map(read).collect()
}

fn read_view(
    type_token: &str,
    name: &str,
    (inputs, outputs): (Option<&Struct>, Option<&Struct>),
    options: MarshalOptions,
) -> Result<View, Error> {
    Ok(View {
        type_token: TypeToken::new(type_token),
        name: name.into(),
        inputs: Arc::new(decode_map(inputs, options)?),
        outputs: Arc::new(decode_map(outputs, options)?),
    })
}

/// Address and token of a call; empty if there are none.
pub(super) fn status_fields(target: Option<&StatusTarget>) -> (String, String) {
    target.map_or_else(Default::default, |target| {
        (target.address.to_string(), target.token.to_string())
    })
}

/// The target for publishing views; `None` without an address.
pub(super) fn read_status(address: &str, token: &str) -> Option<StatusTarget> {
    (!address.is_empty()).then(|| StatusTarget {
        address: address.into(),
        token: token.into(),
    })
}
