//! Evaluator of stored snippets for the engine.

use std::sync::Arc;

use async_trait::async_trait;

use plumb_deploy::request::{PackageRequest, RegisterPackageRequest, Reply, Request};
use plumb_engine::monitor::ResourceMonitor;
use plumb_engine::program::{ProgramContext, ProgramResult};
use plumb_engine::snippet::{InvalidSnippet, SnippetLanguage};
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::report::{DiagnosticStyle, Reporter};
use plumb_eval::source::{SourceFile, Span};
use plumb_resource::Urn;
use plumb_resource::provider::Parameterization;
use plumb_schema::{PackageQuery, QueryParameterization, SchemaLoader};
use plumb_state::{Snippet, SnippetDescriptor};

use crate::bind::ResourceHead;
use crate::eval::{self, Context, Stop};
use crate::packages::{LoadedOnce, Packages};
use crate::resource::SnippetProgram;
use crate::syntax::Parsed;

/// Evaluator of snippets.
pub struct PclSnippets {
    schemas: LoadedOnce,
    style: DiagnosticStyle,
}

impl PclSnippets {
    /// Evaluator with schemas from `schemas`.
    pub fn new(schemas: Arc<dyn SchemaLoader>) -> Self {
        PclSnippets {
            schemas: LoadedOnce::new(schemas),
            style: DiagnosticStyle::default(),
        }
    }

    /// Sets the style of displayed diagnostics.
    #[must_use]
    pub fn with_diagnostic_style(mut self, style: DiagnosticStyle) -> Self {
        self.style = style;
        self
    }

    async fn bind(
        &self,
        snippet: &Snippet,
        source: &Arc<SourceFile>,
    ) -> Result<SnippetProgram, Vec<Diagnostic>> {
        let parsed = Parsed::read(source.clone()).map_err(|problem| vec![problem])?;
        let mut diagnostics = Vec::new();
        let head = head(snippet, &mut diagnostics);
        let own = package_name(&snippet.descriptor);
        let packages = Packages::load(
            &self.schemas,
            (own, query(&snippet.descriptor)),
            &head.token,
            head.references.values().map(Urn::type_text),
            &parsed,
            &mut diagnostics,
        )
        .await;
        if diagnostics.is_empty() {
            SnippetProgram::bind(&parsed, head, &packages)
        } else {
            Err(diagnostics)
        }
    }

    async fn evaluate(
        &self,
        snippet: &Snippet,
        program: &SnippetProgram,
        info: &ProgramContext,
        monitor: &dyn ResourceMonitor,
    ) -> Result<(), Stop> {
        let context = Context {
            info,
            monitor,
            snippet: snippet.uuid.clone(),
            package_name: package_name(&snippet.descriptor).into(),
            package: package_request(&snippet.descriptor, monitor).await?,
        };
        eval::register(program, &context).await
    }
}

#[async_trait]
impl SnippetLanguage for PclSnippets {
    async fn check(&self, snippet: &Snippet) -> Result<(), InvalidSnippet> {
        let source = source_of(snippet);
        let Err(diagnostics) = self.bind(snippet, &source).await else {
            return Ok(());
        };
        let problems: Vec<String> = diagnostics
            .iter()
            .map(|diagnostic| match self.style {
                DiagnosticStyle::Excerpt => diagnostic.excerpt(&source),
                DiagnosticStyle::Annotated => diagnostic.annotated(&source),
            })
            .collect();
        Err(InvalidSnippet {
            name: snippet.name.to_string(),
            problems: problems.join("\n\n"),
        })
    }

    async fn run(
        &self,
        snippet: Snippet,
        info: ProgramContext,
        monitor: Arc<dyn ResourceMonitor>,
    ) -> ProgramResult {
        let source = source_of(&snippet);
        let reporter = Reporter::new(&*monitor, &source, self.style);
        let program = match self.bind(&snippet, &source).await {
            Ok(program) => program,
            Err(diagnostics) => {
                for problem in &diagnostics {
                    reporter.met(problem);
                }
                return ProgramResult::Bailed;
            }
        };
        match self.evaluate(&snippet, &program, &info, &*monitor).await {
            Ok(()) => ProgramResult::Finished,
            Err(Stop::Over) => ProgramResult::Bailed,
            Err(Stop::Problem(diagnostic)) => {
                reporter.met(&diagnostic);
                ProgramResult::Bailed
            }
        }
    }
}

/// Text of a snippet, as a named source for diagnostics.
fn source_of(snippet: &Snippet) -> Arc<SourceFile> {
    let name = format!("{}.pp", snippet.name);
    Arc::new(SourceFile::new(
        name.clone(),
        name.into(),
        snippet.code.as_str(),
    ))
}

fn head(snippet: &Snippet, diagnostics: &mut Vec<Diagnostic>) -> ResourceHead {
    let mut references = std::collections::BTreeMap::new();
    for (name, text) in &snippet.references {
        match Urn::parse(text) {
            Ok(urn) => {
                references.insert(name.clone(), urn);
            }
            Err(error) => {
                let summary = format!("reference '{name}' is not a URN: {error}");
                diagnostics.push(Diagnostic::error(Span::default(), summary));
            }
        }
    }
    ResourceHead {
        name: snippet.name.clone(),
        token: snippet.type_token.clone(),
        references,
    }
}

/// Package of the snippet's tokens: the parameterized package, if there is one.
fn package_name(descriptor: &SnippetDescriptor) -> &str {
    match &descriptor.parameterization {
        Some(parameter) => &parameter.name,
        None => &descriptor.name,
    }
}

fn query(descriptor: &SnippetDescriptor) -> PackageQuery {
    let url = descriptor.download_url.as_str();
    let parameter = descriptor.parameterization.as_ref();
    PackageQuery {
        name: descriptor.name.to_string(),
        version: semver::Version::parse(descriptor.version.trim_start_matches('v')).ok(),
        download_url: (!url.is_empty()).then(|| url.to_owned()),
        parameterization: parameter.map(|it| QueryParameterization {
            name: it.name.to_string(),
            version: it.version.to_string(),
            value: it.value.to_vec(),
        }),
    }
}

/// Request options for the package of a snippet; a parameterized package is registered with the engine first.
async fn package_request(
    descriptor: &SnippetDescriptor,
    monitor: &dyn ResourceMonitor,
) -> Result<PackageRequest, Stop> {
    let Some(parameter) = &descriptor.parameterization else {
        return Ok(PackageRequest {
            version: descriptor.version.clone(),
            download_url: descriptor.download_url.clone(),
            ..PackageRequest::default()
        });
    };
    let request = RegisterPackageRequest {
        name: descriptor.name.clone(),
        version: descriptor.version.clone(),
        download_url: descriptor.download_url.clone(),
        checksums: std::collections::BTreeMap::new(),
        parameterization: Some(Parameterization {
            name: parameter.name.clone(),
            version: parameter.version.clone(),
            value: parameter.value.clone(),
        }),
        extension: None,
    };
    match monitor
        .request(Request::RegisterPackage(Box::new(request)))
        .await
    {
        Reply::Package(package_ref) => Ok(PackageRequest {
            package_ref,
            ..PackageRequest::default()
        }),
        Reply::Failed(error) => Err(eval::refused(Span::default(), &error)),
        _ => Err(eval::mismatched(Span::default())),
    }
}
