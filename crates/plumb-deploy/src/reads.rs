//! Reads of existing objects (`engine.md` 4.2).

use plumb_resource::{Goal, ProviderRef, ResourceId, ResourceKind, ResourceState, TypeToken, Urn};

use crate::arena::StateIdx;
use crate::chain::Owner;
use crate::deployment::Deployment;
use crate::event::RequestId;
use crate::marks::Mark;
use crate::monitor::bare_goal;
use crate::request::{Outcome, ReadResourceReply, ReadResourceRequest, Reply};
use crate::setup::Operation;
use crate::step::{Former, Order, Replaced, Step, StepKind};

impl Deployment {
    /// Reads an object for the program, with the provider that `reference` names.
    pub(crate) fn read(
        &mut self,
        id: RequestId,
        request: ReadResourceRequest,
        reference: ProviderRef,
    ) {
        let parent_type = request.parent.as_ref().map_or("", Urn::qualified_type);
        let urn = Urn::new(
            &self.ctx.stack,
            &self.ctx.project,
            parent_type,
            &request.type_token,
            &request.name,
        );
        if let Some(parent) = &request.parent
            && !self.marks.has(parent, Mark::Seen)
        {
            return self.refuse(
                Some(&urn),
                &format!("could not find parent resource {parent}"),
            );
        }
        if self.marks.has(&urn, Mark::Seen) {
            let message = format!("Duplicate resource URN '{urn}'; try giving it a unique name");
            return self.refuse(Some(&urn), &message);
        }
        if request.id == ResourceId::None {
            return self.refuse(Some(&urn), &format!("Expected an ID for {urn}"));
        }
        let mut goal = Goal {
            parent: request.parent.clone(),
            dependencies: request.dependencies,
            ..bare_goal(
                TypeToken::new(request.type_token.clone()),
                request.name.clone(),
            )
        };
        // A read has no aliases of its own; its parent may have been renamed (UPD-01).
        let (predecessor, conflict) = self.predecessor(&urn, &goal);
        if let Some(message) = conflict {
            return self.refuse(Some(&urn), &message);
        }
        self.drop_strangers(&urn, &mut goal);
        self.supersede(&urn);
        self.marks.set(&urn, Mark::Seen);
        self.lineage.add(request.parent.as_ref(), &urn);
        if reference.is_denied() {
            let message = format!(
                "Default provider for '{}' disabled. '{urn}' must use an explicit provider.",
                reference.package()
            );
            return self.refuse(Some(&urn), &message);
        }
        let Ok(instance) = self.ensure_provider(&reference) else {
            let message = format!("unknown provider '{reference}' for resource '{urn}'");
            return self.refuse(Some(&urn), &message);
        };
        let extension_ref = self.extension_of(&request.package);
        if let Some(extension) = &extension_ref
            && let Err(message) = self.apply_extension(instance, extension)
        {
            return self.refuse(Some(&urn), &message);
        }
        let old = predecessor.as_ref().map(|found| found.state);
        let new = ResourceState {
            extension_ref,
            id: request.id,
            type_token: TypeToken::new(request.type_token),
            inputs: self.for_provider(&request.properties),
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
        let former = match old {
            None => Former::Nothing,
            Some(idx) => {
                let old = self.arena.state(idx);
                let is_managed = !old.external && old.id != new.id;
                if is_managed {
                    Former::Replaced(idx)
                } else {
                    Former::Same(idx)
                }
            }
        };
        let new = Box::new(new);
        let on_skipped = new
            .references()
            .any(|urn| self.marks.has(urn, Mark::SkippedCreate));
        if on_skipped && self.ctx.operation != Operation::Update {
            return self.leave_out_read(id, old, new);
        }
        self.marks.set(&urn, Mark::Read);
        let marker = match former {
            Former::Replaced(old) => Some(StepKind::Replace {
                new: new.clone(),
                replaces: Replaced {
                    old,
                    order: Order::CreateFirst,
                },
            }),
            Former::Nothing | Former::Same(_) => None,
        };
        if marker.is_some() {
            self.marks.set(&urn, Mark::Replaced);
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

    /// A refresh or a destroy does not make what a read refers to: what was read before stays for the end of the run, and
    /// the state gets nothing else.
    fn leave_out_read(&mut self, id: RequestId, old: Option<StateIdx>, new: Box<ResourceState>) {
        if let Some(old) = old {
            let former = self.arena.state(old).clone();
            return self.read_done(id, &former, Some(old), Outcome::Success, 0);
        }
        let urn = new.urn.clone();
        self.marks.set(&urn, Mark::SkippedCreate);
        let skip = StepKind::SkippedCreate { new: new.clone() };
        self.start_chain(Owner::Read(id, new), vec![Step::new(urn, skip)]);
    }

    pub(crate) fn read_done(
        &mut self,
        id: RequestId,
        wanted: &ResourceState,
        state: Option<StateIdx>,
        outcome: Outcome,
        fence: u64,
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
