//! Failures of calls to key services.

use std::fmt;
use std::time::Duration;

/// Maximum length of a server's message in errors.
const LONGEST: usize = 300;

/// Reason why a call has no usable answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Credentials are missing or unusable.
    Credentials(String),
    /// A setting is missing or wrong.
    Setting(String),
    /// The server cannot be reached, or the connection broke.
    Unreachable(String),
    /// The deadline has passed.
    Late(Duration),
    /// The server refused the request.
    Refused {
        /// The status of the response.
        status: u16,
        /// Error code of the service; empty if there is none.
        code: String,
        /// The explanation of the server.
        message: String,
    },
    /// The response has an unexpected form.
    Strange(String),
}

impl Failure {
    /// A refusal with the message of the server, shortened.
    pub(crate) fn refused(status: u16, code: &str, message: &str) -> Self {
        Failure::Refused {
            status,
            code: one_line(code),
            message: one_line(message),
        }
    }

    /// A response in which `what` is missing or has an unexpected form.
    pub(crate) fn unexpected(what: &str) -> Self {
        Failure::Strange(format!(
            "the answer is not one of this service: no usable `{what}`"
        ))
    }

    /// Whether the server could not be reached.
    pub(crate) fn is_out_of_reach(&self) -> bool {
        matches!(self, Failure::Unreachable(_) | Failure::Late(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Credentials(text) => write!(f, "no usable credentials: {text}"),
            Failure::Setting(text) | Failure::Unreachable(text) | Failure::Strange(text) => {
                f.write_str(text)
            }
            Failure::Late(deadline) => write!(f, "no answer within {} seconds", deadline.as_secs()),
            Failure::Refused {
                status,
                code,
                message,
            } => {
                write!(f, "the service answered {status}")?;
                for part in [code, message] {
                    if !part.is_empty() {
                        write!(f, ": {part}")?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let said = source.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = source.source();
    }
    one_line(&text)
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
