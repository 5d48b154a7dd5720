//! What people hear of policies.

use std::collections::{BTreeMap, BTreeSet};

use ecow::{EcoString, eco_format};
use plumb_events::{
    ColorMode, Event, PolicyAnalyzeSummary, PolicyPackId, PolicyRemediation, PolicyViolation,
};
use plumb_resource::Urn;
use plumb_resource::policy::{
    Analysis, EnforcementLevel, PolicyDiagnostic, PolicyKind, PolicyPackInfo, Remedies,
};
use plumb_value::PropertyMap;

use super::verdict;
use crate::deployment::Deployment;
use crate::event::PackId;
use crate::registration::RegIdx;

impl Deployment {
    /// The packs of the run as the summary lists them: those that the user named with their paths.
    pub(crate) fn policy_versions(&self) -> BTreeMap<EcoString, EcoString> {
        let entry = |pack: &PolicyPackInfo| {
            let name = match &pack.local_path {
                Some(path) => eco_format!("{}|local|{path}", pack.name),
                None => pack.name.clone(),
            };
            (name, pack.version.clone())
        };
        self.policies.packs.iter().map(entry).collect()
    }

    fn pack_id(&self, pack: PackId) -> PolicyPackId {
        let pack = self.policies.pack(pack);
        PolicyPackId {
            name: pack.name.clone(),
            version: pack.version.clone(),
            version_tag: pack.version.clone(),
        }
    }

    /// Tells of a violation that `urn` is to blame for; answers whether it is mandatory.
    pub(super) fn tell_violation(
        &mut self,
        pack: PackId,
        urn: Urn,
        diagnostic: &PolicyDiagnostic,
    ) -> bool {
        let level = verdict(diagnostic.level);
        let declared = || {
            let policies = &self.policies.pack(pack).policies;
            let policy = policies.iter().find(|it| it.name == diagnostic.policy);
            policy.and_then(|policy| policy.severity)
        };
        let severity = diagnostic.severity.or_else(declared);
        let violation = PolicyViolation {
            urn: Some(urn),
            message: eco_format!("{}\n", diagnostic.message),
            color: ColorMode::default(),
            policy: diagnostic.policy.clone(),
            pack: self.pack_id(pack),
            enforcement_level: level.as_str().into(),
            severity: severity.map_or_else(EcoString::new, |it| it.as_str().into()),
        };
        self.emit(Event::PolicyViolation(violation));
        level == EnforcementLevel::Mandatory
    }

    /// Tells why a policy did not mend `urn`: that alone forbids nothing (POLICY-05).
    pub(super) fn tell_unmended(
        &mut self,
        pack: PackId,
        urn: &Urn,
        policy: &EcoString,
        message: EcoString,
    ) {
        let diagnostic = PolicyDiagnostic {
            policy: policy.clone(),
            message,
            level: EnforcementLevel::Advisory,
            severity: None,
            urn: None,
        };
        self.tell_violation(pack, urn.clone(), &diagnostic);
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
        let remediation = PolicyRemediation {
            urn: Some(registration.urn.clone()),
            color: ColorMode::default(),
            policy: policy.clone(),
            pack: self.pack_id(pack),
            before: before.clone(),
            after: registration.new.inputs.as_ref().clone(),
        };
        self.emit(Event::PolicyRemediation(remediation));
    }

    pub(super) fn tell_remedies(&mut self, pack: PackId, urn: &Urn, remedies: &Remedies) {
        let failed = remedies.remediations.iter().map(|it| &it.policy);
        let summary =
            self.policy_summary(pack, PolicyKind::Resource, failed, &remedies.not_applicable);
        let urn = Some(urn.clone());
        self.emit(Event::PolicyRemediateSummary(PolicyAnalyzeSummary {
            urn,
            ..summary
        }));
    }

    pub(super) fn tell_analysis(&mut self, pack: PackId, urn: &Urn, analysis: &Analysis) {
        let summary = self.analysis_summary(pack, PolicyKind::Resource, analysis);
        let urn = Some(urn.clone());
        self.emit(Event::PolicyAnalyzeSummary(PolicyAnalyzeSummary {
            urn,
            ..summary
        }));
    }

    pub(super) fn tell_stack_analysis(&mut self, pack: PackId, analysis: &Analysis) {
        let summary = self.analysis_summary(pack, PolicyKind::Stack, analysis);
        self.emit(Event::PolicyAnalyzeStackSummary(summary));
    }

    fn analysis_summary(
        &self,
        pack: PackId,
        kind: PolicyKind,
        analysis: &Analysis,
    ) -> PolicyAnalyzeSummary {
        let failed = analysis.diagnostics.iter().map(|it| &it.policy);
        self.policy_summary(pack, kind, failed, &analysis.not_applicable)
    }

    /// What became of the policies of a pack: those of `kind` that run have passed, unless it says otherwise.
    fn policy_summary<'a>(
        &self,
        pack: PackId,
        kind: PolicyKind,
        failed: impl Iterator<Item = &'a EcoString>,
        not_applicable: &[EcoString],
    ) -> PolicyAnalyzeSummary {
        let failed: BTreeSet<&EcoString> = failed.collect();
        let policies = self.policies.pack(pack).policies.iter();
        let passed = policies.filter(|policy| {
            policy.level != EnforcementLevel::Disabled
                && policy.kind == Some(kind)
                && !failed.contains(&policy.name)
                && !not_applicable.contains(&policy.name)
        });
        PolicyAnalyzeSummary {
            urn: None,
            pack: self.pack_id(pack),
            passed: passed.map(|policy| policy.name.clone()).collect(),
            failed: failed.into_iter().cloned().collect(),
            not_applicable: not_applicable.to_vec(),
        }
    }
}
