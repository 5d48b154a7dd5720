//! Checks inputs against the schema.
//!
//! A value that a preview does not know fits everywhere. All problems are found, each with the path of its property.

use plumb::Value;
use plumb::provider::Members;

use super::{Definition, Property, Type, Types};
use crate::values::Path;

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
        let expected = match (of, value) {
            (_, Value::Unknown)
            | (Type::Any, _)
            | (Type::Boolean, Value::Bool(_))
            | (Type::Number, Value::Number(_))
            | (Type::String, Value::String(_))
            | (Type::AssetOrArchive, Value::Asset(_) | Value::Archive(_))
            | (Type::Archive, Value::Archive(_)) => return,
            (Type::Integer, Value::Number(number)) if number.fract() == 0.0 => return,
            (Type::List(of), Value::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(of, item, &path.item(index));
                }
                return;
            }
            (Type::Map(of), Value::Map(members)) => {
                for (key, member) in members {
                    self.value(of, member, &path.key(key));
                }
                return;
            }
            (Type::Named(token), value) => return self.named(token, value, path),
            (Type::Boolean, _) => "a boolean",
            (Type::Integer, _) => "an integer",
            (Type::Number, _) => "a number",
            (Type::String, _) => "a string",
            (Type::AssetOrArchive, _) => "an asset or an archive",
            (Type::Archive, _) => "an archive",
            (Type::List(_), _) => "a list",
            (Type::Map(_), _) => "an object",
        };
        self.fail(path, format!("expected {expected}, found {}", value.kind()));
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
