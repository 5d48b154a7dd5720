//! Normal form of exported states, for comparison.

use serde_json::{Map, Value as Json};

use super::names::strings;

/// A deployment with its resources by URN, and with secrets as JSON.
///
/// The order of resources is not compared, because independent resources complete in any order. That dependencies
/// come first is checked whenever a state is read.
pub(super) fn comparable(export: &Json) -> Json {
    let mut deployment = export["deployment"].clone();
    let mut by_urn = Map::new();
    for resource in deployment["resources"].as_array().into_iter().flatten() {
        let is_old = resource["delete"] == true;
        let urn = resource["urn"].as_str().unwrap();
        let key = format!("{urn}{}", if is_old { " (old)" } else { "" });
        by_urn.insert(key, opened(&strings(resource, &position)));
    }
    if let Some(resources) = deployment.get_mut("resources") {
        *resources = Json::Object(by_urn);
    }
    deployment
}

/// Parses secrets, which are JSON within JSON, because the escaping does not matter.
fn opened(json: &Json) -> Json {
    match json {
        Json::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let value = match (key.as_str(), value.as_str()) {
                    ("plaintext", Some(text)) => serde_json::from_str(text).unwrap(),
                    _ => opened(value),
                };
                (key.clone(), value)
            })
            .collect(),
        Json::Array(items) => items.iter().map(opened).collect(),
        other => other.clone(),
    }
}

/// Reduces a source position to its line, because recordings omit paths outside of the project.
fn position(text: &str) -> String {
    match text
        .strip_prefix("project:///../")
        .and_then(|it| it.rsplit_once('#'))
    {
        Some((_, line)) => format!("project:///../…#{line}"),
        None => text.to_owned(),
    }
}
