//! Calls of functions in the program (`protocol.md` 8).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use ecow::EcoString;
use plumb_deploy::request::{
    Callback, CallbackReply, CallbackRequest, InvokeFunctionRequest, RegisterRequest,
};
use plumb_plugin::trace_context::{Connection, TraceContext};
use plumb_proto::MAX_MESSAGE_SIZE;
use plumb_proto::prost::Message;
use plumb_proto::pulumirpc::callbacks_client::CallbacksClient;
use plumb_proto::pulumirpc::{
    CallbackInvokeRequest, ErrorHookResponse, ResourceHookResponse, TransformInvokeOptions,
    TransformInvokeRequest, TransformInvokeResponse, TransformRequest, TransformResourceOptions,
    TransformResponse,
};
use plumb_resource::Urn;
use plumb_wire::property::{self, peers};
use plumb_wire::{hook, registration};
use tonic::transport::Endpoint;

/// Connections to callback servers of programs, one per address.
#[derive(Clone, Default)]
pub(crate) struct Callbacks {
    connections: Arc<Mutex<HashMap<EcoString, CallbacksClient<Connection>>>>,
}

impl Callbacks {
    fn client(&self, target: &EcoString) -> Result<CallbacksClient<Connection>, String> {
        let mut connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = connections.get(target) {
            return Ok(client.clone());
        }
        let endpoint = Endpoint::from_shared(format!("http://{target}"))
            .map_err(|error| format!("the callback address {target:?} is not one: {error}"))?;
        let client = CallbacksClient::new(TraceContext::over(endpoint.connect_lazy()))
            .max_decoding_message_size(MAX_MESSAGE_SIZE);
        connections.insert(target.clone(), client.clone());
        Ok(client)
    }

    /// Calls `callback` and decodes its answer.
    pub(crate) async fn call(
        self,
        callback: Callback,
        request: CallbackRequest,
    ) -> Result<CallbackReply, String> {
        match request {
            CallbackRequest::Transform(request) => {
                let wire = transform_request(&request, &callback)?;
                let bytes = self.invoke(&callback, wire.encode_to_vec()).await?;
                let answer = TransformResponse::decode(bytes.as_slice())
                    .map_err(|error| format!("unmarshaling transform response: proto: {error}"))?;
                Ok(CallbackReply::Transformed(Box::new(transformed(
                    *request, answer, &callback,
                )?)))
            }
            CallbackRequest::InvokeTransform(request) => {
                let wire = invoke_request(&request, &callback)?;
                let bytes = self.invoke(&callback, wire.encode_to_vec()).await?;
                let answer = TransformInvokeResponse::decode(bytes.as_slice())
                    .map_err(|error| format!("unmarshaling transform response: proto: {error}"))?;
                Ok(CallbackReply::InvokeTransformed(Box::new(
                    invoke_transformed(*request, answer, &callback)?,
                )))
            }
            CallbackRequest::Hook(call) => {
                let marshal = peers::callback(callback.accepts_byte_string);
                let wire = hook::resource_hook_request(&call, marshal).map_err(text)?;
                let bytes = self.invoke(&callback, wire.encode_to_vec()).await?;
                let answer = ResourceHookResponse::decode(bytes.as_slice())
                    .map_err(|error| format!("unmarshaling hook response: proto: {error}"))?;
                succeeded(answer.error).map(|()| CallbackReply::Hooked)
            }
            CallbackRequest::ErrorHook(call) => {
                let marshal = peers::callback(callback.accepts_byte_string);
                let wire = hook::error_hook_request(&call, marshal).map_err(text)?;
                let bytes = self.invoke(&callback, wire.encode_to_vec()).await?;
                let answer = ErrorHookResponse::decode(bytes.as_slice())
                    .map_err(|error| format!("unmarshaling hook response: proto: {error}"))?;
                succeeded(answer.error).map(|()| CallbackReply::Retry(answer.retry))
            }
        }
    }

    async fn invoke(&self, callback: &Callback, request: Vec<u8>) -> Result<Vec<u8>, String> {
        let mut client = self.client(&callback.target)?;
        let request = CallbackInvokeRequest {
            token: callback.token.to_string(),
            request,
        };
        let response = client.invoke(request).await.map_err(|status| {
            format!(
                "rpc error: code = {:?} desc = {}",
                status.code(),
                status.message()
            )
        })?;
        Ok(response.into_inner().response)
    }
}

/// The result of a hook, which reports errors in its answer.
fn succeeded(error: String) -> Result<(), String> {
    if error.is_empty() { Ok(()) } else { Err(error) }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn texts(texts: &[EcoString]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn urn_texts(urns: &[Urn]) -> Vec<String> {
    urns.iter().map(ToString::to_string).collect()
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

fn hex_of(checksums: BTreeMap<String, Vec<u8>>) -> BTreeMap<EcoString, EcoString> {
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

fn transform_request(
    request: &RegisterRequest,
    callback: &Callback,
) -> Result<TransformRequest, String> {
    let marshal = peers::callback(callback.accepts_byte_string);
    let trigger = match &request.replacement_trigger {
        plumb_value::Value::Null => None,
        value => property::encode_value("replacementTrigger", value, marshal).map_err(text)?,
    };
    let options = TransformResourceOptions {
        depends_on: urn_texts(&request.dependencies),
        protect: request.protect,
        ignore_changes: texts(&request.ignore_changes),
        replace_on_changes: texts(&request.replace_on_changes),
        version: request.package.version.to_string(),
        aliases: request
            .aliases
            .iter()
            .map(registration::alias_to_wire)
            .collect(),
        provider: request.provider.to_string(),
        custom_timeouts: request.custom_timeouts.map(registration::timeouts_to_wire),
        plugin_download_url: request.package.download_url.to_string(),
        retain_on_delete: request.retain_on_delete,
        deleted_with: request
            .deleted_with
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        delete_before_replace: request.delete_before_replace,
        additional_secret_outputs: request
            .additional_secret_outputs
            .iter()
            .map(ToString::to_string)
            .collect(),
        providers: request
            .providers
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect(),
        plugin_checksums: bytes_of(&request.package.checksums),
        hooks: registration::hooks_to_wire(&request.hooks),
        import: request.import_id.to_string(),
        hide_diff: texts(&request.hide_diff),
        replace_with: urn_texts(&request.replace_with),
        replacement_trigger: trigger,
    };
    Ok(TransformRequest {
        r#type: request.type_token.to_string(),
        name: request.name.to_string(),
        custom: request.custom,
        parent: request
            .parent
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        properties: Some(property::encode_map(&request.properties, marshal).map_err(text)?),
        options: Some(options),
    })
}

/// The registration after a transform. Options that the answer does not mention are unchanged.
fn transformed(
    mut request: RegisterRequest,
    answer: TransformResponse,
    callback: &Callback,
) -> Result<RegisterRequest, String> {
    let marshal = peers::callback(callback.accepts_byte_string);
    if let Some(properties) = &answer.properties {
        request.properties = property::decode_map(Some(properties), marshal)
            .map_err(text)?
            .into();
    }
    let Some(options) = answer.options else {
        return Ok(request);
    };
    let urn = |urn: &String| Urn::parse(urn).map_err(text);
    request.dependencies = options
        .depends_on
        .iter()
        .map(urn)
        .collect::<Result<_, _>>()?;
    request.protect = options.protect;
    request.ignore_changes = options.ignore_changes.into_iter().map(Into::into).collect();
    request.replace_on_changes = options
        .replace_on_changes
        .into_iter()
        .map(Into::into)
        .collect();
    request.package.version = options.version.into();
    request.aliases = options
        .aliases
        .iter()
        .filter_map(|alias| registration::alias_from_wire(alias).transpose())
        .collect::<Result<_, _>>()
        .map_err(text)?;
    request.provider = options.provider.into();
    request.custom_timeouts =
        registration::timeouts_from_wire(options.custom_timeouts.as_ref()).map_err(text)?;
    request.package.download_url = options.plugin_download_url.into();
    request.retain_on_delete = options.retain_on_delete;
    request.deleted_with = match options.deleted_with.as_str() {
        "" => None,
        text => Some(urn(&text.to_owned())?),
    };
    request.delete_before_replace = options.delete_before_replace;
    request.additional_secret_outputs = options
        .additional_secret_outputs
        .into_iter()
        .map(Into::into)
        .collect();
    request.providers = options
        .providers
        .into_iter()
        .map(|(package, reference)| (package.into(), reference.into()))
        .collect();
    request.package.checksums = hex_of(options.plugin_checksums);
    request.hooks = registration::hooks_from_wire(options.hooks.as_ref());
    request.import_id = options.import.into();
    request.hide_diff = options.hide_diff.into_iter().map(Into::into).collect();
    request.replace_with = options
        .replace_with
        .iter()
        .map(urn)
        .collect::<Result<_, _>>()?;
    request.replacement_trigger = match &options.replacement_trigger {
        Some(value) => property::decode_value("replacementTrigger", value, marshal)
            .map_err(text)?
            .unwrap_or(plumb_value::Value::Null),
        None => plumb_value::Value::Null,
    };
    Ok(request)
}

fn invoke_request(
    request: &InvokeFunctionRequest,
    callback: &Callback,
) -> Result<TransformInvokeRequest, String> {
    let marshal = peers::callback(callback.accepts_byte_string);
    Ok(TransformInvokeRequest {
        token: request.token.to_string(),
        args: Some(property::encode_map(&request.args, marshal).map_err(text)?),
        options: Some(TransformInvokeOptions {
            provider: request.provider.to_string(),
            plugin_download_url: request.package.download_url.to_string(),
            version: request.package.version.to_string(),
            plugin_checksums: bytes_of(&request.package.checksums),
        }),
    })
}

fn invoke_transformed(
    mut request: InvokeFunctionRequest,
    answer: TransformInvokeResponse,
    callback: &Callback,
) -> Result<InvokeFunctionRequest, String> {
    let marshal = peers::callback(callback.accepts_byte_string);
    if let Some(args) = &answer.args {
        request.args = property::decode_map(Some(args), marshal)
            .map_err(text)?
            .into();
    }
    if let Some(options) = answer.options {
        request.provider = options.provider.into();
        request.package.download_url = options.plugin_download_url.into();
        request.package.version = options.version.into();
        request.package.checksums = hex_of(options.plugin_checksums);
    }
    Ok(request)
}
