//! Plugin host of an operation: where plugins are found, which are built in, how programs are run.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use plumb_automation::hosting::{
    Schemas, log_sink, output_sink, plugin_spec, register_builtins, register_languages,
    register_packs, shared_variables,
};
use plumb_engine::monitor::{DebugMessages, ResourceMonitor};
use plumb_engine::program::Program;
use plumb_engine::snippet::SnippetLanguage;
use plumb_engine::{HostOrigin, LanguageProgram};
use plumb_language::LanguageOptions;
use plumb_pcl::PclSnippets;
use plumb_plugin::discovery::ProjectPlugin;
use plumb_plugin::language::{PackageDependency, ProgramInfo};
use plumb_plugin::process::PluginTimeouts;
use plumb_plugin::{
    Acquire, Discovery, HOST_SOURCE, HostOptions, OutputLevel, OutputLine, OutputSink,
    OutputStream, PluginHost, PluginKind, ServiceAddresses, parse_attachments,
};
use plumb_providers::{BuiltinContext, StackReader};
use plumb_resource::provider::PluginSpec;
use plumb_yaml::{Compiler, DiagnosticStyle, YamlProgram};

use super::debugging::Debugged;
use crate::acquire::DownloadListener;
use crate::context::LoadedProject;
use crate::packages::discovery;
use crate::{Context, Environment, Error};

/// Environment of the plugin host and the program.
pub(super) struct ProjectEnvironment {
    pub(super) environment: Environment,
    pub(super) project: Option<LoadedProject>,
    pub(super) root: PathBuf,
    pub(super) program_directory: PathBuf,
    /// Plugins named outside of the project file.
    pub(super) plugins: Vec<ProjectPlugin>,
    /// Plain-text configuration by namespace, then name.
    pub(super) config: BTreeMap<String, BTreeMap<String, String>>,
    /// Arguments of plugins that set their logging.
    pub(super) log_arguments: Vec<OsString>,
    pub(super) client: Option<String>,
    pub(super) debugged: Debugged,
    pub(super) stacks: Arc<dyn StackReader>,
    /// Downloads missing plugins, and verifies the others.
    pub(super) acquire: Option<Arc<dyn Acquire>>,
    /// Listener for download progress.
    pub(super) downloads: Arc<DownloadListener>,
    /// Warnings of plugin hosts already printed. An update finds the same plugins as its preview, and must not repeat them.
    pub(super) told: Arc<Mutex<HashSet<String>>>,
    /// Style of diagnostics in YAML programs.
    pub(super) diagnostics: DiagnosticStyle,
}

/// Program of a project, with the plugins that it needs.
#[derive(Default)]
pub(super) struct ProjectProgram {
    pub(super) program: Option<Arc<dyn Program>>,
    /// Plugins of its packages; they determine the versions of the default providers.
    pub(super) packages: Vec<PluginSpec>,
    /// Plugins that its packages extend.
    pub(super) extended: Vec<PluginSpec>,
}

impl ProjectProgram {
    /// Downloads missing plugins before the run; returns a warning about those that cannot be downloaded. Not an error,
    /// because a package may be installed and not used.
    pub(super) async fn missing_plugins(&self, host: &PluginHost) -> Option<String> {
        let missing = host
            .provide(self.packages.iter().chain(&self.extended))
            .await;
        if missing.is_empty() {
            return None;
        }
        let mut lines: Vec<String> = missing.iter().map(|it| crate::error::chain(it)).collect();
        lines.push(
            "The run fails if the program uses them. Install each with `plumb plugin install resource NAME VERSION`, from a \
             server of your own with `--server URL` or from a file with `--file FILE`, or do not look for them beforehand \
             with `--skip-plugin-pre-install`"
                .to_owned(),
        );
        Some(lines.join("\n"))
    }
}

impl ProjectEnvironment {
    /// Plugin host for one run; `engine` is the address of the engine service.
    pub(super) fn plugin_host(
        &self,
        engine: &str,
        monitor: Arc<dyn ResourceMonitor>,
        debug: DebugMessages,
    ) -> Result<PluginHost, Error> {
        let output = self.once(output_sink(monitor.clone()));
        let mut host = PluginHost::new(self.host_options(engine, output.clone())?);
        host.debug_plugins(self.debugged.plugins.clone());
        register_builtins(&mut host, &self.builtin_context(monitor));
        self.register_dynamic_providers(&mut host);
        register_languages(&mut host, &self.language_options(engine, output, debug));
        register_packs(&mut host);
        Ok(host)
    }

    fn host_options(&self, engine: &str, output: OutputSink) -> Result<HostOptions, Error> {
        let environment = &self.environment;
        let project = self.project.as_ref();
        Ok(HostOptions {
            discovery: self.discovery(),
            environment: environment.variables().clone(),
            working_directory: self.program_directory.clone(),
            project: project.map(|project| project.project.name.clone()),
            runtime_options: self.runtime_options(),
            config: self.config.clone(),
            services: ServiceAddresses {
                engine: engine.to_owned(),
                loader: Some(engine.to_owned()),
                mapper: Some(engine.to_owned()),
                resolver: Some(engine.to_owned()),
            },
            log_arguments: self.log_arguments.clone(),
            attached_providers: self.attachments("PULUMI_DEBUG_PROVIDERS")?,
            attached_languages: self.attachments("PULUMI_DEBUG_LANGUAGES")?,
            timeouts: PluginTimeouts::default(),
            refresh_before_update: !environment.is_on("PULUMI_DISABLE_REFRESH_BEFORE_UPDATE"),
            use_provider_preview: !environment.is_on("PULUMI_DISABLE_PROVIDER_PREVIEW"),
            ignore_versions: environment.is_on("PULUMI_DEV"),
            output,
            schema_cache: Some(environment.pulumi_home.join("schemas")),
            acquire: self.acquire.clone(),
        })
    }

    fn builtin_context(&self, monitor: Arc<dyn ResourceMonitor>) -> BuiltinContext {
        BuiltinContext {
            working_dir: self.program_directory.clone(),
            environment: Some(shared_variables(self.environment.variables())),
            log: log_sink(monitor),
            stacks: Some(self.stacks.clone()),
        }
    }

    fn language_options(
        &self,
        engine: &str,
        output: OutputSink,
        debug: DebugMessages,
    ) -> LanguageOptions {
        LanguageOptions {
            environment: self.environment.variables().clone(),
            engine_address: engine.to_owned(),
            debug_messages: debug == DebugMessages::Told,
            cache_directory: self.environment.pulumi_home.join("plumb"),
            version: crate::semantic_version(),
            output,
        }
    }

    /// A sink that drops warnings of plugin hosts that were printed before.
    fn once(&self, output: OutputSink) -> OutputSink {
        let told = self.told.clone();
        Arc::new(move |line: OutputLine| {
            let is_own = &*line.source == HOST_SOURCE && line.level == OutputLevel::Warning;
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if !is_own || told.insert(line.text.clone()) {
                drop(told);
                output(line);
            }
        })
    }

    /// Registers the providers of dynamic resources. They are part of the SDKs, and run code that the program stored in its
    /// state.
    fn register_dynamic_providers(&self, host: &mut PluginHost) {
        let info = self.language_info();
        host.register_command(
            "pulumi-python",
            Box::new(move |environment| {
                let info = info.clone();
                Box::pin(
                    async move { Ok(plumb_language::dynamic_provider(&environment, &info).await?) },
                )
            }),
        );
        let info = self.language_info();
        host.register_command(
            "pulumi-nodejs",
            Box::new(move |environment| {
                let info = info.clone();
                Box::pin(async move {
                    Ok(plumb_language::node_dynamic_provider(&environment, &info).await?)
                })
            }),
        );
    }

    fn takes_only_locked(&self) -> bool {
        let acquire = self.acquire.as_ref();
        acquire.is_some_and(|it| it.takes_only_locked())
    }

    /// Ports of plugins that run already, by name, from a variable. Refused with `--locked`, because no lock file can
    /// identify them.
    fn attachments(&self, variable: &str) -> Result<BTreeMap<String, u16>, Error> {
        let attached = parse_attachments(self.environment.get(variable).unwrap_or_default())?;
        if attached.is_empty() || !self.takes_only_locked() {
            return Ok(attached);
        }
        Err(Error::user(format!(
            "{variable} attaches plugins that plumb.lock cannot name; unset it, or run without --locked"
        )))
    }

    fn discovery(&self) -> Discovery {
        let mut discovery = discovery(&self.environment, self.project.as_ref());
        // A plugin that a command names stands for the one of the same name in the project, because it is what is asked for.
        let is_named = |it: &ProjectPlugin| {
            let mut named = self.plugins.iter();
            named.any(|named| named.kind == it.kind && named.name == it.name)
        };
        discovery.project.retain(|it| !is_named(it));
        discovery.project.extend(self.plugins.iter().cloned());
        if self.takes_only_locked() {
            discovery.search_path = None;
        }
        discovery
    }

    pub(super) fn runtime(&self) -> Option<&plumb_project::project::Runtime> {
        self.project.as_ref()?.project.runtime.as_ref()
    }

    fn runtime_options(&self) -> BTreeMap<String, String> {
        if let Some(address) = &self.client {
            return BTreeMap::from([("address".to_owned(), address.clone())]);
        }
        self.runtime()
            .into_iter()
            .flat_map(|runtime| &runtime.options)
            .map(|(key, value)| {
                (
                    key.clone(),
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned),
                )
            })
            .collect()
    }

    fn language_info(&self) -> ProgramInfo {
        let main = self
            .project
            .as_ref()
            .and_then(|project| project.project.main.clone());
        let entry_point = match main {
            Some(main) if !self.root.join(&main).is_dir() => {
                Path::new(&main).file_name().map_or_else(
                    || ".".to_owned(),
                    |name| name.to_string_lossy().into_owned(),
                )
            }
            _ => ".".to_owned(),
        };
        ProgramInfo {
            root_directory: self.root.clone(),
            program_directory: self.program_directory.clone(),
            entry_point,
            options: self
                .runtime()
                .map(|runtime| runtime.options.clone())
                .unwrap_or_default(),
        }
    }

    /// Program of the project, with the plugins that it needs. `None` in `program` for a project without a runtime.
    pub(super) async fn program(&self, host: &Arc<PluginHost>) -> Result<ProjectProgram, Error> {
        self.check_main()?;
        self.tell_strange_options(host);
        self.unchecked_program(host).await
    }

    /// [`Self::program`], without checks of the project file.
    pub(super) async fn unchecked_program(
        &self,
        host: &Arc<PluginHost>,
    ) -> Result<ProjectProgram, Error> {
        let runtime = self.runtime().map_or("", |runtime| runtime.name.as_str());
        match (self.client.is_some(), runtime) {
            (false, "") => Ok(ProjectProgram::default()),
            (false, "yaml") if host.is_own_language("yaml") => {
                let program = self.yaml_program(host)?;
                let required =
                    program
                        .required_packages(&self.program_directory)
                        .map_err(|error| {
                            Error::from(error).context("failed to discover package requirements")
                        })?;
                Ok(ProjectProgram {
                    program: Some(Arc::new(program)),
                    packages: required.iter().map(plugin_spec).collect(),
                    extended: Vec::new(),
                })
            }
            (is_client, runtime) => {
                let runtime = if is_client { "client" } else { runtime };
                let language = host.language(runtime).await.map_err(|error| {
                    Error::from(error)
                        .context(format_args!("failed to load language plugin {runtime}"))
                })?;
                let info = self.language_info();
                let required = language.required_packages(&info).await?;
                let (packages, extended): (Vec<_>, Vec<_>) = required
                    .packages
                    .iter()
                    .filter(|package| package.kind == PluginKind::Resource)
                    .partition(|package| package.extension.is_none());
                let specs = |packages: Vec<&PackageDependency>| -> Vec<PluginSpec> {
                    let packages = packages.into_iter();
                    packages.map(PackageDependency::plugin_spec).collect()
                };
                Ok(ProjectProgram {
                    program: Some(Arc::new(LanguageProgram {
                        host: language,
                        info,
                        origin: if is_client {
                            HostOrigin::Attached
                        } else {
                            HostOrigin::Started
                        },
                        attach_debugger: self.debugged.program,
                    })),
                    packages: specs(packages),
                    extended: specs(extended),
                })
            }
        }
    }

    /// Evaluator for snippets of the state.
    pub(super) fn snippets(&self, host: &Arc<PluginHost>) -> Arc<dyn SnippetLanguage> {
        let snippets = PclSnippets::new(Arc::new(Schemas(host.clone())));
        Arc::new(snippets.with_diagnostic_style(self.diagnostics))
    }

    /// Error for a missing `main`. Most language hosts only get the folder, and would run what they find there. Not checked
    /// for Node.js, which resolves incomplete file names, and for hosts that are plugins, which may have rules of their own.
    fn check_main(&self) -> Result<(), Error> {
        const WHOLE_NAMES: [&str; 6] = ["dotnet", "go", "java", "python", "rust", "yaml"];
        let project = self.project.as_ref();
        let has_whole_names = self
            .runtime()
            .is_some_and(|runtime| WHOLE_NAMES.contains(&runtime.name.as_str()));
        if !has_whole_names || self.client.is_some() {
            return Ok(());
        }
        match project.and_then(|project| project.project.main.as_deref()) {
            Some(main) if !self.root.join(main).exists() => Err(Error::user(format!(
                "could not find `{main}`, which the project file names as `main`"
            ))),
            _ => Ok(()),
        }
    }

    /// Warns of runtime options that have no effect.
    fn tell_strange_options(&self, host: &PluginHost) {
        let Some(runtime) = self.runtime() else {
            return;
        };
        for text in plumb_language::strange_options(&runtime.name, &runtime.options) {
            (host.options().output)(OutputLine {
                source: HOST_SOURCE.into(),
                stream: OutputStream::Stderr,
                level: OutputLevel::Warning,
                text,
            });
        }
    }

    fn yaml_program(&self, host: &Arc<PluginHost>) -> Result<YamlProgram, Error> {
        let compiler = match self.runtime() {
            Some(runtime) => Compiler::of_options(&runtime.options, self.environment.variables())?,
            None => None,
        };
        Ok(YamlProgram::new(Arc::new(Schemas(host.clone())))
            .with_diagnostic_style(self.diagnostics)
            .with_compiler(compiler)
            .with_engine_version(crate::semantic_version()))
    }
}

impl Context {
    /// Folders of the project file and of the program.
    pub(super) fn program_folders(&self, project: Option<&LoadedProject>) -> (PathBuf, PathBuf) {
        let root = project.map_or_else(
            || self.environment.cwd.clone(),
            |project| project.root().to_owned(),
        );
        let main = project
            .and_then(|project| project.project.main.as_deref())
            .map(|main| root.join(main));
        let directory = match main {
            Some(main) if main.is_dir() => main,
            Some(main) => main.parent().map_or_else(|| root.clone(), Path::to_owned),
            None => root.clone(),
        };
        (root, directory)
    }
}
