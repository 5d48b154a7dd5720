//! Plugin host outside of deployments.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use plumb_acquire::LockMode;
use plumb_automation::stacks::OtherStacks;
use plumb_deploy::request::{Reply, Request};
use plumb_deploy::setup::{Options, Phase};
use plumb_engine::masks::Masks;
use plumb_engine::monitor::{DebugMessages, ResourceMonitor};
use plumb_engine::program::ProgramContext;
use plumb_engine::{Shell, SourceContext};
use plumb_events::Severity;
use plumb_plugin::PluginHost;
use plumb_plugin::discovery::ProjectPlugin;
use plumb_resource::Urn;
use plumb_value::PropertyMap;
use plumb_yaml::DiagnosticStyle;
use tokio::sync::watch;

use super::converted::{InfoStream, Messages};
use super::debugging::Debugged;
use super::host::ProjectEnvironment;
use super::interrupts;
use super::session::{ORGANIZATION, plugin_source};
use crate::packages::log_arguments;
use crate::{Context, Error, ExitStatus};
use plumb_automation::values::Secrets;

/// Secrets seen so far, which messages must not show.
#[derive(Clone)]
pub struct KnownSecrets(Arc<Mutex<Masks>>);

impl KnownSecrets {
    fn new(secrets: Secrets) -> Self {
        let masks = Masks::new(secrets == Secrets::Shown, std::iter::empty());
        KnownSecrets(Arc::new(Mutex::new(masks)))
    }

    /// Adds the secrets in `properties`.
    pub fn learn(&self, properties: &PropertyMap) {
        self.masks().learn_all(properties);
    }

    fn plain(&self, text: &str) -> String {
        self.masks().plain(text)
    }

    fn masks(&self) -> MutexGuard<'_, Masks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints messages of plugins, with secrets masked.
struct Masked {
    messages: Messages,
    known: KnownSecrets,
}

#[async_trait]
impl ResourceMonitor for Masked {
    async fn request(&self, request: Request) -> Reply {
        self.messages.request(request).await
    }

    fn log(&self, severity: Severity, urn: Option<&Urn>, message: &str) {
        self.messages.log(severity, urn, &self.known.plain(message));
    }
}

/// Plugin host with the engine services that plugins expect, and a printer for their messages.
pub struct StandaloneHost {
    runtime: tokio::runtime::Runtime,
    shell: Shell,
    host: Arc<PluginHost>,
    messages: Arc<Masked>,
    info: ProgramContext,
    interrupts: watch::Receiver<u32>,
}

impl StandaloneHost {
    /// Opens the host for the project of the working directory, if there is one. `plugins` take precedence over all
    /// others.
    pub fn open(
        ctx: &Context,
        plugins: Vec<ProjectPlugin>,
        secrets: Secrets,
        info_stream: InfoStream,
    ) -> Result<Self, Error> {
        let mut project_environment = project_environment(
            ctx,
            plugins,
            "nothing is deployed, and other stacks are not read",
        )?;
        project_environment.acquire =
            Some(plugin_source(ctx, &project_environment, LockMode::Update)?);
        let info = info(ctx, &project_environment)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .thread_stack_size(crate::WORKER_STACK)
            .enable_all()
            .build()?;
        let source = SourceContext {
            root: project_environment.root.clone(),
            working_directory: project_environment.program_directory.clone(),
            version: crate::semantic_version(),
        };
        let debug = DebugMessages::Dropped;
        let shell = runtime.block_on(Shell::listen(&info, source, debug))?;
        let messages = Arc::new(Masked {
            messages: Messages::new(ctx.printer.clone(), info_stream),
            known: KnownSecrets::new(secrets),
        });
        let monitor = messages.clone();
        let host = Arc::new(project_environment.plugin_host(shell.address(), monitor, debug)?);
        shell.serve(&host);
        let interrupts =
            runtime.block_on(async { interrupts::listen(ctx.printer.clone(), None) })?;
        Ok(StandaloneHost {
            runtime,
            shell,
            host,
            messages,
            info,
            interrupts,
        })
    }

    /// The plugin host.
    pub fn host(&self) -> Arc<PluginHost> {
        self.host.clone()
    }

    /// Address of the services for plugins.
    pub fn address(&self) -> String {
        self.shell.address().to_owned()
    }

    /// Secrets that messages do not show.
    pub fn secrets(&self) -> KnownSecrets {
        self.messages.known.clone()
    }

    /// Context for evaluated expressions: project, stack and the like.
    pub fn info(&self) -> &ProgramContext {
        &self.info
    }

    /// Runs `work`, and prints messages of plugins meanwhile. The first interrupt lets `work` finish, the second asks
    /// providers to stop, the third cancels.
    pub fn run<T>(&mut self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let (shell, messages) = (&mut self.shell, &*self.messages);
        let (host, interrupts) = (&self.host, &mut self.interrupts);
        let done = self.runtime.block_on(async {
            let mut work = std::pin::pin!(work);
            let mut relayed = std::pin::pin!(shell.relay(messages));
            loop {
                tokio::select! {
                    biased;
                    () = &mut relayed => return Err(Error::user("the services of plugins ended")),
                    done = &mut work => return done,
                    interrupted = interrupts.changed() => {
                        let count = *interrupts.borrow_and_update();
                        if interrupted.is_err() || count > 2 {
                            return Err(Error::with_status(ExitStatus::Cancelled, "cancelled"));
                        }
                        if count == 2 {
                            host.cancel().await;
                        }
                    }
                }
            }
        });
        done.map_err(|error| error.reworded(|text| self.messages.known.plain(text)))
    }

    /// Whether the user has interrupted, so that nothing new must start.
    pub fn is_interrupted(&self) -> bool {
        *self.interrupts.borrow() > 0
    }

    /// Stops all plugins.
    pub fn close(self) {
        self.runtime.block_on(self.host.shutdown());
        self.runtime.block_on(self.shell.close());
        self.runtime.shutdown_background();
    }
}

/// Environment of a plugin host without a stack; `refusal` is the error for reading other stacks.
pub(super) fn project_environment(
    ctx: &Context,
    plugins: Vec<ProjectPlugin>,
    refusal: &'static str,
) -> Result<ProjectEnvironment, Error> {
    let project = ctx.find_project()?.cloned();
    let (root, program_directory) = ctx.program_folders(project.as_ref());
    Ok(ProjectEnvironment {
        environment: ctx.environment.clone(),
        project,
        root,
        program_directory,
        plugins,
        config: BTreeMap::new(),
        log_arguments: log_arguments(&ctx.globals),
        client: None,
        debugged: Debugged::default(),
        stacks: Arc::new(OtherStacks::new(Arc::new(move |_, _| {
            Err(refusal.to_owned())
        }))),
        acquire: None,
        downloads: Arc::default(),
        told: Arc::default(),
        diagnostics: DiagnosticStyle::Excerpt,
    })
}

fn info(ctx: &Context, project_environment: &ProjectEnvironment) -> Result<ProgramContext, Error> {
    let options = Options::new(Phase::Execute);
    // The selected stack only matters to expressions, so an unreadable store is not an error.
    let stack = ctx.selected_stack().ok().flatten();
    Ok(ProgramContext {
        project: ctx
            .project_name()?
            .map(ToString::to_string)
            .unwrap_or_default(),
        stack: stack
            .map(|stack| stack.name().to_owned())
            .unwrap_or_default(),
        organization: ORGANIZATION.to_owned(),
        config: Arc::default(),
        config_secret_keys: Arc::default(),
        dry_run: false,
        parallel: i32::try_from(options.parallel).unwrap_or(i32::MAX),
        resource_references: options.resource_references,
        root_directory: project_environment.root.clone(),
        program_directory: project_environment.program_directory.clone(),
        monitor_address: String::new(),
        engine_address: String::new(),
    })
}
