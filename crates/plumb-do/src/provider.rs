//! Provider of a command, with its configuration.

use std::sync::Arc;

use plumb_operate::context::{ConfigCheck, IfMissing, StateFallback};
use plumb_operate::{Context, Error};
use plumb_plugin::{PluginHost, Provider};
use plumb_project::config::Key;
use plumb_resource::provider::{
    CheckConfigRequest, CheckFailure, ConfigureRequest, PluginSpec, ProviderError,
};
use plumb_resource::{ResourceId, TypeToken, Urn};
use plumb_state::Snapshot;
use plumb_value::{PropertyMap, Value};
use uuid::Uuid;

use super::ask::Asked;
use super::inputs::{Completeness, Format, Source, evaluate};
use super::package::Package;
use super::shape::Side;

/// Inputs of provider resources that are internal to the engine.
const OWN_KEYS: [&str; 3] = ["__internal", "version", "pluginDownloadURL"];

/// Stack and project for providers outside of a deployment.
pub(super) const NO_STACK: (&str, &str) = ("dev", "default");

/// Error for a failed provider call.
pub(super) fn failed(error: ProviderError) -> Error {
    let mut text = error.message.to_string();
    add_failures(&mut text, &error.properties);
    Error::user(text)
}

/// Error for invalid inputs, each with its property.
pub(super) fn invalid(what: &str, failures: &[CheckFailure]) -> Result<(), Error> {
    if failures.is_empty() {
        return Ok(());
    }
    let mut text = format!("{what} failed validation:");
    add_failures(&mut text, failures);
    Err(Error::user(text))
}

fn add_failures(text: &mut String, failures: &[CheckFailure]) {
    for failure in failures {
        text.push_str("\n- ");
        if !failure.property.is_empty() {
            text.push_str(&failure.property);
            text.push_str(": ");
        }
        text.push_str(&failure.reason);
    }
}

/// Starts and configures the provider. Flags take precedence over the file, and the file over the inputs of the resource
/// named by `--provider`, or else the selected stack's settings.
pub(super) fn configured(
    package: &mut Package,
    asked: &Asked,
    ctx: &Context,
) -> Result<Arc<dyn Provider>, Error> {
    let mut config = match &asked.provider_urn {
        Some(urn) => inputs_in_stack(package.schema.name(), urn, ctx)
            .map_err(|error| error.context("--provider"))?,
        None => settings_of_stack(package.schema.name(), ctx)?,
    };
    let source = Source {
        side: Side::Provider,
        package: package.schema.name(),
        file: asked.provider_file.as_deref(),
        format: Format::named(asked.format.as_deref())?,
        given: &asked.provider,
    };
    let body = source.body(ctx)?;
    let completeness = if config.is_empty() {
        Completeness::Whole
    } else {
        Completeness::Part
    };
    let (schema, spec) = (package.schema.clone(), package.spec.clone());
    let info = package.standalone_host.info().clone();
    let host = package.standalone_host.host();
    let known = package.standalone_host.secrets();
    package.standalone_host.run(async {
        let declared = schema.provider()?;
        let properties = &declared.input_properties;
        let said = evaluate(
            &body,
            Side::Provider,
            &schema,
            properties,
            completeness,
            &info,
        )
        .await?;
        for (name, value) in said.iter() {
            config.insert(name.clone(), value.clone());
        }
        known.learn(&config);
        start(&host, &spec, schema.name(), config).await
    })
}

async fn start(
    host: &PluginHost,
    spec: &PluginSpec,
    package: &str,
    config: PropertyMap,
) -> Result<Arc<dyn Provider>, Error> {
    let provider = host.provider(spec).await?;
    let token = TypeToken::provider_of(package);
    let (stack, project) = NO_STACK;
    let urn = Urn::new(stack, project, "", token.as_str(), "default");
    let new_inputs = Arc::new(config);
    let request = CheckConfigRequest {
        urn: urn.clone(),
        old_inputs: None,
        new_inputs: new_inputs.clone(),
        allow_unknowns: false,
    };
    let configuring = |error| failed(error).context("configure provider");
    let checked = provider.check_config(request).await.map_err(configuring)?;
    invalid("provider configuration", &checked.failures)?;
    let request = ConfigureRequest {
        urn,
        id: ResourceId::from_text(&Uuid::new_v4().to_string()),
        inputs: checked.inputs.unwrap_or(new_inputs),
    };
    provider.configure(request).await.map_err(configuring)?;
    Ok(provider)
}

/// Settings of the selected stack for the package, as for a default provider. Decrypts nothing if there are none.
fn settings_of_stack(package: &str, ctx: &Context) -> Result<PropertyMap, Error> {
    let mut config = PropertyMap::new();
    let Some(project) = ctx.find_project()? else {
        return Ok(config);
    };
    // An unreadable backend is not an error, because most providers get their settings from elsewhere.
    let Some(stack) = ctx.selected_stack().ok().flatten() else {
        return Ok(config);
    };
    let settings = ctx.stack_settings(&stack, None)?;
    let is_meant = |key: &Key| key.namespace() == package;
    let in_settings = settings.file.config();
    let in_settings = in_settings.iter().any(|(key, _)| is_meant(key));
    if !in_settings && !project.project.config.keys().any(is_meant) {
        return Ok(config);
    }
    let recorded = ctx.load_state(&stack)?;
    let fallback = StateFallback::Always;
    let secrets = ctx.stack_secrets(&settings, &stack, recorded.provider(), fallback)?;
    let skipped = ConfigCheck::Skipped;
    let values = ctx.config_with_defaults(&stack, &settings, &secrets, skipped)?;
    for (key, value) in values.iter().filter(|(key, _)| is_meant(key)) {
        let text = value.try_reveal(&mut |ciphertext| {
            let plain = secrets.decrypt(ciphertext);
            plain.map(|text| text.expose().to_owned())
        })?;
        let plain = Value::from(text);
        let value = if value.is_secret() {
            Value::secret(plain)
        } else {
            plain
        };
        config.insert(key.name(), value);
    }
    Ok(config)
}

/// Inputs of a provider resource in the selected stack.
fn inputs_in_stack(package: &str, urn: &str, ctx: &Context) -> Result<PropertyMap, Error> {
    if ctx.find_project()?.is_none() {
        return Err(Error::user(
            "there is no stack whose providers could be meant: a project must be present and a stack selected",
        ));
    }
    let stack = ctx.require_stack(None, IfMissing::Fail)?;
    let snapshot = ctx.decrypt_state(&ctx.load_state(&stack)?)?;
    find_inputs(&snapshot, package, urn)
}

/// Inputs of the provider resource `urn`, without the engine's internal ones.
pub(super) fn find_inputs(
    snapshot: &Snapshot,
    package: &str,
    urn: &str,
) -> Result<PropertyMap, Error> {
    let mut live = snapshot.resources.iter().filter(|state| !state.delete);
    let Some(state) = live.find(|state| state.urn.as_str() == urn) else {
        return Err(Error::user(format!(
            "no resource named {urn} in the current stack"
        )));
    };
    match state.type_token.provided_package() {
        Some(provided) if provided == package => {}
        Some(_) => {
            return Err(Error::user(format!(
                "resource {urn} is a provider for a different package (type={}); it must be one of {package}",
                state.type_token
            )));
        }
        None => {
            return Err(Error::user(format!(
                "resource {urn} is not a provider (type={})",
                state.type_token
            )));
        }
    }
    let inputs = state.inputs.iter();
    let inputs = inputs.filter(|(name, _)| !OWN_KEYS.contains(&name.to_text().as_str()));
    Ok(inputs
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect())
}
