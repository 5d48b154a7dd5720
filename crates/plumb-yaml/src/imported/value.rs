//! Property values as YAML, as far as possible in the shape that the schema gives them.

use plumb_project::yaml::{Data, Layout, Mapping, Node};
use plumb_schema::{
    PackageSchema, Primitive, Properties, Property, Reference, Type, TypeDefinition, TypeKind,
};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};
use rustc_hash::FxHashMap;

use super::settings::{SettingType, Settings};
use super::{list, put};

/// Minimum length of a text that is looked for where no dependency is known, or in longer texts.
pub(super) const SHORTEST: usize = 4;

/// Turns values into nodes.
pub(super) struct Printer<'a> {
    pub(super) package: Option<&'a PackageSchema>,
    /// Texts that stand for something of another resource, and how that is written.
    pub(super) guesses: &'a FxHashMap<String, String>,
    /// Identifiers of the resources that were mentioned.
    pub(super) mentioned: Vec<String>,
    /// A value that cannot be written.
    pub(super) missing: Vec<String>,
    /// Settings that stand for secrets; without them, secrets are written.
    pub(super) settings: Option<&'a mut Settings>,
    /// Whether the value is a part of a secret, so that its scalars become settings.
    is_inside_secret: bool,
    /// Name for a setting, if one is added.
    pub(super) label: String,
    /// Whether references may be parts of longer texts.
    pub(super) finds_parts: bool,
}

/// Types may contain themselves.
const DEEPEST_ZERO: usize = 8;

impl<'a> Printer<'a> {
    pub(super) fn new(
        package: Option<&'a PackageSchema>,
        guesses: &'a FxHashMap<String, String>,
    ) -> Self {
        Printer {
            package,
            guesses,
            mentioned: Vec::new(),
            missing: Vec::new(),
            settings: None,
            is_inside_secret: false,
            label: String::new(),
            finds_parts: false,
        }
    }
}

impl Printer<'_> {
    /// The properties that `shape` knows, in its order.
    pub(super) fn object(&mut self, map: &PropertyMap, shape: &Properties) -> Node {
        let mut node = Node::empty_mapping();
        for (name, property) in shape {
            let value = map.get(name.as_str()).filter(|value| !is_absent(value));
            match value {
                Some(value) => put(&mut node, name, self.value(value, Some(&property.ty))),
                None if is_needed(property) => put(&mut node, name, self.zero(&property.ty, 0)),
                None => {}
            }
        }
        node
    }

    /// Every entry, in the order of the keys.
    pub(super) fn map(&mut self, map: &PropertyMap, element: Option<&Type>) -> Node {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_by_key(|(key, _)| key.as_str());
        let mut node = flow_if_empty(entries.is_empty());
        for (key, value) in entries
            .into_iter()
            .filter(|(key, _)| !key.as_str().starts_with("__"))
        {
            put(&mut node, key.as_str(), self.value(value, element));
        }
        node
    }

    pub(super) fn value(&mut self, value: &Value, ty: Option<&Type>) -> Node {
        if self.is_inside_secret
            && let Some(setting) = self.setting(value)
        {
            return setting;
        }
        match value {
            Value::Null => Node::plain("null"),
            Value::Bool(it) => Node::plain(it.to_string()),
            Value::Number(number) => Node::plain(plumb_value::go_number::format(*number)),
            Value::String(text) => self.text(text, ty),
            Value::Array(items) => {
                let element = ty.and_then(element_of);
                list(
                    items
                        .iter()
                        .map(|item| self.value(item, element.as_ref()))
                        .collect(),
                )
            }
            Value::Object(map) => self.object_or_map(map, ty),
            Value::Secret(inner) => self.secret(inner, ty),
            Value::Output(output) => match &output.value {
                Some(inner) => self.value(inner, ty),
                None => self.unknown(),
            },
            Value::Asset(_) | Value::Archive(_) if self.is_inside_secret => self.secret_file(),
            Value::Asset(asset) => self.asset(asset),
            Value::Archive(archive) => self.archive(archive),
            Value::Resource(reference) => Node::string(escaped(&reference.urn)),
            Value::Computed(_) => self.unknown(),
            Value::Bytes(_) => {
                self.missing
                    .push("a string that is not text cannot be written in YAML".to_owned());
                Node::plain("null")
            }
        }
    }

    fn secret(&mut self, inner: &Value, ty: Option<&Type>) -> Node {
        let is_reference = inner
            .as_str()
            .is_some_and(|it| self.guesses.contains_key(it));
        if is_reference {
            return self.value(inner, ty);
        }
        if self.settings.is_some()
            && let Some(setting) = self.setting(inner)
        {
            return setting;
        }
        if self.settings.is_some() && matches!(inner, Value::Asset(_) | Value::Archive(_)) {
            return self.secret_file();
        }
        let outer = std::mem::replace(&mut self.is_inside_secret, self.settings.is_some());
        let node = self.value(inner, ty);
        self.is_inside_secret = outer;
        call("fn::secret", node)
    }

    /// Nothing, because no language can make an asset or archive of a secret setting.
    fn secret_file(&mut self) -> Node {
        self.missing
            .push("a secret asset or archive is not written".to_owned());
        Node::plain("null")
    }

    /// A reference to the setting that stands for a scalar; `None` for other values.
    fn setting(&mut self, value: &Value) -> Option<Node> {
        let (ty, text) = match value {
            Value::String(text) => (SettingType::String, text.to_string()),
            Value::Number(number) => {
                let text = plumb_value::go_number::format(*number);
                (SettingType::Number, text.to_string())
            }
            Value::Bool(it) => (SettingType::Boolean, it.to_string()),
            _ => return None,
        };
        let name = self.settings.as_mut()?.name_of(ty, text, &self.label);
        Some(Node::string(format!("${{{name}}}")))
    }

    fn unknown(&mut self) -> Node {
        self.missing.push("a value is not known".to_owned());
        Node::plain("null")
    }

    fn text(&mut self, text: &str, ty: Option<&Type>) -> Node {
        if let Some(reference) = self.guesses.get(text) {
            self.mention(reference);
            return Node::string(reference.as_str());
        }
        let node = match self.with_references(text) {
            Some(text) => Node::string(text),
            None => string(text),
        };
        match ty.map(|ty| &ty.kind) {
            Some(TypeKind::Asset) => call("fn::fileAsset", node),
            Some(TypeKind::Archive) => call("fn::fileArchive", node),
            _ => node,
        }
    }

    /// A text that contains texts of other resources, with references to them.
    fn with_references(&mut self, text: &str) -> Option<String> {
        if !self.finds_parts {
            return None;
        }
        let parts = self.guesses.iter();
        let found = parts
            .filter(|(part, _)| part.len() >= SHORTEST && text.contains(part.as_str()))
            .max_by_key(|(part, _)| (part.len(), part.as_str()));
        let (part, reference) = found?;
        self.mention(reference);
        let pieces = text.split(part.as_str());
        let pieces = pieces.map(|piece| match self.with_references(piece) {
            Some(piece) => piece,
            None => escaped(piece),
        });
        Some(pieces.collect::<Vec<_>>().join(reference))
    }

    fn mention(&mut self, reference: &str) {
        let name = reference.trim_start_matches("${").split('.').next();
        self.mentioned.push(name.unwrap_or_default().to_owned());
    }

    fn asset(&mut self, asset: &Asset) -> Node {
        match &asset.source {
            AssetSource::Text(text) => call("fn::stringAsset", Node::string(escaped(text))),
            AssetSource::Path(path) => call("fn::fileAsset", Node::string(escaped(path))),
            AssetSource::Uri(uri) => call("fn::remoteAsset", Node::string(escaped(uri))),
            AssetSource::Elided => self.elided(),
        }
    }

    fn archive(&mut self, archive: &Archive) -> Node {
        match &archive.source {
            ArchiveSource::Assets(members) => {
                let mut node = flow_if_empty(members.is_empty());
                for (name, member) in members {
                    put(&mut node, name, self.value(member, None));
                }
                call("fn::assetArchive", node)
            }
            ArchiveSource::Path(path) => call("fn::fileArchive", Node::string(escaped(path))),
            ArchiveSource::Uri(uri) => call("fn::remoteArchive", Node::string(escaped(uri))),
            ArchiveSource::Elided => self.elided(),
        }
    }

    fn elided(&mut self) -> Node {
        self.missing
            .push("the content of an asset or archive is not in the state".to_owned());
        Node::plain("null")
    }

    fn object_or_map(&mut self, map: &PropertyMap, ty: Option<&Type>) -> Node {
        match ty.map(|ty| &ty.kind) {
            Some(TypeKind::Map(element)) => self.map(map, Some(element)),
            Some(TypeKind::Reference(reference)) => match self.properties_of(reference) {
                Some(shape) => self.object(map, &shape),
                None => self.map(map, None),
            },
            Some(TypeKind::Union(union)) => {
                let fitting = union
                    .elements
                    .iter()
                    .find(|element| self.fits(map, element));
                match fitting {
                    Some(element) => self.object_or_map(map, Some(element)),
                    None => self.map(map, None),
                }
            }
            _ => self.map(map, None),
        }
    }

    /// Whether an element of a union has every key, and the map has what the element requires.
    fn fits(&self, map: &PropertyMap, element: &Type) -> bool {
        match &element.kind {
            TypeKind::Map(_) => true,
            TypeKind::Reference(reference) => self.properties_of(reference).is_some_and(|shape| {
                let has_all = shape
                    .values()
                    .all(|it| !it.required || map.get(it.name.as_str()).is_some());
                has_all && map.keys().all(|key| shape.contains_key(key.as_str()))
            }),
            _ => false,
        }
    }

    fn definition(&self, reference: &Reference) -> Option<std::sync::Arc<TypeDefinition>> {
        // Types of other packages are taken as they come.
        let package = self.package.filter(|_| reference.package.is_none())?;
        package.type_definition(&reference.token)?.ok()
    }

    fn properties_of(&self, reference: &Reference) -> Option<Properties> {
        match self.definition(reference)?.as_ref() {
            TypeDefinition::Object(object) => Some(object.properties.clone()),
            TypeDefinition::Enum(_) => None,
        }
    }

    /// The simplest value of a type.
    pub(super) fn zero(&self, ty: &Type, depth: usize) -> Node {
        match &ty.kind {
            TypeKind::Primitive(primitive) => zero_of(*primitive),
            TypeKind::Array(_) => list(Vec::new()),
            TypeKind::Map(_) | TypeKind::Any | TypeKind::Json => flow_if_empty(true),
            TypeKind::Asset | TypeKind::Archive | TypeKind::Invalid => Node::plain("null"),
            TypeKind::Union(union) => match (union.default, self.simplest(&union.elements)) {
                (Some(primitive), _) => zero_of(primitive),
                (None, Some(element)) => self.zero(element, depth + 1),
                (None, None) => Node::plain("null"),
            },
            TypeKind::Reference(reference) => self.zero_of_reference(reference, depth),
        }
    }

    fn zero_of_reference(&self, reference: &Reference, depth: usize) -> Node {
        match self.definition(reference).as_deref() {
            Some(TypeDefinition::Enum(it)) => zero_of(it.underlying),
            Some(TypeDefinition::Object(object)) if depth < DEEPEST_ZERO => {
                let mut needed = object
                    .properties
                    .values()
                    .filter(|it| is_needed(it))
                    .peekable();
                let mut node = flow_if_empty(needed.peek().is_none());
                for property in needed {
                    put(
                        &mut node,
                        &property.name,
                        self.zero(&property.ty, depth + 1),
                    );
                }
                node
            }
            Some(TypeDefinition::Object(_)) => flow_if_empty(true),
            None => reference
                .underlying
                .map_or_else(|| Node::plain("null"), zero_of),
        }
    }

    fn simplest<'t>(&self, elements: &'t [Type]) -> Option<&'t Type> {
        elements
            .iter()
            .min_by_key(|element| self.complexity(element))
    }

    fn complexity(&self, ty: &Type) -> usize {
        match &ty.kind {
            TypeKind::Primitive(Primitive::Bool) => 0,
            TypeKind::Primitive(Primitive::Integer) => 1,
            TypeKind::Primitive(Primitive::Number) => 2,
            TypeKind::Primitive(Primitive::String) => 3,
            TypeKind::Asset => 4,
            TypeKind::Archive => 5,
            TypeKind::Json => 6,
            TypeKind::Array(_) => 8,
            TypeKind::Map(_) => 9,
            TypeKind::Reference(reference) => match self.definition(reference).as_deref() {
                Some(TypeDefinition::Object(_)) => 10,
                _ => 7,
            },
            TypeKind::Union(_) => 11,
            TypeKind::Any | TypeKind::Invalid => 12,
        }
    }
}

/// The type of the elements of a list.
fn element_of(ty: &Type) -> Option<Type> {
    match &ty.kind {
        TypeKind::Array(element) => Some(element.as_ref().clone()),
        TypeKind::Union(union) => {
            let is_array = |it: &&Type| matches!(it.kind, TypeKind::Array(_));
            union.elements.iter().find(is_array).and_then(element_of)
        }
        _ => None,
    }
}

pub(super) fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Computed(_))
}

/// Whether the SDK or the provider fills in the value, so that it need not be written.
pub(super) fn is_needed(property: &Property) -> bool {
    property.required && property.constant.is_none() && property.default.is_none()
}

fn zero_of(primitive: Primitive) -> Node {
    match primitive {
        Primitive::Bool => Node::plain("false"),
        Primitive::Integer | Primitive::Number => Node::plain("0"),
        Primitive::String => Node::string(""),
    }
}

pub(crate) fn call(function: &str, argument: Node) -> Node {
    let mut node = Node::empty_mapping();
    put(&mut node, function, argument);
    node
}

pub(crate) fn flow_if_empty(is_empty: bool) -> Node {
    let layout = if is_empty {
        Layout::Flow
    } else {
        Layout::Block
    };
    Node::new(Data::Mapping(Mapping {
        layout,
        entries: Vec::new(),
    }))
}

/// Words that were booleans in older versions of YAML. Writers of today quote them; programs need not.
const FORMER_BOOLEANS: [&str; 16] = [
    "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off",
    "OFF",
];

/// A key of a mapping, without quotes that programs do not need.
pub(crate) fn key(text: &str) -> Node {
    if FORMER_BOOLEANS.contains(&text) {
        Node::plain(text)
    } else {
        Node::key(text)
    }
}

/// A text that reads back as itself, without quotes that programs do not need.
pub(crate) fn string(text: &str) -> Node {
    if FORMER_BOOLEANS.contains(&text) {
        Node::plain(text)
    } else {
        Node::string(escaped(text))
    }
}

/// Text that reads back as itself.
pub(crate) fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}
