//! Restoring secrets that a provider or a plugin returned as plain values.

use std::sync::Arc;

use crate::{PropertyMap, Value};

impl PropertyMap {
    /// Marks as secret the values that are secret in `known`, under the same keys.
    ///
    /// 1. A value with the same content as the known value is replaced by it, so that the secrets inside stay where they
    ///    were.
    /// 2. Objects are processed key by key.
    /// 3. Any other value becomes secret as a whole, because it may have been made from a secret.
    pub fn hide_like(&mut self, known: &PropertyMap) {
        for (key, value) in self.iter_mut() {
            if let Some(known) = known.get(key.as_str())
                && known.contains_secrets()
            {
                value.hide_like(known);
            }
        }
    }
}

impl Value {
    fn hide_like(&mut self, known: &Value) {
        match (&mut *self, known) {
            (Value::Object(own), Value::Object(known)) => Arc::make_mut(own).hide_like(known),
            (Value::Secret(_), _) => {}
            (own, known) if own.without_secrets() == known.without_secrets() => {
                *own = known.clone();
            }
            (own, _) => {
                let bare = std::mem::replace(own, Value::Null);
                *own = Value::secret(bare);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Value {
        Value::secret("s".into())
    }

    fn list(first: &str) -> Value {
        Value::array([first.into(), secret()])
    }

    fn inside(lost: Value, plain: &str) -> Value {
        PropertyMap::new()
            .with("lost", lost)
            .with("plain", plain)
            .into()
    }

    #[test]
    fn what_is_known_to_be_secret_is_hidden() {
        let known = PropertyMap::new()
            .with("other", secret())
            .with("same", list("a"))
            .with("changed", list("a"))
            .with("inside", inside(secret(), "p"))
            .with("gone", secret());
        let mut found = PropertyMap::new()
            .with("other", "text")
            .with("same", Value::array(["a".into(), "s".into()]))
            .with("changed", list("b"))
            .with("inside", inside("t".into(), "q"))
            .with("new", "n");
        found.hide_like(&known);
        let expected = PropertyMap::new()
            .with("other", Value::secret("text".into()))
            .with("same", list("a"))
            .with("changed", Value::secret(list("b")))
            .with("inside", inside(Value::secret("t".into()), "q"))
            .with("new", "n");
        assert_eq!(found, expected);
        found.hide_like(&known);
        assert_eq!(found, expected, "a second time changes nothing");
    }
}
