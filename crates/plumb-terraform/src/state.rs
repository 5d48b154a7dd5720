//! States of Terraform: their resources, with the names that they have in the converted program.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::convert::{Context, Converter};
use crate::module::{Many, Module};
use crate::names::{pascal, words_of};
use crate::notes::Note;
use crate::packages::{Packages, Sides};
use crate::shape::{Fields, Shape};
use crate::source::Configuration;

/// A resource of a state, to be adopted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adopted {
    /// Type token.
    pub type_token: String,
    /// Name by which other entries refer to it, which no other has.
    pub name: String,
    /// Name of the resource; the names of its components come before its own.
    pub logical_name: String,
    /// Id; empty for components.
    pub id: String,
    /// Name of the entry of its parent; empty at the root.
    pub parent: String,
    /// Whether it is the component of a module.
    pub is_component: bool,
    /// Inputs and outputs of what exists in the state alone, such as a random value; others are read from their cloud.
    pub values: Option<Values>,
}

/// Inputs and outputs, by the names of the package.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// Inputs: what the configuration sets.
    pub inputs: Map<String, Json>,
    /// Outputs.
    pub outputs: Map<String, Json>,
    /// Names of secret properties.
    pub secrets: BTreeSet<String>,
}

/// The file that Terraform keeps, in its version 4.
#[derive(Debug, Deserialize)]
struct StateFile {
    version: u32,
    #[serde(default)]
    resources: Vec<StateResource>,
}

#[derive(Debug, Deserialize)]
struct StateResource {
    #[serde(default)]
    module: String,
    mode: String,
    r#type: String,
    name: String,
    #[serde(default)]
    instances: Vec<Instance>,
}

#[derive(Debug, Deserialize)]
struct Instance {
    #[serde(default)]
    index_key: Json,
    #[serde(default)]
    attributes: Map<String, Json>,
    #[serde(default)]
    sensitive_attributes: Vec<Json>,
    #[serde(default)]
    schema_version: u64,
    /// Set for what a newer object takes the place of.
    #[serde(default)]
    deposed: Option<String>,
}

/// Providers whose resources are in the state and nowhere else.
const LOGICAL: [&str; 3] = ["random", "time", "tls"];

/// Reads a state; the resources in the order of their parents, and what is not adopted.
pub fn adopt(
    configuration: &Configuration,
    packages: &Packages,
    state: &str,
) -> Result<(Vec<Adopted>, Vec<Note>), String> {
    let file: StateFile = serde_json::from_str(state)
        .map_err(|error| format!("this is not a state of Terraform: {error}"))?;
    if file.version != 4 {
        return Err(format!(
            "states of version {} are not read; `terraform state push` of a current Terraform writes version 4",
            file.version
        ));
    }
    let context = Context::new(configuration, packages);
    let mut adoption = Adoption {
        context: &context,
        adopted: Vec::new(),
        notes: Vec::new(),
    };
    for resource in file.resources.iter().filter(|it| it.mode == "managed") {
        adoption.resource(resource);
    }
    Ok((adoption.adopted, adoption.notes))
}

struct Adoption<'m, 'c> {
    context: &'m Context<'c>,
    adopted: Vec<Adopted>,
    notes: Vec<Note>,
}

impl<'m, 'c> Adoption<'m, 'c> {
    fn note(&mut self, resource: &StateResource, text: &str) {
        let module = match resource.module.as_str() {
            "" => String::new(),
            module => format!("{module}."),
        };
        self.notes.push(Note {
            original: Vec::new(),
            file: "terraform.tfstate".to_owned(),
            line: 1,
            text: format!("{module}{}.{}: {text}", resource.r#type, resource.name),
        });
    }

    fn resource(&mut self, resource: &StateResource) {
        let Some((module, parent)) = self.parent(&resource.module) else {
            return self.note(resource, "its module is not in the configuration");
        };
        let module: &Module<'c> = &self.context.modules[module];
        let own = format!("{}.{}", resource.r#type, resource.name);
        let moved = module.moved.iter().find(|(from, _)| *from == own);
        let moved = moved.and_then(|(_, to)| to.split_once('.'));
        let (kind, name) = moved.unwrap_or((&resource.r#type, &resource.name));
        let Some(block) = module.resource(kind, name) else {
            return self.note(resource, "it is not in the configuration");
        };
        let Some(file) = module.source.files.first() else {
            return;
        };
        let converter = Converter::new(self.context, module, file);
        if converter.is_left_out(block) {
            return self.note(resource, "its type is not known");
        }
        let found = converter.kind_of(block);
        if found.token.starts_with("pulumi:") {
            return self.note(
                resource,
                "it keeps a value and nothing else, so a new one is made",
            );
        }
        for instance in resource.instances.iter().filter(|it| it.deposed.is_none()) {
            let suffix = match &instance.index_key {
                Json::Null => String::new(),
                Json::String(key) => format!("-{key}"),
                key => format!("-{key}"),
            };
            let prefix = match parent.as_str() {
                "" => String::new(),
                parent => format!("{parent}-"),
            };
            let provider = kind.split('_').next().unwrap_or_default();
            let set: Vec<&str> = block.body.attributes().map(|it| it.key.as_str()).collect();
            let sides = found
                .fields
                .as_ref()
                .filter(|_| LOGICAL.contains(&provider));
            let logical_name = format!("{prefix}{name}{suffix}");
            self.adopted.push(Adopted {
                type_token: found.token.clone(),
                name: self.entry_name(&logical_name, kind),
                logical_name,
                id: id_of(&instance.attributes),
                parent: parent.clone(),
                is_component: false,
                values: sides.map(|it| values(it, instance, &set)),
            });
        }
    }

    /// A name that no entry has, because several types may share one.
    fn entry_name(&self, name: &str, kind: &str) -> String {
        let is_free = |name: &String| !self.adopted.iter().any(|it| it.name == *name);
        let long = format!("{name}-{}", pascal(words_of(kind)));
        let more = (2..).map(|number| format!("{long}-{number}"));
        let mut names = [name.to_owned(), long.clone()].into_iter().chain(more);
        names.find(is_free).unwrap_or(long)
    }

    /// The module at an address such as `module.a["x"].module.b`, and the name of its component, which is added where it
    /// is new.
    fn parent(&mut self, address: &str) -> Option<(usize, String)> {
        let mut place = 0;
        let mut name = String::new();
        for (call, key) in steps(address) {
            let module: &'m Module<'c> = &self.context.modules[place];
            let block = module.calls.get(call.as_str())?;
            place = module.source.calls.get(&call).copied().flatten()?;
            let mut own = call;
            if Many::of(&block.body) != Many::One {
                own = format!("{own}-{}", key.unwrap_or_default());
            }
            let parent = std::mem::take(&mut name);
            name = match parent.as_str() {
                "" => own,
                parent => format!("{parent}-{own}"),
            };
            if !self
                .adopted
                .iter()
                .any(|it| it.is_component && it.name == name)
            {
                let target = &self.context.modules[place].target;
                let class = pascal(target.rsplit('/').next().unwrap_or_default());
                self.adopted.push(Adopted {
                    type_token: format!("components:index:{class}"),
                    name: name.clone(),
                    logical_name: name.clone(),
                    parent,
                    is_component: true,
                    ..Adopted::default()
                });
            }
        }
        Some((place, name))
    }
}

/// The calls of an address, with the keys of those that are there several times.
fn steps(address: &str) -> Vec<(String, Option<String>)> {
    let mut steps = Vec::new();
    let mut rest = address;
    while let Some(behind) = rest.strip_prefix("module.") {
        let end = behind.find(['.', '[']).unwrap_or(behind.len());
        let (name, mut behind) = behind.split_at(end);
        let mut key = None;
        if let Some(inner) = behind.strip_prefix("[\"") {
            let end = inner.find("\"]").unwrap_or(inner.len());
            key = Some(inner[..end].to_owned());
            behind = inner.get(end + 2..).unwrap_or_default();
        } else if let Some(inner) = behind.strip_prefix('[') {
            let end = inner.find(']').unwrap_or(inner.len());
            key = Some(inner[..end].to_owned());
            behind = inner.get(end + 1..).unwrap_or_default();
        }
        steps.push((name.to_owned(), key));
        rest = behind.strip_prefix('.').unwrap_or(behind);
    }
    steps
}

fn id_of(attributes: &Map<String, Json>) -> String {
    match attributes.get("id") {
        Some(Json::String(id)) => id.clone(),
        Some(Json::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

/// Attributes by the names of the package; as inputs those in `set`.
fn values(sides: &Sides, instance: &Instance, set: &[&str]) -> Values {
    let mut values = Values::default();
    let secret: Vec<&str> = instance
        .sensitive_attributes
        .iter()
        .filter_map(|path| path.get(0)?.get("value")?.as_str())
        .collect();
    for (name, value) in instance.attributes.iter().filter(|(_, it)| !it.is_null()) {
        if let Some(found) = sides.outputs.find(name).filter(|_| name != "id") {
            // Older states list only what the configuration marks, so the schema is asked too.
            if found.is_secret || secret.contains(&name.as_str()) {
                values.secrets.insert(found.name.clone());
            }
            values
                .outputs
                .insert(found.name, named(value, &found.shape));
        }
        if let Some(found) = sides
            .inputs
            .find(name)
            .filter(|_| set.contains(&name.as_str()))
        {
            values.inputs.insert(found.name, named(value, &found.shape));
        }
    }
    if instance.schema_version > 0 {
        let meta = json!({ "schema_version": instance.schema_version.to_string() });
        values
            .outputs
            .insert("__meta".to_owned(), meta.to_string().into());
    }
    values
}

/// A value with the names of the package, and without lists that the package does not have.
fn named(value: &Json, shape: &Shape) -> Json {
    match (value, shape) {
        (Json::Array(items), Shape::Object(_) | Shape::Scalar) => {
            items.first().map_or(Json::Null, |it| named(it, shape))
        }
        (Json::Array(items), shape) => {
            let inner = shape.element();
            items.iter().map(|it| named(it, &inner)).collect()
        }
        (Json::Object(entries), Shape::Object(fields)) => renamed(entries, fields),
        (Json::Object(entries), shape) => {
            let inner = shape.element();
            let entries = entries
                .iter()
                .map(|(key, it)| (key.clone(), named(it, &inner)));
            Json::Object(entries.collect())
        }
        (value, _) => value.clone(),
    }
}

fn renamed(entries: &Map<String, Json>, fields: &Fields) -> Json {
    let entries = entries.iter().filter(|(_, it)| !it.is_null());
    let entries = entries.filter_map(|(name, value)| {
        let found = fields.find(name)?;
        Some((found.name, named(value, &found.shape)))
    });
    Json::Object(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn addresses_have_calls_with_keys() {
        let text = |it: &str| Some(it.to_owned());
        assert_eq!(
            steps("module.a[\"x.y\"].module.b[0].module.c"),
            [
                ("a".to_owned(), text("x.y")),
                ("b".to_owned(), text("0")),
                ("c".to_owned(), None)
            ]
        );
        assert_eq!(steps(""), []);
    }
}
