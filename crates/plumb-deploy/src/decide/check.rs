//! Check: the inputs that a provider is asked about, and its answer (`engine.md` 4.3 F).
//!
//! 1. Ignored properties take their old values, and the resource gets its name (`naming.rs`).
//! 2. The provider checks the inputs, beside the old ones unless it is to begin afresh.
//! 3. Failures are shown and end the run, once policy packs have judged the resource too; otherwise the decision follows
//!    (`mod.rs`).

use std::sync::Arc;

use plumb_resource::ResourceKind;
use plumb_resource::provider::{
    CheckConfigRequest, CheckFailure, CheckRequest, CheckResponse, ProviderCall, ProviderError,
    ProviderReply,
};
use plumb_value::PropertyMap;

use crate::decide::policies::After;
use crate::decide::registration::{Checked, RegStage, Scope};
use crate::deployment::Deployment;
use crate::facts::urn_flags::UrnFlag;
use crate::ids::{InstanceId, RegIdx};
use crate::status::{Failure, Stage};
use crate::steps::compare::without_ignored_changes;
use crate::steps::provider_inputs;
use crate::steps::providers::restore_engine_keys;
use crate::steps::shown::check_failure;

/// The result of a check.
enum Verdict {
    /// The inputs are good.
    Passed,
    /// They are not, or something about the resource was refused before; that has been shown.
    Failed,
    /// The run ends here.
    Over,
}

impl Deployment {
    /// Part F: has the inputs checked.
    pub(crate) fn check(&mut self, idx: RegIdx) {
        self.registration_mut(idx).stage = RegStage::Checking;
        self.reset_ignored(idx);
        self.name_resource(idx);
        let registration = self.registration(idx);
        if registration.goal.kind == ResourceKind::Component {
            return self.decide_checked(idx);
        }
        if registration.scope == Scope::LeftOut {
            let inputs = self.old_of(idx).map(|old| old.inputs.clone());
            self.registration_mut(idx)
                .set_inputs(inputs.unwrap_or_default());
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
            || self.urns.has(&registration.urn, UrnFlag::Deleted)
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
        let goal = &registration.goal;
        let (inputs, note) =
            without_ignored_changes(&goal.properties, &old.inputs, &goal.ignore_changes);
        let urn = registration.urn.clone();
        self.registration_mut(idx).set_inputs(Arc::new(inputs));
        if let Some(note) = note {
            self.info(Some(&urn), &note);
        }
    }

    /// Sends Check (or CheckConfig); `fresh` when it is to be checked as if it were new.
    pub(crate) fn ask_check(&mut self, idx: RegIdx, fresh: bool) {
        let registration = self.registration_mut(idx);
        if fresh {
            registration.checked = Checked::AsNew;
            registration.set_inputs(registration.goal.properties.clone());
        }
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let inputs = registration.new.inputs.clone();
        let old_inputs = if fresh {
            None
        } else {
            self.old_of(idx).map(|old| old.inputs.clone())
        };
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
                // Updates too: a targeted one can leave inputs of a provider unknown.
                allow_unknowns: true,
            });
            return self.ask_for(idx, instance, request);
        }
        let Some(instance) = self.instance_of(idx) else {
            return;
        };
        let registration = self.registration(idx);
        let request = ProviderCall::Check(CheckRequest {
            urn,
            old_inputs,
            new_inputs: inputs,
            allow_unknowns: self.ctx.options.is_preview(),
            random_seed: registration.seed.clone(),
            autonaming: registration
                .naming
                .as_ref()
                .map(|named| named.request.clone()),
        });
        self.ask_for(idx, instance, request);
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
                self.registration_mut(idx).set_inputs(Arc::default());
                self.refuse_checked(idx);
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
                match self.take_checked(idx, response) {
                    Verdict::Passed => self.decide_checked(idx),
                    Verdict::Failed => self.refuse_checked(idx),
                    Verdict::Over => {}
                }
            }
            (RegStage::Rechecking(diff), Ok(ProviderReply::Checked(response))) => {
                match self.take_checked(idx, response) {
                    Verdict::Passed => {
                        self.note_second_check(idx);
                        self.consult_again(idx, After::Replace(diff));
                    }
                    // The packs have judged the inputs of the first check already.
                    Verdict::Failed => self.fail(Failure::Refused),
                    Verdict::Over => {}
                }
            }
            (RegStage::RecheckingDeleted, Ok(ProviderReply::Checked(response))) => {
                match self.take_checked(idx, response) {
                    Verdict::Passed if self.plan_goal(idx) => {
                        self.consult_again(idx, After::Recreate);
                    }
                    Verdict::Failed => self.refuse_checked(idx),
                    Verdict::Passed | Verdict::Over => {}
                }
            }
            (RegStage::DiffingProvider, Ok(ProviderReply::Diffed(diff))) => {
                self.provider_diffed(idx, &diff);
            }
            (RegStage::Diffing, Ok(ProviderReply::Diffed(diff))) => self.diffed(idx, diff),
            (RegStage::Collecting(collection), Ok(ProviderReply::Diffed(diff))) => {
                self.dependent_diffed(idx, *collection, diff);
            }
            (RegStage::Checking, Err(error)) if self.stage == Stage::Importing => {
                let urn = self.registration(idx).urn.clone();
                self.import_provider_failed(&urn, &error.message);
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

    /// Takes checked inputs.
    fn take_checked(&mut self, idx: RegIdx, response: CheckResponse) -> Verdict {
        if response.ignored_autonaming {
            self.warn_of_ignored_naming(idx);
        }
        let registration = self.registration(idx);
        let asked = registration.new.inputs.clone();
        let urn = registration.urn.clone();
        let checked = response.inputs.unwrap_or_default();
        if !response.failures.is_empty() {
            self.report_check_failures(idx, &asked, &response.failures);
            self.unload_unconfigured(&urn);
            self.registration_mut(idx).set_inputs(checked);
            return Verdict::Failed;
        }
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
                    return Verdict::Over;
                }
            }
        } else {
            checked
        };
        let registration = self.registration_mut(idx);
        registration.set_inputs(checked);
        match registration.scope {
            Scope::Refused => Verdict::Failed,
            Scope::Included | Scope::LeftOut => Verdict::Passed,
        }
    }

    /// Ends the run because of a registration that is not valid, after the policy packs have judged it: the user hears of
    /// everything that is wrong with the resource at once.
    pub(crate) fn refuse_checked(&mut self, idx: RegIdx) {
        self.consult_policies(idx, After::Refuse);
    }

    fn report_check_failures(
        &mut self,
        idx: RegIdx,
        inputs: &PropertyMap,
        failures: &[CheckFailure],
    ) {
        let registration = self.registration(idx);
        let urn = registration.urn.clone();
        let type_token = registration.goal.type_token.clone();
        let show_secrets = self.ctx.options.show_secrets;
        for failure in failures {
            let message = check_failure(&urn, &type_token, inputs, failure, show_secrets);
            self.error(Some(&urn), &message);
        }
    }
}
