//! Where passphrases come from: variables, a file, the user (`state.md` 5.2).

use std::io::BufRead;
use std::sync::Mutex;

use plumb_secrets::{Error as SecretsError, PassphraseSource, Plaintext};

use super::Context;
use crate::{Environment, prompt};

const VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE";
const FILE_VARIABLE: &str = "PULUMI_CONFIG_PASSPHRASE_FILE";

/// How to get a passphrase.
pub(super) struct Source {
    environment: Environment,
    is_interactive: bool,
    /// What the user has typed.
    typed: Mutex<Option<String>>,
}

impl Source {
    /// The passphrase that can be had without asking, if any.
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

    /// Whether a passphrase can be had without asking.
    pub(super) fn has_given(&self) -> Result<bool, SecretsError> {
        Ok(Source::given(&self.environment)?.is_some())
    }

    /// Whether a passphrase that is wanted has to be asked for, and can be.
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

    /// A passphrase for new values: asked twice, unless it is given.
    pub(super) fn new_passphrase(&self, ignore_given: bool) -> Result<Plaintext, SecretsError> {
        if !ignore_given && let Some(passphrase) = Source::given(&self.environment)? {
            return Ok(passphrase);
        }
        if ignore_given && !self.is_interactive && self.environment.is_on("PULUMI_AUTOMATION_API") {
            // The Automation API for Go hands a new passphrase over on standard input.
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
    /// Where the passphrases of this command come from.
    pub(super) fn passphrase_source(&self) -> Source {
        Source {
            environment: self.environment.clone(),
            is_interactive: self.is_interactive(),
            typed: Mutex::new(None),
        }
    }
}
