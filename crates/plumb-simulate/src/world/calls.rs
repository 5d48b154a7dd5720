//! Provider calls of the core, answered by the simulated provider.

use std::sync::Arc;

use plumb_resource::provider::{
    Autonaming, CheckFailure, CheckRequest, CheckResponse, CreateResponse, InvokeResponse,
    PartialFailure, ProviderCall, ProviderError, ProviderReply, ReadResponse, ResourceStatus,
    UpdateResponse,
};
use plumb_resource::{ResourceId, Urn};
use plumb_value::PropertyMap;

use super::{Mutation, Violation};
use crate::cloud::{Cloud, Faults, NOT_READY, Object, Trouble, checkable};
use crate::story::CallKind;

/// Kind of a call, and its resource.
pub(super) fn subject(call: &ProviderCall) -> Option<(CallKind, &Urn)> {
    Some(match call {
        ProviderCall::CheckConfig(it) => (CallKind::Check, &it.urn),
        ProviderCall::Check(it) => (CallKind::Check, &it.urn),
        ProviderCall::DiffConfig(it) | ProviderCall::Diff(it) => (CallKind::Diff, &it.urn),
        ProviderCall::Create(it) => (CallKind::Create, &it.urn),
        ProviderCall::Read(it) => (CallKind::Read, &it.urn),
        ProviderCall::Update(it) => (CallKind::Update, &it.urn),
        ProviderCall::Delete(it) => (CallKind::Delete, &it.urn),
        _ => return None,
    })
}

/// Change made by a call, if there is one.
pub(super) fn mutation(call: &ProviderCall) -> Option<Mutation> {
    Some(match call {
        ProviderCall::Create(it) if !it.preview => Mutation {
            call: "create",
            urn: it.urn.clone(),
            id: ecow::EcoString::new(),
            inputs: it.inputs.as_ref().clone(),
        },
        ProviderCall::Update(it) if !it.preview => Mutation {
            call: "update",
            urn: it.urn.clone(),
            id: it.id.as_str().into(),
            inputs: it.new_inputs.as_ref().clone(),
        },
        ProviderCall::Delete(it) => Mutation {
            call: "delete",
            urn: it.urn.clone(),
            id: it.id.as_str().into(),
            inputs: PropertyMap::new(),
        },
        _ => return None,
    })
}

/// Answers a call.
pub(super) fn answer(
    cloud: &mut Cloud,
    faults: Faults<'_>,
    call: &ProviderCall,
) -> Result<Result<ProviderReply, ProviderError>, Violation> {
    if let ProviderCall::Invoke(it) = call {
        return Ok(Ok(ProviderReply::Invoked(InvokeResponse {
            result: it.args.clone(),
            failures: Vec::new(),
            dependencies: plumb_resource::PropertyDependencies::new(),
        })));
    }
    let Some((_, urn)) = subject(call) else {
        let what = format!("nobody asked for {call:?}");
        return Err(Violation::new("calls", what));
    };
    let name = urn.name();
    Ok(match call {
        ProviderCall::CheckConfig(it) => {
            let olds = it.old_inputs.as_deref();
            let news = checkable(&it.new_inputs, it.allow_unknowns);
            let inputs = Cloud::check(faults, name, None, olds, &news);
            Ok(ProviderReply::Checked(checked(inputs)))
        }
        ProviderCall::Check(it) => Ok(check(faults, name, it)),
        ProviderCall::DiffConfig(it) | ProviderCall::Diff(it) => {
            Cloud::diff(faults, name, &it.old_inputs, &it.new_inputs)
                .map(ProviderReply::Diffed)
                .map_err(ProviderError::clean)
        }
        ProviderCall::Create(it) => cloud
            .create(faults, urn, &it.inputs, it.preview)
            .map(created)
            .map_err(failed),
        ProviderCall::Update(it) => cloud
            .update(faults, urn, it.id.as_str(), &it.new_inputs, it.preview)
            .map(updated)
            .map_err(failed),
        ProviderCall::Delete(it) => match cloud.delete(faults, urn, it.id.as_str()) {
            Ok(true) => {
                let what = format!("{name}: object {} is deleted twice", it.id.as_str());
                return Err(Violation::new("calls", what));
            }
            Ok(false) => Ok(ProviderReply::Deleted),
            Err(trouble) => Err(failed(trouble)),
        },
        ProviderCall::Read(it) => cloud
            .read(faults, name, it.id.as_str())
            .map(|object| ProviderReply::Read(found(object)))
            .map_err(failed),
        _ => return Err(Violation::new("calls", "a call without a subject")),
    })
}

fn check(faults: Faults<'_>, name: &str, request: &CheckRequest) -> ProviderReply {
    let naming = request.autonaming.as_ref();
    let olds = request.old_inputs.as_deref();
    let news = checkable(&request.new_inputs, request.allow_unknowns);
    let inputs = Cloud::check(faults, name, naming, olds, &news);
    ProviderReply::Checked(CheckResponse {
        ignored_autonaming: matches!(naming, Some(Autonaming::Propose(_))),
        ..checked(inputs)
    })
}

fn created(object: Object) -> ProviderReply {
    ProviderReply::Created(CreateResponse {
        id: id_of(&object),
        outputs: object.outputs,
        refresh_before_update: object.refresh_before_update,
    })
}

fn updated(object: Object) -> ProviderReply {
    ProviderReply::Updated(UpdateResponse {
        outputs: object.outputs,
        refresh_before_update: object.refresh_before_update,
    })
}

fn id_of(object: &Object) -> ResourceId {
    object
        .id
        .as_ref()
        .map_or(ResourceId::Unknown, |id| ResourceId::Known(id.clone()))
}

fn checked(result: Result<Arc<PropertyMap>, ecow::EcoString>) -> CheckResponse {
    match result {
        Ok(inputs) => CheckResponse {
            inputs: Some(inputs),
            ..CheckResponse::default()
        },
        Err(reason) => CheckResponse {
            inputs: None,
            failures: vec![CheckFailure {
                property: "v".into(),
                reason,
            }],
            ..CheckResponse::default()
        },
    }
}

fn found(object: Option<Object>) -> ReadResponse {
    match object {
        None => ReadResponse {
            id: ResourceId::None,
            inputs: None,
            outputs: None,
            refresh_before_update: false,
        },
        Some(object) => ReadResponse {
            id: id_of(&object),
            inputs: (!object.is_blind()).then_some(object.inputs),
            outputs: Some(object.outputs),
            refresh_before_update: object.refresh_before_update,
        },
    }
}

fn failed(trouble: Trouble) -> ProviderError {
    match trouble {
        Trouble::Clean(message) => ProviderError::clean(message),
        Trouble::Unknown(message) => ProviderError::unknown(message),
        Trouble::Partial(object) => ProviderError {
            status: ResourceStatus::Partial(Box::new(PartialFailure {
                id: id_of(&object),
                refresh_before_update: object.refresh_before_update,
                inputs: Some(object.inputs),
                outputs: Some(object.outputs),
                reasons: [NOT_READY.into()].into(),
            })),
            ..ProviderError::clean(NOT_READY)
        },
    }
}
