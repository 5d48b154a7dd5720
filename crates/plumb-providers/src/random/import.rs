//! Import of existing values.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use plumb_resource::ResourceId;
use plumb_resource::provider::{ProviderError, ReadResponse};
use plumb_value::{PropertyMap, Value};

use super::generate::{self, finish};
use super::plan;
use super::spec::{Resource, Spec};

/// Resource with the value encoded in the import id `id`.
pub(super) fn import(spec: &Spec, id: &str) -> Result<ReadResponse, ProviderError> {
    let ((id, computed), inputs) = match spec.kind {
        Resource::Bytes => imported_bytes(id)?,
        Resource::Id => imported_identifier(id)?,
        Resource::Integer => imported_integer(id)?,
        Resource::Password => (generate::password(id.to_owned())?, of_length(id)),
        Resource::String => (generate::named_result(id.to_owned()), of_length(id)),
        Resource::Uuid | Resource::Uuid4 | Resource::Uuid7 => imported_uuid(id)?,
        Resource::Pet | Resource::Shuffle => {
            return Err(ProviderError::clean(format!(
                "{} resources can not be imported",
                spec.token
            )));
        }
    };
    let mut outputs = plan::plan(spec, &inputs).map_err(|failures| super::failed(&failures))?;
    let inputs = said(&outputs);
    let generated = finish(spec, id, computed);
    outputs.extend(generated.outputs);
    Ok(ReadResponse {
        id: ResourceId::Known(generated.id),
        inputs: Some(Arc::new(inputs)),
        outputs: Some(Arc::new(outputs)),
        refresh_before_update: false,
    })
}

type Imported = ((ecow::EcoString, PropertyMap), PropertyMap);

/// Inputs for the import, without those that are zero, false or empty.
fn said(planned: &PropertyMap) -> PropertyMap {
    let mut inputs = planned.clone();
    inputs.retain(|_, value| {
        !matches!(value, Value::Number(0.0) | Value::Bool(false)) && value.as_str() != Some("")
    });
    inputs
}

fn of_length(text: &str) -> PropertyMap {
    PropertyMap::new().with("length", text.chars().count() as f64)
}

fn refused(what: &str, error: impl std::fmt::Display) -> ProviderError {
    ProviderError::clean(format!("Import Random {what} Error: {error}"))
}

fn imported_bytes(id: &str) -> Result<Imported, ProviderError> {
    let bytes = STANDARD.decode(id).map_err(|error| {
        refused(
            "bytes",
            format!("There was an error during the parsing of the base64 string: {error}"),
        )
    })?;
    let inputs = PropertyMap::new().with("length", bytes.len() as f64);
    Ok((generate::bytes(&bytes), inputs))
}

/// Parses `{id}` or `{prefix},{id}`.
fn imported_identifier(id: &str) -> Result<Imported, ProviderError> {
    let (prefix, encoded) = id.rsplit_once(',').unwrap_or(("", id));
    let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|error| {
        refused(
            "ID",
            format!("While attempting to import a random id there was a decoding error: {error}"),
        )
    })?;
    let inputs = PropertyMap::new()
        .with("byteLength", bytes.len() as f64)
        .with("prefix", prefix);
    Ok((generate::identifier(&bytes, prefix), inputs))
}

/// Parses `{result},{min},{max}` or `{result},{min},{max},{seed}`.
fn imported_integer(id: &str) -> Result<Imported, ProviderError> {
    let parts: Vec<&str> = id.split(',').collect();
    let ([result, min, max] | [result, min, max, _]) = parts[..] else {
        let usage =
            "Invalid import usage: expecting {result},{min},{max} or {result},{min},{max},{seed}";
        return Err(refused("Integer", usage));
    };
    let number = |what: &str, text: &str| {
        text.parse::<i64>()
            .map(|number| number as f64)
            .map_err(|error| {
                refused(
                    "Integer",
                    format!("The {what} supplied could not be parsed as an integer: {error}"),
                )
            })
    };
    let seed = parts.get(3).copied().unwrap_or_default();
    let outputs = PropertyMap::new().with("result", number("value", result)?);
    let inputs = PropertyMap::new()
        .with("min", number("min value", min)?)
        .with("max", number("max value", max)?)
        .with("seed", seed);
    Ok(((result.into(), outputs), inputs))
}

fn imported_uuid(id: &str) -> Result<Imported, ProviderError> {
    let uuid = uuid::Uuid::parse_str(id).map_err(|error| {
        refused(
            "UUID",
            format!("There was an error during the parsing of the UUID: {error}"),
        )
    })?;
    Ok((generate::named_result(uuid.to_string()), PropertyMap::new()))
}
