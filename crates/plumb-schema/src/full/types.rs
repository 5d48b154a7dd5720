//! Binding of types (`schema.md` 5).

use super::{Binder, flag, place, text};
use crate::bound::{Discriminator, Property, Type, TypeKind, Union};
use crate::document::Node;
use crate::print;
use crate::problem::At;
use crate::types::Primitive;

/// Keys that determine the shape of a type, in order of precedence.
const SHAPE_KEYS: [&str; 4] = ["$ref", "oneOf", "items", "additionalProperties"];

impl<'d> Binder<'d, '_> {
    pub(super) fn ty(&mut self, node: &'d Node<'d>, at: &At<'_>) -> Type<'d> {
        Type {
            plain: flag(node, "plain"),
            kind: self.kind(node, at),
        }
    }

    /// Binds the kind of a type. `$ref` takes precedence over `oneOf`, and `oneOf` over `type`.
    fn kind(&mut self, node: &'d Node<'d>, at: &At<'_>) -> TypeKind<'d> {
        self.check_shape(node, at);
        let name = text(node, "type");
        let primitive = name.and_then(Primitive::from_name);
        if let Some(reference) = text(node, "$ref") {
            return self.reference(reference, primitive, &place(at, node, "$ref"));
        }
        if node.get("oneOf").is_some() {
            return self.union(node, name, primitive, at);
        }
        match (name, primitive) {
            (_, Some(primitive)) => TypeKind::Primitive(primitive),
            (Some("array"), None) => self.array(node, at),
            (Some("object"), None) => TypeKind::Map(Box::new(self.element(node, at))),
            (Some(other), None) => {
                self.problems.expected(
                    &place(at, node, "type"),
                    format!("unknown primitive type {other}"),
                    "boolean, integer, number, string, array or object",
                );
                TypeKind::Invalid
            }
            (None, None) => {
                self.problems
                    .expected(at, "unknown type kind ", "`type`, `$ref` or `oneOf`");
                TypeKind::Invalid
            }
        }
    }

    fn array(&mut self, node: &'d Node<'d>, at: &At<'_>) -> TypeKind<'d> {
        let Some(items) = node.get("items") else {
            self.problems.expected(
                at,
                "missing \"items\" property in array type spec",
                "`items` with the type of the elements",
            );
            return TypeKind::Invalid;
        };
        TypeKind::Array(Box::new(self.ty(items, &place(at, node, "items"))))
    }

    /// Type of the values of a map.
    fn element(&mut self, node: &'d Node<'d>, at: &At<'_>) -> Type<'d> {
        match node.get("additionalProperties") {
            Some(element) => self.ty(element, &place(at, node, "additionalProperties")),
            None => Type {
                kind: TypeKind::Primitive(Primitive::String),
                plain: false,
            },
        }
    }

    /// Reports keys of one shape in a type of another.
    fn check_shape(&mut self, node: &'d Node<'d>, at: &At<'_>) {
        let is_present = |key: &str| {
            node.get(key)
                .is_some_and(|value| key != "oneOf" || !value.items().is_empty())
        };
        let mut present = SHAPE_KEYS.iter().filter(|key| is_present(key));
        let decides = match (present.next(), text(node, "type")) {
            (None, _) => return,
            (Some(key), Some("array")) if *key == "items" => "items",
            (Some(key), Some("object")) if *key == "additionalProperties" => "additionalProperties",
            (Some(key), _) if matches!(*key, "$ref" | "oneOf") => key,
            (Some(key), ty) => {
                let message = match ty {
                    Some(ty) => format!("`{key}` does not go with the type `{ty}`"),
                    None => format!("`{key}` needs a `type`"),
                };
                self.problems.error(&place(at, node, key), message);
                return;
            }
        };
        if let Some(other) = present.next() {
            self.problems.expected(
                &place(at, node, other),
                format!("`{other}` does not go with `{decides}`"),
                "one kind of type",
            );
        }
    }

    fn union(
        &mut self,
        node: &'d Node<'d>,
        name: Option<&str>,
        default: Option<Primitive>,
        at: &At<'_>,
    ) -> TypeKind<'d> {
        let list = place(at, node, "oneOf");
        let specs = node.get("oneOf").map(Node::items).unwrap_or_default();
        if specs.len() < 2 {
            self.problems
                .expected(&list, "oneOf should list at least two types", "two or more");
        }
        if let (Some(name), None) = (name, default) {
            self.problems.expected(
                &place(at, node, "type"),
                format!("unknown primitive type {name}"),
                "boolean, integer, number or string beside `oneOf`",
            );
        }
        let elements: Vec<Type<'d>> = specs
            .iter()
            .enumerate()
            .map(|(index, spec)| self.ty(spec, &list.index(index, spec.offset)))
            .collect();
        let discriminator = node
            .get("discriminator")
            .and_then(|spec| self.discriminator(spec, &place(at, node, "discriminator")));
        if elements.is_empty() {
            return TypeKind::Invalid;
        }
        TypeKind::Union(Box::new(Union {
            elements,
            default,
            discriminator,
        }))
    }

    fn discriminator(&mut self, spec: &'d Node<'d>, at: &At<'_>) -> Option<Discriminator<'d>> {
        let Some(property) = text(spec, "propertyName") else {
            self.problems.expected(
                at,
                "discriminator must provide a property name",
                "`propertyName`",
            );
            return None;
        };
        let mapping = spec.get("mapping").map(print::sorted).unwrap_or_default();
        Some(Discriminator {
            property,
            mapping: mapping
                .into_iter()
                .filter_map(|(value, reference)| Some((value, reference.as_str()?)))
                .collect(),
        })
    }

    /// Marks the properties in a list of names as required, and reports names without a property.
    pub(super) fn mark_required(
        &mut self,
        properties: &mut [Property<'d>],
        owner: &'d Node<'d>,
        key: &'static str,
        at: &At<'_>,
    ) {
        let list = place(at, owner, key);
        let names = owner.get(key).map(Node::items).unwrap_or_default();
        for (index, node) in names.iter().enumerate() {
            let Some(name) = node.as_str() else { continue };
            let found = properties.binary_search_by(|property| property.name.cmp(name));
            if let Ok(position) = found {
                properties[position].required = true;
                continue;
            }
            self.problems.expected(
                &list.index(index, node.offset),
                format!("unknown required property \"{name}\""),
                "the name of one of the properties",
            );
        }
    }
}
