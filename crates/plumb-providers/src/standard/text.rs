//! Texts.

use plumb_value::{PropertyMap, Value};
use regex::{Captures, Regex};
use unicode_segmentation::UnicodeSegmentation as _;

use super::args::{Answer, Args};

/// A function of one text.
pub(super) fn of_one<R: AsRef<str>>(args: &Args<'_>, change: impl FnOnce(&str) -> R) -> Answer {
    Ok(change(args.text("input")?).as_ref().into())
}

/// Whether one text has something to do with another, which is the argument `other`.
pub(super) fn test(args: &Args<'_>, other: &str, test: impl FnOnce(&str, &str) -> bool) -> Answer {
    Ok(test(args.text("input")?, args.text(other)?).into())
}

pub(super) fn chomp(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}

pub(super) fn reversed(text: &str) -> String {
    text.graphemes(true).rev().collect()
}

/// Each word with a capital letter first, and small letters behind it.
pub(super) fn title(text: &str) -> String {
    let words = text.split_word_bounds().map(|word| {
        let mut chars = word.chars();
        match chars.next() {
            Some(first) => first
                .to_uppercase()
                .chain(chars.flat_map(char::to_lowercase))
                .collect(),
            None => String::new(),
        }
    });
    words.collect()
}

pub(super) fn indent(args: &Args<'_>) -> Answer {
    let spaces =
        usize::try_from(args.integer("spaces")?).map_err(|_| "spaces must not be negative")?;
    let pad = format!("\n{}", " ".repeat(spaces));
    of_one(args, |it| it.replace('\n', &pad))
}

pub(super) fn trim(args: &Args<'_>) -> Answer {
    let cutset: Vec<char> = args.text("cutset")?.chars().collect();
    of_one(args, |it| it.trim_matches(&cutset[..]).to_owned())
}

pub(super) fn trim_prefix(args: &Args<'_>) -> Answer {
    let prefix = args.text("prefix")?;
    of_one(args, |it| it.strip_prefix(prefix).unwrap_or(it).to_owned())
}

pub(super) fn trim_suffix(args: &Args<'_>) -> Answer {
    let suffix = args.text("suffix")?;
    of_one(args, |it| it.strip_suffix(suffix).unwrap_or(it).to_owned())
}

/// `length` characters, as people see them, from `offset`; the rest if `length` is negative.
pub(super) fn substr(args: &Args<'_>) -> Answer {
    let clusters: Vec<&str> = args.text("input")?.graphemes(true).collect();
    let (offset, length) = (args.integer("offset")?, args.integer("length")?);
    let count = clusters.len() as i64;
    let start = if offset < 0 { offset + count } else { offset };
    let start = start.clamp(0, count);
    let end = if length < 0 {
        count
    } else {
        start.saturating_add(length).min(count)
    };
    Ok(clusters[start as usize..end as usize].concat().into())
}

pub(super) fn join(args: &Args<'_>) -> Answer {
    Ok(args.texts("input")?.join(args.text("separator")?).into())
}

pub(super) fn split(args: &Args<'_>) -> Answer {
    let (text, separator) = (args.text("text")?, args.text("separator")?);
    if separator.is_empty() {
        return Ok(Value::array(text.chars().map(|it| it.to_string().into())));
    }
    Ok(Value::array(text.split(separator).map(Value::from)))
}

fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| error.to_string())
}

/// A pattern between slashes is a regular expression.
pub(super) fn replace(args: &Args<'_>) -> Answer {
    let (text, search) = (args.text("text")?, args.text("search")?);
    let with = args.text("replace")?;
    let inner = search.strip_prefix('/').and_then(|it| it.strip_suffix('/'));
    Ok(match inner {
        Some(expression) => pattern(expression)?.replace_all(text, with).as_ref().into(),
        None => text.replace(search, with).into(),
    })
}

/// Value of a match: its groups by name or in order, or the whole match if the pattern has no groups.
fn groups(regex: &Regex, found: &Captures<'_>) -> Answer {
    let text = |at: usize| found.get(at).map_or("", |it| it.as_str());
    if regex.captures_len() == 1 {
        return Ok(text(0).into());
    }
    let names: Vec<Option<&str>> = regex.capture_names().skip(1).collect();
    if names.iter().all(Option::is_none) {
        return Ok(Value::array((1..=names.len()).map(|at| text(at).into())));
    }
    let mut map = PropertyMap::new();
    for (at, name) in names.iter().enumerate() {
        let Some(name) = name else {
            return Err("the groups of the pattern must all have names, or none".to_owned());
        };
        map.insert(*name, text(at + 1));
    }
    Ok(Value::Object(map.into()))
}

pub(super) fn regex(args: &Args<'_>) -> Answer {
    let regex = pattern(args.text("pattern")?)?;
    match regex.captures(args.text("string")?) {
        Some(found) => groups(&regex, &found),
        None => Ok(Value::array([])),
    }
}

pub(super) fn regexall(args: &Args<'_>) -> Answer {
    let regex = pattern(args.text("pattern")?)?;
    let all = regex.captures_iter(args.text("string")?);
    let all: Result<Vec<Value>, String> = all.map(|it| groups(&regex, &it)).collect();
    Ok(Value::array(all?))
}

/// Rows by the names in the first line.
pub(super) fn csvdecode(args: &Args<'_>) -> Answer {
    let mut lines = args.text("input")?.trim_end_matches('\n').split('\n');
    let fields =
        |line: &str| -> Vec<String> { line.split(',').map(|it| it.trim().to_owned()).collect() };
    let header = fields(lines.next().unwrap_or_default());
    let rows = lines.map(|line| {
        let row = fields(line);
        if row.len() != header.len() {
            return Err("each line must contain the same number of fields".to_owned());
        }
        let mut map = PropertyMap::new();
        for (key, value) in header.iter().zip(row) {
            map.insert(key.as_str(), value.as_str());
        }
        Ok(Value::Object(map.into()))
    });
    let rows: Result<Vec<Value>, String> = rows.collect();
    Ok(Value::array(rows?))
}
