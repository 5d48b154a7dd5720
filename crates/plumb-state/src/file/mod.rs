//! File formats: deployments and checkpoints of every version (`state.md` 1).
//!
//! [`parse_checkpoint`] and [`parse_deployment`] read the two wrappers and give a [`Deployment`]: migrated to the
//! present form, secrets still encrypted. [`parse_root`] reads only where a stack's outputs are. Writing is done by [`EncryptedSnapshot::checkpoint`] and its neighbours.
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
pub use root::{RootState, parse_root};
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

/// What the JSON parser handles with the stack it has.
const SHALLOW: usize = 100;

/// Reads a value in the form of state files whose secrets are in plaintext, as people write it.
pub fn parse_value(text: &str) -> Result<plumb_value::Value, serde_json::Error> {
    crate::value::value_of_plaintext(text)
}

/// Parses JSON text of whatever depth is sane.
pub(crate) fn from_json<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, serde_json::Error> {
    // Deep files are rare: the usual parser goes first, and its failure may be due to depth.
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if json_depth(text) <= SHALLOW {
        return Err(error);
    }
    from_json_seed(text, std::marker::PhantomData)
}

/// Reads JSON with a seed, which is used up.
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
