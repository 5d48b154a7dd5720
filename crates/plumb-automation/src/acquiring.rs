//! Plugins that are missing are downloaded, and those that are there are checked against the lock file.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use plumb_acquire::{Acquirer, Prepare, Wanted};
use plumb_language::LanguageOptions;
use plumb_plugin::discovery::{FoundPlugin, PluginManifest, PluginSource as FoundIn};
use plumb_plugin::language::{InstallRequest, ProgramInfo};
use plumb_plugin::{Acquire, AcquireFailure, PluginKind};
use plumb_resource::provider::PluginSpec;
use tokio::sync::Semaphore;

/// Default number of downloads at the same time.
pub const PARALLEL: usize = 4;

/// A source of plugins for plugin hosts.
pub struct PluginSource {
    acquirer: Acquirer,
    turns: Semaphore,
    reinstall: bool,
    downloads: bool,
}

impl PluginSource {
    /// A source that downloads what is missing.
    pub fn new(acquirer: Acquirer) -> Self {
        PluginSource {
            acquirer,
            turns: Semaphore::new(PARALLEL),
            reinstall: false,
            downloads: true,
        }
    }

    /// Sets the number of downloads at the same time.
    #[must_use]
    pub fn parallel(mut self, count: usize) -> Self {
        self.turns = Semaphore::new(count.max(1));
        self
    }

    /// Sets whether to download what is installed already.
    #[must_use]
    pub fn reinstall(mut self, reinstall: bool) -> Self {
        self.reinstall = reinstall;
        self
    }

    /// Sets whether plugin hosts download what is missing, or only have it checked.
    #[must_use]
    pub fn downloads(mut self, downloads: bool) -> Self {
        self.downloads = downloads;
        self
    }

    /// Acquires a plugin; returns its version.
    pub async fn get(
        &self,
        kind: PluginKind,
        spec: &PluginSpec,
    ) -> Result<semver::Version, AcquireFailure> {
        let _turn = self.turns.acquire().await?;
        let checksums = spec.checksums.iter();
        let wanted = Wanted {
            kind,
            name: spec.name.to_string(),
            version: spec.version.clone(),
            url: spec.download_url.as_deref().map(ToOwned::to_owned),
            checksums: checksums
                .map(|(platform, sum)| (platform.to_string(), sum.to_string()))
                .collect(),
            reinstall: self.reinstall,
        };
        Ok(self.acquirer.acquire(&wanted).await?)
    }
}

#[async_trait]
impl Acquire for PluginSource {
    fn gets_plugins(&self) -> bool {
        self.downloads
    }

    fn takes_only_locked(&self) -> bool {
        self.acquirer.is_frozen()
    }

    fn locked_version(&self, kind: PluginKind, name: &str) -> Option<semver::Version> {
        self.acquirer.locked_version(kind, name).ok().flatten()
    }

    async fn verify(&self, plugin: &FoundPlugin) -> Result<(), AcquireFailure> {
        if self.acquirer.is_frozen() && plugin.source == FoundIn::Path {
            let path = plugin.executable.display();
            return Err(
                format!("{path} is on the PATH, and --locked takes nothing from there").into(),
            );
        }
        Ok(self.acquirer.verify(&plugin.executable).await?)
    }

    async fn locate(&self, address: &str) -> Result<PluginSpec, AcquireFailure> {
        let (repository, version) = self.acquirer.locate(address).await?;
        Ok(PluginSpec {
            version: Some(version),
            download_url: Some(repository.download_url().as_str().into()),
            ..PluginSpec::named(&repository.plugin_name())
        })
    }

    async fn acquire(&self, kind: PluginKind, spec: &PluginSpec) -> Result<(), AcquireFailure> {
        self.get(kind, spec).await.map(drop)
    }
}

/// Installs the dependencies of plugins in source form, with the host of their language.
pub fn prepare(options: LanguageOptions) -> Prepare {
    Arc::new(move |folder: PathBuf| {
        let options = options.clone();
        Box::pin(async move {
            let manifest = PluginManifest::read(&folder)?;
            let language = plumb_language::language(&manifest.runtime).ok_or_else(|| {
                format!(
                    "the plugin is written in {}, whose dependencies cannot be installed here",
                    manifest.runtime
                )
            })?;
            let output = options.output.clone();
            let request = InstallRequest {
                info: ProgramInfo {
                    root_directory: folder.clone(),
                    program_directory: folder,
                    entry_point: ".".to_owned(),
                    options: manifest.options,
                },
                is_terminal: false,
                use_language_version_tools: false,
                is_plugin: true,
            };
            let host = (language.host)(options);
            Ok(host.install_dependencies(request, output).await?)
        })
    })
}
