//! Decoding of requests to the resource monitor.

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::{
    CallMethodRequest, Callback, HookKind, InvokeFunctionRequest, PackageRequest,
    ReadResourceRequest, RegisterHookRequest, RegisterPackageRequest, RegisterRequest,
};
use plumb_proto::pulumirpc;
use plumb_resource::provider::Parameterization;
use plumb_resource::{Alias, AliasParent, ResourceId, UNKNOWN_SENTINEL, Urn};
use plumb_value::{PropertyKey, PropertyMap, Value};
use plumb_wire::property::{self, monitor};
use plumb_wire::registration;
use tonic::Status;

use crate::position::Positions;

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::invalid_argument(error.to_string())
}

/// An optional URN; `what` names its field in errors (PULUMI-47).
fn optional_urn(text: &str, what: &str) -> Result<Option<Urn>, Status> {
    if text.is_empty() {
        return Ok(None);
    }
    Urn::parse(text)
        .map(Some)
        .map_err(|error| invalid(format!("invalid {what} URN: {error}")))
}

fn urns(texts: &[String], what: &str) -> Result<Vec<Urn>, Status> {
    texts
        .iter()
        .map(|text| {
            Urn::parse(text).map_err(|error| invalid(format!("invalid {what} URN: {error}")))
        })
        .collect()
}

fn texts(texts: Vec<String>) -> Vec<EcoString> {
    texts.into_iter().map(Into::into).collect()
}

fn text_map(map: BTreeMap<String, String>) -> BTreeMap<EcoString, EcoString> {
    map.into_iter()
        .map(|(key, value)| (key.into(), value.into()))
        .collect()
}

fn package(
    version: String,
    download_url: String,
    checksums: BTreeMap<String, Vec<u8>>,
    package_ref: String,
) -> PackageRequest {
    PackageRequest {
        version: version.into(),
        download_url: download_url.into(),
        checksums: hex_checksums(checksums),
        package_ref: package_ref.into(),
    }
}

fn hex_checksums(checksums: BTreeMap<String, Vec<u8>>) -> BTreeMap<EcoString, EcoString> {
    let hex = |bytes: Vec<u8>| {
        bytes
            .iter()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    };
    checksums
        .into_iter()
        .map(|(platform, sum)| (platform.into(), hex(sum).into()))
        .collect()
}

fn map(
    properties: Option<&plumb_proto::prost_types::Struct>,
    options: plumb_wire::MarshalOptions,
) -> Result<Arc<PropertyMap>, Status> {
    property::decode_map(properties, options)
        .map(Arc::new)
        .map_err(invalid)
}

/// Aliases of a registration. Old Node.js SDKs encode "no parent" differently (ALIAS-02).
fn aliases(
    request: &pulumirpc::RegisterResourceRequest,
    is_old_node: bool,
) -> Result<Vec<Alias>, Status> {
    let mut aliases = Vec::new();
    for urn in &request.alias_ur_ns {
        let urn =
            Urn::parse(urn).map_err(|error| invalid(format!("invalid alias URN: {error}")))?;
        aliases.push(Alias::Urn(urn));
    }
    for wire in &request.aliases {
        let what = match &wire.alias {
            Some(pulumirpc::alias::Alias::Spec(_)) => "parent alias",
            _ => "alias",
        };
        let alias = registration::alias_from_wire(wire)
            .map_err(|error| invalid(format!("invalid {what} URN: {error}")))?;
        let Some(mut alias) = alias else { continue };
        if let (true, Alias::Spec(spec)) = (is_old_node && !request.alias_specs, &mut alias) {
            let said = match &wire.alias {
                Some(pulumirpc::alias::Alias::Spec(spec)) => spec.parent.as_ref(),
                _ => None,
            };
            spec.parent = match said {
                Some(pulumirpc::alias::spec::Parent::NoParent(true)) => AliasParent::Same,
                Some(pulumirpc::alias::spec::Parent::ParentUrn(urn)) if !urn.is_empty() => {
                    spec.parent.clone()
                }
                _ => AliasParent::None,
            };
        }
        aliases.push(alias);
    }
    Ok(aliases)
}

pub(super) fn register(
    request: pulumirpc::RegisterResourceRequest,
    positions: &Positions,
    is_old_node: bool,
) -> Result<RegisterRequest, Status> {
    let aliases = aliases(&request, is_old_node)?;
    let property_dependencies = request
        .property_dependencies
        .iter()
        .map(|(key, dependencies)| {
            Ok((
                PropertyKey::from(key.as_str()),
                urns(&dependencies.urns, "dependency")?.into(),
            ))
        })
        .collect::<Result<_, Status>>()?;
    let replacement_trigger = match &request.replacement_trigger {
        Some(value) => {
            property::decode_value("replacementTrigger", value, monitor::REPLACEMENT_TRIGGER)
                .map_err(invalid)?
                .unwrap_or(Value::Null)
        }
        None => Value::Null,
    };
    let is_defined = request.delete_before_replace_defined || request.delete_before_replace;
    Ok(RegisterRequest {
        remote: request.remote,
        parent: optional_urn(&request.parent, "parent")?,
        properties: map(request.object.as_ref(), monitor::REGISTER_OBJECT)?,
        dependencies: urns(&request.dependencies, "dependency")?.into(),
        property_dependencies,
        provider: request.provider.into(),
        providers: text_map(request.providers),
        package: package(
            request.version,
            request.plugin_download_url,
            request.plugin_checksums,
            request.package_ref,
        ),
        protect: request.protect,
        delete_before_replace: is_defined.then_some(request.delete_before_replace),
        ignore_changes: texts(request.ignore_changes).into(),
        hide_diff: texts(request.hide_diffs).into(),
        replace_on_changes: texts(request.replace_on_changes).into(),
        additional_secret_outputs: request
            .additional_secret_outputs
            .into_iter()
            .map(Into::into)
            .collect(),
        aliases: aliases.into(),
        import_id: request.import_id.into(),
        custom_timeouts: registration::timeouts_from_wire(request.custom_timeouts.as_ref())
            .map_err(|error| Status::unknown(error.to_string()))?,
        retain_on_delete: request.retain_on_delete,
        deleted_with: optional_urn(&request.deleted_with, "DeletedWith")?,
        replace_with: urns(&request.replace_with, "ReplaceWith")?.into(),
        replacement_trigger,
        hooks: registration::hooks_from_wire(request.hooks.as_ref()),
        transforms: request.transforms.into_iter().map(callback).collect(),
        env_var_mappings: text_map(request.env_var_mappings),
        source_position: positions.position(request.source_position.as_ref()),
        stack_trace: positions.stack_trace(request.stack_trace.as_ref()).into(),
        ..RegisterRequest::new(&request.r#type, &request.name, request.custom)
    })
}

pub(super) fn callback(callback: pulumirpc::Callback) -> Callback {
    Callback {
        target: callback.target.into(),
        token: callback.token.into(),
        accepts_byte_string: callback.accepts_byte_string,
    }
}

pub(super) fn resource_hook(
    request: pulumirpc::RegisterResourceHookRequest,
) -> RegisterHookRequest {
    RegisterHookRequest {
        name: request.name.into(),
        callback: callback(request.callback.unwrap_or_default()),
        kind: HookKind::Resource {
            on_dry_run: request.on_dry_run,
            ignore_errors: request.ignore_errors,
        },
    }
}

pub(super) fn error_hook(request: pulumirpc::RegisterErrorHookRequest) -> RegisterHookRequest {
    RegisterHookRequest {
        name: request.name.into(),
        callback: callback(request.callback.unwrap_or_default()),
        kind: HookKind::Error,
    }
}

pub(super) fn read(
    request: pulumirpc::ReadResourceRequest,
    positions: &Positions,
) -> Result<ReadResourceRequest, Status> {
    Ok(ReadResourceRequest {
        id: if request.id == UNKNOWN_SENTINEL {
            ResourceId::Unknown
        } else {
            ResourceId::from_text(&request.id)
        },
        type_token: request.r#type.into(),
        name: request.name.into(),
        parent: optional_urn(&request.parent, "parent")?,
        properties: map(request.properties.as_ref(), monitor::READ_PROPERTIES)?,
        dependencies: urns(&request.dependencies, "dependency")?.into(),
        provider: request.provider.into(),
        package: package(
            request.version,
            request.plugin_download_url,
            request.plugin_checksums,
            request.package_ref,
        ),
        additional_secret_outputs: request
            .additional_secret_outputs
            .into_iter()
            .map(Into::into)
            .collect(),
        source_position: positions.position(request.source_position.as_ref()),
        stack_trace: positions.stack_trace(request.stack_trace.as_ref()).into(),
    })
}

pub(super) fn invoke(
    request: pulumirpc::ResourceInvokeRequest,
) -> Result<InvokeFunctionRequest, Status> {
    Ok(InvokeFunctionRequest {
        token: request.tok.into(),
        args: map(request.args.as_ref(), monitor::INVOKE_ARGS)?,
        provider: request.provider.into(),
        package: package(
            request.version,
            request.plugin_download_url,
            request.plugin_checksums,
            request.package_ref,
        ),
        parent: optional_urn(&request.parent, "parent")?,
        depends_on: urns(&request.depends_on, "dependency")?,
    })
}

pub(super) fn call(request: pulumirpc::ResourceCallRequest) -> Result<CallMethodRequest, Status> {
    let dependencies = request
        .arg_dependencies
        .iter()
        .map(|(key, dependencies)| {
            Ok((
                PropertyKey::from(key.as_str()),
                urns(&dependencies.urns, "dependency")?.into(),
            ))
        })
        .collect::<Result<_, Status>>()?;
    Ok(CallMethodRequest {
        token: request.tok.into(),
        args: map(request.args.as_ref(), monitor::CALL_ARGS)?,
        dependencies,
        provider: request.provider.into(),
        package: package(
            request.version,
            request.plugin_download_url,
            request.plugin_checksums,
            request.package_ref,
        ),
    })
}

pub(super) fn register_package(
    request: pulumirpc::RegisterPackageRequest,
) -> RegisterPackageRequest {
    let parameter = |parameter: pulumirpc::Parameterization| Parameterization {
        name: parameter.name.into(),
        version: parameter.version.into(),
        value: parameter.value.into(),
    };
    RegisterPackageRequest {
        name: request.name.into(),
        version: request.version.into(),
        download_url: request.download_url.into(),
        checksums: hex_checksums(request.checksums),
        parameterization: request.parameterization.map(parameter),
        extension: request.extension.map(parameter),
    }
}
