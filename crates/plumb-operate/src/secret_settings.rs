//! Settings of a stack that stand for secrets of generated programs.

use std::collections::BTreeMap;

use plumb_project::config::{Key, KeyPath, NewValue, Value};
use plumb_yaml::imported::Setting;

use crate::Error;
use crate::context::{StackSecrets, StackSettings};

/// The secrets in the settings of a project, by value: the names of the settings.
pub fn known_secrets(
    settings: &StackSettings,
    secrets: &StackSecrets,
    project: &str,
) -> Result<BTreeMap<String, String>, Error> {
    let mut known = BTreeMap::new();
    for (key, value) in settings.file.config().iter() {
        if let Value::Secure(ciphertext) = value
            && key.namespace() == project
        {
            let text = secrets.decrypt(ciphertext)?;
            known.insert(text.expose().to_owned(), key.name().to_owned());
        }
    }
    Ok(known)
}

/// Adds settings to a file and saves it.
pub fn save_secrets(
    settings: &mut StackSettings,
    secrets: &StackSecrets,
    project: &str,
    added: &[Setting],
) -> Result<(), Error> {
    let mut config = settings.file.config().clone();
    for setting in added {
        let path = KeyPath {
            key: Key::parse_in(&setting.name, project)?,
            rest: Vec::new(),
        };
        let value = NewValue::Secure(secrets.encrypt(&setting.value)?);
        config.set_path(&path, value)?;
    }
    settings.file.set_config(&config);
    settings.save(Some(secrets))
}
