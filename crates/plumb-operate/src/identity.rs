//! Codes and subjects of errors, derived from their types.
//!
//! [`identify`] examines an error and its causes. Errors without a type of their own get a code with
//! [`crate::Error::known`].

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;

use plumb_acquire::{AcquireError, LockFileError};
use plumb_backend::{BackendError, Fenced, JournalError};
use plumb_plugin::HostError;
use plumb_plugin::discovery::FindError;
use plumb_project::FileError;
use plumb_resource::Urn;
use plumb_state::edit::LocateError;
use plumb_state::integrity::IntegrityError;

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal,)*) => {
        /// Code of an error. Names are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $name] $code,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$code,)*];

            /// Name, the heading in `docs/errors.md`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$code => $name,)*
                }
            }
        }
    };
}

codes! {
    NoProject = "no-project",
    BadProject = "bad-project",
    OldVersion = "old-version",
    NoStackSelected = "no-stack-selected",
    NoStack = "no-stack",
    StackExists = "stack-exists",
    StackHasResources = "stack-has-resources",
    Locked = "locked",
    TakenOver = "taken-over",
    InvalidState = "invalid-state",
    UnreadableState = "unreadable-state",
    NoSuchUpdate = "no-such-update",
    InterruptedJournal = "interrupted-journal",
    NoPassphrase = "no-passphrase",
    WrongPassphrase = "wrong-passphrase",
    Undecryptable = "undecryptable",
    LockedSecrets = "locked-secrets",
    KeyUnavailable = "key-unavailable",
    MissingConfig = "missing-config",
    NoEnvironments = "no-environments",
    LooksLikeSecret = "looks-like-secret",
    NotConfirmed = "not-confirmed",
    UnexpectedChanges = "unexpected-changes",
    Protected = "protected",
    NotTargeted = "not-targeted",
    DuplicateResource = "duplicate-resource",
    NotInPlan = "not-in-plan",
    PolicyViolated = "policy-violated",
    ProgramFailed = "program-failed",
    NoResource = "no-resource",
    NoRun = "no-run",
    PluginNotFound = "plugin-not-found",
    PluginFailed = "plugin-failed",
    PluginDownload = "plugin-download",
    PluginChecksum = "plugin-checksum",
    NoInterpreter = "no-interpreter",
    DependenciesMissing = "dependencies-missing",
    UnknownBackend = "unknown-backend",
    LegacyStore = "legacy-store",
    UnknownCommand = "unknown-command",
    NotSupported = "not-supported",
}

/// Subject of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A stack.
    Stack(String),
    /// A resource.
    Resource(Urn),
    /// A file.
    File(String),
    /// A position in a file.
    Place {
        /// The file.
        file: String,
        /// Line, starting at 1.
        line: usize,
        /// Column in characters, starting at 1.
        column: usize,
    },
    /// A plugin.
    Plugin(String),
    /// A setting of the stack or project.
    Setting(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Stack(name) => write!(f, "stack {name}"),
            Subject::Resource(urn) => write!(f, "{urn}"),
            Subject::File(file) => f.write_str(file),
            Subject::Place { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Subject::Plugin(name) => write!(f, "plugin {name}"),
            Subject::Setting(key) => write!(f, "setting {key}"),
        }
    }
}

impl Subject {
    /// Whether a text already contains the subject's name.
    pub fn is_named_in(&self, text: &str) -> bool {
        match self {
            Subject::Stack(name)
            | Subject::File(name)
            | Subject::Plugin(name)
            | Subject::Setting(name) => text.contains(name.as_str()),
            Subject::Resource(urn) => text.contains(urn.as_str()),
            Subject::Place { file, .. } => text.contains(file.as_str()),
        }
    }

    /// Source line of a position, with a mark below the column; `None` for other subjects and unreadable files.
    pub fn snippet(&self, folder: &Path) -> Option<String> {
        let Subject::Place { file, line, column } = self else {
            return None;
        };
        let text = std::fs::read_to_string(folder.join(file)).ok()?;
        Some(drawn(
            text.lines().nth(line.checked_sub(1)?)?,
            *line,
            *column,
        ))
    }
}

fn drawn(text: &str, line: usize, column: usize) -> String {
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    // Keep tabs, so that the mark is aligned with its column.
    let before = text.chars().take(column.saturating_sub(1));
    let before: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
    format!("  {margin} |\n  {number} | {text}\n  {margin} | {before}^\n")
}

/// Code and subject of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Code.
    pub code: Code,
    /// Subject; `None` if there is no single one.
    pub subject: Option<Subject>,
}

impl Identity {
    /// Identity with a subject.
    pub fn new(code: Code, subject: Subject) -> Self {
        Identity {
            code,
            subject: Some(subject),
        }
    }

    /// Identity without a subject.
    pub fn of(code: Code) -> Self {
        Identity {
            code,
            subject: None,
        }
    }
}

/// Identity of an error, determined by its type or that of one of its causes.
pub fn identify(error: &(dyn StdError + 'static)) -> Option<Identity> {
    let mut next = Some(error);
    while let Some(error) = next {
        let found = None
            .or_else(|| error.downcast_ref().and_then(of_backend))
            .or_else(|| error.downcast_ref().map(of_integrity))
            .or_else(|| error.downcast_ref().and_then(of_secrets))
            .or_else(|| error.downcast_ref().map(of_file))
            .or_else(|| error.downcast_ref().and_then(of_host))
            .or_else(|| error.downcast_ref().and_then(of_find))
            .or_else(|| error.downcast_ref().and_then(of_acquire))
            .or_else(|| error.downcast_ref().map(of_lock_file))
            .or_else(|| error.downcast_ref().map(of_location));
        // Boxes in the chain of causes implement `Error` themselves.
        if found.is_some() {
            return found;
        }
        next = error.source();
    }
    None
}

fn of_backend(error: &BackendError) -> Option<Identity> {
    let stack = |name: &String| Subject::Stack(name.clone());
    let file = |key: &String| Subject::File(key.clone());
    Some(match error {
        BackendError::NoStack { stack: name } => Identity::new(Code::NoStack, stack(name)),
        BackendError::StackExists { stack: name } => Identity::new(Code::StackExists, stack(name)),
        BackendError::HasResources { stack: name } => {
            Identity::new(Code::StackHasResources, stack(name))
        }
        BackendError::Locked { .. } => Identity::of(Code::Locked),
        BackendError::Fenced(Fenced { .. })
        | BackendError::Journal(JournalError::Fenced(Fenced { .. })) => {
            Identity::of(Code::TakenOver)
        }
        BackendError::Rescued { source, .. } => return of_backend(source),
        BackendError::Invalid { stack: name, .. } => Identity::new(Code::InvalidState, stack(name)),
        BackendError::Checkpoint { key, .. }
        | BackendError::Unpack { key, .. }
        | BackendError::Json { key, .. } => Identity::new(Code::UnreadableState, file(key)),
        BackendError::Replay { key, .. } | BackendError::Fold { key, .. } => {
            Identity::new(Code::InterruptedJournal, file(key))
        }
        BackendError::LegacyLayout | BackendError::UnsupportedMeta { .. } => {
            Identity::of(Code::LegacyStore)
        }
        BackendError::UnknownUrl { .. }
        | BackendError::StoreUrl { .. }
        | BackendError::NoFolder { .. } => Identity::of(Code::UnknownBackend),
        _ => return None,
    })
}

fn of_integrity(error: &IntegrityError) -> Identity {
    match error {
        IntegrityError::MissingType { urn }
        | IntegrityError::IdOnComponent { urn }
        | IntegrityError::UnknownProvider { urn, .. }
        | IntegrityError::Reference { urn, .. }
        | IntegrityError::Duplicate { urn } => {
            Identity::new(Code::InvalidState, Subject::Resource(urn.clone()))
        }
        IntegrityError::Magic
        | IntegrityError::SnippetWithoutUuid { .. }
        | IntegrityError::DuplicateSnippet { .. } => Identity::of(Code::InvalidState),
    }
}

fn of_secrets(error: &plumb_secrets::Error) -> Option<Identity> {
    use plumb_secrets::Error;
    let code = match error {
        Error::IncorrectPassphrase => Code::WrongPassphrase,
        Error::NoPassphrase => Code::NoPassphrase,
        Error::Decrypt(_) | Error::Salt(_) | Error::OtherKey { .. } => Code::Undecryptable,
        Error::Key(_) => Code::KeyUnavailable,
        Error::Locked { .. } => Code::LockedSecrets,
        _ => return None,
    };
    Some(Identity::of(code))
}

fn of_file(error: &FileError) -> Identity {
    let place = |file: &str, line: usize, column: usize| {
        if line == 0 {
            Subject::File(file.to_owned())
        } else {
            Subject::Place {
                file: file.to_owned(),
                line,
                column,
            }
        }
    };
    let subject = match error {
        FileError::Syntax { file, position, .. } | FileError::Duplicate { file, position, .. } => {
            place(file, position.line, position.column)
        }
        FileError::Invalid { file, problems } => problems.first().map_or_else(
            || Subject::File(file.clone()),
            |first| place(file, first.position.line, first.position.column),
        ),
    };
    Identity::new(Code::BadProject, subject)
}

fn of_host(error: &HostError) -> Option<Identity> {
    Some(match error {
        HostError::NotFound(missing) | HostError::Acquire { missing, .. } => {
            return of_find(missing);
        }
        HostError::Start(error) => {
            let plugin = Subject::Plugin(error.plugin.clone());
            Identity::new(Code::PluginFailed, plugin)
        }
        HostError::Unverified { path, .. } => {
            let file = Subject::File(path.display().to_string());
            Identity::new(Code::PluginChecksum, file)
        }
        _ => return None,
    })
}

fn of_find(error: &FindError) -> Option<Identity> {
    match error {
        FindError::NotFound { name, .. } => {
            let plugin = Subject::Plugin(name.clone());
            Some(Identity::new(Code::PluginNotFound, plugin))
        }
        FindError::Ambiguous { .. } => None,
    }
}

fn of_acquire(error: &AcquireError) -> Option<Identity> {
    let plugin = |name: &String| Subject::Plugin(name.clone());
    Some(match error {
        AcquireError::Nowhere { name, .. }
        | AcquireError::Install { name, .. }
        | AcquireError::Prepare { name, .. } => Identity::new(Code::PluginDownload, plugin(name)),
        AcquireError::Checksum { name, .. } => Identity::new(Code::PluginChecksum, plugin(name)),
        AcquireError::LockFile(error) => of_lock_file(error),
        AcquireError::Client(_) | AcquireError::Repository(_) => Identity::of(Code::PluginDownload),
        AcquireError::Content { folder, .. } => {
            let subject = Subject::File(folder.display().to_string());
            Identity::new(Code::PluginChecksum, subject)
        }
        AcquireError::Source(_) | AcquireError::Address(_) => return None,
    })
}

fn of_lock_file(error: &LockFileError) -> Identity {
    let subject = match error {
        LockFileError::Different { plugin, .. }
        | LockFileError::Changed { plugin, .. }
        | LockFileError::NoContent { plugin, .. }
        | LockFileError::NoListing { plugin, .. }
        | LockFileError::Unknown { plugin, .. } => Subject::Plugin(plugin.clone()),
        LockFileError::File { path, .. }
        | LockFileError::Parse { path, .. }
        | LockFileError::Later { path, .. } => Subject::File(path.display().to_string()),
    };
    Identity::new(Code::PluginChecksum, subject)
}

fn of_location(error: &LocateError) -> Identity {
    let urn = match error {
        LocateError::NotFound { urn } | LocateError::Ambiguous { urn, .. } => urn,
    };
    Identity::new(Code::NoResource, Subject::Resource(urn.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error with a cause.
    #[derive(Debug, thiserror::Error)]
    #[error("it did not work")]
    struct Outer(#[source] Box<dyn StdError + Send + Sync>);

    #[test]
    fn an_error_is_known_by_its_cause() {
        let urn = Urn::parse("urn:pulumi:dev::p::a:b:C::x").unwrap();
        let error = Outer(Box::new(IntegrityError::Duplicate { urn: urn.clone() }));
        assert_eq!(
            identify(&error),
            Some(Identity::new(Code::InvalidState, Subject::Resource(urn)))
        );
        let other = Outer(Box::new(std::io::Error::other("no")));
        assert_eq!(identify(&other), None);
    }

    #[test]
    fn places_are_drawn_with_a_mark_below_the_column() {
        assert_eq!(
            drawn("name: [", 12, 7),
            "     |\n  12 | name: [\n     |       ^\n"
        );
    }
}
