//! Answers of providers, as changes of the state (`engine.md` 5, `protocol.md` 3).

use std::sync::Arc;

use ecow::{EcoString, EcoVec};
use plumb_resource::provider::{ProviderError, ProviderReply, ReadResponse, ResourceStatus};
use plumb_resource::{ResourceId, ResourceState};

use crate::deployment::Deployment;
use crate::step::{FailureImpact, ReadPrior, StepFailure};
use crate::steps::compare;

/// Result of a finished step.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The state; none when the resource is gone, or when nothing was done.
    pub(crate) state: Option<Arc<ResourceState>>,
    pub(crate) failure: Option<StepFailure>,
}

impl Applied {
    pub(crate) fn done(state: impl Into<Arc<ResourceState>>) -> Self {
        Applied {
            state: Some(state.into()),
            failure: None,
        }
    }

    pub(crate) fn gone() -> Self {
        Applied {
            state: None,
            failure: None,
        }
    }

    pub(crate) fn failed(message: impl Into<String>, status: FailureImpact) -> Self {
        Applied {
            state: None,
            failure: Some(StepFailure {
                message: message.into(),
                status,
            }),
        }
    }

    /// The resource is there, but not as it should be.
    fn partial(state: ResourceState) -> Self {
        let failure = partial_failure(&state.init_errors);
        Applied {
            state: Some(Arc::new(state)),
            failure: Some(failure),
        }
    }

    pub(crate) fn from_error(error: &ProviderError) -> Self {
        let status = match error.status {
            ResourceStatus::Unchanged => FailureImpact::None,
            ResourceStatus::Unknown => FailureImpact::Unknown,
            ResourceStatus::Partial(_) => FailureImpact::Partial,
        };
        Applied::failed(error.message.as_str(), status)
    }

    /// An answer of another kind than the call: a fault of the shell.
    pub(crate) fn mismatched(call: &str, status: FailureImpact) -> Self {
        Applied::failed(
            format!("the provider answered something else than {call}"),
            status,
        )
    }
}

impl Deployment {
    pub(crate) fn created(
        &self,
        wanted: &ResourceState,
        result: Result<ProviderReply, ProviderError>,
    ) -> Applied {
        let stamped = ResourceState {
            created: Some(self.now),
            modified: Some(self.now),
            ..wanted.clone()
        };
        match result {
            Ok(ProviderReply::Created(response)) => {
                let id = match response.id {
                    ResourceId::None if self.ctx.options.is_preview() => ResourceId::Unknown,
                    ResourceId::None => {
                        let message = "provider did not return an ID from Create";
                        return Applied::failed(message, FailureImpact::Unknown);
                    }
                    id => id,
                };
                Applied::done(ResourceState {
                    id,
                    outputs: response.outputs,
                    refresh_before_update: response.refresh_before_update,
                    ..stamped
                })
            }
            Ok(_) => Applied::mismatched("Create", FailureImpact::Unknown),
            Err(error) => match &error.status {
                ResourceStatus::Partial(partial) => Applied::partial(ResourceState {
                    id: partial.id.clone(),
                    outputs: partial.outputs.clone().unwrap_or_default(),
                    init_errors: partial.reasons.clone(),
                    refresh_before_update: partial.refresh_before_update,
                    ..stamped
                }),
                _ => Applied::from_error(&error),
            },
        }
    }

    pub(crate) fn updated(
        &self,
        old: &ResourceState,
        wanted: &ResourceState,
        result: Result<ProviderReply, ProviderError>,
    ) -> Applied {
        let stamped = ResourceState {
            id: old.id.clone(),
            created: old.created,
            modified: Some(self.now),
            ..wanted.clone()
        };
        match result {
            Ok(ProviderReply::Updated(response)) => Applied::done(ResourceState {
                outputs: response.outputs,
                refresh_before_update: response.refresh_before_update,
                ..stamped
            }),
            Ok(_) => Applied::mismatched("Update", FailureImpact::Unknown),
            Err(error) => match &error.status {
                // What was asked for is not reached: the next run must see the difference again (PULUMI-15).
                ResourceStatus::Partial(partial) => Applied::partial(ResourceState {
                    inputs: old.inputs.clone(),
                    outputs: partial
                        .outputs
                        .clone()
                        .unwrap_or_else(|| old.outputs.clone()),
                    init_errors: partial.reasons.clone(),
                    refresh_before_update: partial.refresh_before_update,
                    ..stamped
                }),
                _ => Applied::from_error(&error),
            },
        }
    }

    pub(crate) fn read_answered(
        &self,
        former: ReadPrior,
        wanted: &ResourceState,
        result: Result<ProviderReply, ProviderError>,
    ) -> Applied {
        let Reading { response, reasons } = match Reading::of(result) {
            Ok(reading) => reading,
            Err(failed) => return failed,
        };
        let outputs = response
            .outputs
            .or(reasons.as_ref().map(|_| Arc::default()));
        let Some(outputs) = outputs.filter(|_| response.id != ResourceId::None) else {
            let message = format!("resource '{}' does not exist", wanted.id.as_str());
            return Applied::failed(message, FailureImpact::None);
        };
        let new = ResourceState {
            id: response.id,
            outputs,
            refresh_before_update: response.refresh_before_update,
            ..wanted.clone()
        };
        let new = self.dated(former, new);
        match reasons {
            Some(init_errors) => Applied::partial(ResourceState { init_errors, ..new }),
            None => Applied::done(new),
        }
    }

    /// `new` with the times of what was there; modified now if it differs.
    fn dated(&self, former: ReadPrior, new: ResourceState) -> ResourceState {
        let (ReadPrior::Same(old) | ReadPrior::Replaced(old)) = former else {
            return ResourceState {
                created: None,
                modified: None,
                ..new
            };
        };
        let old = self.arena.state(old);
        let is_changed = !compare::are_equal(&old.inputs, &new.inputs)
            || !compare::are_equal(&old.outputs, &new.outputs);
        ResourceState {
            created: old.created,
            modified: if is_changed {
                Some(self.now)
            } else {
                old.modified
            },
            ..new
        }
    }
}

/// An object as a provider read it, whether or not it is ready.
pub(crate) struct Reading {
    pub(crate) response: ReadResponse,
    /// Why it is not ready.
    pub(crate) reasons: Option<EcoVec<EcoString>>,
}

impl Reading {
    /// Takes the answer to Read apart; an object that is not ready was read all the same.
    pub(crate) fn of(result: Result<ProviderReply, ProviderError>) -> Result<Self, Applied> {
        match result {
            Ok(ProviderReply::Read(response)) => Ok(Reading {
                response,
                reasons: None,
            }),
            Ok(_) => Err(Applied::mismatched("Read", FailureImpact::None)),
            Err(error) => match &error.status {
                ResourceStatus::Partial(partial) => Ok(Reading {
                    response: ReadResponse {
                        id: partial.id.clone(),
                        inputs: partial.inputs.clone(),
                        outputs: partial.outputs.clone(),
                        refresh_before_update: partial.refresh_before_update,
                    },
                    reasons: Some(partial.reasons.clone()),
                }),
                _ => Err(Applied::from_error(&error)),
            },
        }
    }
}

/// The failure of a resource that exists but is not ready.
fn partial_failure(reasons: &[EcoString]) -> StepFailure {
    let noun = if reasons.len() == 1 {
        "error"
    } else {
        "errors"
    };
    let mut message = format!("{} {noun} occurred:", reasons.len());
    for reason in reasons {
        message.push_str("\n\t* ");
        message.push_str(reason);
    }
    StepFailure {
        message,
        status: FailureImpact::Partial,
    }
}
