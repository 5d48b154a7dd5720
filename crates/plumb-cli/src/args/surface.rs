//! The complete command line as data, from which documents, manual pages, completions and tests are generated.

use std::fmt;

use clap::{ArgAction, Command};

use super::flags::{Flag, Takes};
use super::scan::is_group;
use crate::args::PERSISTENT;

/// A declared command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSurface {
    /// Names from the program's subcommand to the command; empty for the program itself.
    pub path: Vec<String>,
    /// Aliases.
    pub aliases: Vec<String>,
    /// Summary line.
    pub about: String,
    /// Help text before the flags.
    pub description: String,
    /// Positional words, in order.
    pub words: Vec<Word>,
    /// Flags, sorted by name, including inherited ones.
    pub flags: Vec<FlagSurface>,
    /// Whether the command has no action of its own.
    pub is_group: bool,
    /// Whether help omits the command.
    pub is_hidden: bool,
    /// Whether the command is recognized but not supported; all words after it are accepted.
    pub is_refused: bool,
}

impl CommandSurface {
    /// Positional words for usage lines, each with a space before it.
    pub(super) fn usage(&self) -> String {
        self.words
            .iter()
            .fold(String::new(), |all, word| all + " " + &word.to_string())
    }
}

/// A positional word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Name in usage lines.
    pub name: String,
    /// Whether the word is required.
    pub is_required: bool,
    /// Whether it can be repeated.
    pub is_many: bool,
}

impl fmt::Display for Word {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = if self.is_many { "..." } else { "" };
        if self.is_required {
            write!(out, "<{}>{many}", self.name)
        } else {
            write!(out, "[{}]{many}", self.name)
        }
    }
}

/// Type of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagKind {
    /// Boolean.
    Bool,
    /// Integer.
    Int,
    /// Text.
    Text,
    /// Strings, one per occurrence of the flag.
    Array,
    /// Strings, separated by commas.
    Slice,
}

impl fmt::Display for FlagKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            FlagKind::Bool => "bool",
            FlagKind::Int => "int",
            FlagKind::Text => "string",
            FlagKind::Array => "array",
            FlagKind::Slice => "slice",
        })
    }
}

/// A declared flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagSurface {
    /// Name, without dashes.
    pub name: String,
    /// Short form.
    pub short: Option<char>,
    /// Type of its value.
    pub kind: FlagKind,
    /// Default; `None` for nothing, false and the empty string.
    pub default: Option<String>,
    /// Value if the flag is given without one.
    pub bare: Option<String>,
    /// Help text.
    pub help: String,
    /// Whether a parent command declares it.
    pub is_inherited: bool,
    /// Whether help omits the flag.
    pub is_hidden: bool,
}

impl FlagSurface {
    /// Environment variable that sets the flag if the command line does not.
    pub fn variable(&self) -> String {
        super::flags::variable(&self.name)
    }
}

/// All commands of the tree, each before its subcommands.
pub fn surface(tree: &Command) -> Vec<CommandSurface> {
    let mut all = Vec::new();
    collect(&[tree], &mut Vec::new(), &mut all);
    all
}

fn collect<'c>(levels: &[&'c Command], path: &mut Vec<String>, all: &mut Vec<CommandSurface>) {
    let command: &'c Command = levels[levels.len() - 1];
    all.push(describe(levels, path));
    for sub in command.get_subcommands() {
        path.push(sub.get_name().to_owned());
        collect(&[levels, &[sub]].concat(), path, all);
        path.pop();
    }
}

fn describe(levels: &[&Command], path: &[String]) -> CommandSurface {
    let command = levels[levels.len() - 1];
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    let long = command.get_long_about().map(ToString::to_string);
    let words = command.get_positionals().map(|arg| Word {
        name: arg.get_id().as_str().replace('_', "-"),
        is_required: arg.is_required_set(),
        is_many: matches!(arg.get_action(), ArgAction::Append),
    });
    CommandSurface {
        path: path.to_vec(),
        aliases: command.get_all_aliases().map(ToOwned::to_owned).collect(),
        description: long.unwrap_or_else(|| about.clone()),
        about,
        words: words.collect(),
        flags: flags(levels),
        is_group: is_group(command),
        is_hidden: levels.iter().any(|level| level.is_hide_set()),
        is_refused: takes_anything(command),
    }
}

/// Whether a command accepts arbitrary words.
fn takes_anything(command: &Command) -> bool {
    let mut all = command.get_arguments();
    all.all(clap::Arg::is_positional)
        && command
            .get_positionals()
            .any(clap::Arg::is_trailing_var_arg_set)
}

fn flags(levels: &[&Command]) -> Vec<FlagSurface> {
    let last = levels.len() - 1;
    let mut found: Vec<FlagSurface> = Vec::new();
    for (level, command) in levels.iter().enumerate().rev() {
        for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
            let flag = Flag {
                arg,
                level,
                command: command.get_name(),
            };
            let is_shared = arg.get_help_heading() == Some(PERSISTENT);
            let is_known = found.iter().any(|known| known.name == flag.name());
            if is_known || (level != last && !is_shared) {
                continue;
            }
            found.push(FlagSurface {
                is_inherited: level != last,
                ..one(flag)
            });
        }
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    found
}

fn one(flag: Flag<'_>) -> FlagSurface {
    let kind = match flag.takes() {
        Takes::Bool => FlagKind::Bool,
        Takes::Int => FlagKind::Int,
        Takes::Text if flag.is_slice() => FlagKind::Slice,
        Takes::Text if flag.is_list() => FlagKind::Array,
        Takes::Format | Takes::Text => FlagKind::Text,
    };
    let defaults = flag.arg.get_default_values();
    let default = defaults.first().and_then(|value| value.to_str());
    let default = default.filter(|value| !matches!(*value, "" | "false"));
    let bare = flag.bare_value().filter(|_| kind != FlagKind::Bool);
    FlagSurface {
        name: flag.name().to_owned(),
        short: flag.arg.get_short(),
        kind,
        default: default.map(ToOwned::to_owned),
        bare: bare.map(ToOwned::to_owned),
        help: flag
            .arg
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default(),
        is_inherited: false,
        is_hidden: flag.arg.is_hide_set(),
    }
}
