//! Secrets inside values: finding them, taking their text, putting them back.

use std::sync::Arc;

use plumb_value::{PropertyMap, Value};

use super::write::{Secrets, plain_text};
use super::{WireValue, with_stack};
use crate::secrets::Plaintext;

/// Whether a value holds anything that is written differently from how it is kept: a secret, or an output.
pub(crate) fn needs_sealing(value: &Value) -> bool {
    match value {
        Value::Secret(_) | Value::Output(_) => true,
        Value::Array(values) => with_stack(|| values.iter().any(needs_sealing)),
        Value::Object(map) => with_stack(|| map.values().any(needs_sealing)),
        _ => false,
    }
}

/// Whether a value holds a byte string, inside secrets or outside.
pub(crate) fn contains_bytes(value: &Value) -> bool {
    match value {
        Value::Bytes(_) => true,
        Value::Array(values) => with_stack(|| values.iter().any(contains_bytes)),
        Value::Object(map) => with_stack(|| map.values().any(contains_bytes)),
        Value::Secret(inner) => with_stack(|| contains_bytes(inner)),
        Value::Output(output) => with_stack(|| output.value.as_ref().is_some_and(contains_bytes)),
        _ => false,
    }
}

/// A step on the way to a secret inside a value.
#[derive(Clone)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The value with `on_secret` applied to the content of every outermost secret, in order; outputs become plain values.
/// The closure gets the way to the secret and returns what the secret shall become.
pub(crate) fn rebuild<'a, E>(
    value: &'a Value,
    path: &mut Vec<Step<'a>>,
    on_secret: &mut impl FnMut(&[Step<'a>], &Value) -> Result<Value, E>,
) -> Result<Value, E> {
    match value {
        Value::Secret(inner) => on_secret(path, inner),
        Value::Output(output) => {
            let plain = output.value.as_ref().unwrap_or(&Value::UNKNOWN);
            if output.secret {
                on_secret(path, plain)
            } else {
                with_stack(|| rebuild(plain, path, on_secret))
            }
        }
        Value::Array(values) => with_stack(|| {
            let mut rebuilt = Vec::with_capacity(values.len());
            for (index, value) in values.iter().enumerate() {
                path.push(Step::Index(index));
                rebuilt.push(rebuild(value, path, on_secret)?);
                path.pop();
            }
            Ok(Value::from(rebuilt))
        }),
        Value::Object(map) => with_stack(|| {
            let mut rebuilt = PropertyMap::new();
            for (key, value) in map.iter() {
                path.push(Step::Key(key.as_str()));
                rebuilt.insert(key.clone(), rebuild(value, path, on_secret)?);
                path.pop();
            }
            Ok(Value::from(rebuilt))
        }),
        other => Ok(other.clone()),
    }
}

/// The text to encrypt for the content of a secret.
pub(crate) fn plaintext_of(inner: &Value) -> Plaintext {
    Plaintext::new(plain_text(inner, Secrets::Inner))
}

/// The content of a secret from its decrypted text.
pub(crate) fn value_of_plaintext(text: &str) -> Result<Value, serde_json::Error> {
    let WireValue(value) = crate::file::from_json(text)?;
    open_value(value)
}

/// Opens the secrets inside a decrypted value: their text is JSON, whatever member it stood in.
pub(crate) fn open_value(value: Value) -> Result<Value, serde_json::Error> {
    if !needs_sealing(&value) {
        return Ok(value);
    }
    rebuild(&value, &mut Vec::new(), &mut |_, inner| {
        let opened = match inner {
            Value::String(text) => value_of_plaintext(text)?,
            Value::Bytes(text) => value_of_plaintext(&String::from_utf8_lossy(text))?,
            other => other.clone(),
        };
        Ok(Value::Secret(Arc::new(opened)))
    })
}
