//! The decrypted snapshot of a stack.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{OperationType, ResourceState, Urn};
use sha2::{Digest, Sha256};

use crate::Manifest;

/// State of a stack (`state.md` 1.3).
///
/// The default is the snapshot of an empty stack. Clones share the resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Program version and time.
    pub manifest: Manifest,
    /// Secrets manager; `None` if the stack never had secrets.
    pub secrets_provider: Option<SecretsProvider>,
    /// Resources; each comes after those that it refers to.
    pub resources: Vec<Arc<ResourceState>>,
    /// Operations in progress when the snapshot was made.
    pub pending_operations: Vec<PendingOperation>,
    /// Metadata about the snapshot itself.
    pub metadata: Metadata,
    /// Snippets: program fragments that belong to the stack.
    pub snippets: Vec<Snippet>,
    /// Extension parameterizations by reference.
    pub extensions: BTreeMap<EcoString, Extension>,
    /// Members of the file that this version does not know.
    pub unknown: UnknownMembers,
}

/// Compact JSON text, kept as it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// Parses JSON text and removes white space between tokens.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: Box<serde_json::value::RawValue> = serde_json::from_str(text)?;
        Ok(RawJson(crate::json::compact(raw.get()).into()))
    }

    /// Wraps text that is known to be compact JSON.
    pub(crate) fn from_valid(text: &str) -> Self {
        RawJson(crate::json::compact(text).into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Type and state of the secrets manager of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretsProvider {
    /// Type of manager: `passphrase`, `cloud`, `service`.
    pub type_name: EcoString,
    /// State of the manager, if it has any.
    pub state: Option<RawJson>,
}

/// An operation whose outcome is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingOperation {
    /// Planned state of the resource.
    pub resource: Arc<ResourceState>,
    /// Type of the operation.
    pub operation: OperationType,
}

/// Metadata of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Integrity error, if the snapshot was written although it is invalid.
    pub integrity_error: Option<IntegrityErrorRecord>,
}

/// Record of an integrity error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityErrorRecord {
    /// Version of the file format.
    pub version: EcoString,
    /// Command that wrote the snapshot.
    pub command: EcoString,
    /// Message of the integrity check.
    pub error: EcoString,
    /// Settings in environment variables.
    pub env_vars: BTreeMap<EcoString, EcoString>,
}

/// A small PCL program stored with the stack: the body of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Unique identifier of the snippet; not empty.
    pub uuid: EcoString,
    /// Name of the resource.
    pub name: EcoString,
    /// Type token of the resource.
    pub type_token: EcoString,
    /// Code in the body of the resource block.
    pub code: EcoString,
    /// Package of the resource.
    pub descriptor: SnippetDescriptor,
    /// Referenced resources, by identifier. The text need not be a URN that exists.
    pub references: BTreeMap<EcoString, EcoString>,
}

/// The package of a [`Snippet`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnippetDescriptor {
    /// Name of the package.
    pub name: EcoString,
    /// Version of the package.
    pub version: EcoString,
    /// URL that the plugin is downloaded from.
    pub download_url: EcoString,
    /// Parameterization of the package.
    pub parameterization: Option<SnippetParameterization>,
}

/// Parameterization of the package of a [`Snippet`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnippetParameterization {
    /// Name of the resulting package.
    pub name: EcoString,
    /// Version of the resulting package.
    pub version: EcoString,
    /// Parameter, opaque.
    pub value: Arc<[u8]>,
}

/// An extension parameterization (`state.md` 1.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// Name of the resulting package.
    pub name: EcoString,
    /// Version of the resulting package.
    pub version: EcoString,
    /// Parameter, opaque.
    pub value: Arc<[u8]>,
}

impl Extension {
    /// Reference by which resources name the extension: a digest of its content.
    pub fn reference(&self) -> EcoString {
        let mut digest = Sha256::new();
        digest.update(self.name.as_bytes());
        digest.update([0]);
        digest.update(self.version.as_bytes());
        digest.update([0]);
        digest.update(&self.value);
        hex::encode(digest.finalize()).into()
    }
}

/// Members written by a newer program, which are kept unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownMembers {
    /// Members of the deployment.
    pub deployment: Vec<(EcoString, RawJson)>,
    /// Members of resources, by URN and id.
    pub resources: BTreeMap<(Urn, EcoString), Vec<(EcoString, RawJson)>>,
}

impl UnknownMembers {
    /// Whether there are no unknown members.
    pub fn is_empty(&self) -> bool {
        self.deployment.is_empty() && self.resources.is_empty()
    }

    /// Unknown members of a resource.
    pub fn of_resource(&self, state: &ResourceState) -> &[(EcoString, RawJson)] {
        if self.resources.is_empty() {
            return &[];
        }
        let key = (state.urn.clone(), EcoString::from(state.id.as_str()));
        self.resources.get(&key).map_or(&[], Vec::as_slice)
    }
}
