//! Methods of resources.

use std::panic::Location;

use crate::Error;
use crate::input::Inputs;
use crate::invoke::{combine, failure};
use crate::output::{Cell, Output, Resolved};
use crate::protocol as pb;
use crate::resource::{Dependencies, Handle, monitor_error};
use crate::value::{FromValue, Value};
use crate::wire::{Decoder, Encoder};

pub(crate) fn call<T: FromValue + Clone + Send + Sync + 'static>(
    receiver: &Handle,
    token: &str,
    inputs: Inputs,
    location: &'static Location<'static>,
) -> Output<T> {
    let program = Some(receiver.program().clone());
    let (receiver, token) = (receiver.clone(), token.to_owned());
    Output::dynamic(Cell::driven(program, async move {
        let answer = run(&receiver, &token, inputs, location).await?;
        Ok(answer)
    }))
}

async fn run(
    receiver: &Handle,
    token: &str,
    mut inputs: Inputs,
    location: &'static Location<'static>,
) -> Result<Resolved<Value>, Error> {
    let program = receiver.program();
    let _waiting = program.waiting(format!(
        "the method `{token}` at {location} waits for its inputs"
    ));
    inputs.set_value("__self__", Value::Resource(receiver.clone()));
    let encoder = Encoder {
        keeps_outputs: program.features.output_values,
        excludes_resources: true,
        owner: None,
    };
    let mut request = pb::ResourceCallRequest {
        tok: token.to_owned(),
        ..pb::ResourceCallRequest::default()
    };
    let mut found: Vec<(String, Dependencies)> = Vec::new();
    let args = encoder.members(inputs.members(), |key, it| found.push((key.to_owned(), it)));
    request.args = Some(args.await?);
    for (key, dependencies) in found {
        let urns = dependencies.expand(None).await?.into_iter().collect();
        let urns = pb::resource_call_request::ArgumentDependencies { urns };
        request.arg_dependencies.insert(key, urns);
    }
    // A provider answers for itself.
    let is_provider = receiver.provided_package().is_some();
    let provider = if is_provider {
        Some(receiver)
    } else {
        receiver.0.provider.as_ref()
    };
    if let Some(provider) = provider {
        request.provider = provider.provider_reference().await?;
    }
    if let Some(package) = &receiver.0.package {
        request.package_ref = package.reference(program).await?;
    } else {
        request.version = receiver.0.version.clone().unwrap_or_default();
        request.plugin_download_url = receiver.0.plugin_download_url.clone().unwrap_or_default();
    }
    let response = program.engine().call(request).await;
    let what = format!("could not call `{token}`");
    let response = response.map_err(|status| monitor_error(&status, &what, Some(location)))?;
    if let Some(error) = failure(token, &response.failures, location) {
        return Err(error);
    }
    let mut marks = Resolved::unknown();
    for sources in response.return_dependencies.into_values() {
        for urn in sources.urns {
            marks.dependencies.insert(Handle::dependency(program, urn));
        }
    }
    Ok(combine(
        Decoder::properties(program, response.r#return)?,
        marks,
    ))
}
