//! Objects and enums.

use plumb_schema::bound::{Property, TypeShape};
use plumb_schema::{Constant, Primitive};

use super::args::Args;
use super::model::{Sdk, named};
use super::names::{self, Taken};
use super::text;
use crate::writer::Writer;

impl<'d> Sdk<'_, 'd> {
    /// Writes an object: a view of values, and the arguments that make one.
    pub(super) fn write_object(&self, writer: &mut Writer, position: usize) {
        let TypeShape::Object(object) = &self.package.types[position].shape else {
            return;
        };
        if object.overlay.is_overlay {
            return;
        }
        let class = &self.types[position];
        self.write_view(writer, class, object.description, &object.properties);
        let args = Args {
            class: format!("{class}Args"),
            doc: format!("Inputs for a [`{class}`]."),
            object: Some(class),
        };
        self.write_args(writer, &args, &object.properties);
    }

    /// Writes a view of the members of an object.
    pub(super) fn write_view(
        &self,
        writer: &mut Writer,
        class: &str,
        description: Option<&str>,
        properties: &[Property<'d>],
    ) {
        text::doc(writer, description, "An object.");
        writer.line(&["#[derive(Clone, Debug)]"]);
        let members = "(::std::collections::BTreeMap<::std::string::String, ::plumb::Value>);";
        writer.line(&["pub struct ", class, members]);
        writer.line(&["::plumb::object!(", class, ");"]);
        writer.blank();
        if properties.is_empty() {
            return;
        }
        writer.block(&["impl ", class, " {"], "}", |writer| {
            let mut taken = Taken::default();
            for it in named(properties, &[]) {
                let name = taken.take(names::constant(it.property.name));
                let ty = self.output_text(it.property);
                let key = text::literal(it.property.name);
                text::doc(writer, it.property.description, "A member.");
                text::deprecated(writer, it.property.deprecation);
                let field = format!("::plumb::Field<{class}, {ty}>");
                writer.line(&[
                    "pub const ",
                    &name,
                    ": ",
                    &field,
                    " = ::plumb::Field::new(",
                    &key,
                    ");",
                ]);
            }
        });
        writer.blank();
    }

    /// The type of an output: optional unless it is always there.
    pub(super) fn output_text(&self, property: &Property<'d>) -> String {
        let ty = self.type_text(&property.ty);
        if property.required {
            ty
        } else {
            format!("::std::option::Option<{ty}>")
        }
    }

    /// Writes an enum: an open set of texts. Other enums are numbers.
    pub(super) fn write_enum(&self, writer: &mut Writer, position: usize) {
        let TypeShape::Enum(definition) = &self.package.types[position].shape else {
            return;
        };
        if definition.overlay.is_overlay || definition.underlying != Primitive::String {
            return;
        }
        let class = &self.types[position];
        text::doc(writer, definition.description, "One of several texts.");
        writer.line(&["#[derive(Clone, Debug, PartialEq, Eq, Hash)]"]);
        writer.line(&["pub struct ", class, "(::std::borrow::Cow<'static, str>);"]);
        writer.line(&["::plumb::string_enum!(", class, ");"]);
        writer.blank();
        writer.block(&["impl ", class, " {"], "}", |writer| {
            let mut taken = Taken::default();
            for value in &definition.values {
                let Constant::String(content) = &value.value else {
                    continue;
                };
                let name = taken.take(names::constant(value.name.unwrap_or(content)));
                let content = text::literal(content);
                text::doc(
                    writer,
                    value.description,
                    &format!("`{}`", &content[1..content.len() - 1]),
                );
                text::deprecated(writer, value.deprecation);
                let start = format!("pub const {name}: {class} = {class}");
                writer.line(&[&start, "(::std::borrow::Cow::Borrowed(", &content, "));"]);
            }
        });
        writer.blank();
    }
}
