//! Program text, and positions in it.

use std::path::PathBuf;
use std::sync::Arc;

/// A half-open range of bytes in a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span {
            start: start as u32,
            end: end.max(start) as u32,
        }
    }

    /// The smallest range that contains both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A program file.
#[derive(Debug)]
pub struct SourceFile {
    /// Name for messages, relative to the program's folder.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Text of the file.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// A file with this name, path and text.
    pub fn new(name: impl Into<String>, path: PathBuf, text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        let breaks = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .map(|(at, _)| at as u32 + 1);
        let line_starts = std::iter::once(0).chain(breaks).collect();
        SourceFile {
            name: name.into(),
            path,
            text,
            line_starts,
        }
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line - 1] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self
            .text
            .get(start..end)
            .map_or(0, |text| text.chars().count());
        (line, column + 1)
    }

    /// File, line and columns of `span` for one-line errors, which do not count quotes and closing brackets.
    pub fn range(&self, span: Span) -> String {
        let (line, column) = self.position(span.start);
        let text = self
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default();
        let end = span.start + length_of_value(text) as u32;
        let (last, end_column) = self.position(end);
        if last == line {
            format!("{}:{line},{column}-{end_column}", self.name)
        } else {
            format!("{}:{line},{column}-{last},{end_column}", self.name)
        }
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, number: usize) -> &str {
        let start = self
            .line_starts
            .get(number - 1)
            .map_or(self.text.len(), |start| *start as usize);
        let end = self
            .line_starts
            .get(number)
            .map_or(self.text.len(), |start| *start as usize);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

/// Length of a YAML value up to the end of its last scalar, as if that were written without quotes.
fn length_of_value(text: &str) -> usize {
    let mut rest = text.trim_end();
    while text.starts_with(['[', '{']) && rest.ends_with([']', '}']) {
        rest = rest[..rest.len() - 1]
            .trim_end_matches(|char: char| char.is_whitespace() || char == ',');
    }
    let without = match rest.chars().last() {
        // An empty collection ends where it begins.
        Some('[' | '{') => 1,
        Some('"' | '\'') if rest.len() > 1 => 2,
        _ => 0,
    };
    rest.len() - without
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_out_quotes_and_brackets() {
        for (text, expected) in [
            ("nope", "x:1,1-5"),
            ("'nope'", "x:1,1-5"),
            ("[x]", "x:1,1-3"),
            ("[]", "x:1,1-1"),
            ("{a: ['b', 'c'] }", "x:1,1-12"),
            ("a:\n  b", "x:1,1-2,4"),
        ] {
            let file = SourceFile::new("x", PathBuf::new(), text);
            assert_eq!(file.range(Span::new(0, text.len())), expected, "{text}");
        }
    }

    #[test]
    fn positions_count_lines_and_characters() {
        let file = SourceFile::new("x", PathBuf::new(), "ab\nöx\n");
        assert_eq!(file.position(0), (1, 1));
        assert_eq!(file.position(1), (1, 2));
        assert_eq!(file.position(3), (2, 1));
        assert_eq!(file.position(5), (2, 2));
        assert_eq!(file.line(2), "öx");
        assert_eq!(file.line(3), "");
    }
}
