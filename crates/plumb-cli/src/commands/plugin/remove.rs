//! `plugin rm`.

use clap::Args;
use plumb_operate::identity::Code;
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_plugin::discovery::{CachedPlugin, parse_tolerant};
use plumb_project::VersionRange;

use super::{cache, parse_kind};

/// Remove one or more plugins from the download cache
///
/// The range of versions is that of semantic versions; without one, every version is removed.
#[derive(Args, Debug)]
pub struct RemoveArgs {
    /// Remove all plugins
    #[arg(short, long)]
    pub all: bool,
    /// Skip confirmation prompts, and proceed with removal anyway
    #[arg(short, long)]
    pub yes: bool,
    /// The kind of plugin
    pub kind: Option<String>,
    /// Its name
    pub name: Option<String>,
    /// Which versions
    pub version: Option<String>,
}

pub(super) fn run(args: RemoveArgs, ctx: &Context) -> Result<(), Error> {
    let doomed = selected(&args, ctx)?;
    if doomed.is_empty() {
        ctx.printer.info("no plugins found to uninstall");
        return Ok(());
    }
    if !args.yes {
        if !ctx.is_interactive() {
            return Err(
                Error::user("non-interactive mode requires --yes flag").known(Code::NotConfirmed)
            );
        }
        ctx.printer.line(&format!(
            "This will remove {} plugins from the cache:",
            doomed.len()
        ));
        for plugin in &doomed {
            ctx.printer.line(&format!("    {}", shown(plugin)));
        }
        if !prompt::confirm("Remove them?")? {
            return Err(Error::shown(ExitStatus::Failure));
        }
    }
    let cache = cache(ctx);
    let mut failures = Vec::new();
    for plugin in &doomed {
        match cache.remove(plugin) {
            Ok(()) => ctx.printer.line(&format!("removed: {}", shown(plugin))),
            Err(error) => failures.push(format!(
                "failed to delete: {}: {}",
                shown(plugin),
                plumb_operate::error::chain(&error)
            )),
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(Error::several(failures))
    }
}

fn selected(args: &RemoveArgs, ctx: &Context) -> Result<Vec<CachedPlugin>, Error> {
    let kind = args.kind.as_deref().map(parse_kind).transpose()?;
    if kind.is_none() && !args.all {
        return Err(Error::user(
            "please pass --all if you'd like to remove all plugins",
        ));
    }
    let range = args.version.as_deref().map(Versions::parse).transpose()?;
    let plugins = cache(ctx).list()?;
    let fits = |plugin: &CachedPlugin| {
        kind.is_none_or(|kind| plugin.kind == kind)
            && args.name.as_ref().is_none_or(|name| plugin.name == *name)
            && range.as_ref().is_none_or(|range| range.contain(plugin))
    };
    Ok(plugins.into_iter().filter(fits).collect())
}

/// One version, or a range.
enum Versions {
    One(semver::Version),
    Range(VersionRange),
}

impl Versions {
    fn parse(text: &str) -> Result<Self, Error> {
        match parse_tolerant(text) {
            Some(version) => Ok(Versions::One(version)),
            None => Ok(Versions::Range(VersionRange::parse(text).map_err(
                |error| Error::from(error).context("invalid plugin semver"),
            )?)),
        }
    }

    fn contain(&self, plugin: &CachedPlugin) -> bool {
        plugin.version.as_ref().is_some_and(|version| match self {
            Versions::One(one) => one == version,
            Versions::Range(range) => range.contains(version),
        })
    }
}

fn shown(plugin: &CachedPlugin) -> String {
    match &plugin.version {
        Some(version) => format!("{} {}-{version}", plugin.kind, plugin.name),
        None => format!("{} {}", plugin.kind, plugin.name),
    }
}
