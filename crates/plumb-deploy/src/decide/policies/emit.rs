//! Emission of policy events in a run.

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_events::Event;
use plumb_resource::Urn;
use plumb_resource::policy::{Analysis, EnforcementLevel, PolicyDiagnostic, Remedies};
use plumb_value::PropertyMap;

use super::events;
use crate::deployment::Deployment;
use crate::ids::{PackId, RegIdx};

impl Deployment {
    /// The packs of the run as the summary lists them.
    pub(crate) fn policy_versions(&self) -> BTreeMap<EcoString, EcoString> {
        self.policies.packs.iter().map(events::version).collect()
    }

    /// Tells of a violation that `urn` is to blame for; answers whether it is mandatory.
    pub(super) fn tell_violation(
        &mut self,
        pack: PackId,
        urn: Urn,
        diagnostic: &PolicyDiagnostic,
    ) -> bool {
        let violation = events::violation(self.policies.pack(pack), urn, diagnostic);
        self.emit(Event::PolicyViolation(violation));
        events::verdict(diagnostic.level) == EnforcementLevel::Mandatory
    }

    /// Emits the reason why a policy did not remediate `urn`.
    pub(super) fn tell_unremediated(
        &mut self,
        pack: PackId,
        urn: &Urn,
        policy: &EcoString,
        message: EcoString,
    ) {
        self.tell_violation(pack, urn.clone(), &events::unremediated(policy, message));
    }

    /// Tells what a policy made of the inputs of a registration, which are those after it.
    pub(super) fn tell_remediation(
        &mut self,
        pack: PackId,
        idx: RegIdx,
        policy: &EcoString,
        before: &PropertyMap,
    ) {
        let registration = self.registration(idx);
        let (urn, after) = (&registration.urn, &registration.new.inputs);
        let remediation = events::remediation(self.policies.pack(pack), urn, policy, before, after);
        self.emit(Event::PolicyRemediation(remediation));
    }

    pub(super) fn tell_remedies(&mut self, pack: PackId, urn: &Urn, remedies: &Remedies) {
        let summary = events::remedies(self.policies.pack(pack), urn, remedies);
        self.emit(Event::PolicyRemediateSummary(summary));
    }

    pub(super) fn tell_analysis(&mut self, pack: PackId, urn: &Urn, analysis: &Analysis) {
        let summary = events::analysis(self.policies.pack(pack), urn, analysis);
        self.emit(Event::PolicyAnalyzeSummary(summary));
    }

    pub(super) fn tell_stack_analysis(&mut self, pack: PackId, analysis: &Analysis) {
        let summary = events::stack_analysis(self.policies.pack(pack), analysis);
        self.emit(Event::PolicyAnalyzeStackSummary(summary));
    }
}
