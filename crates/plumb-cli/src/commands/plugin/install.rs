//! `plugin install`.

use std::path::Path;

use clap::Args;
use plumb_acquire::{LockMode, Package};
use plumb_operate::acquire::{self, Demands};
use plumb_operate::{Context, Error};
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::{MANIFEST_FILE, parse_tolerant};
use plumb_resource::provider::PluginSpec;
use semver::Version;

use super::{cache, parse_kind};
use crate::commands::install::plugins;
use crate::commands::language::block_on;
use crate::commands::new;

/// Install one or more plugins
///
/// Without arguments, installs all plugins that the program of the project needs. Plugins are downloaded, or installed from
/// a file: the program itself, a folder, or an archive.
#[derive(Args, Debug)]
pub struct InstallArgs {
    /// A URL to download plugins from
    #[arg(long)]
    pub server: Option<String>,
    /// Force installation of an exact version match (usually >= is accepted)
    #[arg(long)]
    pub exact: bool,
    /// Install a plugin from a binary, folder or tarball, instead of downloading it
    #[arg(short, long)]
    pub file: Option<String>,
    /// Reinstall a plugin even if it already exists
    #[arg(long)]
    pub reinstall: bool,
    /// The expected SHA256 checksum for the plugin archive
    #[arg(long)]
    pub checksum: Option<String>,
    /// How many plugins are installed at the same time
    #[arg(long, default_value_t = 4)]
    pub parallel: i32,
    /// The kind of plugin
    pub kind: Option<String>,
    /// Its name
    pub name: Option<String>,
    /// Its version
    pub version: Option<String>,
}

const BUNDLED: [&str; 8] = [
    "nodejs", "bun", "go", "python", "dotnet", "yaml", "java", "pcl",
];

pub(super) fn run(args: InstallArgs, ctx: &Context) -> Result<(), Error> {
    let Some(kind) = &args.kind else {
        let project = ctx.project()?;
        return plugins(project, &args.demands(Some(project.root())), ctx);
    };
    let kind = parse_kind(kind)?;
    let name = args
        .name
        .as_deref()
        .ok_or_else(|| Error::user("missing plugin name argument"))?;
    if kind == PluginKind::Language && BUNDLED.contains(&name) {
        return Err(Error::user(format!(
            "the {name} language plugin is bundled with Pulumi, and cannot be directly installed with this command"
        )));
    }
    if args.exact && args.version.is_none() {
        return Err(Error::user("--exact requires a version"));
    }
    let version = args.version.as_deref().map(parse_version).transpose()?;
    match &args.file {
        Some(file) => from_file(&args, kind, name, version.as_ref(), file, ctx),
        None => download(&args, kind, name, version, ctx),
    }
}

fn parse_version(text: &str) -> Result<Version, Error> {
    parse_tolerant(text).ok_or_else(|| Error::user(format!("invalid plugin semver: {text}")))
}

impl InstallArgs {
    fn demands<'a>(&self, project: Option<&'a std::path::Path>) -> Demands<'a> {
        Demands {
            project,
            lock_mode: LockMode::Update,
            reinstall: self.reinstall,
            parallel: usize::try_from(self.parallel).unwrap_or(1),
            ..Demands::default()
        }
    }
}

fn download(
    args: &InstallArgs,
    kind: PluginKind,
    name: &str,
    version: Option<Version>,
    ctx: &Context,
) -> Result<(), Error> {
    let source = acquire::source(&ctx.environment, &ctx.printer, &args.demands(None))?;
    let platform = plumb_acquire::Platform::current().key();
    let checksum = args.checksum.as_deref();
    let spec = PluginSpec {
        version,
        download_url: args.server.as_deref().map(Into::into),
        checksums: checksum
            .map(|sum| (platform.as_str().into(), sum.into()))
            .into_iter()
            .collect(),
        ..PluginSpec::named(name)
    };
    let got = block_on(source.get(kind, &spec))?;
    got.map_err(|failure| Error::user(plumb_operate::error::chain(failure.as_ref())))?;
    Ok(())
}

fn from_file(
    args: &InstallArgs,
    kind: PluginKind,
    name: &str,
    version: Option<&Version>,
    file: &str,
    ctx: &Context,
) -> Result<(), Error> {
    let Some(version) = version else {
        return Err(Error::user(
            "installing a plugin from a file requires its version",
        ));
    };
    if args.checksum.is_some() {
        return Err(Error::user(
            "`--checksum` is for plugins that are downloaded, not for files",
        ));
    }
    let path = ctx.environment.cwd.join(file);
    let package = Package::at(path.clone());
    let installed =
        plumb_acquire::install(&cache(ctx), kind, name, version, &package, args.reinstall)
            .map_err(|error| {
                Error::from(error).context(format!("installing plugin from {}", path.display()))
            })?;
    if !installed {
        return Ok(());
    }
    ctx.printer
        .info(&format!("[{kind} plugin {name}-{version}] installing"));
    let folder = format!("{kind}-{name}-v{version}");
    install_dependencies(&cache(ctx).directory().join(folder), ctx)
}

/// Installs the dependencies of a source plugin. Deletes the plugin after an error, because it would count as installed.
fn install_dependencies(folder: &Path, ctx: &Context) -> Result<(), Error> {
    let manifest = folder.join(MANIFEST_FILE);
    if !manifest.is_file() {
        return Ok(());
    }
    new::install_pack(&manifest, ctx).inspect_err(|_| {
        // The original error is more useful than one about the remaining folder.
        let _ = std::fs::remove_dir_all(folder);
    })
}
