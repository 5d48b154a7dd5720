//! Completion candidates at a position of the command line.

use clap::Command;
use plumb_operate::Environment;

use super::flags::{self, Flag};
use super::scan::{HELP, find_command};

/// Kind of candidates at a position.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    /// One of these words, each with its description.
    Words(Vec<(String, String)>),
    /// A stack.
    Stacks,
    /// A resource of the stack.
    Urns,
    /// A key of the stack's configuration.
    ConfigKeys,
    /// A file or folder.
    Files,
    /// Anything.
    Nothing,
}

/// A position on the command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Kind of candidates.
    pub wanted: Wanted,
    /// Prefix of all candidates within the same word, such as `--stack=`.
    pub prefix: String,
    /// Stack named by the preceding words.
    pub stack: Option<String>,
    /// Words after `do`, whose subcommands are not declared.
    pub of_do: Option<Vec<String>>,
}

/// Kind of candidates for `word` after the words `before`.
pub fn wanted(tree: &Command, environment: &Environment, before: &[String], word: &str) -> Place {
    let (levels, rest) = find_command(tree, environment, before);
    let known = flags::known(&levels, environment);
    let command = levels[levels.len() - 1];
    let path: Vec<&str> = levels[1..].iter().map(|level| level.get_name()).collect();
    let mut place = Place {
        wanted: Wanted::Nothing,
        prefix: String::new(),
        stack: stack_of(before),
        of_do: (path == ["do"]).then(|| rest.clone()),
    };
    if !before.iter().any(|word| word == "--") {
        let open = before.last().and_then(|last| open_flag(&known, last));
        if let Some(flag) = open {
            place.wanted = of_flag(&path, flag.name());
            return place;
        }
        if let Some((name, _)) = word
            .strip_prefix("--")
            .and_then(|text| text.split_once('='))
        {
            place.prefix = format!("--{name}=");
            place.wanted = of_flag(&path, name);
            return place;
        }
        if word.starts_with('-') {
            place.wanted = Wanted::Words(flag_words(&known));
            return place;
        }
    }
    let words = positional(&known, &rest);
    if path == [HELP] && words == 0 {
        place.wanted = Wanted::Words(subjects_of_help(tree));
    } else if command.has_subcommands() && words == 0 {
        let listed = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let name = |sub: &Command| {
            let about = sub.get_about().map(ToString::to_string);
            (sub.get_name().to_owned(), about.unwrap_or_default())
        };
        place.wanted = Wanted::Words(listed.map(name).collect());
    } else {
        place.wanted = of_word(&path, words);
    }
    place
}

/// Commands and pages of the book, which `help` shows.
fn subjects_of_help(tree: &Command) -> Vec<(String, String)> {
    let commands = tree.get_subcommands().filter(|sub| !sub.is_hide_set());
    let about = |sub: &Command| sub.get_about().map(ToString::to_string).unwrap_or_default();
    let commands = commands.map(|sub| (sub.get_name().to_owned(), about(sub)));
    commands.chain(crate::commands::help::topics()).collect()
}

/// Flag in a word, if its value is the next word.
fn open_flag<'c>(known: &[Flag<'c>], word: &str) -> Option<Flag<'c>> {
    let flag = if let Some(name) = word.strip_prefix("--") {
        flags::by_name(known, name)?
    } else {
        let letters = word
            .strip_prefix('-')
            .filter(|letters| letters.len() == 1)?;
        flags::by_letter(known, letters.chars().next()?)?
    };
    flag.bare_value().is_none().then_some(flag)
}

/// Number of positional words.
fn positional(known: &[Flag<'_>], words: &[String]) -> usize {
    let mut count = 0;
    let mut is_value = false;
    for word in words {
        if is_value {
            is_value = false;
        } else if word.starts_with('-') {
            is_value = open_flag(known, word).is_some();
        } else {
            count += 1;
        }
    }
    count
}

fn flag_words(known: &[Flag<'_>]) -> Vec<(String, String)> {
    let listed = known.iter().filter(|flag| !flag.arg.is_hide_set());
    let mut words: Vec<(String, String)> = listed
        .map(|flag| {
            let help = flag.arg.get_help().map(ToString::to_string);
            (format!("--{}", flag.name()), help.unwrap_or_default())
        })
        .collect();
    words.sort();
    words.dedup_by(|left, right| left.0 == right.0);
    words
}

fn words(all: &[&str]) -> Wanted {
    Wanted::Words(
        all.iter()
            .map(|word| ((*word).to_owned(), String::new()))
            .collect(),
    )
}

fn of_flag(path: &[&str], name: &str) -> Wanted {
    match name {
        "format" if path == ["stack", "graph"] => words(&["dot", "svg", "html"]),
        "stack" | "source" | "dest" | "copy-config-from" => Wanted::Stacks,
        "target" | "exclude" | "replace" | "target-replace" => Wanted::Urns,
        "color" => words(&["auto", "always", "never", "raw"]),
        "output" => words(&["default", "json"]),
        "type" => words(&["string", "bool", "int", "float"]),
        "language" => words(&["dotnet", "go", "java", "nodejs", "python", "yaml"]),
        "secrets-provider" => words(&["default", "passphrase"]),
        "config-file" | "cwd" | "dir" | "file" | "html" | "out" | "plan" | "save-plan"
        | "import-file" | "policy-pack" | "policy-pack-config" | "event-log" | "path"
        | "mappings" => Wanted::Files,
        _ => Wanted::Nothing,
    }
}

/// Kind of candidates for the positional word `index` of a command.
fn of_word(path: &[&str], index: usize) -> Wanted {
    match (path, index) {
        (["stack", "select" | "remove"] | ["cancel"], 0) => Wanted::Stacks,
        (["stack", "change-secrets-provider"], 0) => words(&["default", "passphrase"]),
        (
            [
                "state",
                "move" | "protect" | "unprotect" | "taint" | "untaint" | "remove",
            ],
            _,
        ) => Wanted::Urns,
        (["state", "get" | "rename"], 0) => Wanted::Urns,
        (["config", "get" | "set" | "remove" | "copy"], 0) | (["config", "remove-all"], _) => {
            Wanted::ConfigKeys
        }
        (["gen-completion"], 0) => words(&["bash", "fish", "zsh"]),
        (["new" | "up"], 0) => words(&[
            "csharp",
            "go",
            "java",
            "javascript",
            "python",
            "rust",
            "typescript",
            "yaml",
        ]),
        (["package", "new"], 0) => words(&["python", "rust", "typescript"]),
        (["policy", "new"], 0) => words(&["cel", "python", "rego", "rust", "typescript"]),
        (["plugin", "install" | "remove"], 0) => {
            words(&["analyzer", "converter", "language", "resource", "tool"])
        }
        (["replay-events"], 0) => words(&["destroy", "import", "refresh", "update"]),
        (
            ["package" | "provider" | "schema", ..]
            | ["policy", "test"]
            | ["stack", "graph"]
            | ["gen-markdown" | "gen-man" | "replay-events"],
            _,
        ) => Wanted::Files,
        _ => Wanted::Nothing,
    }
}

/// Stack named by the words.
fn stack_of(words: &[String]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--stack" || word == "-s" {
            return words.next().cloned();
        }
        if let Some(name) = word.strip_prefix("--stack=") {
            return Some(name.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::surface::surface;
    use super::*;

    fn at(line: &str) -> Place {
        let mut words: Vec<String> = line.split(' ').map(ToOwned::to_owned).collect();
        let word = words.pop().unwrap_or_default();
        let environment = Environment::for_tests(BTreeMap::new());
        wanted(&super::super::command_tree(), &environment, &words, &word)
    }

    fn first_words(line: &str) -> Vec<String> {
        match at(line).wanted {
            Wanted::Words(words) => words.into_iter().map(|(word, _)| word).collect(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn places_are_told_apart() {
        assert!(first_words("sta").contains(&"stack".to_owned()));
        assert!(first_words("stack ").contains(&"select".to_owned()));
        assert!(first_words("up --ta").contains(&"--target".to_owned()));
        assert_eq!(at("stack select ").wanted, Wanted::Stacks);
        assert_eq!(at("up --stack ").wanted, Wanted::Stacks);
        assert_eq!(at("up -s ").wanted, Wanted::Stacks);
        assert_eq!(at("up --yes --target ").wanted, Wanted::Urns);
        assert_eq!(at("config get ").wanted, Wanted::ConfigKeys);
        assert_eq!(at("config get key ").wanted, Wanted::Nothing);
        assert_eq!(at("state delete u1 ").wanted, Wanted::Urns);
        assert_eq!(at("up --plan ").wanted, Wanted::Files);
        let subjects = first_words("help ");
        assert!(
            ["up", "secrets", "topic:stack"]
                .map(ToOwned::to_owned)
                .iter()
                .all(|it| subjects.contains(it))
        );
    }

    #[test]
    fn values_may_follow_an_equals_sign_and_a_stack_may_be_named_before() {
        let place = at("state delete --stack prod --color=");
        assert_eq!(
            (place.prefix.as_str(), place.stack.as_deref()),
            ("--color=", Some("prod"))
        );
        assert_eq!(at("up --stack=").wanted, Wanted::Stacks);
    }

    /// The completion table contains only existing commands.
    #[test]
    fn commands_of_the_table_are_declared() {
        let declared = surface(&super::super::command_tree());
        for path in [
            &["state", "move"][..],
            &["config", "remove-all"],
            &["gen-man"],
            &["package", "new"],
        ] {
            assert!(
                declared.iter().any(|command| command.path == path),
                "{path:?}"
            );
        }
    }
}
