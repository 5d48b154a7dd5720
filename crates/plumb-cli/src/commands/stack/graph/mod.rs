//! `stack graph`: the resources of a stack and what they depend on, as text for Graphviz ([`dot`]), or as a picture ([`svg`]) and a page
//! ([`page`]) of our own, which [`model`] makes of the state and [`layout`] places.

mod dot;
mod layout;
mod model;
mod page;
mod svg;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use plumb_operate::{Context, Error, go};
use plumb_resource::{ResourceState, Urn};
use plumb_state::Snapshot;

use super::{TargetArgs, stack_of};

/// Export a stack's dependency graph to a file
///
/// The file is in the DOT language, which Graphviz turns into pictures; or a picture itself (`svg`); or a page with search, details and
/// zoom, which needs no network (`html`). A file whose name ends with `.svg` or `.html` has that format. Pictures and pages show the names,
/// types, ids, providers and dependencies of resources, and none of their properties. The name `-` stands for standard output.
#[derive(Args, Debug)]
pub struct GraphArgs {
    /// Ignores edges introduced by parent/child resource relationships
    #[arg(long)]
    pub ignore_parent_edges: bool,
    /// Ignores edges introduced by dependency resource relationships
    #[arg(long)]
    pub ignore_dependency_edges: bool,
    /// Sets the color of dependency edges in the graph
    #[arg(long, default_value = DEPENDENCY_COLOR)]
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
    /// The format: dot, svg or html
    #[arg(long)]
    pub format: Option<String>,
    /// Open the picture or page; without a file, one is made for it
    #[arg(long)]
    pub open: bool,
    /// The file to write
    pub file: Option<String>,
}

/// File name for standard output.
const STDOUT: &str = "-";

/// Colour of dependencies where the user chooses none. Pictures have one for light and one for dark instead.
const DEPENDENCY_COLOR: &str = "#246C60";

/// Format of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Dot,
    Svg,
    Html,
}

impl Format {
    fn parse(text: &str) -> Result<Self, Error> {
        match text {
            "dot" => Ok(Format::Dot),
            "svg" => Ok(Format::Svg),
            "html" => Ok(Format::Html),
            other => Err(Error::user(format!(
                "there is no format \"{other}\": valid values are dot, svg and html"
            ))),
        }
    }

    /// The format that the name of a file says.
    fn of_name(file: &str) -> Self {
        let extension = Path::new(file).extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("svg") {
            Format::Svg
        } else if extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm") {
            Format::Html
        } else {
            Format::Dot
        }
    }

    /// The chosen format. A file that is made to be opened is a page.
    fn chosen(args: &GraphArgs) -> Result<Self, Error> {
        match (&args.format, &args.file) {
            (Some(format), _) => Format::parse(format),
            (None, Some(file)) => Ok(Format::of_name(file)),
            (None, None) => Ok(Format::Html),
        }
    }
}

pub(super) fn run(args: GraphArgs, target: &TargetArgs, ctx: &Context) -> Result<(), Error> {
    if args.file.is_none() && !args.open {
        return Err(Error::user("accepts 1 arg(s), received 0"));
    }
    let format = Format::chosen(&args)?;
    if args.open && format == Format::Dot {
        return Err(Error::user(
            "only a picture or a page can be opened: give `--format svg` or `--format html`, or a file whose name ends so",
        ));
    }
    let stack = stack_of(target, ctx)?;
    let state = ctx.load_state(&stack)?;
    let nothing = Snapshot::default();
    let snapshot = state.opaque().unwrap_or(&nothing);
    let text = text(format, snapshot, &stack.shown, &args);
    if args.file.as_deref() == Some(STDOUT) {
        ctx.printer.data(&text);
        return Ok(());
    }
    let (path, shown) = target_file(&args, format, &stack.shown, ctx)?;
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

fn text(format: Format, snapshot: &Snapshot, stack: &str, args: &GraphArgs) -> String {
    let title = format!("Graph of {stack}");
    match format {
        Format::Dot => dot::dot(snapshot, args),
        Format::Svg => svg::image(&model::Drawing::of(snapshot, args), &title, args),
        Format::Html => page::page(&model::Drawing::of(snapshot, args), &title, args),
    }
}

/// Path of the output file, and its name in messages.
fn target_file(
    args: &GraphArgs,
    format: Format,
    stack: &str,
    ctx: &Context,
) -> Result<(PathBuf, String), Error> {
    if let Some(file) = &args.file {
        return Ok((ctx.environment.cwd.join(file), file.clone()));
    }
    let folder = ctx.environment.pulumi_home.join("plumb").join("graphs");
    std::fs::create_dir_all(&folder)?;
    let extension = if format == Format::Svg { "svg" } else { "html" };
    let path = folder.join(format!("{}.{extension}", stack.replace(['/', '\\'], "_")));
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

#[cfg(test)]
mod tests;
