//! Questions to the user. Each has a flag that answers it, and none is asked when nobody is there to answer.

use inquire::{Confirm, InquireError, Password, PasswordDisplayMode, Select, Text};

use crate::{Error, ExitStatus};

/// Asks for a line of text; `default` is what an empty answer means.
pub fn text(question: &str, default: Option<&str>) -> Result<String, Error> {
    let mut prompt = Text::new(question);
    if let Some(default) = default {
        prompt = prompt.with_default(default);
    }
    prompt.prompt().map_err(stopped)
}

/// Asks for text that must not be seen.
pub fn secret(question: &str) -> Result<String, Error> {
    Password::new(question)
        .with_display_mode(PasswordDisplayMode::Masked)
        .without_confirmation()
        .prompt()
        .map_err(stopped)
}

/// Asks whether to go on. The default is no.
pub fn confirm(question: &str) -> Result<bool, Error> {
    Confirm::new(question)
        .with_default(false)
        .prompt()
        .map_err(stopped)
}

/// Asks to choose one of several; returns its index.
pub fn select(question: &str, choices: Vec<String>) -> Result<usize, Error> {
    Select::new(question, choices)
        .raw_prompt()
        .map(|choice| choice.index)
        .map_err(stopped)
}

fn stopped(error: InquireError) -> Error {
    match error {
        InquireError::OperationCanceled | InquireError::OperationInterrupted => {
            Error::with_status(ExitStatus::Failure, "confirmation cancelled")
        }
        other => Error::from(other),
    }
}
