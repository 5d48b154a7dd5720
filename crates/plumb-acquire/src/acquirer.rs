//! From the wish for a plugin to the plugin in the cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use plumb_plugin::PluginKind;
use plumb_plugin::discovery::{Cache, MANIFEST_FILE, Repository};
use plumb_plugin::process::Environment;
use semver::Version;

use crate::git::Git;
use crate::http::{Downloader, Target};
use crate::install::{Claim, Package, checksum_of};
use crate::source::{Platform, Source};
use crate::{AcquireError, DownloadError, GitError, InstallError, LockFile, Overrides, Tokens};

/// What happens to a plugin on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is being got.
    Started,
    /// So many bytes have come, of so many if that is known.
    Bytes(u64, Option<u64>),
    /// All of it has come, and is being unpacked and made ready to run.
    Unpacking,
    /// It is there.
    Done,
    /// It does not come.
    Failed,
}

/// Hears of plugins on their way: kind, name and version, and what happens.
pub type Watcher = Arc<dyn Fn(PluginKind, &str, &Version, Progress) + Send + Sync>;

/// Makes a plugin in source form ready to run: installs what it depends on.
pub type Prepare = Arc<
    dyn Fn(PathBuf) -> BoxFuture<'static, Result<(), Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + Sync,
>;

/// Surroundings of an [`Acquirer`].
pub struct AcquirerOptions {
    /// Where plugins go.
    pub cache: Cache,
    /// Where they come from instead of the usual places.
    pub overrides: Overrides,
    /// For servers that want to know the user.
    pub tokens: Tokens,
    /// The environment of tools that fetch plugins.
    pub environment: Environment,
    /// Version of the program, for servers.
    pub program_version: String,
    /// The lock file of the project, if there is one.
    pub lock_file: Option<LockFile>,
    /// Makes plugins in source form ready.
    pub prepare: Option<Prepare>,
    /// Hears how it goes.
    pub watcher: Watcher,
}

/// A plugin that somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its kind.
    pub kind: PluginKind,
    /// Its name.
    pub name: String,
    /// Its version; the latest one if none is given.
    pub version: Option<Version>,
    /// Where it is, if not in the usual places.
    pub url: Option<String>,
    /// SHA-256 of its archives by platform (`linux-amd64`), lowercase hex.
    pub checksums: BTreeMap<String, String>,
    /// Whether to get it although it is there.
    pub reinstall: bool,
}

/// Gets plugins that are not there.
pub struct Acquirer {
    options: AcquirerOptions,
    platform: Platform,
    /// Made when the first thing is downloaded.
    downloader: OnceLock<Downloader>,
}

impl Acquirer {
    /// Nothing is read or asked yet.
    pub fn new(options: AcquirerOptions) -> Self {
        Acquirer {
            options,
            platform: Platform::current(),
            downloader: OnceLock::new(),
        }
    }

    /// Gets a plugin; answers its version. What is there already is only checked against the lock file.
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
            None => self.latest(wanted, &sources).await?,
        };
        let install_error = |source| AcquireError::Install {
            kind: wanted.kind,
            name: wanted.name.clone(),
            version: version.clone(),
            source,
        };
        let claim = self.claim(wanted, &version).await.map_err(install_error)?;
        if claim.is_installed() && !wanted.reinstall {
            if let Some(checksum) = claim.checksum() {
                self.admit(wanted, &version, &checksum)?;
            }
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

    /// Downloads a plugin, checks it and makes it ready to run.
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
        self.admit(wanted, version, &checksum)?;
        tell(Progress::Unpacking);
        let claim = unpacked(claim, wanted, archive.to_path_buf())
            .await
            .map_err(install_error)?;
        self.prepare(wanted, version, claim.folder()).await?;
        claim.finish(Some(&checksum)).map_err(install_error)
    }

    /// The repository at an address and the version that is meant, which is found out if the address does not say.
    pub async fn locate(&self, address: &str) -> Result<(Repository, Version), AcquireError> {
        let repository = Repository::parse(address)?;
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

    /// Gets a plugin whose sources are in a repository. A commit is what it is; there is no archive to be locked.
    async fn acquire_sources(
        &self,
        wanted: &Wanted,
        repository: Repository,
    ) -> Result<Version, AcquireError> {
        let version = match &wanted.version {
            Some(version) => version.clone(),
            None => self.locate(&repository.download_url()).await?.1,
        };
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
            return Ok(version);
        }
        let tell = |progress| (self.options.watcher)(wanted.kind, &named.name, &version, progress);
        tell(Progress::Started);
        // Nobody knows how much comes.
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

    /// Fetches the sources of a plugin and makes them ready to run.
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
        let claim = unpacked.map_err(install_error)?;
        self.prepare(wanted, version, &folder).await?;
        claim.finish(None).map_err(install_error)
    }

    /// Fetches the sources of a version, and puts them in their place.
    async fn unpack_sources(
        &self,
        claim: Claim,
        repository: Repository,
        version: &Version,
    ) -> Result<Result<Claim, InstallError>, AcquireError> {
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
            Ok(claim.unpack(&package, "").map(|()| claim))
        };
        blocking(work).await
    }

    /// Whether the lock file admits the plugin of the cache that `file` belongs to. Of one that was put there by others, from
    /// nobody knows which archive, nothing is known.
    pub fn verify(&self, file: &Path) -> Result<(), AcquireError> {
        let known = self.options.cache.owner_of(file).and_then(|plugin| {
            let checksum = checksum_of(&plugin.directory)?;
            Some((plugin.kind, plugin.name, plugin.version?, checksum))
        });
        let (Some(lock_file), Some((kind, name, version, checksum))) =
            (&self.options.lock_file, known)
        else {
            return Ok(());
        };
        Ok(lock_file.admit(kind, &name, &version, self.platform, &checksum)?)
    }

    /// Where to look, with the user's overrides in place.
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

    /// Compares with what the program or the user said; a platform of which nothing is said is not checked.
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

    fn admit(
        &self,
        wanted: &Wanted,
        version: &Version,
        checksum: &str,
    ) -> Result<(), AcquireError> {
        let Some(lock_file) = &self.options.lock_file else {
            return Ok(());
        };
        let (kind, name) = (wanted.kind, wanted.name.as_str());
        Ok(lock_file.admit(kind, name, version, self.platform, checksum)?)
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

async fn unpacked(claim: Claim, wanted: &Wanted, archive: PathBuf) -> Result<Claim, InstallError> {
    let program = wanted.kind.file_name(&wanted.name);
    blocking(move || {
        claim.unpack(&Package::Archive(archive), &program)?;
        Ok(claim)
    })
    .await
}

/// Runs what waits for disks and locks where it holds nobody up.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
