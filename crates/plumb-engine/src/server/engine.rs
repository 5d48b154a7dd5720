//! The engine service: log messages, and the root resource for SDKs without state of their own (`protocol.md` 9.1).

use std::sync::{Mutex, PoisonError};

use plumb_events::Severity;
use plumb_proto::pulumirpc::engine_server::Engine;
use plumb_proto::pulumirpc::{
    GetRootResourceRequest, GetRootResourceResponse, LogRequest, LogSeverity,
    RequirePulumiVersionRequest, RequirePulumiVersionResponse, SetRootResourceRequest,
    SetRootResourceResponse, StartDebuggingRequest,
};
use plumb_resource::Urn;
use plumb_wire::{MarshalOptions, property};
use tonic::{Request, Response, Status};

use crate::monitor::{LogMessage, MonitorHandle};

/// The engine service of one deployment.
pub(crate) struct EngineService {
    handle: MonitorHandle,
    root: Mutex<String>,
    version: semver::Version,
}

impl EngineService {
    pub(crate) fn new(handle: MonitorHandle, version: semver::Version) -> Self {
        EngineService {
            handle,
            root: Mutex::default(),
            version,
        }
    }
}

#[tonic::async_trait]
impl Engine for EngineService {
    async fn log(&self, request: Request<LogRequest>) -> Result<Response<()>, Status> {
        let request = request.into_inner();
        let severity = match LogSeverity::try_from(request.severity) {
            Ok(LogSeverity::Debug) => Severity::Debug,
            Ok(LogSeverity::Warning) => Severity::Warning,
            Ok(LogSeverity::Error) => Severity::Error,
            Ok(LogSeverity::Info) | Err(_) => Severity::Info,
        };
        self.handle.say(LogMessage {
            severity,
            urn: Urn::parse(&request.urn).ok(),
            message: request.message,
            stream_id: request.stream_id,
            ephemeral: request.ephemeral,
        });
        Ok(Response::new(()))
    }

    async fn get_root_resource(
        &self,
        _: Request<GetRootResourceRequest>,
    ) -> Result<Response<GetRootResourceResponse>, Status> {
        let urn = self
            .root
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        Ok(Response::new(GetRootResourceResponse { urn }))
    }

    async fn set_root_resource(
        &self,
        request: Request<SetRootResourceRequest>,
    ) -> Result<Response<SetRootResourceResponse>, Status> {
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = request.into_inner().urn;
        Ok(Response::new(SetRootResourceResponse {}))
    }

    async fn start_debugging(
        &self,
        request: Request<StartDebuggingRequest>,
    ) -> Result<Response<()>, Status> {
        let request = request.into_inner();
        let config = property::decode_map(request.config.as_ref(), MarshalOptions::PLAIN)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        self.handle.waits_for_debugger(config);
        let message = format!("Waiting for debugger to attach ({})...", request.message);
        self.handle.say(LogMessage {
            severity: Severity::Info,
            urn: None,
            message,
            stream_id: 0,
            ephemeral: true,
        });
        Ok(Response::new(()))
    }

    async fn require_pulumi_version(
        &self,
        request: Request<RequirePulumiVersionRequest>,
    ) -> Result<Response<RequirePulumiVersionResponse>, Status> {
        let text = request.into_inner().pulumi_version_range;
        let range = plumb_project::VersionRange::parse(&text).map_err(|error| {
            Status::invalid_argument(format!("invalid version range \"{text}\": {error}"))
        })?;
        if !range.contains(&self.version) {
            return Err(Status::failed_precondition(format!(
                "Pulumi CLI version {} does not satisfy the version range \"{text}\"",
                self.version
            )));
        }
        Ok(Response::new(RequirePulumiVersionResponse {}))
    }
}
