//! Progress messages for steps that take long.

use std::time::Duration;

use plumb_proto::pulumirpc::engine_client::EngineClient;
use plumb_proto::pulumirpc::{LogRequest, LogSeverity};
use tonic::transport::Endpoint;

/// Maximum time for sending a message to the engine.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends a message to the engine at `address`, which shows it until the next one. Errors are ignored,
/// because only the message would be lost.
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
