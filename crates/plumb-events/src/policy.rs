//! What policy packs have to say.

use ecow::EcoString;
use plumb_resource::Urn;
use plumb_value::PropertyMap;

use crate::ColorMode;

/// A policy pack.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyPackId {
    /// Its name.
    pub name: EcoString,
    /// Its version.
    pub version: EcoString,
    /// The tag of its version.
    pub version_tag: EcoString,
}

/// A policy is violated.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyViolation {
    /// The resource; `None` when it is about the stack as a whole.
    pub urn: Option<Urn>,
    /// What to tell the user, perhaps with colour tags.
    pub message: EcoString,
    /// How to treat the colour tags.
    pub color: ColorMode,
    /// Name of the policy.
    pub policy: EcoString,
    /// The pack that holds it.
    pub pack: PolicyPackId,
    /// `advisory`, `mandatory` or `remediate`.
    pub enforcement_level: EcoString,
    /// How bad it is, if the policy says.
    pub severity: EcoString,
}

/// A policy changed the inputs of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRemediation {
    /// The resource.
    pub urn: Option<Urn>,
    /// How to treat colour tags.
    pub color: ColorMode,
    /// Name of the policy.
    pub policy: EcoString,
    /// The pack that holds it.
    pub pack: PolicyPackId,
    /// Inputs before.
    pub before: PropertyMap,
    /// Inputs after.
    pub after: PropertyMap,
}

/// What a policy pack found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyAnalyzeSummary {
    /// The resource; `None` for the stack as a whole.
    pub urn: Option<Urn>,
    /// The pack.
    pub pack: PolicyPackId,
    /// Policies that found nothing.
    pub passed: Vec<EcoString>,
    /// Policies that found something.
    pub failed: Vec<EcoString>,
    /// Policies that do not apply.
    pub not_applicable: Vec<EcoString>,
}
