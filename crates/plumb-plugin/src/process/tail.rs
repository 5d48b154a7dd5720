//! Last lines of a process's output, for error messages.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

const MAX_LINES: usize = 30;
const MAX_LINE_CHARS: usize = 2000;

/// Lines below a message, each on its own line and indented.
pub struct Indented<'a>(pub &'a [String]);

impl fmt::Display for Indented<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// Buffer of the most recent lines.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: Mutex<VecDeque<String>>,
}

impl Tail {
    pub(super) fn push(&self, line: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line.chars().take(MAX_LINE_CHARS).collect());
    }

    pub(super) fn lines(&self) -> Vec<String> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }
}
