//! Types in packages with generic types (`codegen.md` 4.4).
//!
//! The core SDK has one generic type for all inputs, `pulumix.Input[T]`, and few for outputs, so an object needs only a
//! value type, an arguments type and one output type. Inputs of objects are pointers to their arguments; outputs of objects
//! are pointer outputs, whether the object is optional or not.

use plumb_schema::Section;
use plumb_schema::bound::{Type, TypeKind};

use super::imports::{Imports, PULUMI};
use super::sdk::Sdk;
use super::types::Place;

/// Form of input and output types in one package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Named types, one set for each value type.
    Named,
    /// Generic types.
    Generic,
}

impl Sdk<'_, '_> {
    pub(super) fn is_generic(&self) -> bool {
        self.style == Style::Generic
    }

    /// Whether the type is an object of this package.
    fn is_object(&self, ty: &Type<'_>) -> bool {
        matches!(ty.kind, TypeKind::Defined(position) if self.enum_primitive(position).is_none())
    }

    fn is_resource(ty: &Type<'_>) -> bool {
        match &ty.kind {
            TypeKind::Resource(_) | TypeKind::Provider => true,
            TypeKind::External(external) => external.section != Section::Type,
            _ => false,
        }
    }

    /// Type of a field of an arguments struct.
    pub(super) fn generic_input(&self, place: Place<'_, '_>, imports: &mut Imports<'_>) -> String {
        if place.ty.plain {
            let text = self.generic_plain(place.ty, imports);
            return self.pointer_at(place, text);
        }
        let argument = self.argument(place.ty, imports);
        let argument = if self.is_object(place.ty) {
            argument
        } else {
            self.pointer_at(place, argument)
        };
        format!("{}Input[{argument}]", core(imports))
    }

    /// Type parameter of an input.
    fn argument(&self, ty: &Type<'_>, imports: &mut Imports<'_>) -> String {
        match &ty.kind {
            TypeKind::Array(element) => format!("[]{}", self.argument(element, imports)),
            TypeKind::Map(element) => format!("map[string]{}", self.argument(element, imports)),
            _ if self.is_object(ty) => format!("*{}Args", self.stem(ty, imports)),
            _ => self.value(ty, imports),
        }
    }

    /// Input type at a level that cannot be an output itself.
    fn generic_plain(&self, ty: &Type<'_>, imports: &mut Imports<'_>) -> String {
        let mut level = |element: &Type<'_>| {
            if element.plain {
                self.generic_plain(element, imports)
            } else {
                let argument = self.argument(element, imports);
                format!("{}Input[{argument}]", core(imports))
            }
        };
        match &ty.kind {
            TypeKind::Array(element) => format!("[]{}", level(element)),
            TypeKind::Map(element) => format!("map[string]{}", level(element)),
            _ => self.value(ty, imports),
        }
    }

    /// Output type.
    pub(super) fn generic_output(&self, ty: &Type<'_>, imports: &mut Imports<'_>) -> String {
        match &ty.kind {
            TypeKind::Array(element) => self.generic_collection("Array", element, imports),
            TypeKind::Map(element) => self.generic_collection("Map", element, imports),
            _ if self.is_object(ty) || Self::is_resource(ty) => {
                let stem = self.stem(ty, imports);
                format!("{}GPtrOutput[{stem}, {stem}Output]", core(imports))
            }
            _ => {
                let value = self.value(ty, imports);
                format!("{}Output[{value}]", core(imports))
            }
        }
    }

    fn generic_collection(
        &self,
        kind: &str,
        element: &Type<'_>,
        imports: &mut Imports<'_>,
    ) -> String {
        let value = self.value(element, imports);
        let is_collection = matches!(element.kind, TypeKind::Array(_) | TypeKind::Map(_));
        if self.is_object(element) {
            let stem = self.stem(element, imports);
            format!("{}G{kind}Output[{value}, {stem}Output]", core(imports))
        } else if is_collection || Self::is_resource(element) {
            let output = self.generic_output(element, imports);
            format!("{}G{kind}Output[{value}, {output}]", core(imports))
        } else {
            format!("{}{kind}Output[{value}]", core(imports))
        }
    }

    /// Output type of a property, which may be optional.
    pub(super) fn generic_output_at(
        &self,
        place: Place<'_, '_>,
        imports: &mut Imports<'_>,
    ) -> String {
        if self.is_object(place.ty) || place.required || self.is_nilable(place.ty) {
            return self.generic_output(place.ty, imports);
        }
        let value = self.value_at(place, imports);
        format!("{}Output[{value}]", core(imports))
    }

    /// Type to which the outputs of a place resolve.
    pub(super) fn awaited(&self, place: Place<'_, '_>, imports: &mut Imports<'_>) -> String {
        let required = place.required && !self.is_object(place.ty);
        self.value_at(Place { required, ..place }, imports)
    }

    /// Function that converts the arguments in an input to values; `None` if the type contains no objects.
    pub(super) fn conversion(
        &self,
        place: Place<'_, '_>,
        imports: &mut Imports<'_>,
    ) -> Option<String> {
        match &place.ty.kind {
            TypeKind::Array(element) | TypeKind::Map(element) => {
                let element = Place {
                    ty: element,
                    required: true,
                };
                let inner = self.conversion(element, imports)?;
                let is_array = matches!(place.ty.kind, TypeKind::Array(_));
                let each = if is_array { "Elements" } else { "Entries" };
                Some(format!("{}.{each}({inner})", imports.internal()))
            }
            _ if self.is_object(place.ty) => {
                let stem = self.stem(place.ty, imports);
                let name = stem.rsplit('.').next().unwrap_or(&stem);
                let how = if place.required { "Object" } else { "Pointer" };
                let internal = imports.internal();
                Some(format!(
                    "{internal}.{how}[{stem}]({stem}Args.To{name}Output)"
                ))
            }
            _ => None,
        }
    }
}

/// Qualifier for names of the generic part of the core SDK.
fn core(imports: &mut Imports<'_>) -> &'static str {
    imports.plain(&format!("{PULUMI}x"));
    "pulumix."
}
