//! Providers in processes of their own (`protocol.md` 4.2 and 5).
//!
//! Life of a [`GrpcProvider`]: start or attach, handshake, then the calls of [`Provider`]. The features of a provider are
//! known after the handshake; older providers, which do not know that call, report them in the answer to Configure.
//! `plumb-wire` converts values according to these features.

mod calls;
mod failure;
mod start;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use plumb_proto::pulumirpc::resource_provider_client::ResourceProviderClient;
use plumb_resource::provider::ProviderError;
use plumb_wire::ProviderFeatures;
use tonic::Code;

use crate::output::{OutputLevel, OutputLine, OutputSink, OutputStream};
use crate::process::{Indented, Process};
use crate::trace_context::Connection;
pub use start::HandshakeOptions;

type Client = ResourceProviderClient<Connection>;

/// A provider, called over gRPC.
pub struct GrpcProvider {
    name: String,
    /// The executable; `None` if the engine did not start the provider.
    path: Option<PathBuf>,
    process: Option<Process>,
    /// `None` after the shutdown.
    client: Mutex<Option<Client>>,
    features: RwLock<ProviderFeatures>,
    use_preview: bool,
    /// Limit for the answer to Cancel, and for the end of the process after an interrupt.
    grace: Duration,
    output: OutputSink,
}

impl GrpcProvider {
    /// Features of the provider.
    pub fn features(&self) -> ProviderFeatures {
        *self.features.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The executable; `None` if the engine did not start the provider.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The process id; `None` if the engine did not start the provider.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    fn set_features(&self, features: ProviderFeatures) {
        *self
            .features
            .write()
            .unwrap_or_else(PoisonError::into_inner) = features;
    }

    fn client(&self) -> Result<Client, ProviderError> {
        let client = self
            .client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        client.ok_or_else(|| {
            ProviderError::clean(format!("the provider {} has been shut down", self.name))
        })
    }

    fn close_connection(&self) {
        self.client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Whether Create and Update may be called in a preview.
    fn previews(&self) -> bool {
        self.use_preview && self.features().supports_preview
    }

    /// Sends Cancel and waits for the answer, up to the limit.
    async fn send_cancel(&self) {
        let Ok(mut client) = self.client() else {
            return;
        };
        match tokio::time::timeout(self.grace, client.cancel(())).await {
            Ok(Ok(_)) => {}
            Ok(Err(status)) if status.code() == Code::Unimplemented => {}
            Ok(Err(status)) => {
                tracing::debug!(provider = self.name, %status, "a provider did not take the cancellation");
            }
            Err(_) => tracing::debug!(
                provider = self.name,
                "a provider did not answer the cancellation"
            ),
        }
    }

    async fn end(&self) {
        if let Some(exit) = self.process.as_ref().and_then(Process::try_exit) {
            self.report_premature_end(&exit.to_string());
            self.close_connection();
            return;
        }
        self.send_cancel().await;
        self.close_connection();
        if let Some(process) = &self.process {
            process.stop(self.grace).await;
        }
    }

    /// Reports a provider that ended without being asked to, with its last output.
    fn report_premature_end(&self, exit: &str) {
        // Reported only once, because the connection is closed afterwards.
        if self
            .client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none()
        {
            return;
        }
        let (Some(process), Some(path)) = (&self.process, &self.path) else {
            return;
        };
        let mut lines = process.last_output();
        if lines.is_empty() {
            lines.push("(no output)".to_owned());
        }
        let text = format!(
            "Detected that {} exited prematurely ({exit}).\n\
             This is always a bug in the provider. Please report it to its authors, with this output:{}",
            path.display(),
            Indented(&lines)
        );
        (self.output)(OutputLine {
            source: self.name.as_str().into(),
            stream: OutputStream::Stderr,
            level: OutputLevel::Error,
            text,
        });
    }
}

impl std::fmt::Debug for GrpcProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrpcProvider")
            .field("name", &self.name)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
