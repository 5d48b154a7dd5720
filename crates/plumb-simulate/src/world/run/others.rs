//! Other parties of a run: policy packs, functions of the program, and provider functions.

use std::sync::Arc;

use plumb_deploy::request::{
    Callback, CallbackRequest, InvokeFunctionRequest, PackageRequest, Reply, Request,
    RequestErrorKind,
};
use plumb_deploy::{CallId, Event, InstanceId, RequestId};
use plumb_resource::provider::{ConstructResponse, ProviderCall, ProviderError, ProviderReply};
use plumb_resource::{PropertyDependencies, ProviderRef};
use plumb_state::Snapshot;
use plumb_value::{PropertyMap, Value};

use super::{Asked, Order, Run, packages};
use crate::cloud::Faults;
use crate::story::{Ask, CallKind, FaultKind, Program};
use crate::world::{Made, Moment, Violation, functions, hooks, packs, requests, views};

/// Whether a program registers its hooks: a resource has one, in the program or in the state.
pub(crate) fn has_hooks(base: &Snapshot, program: &Program) -> bool {
    base.resources.iter().any(|state| !state.hooks.is_empty())
        || program.resources.iter().any(|res| !res.hooks.is_empty())
}

/// Requests that register the functions of a program, before all others.
pub(super) fn functions(base: &Snapshot, program: &Program) -> Vec<(Asked, Request)> {
    let hooks = has_hooks(base, program)
        .then(hooks::registrations)
        .into_iter()
        .flatten();
    let functions = hooks.chain(functions::registrations(program));
    let functions = functions.map(|request| (Asked::Function, request));
    functions.chain(packages::registrations(program)).collect()
}

/// Argument that identifies the call of a provider function in the program.
const NUMBER: &str = "number";

fn arguments(number: usize) -> PropertyMap {
    PropertyMap::new().with(NUMBER, number.to_string())
}

impl Run<'_> {
    /// Answers a call of a function of the program.
    pub(super) fn call_back(
        &mut self,
        call: CallId,
        callback: &Callback,
        request: CallbackRequest,
    ) -> Result<(), Violation> {
        let name = &callback.token;
        if self.order == Order::Fixed {
            let made = Made::Callback(name.clone(), request.clone());
            self.trace.made.push(made);
        }
        let result = match request {
            CallbackRequest::Transform(request) => functions::transform(name, request),
            CallbackRequest::InvokeTransform(request) => functions::transform_ask(name, request),
            request => {
                let result = hooks::answer(callback, &request);
                self.hook_answers(callback, &request, &result);
                result
            }
        };
        self.event(Event::CalledBack { call, result })
    }

    /// Components whose construction can begin or end.
    pub(super) fn constructible(&self) -> impl Iterator<Item = usize> {
        let all = self.constructions.iter().enumerate();
        all.filter(|(_, (_, name, has_begun))| {
            !has_begun || self.trace.answers.contains_key(name) || self.is_in_pieces()
        })
        .map(|(index, _)| index)
    }

    /// Whether a construction must end because its registrations are refused.
    fn is_in_pieces(&self) -> bool {
        self.order == Order::Fixed && (self.has_trouble || self.was_turned_away)
    }

    /// Begins a construction by registering its component, or ends it with a result or an error.
    pub(super) fn construct(&mut self, index: usize) -> Result<(), Violation> {
        let (call, name, has_begun) = self.constructions[index].clone();
        let program = &self.operation.program;
        let Some(res) = program.get(&name) else {
            return Err(Violation::new("calls", format!("{name} is constructed")));
        };
        if !has_begun {
            self.constructions[index].2 = true;
            let request = requests::constructed(&self.known(res), res);
            return self.ask(Asked::Resource(name), request);
        }
        self.constructions.swap_remove(index);
        let fault = Faults(&self.operation.faults).of(CallKind::Create, &name);
        let of_part = [Some(FaultKind::Part), Some(FaultKind::HalfPart)];
        let is_missing = !self.trace.answers.contains_key(&name);
        let result = if is_missing || fault.is_some() && !of_part.contains(&fault) {
            self.trace.program_failed |= !self.is_over;
            Err(ProviderError::clean("it came to pieces"))
        } else {
            Ok(ProviderReply::Constructed(ConstructResponse {
                urn: self.trace.answers[&name].urn.clone(),
                outputs: Arc::default(),
                dependencies: PropertyDependencies::new(),
            }))
        };
        self.event(Event::Answered { call, result })
    }

    /// Whether a provider reports views before it answers.
    pub(super) fn tells_views(&self, index: usize) -> bool {
        let (call, request) = &self.calls[index];
        let faults = Faults(&self.operation.faults);
        !self.told.contains(call) && !views::steps(self.cloud, faults, request).is_empty()
    }

    pub(super) fn tell_views(&mut self, index: usize) -> Result<(), Violation> {
        let (call, request) = &self.calls[index];
        let call = *call;
        let steps = views::steps(self.cloud, Faults(&self.operation.faults), request);
        let Some(number) = self.step_of_call(request) else {
            return Err(Violation::new("views", "the call is of no step"));
        };
        self.trace
            .moments
            .push(Moment::Tells(number, steps.clone()));
        self.told.insert(call);
        self.ask(Asked::Views, Request::PublishViewSteps { call, steps })
    }

    pub(super) fn load_packs(&mut self) -> Result<(), Violation> {
        self.awaits_packs = false;
        let packs = packs::load(&self.operation.flags.policies);
        self.trace.moments.push(Moment::PacksLoaded);
        self.event(Event::PoliciesLoaded(packs))
    }

    /// Answers a call of a policy pack.
    pub(super) fn consult(&mut self, index: usize) -> Result<(), Violation> {
        let (call, pack, request) = match self.order {
            Order::Any => self.consultations.swap_remove(index),
            Order::Fixed => self.consultations.remove(index),
        };
        let names = &self.operation.flags.policies;
        let Some(name) = names.get(pack.0 as usize) else {
            return Err(Violation::new("policies", "there is no such pack"));
        };
        let result = packs::answer(name, &request);
        self.event(Event::PolicyAnswered { call, result })
    }

    /// Provider functions that may be called, because their dependencies have replies.
    pub(super) fn ready_asks(&self) -> impl Iterator<Item = usize> {
        let is_there = |name: &String| self.trace.answers.contains_key(name);
        let is_ready = move |ask: &Ask| ask.needs.iter().chain(&ask.provider).all(is_there);
        let asks = &self.operation.program.asks;
        let unasked = self.unasked.iter().enumerate();
        unasked
            .filter(move |(_, number)| is_ready(&asks[**number]))
            .map(|(index, _)| index)
    }

    /// Calls a provider function.
    pub(super) fn ask_provider(&mut self, index: usize) -> Result<(), Violation> {
        let number = self.unasked.swap_remove(index);
        self.ask_function(number)
    }

    /// Calls the provider function with this number.
    pub(super) fn ask_function(&mut self, number: usize) -> Result<(), Violation> {
        let ask = &self.operation.program.asks[number];
        let answers = &self.trace.answers;
        let needs = ask.needs.iter().map(|name| answers[name].urn.clone());
        let provider = ask.provider.as_ref().map(|name| {
            let answer = &answers[name];
            ProviderRef::new(answer.urn.clone(), answer.id.as_str()).to_string()
        });
        let request = InvokeFunctionRequest {
            token: format!("{}:m:look", ask.package).into(),
            args: Arc::new(arguments(number)),
            provider: provider.unwrap_or_default().into(),
            package: PackageRequest::default(),
            parent: None,
            depends_on: needs.collect(),
        };
        self.ask(Asked::Ask(number), Request::Invoke(Box::new(request)))
    }

    /// Records the call of a provider function, whose dependencies must exist.
    pub(super) fn note_ask(&mut self, instance: InstanceId, call: &ProviderCall) {
        let ProviderCall::Invoke(call) = call else {
            return;
        };
        let number = call.args.get(NUMBER).and_then(Value::as_str);
        if let Some(number) = number.and_then(|text| text.parse().ok()) {
            let server = self.plugins.served_by(instance).cloned();
            self.trace.moments.push(Moment::Asked(number, server));
        }
    }

    /// Records that a provider function was not called: a dependency does not exist, or the provider cannot be
    /// configured.
    pub(super) fn note_unasked(&mut self, id: RequestId, reply: &Reply) {
        if let (Some(Asked::Ask(number)), Reply::Invoked(reply)) = (self.asked.get(&id), reply) {
            if reply.unknown {
                self.trace.moments.push(Moment::NotAsked(*number));
            } else if reply.result.is_empty() {
                self.trace.moments.push(Moment::NobodyToAsk(*number));
            }
        }
    }

    /// Checks that the result of a function is that of the provider; it may fail without a provider, and at the end of
    /// the run.
    pub(super) fn provider_answered(
        &mut self,
        number: usize,
        reply: &Reply,
    ) -> Result<(), Violation> {
        // The default provider may have failed before.
        if self.order == Order::Fixed {
            match reply {
                Reply::Invoked(reply) => {
                    let answer = (reply.result.clone(), reply.unknown);
                    self.trace.asked.insert(number, answer);
                }
                Reply::Failed(error) if error.kind != RequestErrorKind::Unavailable => {
                    self.has_trouble = true;
                }
                _ => {}
            }
        }
        let program = &self.operation.program;
        let may_lack_provider =
            self.operation.flags.continue_on_error || program.asks[number].provider.is_some();
        let transforms = &program.ask_transforms;
        let is_bad = transforms.iter().any(|name| name == "bad");
        let mut arguments = arguments(number);
        if transforms.iter().any(|name| name == "adds") {
            arguments.insert("added", "yes");
        }
        let is_right = match reply {
            Reply::Invoked(reply) => reply.result.is_empty() || *reply.result == arguments,
            Reply::Failed(_) => {
                may_lack_provider || is_bad || self.is_over || self.trace.outcome.is_some()
            }
            _ => false,
        };
        if is_right {
            return Ok(());
        }
        let what = format!("function {number} is answered by {reply:?}");
        Err(Violation::new("replies", what))
    }
}
