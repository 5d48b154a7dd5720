//! Commands that describe the command line itself: Markdown, man pages, JSON.

mod overrides;

use std::fs;
use std::path::PathBuf;

use clap::Args;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error, ExitStatus};
use serde_json::{Map, Value as Json, json};

use self::overrides::Overrides;
use crate::args::reference::pages;
use crate::args::surface::{CommandSurface, FlagKind, surface};
use crate::args::{command_tree, man};

/// Where to write.
#[derive(Args, Debug)]
pub struct FolderArgs {
    /// The folder to write to
    pub dir: String,
}

/// What to change in the description.
#[derive(Args, Debug)]
pub struct SpecArgs {
    /// A JSON file that says which commands and flags to leave out, and which flags have values
    #[arg(long)]
    pub overrides: Option<String>,
}

/// Runs `gen-markdown`: one file for each command.
pub fn markdown(args: FolderArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    write_all(
        &args,
        pages(&surface(&command_tree()), ctx.printer.program()),
        ctx,
    )
}

/// Runs `gen-man`: one page for each command.
pub fn manual(args: FolderArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    write_all(
        &args,
        man::pages(&surface(&command_tree()), ctx.printer.program()),
        ctx,
    )
}

fn write_all(
    args: &FolderArgs,
    files: Vec<(String, String)>,
    ctx: &Context,
) -> Result<ExitStatus, Error> {
    let folder: PathBuf = ctx.environment.cwd.join(&args.dir);
    fs::create_dir_all(&folder).map_err(|error| Error::from(error).context(folder.display()))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| Error::from(error).context(path.display()))?;
    }
    Ok(ExitStatus::Success)
}

/// Runs `generate-cli-spec`: the tree of commands as JSON.
pub fn spec(args: &SpecArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let mut tree = node(&[], &surface(&command_tree()));
    if let Some(file) = &args.overrides {
        let overrides = Overrides::read(&ctx.environment.cwd.join(file))?;
        tree = overrides.apply(tree);
    }
    ctx.printer.data(&pretty(&tree, Indent::Two));
    Ok(ExitStatus::Success)
}

fn node(path: &[String], commands: &[CommandSurface]) -> Json {
    let Some(command) = commands.iter().find(|command| command.path == path) else {
        return Json::Null;
    };
    let below: Vec<&CommandSurface> = commands
        .iter()
        .filter(|it| it.path.len() == path.len() + 1 && it.path.starts_with(path) && !it.is_hidden)
        .collect();
    let mut object = Map::new();
    let kind = if below.is_empty() { "command" } else { "menu" };
    object.insert("type".to_owned(), kind.into());
    if !below.is_empty() && !command.is_group {
        object.insert("executable".to_owned(), true.into());
    }
    object.insert(
        "description".to_owned(),
        command.description.trim_end().into(),
    );
    let flags = command
        .flags
        .iter()
        .filter(|flag| !flag.is_inherited && !flag.is_hidden);
    let flags: Map<String, Json> = flags
        .map(|flag| {
            let kind = match flag.kind {
                FlagKind::Bool => "boolean",
                FlagKind::Int => "int",
                FlagKind::Text | FlagKind::Array | FlagKind::Slice => "string",
            };
            let mut one = json!({ "name": flag.name, "type": kind, "description": flag.help });
            if matches!(flag.kind, FlagKind::Array | FlagKind::Slice) {
                one["repeatable"] = true.into();
            }
            (flag.name.clone(), one)
        })
        .collect();
    object.insert("flags".to_owned(), Json::Object(flags));
    if below.is_empty() || !command.is_group {
        object.insert("arguments".to_owned(), arguments(command));
    }
    if !below.is_empty() {
        let name = |it: &CommandSurface| it.path.last().cloned().unwrap_or_default();
        let commands: Map<String, Json> = below
            .iter()
            .map(|it| (name(it), node(&it.path, commands)))
            .collect();
        object.insert("commands".to_owned(), Json::Object(commands));
    }
    Json::Object(object)
}

fn arguments(command: &CommandSurface) -> Json {
    let words = command.words.iter();
    let all: Vec<Json> = words
        .map(|word| json!({ "name": word.name, "type": "string", "usage": word.to_string() }))
        .collect();
    json!({
        "arguments": all,
        "requiredArguments": command.words.iter().filter(|word| word.is_required).count(),
        "variadic": command.words.iter().any(|word| word.is_many),
    })
}
