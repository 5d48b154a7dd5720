//! Questions to the user. Each can be answered by a flag, and none is asked without an interactive terminal.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use inquire::{Confirm, InquireError, MultiSelect, Password, PasswordDisplayMode, Select, Text};

use crate::{Environment, Error, ExitStatus};

/// Whether a screen reader is in use: questions are then plain lines, without repainting.
static IS_READ_ALOUD: AtomicBool = AtomicBool::new(false);

/// Help line of a question with choices, in characters that every terminal has.
const KEYS: &str = "arrow keys to move, enter to select, type to filter";

/// Help line of a question with choices of which several can be taken.
const KEYS_OF_SEVERAL: &str = "arrow keys to move, space to choose, enter to end, type to filter";

/// Selects the kind of questions from the environment.
pub fn set_up(environment: &Environment) {
    IS_READ_ALOUD.store(environment.is_read_aloud(), Ordering::Relaxed);
}

/// Asks for a line of text; an empty answer means `default`.
pub fn text(question: &str, default: Option<&str>) -> Result<String, Error> {
    if IS_READ_ALOUD.load(Ordering::Relaxed) {
        let answer = match default {
            Some(default) => line(&format!("{question} ({default}): "))?,
            None => line(&format!("{question} "))?,
        };
        let is_default = answer.is_empty() && default.is_some();
        return Ok(if is_default {
            default.unwrap_or_default().to_owned()
        } else {
            answer
        });
    }
    let mut prompt = Text::new(question);
    if let Some(default) = default {
        prompt = prompt.with_default(default);
    }
    prompt.prompt().map_err(stopped)
}

/// Asks for text without showing it.
pub fn secret(question: &str) -> Result<String, Error> {
    Password::new(question)
        .with_display_mode(PasswordDisplayMode::Masked)
        .without_confirmation()
        .prompt()
        .map_err(stopped)
}

/// Asks for confirmation. The default is no.
pub fn confirm(question: &str) -> Result<bool, Error> {
    if IS_READ_ALOUD.load(Ordering::Relaxed) {
        let answer = line(&format!("{question} (yes or no, no if nothing is said) "))?;
        return Ok(["y", "yes"].contains(&answer.to_lowercase().as_str()));
    }
    Confirm::new(question)
        .with_default(false)
        .prompt()
        .map_err(stopped)
}

/// Asks for one of several choices; returns its index.
pub fn select(question: &str, choices: Vec<String>) -> Result<usize, Error> {
    if IS_READ_ALOUD.load(Ordering::Relaxed) {
        return choose(question, &choices);
    }
    Select::new(question, choices)
        .with_help_message(KEYS)
        .raw_prompt()
        .map(|choice| choice.index)
        .map_err(stopped)
}

/// Asks for any number of several choices; returns their indices.
pub fn select_some(question: &str, choices: Vec<String>) -> Result<Vec<usize>, Error> {
    if IS_READ_ALOUD.load(Ordering::Relaxed) {
        let mut chosen = Vec::new();
        for (index, choice) in choices.iter().enumerate() {
            if confirm(&format!("{question} {choice}"))? {
                chosen.push(index);
            }
        }
        return Ok(chosen);
    }
    let chosen = MultiSelect::new(question, choices)
        .with_help_message(KEYS_OF_SEVERAL)
        .raw_prompt()
        .map_err(stopped)?;
    Ok(chosen.into_iter().map(|choice| choice.index).collect())
}

/// Repeats the question until the answer is a choice or its number.
fn choose(question: &str, choices: &[String]) -> Result<usize, Error> {
    let mut listed = format!("{question}\n");
    for (index, choice) in choices.iter().enumerate() {
        let _ = writeln!(listed, "  {}) {choice}", index + 1);
    }
    listed.push_str("Answer with a number or a word: ");
    loop {
        let answer = line(&listed)?;
        let number = answer.parse::<usize>().ok();
        let named = choices.iter().position(|choice| *choice == answer);
        let index = number.and_then(|number| number.checked_sub(1)).or(named);
        if let Some(index) = index.filter(|index| *index < choices.len()) {
            return Ok(index);
        }
    }
}

/// Reads a line from the terminal. The end of input cancels the question.
fn line(question: &str) -> Result<String, Error> {
    let mut out = io::stdout().lock();
    out.write_all(question.as_bytes())?;
    out.flush()?;
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer)? == 0 {
        return Err(stopped(InquireError::OperationCanceled));
    }
    Ok(answer.trim().to_owned())
}

/// The end of a command whose user left a question with Ctrl-C.
pub fn cancelled() -> Error {
    Error::with_status(ExitStatus::Failure, "confirmation cancelled")
}

fn stopped(error: InquireError) -> Error {
    match error {
        InquireError::OperationCanceled | InquireError::OperationInterrupted => cancelled(),
        other => Error::from(other),
    }
}
