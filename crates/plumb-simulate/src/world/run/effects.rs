//! Effects of the core.

use plumb_deploy::request::Reply;
use plumb_deploy::{Effect, RequestId};
use plumb_resource::provider::ProviderCall;

use super::{Asked, Order, Run};
use crate::story::Res;
use crate::world::journal::intent_of;
use crate::world::{Made, Moment, Violation, calls};

impl Run<'_> {
    /// Performs an effect.
    pub(super) fn perform(&mut self, effect: Effect) -> Result<(), Violation> {
        match &effect {
            Effect::Journal(_) | Effect::Touch { .. } => self.record(effect),
            Effect::Call {
                call,
                instance,
                request,
                fence,
            } => {
                let fence = fence.entries();
                self.check_call(request, fence)?;
                self.plugins.called(*instance, *call, request)?;
                self.check_package(*instance, request)?;
                self.note_ask(*instance, request);
                self.note_method(*instance, request);
                self.hold(fence, effect)
            }
            Effect::Reply { id, reply, fence } => {
                let fence = fence.entries();
                self.check_reply(reply, fence)?;
                self.note_reply(*id, reply);
                self.hold(fence, effect)
            }
            Effect::Callback { request, fence, .. } => {
                let fence = fence.entries();
                self.check_callback(request, fence)?;
                self.hold(fence, effect)
            }
            _ => self.take(effect),
        }
    }

    fn record(&mut self, effect: Effect) -> Result<(), Violation> {
        match effect {
            _ if self.operation.preview => {
                Err(Violation::new("preview", "a preview records something"))
            }
            Effect::Journal(entry) => {
                self.journal.record(entry)?;
                if self.careful {
                    self.journal.verify(self.now)?;
                }
                Ok(())
            }
            Effect::Touch { base } => self.journal.touch(base),
            _ => Ok(()),
        }
    }

    /// Records the content of a reply, which may be held back.
    fn note_reply(&mut self, id: RequestId, reply: &Reply) {
        self.note_unasked(id, reply);
        self.note_uncalled(id, reply);
        self.note_refused(id, reply);
        if let (Some(Asked::Outputs(name)), Reply::Done) = (self.asked.get(&id), reply) {
            self.trace.moments.push(Moment::Outputs(name.clone()));
        }
        if let Some(Asked::Await(it)) = self.asked.get(&id).cloned() {
            self.note_awaited(&it, reply);
        }
    }

    /// Performs an effect that waits for nothing.
    fn take(&mut self, effect: Effect) -> Result<(), Violation> {
        match effect {
            Effect::Emit(event) => return self.emitted(event),
            Effect::Provider { instance, action } => return self.plugins.act(instance, action),
            Effect::Milestone(milestone) => return self.told(milestone),
            Effect::Planned(plan) => self.trace.plan = Some(plan),
            Effect::StartProgram => self.program_runs = true,
            Effect::StartSnippet(snippet) => self.start_snippet(&snippet.uuid),
            Effect::Finished(outcome) => self.trace.outcome = Some(outcome),
            Effect::LoadPolicies => self.awaits_packs = true,
            Effect::AskPolicy {
                call,
                pack,
                request,
            } => self.consultations.push((call, pack, request)),
            Effect::Journal(_)
            | Effect::Touch { .. }
            | Effect::Call { .. }
            | Effect::Reply { .. }
            | Effect::Callback { .. } => {}
        }
        Ok(())
    }

    /// Releases effects whose entries are durable now.
    pub(super) fn release(&mut self) -> Result<(), Violation> {
        if self.trace.journal_failed {
            return Ok(());
        }
        let durable = self.journal.durable;
        let (ready, held): (Vec<_>, Vec<_>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|(fence, _)| *fence <= durable);
        self.held = held;
        for (_, effect) in ready {
            self.perform_now(effect)?;
        }
        Ok(())
    }

    fn hold(&mut self, fence: u64, effect: Effect) -> Result<(), Violation> {
        if fence > self.journal.len() {
            return Err(Violation::new("journal", "a fence that no entry reaches"));
        }
        if fence > self.journal.durable {
            self.held.push((fence, effect));
            return Ok(());
        }
        self.perform_now(effect)
    }

    /// Checks that a call that changes an object waits for a pending operation.
    fn check_call(&self, request: &ProviderCall, fence: u64) -> Result<(), Violation> {
        let Some(mutation) = calls::mutation(request) else {
            return Ok(());
        };
        let shown = format!("{} of {}", mutation.call, mutation.urn.name());
        if self.operation.preview {
            return Err(Violation::new("preview", shown));
        }
        // The pending operation of a retried call has been durable since the first attempt.
        let fence = fence.max(self.journal.durable);
        if !self
            .journal
            .has_intent(&mutation.urn, intent_of(mutation.call), fence)
        {
            return Err(Violation::new(
                "intent",
                format!("{shown} has no durable intent"),
            ));
        }
        Ok(())
    }

    fn check_reply(&self, reply: &Reply, fence: u64) -> Result<(), Violation> {
        let urn = match reply {
            Reply::Registered(reply) => &reply.urn,
            Reply::Read(reply) => &reply.urn,
            Reply::Awaited(reply) => &reply.urn,
            _ => return Ok(()),
        };
        // A component consists only of its entries.
        let res = self.operation.program.get(urn.name());
        let is_component = urn.is_root_stack() || res.is_some_and(Res::is_component);
        if !is_component && self.journal.recorded(urn) > fence {
            let what = format!("{} is answered before its outcome is durable", urn.name());
            return Err(Violation::new("outcome", what));
        }
        Ok(())
    }

    fn note_made(&mut self, call: &ProviderCall) {
        if self.order == Order::Fixed {
            self.trace.made.push(Made::Provider(call.clone()));
        }
    }

    fn perform_now(&mut self, effect: Effect) -> Result<(), Violation> {
        match effect {
            Effect::Call {
                call,
                request: ProviderCall::Construct(request),
                ..
            } => {
                self.note_made(&ProviderCall::Construct(request.clone()));
                let name = request.goal.name.to_string();
                self.constructions.push((call, name, false));
                Ok(())
            }
            Effect::Call { call, request, .. } => {
                self.note_made(&request);
                self.trace.mutations.extend(calls::mutation(&request));
                self.method_begins(&request);
                self.calls.push((call, request));
                Ok(())
            }
            Effect::Callback {
                call,
                callback,
                request,
                ..
            } => {
                self.callbacks.push((call, callback, request));
                Ok(())
            }
            Effect::Reply { id, reply, .. } => self.answered(id, reply),
            _ => Ok(()),
        }
    }
}
