//! Snippets: small programs kept in the state, which run beside the program (`engine.md` 8.7).
//!
//! 1. [`SnippetChanges`](crate::setup::snippets::SnippetChanges) says which stored ones this run adds, changes and removes; it
//!    is written to the journal before anything else. One that is to go is not evaluated any more, so what it registered goes
//!    at the end of the run.
//! 2. An update evaluates the others beside the program, or those among the targets alone. What they register carries
//!    their uuid.
//! 3. A snippet waits for resources that it names ([`Request::Await`]). The answer comes when a provider has made the
//!    resource, or when the outputs of a component are there. What belongs to a snippet that is left out of the run is
//!    answered from the state, and so nobody else takes it over in that run. What is called so counts before what says that
//!    it was.
//! 4. When the program has ended and every snippet waits, nobody will register what they wait for: they hear so.
//! 5. At the end of the run, a snippet that is to go is dropped if nothing of it is left. **What is due for deletion does
//!    not keep it.**
//!
//! [`Request::Await`]: crate::request::Request::Await

use std::collections::BTreeSet;
use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::{Goal, ResourceState, Urn};
use plumb_state::Snippet;
use plumb_state::journal::{EntryKind, OperationId};
use plumb_value::PropertyMap;
use rustc_hash::FxHashMap;

use crate::deployment::Deployment;
use crate::event::Effect;
use crate::facts::arena::StateIdx;
use crate::facts::identity::Predecessor;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::{Fence, RequestId};
use crate::request::{
    AwaitReply, AwaitRequest, Outcome, RegisterRequest, Reply, RequestError, RequestErrorKind,
};
use crate::setup::{Operation, Setup};

/// The snippets of a run.
#[derive(Debug, Default)]
pub(crate) struct Snippets {
    stored: Vec<Snippet>,
    removed: BTreeSet<EcoString>,
    /// Whether the stored snippets have changed since they were last written to the journal.
    is_unwritten: bool,
    running: BTreeSet<EcoString>,
    waiting: Vec<(RequestId, AwaitRequest)>,
    /// Resources that a snippet can wait for: the reply about each, and its fence. There is no reply about a resource that
    /// failed.
    found: FxHashMap<Urn, (Option<AwaitReply>, Fence)>,
    /// Former URNs of what was registered in this run.
    names: FxHashMap<Urn, Urn>,
}

impl Snippets {
    pub(crate) fn new(setup: &Setup) -> Self {
        match &setup.options.snippet_changes {
            None => Snippets {
                stored: setup.snapshot.snippets.clone(),
                ..Snippets::default()
            },
            Some(changes) => Snippets {
                stored: changes.stored.clone(),
                removed: changes.removed.clone(),
                is_unwritten: true,
                ..Snippets::default()
            },
        }
    }

    /// The evaluation of a snippet is over.
    pub(crate) fn ended(&mut self, uuid: &EcoString) {
        self.running.remove(uuid);
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Whether no snippet will do anything until it is answered.
    fn all_wait(&self) -> bool {
        self.running
            .iter()
            .all(|uuid| self.waiting.iter().any(|(_, wait)| wait.snippet == *uuid))
    }
}

impl Deployment {
    /// Writes down what is stored from now on; what is to go stays until nothing of it is left.
    pub(crate) fn record_snippet_changes(&mut self) {
        if std::mem::take(&mut self.snippets.is_unwritten) {
            let stored = self.snippets.stored.clone();
            self.journal(OperationId::NONE, EntryKind::Snippets(stored));
        }
    }

    /// Has snippets evaluated, if this is an update.
    pub(crate) fn start_snippets(&mut self) {
        if self.ctx.operation != Operation::Update {
            return;
        }
        self.keep_what_is_not_replayed();
        let targets = &self.ctx.options.target_snippets;
        let is_meant = |uuid: &EcoString| targets.is_empty() || targets.contains(uuid);
        let snippets = &mut self.snippets;
        for snippet in &snippets.stored {
            if is_meant(&snippet.uuid) && !snippets.removed.contains(&snippet.uuid) {
                snippets.running.insert(snippet.uuid.clone());
                self.outbox
                    .push(Effect::StartSnippet(Box::new(snippet.clone())));
            }
        }
    }

    /// Nobody registers what belongs to snippets that are left out: it stays as it is, with what it needs.
    fn keep_what_is_not_replayed(&mut self) {
        if self.ctx.options.target_snippets.is_empty() {
            return;
        }
        let order = self.olds.order().iter();
        let states = order.map(|idx| self.arena.state(*idx).clone());
        for state in states.collect::<Vec<_>>() {
            if !state.delete && self.is_of_snippet_not_replayed(&state) {
                self.keep_what_it_needs(&state);
            }
        }
    }

    /// The snippet that a registration belongs to: the one that asks for it, or the one that has the component around it.
    pub(crate) fn snippet_of(&self, request: &RegisterRequest, urn: &Urn) -> Option<EcoString> {
        if request.snippet_id.is_some() || !self.snippets.is_running() {
            return request.snippet_id.clone();
        }
        [Some(urn), request.parent.as_ref()]
            .into_iter()
            .flatten()
            .find_map(|urn| self.urns.goal(urn)?.snippet_id.clone())
    }

    /// Whether the operation is about the snippet that registered this.
    pub(crate) fn is_of_target_snippet(&self, state: &ResourceState) -> bool {
        let uuid = state.snippet_id.as_ref();
        uuid.is_some_and(|uuid| self.ctx.options.target_snippets.contains(uuid))
    }

    /// Whether the snippet that registered this is left out of the run.
    pub(crate) fn is_of_snippet_not_replayed(&self, state: &ResourceState) -> bool {
        !self.ctx.options.target_snippets.is_empty()
            && state.snippet_id.is_some()
            && !self.is_of_target_snippet(state)
    }

    /// Whether `urn` stays as it is, because its snippet is left out of the run.
    pub(crate) fn is_not_replayed(&self, urn: &Urn) -> bool {
        self.urns
            .of_base(urn)
            .is_some_and(|idx| self.is_of_snippet_not_replayed(self.arena.state(idx)))
    }

    /// Why `urn` may not take over an old state: that belongs to a snippet that is left out of the run, and was perhaps
    /// told to others as it is.
    pub(crate) fn conflict_with_snippet(&self, urn: &Urn, old: &Predecessor) -> Option<String> {
        let state = self.arena.state(old.state);
        let uuid = state.snippet_id.as_ref()?;
        self.is_of_snippet_not_replayed(state).then(|| {
            format!(
                "resource '{urn}' belongs to the snippet '{uuid}', which this run leaves out; target that snippet too, or \
                 remove it"
            )
        })
    }

    /// Remembers what a resource was called before, for those who ask for it by that name.
    pub(crate) fn note_names_for_snippets(&mut self, urn: &Urn, goal: &Goal) {
        if self.snippets.is_running() {
            for former in self.former_urns(urn, goal) {
                self.snippets.names.insert(former, urn.clone());
            }
        }
    }

    /// The resource that a snippet means by `urn`: the one that is called so, or the one that has taken over from it.
    fn awaited_name<'a>(&'a self, urn: &'a Urn) -> &'a Urn {
        if self.urns.has(urn, UrnFlag::Seen) {
            return urn;
        }
        self.current_urn(urn)
    }

    /// The present URN of `urn` once nothing new can be registered: a former URN counts too.
    fn awaited_alias<'a>(&'a self, urn: &'a Urn) -> &'a Urn {
        let name = self.awaited_name(urn);
        if self.urns.has(name, UrnFlag::Seen) {
            return name;
        }
        self.snippets.names.get(urn).unwrap_or(urn)
    }

    /// A snippet asks for a resource.
    pub(crate) fn take_await(&mut self, id: RequestId, request: AwaitRequest) {
        let urn = self.awaited_name(&request.urn);
        if let Some((found, fence)) = self.snippets.found.get(urn) {
            let (reply, fence) = (awaited_reply(urn, found.as_ref()), *fence);
            return self.reply(id, reply, fence);
        }
        if self.is_not_replayed(urn)
            && let Some(idx) = self.urns.of_base(urn)
        {
            let state = self.arena.state(idx);
            let found = AwaitReply {
                urn: state.urn.clone(),
                id: state.id.clone(),
                custom: state.is_custom(),
                outputs: state.outputs.clone(),
                unknown: false,
            };
            return self.reply(id, Reply::Awaited(found), Fence::NONE);
        }
        self.snippets.waiting.push((id, request));
    }

    /// The answer to a registration or a read is what those who wait for the resource get too.
    pub(crate) fn note_for_snippets(&mut self, reply: &Reply, fence: Fence) {
        if !self.snippets.is_running() {
            return;
        }
        let (found, outcome) = match reply {
            Reply::Registered(reply) => {
                let goal = self.urns.goal(self.registered_as(&reply.urn));
                let is_component = goal.is_some_and(|goal| goal.is_component);
                let has_outputs = is_component && !reply.urn.is_root_stack();
                if has_outputs && reply.outcome == Outcome::Success {
                    return;
                }
                let found = AwaitReply {
                    urn: reply.urn.clone(),
                    id: reply.id.clone(),
                    custom: !is_component,
                    outputs: reply.outputs.clone(),
                    unknown: reply.unknown,
                };
                (found, reply.outcome)
            }
            Reply::Read(reply) => {
                let found = AwaitReply {
                    urn: reply.urn.clone(),
                    id: reply.id.clone(),
                    custom: true,
                    outputs: reply.outputs.clone(),
                    unknown: self.urns.has(&reply.urn, UrnFlag::SkippedCreate),
                };
                (found, reply.outcome)
            }
            _ => return,
        };
        let urn = found.urn.clone();
        let found = (outcome == Outcome::Success).then_some(found);
        self.resource_found(urn, found, fence);
    }

    /// The outputs of a component are there, and with them all that there is to know of it.
    pub(crate) fn note_outputs_for_snippets(
        &mut self,
        urn: &Urn,
        outputs: Arc<PropertyMap>,
        fence: Fence,
    ) {
        if self.snippets.is_running() {
            let kept = self.kept_urn(urn).clone();
            let found = AwaitReply {
                unknown: self.urns.has(urn, UrnFlag::SkippedCreate),
                ..component(&kept, outputs)
            };
            self.resource_found(kept, Some(found), fence);
        }
    }

    /// A resource is there. What a target leaves out keeps its former name, and snippets may have asked for either.
    fn resource_found(&mut self, urn: Urn, found: Option<AwaitReply>, fence: Fence) {
        let registered = self.registered_as(&urn).clone();
        if registered != urn {
            self.answer_waiting(registered, found.clone(), fence);
        }
        self.answer_waiting(urn, found, fence);
    }

    fn answer_waiting(&mut self, urn: Urn, found: Option<AwaitReply>, fence: Fence) {
        let waiting = std::mem::take(&mut self.snippets.waiting);
        let (answered, waiting): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|(_, wait)| *self.awaited_name(&wait.urn) == urn);
        self.snippets.waiting = waiting;
        for (id, _) in answered {
            self.reply(id, awaited_reply(&urn, found.as_ref()), fence);
        }
        self.snippets.found.insert(urn, (found, fence));
    }

    /// The program is over and nothing is under way: if every snippet waits, nobody will register what they wait for.
    /// Answers whether somebody was answered.
    pub(crate) fn answer_stuck_snippets(&mut self) -> bool {
        if !self.snippets.all_wait() {
            return false;
        }
        if self.answer_for_silent_components() || self.answer_by_alias() {
            return true;
        }
        for (id, wait) in std::mem::take(&mut self.snippets.waiting) {
            let message = format!("'{}': no source registered this URN", wait.urn);
            let error = RequestError::new(RequestErrorKind::FailedPrecondition, message);
            self.reply(id, Reply::Failed(error), Fence::NONE);
        }
        true
    }

    /// A component that registered no outputs has none.
    fn answer_for_silent_components(&mut self) -> bool {
        let awaited: BTreeSet<Urn> = self
            .snippets
            .waiting
            .iter()
            .map(|(_, wait)| self.awaited_alias(&wait.urn).clone())
            .filter(|urn| !self.snippets.found.contains_key(urn))
            .filter(|urn| self.urns.has(urn, UrnFlag::Seen))
            .filter(|urn| self.urns.goal(urn).is_some_and(|goal| goal.is_component))
            .collect();
        let fence = self.outbox.journaled();
        for urn in &awaited {
            self.note_outputs_for_snippets(urn, Arc::default(), fence);
        }
        !awaited.is_empty()
    }

    /// Answers those who wait for a resource by a name that it says it had. Answers whether there were any.
    fn answer_by_alias(&mut self) -> bool {
        let waiting = std::mem::take(&mut self.snippets.waiting);
        let mut is_any = false;
        for (id, wait) in waiting {
            let urn = self.awaited_alias(&wait.urn).clone();
            match self.snippets.found.get(&urn) {
                Some((found, fence)) => {
                    let (reply, fence) = (awaited_reply(&urn, found.as_ref()), *fence);
                    self.reply(id, reply, fence);
                    is_any = true;
                }
                None => self.snippets.waiting.push((id, wait)),
            }
        }
        is_any
    }

    /// The end of the run: drops the snippets that are to go and have nothing left. A run that has not even begun leaves all
    /// as they are.
    pub(crate) fn drop_removed_snippets(&mut self) {
        if self.snippets.is_unwritten {
            return;
        }
        let done: BTreeSet<EcoString> = std::mem::take(&mut self.snippets.removed)
            .into_iter()
            .filter(|uuid| !self.has_anything_left_of(uuid))
            .collect();
        if done.is_empty() {
            return;
        }
        let stored = &mut self.snippets.stored;
        stored.retain(|snippet| !done.contains(&snippet.uuid));
        let stored = stored.clone();
        self.journal(OperationId::NONE, EntryKind::Snippets(stored));
    }

    fn has_anything_left_of(&self, uuid: &EcoString) -> bool {
        let is_left = |idx: StateIdx| {
            let state = self.arena.state(idx);
            state.snippet_id.as_ref() == Some(uuid) && !state.delete && !self.gone.contains(&idx)
        };
        let is_latest = |idx: StateIdx| {
            let urn = self.current_urn(&self.arena.state(idx).urn);
            self.urns.of_run(urn).is_none_or(|new| new == idx)
        };
        // A state that was passed on because another refers to it may have got another name since.
        let olds = self.olds.order().iter().copied();
        let mut all = self.urns.all_of_run().chain(olds);
        all.any(|idx| is_left(idx) && is_latest(idx))
    }
}

fn component(urn: &Urn, outputs: Arc<PropertyMap>) -> AwaitReply {
    AwaitReply {
        urn: urn.clone(),
        id: plumb_resource::ResourceId::None,
        custom: false,
        outputs,
        unknown: false,
    }
}

fn awaited_reply(urn: &Urn, found: Option<&AwaitReply>) -> Reply {
    let Some(found) = found else {
        let message = format!("resource '{urn}' failed");
        return Reply::Failed(RequestError::new(RequestErrorKind::Unknown, message));
    };
    Reply::Awaited(found.clone())
}
