//! Refresh steps: reading an object and comparing it with its state (`engine.md` 7.3).

use std::sync::Arc;

use ecow::EcoVec;
use plumb_resource::provider::{
    DiffChanges, DiffRequest, DiffResult, ProviderCall, ProviderError, ProviderReply, ReadRequest,
};
use plumb_resource::{ResourceId, ResourceKind, ResourceState, StepOp, Urn};
use plumb_state::journal::{Entry, EntryKind, OperationId, Slot};
use plumb_value::{PropertyKey, PropertyMap};

use crate::deployment::Deployment;
use crate::facts::arena::StateIdx;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::{ChainIdx, Fence};
use crate::setup::Operation;
use crate::step::{FailureImpact, Step, StepKind, StepReason};
use crate::steps::answer::{Applied, Reading};
use crate::steps::calls::{Announcement, Turn};
use crate::steps::compare;
use crate::steps::scheduler::{Running, StepEnd};
use crate::steps::views::Followed;

/// A resource as it was read, before it is compared.
#[derive(Debug)]
pub(crate) struct Refreshed {
    new: ResourceState,
}

impl Deployment {
    pub(crate) fn perform_refresh(
        &mut self,
        idx: ChainIdx,
        mut step: Step,
        old: StateIdx,
        operation: OperationId,
    ) -> Option<StepEnd> {
        let state = self.arena.state(old).clone();
        let is_read = state.kind == ResourceKind::Custom && !state.pending_replacement;
        let provider = if is_read {
            self.instance_for_state(&state)
        } else {
            Ok(None)
        };
        let provider = match provider {
            Ok(Some(provider)) if !self.providers.is_config_unknown(provider) => provider,
            // Also where a provider cannot be configured in this preview: nobody can tell how things are.
            Ok(_) => {
                let found = found_unread(&step, &state);
                return Some(self.refresh_ends(step, old, operation, Some(state), found));
            }
            Err(message) => {
                let urn = &state.urn;
                let message = format!("could not load provider for resource {urn}: {message}");
                let failed = Applied::failed(message, FailureImpact::None);
                return Some(self.complete(&step, operation, failed));
            }
        };
        step.set_instance(provider);
        let request = ProviderCall::Read(ReadRequest {
            urn: step.urn.clone(),
            id: state.id.clone(),
            inputs: Some(state.inputs.clone()),
            outputs: state.outputs.clone(),
            timeout: state.custom_timeouts.read,
            old_views: Vec::new(),
            status: None,
        });
        self.step_calls(
            idx,
            step,
            operation,
            request,
            Fence::NONE,
            Announcement::Made,
        )
    }

    pub(crate) fn refresh_answered(
        &mut self,
        idx: ChainIdx,
        step: Step,
        old: StateIdx,
        operation: OperationId,
        running: Running,
        result: Result<ProviderReply, ProviderError>,
    ) -> Option<StepEnd> {
        let Running::RefreshDiff(refreshed) = running else {
            return self.read_for_refresh(idx, step, old, operation, result);
        };
        let applied = match result {
            Ok(ProviderReply::Diffed(diff)) => {
                let diff = diff.inverted();
                return Some(self.compared(step, old, operation, refreshed.new, diff));
            }
            Ok(_) => Applied::mismatched("Diff", FailureImpact::None),
            Err(error) => Applied::from_error(&error),
        };
        Some(self.complete(&step, operation, applied))
    }

    fn read_for_refresh(
        &mut self,
        idx: ChainIdx,
        step: Step,
        old: StateIdx,
        operation: OperationId,
        result: Result<ProviderReply, ProviderError>,
    ) -> Option<StepEnd> {
        let Reading { response, reasons } = match Reading::of(result) {
            Ok(reading) => reading,
            Err(failed) => return Some(self.complete(&step, operation, failed)),
        };
        let state = self.arena.state(old).clone();
        if let Some(reasons) = &reasons {
            let mut message = String::from("Refreshed resource is in an unhealthy state:");
            for reason in reasons {
                message.push_str("\n* ");
                message.push_str(reason);
            }
            self.warning(Some(&step.urn), &message);
        }
        // What is not ready exists, whether or not the provider tells how it looks.
        let outputs = response
            .outputs
            .or(reasons.as_ref().map(|_| state.outputs.clone()))
            .filter(|_| response.id != ResourceId::None);
        let Some(outputs) = outputs else {
            return Some(self.refresh_ends(step, old, operation, None, StepOp::Delete));
        };
        let mut new = ResourceState {
            id: response.id,
            inputs: match response.inputs {
                Some(inputs) => as_known(&state.inputs, inputs),
                None => state.inputs.clone(),
            },
            outputs: as_known(&state.outputs, outputs),
            init_errors: reasons.unwrap_or_default(),
            refresh_before_update: response.refresh_before_update,
            additional_secret_outputs: listed_as_secret(
                &state,
                step.new_state().map(AsRef::as_ref),
            ),
            ..state.as_ref().clone()
        };
        if !compare::are_equal(&new.inputs, &state.inputs)
            || !compare::are_equal(&new.outputs, &state.outputs)
        {
            new.modified = Some(self.now);
        }
        self.compare_refreshed(idx, step, old, operation, new)
    }

    /// Finds out whether what was read differs, as the user sees it.
    fn compare_refreshed(
        &mut self,
        idx: ChainIdx,
        step: Step,
        old_idx: StateIdx,
        operation: OperationId,
        new: ResourceState,
    ) -> Option<StepEnd> {
        let old = self.arena.state(old_idx).clone();
        if old.external || self.ctx.options.legacy_refresh_diff {
            let new = self.with_secret_outputs(Arc::new(new), &step);
            let found = if compare::are_equal(&old.outputs, &new.outputs) {
                StepOp::Same
            } else {
                StepOp::Update
            };
            return Some(self.refresh_ends(step, old_idx, operation, Some(new), found));
        }
        let request = ProviderCall::Diff(DiffRequest {
            urn: step.urn.clone(),
            id: new.id.clone(),
            old_inputs: new.inputs.clone(),
            old_outputs: new.outputs.clone(),
            new_inputs: old.inputs.clone(),
            allow_unknowns: self.ctx.options.is_preview(),
            ignore_changes: old.ignore_changes.clone(),
        });
        let instance = step.instance()?;
        self.chains.wait(
            idx,
            step,
            operation,
            Running::RefreshDiff(Box::new(Refreshed { new })),
        );
        self.call_for_step(idx, instance, request, Fence::NONE, Turn::Next);
        None
    }

    pub(crate) fn compared(
        &mut self,
        step: Step,
        old_idx: StateIdx,
        operation: OperationId,
        new: ResourceState,
        diff: DiffResult,
    ) -> StepEnd {
        let new = self.with_secret_outputs(Arc::new(new), &step);
        let old = self.arena.state(old_idx).clone();
        let diff = if diff.changes == DiffChanges::Unknown {
            let (known, note) =
                compare::without_ignored_changes(&old.inputs, &new.inputs, &old.ignore_changes);
            if let Some(note) = note {
                self.info(Some(&step.urn), &note);
            }
            compare::fallback_diff(&known, &new.inputs, diff)
        } else {
            diff
        };
        let (found, why) = if diff.changes == DiffChanges::None {
            let why = StepReason {
                detailed_diff: diff.detailed_diff,
                ..StepReason::default()
            };
            (StepOp::Same, why)
        } else {
            // Also where nothing was read that is not known: the provider has the last word.
            let why = StepReason {
                keys: Vec::new(),
                diffs: diff.changed_keys,
                detailed_diff: diff.detailed_diff,
            };
            (StepOp::Update, why)
        };
        self.refresh_ends(step.because(why), old_idx, operation, Some(new), found)
    }

    /// Records what a refresh found.
    fn refresh_ends(
        &mut self,
        step: Step,
        old: StateIdx,
        operation: OperationId,
        new: Option<Arc<ResourceState>>,
        found: StepOp,
    ) -> StepEnd {
        let slot = self.arena.slot(old);
        let gone = match new {
            Some(_) => Followed::default(),
            None => self.views_go(&step, operation),
        };
        let new = new.map(|mut new| {
            self.list_independent_properties(Arc::make_mut(&mut new), &step);
            new
        });
        let is_unchanged = new.as_ref().is_some_and(|new| new == self.arena.state(old));
        self.tell_refreshed(&step, new.clone(), found);
        let is_registered = matches!(
            step.kind,
            StepKind::Refresh {
                registered: Some(_),
                ..
            }
        );
        if !is_unchanged {
            let kind = refresh_entry(slot, new.clone(), is_registered);
            self.journal(operation, kind.clone());
            self.refreshes.push(Entry { operation, kind });
        }
        let state = if let Some(new) = new {
            match (is_unchanged, is_registered) {
                (true, true) => self.touch(old),
                // The state that is there is shared with the base; what was read is a copy.
                (true, false) => {}
                (false, true) => self.arena.move_to(old, new, Slot::New(operation)),
                (false, false) => self.arena.put(old, new),
            }
            Some(old)
        } else {
            // Another copy of the resource may still be there; a registration has this one in hand.
            if is_registered {
                self.urns.mark(&step.urn, UrnFlag::Refreshed);
            }
            self.gone.insert(old);
            None
        };
        let views = self.views_follow(&step, operation, state);
        StepEnd {
            state,
            fence: self.outbox.journaled(),
            is_failed: gone.is_failed || views.is_failed,
            returned: None,
        }
    }

    /// A refresh without the program forgets the properties that depend on nothing; what the program registers lists them
    /// again. Anything else that it says of dependencies is for an update to take over.
    fn list_independent_properties(&self, state: &mut ResourceState, step: &Step) {
        let StepKind::Refresh {
            registered: Some(registered),
            ..
        } = &step.kind
        else {
            return;
        };
        if self.ctx.operation != Operation::Refresh || state.kind != ResourceKind::Custom {
            return;
        }
        let independent = |(_, urns): &(_, &EcoVec<Urn>)| urns.is_empty();
        for (key, _) in registered.property_dependencies.iter().filter(independent) {
            state.property_dependencies.get_or_default(key.clone());
        }
    }
}

/// Outputs that are secret after a refresh: those that the state lists, and those that the program lists now. Example: the
/// program has marked `password` as secret since the last update; a refresh must not record it in plain text.
fn listed_as_secret(
    state: &ResourceState,
    registered: Option<&ResourceState>,
) -> EcoVec<PropertyKey> {
    let mut secret = state.additional_secret_outputs.clone();
    for key in registered
        .iter()
        .flat_map(|it| &it.additional_secret_outputs)
    {
        if !secret.contains(key) {
            secret.push(key.clone());
        }
    }
    secret
}

/// Result of a refresh for a state that no provider reads.
fn found_unread(step: &Step, state: &ResourceState) -> StepOp {
    // Where the program runs, components and providers count as changed by what it says.
    let is_registered = step.new_state().is_some();
    let has_reader = state.kind == ResourceKind::Custom;
    if is_registered && !has_reader && !state.pending_replacement {
        StepOp::Update
    } else {
        StepOp::Same
    }
}

/// Properties that were read, sharing memory with the known ones if they are equal. **Secret properties stay secret**,
/// because not every provider remembers which are.
fn as_known(known: &Arc<PropertyMap>, mut read: Arc<PropertyMap>) -> Arc<PropertyMap> {
    if known.contains_secrets() {
        Arc::make_mut(&mut read).hide_like(known);
    }
    if *known == read { known.clone() } else { read }
}

/// The journal entry about what a refresh found. A later step of a run with program may mark the state, which only one that
/// the run added takes.
fn refresh_entry(slot: Slot, state: Option<Arc<ResourceState>>, is_registered: bool) -> EntryKind {
    if is_registered {
        EntryKind::Success {
            state,
            remove: Some(slot),
            delete: None,
            pending_replacement: None,
            is_refresh: true,
            owner: None,
        }
    } else {
        EntryKind::RefreshSuccess {
            slot: Some(slot),
            state,
        }
    }
}
