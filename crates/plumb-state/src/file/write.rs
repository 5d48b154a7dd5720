//! Writing of snapshots as JSON text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plumb_resource::{CustomTimeouts, ResourceState, Urn};

use super::features::features_of;
use super::time::time_text;
use crate::json::{Escape, JsonWriter};
use crate::value::{Secrets, write_properties, write_value};
use crate::{
    EncryptedSnapshot, Extension, IntegrityErrorRecord, Manifest, PendingOperation, RawJson,
    SecretsProvider, Snapshot, Snippet,
};

/// Layout of a deployment (`state.md` 1.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One line with minimal escapes: state files.
    Compact,
    /// One line with HTML characters escaped: uploads.
    CompactHtml,
    /// Indented by four spaces per level, with a final newline: exports.
    Indented,
}

impl Layout {
    fn writer(self) -> JsonWriter {
        match self {
            Layout::Compact => JsonWriter::new(Escape::Plain),
            Layout::CompactHtml => JsonWriter::new(Escape::Html),
            Layout::Indented => JsonWriter::indented(Escape::Plain),
        }
    }

    fn finish(self, json: JsonWriter) -> String {
        let mut text = json.finish();
        if self == Layout::Indented {
            text.push('\n');
        }
        text
    }
}

/// Length of the text of a usual resource. Room that is not used takes no memory.
const USUAL_LENGTH: usize = 1024;

impl EncryptedSnapshot {
    /// Text of a state file for the stack with this (fully qualified) name.
    pub fn checkpoint(&self, stack: &str) -> String {
        let mut json = JsonWriter::new(Escape::Plain);
        json.reserve(self.inner.resources.len() * USUAL_LENGTH);
        json.object(|json| {
            write_version(json, &self.inner, self.has_byte_strings);
            json.key("checkpoint").object(|json| {
                json.key("stack").string(stack);
                write_body(json.key("latest"), &self.inner, Secrets::Sealed);
            });
        });
        json.finish()
    }

    /// Text of the deployment with its version, for exports and uploads.
    pub fn deployment(&self, layout: Layout) -> String {
        untyped(&self.inner, self.has_byte_strings, Secrets::Sealed, layout)
    }

    /// Version of the file format of [`EncryptedSnapshot::deployment`]: 4 if it uses any feature, otherwise 3.
    pub fn format_version(&self) -> u32 {
        if self.features().is_empty() { 3 } else { 4 }
    }

    /// Features that a reader must support, sorted.
    pub fn features(&self) -> Vec<&'static str> {
        features_of(&self.inner, self.has_byte_strings)
    }
}

impl Snapshot {
    /// Text of the deployment with **plaintext** secrets, for a user who asked for them.
    pub fn deployment_with_secrets_exposed(&self, layout: Layout) -> String {
        let has_byte_strings = crate::encrypted::has_bytes(self);
        untyped(self, has_byte_strings, Secrets::Exposed, layout)
    }
}

/// Text of a state file for a stack that was never updated.
pub fn empty_checkpoint(stack: &str) -> String {
    let mut json = JsonWriter::new(Escape::Plain);
    json.object(|json| {
        json.key("version").integer(0);
        json.key("checkpoint")
            .object(|json| json.key("stack").string(stack));
    });
    json.finish()
}

/// Text of an export of a stack without a deployment.
pub fn no_deployment(layout: Layout) -> String {
    let mut json = layout.writer();
    json.object(|json| {
        json.key("version").integer(3);
        json.key("deployment").null();
    });
    layout.finish(json)
}

fn untyped(
    snapshot: &Snapshot,
    has_byte_strings: bool,
    secrets: Secrets,
    layout: Layout,
) -> String {
    let mut json = layout.writer();
    json.reserve(snapshot.resources.len() * USUAL_LENGTH);
    json.object(|json| {
        write_version(json, snapshot, has_byte_strings);
        write_body(json.key("deployment"), snapshot, secrets);
    });
    layout.finish(json)
}

fn write_version(json: &mut JsonWriter, snapshot: &Snapshot, has_byte_strings: bool) {
    let features = features_of(snapshot, has_byte_strings);
    json.key("version")
        .integer(if features.is_empty() { 3 } else { 4 });
    json.list_member("features", features.into_iter());
}

/// Writes a deployment without its version.
pub(crate) fn write_body(json: &mut JsonWriter, snapshot: &Snapshot, secrets: Secrets) {
    json.object(|json| {
        write_manifest(json.key("manifest"), &snapshot.manifest);
        if let Some(provider) = &snapshot.secrets_provider {
            write_secrets_provider(json.key("secrets_providers"), provider);
        }
        if !snapshot.resources.is_empty() {
            json.key("resources").array(|json| {
                for state in &snapshot.resources {
                    write_resource(
                        json.element(),
                        state,
                        secrets,
                        Aliases::Drop,
                        snapshot.unknown.of_resource(state),
                    );
                }
            });
        }
        if !snapshot.pending_operations.is_empty() {
            json.key("pending_operations").array(|json| {
                snapshot
                    .pending_operations
                    .iter()
                    .for_each(|it| write_operation(json.element(), it, secrets));
            });
        }
        json.key("metadata").object(|json| {
            if let Some(error) = &snapshot.metadata.integrity_error {
                write_integrity_error(json.key("integrity_error"), error);
            }
        });
        if !snapshot.snippets.is_empty() {
            json.key("snippets").array(|json| {
                snapshot
                    .snippets
                    .iter()
                    .for_each(|snippet| write_snippet(json.element(), snippet));
            });
        }
        if !snapshot.extensions.is_empty() {
            json.key("extensions").object(|json| {
                for (reference, extension) in &snapshot.extensions {
                    write_extension(json.key(reference), extension);
                }
            });
        }
        write_unknown(json, &snapshot.unknown.deployment);
    });
}

fn write_unknown(json: &mut JsonWriter, members: &[(ecow::EcoString, RawJson)]) {
    for (name, value) in members {
        json.key(name).raw(value.as_str());
    }
}

pub(crate) fn write_manifest(json: &mut JsonWriter, manifest: &Manifest) {
    json.object(|json| {
        json.key("time")
            .string(&time_text(manifest.time, manifest.offset));
        json.key("magic").string(&manifest.magic);
        json.key("version").string(&manifest.version);
        if !manifest.plugins.is_empty() {
            json.key("plugins").array(|json| {
                for plugin in &manifest.plugins {
                    json.element().object(|json| {
                        json.key("name").string(&plugin.name);
                        json.key("path").string(&plugin.path);
                        json.key("type").string(&plugin.kind);
                        json.key("version").string(&plugin.version);
                    });
                }
            });
        }
    });
}

pub(crate) fn write_secrets_provider(json: &mut JsonWriter, provider: &SecretsProvider) {
    json.object(|json| {
        json.key("type").string(&provider.type_name);
        if let Some(state) = &provider.state {
            json.key("state").raw(state.as_str());
        }
    });
}

pub(crate) fn write_operation(json: &mut JsonWriter, pending: &PendingOperation, secrets: Secrets) {
    json.object(|json| {
        write_resource(
            json.key("resource"),
            &pending.resource,
            secrets,
            Aliases::Drop,
            &[],
        );
        json.key("type").string(pending.operation.as_str());
    });
}

fn write_integrity_error(json: &mut JsonWriter, error: &IntegrityErrorRecord) {
    json.object(|json| {
        json.text_member("version", &error.version);
        json.text_member("command", &error.command);
        json.text_member("error", &error.error);
        if !error.env_vars.is_empty() {
            json.key("env_vars").object(|json| {
                error
                    .env_vars
                    .iter()
                    .for_each(|(name, value)| json.key(name).string(value));
            });
        }
    });
}

pub(crate) fn write_snippet(json: &mut JsonWriter, snippet: &Snippet) {
    json.object(|json| {
        json.key("uuid").string(&snippet.uuid);
        json.key("name").string(&snippet.name);
        json.key("type").string(&snippet.type_token);
        json.key("code").string(&snippet.code);
        json.key("descriptor").object(|json| {
            json.key("name").string(&snippet.descriptor.name);
            json.text_member("version", &snippet.descriptor.version);
            json.text_member("downloadURL", &snippet.descriptor.download_url);
            if let Some(parameter) = &snippet.descriptor.parameterization {
                write_blob(
                    json.key("parameterization"),
                    &parameter.name,
                    &parameter.version,
                    &parameter.value,
                );
            }
        });
        if !snippet.references.is_empty() {
            json.key("references").object(|json| {
                snippet
                    .references
                    .iter()
                    .for_each(|(name, urn)| json.key(name).string(urn));
            });
        }
    });
}

pub(crate) fn write_extension(json: &mut JsonWriter, extension: &Extension) {
    write_blob(json, &extension.name, &extension.version, &extension.value);
}

fn write_blob(json: &mut JsonWriter, name: &str, version: &str, value: &[u8]) {
    json.object(|json| {
        json.key("name").string(name);
        json.key("version").string(version);
        json.key("value").string(&STANDARD.encode(value));
    });
}

/// Whether aliases are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aliases {
    Keep,
    Drop,
}

/// Writes a resource, with the member order and the omissions of `state.md` 1.4.
pub(crate) fn write_resource(
    json: &mut JsonWriter,
    state: &ResourceState,
    secrets: Secrets,
    aliases: Aliases,
    unknown: &[(ecow::EcoString, RawJson)],
) {
    json.object(|json| {
        write_identity_and_properties(json, state, secrets);
        write_relations(json, state);
        if aliases == Aliases::Keep {
            json.list_member("aliases", state.aliases.iter().map(Urn::as_str));
        }
        write_options(json, state, secrets);
        write_unknown(json, unknown);
    });
}

fn write_identity_and_properties(json: &mut JsonWriter, state: &ResourceState, secrets: Secrets) {
    json.key("urn").string(state.urn.as_str());
    json.key("custom").bool(state.is_custom());
    json.flag_member("delete", state.delete);
    json.text_member("id", state.id.as_str());
    json.key("type").string(state.type_token.as_str());
    for (name, map) in [("inputs", &state.inputs), ("outputs", &state.outputs)] {
        if !map.is_empty() {
            write_properties(json.key(name), map, secrets);
        }
    }
}

fn write_relations(json: &mut JsonWriter, state: &ResourceState) {
    urn_member(json, "parent", state.parent.as_ref());
    json.flag_member("protect", state.protect);
    json.flag_member("taint", state.taint);
    json.flag_member("external", state.external);
    json.list_member("dependencies", state.dependencies.iter().map(Urn::as_str));
    json.list_member(
        "initErrors",
        state.init_errors.iter().map(ecow::EcoString::as_str),
    );
    if let Some(provider) = &state.provider {
        json.key("provider").string(&provider.to_string());
    }
    if !state.property_dependencies.is_empty() {
        json.key("propertyDependencies").object(|json| {
            for (key, urns) in &state.property_dependencies {
                json.key(key.as_str()).strings(urns.iter().map(Urn::as_str));
            }
        });
    }
    json.flag_member("pendingReplacement", state.pending_replacement);
    json.list_member(
        "additionalSecretOutputs",
        state
            .additional_secret_outputs
            .iter()
            .map(plumb_value::PropertyKey::as_str),
    );
}

fn write_options(json: &mut JsonWriter, state: &ResourceState, secrets: Secrets) {
    write_timeouts(json, &state.custom_timeouts);
    json.text_member("importID", &state.import_id);
    json.flag_member("retainOnDelete", state.retain_on_delete);
    urn_member(json, "deletedWith", state.deleted_with.as_ref());
    json.list_member("replaceWith", state.replace_with.iter().map(Urn::as_str));
    for (name, time) in [("created", state.created), ("modified", state.modified)] {
        if let Some(time) = time {
            json.key(name)
                .string(&time_text(time, jiff::tz::Offset::UTC));
        }
    }
    json.text_member(
        "sourcePosition",
        state.source_position.as_deref().unwrap_or_default(),
    );
    write_stack_trace(json, state);
    json.list_member(
        "ignoreChanges",
        state.ignore_changes.iter().map(ecow::EcoString::as_str),
    );
    json.list_member(
        "hideDiff",
        state.hide_diff.iter().map(ecow::EcoString::as_str),
    );
    json.list_member(
        "replaceOnChanges",
        state.replace_on_changes.iter().map(ecow::EcoString::as_str),
    );
    if !state.replacement_trigger.is_null() {
        write_value(
            json.key("replacementTrigger"),
            &state.replacement_trigger,
            secrets,
        );
    }
    json.flag_member("refreshBeforeUpdate", state.refresh_before_update);
    urn_member(json, "viewOf", state.view_of.as_ref());
    if !state.hooks.is_empty() {
        let mut hooks: Vec<_> = state
            .hooks
            .iter()
            .map(|(hook, names)| (hook.as_str(), names))
            .collect();
        hooks.sort_unstable_by_key(|(hook, _)| *hook);
        json.key("resourceHooks").object(|json| {
            for (hook, names) in hooks {
                json.key(hook)
                    .strings(names.iter().map(ecow::EcoString::as_str));
            }
        });
    }
    json.text_member(
        "extensionRef",
        state.extension_ref.as_deref().unwrap_or_default(),
    );
    json.text_member("snippetID", state.snippet_id.as_deref().unwrap_or_default());
}

fn urn_member(json: &mut JsonWriter, name: &str, urn: Option<&Urn>) {
    json.text_member(name, urn.map(Urn::as_str).unwrap_or_default());
}

fn write_timeouts(json: &mut JsonWriter, timeouts: &CustomTimeouts) {
    if !timeouts.is_default() {
        json.key("customTimeouts")
            .object(|json| write_timeout_members(json, timeouts));
    }
}

/// Writes the time limits that are set, in seconds.
pub(crate) fn write_timeout_members(json: &mut JsonWriter, timeouts: &CustomTimeouts) {
    let limits = [
        ("create", timeouts.create),
        ("update", timeouts.update),
        ("delete", timeouts.delete),
        ("read", timeouts.read),
    ];
    for (name, seconds) in limits
        .into_iter()
        .filter(|(_, seconds)| *seconds != 0.0 && seconds.is_finite())
    {
        json.key(name).number(seconds);
    }
}

fn write_stack_trace(json: &mut JsonWriter, state: &ResourceState) {
    if state.stack_trace.is_empty() {
        return;
    }
    json.key("stackTrace").array(|json| {
        for frame in &state.stack_trace {
            json.element().object(|json| {
                json.text_member(
                    "sourcePosition",
                    frame.source_position.as_deref().unwrap_or_default(),
                );
            });
        }
    });
}
