//! A provider plugin that takes 50 ms for each call about a resource, like one for a cloud.
//!
//! Additional time is the overhead of the engine: `benches/run --workloads slow-yaml` compares two engines. Objects are
//! not stored, because only the engine reads them.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use plumb_proto::MAX_MESSAGE_SIZE;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::resource_provider_server::{ResourceProvider, ResourceProviderServer};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

/// Duration of a call.
const CALL: Duration = Duration::from_millis(50);

const SCHEMA: &str = r#"{
    "name": "slow",
    "version": "1.0.0",
    "resources": {
        "slow:index:Thing": {
            "properties": { "input": { "type": "string" } },
            "inputProperties": { "input": { "type": "string" } }
        }
    }
}"#;

type Answer<T> = Result<Response<T>, Status>;

#[derive(Default)]
struct Slow {
    objects: AtomicU64,
}

#[async_trait]
impl ResourceProvider for Slow {
    async fn get_schema(&self, _: Request<pb::GetSchemaRequest>) -> Answer<pb::GetSchemaResponse> {
        Ok(Response::new(pb::GetSchemaResponse {
            schema: SCHEMA.to_owned(),
        }))
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Answer<pb::PluginInfo> {
        Ok(Response::new(pb::PluginInfo {
            version: "1.0.0".to_owned(),
        }))
    }

    async fn check_config(&self, request: Request<pb::CheckRequest>) -> Answer<pb::CheckResponse> {
        Ok(Response::new(checked(request)))
    }

    async fn diff_config(&self, _: Request<pb::DiffRequest>) -> Answer<pb::DiffResponse> {
        Ok(Response::new(pb::DiffResponse::default()))
    }

    async fn configure(&self, _: Request<pb::ConfigureRequest>) -> Answer<pb::ConfigureResponse> {
        Ok(Response::new(pb::ConfigureResponse {
            accept_secrets: true,
            supports_preview: true,
            accept_resources: true,
            accept_outputs: false,
            ..pb::ConfigureResponse::default()
        }))
    }

    async fn check(&self, request: Request<pb::CheckRequest>) -> Answer<pb::CheckResponse> {
        tokio::time::sleep(CALL).await;
        Ok(Response::new(checked(request)))
    }

    async fn diff(&self, request: Request<pb::DiffRequest>) -> Answer<pb::DiffResponse> {
        tokio::time::sleep(CALL).await;
        let request = request.into_inner();
        let changes = if request.old_inputs == request.news {
            pb::diff_response::DiffChanges::DiffNone
        } else {
            pb::diff_response::DiffChanges::DiffSome
        };
        Ok(Response::new(pb::DiffResponse {
            changes: changes as i32,
            ..pb::DiffResponse::default()
        }))
    }

    async fn create(&self, request: Request<pb::CreateRequest>) -> Answer<pb::CreateResponse> {
        tokio::time::sleep(CALL).await;
        let object = self.objects.fetch_add(1, Ordering::Relaxed);
        Ok(Response::new(pb::CreateResponse {
            id: format!("thing-{object}"),
            properties: request.into_inner().properties,
            ..pb::CreateResponse::default()
        }))
    }

    async fn read(&self, request: Request<pb::ReadRequest>) -> Answer<pb::ReadResponse> {
        tokio::time::sleep(CALL).await;
        let request = request.into_inner();
        Ok(Response::new(pb::ReadResponse {
            id: request.id,
            properties: request.properties,
            inputs: request.inputs,
            ..pb::ReadResponse::default()
        }))
    }

    async fn update(&self, request: Request<pb::UpdateRequest>) -> Answer<pb::UpdateResponse> {
        tokio::time::sleep(CALL).await;
        Ok(Response::new(pb::UpdateResponse {
            properties: request.into_inner().news,
            ..pb::UpdateResponse::default()
        }))
    }

    async fn delete(&self, _: Request<pb::DeleteRequest>) -> Answer<()> {
        tokio::time::sleep(CALL).await;
        Ok(Response::new(()))
    }

    async fn cancel(&self, _: Request<()>) -> Answer<()> {
        Ok(Response::new(()))
    }
}

fn checked(request: Request<pb::CheckRequest>) -> pb::CheckResponse {
    pb::CheckResponse {
        inputs: request.into_inner().news,
        ..pb::CheckResponse::default()
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?.port())?;
    let provider = ResourceProviderServer::new(Slow::default())
        .max_decoding_message_size(MAX_MESSAGE_SIZE)
        .max_encoding_message_size(usize::MAX);
    tonic::transport::Server::builder()
        .tcp_nodelay(true)
        .add_service(provider)
        .serve_with_incoming(TcpListenerStream::new(listener))
        .await?;
    Ok(())
}
