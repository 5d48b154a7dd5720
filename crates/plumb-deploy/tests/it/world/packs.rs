//! Policy packs: what is in them, and what they say.

use std::fmt;
use std::sync::Arc;

use plumb_deploy::{Effect, PackId};
use plumb_events::{Event, PolicyAnalyzeSummary, PolicyRemediation, PolicyViolation};
use plumb_resource::policy::*;
use plumb_value::{PropertyMap, Value};

use super::Ran;

type Judge = Arc<dyn Fn(&AnalyzedResource) -> Vec<PolicyDiagnostic> + Send + Sync>;
type Mender = Arc<dyn Fn(&AnalyzedResource) -> Vec<Remediation> + Send + Sync>;
type StackJudge = Arc<dyn Fn(&[StackResource]) -> Vec<PolicyDiagnostic> + Send + Sync>;

/// A policy pack of the world. It finds nothing and remediates nothing unless the story says so.
#[derive(Clone)]
pub(crate) struct Pack {
    pub(super) info: PolicyPackInfo,
    judge: Judge,
    mender: Mender,
    stack_judge: StackJudge,
    not_applicable: Vec<ecow::EcoString>,
    /// Calls that fail, and how.
    failure: Option<(&'static str, &'static str)>,
}

impl fmt::Debug for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pack({})", self.info.name)
    }
}

/// A policy pack without policies, at version 1.0.0.
pub(crate) fn pack(name: &str) -> Pack {
    Pack {
        info: PolicyPackInfo {
            name: name.into(),
            version: "1.0.0".into(),
            local_path: None,
            policies: Vec::new(),
        },
        judge: Arc::new(|_| Vec::new()),
        mender: Arc::new(|_| Vec::new()),
        stack_judge: Arc::new(|_| Vec::new()),
        not_applicable: Vec::new(),
        failure: None,
    }
}

impl Pack {
    /// With a policy that looks at resources.
    pub(crate) fn policy(self, name: &str, level: EnforcementLevel) -> Self {
        self.with_policy(name, level, PolicyKind::Resource, None)
    }

    /// The same, of some severity.
    pub(crate) fn severe_policy(
        self,
        name: &str,
        level: EnforcementLevel,
        severity: PolicySeverity,
    ) -> Self {
        self.with_policy(name, level, PolicyKind::Resource, Some(severity))
    }

    /// With a policy that looks at the stack.
    pub(crate) fn stack_policy(self, name: &str, level: EnforcementLevel) -> Self {
        self.with_policy(name, level, PolicyKind::Stack, None)
    }

    fn with_policy(
        mut self,
        name: &str,
        level: EnforcementLevel,
        kind: PolicyKind,
        severity: Option<PolicySeverity>,
    ) -> Self {
        self.info.policies.push(PolicyInfo {
            name: name.into(),
            level,
            kind: Some(kind),
            severity,
        });
        self
    }

    /// The user named it by this path.
    pub(crate) fn at(mut self, path: &str) -> Self {
        self.info.local_path = Some(path.into());
        self
    }

    /// A policy that never applies.
    pub(crate) fn not_applicable(mut self, policy: &str) -> Self {
        self.not_applicable.push(policy.into());
        self
    }

    /// Has calls of `operation` (`remediate`, `analyze`, `analyzeStack`) fail.
    pub(crate) fn fails(mut self, operation: &'static str, message: &'static str) -> Self {
        self.failure = Some((operation, message));
        self
    }

    /// Findings about resources.
    pub(crate) fn judges(
        mut self,
        judge: impl Fn(&AnalyzedResource) -> Vec<PolicyDiagnostic> + Send + Sync + 'static,
    ) -> Self {
        self.judge = Arc::new(judge);
        self
    }

    /// Finds these in the resource `name`.
    pub(crate) fn finds(self, name: &'static str, found: Vec<PolicyDiagnostic>) -> Self {
        self.judges(move |resource| {
            if resource.urn.name() == name {
                found.clone()
            } else {
                Vec::new()
            }
        })
    }

    /// How it remediates the resource `name`.
    pub(crate) fn remediates(
        mut self,
        name: &'static str,
        mender: impl Fn(&PropertyMap) -> Vec<Remediation> + Send + Sync + 'static,
    ) -> Self {
        self.mender = Arc::new(move |resource| {
            if resource.urn.name() == name {
                mender(&resource.properties)
            } else {
                Vec::new()
            }
        });
        self
    }

    /// Findings about the stack.
    pub(crate) fn judges_stack(
        mut self,
        judge: impl Fn(&[StackResource]) -> Vec<PolicyDiagnostic> + Send + Sync + 'static,
    ) -> Self {
        self.stack_judge = Arc::new(judge);
        self
    }

    pub(super) fn answer(&self, request: &PolicyCall) -> Result<PolicyReply, String> {
        if let Some((operation, message)) = self.failure
            && operation == operation_of(request)
        {
            return Err(message.to_owned());
        }
        let not_applicable = self.not_applicable.clone();
        let analysis = |diagnostics| {
            PolicyReply::Analyzed(Analysis {
                diagnostics,
                not_applicable: not_applicable.clone(),
            })
        };
        Ok(match request {
            PolicyCall::Remediate(resource) => PolicyReply::Remediated(Remedies {
                remediations: (self.mender)(resource),
                not_applicable,
            }),
            PolicyCall::Analyze(resource) => analysis((self.judge)(resource)),
            PolicyCall::AnalyzeStack(resources) => analysis((self.stack_judge)(resources)),
        })
    }
}

fn operation_of(request: &PolicyCall) -> &'static str {
    match request {
        PolicyCall::Remediate(_) => "remediate",
        PolicyCall::Analyze(_) => "analyze",
        PolicyCall::AnalyzeStack(_) => "analyzeStack",
    }
}

/// A violation of `policy`.
pub(crate) fn violation(policy: &str, level: EnforcementLevel) -> PolicyDiagnostic {
    PolicyDiagnostic {
        policy: policy.into(),
        message: "no good".into(),
        level,
        severity: None,
        urn: None,
    }
}

/// `policy` sets one input.
pub(crate) fn sets(policy: &str, inputs: &PropertyMap, key: &str, value: &str) -> Remediation {
    Remediation {
        policy: policy.into(),
        outcome: Remedy::Inputs(Arc::new(inputs.clone().with(key, value))),
    }
}

impl Ran {
    /// Questions to packs, as `operation pack resource`; questions asked together are one entry, separated by
    /// commas.
    pub(crate) fn consultations(&self) -> Vec<String> {
        let title = |effect: &Effect| match effect {
            Effect::AskPolicy { pack, request, .. } => {
                let name = match request {
                    PolicyCall::Remediate(it) | PolicyCall::Analyze(it) => it.urn.name(),
                    PolicyCall::AnalyzeStack(_) => "stack",
                };
                Some(format!("{} {} {name}", operation_of(request), pack.0))
            }
            _ => None,
        };
        let batches = self.effects.iter();
        let batches = batches.map(|batch| batch.iter().filter_map(title).collect::<Vec<_>>());
        let batches = batches.filter(|batch| !batch.is_empty());
        batches.map(|batch| batch.join(", ")).collect()
    }

    fn questions(&self) -> impl Iterator<Item = (PackId, &PolicyCall)> {
        self.effects
            .iter()
            .flatten()
            .filter_map(|effect| match effect {
                Effect::AskPolicy { pack, request, .. } => Some((*pack, request)),
                _ => None,
            })
    }

    /// The resource of this name as packs judged it; the same for all of them.
    #[track_caller]
    pub(crate) fn analyzed(&self, name: &str) -> &AnalyzedResource {
        let mut found = self.questions().filter_map(|(_, request)| match request {
            PolicyCall::Analyze(it) if it.urn.name() == name => Some(it),
            _ => None,
        });
        let first = found
            .next()
            .unwrap_or_else(|| panic!("{name} was not judged"));
        assert!(found.all(|other| other == first), "{name}");
        first
    }

    /// The stack as packs judged it; the same for all of them.
    #[track_caller]
    pub(crate) fn analyzed_stack(&self) -> &[StackResource] {
        let mut found = self.questions().filter_map(|(_, request)| match request {
            PolicyCall::AnalyzeStack(it) => Some(it),
            _ => None,
        });
        let first = found.next().expect("the stack was judged");
        assert!(found.all(|other| other == first));
        first
    }

    /// One resource of the stack as packs judged it.
    #[track_caller]
    pub(crate) fn analyzed_in_stack(&self, name: &str) -> &StackResource {
        let stack = self.analyzed_stack();
        let found = stack.iter().find(|it| it.resource.urn.name() == name);
        found.unwrap_or_else(|| panic!("{name} is not among {stack:?}"))
    }

    pub(crate) fn violations(&self) -> Vec<&PolicyViolation> {
        let events = self.events.iter();
        let violations = events.filter_map(|event| match event {
            Event::PolicyViolation(it) => Some(it),
            _ => None,
        });
        violations.collect()
    }

    /// Violations as `level policy resource`, in order.
    pub(crate) fn violated(&self) -> Vec<String> {
        let title = |it: &&PolicyViolation| {
            let urn = it
                .urn
                .as_ref()
                .expect("every violation is somebody's fault");
            format!("{} {} {}", it.enforcement_level, it.policy, urn.name())
        };
        self.violations().iter().map(title).collect()
    }

    pub(crate) fn remediations(&self) -> Vec<&PolicyRemediation> {
        let events = self.events.iter();
        let remediations = events.filter_map(|event| match event {
            Event::PolicyRemediation(it) => Some(it),
            _ => None,
        });
        remediations.collect()
    }

    /// Counts `(passed, failed)` of the summaries for the resource of this name.
    #[track_caller]
    pub(crate) fn analyze_summary(&self, name: &str) -> (Vec<&str>, Vec<&str>) {
        lists(self.events.iter().filter_map(|event| match event {
            Event::PolicyAnalyzeSummary(it) if is_about(it, name) => Some(it),
            _ => None,
        }))
    }

    /// Counts of remediations for the resource of this name.
    #[track_caller]
    pub(crate) fn remediate_summary(&self, name: &str) -> (Vec<&str>, Vec<&str>) {
        lists(self.events.iter().filter_map(|event| match event {
            Event::PolicyRemediateSummary(it) if is_about(it, name) => Some(it),
            _ => None,
        }))
    }

    /// Counts of one pack among several.
    #[track_caller]
    pub(crate) fn remediate_summary_of(&self, pack: &str, name: &str) -> (Vec<&str>, Vec<&str>) {
        lists(self.events.iter().filter_map(|event| match event {
            Event::PolicyRemediateSummary(it) if is_about(it, name) && it.pack.name == pack => {
                Some(it)
            }
            _ => None,
        }))
    }

    /// Counts for the stack.
    #[track_caller]
    pub(crate) fn stack_summary(&self) -> (Vec<&str>, Vec<&str>) {
        lists(self.events.iter().filter_map(|event| match event {
            Event::PolicyAnalyzeStackSummary(it) => {
                assert_eq!(it.urn, None);
                Some(it)
            }
            _ => None,
        }))
    }
}

fn is_about(summary: &PolicyAnalyzeSummary, name: &str) -> bool {
    summary.urn.as_ref().is_some_and(|urn| urn.name() == name)
}

/// The lists of the only summary.
#[track_caller]
fn lists<'a>(
    mut summaries: impl Iterator<Item = &'a PolicyAnalyzeSummary>,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let summary = summaries.next().expect("there is a summary");
    assert!(summaries.next().is_none(), "there is only one summary");
    (
        summary.passed.iter().map(AsRef::as_ref).collect(),
        summary.failed.iter().map(AsRef::as_ref).collect(),
    )
}
