//! The service on a socket.

use std::sync::Arc;

use tonic::{Request, Response, Status, async_trait};

use crate::protocol as pb;
use crate::protocol::analyzer_service::analyzer_server::Analyzer;
use crate::service::{Answer, Service};

/// A service that several connections share.
#[derive(Clone, Debug)]
pub(crate) struct Shared(pub(crate) Arc<Service>);

type Reply<T> = Result<Response<T>, Status>;

impl Shared {
    /// Runs rules on a thread that may wait.
    async fn rules<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Service) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let service = Arc::clone(&self.0);
        let running = tokio::task::spawn_blocking(move || call(&service));
        running
            .await
            .unwrap_or_else(|error| Err(Status::internal(error.to_string())))
    }
}

#[async_trait]
impl Analyzer for Shared {
    async fn handshake(
        &self,
        _: Request<pb::AnalyzerHandshakeRequest>,
    ) -> Reply<pb::AnalyzerHandshakeResponse> {
        Ok(Response::new(pb::AnalyzerHandshakeResponse {}))
    }

    async fn configure_stack(
        &self,
        request: Request<pb::AnalyzerStackConfigureRequest>,
    ) -> Reply<pb::AnalyzerStackConfigureResponse> {
        self.0.configure_stack(request.into_inner());
        Ok(Response::new(pb::AnalyzerStackConfigureResponse {}))
    }

    async fn get_analyzer_info(&self, _: Request<()>) -> Reply<pb::AnalyzerInfo> {
        self.rules(Service::information).await.map(Response::new)
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Reply<pb::PluginInfo> {
        self.rules(Service::version).await.map(Response::new)
    }

    async fn configure(&self, request: Request<pb::ConfigureAnalyzerRequest>) -> Reply<()> {
        self.0.configure(request.into_inner()).map(Response::new)
    }

    async fn analyze(&self, request: Request<pb::AnalyzeRequest>) -> Reply<pb::AnalyzeResponse> {
        let request = request.into_inner();
        let findings = self.rules(|service| service.analyze(request)).await?;
        Ok(Response::new(pb::AnalyzeResponse {
            diagnostics: findings.diagnostics,
            not_applicable: findings.not_applicable,
        }))
    }

    async fn analyze_stack(
        &self,
        request: Request<pb::AnalyzeStackRequest>,
    ) -> Reply<pb::AnalyzeResponse> {
        let request = request.into_inner();
        let findings = self.rules(|service| service.analyze_stack(request)).await?;
        Ok(Response::new(pb::AnalyzeResponse {
            diagnostics: findings.diagnostics,
            not_applicable: findings.not_applicable,
        }))
    }

    async fn remediate(
        &self,
        request: Request<pb::AnalyzeRequest>,
    ) -> Reply<pb::RemediateResponse> {
        let request = request.into_inner();
        let fixes = self.rules(|service| service.remediate(request)).await?;
        Ok(Response::new(pb::RemediateResponse {
            remediations: fixes.remediations,
            not_applicable: fixes.not_applicable,
        }))
    }

    async fn cancel(&self, _: Request<()>) -> Reply<()> {
        Ok(Response::new(()))
    }
}
