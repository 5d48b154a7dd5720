//! The calls of the service.

use std::sync::{Arc, Mutex, PoisonError};

use plumb_plugin::language::PackRequest;
use plumb_plugin::{LanguageError, LanguageRuntime};
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::language_runtime_server::LanguageRuntime as Service;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use super::{convert, generate, programs, project, streams};
use crate::{Language, LanguageOptions};

/// The service of one host; clones share it.
#[derive(Clone)]
pub(super) struct LanguageService {
    shared: Arc<Shared>,
}

struct Shared {
    language: Language,
    options: LanguageOptions,
    current: Mutex<Current>,
    /// Programs and plugins that run.
    tasks: TaskTracker,
    /// Fires when they are all to end.
    stop: CancellationToken,
}

/// The host, and the engine that it was made for.
struct Current {
    host: Arc<dyn LanguageRuntime>,
    engine_address: String,
}

impl LanguageService {
    pub(super) fn new(language: Language, options: LanguageOptions) -> Self {
        let current = Current {
            host: (language.host)(options.clone()),
            engine_address: options.engine_address.clone(),
        };
        LanguageService {
            shared: Arc::new(Shared {
                language,
                options,
                current: Mutex::new(current),
                tasks: TaskTracker::new(),
                stop: CancellationToken::new(),
            }),
        }
    }

    fn host(&self) -> Arc<dyn LanguageRuntime> {
        let current = self.current();
        current.host.clone()
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Current> {
        let current = &self.shared.current;
        current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the host anew for another engine.
    fn attach(&self, engine_address: String) {
        let mut current = self.current();
        if engine_address.is_empty() || engine_address == current.engine_address {
            return;
        }
        current.host = (self.shared.language.host)(LanguageOptions {
            engine_address: engine_address.clone(),
            ..self.shared.options.clone()
        });
        current.engine_address = engine_address;
    }

    /// The host, for a call that needs the engine.
    fn attached_host(&self) -> Result<Arc<dyn LanguageRuntime>, Status> {
        let current = self.current();
        if current.engine_address.is_empty() {
            return Err(Status::failed_precondition(format!(
                "the language host {} does not know the engine: call Handshake first",
                self.shared.language.name
            )));
        }
        Ok(current.host.clone())
    }

    /// Ends all programs and plugins.
    pub(super) async fn end(&self) {
        self.shared.stop.cancel();
        self.shared.tasks.close();
        let host = self.host();
        tokio::join!(host.shutdown(), self.shared.tasks.wait());
    }
}

/// What an engine is told of a failure: everything, as it shows the text to its user.
pub(crate) fn text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn status(error: LanguageError) -> Status {
    match &error {
        LanguageError::Unsupported { .. } => Status::unimplemented(text(&error)),
        _ => Status::unknown(text(&error)),
    }
}

#[tonic::async_trait]
impl Service for LanguageService {
    async fn handshake(
        &self,
        request: Request<pb::LanguageHandshakeRequest>,
    ) -> Result<Response<pb::LanguageHandshakeResponse>, Status> {
        self.attach(request.into_inner().engine_address);
        Ok(Response::new(pb::LanguageHandshakeResponse {}))
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Result<Response<pb::PluginInfo>, Status> {
        let version = self.host().version().await.map_err(status)?;
        Ok(Response::new(pb::PluginInfo {
            version: version
                .map(|version| version.to_string())
                .unwrap_or_default(),
        }))
    }

    async fn get_required_packages(
        &self,
        request: Request<pb::GetRequiredPackagesRequest>,
    ) -> Result<Response<pb::GetRequiredPackagesResponse>, Status> {
        let info = convert::program_info(request.into_inner().info)?;
        let required = self.host().required_packages(&info).await.map_err(status)?;
        Ok(Response::new(convert::required_packages(required)))
    }

    async fn run(
        &self,
        request: Request<pb::RunRequest>,
    ) -> Result<Response<pb::RunResponse>, Status> {
        let request = convert::run_request(request.into_inner())?;
        let host = self.attached_host()?;
        let cancel = self.shared.stop.child_token();
        // An engine that ends the call wants the program to end, and the program may take its time for that.
        let _guard = cancel.clone().drop_guard();
        let program = async move { host.run(request, cancel).await };
        let outcome = self.shared.tasks.spawn(program).await;
        Ok(Response::new(match outcome {
            Ok(Ok(outcome)) => convert::run_response(outcome),
            Ok(Err(error)) => pb::RunResponse {
                error: text(&error),
                bail: false,
            },
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }))
    }

    async fn install_dependencies(
        &self,
        request: Request<pb::InstallDependenciesRequest>,
    ) -> Result<Response<BoxStream<pb::InstallDependenciesResponse>>, Status> {
        let request = convert::install_request(request.into_inner())?;
        let host = self.host();
        let (parts, answer) = streams::parts();
        self.shared.tasks.spawn(async move {
            let output = streams::installation_output(parts.clone());
            let installation = host.install_dependencies(request, output);
            tokio::select! {
                installed = installation => if let Err(error) = installed {
                    // Nobody may listen any more.
                    let _ = parts.send(Err(status(error)));
                },
                () = parts.closed() => {}
            }
        });
        Ok(Response::new(answer))
    }

    async fn runtime_options_prompts(
        &self,
        request: Request<pb::RuntimeOptionsRequest>,
    ) -> Result<Response<pb::RuntimeOptionsResponse>, Status> {
        let info = convert::program_info(request.into_inner().info)?;
        let prompts = self.host().option_prompts(&info).await.map_err(status)?;
        Ok(Response::new(pb::RuntimeOptionsResponse {
            prompts: prompts.into_iter().map(convert::option_prompt).collect(),
        }))
    }

    async fn template(
        &self,
        request: Request<pb::TemplateRequest>,
    ) -> Result<Response<pb::TemplateResponse>, Status> {
        let request = request.into_inner();
        let info = convert::program_info(request.info)?;
        let prepared = self.host().template(&info, &request.project_name).await;
        prepared.map_err(status)?;
        Ok(Response::new(pb::TemplateResponse {}))
    }

    async fn about(
        &self,
        request: Request<pb::AboutRequest>,
    ) -> Result<Response<pb::AboutResponse>, Status> {
        let info = convert::program_info(request.into_inner().info)?;
        let about = self.host().about(&info).await.map_err(status)?;
        Ok(Response::new(pb::AboutResponse {
            executable: about.executable,
            version: about.version,
            metadata: about.metadata,
        }))
    }

    async fn get_program_dependencies(
        &self,
        request: Request<pb::GetProgramDependenciesRequest>,
    ) -> Result<Response<pb::GetProgramDependenciesResponse>, Status> {
        let request = request.into_inner();
        let info = convert::program_info(request.info)?;
        let host = self.host();
        let listed = host.program_dependencies(&info, request.transitive_dependencies);
        let dependencies = listed.await.map_err(status)?.into_iter();
        Ok(Response::new(pb::GetProgramDependenciesResponse {
            dependencies: dependencies
                .map(|dependency| pb::DependencyInfo {
                    name: dependency.name,
                    version: dependency.version,
                })
                .collect(),
        }))
    }

    async fn run_plugin(
        &self,
        request: Request<pb::RunPluginRequest>,
    ) -> Result<Response<BoxStream<pb::RunPluginResponse>>, Status> {
        let request = convert::run_plugin_request(request.into_inner())?;
        let launch = self.host().run_plugin(request).await.map_err(status)?;
        let (parts, answer) = streams::parts();
        let stop = self.shared.stop.child_token();
        let plugin = streams::run_plugin(launch, parts, stop);
        self.shared.tasks.spawn(plugin);
        Ok(Response::new(answer))
    }

    async fn pack(
        &self,
        request: Request<pb::PackRequest>,
    ) -> Result<Response<pb::PackResponse>, Status> {
        let request = request.into_inner();
        let request = PackRequest {
            package_directory: request.package_directory.into(),
            destination_directory: request.destination_directory.into(),
        };
        let artifact = self.host().pack(request).await.map_err(status)?;
        Ok(Response::new(pb::PackResponse {
            artifact_path: artifact.to_string_lossy().into_owned(),
        }))
    }

    async fn link(
        &self,
        request: Request<pb::LinkRequest>,
    ) -> Result<Response<pb::LinkResponse>, Status> {
        let request = convert::link_request(request.into_inner())?;
        let import_instructions = self.host().link(request).await.map_err(status)?;
        Ok(Response::new(pb::LinkResponse {
            import_instructions,
        }))
    }

    async fn generate_program(
        &self,
        request: Request<pb::GenerateProgramRequest>,
    ) -> Result<Response<pb::GenerateProgramResponse>, Status> {
        match self.shared.language.name {
            "yaml" => Ok(Response::new(project::yaml_program(request.into_inner()))),
            name => {
                let made = programs::program(name, request.into_inner()).await?;
                Ok(Response::new(made))
            }
        }
    }

    async fn generate_project(
        &self,
        request: Request<pb::GenerateProjectRequest>,
    ) -> Result<Response<pb::GenerateProjectResponse>, Status> {
        match self.shared.language.name {
            "yaml" => project::yaml_project(request.get_ref()).map(Response::new),
            name => {
                let made = programs::project(name, request.into_inner()).await?;
                Ok(Response::new(made))
            }
        }
    }

    async fn generate_package(
        &self,
        request: Request<pb::GeneratePackageRequest>,
    ) -> Result<Response<pb::GeneratePackageResponse>, Status> {
        let made = generate::package(self.shared.language.name, request.into_inner()).await?;
        Ok(Response::new(made))
    }

    async fn cancel(&self, _: Request<()>) -> Result<Response<()>, Status> {
        self.host().cancel().await;
        Ok(Response::new(()))
    }
}
