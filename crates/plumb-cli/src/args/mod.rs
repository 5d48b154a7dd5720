//! Parsing of arguments according to the rules of Go's cobra and pflag (`cli.md` 1.1).
//!
//! 1. [`crate::cli`] declares commands and flags with clap.
//! 2. [`scan()`] parses the words by cobra's rules with these declarations: it finds the command, assigns values to
//!    flags, applies `PULUMI_OPTION_*`, and reports errors with the messages that scripts match.
//! 3. The result is written in a canonical form (`--flag=value`, each at the level of its declaration, positional words
//!    after `--`), which clap parses into the argument structs.
//!
//! Flags with the help heading [`PERSISTENT`] are inherited by subcommands.

pub mod complete;
mod csv;
mod flags;
mod globals;
mod help;
pub mod man;
pub mod reference;
mod scan;
mod suggest;
pub mod surface;
#[cfg(test)]
mod tests;

use clap::{CommandFactory, FromArgMatches};
use plumb_operate::{Environment, Error, ExitStatus};

use crate::cli::Cli;

pub use globals::{GlobalArgs, PERSISTENT};
pub use scan::{Found, Scanned, scan};

/// Parsed command line.
pub enum Parsed {
    /// A command.
    Command(Box<Cli>),
    /// The help of a command.
    Help {
        /// Help text.
        text: String,
        /// Failure for a group without an action, success for `--help`.
        status: ExitStatus,
    },
    /// Too many or too few positional words: the command's help, and the error.
    Refused {
        /// Help text.
        text: String,
        /// The error.
        error: Error,
    },
    /// The version.
    Version,
}

/// The tree of commands, as it is declared.
pub fn command_tree() -> clap::Command {
    Cli::command()
}

/// Hidden commands and flags, which serve only to debug the program itself.
const FOR_DEBUGGING: ([&str; 3], [&str; 2]) = (
    ["view-trace", "convert-trace", "replay-events"],
    ["tracing_header", "event_log"],
);

/// The tree of commands as help and completions show it.
pub fn shown_tree(environment: &Environment) -> clap::Command {
    let mut tree = command_tree();
    if environment.is_on("PULUMI_EXPERIMENTAL") {
        tree = with_flags(tree, &crate::commands::operations::remote::FLAGS);
    }
    if !environment.is_on("PULUMI_DEBUG_COMMANDS") {
        return tree;
    }
    let (commands, flags) = FOR_DEBUGGING;
    for name in commands {
        tree = tree.mut_subcommand(name, |command| command.hide(false));
    }
    with_flags(tree, &flags)
}

/// Unhides `flags` in all commands of `tree`.
fn with_flags(tree: clap::Command, flags: &[&str]) -> clap::Command {
    let tree = tree.mut_args(|arg| {
        let is_shown = flags.contains(&arg.get_id().as_str());
        if is_shown { arg.hide(false) } else { arg }
    });
    tree.mut_subcommands(|command| with_flags(command, flags))
}

/// Help text of the command at `path`.
pub fn help_of(path: &[&str], environment: &Environment) -> String {
    let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
    let manner = help::Manner::of(environment, help::Length::Long);
    help::text(&shown_tree(environment), &path, &manner)
}

/// Parses the arguments of the process.
pub fn parse(environment: &Environment) -> Result<Parsed, Error> {
    let tree = shown_tree(environment);
    let manner = |length| help::Manner::of(environment, length);
    let scanned = match scan(&tree, environment, &environment.arguments)? {
        Found::Help { path, asked } => {
            let status = if asked.is_some() || path.is_empty() {
                ExitStatus::Success
            } else {
                ExitStatus::Failure
            };
            return Ok(Parsed::Help {
                text: help::text(&tree, &path, &manner(asked.unwrap_or_default())),
                status,
            });
        }
        Found::WrongCount { path, complaint } => {
            return Ok(Parsed::Refused {
                text: help::text(&tree, &path, &manner(help::Length::Long)),
                error: Error::user(complaint),
            });
        }
        Found::Version => return Ok(Parsed::Version),
        Found::Command(scanned) => scanned,
    };
    // In canonical form, words before `--` are never values.
    let words = scanned.words.iter().skip(1).take_while(|it| *it != "--");
    let command = words.filter(|it| !it.starts_with('-')).cloned().collect();
    let mut matches = flags::for_clap(tree)
        .try_get_matches_from(scanned.words)
        .map_err(clap_error)?;
    let mut cli = Cli::from_arg_matches_mut(&mut matches).map_err(clap_error)?;
    cli.globals.user_flags = scanned.user_flags;
    cli.globals.command = command;
    Ok(Parsed::Command(Box::new(cli)))
}

fn clap_error(error: clap::Error) -> Error {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    // The names of missing arguments are on the following lines; the usage comes after an empty line.
    let first = text.split("\n\n").next().unwrap_or_default();
    let lines: Vec<&str> = first.lines().map(str::trim).collect();
    Error::user(lines.join(" "))
}
