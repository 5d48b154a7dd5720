//! Programs in other languages than YAML over the service: bound with schemas of the engine, made by `plumb-programs`.

use std::fs;
use std::path::Path;

use plumb_pcl::{Leniency, Loaded, Problem, Program, Sources};
use plumb_programs::{ProgramLanguage, Project, language_of};
use plumb_project::project::file_text;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::codegen::{Diagnostic, DiagnosticSeverity, Pos, Range};
use plumb_schema::SchemaLoader;
use serde_json::Value as Json;
use tonic::Status;

use super::project::{failed, write};
use crate::yaml::{RemoteSchemas, connect};

/// Makes the program that the texts in `request` are, for the host `host`.
pub(super) async fn program(
    host: &str,
    request: pb::GenerateProgramRequest,
) -> Result<pb::GenerateProgramResponse, Status> {
    let language = language(host, "programs")?;
    let sources = Sources::new(request.source);
    let loaded = load(&sources, &request.loader_target, request.strict).await?;
    if loaded.has_errors() {
        return Ok(pb::GenerateProgramResponse {
            diagnostics: diagnostics(&loaded.problems),
            source: [].into(),
        });
    }
    let generated = plumb_programs::generate(&loaded.program, language);
    let problems: Vec<Problem> = [loaded.problems, generated.problems].concat();
    let files = generated.files.into_iter();
    Ok(pb::GenerateProgramResponse {
        diagnostics: diagnostics(&problems),
        source: files
            .map(|(path, text)| (path, text.into_bytes()))
            .collect(),
    })
}

/// Writes a project with the program that the request's folder holds.
pub(super) async fn project(
    host: &str,
    request: pb::GenerateProjectRequest,
) -> Result<pb::GenerateProjectResponse, Status> {
    let language = language(host, "projects")?;
    let description: Json = serde_json::from_str(&request.project)
        .map_err(|error| Status::invalid_argument(format!("the project is no JSON: {error}")))?;
    let source = Path::new(&request.source_directory);
    let sources = Sources::in_folder(source).map_err(|error| failed("read", source, &error))?;
    let loaded = load(&sources, &request.loader_target, request.strict).await?;
    if loaded.has_errors() {
        return Ok(pb::GenerateProjectResponse {
            diagnostics: diagnostics(&loaded.problems),
        });
    }
    let text = |key: &str| description[key].as_str().unwrap_or_default().to_owned();
    let about = Project {
        name: text("name"),
        main: text("main"),
        runtime: host.to_owned(),
        local_dependencies: request.local_dependencies.into_iter().collect(),
    };
    let generated = plumb_programs::project(&loaded.program, language, &about);
    let problems = [loaded.problems, generated.problems].concat();
    if !problems.iter().any(|it| it.diagnostic.is_error()) {
        let root = Path::new(&request.target_directory);
        for (path, text) in &generated.files {
            let path = root.join(path);
            let folder = path.parent().unwrap_or(root);
            fs::create_dir_all(folder).map_err(|error| failed("create", folder, &error))?;
            write(&path, text)?;
        }
        let runtime = plumb_programs::runtime(host);
        write(&root.join("Pulumi.yaml"), &file_text(description, runtime))?;
    }
    Ok(pb::GenerateProjectResponse {
        diagnostics: diagnostics(&problems),
    })
}

fn language(host: &str, what: &str) -> Result<ProgramLanguage, Status> {
    language_of(host).ok_or_else(|| {
        Status::unimplemented(format!(
            "the language host {host} does not generate {what} yet"
        ))
    })
}

async fn load(sources: &Sources, loader: &str, is_strict: bool) -> Result<Loaded, Status> {
    let schemas = match loader {
        "" => RemoteSchemas::none(),
        address => {
            let channel = connect(address).await;
            RemoteSchemas::new(channel.map_err(|error| Status::unavailable(super::text(&error)))?)
        }
    };
    let schemas: &dyn SchemaLoader = &schemas;
    let leniency = if is_strict {
        Leniency::NONE
    } else {
        Leniency::ALL
    };
    Ok(Program::load(sources, schemas, leniency).await)
}

fn diagnostics(problems: &[Problem]) -> Vec<Diagnostic> {
    problems.iter().map(diagnostic).collect()
}

fn diagnostic(problem: &Problem) -> Diagnostic {
    let severity = if problem.diagnostic.is_error() {
        DiagnosticSeverity::DiagError
    } else {
        DiagnosticSeverity::DiagWarning
    };
    let place = |offset: u32| {
        let (line, column) = problem.source.position(offset);
        Pos {
            line: i64::try_from(line).unwrap_or_default(),
            column: i64::try_from(column).unwrap_or_default(),
            byte: i64::from(offset),
        }
    };
    Diagnostic {
        severity: severity.into(),
        summary: problem.diagnostic.summary.clone(),
        detail: problem.diagnostic.detail.clone().unwrap_or_default(),
        subject: problem.diagnostic.span.map(|span| Range {
            filename: problem.source.name.clone(),
            start: Some(place(span.start)),
            end: Some(place(span.end)),
        }),
        ..Diagnostic::default()
    }
}
