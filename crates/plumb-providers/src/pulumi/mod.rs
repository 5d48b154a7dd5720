//! The package `pulumi`: stack references and stashes (`engine.md` 8.6).
//!
//! `pulumi:pulumi:getResource` is implemented by the engine, because only the engine knows the
//! resources of the run.

mod reader;
mod stack_reference;
mod stash;

use std::sync::Arc;

use async_trait::async_trait;
use plumb_plugin::Provider;
use plumb_resource::provider::{
    CheckFailure, CheckRequest, CheckResponse, CreateRequest, CreateResponse, DeleteRequest,
    DiffRequest, DiffResult, InvokeRequest, InvokeResponse, ProviderError, ReadRequest,
    ReadResponse, UpdateRequest, UpdateResponse,
};
use plumb_resource::{ResourceId, Urn};
use plumb_value::PropertyMap;

pub use self::reader::{ResourceOutputs, StackOutputs, StackReadError, StackReader};
use self::stack_reference::StackReferences;
use crate::adapter::{Adapter, Package, invoked};
use crate::{Builtin, BuiltinContext};

struct Pulumi {
    references: StackReferences,
}

pub(crate) fn start(builtin: &Builtin, context: &BuiltinContext) -> Arc<dyn Provider> {
    let references = StackReferences {
        stacks: context.stacks.clone(),
        log: Arc::clone(&context.log),
    };
    Adapter::start(builtin, Pulumi { references })
}

#[derive(Clone, Copy)]
enum Resource {
    StackReference,
    Stash,
}

impl Resource {
    fn of(urn: &Urn) -> Result<Self, ProviderError> {
        match urn.type_text() {
            "pulumi:pulumi:StackReference" => Ok(Resource::StackReference),
            "pulumi:index:Stash" => Ok(Resource::Stash),
            other => Err(ProviderError::clean(format!(
                "unrecognized resource type: {other}"
            ))),
        }
    }
}

#[async_trait]
impl Package for Pulumi {
    async fn check(&self, request: CheckRequest) -> Result<CheckResponse, ProviderError> {
        let failures = match Resource::of(&request.urn)? {
            Resource::StackReference => {
                self.references.warn_deprecated(&request.urn);
                stack_reference::check(&request.new_inputs)
            }
            Resource::Stash => stash::check(&request.new_inputs),
        };
        Ok(CheckResponse {
            inputs: Some(request.new_inputs),
            failures,
            ignored_autonaming: false,
        })
    }

    async fn diff(&self, request: DiffRequest) -> Result<DiffResult, ProviderError> {
        Ok(match Resource::of(&request.urn)? {
            Resource::StackReference => {
                stack_reference::diff(&request.old_inputs, &request.new_inputs)
            }
            Resource::Stash => stash::diff(&request.old_inputs, &request.new_inputs),
        })
    }

    async fn create(&self, request: CreateRequest) -> Result<CreateResponse, ProviderError> {
        let outputs = match Resource::of(&request.urn)? {
            Resource::StackReference => {
                self.references
                    .outputs(Some(&request.urn), &request.inputs)
                    .await?
            }
            Resource::Stash => stash::created(&request.inputs),
        };
        let id = if request.preview {
            ResourceId::Unknown
        } else {
            ResourceId::Known(ecow::eco_format!("{}", uuid::Uuid::new_v4().hyphenated()))
        };
        Ok(CreateResponse {
            id,
            outputs: Arc::new(outputs),
            refresh_before_update: false,
        })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError> {
        match Resource::of(&request.urn)? {
            Resource::StackReference => self.references.read(request).await,
            Resource::Stash => stash::read(request),
        }
    }

    async fn update(&self, request: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        let outputs = match Resource::of(&request.urn)? {
            Resource::StackReference => {
                self.references
                    .outputs(Some(&request.urn), &request.new_inputs)
                    .await?
            }
            Resource::Stash => stash::updated(&request.old_outputs, &request.new_inputs),
        };
        Ok(UpdateResponse {
            outputs: Arc::new(outputs),
            refresh_before_update: false,
        })
    }

    async fn delete(&self, request: DeleteRequest) -> Result<(), ProviderError> {
        Resource::of(&request.urn).map(|_| ())
    }

    async fn invoke(&self, request: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        let result = match request.token.as_str() {
            "pulumi:pulumi:readStackOutputs" => {
                self.references.outputs(None, &request.args).await?
            }
            "pulumi:pulumi:readStackResourceOutputs" => {
                self.references.resource_outputs(&request.args).await?
            }
            other => {
                return Err(ProviderError::clean(format!(
                    "unrecognized function name: {other}"
                )));
            }
        };
        Ok(invoked(result))
    }
}

/// Failures for properties other than `only`, which is required.
fn check_only(inputs: &PropertyMap, only: &str) -> Vec<CheckFailure> {
    let failure = |property: &str, reason: String| CheckFailure {
        property: property.into(),
        reason: reason.into(),
    };
    let unknown = inputs
        .keys()
        .map(plumb_value::PropertyKey::as_str)
        .filter(|key| *key != only)
        .map(|key| failure(key, format!("unknown property \"{key}\"")));
    let missing = (!inputs.contains_key(only))
        .then(|| failure(only, format!("missing required property \"{only}\"")));
    unknown.chain(missing).collect()
}
