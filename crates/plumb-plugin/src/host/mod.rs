//! From a plugin specification to a running provider.
//!
//! [`PluginHost::provider`] uses the first of these that has the plugin:
//! 1. providers attached by address, which somebody runs under a debugger;
//! 2. [`Discovery`], so that plugins of the user win over the built-in ones;
//! 3. providers built into the program, and commands that replace bundled plugins;
//! 4. [`Acquire`], which installs missing plugins.
//!
//! The package `pulumi` is always the built-in one. Every call starts a new instance. **The host keeps every provider and
//! language host that it started, and ends them all in [`PluginHost::shutdown`].**

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
use crate::analyzer::{Analyzer, PackFactory};
use crate::discovery::{Discovery, FindError, FoundPlugin, ManifestError, PluginKind};
use crate::grpc::{GrpcProvider, HandshakeOptions};
use crate::language::{GrpcLanguageHost, LanguageError, LanguageRuntime};
use crate::output::{OutputLevel, OutputLine, OutputSink, OutputStream};
use crate::process::{Environment, PluginTimeouts, StartError};
use crate::provider::Provider;
use mapping::Mappings;
use schema::Schemas;

/// Constructor of a provider that is built into the program; `None` when it does not serve this specification.
pub type BuiltinFactory = Box<dyn Fn(&PluginSpec) -> Option<Arc<dyn Provider>> + Send + Sync>;

/// Constructor of the command that replaces a plugin executable: program, arguments and the whole environment.
pub type CommandFactory = Box<
    dyn Fn(
            Environment,
        )
            -> BoxFuture<'static, Result<(PathBuf, Vec<OsString>, Environment), LanguageError>>
        + Send
        + Sync,
>;

/// Constructor of a language host that is built into the program.
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

/// Settings of a [`PluginHost`].
pub struct HostOptions {
    /// Places to search for plugins.
    pub discovery: Discovery,
    /// The environment of the program, cloud credentials included.
    pub environment: Environment,
    /// The project's working directory.
    pub working_directory: PathBuf,
    /// Project name, if there is a project.
    pub project: Option<String>,
    /// Runtime options of the project, as text.
    pub runtime_options: BTreeMap<String, String>,
    /// Configuration in plain text, by namespace, then name. Includes secrets.
    pub config: BTreeMap<String, BTreeMap<String, String>>,
    /// Addresses of services for the plugins.
    pub services: ServiceAddresses,
    /// Logging flags for executables, placed before their other arguments.
    pub log_arguments: Vec<OsString>,
    /// Ports of providers under a debugger, by name.
    pub attached_providers: BTreeMap<String, u16>,
    /// Ports of language hosts under a debugger, by name.
    pub attached_languages: BTreeMap<String, u16>,
    /// Time limits of plugins.
    pub timeouts: PluginTimeouts,
    /// Whether the engine refreshes resources before updates when a provider asks for it.
    pub refresh_before_update: bool,
    /// Whether to call providers in previews.
    pub use_provider_preview: bool,
    /// Whether to omit the warning about a plugin older than requested.
    pub ignore_versions: bool,
    /// Receiver of plugin output and warnings.
    pub output: OutputSink,
    /// Folder that caches the schemas of cached plugins; without it every schema is requested from its plugin.
    pub schema_cache: Option<PathBuf>,
    /// Installs missing plugins and verifies found ones.
    pub acquire: Option<Arc<dyn Acquire>>,
}

/// Source of the host's own warnings.
pub const HOST_SOURCE: &str = "plugin host";

/// Errors of starting providers and language hosts.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The plugin was not found.
    #[error(transparent)]
    NotFound(#[from] FindError),
    /// The plugin was not found and could not be acquired.
    #[error("{missing}")]
    Acquire {
        /// Error of the search.
        missing: FindError,
        /// Cause.
        #[source]
        source: AcquireFailure,
    },
    /// The plugin was not accepted by [`Acquire::verify`].
    #[error("the plugin {} must not be used", path.display())]
    Unverified {
        /// Executable of the plugin.
        path: PathBuf,
        /// Cause.
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
        /// Folder of the plugin.
        directory: PathBuf,
        /// Cause.
        #[source]
        source: LanguageError,
    },
    /// The command that replaces a bundled plugin cannot be run.
    #[error("could not run the plugin {plugin}")]
    Command {
        /// Name of the plugin.
        plugin: String,
        /// Cause.
        #[source]
        source: LanguageError,
    },
    /// A language host is in source form, but must be an executable.
    #[error("language plugins must be executable binaries: {}", path.display())]
    LanguageSources {
        /// The folder.
        path: PathBuf,
    },
    /// The provider rejected the parameter.
    #[error("could not parameterize the plugin {plugin} for package {package}: {}", error.message)]
    Parameterize {
        /// Name of the plugin.
        plugin: String,
        /// Name of the package.
        package: String,
        /// Error of the provider.
        error: ProviderError,
    },
    /// The parameter resulted in a package other than the expected one.
    #[error("parameterize response name {answered:?} does not match expected package {expected:?}")]
    ParameterizedName {
        /// Name of the resulting package.
        answered: String,
        /// Name of the expected package.
        expected: String,
    },
    /// The provider could not return its schema.
    #[error("could not get the schema of the plugin {plugin}: {}", error.message)]
    Schema {
        /// Name of the plugin.
        plugin: String,
        /// Error of the provider.
        error: ProviderError,
    },
    /// The provider could not return its mappings.
    #[error("could not ask the plugin {plugin} for mappings: {}", error.message)]
    Mapping {
        /// Name of the plugin.
        plugin: String,
        /// Error of the provider.
        error: ProviderError,
    },
    /// A package of the program cannot be resolved to a plugin.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The content of a repository cannot be determined.
    #[error("could not find out what is in the repository {address}")]
    Locate {
        /// Address of the repository.
        address: String,
        /// Cause.
        #[source]
        source: AcquireFailure,
    },
    /// A language host failed.
    #[error(transparent)]
    Host(#[from] LanguageError),
}

/// Starts plugins, keeps them and ends them.
pub struct PluginHost {
    options: HostOptions,
    builtins: BTreeMap<String, BuiltinFactory>,
    commands: BTreeMap<String, CommandFactory>,
    languages: BTreeMap<String, LanguageFactory>,
    /// Loaders of policy packs, by runtime.
    packs: BTreeMap<String, PackFactory>,
    /// Started providers, kept until they are retired or the host is shut down, even if every other owner has dropped them.
    providers: Mutex<Vec<Arc<dyn Provider>>>,
    retiring: tokio::sync::Mutex<JoinSet<()>>,
    schemas: Schemas,
    mappings: Mappings,
    /// Started policy packs, kept until the shutdown, even if every other owner has dropped them.
    analyzers: Mutex<Vec<Arc<dyn Analyzer>>>,
    hosts: tokio::sync::Mutex<BTreeMap<String, Arc<dyn LanguageRuntime>>>,
    debugged: DebuggedPlugins,
}

/// Plugins that wait for a debugger. Only plugins in source form can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DebuggedPlugins {
    /// No plugin.
    #[default]
    None,
    /// The plugins with these names.
    Named(BTreeSet<String>),
    /// All plugins.
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
    /// A host without built-in plugins; no plugin is started yet.
    pub fn new(options: HostOptions) -> Self {
        PluginHost {
            options,
            builtins: BTreeMap::new(),
            commands: BTreeMap::new(),
            languages: BTreeMap::new(),
            packs: BTreeMap::new(),
            providers: Mutex::default(),
            retiring: tokio::sync::Mutex::default(),
            schemas: Schemas::default(),
            mappings: Mappings::default(),
            analyzers: Mutex::default(),
            hosts: tokio::sync::Mutex::default(),
            debugged: DebuggedPlugins::None,
        }
    }

    /// Sets the plugins that wait for a debugger when they start.
    pub fn debug_plugins(&mut self, debugged: DebuggedPlugins) {
        self.debugged = debugged;
    }

    /// Registers a built-in provider.
    pub fn register_builtin(&mut self, name: &str, factory: BuiltinFactory) {
        self.builtins.insert(name.to_owned(), factory);
    }

    /// Registers a command that replaces the resource plugin `name`.
    pub fn register_command(&mut self, name: &str, factory: CommandFactory) {
        self.commands.insert(name.to_owned(), factory);
    }

    /// Registers a built-in language host.
    pub fn register_language(&mut self, name: &str, factory: LanguageFactory) {
        self.languages.insert(name.to_owned(), factory);
    }

    /// Registers a built-in runtime of policy packs. Its packs need no process.
    pub fn register_packs(&mut self, runtime: &str, factory: PackFactory) {
        self.packs.insert(runtime.to_owned(), factory);
    }

    /// Settings of this host.
    pub fn options(&self) -> &HostOptions {
        &self.options
    }

    /// Starts a provider; applies the parameter of `spec`, if it has one.
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

    /// Installs the missing ones among the plugins of `specs`, concurrently. Returns the failures. No plugin is started.
    pub async fn provide(&self, specs: impl IntoIterator<Item = &PluginSpec>) -> Vec<HostError> {
        let missing = specs
            .into_iter()
            .filter_map(|spec| Some((spec, self.locate(spec).err()?)));
        let acquired = missing.map(|(spec, error)| self.acquired(spec, error));
        let results = join_all(acquired).await;
        results.into_iter().filter_map(Result::err).collect()
    }

    /// Acquires a provider that was not found.
    async fn acquired(
        &self,
        spec: &PluginSpec,
        missing: FindError,
    ) -> Result<FoundPlugin, HostError> {
        self.acquired_of(PluginKind::Resource, spec, missing).await
    }

    /// [`Self::acquired`] for any kind of plugin.
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

    /// Searches for a plugin in the places of [`PluginHost::provider`]. Built-in ones need no access to the disk.
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

    /// Whether [`PluginHost::provider`] would return a built-in provider, as far as can be determined without access to
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

    /// Warns about a plugin older than requested, because discovery accepts any version from the search path.
    async fn check_version(&self, spec: &PluginSpec, provider: &GrpcProvider) {
        let Some(wanted) = spec
            .version
            .as_ref()
            .filter(|_| !self.options.ignore_versions)
        else {
            return;
        };
        // An error counts as an unknown version.
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

    /// The host of a language, one per name: a built-in one unless the user has a plugin for it.
    ///
    /// The name `client` stands for an SDK that runs the program in its own process; the runtime options hold its address.
    pub async fn language(&self, name: &str) -> Result<Arc<dyn LanguageRuntime>, HostError> {
        let mut hosts = self.hosts.lock().await;
        if let Some(host) = hosts.get(name) {
            return Ok(host.clone());
        }
        let host = self.boot_language(name).await?;
        hosts.insert(name.to_owned(), host.clone());
        Ok(host)
    }

    /// Whether programs in a language run in this process. A host on the search path does not change that, because machines
    /// with the reference installed have its hosts there; a host in the project file or an attached one does.
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

    /// Shuts down a provider that is no longer needed, in the background.
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

    /// Asks providers and policy packs at the same time, then language hosts, to finish their running operations soon.
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

    /// Ends all plugins of the host. Providers and policy packs end at the same time, each with its own deadline; language
    /// hosts end last, because some of the others run inside of them. Safe to call more than once.
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
