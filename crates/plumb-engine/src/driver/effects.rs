//! Performing the effects of the core.

use std::sync::Arc;

use futures::FutureExt as _;
use plumb_deploy::request::{Callback, CallbackRequest, Reply};
use plumb_deploy::{CallId, Effect, Event, Fence, InstanceId, PackId, ProgramEnd, RequestId};
use plumb_resource::policy::PolicyCall;
use plumb_resource::provider::{ProviderCall, ProviderError};
use plumb_state::Snippet;

use super::Driver;
use super::fence::{FenceVerdict, Fenced};
use crate::flights::{self, Progress};
use crate::monitor::ResourceMonitor;
use crate::policies::Loaded;
use crate::program::ProgramResult;
use crate::{snippet, spans};

/// Reason given for calls that are not made.
const NO_JOURNAL: &str = "because the journal cannot be written";

impl Driver {
    /// Performs an effect, or keeps it until the journal is durable.
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Journal(_) | Effect::Touch { .. } | Effect::Milestone(_) => {}
            Effect::Provider { instance, action } => self.instances.act(instance, action),
            Effect::Call {
                call,
                instance,
                request,
                fence,
            } => {
                request.properties().for_each(|it| self.masks.learn_all(it));
                let request = Box::new(request);
                let call = Fenced::Call {
                    call,
                    instance,
                    request,
                };
                self.behind(fence, call);
            }
            Effect::Callback {
                call,
                callback,
                request,
                fence,
            } => {
                let callback = Fenced::Callback {
                    call,
                    callback,
                    request,
                };
                self.behind(fence, callback);
            }
            Effect::Reply { id, reply, fence } => {
                let reply = Box::new(reply);
                self.behind(fence, Fenced::Reply { id, reply });
            }
            Effect::Emit(event) => self.emit(event),
            Effect::LoadPolicies => self.load_policies(),
            Effect::AskPolicy {
                call,
                pack,
                request,
            } => self.ask_policy(call, pack, request),
            Effect::StartProgram => self.start_program(),
            Effect::StartSnippet(snippet) => self.start_snippet(*snippet),
            Effect::Planned(plan) => self.plan = Some(plan),
            Effect::Finished(outcome) => self.outcome = Some(outcome),
        }
    }

    /// Performs an effect behind `fence`.
    fn behind(&mut self, fence: Fence, effect: Fenced) {
        match self.fenced.pass(fence, effect) {
            FenceVerdict::Free(effect) => self.begin(effect),
            FenceVerdict::Waits => {}
            FenceVerdict::Barred(effect) => self.bar(effect),
        }
    }

    fn begin(&mut self, effect: Fenced) {
        match effect {
            Fenced::Call {
                call,
                instance,
                request,
            } => self.call(call, instance, *request),
            Fenced::Callback {
                call,
                callback,
                request,
            } => self.call_back(call, callback, request),
            Fenced::Reply { id, reply } => self.reply(id, *reply),
        }
    }

    /// Fails an effect that must not happen: a call gets an error as its answer, and a reply is dropped.
    fn bar(&mut self, effect: Fenced) {
        match effect {
            Fenced::Call { call, .. } => {
                let reason = format!("the provider was not called, {NO_JOURNAL}");
                let error = ProviderError::clean(reason);
                self.tasks.answered.push_back((call, Err(error)));
            }
            Fenced::Callback { call, .. } => {
                let error = format!("it was not called, {NO_JOURNAL}");
                let answer = async move { (call, Err(error)) };
                self.tasks.callbacks.spawn(answer);
            }
            Fenced::Reply { .. } => {}
        }
    }

    /// Performs the effects that waited for the first `entries` journal entries, which are durable now.
    pub(super) fn release(&mut self, entries: u64) {
        let released = self.fenced.release(entries);
        released.for_each(|effect| self.begin(effect));
    }

    /// Handles a broken journal: the core is notified, and all waiting effects fail.
    pub(super) fn journal_failed(&mut self, message: String) {
        if self.fenced.breaks() {
            self.event(Event::JournalFailed { message });
            let barred = self.fenced.barred();
            barred.for_each(|effect| self.bar(effect));
        }
    }

    fn call(&mut self, call: CallId, instance: InstanceId, request: ProviderCall) {
        self.pace.called(call, &request);
        let (subject, name) = (flights::subject(&request), request.name());
        let progress = Progress::default();
        let provider = self.instances.plugin(instance);
        let span = self.steps.call(&subject, name, provider);
        let answer = self
            .instances
            .call(call, instance, request, progress.clone());
        let mut answer = Box::pin(spans::within(span, answer));
        // Most built-in providers answer immediately, and then no task is needed.
        if let Some(result) = answer.as_mut().now_or_never() {
            self.tasks.answered.push_back((call, result));
            return;
        }
        self.flights.begin(call, subject, name, progress);
        self.tasks.calls.spawn(async move { (call, answer.await) });
    }

    fn call_back(&mut self, call: CallId, callback: Callback, request: CallbackRequest) {
        let span = spans::callback(&request);
        let answer = spans::within(span, self.callbacks.clone().call(callback, request));
        self.tasks
            .callbacks
            .spawn(async move { (call, answer.await) });
    }

    fn load_policies(&mut self) {
        let packs = std::mem::take(&mut self.policies);
        let load = packs.load(self.host.clone(), self.info.clone());
        self.tasks
            .loading
            .spawn(spans::within(spans::packs(), load));
    }

    pub(super) fn policies_loaded(&mut self, result: Result<Loaded, String>) {
        let told = result.map(|loaded| {
            let packs = loaded.packs();
            self.packs = Some(loaded);
            packs
        });
        self.event(Event::PoliciesLoaded(told));
    }

    fn ask_policy(&mut self, call: CallId, pack: PackId, request: PolicyCall) {
        let span = spans::policy(&request);
        let answer = self.packs.as_ref().map(|packs| packs.ask(pack, request));
        self.tasks.consultations.spawn(async move {
            let answer = match answer {
                Some(answer) => spans::within(span, answer).await,
                None => Err("the policy packs are not loaded".to_owned()),
            };
            (call, answer)
        });
    }

    fn reply(&mut self, id: RequestId, reply: Reply) {
        if let Some(answer) = self.answers.remove(&id) {
            self.outbox.reply(answer, reply);
        }
    }

    fn start_program(&mut self) {
        let Some(program) = self.program.clone() else {
            return self.event(Event::ProgramEnded(ProgramEnd::Finished));
        };
        let info = self.info.clone();
        let monitor: Arc<dyn ResourceMonitor> = Arc::new(self.handle.clone());
        let cancel = self.program_cancel.clone();
        let run = async move { program.run(info, monitor, cancel).await };
        self.tasks.program.spawn(spans::program(run));
    }

    fn start_snippet(&mut self, snippet: Snippet) {
        let language = self.snippets.clone();
        let info = self.info.clone();
        let monitor: Arc<dyn ResourceMonitor> = Arc::new(self.handle.clone());
        self.tasks.snippets.spawn(async move {
            let uuid = snippet.uuid.clone();
            let result = match language {
                Some(language) => language.run(snippet, info, monitor).await,
                None => ProgramResult::Failed {
                    message: snippet::NO_LANGUAGE.to_owned(),
                },
            };
            (uuid, result)
        });
    }
}
