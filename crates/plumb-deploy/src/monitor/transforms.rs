//! Transforms: functions of the program that change what is registered, before anything is decided (`engine.md` 2.4).
//!
//! A registration passes through its own transforms in order, then through those of its ancestors, the nearest first, then
//! through those of the stack. Each gets what the one before left. Invokes pass through the stack's invoke transforms.

use std::collections::VecDeque;
use std::sync::Arc;

use plumb_resource::Urn;
use plumb_value::{Output, PropertyMap, Value};
use rustc_hash::FxHashMap;

use crate::deployment::Deployment;
use crate::ids::{CallId, Fence, RequestId};
use crate::request::{
    Callback, CallbackReply, CallbackRequest, InvokeFunctionRequest, RegisterRequest, Reply,
    RequestError, RequestErrorKind,
};

/// Registered transforms, and those that are running.
#[derive(Debug, Default)]
pub(crate) struct Transforms {
    stack: Vec<Callback>,
    stack_invokes: Vec<Callback>,
    /// Transforms of remote components that their providers will register, by parent, type and name.
    parked: FxHashMap<String, Vec<Callback>>,
    running: FxHashMap<CallId, Running>,
}

/// A request on its way through transforms.
#[derive(Debug)]
enum Running {
    Register {
        id: RequestId,
        remaining: VecDeque<Callback>,
        has_own: bool,
    },
    Invoke {
        id: RequestId,
        remaining: VecDeque<Callback>,
    },
}

fn parking_key(request: &RegisterRequest) -> String {
    let parent = request.parent.as_ref().map_or("", Urn::as_str);
    format!("{parent}::{}::{}", request.type_token, request.name)
}

impl Deployment {
    /// Takes a transform for everything that is registered from now on.
    pub(crate) fn take_stack_transform(&mut self, id: RequestId, callback: Callback) {
        self.take_transform(id, callback, |transforms| &mut transforms.stack);
    }

    /// Takes a transform for all invokes from now on.
    pub(crate) fn take_stack_invoke_transform(&mut self, id: RequestId, callback: Callback) {
        self.take_transform(id, callback, |transforms| &mut transforms.stack_invokes);
    }

    fn take_transform(
        &mut self,
        id: RequestId,
        callback: Callback,
        list: impl FnOnce(&mut Transforms) -> &mut Vec<Callback>,
    ) {
        if callback.target.is_empty() {
            let error = RequestError::new(
                RequestErrorKind::InvalidArgument,
                "target must be specified",
            );
            return self.reply(id, Reply::Failed(error), Fence::NONE);
        }
        list(&mut self.transforms).push(callback);
        self.reply(id, Reply::Done, Fence::NONE);
    }

    /// Sends a registration through its transforms; it goes on when there are none left.
    pub(crate) fn transform_registration(
        &mut self,
        id: RequestId,
        mut request: Box<RegisterRequest>,
    ) {
        // Parked transforms do not count: when the provider of a remote component registers it, this request lists what
        // its properties depend on, and that stays.
        let has_own = !request.transforms.is_empty();
        if request.remote && has_own {
            let own = request.transforms.clone();
            self.transforms.parked.insert(parking_key(&request), own);
        } else if !request.remote && !request.custom && !self.transforms.parked.is_empty() {
            // The provider registers the component that the program asked for.
            if let Some(own) = self.transforms.parked.remove(&parking_key(&request)) {
                request.transforms = own;
            }
        }
        let mut callbacks: VecDeque<Callback> = request.transforms.iter().cloned().collect();
        let mut ancestor = request.parent.clone();
        while let Some(memory) = ancestor.as_ref().and_then(|urn| self.urns.goal(urn)) {
            callbacks.extend(memory.transforms.iter().cloned());
            ancestor.clone_from(&memory.parent);
        }
        callbacks.extend(self.transforms.stack.iter().cloned());
        if callbacks.is_empty() {
            return self.register_transformed(id, request);
        }
        if has_own {
            request.properties = Arc::new(with_dependencies(&request));
        }
        self.next_registration_transform(id, request, callbacks, has_own);
    }

    fn next_registration_transform(
        &mut self,
        id: RequestId,
        mut request: Box<RegisterRequest>,
        mut remaining: VecDeque<Callback>,
        has_own: bool,
    ) {
        let Some(callback) = remaining.pop_front() else {
            if has_own {
                // What the properties depend on is what their values say now.
                request.property_dependencies.clear();
                request.dependencies_from_properties = true;
            }
            return self.register_transformed(id, request);
        };
        let call =
            self.outbox
                .call_back(callback, CallbackRequest::Transform(request), Fence::NONE);
        self.transforms.running.insert(
            call,
            Running::Register {
                id,
                remaining,
                has_own,
            },
        );
    }

    /// Sends an invoke through the stack's transforms; it goes on when there are none left.
    pub(crate) fn transform_invoke(&mut self, id: RequestId, request: Box<InvokeFunctionRequest>) {
        let remaining = self.transforms.stack_invokes.iter().cloned().collect();
        self.next_invoke_transform(id, request, remaining);
    }

    fn next_invoke_transform(
        &mut self,
        id: RequestId,
        request: Box<InvokeFunctionRequest>,
        mut remaining: VecDeque<Callback>,
    ) {
        let Some(callback) = remaining.pop_front() else {
            return self.invoke_transformed(id, request);
        };
        let call = self.outbox.call_back(
            callback,
            CallbackRequest::InvokeTransform(request),
            Fence::NONE,
        );
        self.transforms
            .running
            .insert(call, Running::Invoke { id, remaining });
    }

    /// A transform answered.
    pub(crate) fn transform_answered(
        &mut self,
        call: CallId,
        result: Result<CallbackReply, String>,
    ) {
        let Some(running) = self.transforms.running.remove(&call) else {
            return self.internal_error("a callback answered that was not called");
        };
        if self.status.has_failed() {
            return;
        }
        match (running, result) {
            (
                Running::Register {
                    id,
                    remaining,
                    has_own,
                },
                Ok(CallbackReply::Transformed(request)),
            ) => {
                self.next_registration_transform(id, request, remaining, has_own);
            }
            (Running::Invoke { id, remaining }, Ok(CallbackReply::InvokeTransformed(request))) => {
                self.next_invoke_transform(id, request, remaining);
            }
            (Running::Register { id, .. } | Running::Invoke { id, .. }, Ok(_)) => {
                let message =
                    "invoke transform: the callback answered something else than was asked";
                self.reply(
                    id,
                    Reply::Failed(RequestError::new(RequestErrorKind::Unknown, message)),
                    Fence::NONE,
                );
            }
            (Running::Register { id, .. } | Running::Invoke { id, .. }, Err(message)) => {
                let message = format!("invoke transform: {message}");
                self.reply(
                    id,
                    Reply::Failed(RequestError::new(RequestErrorKind::Unknown, message)),
                    Fence::NONE,
                );
            }
        }
    }
}

/// Properties as output values that carry what each of them depends on.
fn with_dependencies(request: &RegisterRequest) -> PropertyMap {
    let wrap = |key: &plumb_value::PropertyKey, value: &Value| {
        let known = request.property_dependencies.get(key);
        let mut dependencies: Vec<ecow::EcoString> = known
            .into_iter()
            .flatten()
            .map(|urn| urn.as_str().into())
            .collect();
        let (inner, secret) = match value {
            Value::Output(output) => {
                for urn in &output.dependencies {
                    if !dependencies.contains(urn) {
                        dependencies.push(urn.clone());
                    }
                }
                (output.value.clone(), output.secret)
            }
            Value::Secret(inner) => (Some(inner.as_ref().clone()), true),
            Value::Computed(_) => (None, false),
            other => (Some(other.clone()), false),
        };
        if dependencies.is_empty() && !secret && inner.is_some() {
            return value.clone();
        }
        Value::Output(Arc::new(Output {
            value: inner,
            secret,
            dependencies,
        }))
    };
    request
        .properties
        .iter()
        .map(|(key, value)| (key.clone(), wrap(key, value)))
        .collect()
}
