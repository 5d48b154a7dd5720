//! `schema export-editor`: JSON Schemas with which editors complete, explain and check the YAML files of a project.
//!
//! 1. [`packages`] are found: those that the project and its program name, those of the flag `--package`, and the built-in ones.
//! 2. Three documents are made: of the project file ([`project`]), of the settings files of stacks ([`stack`]), and of YAML programs
//!    ([`program`]), with the types of these packages ([`types`]). Each stands for itself, because editors load them one by one.
//! 3. They are written to a folder, and the settings of an editor that uses them are printed.
//!
//! The documents are of draft 7, which the language server of YAML knows best. They may accept what `plumb preview` rejects, because a
//! schema cannot follow a reference; they must not reject what it accepts.

mod packages;
mod program;
mod project;
mod stack;
#[cfg(test)]
mod tests;
mod types;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error, ExitStatus};
use serde_json::{Map, Value as Json, json};

/// Write JSON Schemas for the YAML files of this project
///
/// Editors complete, explain and check Pulumi.yaml, Pulumi.STACK.yaml and YAML programs with them: with the types, properties and
/// descriptions of the packages that the project uses. What to put into the settings of VS Code (extension YAML of Red Hat) is printed.
/// Run it again when the project uses another package, or another version of one.
#[derive(Args, Debug)]
pub struct ExportEditorArgs {
    /// Include a package that the program does not use yet, as NAME or NAME@VERSION
    #[arg(long, action = clap::ArgAction::Append)]
    pub package: Vec<String>,
    /// The folder to write to; .plumb in the project if there is none
    pub folder: Option<String>,
}

/// The draft that all documents are of.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";
/// Folder in the project.
const FOLDER: &str = ".plumb";
const PROJECT_FILE: &str = "project.schema.json";
const STACK_FILE: &str = "stack.schema.json";
const PROGRAM_FILE: &str = "program.schema.json";

/// Runs `schema export-editor`.
pub(super) fn run(args: &ExportEditorArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let project = ctx.project()?;
    let schemas = packages::find(project, &args.package, ctx)?;
    let is_yaml = project
        .project
        .runtime
        .as_ref()
        .is_some_and(|it| it.name == "yaml");
    let program = program::Program::of(&schemas);
    let mut files = vec![
        (PROJECT_FILE, project::document(is_yaml.then_some(&program))),
        (STACK_FILE, stack::document(&project.project, &schemas)),
    ];
    if is_yaml {
        files.push((PROGRAM_FILE, program.document()));
    }
    let (folder, shown) = match &args.folder {
        Some(folder) => (ctx.environment.cwd.join(folder), folder.clone()),
        None => (project.root().join(FOLDER), FOLDER.to_owned()),
    };
    write(&folder, &files)?;
    let names: Vec<String> = schemas
        .iter()
        .map(|schema| packages::shown(schema))
        .collect();
    ctx.printer.info(&format!(
        "Wrote {} schemas to `{shown}`, with the types of {}",
        files.len(),
        names.join(", ")
    ));
    explain(&folder, project.root(), is_yaml, ctx);
    Ok(ExitStatus::Success)
}

fn write(folder: &Path, files: &[(&str, Json)]) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::from(error).context(folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for (name, document) in files {
        fs::write(folder.join(name), pretty(document, Indent::Two)).map_err(failed)?;
    }
    Ok(())
}

/// Prints the settings of VS Code on standard output, so that they can be kept, and the explanation beside it.
fn explain(folder: &Path, root: &Path, is_yaml: bool, ctx: &Context) {
    let relative = folder.strip_prefix(root).ok();
    let path = |file: &str| match relative {
        Some(relative) => format!("./{}", slashed(&relative.join(file))),
        None => slashed(&folder.join(file)),
    };
    let mut globs = Map::new();
    globs.insert(path(PROJECT_FILE), json!("Pulumi.yaml"));
    globs.insert(path(STACK_FILE), json!("Pulumi.*.yaml"));
    if is_yaml {
        globs.insert(path(PROGRAM_FILE), json!("Main.yaml"));
    }
    ctx.printer
        .info("\nFor VS Code with the extension redhat.vscode-yaml, .vscode/settings.json of the project:\n");
    ctx.printer
        .data(&pretty(&json!({ "yaml.schemas": globs }), Indent::Two));
    ctx.printer.info(&format!(
        "\nFor every editor with yaml-language-server, the first line of Pulumi.yaml:\n\n# yaml-language-server: $schema={}",
        path(PROJECT_FILE)
    ));
}

fn slashed(path: &Path) -> String {
    let path: PathBuf = path.components().collect();
    path.to_string_lossy().replace('\\', "/")
}

/// An object with these members, all of them optional.
fn object(properties: Map<String, Json>) -> Json {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// A description without the marks that hold a name for each language; the name between them stays.
fn prose(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("<span pulumi-lang-") {
        out.push_str(before);
        rest = after.split_once('>').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.replace("</span>", "").trim().to_owned()
}

/// Text with a description.
fn text(description: &str) -> Json {
    json!({ "type": "string", "description": description })
}
