//! Providers in processes of their own (`protocol.md` 4.2 and 5).
//!
//! Life of a [`GrpcProvider`]: start or attach, handshake, then the calls of [`Provider`]. What the provider accepts is
//! known after the handshake; providers that do not know that call tell it with the answer to Configure. Values are
//! converted by `plumb-wire`, with the features agreed on.

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
use tonic::transport::Channel;

use crate::output::{OutputLevel, OutputLine, OutputSink, OutputStream};
use crate::process::{Indented, Process};
pub use start::HandshakeOptions;

type Client = ResourceProviderClient<Channel>;

/// A provider that is reached over gRPC.
pub struct GrpcProvider {
    name: String,
    /// The executable; `None` when the provider was not started by us.
    path: Option<PathBuf>,
    process: Option<Process>,
    /// `None` after the shutdown.
    client: Mutex<Option<Client>>,
    features: RwLock<ProviderFeatures>,
    use_preview: bool,
    /// How long Cancel may take, and how long an interrupted plugin may take to end.
    grace: Duration,
    output: OutputSink,
}

impl GrpcProvider {
    /// What the provider accepts.
    pub fn features(&self) -> ProviderFeatures {
        *self.features.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The executable; `None` when the provider was not started by us.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The process id, for a provider that we started.
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

    /// Sends Cancel and waits for the answer, not for ever.
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

    /// A provider that ends before it is told to is broken; the user should see what it said.
    fn report_premature_end(&self, exit: &str) {
        // Reported once: the connection is closed after it.
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
