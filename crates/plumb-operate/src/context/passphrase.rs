//! Sources of passphrases: environment variables, a file, a prompt (`state.md` 5.2).

use std::io::BufRead;
use std::sync::Mutex;

use plumb_secrets::{Error as SecretsError, PassphraseSource, Plaintext};

use super::Context;
use crate::{Environment, prompt};

const VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE";
const FILE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE_FILE";

/// Source of passphrases.
pub(super) struct Source {
    environment: Environment,
    is_interactive: bool,
    /// Passphrase entered at the prompt.
    typed: Mutex<Option<String>>,
}

impl Source {
    /// Passphrase from the environment or a file; `None` if there is none.
    pub(super) fn given(environment: &Environment) -> Result<Option<Plaintext>, SecretsError> {
        if let Some(passphrase) = environment.get(VARIABLE) {
            return Ok(Some(passphrase.into()));
        }
        let Some(path) = environment.non_empty(FILE_VARIABLE) else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(environment.cwd.join(path))
            .map_err(|error| SecretsError::PassphraseSource(format!("{path}: {error}").into()))?;
        Ok(Some(text.trim().into()))
    }

    /// Whether the passphrase is available without a prompt.
    pub(super) fn has_given(&self) -> Result<bool, SecretsError> {
        Ok(Source::given(&self.environment)?.is_some())
    }

    /// Whether the passphrase requires a prompt, and prompts are allowed.
    pub(super) fn would_ask(&self) -> Result<bool, SecretsError> {
        Ok(self.is_interactive && !self.has_given()?)
    }

    fn ask(&self, question: &str) -> Result<Plaintext, SecretsError> {
        if self.environment.is_on("PULUMI_TEST_PASSPHRASE") {
            return read_line();
        }
        if !self.is_interactive {
            return Err(SecretsError::NoPassphrase);
        }
        let answer = prompt::secret(question);
        let answer = answer
            .map_err(|_| SecretsError::PassphraseSource("the question was not answered".into()))?;
        Ok(answer.into())
    }

    /// Passphrase for new values, prompted for twice unless it is given.
    pub(super) fn new_passphrase(&self, ignore_given: bool) -> Result<Plaintext, SecretsError> {
        if !ignore_given && let Some(passphrase) = Source::given(&self.environment)? {
            return Ok(passphrase);
        }
        if ignore_given && !self.is_interactive && self.environment.is_on("PULUMI_AUTOMATION_API") {
            // The Automation API for Go passes a new passphrase on standard input.
            let passphrase = read_line()?;
            return if passphrase.expose().is_empty() {
                Err(SecretsError::NoPassphrase)
            } else {
                Ok(passphrase)
            };
        }
        let first = self.ask("Enter your passphrase to protect config/secrets")?;
        if self.environment.is_on("PULUMI_TEST_PASSPHRASE") {
            return Ok(first);
        }
        let second = self.ask("Re-enter your passphrase to confirm")?;
        if first.expose() == second.expose() {
            Ok(first)
        } else {
            Err(SecretsError::PassphraseSource(
                "passphrases do not match".into(),
            ))
        }
    }
}

impl PassphraseSource for Source {
    fn passphrase(&self) -> Result<Plaintext, SecretsError> {
        if let Some(passphrase) = Source::given(&self.environment)? {
            return Ok(passphrase);
        }
        let mut typed = self
            .typed
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(passphrase) = &*typed {
            return Ok(passphrase.as_str().into());
        }
        let passphrase = self.ask("Enter your passphrase to unlock config/secrets\n    (set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to remember)")?;
        *typed = Some(passphrase.expose().to_owned());
        Ok(passphrase)
    }
}

fn read_line() -> Result<Plaintext, SecretsError> {
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|error| SecretsError::PassphraseSource(Box::new(error)))?;
    Ok(line.trim_end_matches(['\r', '\n']).into())
}

impl Context {
    /// Source of passphrases for this command.
    pub(super) fn passphrase_source(&self) -> Source {
        Source {
            environment: self.environment.clone(),
            is_interactive: self.is_interactive(),
            typed: Mutex::new(None),
        }
    }
}
