//! Messages of hooks (`protocol.md` 8).

use ecow::EcoString;
use plumb_proto::prost_types::Struct;
use plumb_proto::pulumirpc::{self, ErrorHookRequest, ResourceHookRequest, ResourceOptions};
use plumb_resource::hook::{ErrorHookCall, HookCall};
use plumb_resource::{ProviderRef, ResourceState, Urn};
use plumb_value::{PropertyKey, PropertyMap};

use crate::property::encode_map;
use crate::registration::{hooks_to_wire, timeouts_to_wire};
use crate::urns::{optional_urn, urns};
use crate::{Error, MarshalOptions};

/// Encodes the call of a resource hook.
pub fn resource_hook_request(
    call: &HookCall,
    options: MarshalOptions,
) -> Result<ResourceHookRequest, Error> {
    let map = |map: &Option<_>| optional_map(map.as_deref(), options);
    Ok(ResourceHookRequest {
        urn: call.urn.to_string(),
        id: call.id.as_str().to_owned(),
        name: call.urn.name().to_owned(),
        r#type: call.urn.type_token().to_string(),
        new_inputs: map(&call.new_inputs)?,
        old_inputs: map(&call.old_inputs)?,
        new_outputs: map(&call.new_outputs)?,
        old_outputs: map(&call.old_outputs)?,
        old_options: call.old_options.as_deref().map(resource_options),
        new_options: call.new_options.as_deref().map(resource_options),
    })
}

/// Encodes the call of an error hook.
pub fn error_hook_request(
    call: &ErrorHookCall,
    options: MarshalOptions,
) -> Result<ErrorHookRequest, Error> {
    let resource = resource_hook_request(&call.resource, options)?;
    Ok(ErrorHookRequest {
        urn: resource.urn,
        id: resource.id,
        name: resource.name,
        r#type: resource.r#type,
        new_inputs: resource.new_inputs,
        old_inputs: resource.old_inputs,
        old_outputs: resource.old_outputs,
        failed_operation: call.operation.as_str().to_owned(),
        errors: texts(&call.errors),
        old_options: resource.old_options,
        new_options: resource.new_options,
    })
}

fn optional_map(
    map: Option<&PropertyMap>,
    options: MarshalOptions,
) -> Result<Option<Struct>, Error> {
    map.map(|map| encode_map(map, options)).transpose()
}

/// Options recorded in a state. Options that only serve to find or replace a provider are omitted.
fn resource_options(state: &ResourceState) -> ResourceOptions {
    let alias = |urn: &Urn| pulumirpc::Alias {
        alias: Some(pulumirpc::alias::Alias::Urn(urn.to_string())),
    };
    ResourceOptions {
        depends_on: urns(&state.dependencies),
        protect: Some(state.protect),
        ignore_changes: texts(&state.ignore_changes),
        replace_on_changes: texts(&state.replace_on_changes),
        aliases: state.aliases.iter().map(alias).collect(),
        provider: state
            .provider
            .as_ref()
            .map(ProviderRef::to_string)
            .unwrap_or_default(),
        custom_timeouts: (!state.custom_timeouts.is_default())
            .then(|| timeouts_to_wire(state.custom_timeouts)),
        retain_on_delete: Some(state.retain_on_delete),
        deleted_with: optional_urn(state.deleted_with.as_ref()),
        additional_secret_outputs: state
            .additional_secret_outputs
            .iter()
            .map(PropertyKey::to_string)
            .collect(),
        hooks: hooks_to_wire(&state.hooks),
        import: state.import_id.to_string(),
        hide_diff: texts(&state.hide_diff),
        replace_with: urns(&state.replace_with),
        parent: optional_urn(state.parent.as_ref()),
        ..ResourceOptions::default()
    }
}

fn texts(texts: &[EcoString]) -> Vec<String> {
    texts.iter().map(EcoString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plumb_resource::hook::FailedOperation;
    use plumb_resource::{HookType, ResourceId, ResourceKind};
    use plumb_value::Value;

    use super::*;
    use crate::property::{decode_map, peers};

    fn urn(name: &str) -> Urn {
        Urn::parse(&format!("urn:pulumi:s::p::a:b:C::{name}")).unwrap()
    }

    fn state(value: impl Into<Value>) -> Arc<ResourceState> {
        Arc::new(ResourceState {
            id: ResourceId::Known("id".into()),
            inputs: Arc::new(PropertyMap::new().with("value", value)),
            parent: Some(urn("parent")),
            dependencies: [urn("other")].into(),
            protect: true,
            additional_secret_outputs: ["secret".into()].into(),
            ignore_changes: ["ignored".into()].into(),
            replace_on_changes: ["replacing".into()].into(),
            hooks: [(HookType::AfterCreate, vec!["h".into()])].into(),
            ..ResourceState::new(urn("a"), ResourceKind::Custom)
        })
    }

    /// HOOK-03
    #[test]
    fn options_are_those_of_the_state() {
        let call = HookCall::create(state("1"));
        let wire = resource_hook_request(&call, peers::callback(false)).unwrap();
        assert_eq!((wire.name.as_str(), wire.r#type.as_str()), ("a", "a:b:C"));
        assert_eq!(wire.old_options, None);
        let options = wire.new_options.unwrap();
        assert_eq!(
            (options.protect, options.retain_on_delete),
            (Some(true), Some(false))
        );
        assert_eq!(options.parent, urn("parent").to_string());
        assert_eq!(options.depends_on, [urn("other").to_string()]);
        assert_eq!(options.additional_secret_outputs, ["secret"]);
        assert_eq!(options.ignore_changes, ["ignored"]);
        assert_eq!(options.replace_on_changes, ["replacing"]);
        assert_eq!(options.hooks.unwrap().after_create, ["h"]);
        assert_eq!(options.custom_timeouts, None);
    }

    /// HOOK-21
    #[test]
    fn strings_that_are_not_text_go_to_who_accepts_them() {
        let bytes = Value::Bytes(Arc::from([0xff, b'x'].as_slice()));
        let call = HookCall::create(state(bytes));
        let options = peers::callback(true);
        let wire = resource_hook_request(&call, options).unwrap();
        let inputs = decode_map(wire.new_inputs.as_ref(), options).unwrap();
        assert_eq!(Some(&inputs), call.new_inputs.as_deref());
        assert!(resource_hook_request(&call, peers::callback(false)).is_err());
    }

    #[test]
    fn what_there_is_not_is_absent() {
        let options = peers::callback(false);
        let create = resource_hook_request(&HookCall::create(state("1")), options).unwrap();
        assert_eq!((&create.old_inputs, &create.old_outputs), (&None, &None));
        assert_eq!(create.new_outputs, None);
        let call = ErrorHookCall {
            resource: HookCall::delete(state("1")),
            operation: FailedOperation::Delete,
            errors: vec!["second".into(), "first".into()],
        };
        let delete = error_hook_request(&call, options).unwrap();
        assert_eq!((&delete.new_inputs, &delete.new_options), (&None, &None));
        assert_eq!(delete.old_inputs, create.new_inputs);
        assert!(delete.old_outputs.is_some() && delete.old_options.is_some());
        assert_eq!(delete.failed_operation, "delete");
        assert_eq!(delete.errors, ["second", "first"]);
        assert_eq!(delete.id, "id");
    }
}
