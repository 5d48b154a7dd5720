//! From the wish for a plugin to the plugin in the cache.

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
    pub(crate) options: AcquirerOptions,
    pub(crate) platform: Platform,
    /// Made when the first thing is downloaded.
    downloader: OnceLock<Downloader>,
    /// Files that were verified: what is started several times in a run is hashed once.
    pub(crate) verified: Mutex<Vec<PathBuf>>,
}

impl Acquirer {
    /// Nothing is read or asked yet.
    pub fn new(options: AcquirerOptions) -> Self {
        Acquirer {
            options,
            platform: Platform::current(),
            downloader: OnceLock::new(),
            verified: Mutex::default(),
        }
    }

    /// Gets a plugin; answers its version. What is there already is only checked against the lock file; and nobody is asked
    /// for what a frozen lock file does not name.
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

    /// The repository at an address and the version that is meant, which is found out if the address does not say.
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

    /// Gets a plugin whose sources are in a repository. There is no archive to be locked, but a tag may move: its content is.
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
        let (claim, content) = unpacked.map_err(install_error)?;
        let locked = self.locked(wanted, version);
        self.admit(&locked, claim.folder(), None, content)?;
        self.prepare(wanted, version, &folder).await?;
        claim.finish(None).map_err(install_error)
    }

    /// Fetches the sources of a version, and puts them in their place.
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

/// Unpacks an archive; answers the digest of its files too.
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

/// Runs what waits for disks and locks where it holds nobody up.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
