//! Interfaces of properties.

use plumb_schema::bound::Property;

use super::imports::Imports;
use super::model::{Doc, Field, Interface};
use super::names;
use super::sdk::Sdk;
use super::types::Shape;

impl<'d> Sdk<'_, 'd> {
    /// An interface with the given properties.
    pub(super) fn interface<'a>(
        &self,
        doc: Doc,
        name: String,
        properties: impl IntoIterator<Item = &'a Property<'d>>,
        shape: Shape,
        imports: &mut Imports,
    ) -> Interface
    where
        'd: 'a,
    {
        let fields = properties.into_iter();
        let fields = fields.map(|property| self.field(property, property.required, shape, imports));
        Interface {
            doc,
            name,
            fields: fields.collect(),
        }
    }

    /// A property of an interface.
    pub(super) fn field(
        &self,
        property: &Property<'d>,
        is_required: bool,
        shape: Shape,
        imports: &mut Imports,
    ) -> Field {
        let mark = if is_required { "" } else { "?" };
        Field {
            doc: self.doc(property.description, property.deprecation),
            modifiers: "",
            name: format!("{}{mark}", names::key(property.name)),
            ty: self.property_type(property, is_required, shape, imports),
        }
    }
}
