//! Reading of state files and exports, with migration to the current version.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ecow::EcoString;
use plumb_resource::ResourceState;
use serde::Deserialize;

use super::convert::{ResourceError, ResourceReader};
use super::features::{BYTE_STRING, FEATURES};
use super::from_json;
use super::object::Text;
use super::time::parse_time;
use super::wire::{
    WireBody, WireCheckpoint, WireDescriptor, WireDocument, WireExtension, WireHeader,
    WireIntegrityError, WireManifest, WireOperation, WireResource, WireSecretsProvider,
    WireSnippet,
};
use crate::encrypted::{decrypt_snapshot, has_plaintext, seal_plaintext};
use crate::{
    CiphertextCache, EncryptedSnapshot, Extension, IntegrityErrorRecord, Manifest, ManifestPlugin,
    Metadata, PendingOperation, RawJson, SecretCodec, SecretsError, SecretsProvider, Snapshot,
    Snippet, SnippetDescriptor, SnippetParameterization, UnknownMembers,
};

/// A deployment from a file, migrated to the current version.
///
/// Secrets are as in the file: encrypted, or plaintext in a file that was edited by hand. Because of the latter, a
/// `Deployment` cannot be written; use [`Deployment::into_encrypted`] or [`Deployment::decrypt`] first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deployment {
    sealed: Snapshot,
    has_byte_strings: bool,
    has_plaintext: bool,
}

/// Content of a state file in a bucket-layout store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// Name of the stack in the file; fully qualified in the project layout.
    pub stack: EcoString,
    /// Deployment; `None` for a stack that was never updated.
    pub latest: Option<Deployment>,
}

/// Error in a deployment or checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// The first character cannot begin JSON.
    #[error("invalid character '{found}' looking for beginning of value")]
    NotJson {
        /// The first character.
        found: char,
    },
    /// The text is not JSON, or has the wrong structure.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// An export has no deployment.
    #[error("unexpected end of JSON input")]
    NoDeployment,
    /// The version of the deployment is no longer supported.
    #[error("this stack's deployment is too old")]
    TooOld,
    /// The version of the deployment is newer than supported.
    #[error("this stack's deployment version {version} is too new")]
    TooNew {
        /// The version.
        version: i64,
    },
    /// The version of the checkpoint is unknown.
    #[error("unsupported checkpoint version: {version}")]
    UnsupportedCheckpoint {
        /// The version.
        version: i64,
    },
    /// The file requires features that this version does not support.
    #[error("deployment uses unsupported features: {}", features.join(", "))]
    UnknownFeatures {
        /// Names of the features.
        features: Vec<EcoString>,
    },
    /// A resource is invalid.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// The time in the manifest is invalid.
    #[error("the manifest's time is not a time")]
    ManifestTime,
    /// An opaque value is not valid base64.
    #[error("the value of '{name}' is not written in base64")]
    Base64 {
        /// Name of the extension or package.
        name: EcoString,
    },
}

/// Error for a file with a plaintext secret, which must be encrypted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the deployment holds a secret that is not encrypted")]
pub struct PlaintextSecret;

impl Deployment {
    /// The snapshot with opaque secrets.
    pub fn opaque(&self) -> &Snapshot {
        &self.sealed
    }

    /// Whether the file held a plaintext secret.
    pub fn has_plaintext(&self) -> bool {
        self.has_plaintext
    }

    /// Converts to the writable form. Calls `codec` only if there is a plaintext secret.
    pub fn into_encrypted(
        self,
        codec: &dyn SecretCodec,
    ) -> Result<EncryptedSnapshot, SecretsError> {
        let inner = if self.has_plaintext {
            seal_plaintext(&self.sealed, codec)?
        } else {
            self.sealed
        };
        Ok(EncryptedSnapshot {
            inner,
            has_byte_strings: self.has_byte_strings,
        })
    }

    /// Converts to the writable form; fails if there is a plaintext secret.
    pub fn try_into_encrypted(self) -> Result<EncryptedSnapshot, PlaintextSecret> {
        if self.has_plaintext {
            return Err(PlaintextSecret);
        }
        Ok(EncryptedSnapshot {
            inner: self.sealed,
            has_byte_strings: self.has_byte_strings,
        })
    }

    /// Converts to the form that the engine uses. Calls `codec` only if there is an encrypted secret.
    pub fn decrypt(
        &self,
        codec: &dyn SecretCodec,
        cache: &mut CiphertextCache,
    ) -> Result<Snapshot, SecretsError> {
        decrypt_snapshot(&self.sealed, codec, cache)
    }
}

/// Parses a state file of a bucket-layout store, of any version.
pub fn parse_checkpoint(bytes: &[u8]) -> Result<Checkpoint, ParseError> {
    let text = text_of(bytes)?;
    let document: WireDocument<'_> = read_document(&text, |version| match version {
        0..=4 => Ok(()),
        version => Err(ParseError::UnsupportedCheckpoint { version }),
    })?;
    // The oldest files hold a checkpoint without a wrapper.
    let checkpoint = match document.version {
        0 => WireCheckpoint {
            stack: document.stack,
            latest: document.latest,
            unknown: Vec::new(),
        },
        _ => document.checkpoint.unwrap_or_default(),
    };
    let version = document.version.max(1);
    let latest = checkpoint
        .latest
        .map(|body| read_body(body, version, &document.features))
        .transpose()?;
    Ok(Checkpoint {
        stack: EcoString::from(&*checkpoint.stack),
        latest,
    })
}

/// Parses an exported deployment, of any version.
pub fn parse_deployment(bytes: &[u8]) -> Result<Deployment, ParseError> {
    let text = text_of(bytes)?;
    let document: WireDocument<'_> = read_document(&text, |version| match version {
        ..=0 => Err(ParseError::TooOld),
        1..=4 => Ok(()),
        version => Err(ParseError::TooNew { version }),
    })?;
    match document.deployment {
        Some(body) => read_body(body, document.version, &document.features),
        // Null means the empty state of a stack that was never updated. A missing member is an error, because importing
        // such a file would replace the state of a stack by an empty one.
        None if has_member(&text, "deployment")? => Ok(Deployment::default()),
        None => Err(ParseError::NoDeployment),
    }
}

fn has_member(text: &str, wanted: &str) -> Result<bool, ParseError> {
    let header: WireHeader<'_> = from_json(text)?;
    let mut names = header.unknown.iter().map(|(name, _)| name);
    Ok(names.any(|name| name.eq_ignore_ascii_case(wanted)))
}

/// Parses a deployment of the current version without its wrapper.
pub fn parse_body(text: &str) -> Result<Deployment, ParseError> {
    read_body(from_json(text)?, 3, &[])
}

/// Parses the wrapper. Unknown versions and features are reported first, even if the content cannot be parsed.
pub(super) fn read_document<'t, T: Versioned + Deserialize<'t>>(
    text: &'t str,
    check_version: impl FnOnce(i64) -> Result<(), ParseError>,
) -> Result<T, ParseError> {
    let parsed: Result<T, _> = from_json(text);
    let header;
    let (version, features) = if let Ok(document) = &parsed {
        document.version()
    } else {
        header = from_json::<WireHeader<'_>>(text)?;
        (header.version, header.features.as_slice())
    };
    check_version(version)?;
    check_features(version, features)?;
    Ok(parsed?)
}

/// A wrapper with a version.
pub(super) trait Versioned {
    /// Version, and the features that a reader must support.
    fn version(&self) -> (i64, &[EcoString]);
}

impl Versioned for WireDocument<'_> {
    fn version(&self) -> (i64, &[EcoString]) {
        (self.version, &self.features)
    }
}

pub(super) fn text_of(bytes: &[u8]) -> Result<Cow<'_, str>, ParseError> {
    let text = String::from_utf8_lossy(bytes);
    match text.trim_start().chars().next() {
        Some('{' | '[' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n') | None => Ok(text),
        Some(found) => Err(ParseError::NotJson { found }),
    }
}

fn check_features(version: i64, features: &[EcoString]) -> Result<(), ParseError> {
    if version < 4 {
        return Ok(());
    }
    let unknown: Vec<EcoString> = features
        .iter()
        .filter(|feature| !FEATURES.contains(&feature.as_str()))
        .cloned()
        .collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(ParseError::UnknownFeatures { features: unknown })
    }
}

pub(super) fn read_body(
    body: WireBody<'_>,
    version: i64,
    features: &[EcoString],
) -> Result<Deployment, ParseError> {
    let mut reader = ResourceReader::for_version(version);
    let mut unknown = UnknownMembers {
        deployment: raw_members(body.unknown),
        ..UnknownMembers::default()
    };
    let mut resources = Vec::with_capacity(body.resources.len());
    for mut wire in body.resources {
        let members = std::mem::take(&mut wire.unknown);
        let state = Arc::new(reader.state(wire)?);
        if !members.is_empty() {
            let key = (state.urn.clone(), EcoString::from(state.id.as_str()));
            unknown.resources.insert(key, raw_members(members));
        }
        resources.push(state);
    }
    let sealed = Snapshot {
        manifest: manifest(body.manifest)?,
        secrets_provider: body.secrets_providers.map(secrets_provider),
        resources,
        pending_operations: pending_operations(body.pending_operations, &mut reader)?,
        metadata: Metadata {
            integrity_error: body.metadata.integrity_error.map(integrity_error),
        },
        snippets: body
            .snippets
            .into_iter()
            .map(snippet)
            .collect::<Result<_, _>>()?,
        extensions: extensions(body.extensions)?,
        unknown,
    };
    let has_plaintext = has_plaintext(&sealed);
    let has_byte_strings = version >= 4 && features.iter().any(|feature| feature == BYTE_STRING);
    Ok(Deployment {
        sealed,
        has_byte_strings,
        has_plaintext,
    })
}

fn raw_members(
    members: Vec<(Text<'_>, &serde_json::value::RawValue)>,
) -> Vec<(EcoString, RawJson)> {
    members
        .into_iter()
        .map(|(name, json)| (EcoString::from(&*name), RawJson::from_valid(json.get())))
        .collect()
}

fn pending_operations(
    wires: Vec<WireOperation<'_>>,
    reader: &mut ResourceReader,
) -> Result<Vec<PendingOperation>, ResourceError> {
    let read = |wire| {
        let (state, operation) = reader.operation(wire)?;
        Ok(PendingOperation {
            resource: Arc::new(state),
            operation,
        })
    };
    wires.into_iter().map(read).collect()
}

fn manifest(wire: WireManifest<'_>) -> Result<Manifest, ParseError> {
    let mut manifest = Manifest {
        magic: wire.magic,
        version: wire.version,
        ..Manifest::default()
    };
    if let Some(text) = wire.time {
        (manifest.time, manifest.offset) =
            parse_time(&text).map_err(|_| ParseError::ManifestTime)?;
    }
    let plugin = |wire: super::wire::WirePlugin<'_>| ManifestPlugin {
        name: wire.name,
        path: wire.path,
        kind: wire.kind,
        version: wire.version,
    };
    manifest.plugins = wire.plugins.into_iter().map(plugin).collect();
    Ok(manifest)
}

pub(crate) fn secrets_provider(wire: WireSecretsProvider<'_>) -> SecretsProvider {
    let state = wire.state.map(|state| RawJson::from_valid(state.get()));
    SecretsProvider {
        type_name: wire.type_name,
        state,
    }
}

fn integrity_error(wire: WireIntegrityError<'_>) -> IntegrityErrorRecord {
    IntegrityErrorRecord {
        version: wire.version,
        command: wire.command,
        error: wire.error,
        env_vars: wire.env_vars,
    }
}

pub(crate) fn snippet(wire: WireSnippet<'_>) -> Result<Snippet, ParseError> {
    let WireDescriptor {
        name,
        version,
        download_url,
        parameterization,
        ..
    } = wire.descriptor;
    let parameterization = parameterization.map(extension).transpose()?;
    let parameterization = parameterization.map(
        |Extension {
             name,
             version,
             value,
         }| SnippetParameterization {
            name,
            version,
            value,
        },
    );
    Ok(Snippet {
        uuid: wire.uuid,
        name: wire.name,
        type_token: wire.kind,
        code: wire.code,
        descriptor: SnippetDescriptor {
            name,
            version,
            download_url,
            parameterization,
        },
        references: wire.references,
    })
}

fn extensions(
    wires: BTreeMap<EcoString, WireExtension<'_>>,
) -> Result<BTreeMap<EcoString, Extension>, ParseError> {
    wires
        .into_iter()
        .map(|(reference, wire)| Ok((reference, extension(wire)?)))
        .collect()
}

pub(crate) fn extension(wire: WireExtension<'_>) -> Result<Extension, ParseError> {
    let value = STANDARD.decode(wire.value.as_bytes());
    let value = value
        .map_err(|_| ParseError::Base64 {
            name: wire.name.clone(),
        })?
        .into();
    Ok(Extension {
        name: wire.name,
        version: wire.version,
        value,
    })
}

/// Converts a single resource; unknown members are dropped.
pub(crate) fn resource(wire: WireResource<'_>) -> Result<Arc<ResourceState>, ResourceError> {
    ResourceReader::default().state(wire).map(Arc::new)
}

/// Converts a single pending operation.
pub(crate) fn operation(wire: WireOperation<'_>) -> Result<PendingOperation, ResourceError> {
    let (state, operation) = ResourceReader::default().operation(wire)?;
    Ok(PendingOperation {
        resource: Arc::new(state),
        operation,
    })
}
