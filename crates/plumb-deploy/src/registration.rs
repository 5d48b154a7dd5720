//! One registration, from its arrival to the decision about it (`engine.md` 4.3).
//!
//! 1. [`Deployment::register`] gives the resource its URN and finds its old state. That happens at once, in the order in
//!    which registrations arrive.
//! 2. Where the program runs during a refresh, the old state is read first; an import option adopts the object first.
//! 3. The provider checks the inputs.
//! 4. `decide.rs` decides what to do; steps go into a chain, and its end answers the program.

use std::sync::Arc;

use ecow::EcoString;
use plumb_resource::provider::{
    CheckConfigRequest, CheckFailure, CheckRequest, CheckResponse, DiffResult, ProviderCall,
    ProviderError, ProviderReply,
};
use plumb_resource::{
    Goal, PropertyDependencies, ProviderRef, ResourceId, ResourceKind, ResourceState, Urn,
};
use plumb_value::path::{PropertyPath, reset_paths};
use plumb_value::{PropertyMap, UnknownKind, Value};

use crate::arena::StateIdx;
use crate::autonaming::Named;
use crate::deployment::{Deployment, Failure, Waiter};
use crate::event::{InstanceId, RequestId};
use crate::marks::Mark;
use crate::provider_inputs;
use crate::providers::restore_engine_keys;
use crate::replace::Collection;
use crate::setup::Operation;
use crate::step::{Step, StepKind};

/// Index of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RegIdx(pub(crate) u32);

/// Who wants a resource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Requester {
    /// The program.
    Program(RequestId),
    /// The engine: a default provider, by its key.
    Default(EcoString),
    /// The engine, which needs no answer.
    Engine,
}

/// A resource that is being registered.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) requester: Requester,
    pub(crate) goal: Arc<Goal>,
    pub(crate) urn: Urn,
    pub(crate) old: Option<StateIdx>,
    pub(crate) new: ResourceState,
    pub(crate) instance: Option<InstanceId>,
    pub(crate) is_targeted: bool,
    /// Something is wrong with it that has been shown; it goes no further than its check.
    pub(crate) is_invalid: bool,
    /// The import step of this run made its old state.
    pub(crate) is_imported: bool,
    /// Whether the replacement trigger fired.
    pub(crate) is_triggered: bool,
    /// Whether its inputs were checked as those of a new resource.
    pub(crate) is_checked_as_new: bool,
    /// Where names and other values made by chance come from.
    pub(crate) seed: Arc<[u8]>,
    /// How the provider is to name the resource.
    pub(crate) naming: Option<Named>,
    pub(crate) stage: RegStage,
}

/// What a registration waits for.
#[derive(Debug)]
pub(crate) enum RegStage {
    /// The old state is being read.
    Refreshing,
    /// The object is being adopted.
    Importing,
    /// The provider checks the inputs.
    Checking,
    /// Another registration is collecting what it must replace.
    Waiting(Turn),
    /// The new provider tells whether its configuration demands a replacement.
    DiffingProvider,
    /// The provider compares.
    Diffing,
    /// The provider checks the inputs of a replacement.
    Rechecking(Box<DiffResult>),
    /// The same, for a resource that was deleted for the replacement of another while it was being checked.
    RecheckingDeleted,
    /// The providers of dependents tell which of them must be replaced too.
    Collecting(Box<Collection>),
    /// Steps run.
    Stepping,
    /// Over.
    Done,
}

/// Where a registration goes on that has waited for another one to collect what it must replace.
#[derive(Debug)]
pub(crate) enum Turn {
    /// It is checked, and is to be decided.
    Decide,
    /// The provider has compared.
    Diffed(Box<DiffResult>),
    /// The inputs of its replacement are checked.
    Replace(Box<DiffResult>),
}

impl Deployment {
    pub(crate) fn registration(&self, idx: RegIdx) -> &Registration {
        let registration = &self.registrations[idx.0 as usize];
        registration.as_ref().expect("it has not been answered yet")
    }

    pub(crate) fn registration_mut(&mut self, idx: RegIdx) -> &mut Registration {
        let registration = &mut self.registrations[idx.0 as usize];
        registration.as_mut().expect("it has not been answered yet")
    }

    /// The old state of a registration.
    pub(crate) fn old_of(&self, idx: RegIdx) -> Option<&Arc<ResourceState>> {
        self.registration(idx).old.map(|old| self.arena.state(old))
    }

    /// Takes a goal: parts A to D of `engine.md` 4.3.
    pub(crate) fn register(&mut self, requester: Requester, mut goal: Goal) {
        let urn = self.urn_of(&goal);
        if let Some(parent) = &goal.parent
            && !self.marks.has(parent, Mark::Seen)
        {
            let message = format!("could not find parent resource {parent}");
            return self.refuse(Some(&urn), &message);
        }
        if self.marks.has(&urn, Mark::Seen) {
            let message = format!("Duplicate resource URN '{urn}'; try giving it a unique name");
            return self.refuse(Some(&urn), &message);
        }
        let (predecessor, conflict) = self.predecessor(&urn, &goal);
        self.supersede(&urn);
        if let Some(former) = predecessor.as_ref().and_then(|it| it.former_urn.as_ref()) {
            self.supersede(former);
        }
        self.marks.set(&urn, Mark::Seen);
        self.lineage.add(goal.parent.as_ref(), &urn);
        let is_invalid = conflict.is_some();
        if let Some(message) = conflict {
            self.error(Some(&urn), &message);
        }
        self.drop_strangers(&urn, &mut goal);
        let mut new = ResourceState::from_goal(urn.clone(), &goal);
        let old = predecessor.as_ref().map(|found| found.state);
        if let Some(old) = old.map(|old| self.arena.state(old)) {
            new.created = old.created;
            new.modified = old.modified;
            new.refresh_before_update = old.refresh_before_update;
        }
        if let Some(former) = predecessor.and_then(|found| found.former_urn) {
            if goal.kind == ResourceKind::Provider {
                self.providers.alias(&urn, &former);
            }
            new.aliases = vec![former];
        }
        if urn.is_root_stack() {
            self.report.root_stack = Some(urn.clone());
        }
        let idx = RegIdx(self.registrations.len() as u32);
        let is_targeted = self.is_included(&new);
        let seed = self.seed_of(&urn);
        self.registrations.push(Some(Box::new(Registration {
            requester,
            goal: Arc::new(goal),
            urn,
            old,
            new,
            instance: None,
            is_targeted,
            is_invalid,
            is_imported: false,
            is_triggered: false,
            is_checked_as_new: false,
            seed,
            naming: None,
            stage: RegStage::Checking,
        })));
        self.open_registrations += 1;
        self.refresh_first(idx);
    }

    /// Part B: where the program runs during a refresh, the old state is read before anything else.
    fn refresh_first(&mut self, idx: RegIdx) {
        let options = &self.ctx.options;
        let wanted = options.run_program
            && match self.ctx.operation {
                Operation::Refresh => true,
                Operation::Update | Operation::Destroy => options.refresh,
                Operation::Import(_) => false,
            };
        let registration = self.registration(idx);
        match registration.old {
            Some(old) if wanted && registration.is_targeted && !registration.is_invalid => {
                self.registration_mut(idx).stage = RegStage::Refreshing;
                self.refresh_for_registration(idx, old);
            }
            _ => self.mode_specials(idx),
        }
    }

    /// The old state of a registration was read; `state` is what there is now.
    pub(crate) fn registration_refreshed(&mut self, idx: RegIdx, state: Option<StateIdx>) {
        self.registration_mut(idx).old = state;
        self.mode_specials(idx);
    }

    /// Part C: refresh and destroy runs change nothing that the program says.
    fn mode_specials(&mut self, idx: RegIdx) {
        let registration = self.registration(idx);
        if registration.is_invalid && self.ctx.operation != Operation::Update {
            return self.fail(Failure::Refused);
        }
        let is_managed = registration.goal.kind == ResourceKind::Custom;
        let on_skipped = registration
            .new
            .references()
            .any(|urn| self.marks.has(urn, Mark::SkippedCreate));
        match self.ctx.operation {
            Operation::Refresh if is_managed || on_skipped => match registration.old {
                None => self.skip_create(idx),
                Some(old) => self.answer_with_old(idx, old),
            },
            // What it is to refer to will not be there: it goes as it is.
            Operation::Destroy if on_skipped => match registration.old {
                None => self.skip_create(idx),
                Some(old) => self.keep_registered(idx, old),
            },
            Operation::Destroy if is_managed => match registration.old {
                None => self.skip_create(idx),
                Some(old) => self.pass_to_destruction(idx, old),
            },
            _ => self.find_provider(idx),
        }
    }

    /// Leaves out the creation of a resource: the program goes on with unknowns, the state gets nothing.
    pub(crate) fn skip_create(&mut self, idx: RegIdx) {
        let urn = self.registration(idx).urn.clone();
        self.marks.set(&urn, Mark::Same);
        self.marks.set(&urn, Mark::SkippedCreate);
        let new = Box::new(self.registration(idx).new.clone());
        self.run_steps(idx, vec![Step::new(urn, StepKind::SkippedCreate { new })]);
    }

    fn answer_with_old(&mut self, idx: RegIdx, old: StateIdx) {
        let urn = self.registration(idx).urn.clone();
        self.marks.set(&urn, Mark::Refreshed);
        let (old, fence) = self.record_name(old, &urn);
        // What it is refers to something that is not there: it keeps the outputs that it has, too.
        self.outputs.remember_skipped(urn.clone());
        self.news.insert(urn, old);
        self.finish_registration(
            idx,
            Some(old),
            crate::request::Outcome::Success,
            false,
            fence,
        );
    }

    fn pass_to_destruction(&mut self, idx: RegIdx, old: StateIdx) {
        let registration = self.registration(idx);
        let inputs = self.arena.state(old).inputs.clone();
        let new = Box::new(ResourceState {
            inputs,
            ..registration.new.clone()
        });
        let urn = registration.urn.clone();
        self.marks.set(&urn, Mark::Same);
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
            let extension = registration.goal.extension_ref.clone();
            match self.provider_for(&reference, &urn, extension.as_ref()) {
                Ok(instance) => self.registration_mut(idx).instance = Some(instance),
                Err(message) => return self.refuse(Some(&urn), &message),
            }
        }
        if self.wants_import(idx) {
            self.registration_mut(idx).stage = RegStage::Importing;
            return self.import_for_registration(idx);
        }
        self.check(idx);
    }

    /// The instance for `reference`, which `urn` uses (`engine.md` 4.8).
    fn provider_for(
        &mut self,
        reference: &ProviderRef,
        urn: &Urn,
        extension: Option<&EcoString>,
    ) -> Result<InstanceId, String> {
        if reference.is_denied() {
            return Err(format!(
                "Default provider for '{}' disabled. '{urn}' must use an explicit provider.",
                reference.package()
            ));
        }
        let is_registered = self.providers.get(reference).is_some();
        let instance = self
            .ensure_provider(reference)
            .map_err(|_| format!("unknown provider '{reference}' for resource '{urn}'"))?;
        if !is_registered {
            self.queue_untargeted_same(reference.urn());
        }
        if let Some(extension) = extension {
            self.apply_extension(instance, extension)?;
        }
        Ok(instance)
    }

    fn wants_import(&self, idx: RegIdx) -> bool {
        let registration = self.registration(idx);
        let Some(import_id) = &registration.goal.import_id else {
            return false;
        };
        if registration.goal.kind != ResourceKind::Custom
            || !registration.is_targeted
            || registration.is_invalid
        {
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
        registration.is_imported = true;
        registration.new = ResourceState {
            created: adopted.created,
            modified: adopted.modified,
            aliases: std::mem::take(&mut registration.new.aliases),
            ..ResourceState::from_goal(registration.urn.clone(), &registration.goal)
        };
        self.check(idx);
    }

    /// Part F: has the inputs checked.
    fn check(&mut self, idx: RegIdx) {
        self.registration_mut(idx).stage = RegStage::Checking;
        self.reset_ignored(idx);
        self.name_resource(idx);
        let registration = self.registration(idx);
        if registration.goal.kind == ResourceKind::Component {
            return self.decide_checked(idx);
        }
        if !registration.is_targeted {
            let inputs = self.old_of(idx).map(|old| old.inputs.clone());
            self.registration_mut(idx).new.inputs = inputs.unwrap_or_default();
            return self.decide_checked(idx);
        }
        let fresh = self.is_fresh_start(idx);
        self.ask_check(idx, fresh);
    }

    /// Whether the provider is to check without knowing old inputs.
    pub(crate) fn is_fresh_start(&self, idx: RegIdx) -> bool {
        let registration = self.registration(idx);
        let Some(old) = self.old_of(idx) else {
            return true;
        };
        old.external
            || self.marks.has(&registration.urn, Mark::Deleted)
            || self.is_replace_target(idx)
    }

    /// Whether the resource is to be replaced because the user said so.
    pub(crate) fn is_replace_target(&self, idx: RegIdx) -> bool {
        let named = self
            .ctx
            .options
            .replace_targets
            .matches(&self.registration(idx).urn);
        named || self.old_of(idx).is_some_and(|old| old.taint)
    }

    /// Makes ignored properties what they were.
    fn reset_ignored(&mut self, idx: RegIdx) {
        let registration = self.registration(idx);
        if registration.goal.ignore_changes.is_empty() {
            return;
        }
        let Some(old) = self.old_of(idx) else { return };
        let mut inputs = registration.goal.properties.as_ref().clone();
        let failed = reset_paths(&registration.goal.ignore_changes, &mut inputs, &old.inputs);
        let urn = registration.urn.clone();
        self.registration_mut(idx).new.inputs = Arc::new(inputs);
        if !failed.is_empty() {
            let paths: Vec<&str> = failed.iter().map(AsRef::as_ref).collect();
            let message = format!(
                "cannot ignore changes in added or removed elements of the path: {:?}",
                paths.join(", ")
            );
            self.info(Some(&urn), &message);
        }
    }

    /// Sends Check (or CheckConfig); `fresh` when it is to be checked as if it were new.
    pub(crate) fn ask_check(&mut self, idx: RegIdx, fresh: bool) {
        let registration = self.registration_mut(idx);
        registration.is_checked_as_new = fresh;
        if fresh {
            registration.new.inputs = registration.goal.properties.clone();
        }
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let inputs = registration.new.inputs.clone();
        let old_inputs = if fresh {
            None
        } else {
            self.old_of(idx).map(|old| old.inputs.clone())
        };
        let allow_unknowns = self.ctx.options.is_preview();
        if registration.goal.kind == ResourceKind::Provider {
            let Some(instance) = self.load_for_check(idx, &inputs) else {
                return;
            };
            let request = ProviderCall::CheckConfig(CheckConfigRequest {
                urn,
                // A configuration that is new is compared with an empty one.
                old_inputs: Some(provider_inputs::without_internal(
                    &old_inputs.unwrap_or_default(),
                )),
                new_inputs: provider_inputs::without_internal(&inputs),
                allow_unknowns,
            });
            return self.ask(Waiter::Registration(idx), instance, request);
        }
        let Some(instance) = registration.instance else {
            return;
        };
        let request = ProviderCall::Check(CheckRequest {
            urn,
            old_inputs,
            new_inputs: inputs,
            allow_unknowns,
            random_seed: registration.seed.clone(),
            autonaming: registration
                .naming
                .as_ref()
                .map(|named| named.request.clone()),
        });
        self.ask(Waiter::Registration(idx), instance, request);
    }

    fn load_for_check(&mut self, idx: RegIdx, inputs: &PropertyMap) -> Option<InstanceId> {
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        if let Some(instance) = self.providers.unconfigured(&urn) {
            return Some(instance);
        }
        let package = registration
            .goal
            .type_token
            .provided_package()
            .unwrap_or_default()
            .to_owned();
        match provider_inputs::read(&package, inputs) {
            Ok(spec) => Some(self.load_provider(&urn, spec)),
            Err(failure) => {
                self.report_check_failures(idx, inputs, &[failure]);
                self.fail(Failure::Refused);
                None
            }
        }
    }

    pub(crate) fn registration_answered(
        &mut self,
        idx: RegIdx,
        result: Result<ProviderReply, ProviderError>,
    ) {
        let stage = std::mem::replace(&mut self.registration_mut(idx).stage, RegStage::Done);
        match (stage, result) {
            (RegStage::Checking, Ok(ProviderReply::Checked(response))) => {
                if self.take_checked(idx, response) {
                    self.decide_checked(idx);
                }
            }
            (RegStage::Rechecking(diff), Ok(ProviderReply::Checked(response))) => {
                if self.take_checked(idx, response) {
                    self.plan_replacement(idx, *diff);
                }
            }
            (RegStage::RecheckingDeleted, Ok(ProviderReply::Checked(response))) => {
                if self.take_checked(idx, response) {
                    self.recreate(idx);
                }
            }
            (RegStage::DiffingProvider, Ok(ProviderReply::Diffed(diff))) => {
                self.provider_diffed(idx, &diff);
            }
            (RegStage::Diffing, Ok(ProviderReply::Diffed(diff))) => self.diffed(idx, diff),
            (RegStage::Collecting(collection), Ok(ProviderReply::Diffed(diff))) => {
                self.dependent_diffed(idx, *collection, diff);
            }
            (_, Err(error)) => {
                let urn = self.registration(idx).urn.clone();
                self.refuse(Some(&urn), &error.message);
            }
            (_, Ok(_)) => {
                let urn = self.registration(idx).urn.clone();
                self.refuse(
                    Some(&urn),
                    "the provider answered something else than was asked",
                );
            }
        }
    }

    /// Takes checked inputs; false if the registration ends here.
    fn take_checked(&mut self, idx: RegIdx, response: CheckResponse) -> bool {
        if response.ignored_autonaming {
            self.warn_of_ignored_naming(idx);
        }
        let registration = self.registration(idx);
        let asked = registration.new.inputs.clone();
        let urn = registration.urn.clone();
        if !response.failures.is_empty() {
            self.report_check_failures(idx, &asked, &response.failures);
            self.unload_unconfigured(&urn);
            self.registration_mut(idx).is_invalid = true;
        }
        if self.registration(idx).is_invalid {
            self.fail(Failure::Refused);
            return false;
        }
        let checked = response.inputs.unwrap_or_default();
        let checked = if self.registration(idx).goal.kind == ResourceKind::Provider {
            match restore_engine_keys(&urn, &asked, checked.as_ref().clone()) {
                Ok((inputs, misused)) => {
                    if misused {
                        let message = "provider attempted to use __internal key that is reserved by the engine";
                        self.warning(Some(&urn), message);
                    }
                    Arc::new(inputs)
                }
                Err(message) => {
                    self.refuse(Some(&urn), &message);
                    return false;
                }
            }
        } else {
            checked
        };
        self.registration_mut(idx).new.inputs = checked;
        true
    }

    fn report_check_failures(
        &mut self,
        idx: RegIdx,
        inputs: &PropertyMap,
        failures: &[CheckFailure],
    ) {
        let registration = self.registration(idx);
        let (urn, type_token, name) = (
            registration.urn.clone(),
            registration.goal.type_token.clone(),
            registration.goal.name.clone(),
        );
        for failure in failures {
            let reason = &failure.reason;
            let message = if failure.property.is_empty() {
                format!("{type_token} resource '{name}' has a problem: {reason}")
            } else {
                let path = PropertyPath::parse(&failure.property).ok();
                let value = path.and_then(|path| path.get(inputs).cloned());
                let shown = shown_value(value.as_ref(), self.ctx.options.show_secrets);
                let property = &failure.property;
                format!(
                    "{type_token} resource '{name}': property {property} value {shown} has a problem: {reason}"
                )
            };
            self.error(Some(&urn), &message);
        }
    }

    /// Refuses a registration: shows why, and the deployment fails.
    pub(crate) fn refuse(&mut self, urn: Option<&Urn>, message: &str) {
        self.error(urn, message);
        self.fail(Failure::Refused);
    }

    /// Answers a registration, whatever became of it, and forgets it.
    pub(crate) fn finish_registration(
        &mut self,
        idx: RegIdx,
        state: Option<StateIdx>,
        outcome: crate::request::Outcome,
        unknown: bool,
        fence: u64,
    ) {
        let registration = self.registrations[idx.0 as usize].take();
        let Registration {
            requester,
            urn,
            new: fallback,
            ..
        } = *registration.expect("it has not been answered yet");
        self.open_registrations -= 1;
        let state = state.map(|idx| self.arena.state(idx).clone());
        match requester {
            Requester::Program(id) => {
                let state = state.as_deref().unwrap_or(&fallback);
                let reply = crate::request::RegisterReply {
                    urn,
                    id: state.id.clone(),
                    // Outputs of components may refer to resources that are not registered yet (PULUMI-32).
                    outputs: if state.is_custom() {
                        state.outputs.clone()
                    } else {
                        Arc::default()
                    },
                    property_dependencies: PropertyDependencies::new(),
                    outcome,
                    unknown,
                };
                self.reply(id, crate::request::Reply::Registered(reply), fence);
            }
            Requester::Engine => {}
            Requester::Default(key) => {
                let id = state.map_or(ResourceId::Unknown, |state| state.id.clone());
                self.default_ready(&key, ProviderRef::new(urn, id.as_str()));
            }
        }
    }
}

/// A value as messages about failed checks show it.
pub(crate) fn shown_value(value: Option<&Value>, show_secrets: bool) -> String {
    let Some(value) = value else {
        return "{<nil>}".to_owned();
    };
    if value.contains_secrets() && !show_secrets {
        return "{[secret]}".to_owned();
    }
    in_braces(&value.without_secrets())
}

/// A value in braces; one that is not known yet by its type.
fn in_braces(value: &Value) -> String {
    match value {
        Value::Computed(kind) => format!("output<{}>{{}}", kind_name(*kind)),
        Value::Output(output) => in_braces(output.value.as_ref().unwrap_or(&Value::UNKNOWN)),
        known => format!("{{{}}}", plain_text(known)),
    }
}

fn kind_name(kind: UnknownKind) -> &'static str {
    match kind {
        UnknownKind::String => "string",
        UnknownKind::Bool => "bool",
        UnknownKind::Number => "number",
        UnknownKind::Array => "[]",
        UnknownKind::Asset => "asset",
        UnknownKind::Archive => "archive",
        UnknownKind::Object => "object",
    }
}

fn plain_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => plumb_value::go_number::format(*number).to_string(),
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Array(values) => {
            let items: Vec<String> = values.iter().map(in_braces).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}:{}", in_braces(value)))
                .collect();
            format!("map[{}]", items.join(" "))
        }
        Value::Asset(asset) => format!("asset:{}", asset.hash),
        Value::Archive(archive) => format!("archive:{}", archive.hash),
        Value::Secret(inner) => plain_text(inner),
        Value::Computed(_) | Value::Output(_) => in_braces(value),
        Value::Resource(reference) => reference.urn.to_string(),
    }
}
