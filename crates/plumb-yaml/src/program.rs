//! Programs of `runtime: yaml`, run in process.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ecow::EcoString;
use futures::future::join_all;
use plumb_deploy::request::{RegisterRequest, Reply, Request, RequestErrorKind};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::{Program, ProgramInfo, ProgramResult};
use plumb_resource::{CustomTimeouts, ROOT_STACK_TYPE, Urn};
use plumb_schema::SchemaLoader;
use tokio_util::sync::CancellationToken;

use crate::check;
use crate::diagnostic::Diagnostic;
use crate::eval::driver::Run;
use crate::eval::evaluator::Evaluator;
use crate::eval::value::Val;
use crate::graph::Graph;
use crate::load::{LoadError, Loaded};
use crate::packages::{self, PackageDeclaration};
use crate::report::{DiagnosticStyle, Reporter};
use crate::required::{self, RequiredPackage, RequiredPackagesError};
use crate::requirement;
use crate::schemas::{self, Types};
use crate::settings;
use crate::syntax::program::Syntax;
use plumb_eval::answers::error_text;

/// The YAML language as the engine sees it.
pub struct YamlProgram {
    schemas: Arc<dyn SchemaLoader>,
    style: DiagnosticStyle,
    compiler: Option<String>,
    engine_version: Option<semver::Version>,
    /// What was read last.
    loaded: Mutex<Option<Arc<Loaded>>>,
}

impl YamlProgram {
    /// A program that takes schemas from `schemas`.
    pub fn new(schemas: Arc<dyn SchemaLoader>) -> Self {
        YamlProgram {
            schemas,
            style: DiagnosticStyle::default(),
            compiler: None,
            engine_version: None,
            loaded: Mutex::default(),
        }
    }

    /// Shows diagnostics in the given style.
    #[must_use]
    pub fn with_diagnostic_style(mut self, style: DiagnosticStyle) -> Self {
        self.style = style;
        self
    }

    /// Sets the project's `runtime.options.compiler`.
    #[must_use]
    pub fn with_compiler(mut self, command: Option<String>) -> Self {
        self.compiler = command;
        self
    }

    /// The version that `pulumi.requiredVersion` is compared with; without one it is not checked.
    #[must_use]
    pub fn with_engine_version(mut self, version: semver::Version) -> Self {
        self.engine_version = Some(version);
        self
    }

    async fn run_to_end(&self, info: &ProgramInfo, monitor: &dyn ResourceMonitor) -> ProgramResult {
        let program = match self.program(info) {
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
        self.evaluate(
            info,
            monitor,
            &reporter,
            syntax,
            &declarations,
            &package_refs,
            stack,
        )
        .await
    }

    /// The packages that the program in `directory` uses, sorted by name. Programs with errors use none, so that other
    /// commands work with them.
    pub fn required_packages(
        &self,
        directory: &Path,
    ) -> Result<Vec<RequiredPackage>, RequiredPackagesError> {
        required::required_packages(&*self.load(directory)?)
    }

    /// The program in `directory`, which is read once.
    fn load(&self, directory: &Path) -> Result<Arc<Loaded>, LoadError> {
        let mut known = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = known.as_ref().filter(|it| it.directory == directory) {
            return Ok(loaded.clone());
        }
        Ok(known.insert(Arc::new(Loaded::from(directory)?)).clone())
    }

    fn program(&self, info: &ProgramInfo) -> Result<Arc<Loaded>, String> {
        if let Some(command) = &self.compiler {
            return Err(format!(
                "the runtime option compiler ({command}) is not supported yet"
            ));
        }
        self.load(&info.program_directory).map_err(|error| {
            match std::error::Error::source(&error) {
                Some(cause) => format!("{error}: {cause}"),
                None => error.to_string(),
            }
        })
    }

    #[allow(clippy::too_many_arguments)] // one call site, and the facts have no common owner
    async fn evaluate(
        &self,
        info: &ProgramInfo,
        monitor: &dyn ResourceMonitor,
        reporter: &Reporter<'_>,
        syntax: &Syntax,
        declarations: &[PackageDeclaration],
        package_refs: &[EcoString],
        stack: Urn,
    ) -> ProgramResult {
        let mut diagnostics = Vec::new();
        let settings = settings::evaluate(syntax, info, &mut diagnostics);
        let config: Vec<Val> = settings
            .iter()
            .map(|setting| setting.value.clone())
            .collect();
        let names: Vec<_> = settings.iter().map(settings::Setting::name).collect();
        let graph = Graph::build(syntax, &names, &info.project, &mut diagnostics);
        let types = self
            .types(syntax, &graph, declarations, &config, &mut diagnostics)
            .await;
        diagnostics.extend(self.check_version(syntax, &config, &graph, info));
        for diagnostic in &diagnostics {
            reporter.found(diagnostic);
        }
        if reporter.has_errors() {
            return ProgramResult::Bailed;
        }
        let evaluator = Evaluator::new(&graph, info);
        let run = Run::new(
            syntax,
            &types,
            evaluator,
            stack,
            package_refs,
            monitor,
            reporter,
        );
        run.evaluate(&config).await;
        if reporter.has_errors() || run.is_over.load(Ordering::Relaxed) {
            return ProgramResult::Bailed;
        }
        match run.failed_registration() {
            Some(failed) => ProgramResult::Failed {
                message: format!("waiting for RPCs: {failed}"),
            },
            None => ProgramResult::Finished,
        }
    }

    async fn types(
        &self,
        syntax: &Syntax,
        graph: &Graph,
        declarations: &[PackageDeclaration],
        config: &[Val],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Types {
        // A program whose names make no sense is not worth starting plugins for.
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Types::default();
        }
        let types =
            schemas::resolve(syntax, graph, declarations, &*self.schemas, diagnostics).await;
        if !diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.extend(check::check(syntax, graph, &types, config));
        }
        types
    }

    fn check_version(
        &self,
        syntax: &Syntax,
        config: &[Val],
        graph: &Graph,
        info: &ProgramInfo,
    ) -> Option<Diagnostic> {
        let expr = syntax.required_version.as_ref()?;
        let evaluator = Evaluator::new(graph, info);
        for (id, node) in graph.nodes.iter().enumerate() {
            if let crate::graph::Node::Config(index) = node {
                let _ = evaluator.values[id].set(config[*index].clone());
            }
        }
        match evaluator.eval(expr) {
            Ok(Val::String(range)) => {
                let version = self.engine_version.as_ref()?;
                requirement::check(&range, version)
                    .err()
                    .map(|problem| Diagnostic::error(expr.span, problem.to_string()))
            }
            Ok(Val::Poison) => None,
            _ => Some(Diagnostic::error(
                expr.span,
                "version range must evaluate to a string",
            )),
        }
    }
}

#[async_trait]
impl Program for YamlProgram {
    fn needs_server(&self) -> bool {
        false
    }

    async fn run(
        &self,
        info: ProgramInfo,
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

async fn register_stack(
    info: &ProgramInfo,
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

/// Names every declared package to the engine, and returns the references in the same order.
async fn register_packages(
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

fn refused(reply: Reply) -> ProgramResult {
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
