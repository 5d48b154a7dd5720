//! Reads of existing objects (`engine.md` 4.2).

use std::sync::Arc;

use plumb_resource::{Goal, ProviderRef, ResourceId, ResourceKind, ResourceState, TypeToken, Urn};

use crate::deployment::Deployment;
use crate::event::Milestone;
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::{Fence, InstanceId, RequestId};
use crate::request::{Outcome, ReadResourceReply, ReadResourceRequest, Reply};
use crate::setup::Operation;
use crate::step::{Order, ReadPrior, Replaced, Step, StepKind};
use crate::steps::scheduler::Owner;

impl Deployment {
    /// Reads an object for the program, with the provider that `reference` names.
    pub(crate) fn read(
        &mut self,
        id: RequestId,
        request: ReadResourceRequest,
        reference: ProviderRef,
    ) {
        let mut goal = Goal {
            parent: request.parent.clone(),
            dependencies: request.dependencies,
            ..Goal::bare(
                TypeToken::new(request.type_token.clone()),
                request.name.clone(),
            )
        };
        let urn = self.urn_of(&goal);
        if let Err(message) = self.check_place(&urn, request.parent.as_ref()) {
            return self.refuse(Some(&urn), &message);
        }
        if request.id == ResourceId::None {
            return self.refuse(Some(&urn), &format!("Expected an ID for {urn}"));
        }
        self.tell_milestone(|| Milestone::Registered(urn.clone()));
        // A read has no aliases of its own; its parent may have been renamed (UPD-01).
        let (predecessor, conflict) = self.predecessor(&urn, &goal);
        let of_snippet = || self.conflict_with_snippet(&urn, predecessor.as_ref()?);
        if let Some(message) = conflict.or_else(of_snippet) {
            return self.refuse(Some(&urn), &message);
        }
        self.drop_unknown_references(&urn, &mut goal);
        self.supersede(&urn);
        self.urns.mark(&urn, UrnFlag::Seen);
        self.lineage
            .add(request.parent.as_ref(), &urn, ResourceKind::Custom);
        let extension_ref = self.extension_of(&request.package);
        let instance = match self.provider_for(&reference, &urn, extension_ref.as_ref()) {
            Ok(instance) => instance,
            Err(message) => return self.refuse(Some(&urn), &message),
        };
        let old = predecessor.as_ref().map(|found| found.state);
        let new = ResourceState {
            extension_ref,
            id: request.id,
            type_token: TypeToken::new(request.type_token),
            inputs: self.ctx.for_provider(&request.properties),
            parent: request.parent,
            external: true,
            dependencies: goal.dependencies,
            provider: Some(reference),
            additional_secret_outputs: request.additional_secret_outputs,
            source_position: request.source_position,
            stack_trace: request.stack_trace,
            aliases: predecessor
                .and_then(|it| it.former_urn)
                .into_iter()
                .collect(),
            ..ResourceState::new(urn.clone(), ResourceKind::Custom)
        };
        self.read_or_leave_out(id, old, Arc::new(new), instance);
    }

    /// Reads, unless the operation changes nothing that the program says: a refresh or a destroy makes nothing that the
    /// read could refer to, does not give up what is ours, and leaves others to refer to it as they did.
    fn read_or_leave_out(
        &mut self,
        id: RequestId,
        old: Option<StateIdx>,
        new: Arc<ResourceState>,
        instance: InstanceId,
    ) {
        if self.ctx.operation != Operation::Update && self.changes_too_much(old, &new) {
            return self.leave_out_read(id, old, new);
        }
        self.start_read(id, old, new, instance);
    }

    fn changes_too_much(&mut self, old: Option<StateIdx>, new: &ResourceState) -> bool {
        let on_skipped = |urn: &Urn| self.urns.has(urn, UrnFlag::SkippedCreate);
        if new.references().any(on_skipped) {
            return true;
        }
        let Some(old) = old else {
            return false;
        };
        !self.arena.state(old).external || self.circle_through(new).is_some()
    }

    /// Reads; an object that is ours and has another id is given up for what is read.
    fn start_read(
        &mut self,
        id: RequestId,
        old: Option<StateIdx>,
        new: Arc<ResourceState>,
        instance: InstanceId,
    ) {
        let urn = new.urn.clone();
        let former = match old.map(|idx| (idx, self.arena.state(idx))) {
            None => ReadPrior::Nothing,
            Some((idx, old)) if !old.external && old.id != new.id => ReadPrior::Replaced(idx),
            Some((idx, _)) => ReadPrior::Same(idx),
        };
        self.urns.mark(&urn, UrnFlag::Read);
        let marker = match former {
            ReadPrior::Replaced(old) => Some(StepKind::Replace {
                new: new.clone(),
                replaces: Replaced {
                    old,
                    order: Order::CreateFirst,
                },
            }),
            ReadPrior::Nothing | ReadPrior::Same(_) => None,
        };
        if marker.is_some() {
            self.urns.mark(&urn, UrnFlag::Replaced);
        }
        let wanted = new.clone();
        let read = StepKind::Read {
            former,
            new,
            instance,
        };
        let steps: Vec<Step> = std::iter::once(read)
            .chain(marker)
            .map(|kind| Step::new(urn.clone(), kind))
            .collect();
        if self.check_references(&steps) {
            self.start_chain(Owner::Read(id, wanted), steps);
        }
    }

    /// Leaves a read out: the old state, if there is one, stays until the end of the run, and no new one is recorded.
    fn leave_out_read(&mut self, id: RequestId, old: Option<StateIdx>, new: Arc<ResourceState>) {
        if let Some(old) = old {
            // What the program registers below it, or from it, goes by the name that it has now.
            let (old, fence) = self.record_name(old, &new.urn, new.parent.clone());
            return self.read_done(id, &new, Some(old), Outcome::Success, fence);
        }
        let urn = new.urn.clone();
        self.urns.mark(&urn, UrnFlag::SkippedCreate);
        let skip = StepKind::SkippedCreate { new: new.clone() };
        self.start_chain(Owner::Read(id, new), vec![Step::new(urn, skip)]);
    }

    pub(crate) fn read_done(
        &mut self,
        id: RequestId,
        wanted: &ResourceState,
        state: Option<StateIdx>,
        outcome: Outcome,
        fence: Fence,
    ) {
        // A run that goes on after a failure answers with what was asked for (`engine.md` 2.8).
        let state = state.map_or(wanted, |idx| self.arena.state(idx));
        let reply = ReadResourceReply {
            urn: state.urn.clone(),
            id: state.id.clone(),
            outputs: state.outputs.clone(),
            outcome,
        };
        self.reply(id, Reply::Read(reply), fence);
    }
}
