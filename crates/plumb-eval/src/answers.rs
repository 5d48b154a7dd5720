//! Interpretation of the engine's answers, and messages about failed requests.

use std::sync::Arc;

use ecow::EcoString;
use plumb_deploy::request::{
    InvokeFunctionRequest, PackageRequest, RequestError, RequestErrorKind,
};
use plumb_resource::provider::CheckFailure;
use plumb_resource::{ResourceId, Urn};
use plumb_value::{PropertyMap, Value};

use crate::value::{Providers, ResourceVal, Val};

/// Request for a resource of which only the URN is known.
pub fn get_resource(urn: &EcoString) -> InvokeFunctionRequest {
    InvokeFunctionRequest {
        token: "pulumi:pulumi:getResource".into(),
        args: Arc::new(PropertyMap::new().with("urn", Value::String(urn.clone()))),
        provider: EcoString::new(),
        package: PackageRequest::default(),
        parent: None,
        depends_on: Vec::new(),
    }
}

/// The resource in the answer to [`get_resource`]. With `partial`, missing outputs are unknown, because they may still
/// arrive.
pub fn resource(text: &EcoString, result: &PropertyMap, partial: bool) -> Val {
    let Ok(urn) = Urn::parse(text) else {
        return Val::Poison;
    };
    let id = match result.get("id") {
        Some(Value::String(id)) if !id.is_empty() => ResourceId::Known(id.clone()),
        Some(Value::Computed(_)) => ResourceId::Unknown,
        _ => ResourceId::None,
    };
    let outputs = match result.get("state") {
        Some(Value::Object(state)) => state.clone(),
        _ => Arc::default(),
    };
    Val::Resource(Arc::new(ResourceVal {
        custom: id != ResourceId::None,
        type_token: urn.type_text().into(),
        name: urn.name().into(),
        id,
        outputs,
        partial,
        providers: Providers::default(),
        urn,
    }))
}

/// Message for an invoke whose arguments were rejected.
pub fn failures(token: &str, failures: &[CheckFailure]) -> String {
    let texts: Vec<String> = failures
        .iter()
        .map(|failure| {
            let property = if failure.property.is_empty() {
                String::new()
            } else {
                format!(" ({})", failure.property)
            };
            format!(
                "\t* {token} invoke failed: {}{property}\n\n",
                failure.reason
            )
        })
        .collect();
    let plural = if texts.len() == 1 { "error" } else { "errors" };
    format!("{} {plural} occurred:\n{}", texts.len(), texts.concat())
}

/// Message of a failed request, in the form used by SDKs.
pub fn error_text(error: &RequestError) -> String {
    if error.message.starts_with("rpc error: ") {
        return error.message.to_string();
    }
    let code = match error.kind {
        RequestErrorKind::InvalidArgument => "InvalidArgument",
        RequestErrorKind::Unavailable => "Unavailable",
        RequestErrorKind::FailedPrecondition => "FailedPrecondition",
        RequestErrorKind::Unimplemented => "Unimplemented",
        RequestErrorKind::Unknown => "Unknown",
    };
    format!("rpc error: code = {code} desc = {}", error.message)
}
