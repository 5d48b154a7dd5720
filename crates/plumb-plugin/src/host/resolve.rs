//! Resolution of a package named by a program to the plugin that serves it (`protocol.md` 10).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_resource::provider::{Parameterization, PluginSpec, ProviderError};
use serde::Deserialize;

use super::{HostError, PluginHost};
use crate::discovery::{FoundPlugin, PluginKind, PluginSource as Place, parse_tolerant};
use crate::language::{PackageDependency, PackageSource};
use crate::provider::Provider;

/// Errors of resolving a package.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The package has no source.
    #[error("the package has no source; give a name, an address or a path")]
    NoSource,
    /// The version is not a semantic version.
    #[error(
        "`{version}` is not the version of a plugin; it must be a semantic version such as 1.2.3"
    )]
    Version {
        /// The version.
        version: String,
    },
    /// The package is one of another publisher, which only the registry of the service knows.
    #[error(
        "`{source_name}` names a package in a registry, and only packages of `pulumi` can be found without the service; name the \
         plugin, with the address of its downloads as server, or its repository"
    )]
    Registry {
        /// The name.
        source_name: String,
    },
    /// The provider rejected the parameters.
    #[error("the provider refused the parameters: {}", error.message)]
    Parameters {
        /// Error of the provider.
        error: ProviderError,
    },
    /// The schema lacks the parameter to send in later calls.
    #[error("the schema of {package} does not say how its parameters are sent to the provider")]
    NoParameter {
        /// The package.
        package: String,
    },
    /// The folder holds no plugin.
    #[error(
        "there is no plugin at {path}: it has neither a PulumiPlugin.yaml nor a program `pulumi-resource-NAME`"
    )]
    NoPlugin {
        /// The path.
        path: String,
    },
}

/// The part of a schema that describes how its package is made from another one.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Said {
    parameterization: Option<SaidParameter>,
    #[serde(rename = "extensionParameterization")]
    extension: Option<SaidParameter>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SaidParameter {
    parameter: String,
}

/// A plugin to query for its package.
enum Candidate {
    Named(PluginSpec),
    /// The plugin is on this machine.
    At(PluginSpec, FoundPlugin),
}

impl PluginHost {
    /// The plugin for a package named by a program, installed if necessary, with the parameter that makes the plugin serve
    /// that package.
    pub async fn resolve_package(
        &self,
        wanted: &PackageSource,
    ) -> Result<PackageDependency, HostError> {
        let candidate = self.candidate(wanted).await?;
        let spec = match &candidate {
            Candidate::Named(spec) => {
                if let Some(error) = self.provide([spec]).await.pop() {
                    return Err(error);
                }
                let version = spec.version.clone().or_else(|| self.found_version(spec));
                PluginSpec {
                    version,
                    ..spec.clone()
                }
            }
            Candidate::At(spec, _) => spec.clone(),
        };
        // Only the provider itself knows its version and the meaning of parameters.
        let must_ask = spec.version.is_none() || !wanted.parameters.is_empty();
        if !must_ask && matches!(candidate, Candidate::Named(_)) {
            return Ok(dependency(&spec));
        }
        let provider = match &candidate {
            Candidate::Named(_) => self.provider(&spec).await?,
            Candidate::At(spec, found) => {
                let provider: std::sync::Arc<dyn Provider> =
                    std::sync::Arc::new(self.start_found(spec, found).await?);
                self.remember(&provider);
                provider
            }
        };
        let asked = ask(provider.as_ref(), spec, &wanted.parameters).await;
        self.retire(provider).await;
        asked
    }

    async fn candidate(&self, wanted: &PackageSource) -> Result<Candidate, HostError> {
        let source = wanted.source.as_str();
        if source.is_empty() {
            return Err(ResolveError::NoSource.into());
        }
        let path = self.options.working_directory.join(source);
        if source.starts_with(['.', '/']) || (source.contains('/') && path.exists()) {
            return Ok(self.local(source)?);
        }
        if is_repository(source) {
            let acquire = self.options.acquire.as_ref();
            let acquire = acquire.ok_or_else(|| ResolveError::Registry {
                source_name: source.to_owned(),
            })?;
            let address = match wanted.version.as_str() {
                "" => source.to_owned(),
                version => format!("{source}@{version}"),
            };
            let found = acquire.locate(&address).await;
            return Ok(Candidate::Named(
                found.map_err(|source| HostError::Locate { address, source })?,
            ));
        }
        let (name, embedded) = source.split_once('@').unwrap_or((source, ""));
        let version = match (wanted.version.as_str(), embedded) {
            ("", "") => None,
            ("", version) | (version, _) => {
                let parsed = parse_tolerant(version);
                Some(parsed.ok_or_else(|| ResolveError::Version {
                    version: version.to_owned(),
                })?)
            }
        };
        Ok(Candidate::Named(PluginSpec {
            version,
            download_url: wanted.server.as_deref().map(Into::into),
            checksums: wanted.checksums.clone(),
            ..PluginSpec::named(registered_name(name)?)
        }))
    }

    /// The plugin at a path.
    fn local(&self, source: &str) -> Result<Candidate, ResolveError> {
        let path = self.options.working_directory.join(source);
        let missing = || ResolveError::NoPlugin {
            path: path.display().to_string(),
        };
        let path = path.canonicalize().map_err(|_| missing())?;
        let program = PluginKind::Resource.file_name("");
        let executable = if path.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let mut files = entries.map(|entry| entry.path());
            let is_program = |file: &std::path::PathBuf| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(&program)
            };
            files.find(is_program).unwrap_or_else(|| path.clone())
        } else {
            path.clone()
        };
        let found = FoundPlugin {
            source: Place::Project,
            executable,
            version: None,
            warnings: Vec::new(),
        };
        if found.source_directory().is_none() && !found.executable.is_file() {
            return Err(missing());
        }
        let stem = found.executable.file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy();
        let name = stem.strip_prefix(&program).unwrap_or(&stem);
        Ok(Candidate::At(PluginSpec::named(name), found))
    }

    /// The version of a found plugin, if its place determines it.
    fn found_version(&self, spec: &PluginSpec) -> Option<semver::Version> {
        self.find(PluginKind::Resource, spec).ok()?.version
    }
}

/// Whether `source` is the address of a repository.
pub fn is_repository(source: &str) -> bool {
    if ["https://", "http://", "git://"]
        .iter()
        .any(|scheme| source.starts_with(scheme))
    {
        return true;
    }
    let Some((host, path)) = source.split_once('/') else {
        return false;
    };
    let ending = host.rsplit_once('.').map(|(_, ending)| ending);
    let is_host = ending.is_some_and(|ending| {
        !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    is_host && !host.starts_with(['.', '/']) && !path.is_empty()
}

/// The plugin for a name in a registry: `random`, `pulumi/random` or `pulumi/pulumi/random`.
fn registered_name(name: &str) -> Result<&str, ResolveError> {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        [name] | ["pulumi", name] | [_, "pulumi", name] if !name.is_empty() => Ok(name),
        _ => Err(ResolveError::Registry {
            source_name: name.to_owned(),
        }),
    }
}

fn dependency(spec: &PluginSpec) -> PackageDependency {
    PackageDependency {
        name: spec.name.to_string(),
        kind: PluginKind::Resource,
        version: spec.version.clone(),
        server: spec.download_url.as_deref().map(str::to_owned),
        checksums: spec.checksums.clone(),
        parameterization: None,
        extension: None,
    }
}

/// Queries a provider for its version and for the package that the parameters result in.
async fn ask(
    provider: &dyn Provider,
    spec: PluginSpec,
    parameters: &[String],
) -> Result<PackageDependency, HostError> {
    let refused = |error| HostError::from(ResolveError::Parameters { error });
    let told = provider.info().await.ok().and_then(|info| info.version);
    let mut found = dependency(&PluginSpec {
        version: spec.version.clone().or(told),
        ..spec.clone()
    });
    if parameters.is_empty() {
        return Ok(found);
    }
    let applied = provider.parameterize_with_args(parameters).await;
    let (name, version) = applied.map_err(refused)?;
    let subpackage = Some((name.as_str(), version.as_str()));
    let schema = provider.get_schema(subpackage).await.map_err(refused)?;
    let said: Said = serde_json::from_str(&schema.unwrap_or_default()).unwrap_or_default();
    let (said, slot) = match (said.parameterization, said.extension) {
        (Some(said), _) => (said, &mut found.parameterization),
        (None, Some(said)) => (said, &mut found.extension),
        (None, None) => return Err(ResolveError::NoParameter { package: name }.into()),
    };
    let value = STANDARD.decode(said.parameter);
    let value = value.map_err(|_| ResolveError::NoParameter {
        package: name.clone(),
    })?;
    *slot = Some(Parameterization {
        name: name.into(),
        version: version.into(),
        value: value.as_slice().into(),
    });
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_repositories_are_told_from_names() {
        for address in [
            "github.com/acme/components",
            "git.acme.org/a/b/c@v1.2.3",
            "https://acme.org/repository",
            "git://github.com/acme/components",
        ] {
            assert!(is_repository(address), "{address}");
        }
        for name in ["random", "pulumi/random", "a.b", "./a.b/c", "x.Y/z", "x./z"] {
            assert!(!is_repository(name), "{name}");
        }
    }

    #[test]
    fn names_in_a_registry_are_those_of_plugins() {
        for name in ["random", "pulumi/random", "registry/pulumi/random"] {
            assert_eq!(registered_name(name).unwrap(), "random");
        }
        for name in ["acme/random", "a/b/c", "a/pulumi/", "a/b/c/d"] {
            assert!(registered_name(name).is_err(), "{name}");
        }
    }
}
