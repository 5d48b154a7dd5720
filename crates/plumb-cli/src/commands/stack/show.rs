//! `stack` without a verb (`cli.md` 4.1, 4.2).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use jiff::Timestamp;
use plumb_display::linked;
use plumb_operate::context::{IfMissing, Stack};
use plumb_operate::json::wants_json;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::table::{Row, Table};
use plumb_operate::{Context, Error};
use plumb_resource::{ResourceState, Urn};
use plumb_state::{Manifest, Snapshot};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value as Json;

use super::{TargetArgs, output};
use crate::times::{full_time, json_time, time_ago};
use plumb_automation::values::{Secrets, map_json};

/// How the stack is shown.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// Display each resource's provider-assigned unique ID
    #[arg(short = 'i', long)]
    pub show_ids: bool,
    /// Display each resource's globally unique URN
    #[arg(short = 'u', long)]
    pub show_urns: bool,
    /// Display stack outputs which are marked as secret in plaintext
    #[arg(long)]
    pub show_secrets: bool,
    /// Display only the stack name
    #[arg(long)]
    pub show_name: bool,
    /// Format of the result: default or json
    #[arg(long, default_value = "default")]
    pub output: String,
}

pub(super) fn run(
    args: &ShowArgs,
    target: &TargetArgs,
    missing: IfMissing,
    ctx: &Context,
) -> Result<(), Error> {
    let as_json = wants_json(false, &args.output)?;
    let stack = ctx.require_stack(target.stack.as_deref(), missing)?;
    if args.show_name {
        let name = if ctx.globals.fully_qualify_stack_names {
            &stack.shown
        } else {
            stack.name()
        };
        ctx.printer.line(name);
        return Ok(());
    }
    let state = ctx.load_state(&stack)?;
    let decrypted = if args.show_secrets {
        Some(ctx.decrypt_state(&state)?)
    } else {
        None
    };
    let snapshot = decrypted.as_ref().or_else(|| state.opaque());
    let secrets = if args.show_secrets {
        Secrets::Shown
    } else {
        Secrets::Hidden
    };
    if as_json {
        ctx.printer
            .data(&pretty(&document(&stack, snapshot, secrets), Indent::Two));
        return Ok(());
    }
    ctx.printer
        .line(&format!("Current stack is {}:", stack.shown));
    ctx.printer
        .line(&format!("    Managed by {}", stack.backend.name()));
    let manifest = manifest(snapshot);
    ctx.printer.styled(&ctx.printer.named(&manifest));
    let resources = snapshot.map_or(&[][..], |snapshot| snapshot.resources.as_slice());
    ctx.printer
        .styled_line(&format!("Current stack resources ({}):", resources.len()));
    if resources.is_empty() {
        ctx.printer.line("    No resources currently in this stack");
    } else {
        let link = ctx.environment.stdout_is_terminal.then(|| ctx.link(&stack));
        let link = link.flatten();
        ctx.printer.styled(&tree(snapshot, args, link.as_deref()));
        ctx.printer.line("");
        ctx.printer
            .styled(&output::table(&output::outputs_of(snapshot), secrets));
    }
    ctx.printer.line("");
    ctx.printer
        .note("Use `pulumi stack select` to change stack; `pulumi stack ls` lists known ones");
    Ok(())
}

/// Text on the last update: time and version.
fn manifest(snapshot: Option<&Snapshot>) -> String {
    let Some(manifest) = snapshot.map(|snapshot| &snapshot.manifest) else {
        return "    No updates yet; run `pulumi up`\n".to_owned();
    };
    let mut out = String::new();
    if has_time(manifest) && manifest.time < Timestamp::now() {
        let (ago, time) = (time_ago(manifest.time), full_time(manifest.time));
        let _ = writeln!(out, "    Last updated: {ago} ({time})");
    }
    if !manifest.version.is_empty() {
        let _ = writeln!(out, "    Pulumi version used: {}", manifest.version);
    }
    for plugin in &manifest.plugins {
        let version = if plugin.version.is_empty() {
            "?"
        } else {
            plugin.version.as_str()
        };
        let _ = writeln!(
            out,
            "    Plugin {} [{}] version: {version}",
            plugin.name, plugin.kind
        );
    }
    out
}

/// Tree of the resources below the root stack; a flat list if there is no root stack.
fn tree(snapshot: Option<&Snapshot>, args: &ShowArgs, link: Option<&str>) -> String {
    let style = Style { args, link };
    let resources: Vec<&ResourceState> = snapshot
        .iter()
        .flat_map(|snapshot| snapshot.resources.iter().map(AsRef::as_ref))
        .collect();
    let mut table = Table::new(["TYPE", "NAME"]).indented("    ");
    let root = resources.iter().position(|state| state.urn.is_root_stack());
    let Some(root) = root else {
        for state in resources {
            table.row_with_details(row(state, "", "    ", style));
        }
        return table.render();
    };
    let mut children: FxHashMap<Option<&Urn>, Vec<usize>> = FxHashMap::default();
    for (index, state) in resources
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != root)
    {
        let parent = state
            .parent
            .as_ref()
            .filter(|urn| **urn != resources[root].urn);
        let is_there = parent.is_some_and(|urn| resources.iter().any(|other| other.urn == *urn));
        // Resources without a parent come after the root stack's children.
        children
            .entry(parent.filter(|_| is_there))
            .or_default()
            .push(index);
    }
    if let Some(top) = children.get_mut(&None) {
        top.sort_by_key(|index| resources[*index].parent.is_none());
    }
    let top = children.get(&None).cloned().unwrap_or_default();
    let below = if top.is_empty() { "   " } else { "│  " };
    table.row_with_details(row(resources[root], "", below, style));
    let mut drawing = Drawing {
        resources: &resources,
        children: &children,
        style,
        table,
    };
    drawing.children_of(&top, "");
    drawing.table.render()
}

/// Options for displayed resources, and the target of links on URNs.
#[derive(Clone, Copy)]
struct Style<'a> {
    args: &'a ShowArgs,
    link: Option<&'a str>,
}

struct Drawing<'d> {
    resources: &'d [&'d ResourceState],
    children: &'d FxHashMap<Option<&'d Urn>, Vec<usize>>,
    style: Style<'d>,
    table: Table,
}

impl Drawing<'_> {
    fn children_of(&mut self, indices: &[usize], prefix: &str) {
        for (position, index) in indices.iter().enumerate() {
            let is_last = position + 1 == indices.len();
            let state = self.resources[*index];
            let own = self
                .children
                .get(&Some(&state.urn))
                .cloned()
                .unwrap_or_default();
            let (branch, trunk) = if is_last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            let below = format!(
                "{prefix}{trunk}{}",
                if own.is_empty() { "   " } else { "│  " }
            );
            self.table.row_with_details(row(
                state,
                &format!("{prefix}{branch}"),
                &below,
                self.style,
            ));
            self.children_of(&own, &format!("{prefix}{trunk}"));
        }
    }
}

fn row(state: &ResourceState, branch: &str, below: &str, style: Style<'_>) -> Row {
    let mut details = String::new();
    if style.args.show_urns {
        let urn = linked(state.urn.as_str(), style.link);
        let _ = writeln!(details, "    {below}URN: {urn}");
    }
    if style.args.show_ids && !state.id.as_str().is_empty() {
        let _ = writeln!(details, "    {below}ID: {}", state.id.as_str());
    }
    Row {
        cells: vec![
            format!("{branch}{}", state.type_token),
            linked(state.urn.name(), style.link),
        ],
        details,
    }
}

/// The stack as JSON.
#[derive(Serialize)]
struct Document<'a> {
    project: &'a str,
    stack: &'a str,
    backend: String,
    /// Tags are stored only by Pulumi's service, so file-based backends have none here.
    tags: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<Head<'a>>,
    resources: Vec<Resource<'a>>,
    outputs: Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pulumi_version: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plugins: Vec<Plugin<'a>>,
}

#[derive(Serialize)]
struct Plugin<'a> {
    name: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
}

#[derive(Serialize)]
struct Resource<'a> {
    urn: &'a str,
    #[serde(rename = "type")]
    type_token: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
}

fn document<'a>(
    stack: &'a Stack,
    snapshot: Option<&'a Snapshot>,
    secrets: Secrets,
) -> Document<'a> {
    let resources = snapshot.map_or(&[][..], |snapshot| snapshot.resources.as_slice());
    Document {
        project: stack.project_name(),
        stack: stack.name(),
        backend: stack.backend.name().to_string(),
        tags: BTreeMap::new(),
        manifest: snapshot.map(|snapshot| head(&snapshot.manifest)),
        resources: resources.iter().map(|state| resource(state)).collect(),
        outputs: map_json(&output::outputs_of(snapshot), secrets),
    }
}

fn head(manifest: &Manifest) -> Head<'_> {
    let plugins = manifest.plugins.iter().map(|plugin| Plugin {
        name: &plugin.name,
        kind: &plugin.kind,
        version: &plugin.version,
    });
    Head {
        time: has_time(manifest).then(|| json_time(manifest.time)),
        pulumi_version: &manifest.version,
        plugins: plugins.collect(),
    }
}

/// Whether the manifest contains a time.
fn has_time(manifest: &Manifest) -> bool {
    manifest.time != Manifest::default().time
}

fn resource(state: &ResourceState) -> Resource<'_> {
    Resource {
        urn: state.urn.as_str(),
        type_token: state.type_token.as_str(),
        name: state.urn.name(),
        id: state.id.as_str(),
        parent: state.parent.as_ref().map(Urn::as_str),
    }
}

#[cfg(test)]
mod tests {
    use plumb_resource::ResourceKind;

    use super::*;

    fn custom(urn: &str, parent: Option<&str>, id: &str) -> std::sync::Arc<ResourceState> {
        let mut state = ResourceState::new(Urn::parse(urn).unwrap(), ResourceKind::Custom);
        state.parent = parent.map(|urn| Urn::parse(urn).unwrap());
        state.id = plumb_resource::ResourceId::from_text(id);
        std::sync::Arc::new(state)
    }

    #[test]
    fn resources_stand_in_a_tree_with_urns_and_ids() {
        let stack = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
        let snapshot = Snapshot {
            resources: vec![
                custom(stack, None, ""),
                custom(
                    "urn:pulumi:dev::shop::pulumi:providers:random::default",
                    None,
                    "p",
                ),
                custom(
                    "urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet",
                    Some(stack),
                    "calm-otter",
                ),
            ],
            ..Snapshot::default()
        };
        let expected = [
            "    TYPE                                 NAME",
            "    pulumi:pulumi:Stack                  shop-dev",
            "    │  URN: urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
            "    ├─ random:index/randomPet:RandomPet  pet",
            "    │     URN: urn:pulumi:dev::shop::random:index/randomPet:RandomPet::pet",
            "    │     ID: calm-otter",
            "    └─ pulumi:providers:random           default",
            "          URN: urn:pulumi:dev::shop::pulumi:providers:random::default",
            "          ID: p",
        ];
        assert_eq!(shown(&snapshot).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn resources_without_a_root_stand_in_a_list() {
        let snapshot = Snapshot {
            resources: vec![custom("urn:pulumi:dev::shop::a:b:C::one", None, "1")],
            ..Snapshot::default()
        };
        let expected = [
            "    TYPE   NAME",
            "    a:b:C  one",
            "        URN: urn:pulumi:dev::shop::a:b:C::one",
            "        ID: 1",
        ];
        assert_eq!(shown(&snapshot).lines().collect::<Vec<_>>(), expected);
    }

    /// The tree with URNs and ids, without colours.
    fn shown(snapshot: &Snapshot) -> String {
        let args = ShowArgs {
            show_ids: true,
            show_urns: true,
            show_secrets: false,
            show_name: false,
            output: String::new(),
        };
        plumb_display::colorize(
            &tree(Some(snapshot), &args, None),
            plumb_events::ColorMode::Never,
        )
        .into_owned()
    }
}
