//! Configuration of a stack.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_value::Value;

/// Configuration of a stack for one operation: settings by key, some of them secret.
///
/// Keys are `namespace:name`, such as `aws:region`; a name alone belongs to the project. Structured values are JSON.
///
/// ```
/// use plumb_automation::Config;
///
/// let config = Config::new().set("size", "3").set_secret("db:password", "hunter2");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    settings: BTreeMap<String, Value>,
}

impl Config {
    /// No settings.
    pub fn new() -> Self {
        Config::default()
    }

    /// Adds a setting.
    #[must_use]
    pub fn set(mut self, key: impl Into<String>, value: impl Into<EcoString>) -> Self {
        let value: EcoString = value.into();
        self.settings.insert(key.into(), Value::from(value));
        self
    }

    /// Adds a secret setting: programs get it as a secret, and no message shows it.
    #[must_use]
    pub fn set_secret(mut self, key: impl Into<String>, value: impl Into<EcoString>) -> Self {
        let value: EcoString = value.into();
        let value = Value::secret(Value::from(value));
        self.settings.insert(key.into(), value);
        self
    }

    /// Settings with the namespaces in their keys.
    pub(crate) fn qualified(&self, project: &str) -> BTreeMap<EcoString, Value> {
        let qualified = |(key, value): (&String, &Value)| {
            let key = if key.contains(':') {
                EcoString::from(key.as_str())
            } else {
                ecow::eco_format!("{project}:{key}")
            };
            (key, value.clone())
        };
        self.settings.iter().map(qualified).collect()
    }
}

/// Text of a setting, without the mark of a secret.
pub(crate) fn plain(value: &Value) -> String {
    value
        .without_secrets()
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_without_a_namespace_belong_to_the_project() {
        let config = Config::new()
            .set("size", "3")
            .set_secret("db:password", "x");
        let qualified = config.qualified("shop");
        assert_eq!(qualified.get("shop:size"), Some(&Value::from("3")));
        let secret = Value::secret(Value::from("x"));
        assert_eq!(qualified.get("db:password"), Some(&secret));
    }

    #[test]
    fn secret_settings_are_not_in_debug_output() {
        let config = Config::new().set_secret("password", "hunter2");
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
