//! Restoring secrets that a provider or a plugin returned as plain values, or as a part of other texts.

use std::sync::Arc;

use ecow::EcoString;

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

/// Minimum length in characters of a secret text that is looked for in other texts. Shorter ones occur in ordinary text.
const SHORTEST: usize = 3;

impl PropertyMap {
    /// Marks as secret the new texts that contain a secret text of `former`. Values that are as in `former`, at the same
    /// place, stay as they are.
    pub fn hide_derived(&mut self, former: &PropertyMap) {
        let mut secrets = Vec::new();
        for value in former.values() {
            value.any(&mut |inner| {
                if inner.is_secret() {
                    inner.collect_texts(&mut secrets);
                }
                false
            });
        }
        if !secrets.is_empty() {
            self.hide_texts(Some(former), &secrets);
        }
    }

    fn hide_texts(&mut self, former: Option<&PropertyMap>, secrets: &[EcoString]) {
        for (key, value) in self.iter_mut() {
            value.hide_texts(former.and_then(|former| former.get(key.as_str())), secrets);
        }
    }
}

impl Value {
    fn collect_texts(&self, texts: &mut Vec<EcoString>) {
        self.any(&mut |inner| {
            if let Value::String(text) = inner
                && text.chars().count() >= SHORTEST
            {
                texts.push(text.clone());
            }
            false
        });
    }

    fn hide_texts(&mut self, former: Option<&Value>, secrets: &[EcoString]) {
        if former == Some(self) {
            return;
        }
        match (&mut *self, former) {
            (Value::String(text), _) if secrets.iter().any(|secret| text.contains(&**secret)) => {
                *self = Value::secret(Value::String(std::mem::take(text)));
            }
            (Value::Array(items), former) => {
                for (at, item) in Arc::make_mut(items).iter_mut().enumerate() {
                    let former = match former {
                        Some(Value::Array(former)) => former.get(at),
                        _ => None,
                    };
                    item.hide_texts(former, secrets);
                }
            }
            (Value::Object(map), former) => {
                let former = match former {
                    Some(Value::Object(former)) => Some(&**former),
                    _ => None,
                };
                Arc::make_mut(map).hide_texts(former, secrets);
            }
            _ => {}
        }
    }

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

    #[test]
    fn new_texts_that_contain_a_secret_are_hidden() {
        let hidden = |text: &str| Value::secret(text.into());
        let former = PropertyMap::new()
            .with("secret", hidden("hush"))
            .with("short", hidden("ab"))
            .with("plain", "hush as before")
            .with("list", Value::array(["hush as before".into()]));
        let mut found = former
            .clone()
            .with("derived", "with hush inside")
            .with("other", "with ab inside")
            .with("inside", inside("hush".into(), "p"))
            .with(
                "list",
                Value::array(["hush as before".into(), "a hush".into()]),
            );
        let expected = found
            .clone()
            .with("derived", hidden("with hush inside"))
            .with("inside", inside(hidden("hush"), "p"))
            .with(
                "list",
                Value::array(["hush as before".into(), hidden("a hush")]),
            );
        found.hide_derived(&former);
        assert_eq!(found, expected);
        let unchanged = expected.clone();
        found.hide_derived(&former);
        assert_eq!(found, unchanged, "a second time changes nothing");
    }
}
