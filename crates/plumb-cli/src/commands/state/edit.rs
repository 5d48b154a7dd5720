//! `state edit`.

use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Args;
use plumb_operate::context::{IfMissing, Stack, StackState};
use plumb_operate::{Context, Error, ExitStatus, prompt};
use plumb_state::edit::import_problems;
use plumb_state::file::parse_deployment;

/// Edit the current stack's state in an editor
///
/// The state is opened as JSON in the program that the variable EDITOR names. It is checked when the editor ends, and saved
/// only if nothing speaks against it.
#[derive(Args, Debug)]
pub struct EditArgs {
    /// The name of the stack to operate on. Defaults to the current stack
    #[arg(long)]
    pub stack: Option<String>,
}

pub(super) fn run(args: EditArgs, ctx: &Context) -> Result<(), Error> {
    if !ctx.is_interactive() {
        return Err(Error::user(format!(
            "{} state edit must be run in interactive mode",
            ctx.printer.program()
        )));
    }
    let editor = ctx
        .environment
        .non_empty("EDITOR")
        .ok_or_else(|| Error::user("no EDITOR environment variable set"))?;
    let stack = ctx.require_stack(args.stack.as_deref(), IfMissing::Fail)?;
    let before = ctx.export_text(ctx.load_state(&stack)?, false)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("state.json");
    fs::write(&path, &before)?;
    loop {
        open(editor, &path, ctx)?;
        let after = fs::read_to_string(&path)?;
        if after == before {
            ctx.printer.line("State is unchanged");
            return Ok(());
        }
        let problems = match problems(&after, &stack) {
            Ok(problems) => problems,
            Err(error) => vec![error.text().unwrap_or_default()],
        };
        if problems.is_empty() {
            return save(&after, &before, &stack, ctx);
        }
        for problem in &problems {
            ctx.printer.error(problem);
        }
        let choices = vec!["edit".to_owned(), "cancel".to_owned()];
        if prompt::select("What would you like to do?", choices)? != 0 {
            return Err(Error::shown(ExitStatus::Failure));
        }
    }
}

/// Runs the editor. The environment variable may also contain flags.
fn open(editor: &str, path: &Path, ctx: &Context) -> Result<(), Error> {
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(editor);
    let status = Command::new(program)
        .args(words)
        .arg(path)
        .current_dir(&ctx.environment.cwd)
        .status()
        .map_err(|error| {
            Error::from(error).context(format!("could not start the editor {editor}"))
        })?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::user(format!(
            "the editor {editor} ended with {status}; the state is unchanged"
        )))
    }
}

fn problems(text: &str, stack: &Stack) -> Result<Vec<String>, Error> {
    let deployment = parse_deployment(text.as_bytes())?;
    let problems = import_problems(deployment.opaque(), stack.name());
    Ok(problems.iter().map(ToString::to_string).collect())
}

fn save(text: &str, before: &str, stack: &Stack, ctx: &Context) -> Result<(), Error> {
    let deployment = parse_deployment(text.as_bytes())?;
    let edited = ctx.encrypted_state(StackState::File(Box::new(deployment)))?;
    let update = ctx.take_stack(stack)?;
    let now = ctx.export_text(ctx.load_state(stack)?, false)?;
    if now != before {
        return Err(Error::user(
            "the state has changed while it was edited; nothing is saved. Edit it again",
        ));
    }
    update.replace(&edited)?;
    ctx.printer.line("State edited");
    Ok(())
}
