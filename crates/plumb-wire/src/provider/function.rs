//! Messages of functions, parameters and lists of existing objects.

use std::sync::Arc;

use plumb_proto::pulumirpc::{
    self, list_response::Response as ListPart, parameterize_request::Parameters,
    parameterize_request::ParametersArgs, parameterize_request::ParametersValue,
};
use plumb_resource::PropertyDependencies;
use plumb_resource::provider::{
    InvokeRequest, InvokeResponse, ListRequest, ListResponse, ListedObject, Parameterization,
    ProviderError,
};

use super::response::{ANSWER, failures};
use crate::adjust::mark_all_secret;
use crate::property::{decode_map, encode_map};
use crate::{Error, ProviderFeatures};

/// Encodes an Invoke request. Unknown arguments are omitted.
pub fn invoke_request(
    request: &InvokeRequest,
    features: &ProviderFeatures,
) -> Result<pulumirpc::InvokeRequest, Error> {
    Ok(pulumirpc::InvokeRequest {
        tok: request.token.as_str().to_owned(),
        args: Some(encode_map(&request.args, features.request_options())?),
        preview: request.preview,
    })
}

/// Decodes the response of Invoke. The whole result is secret if an argument was secret and the provider does not accept
/// secrets.
pub fn invoke_response(
    response: &pulumirpc::InvokeResponse,
    request: &InvokeRequest,
    features: &ProviderFeatures,
) -> Result<InvokeResponse, ProviderError> {
    let mut result = decode_map(response.r#return.as_ref(), ANSWER.unknowns_or_reject(false))?;
    if !features.accept_secrets && request.args.contains_secrets() {
        mark_all_secret(&mut result);
    }
    Ok(InvokeResponse {
        result: Arc::new(result),
        failures: failures(&response.failures),
        dependencies: PropertyDependencies::new(),
    })
}

/// Encodes a Parameterize request for a parameter from a program or state.
pub fn parameterize_request(parameter: &Parameterization) -> pulumirpc::ParameterizeRequest {
    let value = ParametersValue {
        name: parameter.name.to_string(),
        version: parameter.version.to_string(),
        value: parameter.value.to_vec(),
    };
    pulumirpc::ParameterizeRequest {
        parameters: Some(Parameters::Value(value)),
    }
}

/// Encodes a Parameterize request with command-line arguments.
pub fn parameterize_args_request(args: &[String]) -> pulumirpc::ParameterizeRequest {
    pulumirpc::ParameterizeRequest {
        parameters: Some(Parameters::Args(ParametersArgs {
            args: args.to_vec(),
        })),
    }
}

/// Encodes a List request.
pub fn list_request(
    request: &ListRequest,
    features: &ProviderFeatures,
) -> Result<pulumirpc::ListRequest, Error> {
    Ok(pulumirpc::ListRequest {
        token: request.token.as_str().to_owned(),
        query: Some(encode_map(&request.query, features.request_options())?),
        limit: i64::try_from(request.limit).unwrap_or(i64::MAX),
        page_size: 0,
        continuation_token: request.continuation.to_string(),
    })
}

/// Adds one message of List's response stream to the page.
pub fn add_list_response(page: &mut ListResponse, message: pulumirpc::ListResponse) {
    match message.response {
        Some(ListPart::Computed(_)) => page.unknown = true,
        Some(ListPart::Result(it)) => page.items.push(ListedObject {
            id: it.id.into(),
            name: it.name.into(),
        }),
        Some(ListPart::Continuation(it)) => page.continuation = it.continuation_token.into(),
        None => {}
    }
}
