//! The resource status service: providers publish views of the resource that they work on (`protocol.md` 9.3).
//!
//! Each call about a resource has its own token, which cannot be guessed and is invalid once the provider has answered.
//! Published views are passed to the deployment with the number of the call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use plumb_deploy::CallId;
use plumb_deploy::request::Request as MonitorRequest;
use plumb_proto::pulumirpc::resource_status_server::ResourceStatus;
use plumb_proto::pulumirpc::{PublishViewStepsRequest, PublishViewStepsResponse};
use plumb_resource::StatusTarget;
use plumb_wire::provider::view_steps;
use tonic::{Request, Response, Status};

use super::monitor::ask;
use crate::monitor::MonitorHandle;

/// Tokens of the calls in flight; clones share them.
#[derive(Clone, Default)]
pub(crate) struct StatusTokens(Arc<Mutex<HashMap<String, CallId>>>);

impl StatusTokens {
    /// Creates the token of a call, valid until the returned value is dropped.
    pub(crate) fn reserve(&self, call: CallId) -> StatusToken {
        let token = uuid::Uuid::new_v4().to_string();
        self.lock().insert(token.clone(), call);
        StatusToken {
            token,
            tokens: self.clone(),
        }
    }

    fn find(&self, token: &str) -> Option<CallId> {
        self.lock().get(token).copied()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, CallId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The token of a call in flight.
pub(crate) struct StatusToken {
    token: String,
    tokens: StatusTokens,
}

impl StatusToken {
    /// The target for publishing views; `address` is that of the service.
    pub(crate) fn target(&self, address: &str) -> StatusTarget {
        StatusTarget {
            address: address.into(),
            token: self.token.as_str().into(),
        }
    }
}

impl Drop for StatusToken {
    fn drop(&mut self) {
        self.tokens.lock().remove(&self.token);
    }
}

/// The resource status service of one deployment.
pub(crate) struct StatusService {
    handle: MonitorHandle,
    tokens: StatusTokens,
    preview: bool,
}

impl StatusService {
    pub(crate) fn new(handle: MonitorHandle, tokens: StatusTokens, preview: bool) -> Self {
        StatusService {
            handle,
            tokens,
            preview,
        }
    }
}

#[tonic::async_trait]
impl ResourceStatus for StatusService {
    async fn publish_view_steps(
        &self,
        request: Request<PublishViewStepsRequest>,
    ) -> Result<Response<PublishViewStepsResponse>, Status> {
        let request = request.into_inner();
        let call = self
            .tokens
            .find(&request.token)
            .ok_or_else(|| Status::not_found(format!("token {} not found", request.token)))?;
        let steps = view_steps(&request.steps, self.preview)
            .map_err(|error| Status::invalid_argument(format!("unmarshaling steps: {error}")))?;
        if !steps.is_empty() {
            ask(
                &self.handle,
                MonitorRequest::PublishViewSteps { call, steps },
            )
            .await?;
        }
        Ok(Response::new(PublishViewStepsResponse {}))
    }
}
