//! Fields of argument structs: what they accept.
//!
//! Most accept inputs. A property that is marked as plain accepts no output at its outermost level: `[]pulumi.StringInput` where
//! the elements may be outputs, `[]string` where they are plain too, and the struct of an object instead of its interface.

use std::sync::Arc;

use plumb_pcl::Type;
use plumb_schema::{PackageSchema, Section, Type as SchemaType, TypeKind};

use super::expression::Want;
use super::kinds::Kind;
use super::printer::Printer;
use super::syntax::Code;
use crate::tree::Tree;

impl Printer {
    /// Prints the value of a field of this type; `is_plain` says that the whole struct accepts no outputs.
    pub(super) fn field(&mut self, tree: &Tree, ty: &Type, is_plain: bool) -> Code {
        let kind = Kind::of(ty);
        if is_plain {
            return self.expression(tree, &Want::Plain(kind));
        }
        match plain(ty) {
            Some((package, schema, is_optional)) => {
                self.plain_field(tree, package, schema, is_optional, kind)
            }
            None => self.expression(tree, &Want::Input(kind)),
        }
    }

    fn plain_field(
        &mut self,
        tree: &Tree,
        package: &Arc<PackageSchema>,
        ty: &SchemaType,
        is_optional: bool,
        kind: Kind,
    ) -> Code {
        match (&ty.kind, tree) {
            (TypeKind::Array(element), Tree::List(items)) => {
                let name = format!("[]{}", self.level_type(package, element));
                let items = items.iter().map(|it| self.level(it, package, element));
                Code::list(name, items.collect())
            }
            (TypeKind::Map(element), Tree::Map(entries)) => {
                let name = format!("map[string]{}", self.level_type(package, element));
                let entries = entries.iter().map(|(key, value)| {
                    let key = self.plain(key, Kind::Text);
                    (key, self.level(value, package, element))
                });
                Code::keyed(name, entries.collect(), false)
            }
            _ if resource(ty).is_some() => {
                let value = self.any(tree);
                if !value.is_plain() || !matches!(value.kind, Kind::Resource(..)) {
                    return self.refuse("such a resource as an argument").code;
                }
                value.code
            }
            (_, Tree::Object(object)) => {
                let sign = if is_optional { "&" } else { "" };
                self.struct_of(object, sign).code
            }
            _ => {
                if !is_plain_throughout(package, ty) {
                    self.refuse("a collection or an object that must not be an output");
                }
                self.expression(tree, &Want::Plain(kind))
            }
        }
    }

    /// Prints an element of a plain collection.
    fn level(&mut self, tree: &Tree, package: &Arc<PackageSchema>, ty: &SchemaType) -> Code {
        let kind = Kind::of(&Type::Schema(package.clone(), ty.clone()));
        if ty.plain {
            self.plain_field(tree, package, ty, false, kind)
        } else {
            self.expression(tree, &Want::Input(kind))
        }
    }

    /// Go type of an element of a plain collection.
    fn level_type(&mut self, package: &Arc<PackageSchema>, ty: &SchemaType) -> String {
        let kind = Kind::of(&Type::Schema(package.clone(), ty.clone()));
        match &ty.kind {
            _ if !ty.plain => self.input_type(&kind),
            TypeKind::Array(element) => format!("[]{}", self.level_type(package, element)),
            TypeKind::Map(element) => format!("map[string]{}", self.level_type(package, element)),
            _ => match (resource(ty), &kind) {
                (Some(token), _) => format!("*{}", self.class(package, token)),
                (None, Kind::Object(package, token)) => self.type_class(package, token) + "Args",
                (None, other) => self.plain_type(other),
            },
        }
    }
}

/// Token of the resource of the package that values of a type are.
fn resource(ty: &SchemaType) -> Option<&str> {
    match &ty.kind {
        TypeKind::Reference(it) if it.section == Section::Resource && it.package.is_none() => {
            Some(&it.token)
        }
        _ => None,
    }
}

/// The schema's type of a property that is marked as plain, and whether the property is optional.
fn plain(ty: &Type) -> Option<(&Arc<PackageSchema>, &SchemaType, bool)> {
    match ty {
        Type::Schema(package, schema) => schema.plain.then_some((package, schema, false)),
        Type::Union(elements) => {
            let is_optional = elements.iter().any(|it| matches!(it, Type::None));
            let found = elements.iter().find_map(plain);
            found.map(|(package, schema, _)| (package, schema, is_optional))
        }
        _ => None,
    }
}

/// Whether no level of a type accepts outputs, so that its Go type is the plain one.
fn is_plain_throughout(package: &Arc<PackageSchema>, ty: &SchemaType) -> bool {
    if !ty.plain {
        return false;
    }
    match &ty.kind {
        TypeKind::Array(element) | TypeKind::Map(element) => is_plain_throughout(package, element),
        _ => {
            let kind = Kind::of(&Type::Schema(package.clone(), ty.clone()));
            kind.is_scalar() || matches!(kind, Kind::Enum(..) | Kind::Any)
        }
    }
}
