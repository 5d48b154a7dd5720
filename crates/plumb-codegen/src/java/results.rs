//! Classes that users read: nested objects in outputs, results of functions, objects in settings;
//! and enums.

use plumb_schema::bound::{EnumType, Property};
use plumb_schema::{Constant, Primitive};

use super::args::written_name;
use super::docs::deprecated;
use super::imports::Imports;
use super::names::{self, Owner, PropertyNames};
use super::sdk::{Sdk, split};
use super::types::{JavaType, LIST, MAP, Shape, primitive};
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, SourceFile};

const NULLABLE: &str = "javax.annotation.Nullable";
const CUSTOM_TYPE: &str = "com.pulumi.core.annotations.CustomType";

/// A property with its names and type.
struct Field<'a, 'd> {
    property: &'a Property<'d>,
    names: PropertyNames,
    ty: JavaType,
    doc: Doc,
}

impl Field<'_, '_> {
    /// Declaration of the field in a class and in its builder.
    fn declared(&self, imports: &mut Imports) -> String {
        let ty = self.typed(imports);
        format!("private {ty} {};", self.names.field)
    }

    fn typed(&self, imports: &mut Imports) -> String {
        let ty = self.ty.render(imports);
        if self.property.required {
            return ty;
        }
        format!("@{} {ty}", imports.name(NULLABLE))
    }

    fn getter(&self, imports: &mut Imports) -> Member {
        let PropertyNames { field, method, .. } = &self.names;
        let ty = self.ty.render(imports);
        let (returned, body) = match self.ty.class.as_str() {
            _ if self.property.required => (ty, format!("return this.{field};")),
            class @ (LIST | MAP) => {
                let class = imports.name(class);
                let body = format!("return this.{field} == null ? {class}.of() : this.{field};");
                (ty, body)
            }
            _ => {
                let optional = imports.name("java.util.Optional");
                let body = format!("return {optional}.ofNullable(this.{field});");
                (format!("{optional}<{ty}>"), body)
            }
        };
        Member::method(format!("public {returned} {method}()"), Body::of(body))
            .with_doc(&self.doc)
            .with_attributes(deprecated(self.property.deprecation))
    }

    fn setters(&self, class: &str, imports: &mut Imports) -> Vec<Member> {
        let PropertyNames {
            field,
            method,
            parameter,
        } = &self.names;
        let mut body = Body::default();
        if self.property.required {
            let missing = imports.name("com.pulumi.exceptions.MissingRequiredPropertyException");
            body.block(format!("if ({parameter} == null)"), |body| {
                let name = names::string(self.property.name);
                body.line(format!("throw new {missing}(\"{class}\", {name});"));
            });
        }
        body.line(format!("this.{field} = {parameter};"));
        body.line("return this;");
        let custom = imports.name(CUSTOM_TYPE);
        let attribute = if *method == self.property.name {
            format!("@{custom}.Setter")
        } else {
            format!("@{custom}.Setter({})", names::string(self.property.name))
        };
        let ty = self.typed(imports);
        let setter = Member::method(format!("public Builder {method}({ty} {parameter})"), body)
            .with_attributes(vec![attribute]);
        let mut setters = vec![setter];
        if let Some(element) = self.ty.element() {
            let (element, list) = (element.render(imports), imports.name(LIST));
            setters.push(Member::method(
                format!("public Builder {method}({element}... {parameter})"),
                Body::of(format!("return this.{method}({list}.of({parameter}));")),
            ));
        }
        setters
    }
}

impl<'d> Sdk<'_, 'd> {
    /// File of a class of results.
    pub(super) fn result_file(
        &self,
        class: &str,
        doc: Doc,
        properties: &[Property<'d>],
        shape: Shape,
    ) -> Result<SourceFile, GenerateError> {
        let (package, name) = split(class);
        let mut imports = Imports::of(package, name);
        let written = properties.iter().map(written_name);
        let named = names::properties(written, Owner::Object);
        let fields: Vec<Field<'_, 'd>> = properties
            .iter()
            .zip(named)
            .map(|(property, names)| Field {
                property,
                names,
                ty: self.java_type(&property.ty, shape),
                doc: self.doc(property.description, property.deprecation),
            })
            .collect();
        let mut members: Vec<Member> = fields
            .iter()
            .map(|field| Member::line(field.declared(&mut imports)))
            .collect();
        members.push(Member::method(format!("private {name}()"), Body::default()));
        members.extend(fields.iter().map(|field| field.getter(&mut imports)));
        members.push(Member::method(
            "public static Builder builder()",
            Body::of("return new Builder();"),
        ));
        members.push(Member::method(
            format!("public static Builder builder({name} defaults)"),
            Body::of("return new Builder(defaults);"),
        ));
        members.push(Member::class(builder(name, &fields, &mut imports)));
        let custom = imports.name(CUSTOM_TYPE);
        Ok(SourceFile {
            path: Self::path(class)?,
            head: imports.lines(),
            namespace: None,
            types: vec![Class {
                doc,
                attributes: vec![format!("@{custom}")],
                header: format!("public final class {name}"),
                members,
            }],
        })
    }

    /// Names of an enum's constants, all distinct.
    pub(super) fn constants(definition: &EnumType<'_>) -> Vec<Option<String>> {
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
                let mut name = names::enum_constant(name.unwrap_or(&text))?;
                while taken.contains(&name) {
                    name.push('_');
                }
                taken.push(name.clone());
                Some(name)
            })
            .collect()
    }

    /// File of an enum.
    pub(super) fn enum_file(
        &self,
        class: &str,
        definition: &EnumType<'d>,
    ) -> Result<SourceFile, GenerateError> {
        let (package, name) = split(class);
        let wrong = |name: &str, why| GenerateError::Name {
            what: "the enum",
            name: name.escape_debug().to_string(),
            why,
        };
        if definition.underlying == Primitive::Bool {
            return Err(wrong(name, "Java has no enums of booleans"));
        }
        let mut imports = Imports::of(package, name);
        let ty = imports.name(primitive(definition.underlying));
        let mut members = Vec::new();
        let names = Self::constants(definition);
        let last = definition.values.len().saturating_sub(1);
        for (index, (value, constant)) in definition.values.iter().zip(names).enumerate() {
            let constant = constant
                .ok_or_else(|| wrong(name, "one of its values has no letters to be called by"))?;
            let end = if index == last { ";" } else { "," };
            let literal = literal(&value.value, definition.underlying);
            members.push(
                Member::line(format!("{constant}({literal}){end}"))
                    .with_doc(&self.doc(value.description, value.deprecation))
                    .with_attributes(deprecated(value.deprecation)),
            );
        }
        if members.is_empty() {
            members.push(Member::line(";"));
        }
        members.extend(enum_members(name, &ty, &mut imports));
        let attribute = imports.name("com.pulumi.core.annotations.EnumType");
        Ok(SourceFile {
            path: Self::path(class)?,
            head: imports.lines(),
            namespace: None,
            types: vec![Class {
                doc: self.doc(definition.description, None),
                attributes: vec![format!("@{attribute}")],
                header: format!("public enum {name}"),
                members,
            }],
        })
    }
}

fn builder(name: &str, fields: &[Field<'_, '_>], imports: &mut Imports) -> Class {
    let mut members: Vec<Member> = fields
        .iter()
        .map(|field| Member::line(field.declared(imports)))
        .collect();
    members.push(Member::method("public Builder()", Body::default()));
    let objects = imports.name("java.util.Objects");
    let mut copy = Body::of(format!("{objects}.requireNonNull(defaults);"));
    let mut build = Body::of(format!("final var built$ = new {name}();"));
    for field in fields {
        let field = &field.names.field;
        copy.line(format!("this.{field} = defaults.{field};"));
        build.line(format!("built$.{field} = this.{field};"));
    }
    build.line("return built$;");
    members.push(Member::method(
        format!("public Builder({name} defaults)"),
        copy,
    ));
    for field in fields {
        members.extend(field.setters(name, imports));
    }
    members.push(Member::method(format!("public {name} build()"), build));
    let custom = imports.name(CUSTOM_TYPE);
    Class {
        doc: Doc::default(),
        attributes: vec![format!("@{custom}.Builder")],
        header: "public static final class Builder".to_owned(),
        members,
    }
}

fn literal(constant: &Constant, underlying: Primitive) -> String {
    match (constant, underlying) {
        (Constant::String(text), _) => names::string(text),
        (Constant::Bool(flag), _) => flag.to_string(),
        (Constant::Number(number), Primitive::Integer) => number.to_string(),
        (Constant::Number(number), _) => format!("{number:?}"),
    }
}

/// Members of an enum besides its constants.
fn enum_members(name: &str, ty: &str, imports: &mut Imports) -> Vec<Member> {
    let objects = imports.name("java.util.Objects");
    let attribute = imports.name("com.pulumi.core.annotations.EnumType");
    vec![
        Member::line(format!("private final {ty} value;")),
        Member::method(
            format!("{name}({ty} value)"),
            Body::of(format!("this.value = {objects}.requireNonNull(value);")),
        ),
        Member::method(
            format!("public {ty} getValue()"),
            Body::of("return this.value;"),
        )
        .with_attributes(vec![format!("@{attribute}.Converter")]),
        Member::method(
            "public java.lang.String toString()",
            Body::of(format!("return \"{name}[value='\" + this.value + \"']\";")),
        )
        .with_attributes(vec!["@java.lang.Override".to_owned()]),
    ]
}
