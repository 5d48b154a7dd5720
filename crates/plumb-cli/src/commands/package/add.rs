//! `package add`.

use std::path::Path;

use clap::Args;
use plumb_codegen::Language;
use plumb_operate::packages::{SchemaText, Wanted};
use plumb_operate::{Context, Error};
use plumb_plugin::discovery::Repository;
use plumb_plugin::is_repository;
use plumb_plugin::language::ProgramInfo;
use plumb_project::ProjectFile;
use plumb_project::files::{self, Access};
use plumb_project::project::PackageSpec;

use super::local::PackageInstallation;
use super::sdk::{self, LocalSdk};
use super::target::Target;
use crate::commands::{install, new};

/// Add a package to your project
///
/// An SDK of the package is made in the folder `sdks` of the project or plugin, and the program is made to depend on it; the
/// project file, or PulumiPlugin.yaml, lists the package, so that `install` can do the same elsewhere. The package is a schema file, the name of a plugin, with a
/// version (`NAME@VERSION`) or without, or the path of a plugin's program or folder; further words are parameters.
#[derive(Args, Debug)]
pub struct AddArgs {
    /// The language of the SDK, outside a project: it is written to the folder sdks here
    #[arg(long)]
    pub language: Option<String>,
    /// A URL to download plugins from
    #[arg(long)]
    pub server: Option<String>,
    /// Arguments that make an extension of the package, quoted as for a shell; an SDK is made for the extension
    #[arg(long, action = clap::ArgAction::Append)]
    pub extension: Vec<String>,
    /// The package
    pub source: String,
    /// Parameters that make another package of it
    pub parameters: Vec<String>,
}

pub(super) fn run(args: AddArgs, ctx: &Context) -> Result<(), Error> {
    let Some(target) = Target::enclosing(ctx)? else {
        return outside(&args, ctx);
    };
    if args.language.is_some() {
        return Err(Error::user(format!(
            "--language is for use outside a Pulumi project or plugin, but {} was found; remove the flag, or run from a \
             directory outside the project",
            target.file.display()
        )));
    }
    install_plugin(&args, ctx)?;
    let mut sdks = Vec::new();
    for wanted in args.wanted() {
        let schema = SchemaText::load_wanted(wanted, ctx)?;
        let made = sdk::make(&schema, &target.runtime, target.root(), ctx)?;
        told(&made, ctx);
        record(&made, package_spec(wanted), &target.file)?;
        sdks.push(made);
    }
    let hint = sdk::link(&sdks, &target.runtime, target.info.clone(), ctx)?;
    if sdks.iter().any(|sdk| sdk.folder.is_some()) {
        match target.project {
            Some(project) => install::dependencies(project, false, ctx)?,
            None => new::install_pack(&target.file, ctx)?,
        }
    }
    if !hint.is_empty() {
        ctx.printer.line(&hint);
    }
    for sdk in &sdks {
        ctx.printer.line(&format!("Added package {}", sdk.name));
    }
    Ok(())
}

/// Generates SDKs in the working directory, outside of a project, and links them to the program that is there.
fn outside(args: &AddArgs, ctx: &Context) -> Result<(), Error> {
    let language = args.language.as_deref().ok_or_else(|| {
        Error::user(
            "no project file found and no plugin file found; pass --language LANG to run outside a Pulumi project or plugin",
        )
    })?;
    let runtime = match Language::from_name(language) {
        Some(known) => known.name(),
        None => language,
    };
    install_plugin(args, ctx)?;
    let folder = &ctx.environment.cwd;
    let mut sdks = Vec::new();
    for wanted in args.wanted() {
        let schema = SchemaText::load_wanted(wanted, ctx)?;
        let made = sdk::make(&schema, runtime, folder, ctx)?;
        told(&made, ctx);
        sdks.push(made);
    }
    if is_program(runtime, folder)? {
        let info = ProgramInfo {
            root_directory: folder.clone(),
            program_directory: folder.clone(),
            entry_point: ".".to_owned(),
            options: serde_json::Map::new(),
        };
        let hint = sdk::link(&sdks, runtime, info, ctx)?;
        if !hint.is_empty() {
            ctx.printer.line(&hint);
        }
    }
    Ok(())
}

/// Installs what the plugin of the package needs, if its sources are in a folder.
fn install_plugin(args: &AddArgs, ctx: &Context) -> Result<(), Error> {
    PackageInstallation::new(true, ctx).source(&args.source, &ctx.environment.cwd)
}

/// Whether a folder has a file in which programs list what they depend on.
fn is_program(runtime: &str, folder: &Path) -> Result<bool, Error> {
    let names: &[&str] = match runtime {
        "nodejs" => &["package.json"],
        "python" => &["requirements.txt", "pyproject.toml"],
        "go" => &["go.mod"],
        "java" => &["pom.xml", "build.gradle", "build.gradle.kts"],
        "rust" => &["Cargo.toml"],
        "dotnet" => {
            let mut entries = std::fs::read_dir(folder)?;
            return Ok(entries.any(|entry| {
                entry.is_ok_and(|it| it.path().extension().is_some_and(|it| it == "csproj"))
            }));
        }
        _ => &[],
    };
    Ok(names.iter().any(|name| folder.join(name).is_file()))
}

impl AddArgs {
    /// Requested packages; each extension is a separate one.
    fn wanted(&self) -> Vec<Wanted<'_>> {
        let plain = Wanted {
            source: &self.source,
            parameters: &self.parameters,
            extension: None,
            server: self.server.as_deref(),
        };
        if self.extension.is_empty() {
            return vec![plain];
        }
        let extensions = self.extension.iter();
        extensions
            .map(|extension| Wanted {
                extension: Some(extension.as_str()),
                ..plain
            })
            .collect()
    }
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

/// Entry for the package in the project file.
fn package_spec(wanted: Wanted<'_>) -> PackageSpec {
    let is_path = wanted.source.starts_with(['.', '/']);
    // Passwords must not be written to project files.
    let repository = Repository::parse(wanted.source).map(|it| (it.address(), it.version));
    if let (true, Ok((source, version))) = (is_repository(wanted.source), repository) {
        return PackageSpec {
            source,
            version: version.map(|version| version.to_string()),
            ..unplaced_spec(wanted)
        };
    }
    let (source, version) = match wanted.source.rsplit_once('@') {
        Some((source, version)) if !is_path && !version.contains('/') => {
            (source, Some(version.trim_start_matches('v').to_owned()))
        }
        _ => (wanted.source, None),
    };
    PackageSpec {
        source: source.to_owned(),
        version,
        ..unplaced_spec(wanted)
    }
}

/// Entry for the package, without its source.
fn unplaced_spec(wanted: Wanted<'_>) -> PackageSpec {
    PackageSpec {
        parameters: wanted.parameters.to_vec(),
        plugin_download_url: wanted.server.map(str::to_owned),
        extensions: wanted.extension.into_iter().map(str::to_owned).collect(),
        ..PackageSpec::default()
    }
}

/// Adds the package to the project file. Packages from repositories are recorded with the fetched version, so that later
/// installations get the same one.
fn record(made: &LocalSdk, spec: PackageSpec, path: &Path) -> Result<(), Error> {
    let is_plain = spec.parameters.is_empty() && spec.extensions.is_empty();
    let fetched = Some(&made.version).filter(|_| is_plain && is_repository(&spec.source));
    let spec = PackageSpec {
        version: spec
            .version
            .or_else(|| Some(fetched?.as_ref()?.to_string())),
        ..spec
    };
    let shown = path.display().to_string();
    let text = files::read_text(path)?.unwrap_or_default();
    let mut file = ProjectFile::parse(&shown, &text)?;
    file.set_package(&made.name, &spec);
    Ok(files::write_text(path, &file.to_text(), Access::Shared)?)
}
