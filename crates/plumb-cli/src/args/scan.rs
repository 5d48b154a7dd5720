//! Parsing of words by cobra's rules.

use std::collections::BTreeMap;

use clap::Command;
use plumb_operate::identity::Code;
use plumb_operate::{Environment, Error};

use super::flags::{self, Flag, Takes};
use super::help::Length;
use super::{csv, suggest};

/// Flags with an environment variable for their default.
const DEFAULTS: [(&str, &str); 4] = [
    ("parallel", "PULUMI_PARALLEL"),
    ("yes", "PULUMI_SKIP_CONFIRMATIONS"),
    ("continue-on-error", "PULUMI_CONTINUE_ON_ERROR"),
    ("run-program", "PULUMI_RUN_PROGRAM"),
];

/// The command that shows the help of others, and pages of the book.
pub(super) const HELP: &str = "help";

/// Result of scanning the words.
#[derive(Debug)]
pub enum Found {
    /// A command.
    Command(Scanned),
    /// Help.
    Help {
        /// Names of the command and its parents, without the program.
        path: Vec<String>,
        /// The help that was requested; `None` if the command is a group without an action.
        asked: Option<Length>,
    },
    /// Too many or too few positional words.
    WrongCount {
        /// Names of the command and its parents, without the program.
        path: Vec<String>,
        /// The message.
        complaint: String,
    },
    /// The version.
    Version,
}

/// A command line in canonical form.
#[derive(Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Program, commands, flags, `--`, positional words.
    pub words: Vec<String>,
    /// Flags set by the user on the command line or in the environment, sorted by name.
    pub user_flags: BTreeMap<String, String>,
}

/// A flag with its values.
struct Given<'c> {
    flag: Flag<'c>,
    values: Vec<String>,
}

/// Scans the words after the program's name.
pub fn scan(tree: &Command, environment: &Environment, words: &[String]) -> Result<Found, Error> {
    let (levels, rest) = find_command(tree, environment, words);
    let command = levels[levels.len() - 1];
    let mut reader = Reader {
        known: flags::known(&levels, environment),
        given: Vec::new(),
        positional: Vec::new(),
        wants_help: None,
        wants_version: false,
        is_root: levels.len() == 1,
        takes_anything: command
            .get_positionals()
            .any(clap::Arg::is_trailing_var_arg_set),
    };
    reader.read(&rest)?;
    let path = names(&levels);
    if path == [HELP]
        && reader.wants_help.is_none()
        && let Some(path) = reader.subject_of_help(tree, environment)
    {
        return Ok(Found::Help {
            path,
            asked: Some(Length::Long),
        });
    }
    if reader.wants_help.is_some() {
        return Ok(Found::Help {
            path,
            asked: reader.wants_help,
        });
    }
    if reader.wants_version {
        return Ok(Found::Version);
    }
    let shown_path = shown_path(KNOWN_NAME, &path);
    if is_group(command) {
        return match reader.positional.first() {
            Some(_) => {
                let text = suggest::unknown_command(&levels, &shown_path, &reader.positional);
                Err(Error::user(text).known(Code::UnknownCommand))
            }
            None => Ok(Found::Help { path, asked: None }),
        };
    }
    reader.fill_from_environment(environment)?;
    let user_flags = reader.told();
    reader.fill_defaults(environment)?;
    if let Some(extra) = unknown_words(command, &reader.positional) {
        let text = suggest::unknown_command(&levels, &shown_path, extra);
        return Err(Error::user(text).known(Code::UnknownCommand));
    }
    if let Some(complaint) = wrong_count(command, reader.positional.len()) {
        return Ok(Found::WrongCount { path, complaint });
    }
    check_exclusive(command, &reader.given)?;
    Ok(Found::Command(Scanned {
        words: reader.canonical(&levels),
        user_flags,
    }))
}

/// Name of the program in messages that scripts match, independent of the actual name.
pub(super) const KNOWN_NAME: &str = "pulumi";

/// The path of a command, with the program before it.
pub(super) fn shown_path(program: &str, path: &[String]) -> String {
    std::iter::once(program)
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Names of the commands below the program.
fn names(levels: &[&Command]) -> Vec<String> {
    let names = levels[1..].iter().map(|level| level.get_name());
    names.map(ToOwned::to_owned).collect()
}

/// Whether a command has no action of its own.
pub(super) fn is_group(command: &Command) -> bool {
    command.is_subcommand_required_set()
}

/// Finds the command named by the words; returns its levels and the remaining words.
pub(super) fn find_command<'c>(
    tree: &'c Command,
    environment: &Environment,
    words: &[String],
) -> (Vec<&'c Command>, Vec<String>) {
    let mut levels = vec![tree];
    let mut rest = words.to_vec();
    loop {
        let known = flags::known(&levels, environment);
        let Some(at) = first_command_word(&known, &rest) else {
            return (levels, rest);
        };
        match levels[levels.len() - 1].find_subcommand(&rest[at]) {
            Some(sub) => {
                levels.push(sub);
                rest.remove(at);
            }
            None => return (levels, rest),
        }
    }
}

/// Index of the first word that is neither a flag nor a flag's value. An unknown flag consumes the next word.
fn first_command_word(known: &[Flag<'_>], words: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return None;
        }
        let takes_next = if let Some(name) = word.strip_prefix("--") {
            !name.contains('=')
                && flags::by_name(known, name).is_none_or(|flag| flag.bare_value().is_none())
        } else if word.len() == 2 && word.starts_with('-') {
            let letter = word.chars().nth(1).unwrap_or('-');
            flags::by_letter(known, letter).is_none_or(|flag| flag.bare_value().is_none())
        } else if word.starts_with('-') && word.len() > 1 {
            false
        } else {
            return Some(at);
        };
        let is_help = matches!(word.as_str(), "--help" | "-h" | "--version");
        at += if takes_next && !is_help { 2 } else { 1 };
    }
    None
}

struct Reader<'c> {
    known: Vec<Flag<'c>>,
    given: Vec<Given<'c>>,
    positional: Vec<String>,
    wants_help: Option<Length>,
    wants_version: bool,
    is_root: bool,
    /// The command is known but not implemented, so all words after it are accepted.
    takes_anything: bool,
}

impl<'c> Reader<'c> {
    fn read(&mut self, words: &[String]) -> Result<(), Error> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                self.positional.extend(words.by_ref().cloned());
            } else if let Some(text) = word.strip_prefix("--") {
                self.read_long(text, &mut words)?;
            } else if word.len() > 1 && word.starts_with('-') {
                self.read_short(&word[1..], &mut words)?;
            } else {
                self.positional.push(word.clone());
            }
        }
        Ok(())
    }

    fn read_long(
        &mut self,
        text: &str,
        words: &mut std::slice::Iter<'_, String>,
    ) -> Result<(), Error> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        if name.is_empty() || name.starts_with('-') {
            return Err(Error::user(format!("bad flag syntax: --{text}")));
        }
        let Some(flag) = flags::by_name(&self.known, name) else {
            match name {
                "help" => self.wants_help = Some(Length::Long),
                "version" if self.is_root => self.wants_version = true,
                _ if self.takes_anything => self.positional.push(format!("--{text}")),
                _ => {
                    return Err(
                        Error::user(format!("unknown flag: --{name}")).known(Code::UnknownCommand)
                    );
                }
            }
            return Ok(());
        };
        let value = match (value, flag.bare_value()) {
            (Some(value), _) => value,
            (None, Some(bare)) => bare.to_owned(),
            (None, None) => words
                .next()
                .cloned()
                .ok_or_else(|| Error::user(format!("flag needs an argument: --{name}")))?,
        };
        self.set(flag, &value)
    }

    /// Reads letters after a single dash; the first one with a value consumes the rest.
    fn read_short(
        &mut self,
        letters: &str,
        words: &mut std::slice::Iter<'_, String>,
    ) -> Result<(), Error> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            let after = &rest[letter.len_utf8()..];
            let Some(flag) = flags::by_letter(&self.known, letter) else {
                if letter == 'h' {
                    self.wants_help = self.wants_help.or(Some(Length::Short));
                    rest = after;
                    continue;
                }
                if self.takes_anything {
                    self.positional.push(format!("-{rest}"));
                    return Ok(());
                }
                return Err(Error::user(format!(
                    "unknown shorthand flag: '{letter}' in -{rest}"
                )));
            };
            if let Some(value) = after.strip_prefix('=') {
                return self.set(flag, value);
            }
            if let Some(bare) = flag.bare_value() {
                self.set(flag, bare)?;
                rest = after;
                continue;
            }
            if !after.is_empty() {
                return self.set(flag, after);
            }
            let missing = || Error::user(format!("flag needs an argument: '{letter}' in -{rest}"));
            let value = words.next().ok_or_else(missing)?;
            return self.set(flag, value);
        }
        Ok(())
    }

    fn set(&mut self, flag: Flag<'c>, value: &str) -> Result<(), Error> {
        let value = checked(flag, value)?;
        let values = if flag.is_slice() {
            csv::fields(&value)
        } else {
            vec![value]
        };
        let position = self
            .given
            .iter()
            .position(|given| given.flag.name() == flag.name());
        match position {
            Some(at) if flag.is_list() => self.given[at].values.extend(values),
            Some(at) => self.given[at].values = values,
            None => self.given.push(Given { flag, values }),
        }
        Ok(())
    }

    /// Applies `PULUMI_OPTION_<NAME>` to flags not set on the command line.
    fn fill_from_environment(&mut self, environment: &Environment) -> Result<(), Error> {
        for flag in self.known.clone() {
            if self
                .given
                .iter()
                .any(|given| given.flag.name() == flag.name())
            {
                continue;
            }
            let Some(value) = environment.non_empty(&flags::variable(flag.name())) else {
                continue;
            };
            if flag.is_list() {
                self.given.push(Given {
                    flag,
                    values: csv::fields(value),
                });
            } else {
                self.set(flag, value)?;
            }
        }
        Ok(())
    }

    /// Applies the environment variables for defaults. Such flags do not count as set by the user.
    fn fill_defaults(&mut self, environment: &Environment) -> Result<(), Error> {
        for (name, variable) in DEFAULTS {
            let Some(flag) = flags::by_name(&self.known, name) else {
                continue;
            };
            let is_given = self.given.iter().any(|given| given.flag.name() == name);
            match environment.non_empty(variable) {
                Some(value) if !is_given && flag.takes() == Takes::Bool => {
                    let is_on = value == "1" || value.eq_ignore_ascii_case("true");
                    self.set(flag, if is_on { "true" } else { "false" })?;
                }
                Some(value) if !is_given => self.set(flag, value)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The command whose help is wanted, by the words of `help`; `None` if a page of the book is wanted. Started as `pulumi`,
    /// there are no pages, and unknown words show the help of the program.
    fn subject_of_help(&self, tree: &Command, environment: &Environment) -> Option<Vec<String>> {
        let (levels, _) = find_command(tree, environment, &self.positional);
        let is_known = levels.len() > 1 || self.positional.is_empty();
        let is_command = environment.program == KNOWN_NAME || is_known;
        is_command.then(|| names(&levels))
    }

    /// Flags that are set; for booleans with their value.
    fn told(&self) -> BTreeMap<String, String> {
        let told = |given: &Given<'_>| match given.flag.takes() {
            Takes::Bool => given.values.last().cloned().unwrap_or_default(),
            Takes::Int | Takes::Format | Takes::Text => "set".to_owned(),
        };
        let given = self.given.iter();
        given
            .map(|given| (given.flag.name().to_owned(), told(given)))
            .collect()
    }

    fn canonical(self, levels: &[&Command]) -> Vec<String> {
        let mut words = Vec::new();
        for (level, command) in levels.iter().enumerate() {
            words.push(command.get_name().to_owned());
            for given in self.given.iter().filter(|given| given.flag.level == level) {
                let name = given.flag.name();
                words.extend(given.values.iter().map(|value| format!("--{name}={value}")));
            }
        }
        words.push("--".to_owned());
        words.extend(self.positional);
        words
    }
}

/// The value in the form that clap parses, if it is valid for the flag.
fn checked(flag: Flag<'_>, value: &str) -> Result<String, Error> {
    let invalid = |why: &str| {
        let flag = flag.shown();
        Error::user(format!(
            "invalid argument \"{value}\" for \"{flag}\" flag: {why}"
        ))
    };
    let refused =
        |parser: &str, why: &str| invalid(&format!("strconv.{parser}: parsing \"{value}\": {why}"));
    match flag.takes() {
        Takes::Bool => match value {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok("true".to_owned()),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok("false".to_owned()),
            _ => Err(refused("ParseBool", "invalid syntax")),
        },
        Takes::Int => match value.parse::<i32>() {
            Ok(number) => Ok(number.to_string()),
            Err(_) => Err(refused("ParseInt", "invalid syntax")),
        },
        Takes::Format if !["", "default", "json"].contains(&value) => Err(invalid(&format!(
            "output \"{value}\" not supported, valid values are: default or json"
        ))),
        Takes::Format | Takes::Text => Ok(value.to_owned()),
    }
}

fn check_exclusive(command: &Command, given: &[Given<'_>]) -> Result<(), Error> {
    for group in command.get_groups() {
        if group.clone().is_multiple() {
            continue;
        }
        let members: Vec<&str> = group
            .get_args()
            .filter_map(|id| command.get_arguments().find(|arg| arg.get_id() == id))
            .filter_map(clap::Arg::get_long)
            .collect();
        let mut set: Vec<&str> = members
            .iter()
            .copied()
            .filter(|name| given.iter().any(|given| given.flag.name() == *name))
            .collect();
        if set.len() > 1 {
            set.sort_unstable();
            return Err(Error::user(format!(
                "if any flags in the group [{}] are set none of the others can be; [{}] were all set",
                members.join(" "),
                set.join(" ")
            )));
        }
    }
    Ok(())
}

/// Minimum and maximum number of positional words of a command.
fn counts(command: &Command) -> (usize, Option<usize>) {
    let (mut least, mut most) = (0, Some(0));
    for arg in command.get_positionals() {
        least += usize::from(arg.is_required_set());
        most = match arg.get_action() {
            clap::ArgAction::Append => None,
            _ => most.map(|most| most + 1),
        };
    }
    (least, most)
}

/// Surplus words of a command with subcommands; the first one was probably meant as a subcommand.
fn unknown_words<'w>(command: &Command, words: &'w [String]) -> Option<&'w [String]> {
    let is_parent = command.has_subcommands() || has_commands_elsewhere(command);
    let extra = words.get(counts(command).1?..)?;
    (is_parent && !extra.is_empty()).then_some(extra)
}

/// Whether the command has subcommands in the reference that need Pulumi's service.
fn has_commands_elsewhere(command: &Command) -> bool {
    ["history", "logs"].contains(&command.get_name())
}

fn wrong_count(command: &Command, count: usize) -> Option<String> {
    let (least, most) = counts(command);
    match most {
        Some(most) if most == least && count != most => {
            Some(format!("accepts {most} arg(s), received {count}"))
        }
        _ if count < least => Some(format!(
            "requires at least {least} arg(s), only received {count}"
        )),
        Some(most) if count > most => {
            Some(format!("accepts at most {most} arg(s), received {count}"))
        }
        _ => None,
    }
}
