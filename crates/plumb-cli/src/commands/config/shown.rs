//! Settings as commands show them.

use plumb_project::config::{Tree, Value};
use plumb_secrets::Error as SecretsError;
use serde_json::{Map, Value as Json};

use crate::Error;
use crate::context::StackSecrets;

/// What stands for a secret that is not shown.
pub(super) const BLINDED: &str = "[secret]";

/// What happens to secrets.
#[derive(Clone, Copy)]
pub(super) enum Secrets<'s> {
    /// They are hidden.
    Hidden,
    /// They are decrypted.
    Shown(&'s StackSecrets),
}

/// A value as one text: scalars as they are, objects as compact JSON.
pub(super) fn text(value: &Value, secrets: Secrets<'_>) -> Result<String, Error> {
    Ok(value.try_reveal(&mut |ciphertext| reveal(ciphertext, secrets))?)
}

/// A value as a JSON object with `value`, `objectValue` and `secret`.
pub(super) fn json(value: &Value, secrets: Secrets<'_>) -> Result<Json, Error> {
    let mut object = Map::new();
    let is_secret = value.is_secret();
    if !is_secret || matches!(secrets, Secrets::Shown(_)) {
        object.insert("value".to_owned(), Json::from(text(value, secrets)?));
        if let Value::Object(tree) = value {
            object.insert("objectValue".to_owned(), object_json(tree, secrets)?);
        }
    }
    object.insert("secret".to_owned(), Json::from(is_secret));
    Ok(Json::Object(object))
}

fn object_json(tree: &Tree, secrets: Secrets<'_>) -> Result<Json, Error> {
    Ok(tree
        .try_reveal(&mut |ciphertext| reveal(ciphertext, secrets))?
        .to_json())
}

fn reveal(ciphertext: &str, secrets: Secrets<'_>) -> Result<String, SecretsError> {
    match secrets {
        Secrets::Hidden => Ok(BLINDED.to_owned()),
        Secrets::Shown(secrets) => secrets
            .decrypt(ciphertext)
            .map(|text| text.expose().to_owned()),
    }
}
