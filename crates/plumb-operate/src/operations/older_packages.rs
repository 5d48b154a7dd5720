//! Packages that are older in the state than in the program.
//!
//! A refresh or a deletion that does not run the program uses the plugins that the state names. They are older than those of
//! the program when its packages were upgraded since the last update.

use std::sync::Arc;

use plumb_deploy::plugin_of;
use plumb_deploy::setup::Operation;
use plumb_plugin::{HOST_SOURCE, OutputLevel, OutputLine, OutputStream, PluginHost};
use plumb_resource::provider::PluginSpec;
use plumb_state::Snapshot;

use super::host::ProjectEnvironment;

/// Runtimes whose packages are read from files. Others start a tool, and some compile the program, which takes longer than many
/// a refresh.
const READ_FROM_FILES: [&str; 4] = ["bun", "nodejs", "python", "yaml"];

impl ProjectEnvironment {
    /// Warns of older packages. A program whose packages cannot be found out is not needed here, so there is no error.
    pub(super) async fn warn_of_older_packages(
        &self,
        operation: &Operation,
        base: &Snapshot,
        host: &Arc<PluginHost>,
    ) {
        let verb = match operation {
            Operation::Refresh => "refresh",
            Operation::Destroy => "destroy",
            Operation::Update | Operation::Import(_) => return,
        };
        let plugins = base.resources.iter().filter_map(|it| plugin_of(it));
        let recorded: Vec<PluginSpec> = plugins
            .filter(|plugin| plugin.version.is_some() && !host.is_builtin(plugin))
            .collect();
        let runtime = self.runtime();
        let is_quick = runtime.is_some_and(|it| READ_FROM_FILES.contains(&it.name.as_str()));
        if recorded.is_empty() || !is_quick || self.client.is_some() {
            return;
        }
        let Ok(program) = self.unchecked_program(host).await else {
            return;
        };
        for text in warnings(verb, &recorded, &program.packages) {
            (host.options().output)(OutputLine {
                source: HOST_SOURCE.into(),
                stream: OutputStream::Stderr,
                level: OutputLevel::Warning,
                text,
            });
        }
    }
}

/// One warning for each recorded version that is older than the program's.
fn warnings(verb: &str, recorded: &[PluginSpec], packages: &[PluginSpec]) -> Vec<String> {
    let mut warnings = Vec::new();
    for package in packages {
        let Some((name, version)) = named(package) else {
            continue;
        };
        for (_, older) in recorded
            .iter()
            .filter_map(named)
            .filter(|(recorded, older)| *recorded == name && *older < version)
        {
            let text = format!(
                "{verb} operation is using an older version of package '{name}' than the specified program version: \
                 {older} < {version}"
            );
            if !warnings.contains(&text) {
                warnings.push(text);
            }
        }
    }
    warnings
}

/// Name and version of a package: those of the parameterization, if there is one.
fn named(spec: &PluginSpec) -> Option<(&str, semver::Version)> {
    match &spec.parameterization {
        Some(parameterization) => Some((
            parameterization.name.as_str(),
            semver::Version::parse(&parameterization.version).ok()?,
        )),
        None => Some((spec.name.as_str(), spec.version.clone()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, version: &str) -> PluginSpec {
        PluginSpec {
            version: semver::Version::parse(version).ok(),
            ..PluginSpec::named(name)
        }
    }

    #[test]
    fn each_older_version_is_named_once() {
        let recorded = [
            spec("aws", "6.0.0"),
            spec("aws", "6.0.0"),
            spec("aws", "7.2.0"),
            spec("gcp", "8.1.0"),
            spec("tls", ""),
        ];
        let program = [
            spec("aws", "7.1.0"),
            spec("gcp", "8.1.0"),
            spec("tls", "5.0.0"),
        ];
        assert_eq!(
            warnings("refresh", &recorded, &program),
            [
                "refresh operation is using an older version of package 'aws' than the specified program version: \
                 6.0.0 < 7.1.0"
            ]
        );
    }
}
