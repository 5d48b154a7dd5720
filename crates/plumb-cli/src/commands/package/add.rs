//! `package add`.

use clap::Args;
use plumb_project::ProjectFile;
use plumb_project::files::{self, Access};
use plumb_project::project::PackageSpec;

use super::sdk::{self, LocalSdk};
use super::source::SchemaText;
use crate::commands::install;
use crate::{Context, Error};

/// Add a package to your project
///
/// An SDK of the package is made in the folder `sdks` of the project, and the program is made to depend on it; the project file
/// lists the package, so that `install` can do the same elsewhere. The package is a schema file, the name of a plugin, with a
/// version (`NAME@VERSION`) or without, or the path of a plugin's program or folder; further words are parameters.
#[derive(Args, Debug)]
pub struct AddArgs {
    /// The language of the SDK, outside a project: it is written to the folder sdks here
    #[arg(long)]
    pub language: Option<String>,
    /// A URL to download plugins from
    #[arg(long)]
    pub server: Option<String>,
    /// Arguments that make an extension of the package (not supported yet)
    #[arg(long, action = clap::ArgAction::Append)]
    pub extension: Vec<String>,
    /// The package
    pub source: String,
    /// Parameters that make another package of it
    pub parameters: Vec<String>,
}

pub(super) fn run(args: AddArgs, ctx: &Context) -> Result<(), Error> {
    if !args.extension.is_empty() {
        return Err(Error::unsupported("`--extension`"));
    }
    let project = ctx.find_project()?;
    let Some(project) = project else {
        let language = args.language.as_deref().ok_or_else(|| {
            Error::user(
                "no Pulumi.yaml project file found; run `package add` inside a project, or say with --language for which \
                 language to make an SDK here",
            )
        })?;
        let schema =
            SchemaText::load_from(&args.source, &args.parameters, args.server.as_deref(), ctx)?;
        let made = sdk::make(&schema, language, &ctx.environment.cwd, ctx)?;
        told(&made, ctx);
        return Ok(());
    };
    let runtime = project.project.runtime.as_ref();
    let runtime = runtime.map(|runtime| runtime.name.clone()).ok_or_else(|| {
        Error::user("the project has no runtime; set `runtime` in Pulumi.yaml, or run `plumb new`")
    })?;
    let spec = package_spec(&args);
    let schema =
        SchemaText::load_from(&args.source, &args.parameters, args.server.as_deref(), ctx)?;
    let made = sdk::make(&schema, &runtime, project.root(), ctx)?;
    told(&made, ctx);
    record(&made.name, &spec, &project.path)?;
    let sdks = [made];
    let hint = sdk::link(&sdks, project, ctx)?;
    if sdks[0].folder.is_some() {
        install::dependencies(project, false, ctx)?;
    }
    if !hint.is_empty() {
        ctx.printer.line(&hint);
    }
    ctx.printer.line(&format!("Added package {}", sdks[0].name));
    Ok(())
}

fn told(made: &LocalSdk, ctx: &Context) {
    if let Some(folder) = &made.folder {
        ctx.printer.line(&format!(
            "Successfully generated an SDK for the {} package at {}",
            made.name,
            folder.display()
        ));
    }
}

/// What the project file says about the package.
fn package_spec(args: &AddArgs) -> PackageSpec {
    let is_path = args.source.starts_with(['.', '/']);
    let (source, version) = match args.source.split_once('@') {
        Some((source, version)) if !is_path => {
            (source, Some(version.trim_start_matches('v').to_owned()))
        }
        _ => (args.source.as_str(), None),
    };
    PackageSpec {
        source: source.to_owned(),
        version,
        parameters: args.parameters.clone(),
        plugin_download_url: args.server.clone(),
        ..PackageSpec::default()
    }
}

fn record(name: &str, spec: &PackageSpec, path: &std::path::Path) -> Result<(), Error> {
    let shown = path.display().to_string();
    let text = files::read_text(path)?.unwrap_or_default();
    let mut file = ProjectFile::parse(&shown, &text)?;
    file.set_package(name, spec);
    Ok(files::write_text(path, &file.to_text(), Access::Shared)?)
}
