//! The snapshot of a stack, in memory and decrypted.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{OperationType, ResourceState, Urn};
use sha2::{Digest, Sha256};

use crate::Manifest;

/// Everything that is known of a stack (`state.md` 1.3).
///
/// The default is the snapshot of an empty stack. Cloning shares the resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Who wrote it, and when.
    pub manifest: Manifest,
    /// How its secrets are encrypted; `None` when it never had any.
    pub secrets_provider: Option<SecretsProvider>,
    /// Resources; everything that one refers to comes before it.
    pub resources: Vec<Arc<ResourceState>>,
    /// What was under way when the snapshot was made.
    pub pending_operations: Vec<PendingOperation>,
    /// Notes about the snapshot itself.
    pub metadata: Metadata,
    /// Program fragments that belong to the stack.
    pub snippets: Vec<Snippet>,
    /// Extension parameterizations by reference.
    pub extensions: BTreeMap<EcoString, Extension>,
    /// Members of the file that this version does not know.
    pub unknown: UnknownMembers,
}

/// JSON text, compact, kept as it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Arc<str>);

impl RawJson {
    /// Takes JSON text; white space between tokens is dropped.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let raw: Box<serde_json::value::RawValue> = serde_json::from_str(text)?;
        Ok(RawJson(crate::json::compact(raw.get()).into()))
    }

    /// Takes text that is JSON already.
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

/// Which secrets manager a snapshot uses, and what that manager needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretsProvider {
    /// Kind of manager: `passphrase`, `cloud`, `service`.
    pub type_name: EcoString,
    /// The manager's own data; `None` when it has none.
    pub state: Option<RawJson>,
}

/// An operation that was begun and whose outcome is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingOperation {
    /// The resource as it was to be.
    pub resource: Arc<ResourceState>,
    /// What was under way.
    pub operation: OperationType,
}

/// Notes about a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Set when the snapshot was written although it is invalid.
    pub integrity_error: Option<IntegrityErrorRecord>,
}

/// What was wrong with a snapshot when it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityErrorRecord {
    /// Version of the file format.
    pub version: EcoString,
    /// The command that wrote it.
    pub command: EcoString,
    /// What the check said.
    pub error: EcoString,
    /// The settings in the environment.
    pub env_vars: BTreeMap<EcoString, EcoString>,
}

/// A small PCL program stored with the stack: the body of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Identity of the snippet; not empty, and no two have the same.
    pub uuid: EcoString,
    /// Name of the resource.
    pub name: EcoString,
    /// Type token of the resource.
    pub type_token: EcoString,
    /// What stands between the braces of the resource.
    pub code: EcoString,
    /// The package that it uses.
    pub descriptor: SnippetDescriptor,
    /// Resources that it names, by identifier. The text need not be a URN that exists.
    pub references: BTreeMap<EcoString, EcoString>,
}

/// The package of a [`Snippet`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnippetDescriptor {
    /// Name of the package.
    pub name: EcoString,
    /// Its version.
    pub version: EcoString,
    /// Where its plugin comes from.
    pub download_url: EcoString,
    /// Its parameter.
    pub parameterization: Option<SnippetParameterization>,
}

/// The parameter of the package of a [`Snippet`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnippetParameterization {
    /// Name of the package that results.
    pub name: EcoString,
    /// Version of the package that results.
    pub version: EcoString,
    /// The parameter, opaque.
    pub value: Arc<[u8]>,
}

/// An extension parameterization (`state.md` 1.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// Name of the package that results.
    pub name: EcoString,
    /// Version of the package that results.
    pub version: EcoString,
    /// The parameter, opaque.
    pub value: Arc<[u8]>,
}

impl Extension {
    /// The reference by which resources name the extension: a digest of its content.
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

/// Members that a newer program wrote and that this one hands on unread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownMembers {
    /// Members of the deployment.
    pub deployment: Vec<(EcoString, RawJson)>,
    /// Members of resources, by URN and id.
    pub resources: BTreeMap<(Urn, EcoString), Vec<(EcoString, RawJson)>>,
}

impl UnknownMembers {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.deployment.is_empty() && self.resources.is_empty()
    }

    /// The unknown members of a resource.
    pub fn of_resource(&self, state: &ResourceState) -> &[(EcoString, RawJson)] {
        if self.resources.is_empty() {
            return &[];
        }
        let key = (state.urn.clone(), EcoString::from(state.id.as_str()));
        self.resources.get(&key).map_or(&[], Vec::as_slice)
    }
}
