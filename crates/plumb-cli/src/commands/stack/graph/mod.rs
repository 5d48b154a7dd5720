//! `stack graph`.

mod svg;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use plumb_resource::{ResourceState, Urn};
use plumb_state::Snapshot;
use rustc_hash::FxHashMap;

use super::{TargetArgs, stack_of};
use crate::{Context, Error, go};

/// Export a stack's dependency graph to a file
///
/// The file is in the DOT language, which Graphviz turns into pictures, or a picture itself if its name ends with `.svg`. The
/// name `-` stands for standard output.
#[derive(Args, Debug)]
pub struct GraphArgs {
    /// Ignores edges introduced by parent/child resource relationships
    #[arg(long)]
    pub ignore_parent_edges: bool,
    /// Ignores edges introduced by dependency resource relationships
    #[arg(long)]
    pub ignore_dependency_edges: bool,
    /// Sets the color of dependency edges in the graph
    #[arg(long, default_value = "#246C60")]
    pub dependency_edge_color: String,
    /// Sets the color of parent edges in the graph
    #[arg(long, default_value = "#AA6639")]
    pub parent_edge_color: String,
    /// Sets the resource name as the node label for each node of the graph
    #[arg(long)]
    pub short_node_name: bool,
    /// An optional DOT fragment that will be inserted at the top of the digraph element
    #[arg(long, default_value = "")]
    pub dot_fragment: String,
    /// Open the picture; without a file, one is made for it
    #[arg(long)]
    pub open: bool,
    /// The file to write
    pub file: Option<String>,
}

/// File name for standard output.
const STDOUT: &str = "-";

pub(super) fn run(args: GraphArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    if args.file.is_none() && !args.open {
        return Err(Error::user("accepts 1 arg(s), received 0"));
    }
    let stack = stack_of(target, ctx)?;
    let state = ctx.load_state(&stack)?;
    let nothing = Snapshot::default();
    let snapshot = state.opaque().unwrap_or(&nothing);
    if args.file.as_deref() == Some(STDOUT) {
        ctx.printer.data(&dot(snapshot, &args));
        return Ok(());
    }
    let (path, shown) = target_file(&args, &stack.shown, ctx)?;
    let is_picture = path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("svg"));
    let text = if is_picture {
        svg::svg(snapshot, &args)
    } else {
        dot(snapshot, &args)
    };
    std::fs::write(&path, text).map_err(|error| Error::user(go::open(&shown, &error)))?;
    ctx.printer.info(&format!(
        "{}Wrote stack dependency graph to `{shown}`",
        ctx.emoji_or("🔍 ", ""),
    ));
    if args.open && !open(&path) {
        ctx.printer.warning(&format!(
            "there is no program that opens it; open {shown} yourself"
        ));
    }
    Ok(())
}

/// Path of the output file, and its name in messages.
fn target_file(args: &GraphArgs, stack: &str, ctx: &Context) -> Result<(PathBuf, String), Error> {
    if let Some(file) = &args.file {
        if args.open
            && !Path::new(file)
                .extension()
                .is_some_and(|it| it.eq_ignore_ascii_case("svg"))
        {
            return Err(Error::user(
                "only a picture can be opened: give a file whose name ends with `.svg`, or none",
            ));
        }
        return Ok((ctx.environment.cwd.join(file), file.clone()));
    }
    let folder = ctx.environment.pulumi_home.join("plumb").join("graphs");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}.svg", stack.replace(['/', '\\'], "_")));
    let shown = path.display().to_string();
    Ok((path, shown))
}

/// Opens a file with the desktop's default program; returns whether there is one.
fn open(path: &Path) -> bool {
    let openers: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["open"]]
    } else if cfg!(windows) {
        &[&["cmd", "/C", "start", ""]]
    } else {
        &[&["xdg-open"], &["wslview"], &["gio", "open"]]
    };
    openers.iter().any(|words| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(path);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().is_ok()
    })
}

/// The graph in the DOT language.
///
/// Nodes are sorted by URN, and numbered in the order of their first mention. Dependency edges lead from a resource to its
/// dependents; parent edges lead from a child to its parent.
fn dot(snapshot: &Snapshot, args: &GraphArgs) -> String {
    // If a URN occurs several times, the last copy counts.
    let states: BTreeMap<&Urn, &ResourceState> = snapshot
        .resources
        .iter()
        .map(|state| (&state.urn, state.as_ref()))
        .collect();
    let mut edges: FxHashMap<&Urn, Vec<Edge<'_>>> = FxHashMap::default();
    for copy in &snapshot.resources {
        let state = states[&copy.urn];
        if !args.ignore_dependency_edges {
            for dependency in state
                .dependencies
                .iter()
                .filter(|urn| states.contains_key(urn))
            {
                let edge = Edge {
                    to: &state.urn,
                    color: &args.dependency_edge_color,
                    label: properties_with(state, dependency),
                };
                edges.entry(dependency).or_default().push(edge);
            }
        }
        let parent = state.parent.as_ref().filter(|urn| states.contains_key(urn));
        if let Some(parent) = parent.filter(|_| !args.ignore_parent_edges) {
            let edge = Edge {
                to: parent,
                color: &args.parent_edge_color,
                label: String::new(),
            };
            edges.entry(&state.urn).or_default().push(edge);
        }
    }
    let mut out = String::from("strict digraph {\n");
    if !args.dot_fragment.is_empty() {
        let _ = writeln!(out, "{}", args.dot_fragment);
    }
    let mut numbers = FxHashMap::default();
    for urn in states.keys() {
        let at = number_of(urn, &mut numbers);
        let label = if args.short_node_name {
            urn.name()
        } else {
            urn.as_str()
        };
        if label.is_empty() {
            let _ = writeln!(out, "    Resource{at};");
        } else {
            let _ = writeln!(out, "    Resource{at} [label={}];", quoted(label));
        }
        for edge in edges.get(urn).into_iter().flatten() {
            let to = number_of(edge.to, &mut numbers);
            let _ = writeln!(
                out,
                "    Resource{at} -> Resource{to}{};",
                edge.attributes()
            );
        }
    }
    out.push_str("}\n");
    out
}

struct Edge<'a> {
    to: &'a Urn,
    color: &'a str,
    label: String,
}

impl Edge<'_> {
    fn attributes(&self) -> String {
        let attributes = [("color", self.color), ("label", &self.label)]
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name} = {}", quoted(value)))
            .collect::<Vec<_>>()
            .join(", ");
        if attributes.is_empty() {
            attributes
        } else {
            format!(" [{attributes}]")
        }
    }
}

/// Properties of `state` that depend on `dependency`.
fn properties_with(state: &ResourceState, dependency: &Urn) -> String {
    let mut keys: Vec<&str> = state
        .property_dependencies
        .iter()
        .filter(|(_, urns)| urns.contains(dependency))
        .map(|(key, _)| key.as_str())
        .collect();
    keys.sort_unstable();
    keys.join(", ")
}

fn number_of<'u>(urn: &'u Urn, numbers: &mut FxHashMap<&'u Urn, usize>) -> usize {
    let next = numbers.len();
    *numbers.entry(urn).or_insert(next)
}

/// The text quoted for DOT, where only quotes and backslashes are special.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plumb_resource::ResourceKind;

    use super::*;

    #[test]
    fn dependencies_lead_to_dependents_in_the_order_of_urns() {
        let state = |name: &str| {
            let urn = format!("urn:pulumi:dev::lab::lab:index:Thing::{name}");
            ResourceState::new(Urn::parse(&urn).unwrap(), ResourceKind::Custom)
        };
        let (z, mut a) = (state("z"), state("a"));
        a.dependencies = vec![z.urn.clone()].into();
        a.parent = Some(z.urn.clone());
        let resources = vec![Arc::new(z), Arc::new(a)];
        let snapshot = Snapshot {
            resources,
            ..Snapshot::default()
        };
        let args = GraphArgs {
            ignore_parent_edges: false,
            ignore_dependency_edges: false,
            dependency_edge_color: "red".into(),
            parent_edge_color: String::new(),
            short_node_name: true,
            dot_fragment: String::new(),
            open: false,
            file: None,
        };
        let expected = "strict digraph {\n    Resource0 [label=\"a\"];\n    Resource0 -> Resource1;\n    \
                        Resource1 [label=\"z\"];\n    Resource1 -> Resource0 [color = \"red\"];\n}\n";
        assert_eq!(dot(&snapshot, &args), expected);
        assert_eq!(quoted(r#"a"b\c"#), r#""a\"b\\c""#);
    }
}
