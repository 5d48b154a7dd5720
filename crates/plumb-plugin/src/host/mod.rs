//! From a plugin specification to a running provider.
//!
//! [`PluginHost::provider`] asks in this order:
//! 1. the addresses of providers that somebody runs under a debugger;
//! 2. [`Discovery`]: what the user has wins;
//! 3. providers built into the program, and commands that stand in for bundled plugins;
//! 4. whoever gets plugins that are not there ([`Acquire`]).
//!
//! The package `pulumi` is always the built-in one. Every call boots a new instance. **The host knows every provider and
//! language host that it started and ends them all in [`PluginHost::shutdown`].**

mod admission;
mod analyzers;
pub(crate) mod environment;
pub(crate) mod launch;
mod mapping;
mod resolve;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, join, join_all};
use plumb_resource::provider::{PluginSpec, ProviderError};
use tokio::task::JoinSet;

pub use environment::{AttachmentError, parse_attachments};
pub use mapping::MappingQuery;
pub use resolve::{ResolveError, is_repository};

use crate::acquire::{Acquire, AcquireFailure};
use crate::analyzer::GrpcAnalyzer;
use crate::discovery::{Discovery, FindError, FoundPlugin, ManifestError, PluginKind};
use crate::grpc::{GrpcProvider, HandshakeOptions};
use crate::language::{GrpcLanguageHost, LanguageError, LanguageRuntime};
use crate::output::{OutputLevel, OutputLine, OutputSink, OutputStream};
use crate::process::{Environment, PluginTimeouts, StartError};
use crate::provider::Provider;
use mapping::Mappings;
use schema::Schemas;

/// Makes a provider that is built into the program; `None` when it does not serve this specification.
pub type BuiltinFactory = Box<dyn Fn(&PluginSpec) -> Option<Arc<dyn Provider>> + Send + Sync>;

/// Finds the command that stands in for a plugin executable: program, arguments and the whole environment.
pub type CommandFactory = Box<
    dyn Fn(
            Environment,
        )
            -> BoxFuture<'static, Result<(PathBuf, Vec<OsString>, Environment), LanguageError>>
        + Send
        + Sync,
>;

/// Makes a language host that is built into the program.
pub type LanguageFactory = Box<dyn Fn() -> Arc<dyn LanguageRuntime> + Send + Sync>;

/// Addresses (`host:port`) of the services that plugins may use.
#[derive(Clone, Debug, Default)]
pub struct ServiceAddresses {
    /// The engine service.
    pub engine: String,
    /// The schema loader, if there is one.
    pub loader: Option<String>,
    /// The mapper, if there is one.
    pub mapper: Option<String>,
    /// The package resolver, if there is one.
    pub resolver: Option<String>,
}

/// Surroundings of a [`PluginHost`].
pub struct HostOptions {
    /// Where to look for plugins.
    pub discovery: Discovery,
    /// The environment of the program, cloud credentials included.
    pub environment: Environment,
    /// The project's working directory.
    pub working_directory: PathBuf,
    /// Project name, if there is a project.
    pub project: Option<String>,
    /// Runtime options of the project, as text.
    pub runtime_options: BTreeMap<String, String>,
    /// Plain configuration by namespace, then name. Holds secrets in the clear.
    pub config: BTreeMap<String, BTreeMap<String, String>>,
    /// Services for the plugins.
    pub services: ServiceAddresses,
    /// Flags with which executables are told how to log, before their other arguments.
    pub log_arguments: Vec<OsString>,
    /// Ports of providers under a debugger, by name.
    pub attached_providers: BTreeMap<String, u16>,
    /// Ports of language hosts under a debugger, by name.
    pub attached_languages: BTreeMap<String, u16>,
    /// How long plugins may take to start.
    pub timeouts: PluginTimeouts,
    /// Whether the engine refreshes resources before updates when a provider asks for it.
    pub refresh_before_update: bool,
    /// Whether to call providers in previews.
    pub use_provider_preview: bool,
    /// Whether to say nothing about versions lower than asked for.
    pub ignore_versions: bool,
    /// Takes what plugins print, and warnings.
    pub output: OutputSink,
    /// The folder for schemas of plugins in the cache; without one they are asked for each time.
    pub schema_cache: Option<PathBuf>,
    /// Gets plugins that are not there, and vouches for those that are.
    pub acquire: Option<Arc<dyn Acquire>>,
}

/// Where warnings come from that the host itself has.
pub const HOST_SOURCE: &str = "plugin host";

/// Why there is no provider, or no language host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The plugin is nowhere.
    #[error(transparent)]
    NotFound(#[from] FindError),
    /// The plugin is nowhere, and could not be got.
    #[error("{missing}")]
    Acquire {
        /// What was looked for.
        missing: FindError,
        /// Why it could not be got.
        #[source]
        source: AcquireFailure,
    },
    /// The plugin is not one that the project means.
    #[error("the plugin {} must not be used", path.display())]
    Unverified {
        /// Its executable.
        path: PathBuf,
        /// Why.
        #[source]
        source: AcquireFailure,
    },
    /// The plugin does not start.
    #[error(transparent)]
    Start(#[from] Box<StartError>),
    /// The plugin is a folder of sources that cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The language host of a plugin in source form failed.
    #[error("could not run the plugin {plugin} in {}", directory.display())]
    Language {
        /// Name of the plugin.
        plugin: String,
        /// Its folder.
        directory: PathBuf,
        /// Why.
        #[source]
        source: LanguageError,
    },
    /// The stand-in for a bundled plugin cannot be run.
    #[error("could not run the plugin {plugin}")]
    Command {
        /// Name of the plugin.
        plugin: String,
        /// Why.
        #[source]
        source: LanguageError,
    },
    /// A folder of sources where only an executable will do.
    #[error("language plugins must be executable binaries: {}", path.display())]
    LanguageSources {
        /// The folder.
        path: PathBuf,
    },
    /// The provider does not take the parameter.
    #[error("could not parameterize the plugin {plugin} for package {package}: {}", error.message)]
    Parameterize {
        /// Name of the plugin.
        plugin: String,
        /// Name of the package.
        package: String,
        /// What the provider said.
        error: ProviderError,
    },
    /// The parameter makes another package than expected.
    #[error("parameterize response name {answered:?} does not match expected package {expected:?}")]
    ParameterizedName {
        /// What the provider answered.
        answered: String,
        /// What was expected.
        expected: String,
    },
    /// The provider cannot tell the schema of its package.
    #[error("could not get the schema of the plugin {plugin}: {}", error.message)]
    Schema {
        /// Name of the plugin.
        plugin: String,
        /// What the provider said.
        error: ProviderError,
    },
    /// The provider cannot tell a mapping.
    #[error("could not ask the plugin {plugin} for mappings: {}", error.message)]
    Mapping {
        /// Name of the plugin.
        plugin: String,
        /// What the provider said.
        error: ProviderError,
    },
    /// What a program calls a package stands for no plugin.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// What is in a repository cannot be found out.
    #[error("could not find out what is in the repository {address}")]
    Locate {
        /// Its address.
        address: String,
        /// Why.
        #[source]
        source: AcquireFailure,
    },
    /// A language host cannot be reached.
    #[error(transparent)]
    Host(#[from] LanguageError),
}

/// Starts plugins and ends them.
pub struct PluginHost {
    options: HostOptions,
    builtins: BTreeMap<String, BuiltinFactory>,
    commands: BTreeMap<String, CommandFactory>,
    languages: BTreeMap<String, LanguageFactory>,
    /// They stay until they are retired or the host is shut down, whoever else has forgotten them.
    providers: Mutex<Vec<Arc<dyn Provider>>>,
    retiring: tokio::sync::Mutex<JoinSet<()>>,
    schemas: Schemas,
    mappings: Mappings,
    /// They stay until the shutdown, whoever else has forgotten them.
    analyzers: Mutex<Vec<Arc<GrpcAnalyzer>>>,
    hosts: tokio::sync::Mutex<BTreeMap<String, Arc<dyn LanguageRuntime>>>,
    debugged: DebuggedPlugins,
}

/// Which plugins are to wait for a debugger. Only those in source form can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DebuggedPlugins {
    /// None.
    #[default]
    None,
    /// Those of these names.
    Named(BTreeSet<String>),
    /// All.
    All,
}

impl DebuggedPlugins {
    fn include(&self, name: &str) -> bool {
        match self {
            DebuggedPlugins::None => false,
            DebuggedPlugins::Named(names) => names.contains(name),
            DebuggedPlugins::All => true,
        }
    }
}

impl PluginHost {
    /// A host without built-in plugins; nothing is started yet.
    pub fn new(options: HostOptions) -> Self {
        PluginHost {
            options,
            builtins: BTreeMap::new(),
            commands: BTreeMap::new(),
            languages: BTreeMap::new(),
            providers: Mutex::default(),
            retiring: tokio::sync::Mutex::default(),
            schemas: Schemas::default(),
            mappings: Mappings::default(),
            analyzers: Mutex::default(),
            hosts: tokio::sync::Mutex::default(),
            debugged: DebuggedPlugins::None,
        }
    }

    /// Says which plugins are to wait for a debugger when they start.
    pub fn debug_plugins(&mut self, debugged: DebuggedPlugins) {
        self.debugged = debugged;
    }

    /// Registers a built-in provider.
    pub fn register_builtin(&mut self, name: &str, factory: BuiltinFactory) {
        self.builtins.insert(name.to_owned(), factory);
    }

    /// Registers a command that stands in for the resource plugin `name`.
    pub fn register_command(&mut self, name: &str, factory: CommandFactory) {
        self.commands.insert(name.to_owned(), factory);
    }

    /// Registers a built-in language host.
    pub fn register_language(&mut self, name: &str, factory: LanguageFactory) {
        self.languages.insert(name.to_owned(), factory);
    }

    /// Surroundings of this host.
    pub fn options(&self) -> &HostOptions {
        &self.options
    }

    /// Boots a provider; applies the parameter of `spec` if it has one.
    pub async fn provider(&self, spec: &PluginSpec) -> Result<Arc<dyn Provider>, HostError> {
        let provider = self.boot(spec).await?;
        self.remember(&provider);
        if let Some(parameter) = &spec.parameterization {
            let applied = provider.parameterize(parameter).await;
            let (name, _) = applied.map_err(|error| HostError::Parameterize {
                plugin: spec.name.to_string(),
                package: parameter.name.to_string(),
                error,
            })?;
            if name != parameter.name {
                return Err(HostError::ParameterizedName {
                    answered: name,
                    expected: parameter.name.to_string(),
                });
            }
        }
        Ok(provider)
    }

    /// Makes sure that the plugins of `specs` are there, all at the same time; answers what is to be said of those that are
    /// not. Nothing is started.
    pub async fn provide(&self, specs: impl IntoIterator<Item = &PluginSpec>) -> Vec<HostError> {
        let missing = specs
            .into_iter()
            .filter_map(|spec| Some((spec, self.locate(spec).err()?)));
        let acquired = missing.map(|(spec, error)| self.acquired(spec, error));
        let results = join_all(acquired).await;
        results.into_iter().filter_map(Result::err).collect()
    }

    /// Has a provider got that was not found.
    async fn acquired(
        &self,
        spec: &PluginSpec,
        missing: FindError,
    ) -> Result<FoundPlugin, HostError> {
        self.acquired_of(PluginKind::Resource, spec, missing).await
    }

    /// The same for a plugin of any kind.
    pub(crate) async fn acquired_of(
        &self,
        kind: PluginKind,
        spec: &PluginSpec,
        missing: FindError,
    ) -> Result<FoundPlugin, HostError> {
        let FindError::NotFound { .. } = missing else {
            return Err(missing.into());
        };
        let acquire = self.options.acquire.as_ref();
        let Some(acquire) = acquire.filter(|it| it.gets_plugins()) else {
            return Err(missing.into());
        };
        if let Err(source) = acquire.acquire(kind, spec).await {
            return Err(HostError::Acquire { missing, source });
        }
        Ok(self.find(kind, spec)?)
    }

    fn is_installed(&self, spec: &PluginSpec) -> bool {
        self.locate(spec).is_ok()
    }

    /// Looks for a plugin where [`PluginHost::provider`] would find one; what is built in needs no look at the disk.
    fn locate(&self, spec: &PluginSpec) -> Result<(), FindError> {
        let name = spec.name.as_str();
        let builtin = self.builtins.get(name).and_then(|factory| factory(spec));
        if builtin.is_some()
            || self.commands.contains_key(name)
            || self.options.attached_providers.contains_key(name)
        {
            return Ok(());
        }
        self.find(PluginKind::Resource, spec).map(drop)
    }

    /// Whether [`PluginHost::provider`] would answer a provider that is built in, as far as can be told without a look at
    /// servers.
    pub fn is_builtin(&self, spec: &PluginSpec) -> bool {
        let name = spec.name.as_str();
        let fits = || {
            let builtin = self.builtins.get(name).and_then(|factory| factory(spec));
            builtin.is_some()
        };
        if name == "pulumi" {
            return fits();
        }
        let found = || self.options.discovery.find_spec(PluginKind::Resource, spec);
        !self.options.attached_providers.contains_key(name) && found().is_err() && fits()
    }

    async fn boot(&self, spec: &PluginSpec) -> Result<Arc<dyn Provider>, HostError> {
        let name = spec.name.as_str();
        let builtin = || self.builtins.get(name).and_then(|factory| factory(spec));
        if name == "pulumi"
            && let Some(provider) = builtin()
        {
            return Ok(provider);
        }
        if let Some(port) = self.options.attached_providers.get(name) {
            let address = format!("127.0.0.1:{port}");
            let output = self.options.output.clone();
            let handshake = self.handshake_options();
            let attached =
                GrpcProvider::attach(name, &address, output, self.options.timeouts, &handshake)
                    .await;
            return Ok(Arc::new(attached.map_err(Box::new)?));
        }
        let found = match self.find(PluginKind::Resource, spec) {
            Ok(found) => found,
            Err(error @ FindError::NotFound { .. }) => {
                if let Some(provider) = builtin() {
                    return Ok(provider);
                }
                if let Some(factory) = self.commands.get(name) {
                    return Ok(Arc::new(self.start_command(spec, factory).await?));
                }
                self.acquired(spec, error).await?
            }
            Err(error) => return Err(error.into()),
        };
        let found = self.admitted(found).await?;
        let provider = self.start_found(spec, &found).await?;
        self.check_version(spec, &provider).await;
        Ok(Arc::new(provider))
    }

    /// A plugin found without its version being looked at may be an old one.
    async fn check_version(&self, spec: &PluginSpec, provider: &GrpcProvider) {
        let Some(wanted) = spec
            .version
            .as_ref()
            .filter(|_| !self.options.ignore_versions)
        else {
            return;
        };
        // A failure to tell the version is the same as not telling it.
        let version = provider.info().await.ok().and_then(|info| info.version);
        if version
            .as_ref()
            .is_some_and(|version| version.cmp_precedence(wanted).is_ge())
        {
            return;
        }
        let shown = version.map_or_else(
            || "an unknown version".to_owned(),
            |version| version.to_string(),
        );
        self.warn(&format!(
            "resource plugin {} is expected to have version >={wanted}, but has {shown}; the wrong version may be on \
             your path, or this may be a bug in the plugin",
            spec.name
        ));
    }

    /// The host of a language: a built-in one unless the user has a plugin for it. One per name.
    ///
    /// `client` is an SDK that runs the program inside itself; its address is in the runtime options.
    pub async fn language(&self, name: &str) -> Result<Arc<dyn LanguageRuntime>, HostError> {
        let mut hosts = self.hosts.lock().await;
        if let Some(host) = hosts.get(name) {
            return Ok(host.clone());
        }
        let host = self.boot_language(name).await?;
        hosts.insert(name.to_owned(), host.clone());
        Ok(host)
    }

    /// Whether programs in a language run in this process. A host on the search path does not count, because machines
    /// that have the reference have its hosts there; a host that the project names, or that is attached, does.
    pub fn is_own_language(&self, name: &str) -> bool {
        let named = self
            .options
            .discovery
            .find_named(PluginKind::Language, name);
        self.languages.contains_key(name)
            && !self.options.attached_languages.contains_key(name)
            && matches!(named, Ok(None))
    }

    async fn boot_language(&self, name: &str) -> Result<Arc<dyn LanguageRuntime>, HostError> {
        let limit = self.options.timeouts.connect;
        if name == "client" {
            let address = self
                .options
                .runtime_options
                .get("address")
                .map(String::as_str)
                .unwrap_or_default();
            return Ok(Arc::new(
                GrpcLanguageHost::dial(name, address, limit).await?,
            ));
        }
        if let Some(port) = self.options.attached_languages.get(name) {
            let address = format!("127.0.0.1:{port}");
            let engine = &self.options.services.engine;
            return Ok(Arc::new(
                GrpcLanguageHost::attach(name, &address, engine, limit).await?,
            ));
        }
        let plugin = name.replace('/', "_");
        let discovery = &self.options.discovery;
        let found = match (
            self.languages.get(name),
            discovery.find_named(PluginKind::Language, &plugin)?,
        ) {
            (_, Some(named)) => named,
            (Some(factory), None) => return Ok(factory()),
            (None, None) => self.find(PluginKind::Language, &PluginSpec::named(&plugin))?,
        };
        let found = self.admitted(found).await?;
        if found.source_directory().is_some() {
            return Err(HostError::LanguageSources {
                path: found.executable,
            });
        }
        let launch = self.language_launch(&plugin, &found);
        let started = GrpcLanguageHost::start(name, launch, self.options.timeouts).await?;
        Ok(Arc::new(started))
    }

    fn handshake_options(&self) -> HandshakeOptions {
        HandshakeOptions {
            engine_address: self.options.services.engine.clone(),
            mapper_target: self.options.services.mapper.clone(),
            loader_target: self.options.services.loader.clone(),
            resolver_target: self.options.services.resolver.clone(),
            refresh_before_update: self.options.refresh_before_update,
            use_preview: self.options.use_provider_preview,
        }
    }

    fn providers(&self) -> MutexGuard<'_, Vec<Arc<dyn Provider>>> {
        self.providers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, provider: &Arc<dyn Provider>) {
        self.providers().push(provider.clone());
    }

    fn running(&self) -> Vec<Arc<dyn Provider>> {
        self.providers().clone()
    }

    /// Ends a provider that nobody needs any more, while other things go on.
    async fn retire(&self, provider: Arc<dyn Provider>) {
        self.providers().retain(|it| !Arc::ptr_eq(it, &provider));
        let mut retiring = self.retiring.lock().await;
        retiring.spawn(async move { provider.shutdown().await });
    }

    pub(crate) fn warn(&self, text: &str) {
        (self.options.output)(OutputLine {
            source: HOST_SOURCE.into(),
            stream: OutputStream::Stderr,
            level: OutputLevel::Warning,
            text: text.to_owned(),
        });
    }

    /// Asks everything that runs to end its operations soon: providers and policy packs at the same time, then language
    /// hosts.
    pub async fn cancel(&self) {
        let (providers, analyzers) = (self.running(), self.running_analyzers());
        join(
            join_all(providers.iter().map(|provider| provider.cancel())),
            join_all(analyzers.iter().map(|analyzer| analyzer.cancel())),
        )
        .await;
        let hosts: Vec<_> = self.hosts.lock().await.values().cloned().collect();
        join_all(hosts.iter().map(|host| host.cancel())).await;
    }

    /// Ends everything that the host started: providers and policy packs at the same time, each with its own deadline,
    /// then language hosts, because some of the others live inside those. Safe to call more than once.
    pub async fn shutdown(&self) {
        let (providers, analyzers) = (self.running(), self.running_analyzers());
        let retiring = std::mem::take(&mut *self.retiring.lock().await);
        tokio::join!(
            join_all(providers.iter().map(|provider| provider.shutdown())),
            join_all(analyzers.iter().map(|analyzer| analyzer.shutdown())),
            retiring.join_all(),
        );
        self.providers().clear();
        let hosts = std::mem::take(&mut *self.hosts.lock().await);
        join_all(hosts.values().map(|host| host.shutdown())).await;
    }
}
