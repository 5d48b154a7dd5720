//! Declarations of the command line, compared with an inventory of what scripts and SDKs use, and with
//! `docs/cli.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use plumb_cli::args::reference::reference;
use plumb_cli::args::surface::{CommandSurface, FlagSurface, surface};

/// Inventory of required commands and flags.
const INVENTORY: &str = include_str!("../data/surface.txt");

/// Section of `docs/compatibility.md` with the missing ones.
const MISSING: &str = "## Missing commands and flags";

/// Variable that makes the test write `docs/cli.md` instead of comparing it.
const WRITE: &str = "PLUMB_WRITE_DOCS";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn declared() -> Vec<CommandSurface> {
    surface(&plumb_cli::args::command_tree())
}

/// A command in the inventory.
#[derive(Debug, Default)]
struct Wanted {
    path: String,
    aliases: Vec<String>,
    words: String,
    is_group: bool,
    flags: Vec<WantedFlag>,
}

#[derive(Clone, Debug)]
struct WantedFlag {
    name: String,
    short: Option<char>,
    kind: String,
    default: Option<String>,
    bare: Option<String>,
}

impl WantedFlag {
    fn parse(line: &str) -> Self {
        let mut words = line.split_whitespace().peekable();
        let short = words.next_if(|word| !word.starts_with("--"));
        let name = words.next().unwrap().trim_start_matches("--");
        let mut flag = WantedFlag {
            name: name.to_owned(),
            short: short.and_then(|word| word.chars().nth(1)),
            kind: words.next().unwrap().to_owned(),
            default: None,
            bare: None,
        };
        for word in words {
            if let Some(value) = word.strip_prefix("bare=") {
                flag.bare = Some(value.to_owned());
            } else {
                flag.default = Some(word.strip_prefix('=').unwrap().to_owned());
            }
        }
        flag
    }

    /// Differences between the declaration and the inventory.
    fn compare(&self, found: &FlagSurface) -> Vec<String> {
        let mut differences = Vec::new();
        let mut differs = |what: &str, wanted: String, found: String| {
            if wanted != found {
                differences.push(format!("{what} is {found}, not {wanted}"));
            }
        };
        differs(
            "its letter",
            format!("{:?}", self.short),
            format!("{:?}", found.short),
        );
        differs("its kind", self.kind.clone(), found.kind.to_string());
        differs(
            "its value alone",
            format!("{:?}", self.bare),
            format!("{:?}", found.bare),
        );
        // The default parallelism depends on the machine.
        if self.name != "parallel" || self.default.is_some() {
            differs(
                "its default",
                format!("{:?}", self.default),
                format!("{:?}", found.default),
            );
        }
        differences
    }
}

fn inventory() -> Vec<Wanted> {
    let mut sets: BTreeMap<String, Vec<WantedFlag>> = BTreeMap::new();
    let mut commands: Vec<Wanted> = Vec::new();
    let mut set = None;
    let lines = INVENTORY
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    for line in lines {
        if let Some(name) = line.strip_prefix("set ") {
            set = Some(name.to_owned());
            sets.insert(name.to_owned(), Vec::new());
        } else if let Some(rest) = line.strip_prefix("command ") {
            set = None;
            commands.push(command(rest, &sets));
        } else {
            let flag = WantedFlag::parse(line);
            match &set {
                Some(name) => sets.get_mut(name).unwrap().push(flag),
                None => commands.last_mut().unwrap().flags.push(flag),
            }
        }
    }
    commands
}

fn command(line: &str, sets: &BTreeMap<String, Vec<WantedFlag>>) -> Wanted {
    let mut wanted = Wanted::default();
    for word in line.split_whitespace().skip(1) {
        if let Some(aliases) = word.strip_prefix("alias=") {
            wanted.aliases = aliases.split(',').map(ToOwned::to_owned).collect();
        } else if let Some(words) = word.strip_prefix("args=") {
            words.clone_into(&mut wanted.words);
        } else if let Some(names) = word.strip_prefix("use=") {
            let flags = names.split(',').flat_map(|name| sets[name].clone());
            wanted.flags.extend(flags);
        } else if word == "group" {
            wanted.is_group = true;
        } else {
            let path = [wanted.path.as_str(), word].join(" ");
            path.trim().clone_into(&mut wanted.path);
        }
    }
    wanted
}

/// Commands and flags that the documentation lists as missing.
fn excused() -> BTreeSet<String> {
    let text = fs::read_to_string(repository().join("docs/compatibility.md")).unwrap();
    let section = text.split(MISSING).nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.flat_map(|row| {
        row.split(" | ")
            .next()
            .unwrap()
            .split(", ")
            .map(|it| it.trim_matches('`').to_owned())
    })
    .collect()
}

fn differences(wanted: &Wanted, found: &CommandSurface) -> Vec<String> {
    let path = &wanted.path;
    if found.is_refused && !wanted.words.contains("...") {
        return vec![path.clone()];
    }
    let mut missing = Vec::new();
    let aliases = wanted
        .aliases
        .iter()
        .filter(|alias| !found.aliases.contains(alias));
    missing.extend(aliases.map(|alias| format!("{path}: the name {alias}")));
    let words: String = found.words.iter().map(ToString::to_string).collect();
    // An argument that is optional here and required in the inventory is compatible with scripts.
    let given = words.replace('[', "<").replace(']', ">");
    if words != wanted.words && given != wanted.words {
        missing.push(format!(
            "{path}: its words are {words}, not {}",
            wanted.words
        ));
    }
    if found.is_group != wanted.is_group {
        missing.push(format!("{path}: whether it does something by itself"));
    }
    for (at, flag) in wanted.flags.iter().enumerate() {
        // A command may replace a shared flag with one of its own.
        if wanted.flags[at + 1..]
            .iter()
            .any(|later| later.name == flag.name)
        {
            continue;
        }
        match found.flags.iter().find(|it| it.name == flag.name) {
            None => missing.push(format!("{path} --{}", flag.name)),
            Some(declared) => missing.extend(
                flag.compare(declared)
                    .into_iter()
                    .map(|text| format!("{path} --{}: {text}", flag.name)),
            ),
        }
    }
    missing
}

#[test]
fn commands_and_flags_are_those_of_the_inventory() {
    let (declared, excused) = (declared(), excused());
    let mut missing = Vec::new();
    for wanted in inventory() {
        match declared.iter().find(|it| it.path.join(" ") == wanted.path) {
            None => missing.push(wanted.path),
            Some(found) => missing.extend(differences(&wanted, found)),
        }
    }
    let surprises: Vec<&String> = missing.iter().filter(|it| !excused.contains(*it)).collect();
    assert!(
        surprises.is_empty(),
        "missing, and not in docs/compatibility.md:\n{surprises:#?}"
    );
}

/// The list of missing commands and flags is up to date.
#[test]
fn what_is_said_to_be_missing_is_missing_or_refused() {
    let declared = declared();
    for entry in excused() {
        let (path, flag) = match entry.split_once(" --") {
            Some((path, flag)) => (path, Some(flag)),
            None => (entry.as_str(), None),
        };
        let found = declared.iter().find(|it| it.path.join(" ") == path);
        let Some(found) = found else { continue };
        let is_there = match flag {
            Some(name) => found
                .flags
                .iter()
                .any(|it| it.name == name && !it.help.ends_with("(not supported yet)")),
            None => !found.is_refused && !found.about.ends_with("(not supported yet)"),
        };
        assert!(
            !is_there,
            "docs/compatibility.md says that `{entry}` is missing"
        );
    }
}

#[test]
fn the_documentation_is_what_the_declarations_say() {
    let path = repository().join("docs/cli.md");
    let text = reference(&declared());
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, &text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "docs/cli.md is out of date; write it anew with `{WRITE}=1 cargo test -p plumb-cli surface`"
    );
}

#[test]
fn every_command_and_flag_says_what_it_is_for() {
    for command in declared() {
        let path = command.path.join(" ");
        assert!(!command.about.is_empty(), "`{path}` has no description");
        for flag in &command.flags {
            assert!(
                !flag.help.is_empty(),
                "`{path} --{}` has no description",
                flag.name
            );
        }
    }
}
