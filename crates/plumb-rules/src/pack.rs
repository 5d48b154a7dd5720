//! A loaded pack: from calls of the engine to judgements of rules, and back.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use ecow::EcoString;
use plumb_plugin::analyzer::PolicyManifest;
use plumb_plugin::{AnalyzedStack, Analyzer, AnalyzerError};
use plumb_resource::policy::{
    Analysis, AnalyzedResource, EnforcementLevel, PolicyDiagnostic, PolicyKind, Remediation,
    Remedies, Remedy, StackResource,
};
use plumb_value::{PropertyMap, Value};
use plumb_wire::analyzer::{AnalyzerInfo, PolicyConfig};

use crate::facts::{Facts, ResourceFacts};
use crate::policy::{Correction, Policy, Rules, Violation};
use crate::reads::shown;

/// A pack of rules that this crate evaluates.
pub struct RulePack {
    name: EcoString,
    version: EcoString,
    rules: Box<dyn Rules>,
    /// Level of each policy.
    levels: RwLock<Arc<[EnforcementLevel]>>,
}

impl RulePack {
    pub(crate) fn new(
        name: String,
        manifest: &PolicyManifest,
        stack: &AnalyzedStack,
        mut rules: Box<dyn Rules>,
    ) -> Self {
        rules.introduce(crate::deployment(stack));
        let levels = rules.policies().iter().map(|policy| policy.level).collect();
        RulePack {
            name: name.into(),
            version: manifest.version.as_deref().unwrap_or_default().into(),
            rules,
            levels: RwLock::new(levels),
        }
    }

    /// Description of the pack and its policies.
    pub fn description(&self) -> AnalyzerInfo {
        let policies = self.rules.policies().iter();
        let mut policies: Vec<_> = policies.map(Policy::configurable).collect();
        policies.sort_by(|left, right| left.info.name.cmp(&right.info.name));
        AnalyzerInfo {
            name: self.name.clone(),
            version: self.version.clone(),
            supports_config: true,
            policies,
            initial_config: BTreeMap::new(),
        }
    }

    /// The enabled policies of a kind, with their indexes and levels.
    fn enabled(
        &self,
        kind: PolicyKind,
    ) -> impl Iterator<Item = (usize, &Policy, EnforcementLevel)> {
        let policies = self.rules.policies().iter().enumerate();
        let levels = self.levels.read().unwrap_or_else(PoisonError::into_inner);
        let levels = levels.clone();
        let of_kind = policies.filter(move |(_, policy)| policy.kind == kind);
        let leveled = of_kind.map(move |(index, policy)| (index, policy, levels[index]));
        leveled.filter(|(_, _, level)| *level != EnforcementLevel::Disabled)
    }

    fn failed(&self, call: &'static str, policy: &Policy, message: &str) -> AnalyzerError {
        AnalyzerError::Call {
            pack: self.name.to_string(),
            call,
            message: format!(
                "the policy `{}` cannot be evaluated: {message}",
                policy.name
            ),
        }
    }

    /// Judges the facts by the policies of a kind.
    fn judged(
        &self,
        call: &'static str,
        kind: PolicyKind,
        facts: &Facts,
    ) -> Result<Analysis, AnalyzerError> {
        let mut analysis = Analysis::default();
        // Preparing a judgement converts all facts: only for rules that are evaluated.
        let mut judge = None;
        for (index, policy, level) in self.enabled(kind) {
            if let Facts::Resource(resource) = facts
                && !policy.is_for(resource)
            {
                analysis.not_applicable.push(policy.name.clone());
                continue;
            }
            if let Some(path) = Self::unknown(policy, facts) {
                let diagnostic = self.cannot_say(policy, &path, facts);
                analysis.diagnostics.push(diagnostic);
                continue;
            }
            let judge = judge.get_or_insert_with(|| self.rules.judge(facts));
            let violations = judge.violations(index);
            let violations = violations.map_err(|error| self.failed(call, policy, &error))?;
            let Some(violations) = violations else {
                analysis.not_applicable.push(policy.name.clone());
                continue;
            };
            let diagnostics = violations.into_iter();
            analysis
                .diagnostics
                .extend(diagnostics.map(|it| diagnostic(policy, level, it)));
        }
        Ok(analysis)
    }

    /// An unknown value that a policy may read, as text.
    fn unknown(policy: &Policy, facts: &Facts) -> Option<String> {
        facts.unknown().find_map(|(resource, unknown)| {
            let path = shown(policy.reads.first_unknown(unknown)?);
            Some(match facts {
                Facts::Resource(_) => path,
                Facts::Stack(_) => format!("{path} of {}", resource.name()),
            })
        })
    }

    fn cannot_say(&self, policy: &Policy, path: &str, facts: &Facts) -> PolicyDiagnostic {
        let message = format!(
            "the policy `{}` of the pack `{}` cannot be looked at in this preview, because the property {path} is not known yet; \
             the update looks at it",
            policy.name, self.name
        );
        PolicyDiagnostic {
            policy: policy.name.clone(),
            message: message.into(),
            level: EnforcementLevel::Advisory,
            severity: policy.severity,
            urn: match facts {
                Facts::Resource(resource) => Some(resource.urn.clone()),
                Facts::Stack(_) => None,
            },
        }
    }

    /// Corrects a resource by all policies in turn; each sees the work of those before it.
    fn corrected(&self, resource: &AnalyzedResource) -> Result<Remedies, AnalyzerError> {
        let mut remedies = Remedies::default();
        let mut current = resource.clone();
        for (index, policy, level) in self.enabled(PolicyKind::Resource) {
            if !policy.corrects || level != EnforcementLevel::Remediate {
                continue;
            }
            let resource = ResourceFacts::of_resource(&current);
            if !policy.is_for(&resource) {
                remedies.not_applicable.push(policy.name.clone());
                continue;
            }
            let facts = Facts::Resource(resource);
            // The check that follows says that the policy cannot be looked at.
            if Self::unknown(policy, &facts).is_some() {
                continue;
            }
            let corrections = self.rules.judge(&facts).corrections(index);
            let inputs = corrections
                .and_then(|corrections| apply(&current.properties, &corrections))
                .map_err(|error| self.failed("Remediate", policy, &error))?;
            let Some(mut inputs) = inputs else {
                continue;
            };
            inputs.hide_like(&current.properties);
            current.properties = Arc::new(inputs);
            remedies.remediations.push(Remediation {
                policy: policy.name.clone(),
                outcome: Remedy::Inputs(current.properties.clone()),
            });
        }
        Ok(remedies)
    }
}

/// The properties after the corrections; `None` if they are as before.
fn apply(
    properties: &PropertyMap,
    corrections: &[Correction],
) -> Result<Option<PropertyMap>, String> {
    // Secrets are opened, so that a correction reaches what is inside of them; the caller closes them again.
    let mut changed = properties.without_secrets();
    for Correction { path, value } in corrections {
        match value {
            Some(value) => path
                .set(&mut changed, Value::from(value))
                .map_err(|error| error.to_string())?,
            None => {
                path.delete(&mut changed);
            }
        }
    }
    Ok((changed != properties.without_secrets()).then_some(changed))
}

fn diagnostic(policy: &Policy, level: EnforcementLevel, violation: Violation) -> PolicyDiagnostic {
    let message = if violation.message.is_empty() {
        policy.description.as_str()
    } else {
        violation.message.as_str()
    };
    PolicyDiagnostic {
        policy: policy.name.clone(),
        message: message.into(),
        // Corrections have run before the checks: a violation that is left fails the update.
        level: match level {
            EnforcementLevel::Remediate => EnforcementLevel::Mandatory,
            level => level,
        },
        severity: policy.severity,
        urn: violation.urn,
    }
}

#[async_trait]
impl Analyzer for RulePack {
    async fn plugin_version(&self) -> Result<Option<String>, AnalyzerError> {
        Ok(None)
    }

    async fn info(&self) -> Result<AnalyzerInfo, AnalyzerError> {
        Ok(self.description())
    }

    async fn configure(
        &self,
        configs: &BTreeMap<EcoString, PolicyConfig>,
    ) -> Result<(), AnalyzerError> {
        self.rules
            .configure(configs)
            .map_err(|message| AnalyzerError::Call {
                pack: self.name.to_string(),
                call: "Configure",
                message,
            })?;
        let levels = self.rules.policies().iter().map(|policy| {
            let config = configs.get(&policy.name);
            config.map_or(policy.level, |config| config.level)
        });
        *self.levels.write().unwrap_or_else(PoisonError::into_inner) = levels.collect();
        Ok(())
    }

    async fn remediate(&self, resource: &AnalyzedResource) -> Result<Remedies, AnalyzerError> {
        self.corrected(resource)
    }

    async fn analyze(&self, resource: &AnalyzedResource) -> Result<Analysis, AnalyzerError> {
        let facts = Facts::Resource(ResourceFacts::of_resource(resource));
        self.judged("Analyze", PolicyKind::Resource, &facts)
    }

    async fn analyze_stack(&self, resources: &[StackResource]) -> Result<Analysis, AnalyzerError> {
        if self.enabled(PolicyKind::Stack).next().is_none() {
            return Ok(Analysis::default());
        }
        let facts = Facts::Stack(resources.iter().map(ResourceFacts::of_stack).collect());
        self.judged("AnalyzeStack", PolicyKind::Stack, &facts)
    }

    async fn cancel(&self) {}

    async fn shutdown(&self) {}
}
