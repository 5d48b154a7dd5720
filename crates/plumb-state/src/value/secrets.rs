//! Traversal, extraction and replacement of secrets inside values.

use std::sync::Arc;

use plumb_value::{PropertyMap, Value};

use super::write::{Secrets, plain_text};
use super::{WireValue, with_stack};
use crate::secrets::Plaintext;

/// Whether a value contains a secret or an output, which are written in another form than in memory.
pub(crate) fn needs_sealing(value: &Value) -> bool {
    match value {
        Value::Secret(_) | Value::Output(_) => true,
        Value::Array(values) => with_stack(|| values.iter().any(needs_sealing)),
        Value::Object(map) => with_stack(|| map.values().any(needs_sealing)),
        _ => false,
    }
}

/// Whether a value, also inside secrets, contains a byte string.
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

/// A segment of the path to a secret inside a value.
#[derive(Clone)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Applies `on_secret` to the content of every outermost secret, in order, and replaces outputs by plain values. The
/// closure gets the path to the secret and returns its replacement.
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

/// Plaintext to encrypt for the content of a secret.
pub(crate) fn plaintext_of(inner: &Value) -> Plaintext {
    Plaintext::new(plain_text(inner, Secrets::Inner))
}

/// Content of a secret from its decrypted text.
pub(crate) fn value_of_plaintext(text: &str) -> Result<Value, serde_json::Error> {
    let WireValue(value) = crate::file::from_json(text)?;
    open_value(value)
}

/// Parses the secrets inside a decrypted value, whose text is JSON whichever member holds it.
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
