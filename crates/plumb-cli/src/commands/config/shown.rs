//! Settings in the output of commands.

use plumb_operate::Error;
use plumb_operate::context::StackSecrets;
use plumb_project::config::{Tree, Value};
use plumb_secrets::Error as SecretsError;
use serde::Serialize;
use serde_json::Value as Json;

/// Placeholder for a hidden secret.
pub(super) const BLINDED: &str = "[secret]";

/// Treatment of secrets.
#[derive(Clone, Copy)]
pub(super) enum Secrets<'s> {
    /// Replaced by a placeholder.
    Hidden,
    /// Decrypted.
    Shown(&'s StackSecrets),
}

/// Text of a value: scalars as text, objects as compact JSON.
pub(super) fn text(value: &Value, secrets: Secrets<'_>) -> Result<String, Error> {
    Ok(value.try_reveal(&mut |ciphertext| reveal(ciphertext, secrets))?)
}

/// A value as JSON has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object_value: Option<Json>,
    pub(crate) secret: bool,
}

/// A value as a JSON object.
pub(super) fn json(value: &Value, secrets: Secrets<'_>) -> Result<Shown, Error> {
    let mut shown = Shown {
        value: None,
        object_value: None,
        secret: value.is_secret(),
    };
    if !shown.secret || matches!(secrets, Secrets::Shown(_)) {
        shown.value = Some(text(value, secrets)?);
        if let Value::Object(tree) = value {
            shown.object_value = Some(object_json(tree, secrets)?);
        }
    }
    Ok(shown)
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
