//! A workspace: where stacks are kept, and what their operations share.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plumb_acquire::{Acquirer, AcquirerOptions, LockFile, LockMode, Overrides, Tokens};
use plumb_backend::{
    Backend, Bucket, FileBackend, FileUrl, MemoryBucket, Owner, StackFilter, StateKeys,
    StoreOptions,
};
use plumb_language::LanguageOptions;
use plumb_plugin::Acquire;
use plumb_plugin::discovery::Cache;
use plumb_plugin::process::Environment;
use plumb_project::{ProjectName, StackName, StackReference};
use tempfile::TempDir;

use crate::acquiring::{PluginSource, prepare};
use crate::secrets::Managers;
use crate::{Encryption, Error, Stack, VERSION, semantic_version};

/// Place where stacks are kept.
#[derive(Clone, Debug, Default)]
pub enum Store {
    /// Memory of this process: the stacks are gone with the workspace.
    #[default]
    Memory,
    /// A folder of this machine, as `plumb login file://FOLDER` uses it. It is made if it is missing.
    Folder(PathBuf),
    /// The address of an object store or a database, such as `s3://bucket`.
    #[cfg(feature = "stores")]
    Url(String),
}

/// Settings of a new [`Workspace`].
#[derive(Default)]
pub struct WorkspaceBuilder {
    store: Store,
    encryption: Encryption,
    home: Option<PathBuf>,
    folder: Option<PathBuf>,
    variables: Environment,
    search_path: Option<OsString>,
    downloads: bool,
    lock: Option<Lock>,
}

/// Folder of the lock file of the workspace, and whether other plugins may be added to it.
struct Lock {
    folder: PathBuf,
    mode: LockMode,
}

impl WorkspaceBuilder {
    /// Sets the place of the stacks; [`Store::Memory`] by default.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// Sets the encryption of secrets in new stacks; needed for stores that outlive the process.
    #[must_use]
    pub fn encryption(mut self, encryption: Encryption) -> Self {
        self.encryption = encryption;
        self
    }

    /// Sets the folder of installed plugins, caches, and records that a store did not take, such as `~/.pulumi`. By
    /// default a folder that is deleted with the workspace.
    #[must_use]
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = Some(folder.into());
        self
    }

    /// Sets the folder that relative paths of assets and commands begin at, for programs without a folder. By default a
    /// folder that is deleted with the workspace.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Adds a variable to the environment of plugins and of programs in other processes, which is empty by default.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Adds all `variables`, for instance those of this process: `std::env::vars_os()`.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.variables.extend(variables);
        self
    }

    /// Also looks for plugins in these folders, which are separated as in `PATH`.
    #[must_use]
    pub fn plugin_path(mut self, folders: impl Into<OsString>) -> Self {
        self.search_path = Some(folders.into());
        self
    }

    /// Downloads plugins that are missing into the home folder, as the command line does. The variables
    /// `PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES`, `GITHUB_TOKEN` and `GITLAB_TOKEN` of the workspace have their usual meaning.
    #[must_use]
    pub fn download_plugins(mut self) -> Self {
        self.downloads = true;
        self
    }

    /// Keeps a lock file of plugins, `plumb.lock` in this
    /// folder: a plugin that is used for the first time is added, and one that is listed must not come from another archive.
    #[must_use]
    pub fn lock_plugins(mut self, folder: impl Into<PathBuf>) -> Self {
        self.lock = Some(Lock {
            folder: folder.into(),
            mode: LockMode::Update,
        });
        self
    }

    /// Starts no plugin but those that `plumb.lock` in this folder names, after a comparison of their files, as the command
    /// line does with `--locked`. It excludes [`WorkspaceBuilder::plugin_path`].
    #[must_use]
    pub fn only_locked_plugins(mut self, folder: impl Into<PathBuf>) -> Self {
        self.lock = Some(Lock {
            folder: folder.into(),
            mode: LockMode::Frozen,
        });
        self
    }

    /// Opens the store.
    pub fn build(self) -> Result<Workspace, Error> {
        let outlives = !matches!(self.store, Store::Memory);
        if outlives && matches!(self.encryption, Encryption::InProcess) {
            return Err(Error::Workspace(
                "stacks in a store that outlives the process need `Encryption::passphrase` or `Encryption::Key`: with a key \
                 that is gone with the process, nobody could read them again"
                    .to_owned(),
            ));
        }
        if self.takes_only_locked() && self.search_path.is_some() {
            return Err(Error::Workspace(
                "a lock file cannot name plugins of `plugin_path`; install them into the home folder".to_owned(),
            ));
        }
        let lock = self.lock.as_ref().map(|lock| &lock.folder);
        let given = [self.home.as_ref(), self.folder.as_ref(), lock];
        let stored = match &self.store {
            Store::Folder(path) => Some(path),
            _ => None,
        };
        let mut folders = given.into_iter().chain([stored]).flatten();
        if let Some(relative) = folders.find(|path| path.is_relative()) {
            return Err(Error::Workspace(format!(
                "the folder {} is not absolute; a library has no current folder",
                relative.display()
            )));
        }
        let scratch = tempfile::tempdir().map_err(|source| Error::Io {
            what: "could not make a temporary folder".to_owned(),
            source,
        })?;
        let home = self.home.clone();
        let home = home.unwrap_or_else(|| scratch.path().join("home"));
        let folder = self.folder.clone();
        let folder = folder.unwrap_or_else(|| scratch.path().to_owned());
        let variables = self.variables.clone();
        let text = move |name: &str| {
            let value = variables.get(&OsString::from(name))?;
            value.to_str().map(str::to_owned)
        };
        let managers = Managers::new(self.encryption.clone(), text)?;
        let backend = self.open_store(&home, managers.state_keys())?;
        let acquire = self.plugin_source(&home)?;
        let shared = Shared {
            acquire,
            backend,
            managers,
            home,
            folder,
            variables: self.variables,
            search_path: self.search_path,
            _scratch: scratch,
        };
        Ok(Workspace {
            shared: Arc::new(shared),
        })
    }

    fn takes_only_locked(&self) -> bool {
        let lock = self.lock.as_ref();
        lock.is_some_and(|lock| lock.mode == LockMode::Frozen)
    }

    fn plugin_source(&self, home: &Path) -> Result<Option<Arc<dyn Acquire>>, Error> {
        if !self.downloads && self.lock.is_none() {
            return Ok(None);
        }
        let lock = self.lock.as_ref();
        let variable = |name: &str| {
            let value = self.variables.get(&OsString::from(name))?;
            value.to_str().map(str::to_owned)
        };
        let overrides = variable("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES").unwrap_or_default();
        let overrides = Overrides::parse(&overrides);
        // Nobody watches: an operation that waits for a plugin says so in its events.
        let acquirer = Acquirer::new(AcquirerOptions {
            cache: Cache::new(home.join("plugins")),
            overrides: overrides.map_err(|error| Error::Workspace(error.to_string()))?,
            tokens: Tokens {
                github: variable("GITHUB_TOKEN"),
                gitlab: variable("GITLAB_TOKEN"),
            },
            environment: self.variables.clone(),
            program_version: VERSION.to_owned(),
            lock_file: lock.map(|lock| LockFile::in_folder(&lock.folder, lock.mode)),
            prepare: Some(prepare(LanguageOptions {
                environment: self.variables.clone(),
                engine_address: String::new(),
                debug_messages: false,
                cache_directory: home.join("plumb"),
                version: semantic_version(),
                output: Arc::new(|_| {}),
            })),
            watcher: Arc::new(|_, _, _, _| {}),
        });
        let source = PluginSource::new(acquirer).downloads(self.downloads);
        Ok(Some(Arc::new(source)))
    }

    fn open_store(
        &self,
        home: &Path,
        state_keys: Arc<dyn StateKeys>,
    ) -> Result<Arc<dyn Backend>, Error> {
        let owner = Owner {
            pid: std::process::id(),
            username: String::new(),
            hostname: host_name(),
        };
        let defaults = StoreOptions::new(VERSION);
        let options = StoreOptions {
            no_legacy_warning: true,
            // Nothing of a store in memory is worth keeping elsewhere.
            disable_backups: matches!(self.store, Store::Memory),
            kept_states: matches!(self.store, Store::Memory).then_some(0),
            recovery_folder: self.home.is_some().then(|| home.join("plumb/recovery")),
            state_keys: Some(state_keys),
            ..defaults
        };
        let (backend, _) = match &self.store {
            Store::Memory => {
                let bucket: Arc<dyn Bucket> = Arc::new(MemoryBucket::default());
                FileBackend::open_bucket(bucket, "mem://", owner, options)?
            }
            Store::Folder(path) => {
                let url = FileUrl {
                    url: format!("file://{}", path.display()),
                    path: path.clone(),
                    create_dir: true,
                };
                FileBackend::open(&url, owner, options)?
            }
            #[cfg(feature = "stores")]
            Store::Url(url) => {
                let refused = |detail: String| plumb_backend::BackendError::StoreUrl {
                    url: plumb_backend::masked(url),
                    detail,
                };
                let parsed = plumb_stores::StoreUrl::parse(url);
                let parsed = parsed.map_err(|error| refused(error.to_string()))?;
                let variables = |name: &str| {
                    let value = self.variables.get(&OsString::from(name))?;
                    let text = value.to_str().filter(|text| !text.is_empty())?;
                    Some(text.to_owned())
                };
                let watch = Arc::new(plumb_stores::StoreWatch::silent());
                let bucket = plumb_stores::open(&parsed, &variables, &watch)?;
                FileBackend::open_bucket(bucket, url, owner, options)?
            }
        };
        Ok(Arc::new(backend))
    }
}

/// Stacks of one store, and what their operations share. Clones are the same workspace.
#[derive(Clone)]
pub struct Workspace {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) managers: Managers,
    pub(crate) home: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) variables: Environment,
    pub(crate) search_path: Option<OsString>,
    /// Downloads missing plugins, and compares others with the lock file.
    pub(crate) acquire: Option<Arc<dyn Acquire>>,
    _scratch: TempDir,
}

impl Workspace {
    /// Begins a workspace with other settings than the defaults.
    pub fn builder() -> WorkspaceBuilder {
        WorkspaceBuilder::default()
    }

    /// A workspace whose stacks are in memory, for tests and for what is kept elsewhere.
    pub fn in_memory() -> Result<Self, Error> {
        WorkspaceBuilder::default().build()
    }

    /// Creates a stack.
    pub async fn create_stack(&self, project: &str, name: &str) -> Result<Stack, Error> {
        let stack = self.named(project, name)?;
        let created = stack.clone();
        blocking(move || {
            let (backend, reference) = (created.backend(), created.reference());
            if backend.stack_exists(reference)? {
                return Err(Error::StackExists(reference.qualified()));
            }
            Ok(backend.create_stack(reference, None)?)
        })
        .await?;
        Ok(stack)
    }

    /// A stack that exists.
    pub async fn stack(&self, project: &str, name: &str) -> Result<Stack, Error> {
        let stack = self.named(project, name)?;
        if stack.exists().await? {
            Ok(stack)
        } else {
            Err(Error::NoStack(stack.reference().qualified()))
        }
    }

    /// A stack, which is created if it does not exist.
    pub async fn stack_or_new(&self, project: &str, name: &str) -> Result<Stack, Error> {
        match self.create_stack(project, name).await {
            Err(Error::StackExists(_)) => self.named(project, name),
            result => result,
        }
    }

    /// Stacks of a project, or of all, sorted by name.
    pub async fn stacks(&self, project: Option<&str>) -> Result<Vec<Stack>, Error> {
        let filter = StackFilter {
            project: project.map(ProjectName::unchecked),
            tag: None,
        };
        let shared = self.shared.clone();
        let names = blocking(move || Ok(shared.backend.stack_names(&filter)?)).await?;
        let stack = |reference| Stack::new(self.shared.clone(), reference);
        Ok(names.into_iter().map(stack).collect())
    }

    fn named(&self, project: &str, name: &str) -> Result<Stack, Error> {
        let reference = StackReference {
            project: Some(ProjectName::parse(project)?),
            stack: StackName::parse(name)?,
        };
        Ok(Stack::new(self.shared.clone(), reference))
    }
}

/// Name of the machine, for locks.
#[cfg(unix)]
fn host_name() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

/// Locks name the process alone.
#[cfg(not(unix))]
fn host_name() -> String {
    String::new()
}

/// Does what takes long on a thread for that.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
