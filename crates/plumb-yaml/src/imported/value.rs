//! Property values as YAML, as far as possible in the shape that the schema gives them.

use plumb_project::yaml::{Data, Item, Layout, Mapping, Node};
use plumb_schema::{
    Constant, PackageSchema, Primitive, Properties, Property, Reference, Type, TypeDefinition,
    TypeKind,
};
use plumb_value::{Archive, ArchiveSource, Asset, AssetSource, PropertyMap, Value};
use rustc_hash::FxHashSet;

use super::references::{PropertyReference, References};
use super::settings::{SettingType, Settings};
use super::text::{escaped, escaped_before_reference, key, string};
use super::{list, put};

/// Turns the values of one resource into nodes.
pub(super) struct Printer<'a> {
    package: Option<&'a PackageSchema>,
    /// Texts that stand for properties of resources.
    references: &'a References,
    /// Names of resources that the value must not refer to.
    pub(super) excluded: FxHashSet<String>,
    /// References that were written.
    pub(super) found: Vec<Found>,
    /// Notes on values that cannot be written, each with the path of the value.
    pub(super) missing: Vec<String>,
    /// Settings that stand for secrets.
    settings: &'a mut Settings,
    /// Whether the value is a part of a secret, so that its scalars become settings.
    is_inside_secret: bool,
    /// Name of the resource, for names of settings.
    pub(super) owner: String,
    /// Place of the value: the property, and keys and indices below it.
    pub(super) path: Vec<String>,
    /// Whether references may be parts of longer texts.
    pub(super) finds_parts: bool,
    /// Whether the program has the defaults of the schema without saying so.
    pub(super) has_defaults: bool,
}

/// A reference that was written.
pub(super) struct Found {
    /// Path of the value.
    pub(super) place: String,
    /// Property of the other resource.
    pub(super) reference: PropertyReference,
}

/// Key by which providers made of Terraform's list what they have filled in.
const DEFAULTS: &str = "__defaults";

/// Types may contain themselves.
const DEEPEST_ZERO: usize = 8;

impl<'a> Printer<'a> {
    pub(super) fn new(
        package: Option<&'a PackageSchema>,
        references: &'a References,
        settings: &'a mut Settings,
    ) -> Self {
        Printer {
            package,
            references,
            excluded: FxHashSet::default(),
            found: Vec::new(),
            missing: Vec::new(),
            settings,
            is_inside_secret: false,
            owner: String::new(),
            path: Vec::new(),
            finds_parts: false,
            has_defaults: false,
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
                Some(value) if self.is_implied(value, property) => {}
                Some(value) => {
                    let value = self.at(name, |it| it.property(value, Some(property)));
                    put(&mut node, name, value);
                }
                None if is_needed(property) => put(&mut node, name, self.zero(&property.ty, 0)),
                None => {}
            }
        }
        let unknown = map.iter().filter(|(key, value)| {
            !shape.contains_key(key.as_str())
                && !is_absent(value)
                && !key.as_str().starts_with("__")
        });
        for (key, _) in unknown {
            self.at(key.as_str(), |it| {
                it.leave_out("the schema has no such input");
            });
        }
        node
    }

    /// Whether the program has an input of the resource without saying so. A default that an environment variable may
    /// replace is no such input, and those of nested objects are not filled in by every language.
    fn is_implied(&self, value: &Value, property: &Property) -> bool {
        let is_input = self.path.is_empty() && self.has_defaults;
        let is_fixed = property.default_info.is_none();
        let default = property.default.as_ref().filter(|_| is_input && is_fixed);
        default.is_some_and(|default| match (default, value) {
            (Constant::Bool(default), Value::Bool(value)) => default == value,
            (Constant::Number(default), Value::Number(value)) => {
                default.to_bits() == value.to_bits()
            }
            (Constant::String(default), Value::String(value)) => default == value.as_str(),
            _ => false,
        })
    }

    /// Every entry, in the order of the keys.
    pub(super) fn map(&mut self, map: &PropertyMap, element: Option<&Type>) -> Node {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_by_key(|(key, _)| key.as_str());
        entries.retain(|(key, _)| key.as_str() != DEFAULTS);
        let layout = flow_if_empty(entries.is_empty());
        let entries = entries.into_iter().map(|(name, value)| {
            let value = self.at(name.as_str(), |it| it.value(value, element));
            (key(&escaped(name.as_str())), Item::new(value))
        });
        with_entries(layout, entries.collect())
    }

    /// Prints something that is below the present place.
    pub(super) fn at<T>(&mut self, step: &str, print: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step.to_owned());
        let printed = print(self);
        self.path.pop();
        printed
    }

    fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.path {
            if !place.is_empty() && !step.starts_with('[') {
                place.push('.');
            }
            place.push_str(step);
        }
        place
    }

    /// Notes that the value at the present place is not written.
    fn leave_out(&mut self, why: &str) {
        let place = self.place();
        self.missing.push(format!("`{place}` is left out: {why}"));
    }

    /// The value of a property, which is a secret if the schema says so: not every provider marks what it reads.
    pub(super) fn property(&mut self, value: &Value, property: Option<&Property>) -> Node {
        let ty = property.map(|it| &it.ty);
        let is_hidden = property.is_some_and(|it| it.secret);
        if is_hidden && !self.is_inside_secret && !value.is_secret() {
            return self.secret(value, ty);
        }
        self.value(value, ty)
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
                let items = items.iter().enumerate().map(|(index, item)| {
                    self.at(&format!("[{index}]"), |it| it.value(item, element.as_ref()))
                });
                list(items.collect())
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
                self.leave_out("it is a string that is not text");
                Node::plain("null")
            }
        }
    }

    fn secret(&mut self, inner: &Value, ty: Option<&Type>) -> Node {
        let reference = inner.as_str().and_then(|it| self.reference(it));
        if reference.is_some() {
            return self.value(inner, ty);
        }
        if let Some(setting) = self.setting(inner) {
            return setting;
        }
        if matches!(inner, Value::Asset(_) | Value::Archive(_)) {
            return self.secret_file();
        }
        let outer = std::mem::replace(&mut self.is_inside_secret, true);
        let node = self.value(inner, ty);
        self.is_inside_secret = outer;
        call("fn::secret", node)
    }

    /// Nothing, because no language can make an asset or archive of a secret setting.
    fn secret_file(&mut self) -> Node {
        self.leave_out("it is a secret asset or archive, for which there is no form");
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
        let property = self.path.first().map_or("", String::as_str);
        let label = format!("{}-{property}", self.owner);
        let name = self.settings.name_of(ty, text, &label);
        Some(Node::string(format!("${{{name}}}")))
    }

    fn unknown(&mut self) -> Node {
        self.leave_out("its value is not known");
        Node::plain("null")
    }

    fn text(&mut self, text: &str, ty: Option<&Type>) -> Node {
        if let Some(reference) = self.reference(text).cloned() {
            return Node::string(self.mention(reference));
        }
        let node = match self.with_references(text, false) {
            Some(text) => Node::string(text),
            None => string(text),
        };
        match ty.map(|ty| &ty.kind) {
            Some(TypeKind::Asset) => call("fn::fileAsset", node),
            Some(TypeKind::Archive) => call("fn::fileArchive", node),
            _ => node,
        }
    }

    /// The property that a text stands for.
    fn reference(&self, text: &str) -> Option<&PropertyReference> {
        let found = self.references.get(text);
        found.filter(|it| !self.excluded.contains(&it.resource))
    }

    /// A text that contains texts of other resources, with references to them. A reference may follow it.
    fn with_references(&mut self, text: &str, is_before_reference: bool) -> Option<String> {
        if !self.finds_parts {
            return None;
        }
        let references = self.references;
        let (part, reference) = references.longest_in(text)?;
        let reference = self.mention(reference.clone());
        let mut pieces = text.split(part).peekable();
        let mut written = String::new();
        while let Some(piece) = pieces.next() {
            let is_last = pieces.peek().is_none();
            let is_before = !is_last || is_before_reference;
            written += &match self.with_references(piece, is_before) {
                Some(piece) => piece,
                None if is_before => escaped_before_reference(piece),
                None => escaped(piece),
            };
            if !is_last {
                written += &reference;
            }
        }
        Some(written)
    }

    /// The reference as programs write it.
    fn mention(&mut self, reference: PropertyReference) -> String {
        let written = reference.written();
        let place = self.place();
        self.found.push(Found { place, reference });
        written
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
                let layout = flow_if_empty(members.is_empty());
                let members = members.iter().map(|(name, member)| {
                    let value = self.at(name, |it| it.value(member, None));
                    (key(&escaped(name)), Item::new(value))
                });
                call("fn::assetArchive", with_entries(layout, members.collect()))
            }
            ArchiveSource::Path(path) => call("fn::fileArchive", Node::string(escaped(path))),
            ArchiveSource::Uri(uri) => call("fn::remoteArchive", Node::string(escaped(uri))),
            ArchiveSource::Elided => self.elided(),
        }
    }

    fn elided(&mut self) -> Node {
        self.leave_out("the content of the asset or archive is not in the state");
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

/// A mapping with these entries.
fn with_entries(mut node: Node, entries: Vec<(Node, Item)>) -> Node {
    if let Data::Mapping(mapping) = &mut node.data {
        mapping.entries = entries;
    }
    node
}
