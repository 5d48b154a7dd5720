//! Tests of packs in any language: files `*.test.yaml` with resources and what a policy says about them.
//!
//! ```yaml
//! - policy: no-public-buckets
//!   resource:
//!     type: aws:s3/bucket:Bucket
//!     props: {acl: public-read}
//!   expect: violation
//!   message: private
//!   fixed: {acl: private}
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plumb_plugin::analyzer::config::reconcile;
use plumb_plugin::{Analyzer, AnalyzerError};
use plumb_resource::policy::{
    Analysis, AnalyzedOptions, AnalyzedProvider, AnalyzedResource, EnforcementLevel, PolicyKind,
    Remedy, StackResource,
};
use plumb_resource::{PropertyDependencies, TypeToken, Urn};
use plumb_value::{PropertyMap, PropertyPath, Value};
use plumb_wire::analyzer::AnalyzerInfo;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::files;
use crate::{LoadError, Runtime, rego};

/// Texts in the messages about policies that a preview cannot look at: of this crate and the SDK for Rust, and of the others.
const UNKNOWN_TEXTS: [&str; 3] = [
    "cannot be looked at in this preview",
    "can't run policy",
    "Can't run policy",
];

/// A test of a policy.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file.
    pub path: PathBuf,
    /// Name of the test.
    pub name: String,
    declared: Declared,
}

/// Result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Name of the test.
    pub name: String,
    /// Reason why the test failed.
    pub failure: Option<String>,
}

/// A test in a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    policy: String,
    name: Option<String>,
    resource: Option<Subject>,
    resources: Option<Vec<Subject>>,
    #[serde(default)]
    config: Map<String, Json>,
    expect: Option<Expected>,
    message: Option<String>,
    fixed: Option<Map<String, Json>>,
}

/// Expected verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Expected {
    Pass,
    Violation,
    NotApplicable,
    /// A preview cannot tell.
    Unknown,
}

impl Expected {
    fn text(self) -> &'static str {
        match self {
            Expected::Pass => "no violation",
            Expected::Violation => "a violation",
            Expected::NotApplicable => "a policy that does not apply",
            Expected::Unknown => "a policy that a preview cannot look at",
        }
    }
}

/// A resource in a test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Subject {
    r#type: String,
    name: Option<String>,
    props: Map<String, Json>,
    /// Paths of properties that are not known.
    unknown: Vec<String>,
    options: Options,
    /// Properties of the provider.
    provider: Option<Map<String, Json>>,
    /// Name of the parent.
    parent: Option<String>,
    /// Names of resources.
    dependencies: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct Options {
    protect: bool,
    ignore_changes: Vec<String>,
    delete_before_replace: Option<bool>,
}

/// The tests in the files `*.test.yaml` below a folder.
pub fn cases(folder: &Path) -> Result<Vec<Case>, LoadError> {
    let is_tests = |name: &str| name.ends_with(".test.yaml") || name.ends_with(".test.yml");
    let mut cases = Vec::new();
    for path in files::find(folder, is_tests)? {
        let declared = files::read_yaml(&path)?.unwrap_or_else(|| Json::Array(Vec::new()));
        let declared: Vec<Json> = match declared {
            Json::Array(declared) => declared,
            _ => return Err(files::form(&path, "a file of tests is a list")),
        };
        for (index, declared) in declared.into_iter().enumerate() {
            let wrong = |message: &dyn std::fmt::Display| {
                files::form(&path, format!("test {}: {message}", index + 1))
            };
            let declared: Declared =
                serde_json::from_value(declared).map_err(|error| wrong(&error))?;
            declared.check().map_err(|message| wrong(&message))?;
            cases.push(Case {
                path: path.clone(),
                name: declared.title(index + 1),
                declared,
            });
        }
    }
    Ok(cases)
}

/// Runs the tests of rules that are rules themselves: `test_NAME` in Rego. Other runtimes have none.
pub fn run_rules(folder: &Path, runtime: &str) -> Result<Vec<Outcome>, LoadError> {
    match Runtime::from_name(runtime) {
        Some(Runtime::Rego) => rego::run_tests(folder),
        Some(Runtime::Cel) | None => Ok(Vec::new()),
    }
}

impl Declared {
    fn title(&self, number: usize) -> String {
        match &self.name {
            Some(name) => format!("{}: {name}", self.policy),
            None => format!("{}: test {number}", self.policy),
        }
    }

    /// Configuration that runs only the policy, whose own level is `level`.
    fn settings(&self, level: EnforcementLevel) -> Map<String, Json> {
        let level = match level {
            _ if self.fixed.is_some() => EnforcementLevel::Remediate,
            EnforcementLevel::Disabled => EnforcementLevel::Advisory,
            level => level,
        };
        let mut own = self.config.clone();
        own.entry("enforcementLevel")
            .or_insert_with(|| Json::from(level.as_str()));
        let others = Json::from(EnforcementLevel::Disabled.as_str());
        [
            ("all".to_owned(), others),
            (self.policy.clone(), Json::Object(own)),
        ]
        .into_iter()
        .collect()
    }

    fn check(&self) -> Result<(), String> {
        if self.resource.is_some() == self.resources.is_some() {
            return Err("there is either a `resource` or a list of `resources`".to_owned());
        }
        if self.expect.is_none() && self.fixed.is_none() {
            return Err(
                "`expect` is missing: pass, violation, not-applicable or unknown".to_owned(),
            );
        }
        if self.message.is_some() && self.expect != Some(Expected::Violation) {
            return Err("a `message` needs `expect: violation`".to_owned());
        }
        if self.fixed.is_some() && self.resource.is_none() {
            return Err("`fixed` needs a `resource`".to_owned());
        }
        let mut subjects = self.resource.iter().chain(self.resources.iter().flatten());
        if subjects.any(|it| it.r#type.is_empty()) {
            return Err("a resource has a `type`".to_owned());
        }
        Ok(())
    }
}

impl Case {
    /// Whether the test has values that are not known, as only a preview has them.
    pub fn is_preview(&self) -> bool {
        let declared = &self.declared;
        let mut subjects = declared
            .resource
            .iter()
            .chain(declared.resources.iter().flatten());
        subjects.any(|subject| !subject.unknown.is_empty())
    }

    /// Whether the test is about the policy with this name.
    pub fn is_of(&self, policy: &str) -> bool {
        self.declared.policy == policy
    }

    /// Runs the test. Configures the pack, so that tests of a pack run one after the other.
    pub async fn run(&self, pack: &dyn Analyzer, info: &AnalyzerInfo) -> Outcome {
        Outcome {
            name: self.name.clone(),
            failure: self.attempt(pack, info).await.err(),
        }
    }

    /// The error is the reason why the test fails.
    async fn attempt(&self, pack: &dyn Analyzer, info: &AnalyzerInfo) -> Result<(), String> {
        let declared = &self.declared;
        let mut policies = info.policies.iter();
        let policy = policies.find(|it| it.info.name == declared.policy.as_str());
        let policy =
            policy.ok_or_else(|| format!("the pack has no policy `{}`", declared.policy))?;
        let given = declared.settings(policy.info.level);
        let configs = reconcile(info, &given).map_err(|errors| errors.0.join("; "))?;
        if !configs.is_empty() {
            pack.configure(&configs).await.map_err(reason)?;
        }
        if let Some(expected) = declared.expect {
            let analysis = self.analysis(pack, policy.info.kind).await?;
            self.judged(&analysis, expected)?;
        }
        match (&declared.fixed, &declared.resource) {
            (Some(fixed), Some(subject)) => self.corrected(pack, subject, fixed).await,
            _ => Ok(()),
        }
    }

    async fn analysis(
        &self,
        pack: &dyn Analyzer,
        kind: Option<PolicyKind>,
    ) -> Result<Analysis, String> {
        let analysis = match (&self.declared.resource, kind) {
            (Some(_), Some(PolicyKind::Stack)) => {
                return Err("the policy is for stacks: list `resources`".to_owned());
            }
            (None, Some(PolicyKind::Resource)) => {
                return Err("the policy is for one `resource`".to_owned());
            }
            (Some(subject), _) => pack.analyze(&subject.analyzed()?).await,
            (None, _) => {
                let subjects = self.declared.resources.as_deref().unwrap_or_default();
                pack.analyze_stack(&stack(subjects)?).await
            }
        };
        analysis.map_err(reason)
    }

    /// Compares the verdict with the expected one.
    fn judged(&self, analysis: &Analysis, expected: Expected) -> Result<(), String> {
        let policy = self.declared.policy.as_str();
        let own = analysis.diagnostics.iter().filter(|it| it.policy == policy);
        let messages: Vec<&str> = own.map(|it| it.message.as_str()).collect();
        let is_unknown = |it: &&str| UNKNOWN_TEXTS.iter().any(|text| it.contains(text));
        let found = if messages.iter().any(is_unknown) {
            Expected::Unknown
        } else if !messages.is_empty() {
            Expected::Violation
        } else if analysis.not_applicable.iter().any(|it| it == policy) {
            Expected::NotApplicable
        } else {
            Expected::Pass
        };
        let value = messages.join("; ");
        if found != expected {
            let text = format!("expected {}, found {}", expected.text(), found.text());
            return Err(match value.as_str() {
                "" => text,
                value => format!("{text}: {value}"),
            });
        }
        match &self.declared.message {
            Some(text) if !value.contains(text.as_str()) => {
                Err(format!("expected a message with {text:?}, found {value:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Compares the properties after the correction with the expected ones.
    async fn corrected(
        &self,
        pack: &dyn Analyzer,
        subject: &Subject,
        fixed: &Map<String, Json>,
    ) -> Result<(), String> {
        let resource = subject.analyzed()?;
        let remedies = pack.remediate(&resource).await.map_err(reason)?;
        let remediations = remedies.remediations.into_iter();
        let mut properties = resource.properties.clone();
        for remediation in remediations.filter(|it| it.policy == self.declared.policy.as_str()) {
            match remediation.outcome {
                Remedy::Inputs(inputs) => properties = inputs,
                Remedy::Failed(reason) => return Err(reason.to_string()),
                Remedy::Nothing => {}
            }
        }
        let shown = |map: &PropertyMap| {
            let facts = crate::facts::plain_properties(map);
            Json::Object(facts).to_string()
        };
        let (wanted, found) = (shown(&map_of(fixed)), shown(&properties));
        if wanted == found {
            return Ok(());
        }
        Err(format!(
            "expected {wanted} after the correction, found {found}"
        ))
    }
}

/// A failed call, with its causes.
fn reason(error: AnalyzerError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl Subject {
    fn urn(&self) -> Result<Urn, String> {
        let name = self.name.as_deref().unwrap_or("test");
        Urn::parse(&format!("urn:pulumi:test::test::{}::{name}", self.r#type))
            .map_err(|error| error.to_string())
    }

    fn analyzed(&self) -> Result<AnalyzedResource, String> {
        let mut properties = map_of(&self.props);
        for path in &self.unknown {
            let parsed = PropertyPath::parse(path);
            let parsed = parsed.map_err(|error| format!("unknown: {path:?}: {error}"))?;
            parsed
                .set(&mut properties, Value::UNKNOWN)
                .map_err(|error| format!("unknown: {path:?}: {error}"))?;
        }
        let token = self.r#type.as_str();
        let package = token.split(':').next().unwrap_or_default();
        let provider = self.provider.as_ref().map(|properties| {
            let urn = format!("urn:pulumi:test::test::pulumi:providers:{package}::default");
            Ok::<_, String>(AnalyzedProvider {
                urn: Urn::parse(&urn).map_err(|error| error.to_string())?,
                properties: Arc::new(map_of(properties)),
            })
        });
        Ok(AnalyzedResource {
            urn: self.urn()?,
            type_token: TypeToken::new(token),
            properties: Arc::new(properties),
            options: AnalyzedOptions {
                protect: self.options.protect,
                ignore_changes: self
                    .options
                    .ignore_changes
                    .iter()
                    .map(|it| it.as_str().into())
                    .collect(),
                delete_before_replace: self.options.delete_before_replace,
                ..AnalyzedOptions::default()
            },
            provider: provider.transpose()?,
        })
    }
}

/// The resources of a stack. Parents and dependencies are named.
fn stack(subjects: &[Subject]) -> Result<Vec<StackResource>, String> {
    let mut urns = BTreeMap::new();
    for subject in subjects {
        urns.insert(subject.name.as_deref().unwrap_or("test"), subject.urn()?);
    }
    let named = |name: &String| {
        let urn = urns.get(name.as_str()).cloned();
        urn.ok_or_else(|| format!("there is no resource {name:?}"))
    };
    let resources = subjects.iter().map(|subject| {
        Ok(StackResource {
            resource: subject.analyzed()?,
            parent: subject.parent.as_ref().map(named).transpose()?,
            dependencies: subject
                .dependencies
                .iter()
                .map(named)
                .collect::<Result<_, String>>()?,
            property_dependencies: PropertyDependencies::default(),
        })
    });
    resources.collect()
}

fn map_of(json: &Map<String, Json>) -> PropertyMap {
    let members = json.iter();
    members
        .map(|(key, value)| (key.as_str().into(), value.into()))
        .collect()
}
