//! JSON objects of state files.

use std::collections::BTreeMap;

use ecow::EcoString;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::object::{Text, wire_object};
use crate::value::{WireProperties, WireValue};

wire_object! {
    /// Wrapper of deployments and checkpoints; also the bare checkpoint of the oldest files.
    WireDocument {
        version: i64 = "version",
        features: Vec<EcoString> = "features",
        deployment: Option<WireBody<'de>> = "deployment",
        checkpoint: Option<WireCheckpoint<'de>> = "checkpoint",
        stack: Text<'de> = "stack",
        latest: Option<WireBody<'de>> = "latest",
    }
}

wire_object! {
    /// Members that decide whether a document can be read.
    WireHeader {
        version: i64 = "version",
        features: Vec<EcoString> = "features",
    }
}

wire_object! {
    WireCheckpoint {
        stack: Text<'de> = "stack",
        latest: Option<WireBody<'de>> = "latest",
    }
}

wire_object! {
    /// A deployment.
    WireBody {
        manifest: WireManifest<'de> = "manifest",
        secrets_providers: Option<WireSecretsProvider<'de>> = "secrets_providers",
        resources: Vec<WireResource<'de>> = "resources",
        pending_operations: Vec<WireOperation<'de>> = "pending_operations",
        metadata: WireMetadata<'de> = "metadata",
        snippets: Vec<WireSnippet<'de>> = "snippets",
        extensions: BTreeMap<EcoString, WireExtension<'de>> = "extensions",
    }
}

wire_object! {
    WireManifest {
        time: Option<Text<'de>> = "time",
        magic: EcoString = "magic",
        version: EcoString = "version",
        plugins: Vec<WirePlugin<'de>> = "plugins",
    }
}

wire_object! {
    WirePlugin {
        name: EcoString = "name",
        path: EcoString = "path",
        kind: EcoString = "type",
        version: EcoString = "version",
    }
}

wire_object! {
    WireSecretsProvider {
        type_name: EcoString = "type",
        state: Option<&'de RawValue> = "state",
    }
}

wire_object! {
    WireOperation {
        resource: WireResource<'de> = "resource",
        kind: Text<'de> = "type",
    }
}

wire_object! {
    WireMetadata {
        integrity_error: Option<WireIntegrityError<'de>> = "integrity_error",
    }
}

wire_object! {
    WireIntegrityError {
        version: EcoString = "version",
        command: EcoString = "command",
        error: EcoString = "error",
        env_vars: BTreeMap<EcoString, EcoString> = "env_vars",
    }
}

wire_object! {
    WireSnippet {
        uuid: EcoString = "uuid",
        name: EcoString = "name",
        kind: EcoString = "type",
        code: EcoString = "code",
        descriptor: WireDescriptor<'de> = "descriptor",
        references: BTreeMap<EcoString, EcoString> = "references",
    }
}

wire_object! {
    WireDescriptor {
        name: EcoString = "name",
        version: EcoString = "version",
        download_url: EcoString = "downloadURL",
        parameterization: Option<WireExtension<'de>> = "parameterization",
    }
}

wire_object! {
    /// A name, a version and an opaque value: an extension, or the parameterization of a package.
    WireExtension {
        name: EcoString = "name",
        version: EcoString = "version",
        value: Text<'de> = "value",
    }
}

wire_object! {
    WireTimeouts {
        create: f64 = "create",
        update: f64 = "update",
        delete: f64 = "delete",
        read: f64 = "read",
    }
}

wire_object! {
    WireFrame {
        source_position: Option<EcoString> = "sourcePosition",
    }
}

/// A property path: text, or a list of segments.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum WirePath {
    Text(EcoString),
    Steps(Vec<WireSegment>),
}

/// A segment of a property path.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum WireSegment {
    Index(i64),
    Key(EcoString),
}

wire_object! {
    /// A resource.
    WireResource {
        urn: Text<'de> = "urn",
        custom: bool = "custom",
        delete: bool = "delete",
        id: EcoString = "id",
        type_token: EcoString = "type",
        inputs: WireProperties = "inputs",
        defaults: Option<&'de RawValue> = "defaults",
        outputs: WireProperties = "outputs",
        parent: Text<'de> = "parent",
        protect: bool = "protect",
        taint: bool = "taint",
        external: bool = "external",
        dependencies: Vec<Text<'de>> = "dependencies",
        init_errors: Vec<EcoString> = "initErrors",
        provider: Text<'de> = "provider",
        property_dependencies: BTreeMap<EcoString, Option<Vec<Text<'de>>>> = "propertyDependencies",
        pending_replacement: bool = "pendingReplacement",
        additional_secret_outputs: Vec<EcoString> = "additionalSecretOutputs",
        aliases: Vec<Text<'de>> = "aliases",
        custom_timeouts: WireTimeouts<'de> = "customTimeouts",
        import_id: EcoString = "importID",
        retain_on_delete: bool = "retainOnDelete",
        deleted_with: Text<'de> = "deletedWith",
        replace_with: Vec<Text<'de>> = "replaceWith",
        created: Option<Text<'de>> = "created",
        modified: Option<Text<'de>> = "modified",
        source_position: EcoString = "sourcePosition",
        stack_trace: Vec<WireFrame<'de>> = "stackTrace",
        ignore_changes: Vec<EcoString> = "ignoreChanges",
        hide_diff: Vec<WirePath> = "hideDiff",
        replace_on_changes: Vec<EcoString> = "replaceOnChanges",
        replacement_trigger: Option<WireValue> = "replacementTrigger",
        refresh_before_update: bool = "refreshBeforeUpdate",
        view_of: Text<'de> = "viewOf",
        resource_hooks: BTreeMap<EcoString, Option<Vec<EcoString>>> = "resourceHooks",
        extension_ref: EcoString = "extensionRef",
        snippet_id: EcoString = "snippetID",
    }
}
