//! Checks inputs against the schema.
//!
//! A value that a preview does not know fits everywhere. All problems are found, each with the path of its property.

use plumb::Value;
use plumb::provider::Members;

use super::{Definition, Property, Type, Types};
use crate::values::{Path, exposed};

/// A property that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) property: String,
    pub(crate) reason: String,
}

/// All problems of an object with these properties.
pub(crate) fn validate(types: &Types, properties: &[Property], members: &Members) -> Vec<Failure> {
    let mut validation = Validation {
        types,
        failures: Vec::new(),
        is_secret: false,
    };
    validation.object(properties, members, &Path::default());
    validation.failures
}

struct Validation<'a> {
    types: &'a Types,
    failures: Vec<Failure>,
    /// Whether the value that is looked at is a secret, which no reason may show.
    is_secret: bool,
}

impl Validation<'_> {
    fn fail(&mut self, path: &Path, reason: String) {
        self.failures.push(Failure {
            property: path.to_string(),
            reason,
        });
    }

    fn object(&mut self, properties: &[Property], members: &Members, path: &Path) {
        for property in properties {
            let inside = path.key(&property.name);
            match members.get(&property.name) {
                None | Some(Value::Null) if property.is_required => {
                    self.fail(
                        &inside,
                        format!("the property `{}` is required", property.name),
                    );
                }
                None | Some(Value::Null) => {}
                Some(value) => {
                    let around = self.is_secret;
                    self.is_secret |= property.is_secret;
                    self.value(&property.of, value, &inside);
                    self.is_secret = around;
                }
            }
        }
        for name in members.keys() {
            // Names with two underscores are the engine's own.
            let is_known = properties.iter().any(|it| it.name == *name);
            if !is_known && !name.starts_with("__") {
                let known: Vec<_> = properties.iter().map(|it| it.name.as_str()).collect();
                let known = match known.as_slice() {
                    [] => "it has no properties".to_owned(),
                    known => format!("there are: {}", known.join(", ")),
                };
                self.fail(
                    &path.key(name),
                    format!("there is no property `{name}`; {known}"),
                );
            }
        }
    }

    fn value(&mut self, of: &Type, value: &Value, path: &Path) {
        if let Value::Secret(inner) = value {
            let around = std::mem::replace(&mut self.is_secret, true);
            self.value(of, inner, path);
            self.is_secret = around;
            return;
        }
        match (of, value) {
            (_, Value::Unknown)
            | (Type::Any, _)
            | (Type::Boolean, Value::Bool(_))
            | (Type::Number, Value::Number(_))
            | (Type::String, Value::String(_))
            | (Type::AssetOrArchive, Value::Asset(_) | Value::Archive(_))
            | (Type::Archive, Value::Archive(_)) => {}
            (Type::Integer, Value::Number(number)) if number.fract() == 0.0 => {}
            (Type::List(of), Value::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(of, item, &path.item(index));
                }
            }
            (Type::Map(of), Value::Map(members)) => {
                for (key, member) in members {
                    self.value(of, member, &path.key(key));
                }
            }
            (Type::Named(token), value) => self.named(token, value, path),
            (Type::Union(members), value) => self.union(members, value, path),
            (Type::TaggedUnion { tag, members }, Value::Map(object)) => {
                self.tagged(tag, members, object, path);
            }
            _ => {
                let expected = self.name_of(of);
                self.fail(path, format!("expected {expected}, found {}", value.kind()));
            }
        }
    }

    /// The type as an error names it.
    fn name_of(&self, of: &Type) -> String {
        let name = match of {
            Type::Boolean => "a boolean",
            Type::Integer => "an integer",
            Type::Number => "a number",
            Type::String => "a string",
            Type::Any => "anything",
            Type::AssetOrArchive => "an asset or an archive",
            Type::Archive => "an archive",
            Type::List(_) => "a list",
            Type::Map(_) | Type::TaggedUnion { .. } => "an object",
            Type::Named(token) => match self.types.get(token) {
                Some(Definition::Enum { values, .. }) => {
                    let known: Vec<_> = values.iter().map(|it| it.value.as_str()).collect();
                    return format!("one of {}", known.join(", "));
                }
                _ => "an object",
            },
            Type::Union(members) => {
                let names: Vec<_> = members.iter().map(|of| self.name_of(of)).collect();
                return names.join(" or ");
            }
        };
        name.to_owned()
    }

    /// Looks for a type that the value fits. A value that fits none has the problems inside it with the first type whose
    /// shape it has, or else it has none of the shapes.
    fn union(&mut self, members: &[Type], value: &Value, path: &Path) {
        let before = self.failures.len();
        let here = path.to_string();
        let mut inside = None;
        for of in members {
            self.value(of, value, path);
            let found = self.failures.split_off(before);
            if found.is_empty() {
                return;
            }
            if inside.is_none() && found.iter().all(|it| it.property != here) {
                inside = Some(found);
            }
        }
        let Some(found) = inside else {
            let names: Vec<_> = members.iter().map(|of| self.name_of(of)).collect();
            let expected = names.join(" or ");
            return self.fail(path, format!("expected {expected}, found {}", value.kind()));
        };
        self.failures.extend(found);
    }

    /// An object of the type that its tag names.
    fn tagged(&mut self, tag: &str, members: &[(String, Type)], object: &Members, path: &Path) {
        let text = match object.get(tag).map(exposed) {
            // A preview does not know yet which type it is.
            Some(Value::Unknown) => return,
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        if let Some((_, of)) = members.iter().find(|(name, _)| *name == text) {
            return self.value(of, &Value::Map(object.clone()), path);
        }
        let known: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
        let reason = format!("expected one of {}", known.join(", "));
        self.fail(&path.key(tag), reason);
    }

    fn named(&mut self, token: &str, value: &Value, path: &Path) {
        match (self.types.get(token), value) {
            (Some(Definition::Object { properties, .. }), Value::Map(members)) => {
                self.object(properties, members, path);
            }
            (Some(Definition::Object { .. }), value) => {
                self.fail(path, format!("expected an object, found {}", value.kind()));
            }
            (Some(Definition::Enum { values, .. }), value) => {
                let fits = value
                    .as_str()
                    .is_some_and(|text| values.iter().any(|it| it.value == text));
                if !fits {
                    let known: Vec<_> = values.iter().map(|it| it.value.as_str()).collect();
                    let found = value
                        .as_str()
                        .filter(|_| !self.is_secret)
                        .map_or_else(|| value.kind().to_owned(), |text| format!("`{text}`"));
                    self.fail(
                        path,
                        format!("expected one of {}, found {found}", known.join(", ")),
                    );
                }
            }
            (None, _) => self.fail(
                path,
                format!("the provider does not know its type `{token}`"),
            ),
        }
    }
}
