//! Paths to properties: `tags["a.b"].list[0].*`.
//!
//! The syntax is the one of ignoreChanges, replaceOnChanges, hideDiffs, detailed diffs and `config --path`:
//!
//! 1. a bare name, ended by `.`, `[` or the end;
//! 2. `["name"]`, in which `\"` stands for a quote and nothing else is escaped;
//! 3. `[0]`, an index into an array;
//! 4. `*` as a name or an index, which matches every key and every element.
//!
//! A path is only a position. [`PropertyPath::get`], [`PropertyPath::set`] and [`PropertyPath::delete`] access the value
//! there, and [`PropertyPath::reset`] takes it over from another map. All of them look through secrets and outputs.

mod access;
mod reset;

use std::fmt;
use std::str::FromStr;

use ecow::EcoString;

pub use access::AccessError;
pub use reset::{ResetError, reset_paths};

/// One step of a [`PropertyPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathSegment {
    /// Into an object.
    Key(EcoString),
    /// Into an array.
    Index(usize),
    /// Into every property or element.
    Wildcard,
}

impl PathSegment {
    /// The segment for a name: `*` is the wildcard, whether quoted or not.
    pub fn from_name(name: impl Into<EcoString>) -> Self {
        let name = name.into();
        if name == "*" {
            PathSegment::Wildcard
        } else {
            PathSegment::Key(name)
        }
    }

    fn matches(&self, other: &PathSegment) -> bool {
        *self == PathSegment::Wildcard || self == other
    }
}

/// Position of a property within a property map. Paths are ordered by their segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PropertyPath(Vec<PathSegment>);

/// Errors for a text that is not a property path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text is empty.
    #[error("property path is empty")]
    Empty,
    /// The second quote of `["name` is missing.
    #[error("missing closing quote in property name")]
    MissingQuote,
    /// The closing bracket of `["name"` is missing.
    #[error("missing closing bracket in property access")]
    MissingBracket,
    /// The closing bracket of `[0` is missing.
    #[error("missing closing bracket in array index")]
    MissingIndexBracket,
    /// The text in the brackets is not an index.
    #[error("invalid array index {index:?}")]
    InvalidIndex {
        /// Text in the brackets.
        index: String,
    },
    /// A dot with no name after it; refused by [`PropertyPath::parse_strict`] only.
    #[error("expected a property name at offset {offset}")]
    MissingName {
        /// Byte offset in the text.
        offset: usize,
    },
    /// Something other than `.` or `[` after a closing bracket; refused by [`PropertyPath::parse_strict`] only.
    #[error("expected `.` or `[` at offset {offset}")]
    MissingSeparator {
        /// Byte offset in the text.
        offset: usize,
    },
}

impl PropertyPath {
    /// The path of these segments.
    pub fn new(segments: impl IntoIterator<Item = PathSegment>) -> Self {
        PropertyPath(segments.into_iter().collect())
    }

    /// Parses a path as the engine does: surplus dots are ignored.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Parser {
            text,
            at: 0,
            strict: false,
        }
        .parse()
    }

    /// Parses a path as `config --path` does: every dot must be followed by a name.
    pub fn parse_strict(text: &str) -> Result<Self, ParseError> {
        Parser {
            text,
            at: 0,
            strict: true,
        }
        .parse()
    }

    /// The segments.
    pub fn segments(&self) -> &[PathSegment] {
        &self.0
    }

    /// Whether the path is that of the property map itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of the property `key` of the value at this path.
    #[must_use]
    pub fn join_key(&self, key: impl Into<EcoString>) -> Self {
        self.join(PathSegment::Key(key.into()))
    }

    /// The path of the element `idx` of the value at this path.
    #[must_use]
    pub fn join_index(&self, idx: usize) -> Self {
        self.join(PathSegment::Index(idx))
    }

    /// The path with one more segment.
    #[must_use]
    pub fn join(&self, segment: PathSegment) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment);
        PropertyPath(segments)
    }

    /// The path without its last segment, and that segment.
    pub fn split_last(&self) -> Option<(PropertyPath, &PathSegment)> {
        let (last, rest) = self.0.split_last()?;
        Some((PropertyPath(rest.to_vec()), last))
    }

    /// Whether this path is a prefix of `other`; wildcards of this path match any segment of `other` (`engine.md` 4.5).
    pub fn contains(&self, other: &PropertyPath) -> bool {
        self.0.len() <= other.0.len()
            && self
                .0
                .iter()
                .zip(&other.0)
                .all(|(mine, theirs)| mine.matches(theirs))
    }

    /// Whether any segment is a wildcard.
    pub fn has_wildcards(&self) -> bool {
        self.0.contains(&PathSegment::Wildcard)
    }
}

impl From<Vec<PathSegment>> for PropertyPath {
    fn from(segments: Vec<PathSegment>) -> Self {
        PropertyPath(segments)
    }
}

impl FromStr for PropertyPath {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        PropertyPath::parse(text)
    }
}

impl fmt::Display for PropertyPath {
    /// Writes a text that parses to this path. The one exception is a name that has to be quoted and ends in a backslash,
    /// because the syntax cannot express it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                PathSegment::Index(idx) => write!(f, "[{idx}]")?,
                PathSegment::Wildcard if position == 0 => f.write_str("*")?,
                PathSegment::Wildcard => f.write_str("[*]")?,
                PathSegment::Key(key) if needs_quotes(key) => {
                    write!(f, "[\"{}\"]", key.replace("\"", "\\\""))?;
                }
                PathSegment::Key(key) if position == 0 => f.write_str(key)?,
                PathSegment::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

fn needs_quotes(key: &str) -> bool {
    key.is_empty() || key == "*" || key.contains(['.', '[', ']', '"'])
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    strict: bool,
}

impl Parser<'_> {
    fn parse(mut self) -> Result<PropertyPath, ParseError> {
        let mut segments = Vec::new();
        while let Some(next) = self.peek() {
            match next {
                b'.' => self.dot(segments.is_empty())?,
                b'[' => {
                    segments.push(self.bracket()?);
                    self.after_bracket()?;
                }
                _ => segments.push(self.name()),
            }
        }
        if segments.is_empty() {
            Err(ParseError::Empty)
        } else {
            Ok(PropertyPath(segments))
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn dot(&mut self, is_first: bool) -> Result<(), ParseError> {
        if self.strict && is_first {
            return Err(ParseError::MissingName { offset: self.at });
        }
        self.at += 1;
        if self.strict && matches!(self.peek(), None | Some(b'.' | b'[')) {
            return Err(ParseError::MissingName { offset: self.at });
        }
        Ok(())
    }

    fn after_bracket(&self) -> Result<(), ParseError> {
        if self.strict && !matches!(self.peek(), None | Some(b'.' | b'[')) {
            return Err(ParseError::MissingSeparator { offset: self.at });
        }
        Ok(())
    }

    fn name(&mut self) -> PathSegment {
        let rest = &self.text[self.at..];
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        self.at += end;
        PathSegment::from_name(&rest[..end])
    }

    fn bracket(&mut self) -> Result<PathSegment, ParseError> {
        let rest = &self.text[self.at + 1..];
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, length) = unquote(quoted)?;
            self.at += 2 + length;
            return Ok(PathSegment::from_name(name));
        }
        let end = rest.find(']').ok_or(ParseError::MissingIndexBracket)?;
        let inner = &rest[..end];
        self.at += end + 2;
        if inner == "*" {
            return Ok(PathSegment::Wildcard);
        }
        match inner.parse() {
            Ok(idx) => Ok(PathSegment::Index(idx)),
            Err(_) => Err(ParseError::InvalidIndex {
                index: inner.to_owned(),
            }),
        }
    }
}

/// Parses `name"]` and returns the name and the length of the parsed text.
fn unquote(text: &str) -> Result<(EcoString, usize), ParseError> {
    let mut name = EcoString::new();
    let mut chars = text.char_indices().peekable();
    while let Some((offset, next)) = chars.next() {
        match next {
            '"' => {
                let closed = matches!(chars.next(), Some((_, ']')));
                return if closed {
                    Ok((name, offset + 2))
                } else {
                    Err(ParseError::MissingBracket)
                };
            }
            '\\' if chars.next_if(|(_, following)| *following == '"').is_some() => name.push('"'),
            other => name.push(other),
        }
    }
    Err(ParseError::MissingQuote)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::PathSegment::{Index, Wildcard};
    use super::*;

    fn key(name: &str) -> PathSegment {
        PathSegment::Key(name.into())
    }

    #[track_caller]
    fn check(text: &str, expected: &[PathSegment]) {
        let path = PropertyPath::parse(text).unwrap();
        assert_eq!(path.segments(), expected, "{text}");
        assert_eq!(
            PropertyPath::parse(&path.to_string()).unwrap(),
            path,
            "{path}"
        );
    }

    #[test]
    fn every_form_of_step_is_understood() {
        check("root", &[key("root")]);
        check("root.nested", &[key("root"), key("nested")]);
        check(
            "root[\"nested\"].x",
            &[key("root"), key("nested"), key("x")],
        );
        check("a[0][1].b", &[key("a"), Index(0), Index(1), key("b")]);
        check("a[\"b.c\"]", &[key("a"), key("b.c")]);
        check(
            "[\"root \\\"key\\\"\"].nested",
            &[key("root \"key\""), key("nested")],
        );
        check("[\"back\\slash\"]", &[key("back\\slash")]);
        check("a[*].b", &[key("a"), Wildcard, key("b")]);
        check("a[\"*\"].b", &[key("a"), Wildcard, key("b")]);
        check("a.*", &[key("a"), Wildcard]);
        check("*", &[Wildcard]);
        check("[*][2]", &[Wildcard, Index(2)]);
        check("#initerror", &[key("#initerror")]);
        check("[\"\"].ä", &[key(""), key("ä")]);
    }

    #[test]
    fn surplus_dots_matter_in_strict_paths_only() {
        for (text, expected) in [
            (".a", "a"),
            ("a..b", "a.b"),
            ("a.", "a"),
            ("a.[0]", "a[0]"),
            ("a[0]b", "a[0].b"),
        ] {
            assert_eq!(PropertyPath::parse(text).unwrap().to_string(), expected);
            assert!(PropertyPath::parse_strict(text).is_err(), "{text}");
        }
        assert_eq!(
            PropertyPath::parse_strict("a.b[0][\"c\"].d"),
            PropertyPath::parse("a.b[0].c.d")
        );
    }

    #[test]
    fn text_that_is_no_path_is_refused() {
        for (text, expected) in [
            ("", ParseError::Empty),
            ("...", ParseError::Empty),
            ("root[", ParseError::MissingIndexBracket),
            ("root[0", ParseError::MissingIndexBracket),
            ("root[\"a", ParseError::MissingQuote),
            ("root[\"a\\\"]", ParseError::MissingQuote),
            ("root[\"a\"", ParseError::MissingBracket),
            ("root[\"a\"x]", ParseError::MissingBracket),
            ("root[a]", ParseError::InvalidIndex { index: "a".into() }),
            ("root[-1]", ParseError::InvalidIndex { index: "-1".into() }),
            (
                "root[]",
                ParseError::InvalidIndex {
                    index: String::new(),
                },
            ),
        ] {
            assert_eq!(PropertyPath::parse(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn a_path_contains_what_is_at_or_below_it() {
        for (outer, inner, expected) in [
            ("a", "a", true),
            ("a", "a.b[0]", true),
            ("a.b", "a", false),
            ("a.b", "a.c", false),
            ("a[*].b", "a[7].b.c", true),
            ("a.*", "a.x", true),
            ("a[0]", "a[*]", false),
            ("*", "#initerror", true),
            ("*", "a[\"b.c\"]", true),
        ] {
            let (outer, inner) = (
                PropertyPath::parse(outer).unwrap(),
                PropertyPath::parse(inner).unwrap(),
            );
            assert_eq!(outer.contains(&inner), expected, "{outer} {inner}");
        }
    }

    fn segment() -> impl Strategy<Value = PathSegment> {
        let writable = |name: &String| !(name.ends_with('\\') && needs_quotes(name));
        prop_oneof![
            4 => r#"[a-c.\[\]"\\* é]{0,4}"#.prop_filter("has no text", writable).prop_map(PathSegment::from_name),
            2 => (0usize..1000).prop_map(Index),
            1 => Just(Wildcard),
        ]
    }

    proptest! {
        #[test]
        fn the_text_of_a_path_parses_to_it(segments in proptest::collection::vec(segment(), 1..6)) {
            let path = PropertyPath::new(segments);
            prop_assert_eq!(PropertyPath::parse(&path.to_string()), Ok(path.clone()));
            prop_assert_eq!(PropertyPath::parse_strict(&path.to_string()), Ok(path));
        }

        #[test]
        fn parsing_never_panics(text in r#"[a.\[\]"\\*0é-]{0,12}"#) {
            let _ = PropertyPath::parse(&text);
            let _ = PropertyPath::parse_strict(&text);
        }
    }
}
