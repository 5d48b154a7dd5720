//! Properties as fields of structs and methods of outputs.

use plumb_schema::bound::Property;
use rustc_hash::FxHashSet;

use super::forms::Declarations;
use super::model::{Body, Doc, Field};
use super::names;
use super::sdk::Sdk;
use super::types::Place;

/// A property with its Go name and its comment.
pub(super) struct Entry<'p, 'd> {
    pub(super) property: &'p Property<'d>,
    pub(super) required: bool,
    pub(super) name: String,
    pub(super) doc: Doc,
}

impl<'p, 'd> Entry<'p, 'd> {
    pub(super) fn place(&self) -> Place<'p, 'd> {
        Place {
            ty: &self.property.ty,
            required: self.required,
        }
    }

    fn optional(&self) -> Place<'p, 'd> {
        Place {
            ty: &self.property.ty,
            required: false,
        }
    }
}

/// Types of the fields of a struct.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fields {
    /// Values.
    Value,
    /// Inputs.
    Input,
    /// Optional inputs.
    State,
    /// Outputs.
    Output,
}

/// Type to which the outputs of accessor methods resolve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// A struct of values.
    Value,
    /// A pointer to a struct of values.
    Pointer,
    /// A pointer to a resource, whose fields are outputs.
    Resource,
}

impl<'p, 'd> Sdk<'p, 'd> {
    /// Go names and comments for the properties of the struct `owner`.
    pub(super) fn entries(
        &self,
        owner: &str,
        properties: impl IntoIterator<Item = &'p Property<'d>>,
        is_required: impl Fn(&Property<'d>) -> bool,
    ) -> Vec<Entry<'p, 'd>>
    where
        'd: 'p,
    {
        let mut taken = FxHashSet::default();
        let entry = |property: &'p Property<'d>| {
            let mut name = field_name(owner, property.name);
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            Entry {
                required: is_required(property),
                name,
                doc: self.doc(property.description, property.deprecation),
                property,
            }
        };
        properties.into_iter().map(entry).collect()
    }

    /// Field names of the struct `owner`.
    pub(super) fn field_names<'n>(
        owner: &str,
        properties: impl IntoIterator<Item = &'n str>,
    ) -> Vec<String> {
        let mut taken = FxHashSet::default();
        let unique = |property| {
            let mut name = field_name(owner, property);
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        properties.into_iter().map(unique).collect()
    }

    /// Fields for properties, with tags that contain the property names.
    pub(super) fn fields(
        &self,
        entries: &[Entry<'_, '_>],
        kind: Fields,
        has_tags: bool,
        file: &mut Declarations<'_>,
    ) -> Vec<Field> {
        let imports = &mut file.imports;
        let field = |entry: &Entry<'_, '_>| Field {
            doc: entry.doc.clone(),
            name: entry.name.clone(),
            ty: match kind {
                Fields::Value => self.value_at(entry.place(), imports),
                Fields::Input => self.input_at(entry.place(), imports),
                Fields::State => self.input_at(entry.optional(), imports),
                Fields::Output => self.output_at(entry.place(), imports),
            },
            tag: if has_tags {
                names::tag(entry.property.name)
            } else {
                String::new()
            },
        };
        entries.iter().map(field).collect()
    }

    /// Methods of the outputs of `name`, one per property.
    pub(super) fn accessors(
        &self,
        name: &str,
        holder: Holder,
        entries: &[Entry<'_, '_>],
        file: &mut Declarations<'_>,
    ) {
        if self.is_generic() {
            return self.generic_accessors(name, holder, entries, file);
        }
        for entry in entries {
            let (receiver, place) = match holder {
                Holder::Value | Holder::Resource => (format!("{name}Output"), entry.place()),
                Holder::Pointer => (format!("{name}PtrOutput"), entry.optional()),
            };
            let output = self.output_at(place, &mut file.imports);
            let method = accessor_name(&entry.name, holder);
            let field = &entry.name;
            let mut body = Body::default();
            let statement = |body: &mut Body, of: &str, result: &str| {
                body.closure(
                    "return o.ApplyT(",
                    &format!("func(v {of}) {result}"),
                    &format!("return v.{field}"),
                    &format!(").({output})"),
                );
            };
            match holder {
                Holder::Value => {
                    let value = self.value_at(place, &mut file.imports);
                    statement(&mut body, name, &value);
                }
                Holder::Resource => statement(&mut body, &format!("*{name}"), &output),
                Holder::Pointer => {
                    let value = self.value_at(place, &mut file.imports);
                    let address =
                        if entry.required && value.starts_with('*') && !self.is_nilable(place.ty) {
                            "&"
                        } else {
                            ""
                        };
                    let open = format!("return o.ApplyT(func(v *{name}) {value} {{");
                    body.block(open, &format!("}}).({output})"), |body| {
                        body.block("if v == nil {", "}", |body| body.line("return nil"));
                        body.line(format!("return {address}v.{field}"));
                    });
                }
            }
            let signature = format!("func (o {receiver}) {method}() {output}");
            file.function(entry.doc.clone(), signature, body);
        }
    }
}

/// Field name of a property. Names that the core SDK uses get a trailing underscore.
fn field_name(owner: &str, property: &str) -> String {
    let mut name = names::title(property);
    let is_reserved = matches!(
        name.as_str(),
        "ID" | "URN"
            | "GetProvider"
            | "ElementType"
            | "CustomResourceState"
            | "ResourceState"
            | "ProviderResourceState"
    );
    // Objects with defaults have a method of that name.
    let is_reserved = is_reserved || name == "Defaults";
    let conversion = name
        .strip_prefix("To")
        .and_then(|rest| rest.strip_prefix(owner));
    if is_reserved || matches!(conversion, Some("Output" | "OutputWithContext")) {
        name.push('_');
    }
    name
}

/// Method of an output for the property with this field.
pub(crate) fn accessor_name(field: &str, holder: Holder) -> String {
    let bare = field.trim_end_matches('_');
    match (bare, holder) {
        // Members of all outputs, which accessors of properties must not hide.
        ("ApplyT" | "ApplyTWithContext" | "ToOutput" | "OutputState", _) => format!("Get{field}"),
        ("Elem", Holder::Pointer) => format!("Get{field}"),
        ("ElementType" | "IsSecret", Holder::Pointer) => format!("{bare}Prop"),
        ("ElementType" | "IsSecret", Holder::Value | Holder::Resource) => format!("Get{field}"),
        _ => field.to_owned(),
    }
}
