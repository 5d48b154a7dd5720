//! Shared data of all commands: settings, project, backend, stacks and their secrets.
//!
//! Everything is resolved on first use, so that commands do only the work that they need.

mod backend;
mod config;
mod globals;
mod managers;
mod passphrase;
mod project;
mod secrets;
mod settings;
mod stack;
mod state;
mod waiting;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use plumb_backend::Backend;
use plumb_secrets::{CloudKeys, Passphrases};
use plumb_stores::StoreWatch;

use crate::{Environment, Error, Printer};

pub use backend::{HomeFiles, Login};
pub use config::{ConfigCheck, StackConfig, no_environments, save_config_flags};
pub use globals::Globals;
pub use managers::StateFallback;
pub use managers::{check_provider_name, secrets_of};
pub use project::LoadedProject;
pub use secrets::StackSecrets;
pub use settings::StackSettings;
pub use stack::{IfMissing, NewStack, Stack};
pub use state::StackState;

/// Context of a command.
pub struct Context {
    /// Environment variables, folders and terminals.
    pub environment: Environment,
    /// Output of the command.
    pub printer: Arc<Printer>,
    /// Flags of all commands.
    pub globals: Globals,
    project: OnceLock<Option<LoadedProject>>,
    backend: OnceLock<Arc<dyn Backend>>,
    passphrases: OnceLock<Passphrases>,
    cloud_keys: OnceLock<CloudKeys>,
    /// Watch of the remote store, if there is one.
    pub(crate) store: Arc<StoreWatch>,
}

impl Context {
    /// Creates the context of a command; changes to the folder of `--cwd`.
    pub fn new(
        mut environment: Environment,
        printer: Arc<Printer>,
        globals: Globals,
    ) -> Result<Self, Error> {
        if let Some(named) = &globals.cwd {
            let folder = environment.cwd.join(named);
            if let Err(error) = std::env::set_current_dir(&folder) {
                let why = crate::go::reason(&error);
                return Err(Error::user(format!("chdir {named}: {why}")));
            }
            // The folder by the path that the system has for it, because the selected stack is remembered for that.
            environment.cwd = std::env::current_dir().unwrap_or(folder);
        }
        let teller = printer.clone();
        let store = StoreWatch::new(move |text| teller.info(text));
        Ok(Context {
            environment,
            printer,
            store: Arc::new(store),
            globals,
            project: OnceLock::new(),
            backend: OnceLock::new(),
            passphrases: OnceLock::new(),
            cloud_keys: OnceLock::new(),
        })
    }

    /// The context with another working directory.
    pub fn in_folder(&self, folder: &Path) -> Result<Self, Error> {
        let mut environment = self.environment.clone();
        folder.clone_into(&mut environment.cwd);
        let globals = Globals {
            cwd: None,
            ..self.globals.clone()
        };
        let printer = Printer::new(self.printer.color(), self.printer.program())
            .for_terminals_of(&environment);
        Context::new(environment, Arc::new(printer), globals)
    }

    /// Whether prompts are allowed.
    pub fn is_interactive(&self) -> bool {
        self.environment
            .is_interactive(self.globals.non_interactive)
    }

    /// The emoji if enabled, and the plain text otherwise.
    pub fn emoji_or<'t>(&self, emoji: &'t str, plain: &'t str) -> &'t str {
        if self.globals.emoji { emoji } else { plain }
    }

    /// Cache of passphrase managers, so that each key is derived only once per process.
    pub fn passphrases(&self) -> &Passphrases {
        self.passphrases
            .get_or_init(|| Passphrases::new(self.passphrase_source()))
    }
}
