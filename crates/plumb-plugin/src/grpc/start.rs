//! Starting or attaching to a provider, and the handshake.

use std::path::PathBuf;
use std::sync::{Mutex, RwLock};
use std::time::Duration;

use plumb_proto::pulumirpc as pb;
use plumb_wire::ProviderFeatures;
use tokio::time::{Instant, sleep};
use tonic::{Code, Status};

use super::{Client, GrpcProvider};
use crate::output::OutputSink;
use crate::process::{
    Launch, PluginTimeouts, Process, StartError, StartProblem, connect, start_with_port,
};
use crate::trace_context::Connection;

/// Data for the handshake with every provider.
#[derive(Clone, Debug, Default)]
pub struct HandshakeOptions {
    /// `host:port` of the engine service.
    pub engine_address: String,
    /// `host:port` of the mapper, if there is one.
    pub mapper_target: Option<String>,
    /// `host:port` of the schema loader, if there is one.
    pub loader_target: Option<String>,
    /// `host:port` of the package resolver, if there is one.
    pub resolver_target: Option<String>,
    /// Whether the engine refreshes resources before updates when a provider asks for it.
    pub refresh_before_update: bool,
    /// Whether providers are called in previews at all.
    pub use_preview: bool,
}

impl GrpcProvider {
    /// Starts the plugin of the package `name` and performs the handshake.
    pub async fn start(
        name: &str,
        launch: Launch,
        timeouts: PluginTimeouts,
        options: &HandshakeOptions,
    ) -> Result<Self, StartError> {
        let path = launch.program.clone();
        let output = launch.output.clone();
        let started = start_with_port(&format!("{name} (resource)"), launch, timeouts).await?;
        Self::from_started(name, path, started, output, timeouts, options).await
    }

    /// Performs the handshake with a started plugin.
    pub(crate) async fn from_started(
        name: &str,
        path: PathBuf,
        (process, channel): (Process, Connection),
        output: OutputSink,
        timeouts: PluginTimeouts,
        options: &HandshakeOptions,
    ) -> Result<Self, StartError> {
        let mut client = client(channel);
        let folder = path
            .parent()
            .map(|folder| folder.to_string_lossy().into_owned());
        let mut request = handshake_request(options);
        request.root_directory.clone_from(&folder);
        request.program_directory = folder;
        let answer = tokio::select! {
            answer = handshake(&mut client, request, timeouts.connect) => answer,
            exit = process.wait() => Err(StartProblem::EndedLater(exit)),
        };
        match answer {
            Ok(features) => Ok(GrpcProvider {
                name: name.to_owned(),
                path: Some(path),
                process: Some(process),
                client: Mutex::new(Some(client)),
                features: RwLock::new(features),
                use_preview: options.use_preview,
                grace: timeouts.stop,
                output,
            }),
            Err(problem) => {
                process.kill().await;
                process.wait().await;
                let plugin = format!("{name} (resource)");
                Err(StartError {
                    plugin,
                    path,
                    problem,
                    output: process.last_output(),
                })
            }
        }
    }

    /// Connects to a provider that somebody else runs at `address` (`host:port`), for example under a debugger.
    pub async fn attach(
        name: &str,
        address: &str,
        output: OutputSink,
        timeouts: PluginTimeouts,
        options: &HandshakeOptions,
    ) -> Result<Self, StartError> {
        let failed = |problem| StartError {
            plugin: format!("{name} (resource)"),
            path: address.into(),
            problem,
            output: Vec::new(),
        };
        let channel = connect(address, timeouts.connect).await.map_err(|reason| {
            failed(StartProblem::Unreachable {
                after: timeouts.connect,
                reason,
            })
        })?;
        let mut client = client(channel);
        let features = handshake(&mut client, handshake_request(options), timeouts.connect)
            .await
            .map_err(failed)?;
        let engine = pb::PluginAttach {
            address: options.engine_address.clone(),
        };
        client
            .attach(engine)
            .await
            .map_err(|status| failed(StartProblem::Handshake(describe(&status))))?;
        Ok(GrpcProvider {
            name: name.to_owned(),
            path: None,
            process: None,
            client: Mutex::new(Some(client)),
            features: RwLock::new(features),
            use_preview: options.use_preview,
            grace: timeouts.stop,
            output,
        })
    }
}

fn client(channel: Connection) -> Client {
    Client::new(channel)
        .max_decoding_message_size(plumb_proto::MAX_MESSAGE_SIZE)
        .max_encoding_message_size(plumb_proto::MAX_SENT_MESSAGE_SIZE)
}

fn handshake_request(options: &HandshakeOptions) -> pb::ProviderHandshakeRequest {
    pb::ProviderHandshakeRequest {
        engine_address: options.engine_address.clone(),
        configure_with_urn: true,
        supports_views: true,
        supports_refresh_before_update: options.refresh_before_update,
        invoke_with_preview: true,
        mapper_target: options.mapper_target.clone(),
        loader_target: options.loader_target.clone(),
        resolver_target: options.resolver_target.clone(),
        accepts_byte_string: true,
        ..Default::default()
    }
}

/// Performs the handshake. A provider that does not know the call is an older one, without features until it is configured.
async fn handshake(
    client: &mut Client,
    request: pb::ProviderHandshakeRequest,
    limit: Duration,
) -> Result<ProviderFeatures, StartProblem> {
    let deadline = Instant::now() + limit;
    loop {
        let answer = tokio::time::timeout_at(deadline, client.handshake(request.clone())).await;
        match answer {
            Ok(Ok(response)) => return Ok(ProviderFeatures::from_handshake(response.get_ref())),
            Ok(Err(status)) if status.code() == Code::Unimplemented => {
                return Ok(ProviderFeatures::default());
            }
            Ok(Err(status)) if status.code() == Code::Unavailable && Instant::now() < deadline => {
                sleep(Duration::from_millis(10)).await;
            }
            Ok(Err(status)) => return Err(StartProblem::Handshake(describe(&status))),
            Err(_) => {
                let reason = "did not begin responding to RPC connections".to_owned();
                return Err(StartProblem::Unreachable {
                    after: limit,
                    reason,
                });
            }
        }
    }
}

fn describe(status: &Status) -> String {
    format!("{}: {}", status.code().description(), status.message())
}
