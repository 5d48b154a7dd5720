//! Conversion of YAML programs' requests to the wire format, and of the replies.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::{
    InvokeFunctionRequest, InvokeReply, Outcome, ReadResourceReply, ReadResourceRequest,
    RegisterOutputsRequest, RegisterPackageRequest, RegisterReply, RegisterRequest, Reply,
};
use plumb_proto::prost_types::Struct;
use plumb_proto::pulumirpc as pb;
use plumb_proto::pulumirpc::register_resource_request::PropertyDependencies as WireDependencies;
use plumb_resource::provider::{CheckFailure, Parameterization};
use plumb_resource::{PropertyDependencies, ResourceId, UNKNOWN_SENTINEL, Urn};
use plumb_value::{PropertyKey, PropertyMap, Value};
use plumb_wire::property::{self, MarshalOptions};
use plumb_wire::registration;
use tonic::Status;

/// Value kinds in the replies of engines.
const REPLIES: MarshalOptions = MarshalOptions::RICH;

/// Form of the requests to an engine.
#[derive(Clone, Copy)]
pub(super) struct Form<'a> {
    /// Folder of the project file.
    pub(super) root: &'a Path,
    /// Value kinds that the engine accepts for custom resources; output values are only for remote components.
    pub(super) values: MarshalOptions,
}

fn internal(error: impl std::fmt::Display) -> Status {
    Status::internal(error.to_string())
}

fn texts(texts: &[EcoString]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn keys(keys: &[PropertyKey]) -> Vec<String> {
    keys.iter().map(ToString::to_string).collect()
}

fn urns(urns: &[Urn]) -> Vec<String> {
    urns.iter().map(ToString::to_string).collect()
}

fn optional(urn: Option<&Urn>) -> String {
    urn.map(ToString::to_string).unwrap_or_default()
}

fn text_map(map: &BTreeMap<EcoString, EcoString>) -> BTreeMap<String, String> {
    map.iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect()
}

fn bytes_of(checksums: &BTreeMap<EcoString, EcoString>) -> BTreeMap<String, Vec<u8>> {
    let bytes = |hex: &EcoString| {
        (0..hex.len() / 2)
            .filter_map(|at| u8::from_str_radix(hex.get(at * 2..at * 2 + 2)?, 16).ok())
            .collect()
    };
    checksums
        .iter()
        .map(|(platform, sum)| (platform.to_string(), bytes(sum)))
        .collect()
}

/// Source position in the form of SDKs: a file in the project, and a line.
fn position(told: Option<&EcoString>, root: &Path) -> Option<pb::SourcePosition> {
    let (path, place) = told?.strip_prefix("project:///")?.split_once('#')?;
    let (line, column) = place.split_once(',').unwrap_or((place, "0"));
    Some(pb::SourcePosition {
        uri: format!("file://{}", root.join(path).display()),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    })
}

pub(super) fn register(
    request: &RegisterRequest,
    form: Form<'_>,
) -> Result<pb::RegisterResourceRequest, Status> {
    let options = form.values.outputs(request.remote);
    let replacement_trigger = match &request.replacement_trigger {
        Value::Null => None,
        value => property::encode_value("replacementTrigger", value, form.values.outputs(true))
            .map_err(internal)?,
    };
    let package = &request.package;
    Ok(pb::RegisterResourceRequest {
        r#type: request.type_token.to_string(),
        name: request.name.to_string(),
        parent: optional(request.parent.as_ref()),
        custom: request.custom,
        object: Some(property::encode_map(&request.properties, options).map_err(internal)?),
        protect: request.protect,
        dependencies: urns(&request.dependencies),
        provider: request.provider.to_string(),
        property_dependencies: request
            .property_dependencies
            .iter()
            .map(|(key, of)| (key.to_string(), WireDependencies { urns: urns(of) }))
            .collect(),
        delete_before_replace: request.delete_before_replace.unwrap_or_default(),
        delete_before_replace_defined: request.delete_before_replace.is_some(),
        version: package.version.to_string(),
        plugin_download_url: package.download_url.to_string(),
        plugin_checksums: bytes_of(&package.checksums),
        package_ref: package.package_ref.to_string(),
        ignore_changes: texts(&request.ignore_changes),
        hide_diffs: texts(&request.hide_diff),
        replace_on_changes: texts(&request.replace_on_changes),
        additional_secret_outputs: keys(&request.additional_secret_outputs),
        aliases: request
            .aliases
            .iter()
            .map(registration::alias_to_wire)
            .collect(),
        alias_specs: true,
        import_id: request.import_id.to_string(),
        custom_timeouts: request.custom_timeouts.map(registration::timeouts_to_wire),
        accept_secrets: true,
        accept_resources: true,
        accepts_byte_string: true,
        supports_partial_values: true,
        supports_result_reporting: true,
        remote: request.remote,
        providers: text_map(&request.providers),
        retain_on_delete: request.retain_on_delete,
        deleted_with: optional(request.deleted_with.as_ref()),
        replace_with: urns(&request.replace_with),
        replacement_trigger,
        hooks: registration::hooks_to_wire(&request.hooks),
        env_var_mappings: text_map(&request.env_var_mappings),
        source_position: position(request.source_position.as_ref(), form.root),
        ..pb::RegisterResourceRequest::default()
    })
}

/// `custom` tells whether the resource has an id, which can be unknown in previews.
pub(super) fn registered(
    response: pb::RegisterResourceResponse,
    custom: bool,
) -> Result<Reply, Status> {
    let property_dependencies = response
        .property_dependencies
        .iter()
        .map(|(key, of)| Ok((PropertyKey::from(key.as_str()), parsed(&of.urns)?.into())))
        .collect::<Result<PropertyDependencies, Status>>()?;
    Ok(Reply::Registered(RegisterReply {
        urn: parsed_urn(&response.urn)?,
        id: match id_of(&response.id) {
            ResourceId::None if custom => ResourceId::Unknown,
            id => id,
        },
        outputs: decoded(response.object.as_ref())?,
        property_dependencies,
        outcome: outcome_of(response.result),
        unknown: response.unknown,
    }))
}

pub(super) fn read(
    request: &ReadResourceRequest,
    form: Form<'_>,
) -> Result<pb::ReadResourceRequest, Status> {
    let package = &request.package;
    let id = match &request.id {
        ResourceId::Unknown => UNKNOWN_SENTINEL.to_owned(),
        id => id.as_str().to_owned(),
    };
    Ok(pb::ReadResourceRequest {
        id,
        r#type: request.type_token.to_string(),
        name: request.name.to_string(),
        parent: optional(request.parent.as_ref()),
        properties: Some(property::encode_map(&request.properties, form.values).map_err(internal)?),
        dependencies: urns(&request.dependencies),
        provider: request.provider.to_string(),
        version: package.version.to_string(),
        plugin_download_url: package.download_url.to_string(),
        plugin_checksums: bytes_of(&package.checksums),
        package_ref: package.package_ref.to_string(),
        additional_secret_outputs: keys(&request.additional_secret_outputs),
        accept_secrets: true,
        accept_resources: true,
        accepts_byte_string: true,
        source_position: position(request.source_position.as_ref(), form.root),
        ..pb::ReadResourceRequest::default()
    })
}

/// Older engines omit the id in their reply.
pub(super) fn was_read(
    response: pb::ReadResourceResponse,
    asked: &ResourceId,
) -> Result<Reply, Status> {
    let id = match response.id.as_str() {
        "" => asked.clone(),
        id => id_of(id),
    };
    Ok(Reply::Read(ReadResourceReply {
        urn: parsed_urn(&response.urn)?,
        id,
        outputs: decoded(response.properties.as_ref())?,
        outcome: outcome_of(response.result),
    }))
}

pub(super) fn outputs(
    request: &RegisterOutputsRequest,
    form: Form<'_>,
) -> Result<pb::RegisterResourceOutputsRequest, Status> {
    Ok(pb::RegisterResourceOutputsRequest {
        urn: request.urn.to_string(),
        outputs: Some(property::encode_map(&request.outputs, form.values).map_err(internal)?),
    })
}

pub(super) fn invoke(
    request: &InvokeFunctionRequest,
    form: Form<'_>,
) -> Result<pb::ResourceInvokeRequest, Status> {
    let package = &request.package;
    Ok(pb::ResourceInvokeRequest {
        tok: request.token.to_string(),
        args: Some(property::encode_map(&request.args, form.values).map_err(internal)?),
        provider: request.provider.to_string(),
        version: package.version.to_string(),
        plugin_download_url: package.download_url.to_string(),
        plugin_checksums: bytes_of(&package.checksums),
        package_ref: package.package_ref.to_string(),
        accept_resources: true,
        parent: optional(request.parent.as_ref()),
        depends_on: urns(&request.depends_on),
        ..pb::ResourceInvokeRequest::default()
    })
}

pub(super) fn invoked(response: pb::ResourceInvokeResponse) -> Result<Reply, Status> {
    let failures = response.failures.into_iter();
    Ok(Reply::Invoked(InvokeReply {
        result: decoded(response.r#return.as_ref())?,
        failures: failures
            .map(|failure| CheckFailure {
                property: failure.property.as_str().into(),
                reason: failure.reason.as_str().into(),
            })
            .collect(),
        dependencies: PropertyDependencies::new(),
        unknown: response.unknown,
    }))
}

pub(super) fn package(request: &RegisterPackageRequest) -> pb::RegisterPackageRequest {
    let parameter = |parameter: &Parameterization| pb::Parameterization {
        name: parameter.name.to_string(),
        version: parameter.version.to_string(),
        value: parameter.value.to_vec(),
    };
    pb::RegisterPackageRequest {
        name: request.name.to_string(),
        version: request.version.to_string(),
        download_url: request.download_url.to_string(),
        checksums: bytes_of(&request.checksums),
        parameterization: request.parameterization.as_ref().map(parameter),
        extension: request.extension.as_ref().map(parameter),
    }
}

fn decoded(map: Option<&Struct>) -> Result<Arc<PropertyMap>, Status> {
    property::decode_map(map, REPLIES)
        .map(Arc::new)
        .map_err(internal)
}

fn parsed_urn(text: &str) -> Result<Urn, Status> {
    Urn::parse(text).map_err(|error| internal(format!("the engine answered a bad URN: {error}")))
}

fn parsed(texts: &[String]) -> Result<Vec<Urn>, Status> {
    texts.iter().map(|text| parsed_urn(text)).collect()
}

fn id_of(text: &str) -> ResourceId {
    if text == UNKNOWN_SENTINEL {
        ResourceId::Unknown
    } else {
        ResourceId::from_text(text)
    }
}

fn outcome_of(result: i32) -> Outcome {
    match pb::Result::try_from(result) {
        Ok(pb::Result::Fail) => Outcome::Failed,
        Ok(pb::Result::Skip) => Outcome::Skipped,
        Ok(pb::Result::Success) | Err(_) => Outcome::Success,
    }
}
