//! Method calls in the program of a run.

use std::collections::BTreeSet;

use plumb_deploy::request::{CallMethodRequest, PackageRequest, Reply, Request, RequestErrorKind};
use plumb_deploy::{InstanceId, RequestId};
use plumb_resource::provider::{CallRequest, ProviderCall, ProviderError, ProviderReply};

use super::{Asked, Run};
use crate::cloud::Faults;
use crate::story::{CallKind, Method, Res};
use crate::world::{Answered, Called, Moment, Violation, methods};

/// State of the program's method calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Methods {
    /// Methods not called yet.
    pub(super) uncalled: Vec<usize>,
    /// Methods in progress.
    at_work: Vec<String>,
    /// Methods whose registrations were refused.
    broken: BTreeSet<String>,
}

impl Methods {
    pub(super) fn new(all: &[Method]) -> Self {
        Methods {
            uncalled: (0..all.len()).collect(),
            at_work: Vec::new(),
            broken: BTreeSet::new(),
        }
    }
}

impl Run<'_> {
    /// Methods that may be called, because their dependencies have replies.
    pub(super) fn ready_methods(&self) -> impl Iterator<Item = usize> {
        let is_there = |name: &String| self.trace.answers.contains_key(name);
        let all = &self.operation.program.methods;
        let uncalled = self.methods.uncalled.iter().enumerate();
        uncalled
            .filter(move |(_, number)| all[**number].needs().all(is_there))
            .map(|(index, _)| index)
    }

    /// Calls a method.
    pub(super) fn call_method(&mut self, index: usize) -> Result<(), Violation> {
        let number = self.methods.uncalled.swap_remove(index);
        let program = &self.operation.program;
        let method = &program.methods[number];
        let known = self.known_to(None);
        let owner = method.of.as_deref().and_then(|name| program.get(name));
        let is_component = owner.is_some_and(Res::is_component);
        let is_preview = self.operation.preview;
        let own = method.of.as_ref().map(|name| {
            let own = &self.trace.answers[name];
            (&own.urn, own.id_in_reference(is_component, is_preview))
        });
        let arguments = methods::arguments(
            method,
            own.as_ref().map(|(urn, id)| (*urn, id)),
            |prop| known.value(prop),
            |prop| prop.from().map(|name| known.urn(name)),
        );
        let provider = method.provider.as_ref().map(|name| known.reference(name));
        let request = CallMethodRequest {
            token: method.token(owner.map(|res| res.type_name.as_str())).into(),
            args: std::sync::Arc::new(arguments.values),
            dependencies: arguments.dependencies,
            provider: provider.unwrap_or_default().into(),
            package: owner.map_or_else(PackageRequest::default, |res| known.package(res)),
        };
        let asked = Asked::Method(method.name.clone());
        self.ask(asked, Request::Call(Box::new(request)))
    }

    /// Whether methods allow the registration of a resource: those whose results it uses have returned, and the one
    /// that creates it is in progress.
    pub(super) fn is_ready_by_methods(&self, res: &Res) -> bool {
        let is_made = res
            .by
            .as_ref()
            .is_none_or(|name| self.methods.at_work.contains(name));
        is_made && res.methods().all(|it| self.trace.results.contains_key(it))
    }

    /// Records the provider and the arguments of a method call.
    pub(super) fn note_method(&mut self, instance: InstanceId, call: &ProviderCall) {
        let ProviderCall::Call(call) = call else {
            return;
        };
        let name = methods::name_of(call).to_owned();
        let called = Called {
            request: call.clone(),
            server: self.plugins.served_by(instance).cloned(),
        };
        self.trace.calls.insert(name.clone(), called);
        self.trace.moments.push(Moment::Called(name));
    }

    /// Records a call without a provider: the provider cannot be configured yet, or there is none.
    pub(super) fn note_uncalled(&mut self, id: RequestId, reply: &Reply) {
        let Some(Asked::Method(name)) = self.asked.get(&id) else {
            return;
        };
        match reply {
            Reply::Invoked(_) if !self.trace.calls.contains_key(name) => {
                let moment = Moment::CalledNobody(name.clone());
                self.trace.moments.push(moment);
            }
            Reply::Failed(error) if error.kind != RequestErrorKind::Unavailable => {
                let moment = Moment::CallRefused(name.clone());
                self.trace.moments.push(moment);
            }
            _ => {}
        }
    }

    /// Starts the execution of a method by a provider.
    pub(super) fn method_begins(&mut self, call: &ProviderCall) {
        if let ProviderCall::Call(call) = call {
            let name = methods::name_of(call).to_owned();
            self.methods.at_work.push(name);
        }
    }

    /// Whether a method must still register a resource before it returns.
    pub(super) fn still_makes(&self, call: &ProviderCall) -> bool {
        let ProviderCall::Call(call) = call else {
            return false;
        };
        let name = methods::name_of(call);
        let mut made = self.operation.program.resources.iter();
        let is_left = made.any(|res| {
            res.by.as_deref() == Some(name) && !self.trace.answers.contains_key(&res.name)
        });
        is_left && !self.methods.broken.contains(name)
    }

    /// Result of a method; an error if any of its registrations was refused.
    pub(super) fn method_answers(
        &mut self,
        call: &CallRequest,
    ) -> Result<ProviderReply, ProviderError> {
        let name = methods::name_of(call).to_owned();
        self.methods.at_work.retain(|it| *it != name);
        let fault = Faults(&self.operation.faults).of(CallKind::Call, &name);
        if fault.is_some() || self.methods.broken.contains(&name) {
            self.trace.program_failed |= !self.is_over;
            return Err(ProviderError::clean("it could not"));
        }
        Ok(ProviderReply::Invoked(methods::answer(call)))
    }

    /// Records a refused registration.
    pub(super) fn note_refused(&mut self, id: RequestId, reply: &Reply) {
        let Reply::Failed(error) = reply else { return };
        let asked = self.asked.get(&id);
        if let Some(Asked::Resource(name) | Asked::Remote(name)) = asked
            && error.kind != RequestErrorKind::Unavailable
            && !self.is_over
        {
            let moment = Moment::Refused(name.clone());
            self.trace.moments.push(moment);
        }
    }

    /// Fails the source of a resource that was refused.
    pub(super) fn source_fails(&mut self, name: &str) {
        let Some(res) = self.operation.program.get(name) else {
            return;
        };
        match (&res.snippet, &res.by) {
            (Some(uuid), _) => self.snippet_fails(uuid),
            (None, Some(method)) => drop(self.methods.broken.insert(method.clone())),
            (None, None) => self.has_trouble = true,
        }
    }

    /// Records the result of a method for the program; an error fails the program.
    pub(super) fn method_answered(&mut self, name: String, reply: Reply) -> Result<(), Violation> {
        match reply {
            Reply::Invoked(reply) => {
                // A method that was not called creates nothing.
                let is_made = |res: &&Res| res.by.as_ref() != Some(&name);
                self.waiting.retain(is_made);
                let answered = Answered {
                    result: reply.result,
                    dependencies: reply.dependencies,
                };
                self.trace.results.insert(name, answered);
                Ok(())
            }
            Reply::Failed(error) if error.kind == RequestErrorKind::Unavailable => Ok(()),
            Reply::Failed(_) => {
                self.has_trouble = true;
                Ok(())
            }
            reply => {
                let what = format!("method {name} is answered by {reply:?}");
                Err(Violation::new("replies", what))
            }
        }
    }
}
