//! File formats: deployments and checkpoints of every version (`state.md` 1).
//!
//! [`parse_checkpoint`] and [`parse_deployment`] read the two wrappers and return a [`Deployment`], migrated to the
//! current version and with secrets still encrypted. [`parse_root`] reads only the outputs of the stack.
//! [`EncryptedSnapshot::checkpoint`] and its neighbours write.
//!
//! [`EncryptedSnapshot::checkpoint`]: crate::EncryptedSnapshot::checkpoint

mod convert;
mod document;
mod features;
mod object;
mod paths;
mod root;
mod time;
mod wire;
mod write;

use plumb_value::{MAX_DEPTH, json_depth};
use serde::Deserialize;
use serde::de::DeserializeSeed;

pub use convert::ResourceError;
pub(crate) use convert::timeouts;
pub use document::{
    Checkpoint, Deployment, ParseError, PlaintextSecret, parse_body, parse_checkpoint,
    parse_deployment,
};
pub use features::FEATURES;
pub use root::{RootState, parse_root, parse_root_at_start};
pub use write::{Layout, empty_checkpoint, no_deployment};

pub(crate) use document::{extension, operation, resource, secrets_provider, snippet};
pub(crate) use object::{Text, canonical, wire_object};
pub(crate) use wire::{
    WireExtension, WireOperation, WireResource, WireSecretsProvider, WireSnippet, WireTimeouts,
};
pub(crate) use write::{
    Aliases, write_body, write_extension, write_manifest, write_operation, write_resource,
    write_secrets_provider, write_snippet, write_timeout_members,
};

/// Maximum depth that the JSON parser handles on the given stack.
const SHALLOW: usize = 100;

/// Parses a value in the form of state files, with plaintext secrets, as users write it.
pub fn parse_value(text: &str) -> Result<plumb_value::Value, serde_json::Error> {
    crate::value::value_of_plaintext(text)
}

/// Parses JSON text of any reasonable depth.
pub(crate) fn from_json<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, serde_json::Error> {
    // Deep files are rare, so try the normal parser first; its failure may be caused by the depth.
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if json_depth(text) <= SHALLOW {
        return Err(error);
    }
    from_json_seed(text, std::marker::PhantomData)
}

/// Parses JSON text with a seed, which is consumed.
pub(crate) fn from_json_seed<'de, S: DeserializeSeed<'de>>(
    text: &'de str,
    seed: S,
) -> Result<S::Value, serde_json::Error> {
    let depth = json_depth(text);
    if depth > MAX_DEPTH {
        return Err(serde::de::Error::custom(format_args!(
            "nesting is deeper than {MAX_DEPTH} levels"
        )));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = if depth <= SHALLOW {
        seed.deserialize(&mut deserializer)?
    } else {
        deserializer.disable_recursion_limit();
        seed.deserialize(serde_stacker::Deserializer::new(&mut deserializer))?
    };
    deserializer.end()?;
    Ok(value)
}
