//! Encryption of plans.

use std::collections::BTreeMap;

use super::{GoalPlan, Plan, PlanDiff, ResourcePlan};
use crate::sealing::{OnSecret, Sealable, rebuild_map, seal};
use crate::secrets::{CiphertextCache, SecretCodec, SecretsError};

/// A plan whose secrets are encrypted.
#[derive(Clone, Debug, PartialEq)]
pub struct EncryptedPlan {
    pub(super) inner: Plan,
}

impl Plan {
    /// Encrypts the secrets; `codec` is not called if there are none.
    pub fn encrypt(&self, codec: &dyn SecretCodec) -> Result<EncryptedPlan, SecretsError> {
        let sealed = seal(self, codec, &mut CiphertextCache::new())?;
        Ok(EncryptedPlan {
            inner: sealed.inner,
        })
    }
}

impl Sealable for Plan {
    fn rebuild(&self, on_secret: OnSecret<'_>) -> Result<Self, SecretsError> {
        let mut resources = BTreeMap::new();
        for (urn, plan) in &self.resources {
            resources.insert(
                urn.clone(),
                rebuild_resource(plan, urn.as_str(), on_secret)?,
            );
        }
        Ok(Plan { resources })
    }
}

fn rebuild_resource(
    plan: &ResourcePlan,
    urn: &str,
    on_secret: OnSecret<'_>,
) -> Result<ResourcePlan, SecretsError> {
    let goal = match &plan.goal {
        Some(goal) => Some(GoalPlan {
            inputs: rebuild_diff(
                &goal.inputs,
                urn,
                ["inputDiff.adds", "inputDiff.updates"],
                on_secret,
            )?,
            outputs: rebuild_diff(
                &goal.outputs,
                urn,
                ["outputDiff.adds", "outputDiff.updates"],
                on_secret,
            )?,
            ..goal.clone()
        }),
        None => None,
    };
    let outputs = plan.outputs.as_ref();
    Ok(ResourcePlan {
        goal,
        outputs: outputs
            .map(|outputs| rebuild_map(outputs, urn, "state", on_secret))
            .transpose()?,
        ..plan.clone()
    })
}

fn rebuild_diff(
    diff: &PlanDiff,
    urn: &str,
    [adds, updates]: [&'static str; 2],
    on_secret: OnSecret<'_>,
) -> Result<PlanDiff, SecretsError> {
    Ok(PlanDiff {
        adds: rebuild_map(&diff.adds, urn, adds, on_secret)?,
        deletes: diff.deletes.clone(),
        updates: rebuild_map(&diff.updates, urn, updates, on_secret)?,
    })
}
