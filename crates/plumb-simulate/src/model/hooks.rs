//! Hooks of the program before and after steps, and after errors (`engine.md` 8.1).

use plumb_resource::{HookType, ResourceState, StepOp};

use super::steps::Plan;
use super::{Model, illegal};
use crate::cloud::Trouble;
use crate::story::Verb;
use crate::world::{Violation, hooks};

impl Model<'_> {
    /// Whether the program is running, which deletions with hooks require.
    pub(super) fn has_program_for_hooks(&mut self) -> bool {
        let needs = |state: &ResourceState| {
            let delete = [HookType::BeforeDelete, HookType::AfterDelete];
            delete.iter().any(|hook| state.hooks.contains_key(hook))
        };
        let is_alone = self.operation.verb == Verb::Destroy && !self.operation.flags.run_program;
        let refused = is_alone && self.nodes.iter().any(|node| needs(&node.state));
        if refused {
            self.coverage.reach("HOOK-12");
            self.reason("delete hooks need the program");
        }
        !refused
    }

    /// Whether a before hook refuses a step.
    pub(super) fn is_refused_by_hook(&mut self, step: &Plan) -> bool {
        let old = step.old.map(|old| self.state(old).as_ref());
        let (hook, state) = match step.op {
            StepOp::Create | StepOp::CreateReplacement => {
                (HookType::BeforeCreate, step.new.as_ref())
            }
            StepOp::Update => (HookType::BeforeUpdate, step.new.as_ref()),
            StepOp::Delete | StepOp::DeleteReplaced => (HookType::BeforeDelete, old),
            _ => return false,
        };
        let names = state.and_then(|state| state.hooks.get(&hook));
        let Some(names) = names else { return false };
        let is_guarded = hook == HookType::BeforeDelete && self.is_guarded(step);
        let refused = !is_guarded && hooks::refuse(names, self.is_preview());
        self.coverage.reach(match (hook, refused) {
            (HookType::BeforeCreate, true) => "HOOK-05",
            (HookType::BeforeUpdate, true) => "HOOK-10",
            (_, true) => "HOOK-08",
            (_, false) => "HOOK-09",
        });
        refused
    }

    /// Handles the success of a before hook. Effects of the time at which a step begins apply now.
    pub(super) fn readied(&mut self, number: usize) {
        if let Some(at) = self.chain_running(number) {
            self.begin_step(at);
        }
    }

    /// Handles the failure of an after hook: the step stands, and the run fails.
    pub(super) fn hook_failed(&mut self) {
        self.reason("a hook after a step failed");
        if self.operation.flags.continue_on_error {
            self.coverage.reach("HOOK-18");
            self.deferred = true;
        } else {
            self.coverage.reach("HOOK-16");
            self.must_end = true;
        }
    }

    /// Handles a failed call that error hooks retry.
    pub(super) fn tried_in_vain(&mut self, number: usize) -> Result<(), Violation> {
        let chain = self.chain_running(number);
        let Some(step) = chain.and_then(|at| self.next_step(at)) else {
            return Err(illegal("something is tried again that does not run"));
        };
        let old = step.old.map(|old| self.state(old).clone());
        let (call, state, inputs) = match (step.op, &step.new, &old) {
            (StepOp::Create | StepOp::CreateReplacement, Some(new), _) => {
                ("create", new, new.inputs.clone())
            }
            (StepOp::Update, Some(new), Some(_)) => ("update", new, new.inputs.clone()),
            (_, _, Some(old)) => ("delete", old.as_ref(), std::sync::Arc::default()),
            _ => return Err(illegal("what is tried again calls nobody")),
        };
        let old = old.as_ref().filter(|_| call != "create");
        let id = old.map_or("", |old| old.id.as_str());
        self.mutate(call, &step.urn, id, &inputs);
        let (faults, urn) = (self.faults, &state.urn);
        let failed = match call {
            "create" => self.cloud.create(faults, urn, &inputs, false).err(),
            "update" => self.cloud.update(faults, urn, id, &inputs, false).err(),
            _ => self.cloud.delete(faults, urn, id).err(),
        };
        self.views_of_attempt(number, &step);
        self.coverage.reach(match call {
            "create" => "ERRHOOK-01",
            "update" => "ERRHOOK-02",
            _ => "ERRHOOK-04",
        });
        match failed {
            Some(Trouble::Clean(_) | Trouble::Unknown(_)) => Ok(()),
            _ => Err(illegal(format!(
                "{} is tried again though it worked",
                step.urn.name()
            ))),
        }
    }
}
