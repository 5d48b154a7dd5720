//! How the facts about a plugin are laid out in the inputs of its provider resource (`engine.md` 3.2).
//!
//! Root keys are the provider's own configuration and `version`; everything else that the engine must remember is in the
//! object `__internal`, which never reaches the plugin. Older states keep those keys at the root.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ecow::EcoString;
use plumb_resource::ResourceState;
use plumb_resource::provider::{CheckFailure, Parameterization, PluginSpec};
use plumb_value::{PropertyMap, Value};

/// The engine's own key.
pub(crate) const INTERNAL: &str = "__internal";
const VERSION: &str = "version";

/// Writes `spec` into `inputs`.
pub(crate) fn write(inputs: &mut PropertyMap, spec: &PluginSpec) {
    let mut internal = inputs.get(INTERNAL).and_then(Value::as_object).cloned();
    let set = |internal: &mut Option<PropertyMap>, key: &str, value: Value| {
        internal.get_or_insert_default().insert(key, value);
    };
    if let Some(parameter) = &spec.parameterization {
        inputs.insert(VERSION, parameter.version.clone());
        set(&mut internal, "name", spec.name.clone().into());
        if let Some(version) = &spec.version {
            set(&mut internal, VERSION, version.to_string().into());
        }
        set(
            &mut internal,
            "parameterization",
            STANDARD.encode(&parameter.value).into(),
        );
    } else if let Some(version) = &spec.version {
        inputs.insert(VERSION, version.to_string());
        internal.get_or_insert_default();
    }
    if let Some(url) = &spec.download_url {
        set(&mut internal, "pluginDownloadURL", url.clone().into());
    }
    if !spec.checksums.is_empty() {
        set(&mut internal, "pluginChecksums", text_map(&spec.checksums));
    }
    if !spec.env_var_mappings.is_empty() {
        set(
            &mut internal,
            "envVarMappings",
            text_map(&spec.env_var_mappings),
        );
    }
    if let Some(internal) = internal {
        inputs.insert(INTERNAL, internal);
    }
}

/// The inputs that the plugin may see.
pub(crate) fn without_internal(inputs: &Arc<PropertyMap>) -> Arc<PropertyMap> {
    if !inputs.contains_key(INTERNAL) {
        return inputs.clone();
    }
    let mut visible = inputs.as_ref().clone();
    visible.remove(INTERNAL);
    Arc::new(visible)
}

/// The outputs of a provider resource: its inputs, where an old state has recorded none (PULUMI-25).
pub(crate) fn outputs_of(provider: &ResourceState) -> Arc<PropertyMap> {
    if provider.outputs.is_empty() {
        without_internal(&provider.inputs)
    } else {
        provider.outputs.clone()
    }
}

/// The plugin that a provider resource names; none if it is no provider, or malformed.
pub fn plugin_of(provider: &ResourceState) -> Option<PluginSpec> {
    let package = provider.type_token.provided_package()?;
    read(package, &provider.inputs).ok()
}

/// Reads the plugin of `package` out of `inputs`, or says what is malformed.
pub(crate) fn read(package: &str, inputs: &PropertyMap) -> Result<PluginSpec, CheckFailure> {
    let internal = inputs.get(INTERNAL).map(Value::without_secrets);
    let internal = internal.as_ref().and_then(Value::as_object);
    // States written before `__internal` keep these keys at the root.
    let own = |key: &str| match internal {
        Some(internal) => internal.get(key),
        None => inputs.get(key),
    };
    let package_version = text(VERSION, inputs.get(VERSION))?;
    let parameter = text("parameter", own("parameterization"))?;
    let plugin_name = internal.and_then(|internal| internal.get("name"));
    let Some(parameter) = parameter else {
        return Ok(PluginSpec {
            name: package.into(),
            version: version(VERSION, package_version)?,
            download_url: text("pluginDownloadURL", own("pluginDownloadURL"))?,
            checksums: texts("pluginChecksums", own("pluginChecksums"))?,
            parameterization: None,
            env_var_mappings: texts("envVarMappings", own("envVarMappings"))?,
        });
    };
    let value = STANDARD
        .decode(parameter.as_bytes())
        .map_err(|_| malformed("parameter", "'parameterization' must be base64 text"))?;
    Ok(PluginSpec {
        name: text("name", plugin_name)?.unwrap_or_else(|| package.into()),
        version: version(
            VERSION,
            text(VERSION, internal.and_then(|internal| internal.get(VERSION)))?,
        )?,
        download_url: text("pluginDownloadURL", own("pluginDownloadURL"))?,
        checksums: texts("pluginChecksums", own("pluginChecksums"))?,
        parameterization: Some(Parameterization {
            name: package.into(),
            version: package_version.unwrap_or_default(),
            value: value.into(),
        }),
        env_var_mappings: texts("envVarMappings", own("envVarMappings"))?,
    })
}

fn text_map(entries: &BTreeMap<EcoString, EcoString>) -> Value {
    let map: PropertyMap = entries
        .iter()
        .map(|(key, value)| (key.clone().into(), Value::String(value.clone())))
        .collect();
    map.into()
}

fn text(property: &str, value: Option<&Value>) -> Result<Option<EcoString>, CheckFailure> {
    match value.map(Value::without_secrets) {
        None | Some(Value::Null | Value::Computed(_)) => Ok(None),
        Some(Value::String(text)) => Ok((!text.is_empty()).then_some(text)),
        Some(_) => Err(malformed(
            property,
            &format!("'{property}' must be a string"),
        )),
    }
}

fn texts(
    property: &str,
    value: Option<&Value>,
) -> Result<BTreeMap<EcoString, EcoString>, CheckFailure> {
    let Some(value) = value else {
        return Ok(BTreeMap::new());
    };
    let wrong = || malformed(property, &format!("'{property}' must be a map of strings"));
    let map = value.as_object().ok_or_else(wrong)?;
    map.iter()
        .map(|(key, value)| Ok((key.to_text(), value.as_str().ok_or_else(wrong)?.into())))
        .collect()
}

fn version(
    property: &str,
    text: Option<EcoString>,
) -> Result<Option<semver::Version>, CheckFailure> {
    let Some(text) = text else { return Ok(None) };
    semver::Version::parse(text.strip_prefix('v').unwrap_or(&text))
        .map(Some)
        .map_err(|error| {
            malformed(
                property,
                &format!("could not parse provider version: {error}"),
            )
        })
}

fn malformed(property: &str, reason: &str) -> CheckFailure {
    CheckFailure {
        property: property.into(),
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_makes_an_internal_object_and_nothing_makes_nothing() {
        let mut inputs = PropertyMap::new();
        write(&mut inputs, &PluginSpec::named("random"));
        assert!(inputs.is_empty());
        let spec = PluginSpec {
            version: Some(semver::Version::new(1, 2, 3)),
            ..PluginSpec::named("random")
        };
        write(&mut inputs, &spec);
        assert_eq!(inputs.get(VERSION), Some(&Value::from("1.2.3")));
        assert_eq!(inputs.get(INTERNAL), Some(&PropertyMap::new().into()));
        assert_eq!(read("random", &inputs), Ok(spec));
    }

    #[test]
    fn a_parameterized_plugin_is_read_back() {
        let spec = PluginSpec {
            name: "base".into(),
            version: Some(semver::Version::new(1, 0, 0)),
            download_url: Some("http://example.com".into()),
            checksums: [("linux-amd64".into(), "00ff".into())].into(),
            parameterization: Some(Parameterization {
                name: "sub".into(),
                version: "0.5.0".into(),
                value: Arc::from(&b"x"[..]),
            }),
            env_var_mappings: [("NEW".into(), "OLD".into())].into(),
        };
        let mut inputs = PropertyMap::new();
        write(&mut inputs, &spec);
        assert_eq!(inputs.get(VERSION), Some(&Value::from("0.5.0")));
        assert_eq!(read("sub", &inputs), Ok(spec));
        assert!(without_internal(&Arc::new(inputs)).get(INTERNAL).is_none());
    }

    /// PROV-26: states written before `__internal`.
    #[test]
    fn older_states_keep_the_keys_at_the_root() {
        let inputs = PropertyMap::new()
            .with("version", "1.0.0")
            .with("pluginDownloadURL", "http://example.com");
        let spec = read("random", &inputs).unwrap();
        assert_eq!(spec.download_url.as_deref(), Some("http://example.com"));
    }
}
