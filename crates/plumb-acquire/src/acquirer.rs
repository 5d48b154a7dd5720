//! Acquisition of plugins: from a request to the plugin in the cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use futures::future::BoxFuture;
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::{Cache, MANIFEST_FILE, Repository};
use plumb_plugin::process::Environment;
use semver::Version;

use crate::git::Git;
use crate::http::{Downloader, Target};
use crate::install::{Claim, Package};
use crate::source::{Platform, Source};
use crate::{AcquireError, DownloadError, GitError, InstallError, LockFile, Overrides, Tokens};

/// Progress of an acquisition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The acquisition begins.
    Started,
    /// Number of bytes received, and the total if known.
    Bytes(u64, Option<u64>),
    /// The archive is complete, and the plugin is being unpacked and prepared.
    Unpacking,
    /// The plugin is installed.
    Done,
    /// The acquisition failed.
    Failed,
}

/// Receiver of progress: kind, name and version of the plugin, and what happened.
pub type Watcher = Arc<dyn Fn(PluginKind, &str, &Version, Progress) + Send + Sync>;

/// Prepares a plugin in source form: installs its dependencies.
pub type Prepare = Arc<
    dyn Fn(PathBuf) -> BoxFuture<'static, Result<(), Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + Sync,
>;

/// Settings of an [`Acquirer`].
pub struct AcquirerOptions {
    /// Cache into which plugins are installed.
    pub cache: Cache,
    /// Addresses that replace the default ones.
    pub overrides: Overrides,
    /// Tokens for servers that require authentication.
    pub tokens: Tokens,
    /// Environment of the tools that fetch plugins.
    pub environment: Environment,
    /// Version of the program, sent to servers.
    pub program_version: String,
    /// The lock file of the project, if there is one.
    pub lock_file: Option<LockFile>,
    /// Prepares plugins in source form.
    pub prepare: Option<Prepare>,
    /// Receiver of progress.
    pub watcher: Watcher,
}

/// Request for a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Kind of the plugin.
    pub kind: PluginKind,
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin; `None` for the latest one.
    pub version: Option<Version>,
    /// Address of its archives, if it differs from the default.
    pub url: Option<String>,
    /// SHA-256 of its archives by platform (`linux-amd64`), lowercase hex.
    pub checksums: BTreeMap<String, String>,
    /// Whether to install the plugin again if it is installed.
    pub reinstall: bool,
}

/// Installs missing plugins.
pub struct Acquirer {
    pub(crate) options: AcquirerOptions,
    pub(crate) platform: Platform,
    /// Created for the first download.
    downloader: OnceLock<Downloader>,
    /// Verified files, so that a plugin started several times in a run is hashed only once.
    pub(crate) verified: Mutex<Vec<PathBuf>>,
}

impl Acquirer {
    /// An acquirer that has read no file and sent no request yet.
    pub fn new(options: AcquirerOptions) -> Self {
        Acquirer {
            options,
            platform: Platform::current(),
            downloader: OnceLock::new(),
            verified: Mutex::default(),
        }
    }

    /// Installs a plugin and returns its version. An installed plugin is only checked against the lock file. If a frozen
    /// lock file does not name the plugin, no request is sent for it.
    pub async fn acquire(&self, wanted: &Wanted) -> Result<Version, AcquireError> {
        if let Some(url) = wanted
            .url
            .as_deref()
            .filter(|url| url.starts_with("git://"))
        {
            return self.acquire_sources(wanted, Repository::parse(url)?).await;
        }
        let sources = self.sources(wanted)?;
        let version = match &wanted.version {
            Some(version) => version.clone(),
            None => match self.locked_version(wanted.kind, &wanted.name)? {
                Some(locked) => locked,
                None => self.latest(wanted, &sources).await?,
            },
        };
        self.check_named(wanted.kind, &wanted.name, &version)?;
        let install_error = |source| AcquireError::Install {
            kind: wanted.kind,
            name: wanted.name.clone(),
            version: version.clone(),
            source,
        };
        let claim = self.claim(wanted, &version).await.map_err(install_error)?;
        if claim.is_installed() && !wanted.reinstall {
            let program = wanted.kind.file_name(&wanted.name);
            self.verify(&claim.folder().join(program)).await?;
            return Ok(version);
        }
        let tell = |progress| {
            let watcher = &self.options.watcher;
            watcher(wanted.kind, &wanted.name, &version, progress);
        };
        tell(Progress::Started);
        let fetched = self
            .fetch_archive(wanted, &version, &sources, claim, &tell)
            .await;
        tell(match fetched {
            Ok(()) => Progress::Done,
            Err(_) => Progress::Failed,
        });
        fetched.map(|()| version)
    }

    /// Downloads, checks and prepares a plugin.
    async fn fetch_archive(
        &self,
        wanted: &Wanted,
        version: &Version,
        sources: &[Source],
        claim: Claim,
        tell: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), AcquireError> {
        let install_error = |source| AcquireError::Install {
            kind: wanted.kind,
            name: wanted.name.clone(),
            version: version.clone(),
            source,
        };
        let archive = tempfile::Builder::new()
            .prefix(".download-")
            .suffix(".tar.gz")
            .tempfile_in(self.options.cache.directory())
            .map_err(|source| InstallError::File {
                action: "write to",
                path: self.options.cache.directory().to_owned(),
                source,
            })
            .map_err(install_error)?
            .into_temp_path();
        let on_bytes = |done, total| tell(Progress::Bytes(done, total));
        let checksum = self
            .download(wanted, version, sources, &archive, &on_bytes)
            .await?;
        self.check(wanted, version, &checksum)?;
        let locked = self.locked(wanted, version);
        if let Some(lock_file) = &self.options.lock_file {
            lock_file.admit_archive(&locked, &checksum)?;
        }
        tell(Progress::Unpacking);
        let (claim, content) = unpacked(claim, wanted, archive.to_path_buf())
            .await
            .map_err(install_error)?;
        let archive = Some(checksum.clone());
        self.admit(&locked, claim.folder(), archive, content)?;
        self.prepare(wanted, version, claim.folder()).await?;
        claim.finish(Some(&checksum)).map_err(install_error)
    }

    /// The repository at an address, and the requested version. If the address has no version, the lock file or the
    /// repository determines it.
    pub async fn locate(&self, address: &str) -> Result<(Repository, Version), AcquireError> {
        let repository = Repository::parse(address)?;
        let name = repository.plugin_name();
        if repository.version.is_none()
            && let Some(version) = self.locked_version(PluginKind::Resource, &name)?
        {
            return Ok((repository, version));
        }
        let environment = self.options.environment.clone();
        let asked = repository.clone();
        let version = blocking(move || {
            let git = Git {
                repository: &asked,
                environment: &environment,
            };
            git.version()
        });
        Ok((repository, version.await?))
    }

    /// Installs a plugin from a source repository. There is no archive to lock, but the content is locked, because tags can
    /// move.
    async fn acquire_sources(
        &self,
        wanted: &Wanted,
        repository: Repository,
    ) -> Result<Version, AcquireError> {
        let version = match &wanted.version {
            Some(version) => version.clone(),
            None => self.locate(&repository.download_url()).await?.1,
        };
        self.check_named(wanted.kind, &repository.plugin_name(), &version)?;
        let install_error = |source| AcquireError::Install {
            kind: wanted.kind,
            name: wanted.name.clone(),
            version: version.clone(),
            source,
        };
        let named = Wanted {
            name: repository.plugin_name(),
            ..wanted.clone()
        };
        let claim = self.claim(&named, &version).await.map_err(install_error)?;
        if claim.is_installed() && !wanted.reinstall {
            let place = claim.folder().join(repository.folder());
            let program = wanted.kind.file_name(&wanted.name);
            self.verify(&place.join(program)).await?;
            return Ok(version);
        }
        let tell = |progress| (self.options.watcher)(wanted.kind, &named.name, &version, progress);
        tell(Progress::Started);
        // The number of bytes to come is not known.
        tell(Progress::Bytes(0, None));
        let fetched = self
            .fetch_sources(&named, &version, repository, claim)
            .await;
        tell(match fetched {
            Ok(()) => Progress::Done,
            Err(_) => Progress::Failed,
        });
        fetched.map(|()| version)
    }

    /// Fetches and prepares the sources of a plugin.
    async fn fetch_sources(
        &self,
        wanted: &Wanted,
        version: &Version,
        repository: Repository,
        claim: Claim,
    ) -> Result<(), AcquireError> {
        let install_error = |source| AcquireError::Install {
            kind: wanted.kind,
            name: wanted.name.clone(),
            version: version.clone(),
            source,
        };
        let folder = claim.folder().join(repository.folder());
        let unpacked = self.unpack_sources(claim, repository, version).await?;
        let (claim, content) = unpacked.map_err(install_error)?;
        let locked = self.locked(wanted, version);
        self.admit(&locked, claim.folder(), None, content)?;
        self.prepare(wanted, version, &folder).await?;
        claim.finish(None).map_err(install_error)
    }

    /// Fetches the sources of a version, and installs them into the cache.
    async fn unpack_sources(
        &self,
        claim: Claim,
        repository: Repository,
        version: &Version,
    ) -> Result<Result<(Claim, String), InstallError>, AcquireError> {
        let place = self.options.cache.directory().to_owned();
        let checkout = tempfile::Builder::new()
            .prefix(".fetch-")
            .tempdir_in(&place);
        let checkout = match checkout {
            Ok(checkout) => checkout,
            Err(source) => {
                return Ok(Err(InstallError::File {
                    action: "write to",
                    path: place,
                    source,
                }));
            }
        };
        let (environment, version) = (self.options.environment.clone(), version.clone());
        let work = move || {
            let git = Git {
                repository: &repository,
                environment: &environment,
            };
            git.fetch(&version, checkout.path())?;
            let plugin = checkout.path().join(repository.folder());
            if !plugin.join(MANIFEST_FILE).is_file() {
                return Err(AcquireError::from(GitError::NoPlugin {
                    place: repository.download_url(),
                }));
            }
            let package = Package::Folder(checkout.path().to_owned());
            Ok(claim
                .unpack(&package, "")
                .and_then(|()| claim.list())
                .map(|content| (claim, content)))
        };
        blocking(work).await
    }

    /// Sources of a plugin, after the user's overrides.
    fn sources(&self, wanted: &Wanted) -> Result<Vec<Source>, AcquireError> {
        let usual = Source::all_of(wanted.kind, &wanted.name, wanted.url.as_deref())?;
        let overrides = &self.options.overrides;
        let mut sources: Vec<Source> = Vec::new();
        for source in usual {
            let overridden = overrides.apply(&source.url());
            if overridden.is_none() && !overrides.is_empty() {
                tracing::info!(place = source.url(), "no override of download URLs fits");
            }
            let source = match overridden {
                Some(url) => Source::parse(wanted.kind, &wanted.name, &url)?,
                None => source,
            };
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        Ok(sources)
    }

    fn downloader(&self) -> Result<&Downloader, AcquireError> {
        if let Some(downloader) = self.downloader.get() {
            return Ok(downloader);
        }
        let tokens = self.options.tokens.clone();
        let made = Downloader::new(tokens, &self.options.program_version);
        let made = made.map_err(AcquireError::Client)?;
        Ok(self.downloader.get_or_init(|| made))
    }

    async fn latest(&self, wanted: &Wanted, sources: &[Source]) -> Result<Version, AcquireError> {
        let downloader = self.downloader()?;
        let mut failures = Vec::new();
        for source in sources {
            match downloader.latest(source).await {
                Ok(version) => return Ok(version),
                Err(failure) => failures.push(failure),
            }
        }
        Err(nowhere(wanted, None, failures))
    }

    async fn claim(&self, wanted: &Wanted, version: &Version) -> Result<Claim, InstallError> {
        let cache = self.options.cache.clone();
        let (kind, name, version) = (wanted.kind, wanted.name.clone(), version.clone());
        blocking(move || Claim::take(&cache, kind, &name, &version)).await
    }

    async fn download(
        &self,
        wanted: &Wanted,
        version: &Version,
        sources: &[Source],
        into: &Path,
        on_bytes: crate::http::OnBytes<'_>,
    ) -> Result<String, AcquireError> {
        let downloader = self.downloader()?;
        let target = Target {
            kind: wanted.kind,
            name: &wanted.name,
            version,
            platform: self.platform,
        };
        let mut failures: Vec<DownloadError> = Vec::new();
        for source in sources {
            match downloader.download(source, target, into, on_bytes).await {
                Ok(checksum) => return Ok(checksum),
                Err(failure) => failures.push(failure),
            }
        }
        Err(nowhere(wanted, Some(version), failures))
    }

    /// Compares the checksum of an archive with that of the program or the user. A platform without a checksum is not
    /// checked.
    fn check(&self, wanted: &Wanted, version: &Version, actual: &str) -> Result<(), AcquireError> {
        match wanted.checksums.get(&self.platform.key()) {
            Some(expected) if !expected.eq_ignore_ascii_case(actual) => {
                Err(AcquireError::Checksum {
                    kind: wanted.kind,
                    name: wanted.name.clone(),
                    version: version.clone(),
                    expected: expected.clone(),
                    actual: actual.to_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    async fn prepare(
        &self,
        wanted: &Wanted,
        version: &Version,
        folder: &Path,
    ) -> Result<(), AcquireError> {
        let is_source = folder.join(MANIFEST_FILE).is_file();
        let Some(prepare) = self.options.prepare.as_ref().filter(|_| is_source) else {
            return Ok(());
        };
        let prepared = prepare(folder.to_owned()).await;
        prepared.map_err(|source| AcquireError::Prepare {
            kind: wanted.kind,
            name: wanted.name.clone(),
            version: version.clone(),
            source,
        })
    }
}

fn nowhere(
    wanted: &Wanted,
    version: Option<&Version>,
    failures: Vec<DownloadError>,
) -> AcquireError {
    AcquireError::Nowhere {
        kind: wanted.kind,
        name: wanted.name.clone(),
        version: version.cloned(),
        failures,
    }
}

/// Unpacks an archive; also returns the digest of its files.
async fn unpacked(
    claim: Claim,
    wanted: &Wanted,
    archive: PathBuf,
) -> Result<(Claim, String), InstallError> {
    let program = wanted.kind.file_name(&wanted.name);
    blocking(move || {
        claim.unpack(&Package::Archive(archive), &program)?;
        let content = claim.list()?;
        Ok((claim, content))
    })
    .await
}

/// Runs blocking work on disks and locks in a thread where it does not delay other tasks.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
