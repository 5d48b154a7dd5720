//! Conversion of a bound package back to a document (`schema.md` 15).

use std::borrow::Cow;

use crate::bound::{
    External, Function, Language, Object, Overlay, Package, Parameterization, Property, Resource,
    Returns, Type, TypeDefinition, TypeKind, TypeShape, Union,
};
use crate::document::{Document, Format, Key, Node, Value};
use crate::print::Escapes;
use crate::problem::percent_escape;
use crate::reference::Section;
use crate::types::{Constant, Primitive};

impl<'d> Package<'d> {
    /// The package as a schema in JSON. Binding the result gives an equal package.
    pub fn to_json(&self) -> String {
        let document = Document {
            text: "",
            format: Format::Json,
            root: self.root(),
        };
        document.to_json(Escapes::Needed)
    }

    fn root(&self) -> Node<'d> {
        let about = &self.about;
        let mut root = Record::default();
        root.text("name", Some(self.name));
        root.text("displayName", about.display_name);
        root.owned("version", self.version.as_ref().map(ToString::to_string));
        root.text("description", about.description);
        root.texts("keywords", &about.keywords);
        root.text("homepage", about.homepage);
        root.text("license", about.license);
        root.text("attribution", about.attribution);
        root.text("repository", about.repository);
        root.text("logoUrl", about.logo_url);
        root.text("pluginDownloadURL", self.download_url);
        root.text("publisher", about.publisher);
        root.text("namespace", self.namespace);
        root.record("meta", self.meta());
        root.texts("allowedPackageNames", &self.allowed_package_names);
        root.language(self.language);
        root.node("config", self.config_record().finish());
        root.map("types", &self.types, |it| {
            (it.token.into(), self.definition(it))
        });
        if let Some(provider) = &self.provider {
            root.node("provider", self.resource(provider));
        }
        root.map("resources", &self.resources, |it| {
            (it.token.clone(), self.resource(it))
        });
        root.map("functions", &self.functions, |it| {
            (it.token.into(), self.function(it))
        });
        let dependencies = self.dependencies.iter().map(|it| it.spec.clone());
        root.list("dependencies", dependencies.collect());
        if let Some(parameterization) = &self.parameterization {
            let Parameterization {
                is_extension, spec, ..
            } = parameterization;
            let key = if *is_extension {
                "extensionParameterization"
            } else {
                "parameterization"
            };
            root.node(key, (*spec).clone());
        }
        root.finish()
    }

    fn meta(&self) -> Record<'d> {
        let mut meta = Record::default();
        let pattern = self.module_format.pattern();
        meta.owned("moduleFormat", pattern.map(str::to_owned));
        // Implied by a parameterization.
        meta.flag(
            "supportPack",
            self.support_pack && self.parameterization.is_none(),
        );
        meta
    }

    fn config_record(&self) -> Record<'d> {
        let mut config = Record::default();
        self.properties(&mut config, "variables", "defaults", &self.config);
        config
    }

    fn properties(
        &self,
        record: &mut Record<'d>,
        key: &'static str,
        required: &'static str,
        properties: &[Property<'d>],
    ) {
        record.map(key, properties, |it| (it.name.into(), self.property(it)));
        let names = properties.iter().filter(|property| property.required);
        record.texts(
            required,
            &names.map(|property| property.name).collect::<Vec<_>>(),
        );
    }

    fn property(&self, property: &Property<'d>) -> Node<'d> {
        let mut record = self.type_record(&property.ty);
        record.text("description", property.description);
        record.constant("const", property.constant.as_ref());
        record.constant("default", property.default.as_ref());
        if let Some(info) = &property.default_info {
            let mut record_of_info = Record::default();
            record_of_info.texts("environment", &info.environment);
            record_of_info.language(info.language);
            record.record("defaultInfo", record_of_info);
        }
        record.text("deprecationMessage", property.deprecation);
        record.language(property.language);
        record.flag("secret", property.secret);
        record.flag("replaceOnChanges", property.replace_on_changes);
        record.flag("willReplaceOnChanges", property.will_replace_on_changes);
        record.finish()
    }

    fn type_record(&self, ty: &Type<'d>) -> Record<'d> {
        let mut record = Record::default();
        match &ty.kind {
            TypeKind::Primitive(primitive) => record.text("type", Some(primitive.name())),
            TypeKind::Any => record.text("$ref", Some("pulumi.json#/Any")),
            TypeKind::Json => record.text("$ref", Some("pulumi.json#/Json")),
            TypeKind::Asset => record.text("$ref", Some("pulumi.json#/Asset")),
            TypeKind::Archive => record.text("$ref", Some("pulumi.json#/Archive")),
            TypeKind::Array(element) => {
                record.text("type", Some("array"));
                record.node("items", self.type_record(element).finish());
            }
            TypeKind::Map(element) => {
                record.text("type", Some("object"));
                record.node("additionalProperties", self.type_record(element).finish());
            }
            TypeKind::Union(union) => self.union(&mut record, union),
            TypeKind::Defined(position) => {
                let token = percent_escape(self.types[*position].token);
                record.owned("$ref", Some(format!("#/types/{token}")));
            }
            TypeKind::Resource(position) => {
                let token = percent_escape(&self.resources[*position].token);
                record.owned("$ref", Some(format!("#/resources/{token}")));
            }
            TypeKind::Provider => record.text("$ref", Some("#/provider")),
            TypeKind::Opaque(opaque) => {
                record.text("type", opaque.underlying.map(Primitive::name));
                record.text("$ref", Some(opaque.reference));
            }
            TypeKind::External(external) => {
                record.text("type", external.underlying.map(Primitive::name));
                record.owned("$ref", Some(self.external(external)));
            }
            TypeKind::Invalid => {}
        }
        record.flag("plain", ty.plain);
        record
    }

    fn external(&self, external: &External) -> String {
        let package = &self.externals[external.package];
        let version = package.version.as_ref();
        let version = version.map_or_else(String::new, ToString::to_string);
        let path = match external.section {
            Section::Type => format!("types/{}", percent_escape(&external.token)),
            Section::Resource => format!("resources/{}", percent_escape(&external.token)),
            Section::Provider => "provider".to_owned(),
        };
        format!("/{}/v{version}/schema.json#/{path}", package.name)
    }

    fn union(&self, record: &mut Record<'d>, union: &Union<'d>) {
        record.text("type", union.default.map(Primitive::name));
        let elements = union.elements.iter();
        record.list(
            "oneOf",
            elements.map(|it| self.type_record(it).finish()).collect(),
        );
        if let Some(discriminator) = &union.discriminator {
            let mut spec = Record::default();
            spec.text("propertyName", Some(discriminator.property));
            spec.map("mapping", &discriminator.mapping, |(value, reference)| {
                ((*value).into(), text_node(reference))
            });
            record.record("discriminator", spec);
        }
    }

    fn object(&self, object: &Object<'d>) -> Record<'d> {
        let mut record = Record::default();
        record.text("description", object.description);
        self.properties(&mut record, "properties", "required", &object.properties);
        record.language(object.language);
        record.overlay(&object.overlay);
        record
    }

    fn definition(&self, definition: &TypeDefinition<'d>) -> Node<'d> {
        let definition = match &definition.shape {
            TypeShape::Object(object) => {
                let mut record = self.object(object);
                record.text("type", Some("object"));
                return record.finish();
            }
            TypeShape::Enum(definition) => definition,
        };
        let mut record = Record::default();
        record.text("description", definition.description);
        record.text("type", Some(definition.underlying.name()));
        record.overlay(&definition.overlay);
        let values = definition.values.iter().map(|value| {
            let mut record = Record::default();
            record.text("name", value.name);
            record.text("description", value.description);
            record.constant("value", Some(&value.value));
            record.text("deprecationMessage", value.deprecation);
            record.finish()
        });
        record.list("enum", values.collect());
        record.finish()
    }

    fn resource(&self, resource: &Resource<'d>) -> Node<'d> {
        let mut record = self.object(&resource.outputs);
        self.properties(
            &mut record,
            "inputProperties",
            "requiredInputs",
            &resource.inputs,
        );
        for (key, object) in [
            ("stateInputs", &resource.state_inputs),
            ("listInputs", &resource.list_inputs),
        ] {
            if let Some(object) = object {
                record.node(key, self.object(object).finish());
            }
        }
        let aliases = resource.aliases.iter().map(|alias| {
            if !alias.as_object {
                return text_node(alias.token);
            }
            let mut record = Record::default();
            record.text("type", Some(alias.token));
            record.finish()
        });
        record.list("aliases", aliases.collect());
        record.text("deprecationMessage", resource.deprecation);
        record.flag("isComponent", resource.is_component);
        record.map("methods", &resource.methods, |method| {
            let token = self.functions[method.function].token;
            (method.name.into(), text_node(token))
        });
        record.finish()
    }

    fn function(&self, function: &Function<'d>) -> Node<'d> {
        let mut record = Record::default();
        record.text("description", function.description);
        if let Some(inputs) = &function.inputs {
            record.node("inputs", self.object(inputs).finish());
        }
        record.texts("multiArgumentInputs", &function.positional);
        match &function.returns {
            Returns::Nothing => {}
            Returns::Object(object) => {
                let mut outputs = self.object(object);
                outputs.flag("plain", function.returns_plain);
                // Kept when empty, because an object without properties is still an object.
                if object.properties.is_empty() {
                    outputs.node("properties", Node::new(Value::Map(Vec::new())));
                }
                record.node("outputs", outputs.finish());
            }
            Returns::Value(ty) => record.node("outputs", self.type_record(ty).finish()),
        }
        if !function.plain {
            record.node("plain", Node::new(Value::Bool(false)));
        }
        record.text("deprecationMessage", function.deprecation);
        record.language(function.language);
        record.overlay(&function.overlay);
        record.finish()
    }
}

/// Members of an object under construction; empty members are omitted.
#[derive(Default)]
struct Record<'d>(Vec<(Key<'d>, Node<'d>)>);

impl<'d> Record<'d> {
    fn node(&mut self, key: &'static str, node: Node<'d>) {
        let name = Cow::Borrowed(key);
        self.0.push((Key { name, offset: 0 }, node));
    }

    fn text(&mut self, key: &'static str, text: Option<&'d str>) {
        if let Some(text) = text {
            self.node(key, text_node(text));
        }
    }

    fn owned(&mut self, key: &'static str, text: Option<String>) {
        if let Some(text) = text {
            self.node(key, Node::new(Value::String(Cow::Owned(text))));
        }
    }

    fn texts(&mut self, key: &'static str, texts: &[&'d str]) {
        self.list(key, texts.iter().map(|text| text_node(text)).collect());
    }

    fn flag(&mut self, key: &'static str, flag: bool) {
        if flag {
            self.node(key, Node::new(Value::Bool(true)));
        }
    }

    fn list(&mut self, key: &'static str, items: Vec<Node<'d>>) {
        if !items.is_empty() {
            self.node(key, Node::new(Value::List(items)));
        }
    }

    fn record(&mut self, key: &'static str, record: Record<'d>) {
        if !record.0.is_empty() {
            self.node(key, record.finish());
        }
    }

    fn map<T>(
        &mut self,
        key: &'static str,
        members: &[T],
        member: impl Fn(&T) -> (Cow<'d, str>, Node<'d>),
    ) {
        let entries = members.iter().map(|it| {
            let (name, node) = member(it);
            (Key { name, offset: 0 }, node)
        });
        self.record(key, Record(entries.collect()));
    }

    fn language(&mut self, language: Language<'d>) {
        if let Some(node) = language.0 {
            self.node("language", node.clone());
        }
    }

    fn overlay(&mut self, overlay: &Overlay<'d>) {
        self.flag("isOverlay", overlay.is_overlay);
        self.texts("overlaySupportedLanguages", &overlay.languages);
    }

    fn constant(&mut self, key: &'static str, constant: Option<&Constant>) {
        let value = match constant {
            None => return,
            Some(Constant::Bool(value)) => Value::Bool(*value),
            Some(Constant::Number(value)) => Value::Number(Cow::Owned(value.to_string())),
            Some(Constant::String(value)) => Value::String(Cow::Owned(value.clone())),
        };
        self.node(key, Node::new(value));
    }

    fn finish(self) -> Node<'d> {
        Node::new(Value::Map(self.0))
    }
}

fn text_node(text: &str) -> Node<'_> {
    Node::new(Value::String(Cow::Borrowed(text)))
}
