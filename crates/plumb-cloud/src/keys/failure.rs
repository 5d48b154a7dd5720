//! What a call can end with instead of an answer.

use std::fmt;
use std::time::Duration;

/// The longest part of a server's message that is shown.
const LONGEST: usize = 300;

/// Why there is no answer, or none of use.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There are no credentials, or they cannot be used.
    Credentials(String),
    /// A setting is missing or wrong.
    Setting(String),
    /// The server cannot be reached, or the connection broke.
    Unreachable(String),
    /// The time is over.
    Late(Duration),
    /// The server refuses.
    Refused {
        /// The status of the response.
        status: u16,
        /// The kind of error in the service's own words; empty where it has none.
        code: String,
        /// The explanation of the server.
        message: String,
    },
    /// The answer is not one of this service.
    Strange(String),
}

impl Failure {
    /// A refusal with what the server says, cut to a length that can be read.
    pub(crate) fn refused(status: u16, code: &str, message: &str) -> Self {
        Failure::Refused {
            status,
            code: one_line(code),
            message: one_line(message),
        }
    }

    /// An answer in which something is missing or has another form.
    pub(crate) fn unexpected(what: &str) -> Self {
        Failure::Strange(format!(
            "the answer is not one of this service: no usable `{what}`"
        ))
    }

    /// Whether the server could not be asked at all.
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

/// The text of an error and of what caused it, on one line.
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
