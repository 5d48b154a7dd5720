//! `plugin install`, from local files.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use clap::Args;
use flate2::read::GzDecoder;
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::parse_tolerant;

use super::{cache, parse_kind};
use crate::{Context, Error};

/// Install one or more plugins
///
/// A plugin can be installed from a file: the program itself, a folder, or an archive.
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
    if args.kind.is_none() {
        return Err(Error::unsupported("installing the plugins of a project"));
    }
    let kind = parse_kind(args.kind.as_deref().unwrap_or_default())?;
    let name = args
        .name
        .ok_or_else(|| Error::user("missing plugin name argument"))?;
    if kind == PluginKind::Language && BUNDLED.contains(&name.as_str()) {
        return Err(Error::user(format!(
            "the {name} language plugin is bundled with Pulumi, and cannot be directly installed with this command"
        )));
    }
    if args.exact && args.version.is_none() {
        return Err(Error::user("--exact requires a version"));
    }
    let version = match args.version.as_deref() {
        Some(text) => Some(
            parse_tolerant(text)
                .ok_or_else(|| Error::user(format!("invalid plugin semver: {text}")))?,
        ),
        None => None,
    };
    let target = version.as_ref().map(|version| {
        cache(ctx)
            .directory()
            .join(format!("{kind}-{name}-v{version}"))
    });
    if let Some(target) = &target
        && target.is_dir()
        && !args.reinstall
    {
        return Ok(());
    }
    let Some(file) = args.file else {
        return Err(Error::unsupported(
            "downloading plugins; install them from a file with `--file`, which",
        ));
    };
    if args.checksum.is_some() {
        return Err(Error::user("`--checksum` is not supported yet"));
    }
    let (Some(target), Some(version)) = (target, version) else {
        return Err(Error::user(
            "installing a plugin from a file requires its version",
        ));
    };
    ctx.printer
        .info(&format!("[{kind} plugin {name}-{version}] installing"));
    let source = ctx.environment.cwd.join(&file);
    install(&source, &target, &kind.file_name(&name)).map_err(|error| {
        Error::from(error).context(format!("installing plugin from {}", source.display()))
    })
}

/// Puts the plugin into its folder. While `<folder>.partial` exists, the plugin does not count as installed.
fn install(source: &Path, target: &Path, program: &str) -> io::Result<()> {
    let mut partial = target.as_os_str().to_owned();
    partial.push(".partial");
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(&partial)?;
    if target.exists() {
        fs::remove_dir_all(target)?;
    }
    fs::create_dir_all(target)?;
    if source.is_dir() {
        copy_folder(source, target)?;
    } else if is_archive(source) {
        tar::Archive::new(GzDecoder::new(File::open(source)?)).unpack(target)?;
    } else {
        fs::copy(source, target.join(program))?;
        make_executable(&target.join(program))?;
    }
    fs::remove_file(&partial)
}

fn is_archive(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with(".tar.gz") || name.ends_with(".tgz")
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}
