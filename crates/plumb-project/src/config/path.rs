//! Paths into configuration values.

use super::{Key, KeyError};

/// A segment of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Key of a map.
    Key(String),
    /// Index of a list. Negative indices parse, but match no element.
    Index(i64),
}

/// A key and the path into its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath {
    /// The key.
    pub key: Key,
    /// Path inside the value; empty for the value itself.
    pub rest: Vec<Segment>,
}

/// Error for an invalid path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path is empty.
    #[error("empty config key path")]
    Empty,
    /// An index has no closing bracket.
    #[error("invalid config key path: missing closing bracket in array index")]
    MissingIndexBracket,
    /// A name in brackets has no closing bracket.
    #[error("invalid config key path: missing closing bracket in property access")]
    MissingBracket,
    /// A quoted name has no closing quote.
    #[error("invalid config key path: missing closing quote in property name")]
    MissingQuote,
    /// Brackets contain neither a number nor a quoted name.
    #[error(
        "invalid config key path: invalid array index: strconv.ParseInt: parsing {index:?}: {}",
        reason_of(index)
    )]
    BadIndex {
        /// Text in the brackets.
        index: String,
    },
    /// The path starts with a dot.
    #[error("invalid config key path: expected property path to start with a name or index")]
    StartsWithDot,
    /// The path ends with a dot.
    #[error("invalid config key path: expected property path to end with a name or index")]
    EndsWithDot,
    /// The path starts with an index.
    #[error("first path segement of config key must be a string")]
    StartsWithIndex,
    /// The first segment is not a valid key.
    #[error(transparent)]
    Key(#[from] KeyError),
}

fn reason_of(index: &str) -> &'static str {
    let digits = index.strip_prefix(['-', '+']).unwrap_or(index);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        "value out of range"
    } else {
        "invalid syntax"
    }
}

impl KeyPath {
    /// Path of the whole value of a key.
    pub fn of(key: Key) -> Self {
        KeyPath {
            key,
            rest: Vec::new(),
        }
    }

    /// Parses `key.name[0]["quoted"]`. A key without a namespace gets the namespace `project`; only the part before the
    /// first dot or bracket can have a namespace.
    pub fn parse(text: &str, project: &str) -> Result<Self, PathError> {
        let end = text.find(['.', '[']).filter(|end| *end > 0);
        let (first, rest) = text.split_at(end.unwrap_or(text.len()));
        let key = Key::parse_in(first, project)?;
        let path = format!("{}{rest}", key.name());
        let mut segments = segments(&path)?.into_iter();
        match segments.next() {
            Some(Segment::Key(first)) => Ok(KeyPath {
                key: Key::new(key.namespace(), &first),
                rest: segments.collect(),
            }),
            Some(Segment::Index(_)) => Err(PathError::StartsWithIndex),
            None => Err(PathError::Empty),
        }
    }

    /// Text of the path without the namespace, up to `length` segments after the key.
    pub(super) fn shown(&self, length: usize) -> String {
        let mut shown = Segment::Key(self.key.name().to_owned()).shown(true);
        for segment in &self.rest[..length] {
            shown.push_str(&segment.shown(false));
        }
        shown
    }
}

impl Segment {
    fn shown(&self, is_first: bool) -> String {
        match self {
            Segment::Index(index) => format!("[{index}]"),
            Segment::Key(key) if key.is_empty() || key.contains(['.', '[', ']', '"']) => {
                format!("[\"{}\"]", key.replace('"', "\\\""))
            }
            Segment::Key(key) if is_first => key.clone(),
            Segment::Key(key) => format!(".{key}"),
        }
    }
}

/// Segments of a path. Surplus dots in the middle are ignored, and the dot after a bracket is optional.
fn segments(text: &str) -> Result<Vec<Segment>, PathError> {
    let mut all = Vec::new();
    let mut rest = text;
    if rest.starts_with('.') {
        return Err(PathError::StartsWithDot);
    }
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('.') {
            if behind.is_empty() {
                return Err(PathError::EndsWithDot);
            }
            rest = behind;
        } else if let Some(inner) = rest.strip_prefix('[') {
            let (segment, behind) = bracketed(inner)?;
            all.push(segment);
            rest = behind;
        } else {
            let (name, behind) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            all.push(Segment::Key(name.to_owned()));
            rest = behind;
        }
    }
    Ok(all)
}

/// Segment in brackets, and the text after them.
fn bracketed(inner: &str) -> Result<(Segment, &str), PathError> {
    if let Some(quoted) = inner.strip_prefix('"') {
        let (key, used) = unquote(quoted).ok_or(PathError::MissingQuote)?;
        let behind = quoted[used..].strip_prefix(']');
        let behind = behind.ok_or(PathError::MissingBracket)?;
        return Ok((Segment::Key(key), behind));
    }
    let (index, behind) = inner
        .split_once(']')
        .ok_or(PathError::MissingIndexBracket)?;
    let number = index.parse().map_err(|_| PathError::BadIndex {
        index: index.to_owned(),
    })?;
    Ok((Segment::Index(number), behind))
}

/// Text up to the closing quote, and the number of consumed bytes including the quote.
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
