//! The provider's side of the calls: decodes requests and encodes responses (`protocol.md` 3.2).
//!
//! For built-in providers that are served to other engines. They have no components, so Construct and Call are missing.

use std::sync::Arc;

use plumb_proto::pulumirpc::{
    self, ErrorResourceInitFailed, InputPropertiesError, check_request::autonaming_options::Mode,
    diff_response, input_properties_error::PropertyError, parameterize_request::Parameters,
    property_diff,
};
use plumb_proto::status::{to_any, with_details};
use plumb_proto::tonic::{Code, Status};
use plumb_resource::provider::{
    Autonaming, CheckConfigRequest, CheckFailure, CheckRequest, CheckResponse, ConfigureRequest,
    CreateRequest, CreateResponse, DeleteRequest, DiffChanges, DiffKind, DiffRequest, DiffResult,
    InvokeRequest, InvokeResponse, Parameterization, PartialFailure, ProviderError, ReadRequest,
    ReadResponse, ResourceStatus, UpdateRequest, UpdateResponse,
};
use plumb_resource::{InvalidUrn, ResourceId, TypeToken, UNKNOWN_SENTINEL, Urn};
use plumb_value::PropertyMap;
use prost_types::Struct;

use super::view::{read_old_views, read_status};
use crate::property::{decode_map, decode_optional_map, encode_map, encode_optional_map};
use crate::{Error, MarshalOptions};

/// Features of the engine, from its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineFeatures {
    /// Accepts secrets; from Configure.
    pub accept_secrets: bool,
    /// Accepts resource references; from Configure.
    pub accept_resources: bool,
    /// Accepts strings that are not valid UTF-8; from Handshake.
    pub accepts_byte_strings: bool,
}

impl EngineFeatures {
    /// The features in a Handshake request.
    pub fn from_handshake(request: &pulumirpc::ProviderHandshakeRequest) -> Self {
        EngineFeatures {
            accepts_byte_strings: request.accepts_byte_string,
            ..EngineFeatures::default()
        }
    }

    /// The features after a Configure request.
    #[must_use]
    pub fn after_configure(self, request: &pulumirpc::ConfigureRequest) -> Self {
        EngineFeatures {
            accept_secrets: request.accept_secrets,
            accept_resources: request.accept_resources,
            ..self
        }
    }

    fn options(self) -> MarshalOptions {
        MarshalOptions::PLAIN
            .unknowns(true)
            .secrets(self.accept_secrets)
            .resources(self.accept_resources)
            .byte_strings(self.accepts_byte_strings)
            .nil(true)
    }
}

/// Errors of decoding a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A value is malformed.
    #[error(transparent)]
    Value(#[from] Error),
    /// A URN is not valid.
    #[error(transparent)]
    Urn(#[from] InvalidUrn),
    /// A name or type does not match the URN.
    #[error("{field} {given:?} does not match the URN {urn}")]
    Mismatch {
        /// `name` or `type`.
        field: &'static str,
        /// Value of the field.
        given: String,
        /// The URN.
        urn: Urn,
    },
    /// A required field is missing.
    #[error("the request has no {field}")]
    Missing {
        /// Name of the field.
        field: &'static str,
    },
}

impl From<RequestError> for Status {
    fn from(error: RequestError) -> Self {
        Status::invalid_argument(error.to_string())
    }
}

const REQUEST: MarshalOptions = MarshalOptions::RICH;

fn read_urn(urn: &str, name: &str, type_token: &str) -> Result<Urn, RequestError> {
    let urn = Urn::parse(urn)?;
    let differs = |given: &str, own: &str| !given.is_empty() && given != own;
    let (field, given) = if differs(name, urn.name()) {
        ("name", name)
    } else if differs(type_token, urn.type_text()) {
        ("type", type_token)
    } else {
        return Ok(urn);
    };
    Err(RequestError::Mismatch {
        field,
        given: given.to_owned(),
        urn,
    })
}

fn read_map(map: Option<&Struct>) -> Result<Arc<PropertyMap>, RequestError> {
    Ok(Arc::new(decode_map(map, REQUEST)?))
}

fn read_optional_map(map: Option<&Struct>) -> Result<Option<Arc<PropertyMap>>, RequestError> {
    Ok(decode_optional_map(map, REQUEST.nil(true))?.map(Arc::new))
}

/// Decodes a CheckConfig request.
pub fn check_config_request(
    request: &pulumirpc::CheckRequest,
) -> Result<CheckConfigRequest, RequestError> {
    Ok(CheckConfigRequest {
        urn: read_urn(&request.urn, &request.name, &request.r#type)?,
        old_inputs: read_optional_map(request.olds.as_ref())?,
        new_inputs: read_map(request.news.as_ref())?,
        allow_unknowns: true,
    })
}

/// Decodes a Configure request.
pub fn configure_request(
    request: &pulumirpc::ConfigureRequest,
) -> Result<ConfigureRequest, RequestError> {
    let urn = request
        .urn
        .as_deref()
        .ok_or(RequestError::Missing { field: "urn" })?;
    let name = request.name.as_deref().unwrap_or_default();
    let type_token = request.r#type.as_deref().unwrap_or_default();
    Ok(ConfigureRequest {
        urn: read_urn(urn, name, type_token)?,
        id: read_id(request.id.as_deref().unwrap_or_default()),
        inputs: read_map(request.args.as_ref())?,
    })
}

fn read_id(text: &str) -> ResourceId {
    if text == UNKNOWN_SENTINEL {
        ResourceId::Unknown
    } else {
        ResourceId::from_text(text)
    }
}

/// Decodes a Check request. An unknown mode of autonaming counts as a proposal.
pub fn check_request(request: &pulumirpc::CheckRequest) -> Result<CheckRequest, RequestError> {
    let autonaming = request.autonaming.as_ref().map(|options| {
        let name = options.proposed_name.as_str().into();
        match Mode::try_from(options.mode) {
            Ok(Mode::Enforce) => Autonaming::Enforce(name),
            Ok(Mode::Disable) => Autonaming::Disabled,
            Ok(Mode::Propose) | Err(_) => Autonaming::Propose(name),
        }
    });
    Ok(CheckRequest {
        urn: read_urn(&request.urn, &request.name, &request.r#type)?,
        old_inputs: read_optional_map(request.olds.as_ref())?,
        new_inputs: read_map(request.news.as_ref())?,
        allow_unknowns: true,
        random_seed: request.random_seed.as_slice().into(),
        autonaming,
    })
}

/// Decodes a Diff or DiffConfig request. Older engines send no old inputs; the old outputs are used instead.
pub fn diff_request(request: &pulumirpc::DiffRequest) -> Result<DiffRequest, RequestError> {
    let old_outputs = read_map(request.olds.as_ref())?;
    Ok(DiffRequest {
        urn: read_urn(&request.urn, &request.name, &request.r#type)?,
        id: read_id(&request.id),
        old_inputs: read_optional_map(request.old_inputs.as_ref())?
            .unwrap_or_else(|| old_outputs.clone()),
        old_outputs,
        new_inputs: read_map(request.news.as_ref())?,
        allow_unknowns: true,
        ignore_changes: request.ignore_changes.iter().map(Into::into).collect(),
    })
}

/// Decodes a Create request.
pub fn create_request(request: &pulumirpc::CreateRequest) -> Result<CreateRequest, RequestError> {
    Ok(CreateRequest {
        urn: read_urn(&request.urn, &request.name, &request.r#type)?,
        inputs: read_map(request.properties.as_ref())?,
        timeout: request.timeout,
        preview: request.preview,
        status: read_status(
            &request.resource_status_address,
            &request.resource_status_token,
        ),
    })
}

/// Decodes a Read request.
pub fn read_request(request: &pulumirpc::ReadRequest) -> Result<ReadRequest, RequestError> {
    Ok(ReadRequest {
        urn: read_urn(&request.urn, &request.name, &request.r#type)?,
        id: read_id(&request.id),
        inputs: read_optional_map(request.inputs.as_ref())?,
        outputs: read_map(request.properties.as_ref())?,
        timeout: request.timeout,
        old_views: read_old_views(&request.old_views, REQUEST)?,
        status: read_status(
            &request.resource_status_address,
            &request.resource_status_token,
        ),
    })
}

/// Decodes an Update request. Older engines send no old inputs; the old outputs are used instead.
pub fn update_request(request: &pulumirpc::UpdateRequest) -> Result<UpdateRequest, RequestError> {
    let old_outputs = read_map(request.olds.as_ref())?;
    Ok(UpdateRequest {
        urn: read_urn(&request.urn, &request.name, &request.r#type)?,
        id: read_id(&request.id),
        old_inputs: read_optional_map(request.old_inputs.as_ref())?
            .unwrap_or_else(|| old_outputs.clone()),
        old_outputs,
        new_inputs: read_map(request.news.as_ref())?,
        ignore_changes: request.ignore_changes.iter().map(Into::into).collect(),
        timeout: request.timeout,
        preview: request.preview,
        old_views: read_old_views(&request.old_views, REQUEST)?,
        status: read_status(
            &request.resource_status_address,
            &request.resource_status_token,
        ),
    })
}

/// Decodes a Delete request.
pub fn delete_request(request: &pulumirpc::DeleteRequest) -> Result<DeleteRequest, RequestError> {
    Ok(DeleteRequest {
        urn: read_urn(&request.urn, &request.name, &request.r#type)?,
        id: read_id(&request.id),
        inputs: read_map(request.old_inputs.as_ref())?,
        outputs: read_map(request.properties.as_ref())?,
        timeout: request.timeout,
        old_views: read_old_views(&request.old_views, REQUEST)?,
        status: read_status(
            &request.resource_status_address,
            &request.resource_status_token,
        ),
    })
}

/// Decodes an Invoke request.
pub fn invoke_request(request: &pulumirpc::InvokeRequest) -> Result<InvokeRequest, RequestError> {
    Ok(InvokeRequest {
        token: TypeToken::new(request.tok.as_str()),
        args: read_map(request.args.as_ref())?,
        preview: request.preview,
    })
}

/// Decodes a Parameterize request with a value; command-line arguments are not a [`Parameterization`].
pub fn parameterize_request(
    request: &pulumirpc::ParameterizeRequest,
) -> Result<Parameterization, RequestError> {
    match &request.parameters {
        Some(Parameters::Value(value)) => Ok(Parameterization {
            name: value.name.as_str().into(),
            version: value.version.as_str().into(),
            value: value.value.as_slice().into(),
        }),
        Some(Parameters::Args(_)) | None => Err(RequestError::Missing {
            field: "parameter value",
        }),
    }
}

/// Encodes the response of Check and CheckConfig.
pub fn check_response(
    response: &CheckResponse,
    engine: EngineFeatures,
) -> Result<pulumirpc::CheckResponse, Error> {
    Ok(pulumirpc::CheckResponse {
        inputs: encode_optional_map(response.inputs.as_deref(), engine.options())?,
        failures: write_failures(&response.failures),
    })
}

fn write_failures(failures: &[CheckFailure]) -> Vec<pulumirpc::CheckFailure> {
    let write = |failure: &CheckFailure| pulumirpc::CheckFailure {
        property: failure.property.to_string(),
        reason: failure.reason.to_string(),
    };
    failures.iter().map(write).collect()
}

/// Encodes the response of Diff and DiffConfig.
pub fn diff_response(result: &DiffResult) -> pulumirpc::DiffResponse {
    let changes = match result.changes {
        DiffChanges::Unknown => diff_response::DiffChanges::DiffUnknown,
        DiffChanges::None => diff_response::DiffChanges::DiffNone,
        DiffChanges::Some => diff_response::DiffChanges::DiffSome,
    };
    let detailed = result
        .detailed_diff
        .iter()
        .flatten()
        .map(|(path, difference)| {
            let kind = write_kind(difference.kind) as i32;
            (
                path.to_string(),
                pulumirpc::PropertyDiff {
                    kind,
                    input_diff: difference.input_diff,
                },
            )
        });
    pulumirpc::DiffResponse {
        replaces: super::component::strings(&result.replace_keys),
        stables: super::component::strings(&result.stable_keys),
        delete_before_replace: result.delete_before_replace,
        changes: changes as i32,
        diffs: super::component::strings(&result.changed_keys),
        detailed_diff: detailed.collect(),
        has_detailed_diff: result.detailed_diff.is_some(),
    }
}

fn write_kind(kind: DiffKind) -> property_diff::Kind {
    match kind {
        DiffKind::Add => property_diff::Kind::Add,
        DiffKind::AddReplace => property_diff::Kind::AddReplace,
        DiffKind::Delete => property_diff::Kind::Delete,
        DiffKind::DeleteReplace => property_diff::Kind::DeleteReplace,
        DiffKind::Update => property_diff::Kind::Update,
        DiffKind::UpdateReplace => property_diff::Kind::UpdateReplace,
    }
}

/// Encodes the response of Create.
pub fn create_response(
    response: &CreateResponse,
    engine: EngineFeatures,
) -> Result<pulumirpc::CreateResponse, Error> {
    Ok(pulumirpc::CreateResponse {
        id: response.id.as_str().to_owned(),
        properties: Some(encode_map(&response.outputs, engine.options())?),
        refresh_before_update: response.refresh_before_update,
    })
}

/// Encodes the response of Read.
pub fn read_response(
    response: &ReadResponse,
    engine: EngineFeatures,
) -> Result<pulumirpc::ReadResponse, Error> {
    Ok(pulumirpc::ReadResponse {
        id: response.id.as_str().to_owned(),
        properties: encode_optional_map(response.outputs.as_deref(), engine.options())?,
        inputs: encode_optional_map(response.inputs.as_deref(), engine.options())?,
        refresh_before_update: response.refresh_before_update,
    })
}

/// Encodes the response of Update.
pub fn update_response(
    response: &UpdateResponse,
    engine: EngineFeatures,
) -> Result<pulumirpc::UpdateResponse, Error> {
    Ok(pulumirpc::UpdateResponse {
        properties: Some(encode_map(&response.outputs, engine.options())?),
        refresh_before_update: response.refresh_before_update,
    })
}

/// Encodes the response of Invoke.
pub fn invoke_response(
    response: &InvokeResponse,
    engine: EngineFeatures,
) -> Result<pulumirpc::InvokeResponse, Error> {
    Ok(pulumirpc::InvokeResponse {
        r#return: Some(encode_map(&response.result, engine.options())?),
        failures: write_failures(&response.failures),
    })
}

/// Encodes an error, with the code and details that describe the state of the resource.
pub fn error_status(error: &ProviderError, engine: EngineFeatures) -> Status {
    if !error.properties.is_empty() {
        let write = |problem: &CheckFailure| PropertyError {
            property_path: problem.property.to_string(),
            reason: problem.reason.to_string(),
        };
        let details = InputPropertiesError {
            errors: error.properties.iter().map(write).collect(),
        };
        return with_details(
            Code::InvalidArgument,
            error.message.as_str(),
            vec![to_any(&details)],
        );
    }
    match &error.status {
        ResourceStatus::Unchanged => Status::failed_precondition(error.message.as_str()),
        ResourceStatus::Unknown => Status::unknown(error.message.as_str()),
        ResourceStatus::Partial(partial) => match init_failed(partial, engine) {
            Ok(details) => with_details(
                Code::Unknown,
                error.message.as_str(),
                vec![to_any(&details)],
            ),
            Err(unwritable) => Status::unknown(format!("{}: {unwritable}", error.message)),
        },
    }
}

fn init_failed(
    partial: &PartialFailure,
    engine: EngineFeatures,
) -> Result<ErrorResourceInitFailed, Error> {
    Ok(ErrorResourceInitFailed {
        id: partial.id.as_str().to_owned(),
        properties: encode_optional_map(partial.outputs.as_deref(), engine.options())?,
        reasons: super::component::strings(&partial.reasons),
        inputs: encode_optional_map(partial.inputs.as_deref(), engine.options())?,
        refresh_before_update: partial.refresh_before_update,
    })
}
