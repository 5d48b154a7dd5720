//! A shell that serves programs and plugins, and runs one deployment.

use std::sync::Arc;

use jiff::Timestamp;
use plumb_deploy::setup::Setup;
use plumb_deploy::{DuplicateResource, Outcome};
use plumb_plugin::PluginHost;
use plumb_state::plan::Plan;
use plumb_value::Value;
use tokio::sync::{mpsc, watch};

use crate::SecretsGate;
use crate::driver::Driver;
use crate::journal::RunJournal;
use crate::monitor::{DebugMessages, Incoming, MonitorHandle, ResourceMonitor};
use crate::policies::PolicyPacks;
use crate::program::{Program, ProgramContext};
use crate::server::{self, Servers, SourceContext};
use crate::snippet::{self, InvalidSnippet, SnippetLanguage};

/// Receiver of all engine events with their times, in batches.
pub type Subscriber = mpsc::UnboundedSender<Vec<(Timestamp, plumb_events::Event)>>;

/// Input of a run.
pub struct RunSetup {
    /// The deployment.
    pub setup: Setup,
    /// The program; `None` for operations without one.
    pub program: Option<Arc<dyn Program>>,
    /// Evaluator of the snippets in state; `None` if there cannot be any.
    pub snippets: Option<Arc<dyn SnippetLanguage>>,
    /// Data for the program; the addresses are filled in by the run.
    pub info: ProgramContext,
    /// Each secret in the settings by itself, because a structured setting may have several. Hidden in messages.
    pub secret_parts: Vec<Value>,
    /// Policy packs that check the deployment.
    pub policies: PolicyPacks,
    /// Host of the providers. Its engine address is [`Shell::address`].
    pub host: Arc<PluginHost>,
    /// Gate that opens when secrets can be recorded.
    pub secrets: SecretsGate,
    /// Journal of the run.
    pub journal: RunJournal,
    /// Receiver of engine events.
    pub subscriber: Subscriber,
    /// Number of interrupts by the user.
    pub interrupts: watch::Receiver<u32>,
}

/// Result of a run.
pub struct Ended {
    /// Outcome.
    pub outcome: Outcome,
    /// Journal with the resulting state.
    pub journal: RunJournal,
    /// The plan, if one was to be made and the run succeeded.
    pub plan: Option<Plan>,
}

/// Errors of starting a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The state has duplicate resources.
    #[error(transparent)]
    State(#[from] DuplicateResource),
    /// A snippet to be stored is invalid.
    #[error(transparent)]
    Snippet(#[from] InvalidSnippet),
    /// No server could be started.
    #[error("could not start the resource monitor")]
    Server(#[source] std::io::Error),
}

/// A shell whose services are running, ready for one deployment.
pub struct Shell {
    handle: MonitorHandle,
    pub(crate) incoming: mpsc::UnboundedReceiver<Incoming>,
    pub(crate) servers: Servers,
}

impl Shell {
    /// Starts the services for programs and plugins. `info` is the data that programs can request.
    pub async fn listen(
        info: &ProgramContext,
        source: SourceContext,
        debug: DebugMessages,
    ) -> Result<Self, RunError> {
        let (handle, incoming) = MonitorHandle::new(source.working_directory.clone(), debug);
        let servers = server::start(handle.clone(), info, source)
            .await
            .map_err(RunError::Server)?;
        Ok(Shell {
            handle,
            incoming,
            servers,
        })
    }

    /// `host:port` of the engine service, the resource monitor, the schema loader and the mapper.
    pub fn address(&self) -> &str {
        &self.servers.address
    }

    /// Sets the host for requests of schemas and mappings, so that plugins can make them before the run.
    pub fn serve(&self, host: &Arc<PluginHost>) {
        // Fails if a host is set already, which then stays.
        let _ = self.servers.host.set(host.clone());
    }

    /// Passes log messages and requests of plugins to `monitor` while the future is polled, for plugins that run without a
    /// deployment.
    pub async fn relay(&mut self, monitor: &dyn ResourceMonitor) {
        while let Some(incoming) = self.incoming.recv().await {
            match incoming {
                Incoming::Request(request, reply) => {
                    // Fails if the requesting plugin has gone.
                    let _ = reply.send(monitor.request(request).await);
                }
                Incoming::Log(message) if message.ephemeral => {
                    monitor.log_status(message.severity, message.urn.as_ref(), &message.message);
                }
                Incoming::Log(message) => {
                    monitor.log(message.severity, message.urn.as_ref(), &message.message);
                }
                Incoming::Debugging(_) => {}
            }
        }
    }

    /// Stops the services of a shell without a run.
    pub async fn close(self) {
        self.servers.stop().await;
    }

    /// A monitor for messages to the user during the run, such as output of plugins.
    pub fn monitor(&self) -> Arc<dyn ResourceMonitor> {
        Arc::new(self.handle.clone())
    }

    /// Runs a deployment to its end, then ends every plugin.
    ///
    /// The first interrupt stops new steps, the second asks providers to stop, the third ends the run immediately. The
    /// returned journal holds everything recorded until then.
    pub async fn run(self, setup: RunSetup) -> Result<Ended, RunError> {
        self.serve(&setup.host);
        if let Some(changes) = &setup.setup.options.snippet_changes
            && let Err(invalid) = snippet::check(changes, setup.snippets.as_deref()).await
        {
            setup.host.shutdown().await;
            self.servers.stop().await;
            return Err(invalid.into());
        }
        let (host, interrupts) = (setup.host.clone(), setup.interrupts.clone());
        let driver = Driver::new(setup, self.handle, &self.servers)?;
        let ended = Box::pin(driver.drive(self.incoming, interrupts, &host)).await;
        host.shutdown().await;
        self.servers.stop().await;
        Ok(ended)
    }
}
