//! Programs with `runtime: yaml`, run in process.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ecow::EcoString;
use futures::future::join_all;
use plumb_deploy::request::{RegisterRequest, Reply, Request, RequestErrorKind};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::{Program, ProgramContext, ProgramResult};
use plumb_resource::{CustomTimeouts, ROOT_STACK_TYPE, Urn};
use plumb_schema::SchemaLoader;
use tokio_util::sync::CancellationToken;

use crate::body::{Body, Owner};
use crate::compiler::Compiler;
use crate::component::ComponentPackage;
use crate::load::{LoadError, Loaded};
use crate::packages::{self, PackageDeclaration};
use crate::report::{DiagnosticStyle, Reporter};
use crate::required::{self, RequiredPackage, RequiredPackagesError};
use crate::settings;
use plumb_eval::answers::error_text;

/// The YAML language, in the form that the engine uses.
pub struct YamlProgram {
    schemas: Arc<dyn SchemaLoader>,
    style: DiagnosticStyle,
    compiler: Option<Compiler>,
    /// Program that is given as text, and not by a folder.
    text: Option<Arc<Loaded>>,
    engine_version: Option<semver::Version>,
    /// Program that was parsed last.
    loaded: Mutex<Option<Arc<Loaded>>>,
}

impl YamlProgram {
    /// A program that loads schemas from `schemas`.
    pub fn new(schemas: Arc<dyn SchemaLoader>) -> Self {
        YamlProgram {
            schemas,
            style: DiagnosticStyle::default(),
            compiler: None,
            text: None,
            engine_version: None,
            loaded: Mutex::default(),
        }
    }

    /// Sets the style of diagnostics.
    #[must_use]
    pub fn with_diagnostic_style(mut self, style: DiagnosticStyle) -> Self {
        self.style = style;
        self
    }

    /// Sets the project's `runtime.options.compiler`.
    #[must_use]
    pub fn with_compiler(mut self, compiler: Option<Compiler>) -> Self {
        self.compiler = compiler;
        self
    }

    /// Sets the text of the program; folders are then not searched for it.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        self.text = Some(Arc::new(Loaded::of_text(text)));
        self
    }

    /// Sets the version that is compared with `pulumi.requiredVersion`; without it, there is no check.
    #[must_use]
    pub fn with_engine_version(mut self, version: semver::Version) -> Self {
        self.engine_version = Some(version);
        self
    }

    async fn run_to_end(
        &self,
        info: &ProgramContext,
        monitor: &dyn ResourceMonitor,
    ) -> ProgramResult {
        let program = match self.program(info).await {
            Ok(program) => program,
            Err(message) => return ProgramResult::Failed { message },
        };
        let syntax = &program.syntax;
        let reporter = Reporter::new(monitor, &syntax.source, self.style);
        for diagnostic in &program.diagnostics {
            reporter.found(diagnostic);
        }
        if reporter.has_errors() {
            return ProgramResult::Failed {
                message: "failed to load template".to_owned(),
            };
        }
        let declarations = match packages::find_declarations(&info.program_directory) {
            Ok(declarations) => declarations,
            Err(error) => {
                return ProgramResult::Failed {
                    message: error.to_string(),
                };
            }
        };
        let stack = match register_stack(info, monitor).await {
            Ok(stack) => stack,
            Err(result) => return result,
        };
        let package_refs = match register_packages(&declarations, monitor).await {
            Ok(refs) => refs,
            Err(result) => return result,
        };
        if let Some(misplaced) = syntax.misplaced {
            return one_error(misplaced);
        }
        let mut problems = Vec::new();
        let body = Body {
            syntax,
            settings: &settings::evaluate(syntax, info, &mut problems),
            info,
            monitor,
            reporter: &reporter,
            declarations: &declarations,
            package_refs: &package_refs,
            schemas: &*self.schemas,
            engine_version: self.engine_version.as_ref(),
            owner: &Owner::stack(stack),
        };
        body.evaluate(problems).await.result
    }

    /// Packages used by the program or the components in `directory`, sorted by name. Fails if the program has errors.
    pub fn required_packages(
        &self,
        directory: &Path,
    ) -> Result<Vec<RequiredPackage>, RequiredPackagesError> {
        match self.load(directory) {
            Err(LoadError::Missing { .. }) if ComponentPackage::is_in(directory) => {
                Ok(ComponentPackage::load(directory)?.required_packages())
            }
            loaded => required::required_packages(&*loaded?),
        }
    }

    /// The program in `directory`, parsed only once.
    fn load(&self, directory: &Path) -> Result<Arc<Loaded>, LoadError> {
        if let Some(text) = &self.text {
            return Ok(text.clone());
        }
        let mut known = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = known.as_ref().filter(|it| it.directory == directory) {
            return Ok(loaded.clone());
        }
        Ok(known.insert(Arc::new(Loaded::from(directory)?)).clone())
    }

    async fn program(&self, info: &ProgramContext) -> Result<Arc<Loaded>, String> {
        if let Some(compiler) = &self.compiler {
            let compiled = compiler.compile(info).await;
            return compiled.map(Arc::new).map_err(|error| error.to_string());
        }
        self.load(&info.program_directory).map_err(|error| {
            match std::error::Error::source(&error) {
                Some(cause) => format!("{error}: {cause}"),
                None => error.to_string(),
            }
        })
    }
}

#[async_trait]
impl Program for YamlProgram {
    fn needs_server(&self) -> bool {
        false
    }

    async fn run(
        &self,
        info: ProgramContext,
        monitor: Arc<dyn ResourceMonitor>,
        cancel: CancellationToken,
    ) -> ProgramResult {
        let running = self.run_to_end(&info, &*monitor);
        cancel
            .run_until_cancelled(running)
            .await
            .unwrap_or(ProgramResult::Bailed)
    }
}

/// Result of a program that failed with one error message.
pub(crate) fn one_error(message: &str) -> ProgramResult {
    ProgramResult::Failed {
        message: format!("1 error occurred:\n\t* {message}"),
    }
}

async fn register_stack(
    info: &ProgramContext,
    monitor: &dyn ResourceMonitor,
) -> Result<Urn, ProgramResult> {
    let name = format!("{}-{}", info.project, info.stack);
    let request = RegisterRequest {
        custom_timeouts: Some(CustomTimeouts::default()),
        ..RegisterRequest::new(ROOT_STACK_TYPE, &name, false)
    };
    match monitor.request(Request::Register(Box::new(request))).await {
        Reply::Registered(reply) => Ok(reply.urn),
        reply => Err(refused(reply)),
    }
}

/// Registers all declared packages with the engine; returns their references in the same order.
pub(crate) async fn register_packages(
    declarations: &[PackageDeclaration],
    monitor: &dyn ResourceMonitor,
) -> Result<Vec<EcoString>, ProgramResult> {
    let requests = declarations
        .iter()
        .map(|declared| monitor.request(Request::RegisterPackage(Box::new(declared.request()))));
    let mut refs = Vec::with_capacity(declarations.len());
    for reply in join_all(requests).await {
        match reply {
            Reply::Package(reference) => refs.push(reference),
            reply => return Err(refused(reply)),
        }
    }
    Ok(refs)
}

pub(crate) fn refused(reply: Reply) -> ProgramResult {
    match reply {
        Reply::Failed(error) if error.kind == RequestErrorKind::Unavailable => {
            ProgramResult::Bailed
        }
        Reply::Failed(error) => ProgramResult::Failed {
            message: error_text(&error),
        },
        _ => ProgramResult::Failed {
            message: "the engine gave an answer of the wrong kind".to_owned(),
        },
    }
}
