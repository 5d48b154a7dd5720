//! Values and components for plugins: for the crates `plumb-provider` and `plumb-policy`.

mod construct;

use std::collections::BTreeMap;

use futures_util::FutureExt as _;
use prost_types::Struct;

pub use construct::{
    Constructed, Construction, Deployment, Passed, Returned, SELF, call, construct,
};

use crate::wire::{Decoder, Encoder};
use crate::{Error, Mismatch, Result, Value};

/// Named values.
pub type Members = BTreeMap<String, Value>;

/// Reads an object that the engine sent to a provider, with all markers where they are.
pub fn decode(members: Option<Struct>) -> Result<Members> {
    Decoder::for_provider(members)
}

/// Writes an object for the engine; nothing in it may be an output or a resource.
pub fn encode(members: &Members) -> Result<Struct> {
    // Only outputs and resources are waited for.
    let encoded = Encoder::default()
        .members(members, |_, _| {})
        .now_or_never();
    encoded.unwrap_or_else(|| {
        Err(Error::at(
            "a provider answered with an output, which is there later",
            None,
        ))
    })
}

/// The values without the markers of secrets.
pub fn exposed_members(members: &Members) -> Members {
    let members = members.iter();
    members
        .map(|(name, value)| (name.clone(), exposed(value)))
        .collect()
}

/// The value without the markers of secrets.
pub fn exposed(value: &Value) -> Value {
    match value {
        Value::Secret(inner) => exposed(inner),
        Value::List(items) => Value::List(items.iter().map(exposed).collect()),
        Value::Map(members) => Value::Map(exposed_members(members)),
        other => other.clone(),
    }
}

/// Whether something inside is a secret.
pub fn contains_secret(value: &Value) -> bool {
    match value {
        Value::Secret(_) => true,
        Value::List(items) => items.iter().any(contains_secret),
        Value::Map(members) => members.values().any(contains_secret),
        _ => false,
    }
}

/// The text about a value of another type than expected; a problem of a secret could show it, and is not told.
pub fn describe(mismatch: &Mismatch, is_secret: bool) -> String {
    if is_secret {
        format!("{}: it has another type than expected", mismatch.path())
    } else {
        mismatch.to_string()
    }
}
