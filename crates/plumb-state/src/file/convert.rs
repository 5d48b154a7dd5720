//! Conversion of JSON objects in files to resources.

use std::collections::BTreeMap;

use ecow::{EcoString, EcoVec};
use jiff::Timestamp;
use plumb_resource::{
    CustomTimeouts, HookType, Hooks, InvalidUrn, OperationType, PropertyDependencies, ProviderRef,
    ProviderRefError, ResourceId, ResourceKind, ResourceState, StackFrame, TypeToken, Urn,
};
use plumb_value::{PropertyKey, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::object::Text;
use super::paths::path_text;
use super::time::parse_time;
use super::wire::{WireOperation, WireResource, WireTimeouts};

/// Error in a resource of a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ResourceError {
    /// The URN is missing.
    #[error("resource missing required 'urn' field")]
    MissingUrn,
    /// The type is missing.
    #[error("resource '{urn}' missing required 'type' field")]
    MissingType {
        /// The resource.
        urn: EcoString,
    },
    /// A component has an id.
    #[error("resource '{urn}' has 'custom' false but non-empty ID")]
    IdOnComponent {
        /// The resource.
        urn: EcoString,
    },
    /// A member is not a valid URN.
    #[error("the member '{member}' of resource '{urn}' is not a URN")]
    Urn {
        /// The resource.
        urn: EcoString,
        /// The member.
        member: &'static str,
        /// Cause.
        #[source]
        source: InvalidUrn,
    },
    /// The provider reference is invalid.
    #[error("failed to parse provider reference for resource '{urn}'")]
    Provider {
        /// The resource.
        urn: EcoString,
        /// Cause.
        #[source]
        source: ProviderRefError,
    },
    /// A member is not a valid time.
    #[error("the member '{member}' of resource '{urn}' is not a time")]
    Time {
        /// The resource.
        urn: EcoString,
        /// The member.
        member: &'static str,
    },
    /// The hook type is unknown.
    #[error("resource '{urn}' has hooks of the unknown type '{hook}'")]
    Hook {
        /// The resource.
        urn: EcoString,
        /// The hook type.
        hook: EcoString,
    },
    /// The kind of a pending operation is unknown.
    #[error("resource '{urn}' has a pending operation of the unknown type '{operation}'")]
    Operation {
        /// The resource.
        urn: EcoString,
        /// The kind of operation.
        operation: EcoString,
    },
}

/// Builds resources; repeated URNs, types and source positions share memory.
#[derive(Default)]
pub(crate) struct ResourceReader {
    urns: FxHashMap<EcoString, Urn>,
    texts: FxHashSet<EcoString>,
    /// Whether the file format is too old for property dependencies.
    lacks_property_dependencies: bool,
    /// Whether the file format is too old for provider references.
    lacks_providers: bool,
}

impl ResourceReader {
    /// Reader for this version of the file format.
    pub(crate) fn for_version(version: i64) -> Self {
        ResourceReader {
            lacks_property_dependencies: version <= 2,
            lacks_providers: version <= 1,
            ..ResourceReader::default()
        }
    }

    /// Equal text that is shared with earlier resources.
    fn shared(&mut self, text: EcoString) -> EcoString {
        if let Some(known) = self.texts.get(&text) {
            return known.clone();
        }
        self.texts.insert(text.clone());
        text
    }

    fn frames(&mut self, wire: Vec<super::wire::WireFrame<'_>>) -> EcoVec<StackFrame> {
        wire.into_iter()
            .map(|frame| {
                let position = frame.source_position.unwrap_or_default();
                StackFrame {
                    source_position: non_empty(self.shared(position)),
                }
            })
            .collect()
    }

    pub(crate) fn state(&mut self, wire: WireResource<'_>) -> Result<ResourceState, ResourceError> {
        let here = EcoString::from(&*wire.urn);
        check_required(&wire, &here)?;
        let urn = self.urn(&here, "urn", &wire.urn)?;
        let type_token = TypeToken::new(self.shared(wire.type_token));
        let kind = ResourceKind::from_custom(wire.custom, &type_token);
        let dependencies = self.urns(&here, "dependencies", &wire.dependencies)?;
        let mut state = ResourceState {
            type_token,
            delete: wire.delete,
            id: ResourceId::from_text(&wire.id),
            parent: self.optional_urn(&here, "parent", &wire.parent)?,
            protect: wire.protect,
            taint: wire.taint,
            init_errors: wire.init_errors.into(),
            pending_replacement: wire.pending_replacement,
            additional_secret_outputs: wire
                .additional_secret_outputs
                .into_iter()
                .map(PropertyKey::from)
                .collect(),
            aliases: self.urns(&here, "aliases", &wire.aliases)?,
            custom_timeouts: timeouts(&wire.custom_timeouts),
            import_id: wire.import_id,
            retain_on_delete: wire.retain_on_delete,
            deleted_with: self.optional_urn(&here, "deletedWith", &wire.deleted_with)?,
            replace_with: self.urns(&here, "replaceWith", &wire.replace_with)?,
            created: time(&here, "created", wire.created.as_deref())?,
            modified: time(&here, "modified", wire.modified.as_deref())?,
            source_position: non_empty(self.shared(wire.source_position)),
            stack_trace: self.frames(wire.stack_trace),
            ignore_changes: wire.ignore_changes.into(),
            hide_diff: wire.hide_diff.iter().map(path_text).collect(),
            replace_on_changes: wire.replace_on_changes.into(),
            replacement_trigger: wire
                .replacement_trigger
                .map_or(Value::Null, |value| value.0),
            refresh_before_update: wire.refresh_before_update,
            view_of: self.optional_urn(&here, "viewOf", &wire.view_of)?,
            hooks: hooks(&here, wire.resource_hooks)?,
            extension_ref: non_empty(wire.extension_ref),
            snippet_id: non_empty(wire.snippet_id),
            outputs: wire.outputs.0,
            ..ResourceState::new(urn, kind)
        };
        if !self.lacks_providers {
            state.external = wire.external;
            state.provider = self.provider(&here, &wire.provider)?;
        }
        state.property_dependencies = if self.lacks_property_dependencies {
            wire.inputs
                .0
                .keys()
                .map(|key| (key.clone(), dependencies.clone()))
                .collect()
        } else {
            self.property_dependencies(&here, wire.property_dependencies)?
        };
        state.inputs = wire.inputs.0;
        state.dependencies = dependencies;
        Ok(state)
    }

    pub(crate) fn operation(
        &mut self,
        wire: WireOperation<'_>,
    ) -> Result<(ResourceState, OperationType), ResourceError> {
        let operation =
            OperationType::from_name(&wire.kind).ok_or_else(|| ResourceError::Operation {
                urn: EcoString::from(&*wire.resource.urn),
                operation: EcoString::from(&*wire.kind),
            })?;
        Ok((self.state(wire.resource)?, operation))
    }

    fn urn(
        &mut self,
        here: &EcoString,
        member: &'static str,
        text: &str,
    ) -> Result<Urn, ResourceError> {
        if let Some(urn) = self.urns.get(text) {
            return Ok(urn.clone());
        }
        let urn = Urn::parse(text).map_err(|source| ResourceError::Urn {
            urn: here.clone(),
            member,
            source,
        })?;
        self.urns.insert(text.into(), urn.clone());
        Ok(urn)
    }

    fn optional_urn(
        &mut self,
        here: &EcoString,
        member: &'static str,
        text: &str,
    ) -> Result<Option<Urn>, ResourceError> {
        if text.is_empty() {
            Ok(None)
        } else {
            self.urn(here, member, text).map(Some)
        }
    }

    fn urns(
        &mut self,
        here: &EcoString,
        member: &'static str,
        texts: &[Text<'_>],
    ) -> Result<EcoVec<Urn>, ResourceError> {
        texts
            .iter()
            .filter(|text| !text.is_empty())
            .map(|text| self.urn(here, member, text))
            .collect()
    }

    fn provider(
        &mut self,
        here: &EcoString,
        text: &str,
    ) -> Result<Option<ProviderRef>, ResourceError> {
        if text.is_empty() {
            return Ok(None);
        }
        if let Some((urn, id)) = text
            .rsplit_once("::")
            .and_then(|(urn, id)| Some((self.urns.get(urn)?, id)))
            && urn.type_token().is_provider()
        {
            return Ok(Some(ProviderRef::new(urn.clone(), id)));
        }
        let parsed = ProviderRef::parse(text);
        parsed.map(Some).map_err(|source| ResourceError::Provider {
            urn: here.clone(),
            source,
        })
    }

    fn property_dependencies(
        &mut self,
        here: &EcoString,
        wire: BTreeMap<EcoString, Option<Vec<Text<'_>>>>,
    ) -> Result<PropertyDependencies, ResourceError> {
        let mut all = PropertyDependencies::new();
        for (key, texts) in wire {
            let urns = self.urns(
                here,
                "propertyDependencies",
                texts.as_deref().unwrap_or_default(),
            )?;
            all.insert(PropertyKey::from(key), urns);
        }
        Ok(all)
    }
}

fn check_required(wire: &WireResource<'_>, here: &EcoString) -> Result<(), ResourceError> {
    if here.is_empty() {
        return Err(ResourceError::MissingUrn);
    }
    if wire.type_token.is_empty() {
        return Err(ResourceError::MissingType { urn: here.clone() });
    }
    if !wire.custom && !wire.id.is_empty() {
        return Err(ResourceError::IdOnComponent { urn: here.clone() });
    }
    Ok(())
}

fn non_empty(text: EcoString) -> Option<EcoString> {
    (!text.is_empty()).then_some(text)
}

pub(crate) fn timeouts(wire: &WireTimeouts<'_>) -> CustomTimeouts {
    CustomTimeouts {
        create: wire.create,
        update: wire.update,
        delete: wire.delete,
        read: wire.read,
    }
}

fn time(
    here: &EcoString,
    member: &'static str,
    text: Option<&str>,
) -> Result<Option<Timestamp>, ResourceError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    match parse_time(text) {
        Ok((time, _)) => Ok(Some(time)),
        Err(_) => Err(ResourceError::Time {
            urn: here.clone(),
            member,
        }),
    }
}

fn hooks(
    here: &EcoString,
    wire: BTreeMap<EcoString, Option<Vec<EcoString>>>,
) -> Result<Hooks, ResourceError> {
    let mut hooks = Hooks::new();
    for (name, hooked) in wire {
        let hook = HookType::ALL.into_iter().find(|hook| hook.as_str() == name);
        let hook = hook.ok_or_else(|| ResourceError::Hook {
            urn: here.clone(),
            hook: name,
        })?;
        hooks.insert(hook, hooked.unwrap_or_default());
    }
    Ok(hooks)
}
