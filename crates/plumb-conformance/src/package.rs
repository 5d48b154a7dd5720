//! Checks of a package as a whole.

use std::sync::Arc;

use plumb_plugin::Provider;
use plumb_resource::provider::{
    CheckConfigRequest, ConfigureRequest, DiffChanges, DiffRequest, InvokeRequest,
};
use plumb_resource::{ResourceId, TypeToken};

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
    // A schema need not say a version; the plugin's counts.
    let differs = schema.version().is_some() && schema.version() != info.version.as_ref();
    let (own, in_schema) = (shown(info.version.as_ref()), shown(schema.version()));
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
