//! Comparison of messages of the engine with recorded ones, field by field.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value as Json};

/// Fields whose values differ between runs, with the limit of their comparison. (`names` handles values that differ
/// between runs but are constant within one: folders, ports, ids.)
const BLURRED: [(&str, &str, Blur); 15] = [
    // Random.
    ("/Check", "randomSeed", Blur::Length),
    ("/Create", "resourceStatusToken", Blur::Length),
    ("/Read", "resourceStatusToken", Blur::Length),
    ("/Update", "resourceStatusToken", Blur::Length),
    ("/Delete", "resourceStatusToken", Blur::Length),
    // Flags, in no particular order.
    ("/GetDeploymentInfo", "supportedFeatures", Blur::Order),
    // Sets, in a random order in the reference.
    ("state", "resources.*.dependencies", Blur::Order),
    ("state", "resources.*.propertyDependencies.*", Blur::Order),
    // Times.
    ("state", "manifest.time", Blur::Value),
    ("state", "resources.*.created", Blur::Value),
    ("state", "resources.*.modified", Blur::Value),
    ("events", "*.summaryEvent.durationSeconds", Blur::Value),
    // The recorded build of the reference had no version.
    ("state", "manifest.magic", Blur::Value),
    ("state", "manifest.version", Blur::Value),
    // Random for each stack.
    ("state", "secrets_providers.state.salt", Blur::Value),
];

/// Properties of resources, which may contain random values of providers at any depth.
const PROPERTIES: [&str; 5] = ["id", "inputs", "outputs", "object", "return"];

/// Precision of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// Every value.
    Values,
    /// For properties, only their names, the kinds of their values, and whether they are secret.
    Shapes,
}

/// Limit of the comparison of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blur {
    /// Only whether there is a value.
    Value,
    /// Only the length of the text.
    Length,
    /// Only the elements, in any order.
    Order,
    /// Only the kind of the value.
    Kind,
}

/// A value that differs from the recorded one.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// `random/2-up`
    pub(super) step: String,
    /// `ResourceProvider/Check`, or `state`
    pub(super) call: String,
    /// URN of a resource, name of a function
    pub(super) subject: String,
    /// `request.news.length`; `call` for a missing or an extra call
    pub(super) field: String,
    pub(super) recorded: Option<Json>,
    pub(super) ours: Option<Json>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Json>| match value {
            Some(value) => value.to_string().chars().take(300).collect(),
            None => "nothing".to_owned(),
        };
        write!(
            f,
            "{}: {} of {:?}: {}\n    recorded {}\n    here     {}",
            self.step,
            self.call,
            self.subject,
            self.field,
            shown(&self.recorded),
            shown(&self.ours)
        )
    }
}

/// Path of a difference, with the recorded and the current value.
pub(super) type Place = (String, Option<Json>, Option<Json>);

/// All differences between `ours` and `recorded`. `method` selects the fields with a limited comparison.
pub(super) fn compare(method: &str, depth: Depth, recorded: &Json, ours: &Json) -> Vec<Place> {
    let mut places = Vec::new();
    let comparer = Comparer { method, depth };
    comparer.compare(&[], Some(recorded), Some(ours), &mut places);
    places
}

struct Comparer<'a> {
    method: &'a str,
    depth: Depth,
}

impl Comparer<'_> {
    fn compare(
        &self,
        path: &[String],
        recorded: Option<&Json>,
        ours: Option<&Json>,
        places: &mut Vec<Place>,
    ) {
        let below = |step: &str| [path, &[step.to_owned()]].concat();
        let blur = self.blur(path);
        let recorded = recorded.map(|value| blurred(value, blur));
        let ours = ours.map(|value| blurred(value, blur));
        match (&recorded, &ours) {
            (Some(Json::Object(left)), Some(Json::Object(right))) => {
                for key in keys(left, right) {
                    self.compare(&below(key), left.get(key), right.get(key), places);
                }
            }
            (Some(Json::Array(left)), Some(Json::Array(right))) => {
                for index in 0..left.len().max(right.len()) {
                    let below = below(&index.to_string());
                    self.compare(&below, left.get(index), right.get(index), places);
                }
            }
            (left, right) if left == right => {}
            _ => places.push((path.join("."), recorded, ours)),
        }
    }

    fn blur(&self, path: &[String]) -> Option<Blur> {
        let mut all = BLURRED.iter();
        let listed = all.find(|(method, pattern, _)| {
            self.method.ends_with(method) && matches_path(pattern, path)
        });
        let is_property = path.iter().any(|step| PROPERTIES.contains(&step.as_str()));
        match listed {
            Some((_, _, blur)) => Some(*blur),
            None => (is_property && self.depth == Depth::Shapes).then_some(Blur::Kind),
        }
    }
}

fn blurred(value: &Json, blur: Option<Blur>) -> Json {
    match (blur, value) {
        (Some(Blur::Value), _) => Json::Null,
        (Some(Blur::Length), Json::String(text)) => Json::from(text.len()),
        (Some(Blur::Order), Json::Array(items)) => {
            let by_name = items.iter().map(|item| {
                let name = item
                    .as_str()
                    .map_or_else(|| item.to_string(), str::to_owned);
                (name, Json::Bool(true))
            });
            Json::Object(by_name.collect())
        }
        (Some(Blur::Kind), Json::String(_)) => Json::from("(text)"),
        (Some(Blur::Kind), Json::Number(_)) => Json::from("(number)"),
        _ => value.clone(),
    }
}

/// Whether a dotted pattern, with `*` for one part, matches a path.
fn matches_path(pattern: &str, path: &[String]) -> bool {
    let parts: Vec<&str> = pattern.split('.').collect();
    parts.len() == path.len()
        && parts
            .iter()
            .zip(path)
            .all(|(part, step)| *part == "*" || part == step)
}

fn keys<'a>(left: &'a Map<String, Json>, right: &'a Map<String, Json>) -> BTreeSet<&'a str> {
    left.keys()
        .chain(right.keys())
        .map(String::as_str)
        .collect()
}
