//! The setting `pulumi:autonaming`: names of resources that the program does not name (`engine.md` 8.4).

use std::collections::BTreeMap;

use plumb_deploy::autonaming::{Naming, NamingRules, PackageNaming};
use plumb_project::config::{ConfigMap, Key, KeyPath, Value};
use serde::Deserialize;

use crate::Error;

const KEY: &str = "pulumi:autonaming";

/// Values that patterns may refer to, besides those of the resource.
pub(super) struct Place<'a> {
    pub(super) organization: &'a str,
    pub(super) project: &'a str,
    pub(super) stack: &'a str,
    pub(super) config: &'a ConfigMap,
    /// Decrypts secrets of the configuration.
    pub(super) decrypt: &'a dyn Fn(&str) -> Result<String, Error>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GeneralSection {
    mode: Option<String>,
    pattern: Option<String>,
    enforce: Option<bool>,
    #[serde(default)]
    providers: BTreeMap<String, PackageSection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PackageSection {
    mode: Option<String>,
    pattern: Option<String>,
    enforce: Option<bool>,
    #[serde(default)]
    resources: BTreeMap<String, TypeSection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeSection {
    mode: Option<String>,
    pattern: Option<String>,
    enforce: Option<bool>,
}

/// Fields common to all sections.
struct Rule<'a> {
    mode: Option<&'a str>,
    pattern: Option<&'a str>,
    enforce: Option<bool>,
}

/// Naming rules in the settings of a stack.
pub(super) fn rules(place: &Place<'_>) -> Result<NamingRules, Error> {
    read(place).map_err(|error| error.context("getting autonaming config"))
}

fn read(place: &Place<'_>) -> Result<NamingRules, Error> {
    let Some(value) = place.config.get(&Key::parse(KEY)?) else {
        return Ok(NamingRules::default());
    };
    let section =
        parse(place, value).map_err(|error| error.context("failed to parse autonaming config"))?;
    let general = Rule {
        mode: section.mode.as_deref(),
        pattern: section.pattern.as_deref(),
        enforce: section.enforce,
    };
    let general = resolve(place, &general)
        .map_err(|error| error.context("failed to resolve root naming config"))?;
    let mut packages = BTreeMap::new();
    for (name, section) in &section.providers {
        packages.insert(name.as_str().into(), package(place, name, section)?);
    }
    Ok(NamingRules {
        general: general.unwrap_or_default(),
        packages,
    })
}

fn parse(place: &Place<'_>, value: &Value) -> Result<GeneralSection, Error> {
    let malformed =
        |what: String| Error::user(format!("invalid autonaming config structure: {what}"));
    if !matches!(value, Value::Object(_)) {
        return Err(malformed(
            "a map is expected; set its parts with `plumb config set --path`".to_owned(),
        ));
    }
    let text = value.try_reveal(&mut |ciphertext| (place.decrypt)(ciphertext))?;
    serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))
}

fn package(
    place: &Place<'_>,
    name: &str,
    section: &PackageSection,
) -> Result<PackageNaming, Error> {
    let rule = Rule {
        mode: section.mode.as_deref(),
        pattern: section.pattern.as_deref(),
        enforce: section.enforce,
    };
    let general = resolve(place, &rule).map_err(|error| {
        error.context(format_args!(
            "failed to resolve naming config for provider {name:?}"
        ))
    })?;
    let mut types = BTreeMap::new();
    for (token, section) in &section.resources {
        let rule = Rule {
            mode: section.mode.as_deref(),
            pattern: section.pattern.as_deref(),
            enforce: section.enforce,
        };
        let naming = resolve(place, &rule).map_err(|error| {
            error.context(format_args!(
                "failed to resolve naming config for resource {token:?}"
            ))
        })?;
        let naming = naming.ok_or_else(|| {
            Error::user(format!(
                "mode or pattern must be specified for resource {token:?}"
            ))
        })?;
        types.insert(token.as_str().into(), naming);
    }
    Ok(PackageNaming { general, types })
}

/// Naming of a section; `None` if the section is empty.
fn resolve(place: &Place<'_>, rule: &Rule<'_>) -> Result<Option<Naming>, Error> {
    let refused = |text: &str| Err(Error::user(text));
    Ok(Some(match (rule.mode, rule.pattern, rule.enforce) {
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
            return refused("cannot specify both mode and pattern/enforce");
        }
        (None, None, Some(_)) => return refused("pattern must be specified when enforce is true"),
        (None, None, None) => return Ok(None),
        (None, Some(pattern), enforce) => Naming::Pattern {
            pattern: about_stack(place, pattern)?.into(),
            is_enforced: enforce.unwrap_or(false),
        },
        (Some("default"), None, None) => Naming::Provider,
        (Some("verbatim"), None, None) => Naming::Verbatim,
        (Some("disabled"), None, None) => Naming::Disabled,
        (Some(mode), None, None) => {
            return Err(Error::user(format!("invalid naming mode: {mode}")));
        }
    }))
}

/// Pattern with the placeholders filled in that are the same for all resources.
fn about_stack(place: &Place<'_>, pattern: &str) -> Result<String, Error> {
    const OPENING: &str = "${config.";
    let text = pattern
        .replace("${organization}", place.organization)
        .replace("${project}", place.project)
        .replace("${stack}", place.stack);
    let mut result = String::new();
    let mut rest = text.as_str();
    while let Some((before, found)) = rest.split_once(OPENING) {
        result.push_str(before);
        match found.split_once('}') {
            Some((key, after)) if !key.is_empty() => {
                result.push_str(&setting(place, key)?);
                rest = after;
            }
            _ => {
                result.push_str(OPENING);
                rest = found;
            }
        }
    }
    result.push_str(rest);
    Ok(result)
}

fn setting(place: &Place<'_>, key: &str) -> Result<String, Error> {
    let path = KeyPath::parse(key, place.project)?;
    let value = place
        .config
        .get_path(&path)
        .ok_or_else(|| Error::user(format!("no value found for key {key:?}")))?;
    value.try_reveal(&mut |ciphertext| (place.decrypt)(ciphertext))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_of(settings: serde_json::Value) -> Result<NamingRules, String> {
        let serde_json::Value::Object(settings) = settings else {
            panic!("settings are a map");
        };
        let config = ConfigMap::from_json(&settings).unwrap();
        let place = Place {
            organization: "organization",
            project: "proj",
            stack: "dev",
            config: &config,
            decrypt: &|ciphertext| Ok(format!("plain {ciphertext}")),
        };
        rules(&place).map_err(|error| error.text().unwrap_or_default())
    }

    fn naming(section: serde_json::Value) -> Result<NamingRules, String> {
        rules_of(serde_json::json!({
            KEY: section,
            "proj:where": "here",
            "proj:deep": {"list": [1, {"secure": "hush"}]},
        }))
    }

    #[test]
    fn sections_inherit_and_patterns_are_filled_in() {
        let rules = naming(serde_json::json!({
            "pattern": "${organization}-${project}-${stack}-${name}-${hex(4)}",
            "providers": {
                "aws": {
                    "resources": {
                        "aws:s3/bucket:Bucket": {"pattern": "${config.where}-${config.deep.list[1]}", "enforce": true},
                        "aws:s3/object:Object": {"mode": "disabled"},
                    },
                },
                "gcp": {"mode": "verbatim"},
            },
        }))
        .unwrap();
        let pattern = |pattern: &str, is_enforced| Naming::Pattern {
            pattern: pattern.into(),
            is_enforced,
        };
        assert_eq!(
            rules.general,
            pattern("organization-proj-dev-${name}-${hex(4)}", false)
        );
        let aws = &rules.packages["aws"];
        assert_eq!(aws.general, None);
        assert_eq!(
            aws.types["aws:s3/bucket:Bucket"],
            pattern("here-plain hush", true)
        );
        assert_eq!(aws.types["aws:s3/object:Object"], Naming::Disabled);
        assert_eq!(rules.packages["gcp"].general, Some(Naming::Verbatim));
        assert_eq!(rules_of(serde_json::json!({})), Ok(NamingRules::default()));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (section, expected) in [
            (
                serde_json::json!("{\"mode\":\"verbatim\"}"),
                "invalid autonaming config structure: a map",
            ),
            (
                serde_json::json!({"modus": "verbatim"}),
                "invalid autonaming config structure: unknown field",
            ),
            (
                serde_json::json!({"mode": "magic"}),
                "root naming config: invalid naming mode: magic",
            ),
            (
                serde_json::json!({"mode": "verbatim", "enforce": true}),
                "both mode and pattern/enforce",
            ),
            (
                serde_json::json!({"mode": "verbatim", "pattern": "x"}),
                "both mode and pattern/enforce",
            ),
            (
                serde_json::json!({"enforce": true}),
                "pattern must be specified",
            ),
            (
                serde_json::json!({"pattern": "${config.nothing}"}),
                "no value found for key \"nothing\"",
            ),
            (
                serde_json::json!({"providers": {"aws": {"mode": "magic"}}}),
                "for provider \"aws\": invalid naming mode: magic",
            ),
            (
                serde_json::json!({"providers": {"aws": {"resources": {"a:b:C": {}}}}}),
                "mode or pattern must be specified for resource \"a:b:C\"",
            ),
        ] {
            let error = naming(section.clone()).unwrap_err();
            assert!(error.starts_with("getting autonaming config: "), "{error}");
            assert!(error.contains(expected), "{section}: {error}");
        }
    }
}
