//! Permission for the build scripts of local SDKs.
//!
//! The generated SDK of a package is compiled by a script of its manifest that runs after its installation. pnpm runs the scripts
//! of dependencies only if the project permits it, from version 10 on.

use std::path::Path;

use semver::Version;
use serde_json::{Value as Json, json};

use super::NodeError;
use super::manager::{Choice, PackageManager};
use crate::LanguageOptions;
use crate::tool::Tool;

/// First version of pnpm that runs scripts of dependencies only with permission.
const ASKS: Version = Version::new(10, 0, 0);
/// First version of pnpm whose settings name a dependency in a folder by name and path; older ones take the name alone.
const KNOWS_PATHS: Version = Version::new(10, 34, 2);
/// First version of pnpm with `allowBuilds`, which replaces `onlyBuiltDependencies`.
const HAS_ALLOW_BUILDS: Version = Version::new(11, 0, 0);

/// Permits the scripts of the dependency `name` in the folder `path`, where the package manager needs it.
pub(super) async fn permit(
    choice: &Choice,
    options: &LanguageOptions,
    directory: &Path,
    (name, path): (&str, &str),
) -> Result<(), NodeError> {
    if choice.manager != PackageManager::Pnpm {
        return Ok(());
    }
    let pnpm = async |args: &[&str]| {
        let tool = Tool {
            program: choice.program.clone(),
            args: args.iter().map(Into::into).collect(),
            environment: options.environment.clone(),
            working_directory: directory.to_owned(),
        };
        tool.capture().await
    };
    let told = pnpm(&["--version"]).await?;
    let Some(version) = Version::parse(told.trim()).ok().filter(|it| *it >= ASKS) else {
        return Ok(());
    };
    let setting = setting(&version);
    let present = pnpm(&["config", "get", setting, "--json"]).await?;
    // An unset setting is printed as `undefined`.
    let present = serde_json::from_str(present.trim()).unwrap_or_default();
    if let Some(permitted) = permitted(&version, present, name, path) {
        let value = permitted.to_string();
        pnpm(&[
            "config",
            "set",
            setting,
            &value,
            "--location",
            "project",
            "--json",
        ])
        .await?;
    }
    Ok(())
}

/// Name of the setting with permitted dependencies.
fn setting(version: &Version) -> &'static str {
    if *version >= HAS_ALLOW_BUILDS {
        "allowBuilds"
    } else {
        "onlyBuiltDependencies"
    }
}

/// The setting with the dependency added to it; `None` if it is there.
fn permitted(version: &Version, present: Json, name: &str, path: &str) -> Option<Json> {
    let key = if *version >= KNOWS_PATHS {
        format!("{name}@file:{path}")
    } else {
        name.to_owned()
    };
    if *version >= HAS_ALLOW_BUILDS {
        let mut builds = present.as_object().cloned().unwrap_or_default();
        let before = builds.insert(key, json!(true));
        return (before != Some(json!(true))).then_some(Json::Object(builds));
    }
    let mut names = present.as_array().cloned().unwrap_or_default();
    if names.iter().any(|it| *it == key) {
        return None;
    }
    names.push(Json::String(key));
    Some(Json::Array(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(version: Version, present: Json) -> Option<Json> {
        permitted(&version, present, "@x/y", "sdks/y")
    }

    #[test]
    fn the_form_depends_on_the_version_of_pnpm() {
        let old = Version::new(10, 0, 0);
        assert_eq!(with(old.clone(), Json::Null), Some(json!(["@x/y"])));
        assert_eq!(with(old, json!(["@x/y"])), None);
        let by_path = "@x/y@file:sdks/y";
        assert_eq!(
            with(KNOWS_PATHS, json!(["other"])),
            Some(json!(["other", by_path]))
        );
        let builds = json!({"protobufjs": false, by_path: true});
        assert_eq!(
            with(HAS_ALLOW_BUILDS, json!({"protobufjs": false})),
            Some(builds.clone())
        );
        assert_eq!(with(HAS_ALLOW_BUILDS, builds), None);
    }
}
