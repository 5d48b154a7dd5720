//! Programs over the service (`languages.md` 1): made of PCL, written into the folder that the engine names.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use plumb_project::project::file_text;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::codegen::{Diagnostic, DiagnosticSeverity};
use plumb_yaml::{PclFile, Translated, from_pcl};
use serde_json::Value as Json;
use tonic::Status;

/// Writes a YAML project with the program that the request's folder holds.
///
/// The project file stands in the folder of the project, the program and the declarations of packages in its `main`.
pub(super) fn yaml_project(
    request: &pb::GenerateProjectRequest,
) -> Result<pb::GenerateProjectResponse, Status> {
    let project: Json = serde_json::from_str(&request.project)
        .map_err(|error| Status::invalid_argument(format!("the project is no JSON: {error}")))?;
    let translated = from_pcl(&files_of(Path::new(&request.source_directory))?);
    let root = Path::new(&request.target_directory);
    let main = project["main"].as_str().unwrap_or_default();
    let folder = root.join(main);
    if translated.problems.is_empty() {
        fs::create_dir_all(&folder).map_err(|error| failed("create", &folder, &error))?;
        write(
            &root.join("Pulumi.yaml"),
            &file_text(project, Json::from("yaml")),
        )?;
        if !translated.text.is_empty() {
            write(&folder.join("Main.yaml"), &translated.text)?;
        }
        for (name, declaration) in &request.local_dependencies {
            copy(Path::new(declaration), &folder.join("sdks"), name)?;
        }
    }
    Ok(pb::GenerateProjectResponse {
        diagnostics: diagnostics(&translated),
    })
}

/// Returns the program that the texts of PCL in `request` are in YAML.
pub(super) fn yaml_program(request: pb::GenerateProgramRequest) -> pb::GenerateProgramResponse {
    let mut files: Vec<PclFile> = request
        .source
        .into_iter()
        .map(|(name, text)| PclFile { name, text })
        .collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let translated = from_pcl(&files);
    pb::GenerateProgramResponse {
        diagnostics: diagnostics(&translated),
        source: [("Main.yaml".to_owned(), translated.text.into_bytes())].into(),
    }
}

fn diagnostics(translated: &Translated) -> Vec<Diagnostic> {
    let error = |problem: &String| Diagnostic {
        severity: DiagnosticSeverity::DiagError.into(),
        summary: problem.clone(),
        ..Diagnostic::default()
    };
    translated.problems.iter().map(error).collect()
}

/// The files of a program, in the order of their names.
fn files_of(folder: &Path) -> Result<Vec<PclFile>, Status> {
    let entries = fs::read_dir(folder).map_err(|error| failed("read", folder, &error))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| failed("read", folder, &error))?
            .path();
        if path.extension() == Some(OsStr::new("pp")) {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).map_err(|error| failed("read", &path, &error))?;
        let name = path.file_name().unwrap_or_default();
        Ok(PclFile {
            name: name.to_string_lossy().into_owned(),
            text,
        })
    };
    paths.into_iter().map(read).collect()
}

fn copy(declaration: &Path, folder: &Path, name: &str) -> Result<(), Status> {
    fs::create_dir_all(folder).map_err(|error| failed("create", folder, &error))?;
    let target = folder.join(format!("{}.yaml", name.replace('/', "-")));
    fs::copy(declaration, &target).map_err(|error| failed("copy", declaration, &error))?;
    Ok(())
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Status> {
    fs::write(path, text).map_err(|error| failed("write", path, &error))
}

pub(super) fn failed(verb: &str, path: &Path, error: &std::io::Error) -> Status {
    Status::unknown(format!("could not {verb} {}: {error}", path.display()))
}
