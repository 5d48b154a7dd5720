//! What a policy pack is asked, and how it answers (`protocol.md` 11): plain data, the same for the processes that packs
//! run in and for the core that decides what to ask.

use std::sync::Arc;

use ecow::{EcoString, EcoVec};
use plumb_value::{PropertyKey, PropertyMap};

use crate::{CustomTimeouts, PropertyDependencies, TypeToken, Urn};

/// What a violation means for the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnforcementLevel {
    /// It is shown.
    Advisory,
    /// It fails the operation.
    Mandatory,
    /// The policy mends the resource; what it leaves unmended fails the operation.
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

/// How bad a violation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicySeverity {
    /// Hardly.
    Low,
    /// Somewhat.
    Medium,
    /// Very.
    High,
    /// As bad as can be.
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

/// What a policy looks at.
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
    /// Its name.
    pub name: EcoString,
    /// What a violation means.
    pub level: EnforcementLevel,
    /// What it looks at; `None` when the pack does not tell.
    pub kind: Option<PolicyKind>,
    /// How bad a violation is, unless the violation itself says.
    pub severity: Option<PolicySeverity>,
}

/// A policy pack that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyPackInfo {
    /// Its name.
    pub name: EcoString,
    /// Its version.
    pub version: EcoString,
    /// Where it is, for a pack that the user named.
    pub local_path: Option<EcoString>,
    /// Its policies, in the order of their names.
    pub policies: Vec<PolicyInfo>,
}

/// A resource as policies see it.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyzedResource {
    /// The resource.
    pub urn: Urn,
    /// Its type.
    pub type_token: TypeToken,
    /// Its checked inputs; its outputs where the whole stack is looked at.
    pub properties: Arc<PropertyMap>,
    /// Its options.
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
    /// Whether the old resource goes before its replacement comes, if the program says.
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
    /// Its inputs.
    pub properties: Arc<PropertyMap>,
}

/// One of all resources of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct StackResource {
    /// The resource.
    pub resource: AnalyzedResource,
    /// Parent resource.
    pub parent: Option<Urn>,
    /// Resources that it depends on.
    pub dependencies: EcoVec<Urn>,
    /// Which resources each property was computed from.
    pub property_dependencies: PropertyDependencies,
}

/// A call to a policy pack.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyCall {
    /// Mends the inputs of a resource.
    Remediate(Arc<AnalyzedResource>),
    /// Judges a resource.
    Analyze(Arc<AnalyzedResource>),
    /// Judges all resources of the stack.
    AnalyzeStack(Arc<[StackResource]>),
}

/// What a policy pack answers.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyReply {
    /// To [`PolicyCall::Remediate`].
    Remediated(Remedies),
    /// To [`PolicyCall::Analyze`] and [`PolicyCall::AnalyzeStack`].
    Analyzed(Analysis),
}

/// What a pack found.
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
    /// What to tell the user.
    pub message: EcoString,
    /// What it means.
    pub level: EnforcementLevel,
    /// How bad it is; `None` leaves it to the policy.
    pub severity: Option<PolicySeverity>,
    /// The resource that it is about, where the pack says.
    pub urn: Option<Urn>,
}

/// What a pack mended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remedies {
    /// One after the other.
    pub remediations: Vec<Remediation>,
    /// Names of the policies that do not apply.
    pub not_applicable: Vec<EcoString>,
}

/// What one policy mended.
#[derive(Clone, Debug, PartialEq)]
pub struct Remediation {
    /// Name of the policy.
    pub policy: EcoString,
    /// The mended inputs, or why there are none.
    pub outcome: Remedy,
}

/// How a policy mended a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// The inputs to use, all of them.
    Inputs(Arc<PropertyMap>),
    /// It could not, for this reason.
    Failed(EcoString),
    /// It changed nothing.
    Nothing,
}
