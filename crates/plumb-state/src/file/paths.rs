//! Property paths as text.

use std::fmt::Write;

use ecow::EcoString;

use super::wire::{WirePath, WireSegment};

/// Text of a path. Segments become names joined by dots, other keys quoted in brackets, and indices in brackets.
pub(super) fn path_text(path: &WirePath) -> EcoString {
    let segments = match path {
        WirePath::Text(text) => return text.clone(),
        WirePath::Steps(segments) => segments,
    };
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

/// Whether a key needs no quotes in a path.
fn is_bare(key: &str) -> bool {
    !key.is_empty() && !key.contains(['.', '[', ']', '"', '\\'])
}
