//! Errors in files, with their positions.

use std::fmt;

use crate::yaml::Position;

/// An error in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Position in the text; line 0 if it is unknown.
    pub position: Position,
    /// JSON pointer to the value, such as `#/config/size/type`.
    pub pointer: String,
    /// Message with the error and the expected value.
    pub message: String,
    /// Suggested correction.
    pub hint: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.position.line > 0 {
            write!(f, "{}:{}: ", self.position.line, self.position.column)?;
        }
        write!(f, "{}: {}", self.pointer, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; did you mean `{hint}`?"),
            None => Ok(()),
        }
    }
}

/// Error for an unusable file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The file is not valid YAML or JSON.
    #[error("{file}:{}:{}: invalid YAML file: {message}", position.line, position.column)]
    Syntax {
        /// Name of the file.
        file: String,
        /// Position of the error.
        position: Position,
        /// Message of the parser.
        message: String,
    },
    /// A map contains a key twice.
    #[error("yaml: unmarshal errors:\n  line {}: mapping key \"{key}\" already defined at line {first}", position.line)]
    Duplicate {
        /// Name of the file.
        file: String,
        /// Position of the second key.
        position: Position,
        /// The key.
        key: String,
        /// Line of the first key.
        first: usize,
    },
    /// The file is valid YAML, but has errors in its contents.
    #[error("could not validate '{file}':{}", list(problems))]
    Invalid {
        /// Name of the file.
        file: String,
        /// All errors.
        problems: Vec<Diagnostic>,
    },
}

fn list(problems: &[Diagnostic]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    format!("\n* {}", lines.join("\n* "))
}

/// The name in `known` that is most similar to `text`; `None` if none is similar enough.
pub(crate) fn suggestion<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    let distance =
        |name: &&&str| strsim::damerau_levenshtein(&text.to_lowercase(), &name.to_lowercase());
    known
        .iter()
        .min_by_key(distance)
        .filter(|name| distance(name) <= 1 + text.len() / 4)
        .copied()
}
