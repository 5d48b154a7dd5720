//! Suggestions for unknown commands.
//!
//! 1. Every visible command is a candidate; its path is a list of words, each with its aliases.
//! 2. Each typed word is matched with the most similar word of the candidate. Matches score points (see [`fit`]);
//!    unmatched words of the candidate cost one point each.
//! 3. Candidates with at least two points count if the unknown word matches one of their words. Commands below the
//!    named one come first; the whole tree is searched only if none of them counts.

use std::cmp::Reverse;
use std::fmt::Write as _;

use clap::Command;

/// Words that suggest a command without being its alias.
const MEANT: [(&str, &[&str]); 6] = [
    ("up", &["apply", "deploy", "push"]),
    ("destroy", &["delete", "kill", "remove", "rm", "stop"]),
    ("preview", &["build", "plan"]),
    ("watch", &["developer", "dev"]),
    ("history", &["updates"]),
    ("new", &["init"]),
];

/// Words with the same meaning in names of commands; the first one is used for comparison.
const SYNONYMS: [(&str, &[&str]); 5] = [
    ("list", &["ls"]),
    ("remove", &["rm", "del", "delete"]),
    ("new", &["create", "add"]),
    ("get", &["show", "display"]),
    ("update", &["upgrade"]),
];

const MOST: usize = 3;
const LEAST_POINTS: i32 = 2;
/// Maximum difference between the scores of a suggestion and of the best one.
const BEHIND: i32 = 2;

/// A command, with the words of its path.
struct Candidate {
    path: Vec<String>,
    words: Vec<Vec<String>>,
}

#[derive(Clone, Copy)]
struct Points {
    /// Points for matched words, minus one for each unmatched word.
    total: i32,
    /// Points for matched words.
    fits: i32,
}

/// Paths of commands similar to `words`, the most similar first. `words` follow the names of `levels`, and the first of
/// them is not a command.
fn suggestions(levels: &[&Command], words: &[String]) -> Vec<String> {
    let names: Vec<&str> = levels[1..].iter().map(|level| level.get_name()).collect();
    let known: Vec<String> = names.iter().flat_map(|name| canonical(name)).collect();
    let (failing, rest) = words
        .split_first()
        .map_or((Vec::new(), words), |(word, rest)| (canonical(word), rest));
    let rest: Vec<String> = rest.iter().flat_map(|word| canonical(word)).collect();
    let rank = |command: &Command, above: &[&Command]| {
        let mut candidates = Vec::new();
        collect(command, above, &mut candidates);
        let judged = candidates.into_iter().filter_map(|candidate| {
            let points = judge(&candidate, &known, &failing, &rest)?;
            Some((points, candidate))
        });
        let mut judged: Vec<_> = judged.collect();
        judged.sort_by_key(|(points, candidate)| {
            let depth = candidate.path.len();
            (
                Reverse(points.total),
                Reverse(points.fits),
                depth,
                candidate.path.clone(),
            )
        });
        judged
    };
    let last = levels.len() - 1;
    let mut found = rank(levels[last], &levels[1..]);
    if found.is_empty() && last > 0 {
        found = rank(levels[0], &[]);
    }
    let best = found.first().map_or(0, |(points, _)| points.total);
    let near = found
        .iter()
        .filter(|(points, _)| points.total >= best - BEHIND);
    near.take(MOST)
        .map(|(_, candidate)| candidate.path.join(" "))
        .collect()
}

/// A command of Plumb alone. Those who write `export` mean one that the reference has, too.
const NOT_MEANT: &str = "export-program";

/// Adds all visible commands below `command`; `above` are its parents and itself.
fn collect(command: &Command, above: &[&Command], candidates: &mut Vec<Candidate>) {
    let is_shown = |sub: &&Command| {
        !sub.is_hide_set()
            && command.get_name() != "logs"
            && ![super::scan::HELP, NOT_MEANT].contains(&sub.get_name())
    };
    for sub in command.get_subcommands().filter(is_shown) {
        let chain: Vec<&Command> = above.iter().copied().chain([sub]).collect();
        candidates.push(Candidate {
            path: chain
                .iter()
                .map(|level| level.get_name().to_owned())
                .collect(),
            words: chain.iter().flat_map(|level| answers(level)).collect(),
        });
        collect(sub, &chain, candidates);
    }
}

/// Words of a command's name. A name of one word also has its aliases.
fn answers(command: &Command) -> Vec<Vec<String>> {
    let name = command.get_name();
    let mut words: Vec<Vec<String>> = canonical(name).into_iter().map(|word| vec![word]).collect();
    if let [word] = words.as_mut_slice() {
        let meant = MEANT.iter().filter(|(of, _)| *of == name);
        let others = command
            .get_all_aliases()
            .chain(meant.flat_map(|(_, words)| words.iter().copied()));
        for other in others {
            let mut other = canonical(other);
            if other.len() == 1 && !word.contains(&other[0]) {
                word.append(&mut other);
            }
        }
    }
    words
}

fn judge(
    candidate: &Candidate,
    known: &[String],
    failing: &[String],
    rest: &[String],
) -> Option<Points> {
    let mut left: Vec<&Vec<String>> = candidate.words.iter().collect();
    let mut take = |word: &String| {
        let fits = left
            .iter()
            .enumerate()
            .map(|(at, names)| (fit(word, names), at));
        // Among equal matches, the first one.
        let (points, Reverse(at)) = fits.map(|(points, at)| (points, Reverse(at))).max()?;
        (points > 0).then(|| {
            left.remove(at);
            points
        })
    };
    let before: i32 = known.iter().filter_map(&mut take).sum();
    let of_failing: Vec<i32> = failing.iter().filter_map(&mut take).collect();
    let after: i32 = rest.iter().filter_map(&mut take).sum();
    let fits = before + of_failing.iter().sum::<i32>() + after;
    let unused = i32::try_from(left.len()).unwrap_or(i32::MAX);
    let total = fits - unused;
    (!of_failing.is_empty() && total >= LEAST_POINTS).then_some(Points { total, fits })
}

/// Points of a match: three for the same word, two for a similar one, one if one word is a prefix of the other.
fn fit(word: &str, names: &[String]) -> i32 {
    let points = |name: &String| {
        let longest = word.len().max(name.len());
        let distance = if longest < 6 { 1 } else { 2 };
        let begins = |text: &str, with: &str| with.len() >= 3 && text.starts_with(with);
        if word == name {
            3
        } else if strsim::levenshtein(word, name) <= distance {
            2
        } else {
            i32::from(begins(name, word) || begins(word, name))
        }
    };
    names.iter().map(points).max().unwrap_or_default()
}

/// Words of a name in the form for comparison: lower case, singular, and one word for each group of synonyms.
fn canonical(name: &str) -> Vec<String> {
    let name = name.to_lowercase();
    let words = name.split('-').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let singular = word.strip_suffix('s').filter(|_| word.len() > 3);
            let known = synonym(word).or_else(|| synonym(singular?));
            known.or(singular).unwrap_or(word).to_owned()
        })
        .collect()
}

fn synonym(word: &str) -> Option<&'static str> {
    let group = SYNONYMS.iter().find(|(_, words)| words.contains(&word));
    group.map(|(canonical, _)| *canonical)
}

/// Error for unknown words after the names of `levels`, of which the first is not a command.
pub(super) fn unknown_command(levels: &[&Command], path: &str, words: &[String]) -> String {
    let word = words.first().map_or("", String::as_str);
    let mut text = format!("unknown command \"{word}\" for \"{path}\"");
    let found = suggestions(levels, words);
    if !found.is_empty() {
        text.push_str("\n\nDid you mean this?\n");
        for name in found {
            let _ = writeln!(text, "\t{} {name}", super::scan::KNOWN_NAME);
        }
    }
    let _ = write!(text, "\nRun '{path} --help' for usage.");
    text
}
