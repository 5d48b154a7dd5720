//! A shell that listens to programs and plugins, and one run in it.

use std::sync::Arc;

use jiff::Timestamp;
use plumb_deploy::setup::Setup;
use plumb_deploy::{DuplicateResource, Outcome};
use plumb_plugin::PluginHost;
use plumb_state::plan::Plan;
use tokio::sync::{mpsc, watch};

use crate::SecretsGate;
use crate::driver::Driver;
use crate::journal::RunJournal;
use crate::monitor::{DebugMessages, Incoming, MonitorHandle, ResourceMonitor};
use crate::policies::PolicyPacks;
use crate::program::{Program, ProgramContext};
use crate::server::{self, Servers, SourceContext};
use crate::snippet::{self, InvalidSnippet, SnippetLanguage};

/// Hears of every engine event, with its time, several at once.
pub type Subscriber = mpsc::UnboundedSender<Vec<(Timestamp, plumb_events::Event)>>;

/// What a run needs.
pub struct RunSetup {
    /// The deployment.
    pub setup: Setup,
    /// The program; `None` for operations without one.
    pub program: Option<Arc<dyn Program>>,
    /// Evaluates the snippets of the state; `None` where there cannot be any.
    pub snippets: Option<Arc<dyn SnippetLanguage>>,
    /// Facts for the program; the addresses are filled in here.
    pub info: ProgramContext,
    /// Policy packs that look at what is done.
    pub policies: PolicyPacks,
    /// Runs providers. Its engine address is [`Shell::address`].
    pub host: Arc<PluginHost>,
    /// Opens when secrets can be recorded.
    pub secrets: SecretsGate,
    /// Takes what the run records.
    pub journal: RunJournal,
    /// Hears of what happens.
    pub subscriber: Subscriber,
    /// Counts the interrupts of the user.
    pub interrupts: watch::Receiver<u32>,
}

/// What a run leaves.
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// The state that it reached.
    pub journal: RunJournal,
    /// What it did, or would do, if it was to make a plan and succeeded.
    pub plan: Option<Plan>,
}

/// Why a run did not start, or did not end by itself.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The state is not one to start from.
    #[error(transparent)]
    State(#[from] DuplicateResource),
    /// A snippet that is to be stored makes no sense.
    #[error(transparent)]
    Snippet(#[from] InvalidSnippet),
    /// No server could be started.
    #[error("could not start the resource monitor")]
    Server(#[source] std::io::Error),
}

/// A shell that listens to programs and plugins, ready to run one deployment.
pub struct Shell {
    handle: MonitorHandle,
    pub(crate) incoming: mpsc::UnboundedReceiver<Incoming>,
    pub(crate) servers: Servers,
}

impl Shell {
    /// Opens the services that programs and plugins need. `info` is told to programs that ask.
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

    /// Lets plugins ask for schemas and mappings, which `host` finds, before there is a run.
    pub fn serve(&self, host: &Arc<PluginHost>) {
        // The first one stays.
        let _ = self.servers.host.set(host.clone());
    }

    /// Tells `monitor` what plugins say and refuses what they ask for, as long as it is awaited: for plugins that work
    /// where nothing is deployed.
    pub async fn relay(&mut self, monitor: &dyn ResourceMonitor) {
        while let Some(incoming) = self.incoming.recv().await {
            match incoming {
                Incoming::Request(request, reply) => {
                    // Whoever asked may be gone.
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

    /// Ends what listens, where there was no run.
    pub async fn close(self) {
        self.servers.stop().await;
    }

    /// A way to tell the user something during the run, for what plugins print and the like.
    pub fn monitor(&self) -> Arc<dyn ResourceMonitor> {
        Arc::new(self.handle.clone())
    }

    /// Runs a deployment to its end, and ends every plugin.
    ///
    /// The first interrupt stops new steps, the second asks providers to stop, the third ends the run at once. What has
    /// been recorded by then is in the journal that comes back.
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
