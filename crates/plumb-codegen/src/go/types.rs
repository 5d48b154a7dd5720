//! Go types (`codegen.md` 1.5).
//!
//! A type has three forms: the *value* in functions and structs, the *input* that users may pass instead, and the *output*
//! for a value not known yet. Names of inputs and outputs differ only in their suffix; [`Sdk::stem`] returns the common
//! part.

use plumb_schema::bound::{External, Opaque, Type, TypeKind, TypeShape, Union, member_of};
use plumb_schema::{Primitive, Section};

use super::imports::Imports;
use super::names;
use super::sdk::Sdk;

/// Stem of types that accept any value.
const ANY: &str = "pulumi.";

/// A type, and whether it is required.
#[derive(Clone, Copy)]
pub(super) struct Place<'t, 'd> {
    pub(super) ty: &'t Type<'d>,
    pub(super) required: bool,
}

impl Sdk<'_, '_> {
    /// Primitive for a union: that of its enum; `None` for a union without enums.
    pub(super) fn union_primitive(&self, union: &Union<'_>) -> Option<Primitive> {
        union
            .elements
            .iter()
            .find_map(|element| match &element.kind {
                TypeKind::Defined(position) => self.enum_primitive(*position),
                TypeKind::External(external) => external.enum_type,
                _ => None,
            })
    }

    /// Primitive of an enum; `None` for objects.
    pub(super) fn enum_primitive(&self, position: usize) -> Option<Primitive> {
        match &self.package.types[position].shape {
            TypeShape::Enum(definition) => Some(definition.underlying),
            TypeShape::Object(_) => None,
        }
    }

    /// Whether the value type has `nil`, and therefore needs no pointer if optional.
    pub(super) fn is_nilable(&self, ty: &Type<'_>) -> bool {
        match &ty.kind {
            TypeKind::Primitive(_) | TypeKind::Defined(_) | TypeKind::Opaque(_) => false,
            // Generic code has one input type for optional values.
            TypeKind::Archive | TypeKind::Asset => !self.is_generic(),
            TypeKind::Union(union) => self.union_primitive(union).is_none(),
            TypeKind::External(external) => external.section != Section::Type,
            _ => true,
        }
    }

    /// Value type.
    pub(super) fn value(&self, ty: &Type<'_>, imports: &mut Imports<'_>) -> String {
        match &ty.kind {
            TypeKind::Primitive(primitive) => primitive_type(*primitive).to_owned(),
            TypeKind::Any | TypeKind::Json | TypeKind::Invalid => "interface{}".to_owned(),
            TypeKind::Archive | TypeKind::Asset => {
                imports.pulumi();
                self.stem(ty, imports)
            }
            TypeKind::Array(element) => format!("[]{}", self.value(element, imports)),
            TypeKind::Map(element) => format!("map[string]{}", self.value(element, imports)),
            TypeKind::Union(union) => {
                let primitive = self.union_primitive(union);
                primitive.map_or("interface{}", primitive_type).to_owned()
            }
            TypeKind::Defined(_) => self.stem(ty, imports),
            TypeKind::Resource(_) | TypeKind::Provider => format!("*{}", self.stem(ty, imports)),
            TypeKind::Opaque(opaque) => match opaque.underlying {
                Some(primitive) => primitive_type(primitive).to_owned(),
                None => self.stem(ty, imports),
            },
            TypeKind::External(external) => match (external.section, external.underlying) {
                (Section::Type, Some(primitive)) if external.enum_type.is_none() => {
                    primitive_type(primitive).to_owned()
                }
                (Section::Type, _) => self.stem(ty, imports),
                (Section::Resource | Section::Provider, _) => {
                    format!("*{}", self.stem(ty, imports))
                }
            },
        }
    }

    /// Value type of a property, which may be optional.
    pub(super) fn value_at(&self, place: Place<'_, '_>, imports: &mut Imports<'_>) -> String {
        let text = self.value(place.ty, imports);
        self.pointer_at(place, text)
    }

    pub(super) fn pointer_at(&self, place: Place<'_, '_>, text: String) -> String {
        if place.required || self.is_nilable(place.ty) {
            text
        } else {
            format!("*{text}")
        }
    }

    /// Common prefix of the type's input and output names.
    pub(super) fn stem(&self, ty: &Type<'_>, imports: &mut Imports<'_>) -> String {
        match &ty.kind {
            TypeKind::Primitive(primitive) => primitive_stem(*primitive, imports),
            TypeKind::Any | TypeKind::Json | TypeKind::Invalid => any_stem(imports),
            TypeKind::Archive => {
                imports.pulumi();
                "pulumi.Archive".to_owned()
            }
            TypeKind::Asset => {
                imports.pulumi();
                "pulumi.AssetOrArchive".to_owned()
            }
            TypeKind::Array(element) => self.stem(element, imports) + "Array",
            TypeKind::Map(element) => self.stem(element, imports) + "Map",
            TypeKind::Union(union) => match self.union_primitive(union) {
                Some(primitive) => primitive_stem(primitive, imports),
                None => any_stem(imports),
            },
            TypeKind::Defined(position) => {
                let token = self.package.types[*position].token;
                imports.module(&self.module_of(token)) + &self.naming.types[*position]
            }
            TypeKind::Resource(position) => {
                let token = &self.package.resources[*position].token;
                imports.module(&self.module_of(token)) + &self.naming.resources[*position]
            }
            TypeKind::Provider => imports.module("") + "Provider",
            TypeKind::Opaque(opaque) => self.opaque(opaque, imports),
            TypeKind::External(external) => self.external(external, imports),
        }
    }

    fn opaque(&self, opaque: &Opaque<'_>, imports: &mut Imports<'_>) -> String {
        if let Some(primitive) = opaque.underlying {
            return primitive_stem(primitive, imports);
        }
        // The type is written by hand.
        let before = imports.module(&self.module_of(&opaque.token));
        before + &names::title(member_of(&opaque.token))
    }

    fn external(&self, external: &External, imports: &mut Imports<'_>) -> String {
        if let (Section::Type, None, Some(primitive)) =
            (external.section, external.enum_type, external.underlying)
        {
            return primitive_stem(primitive, imports);
        }
        let name = match external.section {
            Section::Provider => "Provider".to_owned(),
            Section::Resource | Section::Type => names::title(member_of(&external.token)),
        };
        let token = match external.section {
            Section::Provider => "",
            Section::Resource | Section::Type => external.token.as_str(),
        };
        self.externals[external.package].before(token, imports) + &name
    }

    /// Input type at one level, which may be an output.
    pub(super) fn input(&self, ty: &Type<'_>, imports: &mut Imports<'_>) -> String {
        imports.pulumi();
        self.stem(ty, imports) + "Input"
    }

    /// Type of a field of an arguments struct.
    pub(super) fn input_at(&self, place: Place<'_, '_>, imports: &mut Imports<'_>) -> String {
        if self.is_generic() {
            return self.generic_input(place, imports);
        }
        if place.ty.plain {
            let text = self.plain_input(place.ty, imports);
            return self.pointer_at(place, text);
        }
        let stem = self.stem(place.ty, imports);
        if place.required || self.is_nilable(place.ty) {
            stem + "Input"
        } else {
            stem + "PtrInput"
        }
    }

    /// Input type at a level that cannot be an output, while inner levels can be.
    pub(super) fn plain_input(&self, ty: &Type<'_>, imports: &mut Imports<'_>) -> String {
        let mut level = |element: &Type<'_>| {
            if element.plain {
                self.plain_input(element, imports)
            } else {
                self.input(element, imports)
            }
        };
        match &ty.kind {
            TypeKind::Array(element) => format!("[]{}", level(element)),
            TypeKind::Map(element) => format!("map[string]{}", level(element)),
            TypeKind::Defined(position) if self.enum_primitive(*position).is_none() => {
                self.stem(ty, imports) + "Args"
            }
            TypeKind::External(external)
                if external.section == Section::Type
                    && external.enum_type.is_none()
                    && external.underlying.is_none() =>
            {
                self.stem(ty, imports) + "Args"
            }
            _ => self.value(ty, imports),
        }
    }

    /// Output type.
    pub(super) fn output(&self, ty: &Type<'_>, imports: &mut Imports<'_>) -> String {
        if self.is_generic() {
            return self.generic_output(ty, imports);
        }
        let stem = self.stem(ty, imports);
        if stem == ANY {
            "pulumi.AnyOutput".to_owned()
        } else {
            stem + "Output"
        }
    }

    /// Output type of a property, which may be optional.
    pub(super) fn output_at(&self, place: Place<'_, '_>, imports: &mut Imports<'_>) -> String {
        if self.is_generic() {
            return self.generic_output_at(place, imports);
        }
        if place.required || self.is_nilable(place.ty) {
            self.output(place.ty, imports)
        } else {
            self.stem(place.ty, imports) + "PtrOutput"
        }
    }
}

fn any_stem(imports: &mut Imports<'_>) -> String {
    imports.pulumi();
    ANY.to_owned()
}

fn primitive_stem(primitive: Primitive, imports: &mut Imports<'_>) -> String {
    imports.pulumi();
    format!("pulumi.{}", primitive_name(primitive))
}

/// The name of a primitive in the core SDK.
pub(super) fn primitive_name(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "Bool",
        Primitive::Integer => "Int",
        Primitive::Number => "Float64",
        Primitive::String => "String",
    }
}

pub(super) fn primitive_type(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Bool => "bool",
        Primitive::Integer => "int",
        Primitive::Number => "float64",
        Primitive::String => "string",
    }
}
