//! Schemas of packages, each requested once; the schemas of cached plugins are stored on disk.
//!
//! Files have the names and content that upstream uses (`schema.md` 2), so that each program can read the files of the
//! other. A file older than the installation of its plugin is ignored.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use plumb_resource::provider::{Parameterization, PluginSpec};
use semver::Version;
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use super::{HostError, PluginHost};
use crate::discovery::{Cache, PluginKind, PluginSource};

/// Schema as JSON text, empty until it is requested; `None` if the package has none.
type Entry = Arc<OnceCell<Option<Arc<str>>>>;

/// Schemas requested so far.
#[derive(Default)]
pub(super) struct Schemas(Mutex<HashMap<PluginSpec, Entry>>);

impl Schemas {
    fn entry(&self, spec: &PluginSpec) -> Entry {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.entry(spec.clone()).or_default().clone()
    }
}

/// File for the schema of a cached plugin.
struct Kept {
    path: PathBuf,
    version: Version,
    /// Time of the plugin's installation.
    installed: std::time::SystemTime,
}

impl PluginHost {
    /// The schema of a package as JSON text; `None` if it has none. The first call starts a provider, unless the schema is
    /// stored.
    pub async fn schema(&self, spec: &PluginSpec) -> Result<Option<Arc<str>>, HostError> {
        let known = self.schemas.entry(spec);
        let schema = known
            .get_or_try_init(|| async { Ok(self.load_schema(spec).await?.map(Arc::from)) })
            .await;
        schema.cloned()
    }

    /// The file with the schema of a cached plugin, and the plugin's version; `None` if it is not stored.
    pub fn schema_file(&self, spec: &PluginSpec) -> Option<(PathBuf, Version)> {
        let kept = self.kept(spec)?;
        kept.is_valid().then_some((kept.path, kept.version))
    }

    /// The version of the cached plugin that `spec` selects; `None` if the plugin is not in the cache.
    pub fn cached_version(&self, spec: &PluginSpec) -> Option<Version> {
        self.kept(spec).map(|kept| kept.version)
    }

    async fn load_schema(&self, spec: &PluginSpec) -> Result<Option<String>, HostError> {
        if let Some(text) = self.kept(spec).and_then(|kept| kept.read()) {
            return Ok(Some(text));
        }
        let provider = self.provider(spec).await?;
        let parameter = spec.parameterization.as_ref();
        let subpackage = parameter.map(|it| (it.name.as_str(), it.version.as_str()));
        let schema = provider.get_schema(subpackage).await;
        self.retire(provider).await;
        let schema = schema.map_err(|error| HostError::Schema {
            plugin: spec.name.to_string(),
            error,
        })?;
        if let (Some(text), Some(kept)) = (&schema, self.kept(spec))
            && let Err(error) = kept.write(text)
        {
            tracing::debug!(plugin = %spec.name, %error, "a schema could not be kept");
        }
        Ok(schema)
    }

    /// The file for a schema; `None` for plugins outside the cache, because those may change at any time.
    fn kept(&self, spec: &PluginSpec) -> Option<Kept> {
        let folder = self.options.schema_cache.as_deref()?;
        let name = spec.name.as_str();
        if self.options.attached_providers.contains_key(name) {
            return None;
        }
        let found = self.find(PluginKind::Resource, spec).ok()?;
        if found.source != PluginSource::Cache {
            return None;
        }
        let version = found.version?;
        let plugin = self.options.discovery.cache.owner_of(&found.executable)?;
        Some(Kept {
            path: folder.join(file_name(spec, &version)),
            installed: Cache::installed(&plugin)?,
            version,
        })
    }
}

/// Name of a schema's file: `<name>-<version>[-<hash of the address>][-<hash of the parameter>].json`.
fn file_name(spec: &PluginSpec, version: &Version) -> String {
    let mut name = format!("{}-{version}", spec.name.as_str().replace(['/', '\\'], "_"));
    if let Some(url) = &spec.download_url {
        name.push('-');
        name.push_str(&short_hash(url.as_bytes()));
    }
    if let Some(parameter) = &spec.parameterization {
        name.push('-');
        name.push_str(&short_hash(&parameter_bytes(parameter)));
    }
    name.push_str(".json");
    name
}

fn parameter_bytes(parameter: &Parameterization) -> Vec<u8> {
    let value: &[u8] = parameter.value.as_ref();
    serde_json::json!([parameter.name.as_str(), parameter.version.as_str(), value])
        .to_string()
        .into_bytes()
}

/// The first six bytes of a hash, as hex.
fn short_hash(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes)[..6])
}

impl Kept {
    fn is_valid(&self) -> bool {
        let modified = fs::metadata(&self.path).and_then(|metadata| metadata.modified());
        modified.is_ok_and(|modified| modified > self.installed)
    }

    /// The text; `None` if it is outdated or truncated.
    fn read(&self) -> Option<String> {
        let text = self
            .is_valid()
            .then(|| fs::read_to_string(&self.path).ok())??;
        let trimmed = text.trim();
        let is_whole = trimmed.starts_with('{') && trimmed.ends_with('}');
        is_whole.then_some(text)
    }

    /// Writes the text atomically, so that no reader sees part of it.
    fn write(&self, text: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&self.path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(folder: &Path) -> Kept {
        Kept {
            path: folder.join("schemas/p-1.0.0.json"),
            version: Version::new(1, 0, 0),
            installed: std::time::UNIX_EPOCH,
        }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let kept = kept(folder.path());
        assert_eq!(kept.read(), None);
        kept.write("{\"name\": \"p\"}").unwrap();
        assert_eq!(kept.read().as_deref(), Some("{\"name\": \"p\"}"));
    }

    #[test]
    fn what_is_older_than_the_plugin_or_broken_off_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut kept = kept(folder.path());
        for text in ["", "{\"name\": ", "\0\0\0"] {
            kept.write(text).unwrap();
            assert_eq!(kept.read(), None, "{text:?}");
        }
        kept.write("{}").unwrap();
        kept.installed = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
        assert_eq!(kept.read(), None);
    }

    #[test]
    fn addresses_and_parameters_are_part_of_the_name() {
        let version = Version::new(1, 2, 3);
        let plain = PluginSpec::named("p");
        assert_eq!(file_name(&plain, &version), "p-1.2.3.json");
        let elsewhere = PluginSpec {
            download_url: Some("https://acme.org".into()),
            ..plain.clone()
        };
        assert_eq!(file_name(&elsewhere, &version), "p-1.2.3-24655332cefb.json");
        let parameterized = PluginSpec {
            parameterization: Some(Parameterization {
                name: "q".into(),
                version: "1.0.0".into(),
                value: b"x".as_slice().into(),
            }),
            ..plain
        };
        let name = file_name(&parameterized, &version);
        assert_eq!(name.len(), "p-1.2.3-000000000000.json".len(), "{name}");
    }
}
