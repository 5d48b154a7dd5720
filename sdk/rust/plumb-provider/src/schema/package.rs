//! The schema as JSON.

use plumb::Value;
use plumb::provider::SELF;
use serde_json::{Map, Value as Json, json};

use super::{Definition, Property, Type, Types};
use crate::Error;

/// A package: its facts, types, configuration, resources and functions.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) facts: Map<String, Json>,
    pub(crate) types: Types,
    pub(crate) config: Vec<Property>,
    pub(crate) specs: Vec<Spec>,
}

/// A resource, a component, a function or a method.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) kind: SpecKind,
    /// Module and name; for a method, those of the component, and its own name after a slash.
    pub(crate) token: String,
    pub(crate) description: &'static str,
    pub(crate) deprecated: Option<&'static str>,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) inputs: Vec<Property>,
    pub(crate) outputs: Vec<Property>,
    /// The arguments of a list, for resources that can be listed.
    pub(crate) query: Option<Vec<Property>>,
}

/// Parts of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecKind {
    Resource,
    Component,
    Function,
    /// Of a component.
    Method,
}

impl SpecKind {
    /// Whether the schema lists it among the functions.
    fn is_called(self) -> bool {
        match self {
            SpecKind::Resource | SpecKind::Component => false,
            SpecKind::Function | SpecKind::Method => true,
        }
    }
}

/// Whether properties go into a resource or come out of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

impl Package {
    /// The token with the name of the package in front.
    pub(crate) fn full(&self, token: &str) -> String {
        if token.split(':').count() > 2 {
            return token.to_owned();
        }
        format!("{}:{token}", self.name)
    }

    /// The document.
    pub(crate) fn schema(&self) -> Result<String, Error> {
        self.check()?;
        let mut root = Map::new();
        root.insert("name".to_owned(), json!(self.name));
        root.insert("version".to_owned(), json!(self.version));
        root.extend(self.facts.clone());
        root.insert(
            "config".to_owned(),
            Json::Object(self.object(&self.config, "variables", "defaults", Way::In)),
        );
        root.insert("types".to_owned(), Json::Object(self.definitions()));
        root.insert("provider".to_owned(), Json::Object(self.provider()));
        for (section, is_called) in [("resources", false), ("functions", true)] {
            let specs = self.specs.iter();
            let specs = specs.filter(|it| it.kind.is_called() == is_called);
            let members = specs.map(|spec| (self.full(&spec.token), Json::Object(self.spec(spec))));
            root.insert(section.to_owned(), Json::Object(members.collect()));
        }
        Ok(serde_json::to_string(&Json::Object(root))?)
    }

    /// Mistakes that only a look at everything finds.
    fn check(&self) -> Result<(), Error> {
        let mut problems = self.types.problems().to_vec();
        let resources = self.specs.iter().filter(|it| !it.kind.is_called());
        for spec in resources {
            for property in spec.inputs.iter().chain(&spec.outputs) {
                if ["id", "urn"].contains(&property.name.as_str()) {
                    problems.push(format!(
                        "`{}` has the property `{}`, which every resource has already",
                        spec.token, property.name
                    ));
                }
            }
        }
        for method in self.specs.iter().filter(|it| it.kind == SpecKind::Method) {
            problems.extend(self.problem_of(method));
        }
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::new(format!(
            "the schema of `{}` is not valid: {}",
            self.name,
            problems.join("; ")
        )))
    }

    /// Why a method does not fit its component.
    fn problem_of(&self, method: &Spec) -> Option<String> {
        let (component, name) = method.token.rsplit_once('/')?;
        let mut specs = self.specs.iter();
        let Some(of) = specs.find(|it| it.kind == SpecKind::Component && it.token == component)
        else {
            return Some(format!(
                "the method `{name}` is one of `{component}`, which is no component of the provider"
            ));
        };
        let is_output = of.outputs.iter().any(|it| it.name == name);
        is_output.then(|| format!("`{component}` has both an output and a method `{name}`"))
    }

    /// The methods of a component: tokens by name.
    fn methods(&self, component: &Spec) -> Map<String, Json> {
        let methods = self.specs.iter().filter_map(|it| {
            let (of, name) = it.token.rsplit_once('/')?;
            let is_its = it.kind == SpecKind::Method && of == component.token;
            is_its.then(|| (name.to_owned(), json!(self.full(&it.token))))
        });
        methods.collect()
    }

    fn definitions(&self) -> Map<String, Json> {
        let definitions = self.types.iter().map(|(token, definition)| {
            let definition = match definition {
                Definition::Object {
                    description,
                    properties,
                } => {
                    let mut object = self.object(properties, "properties", "required", Way::In);
                    describe(&mut object, description);
                    object.insert("type".to_owned(), json!("object"));
                    object
                }
                Definition::Enum {
                    description,
                    values,
                } => {
                    let values = values.iter().map(|it| {
                        let mut value = Map::new();
                        value.insert("name".to_owned(), json!(it.name));
                        value.insert("value".to_owned(), json!(it.value));
                        describe(&mut value, &it.description);
                        Json::Object(value)
                    });
                    let mut object = Map::new();
                    object.insert("type".to_owned(), json!("string"));
                    object.insert("enum".to_owned(), values.collect());
                    describe(&mut object, description);
                    object
                }
            };
            (self.full(token), Json::Object(definition))
        });
        definitions.collect()
    }

    fn provider(&self) -> Map<String, Json> {
        let mut provider = self.object(&self.config, "inputProperties", "requiredInputs", Way::In);
        // Only texts come back as outputs of a provider.
        let texts: Vec<_> = self
            .config
            .iter()
            .filter(|it| it.of == Type::String)
            .cloned()
            .collect();
        provider.extend(self.object(&texts, "properties", "required", Way::Out));
        provider
    }

    fn spec(&self, spec: &Spec) -> Map<String, Json> {
        let mut object = Map::new();
        describe(&mut object, spec.description);
        if let Some(message) = spec.deprecated {
            object.insert("deprecationMessage".to_owned(), json!(message));
        }
        if spec.kind.is_called() {
            self.called(spec, &mut object);
            return object;
        }
        object.extend(self.object(&spec.inputs, "inputProperties", "requiredInputs", Way::In));
        object.extend(self.object(&spec.outputs, "properties", "required", Way::Out));
        if spec.kind == SpecKind::Component {
            object.insert("isComponent".to_owned(), json!(true));
            mark_plain(&spec.inputs, object.get_mut("inputProperties"));
            let methods = self.methods(spec);
            if !methods.is_empty() {
                object.insert("methods".to_owned(), Json::Object(methods));
            }
        }
        if let Some(query) = &spec.query {
            let mut inputs = self.object(query, "properties", "required", Way::In);
            inputs.insert("type".to_owned(), json!("object"));
            object.insert("listInputs".to_owned(), Json::Object(inputs));
        }
        if !spec.aliases.is_empty() {
            let aliases = spec.aliases.iter();
            let aliases = aliases.map(|token| json!({ "type": self.full(token) }));
            object.insert("aliases".to_owned(), aliases.collect());
        }
        object
    }

    /// Arguments and answer of a function or a method.
    fn called(&self, spec: &Spec, object: &mut Map<String, Json>) {
        let mut inputs = self.object(&spec.inputs, "properties", "required", Way::In);
        inputs.insert("type".to_owned(), json!("object"));
        if spec.kind == SpecKind::Method {
            mark_plain(&spec.inputs, inputs.get_mut("properties"));
            self.add_self(spec, &mut inputs);
        }
        object.insert("inputs".to_owned(), Json::Object(inputs));
        // A method without outputs answers nothing.
        if spec.kind == SpecKind::Function || !spec.outputs.is_empty() {
            let mut outputs = self.object(&spec.outputs, "properties", "required", Way::Out);
            outputs.insert("type".to_owned(), json!("object"));
            object.insert("outputs".to_owned(), Json::Object(outputs));
        }
    }

    /// Adds the argument that is the component itself.
    fn add_self(&self, method: &Spec, inputs: &mut Map<String, Json>) {
        let component = method.token.rsplit_once('/').map(|(it, _)| self.full(it));
        let of = json!({ "$ref": format!("#/resources/{}", component.unwrap_or_default()) });
        if let Some(Json::Object(properties)) = inputs.get_mut("properties") {
            properties.insert(SELF.to_owned(), of);
        }
        let required = inputs.entry("required").or_insert(json!([]));
        if let Json::Array(names) = required {
            names.insert(0, json!(SELF));
        }
    }

    /// Properties under `key`, and the names of those that have to be there.
    fn object(
        &self,
        properties: &[Property],
        key: &str,
        required: &str,
        way: Way,
    ) -> Map<String, Json> {
        let mut object = Map::new();
        let members = properties.iter().map(|property| {
            let mut member = self.property(property);
            if way == Way::In {
                add_default(&mut member, property);
            }
            (property.name.clone(), Json::Object(member))
        });
        object.insert(key.to_owned(), Json::Object(members.collect()));
        let mut names: Vec<_> = properties
            .iter()
            .filter(|it| match way {
                Way::In => it.must_be_set(),
                Way::Out => it.is_required,
            })
            .map(|it| it.name.as_str())
            .collect();
        names.sort_unstable();
        if !names.is_empty() {
            object.insert(required.to_owned(), json!(names));
        }
        object
    }

    fn property(&self, property: &Property) -> Map<String, Json> {
        let mut object = self.reference(&property.of);
        describe(&mut object, &property.description);
        if let Some(text) = &property.constant {
            object.insert("const".to_owned(), json!(text));
        }
        if property.is_secret {
            object.insert("secret".to_owned(), json!(true));
        }
        if property.replaces {
            object.insert("willReplaceOnChanges".to_owned(), json!(true));
        }
        if let Some(message) = &property.deprecated {
            object.insert("deprecationMessage".to_owned(), json!(message));
        }
        object
    }

    fn reference(&self, of: &Type) -> Map<String, Json> {
        let json = match of {
            Type::Boolean => json!({ "type": "boolean" }),
            Type::Integer => json!({ "type": "integer" }),
            Type::Number => json!({ "type": "number" }),
            Type::String => json!({ "type": "string" }),
            Type::Any => json!({ "$ref": "pulumi.json#/Any" }),
            Type::AssetOrArchive => json!({ "$ref": "pulumi.json#/Asset" }),
            Type::Archive => json!({ "$ref": "pulumi.json#/Archive" }),
            Type::List(of) => json!({ "type": "array", "items": self.reference(of) }),
            Type::Map(of) => {
                json!({ "type": "object", "additionalProperties": self.reference(of) })
            }
            Type::Named(token) => json!({ "$ref": self.reference_to(token) }),
            Type::Union(members) => {
                let members = members.iter().map(|of| Json::Object(self.reference(of)));
                json!({ "oneOf": members.collect::<Vec<_>>() })
            }
            Type::TaggedUnion { tag, members } => self.tagged_union(tag, members),
        };
        match json {
            Json::Object(object) => object,
            _ => Map::new(),
        }
    }
}

impl Package {
    fn reference_to(&self, token: &str) -> String {
        format!("#/types/{}", self.full(token))
    }

    fn tagged_union(&self, tag: &str, members: &[(String, Type)]) -> Json {
        let types = members
            .iter()
            .map(|(_, of)| Json::Object(self.reference(of)));
        let mapping = members.iter().filter_map(|(text, of)| match of {
            Type::Named(token) => Some((text.clone(), json!(self.reference_to(token)))),
            // The check of the schema has refused it.
            _ => None,
        });
        json!({
            "oneOf": types.collect::<Vec<_>>(),
            "discriminator": {
                "propertyName": tag,
                "mapping": mapping.collect::<Map<_, _>>(),
            },
        })
    }
}

/// Marks inputs of components and methods that are there at once.
fn mark_plain(inputs: &[Property], object: Option<&mut Json>) {
    let Some(Json::Object(members)) = object else {
        return;
    };
    for property in inputs.iter().filter(|it| !it.takes_outputs) {
        if let Some(Json::Object(input)) = members.get_mut(&property.name) {
            input.insert("plain".to_owned(), json!(true));
        }
    }
}

/// Adds what the property is if a program leaves it out.
fn add_default(object: &mut Map<String, Json>, property: &Property) {
    // The schema knows simple defaults only; the check knows the others.
    match &property.default {
        Some(Value::Bool(value)) => object.insert("default".to_owned(), json!(value)),
        Some(Value::String(text)) => object.insert("default".to_owned(), json!(text)),
        Some(Value::Number(number)) if number.fract() == 0.0 => {
            object.insert("default".to_owned(), json!(*number as i64))
        }
        Some(Value::Number(number)) => object.insert("default".to_owned(), json!(number)),
        _ => None,
    };
    if !property.environment.is_empty() {
        let names = json!({ "environment": property.environment });
        object.insert("defaultInfo".to_owned(), names);
    }
}

fn describe(object: &mut Map<String, Json>, description: &str) {
    if !description.is_empty() {
        object.insert("description".to_owned(), json!(description));
    }
}
