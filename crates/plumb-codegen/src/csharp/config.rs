//! The `Config` class of a package's settings (`codegen.md` 5.4).

use plumb_schema::Primitive;
use plumb_schema::bound::{Property, TypeShape, member_of};

use super::args::written_name;
use super::names;
use super::sdk::{Sdk, Shape};
use crate::GenerateError;
use crate::classes::{Body, Class, Doc, Member, SourceFile};
use crate::uses::Uses;

impl<'d> Sdk<'_, 'd> {
    /// File of the settings class; `None` for a package without settings.
    pub(super) fn config_file(&self) -> Result<Option<SourceFile>, GenerateError> {
        let properties = &self.package.config;
        if properties.is_empty() {
            return Ok(None);
        }
        let mut members = vec![
            Member::class(value_class()),
            Member::line(format!(
                "private static readonly global::Pulumi.Config __config = new global::Pulumi.Config({});",
                names::string(self.package.name)
            )),
        ];
        let named = names::properties(properties.iter().map(written_name), "Config");
        for (property, name) in properties.iter().zip(named) {
            // The nested class `Types` holds the types of settings, so a setting cannot have that
            // name.
            let name = if name == "Types" {
                "Types_".to_owned()
            } else {
                name
            };
            members.extend(self.setting(property, &name));
        }
        members.extend(self.config_types().map(Member::class));
        let path = crate::FilePath::new("Config/Config.cs")?;
        let class = Class {
            doc: Doc::default(),
            attributes: Vec::new(),
            header: "public static class Config".to_owned(),
            members,
        };
        Ok(Some(Self::file(
            path,
            self.root.package.clone(),
            vec![class],
        )))
    }

    fn setting(&self, property: &Property<'d>, name: &str) -> [Member; 2] {
        let ty = self.value_type(&property.ty, Shape::Config);
        let is_array = ty.starts_with(super::types::ARRAY);
        let read = match self
            .underlying(&property.ty)
            .filter(|_| self.enum_of(&property.ty).is_none())
        {
            Some(Primitive::Bool) => "GetBoolean".to_owned(),
            Some(Primitive::Integer) => "GetInt32".to_owned(),
            Some(Primitive::Number) => "GetDouble".to_owned(),
            Some(Primitive::String) => "Get".to_owned(),
            None => format!("GetObject<{ty}>"),
        };
        let mut value = format!("__config.{read}({})", names::string(property.name));
        if let Some(fallback) = self.filled_value(property).filter(|_| !is_array) {
            value = format!("{value} ?? {fallback}");
        }
        let ty = if is_array { ty } else { format!("{ty}?") };
        let kept = format!("_{name}");
        let mut body = Body::of(format!("get => {kept}.Get();"));
        body.line(format!("set => {kept}.Set(value);"));
        [
            Member::line(format!(
                "private static readonly __Value<{ty}> {kept} = new __Value<{ty}>(() => {value});"
            )),
            Member::method(format!("public static {ty} {name}"), body)
                .with_doc(&self.doc(property.description)),
        ]
    }

    /// Classes of objects that occur in settings.
    fn config_types(&self) -> Option<Class> {
        let mut members = Vec::new();
        for (position, definition) in self.package.types.iter().enumerate() {
            let TypeShape::Object(object) = &definition.shape else {
                continue;
            };
            if !self.uses[position].has(Uses::CONFIG) {
                continue;
            }
            let name = names::title(member_of(definition.token));
            let named = names::properties(object.properties.iter().map(written_name), &name);
            let fields = object.properties.iter().zip(named).map(|(property, name)| {
                let ty = self.optional_value(property, Shape::Config);
                Member::line(format!("public {ty} {name} {{ get; set; }} = default!;"))
                    .with_doc(&self.doc(property.description))
            });
            members.push(Member::class(Class {
                doc: self.doc(object.description),
                attributes: Vec::new(),
                header: format!("public class {name}"),
                members: fields.collect(),
            }));
        }
        (!members.is_empty()).then(|| Class {
            doc: Doc::default(),
            attributes: Vec::new(),
            header: "public static class Types".to_owned(),
            members,
        })
    }
}

/// A holder that reads its setting at each access, unless the user has assigned a value.
fn value_class() -> Class {
    let mut set = Body::of("_value = value;");
    set.line("_isSet = true;");
    Class {
        doc: Doc::default(),
        attributes: Vec::new(),
        header: "private sealed class __Value<T>".to_owned(),
        members: vec![
            Member::line("private readonly global::System.Func<T> _getter;"),
            Member::line("private T _value = default!;"),
            Member::line("private bool _isSet;"),
            Member::method(
                "public __Value(global::System.Func<T> getter)",
                Body::of("_getter = getter;"),
            ),
            Member::method(
                "public T Get()",
                Body::of("return _isSet ? _value : _getter();"),
            ),
            Member::method("public void Set(T value)", set),
        ],
    }
}
