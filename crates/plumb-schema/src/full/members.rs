//! Binding of types, resources, functions and settings (`schema.md` 6 to 8).

use super::properties::{fits_primitive, read_constant};
use super::section::Declared;
use super::{Binder, flag, language, place, text, texts};
use crate::bound::{
    Alias, EnumType, EnumValue, Function, Object, Overlay, Parameterization, Property, Resource,
    Returns, Type, TypeDefinition, TypeKind, TypeShape,
};
use crate::document::{Node, Value};
use crate::problem::At;
use crate::types::Primitive;

/// Languages allowed in the marks of overlays.
const LANGUAGES: [&str; 6] = ["nodejs", "python", "go", "csharp", "java", "yaml"];

impl<'d> Binder<'d, '_> {
    pub(super) fn config(&mut self) -> Vec<Property<'d>> {
        let Some(config) = self.root.get("config") else {
            return Vec::new();
        };
        let at = self.root_place("config");
        if config.get("required").is_some() {
            self.problems.warning(
                &place(&at, config, "required"),
                "`required` says nothing here; the list of required variables is called `defaults`",
            );
        }
        self.properties(config, "variables", "defaults", &at)
    }

    pub(super) fn type_definitions(&mut self) -> Vec<TypeDefinition<'d>> {
        let section = self.sections.types.at();
        let members = self.sections.types.members.clone();
        members
            .into_iter()
            .map(|member| {
                let at = section.key(member.token, member.offset);
                TypeDefinition {
                    token: member.token,
                    shape: self.type_shape(member, &at),
                }
            })
            .collect()
    }

    fn type_shape(&mut self, member: Declared<'d>, at: &At<'_>) -> TypeShape<'d> {
        let is_printable = |char: char| !char.is_control() && !char.is_whitespace();
        if !member.token.chars().all(is_printable) {
            self.problems.expected(
                at,
                "the token has characters that names cannot have",
                "printable characters without spaces",
            );
        }
        let node = member.node;
        match (text(node, "type"), node.get("enum")) {
            (Some("object"), None) => TypeShape::Object(self.object(node, at)),
            (None, None) => {
                self.problems.expected(
                    at,
                    "the type says not what it is",
                    "`\"type\": \"object\"`, or an enum",
                );
                TypeShape::Object(self.object(node, at))
            }
            (ty, _) => TypeShape::Enum(self.enum_shape(node, ty, at)),
        }
    }

    fn enum_shape(&mut self, node: &'d Node<'d>, ty: Option<&'d str>, at: &At<'_>) -> EnumType<'d> {
        let underlying = ty.and_then(Primitive::from_name);
        if underlying.is_none() {
            self.problems.error(
                &place(at, node, "type"),
                "enums may only be of type string, integer, number or boolean",
            );
        } else if node.get("enum").is_none() {
            self.problems.expected(
                at,
                "the type is neither an object nor an enum",
                "`enum` with its values, or the type `object`",
            );
        }
        let list = place(at, node, "enum");
        let specs = node.get("enum").map(Node::items).unwrap_or_default();
        let values = specs.iter().enumerate().filter_map(|(index, spec)| {
            self.enum_value(spec, underlying, &list.index(index, spec.offset))
        });
        EnumType {
            description: text(node, "description"),
            underlying: underlying.unwrap_or(Primitive::String),
            values: values.collect(),
            overlay: self.overlay(node, at),
        }
    }

    fn enum_value(
        &mut self,
        spec: &'d Node<'d>,
        underlying: Option<Primitive>,
        at: &At<'_>,
    ) -> Option<EnumValue<'d>> {
        let Some(value) = spec.get("value").and_then(read_constant) else {
            self.problems
                .expected(at, "the enum value has no value", "`value`");
            return None;
        };
        if let Some(Err(message)) = underlying.map(|primitive| fits_primitive(&value, primitive)) {
            self.problems.error(&place(at, spec, "value"), message);
            return None;
        }
        Some(EnumValue {
            name: text(spec, "name"),
            description: text(spec, "description"),
            value,
            deprecation: text(spec, "deprecationMessage"),
        })
    }

    pub(super) fn object(&mut self, node: &'d Node<'d>, at: &At<'_>) -> Object<'d> {
        Object {
            description: text(node, "description"),
            properties: self.properties(node, "properties", "required", at),
            language: language(node),
            overlay: self.overlay(node, at),
        }
    }

    fn overlay(&mut self, node: &'d Node<'d>, at: &At<'_>) -> Overlay<'d> {
        let languages = texts(node, "overlaySupportedLanguages");
        let list = place(at, node, "overlaySupportedLanguages");
        for (index, language) in languages.iter().enumerate() {
            if !LANGUAGES.contains(language) {
                self.problems.expected(
                    &list.index(index, node.offset),
                    format!("unknown language '{language}'"),
                    LANGUAGES.join(", "),
                );
            }
        }
        Overlay {
            is_overlay: flag(node, "isOverlay"),
            languages,
        }
    }

    /// Binds the provider resource. Extensions of other packages must not have one; other packages without one get an empty
    /// one.
    pub(super) fn provider(
        &mut self,
        parameterization: Option<&Parameterization<'d>>,
    ) -> Option<Resource<'d>> {
        static EMPTY: Node<'static> = Node {
            offset: 0,
            value: Value::Null,
        };
        let node = self.root.get("provider");
        let at = self.root_place("provider");
        if parameterization.is_some_and(|parameterization| parameterization.is_extension) {
            if node.is_some() {
                self.problems.error(
                    &at,
                    "a package that extends another one cannot have a provider",
                );
            }
            return None;
        }
        let token = format!("pulumi:providers:{}", self.name);
        let mut provider = self.resource(token.into(), node.unwrap_or(&EMPTY), &at);
        let inputs = place(&at, node.unwrap_or(&EMPTY), "inputProperties");
        for property in &provider.inputs {
            if property.name == "version" {
                self.problems.error(
                    &inputs.absent(property.name),
                    "'version' is a reserved provider input property name",
                );
            }
        }
        // Only textual outputs are kept, because settings of a provider are sent as text.
        provider
            .outputs
            .properties
            .retain(|property| self.is_textual(&property.ty));
        Some(provider)
    }

    fn is_textual(&self, ty: &Type<'d>) -> bool {
        match &ty.kind {
            TypeKind::Primitive(primitive) => *primitive == Primitive::String,
            TypeKind::Defined(position) => self.enum_type(*position) == Some(Primitive::String),
            TypeKind::Opaque(opaque) => opaque.underlying == Some(Primitive::String),
            TypeKind::External(external) => {
                external.enum_type.or(external.underlying) == Some(Primitive::String)
            }
            _ => false,
        }
    }

    pub(super) fn resources(&mut self) -> Vec<Resource<'d>> {
        let section = self.sections.resources.at();
        let members = self.sections.resources.members.clone();
        members
            .into_iter()
            .map(|member| {
                let at = section.key(member.token, member.offset);
                let resource = self.resource(member.token.into(), member.node, &at);
                self.warn_of_outputs(&resource, &place(&at, member.node, "properties"));
                resource
            })
            .collect()
    }

    fn warn_of_outputs(&mut self, resource: &Resource<'d>, at: &At<'_>) {
        for property in &resource.outputs.properties {
            let message = match property.name {
                "urn" => "urn is a reserved property name",
                "id" if !resource.is_component => "id is a reserved property name for resources",
                _ => continue,
            };
            self.problems.warning(&at.absent(property.name), message);
        }
    }

    fn resource(
        &mut self,
        token: std::borrow::Cow<'d, str>,
        node: &'d Node<'d>,
        at: &At<'_>,
    ) -> Resource<'d> {
        let outputs = self.object(node, at);
        let state_inputs = self.nested(node, "stateInputs", at);
        if let Some(state) = &state_inputs
            && state
                .properties
                .iter()
                .any(|property| property.name == "id")
        {
            self.problems.error(
                &place(at, node, "stateInputs"),
                "id is a reserved property name for stateInputs",
            );
        }
        let methods = self.methods(&token, node, &outputs.properties, at);
        Resource {
            inputs: self.properties(node, "inputProperties", "requiredInputs", at),
            list_inputs: self.nested(node, "listInputs", at),
            aliases: aliases(node),
            is_component: flag(node, "isComponent"),
            deprecation: text(node, "deprecationMessage"),
            token,
            outputs,
            state_inputs,
            methods,
        }
    }

    fn nested(&mut self, node: &'d Node<'d>, key: &'static str, at: &At<'_>) -> Option<Object<'d>> {
        let spec = node.get(key)?;
        Some(self.object(spec, &place(at, node, key)))
    }

    pub(super) fn functions(&mut self) -> Vec<Function<'d>> {
        let section = self.sections.functions.at();
        let members = self.sections.functions.members.clone();
        members
            .into_iter()
            .map(|member| self.function(member, &section.key(member.token, member.offset)))
            .collect()
    }

    fn function(&mut self, member: Declared<'d>, at: &At<'_>) -> Function<'d> {
        let node = member.node;
        let inputs = self.nested(node, "inputs", at);
        let positional = self.positional(node, inputs.as_ref(), at);
        let outputs = node
            .get("outputs")
            .filter(|spec| !spec.entries().is_empty());
        let at_outputs = place(at, node, "outputs");
        let returns = match outputs {
            None => Returns::Nothing,
            Some(spec) if spec.get("properties").is_some() => {
                Returns::Object(self.object(spec, &at_outputs))
            }
            Some(spec) => Returns::Value(self.ty(spec, &at_outputs)),
        };
        Function {
            token: member.token,
            description: text(node, "description"),
            inputs,
            positional,
            returns,
            returns_plain: outputs.is_some_and(|spec| flag(spec, "plain")),
            plain: node.get("plain").and_then(Node::as_bool).unwrap_or(true),
            deprecation: text(node, "deprecationMessage"),
            language: language(node),
            overlay: self.overlay(node, at),
            is_method: self.method_functions.contains(member.token),
        }
    }

    /// Binds positional arguments, which must name every input once.
    fn positional(
        &mut self,
        node: &'d Node<'d>,
        inputs: Option<&Object<'d>>,
        at: &At<'_>,
    ) -> Vec<&'d str> {
        let names = texts(node, "multiArgumentInputs");
        if names.is_empty() {
            return names;
        }
        let list = place(at, node, "multiArgumentInputs");
        let properties = inputs.map_or(&[][..], |inputs| &inputs.properties);
        if inputs.is_none() {
            self.problems
                .expected(&list, "there are no inputs to take by position", "`inputs`");
        }
        for (index, name) in names.iter().enumerate() {
            if properties
                .binary_search_by(|property| property.name.cmp(name))
                .is_err()
            {
                let message = format!("refers to non-existent property \"{name}\"");
                self.problems
                    .error(&list.index(index, node.offset), message);
            }
        }
        let named: rustc_hash::FxHashSet<&str> = names.iter().copied().collect();
        for property in properties {
            if !named.contains(property.name) {
                let message = format!("property \"{}\" is not specified", property.name);
                self.problems.error(&list, message);
            }
        }
        names
    }
}

fn aliases<'d>(node: &'d Node<'d>) -> Vec<Alias<'d>> {
    let specs = node.get("aliases").map(Node::items).unwrap_or_default();
    specs
        .iter()
        .filter_map(|spec| match spec.as_str() {
            Some(token) => Some(Alias {
                token,
                as_object: false,
            }),
            None => Some(Alias {
                token: text(spec, "type")?,
                as_object: true,
            }),
        })
        .collect()
}
