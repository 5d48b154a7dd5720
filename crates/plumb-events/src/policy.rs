//! Events of policy packs.

use ecow::EcoString;
use plumb_resource::Urn;
use plumb_value::PropertyMap;

use crate::ColorMode;

/// A policy pack.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyPackId {
    /// Name of the pack.
    pub name: EcoString,
    /// Version of the pack.
    pub version: EcoString,
    /// Tag of its version.
    pub version_tag: EcoString,
}

/// A violation of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyViolation {
    /// The resource; `None` when the violation concerns the whole stack.
    pub urn: Option<Urn>,
    /// Message for the user, perhaps with colour tags.
    pub message: EcoString,
    /// Treatment of colour tags.
    pub color: ColorMode,
    /// Name of the policy.
    pub policy: EcoString,
    /// The pack of the policy.
    pub pack: PolicyPackId,
    /// `advisory`, `mandatory` or `remediate`.
    pub enforcement_level: EcoString,
    /// Severity; empty when the policy gives none.
    pub severity: EcoString,
}

/// A change of a resource's inputs by a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRemediation {
    /// The resource.
    pub urn: Option<Urn>,
    /// Treatment of colour tags.
    pub color: ColorMode,
    /// Name of the policy.
    pub policy: EcoString,
    /// The pack of the policy.
    pub pack: PolicyPackId,
    /// Inputs before the change.
    pub before: PropertyMap,
    /// Inputs after the change.
    pub after: PropertyMap,
}

/// Results of a policy pack for a resource or the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyAnalyzeSummary {
    /// The resource; `None` for the stack as a whole.
    pub urn: Option<Urn>,
    /// The pack.
    pub pack: PolicyPackId,
    /// Policies without a violation.
    pub passed: Vec<EcoString>,
    /// Policies with a violation.
    pub failed: Vec<EcoString>,
    /// Policies that do not apply.
    pub not_applicable: Vec<EcoString>,
}
