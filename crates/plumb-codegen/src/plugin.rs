//! Description of the plugin that an SDK needs (`codegen.md` 1.3).

use plumb_schema::bound::Package;
use serde_json::{Map, Value, json};

/// Plugin description; `has_version` tells whether it contains the schema's version.
pub(crate) fn describe(package: &Package<'_>, has_version: bool) -> Value {
    let mut plugin = Map::new();
    plugin.insert("resource".to_owned(), true.into());
    let version = package
        .version
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    if let Some(parameterization) = &package.parameterization {
        plugin.insert("name".to_owned(), parameterization.base_name.into());
        plugin.insert("version".to_owned(), parameterization.base_version.into());
        let key = if parameterization.is_extension {
            "extensionParameterization"
        } else {
            "parameterization"
        };
        let inner = json!({
            "name": package.name,
            "version": version,
            "value": parameterization.parameter,
        });
        plugin.insert(key.to_owned(), inner);
    } else {
        plugin.insert("name".to_owned(), package.name.into());
        if has_version && !version.is_empty() {
            plugin.insert("version".to_owned(), version.into());
        }
    }
    if let Some(url) = package.download_url {
        plugin.insert("server".to_owned(), url.into());
    }
    Value::Object(plugin)
}

/// README of a package: the language's own, or else the description and the attribution.
pub(crate) fn readme(package: &Package<'_>, of_language: Option<&str>) -> String {
    let about = &package.about;
    let text = of_language.or(about.description).unwrap_or_default();
    let mut text = text.trim_end().to_owned();
    if let (None, Some(attribution)) = (of_language, about.attribution) {
        text.push_str("\n\n");
        text.push_str(attribution);
    }
    text.push('\n');
    text
}
