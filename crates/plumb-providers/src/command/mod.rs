//! The package `command`: scripts as resources, run on this machine.
//!
//! `command:local:Command` and `command:local:run` behave like version 1.2 of the plugin `command`, with two deliberate
//! differences: `assets` and `archive` of an earlier run are removed when `assetPaths` and `archivePaths` are, and
//! cancelling a script ends all its child processes. `command:remote:*` is not built in.

mod diff;
mod files;
mod glob;
mod inputs;
mod process;
mod status;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ecow::EcoString;
use plumb_plugin::Provider;
use plumb_resource::provider::{
    CheckRequest, CheckResponse, CreateRequest, CreateResponse, DeleteRequest, DiffRequest,
    DiffResult, InvokeRequest, InvokeResponse, ProviderError, ReadRequest, ReadResponse,
    UpdateRequest, UpdateResponse,
};
use plumb_resource::{ResourceId, Urn};
use plumb_value::{PropertyMap, Value};
use tokio_util::sync::CancellationToken;

use self::inputs::{COMMAND, Inputs, RUN};
use self::process::{Previous, Script};
use crate::adapter::{Adapter, Package, invoked, require_known, with_causes};
use crate::{Builtin, BuiltinContext};

const LOCAL_COMMAND: &str = "command:local:Command";
const LOCAL_RUN: &str = "command:local:run";
const REMOTE: &str = "command:remote:";
/// Outputs of a run, besides the inputs.
const RESULTS: [&str; 4] = ["stdout", "stderr", "assets", "archive"];

struct Command {
    context: BuiltinContext,
    cancelled: CancellationToken,
}

pub(crate) fn start(builtin: &Builtin, context: &BuiltinContext) -> Arc<dyn Provider> {
    Adapter::start(
        builtin,
        Command {
            context: context.clone(),
            cancelled: CancellationToken::new(),
        },
    )
}

#[async_trait]
impl Package for Command {
    async fn check(&self, request: CheckRequest) -> Result<CheckResponse, ProviderError> {
        known_type(&request.urn)?;
        let failures = COMMAND.check(&request.new_inputs);
        Ok(CheckResponse {
            inputs: Some(request.new_inputs),
            failures,
            ignored_autonaming: false,
        })
    }

    async fn diff(&self, request: DiffRequest) -> Result<DiffResult, ProviderError> {
        known_type(&request.urn)?;
        Ok(diff::diff(&request.old_inputs, &request.new_inputs))
    }

    async fn create(&self, request: CreateRequest) -> Result<CreateResponse, ProviderError> {
        known_type(&request.urn)?;
        let inputs = decode(&request.inputs)?;
        let answer = |id, outputs| CreateResponse {
            id,
            outputs: Arc::new(outputs),
            refresh_before_update: false,
        };
        if request.preview {
            return Ok(answer(
                ResourceId::Unknown,
                with_unknown_results(&request.inputs),
            ));
        }
        require_known(&request.inputs)?;
        let results = match &inputs.create {
            Some(script) => {
                self.run(Script {
                    text: script,
                    limit: time_limit(request.timeout),
                    inputs: &inputs,
                    previous: &Previous::default(),
                    urn: Some(&request.urn),
                })
                .await?
            }
            None => PropertyMap::new().with("stdout", "").with("stderr", ""),
        };
        let outputs = with_results(&request.inputs, results);
        Ok(answer(
            ResourceId::Known(new_id(request.urn.name())),
            outputs,
        ))
    }

    /// Returns the state, because there is nothing to read.
    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, ProviderError> {
        known_type(&request.urn)?;
        Ok(ReadResponse {
            id: request.id,
            inputs: Some(request.inputs.unwrap_or_default()),
            outputs: Some(request.outputs),
            refresh_before_update: false,
        })
    }

    /// Runs the `update` script, or else `create`, or else nothing.
    async fn update(&self, request: UpdateRequest) -> Result<UpdateResponse, ProviderError> {
        known_type(&request.urn)?;
        let inputs = decode(&request.new_inputs)?;
        let answer = |outputs| UpdateResponse {
            outputs: Arc::new(outputs),
            refresh_before_update: false,
        };
        if request.preview {
            return Ok(answer(with_unknown_results(&request.new_inputs)));
        }
        require_known(&request.new_inputs)?;
        let outputs = if let Some(script) = inputs.update.as_ref().or(inputs.create.as_ref()) {
            let previous = Previous::of(&request.old_outputs);
            with_results(
                &request.new_inputs,
                self.run(Script {
                    text: script,
                    limit: time_limit(request.timeout),
                    inputs: &inputs,
                    previous: &previous,
                    urn: Some(&request.urn),
                })
                .await?,
            )
        } else {
            with_results(&request.new_inputs, results_in(&request.old_outputs))
        };
        Ok(answer(outputs))
    }

    /// Runs the state's `delete` script.
    async fn delete(&self, request: DeleteRequest) -> Result<(), ProviderError> {
        known_type(&request.urn)?;
        let inputs = Inputs::of(&request.outputs);
        let Some(script) = &inputs.delete else {
            return Ok(());
        };
        let previous = Previous::of(&request.outputs);
        self.run(Script {
            text: script,
            limit: time_limit(request.timeout),
            inputs: &inputs,
            previous: &previous,
            urn: Some(&request.urn),
        })
        .await
        .map(|_| ())
    }

    async fn invoke(&self, request: InvokeRequest) -> Result<InvokeResponse, ProviderError> {
        let token = request.token.as_str();
        if token != LOCAL_RUN {
            let message = format!("unrecognized function name: {token}");
            return Err(remote_error(token).unwrap_or_else(|| ProviderError::clean(message)));
        }
        let failures = RUN.check(&request.args);
        if !failures.is_empty() {
            return Ok(InvokeResponse {
                failures,
                ..invoked(PropertyMap::new())
            });
        }
        if request.args.contains_unknowns() {
            return Ok(invoked(with_unknown_results(&request.args)));
        }
        let inputs = Inputs::of(&request.args);
        let script = inputs.command.as_deref().unwrap_or_default();
        let results = self
            .run(Script {
                text: script,
                limit: None,
                inputs: &inputs,
                previous: &Previous::default(),
                urn: None,
            })
            .await?;
        Ok(invoked(with_results(&request.args, results)))
    }

    fn cancel(&self) {
        self.cancelled.cancel();
    }
}

impl Command {
    async fn run(&self, script: Script<'_>) -> Result<PropertyMap, ProviderError> {
        let inputs = script.inputs;
        let streams = process::run(script, &self.context, &self.cancelled)
            .await
            .map_err(|error| ProviderError::unknown(error.to_string()))?;
        let mut results = PropertyMap::new()
            .with("stdout", streams.stdout)
            .with("stderr", streams.stderr);
        results.extend(self.files(inputs).await?);
        Ok(results)
    }

    async fn files(&self, inputs: &Inputs) -> Result<PropertyMap, ProviderError> {
        if inputs.asset_paths.is_none() && inputs.archive_paths.is_none() {
            return Ok(PropertyMap::new());
        }
        let inputs = inputs.clone();
        let working_dir = self.context.working_dir.clone();
        tokio::task::spawn_blocking(move || collect(&inputs, &working_dir))
            .await
            .map_err(|error| ProviderError::unknown(with_causes(&error)))?
            .map_err(|error| ProviderError::unknown(with_causes(&error)))
    }
}

fn collect(inputs: &Inputs, working_dir: &Path) -> Result<PropertyMap, files::Error> {
    let folder = files::Folder::new(working_dir, inputs.dir.as_deref());
    let mut results = PropertyMap::new();
    if let Some(globs) = &inputs.asset_paths {
        let assets: PropertyMap = folder
            .find(globs)?
            .into_iter()
            .map(|(name, asset)| (name.into(), asset))
            .collect();
        results.insert("assets", assets);
    }
    if let Some(globs) = &inputs.archive_paths {
        results.insert("archive", folder.archive(folder.find(globs)?)?);
    }
    Ok(results)
}

/// Time limit; zero seconds means no limit.
fn time_limit(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|limit| !limit.is_zero())
}

fn known_type(urn: &Urn) -> Result<(), ProviderError> {
    let token = urn.type_text();
    if token == LOCAL_COMMAND {
        return Ok(());
    }
    let message = format!("unrecognized resource type: {token}");
    Err(remote_error(token).unwrap_or_else(|| ProviderError::clean(message)))
}

fn remote_error(token: &str) -> Option<ProviderError> {
    token.starts_with(REMOTE).then(|| {
        ProviderError::clean(format!(
            "`{token}` is not built in; install the plugin `command` to use it: `plumb plugin install resource command`"
        ))
    })
}

/// Decodes inputs that Check has already accepted.
fn decode(inputs: &PropertyMap) -> Result<Inputs, ProviderError> {
    let failures = COMMAND.check(inputs);
    if failures.is_empty() {
        return Ok(Inputs::of(inputs));
    }
    let reasons: Vec<&str> = failures
        .iter()
        .map(|failure| failure.reason.as_str())
        .collect();
    Err(ProviderError::clean(reasons.join("; ")))
}

/// Id for a resource: its name and eight hexadecimal digits.
fn new_id(name: &str) -> EcoString {
    let digits: [u8; 4] = rand::random();
    format!("{name}{}", hex::encode(digits)).into()
}

/// Inputs and results. If any input is secret, all results are, because a script may print its inputs.
fn with_results(inputs: &PropertyMap, results: PropertyMap) -> PropertyMap {
    let mut outputs = inputs.without_outputs();
    let secret = outputs.contains_secrets();
    let mark = |value: Value| {
        if secret && !value.is_secret() {
            Value::secret(value)
        } else {
            value
        }
    };
    outputs.extend(results.into_iter().map(|(key, value)| (key, mark(value))));
    outputs
}

fn with_unknown_results(inputs: &PropertyMap) -> PropertyMap {
    inputs
        .without_outputs()
        .with("stdout", Value::UNKNOWN)
        .with("stderr", Value::UNKNOWN)
}

fn results_in(outputs: &PropertyMap) -> PropertyMap {
    let found = RESULTS
        .iter()
        .filter_map(|name| Some(((*name).into(), outputs.get(name)?.clone())));
    found.collect()
}
