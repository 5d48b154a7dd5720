//! `plugin ls`.

use std::time::SystemTime;

use clap::{ArgGroup, Args};
use jiff::Timestamp;
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::table::{Table, human_size};
use plumb_operate::{Context, Error};
use plumb_plugin::discovery::CachedPlugin;
use plumb_plugin::discovery::cache::PluginUsage;
use plumb_resource::provider::PluginSpec;
use serde::Serialize;

use super::cache;
use crate::commands::install::required;
use crate::commands::language::block_on;
use crate::times::{json_time, time_ago};

/// List plugins
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("plugins-format").args(["output", "json"]).multiple(false))]
pub struct ListArgs {
    /// List only the plugins used by the current project
    #[arg(short, long)]
    pub project: bool,
    /// Emit output as JSON
    #[arg(short, long, hide = true)]
    pub json: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
}

pub(super) fn run(args: ListArgs, ctx: &Context) -> Result<(), Error> {
    let wanted = if args.project {
        Some(block_on(required(ctx.project()?, ctx))??)
    } else {
        None
    };
    let is_wanted = |plugin: &CachedPlugin| {
        wanted.as_ref().is_none_or(|wanted: &Vec<PluginSpec>| {
            let mut of_name = wanted.iter().filter(|spec| spec.name == plugin.name);
            of_name.any(|spec| spec.version.is_none() || spec.version == plugin.version)
        })
    };
    let as_json = wants_json(args.json, &args.output)?;
    let cache = cache(ctx);
    let mut plugins = Vec::new();
    for plugin in cache.list()?.into_iter().filter(is_wanted) {
        let usage = cache.usage(&plugin)?;
        plugins.push((plugin, usage));
    }
    if as_json {
        let all: Vec<Listed> = plugins
            .iter()
            .map(|(plugin, usage)| Listed::of(plugin, usage))
            .collect();
        ctx.printer.data(&pretty(&all, Indent::Two));
        return Ok(());
    }
    let mut table = Table::new(["NAME", "KIND", "VERSION", "SIZE", "INSTALLED", "LAST USED"]);
    let mut total = 0;
    for (plugin, usage) in &plugins {
        total += usage.size;
        let ago = |time: Option<Timestamp>| time.map_or_else(|| "n/a".to_owned(), time_ago);
        table.row([
            plugin.name.clone(),
            plugin.kind.to_string(),
            version(plugin),
            human_size(usage.size),
            ago(usage.installed.and_then(timestamp)),
            ago(usage.last_used.and_then(timestamp)),
        ]);
    }
    ctx.printer.styled(&table.render());
    ctx.printer.line("");
    ctx.printer
        .line(&format!("TOTAL plugin cache size: {}", human_size(total)));
    Ok(())
}

/// A plugin in JSON; the order of its members is that of the reference.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    kind: String,
    version: String,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    install_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_time: Option<String>,
}

impl Listed {
    fn of(plugin: &CachedPlugin, usage: &PluginUsage) -> Self {
        let text = |time: Option<SystemTime>| time.and_then(timestamp).map(json_time);
        Listed {
            name: plugin.name.clone(),
            kind: plugin.kind.to_string(),
            version: version(plugin),
            size: usage.size,
            install_time: text(usage.installed),
            last_used_time: text(usage.last_used),
        }
    }
}

fn version(plugin: &CachedPlugin) -> String {
    plugin
        .version
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}
