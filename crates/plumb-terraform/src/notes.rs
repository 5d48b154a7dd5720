//! What is not converted: kept beside the converted code as a comment, and listed at the end.

use std::fmt;

/// Something that was not converted, or that someone should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// File of the configuration.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What it is, and what to do.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.file, self.line, self.text)
    }
}
