//! What is wrong with a file, and where.

use std::fmt;

use crate::yaml::Position;

/// One problem in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where in the text; line 0 when the place is not known.
    pub position: Position,
    /// Where in the structure, `#/config/size/type`.
    pub pointer: String,
    /// What is wrong and what is expected.
    pub message: String,
    /// What was probably meant.
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

/// A file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Not YAML (or JSON) at all.
    #[error("{file}:{}:{}: invalid YAML file: {message}", position.line, position.column)]
    Syntax {
        /// The file as named by the caller.
        file: String,
        /// Where.
        position: Position,
        /// What the parser says.
        message: String,
    },
    /// A map has a key twice.
    #[error("yaml: unmarshal errors:\n  line {}: mapping key \"{key}\" already defined at line {first}", position.line)]
    Duplicate {
        /// The file as named by the caller.
        file: String,
        /// Where the second is.
        position: Position,
        /// The key.
        key: String,
        /// The line of the first.
        first: usize,
    },
    /// Well-formed, but not what is expected.
    #[error("could not validate '{file}':{}", list(problems))]
    Invalid {
        /// The file as named by the caller.
        file: String,
        /// Everything that is wrong.
        problems: Vec<Diagnostic>,
    },
}

fn list(problems: &[Diagnostic]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    format!("\n* {}", lines.join("\n* "))
}

/// The one of `known` that `text` is probably meant to be.
pub(crate) fn suggestion<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    let distance =
        |name: &&&str| strsim::damerau_levenshtein(&text.to_lowercase(), &name.to_lowercase());
    known
        .iter()
        .min_by_key(distance)
        .filter(|name| distance(name) <= 1 + text.len() / 4)
        .copied()
}
