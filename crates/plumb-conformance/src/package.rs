//! Checks of a package as a whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_resource::provider::{
    CheckConfigRequest, ConfigureRequest, DiffChanges, DiffRequest, InvokeRequest,
};
use plumb_resource::{ResourceId, TypeToken};
use plumb_schema::PackageSchema;

use crate::finding::{Findings, Rule};
use crate::resource::check_request;
use crate::{Target, urn};

/// Checks what the provider says of itself, and configures it; returns whether it is configured.
pub(crate) async fn check(target: Target<'_>, findings: &mut Findings) -> bool {
    findings.subject(target.schema.name());
    info(target, findings).await;
    configure(target, findings).await
}

async fn info(target: Target<'_>, findings: &mut Findings) {
    let Target {
        provider, schema, ..
    } = target;
    let answer = provider.info().await;
    let Some(info) = findings.answer(Rule::Info, "GetPluginInfo", answer) else {
        return;
    };
    let shown = |version: Option<&semver::Version>| {
        version.map_or_else(|| "no version".to_owned(), ToString::to_string)
    };
    // The package of a parameter has a version of its own; the plugin's is that of the provider behind it.
    let declared = match schema.parameterization() {
        Some(parameterization) => {
            let base = parameterization.base_version.as_deref();
            base.and_then(|it| semver::Version::parse(it).ok())
        }
        None => schema.version().cloned(),
    };
    // A schema need not say a version; the plugin's counts.
    let differs = declared.is_some() && declared != info.version;
    let (own, in_schema) = (shown(info.version.as_ref()), shown(declared.as_ref()));
    let problem = differs.then(|| format!("the plugin says {own}, and its schema {in_schema}"));
    findings.judge(Rule::Info, problem);
}

async fn configure(target: Target<'_>, findings: &mut Findings) -> bool {
    let Target {
        provider,
        schema,
        options,
    } = target;
    const RULE: Rule = Rule::Configure;
    let urn = urn(TypeToken::provider_of(schema.name()).as_str());
    let given = Arc::new(options.config.clone());
    let checked = provider.check_config(CheckConfigRequest {
        urn: urn.clone(),
        old_inputs: None,
        new_inputs: given.clone(),
        allow_unknowns: false,
    });
    let Some(checked) = findings.answer(RULE, "CheckConfig", checked.await) else {
        return false;
    };
    if let Some(failure) = checked.failures.first() {
        findings.skip(
            RULE,
            format!(
                "the configuration lacks something: {} {}",
                failure.property, failure.reason
            ),
        );
        return false;
    }
    let inputs = checked.inputs.unwrap_or(given);
    let compared = provider.diff_config(DiffRequest {
        urn: urn.clone(),
        id: ResourceId::from_text("checked"),
        old_inputs: inputs.clone(),
        old_outputs: inputs.clone(),
        new_inputs: inputs.clone(),
        allow_unknowns: false,
        ignore_changes: [].into(),
    });
    let Some(difference) = findings.answer(RULE, "DiffConfig", compared.await) else {
        return false;
    };
    let configured = provider.configure(ConfigureRequest {
        urn,
        id: ResourceId::from_text("checked"),
        inputs,
    });
    if findings
        .answer(RULE, "Configure", configured.await)
        .is_none()
    {
        return false;
    }
    let replaces = difference.changes == DiffChanges::Some || difference.is_replace();
    let text = || "DiffConfig finds a difference between equal configurations".to_owned();
    findings.judge(RULE, replaces.then(text));
    true
}

/// Checks calls for types and functions that the package does not have, and that the plugin survives them.
pub(crate) async fn check_strangers(
    provider: &dyn Provider,
    package: &str,
    findings: &mut Findings,
) {
    let token = format!("{package}:index:ThereIsNoSuchThing");
    let checked = provider
        .check(check_request(&token, None, Arc::default(), false))
        .await;
    let is_accepted = checked.is_ok_and(|it| it.failures.is_empty());
    let text = |call: &str| format!("{call} of {token} succeeds");
    findings.judge(Rule::UnknownType, is_accepted.then(|| text("Check")));
    let invoked = provider
        .invoke(InvokeRequest {
            token: TypeToken::new(&token),
            args: Arc::default(),
            preview: false,
        })
        .await;
    let is_accepted = invoked.is_ok_and(|it| it.failures.is_empty());
    findings.judge(Rule::UnknownFunction, is_accepted.then(|| text("Invoke")));
    let info = provider.info().await;
    if findings
        .answer(Rule::Alive, "GetPluginInfo", info)
        .is_some()
    {
        findings.judge(Rule::Alive, None);
    }
}

/// Checks that a package of a parameter is the same one again: the provider has it from the value in the schema.
pub(crate) async fn check_parameter(target: Target<'_>, findings: &mut Findings) {
    let Some(version) = target.schema.version() else {
        return;
    };
    if target.schema.parameterization().is_none() {
        return;
    }
    let (name, version) = (target.schema.name(), version.to_string());
    let again = target.provider.get_schema(Some((name, &version))).await;
    let Some(text) = findings.answer(Rule::Parameterize, "GetSchema", again) else {
        return;
    };
    let again = text.map(|it| PackageSchema::parse(Arc::<str>::from(it)));
    let problem = match again {
        None => Some("there is no schema for the parameter".to_owned()),
        Some(Err(error)) => Some(format!("the schema for the parameter is broken: {error}")),
        Some(Ok(again)) => difference(target.schema, &again),
    };
    findings.judge(Rule::Parameterize, problem);
}

fn difference(schema: &PackageSchema, again: &PackageSchema) -> Option<String> {
    let tokens = |of: &PackageSchema| -> BTreeSet<String> {
        let all = of.resource_tokens().chain(of.function_tokens());
        all.map(str::to_owned).collect()
    };
    let parameter = |of: &PackageSchema| of.parameterization().map(|it| it.parameter.clone());
    let is_same = tokens(schema) == tokens(again) && parameter(schema) == parameter(again);
    let text = || "the parameter in the schema makes another package".to_owned();
    (!is_same).then(text)
}

/// Checks the mappings for programs in Terraform's language.
pub(crate) async fn check_mappings(provider: &dyn Provider, findings: &mut Findings) {
    const ECOSYSTEM: &str = "terraform";
    let answer = provider.get_mappings(ECOSYSTEM).await;
    let Some(packages) = findings.answer(Rule::Mappings, "GetMappings", answer) else {
        return;
    };
    for package in packages.unwrap_or_default() {
        let answer = provider.get_mapping(ECOSYSTEM, &package).await;
        let Some(mapping) = findings.answer(Rule::Mappings, "GetMapping", answer) else {
            return;
        };
        if mapping.is_none_or(|it| it.data.is_empty()) {
            let text = format!("GetMapping has nothing for {package}");
            findings.judge(Rule::Mappings, Some(text));
            return;
        }
    }
    findings.judge(Rule::Mappings, None);
}
