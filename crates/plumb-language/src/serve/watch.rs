//! Looking after the engine: a host must not outlive it.

use std::time::Duration;

use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// How long the engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Ends when the engine at `address` does not answer any more, and says why. Engines need not know the question.
pub(super) async fn until_gone(address: &str, interval: Duration) -> String {
    if address.is_empty() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(interval).await;
        if let Err(reason) = ask(address).await {
            return reason;
        }
    }
}

async fn ask(address: &str) -> Result<(), String> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(|error| error.to_string())?
        .connect_timeout(PATIENCE)
        .timeout(PATIENCE);
    let channel = endpoint
        .connect()
        .await
        .map_err(|error| error.to_string())?;
    let request = HealthCheckRequest::default();
    match HealthClient::new(channel).check(request).await {
        Err(status) if status.code() != Code::Unimplemented => Err(status.message().to_owned()),
        _ => Ok(()),
    }
}
