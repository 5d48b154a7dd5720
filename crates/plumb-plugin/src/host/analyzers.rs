//! Starting policy packs (`protocol.md` 15.8).

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError};

use plumb_resource::provider::PluginSpec;

use super::launch::start_run;
use super::{HostError, PluginHost, environment};
use crate::analyzer::{
    AnalyzedStack, Analyzer, AnalyzerError, Greeting, GrpcAnalyzer, POLICY_MANIFEST_FILE,
    PackPlace, PackSources, PolicyManifest, PolicyPack,
};
use crate::discovery::{FindError, PluginKind};
use crate::language::{LanguageRuntime, ProgramInfo, RunPluginRequest};
use crate::output::OutputLevel;
use crate::process::{Environment, Launch, Process, StartError, start_with_port};
use crate::trace_context::Connection;

/// Message of Node.js for a pack whose SDK is missing or does not know policies.
const NO_SDK: &str = "Cannot find module '@pulumi/pulumi/cmd/run-policy-pack'";

/// Instructions to run a pack.
struct Recipe {
    /// Folder of the pack, for the handshake.
    directory: PathBuf,
    version: Option<String>,
    way: Way,
}

enum Way {
    /// The pack is an executable, or an executable runs it.
    Executable(Launch),
    /// A language host runs it.
    Language(Arc<dyn LanguageRuntime>, Box<RunPluginRequest>),
}

impl PluginHost {
    /// Starts a policy pack and sends it the data of the stack.
    pub async fn analyzer(
        &self,
        pack: &PolicyPack,
        stack: &AnalyzedStack,
    ) -> Result<Arc<dyn Analyzer>, AnalyzerError> {
        let analyzer = match &pack.place {
            PackPlace::Linked(linked) => {
                let greeting = Greeting {
                    engine: &self.options.services.engine,
                    directory: self.options.working_directory.clone(),
                    stack,
                };
                let timeouts = self.options.timeouts;
                Arc::new(GrpcAnalyzer::linked(&pack.name, linked, timeouts, greeting).await?)
            }
            PackPlace::Path(path) => {
                let path = self.locate_pack(pack, path).await?;
                match self.load_pack(pack, &path, stack)? {
                    Some(analyzer) => analyzer,
                    None => Arc::new(self.start_process(pack, path, stack).await?),
                }
            }
        };
        let mut analyzers = self
            .analyzers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        analyzers.push(analyzer.clone());
        Ok(analyzer)
    }

    /// Loads a pack whose runtime is built into the program; `None` for other packs.
    fn load_pack(
        &self,
        pack: &PolicyPack,
        path: &Path,
        stack: &AnalyzedStack,
    ) -> Result<Option<Arc<dyn Analyzer>>, AnalyzerError> {
        if !path.join(POLICY_MANIFEST_FILE).exists() {
            return Ok(None);
        }
        let manifest = PolicyManifest::read(path);
        let manifest = manifest.map_err(|error| not_usable(pack, error.into()))?;
        let Some(factory) = self.packs.get(&manifest.plugin.runtime) else {
            return Ok(None);
        };
        let sources = PackSources {
            name: &pack.name,
            directory: path,
            manifest: &manifest,
            stack,
        };
        let loaded = factory(sources).map_err(|source| AnalyzerError::Sources {
            pack: pack.name.clone(),
            source,
        })?;
        Ok(Some(loaded))
    }

    async fn start_process(
        &self,
        pack: &PolicyPack,
        path: PathBuf,
        stack: &AnalyzedStack,
    ) -> Result<GrpcAnalyzer, AnalyzerError> {
        let recipe = self.recipe(pack, path, stack).await?;
        let directory = recipe.directory.clone();
        let started = match self.start_pack(pack, recipe.way, &directory).await {
            Ok(started) => started,
            Err(error) => return Err(not_started(pack, directory, error)),
        };
        let greeting = Greeting {
            engine: &self.options.services.engine,
            directory,
            stack,
        };
        GrpcAnalyzer::from_started(
            &pack.name,
            recipe.version,
            started,
            self.options.timeouts,
            greeting,
        )
        .await
    }

    async fn recipe(
        &self,
        pack: &PolicyPack,
        path: PathBuf,
        stack: &AnalyzedStack,
    ) -> Result<Recipe, AnalyzerError> {
        if path.is_dir() {
            return self.recipe_of_sources(pack, path, stack).await;
        }
        let working_directory = self.options.working_directory.clone();
        let launch = self.pack_launch(pack, &path, Vec::new(), working_directory);
        let launch = Launch {
            environment: with_extra(self.options.environment.clone(), pack),
            ..launch
        };
        Ok(Recipe {
            version: PolicyManifest::version_beside(&path),
            directory: path.parent().map(Path::to_owned).unwrap_or_default(),
            way: Way::Executable(launch),
        })
    }

    /// The folder or the executable of a pack. A name that is not a path is that of a plugin.
    async fn locate_pack(&self, pack: &PolicyPack, path: &Path) -> Result<PathBuf, AnalyzerError> {
        if path.exists() {
            return Ok(path.to_owned());
        }
        let missing = || not_found(pack);
        let is_name = Path::new(&pack.name).components().count() == 1;
        if !is_name {
            return Err(missing());
        }
        let found = self.find(PluginKind::Analyzer, &PluginSpec::named(&pack.name));
        let found = self.admitted(found.map_err(|_| missing())?).await;
        let found = found.map_err(|error| not_usable(pack, error))?;
        if found.executable.exists() {
            return Ok(found.executable);
        }
        // A folder without an executable holds the sources of the pack.
        let folder = found.executable.parent().map(Path::to_owned);
        folder.ok_or_else(missing)
    }

    async fn recipe_of_sources(
        &self,
        pack: &PolicyPack,
        directory: PathBuf,
        stack: &AnalyzedStack,
    ) -> Result<Recipe, AnalyzerError> {
        let failed = |source: HostError| not_usable(pack, source);
        if !directory.join(POLICY_MANIFEST_FILE).exists() {
            return Err(not_found(pack));
        }
        let manifest = PolicyManifest::read(&directory).map_err(|error| failed(error.into()))?;
        let runtime = &manifest.plugin.runtime;
        let environment = environment::of_analyzer(&self.options, stack, runtime);
        let environment = with_extra(environment, pack);
        let way = match self.language(runtime).await {
            Ok(host) => {
                let mut request = self.pack_request(&directory, &manifest, environment);
                request.attach_debugger = self.debugged.include(&pack.name);
                Way::Language(host, Box::new(request))
            }
            Err(HostError::NotFound(missing @ FindError::NotFound { .. })) => {
                let runner = self.runner(pack, &directory, &manifest).await;
                let runner = runner.map_err(failed)?;
                let launch = runner.ok_or_else(|| failed(missing.into()))?;
                Way::Executable(Launch {
                    environment,
                    ..launch
                })
            }
            Err(error) => return Err(failed(error)),
        };
        Ok(Recipe {
            directory,
            version: manifest.version,
            way,
        })
    }

    fn pack_request(
        &self,
        directory: &Path,
        manifest: &PolicyManifest,
        environment: Environment,
    ) -> RunPluginRequest {
        let main = manifest.main.as_ref().map(|main| directory.join(main));
        let program = main.filter(|main| main.is_dir());
        RunPluginRequest {
            info: ProgramInfo {
                root_directory: directory.to_owned(),
                program_directory: program.unwrap_or_else(|| directory.to_owned()),
                entry_point: ".".to_owned(),
                options: manifest.plugin.options.clone(),
            },
            kind: PluginKind::Analyzer,
            working_directory: directory.to_owned(),
            args: vec![self.options.services.engine.clone()],
            environment,
            loader_target: self.options.services.loader.clone().unwrap_or_default(),
            attach_debugger: false,
        }
    }

    /// The executable `pulumi-analyzer-policy-<runtime>`, which runs packs of a language without a language host.
    async fn runner(
        &self,
        pack: &PolicyPack,
        directory: &Path,
        manifest: &PolicyManifest,
    ) -> Result<Option<Launch>, HostError> {
        let name = format!("policy-{}", manifest.plugin.runtime);
        let Ok(found) = self.find(PluginKind::Analyzer, &PluginSpec::named(&name)) else {
            return Ok(None);
        };
        let found = self.admitted(found).await?;
        let options = manifest.plugin.options.iter();
        let options = options.map(|(key, value)| match value.as_str() {
            Some(text) => format!("-{key}={text}").into(),
            None => format!("-{key}={value}").into(),
        });
        let args = std::iter::once(OsString::from("."))
            .chain(options)
            .collect();
        let directory = directory.to_owned();
        Ok(Some(self.pack_launch(
            pack,
            &found.executable,
            args,
            directory,
        )))
    }

    fn pack_launch(
        &self,
        pack: &PolicyPack,
        executable: &Path,
        args: Vec<OsString>,
        working_directory: PathBuf,
    ) -> Launch {
        let engine = OsString::from(&self.options.services.engine);
        Launch {
            source: pack.name.as_str().into(),
            program: executable.to_owned(),
            args: self.arguments(std::iter::once(engine).chain(args).collect()),
            environment: Environment::new(),
            working_directory,
            level: OutputLevel::Info,
            keep_blank_lines: false,
            output: self.options.output.clone(),
        }
    }

    async fn start_pack(
        &self,
        pack: &PolicyPack,
        way: Way,
        directory: &Path,
    ) -> Result<(Process, Connection), HostError> {
        let title = format!("{} (analyzer)", pack.name);
        let timeouts = self.options.timeouts;
        let (host, request) = match way {
            Way::Executable(launch) => {
                let started = start_with_port(&title, launch, timeouts).await;
                return Ok(started.map_err(Box::new)?);
            }
            Way::Language(host, request) => (host, *request),
        };
        let run = host
            .run_plugin(request)
            .await
            .map_err(|source| HostError::Language {
                plugin: pack.name.clone(),
                directory: directory.to_owned(),
                source,
            })?;
        let mut timeouts = timeouts.for_sources();
        if self.debugged.include(&pack.name) {
            timeouts = timeouts.for_debuggers();
        }
        let launch = self.pack_launch(pack, directory, Vec::new(), directory.to_owned());
        let started = start_run(&title, launch, run, timeouts).await;
        Ok(started.map_err(Box::new)?)
    }

    pub(super) fn running_analyzers(&self) -> Vec<Arc<dyn Analyzer>> {
        let analyzers = self
            .analyzers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        analyzers.clone()
    }
}

fn with_extra(mut environment: Environment, pack: &PolicyPack) -> Environment {
    environment.extend(pack.environment.clone());
    environment
}

/// Error for a pack without a manifest; the path begins as the user wrote it.
fn not_found(pack: &PolicyPack) -> AnalyzerError {
    let folder = Path::new(&pack.name).components();
    let folder: PathBuf = folder.filter(|it| *it != Component::CurDir).collect();
    AnalyzerError::NotFound {
        pack: pack.name.clone(),
        manifest: folder.join(POLICY_MANIFEST_FILE),
    }
}

fn not_usable(pack: &PolicyPack, source: HostError) -> AnalyzerError {
    AnalyzerError::Start {
        pack: pack.name.clone(),
        source: Box::new(source),
    }
}

fn not_started(pack: &PolicyPack, directory: PathBuf, error: HostError) -> AnalyzerError {
    let lacks_sdk = match &error {
        HostError::Start(start) => {
            let StartError { output, .. } = start.as_ref();
            output.iter().any(|line| line.contains(NO_SDK))
        }
        _ => false,
    };
    if lacks_sdk {
        let pack = pack.name.clone();
        AnalyzerError::NoSdk { pack, directory }
    } else {
        not_usable(pack, error)
    }
}
