//! Runs the rules of a pack and collects their findings.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use plumb::Result;
use plumb::provider::Members;

use crate::pack::{Pack, Rule};
use crate::policy::{About, Level, OfResource, Policy};
use crate::protocol as pb;
use crate::report::{Fix, Report};
use crate::resource::{Resource, Stack};
use crate::{Info, Value};

/// The level and the settings that the configuration gives a policy.
#[derive(Clone, Debug)]
pub(crate) struct Configured {
    pub(crate) level: Level,
    pub(crate) settings: Members,
}

/// A pack, as the configuration wants it.
pub(crate) struct Analysis<'a> {
    pub(crate) pack: &'a Pack,
    pub(crate) configured: &'a BTreeMap<String, Configured>,
    pub(crate) info: &'a Info,
}

/// The findings of the checks of a resource or of a stack.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) diagnostics: Vec<pb::AnalyzeDiagnostic>,
    pub(crate) not_applicable: Vec<pb::PolicyNotApplicable>,
}

/// The changes that corrections make to a resource.
#[derive(Debug, Default)]
pub(crate) struct Fixes {
    pub(crate) remediations: Vec<pb::Remediation>,
    pub(crate) not_applicable: Vec<pb::PolicyNotApplicable>,
}

impl Analysis<'_> {
    fn level(&self, about: &About) -> Level {
        let configured = self.configured.get(&about.name).map(|it| it.level);
        configured.or(about.level).unwrap_or(self.pack.level)
    }

    fn settings(&self, about: &About) -> Members {
        let configured = self.configured.get(&about.name);
        configured.map(|it| it.settings.clone()).unwrap_or_default()
    }

    /// Checks a resource.
    pub(crate) fn check(&self, resource: &mut Resource) -> Result<Findings> {
        let mut findings = Findings::default();
        for rule in &self.pack.rules {
            let Rule::Resource(policy) = rule else {
                continue;
            };
            let (Some(check), level) = (&policy.rule.check, self.level(&policy.about)) else {
                continue;
            };
            if level == Level::Disabled {
                continue;
            }
            if !policy.is_for(resource) {
                findings.not_applicable.push(policy.not_for(resource));
                continue;
            }
            let mut report = Report::default();
            resource.config = self.settings(&policy.about);
            let outcome = check(resource, &mut report);
            let unknown = self.unknown(resource);
            let found = self.found(&policy.about, level, outcome.map(|()| report), unknown)?;
            findings.diagnostics.extend(found);
        }
        Ok(findings)
    }

    /// Corrects a resource, whose properties are with their markers in `marked`.
    pub(crate) fn fix(&self, resource: &mut Resource, marked: Members) -> Result<Fixes> {
        let mut fixes = Fixes::default();
        let mut fix = Fix {
            properties: marked,
            is_changed: false,
        };
        for rule in &self.pack.rules {
            let Rule::Resource(policy) = rule else {
                continue;
            };
            let (Some(correct), Level::Remediate) = (&policy.rule.fix, self.level(&policy.about))
            else {
                continue;
            };
            if !policy.is_for(resource) {
                fixes.not_applicable.push(policy.not_for(resource));
                continue;
            }
            resource.config = self.settings(&policy.about);
            let before = fix.properties.clone();
            let outcome = correct(resource, &mut fix);
            let mut remediation = self.remediation(&policy.about);
            match (outcome, self.unknown(resource)) {
                (Ok(()), _) if fix.is_changed => {
                    remediation.properties = Some(plumb::provider::encode(&fix.properties)?);
                }
                (Ok(()), _) => continue,
                (Err(_), Some(property)) => {
                    fix.properties = before;
                    remediation.diagnostic = self.unknown_text(&policy.about, &property);
                }
                (Err(error), None) => return Err(self.failed(&policy.about, error)),
            }
            fix.is_changed = false;
            resource.properties = plumb::provider::exposed_members(&fix.properties);
            fixes.remediations.push(remediation);
        }
        Ok(fixes)
    }

    /// Checks a stack.
    pub(crate) fn check_stack(&self, stack: &mut Stack) -> Result<Findings> {
        let mut findings = Findings::default();
        for rule in &self.pack.rules {
            let Rule::Stack(policy) = rule else {
                continue;
            };
            let (Some(check), level) = (&policy.rule.check, self.level(&policy.about)) else {
                continue;
            };
            if level == Level::Disabled {
                continue;
            }
            let mut report = Report::default();
            stack.config = self.settings(&policy.about);
            let outcome = check(stack, &mut report);
            let unknown = stack.resources.iter().find_map(|it| self.unknown(it));
            let found = self.found(&policy.about, level, outcome.map(|()| report), unknown)?;
            findings.diagnostics.extend(found);
        }
        Ok(findings)
    }

    /// The unknown property that a rule asked for, in a preview.
    fn unknown(&self, resource: &Resource) -> Option<String> {
        let mut unknown = resource
            .unknown
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        unknown.take().filter(|_| self.info.is_preview)
    }

    fn failed(&self, about: &About, error: plumb::Error) -> plumb::Error {
        error.context(format!(
            "the policy `{}` of the pack `{}` failed",
            about.name, self.pack.name
        ))
    }

    /// The diagnostics of one rule. A rule that failed on an unknown property of a preview gives one that says so.
    fn found(
        &self,
        about: &About,
        level: Level,
        outcome: Result<Report>,
        unknown: Option<String>,
    ) -> Result<Vec<pb::AnalyzeDiagnostic>> {
        let report = match (outcome, unknown) {
            (Ok(report), _) => report,
            (Err(_), Some(property)) => return Ok(vec![self.cannot_say(about, &property)]),
            (Err(error), None) => return Err(self.failed(about, error)),
        };
        // Corrections have run before the checks: a violation that is left fails the deployment.
        let level = match level {
            Level::Remediate => Level::Mandatory,
            level => level,
        };
        let violations = report.violations.into_iter();
        let diagnostics = violations.map(|violation| pb::AnalyzeDiagnostic {
            message: if violation.message.is_empty() {
                about.description.clone()
            } else {
                format!("{}\n{}", about.description, violation.message)
            },
            urn: violation.urn,
            ..self.diagnostic(about, level)
        });
        Ok(diagnostics.collect())
    }

    /// The diagnostic about a rule that cannot be looked at in a preview.
    fn cannot_say(&self, about: &About, property: &str) -> pb::AnalyzeDiagnostic {
        pb::AnalyzeDiagnostic {
            message: self.unknown_text(about, property),
            ..self.diagnostic(about, Level::Advisory)
        }
    }

    fn unknown_text(&self, about: &About, property: &str) -> String {
        format!(
            "the policy `{}` of the pack `{}` cannot be looked at in this preview, because the property `{property}` is not known \
             yet; the deployment looks at it",
            about.name, self.pack.name
        )
    }

    fn diagnostic(&self, about: &About, level: Level) -> pb::AnalyzeDiagnostic {
        pb::AnalyzeDiagnostic {
            policy_name: about.name.clone(),
            policy_pack_name: self.pack.name.clone(),
            policy_pack_version: self.pack.version.clone(),
            description: about.description.clone(),
            enforcement_level: level.wire().into(),
            severity: about.severity.wire().into(),
            ..pb::AnalyzeDiagnostic::default()
        }
    }

    fn remediation(&self, about: &About) -> pb::Remediation {
        pb::Remediation {
            policy_name: about.name.clone(),
            policy_pack_name: self.pack.name.clone(),
            policy_pack_version: self.pack.version.clone(),
            description: about.description.clone(),
            ..pb::Remediation::default()
        }
    }
}

impl Policy<OfResource> {
    fn is_for(&self, resource: &Resource) -> bool {
        let tokens = &self.rule.tokens;
        tokens.is_empty() || tokens.contains(&resource.token)
    }

    fn not_for(&self, resource: &Resource) -> pb::PolicyNotApplicable {
        pb::PolicyNotApplicable {
            policy_name: self.about.name.clone(),
            reason: format!("the policy is not for resources of type {}", resource.token),
        }
    }
}

impl Pack {
    /// The description of the pack and of its policies.
    pub(crate) fn information(&self) -> Result<pb::AnalyzerInfo> {
        let policies = self.rules.iter().map(|rule| {
            let about = rule.about();
            Ok(pb::PolicyInfo {
                name: about.name.clone(),
                display_name: about.display_name.clone(),
                description: about.description.clone(),
                enforcement_level: about.level.unwrap_or(self.level).wire().into(),
                config_schema: about.schema.as_ref().map(schema).transpose()?,
                policy_type: match rule {
                    Rule::Resource(_) => pb::PolicyType::Resource,
                    Rule::Stack(_) => pb::PolicyType::Stack,
                }
                .into(),
                severity: about.severity.wire().into(),
                tags: about.tags.clone(),
                remediation_steps: about.steps.clone(),
                url: about.url.clone(),
                ..pb::PolicyInfo::default()
            })
        });
        Ok(pb::AnalyzerInfo {
            name: self.name.clone(),
            display_name: self.display_name.clone(),
            policies: policies.collect::<Result<_>>()?,
            version: self.version.clone(),
            supports_config: true,
            description: self.description.clone(),
            ..pb::AnalyzerInfo::default()
        })
    }
}

fn schema((properties, required): &(Value, Vec<String>)) -> Result<pb::PolicyConfigSchema> {
    let properties = match properties {
        Value::Map(members) => plumb::provider::encode(members)?,
        other => plumb::bail!(
            "the schema of a policy is an object with the schemas of its settings, not {}",
            other.kind()
        ),
    };
    Ok(pb::PolicyConfigSchema {
        properties: Some(properties),
        required: required.clone(),
    })
}
