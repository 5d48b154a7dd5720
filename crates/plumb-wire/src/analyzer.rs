//! Messages of policy packs (`protocol.md` 11).

use std::collections::BTreeMap;
use std::sync::Arc;

use ecow::EcoString;
use plumb_proto::pulumirpc::{
    self as pb, AnalyzerPropertyDependencies, analyzer_resource_options::CustomTimeouts,
};
use plumb_resource::policy::{
    Analysis, AnalyzedOptions, AnalyzedProvider, AnalyzedResource, EnforcementLevel,
    PolicyDiagnostic, PolicyInfo, PolicyKind, PolicySeverity, Remediation, Remedies, Remedy,
    StackResource,
};
use plumb_resource::{PropertyDependencies, Urn};
use serde_json::{Map, Value as Json};

use crate::json::{json_from_wire, json_to_wire};
use crate::property::{decode_map, encode_map, peers};
use crate::urns::{optional_urn, urns};
use crate::{Error, MarshalOptions};

/// Description of a policy pack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnalyzerInfo {
    /// Name of the pack.
    pub name: EcoString,
    /// Version of the pack.
    pub version: EcoString,
    /// Whether the policies of the pack can be configured.
    pub supports_config: bool,
    /// Policies of the pack, sorted by name.
    pub policies: Vec<ConfigurablePolicy>,
    /// Default configuration by policy, which the user can override.
    pub initial_config: BTreeMap<EcoString, PolicyConfig>,
}

/// A policy and its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigurablePolicy {
    /// The policy.
    pub info: PolicyInfo,
    /// JSON schemas of its settings, by name.
    pub schemas: Map<String, Json>,
    /// Names of required settings.
    pub required: Vec<String>,
}

/// Configuration of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyConfig {
    /// Effect of a violation.
    pub level: EnforcementLevel,
    /// Settings of the policy.
    pub properties: Map<String, Json>,
}

/// Decodes the response of GetAnalyzerInfo.
pub fn analyzer_info(response: &pb::AnalyzerInfo) -> AnalyzerInfo {
    let policies = response.policies.iter();
    let mut policies: Vec<_> = policies.map(configurable_policy).collect();
    policies.sort_by(|left, right| left.info.name.cmp(&right.info.name));
    let initial = response.initial_config.iter();
    AnalyzerInfo {
        name: response.name.as_str().into(),
        version: response.version.as_str().into(),
        supports_config: response.supports_config,
        policies,
        initial_config: initial
            .map(|(name, config)| (name.as_str().into(), policy_config(config)))
            .collect(),
    }
}

fn configurable_policy(info: &pb::PolicyInfo) -> ConfigurablePolicy {
    let schema = info.config_schema.as_ref();
    let schemas = schema.and_then(|schema| schema.properties.as_ref());
    ConfigurablePolicy {
        info: PolicyInfo {
            name: info.name.as_str().into(),
            level: level(info.enforcement_level),
            kind: match info.policy_type() {
                pb::PolicyType::Resource => Some(PolicyKind::Resource),
                pb::PolicyType::Stack => Some(PolicyKind::Stack),
                pb::PolicyType::Unknown => None,
            },
            severity: severity(info.severity),
        },
        schemas: schemas.map(json_from_wire).unwrap_or_default(),
        required: schema
            .map(|schema| schema.required.clone())
            .unwrap_or_default(),
    }
}

fn policy_config(config: &pb::PolicyConfig) -> PolicyConfig {
    let properties = config.properties.as_ref();
    PolicyConfig {
        level: level(config.enforcement_level),
        properties: properties.map(json_from_wire).unwrap_or_default(),
    }
}

/// Encodes a Configure request.
pub fn configure_request(
    configs: &BTreeMap<EcoString, PolicyConfig>,
) -> pb::ConfigureAnalyzerRequest {
    let write = |(name, config): (&EcoString, &PolicyConfig)| {
        let config = pb::PolicyConfig {
            enforcement_level: level_number(config.level),
            properties: Some(json_to_wire(&config.properties)),
        };
        (name.to_string(), config)
    };
    pb::ConfigureAnalyzerRequest {
        policy_config: configs.iter().map(write).collect(),
    }
}

/// Encodes an Analyze request.
pub fn analyze_request(resource: &AnalyzedResource) -> Result<pb::AnalyzeRequest, Error> {
    request(resource, peers::ANALYZER)
}

/// Encodes a Remediate request.
pub fn remediate_request(resource: &AnalyzedResource) -> Result<pb::AnalyzeRequest, Error> {
    request(resource, peers::REMEDIATE)
}

fn request(
    resource: &AnalyzedResource,
    options: MarshalOptions,
) -> Result<pb::AnalyzeRequest, Error> {
    Ok(pb::AnalyzeRequest {
        r#type: resource.type_token.to_string(),
        properties: Some(encode_map(&resource.properties, options)?),
        urn: resource.urn.to_string(),
        name: resource.urn.name().to_owned(),
        options: Some(resource_options(&resource.options)),
        provider: provider(resource.provider.as_ref())?,
    })
}

/// Encodes an AnalyzeStack request.
pub fn analyze_stack_request(
    resources: &[StackResource],
) -> Result<pb::AnalyzeStackRequest, Error> {
    let resources = resources.iter().map(stack_resource);
    Ok(pb::AnalyzeStackRequest {
        resources: resources.collect::<Result<_, _>>()?,
    })
}

fn stack_resource(one: &StackResource) -> Result<pb::AnalyzerResource, Error> {
    let resource = &one.resource;
    Ok(pb::AnalyzerResource {
        r#type: resource.type_token.to_string(),
        properties: Some(encode_map(&resource.properties, peers::ANALYZER)?),
        urn: resource.urn.to_string(),
        name: resource.urn.name().to_owned(),
        options: Some(resource_options(&resource.options)),
        provider: provider(resource.provider.as_ref())?,
        parent: optional_urn(one.parent.as_ref()),
        dependencies: urns(&one.dependencies),
        property_dependencies: property_dependencies(&one.property_dependencies),
    })
}

/// Encodes property dependencies. Properties without dependencies are omitted.
fn property_dependencies(
    dependencies: &PropertyDependencies,
) -> BTreeMap<String, AnalyzerPropertyDependencies> {
    let some = dependencies.iter().filter(|(_, on)| !on.is_empty());
    some.map(|(key, on)| {
        (
            key.to_string(),
            AnalyzerPropertyDependencies { urns: urns(on) },
        )
    })
    .collect()
}

fn provider(
    provider: Option<&AnalyzedProvider>,
) -> Result<Option<pb::AnalyzerProviderResource>, Error> {
    let write = |provider: &AnalyzedProvider| {
        Ok(pb::AnalyzerProviderResource {
            r#type: provider.urn.type_token().to_string(),
            properties: Some(encode_map(&provider.properties, peers::ANALYZER)?),
            urn: provider.urn.to_string(),
            name: provider.urn.name().to_owned(),
        })
    };
    provider.map(write).transpose()
}

fn resource_options(options: &AnalyzedOptions) -> pb::AnalyzerResourceOptions {
    let limits = options.custom_timeouts;
    pb::AnalyzerResourceOptions {
        protect: options.protect,
        ignore_changes: options
            .ignore_changes
            .iter()
            .map(ToString::to_string)
            .collect(),
        delete_before_replace: options.delete_before_replace.unwrap_or(false),
        delete_before_replace_defined: options.delete_before_replace.is_some(),
        additional_secret_outputs: options
            .additional_secret_outputs
            .iter()
            .map(ToString::to_string)
            .collect(),
        aliases: urns(&options.aliases),
        custom_timeouts: Some(CustomTimeouts {
            create: limits.create,
            update: limits.update,
            delete: limits.delete,
            read: limits.read,
        }),
        parent: optional_urn(options.parent.as_ref()),
    }
}

/// Decodes the response of Analyze and AnalyzeStack.
pub fn analyze_response(response: &pb::AnalyzeResponse) -> Analysis {
    Analysis {
        diagnostics: response.diagnostics.iter().map(diagnostic).collect(),
        not_applicable: not_applicable(&response.not_applicable),
    }
}

fn diagnostic(diagnostic: &pb::AnalyzeDiagnostic) -> PolicyDiagnostic {
    PolicyDiagnostic {
        policy: diagnostic.policy_name.as_str().into(),
        message: diagnostic.message.as_str().into(),
        level: level(diagnostic.enforcement_level),
        severity: severity(diagnostic.severity),
        urn: Urn::parse(&diagnostic.urn).ok(),
    }
}

/// Decodes the response of Remediate. Properties that are secret in the resource become secret in the new inputs, because
/// packs may lose the marks of secrets.
pub fn remediate_response(
    response: &pb::RemediateResponse,
    resource: &AnalyzedResource,
) -> Result<Remedies, Error> {
    let remediations = response.remediations.iter().map(|remediation| {
        let outcome = if !remediation.diagnostic.is_empty() {
            Remedy::Failed(remediation.diagnostic.as_str().into())
        } else if let Some(properties) = &remediation.properties {
            let mut inputs = decode_map(Some(properties), peers::REMEDIATE)?;
            inputs.hide_like(&resource.properties);
            Remedy::Inputs(Arc::new(inputs))
        } else {
            Remedy::Nothing
        };
        Ok(Remediation {
            policy: remediation.policy_name.as_str().into(),
            outcome,
        })
    });
    Ok(Remedies {
        remediations: remediations.collect::<Result<_, Error>>()?,
        not_applicable: not_applicable(&response.not_applicable),
    })
}

fn not_applicable(policies: &[pb::PolicyNotApplicable]) -> Vec<EcoString> {
    let names = policies.iter().map(|policy| policy.policy_name.as_str());
    names.map(EcoString::from).collect()
}

/// Decodes an enforcement level. An unknown level counts as advisory, so that its violations are shown without failing the
/// operation.
fn level(number: i32) -> EnforcementLevel {
    match pb::EnforcementLevel::try_from(number) {
        Ok(pb::EnforcementLevel::Mandatory) => EnforcementLevel::Mandatory,
        Ok(pb::EnforcementLevel::Remediate) => EnforcementLevel::Remediate,
        Ok(pb::EnforcementLevel::Disabled) => EnforcementLevel::Disabled,
        Ok(pb::EnforcementLevel::Advisory) | Err(_) => EnforcementLevel::Advisory,
    }
}

fn level_number(level: EnforcementLevel) -> i32 {
    let level = match level {
        EnforcementLevel::Advisory => pb::EnforcementLevel::Advisory,
        EnforcementLevel::Mandatory => pb::EnforcementLevel::Mandatory,
        EnforcementLevel::Remediate => pb::EnforcementLevel::Remediate,
        EnforcementLevel::Disabled => pb::EnforcementLevel::Disabled,
    };
    level as i32
}

fn severity(number: i32) -> Option<PolicySeverity> {
    match pb::PolicySeverity::try_from(number) {
        Ok(pb::PolicySeverity::Low) => Some(PolicySeverity::Low),
        Ok(pb::PolicySeverity::Medium) => Some(PolicySeverity::Medium),
        Ok(pb::PolicySeverity::High) => Some(PolicySeverity::High),
        Ok(pb::PolicySeverity::Critical) => Some(PolicySeverity::Critical),
        Ok(pb::PolicySeverity::Unspecified) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use plumb_proto::prost_types::Struct;
    use plumb_resource::TypeToken;
    use plumb_value::{PropertyMap, Value};

    use super::*;

    fn urn(name: &str) -> Urn {
        Urn::parse(&format!("urn:pulumi:s::p::a:b:C::{name}")).unwrap()
    }

    fn resource(properties: PropertyMap) -> AnalyzedResource {
        AnalyzedResource {
            urn: urn("it"),
            type_token: TypeToken::new("a:b:C"),
            properties: Arc::new(properties),
            options: AnalyzedOptions {
                protect: true,
                delete_before_replace: Some(false),
                custom_timeouts: plumb_resource::CustomTimeouts {
                    create: 90.0,
                    ..Default::default()
                },
                parent: Some(urn("parent")),
                ..Default::default()
            },
            provider: Some(AnalyzedProvider {
                urn: Urn::parse("urn:pulumi:s::p::pulumi:providers:a::mine").unwrap(),
                properties: Arc::new(PropertyMap::new().with("region", "here")),
            }),
        }
    }

    fn properties() -> PropertyMap {
        PropertyMap::new()
            .with("__internal", "engine")
            .with("key", Value::secret("s".into()))
            .with("later", Value::UNKNOWN)
    }

    fn keys(map: Option<&Struct>) -> Vec<&str> {
        let fields = &map.unwrap().fields;
        fields.keys().map(String::as_str).collect()
    }

    #[test]
    fn a_resource_is_sent_with_its_options_and_its_provider() {
        let message = analyze_request(&resource(properties())).unwrap();
        assert_eq!(
            (message.r#type.as_str(), message.name.as_str()),
            ("a:b:C", "it")
        );
        let options = message.options.unwrap();
        assert!(options.protect && options.delete_before_replace_defined);
        assert!(!options.delete_before_replace);
        let limits = CustomTimeouts {
            create: 90.0,
            ..Default::default()
        };
        assert_eq!(options.custom_timeouts, Some(limits));
        assert_eq!(options.parent, urn("parent").to_string());
        let provider = message.provider.unwrap();
        assert_eq!(
            (provider.r#type.as_str(), provider.name.as_str()),
            ("pulumi:providers:a", "mine")
        );
    }

    #[test]
    fn judges_do_not_see_what_is_the_engines_and_remediations_keep_it() {
        let resource = resource(properties());
        let judged = analyze_request(&resource).unwrap();
        assert_eq!(keys(judged.properties.as_ref()), ["key", "later"]);
        let remediated = remediate_request(&resource).unwrap();
        assert_eq!(
            keys(remediated.properties.as_ref()),
            ["__internal", "key", "later"]
        );
        let answer = pb::RemediateResponse {
            remediations: vec![pb::Remediation {
                policy_name: "remediate".to_owned(),
                properties: remediated.properties,
                ..Default::default()
            }],
            not_applicable: Vec::new(),
        };
        let remedies = remediate_response(&answer, &resource).unwrap();
        let Remedy::Inputs(inputs) = &remedies.remediations[0].outcome else {
            panic!("{remedies:?}");
        };
        assert_eq!(**inputs, properties());
    }

    #[test]
    fn properties_without_dependencies_are_left_out_for_stacks() {
        let dependencies = PropertyDependencies::from_iter([
            ("a".into(), [urn("other")].into()),
            ("b".into(), [].into()),
        ]);
        let one = StackResource {
            resource: resource(PropertyMap::new()),
            parent: Some(urn("parent")),
            dependencies: [urn("other")].into(),
            property_dependencies: dependencies,
        };
        let message = analyze_stack_request(&[one]).unwrap();
        let sent = &message.resources[0];
        assert_eq!(sent.parent, urn("parent").to_string());
        assert_eq!(sent.dependencies, [urn("other").to_string()]);
        let by_key: Vec<&String> = sent.property_dependencies.keys().collect();
        assert_eq!(by_key, ["a"]);
    }

    #[test]
    fn policies_are_sorted_and_unknown_numbers_are_harmless() {
        let policy = |name: &str, level, kind, severity| pb::PolicyInfo {
            name: name.to_owned(),
            enforcement_level: level,
            policy_type: kind,
            severity,
            ..Default::default()
        };
        let info = analyzer_info(&pb::AnalyzerInfo {
            name: "pack".to_owned(),
            policies: vec![policy("z", 3, 2, 4), policy("a", 77, 77, 77)],
            ..Default::default()
        });
        let policies: Vec<PolicyInfo> = info.policies.into_iter().map(|it| it.info).collect();
        let expected = |name: &str, level, kind, severity| PolicyInfo {
            name: name.into(),
            level,
            kind,
            severity,
        };
        assert_eq!(
            policies,
            [
                expected("a", EnforcementLevel::Advisory, None, None),
                expected(
                    "z",
                    EnforcementLevel::Remediate,
                    Some(PolicyKind::Stack),
                    Some(PolicySeverity::Critical)
                ),
            ]
        );
    }
}
