//! Corrections of answers from providers that do not support secrets (`protocol.md` 3.1).

use std::sync::Arc;

use plumb_value::{PropertyMap, Value};

/// Marks outputs as secret whose inputs are secret.
///
/// For each key in both maps: objects are processed key by key; any other output becomes secret as a whole if its input
/// contains a secret anywhere.
pub fn annotate_secrets(outputs: &mut PropertyMap, inputs: &PropertyMap) {
    for (key, output) in outputs.iter_mut() {
        let Some(input) = inputs.get(key.as_str()) else {
            continue;
        };
        match (&mut *output, input) {
            (Value::Object(inner_outputs), Value::Object(inner_inputs))
                if input.contains_secrets() =>
            {
                annotate_secrets(Arc::make_mut(inner_outputs), inner_inputs);
            }
            (Value::Object(_), Value::Object(_)) => {}
            _ if input.contains_secrets() => make_secret(output),
            _ => {}
        }
    }
}

/// Marks every top-level property as secret.
pub fn mark_all_secret(properties: &mut PropertyMap) {
    for (_, value) in properties.iter_mut() {
        make_secret(value);
    }
}

fn make_secret(value: &mut Value) {
    if !value.is_secret() {
        let plain = std::mem::replace(value, Value::Null);
        *value = Value::secret(plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(entries: &[(&str, Value)]) -> PropertyMap {
        entries
            .iter()
            .map(|(key, value)| ((*key).into(), value.clone()))
            .collect()
    }

    #[test]
    fn secretness_follows_the_inputs() {
        let secret = || Value::secret("s".into());
        let inputs = object(&[
            ("plain", "a".into()),
            ("secret", secret()),
            ("list", Value::array([Value::Null, secret()])),
            (
                "nested",
                object(&[("secret", secret()), ("plain", 1.0.into())]).into(),
            ),
            ("changed", object(&[("secret", secret())]).into()),
            ("gone", secret()),
        ]);
        let mut outputs = object(&[
            ("plain", "a".into()),
            ("secret", "s".into()),
            ("list", Value::array([Value::Null, "s".into()])),
            (
                "nested",
                object(&[("secret", "s".into()), ("plain", 1.0.into())]).into(),
            ),
            ("changed", "text".into()),
            ("own", "x".into()),
        ]);
        annotate_secrets(&mut outputs, &inputs);
        let expected = object(&[
            ("plain", "a".into()),
            ("secret", secret()),
            (
                "list",
                Value::secret(Value::array([Value::Null, "s".into()])),
            ),
            (
                "nested",
                object(&[("secret", secret()), ("plain", 1.0.into())]).into(),
            ),
            ("changed", Value::secret("text".into())),
            ("own", "x".into()),
        ]);
        assert_eq!(outputs, expected);
        annotate_secrets(&mut outputs, &inputs);
        assert_eq!(outputs, expected, "a second time changes nothing");
    }

    #[test]
    fn marking_all_leaves_secrets_as_they_are() {
        let mut map = object(&[("a", 1.0.into()), ("b", Value::secret("s".into()))]);
        mark_all_secret(&mut map);
        assert_eq!(
            map,
            object(&[
                ("a", Value::secret(1.0.into())),
                ("b", Value::secret("s".into()))
            ])
        );
    }
}
