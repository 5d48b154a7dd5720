//! Packages that requests name, and the default providers that serve them (`engine.md` 3.3-3.5).

use std::collections::BTreeMap;

use ecow::EcoString;
use plumb_resource::ProviderRef;
use plumb_resource::provider::{Parameterization, PluginSpec};
use plumb_state::Snapshot;
use plumb_value::{PropertyMap, Value};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::request::{PackageRequest, RegisterPackageRequest, RequestError, RequestErrorKind};

/// Config key that lists the packages whose default providers are denied.
const DISABLE_DEFAULTS: &str = "pulumi:disable-default-providers";

/// A package that a program registered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Package {
    request: RegisterPackageRequest,
    pub(crate) spec: PluginSpec,
    pub(crate) extension: Option<Parameterization>,
    reference: EcoString,
}

/// Registered packages by reference.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packages {
    by_reference: BTreeMap<EcoString, Package>,
    /// The last request for each package, and the key of the default provider that it has.
    keys: FxHashMap<EcoString, (PackageRequest, EcoString)>,
}

impl Packages {
    /// Registers a package; `fresh` makes a new reference. Equal requests get equal references (PARAM-01).
    pub(crate) fn register(
        &mut self,
        request: RegisterPackageRequest,
        fresh: impl FnOnce() -> EcoString,
    ) -> Result<EcoString, RequestError> {
        if let Some(known) = self
            .by_reference
            .values()
            .find(|package| package.request == request)
        {
            return Ok(known.reference.clone());
        }
        if request.name.is_empty() {
            return Err(RequestError::new(
                RequestErrorKind::InvalidArgument,
                "package name is empty",
            ));
        }
        let reference = match &request.extension {
            Some(extension) => extension_ref(extension),
            None => fresh(),
        };
        let spec = PluginSpec {
            name: request.name.clone(),
            version: parse_version(&request.version)?,
            download_url: trimmed_url(&request.download_url),
            checksums: request.checksums.clone(),
            parameterization: request.parameterization.clone(),
            env_var_mappings: BTreeMap::new(),
        };
        let package = Package {
            extension: request.extension.clone(),
            spec,
            reference: reference.clone(),
            request,
        };
        self.by_reference.insert(reference.clone(), package);
        Ok(reference)
    }

    /// The package behind a reference.
    pub(crate) fn get(&self, reference: &str) -> Option<&Package> {
        self.by_reference.get(reference)
    }

    /// The key of the default provider that requests like this one for `package` have, if it was found out before.
    pub(crate) fn known_key(&self, package: &str, request: &PackageRequest) -> Option<&EcoString> {
        let (known, key) = self.keys.get(package)?;
        (known == request).then_some(key)
    }

    /// Keeps a default provider's key: most requests for a package say the same of it.
    pub(crate) fn note_key(&mut self, package: &str, request: &PackageRequest, key: &EcoString) {
        let known = (request.clone(), key.clone());
        self.keys.insert(package.into(), known);
    }

    /// The plugin that `request` means for `package`.
    pub(crate) fn resolve(
        &self,
        package: &str,
        request: &PackageRequest,
    ) -> Result<PluginSpec, RequestError> {
        let reference = &request.package_ref;
        if !reference.is_empty() {
            let package = self.get(reference).ok_or_else(|| {
                RequestError::new(
                    RequestErrorKind::Unknown,
                    format!("unknown provider package '{reference}'"),
                )
            })?;
            return Ok(package.spec.clone());
        }
        Ok(PluginSpec {
            name: package.into(),
            version: parse_version(&request.version)?,
            download_url: trimmed_url(&request.download_url),
            checksums: request.checksums.clone(),
            parameterization: None,
            env_var_mappings: BTreeMap::new(),
        })
    }
}

/// Reference of an extension: lowercase hex SHA-256 over name, version and value, NUL between.
fn extension_ref(extension: &Parameterization) -> EcoString {
    let mut hash = Sha256::new();
    hash.update(extension.name.as_bytes());
    hash.update([0]);
    hash.update(extension.version.as_bytes());
    hash.update([0]);
    hash.update(&extension.value);
    hex::encode(hash.finalize()).into()
}

fn parse_version(text: &str) -> Result<Option<semver::Version>, RequestError> {
    if text.is_empty() {
        return Ok(None);
    }
    semver::Version::parse(text.strip_prefix('v').unwrap_or(text))
        .map(Some)
        .map_err(|error| {
            RequestError::new(
                RequestErrorKind::InvalidArgument,
                format!("parse version \"{text}\": {error}"),
            )
        })
}

fn trimmed_url(url: &str) -> Option<EcoString> {
    let url = url.strip_suffix('/').unwrap_or(url);
    (!url.is_empty()).then(|| url.into())
}

/// Name of the package that a plugin ends up serving.
pub(crate) fn package_name(spec: &PluginSpec) -> &EcoString {
    spec.parameterization
        .as_ref()
        .map_or(&spec.name, |parameter| &parameter.name)
}

fn package_version(spec: &PluginSpec) -> Option<EcoString> {
    match &spec.parameterization {
        Some(parameter) => Some(parameter.version.clone()),
        None => spec
            .version
            .as_ref()
            .map(|version| version.to_string().into()),
    }
}

/// Key of a default provider: two requests with the same key share one.
pub(crate) fn default_key(spec: &PluginSpec) -> EcoString {
    let mut key = package_name(spec).to_string();
    for part in package_version(spec).iter().chain(&spec.download_url) {
        key.push('-');
        key.push_str(part);
    }
    key.into()
}

/// Name of the default provider resource for `spec`.
pub(crate) fn default_name(spec: &PluginSpec) -> EcoString {
    let mut name = String::from("default");
    if let Some(version) = package_version(spec) {
        name.push('_');
        name.extend(
            version
                .chars()
                .map(|c| if matches!(c, '.' | '-' | '+') { '_' } else { c }),
        );
    }
    if let Some(url) = &spec.download_url {
        name.push('_');
        name.push_str(&qualified_name(url));
    }
    name.into()
}

/// The URL as the name of a resource: what a name may not hold becomes `_`.
fn qualified_name(url: &str) -> String {
    let mut name = String::new();
    let mut last = None;
    for c in url.chars() {
        let c = if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/') {
            c
        } else {
            '_'
        };
        if !(c == '/' && last == Some('/')) {
            name.push(c);
        }
        last = Some(c);
    }
    name
}

/// Fills what `spec` leaves open from the default of its package.
pub(crate) fn with_defaults(
    mut spec: PluginSpec,
    defaults: &BTreeMap<EcoString, PluginSpec>,
) -> PluginSpec {
    let Some(default) = defaults.get(package_name(&spec)) else {
        return spec;
    };
    if spec.version.is_none() {
        spec.version.clone_from(&default.version);
    }
    if spec.download_url.is_none() {
        spec.download_url.clone_from(&default.download_url);
    }
    if spec.checksums.is_empty() {
        spec.checksums.clone_from(&default.checksums);
    }
    if spec.parameterization.is_none() {
        spec.parameterization.clone_from(&default.parameterization);
        if spec.parameterization.is_some() {
            spec.name.clone_from(&default.name);
        }
    }
    spec
}

/// The versions of default providers: the highest that the program names of each package, or those of the state where it
/// names none (`engine.md` 3.4).
pub(crate) fn default_versions(
    required: &[PluginSpec],
    base: &Snapshot,
) -> BTreeMap<EcoString, PluginSpec> {
    if required.is_empty() {
        highest_versions(&packages_in(base))
    } else {
        highest_versions(required)
    }
}

/// Packages of the providers in a state.
fn packages_in(base: &Snapshot) -> Vec<PluginSpec> {
    base.resources
        .iter()
        .filter_map(|state| {
            let package = state.type_token.provided_package()?;
            let version = state.inputs.get("version").and_then(Value::as_str);
            Some(PluginSpec {
                version: version.and_then(|text| semver::Version::parse(text).ok()),
                ..PluginSpec::named(package)
            })
        })
        .collect()
}

fn highest_versions(packages: &[PluginSpec]) -> BTreeMap<EcoString, PluginSpec> {
    let mut defaults: BTreeMap<EcoString, PluginSpec> = BTreeMap::new();
    for spec in packages {
        let name = package_name(spec).clone();
        let higher = match defaults.get(&name) {
            None => true,
            Some(known) => match (&known.version, &spec.version) {
                (None, Some(_)) => true,
                (Some(known), Some(new)) => new.cmp_precedence(known).is_gt(),
                (_, None) => false,
            },
        };
        if higher {
            defaults.insert(name, spec.clone());
        }
    }
    defaults
}

/// The reference that stands for a denied default provider, if `package` is denied by the configuration.
pub(crate) fn denied(
    package: &str,
    config: &BTreeMap<EcoString, Value>,
) -> Result<Option<ProviderRef>, RequestError> {
    let Some(setting) = config.get(DISABLE_DEFAULTS).map(Value::without_secrets) else {
        return Ok(None);
    };
    let text = setting.as_str().unwrap_or_default();
    if package == "pulumi" || text.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = serde_json::from_str(text).map_err(|error| {
        RequestError::new(
            RequestErrorKind::Unknown,
            format!("failed to parse {DISABLE_DEFAULTS}: expected a list of strings, got {text:?}: {error}"),
        )
    })?;
    let is_denied = names
        .iter()
        .any(|name| matches!(name.trim(), "*") || name.trim() == package);
    Ok(is_denied.then(|| ProviderRef::denied(package)))
}

/// Configuration of the default provider of `package`: the settings in its namespace, or all of them for the packages
/// that run code of the program.
pub(crate) fn default_config(package: &str, config: &BTreeMap<EcoString, Value>) -> PropertyMap {
    let whole = matches!(package, "pulumi-nodejs" | "pulumi-python");
    config
        .iter()
        .filter_map(|(key, value)| {
            if whole {
                return Some((key.clone().into(), value.clone()));
            }
            let name = key.strip_prefix(package)?.strip_prefix(':')?;
            Some((EcoString::from(name).into(), value.clone()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plumb_resource::{ResourceKind, ResourceState, Urn};

    use super::*;

    fn spec(name: &str, version: Option<&str>, url: Option<&str>) -> PluginSpec {
        PluginSpec {
            version: version.map(|text| semver::Version::parse(text).unwrap()),
            download_url: url.map(EcoString::from),
            ..PluginSpec::named(name)
        }
    }

    /// PROV-33: the name holds version and address.
    #[test]
    fn default_providers_are_named_after_version_and_address() {
        assert_eq!(default_name(&spec("a", None, None)), "default");
        assert_eq!(
            default_name(&spec("a", Some("1.2.3-beta.1+x"), None)),
            "default_1_2_3_beta_1_x"
        );
        assert_eq!(
            default_name(&spec("a", Some("1.0.0"), Some("http://example.com"))),
            "default_1_0_0_http_/example.com"
        );
    }

    /// PROV-12
    #[test]
    fn the_highest_version_is_the_default() {
        let defaults = highest_versions(&[
            spec("a", Some("1.9.0"), None),
            spec("a", Some("1.10.0"), None),
            spec("a", None, None),
        ]);
        assert_eq!(defaults["a"].version, Some(semver::Version::new(1, 10, 0)));
    }

    /// `engine.md` 3.4
    #[test]
    fn the_state_decides_versions_where_the_program_names_none() {
        let provider = |name: &str, version: Option<&str>| {
            let urn = Urn::new("dev", "proj", "", "pulumi:providers:a", name);
            let mut inputs = PropertyMap::new();
            if let Some(version) = version {
                inputs.insert("version", version);
            }
            Arc::new(ResourceState {
                inputs: Arc::new(inputs),
                ..ResourceState::new(urn, ResourceKind::Provider)
            })
        };
        let mut base = Snapshot {
            resources: vec![
                provider("old", Some("1.0.0")),
                provider("new", Some("2.0.0")),
            ],
            ..Snapshot::default()
        };
        let version = |required: &[PluginSpec], base: &Snapshot| {
            default_versions(required, base)
                .get("a")
                .and_then(|spec| spec.version.clone())
        };
        assert_eq!(version(&[], &base), Some(semver::Version::new(2, 0, 0)));
        let named = [spec("a", Some("1.5.0"), None)];
        assert_eq!(version(&named, &base), Some(semver::Version::new(1, 5, 0)));
        base.resources.push(provider("any", None));
        assert_eq!(version(&[], &base), Some(semver::Version::new(2, 0, 0)));
    }

    /// PROV-18
    #[test]
    fn denied_packages_are_listed_as_json() {
        let config = |text: &str| BTreeMap::from([(DISABLE_DEFAULTS.into(), Value::from(text))]);
        assert!(denied("aws", &config(r#"["aws"]"#)).unwrap().is_some());
        assert!(denied("aws", &config(r#"["*"]"#)).unwrap().is_some());
        assert!(denied("aws", &config("")).unwrap().is_none());
        assert!(denied("pulumi", &config(r#"["*"]"#)).unwrap().is_none());
        assert!(denied("aws", &config("aws")).is_err());
    }
}
