//! Property paths between text and parsed form.

use std::fmt::Write;

use ecow::EcoString;

use super::wire::WireSegment;

/// The text of a parsed path: names joined by dots, other keys quoted in brackets, indices in brackets.
pub(super) fn path_text(segments: &[WireSegment]) -> EcoString {
    let mut text = String::new();
    for segment in segments {
        match segment {
            WireSegment::Index(index) => {
                write!(text, "[{index}]").expect("writing to a string cannot fail");
            }
            WireSegment::Key(key) if is_bare(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
            WireSegment::Key(key) => {
                let quoted = key.replace("\\", "\\\\").replace("\"", "\\\"");
                write!(text, "[\"{quoted}\"]").expect("writing to a string cannot fail");
            }
        }
    }
    text.into()
}

/// Whether a key can stand in a path without quotes.
fn is_bare(key: &str) -> bool {
    !key.is_empty() && !key.contains(['.', '[', ']', '"', '\\'])
}

/// The parsed form of a path. What cannot be parsed is one key.
pub(super) fn path_segments(text: &str) -> Vec<WireSegment> {
    parse(text).unwrap_or_else(|| vec![WireSegment::Key(text.into())])
}

fn parse(text: &str) -> Option<Vec<WireSegment>> {
    let mut segments = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            rest = bracket(inside, &mut segments)?;
            continue;
        }
        let name = rest.strip_prefix('.').unwrap_or(rest);
        let end = name.find(['.', '[']).unwrap_or(name.len());
        if end == 0 {
            return None;
        }
        segments.push(WireSegment::Key(name[..end].into()));
        rest = &name[end..];
    }
    Some(segments)
}

/// Reads what follows an opening bracket; returns what follows the closing one.
fn bracket<'a>(inside: &'a str, segments: &mut Vec<WireSegment>) -> Option<&'a str> {
    let Some(quoted) = inside.strip_prefix('"') else {
        let (index, rest) = inside.split_once(']')?;
        segments.push(match index {
            "*" => WireSegment::Key("*".into()),
            digits => WireSegment::Index(digits.parse().ok()?),
        });
        return Some(rest);
    };
    let mut key = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, letter)) = chars.next() {
        match letter {
            '\\' => key.push(chars.next()?.1),
            '"' => {
                segments.push(WireSegment::Key(key.into()));
                return quoted[at + 1..].strip_prefix(']');
            }
            other => key.push(other),
        }
    }
    None
}
