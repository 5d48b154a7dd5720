//! Search, creation and selection of stacks.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use plumb_automation::codec::{ManagerCodec, provider_of};
use plumb_backend::{Backend, StackFilter};
use plumb_project::StackReference;
use plumb_project::files::{self, Access};
use plumb_project::workspace::WorkspaceFile;
use plumb_secrets::SecretsManager;
use plumb_state::{CiphertextCache, Manifest, Snapshot};

use super::managers::{check_provider_name, secrets_of};
use super::{Context, StackSettings};
use crate::identity::{Code, Subject};
use crate::{Error, VERSION, prompt};

/// The stack of a command.
#[derive(Clone)]
pub struct Stack {
    /// Reference.
    pub reference: StackReference,
    /// Backend.
    pub backend: Arc<dyn Backend>,
    /// Displayed name.
    pub shown: String,
    project: String,
}

impl Stack {
    /// Name without organization and project.
    pub fn name(&self) -> &str {
        self.reference.stack.as_str()
    }

    /// Name of its project; in the legacy layout, that of the current project.
    pub fn project_name(&self) -> &str {
        &self.project
    }
}

/// Treatment of a missing stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMissing {
    /// Fail.
    Fail,
    /// Prompt to create it, if the session is interactive.
    Offer,
    /// Create it.
    Create,
}

/// Options for a new stack.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewStack<'a> {
    /// Secrets provider: `default`, `passphrase`, or a URL.
    pub secrets_provider: Option<&'a str>,
    /// Path of its settings file, if not the default.
    pub config_file: Option<&'a str>,
}

impl Context {
    /// Stack with the name `name`, which need not exist.
    pub fn stack_named(&self, name: &str) -> Result<Stack, Error> {
        let backend = self.backend()?;
        let reference = backend.parse_stack(name, self.project_name()?)?;
        self.stack_of(reference)
    }

    /// Link target for the URNs of a stack, on terminals with link support: the file of its state.
    pub fn link(&self, stack: &Stack) -> Option<String> {
        if !self.environment.knows_links() {
            return None;
        }
        stack.backend.permalink(&stack.reference).ok().flatten()
    }

    /// Stack for a reference.
    pub fn stack_of(&self, reference: StackReference) -> Result<Stack, Error> {
        self.stack_in(self.backend()?, reference)
    }

    /// Stack for a reference in a given backend.
    pub fn stack_in(
        &self,
        backend: Arc<dyn Backend>,
        reference: StackReference,
    ) -> Result<Stack, Error> {
        let project = match &reference.project {
            Some(project) => project.to_string(),
            None => self
                .project_name()?
                .map(ToString::to_string)
                .unwrap_or_default(),
        };
        Ok(Stack {
            shown: self.shown_name(&reference)?,
            backend,
            reference,
            project,
        })
    }

    /// Displayed name of a stack.
    pub fn shown_name(&self, reference: &StackReference) -> Result<String, Error> {
        if self.globals.fully_qualify_stack_names {
            return Ok(reference.qualified());
        }
        Ok(reference.display(self.project_name()?))
    }

    /// Stack of a command: that of the flag, `PULUMI_STACK`, the selection, or a prompt, in this order.
    pub fn require_stack(&self, flag: Option<&str>, missing: IfMissing) -> Result<Stack, Error> {
        self.require_stack_with(flag, missing, NewStack::default())
    }

    /// Like [`Context::require_stack`], with options for a new stack.
    pub fn require_stack_with(
        &self,
        flag: Option<&str>,
        missing: IfMissing,
        new: NewStack<'_>,
    ) -> Result<Stack, Error> {
        let named = flag
            .filter(|name| !name.is_empty())
            .or_else(|| self.environment.non_empty("PULUMI_STACK"));
        let Some(name) = named else {
            return match self.selected_stack()? {
                Some(stack) => Ok(stack),
                None => self.choose_stack(missing, new),
            };
        };
        let stack = self.stack_named(name)?;
        if stack.backend.stack_exists(&stack.reference)? {
            return Ok(stack);
        }
        let is_wanted = match missing {
            IfMissing::Fail => false,
            IfMissing::Create => true,
            IfMissing::Offer => {
                self.is_interactive() && {
                    self.printer
                        .line(&format!("The stack '{name}' does not exist."));
                    prompt::confirm("Create it?")?
                }
            }
        };
        if !is_wanted {
            return Err(Error::no_stack(name));
        }
        self.create_stack(&stack, new)?;
        self.select_stack(&stack)?;
        Ok(stack)
    }

    /// Stack selected for this project and backend; `None` if it no longer exists.
    pub fn selected_stack(&self) -> Result<Option<Stack>, Error> {
        let Some((_, workspace)) = self.workspace()? else {
            return Ok(None);
        };
        let backend = self.backend()?;
        let Some(name) = workspace.selected(backend.url()) else {
            return Ok(None);
        };
        let stack = self.stack_named(name)?;
        Ok(backend.stack_exists(&stack.reference)?.then_some(stack))
    }

    /// Selects a stack for this project and backend.
    pub fn select_stack(&self, stack: &Stack) -> Result<(), Error> {
        self.change_selection(Some(&stack.reference))
    }

    /// Clears the selection; returns whether there was one.
    pub fn unselect_stack(&self) -> Result<bool, Error> {
        let is_selected = match self.workspace()? {
            Some((_, workspace)) => workspace.selected(self.backend()?.url()).is_some(),
            None => false,
        };
        self.change_selection(None)?;
        Ok(is_selected)
    }

    /// Creates a stack, with a secrets manager if that needs no prompt. Reports it on standard error.
    pub fn create_stack(&self, stack: &Stack, new: NewStack<'_>) -> Result<(), Error> {
        if stack.backend.stack_exists(&stack.reference)? {
            return Err(Error::user(format!(
                "stack '{}' already exists",
                stack.reference.qualified()
            ))
            .about(Code::StackExists, Subject::Stack(stack.shown.clone())));
        }
        let provider = new.secrets_provider.unwrap_or("default");
        check_provider_name(provider)?;
        self.check_project_of(stack)
            .map_err(|error| error.context("could not create stack"))?;
        let mut settings = self.stack_settings(stack, new.config_file)?;
        let manager = self.first_manager(&settings, provider)?;
        let initial = match &manager {
            Some(manager) => Some(first_snapshot(Arc::clone(manager))?),
            None => None,
        };
        stack
            .backend
            .create_stack(&stack.reference, initial.as_ref())?;
        if let Some(manager) = manager {
            record_manager(&mut settings, manager.as_ref())?;
        }
        self.printer
            .info(&format!("Created stack '{}'", stack.shown));
        Ok(())
    }

    fn choose_stack(&self, missing: IfMissing, new: NewStack<'_>) -> Result<Stack, Error> {
        self.project()?;
        if !self.is_interactive() {
            let or_make = match missing {
                IfMissing::Fail => "",
                IfMissing::Offer | IfMissing::Create => " or `pulumi stack init`",
            };
            return Err(Error::user(format!(
                "no stack selected; please use `pulumi stack select`{or_make} to choose one"
            ))
            .known(Code::NoStackSelected));
        }
        let filter = StackFilter {
            project: self.project_name()?.cloned(),
            tag: None,
        };
        let stacks = self.backend()?.stack_names(&filter)?;
        let mut choices = Vec::new();
        for stack in &stacks {
            choices.push(self.shown_name(stack)?);
        }
        if missing != IfMissing::Fail || stacks.is_empty() {
            choices.push("<create a new stack>".to_owned());
        }
        let index = prompt::select("Please choose a stack, or create a new one:", choices)?;
        let stack = if let Some(stack) = stacks.get(index) {
            self.stack_of(stack.clone())?
        } else {
            let stack = self.stack_named(&prompt::text(
                "Please enter your desired stack name:",
                Some("dev"),
            )?)?;
            self.create_stack(&stack, new)?;
            stack
        };
        self.select_stack(&stack)?;
        Ok(stack)
    }

    /// Path and contents of the project's workspace file.
    fn workspace(&self) -> Result<Option<(PathBuf, WorkspaceFile)>, Error> {
        let Some(project) = self.find_project()? else {
            return Ok(None);
        };
        let relative = WorkspaceFile::path(&project.project.name, &project.path.to_string_lossy());
        let path = self.environment.pulumi_home.join(relative);
        let file = match files::read_text(&path)? {
            Some(text) => WorkspaceFile::parse(&text)
                .map_err(|error| Error::from(error).context(path.display()))?,
            None => WorkspaceFile::default(),
        };
        Ok(Some((path, file)))
    }

    fn change_selection(&self, stack: Option<&StackReference>) -> Result<(), Error> {
        let Some((path, mut workspace)) = self.workspace()? else {
            // The selection is stored per project.
            return Ok(());
        };
        let url = self.backend()?.url().to_owned();
        workspace.select(&url, stack.map(StackReference::qualified).as_deref());
        match workspace.to_text() {
            Some(text) => files::write_text(&path, &text, Access::Private)?,
            None => files::remove(&path)?,
        }
        Ok(())
    }
}

/// Writes the salt or the encrypted data key of a new manager to the settings.
fn record_manager(settings: &mut StackSettings, manager: &dyn SecretsManager) -> Result<(), Error> {
    let wanted = secrets_of(&provider_of(manager));
    let secrets = settings.file.secrets();
    let has_salt = wanted.salt.is_some() && wanted.salt == secrets.salt;
    if has_salt || wanted == secrets || settings.path.is_none() {
        return Ok(());
    }
    settings.file.set_secrets(&wanted);
    settings.save(None)
}

/// State of a new stack: the time, the version, and its secrets provider.
fn first_snapshot(
    manager: Arc<dyn SecretsManager>,
) -> Result<plumb_state::EncryptedSnapshot, Error> {
    let snapshot = Snapshot {
        manifest: Manifest::new(Timestamp::now(), VERSION),
        secrets_provider: Some(provider_of(manager.as_ref())),
        ..Snapshot::default()
    };
    Ok(snapshot.encrypt(&ManagerCodec(manager), &mut CiphertextCache::new())?)
}
