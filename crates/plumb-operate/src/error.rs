//! Errors for users, and exit codes (`cli.md` 1.4).

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::process::ExitCode;

use plumb_backend::BackendError;

use crate::identity::{Code, Identity, Subject, identify};

/// Exit status of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Success.
    Success,
    /// Failure without an exit code of its own.
    Failure,
    /// Missing configuration.
    Configuration,
    /// Not logged in.
    Authentication,
    /// The stack does not exist, or none is selected.
    StackNotFound,
    /// Unexpected changes.
    Changes,
    /// Cancelled by the user.
    Cancelled,
    /// Internal error: a defect of the program.
    Internal,
    /// Exit code of a program that was run.
    Other(u8),
}

impl ExitStatus {
    /// Exit code.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::Success => 0,
            ExitStatus::Failure => 1,
            ExitStatus::Configuration => 2,
            ExitStatus::Authentication => 3,
            ExitStatus::StackNotFound => 6,
            ExitStatus::Changes => 7,
            ExitStatus::Cancelled => 8,
            ExitStatus::Internal => 255,
            ExitStatus::Other(code) => code,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        ExitCode::from(status.code())
    }
}

/// Failure of a command: the message and the exit status.
#[derive(Debug)]
pub struct Error {
    status: ExitStatus,
    report: Report,
    identity: Option<Box<Identity>>,
}

#[derive(Debug)]
enum Report {
    Message(String),
    Several(Vec<String>),
    /// Already reported.
    Shown,
}

impl Error {
    /// An error that the user can fix, or any other without an exit code of its own.
    pub fn user(message: impl Into<String>) -> Self {
        Error::with_status(ExitStatus::Failure, message)
    }

    /// An error with the given exit status.
    pub fn with_status(status: ExitStatus, message: impl Into<String>) -> Self {
        Error {
            status,
            report: Report::Message(message.into()),
            identity: None,
        }
    }

    /// Several errors at once.
    pub fn several(mut messages: Vec<String>) -> Self {
        let report = if messages.len() == 1 {
            Report::Message(messages.remove(0))
        } else {
            Report::Several(messages)
        };
        Error {
            status: ExitStatus::Failure,
            report,
            identity: None,
        }
    }

    /// A failure that the display has already reported.
    pub fn shown(status: ExitStatus) -> Self {
        Error {
            status,
            report: Report::Shown,
            identity: None,
        }
    }

    /// Error for a feature that is not implemented.
    pub fn unsupported(what: impl std::fmt::Display) -> Self {
        Error::user(format!("{what} is not supported yet")).known(Code::NotSupported)
    }

    /// Error for a feature that only Pulumi's commercial service has.
    pub fn needs_service(what: impl std::fmt::Display) -> Self {
        Error::user(format!(
            "{what} requires the cloud service, which is not supported"
        ))
        .known(Code::NotSupported)
    }

    /// The error with a code of the catalogue.
    #[must_use]
    pub fn known(self, code: Code) -> Self {
        Error {
            identity: Some(Box::new(Identity::of(code))),
            ..self
        }
    }

    /// The error with a code and a subject.
    #[must_use]
    pub fn about(self, code: Code, subject: Subject) -> Self {
        Error {
            identity: Some(Box::new(Identity::new(code, subject))),
            ..self
        }
    }

    /// Code and subject of the error, if known.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_deref()
    }

    /// The error with an alternative appended.
    #[must_use]
    pub fn hint(self, instead: impl std::fmt::Display) -> Self {
        let report = match self.report {
            Report::Message(text) => Report::Message(format!("{text}; {instead}")),
            other => other,
        };
        Error { report, ..self }
    }

    /// Error for a missing stack.
    pub fn no_stack(name: impl std::fmt::Display) -> Self {
        Error::with_status(
            ExitStatus::StackNotFound,
            format!("no stack named '{name}' found"),
        )
        .about(Code::NoStack, Subject::Stack(name.to_string()))
    }

    /// The error with a prefix.
    #[must_use]
    pub fn context(self, before: impl std::fmt::Display) -> Self {
        let report = match self.report {
            Report::Message(text) => Report::Message(format!("{before}: {text}")),
            Report::Several(texts) => Report::Several(
                texts
                    .into_iter()
                    .map(|text| format!("{before}: {text}"))
                    .collect(),
            ),
            Report::Shown => Report::Shown,
        };
        Error { report, ..self }
    }

    /// The error with a changed message.
    #[must_use]
    pub fn reworded(self, reword: impl Fn(&str) -> String) -> Self {
        let report = match self.report {
            Report::Message(text) => Report::Message(reword(&text)),
            Report::Several(texts) => {
                Report::Several(texts.iter().map(|text| reword(text)).collect())
            }
            Report::Shown => Report::Shown,
        };
        Error { report, ..self }
    }

    /// The exit code.
    pub fn status(&self) -> ExitStatus {
        self.status
    }

    /// Message, without the prefix `error`.
    pub fn text(&self) -> Option<String> {
        match &self.report {
            Report::Message(text) => Some(text.clone()),
            Report::Several(texts) => {
                let mut all = format!("{} errors occurred:", texts.len());
                for (index, text) in texts.iter().enumerate() {
                    let _ = write!(all, "\n    {}) {text}", index + 1);
                }
                Some(all)
            }
            Report::Shown => None,
        }
    }
}

impl<E: StdError + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Error {
            identity: identify(&error).map(Box::new),
            ..Error::with_status(status_of(&error), chain(&error))
        }
    }
}

fn status_of(error: &(dyn StdError + 'static)) -> ExitStatus {
    match error.downcast_ref::<BackendError>() {
        Some(BackendError::NoStack { .. }) => ExitStatus::StackNotFound,
        _ => ExitStatus::Failure,
    }
}

/// Text of an error and its causes.
pub fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let said = source.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = source.source();
    }
    text
}
