//! Values of properties that a program leaves out.

use plumb::Value;
use plumb::provider::Members;

use super::{Property, Type, Types};

/// Reads a variable of the environment.
pub(crate) type Environment = fn(&str) -> Option<String>;

/// Adds the defaults of properties without a value: first those of the environment, then those of the schema. Objects that
/// are not there are not made.
pub(crate) fn add_defaults(
    types: &Types,
    properties: &[Property],
    members: &mut Members,
    environment: Environment,
) {
    for property in properties {
        match members.get_mut(&property.name) {
            None | Some(Value::Null) => {
                if let Some(value) = default_of(property, environment) {
                    members.insert(property.name.clone(), value);
                }
            }
            Some(value) => add_inside(types, &property.of, value, environment),
        }
    }
}

fn add_inside(types: &Types, of: &Type, value: &mut Value, environment: Environment) {
    match (of, value) {
        (of, Value::Secret(inner)) => add_inside(types, of, inner, environment),
        (Type::List(of), Value::List(items)) => {
            for item in items {
                add_inside(types, of, item, environment);
            }
        }
        (Type::Map(of), Value::Map(members)) => {
            for member in members.values_mut() {
                add_inside(types, of, member, environment);
            }
        }
        (of, Value::Map(members)) => {
            if let Some(properties) = types.properties_of(of, members) {
                add_defaults(types, properties, members, environment);
            }
        }
        _ => {}
    }
}

fn default_of(property: &Property, environment: Environment) -> Option<Value> {
    let mut names = property.environment.iter();
    let found = names.find_map(|name| environment(name).filter(|text| !text.is_empty()));
    match found {
        Some(text) => Some(parse(&property.of, text)),
        None => property.default.clone(),
    }
}

/// The value that a text stands for; one that stands for none stays text, so that the check names it.
fn parse(of: &Type, text: String) -> Value {
    if matches!(of, Type::String | Type::Any) {
        return Value::String(text);
    }
    Value::from_json(&text).unwrap_or(Value::String(text))
}

/// Configuration reaches a provider as texts: those of other properties than texts are JSON.
pub(crate) fn parse_texts(properties: &[Property], members: &mut Members) {
    for property in properties {
        if let Some(value) = members.get_mut(&property.name) {
            parse_text(&property.of, value);
        }
    }
}

fn parse_text(of: &Type, value: &mut Value) {
    match value {
        Value::Secret(inner) => parse_text(of, inner),
        Value::String(text) => *value = parse(of, std::mem::take(text)),
        _ => {}
    }
}
