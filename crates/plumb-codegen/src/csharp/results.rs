//! Classes that users read: nested objects in outputs, results of functions and methods; and enums
//! (`codegen.md` 5.3).

use plumb_schema::bound::{EnumType, Property, TypeShape, member_of};
use plumb_schema::{Constant, Primitive};

use super::args::{number, written_name};
use super::names;
use super::sdk::{Sdk, Shape};
use super::types::primitive;
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member};

impl<'d> Sdk<'_, 'd> {
    /// Class of results. `visibility` is `public`, or `internal` for a class that is only unwrapped by
    /// generated code.
    pub(super) fn result_class(
        &self,
        visibility: &str,
        name: &str,
        doc: Doc,
        properties: &[Property<'d>],
        shape: Shape,
    ) -> Class {
        let names = names::properties(properties.iter().map(written_name), name);
        let mut members = Vec::with_capacity(properties.len() + 1);
        let mut parameters = Vec::with_capacity(properties.len());
        let mut taken: Vec<String> = Vec::new();
        let mut body = Body::default();
        for (property, name) in properties.iter().zip(&names) {
            let ty = self.optional_value(property, shape);
            let mut parameter = names::parameter(property.name);
            while taken.contains(&parameter) {
                parameter.push('_');
            }
            taken.push(parameter.clone());
            members.push(
                Member::line(format!("public readonly {ty} {name};"))
                    .with_doc(&self.doc(property.description)),
            );
            // `this.`, because the parameter can have the field's name.
            body.line(format!("this.{name} = {parameter};"));
            parameters.push(format!("{ty} {parameter}"));
        }
        let signature = format!("private {name}({})", parameters.join(", "));
        members.push(
            Member::method(signature, body)
                .with_attributes(vec!["[global::Pulumi.OutputConstructor]".to_owned()]),
        );
        Class {
            doc,
            attributes: vec!["[global::Pulumi.OutputType]".to_owned()],
            header: format!("{visibility} sealed class {name}"),
            members,
        }
    }

    /// Reference to the enum member with the value of `constant`.
    pub(super) fn enum_literal(&self, position: usize, constant: &Constant) -> String {
        let definition = &self.package.types[position];
        let TypeShape::Enum(shape) = &definition.shape else {
            return "default!".to_owned();
        };
        let name = names::title(member_of(definition.token));
        let class = format!("global::{}.{name}", self.namespace_of(definition.token));
        let mut values = shape.values.iter().zip(members(shape, &name));
        match values.find(|(value, _)| value.value == *constant) {
            Some((_, Some(member))) => format!("{class}.{member}"),
            _ => "default!".to_owned(),
        }
    }

    /// Class of an enum.
    pub(super) fn enum_class(
        &self,
        token: &str,
        definition: &EnumType<'d>,
    ) -> Result<Class, GenerateError> {
        let name = names::title(member_of(token));
        let wrong = |why| GenerateError::Name {
            what: "the enum",
            name: name.clone(),
            why,
        };
        if definition.underlying == Primitive::Bool {
            return Err(wrong("C# has no enums of booleans"));
        }
        let found: Option<Vec<String>> = members(definition, &name).into_iter().collect();
        let found =
            found.ok_or_else(|| wrong("one of its values has no letters to be called by"))?;
        let doc = self.doc(definition.description);
        Ok(if definition.underlying == Primitive::Integer {
            self.integers(name, doc, definition, found)
        } else {
            self.structure(name, doc, definition, found)
        })
    }

    fn integers(
        &self,
        name: String,
        doc: Doc,
        definition: &EnumType<'d>,
        found: Vec<String>,
    ) -> Class {
        let values = definition.values.iter().zip(found);
        let members = values.map(|(value, member)| {
            let Constant::Number(number) = value.value else {
                return Member::line(format!("{member},"));
            };
            Member::line(format!("{member} = {number},"))
                .with_doc(&self.doc(value.description))
                .with_attributes(self.obsolete(value.deprecation))
        });
        Class {
            doc,
            attributes: Vec::new(),
            header: format!("public enum {name}"),
            members: members.collect(),
        }
    }

    /// Struct for an enum whose values are not integers, which C# enums do not support.
    fn structure(
        &self,
        name: String,
        doc: Doc,
        definition: &EnumType<'d>,
        found: Vec<String>,
    ) -> Class {
        let ty = primitive(definition.underlying);
        let is_text = definition.underlying == Primitive::String;
        let kept = if is_text {
            "_value = value ?? throw new global::System.ArgumentNullException(nameof(value));"
        } else {
            "_value = value;"
        };
        let mut members = vec![
            Member::line(format!("private readonly {ty} _value;")),
            Member::method(format!("private {name}({ty} value)"), Body::of(kept)),
        ];
        for (value, member) in definition.values.iter().zip(found) {
            let literal = match &value.value {
                Constant::String(text) => names::string(text),
                Constant::Number(value) => number(*value),
                Constant::Bool(flag) => flag.to_string(),
            };
            members.push(
                Member::line(format!(
                    "public static {name} {member} {{ get; }} = new {name}({literal});"
                ))
                .with_doc(&self.doc(value.description))
                .with_attributes(self.obsolete(value.deprecation)),
            );
        }
        members.extend(structure_members(&name, ty, is_text));
        Class {
            doc,
            attributes: vec!["[global::Pulumi.EnumType]".to_owned()],
            header: format!("public readonly struct {name} : global::System.IEquatable<{name}>"),
            members,
        }
    }
}

/// Members of such a struct besides its values: operators, equality, hash code and text.
fn structure_members(name: &str, ty: &str, is_text: bool) -> Vec<Member> {
    let hidden = || {
        vec!["[global::System.ComponentModel.EditorBrowsable(global::System.ComponentModel.EditorBrowsableState.Never)]".to_owned()]
    };
    let (same, hash, text) = if is_text {
        (
            "string.Equals(_value, other._value, global::System.StringComparison.Ordinal)",
            "_value?.GetHashCode() ?? 0",
            "_value",
        )
    } else {
        (
            "_value == other._value",
            "_value.GetHashCode()",
            "_value.ToString()",
        )
    };
    vec![
        Member::line(format!(
            "public static bool operator ==({name} left, {name} right) => left.Equals(right);"
        )),
        Member::line(format!(
            "public static bool operator !=({name} left, {name} right) => !left.Equals(right);"
        )),
        Member::line(format!(
            "public static explicit operator {ty}({name} value) => value._value;"
        )),
        Member::line(format!(
            "public override bool Equals(object? obj) => obj is {name} other && Equals(other);"
        ))
        .with_attributes(hidden()),
        Member::line(format!("public bool Equals({name} other) => {same};")),
        Member::line(format!("public override int GetHashCode() => {hash};"))
            .with_attributes(hidden()),
        Member::line(format!("public override string ToString() => {text};")),
    ]
}

/// Names of an enum's members, all distinct.
pub(super) fn members(definition: &EnumType<'_>, enum_name: &str) -> Vec<Option<String>> {
    let mut taken: Vec<String> = Vec::new();
    let values = definition.values.iter();
    values
        .map(|value| {
            let text = match &value.value {
                Constant::String(text) => text.clone(),
                Constant::Number(number) => number.to_string(),
                Constant::Bool(flag) => flag.to_string(),
            };
            let name = value.name.filter(|name| !name.is_empty());
            let mut name = names::enum_member(name.unwrap_or(&text), enum_name)?;
            // C# forbids members with the name of their type.
            while name == enum_name || taken.contains(&name) {
                name.push('_');
            }
            taken.push(name.clone());
            Some(name)
        })
        .collect()
}
