//! Input of rules in Rego.

use std::collections::BTreeMap;

use regorus::Value;
use serde_json::{Map, Value as Json, json};

use crate::facts::ResourceFacts;

/// Shape of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// The properties of the resource, beside `type`, `name`, `urn`, `options`, `provider` and `properties`.
    Properties,
    /// A request of the admission controller of Kubernetes, as the rules of OPA Gatekeeper read it. Other resources than those
    /// of Kubernetes have none.
    Admission,
}

/// Input of a rule for one resource; `None` if the format does not fit the resource.
pub(super) fn resource_input(resource: &ResourceFacts, format: Format) -> Option<Value> {
    let members = match format {
        Format::Properties => properties(resource),
        Format::Admission => admission(resource)?,
    };
    Some(Value::from(members))
}

/// Input of a rule for all resources of a stack.
pub(super) fn stack_input(resources: &[ResourceFacts], format: Format) -> Value {
    let inputs = resources.iter().filter_map(|resource| match format {
        Format::Properties => {
            let mut members = properties(resource);
            members.extend(values(&resource.links));
            Some(Value::from(members))
        }
        Format::Admission => admission(resource).map(Value::from),
    });
    let inputs: Vec<Value> = inputs.collect();
    Value::from(Members::from([(
        Value::from("resources"),
        Value::from(inputs),
    )]))
}

/// Members of an object of Rego.
type Members = BTreeMap<Value, Value>;

fn values(map: &Map<String, Json>) -> Members {
    let members = map.iter();
    members
        .map(|(key, value)| (Value::from(key.as_str()), Value::from(value.clone())))
        .collect()
}

/// Facts that are not properties, by name.
fn about(resource: &ResourceFacts) -> [(&'static str, Value); 5] {
    [
        ("type", Value::from(resource.token.as_str())),
        ("urn", Value::from(resource.urn.as_str())),
        ("name", Value::from(resource.name())),
        ("options", Value::from(resource.options.clone())),
        ("provider", Value::from(resource.provider.clone())),
    ]
}

/// A property wins over a fact with the same name; the name with two underscores in front is always the fact.
fn properties(resource: &ResourceFacts) -> Members {
    let properties = values(&resource.properties);
    let all = Value::from(properties.clone());
    let mut facts = about(resource).to_vec();
    facts.extend([("properties", all.clone()), ("props", all)]);
    let plain = facts
        .iter()
        .map(|(name, fact)| (Value::from(*name), fact.clone()));
    let mut input: Members = plain.collect();
    input.extend(properties);
    let certain = facts.into_iter();
    input.extend(certain.map(|(name, fact)| (Value::from(format!("__{name}")), fact)));
    input
}

/// Version and kind of a type such as `kubernetes:apps/v1:Deployment`, with the group.
fn kubernetes_kind(token: &str) -> Option<(&str, &str, &str)> {
    let rest = token.strip_prefix("kubernetes:")?;
    let (group_version, kind) = rest.rsplit_once(':')?;
    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
    let group = if group == "core" { "" } else { group };
    Some((group, version, kind))
}

fn admission(resource: &ResourceFacts) -> Option<Members> {
    let (group, version, kind) = kubernetes_kind(&resource.token)?;
    let api_version = match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    };
    let mut object = resource.properties.clone();
    object
        .entry("apiVersion")
        .or_insert_with(|| Json::from(api_version));
    object.entry("kind").or_insert_with(|| Json::from(kind));
    let metadata = |key: &str| {
        let value = resource.properties.get("metadata")?.get(key)?;
        value.as_str().map(ToOwned::to_owned)
    };
    let name = metadata("name").unwrap_or_else(|| resource.name().to_owned());
    let review = json!({
        "object": object,
        "kind": {"group": group, "version": version, "kind": kind},
        "name": name,
        "namespace": metadata("namespace").unwrap_or_default(),
        "operation": "CREATE",
    });
    let facts = about(resource).map(|(name, fact)| (Value::from(name), fact));
    Some(Members::from([
        (Value::from("review"), Value::from(review)),
        (Value::from("parameters"), Value::new_object()),
        (Value::from("_pulumi"), Value::from(Members::from(facts))),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_kubernetes_has_a_group_a_version_and_a_kind() {
        let kind = kubernetes_kind;
        assert_eq!(
            kind("kubernetes:apps/v1:Deployment"),
            Some(("apps", "v1", "Deployment"))
        );
        assert_eq!(kind("kubernetes:core/v1:Pod"), Some(("", "v1", "Pod")));
        assert_eq!(
            kind("kubernetes:networking.k8s.io/v1:Ingress"),
            Some(("networking.k8s.io", "v1", "Ingress"))
        );
        assert_eq!(kind("aws:s3/bucket:Bucket"), None);
    }
}
