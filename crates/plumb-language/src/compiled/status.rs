//! Telling the user what takes so long.

use std::time::Duration;

use plumb_proto::pulumirpc::engine_client::EngineClient;
use plumb_proto::pulumirpc::{LogRequest, LogSeverity};
use tonic::transport::Endpoint;

/// How long an engine may take to hear of it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Has the engine at `address` show something for as long as it is new. What it does not take is lost.
pub(crate) async fn say(address: &str, text: &str) {
    let Ok(endpoint) = Endpoint::from_shared(format!("http://{address}")) else {
        return;
    };
    let message = LogRequest {
        severity: LogSeverity::Info.into(),
        message: text.to_owned(),
        ephemeral: true,
        ..LogRequest::default()
    };
    let told = async {
        if let Ok(channel) = endpoint.connect().await {
            let _ = EngineClient::new(channel).log(message).await;
        }
    };
    if tokio::time::timeout(PATIENCE, told).await.is_err() {
        tracing::debug!("the engine does not hear what a language host says");
    }
}
