//! Errors for unknown fields and options of resources.

use std::collections::BTreeMap;

use super::assign::known_names;
use crate::diagnostic::{self, Diagnostic};
use crate::syntax::node::Key;
use crate::syntax::options::RESOURCE_OPTIONS;
use crate::syntax::program::{RESOURCE_FIELDS, ResourceDecl, Syntax};
use crate::syntax::source::Span;

/// A similar known name: its edit distance, the name, and the places where it is valid.
type Candidate<'a> = (usize, &'a str, Vec<&'a str>);

/// Errors for the unknown fields of `resource`; `inputs` are the names of its inputs.
pub(super) fn unknown_fields<'a>(
    syntax: &Syntax,
    resource: &'a ResourceDecl,
    token: &str,
    inputs: impl Iterator<Item = &'a str>,
) -> Vec<Diagnostic> {
    if resource.unknown_fields.is_empty() {
        return Vec::new();
    }
    let inputs: Vec<&str> = inputs.collect();
    let fields = RESOURCE_FIELDS.map(str::to_lowercase);
    let own: Vec<&str> = fields.iter().map(String::as_str).collect();
    let places: [(&str, &[&str]); 4] = [
        ("properties", &inputs),
        ("options", &RESOURCE_OPTIONS),
        ("get", &["id", "state"]),
        (&resource.key.text, &own),
    ];
    let unknown = resource.unknown_fields.iter();
    let unknown = unknown.filter(|(key, _)| !matches!(&*key.text, "condition" | "metadata"));
    unknown
        .map(|(key, value)| unknown_field(syntax, resource, token, key, *value, &places))
        .collect()
}

fn unknown_field(
    syntax: &Syntax,
    resource: &ResourceDecl,
    token: &str,
    key: &Key,
    value: Span,
    places: &[(&str, &[&str])],
) -> Diagnostic {
    let summary = format!("Resource {token} has invalid key '{}'", key.text);
    let candidates = candidates(&key.text, places);
    let detail = match candidates.as_slice() {
        [] => String::new(),
        [(0, _, places), ..] => {
            let mut detail = format!("'{}' exists under {}", key.text, listed(places, "and"));
            if let [place] = places.as_slice() {
                let text = &syntax.source.text[value.start as usize..value.end as usize];
                let (name, field) = (&resource.key.text, &key.text);
                let example =
                    format!(", e.g.\n\n{name}:\n  # ...\n  {place}:\n    {field}: {text}");
                detail.push_str(&example);
            }
            detail
        }
        [only] => format!("Did you mean {}?", suggestion(only)),
        several => {
            let lines = several.iter().map(|it| format!("  * {}\n", suggestion(it)));
            format!(
                "Did you mean one of the following:\n{}",
                lines.collect::<String>()
            )
        }
    };
    Diagnostic::error(key.span, summary).with_detail(detail)
}

/// Up to five names with an edit distance of at most three, the nearest first.
fn candidates<'a>(wrong: &str, places: &[(&'a str, &'a [&'a str])]) -> Vec<Candidate<'a>> {
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (place, names) in places {
        for name in *names {
            known.entry(name).or_default().push(place);
        }
    }
    let known = known.into_iter();
    let mut candidates: Vec<Candidate<'a>> = known
        .map(|(name, places)| (diagnostic::distance(wrong, name), name, places))
        .filter(|(distance, ..)| *distance <= 3)
        .collect();
    candidates.sort_by_key(|(distance, ..)| *distance);
    candidates.truncate(5);
    candidates
}

fn suggestion((_, name, places): &Candidate<'_>) -> String {
    match places.as_slice() {
        [place] => format!("'{name}' under '{place}'"),
        places => {
            let quoted: Vec<String> = places.iter().map(|place| format!("'{place}'")).collect();
            let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
            format!("'{name}' under keys {}", listed(&quoted, "or"))
        }
    }
}

/// `a, b and c`
fn listed(items: &[&str], conjunction: &str) -> String {
    match items {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}

/// Error for an unknown resource option.
pub(super) fn unknown_option(key: &Key) -> Diagnostic {
    let summary = format!("{} does not exist on resource options", key.text);
    let names = RESOURCE_OPTIONS.iter().copied();
    let detail = known_names(&key.text, "resource options", "fields", names);
    Diagnostic::error(key.span, summary).with_detail(detail)
}
