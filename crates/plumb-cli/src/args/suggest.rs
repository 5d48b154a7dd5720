//! What was probably meant by a word that is no command.

use std::fmt::Write as _;

use clap::Command;

/// Words that stand for other commands.
const MEANT: [(&str, &[&str]); 6] = [
    ("up", &["apply", "deploy", "push"]),
    ("destroy", &["delete", "kill", "remove", "rm", "stop"]),
    ("preview", &["build", "plan"]),
    ("watch", &["developer", "dev"]),
    ("history", &["updates"]),
    ("new", &["init"]),
];

const MOST: usize = 3;
const FAR: usize = 2;

/// Names of commands below `command` that `word` may stand for, the likeliest first.
pub(super) fn suggestions(command: &Command, word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let mut scored: Vec<(usize, String)> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .filter_map(|sub| Some((score(sub, &word)?, sub.get_name().to_owned())))
        .collect();
    scored.sort();
    scored
        .into_iter()
        .map(|(_, name)| name)
        .take(MOST)
        .collect()
}

fn score(command: &Command, word: &str) -> Option<usize> {
    let name = command.get_name();
    let is_meant = MEANT
        .iter()
        .any(|(meant, words)| *meant == name && words.contains(&word));
    if is_meant {
        return Some(0);
    }
    let distance = command
        .get_name_and_visible_aliases()
        .into_iter()
        .map(|name| strsim::levenshtein(word, &name.to_lowercase()))
        .min()?;
    (distance <= FAR || name.starts_with(word)).then_some(distance + 1)
}

/// The message about a word that is no command.
pub(super) fn unknown_command(command: &Command, path: &str, word: &str) -> String {
    let mut text = format!("unknown command \"{word}\" for \"{path}\"");
    let found = suggestions(command, word);
    if !found.is_empty() {
        text.push_str("\n\nDid you mean this?");
        for name in found {
            let _ = write!(text, "\n\t{path} {name}");
        }
        let _ = write!(text, "\n\nRun '{path} --help' for usage.");
    }
    text
}
