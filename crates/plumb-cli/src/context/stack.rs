//! Finding, making and selecting stacks.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use plumb_backend::{Backend, StackFilter};
use plumb_project::StackReference;
use plumb_project::files::{self, Access};
use plumb_project::workspace::WorkspaceFile;
use plumb_secrets::SecretsManager;
use plumb_state::{CiphertextCache, Manifest, Snapshot};

use super::managers::{check_provider_name, provider_of, secrets_of};
use super::{Context, ManagerCodec, StackSettings};
use crate::identity::{Code, Subject};
use crate::{Error, prompt};

/// A stack that a command works on.
#[derive(Clone)]
pub struct Stack {
    /// Which one.
    pub reference: StackReference,
    /// Where it is kept.
    pub backend: Arc<dyn Backend>,
    /// Its name as people see it.
    pub shown: String,
    project: String,
}

impl Stack {
    /// The name without organization and project.
    pub fn name(&self) -> &str {
        self.reference.stack.as_str()
    }

    /// The name of its project; that of the working directory in the legacy layout.
    pub fn project_name(&self) -> &str {
        &self.project
    }
}

/// What to do when there is no such stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMissing {
    /// Fail.
    Fail,
    /// Ask whether to make it, if somebody is there to answer.
    Offer,
    /// Make it.
    Create,
}

/// How to make a stack.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewStack<'a> {
    /// How its secrets are encrypted: `default`, `passphrase`, or an address.
    pub secrets_provider: Option<&'a str>,
    /// Its settings file, instead of the one that its name says.
    pub config_file: Option<&'a str>,
}

impl Context {
    /// The stack that `name` refers to, whether it exists or not.
    pub fn stack_named(&self, name: &str) -> Result<Stack, Error> {
        let backend = self.backend()?;
        let reference = backend.parse_stack(name, self.project_name()?)?;
        self.stack_of(reference)
    }

    /// Where the URNs of a stack lead on terminals that show links: to the state that has the resources.
    pub fn link(&self, stack: &Stack) -> Option<String> {
        if !self.environment.knows_links() {
            return None;
        }
        stack.backend.permalink(&stack.reference).ok().flatten()
    }

    /// The stack of a reference.
    pub fn stack_of(&self, reference: StackReference) -> Result<Stack, Error> {
        self.stack_in(self.backend()?, reference)
    }

    /// The stack of a reference in this backend.
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

    /// A stack's name as people see it.
    pub fn shown_name(&self, reference: &StackReference) -> Result<String, Error> {
        if self.globals.fully_qualify_stack_names {
            return Ok(reference.qualified());
        }
        Ok(reference.display(self.project_name()?))
    }

    /// The stack that a command is for: `flag`, else `PULUMI_STACK`, else the selected one, else the user's choice.
    pub fn require_stack(&self, flag: Option<&str>, missing: IfMissing) -> Result<Stack, Error> {
        self.require_stack_with(flag, missing, NewStack::default())
    }

    /// Like [`Context::require_stack`]; `new` says how to make the stack.
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
            return Err(Error::no_stack(&stack.shown));
        }
        self.create_stack(&stack, new)?;
        self.select_stack(&stack)?;
        Ok(stack)
    }

    /// The stack that is selected for this project and backend, if it still exists.
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

    /// Selects none. Answers whether one was selected.
    pub fn unselect_stack(&self) -> Result<bool, Error> {
        let is_selected = match self.workspace()? {
            Some((_, workspace)) => workspace.selected(self.backend()?.url()).is_some(),
            None => false,
        };
        self.change_selection(None)?;
        Ok(is_selected)
    }

    /// Makes a stack, with its secrets manager if one can be had without asking. Says so on stderr.
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

    /// The workspace file of the project and what it says.
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
            // Without a project there is nothing to remember the selection for.
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

/// Writes the salt or the encrypted data key of a new manager into the settings.
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

/// The state of a new stack: the time, and how secrets are encrypted. It has no version, for the stack was never updated.
fn first_snapshot(
    manager: Arc<dyn SecretsManager>,
) -> Result<plumb_state::EncryptedSnapshot, Error> {
    let snapshot = Snapshot {
        manifest: Manifest::new(Timestamp::now(), ""),
        secrets_provider: Some(provider_of(manager.as_ref())),
        ..Snapshot::default()
    };
    Ok(snapshot.encrypt(&ManagerCodec(manager), &mut CiphertextCache::new())?)
}
