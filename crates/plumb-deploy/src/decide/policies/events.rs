//! Events about policies, for runs and for inspections.

use std::collections::BTreeSet;

use ecow::{EcoString, eco_format};
use plumb_events::{
    ColorMode, PolicyAnalyzeSummary, PolicyPackId, PolicyRemediation, PolicyViolation,
};
use plumb_resource::Urn;
use plumb_resource::policy::{
    Analysis, EnforcementLevel, PolicyDiagnostic, PolicyKind, PolicyPackInfo, Remedies,
};
use plumb_value::PropertyMap;

/// Level at which a violation counts: a remediation that did not happen counts as a violation of a mandatory policy.
pub(super) fn verdict(level: EnforcementLevel) -> EnforcementLevel {
    match level {
        EnforcementLevel::Remediate => EnforcementLevel::Mandatory,
        other => other,
    }
}

/// A pack as the summary of a run lists it, those that the user named with their paths, and its version.
pub(super) fn version(pack: &PolicyPackInfo) -> (EcoString, EcoString) {
    let name = match &pack.local_path {
        Some(path) => eco_format!("{}|local|{path}", pack.name),
        None => pack.name.clone(),
    };
    (name, pack.version.clone())
}

/// A violation that `urn` is to blame for.
pub(super) fn violation(
    pack: &PolicyPackInfo,
    urn: Urn,
    diagnostic: &PolicyDiagnostic,
) -> PolicyViolation {
    let declared = || {
        let policy = pack.policies.iter().find(|it| it.name == diagnostic.policy);
        policy.and_then(|policy| policy.severity)
    };
    let severity = diagnostic.severity.or_else(declared);
    PolicyViolation {
        urn: Some(urn),
        message: eco_format!("{}\n", diagnostic.message),
        color: ColorMode::default(),
        policy: diagnostic.policy.clone(),
        pack: pack_id(pack),
        enforcement_level: verdict(diagnostic.level).as_str().into(),
        severity: severity.map_or_else(EcoString::new, |it| it.as_str().into()),
    }
}

/// Diagnostic for a resource that a policy did not remediate. It forbids nothing by itself (POLICY-05).
pub(super) fn unremediated(policy: &EcoString, message: EcoString) -> PolicyDiagnostic {
    PolicyDiagnostic {
        policy: policy.clone(),
        message,
        level: EnforcementLevel::Advisory,
        severity: None,
        urn: None,
    }
}

/// Change that a policy made to the inputs of a resource.
pub(super) fn remediation(
    pack: &PolicyPackInfo,
    urn: &Urn,
    policy: &EcoString,
    before: &PropertyMap,
    after: &PropertyMap,
) -> PolicyRemediation {
    PolicyRemediation {
        urn: Some(urn.clone()),
        color: ColorMode::default(),
        policy: policy.clone(),
        pack: pack_id(pack),
        before: before.clone(),
        after: after.clone(),
    }
}

/// Summary of the policies that can remediate a resource.
pub(super) fn remedies(
    pack: &PolicyPackInfo,
    urn: &Urn,
    remedies: &Remedies,
) -> PolicyAnalyzeSummary {
    let failed = remedies.remediations.iter().map(|it| &it.policy);
    PolicyAnalyzeSummary {
        urn: Some(urn.clone()),
        ..summary(pack, PolicyKind::Resource, failed, &remedies.not_applicable)
    }
}

/// Summary of the policies that judge a resource.
pub(super) fn analysis(
    pack: &PolicyPackInfo,
    urn: &Urn,
    analysis: &Analysis,
) -> PolicyAnalyzeSummary {
    let failed = analysis.diagnostics.iter().map(|it| &it.policy);
    PolicyAnalyzeSummary {
        urn: Some(urn.clone()),
        ..summary(pack, PolicyKind::Resource, failed, &analysis.not_applicable)
    }
}

/// Summary of the policies that judge a whole stack.
pub(super) fn stack_analysis(pack: &PolicyPackInfo, analysis: &Analysis) -> PolicyAnalyzeSummary {
    let failed = analysis.diagnostics.iter().map(|it| &it.policy);
    summary(pack, PolicyKind::Stack, failed, &analysis.not_applicable)
}

fn pack_id(pack: &PolicyPackInfo) -> PolicyPackId {
    PolicyPackId {
        name: pack.name.clone(),
        version: pack.version.clone(),
        version_tag: pack.version.clone(),
    }
}

/// Summary of a pack: policies of `kind` have passed unless the pack reports otherwise.
fn summary<'a>(
    pack: &PolicyPackInfo,
    kind: PolicyKind,
    failed: impl Iterator<Item = &'a EcoString>,
    not_applicable: &[EcoString],
) -> PolicyAnalyzeSummary {
    let failed: BTreeSet<&EcoString> = failed.collect();
    let left_out: BTreeSet<&EcoString> = not_applicable.iter().collect();
    let passed = pack.policies.iter().filter(|policy| {
        policy.level != EnforcementLevel::Disabled
            && policy.kind == Some(kind)
            && !failed.contains(&policy.name)
            && !left_out.contains(&policy.name)
    });
    PolicyAnalyzeSummary {
        urn: None,
        pack: pack_id(pack),
        passed: passed.map(|policy| policy.name.clone()).collect(),
        failed: failed.into_iter().cloned().collect(),
        not_applicable: not_applicable.to_vec(),
    }
}
