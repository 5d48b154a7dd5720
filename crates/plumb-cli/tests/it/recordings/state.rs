//! Exported states in a form that can be compared.

use serde_json::{Map, Value as Json};

use super::names::strings;

/// A deployment with its resources by URN and with secrets as JSON.
///
/// The order of independent resources is that in which they were done, so it is not compared; that a resource stands
/// behind what it needs is checked whenever a state is read.
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

/// Secrets are JSON inside of JSON; how that is escaped does not matter.
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

/// Recordings do not tell which files outside of the project programs were at; the line is left.
fn position(text: &str) -> String {
    match text
        .strip_prefix("project:///../")
        .and_then(|it| it.rsplit_once('#'))
    {
        Some((_, line)) => format!("project:///../…#{line}"),
        None => text.to_owned(),
    }
}
