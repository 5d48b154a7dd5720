//! Calls to policy packs and their answers (`protocol.md` 11), as plain data. The processes of packs and the core that
//! decides what to ask share these types.

use std::sync::Arc;

use ecow::{EcoString, EcoVec};
use plumb_value::{PropertyKey, PropertyMap};

use crate::{CustomTimeouts, PropertyDependencies, TypeToken, Urn};

/// Effect of a violation on the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnforcementLevel {
    /// The violation is only shown.
    Advisory,
    /// The violation fails the operation.
    Mandatory,
    /// The policy fixes the resource's inputs; a violation that remains fails the operation.
    Remediate,
    /// The policy does not run.
    Disabled,
}

impl EnforcementLevel {
    /// Every level.
    pub const ALL: [EnforcementLevel; 4] = [
        EnforcementLevel::Advisory,
        EnforcementLevel::Mandatory,
        EnforcementLevel::Remediate,
        EnforcementLevel::Disabled,
    ];

    /// The name in events and configuration files.
    pub fn as_str(self) -> &'static str {
        match self {
            EnforcementLevel::Advisory => "advisory",
            EnforcementLevel::Mandatory => "mandatory",
            EnforcementLevel::Remediate => "remediate",
            EnforcementLevel::Disabled => "disabled",
        }
    }

    /// The level with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// Severity of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicySeverity {
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
    /// Critical.
    Critical,
}

impl PolicySeverity {
    /// The name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            PolicySeverity::Low => "low",
            PolicySeverity::Medium => "medium",
            PolicySeverity::High => "high",
            PolicySeverity::Critical => "critical",
        }
    }
}

/// Scope of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PolicyKind {
    /// One resource at a time.
    Resource,
    /// All resources of a stack.
    Stack,
}

/// One policy of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyInfo {
    /// Name of the policy.
    pub name: EcoString,
    /// Effect of a violation.
    pub level: EnforcementLevel,
    /// Scope; `None` when the pack does not say.
    pub kind: Option<PolicyKind>,
    /// Severity of violations that name none of their own.
    pub severity: Option<PolicySeverity>,
}

/// A running policy pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyPackInfo {
    /// Name of the pack.
    pub name: EcoString,
    /// Version of the pack.
    pub version: EcoString,
    /// Path of a pack on this machine that the user named.
    pub local_path: Option<EcoString>,
    /// Policies of the pack, sorted by name.
    pub policies: Vec<PolicyInfo>,
}

/// A resource as policies see it.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyzedResource {
    /// The resource.
    pub urn: Urn,
    /// Type of the resource.
    pub type_token: TypeToken,
    /// Checked inputs of the resource; outputs when the whole stack is analyzed.
    pub properties: Arc<PropertyMap>,
    /// Options of the resource.
    pub options: AnalyzedOptions,
    /// The provider resource that manages it.
    pub provider: Option<AnalyzedProvider>,
}

/// The options of a resource that policies see.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnalyzedOptions {
    /// Deletes and replacements are refused.
    pub protect: bool,
    /// Paths whose changes are ignored.
    pub ignore_changes: EcoVec<EcoString>,
    /// Whether the old resource is deleted before its replacement is created; `None` when the program does not say.
    pub delete_before_replace: Option<bool>,
    /// Outputs to treat as secret.
    pub additional_secret_outputs: EcoVec<PropertyKey>,
    /// Former URNs.
    pub aliases: EcoVec<Urn>,
    /// Time limits.
    pub custom_timeouts: CustomTimeouts,
    /// Parent resource.
    pub parent: Option<Urn>,
}

/// A provider resource as policies see it.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyzedProvider {
    /// The resource.
    pub urn: Urn,
    /// Inputs of the provider resource.
    pub properties: Arc<PropertyMap>,
}

/// A resource in the analysis of a whole stack.
#[derive(Clone, Debug, PartialEq)]
pub struct StackResource {
    /// The resource.
    pub resource: AnalyzedResource,
    /// Parent resource.
    pub parent: Option<Urn>,
    /// Resources that this one depends on.
    pub dependencies: EcoVec<Urn>,
    /// For each property, the resources that its value was computed from.
    pub property_dependencies: PropertyDependencies,
}

/// A call to a policy pack.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyCall {
    /// Fixes the inputs of a resource.
    Remediate(Arc<AnalyzedResource>),
    /// Checks a resource against the policies.
    Analyze(Arc<AnalyzedResource>),
    /// Checks all resources of the stack against the policies.
    AnalyzeStack(Arc<[StackResource]>),
}

/// Answer of a policy pack.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyReply {
    /// Answer to [`PolicyCall::Remediate`].
    Remediated(Remedies),
    /// Answer to [`PolicyCall::Analyze`] and [`PolicyCall::AnalyzeStack`].
    Analyzed(Analysis),
}

/// Findings of a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Violations.
    pub diagnostics: Vec<PolicyDiagnostic>,
    /// Names of the policies that do not apply.
    pub not_applicable: Vec<EcoString>,
}

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDiagnostic {
    /// Name of the policy.
    pub policy: EcoString,
    /// Message for the user.
    pub message: EcoString,
    /// Effect on the operation.
    pub level: EnforcementLevel,
    /// Severity; `None` means that of the policy.
    pub severity: Option<PolicySeverity>,
    /// The resource in violation, if the pack names one.
    pub urn: Option<Urn>,
}

/// Fixes of a pack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remedies {
    /// Fixes, in the order in which they apply.
    pub remediations: Vec<Remediation>,
    /// Names of the policies that do not apply.
    pub not_applicable: Vec<EcoString>,
}

/// Result of one remediating policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Remediation {
    /// Name of the policy.
    pub policy: EcoString,
    /// The fixed inputs, or the reason why there are none.
    pub outcome: Remedy,
}

/// Outcome of a remediation.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// The complete inputs to use.
    Inputs(Arc<PropertyMap>),
    /// The policy failed, for this reason.
    Failed(EcoString),
    /// The policy changed nothing.
    Nothing,
}
