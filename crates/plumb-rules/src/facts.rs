//! Resources as rules see them: plain JSON, and the paths of values that are not known.

use plumb_resource::Urn;
use plumb_resource::policy::{AnalyzedOptions, AnalyzedResource, StackResource};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, ReferenceId, Value};
use serde_json::{Map, Value as Json, json};

use crate::reads::{Step, Steps};

/// Input of a judgement.
pub(crate) enum Facts {
    /// One resource.
    Resource(ResourceFacts),
    /// All resources of a stack.
    Stack(Vec<ResourceFacts>),
}

impl Facts {
    /// Paths of unknown values, below the properties of a resource.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = (&ResourceFacts, &[Steps])> {
        let resources = match self {
            Facts::Resource(one) => std::slice::from_ref(one),
            Facts::Stack(all) => all.as_slice(),
        };
        resources.iter().map(|one| (one, one.unknown.as_slice()))
    }
}

/// A resource in plain values: secrets are open, unknown values are absent.
pub(crate) struct ResourceFacts {
    pub(crate) urn: Urn,
    pub(crate) token: String,
    pub(crate) properties: Map<String, Json>,
    pub(crate) unknown: Vec<Steps>,
    pub(crate) options: Json,
    /// Type, name, URN and properties of the provider; an empty object if there is none.
    pub(crate) provider: Json,
    /// `dependencies` and `propertyDependencies`, in the analysis of a stack.
    pub(crate) links: Map<String, Json>,
}

impl ResourceFacts {
    /// Facts about a resource.
    pub(crate) fn of_resource(resource: &AnalyzedResource) -> Self {
        let mut unknown = Vec::new();
        let properties = plain_map(&resource.properties, &mut Vec::new(), &mut unknown);
        ResourceFacts {
            urn: resource.urn.clone(),
            token: resource.type_token.to_string(),
            properties: public(properties),
            unknown,
            options: options(&resource.options, resource.options.parent.as_ref()),
            provider: resource.provider.as_ref().map_or_else(
                || json!({}),
                |provider| {
                    let properties = plain_properties(&provider.properties);
                    json!({
                        "type": provider.urn.type_token().to_string(),
                        "name": provider.urn.name(),
                        "urn": provider.urn.to_string(),
                        "properties": public(properties),
                    })
                },
            ),
            links: Map::new(),
        }
    }

    /// Facts about a resource of a stack.
    pub(crate) fn of_stack(one: &StackResource) -> Self {
        let mut facts = Self::of_resource(&one.resource);
        let parent = one.parent.as_ref().or(one.resource.options.parent.as_ref());
        facts.options = options(&one.resource.options, parent);
        let urns = |urns: &[Urn]| urns.iter().map(ToString::to_string).collect::<Json>();
        let by_property = one.property_dependencies.iter();
        let by_property = by_property.map(|(key, on)| (key.to_string(), urns(on)));
        facts.links = Map::from_iter([
            ("dependencies".to_owned(), urns(&one.dependencies)),
            (
                "propertyDependencies".to_owned(),
                Json::Object(by_property.collect()),
            ),
        ]);
        facts
    }

    /// Whether the resource has a property with this name, known or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        let is_unknown = |path: &Steps| path.first() == Some(&Step::Key(name.to_owned()));
        self.properties.contains_key(name) || self.unknown.iter().any(is_unknown)
    }

    /// Name of the resource.
    pub(crate) fn name(&self) -> &str {
        self.urn.name()
    }
}

/// Properties as JSON, without those that are not known.
pub(crate) fn plain_properties(map: &PropertyMap) -> Map<String, Json> {
    plain_map(map, &mut Vec::new(), &mut Vec::new())
}

/// The properties that are not the engine's own.
fn public(mut properties: Map<String, Json>) -> Map<String, Json> {
    properties.retain(|key, _| !key.starts_with("__"));
    properties
}

fn options(options: &AnalyzedOptions, parent: Option<&Urn>) -> Json {
    let urns: Vec<String> = options.aliases.iter().map(ToString::to_string).collect();
    let aliases: Vec<Json> = urns.iter().map(|urn| json!({ "urn": urn })).collect();
    let secret: Vec<String> = options
        .additional_secret_outputs
        .iter()
        .map(ToString::to_string)
        .collect();
    let limits = options.custom_timeouts;
    json!({
        "protect": options.protect,
        "ignoreChanges": options.ignore_changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "deleteBeforeReplace": options.delete_before_replace,
        "additionalSecretOutputs": secret,
        "aliasURNs": urns,
        "aliases": aliases,
        "customTimeouts": {"create": limits.create, "update": limits.update, "delete": limits.delete},
        "parent": parent.map(ToString::to_string).unwrap_or_default(),
    })
}

fn plain_map(
    map: &PropertyMap,
    path: &mut Vec<Step>,
    unknown: &mut Vec<Steps>,
) -> Map<String, Json> {
    let mut plain_map = Map::new();
    for (key, value) in map.iter() {
        path.push(Step::Key(key.to_string()));
        if let Some(value) = plain(value, path, unknown) {
            plain_map.insert(key.to_string(), value);
        }
        path.pop();
    }
    plain_map
}

/// A value as JSON; `None` if it is not known, which is noted in `unknown`.
fn plain(value: &Value, path: &mut Vec<Step>, unknown: &mut Vec<Steps>) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(bool) => Json::Bool(*bool),
        Value::Number(number) => json_number(*number),
        Value::String(text) => Json::from(text.as_str()),
        Value::Bytes(bytes) => Json::from(String::from_utf8_lossy(bytes)),
        Value::Array(items) => {
            let mut plain_items = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Key(index.to_string()));
                // An unknown element keeps its place, so that the others keep their indexes.
                plain_items.push(plain(item, path, unknown).unwrap_or(Json::Null));
                path.pop();
            }
            Json::Array(plain_items)
        }
        Value::Object(map) => Json::Object(plain_map(map, path, unknown)),
        Value::Asset(asset) => plain_asset(asset),
        Value::Archive(archive) => plain_archive(archive),
        Value::Secret(inner) => return plain(inner, path, unknown),
        Value::Output(output) if output.value.is_some() => {
            return plain(output.value.as_ref()?, path, unknown);
        }
        Value::Output(_) | Value::Computed(_) => {
            unknown.push(path.clone());
            return None;
        }
        Value::Resource(reference) => match &reference.id {
            ReferenceId::Known(id) => Json::from(id.as_str()),
            ReferenceId::Unknown => {
                unknown.push(path.clone());
                return None;
            }
            ReferenceId::None => Json::from(reference.urn.as_str()),
        },
    })
}

/// A number as JSON, without a fraction where it has none: rules compare it with whole numbers.
fn json_number(number: f64) -> Json {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number is whole and small"
    )]
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Json::from(number as i64);
    }
    serde_json::Number::from_f64(number).map_or(Json::Null, Json::Number)
}

fn plain_asset(asset: &Asset) -> Json {
    match &asset.source {
        AssetSource::Text(text) => json!({ "text": text.as_str() }),
        AssetSource::Path(path) => json!({ "path": path.as_str() }),
        AssetSource::Uri(uri) => json!({ "uri": uri.as_str() }),
        AssetSource::Elided => json!({}),
    }
}

fn plain_archive(archive: &Archive) -> Json {
    match &archive.source {
        ArchiveSource::Path(path) => json!({ "path": path.as_str() }),
        ArchiveSource::Uri(uri) => json!({ "uri": uri.as_str() }),
        ArchiveSource::Assets(members) => {
            let members = members.iter().map(|(name, member)| {
                // Members are assets and archives, which are always known.
                let member = plain(member, &mut Vec::new(), &mut Vec::new());
                (name.to_string(), member.unwrap_or_default())
            });
            json!({ "assets": members.collect::<Map<_, _>>() })
        }
        ArchiveSource::Elided => json!({}),
    }
}
