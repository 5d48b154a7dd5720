//! `stack graph`.

mod svg;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use plumb_resource::Urn;
use plumb_state::Snapshot;
use rustc_hash::FxHashMap;

use super::{TargetArgs, stack_of};
use crate::{Context, Error};

/// Export a stack's dependency graph to a file
///
/// The file is in the DOT language, which Graphviz turns into pictures, or a picture itself if its name ends with `.svg`.
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
    #[arg(required_unless_present = "open")]
    pub file: Option<String>,
}

pub(super) fn run(args: GraphArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    let stack = stack_of(target, ctx)?;
    let state = ctx.load_state(&stack)?;
    let snapshot = state
        .opaque()
        .filter(|snapshot| !snapshot.resources.is_empty())
        .ok_or_else(|| {
            Error::user(format!(
                "unable to find snapshot for stack '{}'",
                stack.shown
            ))
        })?;
    let (path, shown) = target_file(&args, &stack.shown, ctx)?;
    let is_picture = path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("svg"));
    let text = if is_picture {
        svg::svg(snapshot, &args)
    } else {
        dot(snapshot, &args)
    };
    std::fs::write(&path, text)
        .map_err(|error| Error::from(error).context(format!("could not write {shown}")))?;
    ctx.printer.line(&format!(
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

/// Where to write, and how people call that.
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

/// Has the desktop open a file; whether there is a program that does that.
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

fn dot(snapshot: &Snapshot, args: &GraphArgs) -> String {
    let index: FxHashMap<&Urn, usize> = snapshot
        .resources
        .iter()
        .enumerate()
        .map(|(index, state)| (&state.urn, index))
        .collect();
    let mut out = String::from("strict digraph {\n");
    if !args.dot_fragment.is_empty() {
        let _ = writeln!(out, "{}", args.dot_fragment);
    }
    for (at, state) in snapshot.resources.iter().enumerate() {
        let label = if args.short_node_name {
            state.urn.name()
        } else {
            state.urn.as_str()
        };
        let _ = writeln!(out, "    Resource{at} [label={label:?}];");
        if let Some(parent) = state
            .parent
            .as_ref()
            .and_then(|urn| index.get(urn))
            .filter(|_| !args.ignore_parent_edges)
        {
            let _ = writeln!(
                out,
                "    Resource{at} -> Resource{parent} [color={:?}];",
                args.parent_edge_color
            );
        }
        if args.ignore_dependency_edges {
            continue;
        }
        for dependency in &state.dependencies {
            let Some(to) = index.get(dependency) else {
                continue;
            };
            let properties: Vec<&str> = state
                .property_dependencies
                .iter()
                .filter(|(_, urns)| urns.contains(dependency))
                .map(|(key, _)| key.as_str())
                .collect();
            let color = &args.dependency_edge_color;
            let _ = if properties.is_empty() {
                writeln!(out, "    Resource{at} -> Resource{to} [color={color:?}];")
            } else {
                writeln!(
                    out,
                    "    Resource{at} -> Resource{to} [color={color:?}, label={:?}];",
                    properties.join(", ")
                )
            };
        }
    }
    out.push_str("}\n");
    out
}
