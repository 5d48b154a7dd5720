//! Policies: packs that remediate and judge registrations, and judge the stack at the end (`engine.md` 8.3).
//!
//! 1. Before anything else the packs are loaded ([`Effect::LoadPolicies`]); a run that cannot load one does nothing.
//! 2. A registration whose inputs are checked is put to the packs before it is decided. First they remediate it, one pack
//!    after the other, each with the inputs that the one before left. Then all of them judge it at the same time.
//! 3. A violation that is mandatory ends an update, as a failed check does; a preview goes on, to show the others. A
//!    registration whose check has failed is judged before it ends the run.
//! 4. A run that has done everything has the packs judge all resources with their outputs (`stack.rs`).
//!
//! Remediations last, and forbidden resources are not made: where the inputs of a replacement are checked again, they are
//! remediated again, without a second event, and judged again unless they equal the inputs that were judged before.
//!
//! **Without packs none of this happens**, not even a look at a resource.

mod emit;
mod events;
pub(crate) mod inspection;
mod stack;

use std::sync::Arc;

use plumb_resource::policy::{
    Analysis, AnalyzedOptions, AnalyzedProvider, AnalyzedResource, PolicyCall, PolicyPackInfo,
    PolicyReply, Remedies, Remedy,
};
use plumb_resource::provider::DiffResult;
use plumb_resource::{ProviderRef, Urn};
use plumb_value::PropertyMap;
use rustc_hash::{FxHashMap, FxHashSet};
use stack::Judgement;

use crate::decide::registration::{RegStage, Scope};
use crate::deployment::Deployment;
use crate::event::Effect;
use crate::ids::{CallId, PackId, RegIdx};
use crate::setup::Operation;
use crate::status::Failure;

/// The packs of a run, and what they have been asked.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    packs: Vec<PolicyPackInfo>,
    asked: FxHashMap<CallId, Asked>,
    /// Registrations whose inputs were remediated.
    remediated: FxHashSet<RegIdx>,
    /// The inputs of registrations that were put to the packs last.
    judged: FxHashMap<RegIdx, Arc<PropertyMap>>,
    /// `deleteBeforeReplace` of registered resources, which no state records.
    deletes_first: FxHashMap<Urn, bool>,
    judgement: Judgement,
}

/// Subject of a call to a pack.
#[derive(Clone, Copy, Debug)]
struct Asked {
    pack: PackId,
    subject: Subject,
}

#[derive(Clone, Copy, Debug)]
enum Subject {
    Remediating(RegIdx),
    Judging(RegIdx),
    Stack,
}

/// Progress of a registration through the packs.
#[derive(Debug)]
pub(crate) struct Consultation {
    after: After,
    /// Whether remediations are emitted: they are not when they repeat earlier ones.
    tells: bool,
    judged: Answers,
}

/// How a registration goes on when the packs are done with it.
#[derive(Debug)]
pub(crate) enum After {
    /// Its decision.
    Decide,
    /// Its replacement, whose inputs were checked again.
    Replace(Box<DiffResult>),
    /// Its new object, because the old one was deleted for the replacement of another; its inputs were checked again.
    Recreate,
    /// None: the resource is not valid, which ends the run.
    Refuse,
}

/// The verdict of a pack, or why it could not judge.
type Judged = Result<Analysis, String>;

/// Results of the packs that have answered.
#[derive(Debug, Default)]
struct Answers(Vec<Option<Judged>>);

impl Answers {
    fn of(packs: usize) -> Self {
        Answers(vec![None; packs])
    }

    /// Takes an answer; hands out all of them, in the order of the packs, when it was the last. A pack that cannot judge
    /// does not cut the others short: the user hears what they found before the run ends.
    fn take(&mut self, pack: PackId, judged: Judged) -> Option<Vec<Judged>> {
        self.0[pack.0 as usize] = Some(judged);
        if self.0.iter().any(Option::is_none) {
            return None;
        }
        Some(std::mem::take(&mut self.0).into_iter().flatten().collect())
    }
}

/// Error for a reply of the wrong kind, which is a fault of the shell.
const MISMATCHED: &str = "it answered something else";

fn judged(result: Result<PolicyReply, String>) -> Judged {
    match result? {
        PolicyReply::Analyzed(analysis) => Ok(analysis),
        PolicyReply::Remediated(_) => Err(MISMATCHED.to_owned()),
    }
}

impl Policies {
    fn pack_ids(&self) -> impl Iterator<Item = PackId> + use<> {
        (0..self.packs.len() as u32).map(PackId)
    }

    fn pack(&self, id: PackId) -> &PolicyPackInfo {
        &self.packs[id.0 as usize]
    }
}

impl Deployment {
    /// Has the packs loaded; false if the run has none.
    pub(crate) fn load_policies(&mut self) -> bool {
        let applies = match self.ctx.operation {
            Operation::Update | Operation::Destroy => true,
            Operation::Refresh => self.ctx.options.run_program,
            Operation::Import(_) => false,
        };
        if !applies || !self.ctx.options.has_policies {
            return false;
        }
        self.emit(plumb_events::Event::PolicyLoad);
        self.outbox.push(Effect::LoadPolicies);
        true
    }

    /// The packs are there, or one of them is not, which ends the run (POLICY-14, POLICY-15).
    pub(crate) fn take_packs(&mut self, result: Result<Vec<PolicyPackInfo>, String>) {
        match result {
            Ok(packs) => self.policies.packs = packs,
            Err(cause) => self.fail(Failure::NotBegun { cause }),
        }
    }

    /// Puts a checked registration to the packs, and goes on then. Nothing is made of what a run leaves out.
    pub(crate) fn consult_policies(&mut self, idx: RegIdx, after: After) {
        let registration = self.registration(idx);
        let is_left_out = registration.old.is_none() && registration.scope == Scope::LeftOut;
        if self.policies.packs.is_empty() || is_left_out {
            return self.after_policies(idx, after);
        }
        if let Some(deletes_first) = registration.goal.delete_before_replace {
            let urn = registration.urn.clone();
            self.policies.deletes_first.insert(urn, deletes_first);
        }
        self.remediate(idx, PackId(0), after, true);
    }

    /// Puts inputs that were checked again to the packs, unless they have judged the same inputs before, and goes on. They
    /// differ where properties are ignored, because a replacement has the new values of those.
    pub(crate) fn consult_again(&mut self, idx: RegIdx, after: After) {
        let is_remediated = self.policies.remediated.contains(&idx);
        if self.policies.packs.is_empty() || (!is_remediated && self.is_judged(idx)) {
            return self.after_policies(idx, after);
        }
        self.remediate(idx, PackId(0), after, !is_remediated);
    }

    /// Whether the packs have judged the inputs of a registration as they are.
    fn is_judged(&self, idx: RegIdx) -> bool {
        let judged = self.policies.judged.get(&idx);
        judged.is_some_and(|judged| *judged == self.registration(idx).new.inputs)
    }

    /// Asks `pack` to remediate a registration; after the last pack, asks all of them to judge it.
    fn remediate(&mut self, idx: RegIdx, pack: PackId, after: After, tells: bool) {
        if (pack.0 as usize) < self.policies.packs.len() {
            let resource = Arc::new(self.analyzed(idx));
            self.ask_pack(
                pack,
                Subject::Remediating(idx),
                PolicyCall::Remediate(resource),
            );
            return self.wait_for_packs(idx, after, tells, Answers::default());
        }
        if self.is_judged(idx) {
            return self.after_policies(idx, after);
        }
        let inputs = self.registration(idx).new.inputs.clone();
        self.policies.judged.insert(idx, inputs);
        let resource = Arc::new(self.analyzed(idx));
        for pack in self.policies.pack_ids() {
            let call = PolicyCall::Analyze(resource.clone());
            self.ask_pack(pack, Subject::Judging(idx), call);
        }
        let judged = Answers::of(self.policies.packs.len());
        self.wait_for_packs(idx, after, tells, judged);
    }

    fn wait_for_packs(&mut self, idx: RegIdx, after: After, tells: bool, judged: Answers) {
        let consultation = Consultation {
            after,
            tells,
            judged,
        };
        self.registration_mut(idx).stage = RegStage::Consulting(Box::new(consultation));
    }

    fn ask_pack(&mut self, pack: PackId, subject: Subject, request: PolicyCall) {
        let call = self.outbox.call_id();
        self.policies.asked.insert(call, Asked { pack, subject });
        self.outbox.push(Effect::AskPolicy {
            call,
            pack,
            request,
        });
    }

    /// A pack answered, or could not. Answers whether all packs have accepted the stack, so that the run is over.
    pub(crate) fn policy_answered(
        &mut self,
        call: CallId,
        result: Result<PolicyReply, String>,
    ) -> bool {
        let Some(Asked { pack, subject }) = self.policies.asked.remove(&call) else {
            self.internal_error("a policy pack answered what it was not asked");
            return false;
        };
        if self.status.has_failed() {
            return false;
        }
        match (subject, result) {
            (Subject::Remediating(idx), Ok(PolicyReply::Remediated(remedies))) => {
                self.remediated(idx, pack, remedies);
            }
            (Subject::Remediating(idx), result) => {
                let error = result.err();
                let error = error.unwrap_or_else(|| MISMATCHED.to_owned());
                self.not_consulted(idx, "failed to run remediation", &error);
            }
            (Subject::Judging(idx), result) => self.judged(idx, pack, judged(result)),
            (Subject::Stack, result) => return self.stack_judged(pack, judged(result)),
        }
        false
    }

    /// A pack that cannot be asked ends the run: nobody knows what it would have forbidden (POLICY-06).
    fn not_consulted(&mut self, idx: RegIdx, what: &str, error: &str) {
        let urn = self.registration(idx).urn.clone();
        self.refuse(Some(&urn), &format!("{what}: {error}"));
    }

    fn take_consultation(&mut self, idx: RegIdx) -> Consultation {
        match std::mem::replace(&mut self.registration_mut(idx).stage, RegStage::Done) {
            RegStage::Consulting(consultation) => *consultation,
            other => unreachable!("packs are asked only about what waits for them, not {other:?}"),
        }
    }

    /// A pack has remediated a registration: the next one gets the inputs that it left.
    fn remediated(&mut self, idx: RegIdx, pack: PackId, remedies: Remedies) {
        let Consultation { after, tells, .. } = self.take_consultation(idx);
        let urn = self.registration(idx).urn.clone();
        if tells {
            self.tell_remedies(pack, &urn, &remedies);
        }
        for remediation in remedies.remediations {
            match remediation.outcome {
                Remedy::Inputs(mut inputs) => {
                    let registration = self.registration_mut(idx);
                    let before = registration.new.inputs.clone();
                    // A pack sees secrets in the open, and may have made another text from one.
                    if before.contains_secrets() {
                        Arc::make_mut(&mut inputs).hide_derived(&before);
                    }
                    registration.set_inputs(inputs);
                    self.policies.remediated.insert(idx);
                    if tells {
                        self.tell_remediation(pack, idx, &remediation.policy, &before);
                    }
                }
                Remedy::Failed(message) if tells => {
                    self.tell_unremediated(pack, &urn, &remediation.policy, message);
                }
                Remedy::Failed(_) | Remedy::Nothing => {}
            }
        }
        self.remediate(idx, PackId(pack.0 + 1), after, tells);
    }

    /// A pack has judged a registration; the verdict is taken when all have.
    fn judged(&mut self, idx: RegIdx, pack: PackId, verdict: Judged) {
        let consultation = self.take_consultation(idx);
        let (after, tells, mut judged) =
            (consultation.after, consultation.tells, consultation.judged);
        let Some(verdicts) = judged.take(pack, verdict) else {
            return self.wait_for_packs(idx, after, tells, judged);
        };
        let urn = self.registration(idx).urn.clone();
        let (mut is_refused, mut broken) = (false, None);
        for (pack, verdict) in self.policies.pack_ids().zip(verdicts) {
            match verdict {
                Ok(analysis) => {
                    for diagnostic in &analysis.diagnostics {
                        is_refused |= self.tell_violation(pack, urn.clone(), diagnostic);
                    }
                    self.tell_analysis(pack, &urn, &analysis);
                }
                Err(error) => broken = broken.or(Some(error)),
            }
        }
        if let Some(error) = broken {
            return self.not_consulted(idx, "failed to run policy", &error);
        }
        if is_refused {
            if !self.ctx.options.is_preview() {
                return self.fail(Failure::Refused);
            }
            self.status.refuse_in_preview();
        }
        self.after_policies(idx, after);
    }

    fn after_policies(&mut self, idx: RegIdx, after: After) {
        match after {
            After::Decide => self.decide(idx),
            After::Replace(diff) => self.plan_replacement(idx, *diff),
            After::Recreate => self.recreate(idx),
            After::Refuse => self.fail(Failure::Refused),
        }
    }

    /// A registration as packs see it.
    fn analyzed(&self, idx: RegIdx) -> AnalyzedResource {
        let registration = self.registration(idx);
        let new = &registration.new;
        AnalyzedResource {
            urn: registration.urn.clone(),
            type_token: new.type_token.clone(),
            properties: new.inputs.clone(),
            options: AnalyzedOptions {
                protect: new.protect,
                ignore_changes: registration.goal.ignore_changes.clone(),
                delete_before_replace: registration.goal.delete_before_replace,
                additional_secret_outputs: new.additional_secret_outputs.clone(),
                aliases: new.aliases.clone(),
                custom_timeouts: new.custom_timeouts,
                parent: new.parent.clone(),
            },
            provider: self.analyzed_provider(new.provider.as_ref()),
        }
    }

    /// A provider as packs see it: as it is in this run, or else as it was before.
    fn analyzed_provider(&self, reference: Option<&ProviderRef>) -> Option<AnalyzedProvider> {
        let urn = reference?.urn();
        let state = self.urns.latest(urn)?;
        Some(AnalyzedProvider {
            urn: urn.clone(),
            properties: self.arena.state(state).inputs.clone(),
        })
    }
}
