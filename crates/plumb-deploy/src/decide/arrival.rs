//! The arrival of a registration: parts A to E of `engine.md` 4.3.
//!
//! 1. [`Deployment::register_as`] gives the resource its URN and finds its old state. That happens at once, in the order in
//!    which registrations arrive.
//! 2. Where the program runs during a refresh, the old state is read first.
//! 3. A refresh or a destroy that runs the program leaves what is managed as it is.
//! 4. The provider is found. An import option adopts its object first (`import.rs`); then the inputs are checked (`check.rs`).

use std::collections::BTreeSet;
use std::sync::Arc;

use plumb_resource::{Goal, ProviderRef, ResourceKind, ResourceState, Urn};
use plumb_value::Value;

use crate::decide::registration::{Checked, RegStage, Registration, Requester, Scope};
use crate::deployment::Deployment;
use crate::event::Milestone;
use crate::facts::arena::StateIdx;
use crate::facts::identity::Predecessor;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::RegIdx;
use crate::request::Outcome;
use crate::setup::Operation;
use crate::status::Failure;
use crate::step::{Step, StepKind};
use crate::steps::scheduler::Owner;

impl Deployment {
    /// Takes a goal of the engine.
    pub(crate) fn register(&mut self, requester: Requester, goal: Goal) {
        let urn = self.urn_of(&goal);
        self.register_as(requester, urn, goal);
    }

    /// Takes the goal of `urn`: parts A to D of `engine.md` 4.3.
    pub(crate) fn register_as(&mut self, requester: Requester, urn: Urn, mut goal: Goal) {
        if let Err(message) = self.check_place(&urn, goal.parent.as_ref()) {
            return self.refuse(Some(&urn), &message);
        }
        self.tell_milestone(|| Milestone::Registered(urn.clone()));
        let (predecessor, conflict) = self.predecessor(&urn, &goal);
        let of_snippet = predecessor
            .as_ref()
            .and_then(|it| self.conflict_with_snippet(&urn, it));
        if let Some(message) = of_snippet {
            return self.refuse(Some(&urn), &message);
        }
        self.supersede(&urn);
        if let Some(former) = predecessor.as_ref().and_then(|it| it.former_urn.as_ref()) {
            self.supersede(former);
        }
        self.urns.mark(&urn, UrnFlag::Seen);
        self.lineage.add(goal.parent.as_ref(), &urn, goal.kind);
        if let Some(message) = &conflict {
            self.error(Some(&urn), message);
        }
        self.drop_unknown_references(&urn, &mut goal);
        self.note_names_for_snippets(&urn, &goal);
        let old = predecessor.as_ref().map(|found| found.state);
        let new = Arc::new(self.continued(&urn, &goal, predecessor));
        if urn.is_root_stack() {
            self.report.root_stack = Some(urn.clone());
        }
        let idx = RegIdx(self.registrations.len() as u32);
        let scope = match conflict {
            Some(_) => Scope::Refused,
            None if self.is_included(&new) => Scope::Included,
            None => Scope::LeftOut,
        };
        let seed = self.seed_of(&urn);
        self.registrations.push(Some(Box::new(Registration {
            requester,
            goal: Arc::new(goal),
            urn,
            old,
            new,
            instance: None,
            scope,
            checked: Checked::BesideOld,
            seed,
            naming: None,
            stage: RegStage::Checking,
        })));
        self.open_registrations += 1;
        self.refresh_first(idx);
    }

    /// A resource comes after its parent, and once.
    pub(crate) fn check_place(&self, urn: &Urn, parent: Option<&Urn>) -> Result<(), String> {
        if let Some(parent) = parent
            && !self.is_registered(parent)
            && !self.is_not_replayed(parent)
        {
            return Err(format!("could not find parent resource {parent}"));
        }
        if self.urns.has(urn, UrnFlag::Seen) || self.views.has(urn) {
            return Err(format!(
                "Duplicate resource URN '{urn}'; try giving it a unique name"
            ));
        }
        Ok(())
    }

    /// Leaves out references to resources that neither the program nor the state knows: no state could hold them.
    pub(crate) fn drop_unknown_references(&mut self, urn: &Urn, goal: &mut Goal) {
        let is_known = |urn: &Urn| {
            self.urns.has(urn, UrnFlag::Seen)
                || self.urns.of_base(urn).is_some()
                || self.aliases.claimed.contains_key(urn)
        };
        let strangers: BTreeSet<Urn> = goal
            .dependencies
            .iter()
            .chain(goal.property_dependencies.values().flatten())
            .chain(&goal.deleted_with)
            .chain(&goal.replace_with)
            .filter(|urn| !is_known(urn))
            .cloned()
            .collect();
        if strangers.is_empty() {
            return;
        }
        goal.dependencies.retain(|urn| !strangers.contains(urn));
        for urns in goal.property_dependencies.values_mut() {
            urns.retain(|urn| !strangers.contains(urn));
        }
        goal.deleted_with.take_if(|urn| strangers.contains(urn));
        goal.replace_with.retain(|urn| !strangers.contains(urn));
        for stranger in strangers {
            let message = format!(
                "resource '{urn}' refers to '{stranger}', which is not in this stack; the reference is left out"
            );
            self.warning(Some(urn), &message);
        }
    }

    /// The new state of `goal`, with what it takes over from the resource that it continues.
    fn continued(
        &mut self,
        urn: &Urn,
        goal: &Goal,
        predecessor: Option<Predecessor>,
    ) -> ResourceState {
        let mut new = ResourceState::from_goal(urn.clone(), goal);
        let Some(predecessor) = predecessor else {
            return new;
        };
        let old = self.arena.state(predecessor.state);
        new.created = old.created;
        new.modified = old.modified;
        new.refresh_before_update = old.refresh_before_update;
        if let Some(former) = predecessor.former_urn {
            if goal.kind == ResourceKind::Provider {
                self.providers.alias(urn, &former);
            }
            new.aliases = ecow::eco_vec![former];
        }
        new
    }

    /// Part B: where the program runs during a refresh, the old state is read before anything else.
    fn refresh_first(&mut self, idx: RegIdx) {
        let is_asked = self.ctx.operation == Operation::Refresh || self.ctx.options.refresh;
        let wanted = is_asked && self.ctx.refreshes_with_program();
        let registration = self.registration(idx);
        let old = registration.old;
        let old = old.filter(|_| wanted && registration.scope != Scope::Refused);
        // Nothing is read that is not meant, not even providers and the stack, which belong to every operation else.
        match old.filter(|old| self.is_selected(self.arena.state(*old))) {
            Some(old) => {
                self.registration_mut(idx).stage = RegStage::Refreshing;
                self.refresh_for_registration(idx, old);
            }
            None => self.mode_specials(idx),
        }
    }

    /// Reads the old state of a registration, before the registration is decided.
    fn refresh_for_registration(&mut self, idx: RegIdx, old: StateIdx) {
        let registration = self.registration(idx);
        let refresh = StepKind::Refresh {
            old,
            instance: None,
            registered: Some(registration.new.clone()),
        };
        let step = Step::new(registration.urn.clone(), refresh);
        self.start_chain(Owner::RefreshFor(idx), vec![step]);
    }

    /// The old state of a registration was read; `state` is what there is now.
    pub(crate) fn registration_refreshed(&mut self, idx: RegIdx, state: Option<StateIdx>) {
        self.registration_mut(idx).old = state;
        self.mode_specials(idx);
    }

    /// Part C: refresh and destroy runs change nothing that the program says.
    fn mode_specials(&mut self, idx: RegIdx) {
        let registration = self.registration(idx);
        if registration.scope == Scope::Refused && self.ctx.operation != Operation::Update {
            return self.fail(Failure::Refused);
        }
        let is_managed = registration.goal.kind == ResourceKind::Custom;
        // A refresh keeps the provider that the state names; a destroy takes over the one that the program says.
        let takes_provider = self.ctx.operation == Operation::Destroy;
        let provider = registration.new.provider.as_ref();
        let provider = provider.filter(|_| takes_provider).map(ProviderRef::urn);
        // With continue-on-error the provider may have failed, and is not there as the program says.
        let has_failed = |urn: &Urn| self.urns.has(urn, UrnFlag::Errored);
        let is_skipped = |urn: &Urn| self.urns.has(urn, UrnFlag::SkippedCreate);
        let on_missing = provider.is_some_and(has_failed)
            || registration
                .new
                .references()
                .chain(provider)
                .any(is_skipped);
        let (old, new) = (registration.old, registration.new.clone());
        // What it is to refer to will not be there, or what is left as it is would refer to it in turn.
        let is_left = match self.ctx.operation {
            Operation::Update | Operation::Import(_) => false,
            Operation::Refresh if is_managed => true,
            Operation::Refresh | Operation::Destroy => {
                on_missing || self.circle_through(&new).is_some()
            }
        };
        match (&self.ctx.operation, old) {
            (Operation::Refresh, Some(old)) if is_left => self.answer_with_old(idx, old),
            (Operation::Destroy, Some(old)) if on_missing => self.keep_on_skipped(idx, old),
            (Operation::Destroy, Some(old)) if is_left => self.keep_registered(idx, old),
            (Operation::Destroy, Some(old)) if is_managed => self.pass_to_destruction(idx, old),
            (Operation::Refresh, None) if is_left => self.skip_create(idx),
            (Operation::Destroy, None) if is_left || is_managed => self.skip_create(idx),
            _ => self.find_provider(idx),
        }
    }

    fn answer_with_old(&mut self, idx: RegIdx, old: StateIdx) {
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let parent = registration.new.parent.clone();
        self.urns.mark(&urn, UrnFlag::Refreshed);
        let (old, fence) = self.record_name(old, &urn, parent);
        // What it is refers to something that is not there: it keeps the outputs that it has, too.
        self.urns.mark(&urn, UrnFlag::KeepsOutputs);
        self.set_of_run(&urn, old);
        self.finish_registration(idx, Some(old), Outcome::Success, false, fence);
    }

    fn pass_to_destruction(&mut self, idx: RegIdx, old: StateIdx) {
        let registration = self.registration(idx);
        let inputs = self.arena.state(old).inputs.clone();
        let new = Arc::new(ResourceState {
            inputs,
            ..registration.new.as_ref().clone()
        });
        let urn = registration.urn.clone();
        self.keep_extension(&new);
        self.urns.mark(&urn, UrnFlag::Same);
        self.run_steps(idx, vec![Step::new(urn, StepKind::Same { old, new })]);
    }

    /// Part D: the provider of the resource.
    fn find_provider(&mut self, idx: RegIdx) {
        let registration = self.registration(idx);
        if registration.goal.kind == ResourceKind::Custom {
            let urn = registration.urn.clone();
            let Some(reference) = registration.goal.provider.clone() else {
                return self.refuse(
                    Some(&urn),
                    &format!("unknown provider '' for resource '{urn}'"),
                );
            };
            // What is left out asks nothing of its provider.
            let is_left_out = registration.scope == Scope::LeftOut;
            let extension = registration.goal.extension_ref.clone();
            let extension = extension.filter(|_| !is_left_out);
            let is_registered = self.providers.get(&reference).is_some();
            match self.provider_for(&reference, &urn, extension.as_ref()) {
                Ok(instance) => self.registration_mut(idx).instance = Some(instance),
                Err(message) => return self.refuse(Some(&urn), &message),
            }
            if !is_registered {
                self.queue_untargeted_same(reference.urn());
            }
        }
        if self.wants_import(idx) {
            self.registration_mut(idx).stage = RegStage::Importing;
            return self.import_for_registration(idx);
        }
        self.check(idx);
    }

    fn wants_import(&self, idx: RegIdx) -> bool {
        let registration = self.registration(idx);
        let Some(import_id) = &registration.goal.import_id else {
            return false;
        };
        if registration.goal.kind != ResourceKind::Custom || registration.scope != Scope::Included {
            return false;
        }
        let Some(old) = self.old_of(idx) else {
            return true;
        };
        let known = if old.import_id.is_empty() {
            old.id.as_str()
        } else {
            old.import_id.as_str()
        };
        old.external || known != import_id.as_str()
    }

    /// The object that an import option names was adopted as `state`; the normal flow goes on from there.
    pub(crate) fn registration_imported(&mut self, idx: RegIdx, state: StateIdx) {
        let adopted = self.arena.state(state).clone();
        let registration = self.registration_mut(idx);
        registration.old = Some(state);
        registration.new = Arc::new(ResourceState {
            created: adopted.created,
            modified: adopted.modified,
            aliases: registration.new.aliases.clone(),
            // upstream: an update of the adopted object records no trigger; the next run does.
            replacement_trigger: Value::Null,
            ..ResourceState::from_goal(registration.urn.clone(), &registration.goal)
        });
        self.check(idx);
    }
}
