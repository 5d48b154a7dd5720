//! Choice of the backend, and the files with logins (`state.md` 4).
//!
//! The URL is that of `PULUMI_BACKEND_URL`, the project, or the last login, in this order. Without any, stacks are stored
//! in the user's home folder, so that no account is needed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use plumb_automation::codec::state_keys;
use plumb_backend::{
    Backend, BackendError, BackendUrl, Bucket, FileBackend, OpenWarning, Owner, StoreOptions,
    masked,
};
use plumb_project::files::{self, Access};
use plumb_project::workspace::{Credentials, HomeConfig};
use plumb_stores::StoreUrl;

use super::Context;
use crate::{Environment, Error, VERSION};

/// Default backend.
const DEFAULT_URL: &str = "file://~";

/// Source of the backend's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// Environment variable.
    Variable(String),
    /// Project file.
    Project(String),
    /// Last login.
    Credentials(String),
    /// No setting.
    Default,
}

impl Login {
    /// URL.
    pub fn url(&self) -> &str {
        match self {
            Login::Variable(url) | Login::Project(url) | Login::Credentials(url) => url,
            Login::Default => DEFAULT_URL,
        }
    }
}

/// Files in the home folder.
#[derive(Debug, Clone)]
pub struct HomeFiles {
    credentials: PathBuf,
    config: PathBuf,
}

impl HomeFiles {
    /// Files for this environment.
    pub fn new(environment: &Environment) -> Self {
        let folder = environment
            .non_empty("PULUMI_CREDENTIALS_PATH")
            .map_or_else(
                || environment.pulumi_home.clone(),
                |path| environment.cwd.join(path),
            );
        HomeFiles {
            credentials: folder.join("credentials.json"),
            config: environment.pulumi_home.join("config.json"),
        }
    }

    /// Logins.
    pub fn credentials(&self) -> Result<Credentials, Error> {
        match files::read_text(&self.credentials)? {
            Some(text) => {
                Credentials::parse(&text).map_err(|error| in_file(&self.credentials, error))
            }
            None => Ok(Credentials::default()),
        }
    }

    /// Saves the logins.
    pub fn save_credentials(&self, credentials: &Credentials) -> Result<(), Error> {
        match credentials.to_text() {
            Some(text) => files::write_text(&self.credentials, &text, Access::Private)?,
            None => files::remove(&self.credentials)?,
        }
        Ok(())
    }

    /// Settings, by backend.
    pub fn config(&self) -> Result<HomeConfig, Error> {
        match files::read_text(&self.config)? {
            Some(text) => HomeConfig::parse(&text).map_err(|error| in_file(&self.config, error)),
            None => Ok(HomeConfig::default()),
        }
    }
}

fn in_file(path: &Path, error: impl std::error::Error + 'static) -> Error {
    Error::from(error).context(path.display())
}

impl Context {
    /// Selected backend, with the source of its URL.
    pub fn login(&self) -> Result<Login, Error> {
        if let Some(url) = self.environment.non_empty("PULUMI_BACKEND_URL") {
            return Ok(Login::Variable(url.to_owned()));
        }
        if let Some(url) = self
            .find_project()?
            .and_then(|project| project.project.backend_url.clone())
        {
            return Ok(Login::Project(url));
        }
        let current = HomeFiles::new(&self.environment).credentials()?.current;
        Ok(if current.is_empty() {
            Login::Default
        } else {
            Login::Credentials(current)
        })
    }

    /// Opens the selected backend.
    pub fn backend(&self) -> Result<Arc<dyn Backend>, Error> {
        if let Some(backend) = self.backend.get() {
            return Ok(Arc::clone(backend));
        }
        let login = self.login()?;
        // A relative path in a project file is relative to the project.
        let base = match (&login, self.find_project()?) {
            (Login::Project(_), Some(project)) => project.root().to_owned(),
            _ => self.environment.cwd.clone(),
        };
        let opened = self.open_backend(login.url(), &base)?;
        Ok(Arc::clone(self.backend.get_or_init(|| opened)))
    }

    /// Opens the backend at a URL.
    pub fn open_backend(&self, url: &str, base: &Path) -> Result<Arc<dyn Backend>, Error> {
        Ok(Arc::new(self.open_file_backend(
            url,
            base,
            StoreOptions::clone,
        )?))
    }

    /// Opens a file-based or object storage backend; `adjust` can change its options.
    pub fn open_file_backend(
        &self,
        url: &str,
        base: &Path,
        adjust: impl FnOnce(&StoreOptions) -> StoreOptions,
    ) -> Result<FileBackend, Error> {
        let mut options = adjust(&store_options(&self.environment)?);
        let (passphrases, keys) = (self.passphrases().clone(), self.cloud_keys().clone());
        options.state_keys = Some(state_keys(passphrases, keys));
        let owner = Owner {
            pid: std::process::id(),
            username: self.environment.user_name(),
            hostname: self.environment.host_name(),
        };
        let (backend, warning) = match BackendUrl::parse(url, &self.environment.home, base)? {
            BackendUrl::File(file) => FileBackend::open(&file, owner, options)?,
            BackendUrl::Store { url } => {
                let bucket = self.open_store(&url)?;
                FileBackend::open_bucket(bucket, &url, owner, options)?
            }
            BackendUrl::Service { url } => {
                return Err(Error::unsupported(format!("the service backend at {url}")));
            }
        };
        if let Some(OpenWarning::LegacyStacks { stacks }) = warning {
            self.printer.warning(&format!(
                "the state store has stacks in the legacy layout, which are not seen: {}; run `plumb state upgrade`",
                stacks.join(", ")
            ));
        }
        Ok(backend)
    }

    /// Opens a remote object store.
    fn open_store(&self, url: &str) -> Result<Arc<dyn Bucket>, Error> {
        let parsed = StoreUrl::parse(url).map_err(|error| BackendError::StoreUrl {
            url: masked(url),
            detail: error.to_string(),
        })?;
        let variables = |name: &str| self.environment.non_empty(name).map(str::to_owned);
        Ok(plumb_stores::open(&parsed, &variables, &self.store)?)
    }
}

/// Options from the environment variables in `state.md` 3.3.
fn store_options(environment: &Environment) -> Result<StoreOptions, Error> {
    let is_on = |name: &str, old: &str| {
        environment.is_on(&format!("PULUMI_{name}")) || environment.is_on(old)
    };
    let parallel = environment
        .non_empty("PULUMI_DIY_BACKEND_PARALLEL")
        .and_then(|text| text.parse().ok());
    let kept_states = environment
        .non_empty("PLUMB_HISTORY_STATES")
        .and_then(|text| text.parse().ok());
    let defaults = StoreOptions::new(VERSION);
    Ok(StoreOptions {
        compression: StoreOptions::compression_of(
            is_on("DIY_BACKEND_GZIP", "PULUMI_SELF_MANAGED_STATE_GZIP"),
            is_on("DIY_BACKEND_ZSTD", "PULUMI_SELF_MANAGED_STATE_ZSTD"),
        )?,
        legacy_layout: is_on(
            "DIY_BACKEND_LEGACY_LAYOUT",
            "PULUMI_SELF_MANAGED_STATE_LEGACY_LAYOUT",
        ),
        no_legacy_warning: is_on(
            "DIY_BACKEND_NO_LEGACY_WARNING",
            "PULUMI_SELF_MANAGED_STATE_NO_LEGACY_WARNING",
        ),
        ignore_deprecation_error: environment.is_on("PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR"),
        retain_checkpoints: is_on(
            "DIY_BACKEND_RETAIN_CHECKPOINTS",
            "PULUMI_RETAIN_CHECKPOINTS",
        ),
        disable_backups: is_on(
            "DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS",
            "PULUMI_DISABLE_CHECKPOINT_BACKUPS",
        ),
        parallel: parallel.unwrap_or(defaults.parallel),
        kept_states,
        recovery_folder: Some(environment.pulumi_home.join("plumb").join("recovery")),
        ..defaults
    })
}
