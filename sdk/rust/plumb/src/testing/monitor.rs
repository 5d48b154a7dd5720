//! The engine of tests: records what it is asked, and answers with the mocks.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use prost::Message as _;
use prost_types::Struct;
use tonic::{Status, async_trait};

use super::{MockRequest, MockState, Mocks, Outcome, PROJECT, Registered, STACK};
use crate::Error;
use crate::monitor::Monitor;
use crate::program::{Program, lock};
use crate::protocol as pb;
use crate::value::Value;
use crate::wire::{Decoder, Encoder, UNKNOWN};

pub(super) struct MockMonitor {
    mocks: Mocks,
    program: Mutex<Option<Program>>,
    transforms: Mutex<Vec<String>>,
    outcome: Mutex<Outcome>,
}

impl MockMonitor {
    pub(super) fn new(mocks: Mocks) -> Self {
        MockMonitor {
            mocks,
            program: Mutex::default(),
            transforms: Mutex::default(),
            outcome: Mutex::default(),
        }
    }

    pub(super) fn attach(&self, program: &Program) {
        *lock(&self.program) = Some(program.clone());
    }

    /// Lets go of the program and answers what it did.
    pub(super) fn finish(&self, failures: Vec<Error>) -> Outcome {
        *lock(&self.program) = None;
        Outcome {
            failures,
            ..std::mem::take(&mut *lock(&self.outcome))
        }
    }

    fn program(&self) -> Result<Program, Status> {
        lock(&self.program)
            .clone()
            .ok_or_else(|| Status::unavailable("the program has ended"))
    }

    /// Runs the transforms of the resource and of the stack.
    async fn transform(
        &self,
        program: &Program,
        mut request: pb::RegisterResourceRequest,
    ) -> Result<pb::RegisterResourceRequest, Status> {
        let own = request.transforms.iter().map(|it| it.token.clone());
        let tokens: Vec<String> = own.chain(lock(&self.transforms).clone()).collect();
        for token in tokens {
            let message = pb::TransformRequest {
                r#type: request.r#type.clone(),
                name: request.name.clone(),
                custom: request.custom,
                parent: request.parent.clone(),
                properties: request.object.clone(),
                options: Some(pb::TransformResourceOptions {
                    protect: request.protect,
                    ignore_changes: request.ignore_changes.clone(),
                    additional_secret_outputs: request.additional_secret_outputs.clone(),
                    ..pb::TransformResourceOptions::default()
                }),
            };
            let answer = program.callbacks.run(&token, message.encode_to_vec()).await;
            let answer = answer.map_err(|error| Status::unknown(error.report()))?;
            let answer = pb::TransformResponse::decode(answer.as_slice()).map_err(internal)?;
            request.object = answer.properties.or(request.object);
            if let Some(options) = answer.options {
                request.protect = options.protect;
                request.ignore_changes = options.ignore_changes;
                request.additional_secret_outputs = options.additional_secret_outputs;
            }
        }
        Ok(request)
    }

    /// The state that the mock for the type makes.
    fn create(&self, request: &MockRequest) -> Result<MockState, Status> {
        let Some(mock) = self.mocks.resources.get(&request.token) else {
            let id = request.id.clone();
            return Ok(MockState::new(
                id.unwrap_or_else(|| format!("{}-id", request.name)),
            ));
        };
        // A mock that panics is a failed resource, so that the test sees the panic's text.
        catch_unwind(AssertUnwindSafe(|| mock(request)))
            .map_err(|_| Status::unknown(format!("the mock of `{}` panicked", request.token)))
    }
}

fn internal(error: impl std::fmt::Display) -> Status {
    Status::internal(error.to_string())
}

async fn encode(values: &BTreeMap<String, Value>) -> Result<Struct, Status> {
    let encoded = Encoder::default().members(values, |_, _| {}).await;
    encoded.map_err(|error| Status::unknown(error.report()))
}

fn urn(parent: &str, token: &str, name: &str) -> String {
    let types = parent
        .split("::")
        .nth(2)
        .filter(|it| *it != "pulumi:pulumi:Stack");
    let prefix = types.map(|types| format!("{types}$")).unwrap_or_default();
    format!("urn:pulumi:{STACK}::{PROJECT}::{prefix}{token}::{name}")
}

#[async_trait]
impl Monitor for MockMonitor {
    fn is_in_process(&self) -> bool {
        true
    }

    async fn features(&self) -> Result<Option<Vec<i32>>, Status> {
        Ok(None)
    }

    async fn supports(&self, _: &str) -> Result<bool, Status> {
        Ok(true)
    }

    async fn register(
        &self,
        request: Box<pb::RegisterResourceRequest>,
    ) -> Result<pb::RegisterResourceResponse, Status> {
        let program = self.program()?;
        let urn = urn(&request.parent, &request.r#type, &request.name);
        if request.r#type == "pulumi:pulumi:Stack" {
            return Ok(pb::RegisterResourceResponse {
                urn,
                ..pb::RegisterResourceResponse::default()
            });
        }
        let request = self.transform(&program, *request).await?;
        let properties = request.property_dependencies.iter();
        let registered = Registered {
            token: request.r#type.clone(),
            name: request.name.clone(),
            urn: urn.clone(),
            parent: request.parent.clone(),
            inputs: Decoder::marked(&program, request.object.clone()).map_err(internal)?,
            outputs: BTreeMap::new(),
            dependencies: request.dependencies.clone(),
            property_dependencies: properties
                .map(|(key, it)| (key.clone(), it.urns.clone()))
                .collect(),
            provider: request.provider.clone(),
            is_protected: request.protect,
            ignore_changes: request.ignore_changes.clone(),
            additional_secret_outputs: request.additional_secret_outputs.clone(),
        };
        lock(&self.outcome).resources.push(registered.clone());
        if let Some(message) = self.mocks.failing.get(&request.name) {
            return Err(Status::unknown(message.clone()));
        }
        let mut object = request.object.unwrap_or_default();
        let mut id = String::new();
        if (request.custom || request.remote) && !self.mocks.is_preview {
            let state = self.create(&MockRequest {
                token: request.r#type,
                name: request.name,
                inputs: registered.inputs,
                id: Some(request.import_id).filter(|id| !id.is_empty()),
            })?;
            object.fields.extend(encode(&state.outputs).await?.fields);
            id = state.id;
        }
        Ok(pb::RegisterResourceResponse {
            urn,
            id,
            object: Some(object),
            ..pb::RegisterResourceResponse::default()
        })
    }

    async fn read(
        &self,
        request: pb::ReadResourceRequest,
    ) -> Result<pb::ReadResourceResponse, Status> {
        let program = self.program()?;
        let urn = urn(&request.parent, &request.r#type, &request.name);
        let inputs = Decoder::marked(&program, request.properties.clone()).map_err(internal)?;
        let mut object = request.properties.unwrap_or_default();
        let mut id = request.id.clone();
        if request.id != UNKNOWN {
            let state = self.create(&MockRequest {
                token: request.r#type,
                name: request.name,
                inputs,
                id: Some(request.id),
            })?;
            object.fields.extend(encode(&state.outputs).await?.fields);
            id = state.id;
        }
        Ok(pb::ReadResourceResponse {
            urn,
            id,
            properties: Some(object),
            ..pb::ReadResourceResponse::default()
        })
    }

    async fn register_outputs(
        &self,
        request: pb::RegisterResourceOutputsRequest,
    ) -> Result<(), Status> {
        let program = self.program()?;
        let outputs = Decoder::marked(&program, request.outputs).map_err(internal)?;
        let mut outcome = lock(&self.outcome);
        let resource = outcome
            .resources
            .iter_mut()
            .find(|it| it.urn == request.urn);
        match resource {
            Some(resource) => resource.outputs = outputs,
            None => outcome.exports = outputs,
        }
        Ok(())
    }

    async fn invoke(
        &self,
        request: pb::ResourceInvokeRequest,
    ) -> Result<pb::ResourceInvokeResponse, Status> {
        let answer = self.answer(&request.tok, request.args).await?;
        Ok(pb::ResourceInvokeResponse {
            r#return: Some(answer),
            ..pb::ResourceInvokeResponse::default()
        })
    }

    async fn call(&self, request: pb::ResourceCallRequest) -> Result<pb::CallResponse, Status> {
        let answer = self.answer(&request.tok, request.args).await?;
        Ok(pb::CallResponse {
            r#return: Some(answer),
            ..pb::CallResponse::default()
        })
    }

    async fn register_package(
        &self,
        request: pb::RegisterPackageRequest,
    ) -> Result<String, Status> {
        Ok(format!("package-{}", request.name))
    }

    async fn register_transform(&self, callback: pb::Callback) -> Result<(), Status> {
        lock(&self.transforms).push(callback.token);
        Ok(())
    }

    async fn register_invoke_transform(&self, _: pb::Callback) -> Result<(), Status> {
        Ok(())
    }

    async fn register_hook(&self, _: pb::RegisterResourceHookRequest) -> Result<(), Status> {
        Ok(())
    }

    async fn register_error_hook(&self, _: pb::RegisterErrorHookRequest) -> Result<(), Status> {
        Ok(())
    }

    async fn wait_for_shutdown(&self) -> Result<(), Status> {
        Ok(())
    }

    async fn log(&self, request: pb::LogRequest) -> Result<(), Status> {
        lock(&self.outcome).messages.push(request.message);
        Ok(())
    }

    async fn require_version(&self, _: String) -> Result<(), Status> {
        Ok(())
    }
}

impl MockMonitor {
    /// The answer of a function or a method.
    async fn answer(&self, token: &str, args: Option<Struct>) -> Result<Struct, Status> {
        let program = self.program()?;
        if token == "pulumi:pulumi:getResource" {
            return self.loaded(&program, args).await;
        }
        let Some(mock) = self.mocks.functions.get(token) else {
            return Err(Status::unimplemented(format!(
                "there is no mock of `{token}`"
            )));
        };
        let args = Decoder::marked(&program, args).map_err(internal)?;
        let answer = catch_unwind(AssertUnwindSafe(|| mock(&args)));
        match answer {
            Ok(Value::Map(members)) => encode(&members).await,
            Ok(other) => Err(Status::internal(format!(
                "the mock of `{token}` has to answer an object, not {}",
                other.kind()
            ))),
            Err(_) => Err(Status::unknown(format!("the mock of `{token}` panicked"))),
        }
    }

    /// The state of a resource that a value refers to.
    async fn loaded(&self, program: &Program, args: Option<Struct>) -> Result<Struct, Status> {
        let args = Decoder::marked(program, args).map_err(internal)?;
        let urn = args.get("urn").and_then(Value::as_str).unwrap_or_default();
        let found = lock(&self.outcome)
            .resources
            .iter()
            .find(|it| it.urn == urn)
            .cloned();
        let Some(found) = found else {
            return Err(Status::not_found(format!("there is no resource `{urn}`")));
        };
        let state = if found.outputs.is_empty() {
            found.inputs
        } else {
            found.outputs
        };
        let answer = BTreeMap::from([
            ("urn".to_owned(), Value::String(found.urn)),
            ("id".to_owned(), Value::String(format!("{}-id", found.name))),
            ("state".to_owned(), Value::Map(state)),
        ]);
        encode(&answer).await
    }
}
