//! Messages of the provider, for the engine.

use std::sync::{Arc, Mutex, PoisonError};

use plumb_proto::pulumirpc::engine_client::EngineClient;
use plumb_proto::pulumirpc::{LogRequest, LogSeverity as WireSeverity};
use plumb_providers::{LogRecord, LogSeverity, LogSink};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tonic::transport::{Channel, Endpoint};

/// Sends messages to the engine, one after another; without an engine they go nowhere.
#[derive(Clone)]
pub(crate) struct EngineLog {
    messages: UnboundedSender<LogRequest>,
    engine: Arc<Mutex<Option<EngineClient<Channel>>>>,
}

impl EngineLog {
    /// Begins with the engine at `address`. Needs a runtime.
    pub(crate) fn start(address: Option<&str>) -> Self {
        let (messages, mut waiting) = unbounded_channel();
        let log = EngineLog {
            messages,
            engine: Arc::default(),
        };
        if let Some(address) = address {
            log.attach(address);
        }
        let engine = log.engine.clone();
        tokio::spawn(async move {
            while let Some(message) = waiting.recv().await {
                let engine = engine
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if let Some(mut engine) = engine {
                    // A message that is not taken is no reason to fail.
                    let _ = engine.log(message).await;
                }
            }
        });
        log
    }

    /// Sends messages to the engine at `address` from here on.
    pub(crate) fn attach(&self, address: &str) {
        let endpoint = Endpoint::from_shared(format!("http://{address}"));
        let client = endpoint.ok().map(|it| EngineClient::new(it.connect_lazy()));
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = client;
    }
}

impl LogSink for EngineLog {
    fn log(&self, record: LogRecord<'_>) {
        let severity = match record.severity {
            LogSeverity::Info => WireSeverity::Info,
            LogSeverity::Warning => WireSeverity::Warning,
        };
        // The receiver lives as long as the process.
        let _ = self.messages.send(LogRequest {
            severity: severity.into(),
            message: record.message.to_owned(),
            urn: record.urn.map(ToString::to_string).unwrap_or_default(),
            ephemeral: record.ephemeral,
            ..LogRequest::default()
        });
    }
}
