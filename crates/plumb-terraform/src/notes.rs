//! Notes on the parts of a configuration that were not converted. Each is a comment beside the converted code and an entry
//! of the list at the end.

use std::fmt;

/// Something that was not converted, or that someone should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// File of the configuration.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// The problem, and what to do.
    pub text: String,
    /// Lines of the original that are nowhere else in the program.
    pub original: Vec<String>,
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.file, self.line, self.text)
    }
}
