//! SDKs over the service (`languages.md` 1): bound with schemas of the engine, written into the folder that it names.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use plumb_codegen::{FilePath, GenerateError, Language, Purpose, Sink, Supplement, generate_with};
use plumb_project::yaml::{self, Data, Item, Layout, Mapping, Node};
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::codegen::{Diagnostic, DiagnosticSeverity};
use plumb_schema::bound::Package;
use plumb_schema::{
    BindOptions, Document, Format, PackageQuery, PackageSchema, Packages, Problem, SchemaLoader,
    bind,
};
use tokio::runtime::Handle;
use tonic::Status;

use crate::yaml::{RemoteSchemas, connect};

/// What is made for the programs of a host.
#[derive(Clone, Copy)]
enum Output {
    Sdk(Language),
    /// YAML programs need no more than to be told of the package.
    Declaration,
}

/// What the host of this name makes; nothing where that is not built.
fn output_of(host: &str) -> Option<Output> {
    match host {
        "bun" => Some(Output::Sdk(Language::Nodejs)),
        "yaml" => Some(Output::Declaration),
        name => Language::from_name(name).map(Output::Sdk),
    }
}

/// Makes the SDK that `request` asks for, in the language of the host `host`.
pub(super) async fn package(
    host: &str,
    request: pb::GeneratePackageRequest,
) -> Result<pb::GeneratePackageResponse, Status> {
    let output = output_of(host).ok_or_else(|| {
        Status::unimplemented(format!(
            "the language host {host} does not generate packages yet"
        ))
    })?;
    if matches!(output, Output::Declaration) && !request.extra_files.is_empty() {
        return Err(Status::invalid_argument(
            "overlays are not supported for YAML",
        ));
    }
    let schemas = match request.loader_target.as_str() {
        "" => RemoteSchemas::none(),
        address => {
            let channel = connect(address).await;
            RemoteSchemas::new(channel.map_err(|error| Status::unavailable(super::text(&error)))?)
        }
    };
    let packages = Remote {
        schemas,
        runtime: Handle::current(),
    };
    // Binding is work, and asks for other schemas in the middle of it.
    let made = tokio::task::spawn_blocking(move || generate(output, &request, &packages)).await;
    made.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn generate(
    output: Output,
    request: &pb::GeneratePackageRequest,
    packages: &Remote,
) -> Result<pb::GeneratePackageResponse, Status> {
    let document = match Document::read(&request.schema, Format::Json) {
        Ok(document) => document,
        Err(problem) => return Ok(response(&[problem])),
    };
    let bound = bind(
        &document,
        BindOptions {
            allow_dangling: true,
            packages,
        },
    );
    if !bound.is_usable() {
        return Ok(response(&bound.problems));
    }
    let mut folder = Folder {
        root: PathBuf::from(&request.directory),
    };
    match output {
        Output::Sdk(language) => {
            let purpose = if request.local {
                Purpose::Local
            } else {
                Purpose::Published
            };
            let supplement = Supplement {
                local_dependencies: request.local_dependencies.clone().into_iter().collect(),
                ..Supplement::default()
            };
            let package = &bound.package;
            let made = generate_with(package, language, purpose, &supplement, &mut folder);
            made.map_err(|error| Status::unknown(super::text(&error)))?;
        }
        Output::Declaration => {
            let (name, text) = declaration(&bound.package);
            folder.write(Path::new(&name), text.as_bytes())?;
        }
    }
    for (name, content) in &request.extra_files {
        folder.write(&inner_path(name)?, content)?;
    }
    Ok(response(&bound.problems))
}

fn response(problems: &[Problem]) -> pb::GeneratePackageResponse {
    let diagnostics = problems.iter().map(|problem| {
        let severity = if problem.is_error() {
            DiagnosticSeverity::DiagError
        } else {
            DiagnosticSeverity::DiagWarning
        };
        Diagnostic {
            severity: severity.into(),
            summary: problem.to_string(),
            ..Diagnostic::default()
        }
    });
    pb::GeneratePackageResponse {
        diagnostics: diagnostics.collect(),
    }
}

/// The file that tells YAML programs of a package, and its name (`yaml-runtime.md` 9).
fn declaration(package: &Package<'_>) -> (String, String) {
    let version = package.version.as_ref().map(ToString::to_string);
    let version = version.unwrap_or_default();
    let mut fields = vec![("packageDeclarationVersion", Node::plain("1"))];
    if let Some(parameter) = &package.parameterization {
        fields.push(("name", Node::string(parameter.base_name)));
        fields.push(("version", Node::string(parameter.base_version)));
        let member = if parameter.is_extension {
            "extension"
        } else {
            "parameterization"
        };
        let inner = [
            ("name", Node::string(package.name)),
            ("version", Node::string(version.as_str())),
            ("value", Node::string(parameter.parameter)),
        ];
        fields.push((member, mapping(inner)));
    } else {
        fields.push(("name", Node::string(package.name)));
        fields.push(("version", Node::string(version.as_str())));
    }
    if let Some(url) = package.download_url {
        fields.push(("downloadUrl", Node::string(url)));
    }
    let text = yaml::emit(&yaml::Document {
        head: Vec::new(),
        root: Some(mapping(fields)),
        foot: Vec::new(),
    });
    // upstream: declarations are indented by four blanks, programs by two.
    let text = text.replace("\n  ", "\n    ");
    (format!("{}-{version}.yaml", package.name), text)
}

fn mapping<'f>(fields: impl IntoIterator<Item = (&'f str, Node)>) -> Node {
    let entries = fields
        .into_iter()
        .map(|(key, value)| (Node::key(key), Item::new(value)))
        .collect();
    Node::new(Data::Mapping(Mapping {
        layout: Layout::Block,
        entries,
    }))
}

/// A path that does not lead out of the folder.
fn inner_path(text: &str) -> Result<PathBuf, Status> {
    let path = PathBuf::from(text);
    let is_inner = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    is_inner
        .then_some(path)
        .ok_or_else(|| Status::invalid_argument(format!("{text} leads out of the folder")))
}

/// The folder of the SDK.
struct Folder {
    root: PathBuf,
}

impl Folder {
    fn write(&self, path: &Path, content: &[u8]) -> Result<(), Status> {
        let written = self.try_write(path, content);
        written.map_err(|error| {
            let path = self.root.join(path);
            Status::unknown(format!("could not write {}: {error}", path.display()))
        })
    }

    fn take(&self, path: FilePath, content: &[u8]) -> Result<(), GenerateError> {
        let written = self.try_write(Path::new(path.as_str()), content);
        written.map_err(|source| GenerateError::Write { path, source })
    }

    fn try_write(&self, path: &Path, content: &[u8]) -> std::io::Result<()> {
        let path = self.root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, content)
    }
}

impl Sink for Folder {
    fn file(&mut self, path: FilePath, text: String) -> Result<(), GenerateError> {
        self.take(path, text.as_bytes())
    }

    fn picture(&mut self, path: FilePath, content: &'static [u8]) -> Result<(), GenerateError> {
        self.take(path, content)
    }
}

/// Packages that schemas refer to, from the engine.
struct Remote {
    schemas: RemoteSchemas,
    runtime: Handle,
}

impl Packages for Remote {
    fn find(&self, name: &str, version: Option<&semver::Version>) -> Option<Arc<PackageSchema>> {
        let query = PackageQuery {
            name: name.to_owned(),
            version: version.cloned(),
            download_url: None,
            parameterization: None,
        };
        // What cannot be had is told where it is missed.
        self.runtime.block_on(self.schemas.load(&query)).ok()?
    }
}
