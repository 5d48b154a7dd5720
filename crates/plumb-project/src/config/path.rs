//! Paths into configuration values.

use super::{Key, KeyError};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Into a map.
    Key(String),
    /// Into a list.
    Index(usize),
}

/// A key and the path into its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath {
    /// The key.
    pub key: Key,
    /// The way from there; empty for the value itself.
    pub rest: Vec<Segment>,
}

/// The text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A bracket without its partner.
    #[error("invalid configuration path {text:?}: missing closing bracket")]
    MissingBracket {
        /// What was given.
        text: String,
    },
    /// A quote without its partner.
    #[error("invalid configuration path {text:?}: missing closing quote")]
    MissingQuote {
        /// What was given.
        text: String,
    },
    /// Brackets hold neither a number nor a quoted text.
    #[error("invalid configuration path {text:?}: {index:?} is neither a number nor a quoted key")]
    BadIndex {
        /// What was given.
        text: String,
        /// What the brackets hold.
        index: String,
    },
    /// Two dots in a row, a dot at an end, or nothing at all.
    #[error("invalid configuration path {text:?}: expected a key at position {position}")]
    EmptySegment {
        /// What was given.
        text: String,
        /// Where, in bytes from 0.
        position: usize,
    },
    /// Text right after a bracket.
    #[error("invalid configuration path {text:?}: expected `.` or `[` at position {position}")]
    MissingSeparator {
        /// What was given.
        text: String,
        /// Where, in bytes from 0.
        position: usize,
    },
    /// The path starts with a number.
    #[error("invalid configuration path {text:?}: the first segment must be a key")]
    StartsWithIndex {
        /// What was given.
        text: String,
    },
    /// The first segment is not a key.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl KeyPath {
    /// The value of a whole key.
    pub fn of(key: Key) -> Self {
        KeyPath {
            key,
            rest: Vec::new(),
        }
    }

    /// Reads `key.name[0]["quoted"]`; a key without namespace gets the namespace `project`.
    pub fn parse(text: &str, project: &str) -> Result<Self, PathError> {
        let mut segments = Segments { text, at: 0 }
            .collect::<Result<Vec<_>, _>>()?
            .into_iter();
        match segments.next() {
            Some(Segment::Key(first)) => Ok(KeyPath {
                key: Key::parse_in(&first, project)?,
                rest: segments.collect(),
            }),
            Some(Segment::Index(_)) => Err(PathError::StartsWithIndex {
                text: text.to_owned(),
            }),
            None => Err(PathError::EmptySegment {
                text: text.to_owned(),
                position: 0,
            }),
        }
    }
}

struct Segments<'t> {
    text: &'t str,
    at: usize,
}

impl Iterator for Segments<'_> {
    type Item = Result<Segment, PathError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let segment = match rest.as_bytes()[0] {
            b'[' => self.bracketed(),
            b'.' if self.at > 0 => {
                self.at += 1;
                self.plain()
            }
            _ if self.at == 0 => self.plain(),
            _ => Err(PathError::MissingSeparator {
                text: self.text.to_owned(),
                position: self.at,
            }),
        };
        if segment.is_err() {
            self.at = self.text.len();
        }
        Some(segment)
    }
}

impl Segments<'_> {
    fn plain(&mut self) -> Result<Segment, PathError> {
        let rest = &self.text[self.at..];
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        if end == 0 {
            return Err(PathError::EmptySegment {
                text: self.text.to_owned(),
                position: self.at,
            });
        }
        self.at += end;
        Ok(Segment::Key(rest[..end].to_owned()))
    }

    fn bracketed(&mut self) -> Result<Segment, PathError> {
        let text = || self.text.to_owned();
        let inner = &self.text[self.at + 1..];
        if let Some(quoted) = inner.strip_prefix('"') {
            let (key, used) =
                unquote(quoted).ok_or_else(|| PathError::MissingQuote { text: text() })?;
            if !quoted[used..].starts_with(']') {
                return Err(PathError::MissingBracket { text: text() });
            }
            self.at += 2 + used + 1;
            return Ok(Segment::Key(key));
        }
        let end = inner
            .find(']')
            .ok_or_else(|| PathError::MissingBracket { text: text() })?;
        let index = &inner[..end];
        let number = index.parse().map_err(|_| PathError::BadIndex {
            text: text(),
            index: index.to_owned(),
        })?;
        self.at += 1 + end + 1;
        Ok(Segment::Index(number))
    }
}

/// The text up to the closing quote, and how many bytes that took, the quote included.
fn unquote(text: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, at + 1)),
            '\\' if text[at + 1..].starts_with(['"', '\\']) => {
                out.extend(chars.next().map(|(_, escaped)| escaped));
            }
            c => out.push(c),
        }
    }
    None
}
