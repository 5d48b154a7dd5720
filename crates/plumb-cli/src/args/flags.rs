//! Flags declared with clap, interpreted by pflag's rules.

use std::any::TypeId;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command, value_parser};
use plumb_operate::Environment;

use crate::args::PERSISTENT;

/// Environment variable that sets a flag not given on the command line.
pub(super) fn variable(flag: &str) -> String {
    format!("PULUMI_OPTION_{}", flag.to_uppercase().replace('-', "_"))
}

/// Flags that exist only if an environment variable is set.
const GATED: [(&str, &str); 2] = [
    ("event-log", "PULUMI_DEBUG_COMMANDS"),
    ("override-env", "PULUMI_EXPERIMENTAL"),
];

/// Type of a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Boolean; true if no value follows.
    Bool,
    /// Integer.
    Int,
    /// Output format: default or JSON.
    Format,
    /// Text.
    Text,
}

/// Commands that validate their output format themselves, later and with other messages.
const CHECK_FORMAT: [&str; 4] = ["preview", "refresh", "destroy", "import"];

/// A declared flag.
#[derive(Clone, Copy)]
pub(super) struct Flag<'c> {
    pub(super) arg: &'c Arg,
    /// Index of the command that declares it.
    pub(super) level: usize,
    /// Name of that command.
    pub(super) command: &'c str,
}

impl<'c> Flag<'c> {
    pub(super) fn name(&self) -> &'c str {
        self.arg
            .get_long()
            .unwrap_or_else(|| self.arg.get_id().as_str())
    }

    pub(super) fn takes(&self) -> Takes {
        let parser = self.arg.get_value_parser().type_id();
        if matches!(self.arg.get_action(), ArgAction::SetTrue) || parser == TypeId::of::<bool>() {
            Takes::Bool
        } else if parser == TypeId::of::<i32>() || parser == TypeId::of::<u32>() {
            Takes::Int
        } else if self.is_format() {
            Takes::Format
        } else {
            Takes::Text
        }
    }

    fn is_format(&self) -> bool {
        self.name() == "output"
            && self.arg.get_default_values() == ["default"]
            && !CHECK_FORMAT.contains(&self.command)
    }

    /// Value of the flag if none follows; `None` if a value is required.
    pub(super) fn bare_value(&self) -> Option<&'static str> {
        let is_optional = self
            .arg
            .get_num_args()
            .is_some_and(|range| range.min_values() == 0);
        match (self.takes(), self.name()) {
            (Takes::Bool, _) | (_, "refresh") => Some("true"),
            (_, "suppress-permalink") => Some("false"),
            (_, "attach-debugger") => Some("program"),
            _ if is_optional => Some(""),
            _ => None,
        }
    }

    /// Whether a value is a comma-separated list.
    pub(super) fn is_slice(&self) -> bool {
        self.arg.get_value_delimiter().is_some()
    }

    /// Whether the flag may be given more than once.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.arg.get_action(), ArgAction::Append)
    }

    /// Name of the flag in messages, such as `-y, --yes`.
    pub(super) fn shown(&self) -> String {
        match self.arg.get_short() {
            Some(short) => format!("-{short}, --{}", self.name()),
            None => format!("--{}", self.name()),
        }
    }
}

/// Flags known to the last command of `levels`, its own first.
pub(super) fn known<'c>(levels: &[&'c Command], environment: &Environment) -> Vec<Flag<'c>> {
    let last = levels.len() - 1;
    let mut flags = Vec::new();
    for (level, command) in levels.iter().enumerate().rev() {
        let here = command.get_arguments().filter(|arg| {
            !arg.is_positional() && (level == last || arg.get_help_heading() == Some(PERSISTENT))
        });
        flags.extend(
            here.map(|arg| Flag {
                arg,
                level,
                command: command.get_name(),
            })
            .filter(|flag| is_available(flag, environment)),
        );
    }
    flags
}

fn is_available(flag: &Flag<'_>, environment: &Environment) -> bool {
    GATED
        .iter()
        .all(|(name, variable)| *name != flag.name() || environment.is_on(variable))
}

pub(super) fn by_name<'c>(flags: &[Flag<'c>], name: &str) -> Option<Flag<'c>> {
    let is_named = |arg: &Arg| {
        arg.get_long() == Some(name)
            || arg
                .get_all_aliases()
                .is_some_and(|aliases| aliases.contains(&name))
    };
    flags.iter().find(|flag| is_named(flag.arg)).copied()
}

pub(super) fn by_letter<'c>(flags: &[Flag<'c>], letter: char) -> Option<Flag<'c>> {
    flags
        .iter()
        .find(|flag| flag.arg.get_short() == Some(letter))
        .copied()
}

/// The command tree for clap: every flag requires `=` before its value, and values are no longer
/// split.
pub(super) fn for_clap(tree: Command) -> Command {
    let tree = tree.mut_args(|arg| {
        if arg.is_positional() {
            return arg;
        }
        match arg.get_action() {
            ArgAction::SetTrue => {
                let parser: ValueParser = value_parser!(bool);
                arg.action(ArgAction::Set)
                    .num_args(1)
                    .require_equals(true)
                    .default_value("false")
                    .value_parser(parser)
            }
            _ => arg.num_args(1).require_equals(true).value_delimiter(None),
        }
    });
    tree.mut_subcommands(for_clap)
}
