//! Local SDKs of packages in a project: generation, and linking with the program.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_codegen::{Language, Purpose, Supplement};
use plumb_operate::acquire::output_to;
use plumb_operate::packages::{SchemaText, Wanted};
use plumb_operate::{Context, Error};
use plumb_plugin::PluginKind;
use plumb_plugin::language::{LinkDependency, LinkRequest, PackageDependency, ProgramInfo};
use plumb_project::project::PackageSpec;
use plumb_project::yaml::{self, Document as YamlDocument, Node};
use plumb_schema::bound::Package;
use serde_json::json;

use super::gen_sdk::write_sdk;
use crate::commands::language;

/// Folder for the generated SDKs of a project.
const FOLDER: &str = "sdks";

/// A package used by a project, with its local SDK.
pub(crate) struct LocalSdk {
    /// The package's name.
    pub(crate) name: String,
    /// Folder of the SDK, relative to the project; `None` for languages without SDKs.
    pub(crate) folder: Option<PathBuf>,
    /// Version of the package, if its schema contains it.
    pub(crate) version: Option<semver::Version>,
}

/// Folder of a package's SDK, relative to the project.
pub(crate) fn folder_of(package: &str, namespace: Option<&str>) -> String {
    match namespace {
        Some(namespace) => format!("{FOLDER}/{namespace}-{package}"),
        None => format!("{FOLDER}/{package}"),
    }
}

/// SDK language of a runtime; `None` for YAML, which needs no SDKs.
fn sdk_language(runtime: &str) -> Option<Language> {
    match runtime {
        "bun" => Some(Language::Nodejs),
        other => Language::from_name(other),
    }
}

/// Schema of the package `spec` of the project or plugin in `root`.
pub(crate) fn schema_of(
    spec: &PackageSpec,
    root: &Path,
    ctx: &Context,
) -> Result<SchemaText, Error> {
    let inner = ctx.in_folder(root)?;
    let source = match &spec.version {
        Some(version) => format!("{}@{version}", spec.source),
        None => spec.source.clone(),
    };
    let wanted = Wanted {
        source: &source,
        parameters: &spec.parameters,
        extension: spec.extensions.first().map(String::as_str),
        server: spec.plugin_download_url.as_deref(),
    };
    SchemaText::load_wanted(wanted, &inner)
}

/// Generates the SDK of a package for a project.
pub(crate) fn make(
    schema: &SchemaText,
    runtime: &str,
    root: &Path,
    ctx: &Context,
) -> Result<LocalSdk, Error> {
    let document = schema.document()?;
    let bound = schema.bind(&document, true, ctx)?;
    if !bound.is_usable() {
        return Err(Error::user("the schema is not valid"));
    }
    let package = &bound.package;
    let name = package.name.to_string();
    let relative = PathBuf::from(folder_of(&name, package.namespace));
    let folder = root.join(&relative);
    let is_made = match sdk_language(runtime) {
        Some(language) => {
            let supplement = Supplement::default();
            write_sdk(package, language, Purpose::Local, &supplement, folder)?;
            true
        }
        None if runtime == "yaml" => declare(&document, package, &folder)?,
        None => {
            return Err(Error::user(format!(
                "there are no SDKs for {runtime} programs"
            )));
        }
    };
    Ok(LocalSdk {
        folder: is_made.then_some(relative),
        version: package.version.clone(),
        name,
    })
}

/// Writes the declaration of a package for YAML programs, which need one only for parameterized packages
/// (`yaml-runtime.md` 9).
fn declare(
    document: &plumb_schema::Document<'_>,
    package: &Package<'_>,
    folder: &Path,
) -> Result<bool, Error> {
    let root = document.root();
    let text = |node: Option<&plumb_schema::Node<'_>>, key: &str| -> String {
        let value = node.and_then(|node| node.get(key));
        value
            .and_then(|node| node.as_str().map(ToOwned::to_owned))
            .unwrap_or_default()
    };
    let version = package
        .version
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    for (key, member) in [
        ("parameterization", "parameterization"),
        ("extensionParameterization", "extension"),
    ] {
        let Some(parameter) = root.get(key) else {
            continue;
        };
        let base = parameter.get("baseProvider");
        let value = text(Some(parameter), "parameter");
        // The parameter is written unchanged; check it here, because otherwise the error would appear only
        // when the program runs.
        STANDARD.decode(&value).map_err(|error| {
            Error::user(format!(
                "the parameter in the schema of {} is not base64: {error}",
                package.name
            ))
        })?;
        let declaration = json!({
            "packageDeclarationVersion": 1,
            "name": text(base, "name"),
            "version": text(base, "version"),
            member: { "name": package.name.to_string(), "version": version, "value": value },
        });
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}-{version}.yaml", package.name));
        fs::write(path, yaml_text(yaml::from_json(&declaration)))?;
        return Ok(true);
    }
    Ok(false)
}

fn yaml_text(root: Node) -> String {
    yaml::emit(&YamlDocument {
        head: Vec::new(),
        root: Some(root),
        foot: Vec::new(),
    })
}

/// Adds SDKs to the program's dependencies; returns the host's instructions for their use.
pub(crate) fn link(
    sdks: &[LocalSdk],
    runtime: &str,
    info: ProgramInfo,
    ctx: &Context,
) -> Result<String, Error> {
    let with_folder = sdks
        .iter()
        .filter_map(|sdk| sdk.folder.clone().map(|path| (sdk, path)));
    let packages: Vec<LinkDependency> = with_folder
        .map(|(sdk, path)| LinkDependency {
            package: PackageDependency {
                name: sdk.name.clone(),
                kind: PluginKind::Resource,
                version: sdk.version.clone(),
                server: None,
                checksums: std::collections::BTreeMap::new(),
                parameterization: None,
                extension: None,
            },
            path,
        })
        .collect();
    if packages.is_empty() || sdk_language(runtime).is_none() {
        return Ok(String::new());
    }
    let host = language::host(runtime, output_to(ctx.printer.clone()), ctx)
        .ok_or_else(|| Error::user(format!("there is no language host for {runtime} here")))?;
    let request = LinkRequest {
        info,
        loader_target: String::new(),
        packages,
    };
    Ok(language::block_on(host.link(request))??)
}
